"""What a law is: an exact distribution that can be looked up, sampled, and compared with another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import ParameterError
from discreet.laws.pair import Pair

Outcome = TypeVar("Outcome")
Shape = int | tuple[int, ...]


class Law(ABC, Generic[Outcome]):
    """A distribution we know exactly: its four uses are sampling, pricing, predicting errors and auditing."""

    @abstractmethod
    def pmf(self, outcome: Any) -> Any:
        """Return the probability of an outcome (of each, for an array of them), to about 14 digits."""

    @abstractmethod
    def sample(self, shape: Shape | None = None) -> Any:
        """Draw exactly from the law: one outcome, or an array of independent ones."""

    @abstractmethod
    def pair(self, other: Law[Outcome]) -> Pair:
        """Return the loss pair of this law against another on the same outcomes."""


class IntegerLaw(Law[int]):
    """A law on the integers, with an order: cumulative probabilities and quantiles."""

    @property
    @abstractmethod
    def support(self) -> tuple[int | None, int | None]:
        """The least and the greatest possible integer; None where there is none."""

    @abstractmethod
    def cdf(self, outcome: ArrayLike) -> Any:
        """Return P(X <= outcome)."""

    @abstractmethod
    def sf(self, outcome: ArrayLike) -> Any:
        """Return P(X > outcome), accurate also where it is tiny."""

    @abstractmethod
    def quantile(self, probability: float | Fraction) -> int:
        """Return the least integer x with P(X <= x) >= probability, decided exactly."""


def as_size(shape: Shape) -> tuple[tuple[int, ...], int]:
    """Return a shape as a tuple of sizes, and the number of elements."""
    sizes = shape if isinstance(shape, tuple) else (shape,)
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 0:
            raise ParameterError("a shape is a non-negative int or a tuple of them", parameter="shape")
    total = 1
    for size in sizes:
        total *= int(size)
    return tuple(int(size) for size in sizes), total


def as_integers(values: ArrayLike) -> NDArray[Any]:
    """Return outcomes as an array of integers, refusing fractions: there is no mass there to ask about."""
    array = np.asarray(values)
    if array.dtype == np.bool_ or not (array.dtype == object or np.issubdtype(array.dtype, np.integer)):
        raise ParameterError("outcomes of a law on the integers are integers", parameter="outcome")
    return array


def probability_in_unit(probability: float | Fraction) -> Fraction:
    """Return a probability strictly between 0 and 1 as an exact rational."""
    from discreet.laws.number import exact_rational

    exact = exact_rational(probability, name="probability")
    if not 0 < exact < 1:
        raise ParameterError(f"a quantile is asked at a probability strictly between 0 and 1, got {probability}")
    return exact
