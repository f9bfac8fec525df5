"""Many quantiles at one price from noisy counts of even bins: the way for few rows and a small price."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.laws import Law
from discreet.laws.number import Number
from discreet.mechanisms.noise import GaussianNoise
from discreet.privacy import PrivacyLoss, Relation
from discreet.privacy.numbers import whole
from discreet.statistics.columns import WEIGHT_UNIT, bounded
from discreet.statistics.order_statistics.tree import ManyQuantiles
from discreet.statistics.pricing import NoisyVector
from discreet.statistics.ranks import checked_positions, one_price, weighed

_SHARE = 0.95
_LAPLACE = math.sqrt(2.0)  # standard deviations of continuous Laplace noise in a scale


class EvenBins(ManyQuantiles):
    """Return a position of 0, ..., steps for each of several levels, in order, read off a noisy cumulative count.

    The grid is cut into k even bins, each row is counted in its bin, and every count gets noise. The sums of the first
    counts are made increasing (the mean of the largest so far and of the least from there on), and a level is read off
    the line through them. k balances what noise and bins do to evenly spread rows: k^3 is proportional to the square of
    rows_expected over the standard deviation of the noise.

    Privacy. epsilon-DP for Laplace noise of scale c D / epsilon, rho-zCDP for Gaussian noise of variance c^2 D / (2
        rho), for rows of one person that weigh up to c, D = 1 under add/remove and 2 under change-one.
        Proof: each row adds its weight to one count, as in `CountsAround`; the bins are public.
    Accuracy. No rank error is promised: within a bin rows may lie anywhere. Where they are spread evenly a cumulative
        count is off by the noise alone, with a variance of about k a (1 - a) times that of one count.
    Cost. One pass over the rows; no sort.
    Reference. Histograms: Dwork, McSherry, Nissim, Smith 2006.

    >>> bins = EvenBins(
    ...     levels=(0.25, 0.75),
    ...     epsilon=1,
    ...     relation=Relation.ADD_REMOVE,
    ...     steps=1000,
    ...     rows_expected=1000,
    ... )
    >>> low, high = bins(list(range(1001)))
    >>> 0 <= low <= high <= 1000
    True
    """

    def __init__(
        self,
        *,
        levels: Any,
        relation: Relation,
        steps: int,
        rows_expected: int,
        epsilon: Number | None = None,
        rho: Number | None = None,
        rows: int | None = None,
    ) -> None:
        super().__init__(levels, relation, steps, 0)
        self._epsilon, self._rho = one_price(epsilon, rho)
        self._rows_expected = whole(rows_expected, name="rows_expected")
        times = 2 if self.relation is Relation.CHANGE_ONE else 1
        weight = (bounded(rows) or 1) * WEIGHT_UNIT
        moved: dict[str, Any] = {"sensitivity": times * weight, "relation": self.relation}
        if self._epsilon is not None:
            self.counter = NoisyVector.laplace(epsilon=self._epsilon, **moved)
        else:
            self.counter = NoisyVector.gaussian(rho=self._rho or Fraction(0), squared=times * weight**2, **moved)
        wanted = math.ceil(_SHARE * (self._rows_expected / self.deviation) ** (2 / 3))
        self.bins = min(max(wanted, len(self.levels) + 1), self.steps + 1)
        self.cuts = np.array([-(-(self.steps + 1) * place // self.bins) for place in range(1, self.bins)], np.int64)

    @property
    def deviation(self) -> float:
        """About the standard deviation of the noise of one count, in rows."""
        noise = self.counter.noise
        times = 1.0 if isinstance(noise, GaussianNoise) else _LAPLACE
        return times * float(noise.scale) / WEIGHT_UNIT

    @property
    def loss(self) -> PrivacyLoss:
        """The price of the noise."""
        return self.counter.loss

    def _counts(self, value: Any) -> NDArray[Any]:
        """Return the rows of each bin in units of 2^-20 rows; private."""
        positions, weights = value if isinstance(value, tuple) else (value, None)
        cell = np.searchsorted(self.cuts, checked_positions(positions, self.steps), side="right")
        return np.array(weighed(cell, weights, self.bins), dtype=object)

    def __call__(self, value: Any) -> tuple[int, ...]:
        """Return the positions; `value` is an array of positions, or one with the weights of the rows."""
        return self.positions_of(self.counter(self._counts(value)))

    def law(self, value: Any) -> Law[Any]:
        """Return the law of the noisy counts, of which the positions are made."""
        return self.counter.law(self._counts(value))

    def outcome(self, value: Any) -> Any:
        """Return noisy counts, which `law` speaks of."""
        return tuple(int(count) for count in self.counter(self._counts(value)))

    def positions_of(self, counts: Any) -> tuple[int, ...]:
        """Read the levels off noisy counts."""
        sums = np.cumsum(np.asarray(counts, dtype=np.float64))
        rising = (np.maximum.accumulate(sums) + np.minimum.accumulate(sums[::-1])[::-1]) / 2
        line = np.concatenate([[0.0], np.maximum(rising, 0.0)])
        edges = np.concatenate([[0.0], self.cuts.astype(np.float64), [float(self.steps + 1)]])
        if line[-1] <= 0.0:
            line = edges
        read = np.interp([float(level) * line[-1] for level in self.levels], line, edges)
        return tuple(min(max(math.floor(place), 0), self.steps) for place in read)

    def variance(self) -> float:
        """Return about the mean squared rank error of all levels, in rows, where rows are spread evenly."""
        spread = math.fsum(float(level * (1 - level)) for level in self.levels) / len(self.levels)
        return float(self.bins * spread * self.deviation**2)

    def error(self, confidence: float, *, rows_expected: int) -> list[float]:  # noqa: ARG002
        """Return the number of rows for every level: nothing less is certain."""
        return [float(rows_expected)] * len(self.levels)
