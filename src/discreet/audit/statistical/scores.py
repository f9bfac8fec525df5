"""Scores of runs that grow with the likelihood ratio of two inputs: one number read off, or a table of patterns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.audit.statistical.columns import View, counted, finest_bit, pattern, tally
from discreet.audit.statistical.outcomes import Codes, Floats

_MOST_PATTERNS = 5000
_LOOKED_AT = 50_000


class RunScore(ABC):
    """A number for each run: the larger, the more it looks like the first input and the less like the second."""

    @property
    def calibrated(self) -> bool:
        """Whether it estimates the logarithm of the likelihood ratio."""
        return True

    @property
    def learned(self) -> bool:
        """Whether anything in it was fitted to runs."""
        return True

    @abstractmethod
    def __call__(self, view: View) -> Floats:
        """Score runs."""

    @abstractmethod
    def __str__(self) -> str:
        """Say what is scored."""


class ReadOff(RunScore):
    """A score that is just a number of the output."""

    @property
    def calibrated(self) -> bool:
        """False: the column is taken as it is."""
        return False

    @property
    def learned(self) -> bool:
        """False: the column is taken as it is."""
        return False


@dataclass(frozen=True)
class ValueScore(ReadOff):
    """One column as it is, or its difference from the column before."""

    column: int
    differenced: bool = False

    def __call__(self, view: View) -> Floats:
        """Return the column; NaN is below everything."""
        values = (view.differences if self.differenced else view.numbers)[:, self.column]
        return np.where(np.isnan(values), -np.inf, values)

    def __str__(self) -> str:
        name = f"number {self.column + 1} of the output"
        return f"{name} less the one before" if self.differenced else name


@dataclass(frozen=True)
class FinestBit(ReadOff):
    """The lowest binary digit that is set in one column: naive floating-point noise betrays its input by it."""

    column: int

    def __call__(self, view: View) -> Floats:
        """Return the exponent of the digit."""
        return finest_bit(view.numbers[:, self.column])

    def __str__(self) -> str:
        return f"the exponent of the lowest binary digit of number {self.column + 1} of the output"


@dataclass(frozen=True)
class MeanScore(RunScore):
    """The mean of scores of one kind that were fitted to different runs."""

    parts: tuple[RunScore, ...]

    @property
    def calibrated(self) -> bool:
        """Whether its parts are calibrated."""
        return self.parts[0].calibrated

    def __call__(self, view: View) -> Floats:
        """Average."""
        return np.asarray(np.mean([part(view) for part in self.parts], axis=0))

    def __str__(self) -> str:
        return str(self.parts[0])


class Reading(ABC):
    """A code for each run: what a table has a row for."""

    @abstractmethod
    def __call__(self, view: View) -> Codes:
        """Read the codes off."""

    @abstractmethod
    def __str__(self) -> str:
        """Say what is read."""


@dataclass(frozen=True)
class Pattern(Reading):
    """Which special values the columns show, and the codes of everything that is no number."""

    columns: tuple[int, ...]
    coded: bool = True

    def __call__(self, view: View) -> Codes:
        """Mix the kinds of the columns into one code."""
        kinds = view.kinds[:, list(self.columns)]
        return pattern(np.column_stack([kinds, view.outcomes.codes]) if self.coded else kinds)

    def __str__(self) -> str:
        return "the pattern of special values"


@dataclass(frozen=True)
class Counted(Reading):
    """How often each special value occurs in each group of columns that only their position tells apart."""

    groups: tuple[tuple[int, ...], ...]

    def __call__(self, view: View) -> Codes:
        """Count, and mix the counts into one code."""
        return pattern(np.column_stack([*(counted(view.kinds, group) for group in self.groups), view.outcomes.codes]))

    def __str__(self) -> str:
        return "how often each special value occurs"


@dataclass(frozen=True)
class BinnedReading(Reading):
    """The range between quantiles in which a column lies, or its special value."""

    column: int
    edges: tuple[float, ...]

    def __call__(self, view: View) -> Codes:
        """Find the range."""
        place = np.searchsorted(np.array(self.edges), view.numbers[:, self.column])
        return np.where(view.kinds[:, self.column] == 0, place, -1 - view.kinds[:, self.column]).astype(np.int64)

    def __str__(self) -> str:
        return f"the range in which number {self.column + 1} of the output lies"


@dataclass(frozen=True)
class TableScore(RunScore):
    """A shrunken logarithm of the likelihood ratio for each code that was seen; 0 for others.

    The logarithm of a ratio of two counts has a variance of about the sum of their inverses. What the logarithms vary
    beyond that is real; each is shrunk by the share of its variance that is real, so that rare codes are ranked with
    care.
    """

    reading: Reading
    known: Codes
    scores: Floats

    @property
    def calibrated(self) -> bool:
        """Whether it is; ranges of one number are not: the best of many similar ones is too good by luck."""
        return not isinstance(self.reading, BinnedReading)

    @classmethod
    def fitted(cls, reading: Reading, first: View, second: View) -> TableScore:
        """Count the codes of runs of both inputs."""
        codes = [reading(view) for view in (first, second)]
        known, totals = np.unique(np.concatenate(codes), return_counts=True)
        if len(known) > _MOST_PATTERNS:
            known = np.sort(known[np.argsort(-totals, kind="stable")[:_MOST_PATTERNS]])
        counts = [np.bincount(tally(one, known), minlength=len(known) + 1)[:-1] for one in codes]
        scores = shrunken(counts[0], counts[1], len(first), len(second))
        return cls(reading, known, scores)

    def __call__(self, view: View) -> Floats:
        """Look the codes up."""
        return np.append(self.scores, 0.0)[tally(self.reading(view), self.known)]

    def __str__(self) -> str:
        return f"the likelihood ratio of {self.reading}"


def shrunken(first: Codes, second: Codes, runs: int, others: int) -> Floats:
    """Return logarithms of likelihood ratios from counts, each shrunk towards 0 by the noise in it."""
    one, two = first + 0.5, second + 0.5
    ratio = np.log(one / (runs + 1.0)) - np.log(two / (others + 1.0))
    noise = 1.0 / one + 1.0 / two
    weight = one + two
    real = max(float(np.sum(weight * (ratio**2 - noise)) / np.sum(weight)), 1e-8)
    return np.asarray(ratio * real / (real + noise))


def edges_of(views: Sequence[View], column: int, bins: int) -> tuple[float, ...]:
    """Return quantiles of what lies between the special values of a column, over all views together."""
    few = [view.part(0, _LOOKED_AT) for view in views]
    pooled = np.concatenate([view.numbers[view.kinds[:, column] == 0, column] for view in few])
    if len(pooled) < bins:
        return ()
    return tuple(np.unique(np.quantile(pooled, np.linspace(0.0, 1.0, bins + 1)[1:-1])).tolist())
