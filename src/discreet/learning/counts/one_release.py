"""What a model of one release is: exact integer sums of the rows, noise for one row's distance, and a model of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.learning.base import PrivateClassifier, Public, regime
from discreet.learning.exact import FitRows, Measurements

Floats = NDArray[np.float64]
_MOST_SUMS = 1 << 24


@dataclass(frozen=True, slots=True)
class OneRow:
    """What one row adds to the sums, at most: its squared norm, its L1 norm, and whether no two form a wide angle."""

    squared: int
    l1: int | None = None  # where there is a pure form
    acute: bool = False


@dataclass(eq=False, repr=False, kw_only=True)
class OneRelease(PrivateClassifier, ABC):
    """The base of classifiers that read the rows once: sums, noise, model.

    The sums are integers, so an engine that adds up the same integers in SQL gives the same model.
    """

    @abstractmethod
    def _shape(self, public: Public) -> tuple[int, ...]:
        """Return the shape of the sums; raise an error where a parameter cannot be used."""

    @abstractmethod
    def _row(self, public: Public) -> OneRow:
        """Return what one row adds to the sums, at most."""

    @abstractmethod
    def _sums(self, public: Public, rows: FitRows) -> NDArray[Any]:
        """Return the exact sums over the rows, integers of the shape. Private."""

    @abstractmethod
    def _model(self, public: Public, noisy: Floats) -> None:
        """Keep the model that noisy sums give."""

    def _unit(self, public: Public) -> float:  # noqa: ARG002  class sums count in smaller steps
        """Return what a row that is counted once adds to the sum that counts it."""
        return 1.0

    def _distance(self, public: Public) -> tuple[int, int | None]:
        """Return the squared L2 distance of the sums on neighbors, and the L1 distance where there is a pure form."""
        row, neighbors = self._row(public), public.neighbors
        return neighbors.squared(row.squared, acute=row.acute), None if row.l1 is None else neighbors.l1(row.l1)

    def _deviation(self, public: Public) -> float:
        """Return the standard deviation of the noise in one sum."""
        squared, l1 = self._distance(public)
        return Measurements(public.price).deviation(Fraction(1), squared=squared, l1=l1)

    def _learn(self, public: Public, rows: FitRows, measurements: Measurements) -> None:
        squared, l1 = self._distance(public)
        sums = self._sums(public, rows) if rows.sums is None else rows.sums.reshape(self._shape(public))
        self._model(public, measurements.release(sums, share=Fraction(1), squared=squared, l1=l1))

    def _plan(self, public: Public) -> Mapping[str, Any]:
        sums = math.prod(self._shape(public))
        if sums > _MOST_SUMS:
            raise ParameterError(
                f"the model must have at most {_MOST_SUMS:,} sums; got {sums:,}, write fewer classes, bins, trees or "
                "levels"
            )
        return {"sums": sums}

    def _expect(self, public: Public) -> str:
        """Say how far the rows are above the noise: in a signal as for weights, with one sum for a weight."""
        noise = self._deviation(public) * math.sqrt(math.prod(self._shape(public)))
        return regime(public.neighbors.people * math.sqrt(self._row(public).squared) / noise)

    def _noise(self, public: Public) -> Mapping[str, float]:
        return {"one count": self._deviation(public) / self._unit(public)}


def labels_of(rows: FitRows) -> NDArray[np.int64]:
    """Return the class codes that every classifier reads."""
    if rows.codes is None:
        raise AssertionError("a classifier reads labels")
    return rows.codes


def number_of_classes(public: Public) -> int:
    """Return how many classes were declared."""
    return len(public.classes or ())
