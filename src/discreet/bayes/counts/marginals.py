"""Exact posterior laws of one number: finite lists of integers, and mixtures of Beta and Gamma laws over such lists."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base import Marginal, real_number
from discreet.errors import ParameterError

Floats = NDArray[np.float64]
_NEGLIGIBLE = 1e-22  # a component this light changes no digit: even a million of them weigh 1e-16 together
_NOTHING = 1e-20  # a distribution function this small is none
_REACH, _UNITS = 9.0, 25.0  # deviations, and units of an exponential tail, beyond which a component is decided
_STEPS = 300
_TINY = 1e-300


class IntegerMarginal(Marginal):
    """The law of an integer: exact probabilities on a window, outside of which less than 1e-15 was left out.

    Quantiles are integers, so the equal-tailed interval of a confidence level mostly holds more than that; `mass` says
    how much.

    >>> law = IntegerMarginal(5, np.array([0.1, 0.6, 0.3]))
    >>> law.quantile(0.025), law.quantile(0.5), law.quantile(0.975)
    (5, 6, 7)
    >>> round(law.mass(6, 7), 3), round(law.mean, 3)
    (0.9, 6.2)
    """

    def __init__(self, start: int, masses: Floats) -> None:
        self.start = start
        self.masses = masses / masses.sum()
        self._heights = np.cumsum(self.masses)
        self._depths = np.cumsum(self.masses[::-1])[::-1]  # P(T >= t): tails are sums of small numbers

    @property
    def counts(self) -> Floats:
        """The integers of the list, as floats."""
        return float(self.start) + np.arange(len(self.masses), dtype=np.float64)

    @property
    def mean(self) -> float:
        """The posterior mean."""
        return float(self.start) + float(self.masses @ np.arange(len(self.masses)))

    @property
    def deviation(self) -> float:
        """The posterior standard deviation."""
        places = np.arange(len(self.masses)) - (self.mean - float(self.start))
        return math.sqrt(float(self.masses @ (places * places)))

    def pmf(self, value: int) -> float:
        """Return the posterior probability of one integer."""
        place = value - self.start
        return float(self.masses[place]) if 0 <= place < len(self.masses) else 0.0

    def cdf(self, value: float) -> float:
        """Return P(T <= value)."""
        number = real_number(value)
        place = math.floor(number) - self.start if math.isfinite(number) else number
        if place < 0:
            return 0.0
        if place >= len(self.masses) - 1:
            return 1.0
        return min(float(self._heights[int(place)]), 1.0)

    def quantile(self, probability: float) -> int:
        """Return the least integer whose distribution function is at least `probability`."""
        wanted = _probability(probability)
        if wanted <= 0.5:
            return self.start + int(np.searchsorted(self._heights, wanted, side="left"))
        inside = int(np.count_nonzero(self._depths > 1.0 - wanted))  # P(T <= t) >= p where P(T >= t + 1) <= 1 - p
        return self.start + max(inside - 1, 0)

    def mass(self, low: int, high: int) -> float:
        """Return P(low <= T <= high): what a printed interval really holds."""
        first, last = max(low - self.start, 0), min(high - self.start, len(self.masses) - 1)
        return min(float(self.masses[first : last + 1].sum()), 1.0) if first <= last else 0.0


class Mixture(Marginal):
    """A mixture of laws on the positive numbers, one for each possible count.

    Where the first parameters rise and the second do not, each component lies above the one before. So at a number the
    distribution functions of the components fall, from 1 to 0 where noise is large, and only those in between are
    computed: at both ends one more tells that the others are 1, within 2e-16, and 0, within 1e-20.
    """

    def __init__(self, masses: Floats, first: Floats, second: Floats) -> None:
        kept = masses > _NEGLIGIBLE * masses.max()
        self.masses = masses[kept] / masses[kept].sum()
        self.first, self.second = first[kept], second[kept]

    @property
    @abstractmethod
    def _moments(self) -> tuple[Floats, Floats]:
        """Means and variances of the components."""

    @property
    @abstractmethod
    def _units(self) -> Floats:
        """The lengths over which the tails of the components fall by a factor e, at least far out."""

    @abstractmethod
    def _heights(self, value: float, part: slice) -> Floats:
        """Return the distribution functions of a part of the components at a number."""

    def _height(self, value: float) -> float:
        """Return the distribution function at a number."""
        count = self.masses.size
        begin, end = self._between(value)
        inner = self._heights(value, slice(begin, end))
        if (begin > 0 and inner[0] < 1.0 - 2e-16) or (end < count and inner[-1] > _NOTHING):
            begin, end = 0, count
            inner = self._heights(value, slice(begin, end))
        return min(float(self.masses[:begin].sum() + self.masses[begin:end] @ inner), 1.0)

    def _between(self, value: float) -> tuple[int, int]:
        """Guess which components are neither below a number nor above it, with one more on both sides."""
        low, high = self._spans
        begin, end = int(np.count_nonzero(high <= value)), int(np.count_nonzero(low < value))
        return max(begin - 1, 0), min(max(end, begin) + 1, self.masses.size)

    @cached_property
    def _spans(self) -> tuple[Floats, Floats]:
        """Where nearly all of each component lies; everywhere, where they are not in order."""
        if (np.diff(self.first) < 0.0).any() or (np.diff(self.second) > 0.0).any():
            return np.full(self.first.size, -math.inf), np.full(self.first.size, math.inf)
        means, variances = self._moments
        reach = _REACH * np.sqrt(variances) + _UNITS * self._units
        return means - reach, means + reach

    @abstractmethod
    def pdf(self, value: float) -> float:
        """Return the posterior density."""

    @property
    @abstractmethod
    def _ends(self) -> tuple[float, float]:
        """Where the quantiles lie."""

    @cached_property
    def mean(self) -> float:
        """The posterior mean."""
        return float(self.masses @ self._moments[0])

    @cached_property
    def deviation(self) -> float:
        """The posterior standard deviation: within the components, and between their means."""
        means, variances = self._moments
        return math.sqrt(float(self.masses @ (variances + (means - self.mean) ** 2)))

    def quantile(self, probability: float) -> float:
        """Return the number whose distribution function is `probability`, to a relative 1e-12 (above 1e-300)."""
        from scipy.special import ndtri

        wanted = _probability(probability)
        low, high = self._ends
        guess = self.mean + self.deviation * float(ndtri(wanted))
        return _root(lambda x: self.cdf(x) - wanted, self.pdf, low, high, guess)


class MixtureOfBetas(Mixture):
    """The law of a share: Beta(a + T, b + n - T) with the posterior probability of each T (and n).

    >>> law = MixtureOfBetas(
    ...     np.array([0.5, 0.5]), np.array([2.0, 4.0]), np.array([4.0, 2.0])
    ... )
    >>> round(law.mean, 12), round(law.quantile(0.5), 12), round(law.cdf(0.5), 12)
    (0.5, 0.5, 0.5)
    """

    @property
    def _moments(self) -> tuple[Floats, Floats]:
        total = self.first + self.second
        means = self.first / total
        return means, means * (self.second / total) / (total + 1.0)

    @property
    def _ends(self) -> tuple[float, float]:
        return 0.0, 1.0

    @property
    def _units(self) -> Floats:
        return np.asarray(1.0 / (self.first + self.second))

    def _heights(self, value: float, part: slice) -> Floats:
        from scipy.special import betainc

        return np.asarray(betainc(self.first[part], self.second[part], value))

    def cdf(self, value: float) -> float:
        """Return P(share <= value)."""
        number = real_number(value)
        return self._height(number) if 0.0 < number < 1.0 else float(number >= 1.0)

    def pdf(self, value: float) -> float:
        """Return the posterior density."""
        if not 0.0 < value < 1.0:
            return 0.0
        logs = (self.first - 1.0) * math.log(value) + (self.second - 1.0) * math.log1p(-value)
        return float(self.masses @ np.exp(logs - self._normalizers))

    @cached_property
    def _normalizers(self) -> Floats:
        from scipy.special import betaln

        return np.asarray(betaln(self.first, self.second))


class MixtureOfGammas(Mixture):
    """The law of a rate: Gamma(a + T, b + exposure) with the posterior probability of each T.

    >>> law = MixtureOfGammas(np.array([1.0]), np.array([1.0]), np.array([2.0]))
    >>> round(law.quantile(0.5), 12) == round(math.log(2) / 2, 12), law.mean
    (True, 0.5)
    """

    @property
    def _moments(self) -> tuple[Floats, Floats]:
        means = self.first / self.second
        return means, means / self.second

    @property
    def _ends(self) -> tuple[float, float]:
        high = self.mean + self.deviation
        while self.cdf(high) < 1.0 - 1e-15 and high < 1e300:
            high *= 2.0
        return 0.0, high

    @property
    def _units(self) -> Floats:
        return np.asarray(1.0 / self.second)

    def _heights(self, value: float, part: slice) -> Floats:
        from scipy.special import gammainc

        with np.errstate(over="ignore"):  # beyond all floats the distribution function is 1
            return np.asarray(gammainc(self.first[part], self.second[part] * value))

    def cdf(self, value: float) -> float:
        """Return P(rate <= value)."""
        number = real_number(value)
        return self._height(number) if number > 0.0 else 0.0

    def pdf(self, value: float) -> float:
        """Return the posterior density."""
        from scipy.special import gammaln

        if value <= 0.0:
            return 0.0
        logs = self.first * np.log(self.second) + (self.first - 1.0) * math.log(value) - self.second * value
        return float(self.masses @ np.exp(logs - gammaln(self.first)))


def _probability(probability: float) -> float:
    """Return a probability, or say what to write."""
    if isinstance(probability, bool) or not isinstance(probability, int | float | np.floating):
        raise ParameterError("probability must be a number between 0 and 1; write for example 0.975")
    if not 0.0 < probability < 1.0:
        raise ParameterError("probability must be strictly between 0 and 1; write for example 0.975")
    return float(probability)


def _root(
    excess: Callable[[float], float], slope: Callable[[float], float], low: float, high: float, guess: float
) -> float:
    """Return the root of an increasing function: Newton's steps inside a bracket.

    Where a step leaves the bracket, or the last one has not halved what is left, the bracket is halved, in
    logarithms where it spans several orders of magnitude.
    """
    here, before = (guess if low < guess < high else 0.5 * (low + high)), math.inf
    for _ in range(_STEPS):
        above = excess(here)
        low, high = (low, here) if above >= 0.0 else (here, high)
        rate = slope(here)
        there = here - above / rate if rate > 0.0 else math.inf
        if not low <= there <= high or abs(above) > 0.5 * before:
            there = 0.5 * (low + high) if low > 0.25 * high else math.sqrt(max(low, _TINY) * high)
        if abs(there - here) <= 1e-13 * abs(here) or high - low <= 1e-13 * high:
            return there
        here, before = there, abs(above)
    return here
