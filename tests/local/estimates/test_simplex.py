"""The projection on the simplex is the nearest distribution, and nearer to every distribution than what it projects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.local.estimates.frequencies import onto_simplex

columns = st.lists(st.floats(-3, 3), min_size=1, max_size=12).map(np.array)


def distribution(weights: list[int]) -> Any:
    return np.array(weights) / sum(weights)


@given(columns)
def test_the_result_is_a_distribution(values: Any) -> None:
    found = onto_simplex(values)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.theorem("onto_simplex.accuracy")
@given(columns, st.data())
def test_every_distribution_is_nearer_to_the_result_by_the_distance_traveled(values: Any, data: Any) -> None:
    weights = data.draw(st.lists(st.integers(0, 9), min_size=values.size, max_size=values.size).filter(any))
    found, other = onto_simplex(values), distribution(weights)
    traveled = float(np.sum((values - found) ** 2))
    assert np.sum((values - other) ** 2) >= traveled + np.sum((found - other) ** 2) - 1e-9


@given(columns)
def test_one_constant_is_subtracted_from_what_is_left(values: Any) -> None:
    found = onto_simplex(values)
    kept = values[found > 1e-12] - found[found > 1e-12]
    assert np.ptp(kept) < 1e-9
    assert (values[found == 0] <= kept.mean() + 1e-9).all()


@given(st.lists(st.integers(0, 9), min_size=1, max_size=9).filter(any))
def test_a_distribution_stays_where_it_is(weights: list[int]) -> None:
    assert onto_simplex(distribution(weights)) == pytest.approx(distribution(weights), abs=1e-12)


def test_numbers_far_away_lose_no_digits() -> None:
    assert onto_simplex([1e12, 1e12 - 1, -1e12]).tolist() == [1.0, 0.0, 0.0]
    assert onto_simplex([-1e9, -1e9]).tolist() == [0.5, 0.5]


@pytest.mark.parametrize("values", [[], [[1.0]], 3.0, [np.nan], [np.inf, 1.0]])
def test_what_is_no_column_of_numbers_is_refused(values: Any) -> None:
    with pytest.raises(ParameterError):
        onto_simplex(values)
