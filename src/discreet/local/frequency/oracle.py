"""Frequency oracles: each value has its preferred outputs, and a report falls among them a little more often.

The sampler of a protocol is a mechanism as well: what audits, laws and the conformance kit work on.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet.errors import InputError, ParameterError
from discreet.laws import Finite, FinitePair, Law
from discreet.local.estimates import Frequencies, Support
from discreet.local.protocol import (
    COIN_TOTAL,
    Aggregator,
    Client,
    Integers,
    Spec,
    checked_histogram,
    checked_items,
    coin,
    frequency_of_people,
    listed_labels,
    number_of_people,
    public_labels,
)
from discreet.mechanisms import Mechanism
from discreet.privacy import PrivacyLoss, PureDP, Relation

_LARGEST_LAW = 1 << 16


@dataclass(frozen=True, kw_only=True, eq=False)
class FrequencyOracle(Spec):
    """A protocol in which a value x prefers a set H(x) of `inside` outputs out of `cells`.

    The report lies in H(x) with probability p = coin / 2^64 and outside otherwise, uniformly in each. That one shape
    covers all our frequency protocols; they differ in the sets.

    Privacy. A report is epsilon-locally private: changing the value changes no report's probability by more than
        e^epsilon.
        Proof: every output has probability p / inside or (1 - p) / (cells - inside), whatever the value, because all
        H(x) have the same size. Their ratio is at most e^epsilon, because p is rounded down from the value at which
        it is e^epsilon, and at least 1 (checked when p is made).
    """

    labels: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        labels = listed_labels(self.labels)
        named = isinstance(labels, tuple) and len(labels) > 0
        self._take(labels=public_labels(labels, self.size if named else 0))

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of values; a value is an int from 0 to size - 1."""

    @property
    @abstractmethod
    def inside(self) -> int:
        """The number of outputs that a value prefers."""

    @property
    @abstractmethod
    def apart(self) -> int:
        """The most outputs that one value prefers and another does not."""

    @abstractmethod
    def preferred(self, item: int) -> Integers:
        """Return the outputs that a value prefers, in order; for laws, audits and small cases."""

    @abstractmethod
    def randomize(self, items: Integers) -> Integers:
        """Draw a report for each value, exactly; the values were checked."""

    @abstractmethod
    def estimate(self, counts: Integers, people: int) -> Frequencies:
        """Estimate the frequency of every value from the histogram of reports."""

    @abstractmethod
    def variance(self, people: int, frequency: float = 0.0) -> float:
        """Return the exact variance of the estimated frequency of a value, at its true frequency."""

    @cached_property
    def coin(self) -> int:
        """The probability of a preferred output, times 2^64."""
        return coin(self.epsilon, self.inside, self.cells - self.inside)

    @property
    def preference(self) -> Fraction:
        """The probability p of a preferred output, exactly."""
        return Fraction(self.coin, COIN_TOTAL)

    @property
    def likely(self) -> Fraction:
        """The probability of one particular preferred output."""
        return self.preference / self.inside

    @property
    def unlikely(self) -> Fraction:
        """The probability of one particular other output."""
        return (1 - self.preference) / (self.cells - self.inside)

    def law(self, item: int) -> Finite:
        """Return the exact law of the report of a value or of its label, for at most 2^16 outputs."""
        if self.cells > _LARGEST_LAW:
            raise ParameterError("the law of a report is listed for at most 2^16 outputs; `loss` works for any number")
        masses = [self.unlikely] * self.cells
        self.items([item])  # refuses what is no value
        place = self._places.get(item, item) if isinstance(item, str) else item
        for output in self.preferred(place).tolist():
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

    def client(self) -> Client:
        """Return one person's client."""
        return Client(self)

    def mechanism(self) -> Randomizer:
        """Return the sampler as a mechanism without memory, for audits and tests."""
        return Randomizer(self)

    def items(self, values: Any) -> Integers:
        """Return private values as int64, by index or by label; refuse everything else without showing it."""
        return checked_items(values, self.size, self._places)

    @cached_property
    def _places(self) -> dict[str, int]:
        """Where each label stands."""
        return {label: place for place, label in enumerate(self.labels)}

    def aggregator(self) -> Aggregator:
        """Return an empty aggregator."""
        return Aggregator(self)

    def optimum(self, people: int) -> float:
        """Return 4 e^epsilon / (n (e^epsilon - 1)^2): the least variance of a rare value in a large domain."""
        growth = math.expm1(float(self.epsilon))
        return 4 * (growth + 1) / (number_of_people(people) * growth**2)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Listed(FrequencyOracle):
    """An oracle over a public list of values, by number."""

    values: int

    @property
    def size(self) -> int:
        """The number of values."""
        return self.values


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
        """Estimate the frequency of every value from the histogram of the reports of so many people."""
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


class Randomizer(Mechanism):
    """The randomized map from a value to a report, without the memory of a client: made for tests and audits.

    A client answers once for its person; this answers as often as it is called, each time at the price of a report.

    Privacy. Each call is epsilon-private for a change of the value, whoever collects.
        Proof: it draws by the same code as a client; see `FrequencyOracle`.

    >>> from discreet.local.frequency.direct_response import DirectResponse
    >>> mechanism = DirectResponse(epsilon=1, values=4).mechanism()
    >>> mechanism(3) in range(4), mechanism.guarantee
    (True, PureDP(epsilon=1.0, relation=Relation.CHANGE_ONE))
    """

    relation = Relation.CHANGE_ONE

    def __init__(self, spec: FrequencyOracle) -> None:
        self.spec = spec

    @property
    def guarantee(self) -> PureDP:
        """The guarantee of the spec."""
        return self.spec.guarantee

    @property
    def loss(self) -> PrivacyLoss:
        """The price of one report."""
        return self.spec.loss

    def __call__(self, value: Any) -> Any:
        """Report a value, or each of an array of values, one person each."""
        if _is_many(value):
            return self.spec.randomize(self.spec.items(value))
        return int(self.spec.randomize(self.spec.items([value]))[0])

    def law(self, value: Any) -> Law[Any]:
        """Return the exact law of the report of one value."""
        if _is_many(value):
            raise InputError("the law is that of one person's report; reports are independent")
        return self.spec.law(int(self.spec.items([value])[0]))

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield ordered pairs of a few values, the first and the last among them."""
        size = self.spec.size
        few = sorted({0, 1, size // 2, size - 1})
        yield from ((first, second) for first in few for second in few if first != second)

    def __repr__(self) -> str:
        return f"Randomizer({self.spec!r})"


def _is_many(value: Any) -> bool:
    """Say whether a value stands for several people."""
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)
