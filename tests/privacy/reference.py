"""Finite pairs of laws computed the slow way, in balls: the truth the room's answers are compared with."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint
from hypothesis import strategies

Ball = Any
Law = list[Ball]


def ball(value: object) -> Ball:
    """Enclose a number; floats and Fractions are taken exactly."""
    if isinstance(value, flint.arb):
        return value
    exact = Fraction(value)  # type: ignore[arg-type]
    return flint.arb(flint.fmpq(exact.numerator, exact.denominator))


def at_most(first: Ball, second: object, *, slack: float = 1e-40) -> bool:
    """Say whether one reference value is at most another, up to what the reference's own rounding explains."""
    return bool(first - ball(second) <= slack)


def law(*weights: object) -> Law:
    """Return the law proportional to the weights."""
    balls = [ball(weight) for weight in weights]
    total = sum(balls, flint.arb(0))
    return [one / total for one in balls]


def exp(value: object) -> Ball:
    """Return e to a number."""
    return ball(value).exp()


def randomized_response(epsilon: object) -> tuple[Law, Law]:
    """Return the two laws of randomized response."""
    likely = law(exp(epsilon), 1)
    return likely, likely[::-1]


def leaky_response(epsilon: object, delta: object) -> tuple[Law, Law]:
    """Return randomized response that tells the truth outright with probability delta."""
    extra = ball(delta)
    first, second = randomized_response(epsilon)[0]
    likely = [extra, (1 - extra) * first, (1 - extra) * second, flint.arb(0)]
    return likely, likely[::-1]


def mixture(weight: object, first: Law, second: Law) -> Law:
    """Return the law that is the second with this weight."""
    share = ball(weight)
    return [(1 - share) * a + share * b for a, b in zip(first, second, strict=True)]


def product(first: Law, second: Law) -> Law:
    """Return the law of two independent draws."""
    return [a * b for a in first for b in second]


def hockey_stick(p: Law, q: Law, epsilon: object) -> Ball:
    """Return the sum of max(0, p - e^epsilon q)."""
    factor = exp(epsilon)
    total = flint.arb(0)
    for a, b in zip(p, q, strict=True):
        total += (a - factor * b).max(flint.arb(0))
    return total


def renyi(p: Law, q: Law, alpha: object) -> Ball:
    """Return the Renyi divergence of order alpha."""
    order = ball(alpha)
    total = flint.arb(0)
    for a, b in zip(p, q, strict=True):
        if not a.is_zero():
            total += (a.log() * order + b.log() * (1 - order)).exp()
    return total.log() / (order - 1)


def miss(p: Law, q: Law, size: object) -> Ball:
    """Return the least chance of calling P 'Q' among tests that call Q 'P' with this chance (Neyman and Pearson)."""
    room, power = ball(size), flint.arb(0)
    order = sorted(range(len(p)), key=lambda i: -float(p[i] / q[i]) if not q[i].is_zero() else -float("inf"))
    for i in order:
        if q[i] <= room:
            room, power = room - q[i], power + p[i]
        else:
            power += p[i] * room / q[i]
            break
    return 1 - power


def divergence_rate(p: Law, q: Law) -> float:
    """Return the largest divergence over its order, both directions: the rho of the pair, hardly rounded up."""
    return max(_largest_rate(p, q), _largest_rate(q, p)) * (1 + 1e-7)


def _largest_rate(p: Law, q: Law) -> float:
    """Scan the orders coarsely, then close in on the best one."""

    def rate(logarithm: float) -> float:
        alpha = 1 + 2.0**logarithm
        return float(renyi(p, q, alpha)) / alpha

    best = max(range(-20, 15), key=rate)
    low, high = best - 1.0, best + 1.0
    for _ in range(40):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (left, high) if rate(left) < rate(right) else (low, right)
    return max(rate((low + high) / 2), rate(best))


ORDERS = [1 + 2.0 ** (step / 4) for step in range(-80, 60)]

epsilons = strategies.floats(1e-6, 12.0)
deltas = strategies.floats(1e-12, 0.5)
alphas = strategies.floats(1.001, 200.0)


@strategies.composite
def bounded_pairs(draw: strategies.DrawFn, epsilon: float) -> tuple[Law, Law]:
    """Draw two laws on up to five outcomes whose likelihood ratios lie within e^epsilon both ways."""
    size = draw(strategies.integers(2, 5))
    base = [draw(strategies.integers(1, 1000)) for _ in range(size)]
    tilt = [draw(strategies.floats(-1.0, 1.0)) * epsilon / 2 for _ in range(size)]
    return law(*(ball(weight) * exp(t) for weight, t in zip(base, tilt, strict=True))), law(*base)


@strategies.composite
def pairs(draw: strategies.DrawFn) -> tuple[Law, Law]:
    """Draw any two laws of full support on up to five outcomes."""
    size = draw(strategies.integers(2, 5))
    weights = strategies.lists(strategies.integers(1, 1000), min_size=size, max_size=size)
    return law(*draw(weights)), law(*draw(weights))
