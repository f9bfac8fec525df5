"""The piecewise law on a grid: exactly private, exactly unbiased, with the exact second moment, and drawn as stated."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.laws.finite import Finite
from discreet.local.means.piecewise import Piecewise
from tests.local.claims.enumeration import exact_law
from tests.local.means.mean_checks import exponential, largest_ratio

EPSILONS = [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4), Fraction(6)]
EXTREMES = [Fraction(1, 1024), *EPSILONS, Fraction(20)]
SIZES = [(1, 1), (2, 1), (3, 2), (5, 5), (4, 7), (16, 3)]


def laws(law: Piecewise) -> list[Finite]:
    return [Finite(range(law.outputs), law.masses(position)) for position in range(law.steps + 1)]


@pytest.mark.theorem("Piecewise.privacy")
@pytest.mark.parametrize("epsilon", EXTREMES)
@pytest.mark.parametrize(("steps", "window"), SIZES)
def test_the_largest_ratio_is_e_to_the_epsilon_rounded_down(epsilon: Fraction, steps: int, window: int) -> None:
    ratio = largest_ratio(laws(Piecewise(epsilon, steps, window)))
    assert ratio <= exponential(epsilon)[0]
    assert ratio >= exponential(Fraction(99, 100) * epsilon)[1]
    assert ratio >= exponential(epsilon)[0] * (1 - Fraction(1, 2**30))  # the coin has 64 bits, e^20 takes 29 of them


@pytest.mark.theorem("Piecewise.privacy")
@pytest.mark.parametrize(("steps", "window"), SIZES)
def test_the_sampler_has_exactly_the_stated_law(steps: int, window: int) -> None:
    law = Piecewise(Fraction(1), steps, window)
    for position in sorted({0, 1, steps // 2, steps}):
        drawn = exact_law(law.randomize, np.array([position]))
        assert [drawn.get(output, Fraction(0)) for output in range(law.outputs)] == law.masses(position)


@pytest.mark.theorem("Piecewise.accuracy")
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("steps", "window"), SIZES)
def test_decoding_is_unbiased_and_moments_are_those_of_the_law(epsilon: Fraction, steps: int, window: int) -> None:
    law = Piecewise(epsilon, steps, window)
    decoded = [law.decode(output) for output in range(law.outputs)]
    for position in range(steps + 1):
        masses = law.masses(position)
        assert sum(masses) == 1
        assert sum(p * d for p, d in zip(masses, decoded, strict=True)) == Fraction(position, steps)
        assert sum(p * d * d for p, d in zip(masses, decoded, strict=True)) == law.moment(position)


@pytest.mark.theorem("Piecewise.accuracy")
def test_moments_are_a_quadratic_function_of_the_position() -> None:
    law = Piecewise(Fraction(2), 12, 5)
    moments = [law.moment(position) for position in range(13)]
    second = {moments[i] - 2 * moments[i + 1] + moments[i + 2] for i in range(11)}
    assert second == {2 / law.slope / law.steps**2}


def test_one_step_and_one_output_is_warners_coin() -> None:
    law = Piecewise(Fraction(1), 1, 1)
    assert law.masses(1) == [1 - law.preference, law.preference]
    assert law.slope == 2 * law.preference - 1


@pytest.mark.parametrize(("steps", "window"), [(0, 1), (1, 0), (-3, 1), (True, 1), (1.0, 1), (5000, 1), (2, "1")])
def test_sizes_are_checked(steps: Any, window: Any) -> None:
    with pytest.raises(ParameterError):
        Piecewise(Fraction(1), steps, window)


def test_many_reports_stay_among_the_outputs() -> None:
    law = Piecewise(Fraction(2), 12, 5)
    reports = law.randomize(np.arange(13).repeat(500))
    assert reports.min() >= 0
    assert reports.max() < law.outputs
