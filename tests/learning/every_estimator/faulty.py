"""Estimators with one thing wrong each, which the checks of this folder must refute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.learning import LogisticRegression
from discreet.learning.base import Public, released_center
from discreet.learning.exact import FitRows, Measurements


class HalfNoise(Measurements):
    """Noise for a quarter of the squared distance that was stated."""

    def noise(self, share: Fraction, *, squared: int, l1: int | None = None) -> Any:
        return super().noise(share, squared=squared // 4, l1=l1)


@dataclass(frozen=True)
class Sampler:
    """Noise that has a right law on its label and is drawn otherwise."""

    right: Any
    drawn: Callable[[Any, Any], Any]

    @property
    def noise(self) -> Any:
        return self.right.noise

    def __call__(self, sums: Any) -> Any:
        return self.drawn(self.right(sums), np.asarray(sums))


class HalfDrawn(Measurements):
    """A sampler that draws half of what its law says."""

    def noise(self, share: Fraction, *, squared: int, l1: int | None = None) -> Any:
        return Sampler(super().noise(share, squared=squared, l1=l1), lambda answer, sums: sums + (answer - sums) // 2)


class OneWithoutNoise(Measurements):
    """A lower bound used twice: the range of the last term has no width, and so its noise has none."""

    def noise(self, share: Fraction, *, squared: int, l1: int | None = None) -> Any:
        return Sampler(super().noise(share, squared=squared, l1=l1), _last_one_exact)


def _last_one_exact(answer: Any, sums: Any) -> Any:
    answer[..., -1] = sums[..., -1]
    return answer


class SpentTwice(Measurements):
    """A price that is spent anew at every release."""

    def noise(self, share: Fraction, *, squared: int, l1: int | None = None) -> Any:  # noqa: ARG002
        return super().noise(Fraction(1), squared=squared, l1=l1)


@dataclass(eq=False, repr=False, kw_only=True)
class Faulty(LogisticRegression):
    """A logistic regression whose measurements can be exchanged for faulty ones."""

    measured: Any = Measurements

    def _learn(self, public: Public, rows: FitRows, measurements: Measurements) -> None:
        super()._learn(public, rows, self.measured(measurements._price))


class RowsCounted(Faulty):
    """The divisor is the number of rows, which is private."""

    def _learn(self, public: Public, rows: FitRows, measurements: Measurements) -> None:
        super()._learn(public, rows, measurements)
        self.center_ = self.center_ / max(len(rows), 1)


class RowsCompared(Faulty):
    """What a row contributes depends on the other rows: all are moved to the middle of the table."""

    def _learn(self, public: Public, rows: FitRows, measurements: Measurements) -> None:
        held = np.nan_to_num(rows.features, posinf=0.0, neginf=0.0).clip(-10, 10)
        middle = held.mean(axis=0) if len(held) else 0.0
        super()._learn(public, FitRows(held - middle, codes=rows.codes), measurements)


class TooShort(Faulty):
    """The stated distance is that of the unit ball in other units."""

    def _learn(self, public: Public, rows: FitRows, measurements: Measurements) -> None:
        short = type("Short", (Measurements,), {"release": _shortened})
        self.center_ = released_center(public, rows, short(measurements._price), Fraction(1, 2))


def _shortened(self: Measurements, sums: Any, *, share: Fraction, squared: int, l1: int | None = None) -> Any:
    return Measurements.release(self, sums, share=share, squared=squared // 9, l1=l1)


class ClassesSeen(Faulty):
    """The classes are those that occur."""

    def _learn(self, public: Public, rows: FitRows, measurements: Measurements) -> None:
        super()._learn(public, rows, measurements)
        seen = np.unique([] if rows.codes is None else rows.codes)
        self.coef_ = self.coef_[seen[seen < 3]]
