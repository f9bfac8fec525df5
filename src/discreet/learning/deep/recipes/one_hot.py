"""Features of tables by declared columns: one 1 a column, at the place of its value, rows of norm 1."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, ParameterError
from discreet.frames import as_column, numbers, places
from discreet.learning.base import whole_number

MOST_WIDTH = 1 << 16
CONSTANT = 0.3  # the last column, before rows are scaled: it takes the place of an intercept


@dataclass(frozen=True)
class BinnedNumbers:
    """A column of numbers, cut into `bins` parts of equal length between public bounds (low, high).

    >>> BinnedNumbers((0, 100), bins=4)
    BinnedNumbers(bounds=(0.0, 100.0), bins=4)
    """

    bounds: tuple[float, float]
    bins: int = 16

    def __post_init__(self) -> None:
        whole_number(self.bins, name="bins", least=1, most=1 << 12)
        object.__setattr__(self, "bounds", stated_ends(self.bounds))

    def __len__(self) -> int:
        return self.bins

    def codes(self, entries: Any) -> NDArray[np.int64]:
        """Return the part of every entry, values outside in the first or last; the number of parts where none is."""
        low, high = self.bounds
        with np.errstate(all="ignore"):
            cells = np.asarray(numbers(entries, odd_is_missing=True), dtype=np.float64)
            inside = np.clip((cells - low) / (high - low), 0, 1) * self.bins
        known = np.isfinite(inside)
        return np.where(known, np.minimum(np.where(known, inside, 0.0).astype(np.int64), self.bins - 1), self.bins)


@dataclass(frozen=True)
class OneHot:
    """Map the declared columns of a table to zeros and ones, divided by the root of how many columns there are.

    `table` gives every column its values, in order, or `BinnedNumbers`: (18, 90) is a column of the two values 18 and
    90, and BinnedNumbers((18, 90)) is one of numbers between them. A cell that is missing, or holds a value that
    was not declared, has no 1: the row still counts.

    Privacy. The map costs nothing: a row's features are a function of that row and of what was declared.
        Proof: a cell's place is found by comparing it with the declared values, or by a subtraction, a division and a
        product of the cell, each rounded alike wherever the row stands.

    >>> one_hot = OneHot({"sex": ("f", "m"), "age": BinnedNumbers((0, 100), bins=2)})
    >>> one_hot({"sex": ["m", "f"], "age": [70, 20]}).round(2)
    array([[0.  , 0.68, 0.  , 0.68, 0.29],
           [0.68, 0.  , 0.68, 0.  , 0.29]], dtype=float32)
    """

    table: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not isinstance(self.table, Mapping) or not self.table:
            raise ParameterError(
                f"table must name columns with their values; got {type(self.table).__name__}, write "
                "{'sex': ('f', 'm')}, for example"
            )
        read = {str(name): _declared(name, one) for name, one in self.table.items()}
        object.__setattr__(self, "table", read)
        if self.width > MOST_WIDTH:
            raise ParameterError(f"all columns together must have at most {MOST_WIDTH:,} values; write fewer bins")

    @property
    def width(self) -> int:
        """How many features a row has: one a declared value, and a constant one."""
        return sum(len(one) for one in self.table.values()) + 1

    @property
    def told(self) -> str:
        """The map in words."""
        return f"one 1 a column among {self.width - 1:,} declared values of {len(self.table)} columns, rows of norm 1"

    def __call__(self, rows: Any) -> NDArray[np.float32]:
        """Return the features of a table: a mapping or frame by names, or a matrix whose columns are in order."""
        entries = [self._column(rows, place, name) for place, name in enumerate(self.table)]
        people = {len(one) for one in entries}
        if len(people) != 1:
            raise InputError("the columns must be equally long; got others, write one entry a row in each")
        features = np.zeros((people.pop(), self.width), dtype=np.float32)
        one, start = np.float32(1 / math.sqrt(len(self.table) * (1 + CONSTANT**2))), 0
        for column, declared in zip(entries, self.table.values(), strict=True):
            codes = declared.codes(column) if isinstance(declared, BinnedNumbers) else places(column, declared)
            known = np.flatnonzero(codes < len(declared))
            features[known, start + codes[known]] = one
            start += len(declared)
        features[:, -1] = CONSTANT / math.sqrt(1 + CONSTANT**2)
        return features

    def _column(self, rows: Any, place: int, name: str) -> Any:
        """Return the entries of one column."""
        if isinstance(rows, np.ndarray):
            if rows.ndim != 2 or rows.shape[1] != len(self.table):
                raise InputError(
                    f"rows must have {len(self.table)} columns, as declared; got another shape, write a matrix of them"
                )
            return rows[:, place]
        try:
            found = as_column(rows[name])  # a list stays a list: as an array, one text would make texts of all numbers
            len(found)
        except (KeyError, TypeError, IndexError, ValueError):
            raise InputError(
                f"rows must have a column {name!r}, as declared; got none, write a data frame or a mapping with "
                f"an entry a row in each column, such as {{{name!r}: [...]}}"
            ) from None
        return found


def stated_ends(bounds: Any) -> tuple[float, float]:
    """Return two public bounds as floats."""
    with suppress(TypeError, ValueError, OverflowError):
        low, high = (float(end) for end in bounds if not isinstance(end, str))
        if math.isfinite(low) and math.isfinite(high) and low < high:
            return low, high
    raise ParameterError("bounds must be two numbers, low below high; got others, write (0, 100)", parameter="bounds")


def _declared(name: Any, values: Any) -> tuple[Any, ...] | BinnedNumbers:
    """Return what was declared of a column."""
    if isinstance(values, BinnedNumbers):
        return values
    listed = tuple(values) if isinstance(values, list | tuple | range) else ()
    if not listed or len(set(listed)) < len(listed):
        raise ParameterError(
            f"the values of {str(name)!r} must be a list without repetitions, or BinnedNumbers; got another, write "
            "('f', 'm')"
        )
    return listed
