"""A table by its columns, whatever holds it: pandas, Polars, Arrow, a matrix, a mapping, or a table of discreet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from discreet.errors import InputError, ParameterError
from discreet.frames.column import FrameColumn, frame_library

_MOST_NAMES = 20
A_TABLE = "a table is one of discreet.data, a mapping from names to columns, or a pandas, Polars or Arrow table"


@runtime_checkable
class NamedColumns(Protocol):
    """A table of discreet: names, and a column for each."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""

    def column(self, name: str) -> Any:
        """Return a column by name."""


class AnyFrame(Protocol):
    """A data frame of any library: a column for a name."""

    def __getitem__(self, name: Any, /) -> Any:
        """Return a column."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Frame:
    """The columns of a table, each as its library holds it, with their names; no cell is read yet.

    >>> frame = Frame.read({"age": [31, None], "sex": ["f", "m"]})
    >>> frame.names, frame.column("age").listed()
    (('age', 'sex'), [31, None])
    """

    names: tuple[Any, ...]
    at: Callable[[int], Any]  # the column at a place, as it was given
    library: str | None = None

    @classmethod
    def read(cls, table: Any) -> Frame:
        """Return a table by its columns; raise InputError if it is not a table."""
        library = frame_library(table)
        if isinstance(table, Mapping):
            names = tuple(table)
            return cls(names, lambda place: table[names[place]])
        if library is None and isinstance(table, np.ndarray) and table.ndim == 2:
            return cls(tuple(range(table.shape[1])), lambda place: table[:, place])
        if library is None and isinstance(table, NamedColumns):
            return cls(tuple(table.names), lambda place: table.column(table.names[place]))
        if library is not None and hasattr(table, "collect"):
            raise InputError("this frame has no rows yet: pass frame.collect()")
        named = getattr(table, "column_names", getattr(table, "columns", None))
        if library is None or named is None:
            raise InputError(f"{A_TABLE}; got {type(table).__name__}")
        if library == "pandas":
            return cls(tuple(named), lambda place: table.iloc[:, place], library)
        columns = table.get_columns() if library == "polars" else table.columns
        return cls(tuple(named), columns.__getitem__, library)

    @staticmethod
    def is_one(thing: object) -> bool:
        """Say whether an object has columns with names, or belongs to a library of frames."""
        return isinstance(thing, Mapping | NamedColumns) or frame_library(thing) is not None

    def stored(self, name: str) -> Any:
        """Return a column as it was given."""
        places = [place for place, known in enumerate(self.names) if known == name]
        if not places:
            shown = [str(known) for known in self.names[:_MOST_NAMES]]
            listed = ", ".join([*shown, "..."] if len(self.names) > _MOST_NAMES else shown) or "none"
            raise ParameterError(
                f"there is no column {str(name)[:80]!r}; the columns are {listed}", parameter=str(name)
            )
        if len(places) > 1:
            raise InputError(f"a column has one dimension, and two columns have the name {name!r}: rename one")
        return self.at(places[0])

    def column(self, name: str) -> FrameColumn:
        """Return a column, read."""
        return FrameColumn.read(self.stored(name), f"column {name!r}")
