"""Fixed point: every row becomes an integer within the range, and sums are exact."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.statistics.columns.fixed_point import FixedPoint, stated_bounds
from discreet.statistics.columns.person_rows import WEIGHT_UNIT, row_weights

WILD = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 1.0, 99.99999, 100.0, 100.00001, 2.0**63]
finite = st.floats(allow_nan=False, allow_infinity=False, width=32)


@given(st.tuples(finite, finite).filter(lambda pair: pair[0] < pair[1]), st.lists(st.floats()))
def test_every_position_lies_within_the_range(bounds, values):
    scale = FixedPoint.between(bounds)
    positions = scale.positions(np.array(values, dtype=np.float64))
    there = positions[~np.isnan(positions)]
    assert np.isnan(positions).tolist() == np.isnan(np.array(values, dtype=np.float64)).tolist()
    assert all(0 <= position <= scale.steps and position == int(position) for position in there)


@given(st.tuples(finite, finite).filter(lambda pair: pair[0] < pair[1]), st.lists(st.floats(), max_size=50))
def test_sums_in_chunks_are_the_sums_of_the_positions(bounds, values):
    scale = FixedPoint.between(bounds)
    array = np.array(values, dtype=np.float64)
    positions = [int(one) for one in scale.positions(array) if one == one]  # noqa: PLR0124
    totals = scale.totals(array, squares=True)
    assert totals.present == len(positions)
    assert totals.first == sum(positions)
    assert totals.second == sum(one * one for one in positions)


def test_sums_stay_exact_over_many_full_chunks():
    scale = FixedPoint.between((0, 1), grid=2.0**-38)
    assert scale.steps == 2**38
    size = 5 * (1 << 14) + 7
    totals = scale.totals(np.full(size, 1.0), squares=True)
    assert (totals.present, totals.first, totals.second) == (size, size * 2**38, size * 2**76)


@given(st.lists(st.tuples(st.integers(0, 2**38), st.integers(0, 2**20)), max_size=40))
def test_weighted_sums_are_exact(pairs):
    scale = FixedPoint.between((0, 1), grid=2.0**-38)
    totals = scale.weighted_totals(
        np.array([float(k) for k, _ in pairs]), np.array([w for _, w in pairs], dtype=np.int64)
    )
    assert totals.present == sum(w for _, w in pairs)
    assert totals.first == sum(k * w for k, w in pairs)
    assert totals.second == sum(k * k * w for k, w in pairs)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_wild_values_raise_no_warning_and_are_clipped(dtype):
    with np.errstate(all="ignore"):
        values = np.array(WILD).astype(dtype)
    scale = FixedPoint.between((0, 100))
    positions = scale.positions(values)
    assert positions[3] == scale.steps
    assert positions[4] == 0
    assert scale.totals(values).present == len(WILD) - 1


def test_a_stated_grid_keeps_whole_numbers_whole():
    scale = FixedPoint.between((-3, 10), grid=1)
    assert (scale.start, scale.steps, scale.grid) == (-3, 13, 1)
    assert scale.positions(np.array([-4, -3, 0, 10, 11])).tolist() == [0, 0, 3, 13, 13]


def test_rounding_moves_a_value_by_half_a_step_at_most():
    scale = FixedPoint.between((0, 200_000))
    values = np.linspace(0, 200_000, 1001)
    for value, position in zip(values, scale.positions(values), strict=True):
        assert abs(scale.value(int(position)) - Fraction(float(value))) <= scale.grid / 2


@pytest.mark.parametrize(
    "bounds", [5, (1,), (1, 2, 3), (2, 1), (1, 1), (0, float("nan")), (0, float("inf")), ("0", "1"), (True, 2), "01"]
)
def test_bounds_are_a_pair_of_numbers_in_order(bounds):
    with pytest.raises(dp.errors.ParameterError):
        stated_bounds(bounds)


def test_missing_bounds_are_asked_for():
    with pytest.raises(dp.errors.MissingParameter, match="never taken from the data"):
        stated_bounds(None)


@pytest.mark.parametrize(("bounds", "grid"), [((0.5, 3), 1), ((0, 3), 3), ((0, 1), 2.0**-60), ((0, 1), 0)])
def test_a_grid_that_does_not_fit_is_refused(bounds, grid):
    with pytest.raises(dp.errors.ParameterError):
        FixedPoint.between(bounds, grid=grid)


@given(st.lists(st.integers(0, 5), max_size=60), st.integers(1, 7))
def test_rows_of_a_person_weigh_the_contribution_at_most_and_in_full_below_it(units, rows_of_one):
    weights = row_weights(np.array(units, dtype=np.int64), np.ones(len(units), dtype=bool), rows_of_one)
    for person in set(units):
        own = [int(weight) for weight, one in zip(weights, units, strict=True) if one == person]
        assert sum(own) <= rows_of_one * WEIGHT_UNIT
        assert len(own) > rows_of_one or own == [WEIGHT_UNIT] * len(own)
        assert sum(own) > rows_of_one * WEIGHT_UNIT - len(own) or len(own) <= rows_of_one


def test_a_person_with_millions_of_rows_weighs_no_more():
    weights = row_weights(np.zeros(3_000_000, dtype=np.int64), np.ones(3_000_000, dtype=bool), 2)
    assert int(weights.sum()) <= 2 * WEIGHT_UNIT
