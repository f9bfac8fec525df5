"""The law of a table of which only entries that reach a threshold are seen."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.audit import goodness_of_fit
from discreet.errors import ParameterError
from discreet.laws import DiscreteGaussian, DiscreteLaplace, Thresholded, ThresholdedTable, TruncatedLaplace
from discreet.laws.noise.noise import IntegerNoise
from tests.chances import ALARM

NOISES = [DiscreteLaplace(2), DiscreteGaussian(1.5), TruncatedLaplace(2, reach=4)]
IDS = ["Laplace", "Gaussian", "truncated"]


def by_hand(noise: IntegerNoise, count: int | None, threshold: int) -> dict[int, float]:
    """Every outcome with its probability, 60 steps beyond the threshold and the count."""
    if count is None:
        return {threshold - 1: 1.0}
    places = np.arange(threshold, max(threshold, count) + 60)
    seen = dict(zip(places.tolist(), noise.at(count).pmf(places).tolist(), strict=True))
    return {threshold - 1: float(noise.at(count).cdf(threshold - 1)), **seen}


@pytest.mark.parametrize("noise", NOISES, ids=IDS)
@pytest.mark.parametrize("count", [None, 1, 5, 9])
def test_what_lies_below_the_threshold_is_one_outcome(noise: IntegerNoise, count: int | None) -> None:
    law, masses = Thresholded(noise, count, threshold=6), by_hand(noise, count, 6)
    places = np.arange(3, 30)
    assert law.pmf(places) == pytest.approx([masses.get(int(x), 0.0) for x in places], abs=1e-15)
    assert float(law.sf(5)) == pytest.approx(1 - masses[5], abs=1e-14)
    assert float(law.cdf(4)) == 0.0
    for probability in (0.1, 0.9, 0.999):
        least = law.quantile(probability)
        assert float(law.cdf(least)) >= probability > float(law.cdf(least - 1))
    assert not goodness_of_fit(law, law.sample(5000)).alarm(ALARM)
    low, high = law.chance()
    assert 0.0 <= low <= high
    assert (low, high) == pytest.approx((1 - masses[5], 1 - masses[5]), abs=1e-14)


@pytest.mark.parametrize("noise", NOISES, ids=IDS)
@pytest.mark.parametrize("counts", [(None, 1), (1, 2), (5, 6), (9, 10), (40, 41), (3, 9), (9, 3), (4, 4), (None, None)])
def test_pairs_are_sums_over_all_outcomes(noise: IntegerNoise, counts: tuple[int | None, int | None]) -> None:
    first, second = (Thresholded(noise, count, threshold=6) for count in counts)
    p, q = (by_hand(noise, count, 6) for count in counts)
    pair = first.pair(second)
    for epsilon in (0.0, 0.1, 0.5, 1.0, 2.0):
        direct = math.fsum(max(p.get(y, 0.0) - math.exp(epsilon) * q.get(y, 0.0), 0.0) for y in p.keys() | q.keys())
        found = pair.delta(epsilon)
        assert found.lower - 1e-13 <= direct <= found.upper + 1e-13
        assert found.width < 1e-13


def test_geometric_noise_far_above_the_threshold_needs_few_atoms() -> None:
    far = 1000
    pair = Thresholded(DiscreteLaplace(2), far, threshold=6).pair(Thresholded(DiscreteLaplace(2), far + 1, threshold=6))
    assert len(pair.outcomes) <= 4
    assert pair.max_loss().upper == pytest.approx(0.5, rel=1e-10)


def test_tables_are_compared_over_the_keys_of_both() -> None:
    noise = DiscreteLaplace(1)

    def table(**counts: int) -> ThresholdedTable:
        return ThresholdedTable({key: Thresholded(noise, count, threshold=4) for key, count in counts.items()})

    named = float(noise.sf(2))
    assert table(a=1, b=9).pair(table(b=9)).delta(0.0).upper == pytest.approx(named, rel=1e-12)
    assert table(b=9).pair(table(a=1, b=9)).delta(0.0).upper == pytest.approx(named, rel=1e-12)
    assert table(a=1).pair(table(b=1)).delta(50.0).upper == pytest.approx(named, rel=1e-12)
    both = table(a=1, b=1).pair(table())
    assert both.delta(50.0).upper == pytest.approx(1 - (1 - named) ** 2, rel=1e-12)
    assert both.max_loss().upper == math.inf
    assert both.reversed().max_loss().upper == pytest.approx(-2 * math.log1p(-named), rel=1e-12)
    assert table(a=3).pair(table(a=3)).delta(0.0).upper < 1e-14
    assert table().pair(table()).delta(0.0).upper < 1e-14
    assert table(a=5, b=1).pmf((6, 3)) == pytest.approx(float(noise.pmf(1)) * (1 - named), rel=1e-12)
    assert table(a=5, b=1).sample(7).shape == (7, 2)
    assert table().sample().shape == (0,)


def test_nothing_private_is_printed() -> None:
    assert "41" not in repr(Thresholded(DiscreteLaplace(1), 41, threshold=4))
    assert repr(ThresholdedTable({})) == repr(
        ThresholdedTable({"ana": Thresholded(DiscreteLaplace(1), 41, threshold=4)})
    )


def test_unlike_laws_are_not_compared() -> None:
    law = Thresholded(DiscreteLaplace(1), 1, threshold=4)
    with pytest.raises(ParameterError, match="same noise"):
        law.pair(Thresholded(DiscreteLaplace(1), 1, threshold=5))
    with pytest.raises(ParameterError, match="its kind"):
        ThresholdedTable({"a": law}).pair(law)  # type: ignore[arg-type]
    wide = Thresholded(DiscreteGaussian(10**6), 1, threshold=4)
    with pytest.raises(ParameterError, match="outcomes"):
        wide.pair(Thresholded(DiscreteGaussian(10**6), 2, threshold=4))
