"""The runs of every benchmark mechanism follow its pair: the loss of real outputs has the law that the pair says."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.laws.finite import FinitePair
from discreet.laws.pair import Pair
from discreet.privacy.pairs.laplace import LaplacePair
from discreet.testing.museum import Exhibit, benchmark
from discreet.testing.museum.laws.laplace_products import laplace_product
from discreet.testing.museum.laws.sandwich import PairAtoms, Sandwich
from tests.conftest import Rounds
from tests.testing.museum.likelihoods import losses

ALARM = 1e-13  # a check; there are a few hundred
BLUR = (
    3e-3  # how far the midpoint sums of the likelihoods and the merged atoms may move a loss, as a share of its range
)
QUANTILES = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98)


def atoms(pair: Pair) -> PairAtoms:
    """Return the atoms of a finite pair, or those of the coarser side."""
    if isinstance(pair, LaplacePair):
        pair = laplace_product(float(pair.max_loss().estimate), 1)
    if isinstance(pair, FinitePair):
        return PairAtoms((pair.p_low + pair.p_high) / 2, (pair.q_low + pair.q_high) / 2)
    assert isinstance(pair, Sandwich)
    return pair.inner


def tails(pair: Pair, level: float, blur: float) -> list[tuple[float, float]]:
    """Return bounds on the chance of a loss above a level under both laws."""
    known = atoms(pair)
    loss = known.losses()
    return [(float(mass[loss > level + blur].sum()), float(mass[loss > level - blur].sum())) for mass in known]


@pytest.mark.parametrize("exhibit", benchmark(), ids=lambda exhibit: exhibit.label.name)
def test_losses_of_runs_have_the_law_of_the_pair(exhibit: Exhibit, rounds: Rounds) -> None:
    from scipy.stats import binom

    draws = rounds(sample=10_000, full=40_000)
    exhibit = type(exhibit)(seed=1)  # type: ignore[call-arg]
    first, second = exhibit.neighbors()[-1]
    pair = exhibit.pair(first, second)
    assert pair is not None
    known = atoms(pair)
    order = np.argsort(known.losses())
    share = np.cumsum((known.p + known.q)[order]) / float((known.p + known.q).sum())
    places = [known.losses()[order][min(int(np.searchsorted(share, level)), share.size - 1)] for level in QUANTILES]
    places = [place for place in places if np.isfinite(place)]
    blur = BLUR * (max(places) - min(places)) + 1e-6
    seen = [losses(exhibit, exhibit.runs(value, draws), first, second) for value in (first, second)]
    informative = 0
    for level in {place + side * 3 * blur for place in places for side in (-1, 1)}:
        for loss, (low, high) in zip(seen, tails(pair, level, blur), strict=True):
            count = int(np.sum(loss > level))
            assert binom.cdf(count, draws, max(low - 1e-9, 0.0)) > ALARM
            assert binom.sf(count - 1, draws, min(high + 1e-9, 1.0)) > ALARM
            informative += high - low < 0.02 and 0.001 < high < 0.999
    assert informative >= 2


def test_a_seed_repeats_the_runs() -> None:
    for exhibit, again in zip(benchmark(), benchmark(), strict=True):
        first, _ = exhibit.neighbors()[0]
        same = [type(one)(seed=5).runs(first, 20) for one in (exhibit, again)]  # type: ignore[call-arg]
        assert np.array_equal(same[0], same[1])
        assert np.shape(exhibit(first)) == same[0].shape[1:]
