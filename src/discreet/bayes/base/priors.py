"""Proper priors of one number: densities, draws and quantiles, stated before anything is read."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.display import as_stated
from discreet.errors import ParameterError
from discreet.laws.number import rational_or_none

Floats = NDArray[np.float64]
_LARGEST = 10**300  # floats hold ln Gamma of it, and of its inverse
_LARGEST_DRAWN = 2.0**60
_LOG_ROOT = 0.5 * math.log(2.0 * math.pi)


def positive(value: object, name: str) -> float:
    """Return a positive finite number, or refuse it by name: a prior with another one is improper.

    >>> positive(2, "a")
    2.0
    """
    exact = rational_or_none(value)
    if exact is None or not Fraction(1, 2 * _LARGEST) < exact <= _LARGEST:
        shown = as_stated(value) if isinstance(value, int | float) else type(value).__name__
        raise ParameterError(
            f"{name} must be a number greater than 0, or the prior is improper, and finite, from 1e-300 to 1e300; "
            f"got {shown}, write for example 1",
            parameter=name,
        )
    return float(exact)


def drawn_counts(means: Any, generator: np.random.Generator) -> NDArray[np.int64]:
    """Draw Poisson counts, of means up to 2^60: more than people ever are, and than numpy draws.

    >>> int(drawn_counts(1e300, np.random.default_rng(1))) > 2**59
    True
    """
    return np.asarray(generator.poisson(np.minimum(means, _LARGEST_DRAWN)))


@dataclass(frozen=True, slots=True)
class Prior(ABC):
    """A proper law of one number. Improper ones cannot be stated: every deviation is finite."""

    def __post_init__(self) -> None:
        for field in fields(self):
            given = getattr(self, field.name)
            exact = rational_or_none(given)
            held = exact is not None and abs(exact) <= sys.float_info.max
            if exact is None or not held or (field.name != "mean" and exact <= 0):
                shown = given if held or isinstance(given, float) else type(given).__name__
                kind = "a finite number" if field.name == "mean" else "a finite number above 0, so that it is proper"
                raise ParameterError(
                    f"{field.name} of a prior must be {kind}; got {shown}, write for example {self._example}",
                    parameter=field.name,
                )
            plain = isinstance(given, float) or (isinstance(given, int) and abs(given) < 1 << 53)
            if not plain:  # a fraction, an integer that numpy takes for an object, a number of fewer digits
                object.__setattr__(self, field.name, float(exact))

    @property
    @abstractmethod
    def _example(self) -> str:
        """How one is written."""

    @abstractmethod
    def log_density(self, value: Any) -> Any:
        """Return ln of the density at numbers, -inf where there is none."""

    @abstractmethod
    def quantile(self, probability: Any) -> Any:
        """Return the number below which the law has a probability."""

    @abstractmethod
    def draw(self, generator: np.random.Generator, shape: int | tuple[int, ...] = ()) -> Any:
        """Draw numbers."""


@dataclass(frozen=True, slots=True)
class Normal(Prior):
    """The normal law.

    >>> prior = Normal(0, 2.5)
    >>> float(prior.quantile(0.975).round(2))
    4.9
    """

    mean: float
    deviation: float

    @property
    def _example(self) -> str:
        return "Normal(0, 2.5)"

    def log_density(self, value: Any) -> Any:
        """Return ln of the density."""
        standard = (np.asarray(value, dtype=np.float64) - self.mean) / self.deviation
        return -0.5 * standard * standard - _LOG_ROOT - math.log(self.deviation)

    def quantile(self, probability: Any) -> Any:
        """Return mean + deviation times the standard quantile."""
        from scipy.special import ndtri

        return self.mean + self.deviation * ndtri(probability)

    def draw(self, generator: np.random.Generator, shape: int | tuple[int, ...] = ()) -> Any:
        """Draw numbers."""
        return generator.normal(self.mean, self.deviation, shape)


@dataclass(frozen=True, slots=True)
class HalfNormal(Prior):
    """The law of |X|, X normal about 0 with standard deviation `scale`: for spreads, which may be 0.

    >>> prior = HalfNormal(1)
    >>> float(prior.quantile(0.95).round(2))
    1.96
    """

    scale: float

    @property
    def _example(self) -> str:
        return "HalfNormal(1)"

    def log_density(self, value: Any) -> Any:
        """Return ln of the density."""
        standard = np.asarray(value, dtype=np.float64) / self.scale
        inside = -0.5 * standard * standard - _LOG_ROOT + math.log(2.0) - math.log(self.scale)
        return np.where(standard >= 0.0, inside, -np.inf)

    def quantile(self, probability: Any) -> Any:
        """Return the quantile."""
        from scipy.special import ndtri

        return self.scale * ndtri(0.5 + np.asarray(probability) / 2)

    def draw(self, generator: np.random.Generator, shape: int | tuple[int, ...] = ()) -> Any:
        """Draw numbers."""
        return np.abs(generator.normal(0.0, self.scale, shape))


@dataclass(frozen=True, slots=True)
class LogNormal(Prior):
    """The law of a positive number whose logarithm is normal: `deviation` is that of the natural logarithm.

    >>> prior = LogNormal(median=10, deviation=1)
    >>> float(prior.quantile(0.975).round(1))
    71.0
    """

    median: float
    deviation: float

    @property
    def _example(self) -> str:
        return "LogNormal(10, 1)"

    def log_density(self, value: Any) -> Any:
        """Return ln of the density."""
        given = np.asarray(value, dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            logarithm = np.log(given)
            standard = (logarithm - math.log(self.median)) / self.deviation
            inside = -0.5 * standard * standard - _LOG_ROOT - math.log(self.deviation) - logarithm
        return np.where(given > 0.0, inside, -np.inf)

    def quantile(self, probability: Any) -> Any:
        """Return the median times the exponential of the quantile of the logarithm."""
        from scipy.special import ndtri

        return self.median * np.exp(self.deviation * ndtri(probability))

    def draw(self, generator: np.random.Generator, shape: int | tuple[int, ...] = ()) -> Any:
        """Draw numbers."""
        return np.exp(generator.normal(math.log(self.median), self.deviation, shape))
