"""What a law is: an exact distribution that can be looked up, sampled, and compared with another."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import ParameterError
from discreet.laws.pair import Pair

Outcome = TypeVar("Outcome")
Shape = int | tuple[int, ...]
_SMALL = 1 << 61
_HUGE = 10**300


class Law(ABC, Generic[Outcome]):
    """A distribution we know exactly: its four uses are sampling, pricing, predicting errors and auditing."""

    @abstractmethod
    def pmf(self, outcome: Any) -> Any:
        """Return the probability of an outcome (of each, for an array or a list of them), to about 14 digits."""

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
        """The least and the greatest possible integer; None where there is no bound."""

    @abstractmethod
    def cdf(self, outcome: ArrayLike) -> Any:
        """Return P(X <= outcome), for each outcome of an array or a list."""

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
            raise ParameterError("a shape must be an int of at least 0 or a tuple of them", parameter="shape")
    total = 1
    for size in sizes:
        total *= int(size)
    return tuple(int(size) for size in sizes), total


def as_integers(values: ArrayLike) -> NDArray[Any]:
    """Return outcomes as int64, or as Python integers where int64 is too narrow; raise InputError for fractions."""
    array = as_array(values)
    if array.size == 0:
        return np.empty(array.shape, dtype=np.int64)
    if array.dtype.kind == "i" or (array.dtype.kind == "u" and array.dtype.itemsize < 8):
        return array.astype(np.int64)
    flat = array.ravel().tolist()
    if array.dtype.kind not in "uO" or not all(
        isinstance(value, int) and not isinstance(value, bool) for value in flat
    ):
        raise ParameterError("outcomes of a law on the integers must be integers", parameter="outcome")
    return np.array([*flat, None], dtype=object)[:-1].reshape(array.shape)


def as_array(values: ArrayLike) -> NDArray[Any]:
    """Return outcomes as an array; refuse lists of unequal length."""
    try:
        array = np.asarray(values)
    except ValueError:
        array = None
    if array is None:
        raise ParameterError("lists of outcomes inside a list must have equal lengths", parameter="outcome")
    return array


def offsets(values: ArrayLike, center: int) -> NDArray[Any]:
    """Return outcome - center exactly: int64 where nothing can overflow, Python integers elsewhere."""
    array = as_integers(values)
    if array.dtype != object and abs(center) < _SMALL and (array.size == 0 or _within(array)):
        return np.asarray(array - center)
    flat = [int(value) - center for value in array.ravel()]
    return np.array([*flat, None], dtype=object)[:-1].reshape(array.shape)


def _within(array: NDArray[np.int64]) -> bool:
    """Say whether all values are far from the ends of int64."""
    return bool(array.max() < _SMALL and array.min() > -_SMALL)


def as_floats(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return integers as floats; those beyond the largest float become +-1e300, beyond the mass of every law."""
    if values.dtype != object:
        return values.astype(np.float64)
    flat = [float(max(min(int(value), _HUGE), -_HUGE)) for value in values.ravel()]
    return np.array(flat, dtype=np.float64).reshape(values.shape)


def ratios(values: NDArray[Any], scale: Fraction) -> NDArray[np.float64]:
    """Return integers over a positive rational as floats; beyond the largest float they are infinite."""
    if values.dtype != object:
        return values.astype(np.float64) / float(scale)
    flat = [_nearest_float(int(value) / scale) for value in values.ravel()]
    return np.array(flat, dtype=np.float64).reshape(values.shape)


def _nearest_float(value: Fraction) -> float:
    """Return the float nearest to a rational, infinite beyond the largest."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def probability_in_unit(probability: float | Fraction) -> Fraction:
    """Return a probability strictly between 0 and 1 as an exact rational."""
    from discreet.laws.number import exact_rational

    exact = exact_rational(probability, name="probability")
    if not 0 < exact < 1:
        raise ParameterError("the probability of a quantile must be strictly between 0 and 1", parameter="probability")
    return exact
