"""The likelihood of a Poisson mean, given noisy counts: tabulated once, looked up as often as a model likes.

f(m) = sum over t of Pois(t | m) w(t), w(t) being the probability of what was released if the count is t. It is a
function of one number. ln f is nearly a parabola in sqrt(m) where m is large, and smooth in ln m where m is small: a
cubic spline on even steps of x = ln m + 2 sqrt(m) holds both. Below the table ln f is linear in m, as it is in the
limit; above it too, which is the limit for Laplace noise, where f(m) is proportional to exp(-m (1 - q)).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.evidence import Observation
from discreet.bayes.regression.likelihoods.curves import Curve, Curves
from discreet.bayes.regression.likelihoods.latent_sums import DEPTH, CountEvidence, evidence, log_sums

Floats = NDArray[np.float64]
_STEP = 0.125
_LOWEST = 1e-5


class RateLikelihood:
    """ln of the likelihood of Poisson rates, one a cell, from what was released about each cell's count.

    A rate is the mean per unit of exposure; without exposures it is the mean itself.

    Accuracy. Within 1e-6 of the direct sum down to e^-depth of the largest value of a cell; straight in the mean
        beyond, which is too flat: `within` says whether numbers stay above.
    Cost. Some 400 nodes a cell, each a sum over the counts that noise and Poisson law leave possible.

    >>> from discreet.laws import DiscreteLaplace
    >>> cell = [Observation((0,), 12, DiscreteLaplace(2))]
    >>> table = RateLikelihood([cell])
    >>> table.at(np.log([[5.0], [12.0], [30.0]])).round(3).ravel().tolist()
    [-4.225, -2.369, -7.251]
    """

    def __init__(
        self,
        cells: Sequence[Sequence[Observation]],
        exposures: Sequence[float] | None = None,
        depth: float = DEPTH,
    ) -> None:
        self.exposed = np.zeros(len(cells)) if exposures is None else np.log(np.array(exposures, dtype=np.float64))
        self.depth = depth
        self.evidence = [evidence(one, depth) for one in cells]
        found = [_tabulated(one) for one in self.evidence]
        self.curves = Curves([curve for curve, _ in found])
        self.ranges = np.array([ends for _, ends in found])  # least and largest mean of each table

    @property
    def likely(self) -> Floats:
        """About the likeliest logarithm of each rate."""
        return np.log([max(one.center, 0.5) for one in self.evidence]) - self.exposed

    def within(self, log_rate: Floats) -> bool:
        """Say whether nearly all rows of logarithms of rates (rows, cells) are where the tables are exact."""
        return self.curves.within(self.at(log_rate), self.depth)

    def at(self, log_rate: Floats) -> Floats:
        """Return ln f at logarithms of rates (..., cells): the mean is the rate times the exposure."""
        log_mean = log_rate + self.exposed
        root = np.exp(np.minimum(log_mean, 1000.0) / 2)
        return self.curves.at(log_mean + 2.0 * root, root * root)


def poisson_sums(one: CountEvidence, mean: Floats) -> Floats:
    """Return ln f at means, by the sum over counts."""
    from scipy.special import gammaln

    low, high = one.ends
    logarithm = np.log(mean)

    def term(count: NDArray[np.int64], rows: slice) -> Floats:
        kernel = count * logarithm[rows, np.newaxis] - mean[rows, np.newaxis] - gammaln(count + 1.0)
        return np.asarray(kernel + one.log_weight(count))

    every = np.ones(len(mean), dtype=np.int64)
    return log_sums(term, low * every, high * every, lambda count, _: np.sqrt(count + 1.0), scale=one.scale)


def _tabulated(one: CountEvidence) -> tuple[Curve, tuple[float, float]]:
    """Return the curve of a cell and the ends of its table, as means."""
    least = _LOWEST * float(np.exp(-one.lift))  # so small that ln f is linear in the mean from there to 0
    start = place_of(np.array([max(one.center, 0.5)]))[0]
    reach = 0.5 * 2.0 ** np.arange(22)
    trial = np.concatenate([(start - reach)[::-1], [start], start + reach])
    trial = trial[trial > place_of(np.array([least]))[0]]
    trial = np.concatenate([place_of(np.array([least])), trial])
    trial = trial[trial < place_of(np.array([4.0 * one.ends[1] + 1000.0]))[0]]
    values = poisson_sums(one, mean_at(trial))
    inside = np.flatnonzero(values > values.max() - one.depth)
    first, last = max(inside[0] - 1, 0), min(inside[-1] + 1, len(trial) - 1)
    places = np.linspace(trial[first], trial[last], max(int((trial[last] - trial[first]) / _STEP) + 2, 8))
    means = mean_at(places)
    logs = poisson_sums(one, means)
    deep = np.flatnonzero(logs > logs.max() - one.depth)
    kept = slice(max(deep[0] - 3, 0), deep[-1] + 4)
    places, means, logs = places[kept], means[kept], logs[kept]
    rates = 1.0 / means[[0, -1]] + 1.0 / np.sqrt(means[[0, -1]])
    return Curve.through(places, logs, means, rates), (float(means[0]), float(means[-1]))


def place_of(mean: Floats) -> Floats:
    """Return x = ln m + 2 sqrt(m)."""
    return np.asarray(np.log(mean) + 2.0 * np.sqrt(mean))


def mean_at(place: Floats) -> Floats:
    """Return the mean at a place: sqrt(m) is the omega function of x / 2 (Wright; Corless, Jeffrey 2002)."""
    from scipy.special import wrightomega

    return np.asarray(np.real(wrightomega(place / 2)) ** 2)
