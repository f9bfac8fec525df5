"""Noisy counts of areas whose rates share a Gamma law: likelihood of its two numbers, and exact draws given them.

Given mean and spread of the Gamma law the count of an area is negative binomial, so that what was released about it has
the probability sum over t of NegativeBinomial(t) w(t): see `latent_sums` for the weights. The rate given the count is a
Gamma law again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.regression.likelihoods import CountEvidence

Floats = NDArray[np.float64]
_SPARED = 20.0  # weights are kept to within e^-20 of the depth of the evidence: to e^-40 of the largest by default
_NOTHING = 15.0
_AT_ONCE = 1 << 19


@dataclass(frozen=True, eq=False)
class _Area:
    """The counts that matter for an area, ln of their weights less ln of their factorials, and its exposure."""

    counts: Floats
    logs: Floats
    exposure: float

    @classmethod
    def of(cls, one: CountEvidence, exposure: float) -> _Area:
        from scipy.special import gammaln

        low, high = one.ends
        counts = np.arange(low, high + 1)
        weights = one.log_weight(counts)
        kept = weights > weights.max() - (one.depth - _SPARED)
        return cls(counts[kept].astype(np.float64), weights[kept] - gammaln(counts[kept] + 1.0), exposure)


class PooledCounts:
    """All areas at many pairs of mean and spread.

    Cost. One exponential for each pair, area and count that matters.

    >>> from discreet.bayes.evidence import Observation
    >>> from discreet.bayes.regression.likelihoods import evidence
    >>> from discreet.laws import DiscreteLaplace
    >>> seen = [evidence([Observation((0,), z, DiscreteLaplace(2))]) for z in (3, 9)]
    >>> areas = PooledCounts(seen, [100.0, 100.0])
    >>> mean, spread = np.array([0.05, 0.1]), np.array([0.5, 0.5])
    >>> areas.log_likelihood(mean, spread).round(3).tolist()
    [-5.317, -5.848]
    """

    def __init__(self, seen: Sequence[CountEvidence], exposures: Sequence[float]) -> None:
        self.seen = list(seen)
        self.areas = [_Area.of(one, exposure) for one, exposure in zip(seen, exposures, strict=True)]

    def least_spread(self) -> float:
        """Return about the least spread that these counts could tell from 0."""
        likely = np.array([max(one.center, 1.0) for one in self.seen])
        variances = likely + np.array([min(one.scale, 1e9) ** 2 for one in self.seen])
        return float((np.sqrt(variances) / likely).min())

    def log_likelihood(self, mean: Floats, spread: Floats) -> Floats:
        """Return ln of the probability of what was released about all areas."""
        found = np.zeros(len(mean))
        for rows, _, terms in self._terms(mean, spread):
            top = terms.max(axis=1)
            found[rows] += top + np.log(np.exp(terms - top[:, np.newaxis]).sum(axis=1))
        return found

    def within(self, mean: Floats, spread: Floats) -> bool:
        """Say whether, for 999 of 1000 pairs, hardly any mass is at the ends of the counts that were kept."""
        held = np.ones(len(mean), dtype=np.bool_)
        for rows, place, terms in self._terms(mean, spread):
            area, most = self.areas[place], terms.max(axis=1) - _NOTHING
            held[rows] &= (terms[:, -1] < most) & ((terms[:, 0] < most) | (area.counts[0] == 0.0))
        return bool(held.mean() >= 0.999)

    def drawn(self, mean: Floats, spread: Floats, generator: np.random.Generator) -> Floats:
        """Draw the rates, (pairs, areas): each count by its exact probabilities, then the rate given the count."""
        found = np.empty((len(mean), len(self.areas)))
        shape = 1.0 / spread**2
        for rows, place, terms in self._terms(mean, spread):
            area = self.areas[place]
            heights = np.cumsum(np.exp(terms - terms.max(axis=1)[:, np.newaxis]), axis=1)
            level = generator.random(heights.shape[0]) * heights[:, -1]
            chosen = np.minimum((heights < level[:, np.newaxis]).sum(axis=1), len(area.counts) - 1)
            rate = shape[rows] / mean[rows] + area.exposure
            found[rows, place] = generator.gamma(shape[rows] + area.counts[chosen]) / rate
        return found

    def _terms(self, mean: Floats, spread: Floats) -> Iterator[tuple[slice, int, Floats]]:
        """Yield parts of the pairs and an area, with ln of NegativeBinomial(t) w(t), (pairs, counts)."""
        first, last = min(area.counts[0] for area in self.areas), max(area.counts[-1] for area in self.areas)
        widest = max(len(area.counts) for area in self.areas)
        shared = last - first < 4 * widest
        every = np.arange(first, last + 1) if shared else np.zeros(0)
        step = max(_AT_ONCE // max(widest, len(every)), 1)
        for start in range(0, len(mean), step):
            rows = slice(start, start + step)
            shape = (1.0 / spread[rows] ** 2)[:, np.newaxis]
            rising = log_rising(every, shape)
            for place, area in enumerate(self.areas):
                begin = int(area.counts[0] - first)
                own = rising[:, begin : begin + len(area.counts)] if shared else log_rising(area.counts, shape)
                expected = area.exposure * mean[rows, np.newaxis]
                lost = np.log1p(expected / shape)
                yield rows, place, area.counts * (np.log(expected) - lost) + (own + area.logs) - shape * lost


def log_rising(count: Floats, shape: Floats) -> Floats:
    """Return ln of Gamma(shape + t) / (Gamma(shape) shape^t), also where the shape is so large that this is hardly 0.

    Accuracy. From a shape of 20 on by Stirling's series, whose rest is below 1e-15: the main terms are put together
        before they are rounded.

    >>> float(log_rising(np.array([3.0]), np.array([1e9]))[0].round(12))
    3e-09
    """
    from scipy.special import gammaln

    large = np.maximum(shape, 20.0)
    total = large + count
    found = (total - 0.5) * np.log1p(count / large) - count + _series(total) - _series(large)
    small = shape < 20.0
    if small.any():
        few = np.minimum(shape, 20.0)
        found = np.where(small, gammaln(few + count) - gammaln(few) - count * np.log(few), found)
    return np.asarray(found)


def _series(x: Floats) -> Floats:
    """Return the rest of Stirling's formula."""
    square = 1.0 / (x * x)
    return np.asarray((1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))) / x)
