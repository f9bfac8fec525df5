"""The hybrid mean: private, unbiased, and exactly never worse than the protocols it mixes."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.audit import audit
from discreet.data.invention import coins
from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.local.means.one_bit_and_hybrid import (
    DuchiBit,
    HybridMean,
    choose_hybrid,
    continuous_hybrid,
    largest_variance,
)
from discreet.local.protocol.spec import Spec
from discreet.randomness.rigor import Ball, ball, precision
from tests.local.means.mean_checks import exponential, follows, largest_ratio

EPSILONS = [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4), Fraction(6)]
EXTREMES = [Fraction(1, 1024), *EPSILONS, Fraction(20)]


def hybrid(epsilon: Fraction, **chosen: Any) -> HybridMean:
    return HybridMean(epsilon=epsilon, bounds=(-1, 1), **chosen)


@pytest.mark.theorem("HybridMean.privacy", "ScalarMean.privacy")
@pytest.mark.parametrize("epsilon", EXTREMES)
@pytest.mark.parametrize("chosen", [{}, {"steps": 4, "window": 3, "weight": Fraction(1, 3 << 60) * 3}])
def test_no_report_tells_two_values_apart_by_more_than_e_to_the_epsilon(
    epsilon: Fraction, chosen: dict[str, Any]
) -> None:
    spec = hybrid(epsilon, **chosen)
    places = sorted({*range(0, spec.steps + 1, 1 + spec.steps // 24), spec.steps})
    grid: list[Number] = [-1 + Fraction(2 * i, spec.steps) for i in places]
    ratio = largest_ratio([spec.law(value) for value in [*grid, 0.3, Fraction(1, 7)]])
    assert exponential(Fraction(99, 100) * epsilon)[1] <= ratio <= exponential(epsilon)[0]


@pytest.mark.theorem("HybridMean.privacy", "Randomizer.privacy")
def test_the_audit_finds_the_guarantee_kept() -> None:
    verdict = audit(hybrid(Fraction(2), steps=6).mechanism())
    assert verdict.outcome.name == "KEPT"
    assert verdict.low == pytest.approx(2, abs=1e-9)


@pytest.mark.theorem("HybridMean.privacy")
@pytest.mark.parametrize("value", [-1.0, 0.3, Fraction(1, 7), 1])
def test_the_sampler_draws_from_the_law(value: float | Fraction) -> None:
    spec = hybrid(Fraction(2), steps=8)
    assert len(spec.branches) == 2
    reports = spec.client().report_many([value] * 40_000)
    assert follows(np.bincount(reports, minlength=spec.cells), spec.law(value))


@pytest.mark.theorem("HybridMean.accuracy", "ScalarMean.accuracy")
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("steps", [1, 2, 5, 8])
def test_decoding_is_unbiased_and_no_value_has_a_larger_variance_than_stated(epsilon: Fraction, steps: int) -> None:
    spec = hybrid(epsilon, steps=steps)
    largest = Fraction(0)
    for i in range(0, 20 * steps + 1):
        value = -1 + Fraction(i, 10 * steps)
        law, decoded = spec.law(value).probabilities, [2 * relative - 1 for relative in spec.decoded]
        assert sum(p * d for p, d in zip(law, decoded, strict=True)) == value
        variance = sum((p * d * d for p, d in zip(law, decoded, strict=True)), Fraction(0)) - value**2
        assert spec.variance(1, value) == float(variance)
        largest = max(largest, variance)
    assert largest <= 4 * spec.worst <= largest * Fraction(51, 50)
    assert spec.worst <= spec.worst_in_population
    assert spec.least == min(
        spec.moment_at(place) - place**2 for place in (Fraction(i, 12 * steps) for i in range(12 * steps + 1))
    )


def _published(epsilon: Fraction) -> tuple[Ball, Ball, Ball]:
    """The one-bit, the continuous piecewise and the continuous hybrid variance."""
    root = (ball(epsilon) / 2).exp()
    bit = ((root**2 + 1) / (root**2 - 1)) ** 2
    piecewise = 4 * root / (3 * (root - 1) ** 2)
    weight = 1 - 1 / root
    mixed = weight * piecewise + (1 - weight) * (bit - 1)
    return bit, piecewise, mixed if epsilon > Fraction(61, 100) else bit


@pytest.mark.theorem("HybridMean.accuracy")
@pytest.mark.parametrize(("first", "last", "unit"), [(1, 200, 10), (58, 86, 100)])
def test_the_largest_variance_is_never_above_the_published_ones(first: int, last: int, unit: int) -> None:
    for number in range(first, last + 1):
        epsilon = Fraction(number, unit)
        spec = hybrid(epsilon)
        bit = DuchiBit(epsilon=epsilon, bounds=(-1, 1))
        assert spec.worst <= bit.worst
        with precision(300):
            for published in _published(epsilon):
                # the coin is rounded down by 2^-64: where the hybrid is the bit itself that is all the difference
                assert bool(ball(4 * spec.worst) <= published * (1 + ball(Fraction(1, 1 << 50))))


@pytest.mark.theorem("HybridMean.accuracy")
def test_choosing_the_window_gains_over_the_published_hybrid() -> None:
    gains = {}
    for epsilon in (1, 2, 4, 6):
        with precision(300):
            gains[epsilon] = 4 * float(hybrid(Fraction(epsilon)).worst) / float(_published(Fraction(epsilon))[2])
    assert gains[1] < 0.998
    assert gains[2] < 0.945
    assert gains[4] < 0.72
    assert gains[6] < 0.5


def test_the_choice_is_stated_by_the_formula_that_the_exact_variance_confirms() -> None:
    for epsilon in EPSILONS:
        choice = choose_hybrid(epsilon)
        exact = hybrid(epsilon, steps=choice.steps, window=choice.window, weight=choice.weight)
        assert choice.worst == pytest.approx(4 * float(exact.worst), rel=1e-9)
        assert hybrid(epsilon) == exact
    for epsilon in (Fraction(3, 5), Fraction(8, 10), Fraction(5)):
        with precision(200):
            assert continuous_hybrid(float(epsilon)) == pytest.approx(float(_published(epsilon)[2]), rel=1e-12)
    given = largest_variance(2.0, 6, np.array([[3.0]]), np.array([[0.5]]))[0, 0]
    spec = hybrid(Fraction(2), steps=6, window=3, weight=Fraction(1, 2))
    assert given == pytest.approx(4 * float(spec.worst), rel=1e-9)


@pytest.mark.theorem("ScalarMean.accuracy")
def test_the_mean_of_a_crowd_is_found() -> None:
    spec = hybrid(Fraction(2))
    values = coins(4).uniform(-1, 1, 50_000)
    found = spec.aggregator().add(spec.client().batch(values)).estimate()
    # the mean of so many bounded reports is nearly normal: 1e-9 either way
    assert abs(found.value - values.mean()) < 6.2 * math.sqrt(spec.variance(50_000))


def test_a_spec_survives_its_text() -> None:
    spec = hybrid(Fraction(2))
    assert Spec.from_json(spec.to_json()) == spec
    assert spec.cells == spec.steps + spec.window + 2
    alone = hybrid(Fraction(8), steps=128, window=11, weight=Fraction(1))
    assert alone.cells == 139
    assert Spec.from_json(alone.to_json()) == alone
    for old, new in (('"weight":"45/64"', '"weight":"0"'), ('"steps":48', '"steps":0'), ('"window":28', '"window":27')):
        assert old in spec.to_json()
        with pytest.raises(ParameterError):
            Spec.from_json(spec.to_json().replace(old, new))


@pytest.mark.parametrize(
    "chosen",
    [
        {"steps": True},
        {"steps": -1},
        {"steps": 2.0},
        {"steps": 4, "window": 2},
        {"steps": 4, "window": 2, "weight": Fraction(1, 3)},
        {"steps": 4, "window": 2, "weight": 2},
        {"steps": 4, "window": 2, "weight": -1},
        {"window": 2, "weight": 1},
        {"steps": 1 << 13},
    ],
)
def test_sizes_and_weights_are_checked(chosen: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        hybrid(Fraction(1), **chosen)


def test_a_hostile_report_moves_the_sum_by_the_stated_gain() -> None:
    spec = hybrid(Fraction(2))
    counts = np.zeros(spec.cells, dtype=np.int64)
    ends = []
    for cell in range(spec.cells):
        counts[:] = 0
        counts[cell] = 1
        ends.append(spec.estimate(counts, 1).value)
    assert (max(ends) - min(ends)) / 2 == pytest.approx(spec.poisoning_gain, rel=1e-12)
