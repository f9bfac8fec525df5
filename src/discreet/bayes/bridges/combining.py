"""Rubin's rules for synthetic data: one estimate from the estimates on many tables, with the variance that it has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.display import format_number
from discreet.errors import InputError, ParameterError
from discreet.privacy import Target
from discreet.statistics.pricing import stated_confidence

_LARGEST = 1e100  # squares of it are still floats


@dataclass(frozen=True, slots=True)
class CombinedEstimate:
    """An estimate from several synthetic tables, with its interval for the population.

    `between` is the variance b of the estimates between tables, `within` the mean v of their own variances, `variance`
    the one of the combined estimate. `adjusted` says that b was too small for the rule, and the
    variance of an estimate from the people themselves stands in.
    """

    value: float
    low: float
    high: float
    confidence: float
    variance: float
    between: float
    within: float
    degrees: float
    tables: int
    adjusted: bool

    @property
    def target(self) -> Target:
        """The population: synthetic tables are drawn from it, not from the people who were asked."""
        return Target.POPULATION

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        value, low, high = (format_number(one) for one in (self.value, self.low, self.high))
        return f"{value} [{low}, {high}] ({100 * self.confidence:.6g} %, population, {self.tables} synthetic tables)"

    def to_dict(self) -> dict[str, float | bool | str]:
        """Return the numbers by name."""
        return {**{name: getattr(self, name) for name in self.__slots__}, "target": self.target.value}


def combine_estimates(
    estimates: Sequence[float], variances: Sequence[float], *, confidence: float = 0.95, ratio: float = 1.0
) -> CombinedEstimate:
    """Combine estimates from synthetic tables that were drawn from one posterior.

    Args:
        estimates: one for each table, computed as on real rows.
        variances: the square of the standard error of each, computed as on real rows.
        confidence: of the interval.
        ratio: the rows of a synthetic table over the people who were asked, for the least variance alone.

    Accuracy. With m tables of as many rows each, the mean q of the estimates has the variance T = (1 + 1/m) b - v about
        the population's: b holds the sampling of synthetic rows, v, besides what is not known of the population. The
        interval takes Student's law with (m - 1) (1 - v / ((1 + 1/m) b))^2 degrees of freedom, 1 at least. No release
        says more about a population than its people would, so that T is at least ratio times v: where chance makes it
        less, that stands in, and the law is normal. (Without it the degrees come near 0 where T does, and the interval
        is as wide as one likes.) Estimates and posterior are taken as normal: where Laplace noise is much wider than
        what sampling leaves open, the interval holds up to 1.3 points less, as 1.96 standard deviations of a Laplace
        law hold .937 of it.
    Reference. Raghunathan, Reiter, Rubin 2003; the adjustment and the degrees of freedom: Reiter 2002.

    >>> print(combine_estimates([0.21, 0.26, 0.24, 0.29], [0.0002] * 4))
    0.25 [0.1129, 0.3871] (95 %, population, 4 synthetic tables)
    """
    from scipy.stats import t

    held = stated_confidence(confidence)
    middle, own = _numbers(estimates, "estimates"), _numbers(variances, "variances")
    if len(middle) != len(own) or len(middle) < 2 or (own < 0).any():
        raise InputError(
            "estimates and variances must be equally long, two tables or more, and no variance negative; got others, "
            "write one of each for every synthetic table"
        )
    if isinstance(ratio, bool) or not isinstance(ratio, int | float) or not 0 < ratio <= _LARGEST:
        raise ParameterError(
            "ratio must be a positive number; got another, write the rows of a synthetic table over the people asked",
            parameter="ratio",
        )
    if max(np.abs(middle).max(), own.max()) > _LARGEST:
        raise InputError(f"estimates and variances must be at most {_LARGEST:g}; got more, write them in another unit")
    tables, between, within = len(middle), float(middle.var(ddof=1)), float(own.mean())
    spread = (1.0 + 1.0 / tables) * between
    adjusted = spread - within < ratio * within
    variance = ratio * within if adjusted else spread - within
    degrees = math.inf if adjusted or spread == 0.0 else max((tables - 1) * (1.0 - within / spread) ** 2, 1.0)
    reach = float(t.ppf((1.0 + held) / 2.0, degrees)) * math.sqrt(variance)
    value = float(middle.mean())
    return CombinedEstimate(
        value, value - reach, value + reach, held, variance, between, within, degrees, tables, adjusted
    )


def _numbers(values: Sequence[float], name: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return finite numbers."""
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        found = np.array([math.nan])
    if found.ndim != 1 or not np.isfinite(found).all():
        raise InputError(f"{name} must be a list of finite numbers; got something else, write one for every table")
    return found
