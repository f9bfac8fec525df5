"""The one coin of a local report: its probability is a rational rounded down, so that no ratio exceeds e^epsilon."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.errors import MissingParameter, ParameterError
from discreet.privacy.numbers import positive_price
from discreet.randomness import words
from discreet.randomness.rigor import ball, floor_of_lower, precision

COIN_BITS = 64
COIN_TOTAL = 1 << COIN_BITS
_SMALLEST, _LARGEST = Fraction(1, 1024), Fraction(20)
_PRECISION = 256
_LONGEST_BITS = 1024


def local_epsilon(epsilon: object) -> Fraction:
    """Return epsilon exactly; the local model is served between 1/1024, where reports say nothing, and 20."""
    if epsilon is None:
        raise MissingParameter("epsilon= is the price of a report and is never defaulted", parameter="epsilon")
    exact = positive_price(epsilon, name="epsilon")
    if not _SMALLEST <= exact <= _LARGEST:
        raise ParameterError("epsilon of a report must be between 1/1024 and 20", parameter="epsilon")
    if exact.denominator.bit_length() > _LONGEST_BITS:
        raise ParameterError("epsilon of a report must be a fraction of at most 1024 bits", parameter="epsilon")
    return exact


def coin(epsilon: Fraction, inside: int, outside: int) -> int:
    """Return the largest c that is proven to keep (c / inside) / ((2^64 - c) / outside) <= e^epsilon.

    A report falls into the `inside` preferred outputs with probability c / 2^64, into the `outside` others otherwise,
    uniformly in each. The exact value is 2^64 / (1 + e^-epsilon outside / inside); it is rounded down, never up.

    >>> coin(Fraction(1), 1, 1) / COIN_TOTAL
    0.7310585786300049
    """
    with precision(_PRECISION):
        numerator = floor_of_lower(COIN_TOTAL / (1 + (-ball(epsilon)).exp() * outside / inside))
    if not numerator * outside > (COIN_TOTAL - numerator) * inside:
        raise ParameterError("epsilon is too small for this number of outputs: reports would say nothing")
    return numerator


class Preference(ABC):
    """A report that falls among the preferred of two sides with probability p = coin / 2^64, uniformly in each."""

    @property
    @abstractmethod
    def sides(self) -> tuple[int, int]:
        """The numbers of preferred outputs and of others."""

    @property
    @abstractmethod
    def exact_epsilon(self) -> Fraction:
        """Epsilon, exactly."""

    @cached_property
    def coin(self) -> int:
        """The probability of the preferred outputs, times 2^64."""
        return coin(self.exact_epsilon, *self.sides)

    @property
    def preference(self) -> Fraction:
        """The probability p of the preferred outputs, exactly."""
        return Fraction(self.coin, COIN_TOTAL)

    @property
    def likely(self) -> Fraction:
        """The probability of one particular preferred output."""
        return self.preference / self.sides[0]

    @property
    def unlikely(self) -> Fraction:
        """The probability of one particular other output."""
        return (1 - self.preference) / self.sides[1]


def toss(numerator: int, count: int) -> NDArray[np.bool_]:
    """Toss coins of probability numerator / 2^64, exactly: one word each."""
    return words(count) < np.uint64(numerator)
