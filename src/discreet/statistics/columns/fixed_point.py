"""Values clipped to public bounds and counted in steps of a public grid: exact integer sums of real columns.

Every row becomes an integer between 0 and `steps`, whatever its value: infinities are clipped, a value beyond the
bounds takes the nearest one. The map looks at one row at a time, so rounding cannot enlarge a sensitivity; it can only
move a value by half a step, which the intervals include.

Sums are exact although they run in floats: a chunk of 2^14 integers of at most 38 bits stays below 2^53, and products
of 19-bit halves do too; chunks are added as Python integers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import MissingParameter, ParameterError
from discreet.laws.number import Number, rational_or_none
from discreet.mechanisms.noise import floor_log2, power_of_two, two_to

STEP_BITS = 38
_HALF = 1 << (STEP_BITS // 2)
_CHUNK = 1 << 14
_WEIGHTED_CHUNK = 1 << 16
_OFFSET = "subtract a public offset from the column and from the bounds first"


@dataclass(frozen=True, slots=True)
class Totals:
    """What one pass over a column gives: how much was there, the sum of the steps, and of their squares.

    With weights everything is counted in units of the weight 1 / 2^20.
    """

    present: int
    first: int
    second: int = 0


@dataclass(frozen=True, slots=True)
class FixedPoint:
    """Bounds and grid of a column: position k stands for the value (start + k) * grid, k = 0 .. steps."""

    start: int
    steps: int
    grid: Fraction

    @classmethod
    def between(cls, bounds: object, *, grid: Number | None = None, name: str = "values") -> FixedPoint:
        """Lay a grid of a power of two between the bounds: the one given, or one of 2^36 to 2^37 steps.

        Without `grid=` the ends are rounded outward to the grid, so that no value within the bounds moves by more than
        half a step. Columns are read as floats, integers beyond 2^53 as the nearest ones, so that no step is less than
        their distance at the bounds.
        """
        low, high = stated_bounds(bounds, name=name)
        given = power_of_two(grid)
        fine = given or two_to(floor_log2(high - low) - STEP_BITS + 2)
        spacing = _spacing(low, high, fine)
        if given is not None and given < spacing:
            raise ParameterError(f"grid= is finer than floats are at these bounds: {_OFFSET}", parameter="grid")
        step = max(fine, spacing)
        start, end = math.floor(low / step), math.ceil(high / step)
        if given is not None and (start * step != low or end * step != high):
            raise ParameterError("with grid= both bounds must be multiples of the grid", parameter="grid")
        if end - start > 1 << STEP_BITS:
            raise ParameterError("at most 2^38 steps of the grid fit between the bounds", parameter="grid")
        for public in (start * step, end * step, (end - start) * step, 1 / step):
            _to_float(public)
        return cls(start, end - start, step)

    def check_squares(self) -> None:
        """Refuse a range whose square floats do not hold."""
        if not Fraction(1, 10**150) <= self.steps * self.grid <= 10**150:
            raise ParameterError(
                "here the distance of the bounds must lie between 1e-150 and 1e150, so that floats hold its square: "
                "measure the column in another unit",
                parameter="bounds",
            )

    @property
    def end(self) -> int:
        """The upper bound in steps."""
        return self.start + self.steps

    def value(self, position: Number) -> Fraction:
        """Return what a position stands for."""
        return (self.start + Fraction(position)) * self.grid

    def position(self, value: Fraction) -> int:
        """Return the position nearest to a public value, which must lie within the bounds."""
        nearest = round(value / self.grid) - self.start
        if not -1 <= nearest <= self.steps + 1:
            raise ParameterError("what replaces missing values must lie within the bounds", parameter="missing")
        return min(max(nearest, 0), self.steps)

    def positions(self, values: NDArray[Any], out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return the positions of values as whole floats, NaN where a value is missing."""
        with np.errstate(all="ignore"):
            positions: NDArray[np.float64] = np.subtract(
                values, _to_float(self.start * self.grid), out=out, dtype=np.float64
            )
            np.multiply(positions, _to_float(1 / self.grid), out=positions)
            np.rint(positions, out=positions)
            np.maximum(positions, 0.0, out=positions)
            np.minimum(positions, float(self.steps), out=positions)
        return positions

    def totals(self, values: NDArray[Any], *, squares: bool = False) -> Totals:
        """Return the exact sums over a column, chunk by chunk in cache; missing values count for nothing.

        The work does not depend on the values.
        """
        present = first = second = 0
        for chunk, missing in self.chunks(values):
            present += chunk.size - missing
            first += int(chunk.sum())
            if squares:
                second += _sum_of_squares(chunk)
        return Totals(present, first, second)

    def chunks(self, values: NDArray[Any]) -> Iterator[tuple[NDArray[np.float64], int]]:
        """Yield the positions of a chunk, 0 for a missing value, and how many were missing."""
        buffer, flags = np.empty(_CHUNK), np.empty(_CHUNK, dtype=np.bool_)
        low, per_step, top = _to_float(self.start * self.grid), _to_float(1 / self.grid), float(self.steps)
        with np.errstate(all="ignore"):
            for begin in range(0, values.size, _CHUNK):
                part = values[begin : begin + _CHUNK]
                chunk, missing = buffer[: part.size], flags[: part.size]
                np.subtract(part, low, out=chunk, dtype=np.float64)  # a narrow column must not narrow the arithmetic
                np.multiply(chunk, per_step, out=chunk)
                np.rint(chunk, out=chunk)
                np.isnan(chunk, out=missing)
                np.fmax(chunk, 0.0, out=chunk)  # takes NaN to 0
                np.minimum(chunk, top, out=chunk)
                yield chunk, int(np.count_nonzero(missing))

    def weighted_totals(self, positions: NDArray[np.float64], weights: NDArray[np.int64]) -> Totals:
        """Return the sums of positions that are all present, each counted with an integer weight of at most 2^20."""
        present = first = second = 0
        for begin in range(0, positions.size, _WEIGHTED_CHUNK):
            part = slice(begin, begin + _WEIGHTED_CHUNK)
            weight, whole = weights[part], positions[part].astype(np.int64)
            high, low = whole // _HALF, whole % _HALF
            present += int(weight.sum())
            first += _HALF * int((high * weight).sum()) + int((low * weight).sum())
            for factor, one, two in ((_HALF * _HALF, high, high), (2 * _HALF, high, low), (1, low, low)):
                product = one * two  # up to 2^38: split once more before it is weighted
                second += factor * (
                    _HALF * int((product // _HALF * weight).sum()) + int((product % _HALF * weight).sum())
                )
        return Totals(present, first, second)


def stated_bounds(bounds: object, *, name: str = "values") -> tuple[Fraction, Fraction]:
    """Return the bounds exactly; they are compulsory and never taken from the data."""
    if bounds is None:
        raise MissingParameter(
            f"bounds=(low, high) is the public range that {name} are clipped to; it is never taken from the data. If "
            "you do not know it, statistics.clipping_bounds finds one privately",
            parameter="bounds",
        )
    pair = bounds if isinstance(bounds, tuple | list) and len(bounds) == 2 else (None, None)
    low, high = rational_or_none(pair[0]), rational_or_none(pair[1])
    if low is None or high is None:
        raise ParameterError("bounds must be a pair of finite numbers, such as bounds=(0, 120)", parameter="bounds")
    if low >= high:
        raise ParameterError("bounds=(low, high) needs low < high", parameter="bounds")
    return low, high


def _spacing(low: Fraction, high: Fraction, step: Fraction) -> Fraction:
    """Return how far apart floats are at the bounds, which must be floats themselves to within half a step."""
    if any(abs(Fraction(_to_float(end)) - end) > step / 2 for end in (low, high)):
        raise ParameterError(f"floats do not hold these bounds closely enough: {_OFFSET}", parameter="bounds")
    return Fraction(math.ulp(_to_float(max(abs(low), abs(high)))))


def _sum_of_squares(chunk: NDArray[np.float64]) -> int:
    """Return the exact sum of squares of whole floats of at most 38 bits, from products of 19-bit halves."""
    high = np.floor(chunk * (1.0 / _HALF))
    low = chunk - high * float(_HALF)
    total = 0
    for part in (slice(0, _CHUNK // 2), slice(_CHUNK // 2, None)):  # short enough to be multiplied by one thread
        one, two = high[part], low[part]
        total += _HALF * _HALF * int(np.dot(one, one)) + 2 * _HALF * int(np.dot(one, two)) + int(np.dot(two, two))
    return total


def _to_float(value: Fraction) -> float:
    """Return the nearest float; bounds beyond the floats are refused by name."""
    try:
        return float(value)
    except OverflowError:
        raise ParameterError("these bounds are beyond the range of floats", parameter="bounds") from None
