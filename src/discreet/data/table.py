"""Read-only columns of equal length: what every generated table can do, and files of several of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from discreet._optional import optional
from discreet.display.csv_text import write_csv
from discreet.errors import ParameterError
from discreet.frames import to_arrow, to_pandas, to_polars

Column = npt.NDArray[Any]

MOST_PEOPLE, MOST_SEED = 10_000_000, 2**63 - 1
_CASTS = {"U": "::VARCHAR", "M": "::DATE"}  # texts would arrive as an enumeration of the values that occur: data


class InventedTable:
    """Columns of equal length, read-only; a frozen dataclass inherits this and names the columns as its fields.

    >>> from discreet.data import survey
    >>> diary = survey(people=200, seed=1).answers
    >>> isinstance(diary, InventedTable), diary.names
    (True, ('person', 'day', 'minutes'))
    """

    def __post_init__(self) -> None:
        first = self.names[0]
        rows = len(getattr(self, first))
        for name in self.names:
            array = np.array(getattr(self, name))
            if array.shape != (rows,):
                raise ParameterError(
                    f"column {name!r} must be one-dimensional and as long as {first!r}", parameter=name
                )
            array.flags.writeable = False
            # a view of a read-only array cannot be made writeable again
            object.__setattr__(self, name, array.view())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(field.name for field in fields(self))  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(getattr(self, self.names[0]))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self):,} rows, synthetic; columns {', '.join(self.names)})"

    def column(self, name: str) -> Column:
        """Return a column by name."""
        if name not in self.names:
            message = f"there is no column {name!r}; the columns are {', '.join(self.names)}"
            raise ParameterError(message, parameter=name)
        array: Column = getattr(self, name)
        return array

    def matches(self, **values: str | int) -> npt.NDArray[np.bool_]:
        """Return, for every row, whether each named column has the given value."""
        mask = np.ones(len(self), dtype=bool)
        for name, value in values.items():
            mask &= self.column(name) == value
        return mask

    def where(self, mask: npt.NDArray[np.bool_]) -> Self:
        """Return the rows for which the mask is true."""
        chosen = np.asarray(mask)
        if chosen.dtype != np.bool_ or chosen.shape != (len(self),):
            raise ParameterError("the mask must hold one Boolean a row", parameter="mask")
        return replace(self, **{name: self.column(name)[chosen] for name in self.names})  # type: ignore[type-var]

    def to_csv(self, path: str | Path) -> Path:
        """Write the rows as comma-separated UTF-8 text with a header, an empty field where a value is missing."""
        target = Path(path)
        columns = (_filled(self.column(name)).tolist() for name in self.names)
        with target.open("w", encoding="utf-8", newline="") as file:
            write_csv(file, self.names, zip(*columns, strict=True))
        return target

    def to_pandas(self) -> Any:
        """Return a pandas data frame; a missing value is NaN."""
        return to_pandas({name: self.column(name).copy() for name in self.names})

    def to_polars(self) -> Any:
        """Return a Polars data frame; a missing value is null."""
        return to_polars({name: self.column(name) for name in self.names})

    def to_arrow(self) -> Any:
        """Return an Arrow table; a missing value is null."""
        return to_arrow({name: self.column(name) for name in self.names})


def generator(people: int, seed: int) -> np.random.Generator:
    """Return the generator for a seed, having refused parameters that make no table."""
    check_whole("people", people, low=1, high=MOST_PEOPLE)
    check_whole("seed", seed, low=0, high=MOST_SEED)
    return np.random.default_rng(seed)


def check_whole(name: str, value: object, *, low: int, high: int) -> None:
    """Refuse what is not a whole number from low to high; a Boolean is not one."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ParameterError(f"{name} must be a whole number from {low} to {high:,}", parameter=name)


def drawn(random: np.random.Generator, weights: Column, group: Column) -> Column:
    """Draw a code for every row, with chances in proportion to the row of weights that its group names."""
    shares = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    # shifting each group's uniform draw by its number makes one sorted search serve all groups
    ladder = (shares[:, :-1] + np.arange(len(shares))[:, None]).ravel()
    place = np.searchsorted(ladder, random.random(len(group)) + group, side="right")
    return np.asarray(place - group * (shares.shape[1] - 1))


def _filled(column: Column) -> Column:
    """Return the column with empty text where a value is missing."""
    if column.dtype.kind != "f" or not np.isnan(column).any():
        return column
    filled = column.astype(object)
    filled[np.isnan(column)] = ""
    return filled


def write_duckdb(path: str | Path, tables: Mapping[str, Mapping[str, Column]]) -> Path:
    """Write tables, given by their names and columns, into a new DuckDB file; one that exists is replaced."""
    duckdb = optional("duckdb", extra="sql", purpose="to_duckdb()")
    target = Path(path)
    target.unlink(missing_ok=True)
    with duckdb.connect(str(target)) as connection:
        for name, columns in tables.items():
            shown = ", ".join(f"{one}{_CASTS.get(column.dtype.kind, '')} AS {one}" for one, column in columns.items())
            connection.register("arrays", {one: _plain(column) for one, column in columns.items()})
            connection.execute(f"CREATE TABLE {name} AS SELECT {shown} FROM arrays")  # noqa: S608  names of this package
            connection.unregister("arrays")
    return target


def _plain(column: Column) -> Column:
    """Return a writeable copy in a type that DuckDB reads; it knows dates to the second only."""
    return column.astype("datetime64[s]") if column.dtype.kind == "M" else column.copy()
