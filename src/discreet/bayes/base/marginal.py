"""The posterior law of one number, exact or as draws tell it: mean, distribution function, quantiles, intervals."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import NotConverged, ParameterError
from discreet.statistics.pricing import stated_confidence

Draws = Mapping[str, NDArray[Any]]  # by name of the parameter: (chains, draws, *groups)


def real_number(value: Any) -> float:
    """Return a number that a law is asked about, an end of the line included.

    >>> real_number(10**400)
    inf
    """
    number = isinstance(value, int | float | Fraction | np.number) and not isinstance(value, bool | np.complexfloating)
    if not number or value != value:  # noqa: PLR0124  not a number
        raise ParameterError(
            f"value must be a number; got {'NaN' if number else type(value).__name__}, write for example 0.5",
            parameter="value",
        )
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, 1 if value > 0 else -1)


class Marginal(ABC):
    """The posterior law of one number."""

    @property
    @abstractmethod
    def mean(self) -> float:
        """The posterior mean."""

    @property
    @abstractmethod
    def deviation(self) -> float:
        """The posterior standard deviation."""

    @abstractmethod
    def cdf(self, value: float) -> float:
        """Return the posterior probability that the number is at most `value`."""

    @abstractmethod
    def quantile(self, probability: float) -> float:
        """Return the least value whose `cdf` is at least `probability`."""

    def below(self, value: float) -> float:
        """Return the posterior probability that the number is less than `value`.

        >>> whole = DrawnMarginal(np.array([1, 2, 2, 3]))
        >>> whole.below(2), whole.cdf(2)
        (0.25, 0.75)
        """
        return self.cdf(math.nextafter(real_number(value), -math.inf))

    def ends(self, confidence: float) -> tuple[float, float]:
        """Return the equal-tailed interval: less than half of the rest lies below it, and at most half above.

        For an integer it may hold more than the confidence; `below` and `cdf` at its ends say how much.

        >>> DrawnMarginal(np.arange(1000)).ends(0.9)
        (49, 949)
        """
        rest = (1.0 - stated_confidence(confidence)) / 2.0
        return self.quantile(rest), self.quantile(1.0 - rest)


class DrawnMarginal(Marginal):
    """The law that gives every draw the same weight.

    >>> law = DrawnMarginal(np.array([3.0, 1.0, 2.0]))
    >>> law.mean, law.quantile(0.5), law.cdf(2.5)
    (2.0, 2.0, 0.6666666666666666)
    """

    def __init__(self, draws: NDArray[Any]) -> None:
        self.sorted = np.sort(np.asarray(draws).ravel())
        if self.sorted.dtype.kind == "f" and not np.isfinite(self.sorted).all():
            raise NotConverged(
                "draws from a posterior must be finite numbers, and some are not; write a prior that keeps the "
                "parameters in their range"
            )

    @property
    def mean(self) -> float:
        """The mean of the draws."""
        return float(self.sorted.mean())

    @property
    def deviation(self) -> float:
        """The standard deviation of the draws."""
        return float(self.sorted.std())

    def cdf(self, value: float) -> float:
        """Return the share of the draws that are at most `value`."""
        return float(np.searchsorted(self.sorted, real_number(value), side="right") / self.sorted.size)

    def quantile(self, probability: float) -> float:
        """Return the least draw that is at least as large as this share of them."""
        if (
            isinstance(probability, bool)
            or not isinstance(probability, int | float | np.number)
            or not 0 < probability < 1
        ):
            raise ParameterError(
                "probability must be strictly between 0 and 1; got another, write 0.975, for example",
                parameter="probability",
            )
        place = math.ceil(probability * self.sorted.size * (1.0 - 1e-14)) - 1
        found = self.sorted[max(place, 0)]
        return int(found) if self.sorted.dtype.kind in "iu" else float(found)


def whole(law: Marginal) -> bool:
    """Say whether a law is on the integers, as all its quantiles are.

    >>> whole(DrawnMarginal(np.arange(5))), whole(DrawnMarginal(np.linspace(0, 1, 50)))
    (True, False)
    """
    levels = (0.03, 0.11, 0.29, 0.41, 0.5, 0.61, 0.83, 0.97)
    return all(float(law.quantile(level)).is_integer() for level in levels)


def joint_rest(draws: NDArray[Any], confidence: float) -> float:
    """Return the share r that intervals of confidence 1 - r leave out, one for each column, so that all hold at once.

    `draws` is (draws, groups). The depth of a draw in a column is the smaller of P(X <= draw) and P(X >= draw); all
    intervals hold a draw exactly where its least depth exceeds r / 2. So r is twice the largest level that at most a
    share 1 - confidence of the draws has its least depth below, and never less than (1 - confidence) / groups, which
    the union bound allows whatever the dependence.

    Accuracy. r is an order statistic of the draws: with N independent ones, the share of the posterior that all
        intervals hold differs from the confidence c by about sqrt(c (1 - c) / N), unless the union bound was used.
    Reference. Besag, Green, Higdon, Mengersen 1995, section 6.3.

    >>> columns = np.random.default_rng(1).normal(size=(4000, 1))
    >>> round(joint_rest(columns.repeat(9, axis=1), 0.95), 2)  # nine times the same
    0.05
    """
    count, groups = draws.shape
    ordered = np.sort(draws, axis=0)
    least = np.ones(count)
    for place in range(groups):
        at_most = np.searchsorted(ordered[:, place], draws[:, place], side="right") / count
        at_least = 1.0 - np.searchsorted(ordered[:, place], draws[:, place], side="left") / count
        least = np.minimum(least, np.minimum(at_most, at_least))
    allowed = math.floor((1.0 - confidence) * count)
    # a hair below the depth itself, so that the draws that have it stay inside
    level = float(np.sort(least)[allowed]) * (1.0 - 1e-9)
    return float(min(max(2.0 * level, (1.0 - confidence) / groups), 1.0 - confidence))
