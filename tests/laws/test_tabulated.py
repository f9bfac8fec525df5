"""A law given by bounds on its probabilities is compared only with its kind, and shows nothing of its input."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.laws import (
    AboveThresholdGapLaw,
    AboveThresholdLaw,
    DiscreteLaplace,
    Finite,
    NoisyMaxGapLaw,
    NoisyMaxLaw,
    Peeling,
    PermuteAndFlipLaw,
    Softmax,
)

LAWS = {
    "softmax": Softmax([0, 17, 2], Fraction(1, 5)),
    "noisy max": NoisyMaxLaw(np.array([0, 17, 2]), DiscreteLaplace(5)),
    "above threshold": AboveThresholdLaw(np.array([0, 17, 2]), 10, Fraction(4), Fraction(8)),
    "permute and flip": PermuteAndFlipLaw([0, 17, 2], Fraction(1, 5)),
    "peeling": Peeling([0, 17, 2], Fraction(1, 5), 2),
    "noisy max with its lead": NoisyMaxGapLaw(np.array([0, 17, 2]), DiscreteLaplace(5)),
    "above threshold with gaps": AboveThresholdGapLaw(np.array([-10, 7, -8]), DiscreteLaplace(4), DiscreteLaplace(8)),
}
law_named = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())


@law_named
def test_bounds_are_in_order_and_enclose_a_distribution(law):
    outcomes, low, high = law.table()
    assert len(outcomes) == low.size == high.size
    assert np.all((low >= 0) & (low <= high))
    assert low.sum() <= 1.0 <= high.sum()
    assert np.max((high - low) / high) < 1e-10


@law_named
def test_a_probability_lies_between_its_bounds(law):
    outcomes, low, high = law.table()
    for index, outcome in enumerate(outcomes):
        assert low[index] <= law.pmf(outcome) <= high[index]
    assert law.pmf("elsewhere") == 0.0


@law_named
def test_a_law_against_itself_loses_nothing(law):
    pair = law.pair(law)
    assert pair.delta(1e-9).upper < 1e-8
    assert pair.max_loss().upper < 1e-9


@law_named
def test_laws_of_other_kinds_or_lengths_are_not_compared(law):
    for other in (Finite([0], [Fraction(1)]), "law", None):
        with pytest.raises(ParameterError):
            law.pair(other)
    with pytest.raises(ParameterError, match="same"):
        law.pair(Softmax([1, 2], Fraction(1)))


@law_named
def test_nothing_of_the_input_is_shown(law):
    assert "17" not in repr(law)
