"""How many people there are: public, or unknown with a prior."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.bayes.base import drawn_counts, positive
from discreet.bayes.counts.weights import STIRLING, CellWeight, Logs, Weight, series
from discreet.display import as_stated
from discreet.errors import ParameterError

_LARGEST_MEAN = 10**12  # more than people ever are


class PeoplePrior(ABC):
    """A prior of the number of people."""

    @property
    @abstractmethod
    def weight(self) -> Weight | None:
        """Ln p(n) with its bounds; None where every n is as likely."""

    @abstractmethod
    def draw(self, generator: np.random.Generator) -> int:
        """Draw a number of people."""


@dataclass(frozen=True)
class FlatPeople(PeoplePrior):
    """Every number of people is as likely: improper by itself, and proper once all cells, or a total, were released.

    It equals a flat prior of the mean of a Poisson number: the integral of Pois(n; m) over m is 1 for every n.

    >>> FlatPeople().weight is None
    True
    """

    @property
    def weight(self) -> None:
        """Nothing."""
        return

    def draw(self, generator: np.random.Generator) -> int:  # noqa: ARG002  nothing can be drawn
        """Refuse."""
        raise ParameterError(
            "people must have a proper prior where people are drawn; got none, write people=1000 or "
            "people=NegativeBinomialPeople(mean=1000, dispersion=1)",
            parameter="people",
        )


@dataclass(frozen=True)
class PoissonPeople(PeoplePrior):
    """The number of people is Poisson with a known mean: each of many might have come, independently.

    >>> round(float(PoissonPeople(mean=2).weight.log(0, 3)[2]), 3)  # ln 2 - 2
    -1.307
    """

    mean: float

    def __post_init__(self) -> None:
        if positive(self.mean, "mean") > _LARGEST_MEAN:
            raise ParameterError(
                f"mean must be a number of people, at most {_LARGEST_MEAN:,}; got more, write for example 1000",
                parameter="mean",
            )

    @property
    def weight(self) -> Weight:
        """Ln p(n)."""
        return PoissonWeight(float(self.mean))

    def draw(self, generator: np.random.Generator) -> int:
        """Draw a number of people."""
        return int(drawn_counts(float(self.mean), generator))


@dataclass(frozen=True)
class NegativeBinomialPeople(PeoplePrior):
    """The number of people is Poisson with a Gamma mean: its variance is mean + mean^2 / dispersion.

    A small dispersion says little: at 1 the law is geometric.

    >>> prior = NegativeBinomialPeople(mean=3, dispersion=1)
    >>> [round(float(p), 4) for p in np.exp(prior.weight.log(0, 3))]
    [0.25, 0.1875, 0.1406]
    """

    mean: float
    dispersion: float

    def __post_init__(self) -> None:
        positive(self.mean, "mean")
        positive(self.dispersion, "dispersion")

    @property
    def weight(self) -> Weight:
        """Ln p(n)."""
        return ScaledCellWeight(float(self.dispersion), -math.log1p(float(self.dispersion) / float(self.mean)))

    def draw(self, generator: np.random.Generator) -> int:
        """Draw a number of people."""
        mean = generator.gamma(float(self.dispersion), float(self.mean) / float(self.dispersion))
        return int(drawn_counts(mean, generator))


@dataclass(frozen=True)
class ScaledCellWeight(CellWeight):
    """The negative binomial law: c(t, a) q^t (1 - q)^a."""

    def __post_init__(self) -> None:
        if not self.log_q < 0.0:
            raise ParameterError(
                "the prior of a count must end somewhere; got one so wide that floats do not hold its decay, write a "
                "smaller mean or exposure, or a larger dispersion or rate",
                parameter="model",
            )

    def log(self, start: int, size: int, step: int = 1) -> Logs:
        """Return ln p."""
        return super().log(start, size, step) + self.a * math.log(-math.expm1(self.log_q))


@dataclass(frozen=True)
class PoissonWeight(Weight):
    """The Poisson law: the ratio mean / (n + 1) falls, and its inverse rises."""

    mean: float

    def log(self, start: int, size: int, step: int = 1) -> Logs:
        """Return ln p(n) = n ln(mean) - mean - ln n!.

        Near a large mean these are huge terms that cancel; written about the mean, with n = mean + d and Stirling's
        series, what is rounded is of the size of d.
        """
        from scipy.special import gammaln

        counts = float(start) + float(step) * np.arange(size, dtype=np.float64)
        found = counts * math.log(self.mean) - self.mean - gammaln(counts + 1.0)
        away = counts - self.mean
        near = (np.abs(away) < 0.5 * self.mean) & (counts > STIRLING)
        count, away = counts[near], away[near]
        main = away - count * np.log1p(away / self.mean)
        found[near] = main - 0.5 * np.log(2.0 * math.pi * count) - series(count)
        return np.asarray(found)

    def rise(self, count: int) -> float:
        """The ratio at `count`."""
        return math.log(self.mean / (count + 1.0))

    def fall(self, count: int) -> float:
        """The inverse ratio at `count`."""
        return math.log(count / self.mean)

    @property
    def decay(self) -> float:
        """Faster than every geometric law."""
        return math.inf

    @property
    def center(self) -> int:
        """The mean."""
        return round(self.mean)

    @property
    def reach(self) -> int:
        """About 10 standard deviations."""
        return 64 + math.ceil(10 * math.sqrt(self.mean))


People = int | PeoplePrior | None


def stated_people(value: Any, example: str = "people=1000") -> People:
    """Return a public number of people, a prior of it or None, or say what to write."""
    if value is None or isinstance(value, PeoplePrior):
        return value
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not 0 <= value <= _LARGEST_MEAN:
        shown = as_stated(value) if isinstance(value, int | float) else type(value).__name__
        raise ParameterError(
            f"people must be an int of at least 0, a prior such as PoissonPeople(1000), or None where it is unknown; "
            f"got {shown}, write for example {example}",
            parameter="people",
        )
    return int(value)


def stated_by_group(values: Any, name: str) -> Mapping[Any, Any] | None:
    """Return a mapping whose keys are groups as tuples, or None where one value is for all."""
    if not isinstance(values, Mapping):
        return None
    if not values:
        raise ParameterError(f"{name} must name at least one group; got an empty mapping", parameter=name)
    return {key if isinstance(key, tuple) else (key,): value for key, value in values.items()}


def for_groups(stated: Mapping[Any, Any], groups: Sequence[tuple[Any, ...]], name: str, remedy: str) -> list[Any]:
    """Return what is stated for each group, or say which group is missing or is none of the answer."""
    if unknown := [key for key in stated if key not in groups]:
        raise ParameterError(
            f"{name} must name groups of the answer; got {written(unknown[0])}, which is not among them", parameter=name
        )
    if missing := [key for key in groups if key not in stated]:
        raise ParameterError(
            f"{name} must name every group; {written(missing[0])} is missing, {remedy}", parameter=name
        )
    return [stated[key] for key in groups]


def written(key: tuple[Any, ...]) -> str:
    """Return a group as one writes it."""
    return repr(key[0]) if len(key) == 1 else repr(key)
