"""Clopper-Pearson bounds cover every chance, summed up exactly over all counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from discreet.audit.statistical.loss_bound import expected_loss_at_least, loss_at_least
from discreet.laws.clopper_pearson import chance_at_least, chance_at_most

CHANCES = np.concatenate([[0.0, 1e-6, 1e-3], np.linspace(0.01, 0.99, 50), [0.999, 1.0]])


@pytest.mark.theorem("chance_at_least.accuracy")
@pytest.mark.parametrize("draws", [1, 2, 7, 50, 400])
@pytest.mark.parametrize("rest", [0.3, 0.05, 1e-4])
def test_neither_bound_fails_more_often_than_it_may(draws: int, rest: float) -> None:
    counts = np.arange(draws + 1)
    low, high = chance_at_least(counts, draws, rest), chance_at_most(counts, draws, rest)
    for chance in CHANCES:
        mass = binom.pmf(counts, draws, chance)
        assert mass[low > chance].sum() <= rest * (1 + 1e-9)
        assert mass[high < chance].sum() <= rest * (1 + 1e-9)


@pytest.mark.parametrize("draws", [50, 400])
def test_the_bounds_are_not_wasteful(draws: int) -> None:
    counts = np.arange(draws + 1)
    worst = max(binom.pmf(counts, draws, p)[chance_at_least(counts, draws, 0.05) > p].sum() for p in CHANCES[5:-5])
    assert worst > 0.03


@pytest.mark.theorem("loss_at_least.accuracy")
@pytest.mark.parametrize("delta", [0.0, 0.05])
@pytest.mark.parametrize("draws", [5, 60])
def test_the_bound_on_the_loss_holds_with_its_confidence(draws: int, delta: float) -> None:
    counts = np.arange(draws + 1)
    bounds = loss_at_least(counts[:, None], draws, counts[None, :], draws, delta=delta, rest=0.1)
    for p in (0.02, 0.2, 0.5, 0.9, 1.0):
        for q in (0.01, 0.1, 0.5, 0.95):
            true = np.log((p - delta) / q) if p > delta else -np.inf
            mass = np.outer(binom.pmf(counts, draws, p), binom.pmf(counts, draws, q))
            assert mass[bounds > max(true, 0.0) + 1e-12].sum() <= 0.1


@given(st.integers(1, 2000), st.data())
def test_the_bounds_enclose_the_frequency(draws: int, data: st.DataObject) -> None:
    seen = data.draw(st.integers(0, draws))
    assert float(chance_at_least(seen, draws, 0.1)) <= seen / draws <= float(chance_at_most(seen, draws, 0.1))


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.4), (0.02, 0.001), (1.0, 0.0)])
def test_the_mean_bound_is_the_sum_over_all_counts(p: float, q: float) -> None:
    draws = 300
    counts = np.arange(draws + 1)
    bounds = loss_at_least(counts[:, None], draws, counts[None, :], draws, delta=0.0, rest=0.05)
    mean = binom.pmf(counts, draws, p) @ bounds @ binom.pmf(counts, draws, q)
    assert expected_loss_at_least(p, q, draws, delta=0.0, rest=0.05) == pytest.approx(float(mean), abs=2e-4)
