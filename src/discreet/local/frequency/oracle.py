"""Frequency oracles: each value has its preferred outputs, and a report falls among them a little more often."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet.errors import ParameterError
from discreet.laws import Finite, FinitePair
from discreet.local.estimates import Frequencies, Support
from discreet.local.protocol import (
    Integers,
    Preference,
    Spec,
    checked_categories,
    checked_histogram,
    checked_items,
    frequency_of_people,
    number_of_categories,
    number_of_people,
)
from discreet.privacy import PrivacyLoss, Relation

_LARGEST_LAW = 1 << 16


@dataclass(frozen=True, kw_only=True, eq=False)
class FrequencyOracle(Spec, Preference):
    """A protocol in which a value x prefers a set H(x) of `inside` outputs out of `cells`.

    The report lies in H(x) with probability p = coin / 2^64 and outside otherwise, uniformly in each. That one shape
    covers all our frequency protocols; they differ in the sets.

    Privacy. A report is epsilon-locally private: changing the value changes no report's probability by more than
        e^epsilon.
        Proof: every output has probability p / inside or (1 - p) / (cells - inside), whatever the value, because all
        H(x) have the same size. Their ratio is at most e^epsilon, because p is rounded down from the value at which
        it is e^epsilon, and at least 1 (checked when p is made).
    """

    @property
    @abstractmethod
    def inside(self) -> int:
        """The number of outputs that a value prefers."""

    @property
    @abstractmethod
    def apart(self) -> int:
        """The most outputs that one value prefers and another does not."""

    @abstractmethod
    def preferred(self, item: Any) -> Integers:
        """Return the outputs that a value prefers, in order; for laws, audits and small cases."""

    @abstractmethod
    def estimate(self, counts: Integers, people: int) -> Frequencies:
        """Estimate the frequency of every value from the histogram of reports."""

    @abstractmethod
    def variance(self, people: int, frequency: float = 0.0) -> float:
        """Return the exact variance of the estimated frequency of a value, at its true frequency."""

    @property
    def sides(self) -> tuple[int, int]:
        """The preferred outputs of a value, and the others."""
        return self.inside, self.cells - self.inside

    def law(self, item: Any) -> Finite:
        """Return the exact law of the report of a value, for at most 2^16 outputs."""
        if self.cells > _LARGEST_LAW:
            raise ParameterError("the law of a report is listed for at most 2^16 outputs; `loss` works for any number")
        masses = [self.unlikely] * self.cells
        for output in self.preferred(item).tolist():
            masses[output] = self.likely
        return Finite(range(self.cells), masses)

    @property
    def loss(self) -> PrivacyLoss:
        """The exact pair of two values that share as few preferred outputs as two values can; the rest is merged."""
        first, second = self.apart * self.likely, self.apart * self.unlikely
        masses = np.array([float(mass) for mass in (first, second, 1 - first - second)])
        lows, highs, swap = masses * (1 - 2.0**-50), masses * (1 + 2.0**-50), [1, 0, 2]
        pair = FinitePair(["first", "second", "another"], lows, highs, lows[swap], highs[swap])
        return PrivacyLoss.from_pairs([pair, pair.reversed()], relation=Relation.CHANGE_ONE, guarantee=self.guarantee)

    @property
    def poisoning_gain(self) -> float:
        """The most that one hostile report can add to the estimated number of people with a value (an honest: 1)."""
        return self._gain()

    @abstractmethod
    def _gain(self) -> float:
        """Return the largest weight of one report in an estimated count."""

    def derived(self) -> dict[str, Any]:
        """Return the coin and the sizes."""
        return {"coin": self.coin, "cells": self.cells, "inside": self.inside}

    def optimum(self, people: int) -> float:
        """Return 4 e^epsilon / (n (e^epsilon - 1)^2): the least variance of a rare value in a large domain."""
        growth = math.expm1(float(self.epsilon))
        return 4 * (growth + 1) / (number_of_people(people) * growth**2)


@dataclass(frozen=True, kw_only=True, eq=False)
class CategoricalOracle(FrequencyOracle):
    """An oracle over public categories, given as their number or as the list of their names."""

    categories: int | Sequence[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        self._take(categories=checked_categories(self.categories))

    @property
    def category_count(self) -> int:
        """The number of categories; a value is an int from 0 to category_count - 1, or the name of a category."""
        return number_of_categories(self.categories)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the categories; empty where only their number was given."""
        return () if isinstance(self.categories, int) else tuple(self.categories)

    def items(self, values: Any) -> Integers:
        """Return private values as int64, by number or name; raise InputError on anything else, without showing it."""
        return checked_items(values, self.category_count, self._places)

    @cached_property
    def _places(self) -> dict[str, int]:
        """Where each label stands."""
        return {label: place for place, label in enumerate(self.labels)}

    def corners(self) -> tuple[int, ...]:
        """Return the first categories, one in the middle and the last."""
        return tuple(sorted({0, 1, self.category_count // 2, self.category_count - 1}))


@dataclass(frozen=True, kw_only=True, eq=False)
class PureOracle(FrequencyOracle):
    """An oracle in which all other values prefer the outputs of x equally often.

    A report lies in H(x) with probability p if x is held, and with probability r whatever other value is held.

    Accuracy. (reports in H(x) / n - r) / (p - r) is unbiased for the frequency f of x, with variance
        (f p (1 - p) + (1 - f) r (1 - r)) / (n (p - r)^2) for the people who reported.
        Proof: the number of reports in H(x) is a sum of independent Bernoulli variables, n f of probability p and
        n (1 - f) of probability r; mean and variance follow.
    """

    @property
    @abstractmethod
    def shared(self) -> Fraction:
        """The probability r that a report of another value lies in H(x), exactly."""

    @abstractmethod
    def support(self, counts: Integers) -> Integers:
        """Return, for every value, the number of reports among its preferred outputs, from the histogram."""

    def estimate(self, counts: Integers, people: int) -> Frequencies:
        """Estimate the frequency of every value from the histogram of the reports of `people`."""
        support = self.support(checked_histogram(counts, self.cells, people))
        return Frequencies.from_support(self, Support(support, int(people), self.preference, self.shared))

    def variance(self, people: int, frequency: float = 0.0) -> float:
        """Return the exact variance for the people who reported."""
        p, r = self.preference, self.shared
        held, count = frequency_of_people(frequency), number_of_people(people)
        return float((held * p * (1 - p) + (1 - held) * r * (1 - r)) / (count * (p - r) ** 2))

    def _gain(self) -> float:
        """Return (1 - r) / (p - r)."""
        return float((1 - self.shared) / (self.preference - self.shared))
