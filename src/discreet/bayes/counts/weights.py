"""Weights of a count: priors and likelihoods as functions of an integer, in logarithms, with bounds on how they change.

The posterior of a count is a list of weights, one for every integer t >= 0. It is cut where the rest is provably small,
which needs no more than a bound on the ratio of neighbors: see `windows`. A sum of logarithms is bounded by the sum of
the bounds, so every weight here states its own.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.laws.noise import IntegerNoise

Logs = NDArray[np.float64]
_EXACT = 1 << 61  # differences below it fit int64, with room for one step more
STIRLING = 20.0
_DROP = 40.0  # windows open at first so far that a likelihood alone has fallen by this much


class Weight(ABC):
    """A positive function of a count t = 0, 1, 2, ..."""

    @abstractmethod
    def log(self, start: int, size: int, step: int = 1) -> Logs:
        """Return ln w(t) for `size` counts from `start`, every `step`-th of them."""

    @abstractmethod
    def rise(self, count: int) -> float:
        """Return a bound on ln w(t + 1) - ln w(t) that holds for every t >= count."""

    @abstractmethod
    def fall(self, count: int) -> float:
        """Return a bound on ln w(t - 1) - ln w(t) that holds for every t from 1 to count."""

    @property
    def decay(self) -> float:
        """How fast ln w falls in the end: the limit of -rise(count), at most."""
        return 0.0

    @property
    def center(self) -> int | None:
        """About where a likelihood is largest; None for a weight that says little of where the count is."""
        return None

    @property
    def reach(self) -> int:
        """How wide a window opens at first."""
        return 64


def log_ways(start: int, size: int, a: float, step: int = 1) -> Logs:
    """Return ln c(t, a), c(t, a) = Gamma(t + a) / (Gamma(a) t!), for `size` counts from `start`.

    Accuracy. Absolute error about 1e-15 (1 + min(a, t)) (1 + ln(a + t)): beyond 20 the difference of two Stirling
        series is taken term by term, as the two logarithms of Gamma agree in most of their digits: Gamma(t + a) with t!
        where t is the larger one, with Gamma(a) where a is. The first term left out of the series is
        1 / (1188 x^9) < 2e-15.
    """
    from scipy.special import gammaln

    if a >= STIRLING and start < a:
        few = min(size, math.ceil((a - start) / step))
        counts = float(start) + float(step) * np.arange(few, dtype=np.float64)
        head = _rising(counts, a) - gammaln(counts + 1.0)
        return np.concatenate([head, log_ways(start + few * step, size - few, a, step)]) if few < size else head

    lower = float(start + 1) + float(step) * np.arange(size, dtype=np.float64)  # t + 1
    upper = (lower - 1.0) + a  # in this order a tiny a is not lost at t = 0
    if a == 1.0:
        return np.zeros(size)
    if min(lower[0], upper[0]) < STIRLING:
        split = min(size, math.ceil((STIRLING - min(lower[0], upper[0])) / step))
        head = gammaln(upper[:split]) - gammaln(lower[:split])
        return np.concatenate([head, _stirling(lower[split:], upper[split:], a)]) - math.lgamma(a)
    return _stirling(lower, upper, a) - math.lgamma(a)


def _rising(counts: Logs, a: float) -> Logs:
    """Return ln Gamma(a + t) - ln Gamma(a), for a that is not small."""
    upper = counts + a
    main = (a - 0.5) * np.log1p(counts / a) + counts * (np.log(upper) - 1.0)
    return np.asarray(main + series(upper) - series(np.array([a])))


def _stirling(lower: Logs, upper: Logs, a: float) -> Logs:
    """Return ln Gamma(upper) - ln Gamma(lower), where upper - lower = a - 1."""
    shift = a - 1.0
    main = (lower - 0.5) * np.log1p(shift / lower) + shift * (np.log(upper) - 1.0)
    return np.asarray(main + series(upper) - series(lower))


def series(x: Logs) -> Logs:
    """Return the rest of Stirling's formula."""
    square = 1.0 / (x * x)
    return np.asarray((1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680))) / x)


@dataclass(frozen=True)
class CellWeight(Weight):
    """c(t, a) q^t, c(t, a) = Gamma(t + a) / (Gamma(a) t!): a cell of a Dirichlet-multinomial, or a Gamma-Poisson count.

    The ratio w(t + 1) / w(t) is q (t + a) / (t + 1): it falls to q where a > 1 and rises to q where a < 1, so that its
    supremum over t >= count is at count or in the limit. Its inverse behaves the other way round.
    """

    a: float
    log_q: float = 0.0

    def log(self, start: int, size: int, step: int = 1) -> Logs:
        """Return ln w."""
        ways = log_ways(start, size, self.a, step)
        return ways + self.log_q * (float(start) + float(step) * np.arange(size)) if self.log_q else ways

    def rise(self, count: int) -> float:
        """The bound at `count`, or the limit."""
        return self.log_q + max(0.0, math.log1p((self.a - 1.0) / (count + 1.0)))

    def fall(self, count: int) -> float:
        """The bound at `count` where a >= 1, else at 1."""
        return -self.log_q - (math.log1p((self.a - 1.0) / float(count)) if self.a >= 1.0 else math.log(self.a))

    @property
    def decay(self) -> float:
        """-ln q."""
        return -self.log_q

    @property
    def reach(self) -> int:
        """About 40 units of decay, where there is any."""
        return 64 if not self.log_q else min(1 << 16, 64 + math.ceil(_DROP / -self.log_q))


@dataclass(frozen=True)
class PoolWeight(Weight):
    """1 / c(n, A): what turns the product of the cells into the probability of the cells given their total n."""

    a: float

    def log(self, start: int, size: int, step: int = 1) -> Logs:
        """Return ln w."""
        return -log_ways(start, size, self.a, step)

    def rise(self, count: int) -> float:
        """The ratio (n + 1) / (n + A) rises to 1 where A > 1, else it is largest at `count`."""
        return 0.0 if self.a >= 1.0 else -math.log((count + self.a) / (count + 1.0))

    def fall(self, count: int) -> float:
        """The ratio (n - 1 + A) / n falls in n where A > 1, else it rises."""
        return math.log(self.a) if self.a >= 1.0 else math.log((count - 1.0 + self.a) / count)


@dataclass(frozen=True)
class ReleasedWeight(Weight):
    """The likelihood of one released integer: ln P(noise = z - weight t), by the law's own logarithm.

    The laws of integer noise are log-concave, so that differences only fall as t grows: the one at `count` bounds all
    that follow, and the one at `count` downwards all that come before.
    """

    noise: IntegerNoise
    released: int
    weight: int = 1

    def log(self, start: int, size: int, step: int = 1) -> Logs:
        """Return ln P(noise = z - weight t), with the differences as exact integers."""
        first = self.released - self.weight * start
        stride = self.weight * step
        if abs(first) + stride * size < _EXACT:
            return np.asarray(self.noise.log_pmf(first - stride * np.arange(size)), dtype=np.float64)
        places = np.array([first - stride * place for place in range(size)] + [None], dtype=object)[:-1]
        return np.asarray(self.noise.log_pmf(places), dtype=np.float64)

    def rise(self, count: int) -> float:
        """The difference at `count`."""
        return _difference(self.log(count, 2))

    def fall(self, count: int) -> float:
        """The difference at `count`, downwards."""
        return _difference(self.log(count - 1, 2)[::-1])

    @property
    def decay(self) -> float:
        """That of the noise, in its far tail."""
        return _decay(self.noise, self.weight)

    @property
    def center(self) -> int:
        """The released integer in counts, or 0."""
        return max(0, (2 * self.released + self.weight) // (2 * self.weight))

    @property
    def reach(self) -> int:
        """Where the likelihood has fallen by 40."""
        return _reach(self.noise, self.weight)


def _difference(pair: Logs) -> float:
    """Return the second logarithm minus the first; minus infinity where both are below the least float."""
    return -math.inf if pair[1] == -math.inf else float(pair[1] - pair[0])


@lru_cache(maxsize=4096)
def _decay(noise: IntegerNoise, weight: int) -> float:
    """Return how much ln P(noise) falls for one more count, far out; infinite where it falls faster and faster."""
    slopes = []
    for scales in (64, 128):
        far = weight * math.ceil(scales * noise.scale / weight)
        slopes.append(float(noise.log_pmf(far) - noise.log_pmf(far + weight)))
    return slopes[0] if math.isclose(*slopes, rel_tol=1e-3) else math.inf


@lru_cache(maxsize=4096)
def _reach(noise: IntegerNoise, weight: int) -> int:
    """Return about the least number of counts over which ln P(noise) falls by 40 from its top."""
    top = float(noise.log_pmf(0))
    for scales in (9, 11, 14, 18, 24, 32, 42, 64, 128):
        counts = math.ceil(scales * noise.scale / weight)
        if top - float(noise.log_pmf(counts * weight)) > _DROP:
            return counts
    return counts


@dataclass(frozen=True)
class MirroredWeight(Weight):
    """A weight of n - t, for a public n: what is said of the others says something of t."""

    other: Weight
    people: int

    def log(self, start: int, size: int, step: int = 1) -> Logs:
        """Return ln w(n - t)."""
        return self.other.log(self.people - start - (size - 1) * step, size, step)[::-1]

    def rise(self, count: int) -> float:
        """What the other weight may gain downwards."""
        return self.other.fall(self.people - count)

    def fall(self, count: int) -> float:
        """What the other weight may gain upwards."""
        return self.other.rise(self.people - count)

    @property
    def center(self) -> int | None:
        """The mirror of the other center."""
        center = self.other.center
        return None if center is None else max(0, self.people - center)

    @property
    def reach(self) -> int:
        """As wide."""
        return self.other.reach


@dataclass(frozen=True)
class WeightProduct(Weight):
    """Weights multiplied, as for several answers about one count: logarithms and bounds add up."""

    factors: tuple[Weight, ...]

    def log(self, start: int, size: int, step: int = 1) -> Logs:
        """Return the sum of the logarithms."""
        result = np.zeros(size)
        for factor in self.factors:
            result += factor.log(start, size, step)
        return result

    def rise(self, count: int) -> float:
        """The sum of the bounds."""
        return sum(factor.rise(count) for factor in self.factors)

    def fall(self, count: int) -> float:
        """The sum of the bounds."""
        return sum(factor.fall(count) for factor in self.factors)

    @property
    def decay(self) -> float:
        """The sum of them."""
        return sum(factor.decay for factor in self.factors)

    @property
    def _sharpest(self) -> Weight | None:
        """The likelihood that says most."""
        return min((one for one in self.factors if one.center is not None), key=lambda one: one.reach, default=None)

    @property
    def center(self) -> int | None:
        """That of the sharpest likelihood."""
        return self._sharpest.center if self._sharpest else None

    @property
    def reach(self) -> int:
        """That of the sharpest likelihood."""
        return self._sharpest.reach if self._sharpest else min((one.reach for one in self.factors), default=64)
