"""The tabulated likelihood of a share is the direct sum over both counts."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.bayes.evidence import Observation
from discreet.bayes.regression import ShareCell, ShareLikelihood
from discreet.errors import InputError, ParameterError
from discreet.laws import DiscreteGaussian, DiscreteLaplace
from tests.bayes.regression.likelihoods.direct_sums import share_directly

TWO = DiscreteLaplace(2)
CASES = [
    (12, 31, TWO, None, None),
    (-6, 31, TWO, None, None),
    (-5, -9, TWO, None, None),
    (3, 200, DiscreteLaplace(0.2), None, None),
    (120, 31, DiscreteGaussian(3), None, None),
    (60, 40, DiscreteLaplace(5), None, None),
    (12, 31, TWO, 40, None),
    (12, None, TWO, 40, None),
    (None, 31, TWO, 40, None),
    (-4, None, TWO, 3, None),
    (30, 60, DiscreteLaplace(5), 70, None),
    (12, 31, TWO, None, 47),
    (12, None, TWO, None, 47),
]


def seen(released, noise):
    return () if released is None else (Observation((0,), released, noise),)


@pytest.mark.theorem("ShareLikelihood.accuracy")
@pytest.mark.parametrize(("successes", "failures", "noise", "people", "together"), CASES)
def test_a_table_is_the_direct_sum_down_to_e_to_the_minus_59(successes, failures, noise, people, together):
    cell = ShareCell(seen(successes, noise), seen(failures, noise), seen(together, noise), people)
    table = ShareLikelihood([cell])
    low, high = table.curves.ends[0]
    logits = np.concatenate([np.linspace(low - 3, high + 3, 40), np.linspace(-3.1, 3, 30)])
    expected = share_directly(successes, failures, noise, logits, people=people, together=together)
    found = table.at(logits[:, np.newaxis])[:, 0]
    matters = expected > expected.max() - 59
    assert np.abs(found - expected)[matters].max() < 1e-6


def test_a_table_of_thousands_is_the_binomial_likelihood_where_noise_is_small():
    people, noise = 40_000, DiscreteLaplace(0.05)
    cell = ShareCell(seen(9_000, noise), seen(people - 9_000, noise))
    logits = np.log(0.225 / 0.775) + np.linspace(-0.05, 0.05, 21)
    found = ShareLikelihood([cell]).at(logits[:, np.newaxis])[:, 0]
    exact = -9_000 * np.logaddexp(0, -logits) - 31_000 * np.logaddexp(0, logits)
    assert found - found.max() == pytest.approx(exact - exact.max(), abs=1e-4)


def test_a_public_number_of_people_that_no_counts_reach_is_refused():
    cell = ShareCell(seen(4_000, TWO), seen(31, TWO), (), 50)
    with pytest.raises(InputError, match="people must be a number that the released counts can come from"):
        ShareLikelihood([cell])


def test_totals_of_very_wide_noise_are_refused_before_they_take_hours():
    wide = DiscreteLaplace(20_000)
    cell = ShareCell(seen(4_000, wide), seen(31, wide), seen(4_500, wide))
    with pytest.raises(ParameterError, match="leave the totals out, or write people="):
        ShareLikelihood([cell])
