"""Truncated discrete Laplace noise: its law, its pairs, and both ways to draw it."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from discreet.audit import goodness_of_fit
from discreet.errors import ParameterError
from discreet.laws import DiscreteLaplace, Outside, Truncated, TruncatedLaplace
from tests.chances import ALARM
from tests.conftest import Rounds

LAWS = [(Fraction(1), 2), (Fraction(3), 7), (Fraction(1, 3), 1), (Fraction(50), 4), (Fraction(5), 5)]


def by_hand(scale: Fraction, reach: int) -> dict[int, float]:
    weights = {x: math.exp(-abs(x) / scale) for x in range(-reach, reach + 1)}
    total = math.fsum(weights.values())
    return {x: weight / total for x, weight in weights.items()}


@pytest.mark.parametrize(("scale", "reach"), LAWS)
def test_masses_and_tails_are_those_of_the_conditioned_law(scale: Fraction, reach: int) -> None:
    law, masses = TruncatedLaplace(scale, 10, reach=reach), by_hand(scale, reach)
    conditioned = Truncated(DiscreteLaplace(scale, 10), 10 - reach, 10 + reach, outside=Outside.CONDITIONED)
    places = np.arange(8 - reach, 13 + reach)
    assert law.pmf(places) == pytest.approx([masses.get(int(x) - 10, 0.0) for x in places], abs=1e-15)
    assert law.pmf(places) == pytest.approx(conditioned.pmf(places), abs=1e-15)
    assert law.sf(places) == pytest.approx(conditioned.sf(places), abs=1e-15)
    assert law.cdf(places) == pytest.approx(conditioned.cdf(places), abs=1e-15)
    for probability in (0.001, 0.3, 0.5, 0.975, 0.999):
        assert law.quantile(probability) == conditioned.quantile(probability)
    assert law.support == conditioned.support


@pytest.mark.parametrize(("scale", "reach"), LAWS)
def test_the_pair_of_two_centers_is_the_sum_over_all_outcomes(scale: Fraction, reach: int) -> None:
    law, masses = TruncatedLaplace(scale, reach=reach), by_hand(scale, reach)
    for shift in range(2 * reach + 4):
        pair = law.at(shift).pair(law)
        for epsilon in (-2.0, -0.5, 0.0, 0.1, 0.5, 1.0, 3.0, 10.0):
            outcomes = range(-reach, reach + shift + 1)
            direct = math.fsum(
                max(masses.get(y - shift, 0.0) - math.exp(epsilon) * masses.get(y, 0.0), 0.0) for y in outcomes
            )
            assert pair.delta(epsilon).lower - 1e-13 <= direct <= pair.delta(epsilon).upper + 1e-13
        assert len(pair.outcomes) <= shift + 3
        assert pair.delta(0.5).upper == pytest.approx(pair.reversed().delta(0.5).upper, rel=1e-12)


@pytest.mark.parametrize(("scale", "reach"), [*LAWS, (Fraction(1000), 3), (Fraction(10**30), 10**25)])
def test_draws_follow_the_law(scale: Fraction, reach: int, rounds: Rounds) -> None:
    law = TruncatedLaplace(scale, -3, reach=reach)
    assert not goodness_of_fit(law, law.sample(rounds(sample=5000, full=10**6))).alarm(ALARM)


def test_a_far_longer_reach_changes_nothing_but_the_far_tail() -> None:
    law, free = TruncatedLaplace(2, reach=200), DiscreteLaplace(2)
    assert law.pmf(np.arange(-20, 21)) == pytest.approx(free.pmf(np.arange(-20, 21)), rel=1e-14)
    assert law.half_width(0.99) == free.half_width(0.99)
    assert float(law.sf(200)) == 0.0


def test_equal_parameters_mean_equal_laws_and_copies_carry_nothing_else() -> None:
    law = TruncatedLaplace(2, 5, reach=9)
    assert pickle.loads(pickle.dumps(law)) == copy.deepcopy(law) == law  # noqa: S301  our own bytes
    assert law != TruncatedLaplace(2, 5, reach=8)
    assert len({law, TruncatedLaplace(2, 5, reach=9), TruncatedLaplace(2, 5, reach=8)}) == 2
    assert "5" not in repr(law)


@pytest.mark.parametrize("reach", [0, -1, 1.5, True])
def test_a_reach_is_a_positive_integer(reach: int) -> None:
    with pytest.raises(ParameterError, match="reach"):
        TruncatedLaplace(1, reach=reach)


def test_other_noise_is_not_compared() -> None:
    with pytest.raises(ParameterError, match="same noise"):
        TruncatedLaplace(1, reach=3).pair(TruncatedLaplace(1, reach=4))
