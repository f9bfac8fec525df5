"""Numeric columns in bins with public edges, so that numbers become categories."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws.number import Number, exact_rational
from discreet.synthesis.domain.attribute import Attribute, Codes
from discreet.synthesis.domain.columns import plain


@dataclass(frozen=True)
class Binned(Attribute):
    """A numeric column in bins [edge, next edge); numbers beyond the ends go into the end bins, NaN is missing.

    The values are the midpoints of the bins: `decode` returns those.

    >>> age = Bins(0, 90, 3).attribute("age", missing=True)
    >>> age.encode([7.5, 30, 250, None]).tolist(), age.values
    ([0, 1, 2, 3], (15.0, 45.0, 75.0))
    """

    edges: tuple[float, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        """Refuse edges that do not belong to the values."""
        super().__post_init__()
        if len(self.edges) != len(self.values) + 1 or any(
            a >= b for a, b in zip(self.edges, self.edges[1:], strict=False)
        ):
            raise ParameterError(f"{self.name}: edges increase, one more than there are bins", parameter="edges")

    def encode(self, column: Any) -> Codes:
        """Return the bin of every number; what is no number is missing, or an error where nothing may be."""
        data, masked = plain(column)
        with np.errstate(all="ignore"):  # a warning would tell that somebody's number is beyond all floats
            numbers = data.astype(np.float64) if data.dtype.kind in "biuf" else _floats(data)
        codes = np.searchsorted(np.array(self.edges[1:-1]), numbers, side="right").astype(np.int64)
        codes[masked | np.isnan(numbers)] = len(self.values)
        return self._checked(codes)

    def label(self, code: int) -> str:
        """Return a bin as a query in words shows it."""
        if code >= len(self.values):
            return "missing"
        return f"[{self.edges[code]:g}, {self.edges[code + 1]:g})"


def _floats(data: NDArray[Any]) -> NDArray[np.float64]:
    """Return objects as numbers, NaN for what is none; texts, dates and complex numbers are none."""
    if data.dtype.kind != "O":
        return np.full(len(data), np.nan)
    return np.fromiter((_float(entry) for entry in data.tolist()), dtype=np.float64, count=len(data))


def _float(entry: Any) -> float:
    """Return one object as a number."""
    if isinstance(entry, str | bytes | complex | np.complexfloating | np.datetime64 | np.timedelta64):
        return float("nan")
    try:
        return _converted(entry)
    except Exception:  # a foreign object may raise anything, and its message may show it
        return float("nan")


def _converted(entry: Any) -> float:
    """Return a number as the nearest float, an infinity where it is too large for one."""
    try:
        return float(entry)
    except OverflowError:
        return float("inf") if entry > 0 else float("-inf")


@dataclass(frozen=True, slots=True)
class Bins:
    """Bins of equal width from `low` to `high`, both public: how to state a numeric attribute of a domain.

    >>> from discreet.synthesis import Domain
    >>> Domain.of(age=Bins(0, 100, 10), sex=["f", "m"]).sizes
    (10, 2)
    """

    low: Number
    high: Number
    count: int

    def __post_init__(self) -> None:
        """Refuse an empty range and bins too narrow for floating point."""
        if isinstance(self.count, bool) or not isinstance(self.count, int) or not 1 <= self.count <= 1 << 16:
            raise ParameterError("count is a number of bins from 1 to 65,536", parameter="count")
        if self._low >= self._high:
            raise ParameterError("low is less than high", parameter="low")

    @property
    def _low(self) -> Fraction:
        return exact_rational(self.low, name="low")

    @property
    def _high(self) -> Fraction:
        return exact_rational(self.high, name="high")

    def attribute(self, name: str, *, missing: bool = False) -> Binned:
        """Return the attribute of that name."""
        width = (self._high - self._low) / self.count
        edges = tuple(float(self._low + place * width) for place in range(self.count + 1))
        middles = tuple(float(self._low + (place + Fraction(1, 2)) * width) for place in range(self.count))
        return Binned(name, middles, missing, edges=edges)
