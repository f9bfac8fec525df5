"""Quantiles of weighted sums of independent integer noises: exact by enumeration, sound, and close to the least."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from discreet.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.query.answer.after_noise.sums_of_noise import EqualTerms, sum_quantile

LAWS = (DiscreteLaplace(1), DiscreteLaplace(Fraction(7, 3)), DiscreteGaussian(2), RoundedGaussian(Fraction(3, 2)))
RESTS = (0.5, 0.05, 1e-4)


def masses(law, reach=90):
    return np.exp(np.asarray(law.log_pmf(np.arange(-reach, reach + 1)), dtype=np.float64))


def beyond(terms, point):
    """Return P(|S| > point) by adding up all outcomes of sums of equal noises."""
    values, chances = np.zeros(1), np.ones(1)
    for one in terms:
        law = masses(one.noise)
        for _ in range(one.count - 1):
            law = np.convolve(law, masses(one.noise))
        places = (np.arange(len(law)) - len(law) // 2) * one.coefficient
        kept = law > 1e-14
        values = np.add.outer(values, places[kept]).ravel()
        chances = np.multiply.outer(chances, law[kept]).ravel()
    return float(chances[np.abs(values) > point + 1e-9].sum())


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_quantile_of_equal_noises_is_the_least_there_is(law, count):
    for rest, coefficient in itertools.product(RESTS, (1.0, 0.125)):
        terms = [EqualTerms(law, coefficient, count)]
        found = sum_quantile(terms, rest)
        assert beyond(terms, found) <= rest * (1 + 1e-6)
        assert beyond(terms, found - coefficient) > rest * (1 - 1e-6)


@pytest.mark.parametrize(("one", "two"), list(itertools.combinations(LAWS, 2)), ids=str)
def test_the_quantile_of_different_noises_is_sound_and_close(one, two):
    for rest, weight in itertools.product((0.3, 0.05, 1e-3), (0.9, 0.31, 3.7)):
        terms = [EqualTerms(one, weight, 2), EqualTerms(two, 1.0, 1)]
        found = sum_quantile(terms, rest)
        assert beyond(terms, found) <= rest * (1 + 1e-6)
        spread = sum(term.variance for term in terms) ** 0.5
        assert beyond(terms, found - 0.02 * spread) > rest * (1 - 1e-6)


def test_wide_noise_is_read_as_the_continuous_law():
    for rest in (0.3, 0.05, 1e-3):
        alone = DiscreteLaplace(10**9).half_width(1 - rest)
        beside = sum_quantile(
            [EqualTerms(DiscreteLaplace(10**9), 1.0, 1), EqualTerms(DiscreteLaplace(10**9), 1e-9, 1)], rest
        )
        assert alone <= beside <= alone * 1.01
    three = sum_quantile([EqualTerms(RoundedGaussian(Fraction(10**6)), 1.0, 9)], 0.05)
    assert three == pytest.approx(3 * 1.959964 * 10**6, rel=0.02)


def test_what_is_rarer_than_floats_resolve_is_bounded_by_chernoff():
    terms = [EqualTerms(DiscreteLaplace(2), 1.0, 3), EqualTerms(DiscreteGaussian(2), 0.5, 1)]
    rests = [1e-6, 1e-9, 1e-12, 1e-20, 1e-60]
    found = [sum_quantile(terms, rest) for rest in rests]
    assert found == sorted(found)
    assert np.isfinite(found).all()
    assert sum_quantile([], 0.05) == 0.0


def test_many_different_weights_are_merged_upwards():
    many = [EqualTerms(DiscreteLaplace(4), 1.0 + place / 1000, 1) for place in range(400)]
    merged = sum_quantile(many, 0.05)
    halves = sum_quantile([EqualTerms(DiscreteLaplace(4), 1.2, 400)], 0.05)
    assert halves * 0.98 < merged < halves * 1.04
