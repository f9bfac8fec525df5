"""One distribution from overlapping noisy histograms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.synthesis import Domain
from discreet.synthesis.base.allowance import Noisy
from discreet.synthesis.methods.forest.one_ways import OneWays
from discreet.synthesis.methods.forest.tree import combined_shares, fitted, forest


@given(
    entries=st.lists(st.floats(-0.5, 1), min_size=6, max_size=6),
    rows=st.lists(st.integers(0, 9), min_size=2, max_size=2).filter(any),
    columns=st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any),
)
def test_a_fitted_table_is_nowhere_negative_and_has_its_column_margin(
    entries: list[float], rows: list[int], columns: list[int]
) -> None:
    wanted = np.array(rows) / sum(rows), np.array(columns) / sum(columns)
    table = fitted(np.array(entries).reshape(2, 3), *wanted)
    assert table.min() >= 0
    assert np.isfinite(table).all()
    np.testing.assert_allclose(table.sum(axis=0), wanted[1], atol=1e-9)


def test_a_table_without_noise_stays_as_it_is() -> None:
    table = np.array([[0.3, 0.1, 0.0], [0.05, 0.25, 0.3]])
    np.testing.assert_allclose(fitted(table, table.sum(axis=1), table.sum(axis=0)), table, atol=1e-6)


def test_shares_are_means_weighted_by_inverse_variances() -> None:
    domain = Domain.of(a=range(2), b=range(3))
    one_ways = OneWays(domain, {0: Noisy(np.array([60, 40]), 1.0), 1: Noisy(np.array([20, 30, 50]), 2.0)})
    again = OneWays(domain, {0: Noisy(np.array([70, 30]), 2.0)})
    pair = Noisy(np.array([[10, 20, 30], [10, 10, 20]]), 1.0)
    first, second = combined_shares(one_ways, again, {(0, 1): pair}, 100.0)
    weights = np.array([1, 1 / 4, 1 / 3])
    assert first[0] == pytest.approx(weights @ [0.6, 0.7, 0.6] / weights.sum())
    weights = np.array([1 / 4, 1 / 2])
    assert second.tolist() == pytest.approx(
        [weights @ pair / weights.sum() for pair in ([0.2, 0.2], [0.3, 0.3], [0.5, 0.5])]
    )


def test_the_forest_has_the_shares_of_the_pairs_it_was_made_from() -> None:
    domain = Domain.of(a=range(2), b=range(2), c=range(1))
    pair = Noisy(np.array([[400, 100], [50, 450]]), 0.0)
    one_ways = OneWays(domain, {0: Noisy(np.array([500, 500]), 0.0), 1: Noisy(np.array([450, 550]), 0.0)})
    model = forest(one_ways, OneWays(domain, {}), {(0, 1): pair})
    np.testing.assert_allclose(model.marginal((0, 1)), pair.values / 1000, atol=1e-7)
    assert model.marginal((2,)).tolist() == [1.0]
