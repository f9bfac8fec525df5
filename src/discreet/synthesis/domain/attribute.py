"""One column of a domain: the values it can have, and codes 0, 1, ... for them.

Numeric columns in bins with public edges, so that numbers become categories.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from operator import ne
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, ParameterError
from discreet.frames import as_column, numbers, places, python_times
from discreet.laws.number import Number, exact_rational

Codes = NDArray[np.uint16]
BINS = 32  # unless stated, of a number whose range is public and whose values are too many to list
_MOST_CODES = 1 << 16


@dataclass(frozen=True)
class Attribute:
    """One categorical column: its values in the order of their codes; `missing` adds a last code for everything else.

    Values are compared as Python does, so that 1, 1.0 and True are one value; None and NaN are what is missing. In a
    column of numpy, or of a plain pandas type, numbers of 2^53 and more in size are outside the values: one empty cell
    makes floats of such a column, which do not tell them apart. Lists, Polars, Arrow and pandas' Int64 keep them. The
    length of an attribute is the number of its codes.

    >>> color = Attribute("color", ("red", "green"), missing=True)
    >>> len(color), color.encode(["green", None, "mauve"]).tolist()
    (3, [1, 2, 2])
    """

    name: str
    values: tuple[Any, ...]
    missing: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ParameterError("an attribute must have a name", parameter="name")
        object.__setattr__(self, "values", tuple(_python(value) for value in self.values))
        object.__setattr__(self, "missing", bool(self.missing))
        if not self.values or len(self) > _MOST_CODES:
            raise ParameterError(
                f"{self.name}: an attribute must have between 1 and {_MOST_CODES:,} values", parameter="values"
            )
        if any(_absent(value) for value in self.values):
            raise ParameterError(
                f"{self.name}: None and NaN must not be values; write missing=True to give them a code",
                parameter="values",
            )
        if _distinct(self.values) != len(self.values):
            raise ParameterError(
                f"{self.name}: a value is listed twice (1, 1.0 and True are equal), or cannot be hashed",
                parameter="values",
            )

    def __len__(self) -> int:
        return len(self.values) + self.missing

    def encode(self, column: Any) -> Codes:
        """Return the code of every entry; what is not among the values is missing, or an error where nothing may be."""
        return self._checked(places(column, self.values))

    def _checked(self, codes: NDArray[np.int64]) -> Codes:
        """Return codes in their small type, refusing missing ones where there is no code for them."""
        if not self.missing and np.any(codes == len(self.values)):
            raise InputError(
                f"{self.name} has an entry outside its stated values. List the value, or let missing=True take it in. "
                "(Numbers of 2^53 and more are outside in columns of numpy; a type such as pandas' Int64 keeps them.)"
            )
        return codes.astype(np.uint16)

    def decode(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Return the values of codes, None where one is missing."""
        names = np.empty(len(self), dtype=object)
        for place, value in enumerate(self.values):
            names[place] = value
        decoded: NDArray[Any] = names[np.asarray(codes, dtype=np.int64)]
        return decoded

    def label(self, code: int) -> str:
        """Return a value as a query in words shows it."""
        return repr(self.values[code]) if code < len(self.values) else "missing"


def _python(value: Any) -> Any:
    """Return a number, truth value, text or time of numpy as the Python object it equals."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        return python_times(np.array([value]))[0]
    return value.item() if isinstance(value, np.bool_ | np.integer | np.floating | np.str_) else value


def _absent(value: Any) -> bool:
    """Say whether a value stands for nothing: None, or unequal to itself as NaN is."""
    try:
        return value is None or bool(ne(value, value))
    except (TypeError, ValueError):
        return True


def _distinct(values: tuple[Any, ...]) -> int:
    """Return how many values differ, or -1 if one cannot be told apart by its hash."""
    try:
        return len(set(values))
    except TypeError:
        return -1


@dataclass(frozen=True)
class Binned(Attribute):
    """A numeric column in bins [edge, next edge); numbers beyond the ends go into the end bins, NaN is missing.

    The values are the midpoints of the bins: `decode` returns those.

    >>> age = Bins((0, 90), 3).attribute("age", missing=True)
    >>> age.encode([7.5, 30, 250, None]).tolist(), age.values
    ([0, 1, 2, 3], (15.0, 45.0, 75.0))
    """

    edges: tuple[float, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.edges) != len(self.values) + 1 or any(
            a >= b for a, b in zip(self.edges, self.edges[1:], strict=False)
        ):
            raise ParameterError(
                f"{self.name}: edges must increase, and there must be one more of them than bins", parameter="edges"
            )

    def encode(self, column: Any) -> Codes:
        """Return the bin of every number; what is not a number is missing, or an error where nothing may be missing."""
        found = numbers(as_column(column), odd_is_missing=True).astype(np.float64)
        codes = np.searchsorted(np.array(self.edges[1:-1]), found, side="right").astype(np.int64)
        codes[np.isnan(found)] = len(self.values)
        return self._checked(codes)

    def label(self, code: int) -> str:
        """Return a bin as a query in words shows it."""
        if code >= len(self.values):
            return "missing"
        return f"[{self.edges[code]:g}, {self.edges[code + 1]:g})"


@dataclass(frozen=True, slots=True)
class Bins:
    """Bins of equal width between public `bounds`, (low, high): how to state a numeric attribute of a domain.

    >>> from discreet.synthesis import Domain
    >>> Domain.of(age=Bins((0, 100), 10), sex=["f", "m"]).sizes
    (10, 2)
    """

    bounds: tuple[Number, Number]
    count: int

    def __post_init__(self) -> None:
        if isinstance(self.count, bool) or not isinstance(self.count, int) or not 1 <= self.count <= 1 << 16:
            raise ParameterError("count must be a number of bins from 1 to 65,536", parameter="count")
        if not isinstance(self.bounds, tuple | list) or len(self.bounds) != 2:
            raise ParameterError("bounds must be a pair of numbers, such as bounds=(0, 100)", parameter="bounds")
        object.__setattr__(self, "bounds", tuple(self.bounds))
        low, high = self._ends
        if low >= high:
            raise ParameterError("bounds must be (low, high) with low below high", parameter="bounds")

    @property
    def _ends(self) -> tuple[Fraction, Fraction]:
        low, high = self.bounds
        return exact_rational(low, name="bounds"), exact_rational(high, name="bounds")

    def attribute(self, name: str, *, missing: bool = False) -> Binned:
        """Return the attribute of that name."""
        low, high = self._ends
        width = (high - low) / self.count
        edges = tuple(float(low + place * width) for place in range(self.count + 1))
        middles = tuple(float(low + (place + Fraction(1, 2)) * width) for place in range(self.count))
        return Binned(name, middles, missing, edges=edges)
