"""The game a filter is for, played out on every path: an adversary against two tables, exactly, on small trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import flint
from hypothesis import strategies as st

from discreet.privacy import ApproxDP, GaussianDP, Guarantee, PureDP
from discreet.privacy.adaptive import Filter
from discreet.privacy.numbers import written
from tests.privacy.reference import Ball, Law, ball, leaky_response, randomized_response


@dataclass(frozen=True)
class Release:
    """A guarantee and a release that keeps it: its laws on two neighbors, and the part of each that has no leak."""

    guarantee: Guarantee
    p: Law
    q: Law
    kept_p: Law
    kept_q: Law
    delta: Fraction = Fraction(0)

    def reversed(self) -> Release:
        return Release(self.guarantee, self.q, self.p, self.kept_q, self.kept_p, self.delta)


@dataclass(frozen=True)
class Leaf:
    """The end of one path: its chance on either table, in all and by what has no leak, and what was spent on it."""

    p: Ball
    q: Ball
    kept_p: Ball
    kept_q: Ball
    spent: tuple[Guarantee, ...]


def response(epsilon: Any) -> Release:
    """Return randomized response, the worst release with a pure guarantee."""
    p, q = randomized_response(written(epsilon))
    return Release(PureDP(epsilon), p, q, p, q)


def leaky(epsilon: Any, delta: Any) -> Release:
    """Return the worst release with an approximate guarantee."""
    p, q = leaky_response(written(epsilon), written(delta))
    first, second = randomized_response(written(epsilon))
    nothing = flint.arb(0)
    return Release(
        ApproxDP(epsilon, delta), p, q, [nothing, *first, nothing], [nothing, *second, nothing], written(delta)
    )


def binned_normal(mu: Any, cuts: tuple[float, ...] = (-0.5, 1.0)) -> Release:
    """Return a normal draw about mu or 0 of which only the bin is released."""

    def law(mean: Ball) -> Law:
        below = [((mean - ball(cut)) / flint.arb(2).sqrt()).erfc() / 2 for cut in cuts]
        ends = [flint.arb(0), *below, flint.arb(1)]
        return [high - low for low, high in pairwise(ends)]

    p, q = law(ball(mu)), law(flint.arb(0))
    return Release(GaussianDP(mu), p, q, p, q)


Choice = Callable[[Filter], Release | None]


def play(open_session: Callable[[], Filter], choose: Choice, rounds: int) -> list[Leaf]:
    """Return all paths; `choose` sees the session as it stands on each path, and is free to take anything there."""

    def go(spent: tuple[Guarantee, ...], chances: tuple[Ball, ...], left: int) -> list[Leaf]:
        session = open_session()
        for guarantee in spent:
            session.spend(guarantee)
        release = choose(session) if left else None
        if release is None:
            return [Leaf(*chances, spent)]
        if not session.admits(release.guarantee):
            return go(spent, chances, left - 1)
        laws = (release.p, release.q, release.kept_p, release.kept_q)
        return [
            leaf
            for outcome in zip(*laws, strict=True)
            for leaf in go(
                (*spent, release.guarantee), tuple(a * b for a, b in zip(chances, outcome, strict=True)), left - 1
            )
        ]

    return go((), (flint.arb(1),) * 4, rounds)


def adversary(draw: Callable[[Any], Any], releases: Any) -> Choice:
    """Return one that draws anew on every path: what to release, which way round, and when to stop."""

    def choose(session: Filter) -> Release | None:
        made = draw(releases)
        release = made(session) if callable(made) else made
        if release is None:
            return None
        return release.reversed() if draw(st.booleans()) else release

    return choose


def laws(leaves: list[Leaf]) -> tuple[Law, Law]:
    """Return the two laws of the whole transcript."""
    return [leaf.p for leaf in leaves], [leaf.q for leaf in leaves]
