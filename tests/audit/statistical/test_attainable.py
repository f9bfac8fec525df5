"""The best bound that any auditor can expect, from the exact law."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import discreet as dp
from discreet.audit import best_expected_bound, cap
from discreet.audit.statistical.loss_bound import expected_loss_at_least
from discreet.errors import ParameterError
from discreet.laws import Finite
from discreet.laws.enclosure import Enclosure
from discreet.laws.pair import Pair

P = [Fraction(1, 2), Fraction(3, 10), Fraction(3, 20), Fraction(1, 20)]
Q = [Fraction(1, 4), Fraction(1, 4), Fraction(1, 4), Fraction(1, 4)]


def pair_of(p: list[Fraction], q: list[Fraction]) -> dp.laws.FinitePair:
    return Finite(list(range(len(p))), p).pair(Finite(list(range(len(q))), q))


class Hidden(Pair):
    """The same pair, seen only by its trade-off curve."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair

    def delta(self, epsilon: float | Fraction) -> Enclosure:
        return self.pair.delta(epsilon)

    def max_loss(self) -> Enclosure:
        return self.pair.max_loss()

    def tradeoff(self, alpha: float) -> Enclosure:
        return self.pair.tradeoff(alpha)

    def reversed(self) -> Pair:
        return Hidden(self.pair.reversed())


@pytest.mark.theorem("best_expected_bound.accuracy")
@pytest.mark.parametrize("draws", [200, 5000])
@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_no_event_of_all_has_a_better_mean_bound(draws: int, delta: float) -> None:
    best = best_expected_bound(pair_of(P, Q), draws, delta=delta)
    events = [set(one) for size in range(1, 5) for one in combinations(range(4), size)]
    means = [
        expected_loss_at_least(
            float(sum(P[i] for i in one)), float(sum(Q[i] for i in one)), draws // 2, delta=delta, rest=0.05
        )
        for one in events
    ]
    assert best == pytest.approx(max(means), abs=1e-9)


def test_the_curve_alone_gives_nearly_the_same() -> None:
    exact = pair_of(P, Q)
    assert best_expected_bound(Hidden(exact), 5000) == pytest.approx(best_expected_bound(exact, 5000), abs=0.01)


def test_more_draws_come_closer_to_the_largest_loss_and_never_pass_it() -> None:
    bounds = [best_expected_bound(pair_of(P, Q), 10**k) for k in range(2, 8)]
    assert bounds == sorted(bounds)
    assert math.log(2) - 0.01 < bounds[-1] < math.log(2)


def test_the_laplace_mechanism_is_nearly_found_out_by_six_million_draws() -> None:
    mechanism = dp.Laplace(epsilon=0.1, sensitivity=1)
    assert 0.097 < best_expected_bound(mechanism.law(0).pair(mechanism.law(1)), 6_000_000) < 0.1


def test_equal_laws_give_nothing_and_no_draws_are_refused() -> None:
    assert best_expected_bound(pair_of(Q, Q), 10_000) < 0.01
    with pytest.raises(ParameterError):
        best_expected_bound(pair_of(P, Q), 1)


def test_a_revealed_input_gives_the_cap() -> None:
    revealing = pair_of([Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)])
    assert best_expected_bound(revealing, 2000) == pytest.approx(cap(1000), abs=1e-9)
    assert np.isfinite(best_expected_bound(revealing, 10**6))


def test_draws_so_few_that_mean_counts_have_no_bound_still_let_expect_one() -> None:
    laplace = dp.Laplace(scale=10, sensitivity=1)
    pair = laplace.law(0).pair(laplace.law(1))
    middle = expected_loss_at_least(0.5, 0.5 * math.exp(-0.1), 200, delta=0.0, rest=0.05)
    assert best_expected_bound(pair, 400) >= 0.9 * middle > 0.0
