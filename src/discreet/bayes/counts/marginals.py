"""Exact posterior laws of one number: finite lists of integers, and mixtures of Beta and Gamma laws over such lists."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base import Marginal
from discreet.errors import ParameterError

Floats = NDArray[np.float64]
_NEGLIGIBLE = 1e-22  # a component this light changes no digit: even a million of them weigh 1e-16 together
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
        place = math.floor(value) - self.start if math.isfinite(value) else value
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
    """A mixture of laws on the positive numbers, one for each possible count."""

    def __init__(self, masses: Floats, first: Floats, second: Floats) -> None:
        kept = masses > _NEGLIGIBLE * masses.max()
        self.masses = masses[kept] / masses[kept].sum()
        self.first, self.second = first[kept], second[kept]

    @property
    @abstractmethod
    def _moments(self) -> tuple[Floats, Floats]:
        """Means and variances of the components."""

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
        wanted = _probability(probability)
        low, high = self._ends
        guess = self.mean + 2.0 * math.sqrt(2.0) * self.deviation * (wanted - 0.5)
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

    def cdf(self, value: float) -> float:
        """Return P(share <= value)."""
        from scipy.special import betainc

        if value <= 0.0 or value >= 1.0:
            return float(value >= 1.0)
        return min(float(self.masses @ betainc(self.first, self.second, value)), 1.0)

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
        return self.first / self.second, self.first / (self.second * self.second)

    @property
    def _ends(self) -> tuple[float, float]:
        high = self.mean + self.deviation
        while self.cdf(high) < 1.0 - 1e-15 and high < 1e300:
            high *= 2.0
        return 0.0, high

    def cdf(self, value: float) -> float:
        """Return P(rate <= value)."""
        from scipy.special import gammainc

        return min(float(self.masses @ gammainc(self.first, self.second * value)), 1.0) if value > 0.0 else 0.0

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
