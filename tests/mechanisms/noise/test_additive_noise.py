"""Laplace and Gaussian: scale from the target, grid from the scale, rounding inside the sensitivity, errors exact."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import discreet as dp
from discreet.laws import DiscreteLaplace
from discreet.mechanisms.domain import floats_on_grid, grid_steps, integer_steps
from discreet.privacy import basic_composition

SMALL_FLOATS = st.floats(min_value=-1e6, max_value=1e6, allow_nan=False)


def test_the_scale_is_the_exact_quotient_not_a_float_division() -> None:
    mechanism = dp.Laplace(epsilon=0.1, sensitivity=3)
    assert mechanism.noise.scale == 30  # epsilon is read as it is written, one tenth
    assert mechanism.guarantee == dp.PureDP(0.1)


@given(st.floats(min_value=1e-3, max_value=10), st.integers(min_value=1, max_value=1000))
def test_a_target_is_met_exactly_on_integers(epsilon: float, sensitivity: int) -> None:
    mechanism = dp.Laplace(epsilon=epsilon, sensitivity=sensitivity)
    assert mechanism.guarantee.epsilon == epsilon
    assert mechanism.loss.epsilon(0.0).upper == epsilon


@given(st.floats(min_value=1e-3, max_value=10), st.floats(min_value=1e-6, max_value=1e6))
def test_a_target_is_met_exactly_on_a_grid(epsilon: float, sensitivity: float) -> None:
    mechanism = dp.Laplace(epsilon=epsilon, sensitivity=sensitivity)
    assert mechanism.guarantee.epsilon == epsilon
    assert mechanism.scale >= sensitivity / epsilon * (1 - 1e-15)
    assert mechanism.scale <= sensitivity / epsilon * (1 + 2e-9 / epsilon)


@given(st.integers(min_value=-40, max_value=10), SMALL_FLOATS, st.floats(min_value=0, max_value=100))
def test_rounding_never_moves_neighbors_further_apart_than_the_stated_steps(k: int, x: float, distance: float) -> None:
    grid = Fraction(2) ** k
    y = x + distance
    gap = abs(Fraction(x) - Fraction(y))
    assume(gap > 0)
    assert abs(grid_steps(x, grid) - grid_steps(y, grid)) <= math.ceil(gap / grid)


@given(st.integers(-60, 30), st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=9))
def test_array_rounding_is_scalar_rounding(k: int, values: list[float]) -> None:
    grid = Fraction(2) ** k
    expected = [grid_steps(value, grid) for value in values]
    assert [int(step) for step in grid_steps(np.array(values), grid)] == expected


@pytest.mark.parametrize("x", [0.5, 1.5, 2.5, -0.5, -1.5, 0.49999999999999994, -0.50000000000000011, 2.0**52, -5e-324])
def test_ties_go_upward_and_nothing_is_rounded_twice(x: float) -> None:
    expected = math.floor(Fraction(x) + Fraction(1, 2))
    assert grid_steps(x, Fraction(1)) == expected
    assert grid_steps(np.array([x]), Fraction(1))[0] == expected


def test_half_even_rounding_would_have_broken_the_sensitivity() -> None:
    assert np.rint(1.5) - np.rint(0.5) == 2  # one apart before, two after
    assert grid_steps(1.5, Fraction(1)) - grid_steps(0.5, Fraction(1)) == 1


@given(st.floats(min_value=0.1, max_value=10), st.integers(min_value=1, max_value=30), st.data())
def test_the_l1_sensitivity_of_a_rounded_array_is_covered(sensitivity: float, length: int, data: st.DataObject) -> None:
    stated = dp.Sensitivity(sensitivity, norm=dp.Norm.L1, relation=dp.Relation.CHANGE_ONE)
    mechanism = dp.Laplace(epsilon=1, sensitivity=stated, grid=2**-6, length=length)
    x = np.array(data.draw(st.lists(SMALL_FLOATS, min_size=length, max_size=length)))
    shares = np.array(data.draw(st.lists(st.floats(0, 1), min_size=length, max_size=length)))
    assume(shares.sum() > 0)
    y = x + shares / shares.sum() * sensitivity * 0.999
    moved = grid_steps(y, mechanism.grid) - grid_steps(x, mechanism.grid)
    assert np.abs(moved).sum() <= mechanism.steps
    distance = dp.Sensitivity(
        float(np.linalg.norm(y - x)) * 1.001 + 1e-9, norm=dp.Norm.L2, relation=dp.Relation.CHANGE_ONE
    )
    gaussian = dp.Gaussian(scale=1.0, sensitivity=distance, grid=2**-6, length=length)
    assert math.sqrt(float(np.sum(moved.astype(float) ** 2))) <= float(gaussian.steps) + 1e-9


@given(st.floats(min_value=0.01, max_value=100), st.integers(min_value=1, max_value=1000))
def test_the_grid_comes_from_public_numbers_alone(scale: float, length: int) -> None:
    stated = dp.Sensitivity(1.0, norm=dp.Norm.L1, relation=dp.Relation.ADD_REMOVE)
    grid = dp.Laplace(scale=scale, sensitivity=stated, length=length).grid
    assert grid == dp.Laplace(scale=scale, sensitivity=1.0).grid
    assert 2**30 <= Fraction(scale) / grid < 2**31


@pytest.mark.theorem("Laplace.accuracy")
@given(st.fractions(Fraction(1, 4), 50), st.sampled_from([0.5, 0.9, 0.95, 0.999]), st.integers(1, 100))
def test_the_laplace_error_is_the_least_width_that_holds(scale: Fraction, confidence: float, count: int) -> None:
    width = dp.Laplace(scale=scale, sensitivity=1).error(confidence=confidence, count=count)
    q = math.exp(-1 / scale)

    def beyond(t: int) -> float:
        return 1 - (1 - 2 * q ** (t + 1) / (1 + q)) ** count

    assert beyond(width) <= 1 - confidence + 1e-12
    assert width == 0 or beyond(width - 1) > 1 - confidence - 1e-12


@pytest.mark.theorem("Laplace.accuracy")
def test_the_continuous_formula_is_false_on_integers() -> None:
    law = DiscreteLaplace(1)
    continuous = math.floor(math.log(1 / 0.05))
    assert 2 * float(law.sf(continuous)) == pytest.approx(0.0728, abs=1e-4)
    assert dp.Laplace(epsilon=1, sensitivity=1).error(confidence=0.95) == continuous + 1


@pytest.mark.theorem("Gaussian.accuracy")
@pytest.mark.parametrize("scale", [0.4, 1, 7])
@pytest.mark.parametrize("count", [1, 20])
def test_the_gaussian_error_is_the_least_width_that_holds(scale: float, count: int) -> None:
    mechanism = dp.Gaussian(scale=scale, sensitivity=1)
    width = mechanism.error(confidence=0.95, count=count)
    places = np.arange(-200, 201)
    mass = mechanism.noise.pmf(places)
    assert mass[np.abs(places) <= width].sum() ** count >= 0.95
    assert width == 0 or mass[np.abs(places) < width].sum() ** count < 0.95


def test_the_gaussian_target_is_tight_on_the_exact_law() -> None:
    mechanism = dp.Gaussian(epsilon=1, delta=1e-6, sensitivity=1)
    smaller = dp.Gaussian(scale=mechanism.scale * (1 - 1e-5), sensitivity=1)
    assert mechanism.loss.delta(1.0).upper <= 1e-6 < smaller.loss.delta(1.0).lower


def test_an_array_of_reals_meets_its_target() -> None:
    stated = dp.Sensitivity(1.0, norm=dp.Norm.L2, relation=dp.Relation.ADD_REMOVE)
    mechanism = dp.Gaussian(epsilon=1, delta=1e-6, sensitivity=stated, length=100)
    assert mechanism.loss.epsilon(1e-6).upper <= 1.0 + 1e-9
    assert mechanism(np.zeros(100)).shape == (100,)


def test_arrays_keep_their_shape_and_get_independent_noise() -> None:
    stated = dp.Sensitivity(1, norm=dp.Norm.L1, relation=dp.Relation.ADD_REMOVE)
    answer = dp.Laplace(scale=1000, sensitivity=stated)(np.zeros((40, 50), dtype=np.int64))
    assert answer.shape == (40, 50)
    assert len(np.unique(answer)) > 500


def test_a_histogram_of_counts_keeps_the_exact_pair() -> None:
    stated = dp.Sensitivity(1, norm=dp.Norm.L1, relation=dp.Relation.ADD_REMOVE)
    histogram, count = dp.Laplace(epsilon=1, sensitivity=stated), dp.Laplace(epsilon=1, sensitivity=1)
    assert histogram.loss.delta(0.5).upper == count.loss.delta(0.5).upper
    wide = dp.Laplace(epsilon=1, sensitivity=dp.Sensitivity(2, norm=dp.Norm.L1, relation=dp.Relation.CHANGE_ONE))
    assert wide.loss.delta(0.5).upper >= count.loss.delta(0.5).upper


def test_the_price_says_under_which_relation_it_holds() -> None:
    stated = dp.Sensitivity(1, norm=dp.Norm.L1, relation=dp.Relation.CHANGE_ONE)
    assert dp.Laplace(epsilon=1, sensitivity=stated).guarantee.relation is dp.Relation.CHANGE_ONE
    unstated = dp.Laplace(epsilon=1, sensitivity=1).guarantee
    assert unstated.relation is dp.Relation.UNSTATED
    other = dp.Sensitivity(1, norm=dp.Norm.L1, relation=dp.Relation.ADD_REMOVE)
    with pytest.raises(dp.errors.RelationMismatch):
        basic_composition([dp.Laplace(epsilon=1, sensitivity=s).guarantee for s in (stated, other)])


def test_steps_and_floats_are_inverse_on_the_grid() -> None:
    grid = Fraction(1, 8)
    for step in (0, 1, -1, 12345, -(2**40)):
        assert grid_steps(floats_on_grid(step, grid), grid) == step
    assert integer_steps(np.array([1, 2], dtype=np.uint8)).dtype == np.int64
