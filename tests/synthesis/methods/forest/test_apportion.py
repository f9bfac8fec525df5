"""Whole numbers of rows for a distribution."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.synthesis.methods.forest.forest import apportion, apportion_groups, assign

_shares = st.lists(st.integers(0, 1000), min_size=1, max_size=12).filter(any)


@pytest.mark.theorem("apportion.accuracy")
@given(weights=_shares, total=st.integers(0, 10_000))
def test_every_count_is_within_one_of_its_expectation_and_the_sum_is_exact(weights: list[int], total: int) -> None:
    expected = np.array(weights) / sum(weights) * total
    counts = apportion(expected, total)
    assert counts.sum() == total
    assert counts.min() >= 0
    assert np.all(np.abs(counts - expected) < 1 + 1e-9)


@given(expected=st.lists(st.floats(-5, 5), min_size=1, max_size=6), total=st.integers(0, 50))
def test_the_sum_is_exact_whatever_was_expected(expected: list[float], total: int) -> None:
    counts = apportion(np.array(expected), total)
    assert counts.sum() == total
    assert counts.min() >= 0


@given(weights=st.lists(_shares, min_size=1, max_size=6), totals=st.data())
def test_groups_keep_their_totals_and_never_get_an_impossible_value(
    weights: list[list[int]], totals: st.DataObject
) -> None:
    width = max(map(len, weights))
    conditional = np.array([row + [0] * (width - len(row)) for row in weights], dtype=np.float64)
    conditional /= conditional.sum(axis=1, keepdims=True)
    sizes = np.array(totals.draw(st.lists(st.integers(0, 500), min_size=len(weights), max_size=len(weights))))
    counts = apportion_groups(conditional, sizes)
    assert counts.sum(axis=1).tolist() == sizes.tolist()
    assert counts.min() >= 0
    assert not counts[conditional == 0].any()


def test_what_rounding_leaves_over_is_carried_so_that_columns_add_up_too() -> None:
    conditional = np.full((100, 2), 0.5)
    counts = apportion_groups(conditional, np.ones(100, dtype=np.int64))
    assert abs(int(counts[:, 0].sum()) - 50) <= 1


def test_codes_are_assigned_as_often_as_counted_within_each_group() -> None:
    groups = np.array([0, 1, 0, 1, 1, 0, 1], dtype=np.uint16)
    counts = np.array([[2, 0, 1], [0, 3, 1]], dtype=np.int64)
    codes = assign(groups, counts)
    for group in (0, 1):
        assert np.bincount(codes[groups == group], minlength=3).tolist() == counts[group].tolist()
