"""Truncated geometric noise: exactly as far as delta asks, and no further."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import discreet as dp
from discreet.mechanisms import TruncatedGeometric
from discreet.mechanisms.noise.truncated_geometric import least_reach

COUNTS = dp.Sensitivity(1, norm=dp.Norm.L1, relation=dp.Relation.ADD_REMOVE)


def masses(epsilon: float, shift: int, reach: int) -> dict[int, float]:
    weights = {z: math.exp(-epsilon * abs(z) / shift) for z in range(-reach, reach + 1)}
    total = math.fsum(weights.values())
    return {z: weight / total for z, weight in weights.items()}


def hockey_stick(law: dict[int, float], moves: tuple[int, ...], epsilon: float) -> float:
    """delta(epsilon) of independent noise about `moves` against noise about 0, by summing over all outcomes."""
    reach = max(law)
    total = []
    for outcome in product(*(range(-reach, reach + move + 1) for move in moves)):
        p = math.prod(law.get(y - move, 0.0) for y, move in zip(outcome, moves, strict=True))
        q = math.prod(law.get(y, 0.0) for y in outcome)
        total.append(max(p - math.exp(epsilon) * q, 0.0))
    return math.fsum(total)


@pytest.mark.theorem("TruncatedGeometric.privacy")
@pytest.mark.filterwarnings("ignore::discreet.errors.SenselessParameter")
@pytest.mark.parametrize("shift", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("delta", [0.4, 1e-2, 1e-6])
def test_the_reach_is_the_least_that_keeps_the_guarantee(shift: int, epsilon: float, delta: float) -> None:
    mechanism = TruncatedGeometric(epsilon=epsilon, delta=delta, sensitivity=shift)
    found = [hockey_stick(masses(epsilon, shift, reach), (shift,), epsilon) for reach in range(1, mechanism.reach + 1)]
    assert found[-1] <= delta * (1 + 1e-9)
    assert all(one > delta for one in found[:-1])
    assert mechanism.loss.delta(epsilon).upper == pytest.approx(found[-1], rel=1e-9)
    assert mechanism.loss.satisfies(mechanism.guarantee)


@pytest.mark.theorem("TruncatedGeometric.privacy")
@pytest.mark.parametrize("moves", [(3,), (2, 1), (1, 1, 1), (1, 2)])
def test_a_shift_spread_over_coordinates_costs_no_more(moves: tuple[int, ...]) -> None:
    mechanism = TruncatedGeometric(epsilon=3, delta=5e-3, sensitivity=3)
    law = masses(3, 3, mechanism.reach)
    assert hockey_stick(law, moves, 3) <= hockey_stick(law, (3,), 3) * (1 + 1e-9) <= 5e-3


@pytest.mark.theorem("TruncatedGeometric.privacy")
def test_for_counts_its_pair_is_the_worst_that_the_guarantee_allows() -> None:
    mechanism = TruncatedGeometric(epsilon=1, delta=1e-3, sensitivity=1)
    attained = mechanism.loss.delta(1).upper
    worst = dp.ApproxDP(1, attained).loss
    for epsilon in (0.0, 0.3, 0.9, 1.0, 5.0):
        assert mechanism.loss.delta(epsilon).upper == pytest.approx(worst.delta(epsilon).upper, rel=1e-9)
    assert (mechanism.loss * 10).epsilon(0.02).upper == pytest.approx((worst * 10).epsilon(0.02).upper, rel=1e-6)


@pytest.mark.theorem("TruncatedGeometric.accuracy")
def test_no_answer_is_further_off_than_the_reach() -> None:
    mechanism = TruncatedGeometric(epsilon=1, delta=9e-3, sensitivity=COUNTS)
    noise = mechanism(np.zeros(20_000, dtype=np.int64))
    assert np.abs(noise).max() == mechanism.reach
    law = masses(1, 1, mechanism.reach)
    for confidence, count in ((0.5, 1), (0.95, 1), (0.95, 10), (0.9999, 50)):
        width = mechanism.error(confidence, count)
        inside = [math.fsum(p for z, p in law.items() if abs(z) <= w) ** count for w in (width - 1, width)]
        assert inside[0] < confidence <= inside[1] + 1e-12
    assert mechanism.error(1 - 1e-12) == mechanism.reach


def test_for_one_delta_it_needs_a_lower_threshold_than_laplace_noise() -> None:
    truncated = TruncatedGeometric(epsilon=0.1, delta=1e-6, sensitivity=1)
    laplace = dp.Laplace(epsilon=0.1, sensitivity=1)
    assert float(laplace.law(0).sf(truncated.reach - 1)) > 5e-6
    assert truncated.noise.half_width(0.95) <= laplace.error(0.95)


@pytest.mark.parametrize("scale", [Fraction(1, 10**100), Fraction(10**100), Fraction(7, 3)])
def test_the_least_reach_is_decided_for_every_scale(scale: Fraction) -> None:
    reach = least_reach(scale, 1, Fraction(1, 10**9))
    assert reach >= 1
    assert abs(TruncatedGeometric(epsilon=1 / scale, delta=1e-9, sensitivity=1)(0)) <= reach if scale > 1 else True


def test_an_array_of_counts_keeps_the_exact_pair_and_a_spread_shift_does_not() -> None:
    spread = dp.Sensitivity(3, norm=dp.Norm.L1, relation=dp.Relation.ADD_REMOVE)
    assert TruncatedGeometric(epsilon=1, delta=1e-6, sensitivity=COUNTS).loss.attained
    assert not TruncatedGeometric(epsilon=1, delta=1e-6, sensitivity=spread).loss.attained
    assert TruncatedGeometric(epsilon=1, delta=1e-6, sensitivity=3).loss.attained
