"""A law on a grid is the integer law with its outcomes renamed; its loss does not change."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.laws import DiscreteGaussian, DiscreteLaplace, OnGrid, RoundedGaussian
from tests.laws.agreement import assert_fits

GRIDS = [Fraction(1), Fraction(1, 8), Fraction(4), Fraction(1, 2**40), Fraction(2**30)]
grids = pytest.mark.parametrize("grid", GRIDS, ids=str)


@grids
@pytest.mark.parametrize(
    "noise", [DiscreteLaplace(3), DiscreteGaussian(3), DiscreteLaplace(3, center=-2), RoundedGaussian(3)], ids=range(4)
)
def test_probabilities_are_those_of_the_steps(grid, noise):
    law = OnGrid(noise, grid)
    steps = np.arange(-20, 21)
    points = steps * float(grid)
    assert np.array_equal(law.pmf(points), noise.pmf(steps))
    assert np.array_equal(law.cdf(points), noise.cdf(steps))
    assert np.array_equal(law.sf(points), noise.sf(steps))
    assert law.pmf(points[3]) == noise.pmf(-17)


@given(st.floats(-100, 100))
def test_between_grid_points_there_is_no_mass_and_the_cumulative_probability_is_flat(value):
    noise = DiscreteLaplace(5)
    law = OnGrid(noise, Fraction(1, 4))
    step = math.floor(Fraction(value) * 4)
    assert law.cdf(value) == noise.cdf(step)
    assert law.sf(value) == noise.sf(step)
    assert law.pmf(value) == (noise.pmf(step) if Fraction(value) * 4 == step else 0.0)


@grids
def test_draws_lie_on_the_grid_and_have_the_law(grid, rounds):
    law = OnGrid(DiscreteLaplace(20, center=3), grid)
    drawn = law.sample(rounds(sample=20_000, full=1_000_000))
    assert drawn.dtype == np.float64
    assert np.all(drawn / float(grid) == np.floor(drawn / float(grid)))
    assert_fits(law, drawn, comparisons=len(GRIDS))
    assert (Fraction(law.sample()) / grid).denominator == 1


@grids
def test_quantiles_are_grid_points(grid):
    law = OnGrid(DiscreteLaplace(7), grid)
    for probability in (0.01, 0.5, 0.975):
        assert Fraction(law.quantile(probability)) == DiscreteLaplace(7).quantile(probability) * grid


@grids
def test_the_loss_is_that_of_the_integers(grid):
    pair = OnGrid(DiscreteLaplace(2, center=3), grid).pair(OnGrid(DiscreteLaplace(2), grid))
    assert pair.delta(0.5) == DiscreteLaplace(2, center=3).pair(DiscreteLaplace(2)).delta(0.5)


def test_laws_on_different_grids_are_not_compared():
    law = OnGrid(DiscreteLaplace(2), Fraction(1, 2))
    for other in (OnGrid(DiscreteLaplace(2), Fraction(1, 4)), DiscreteLaplace(2), None):
        with pytest.raises(ParameterError):
            law.pair(other)


def test_equal_grids_and_laws_are_equal():
    assert OnGrid(DiscreteLaplace(2), Fraction(1, 2)) == OnGrid(DiscreteLaplace(2), Fraction(1, 2))
    assert hash(OnGrid(DiscreteLaplace(2), Fraction(1, 2))) == hash(OnGrid(DiscreteLaplace(2), Fraction(1, 2)))
    assert OnGrid(DiscreteLaplace(2), Fraction(1, 2)) != OnGrid(DiscreteLaplace(2), Fraction(1, 4))
    assert OnGrid(DiscreteLaplace(2), Fraction(1, 2)) != OnGrid(DiscreteLaplace(3), Fraction(1, 2))


def test_the_center_is_not_shown():
    assert "4711" not in repr(OnGrid(DiscreteLaplace(2, center=4711), Fraction(1, 2)))


@pytest.mark.parametrize(
    "grid", [Fraction(0), Fraction(-1), Fraction(3), Fraction(1, 3), Fraction(3, 4), Fraction(-1, 2)], ids=str
)
def test_a_grid_that_is_no_power_of_two_is_refused(grid):
    with pytest.raises(ParameterError) as refusal:
        OnGrid(DiscreteLaplace(1), grid)
    assert refusal.value.parameter == "grid"


@pytest.mark.parametrize("grid", [math.nan, math.inf, None, "1/2", True, 0.3, 1j], ids=repr)
def test_a_grid_that_is_no_exact_power_of_two_is_refused(grid):
    with pytest.raises(ParameterError) as refusal:
        OnGrid(DiscreteLaplace(1), grid)
    assert refusal.value.parameter == "grid"


@pytest.mark.parametrize("outcome", [math.nan, math.inf, -math.inf], ids=repr)
def test_an_outcome_that_is_no_point_is_refused_or_has_no_mass(outcome):
    law = OnGrid(DiscreteLaplace(1), Fraction(1, 4))
    for ask in (law.pmf, law.cdf, law.sf):
        try:
            answer = ask(outcome)
        except ParameterError:
            continue
        assert not math.isnan(outcome)
        assert answer in (0.0, 1.0)
