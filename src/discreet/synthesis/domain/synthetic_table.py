"""A synthetic table: invented records, perhaps with weights, that answer a workload about like the private ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._optional import optional
from discreet.display.csv_text import write_csv
from discreet.errors import InputError, ParameterError
from discreet.frames import to_arrow, to_pandas, to_polars
from discreet.synthesis.domain.domain import Domain, Records

_MOST = 1 << 63  # of a 64-bit integer, exclusive
WEIGHT = "weight"  # the name of the column of weights, with underscores after it where that is taken


@dataclass(frozen=True, eq=False, repr=False)
class SyntheticTable:
    """Invented records over a domain; `weights`, where given, say how much each counts (None: all alike).

    Every way to write a table down keeps the weights, as a last column; `unweighted` turns them into repeated rows.
    """

    records: Records
    weights: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        weights = self.weights
        if weights is not None and (
            weights.shape != (len(self.records),)
            or not np.all(np.isfinite(weights))
            or np.any(weights < 0)
            or not weights.sum() > 0
        ):
            raise InputError("weights must be one finite number, at least 0, for each record, and not all 0")

    @property
    def domain(self) -> Domain:
        """The domain of the private table."""
        return self.records.domain

    def __len__(self) -> int:
        return len(self.records)

    def __repr__(self) -> str:
        weighed = "" if self.weights is None else ", weighted"
        return f"SyntheticTable({len(self):,} rows{weighed}; {', '.join(self.domain.names)})"

    def unweighted(self, size: int) -> SyntheticTable:
        """Return a table of `size` rows without weights, each record about as often as its weight says.

        Accuracy. A record of the share w of the weight appears floor(w size) or ceil(w size) times, so a query that
            k records decide moves by less than k/size.
            Proof: the largest remainders get the rows that the integer parts leave over, one each; fewer are left over
            than there are remainders. The share of every record moves by less than 1/size.

        >>> domain = Domain.of(color=["red", "green"])
        >>> table = SyntheticTable(
        ...     domain.encode({"color": ["red", "green"]}), np.array([3.0, 1.0])
        ... )
        >>> table.unweighted(8).columns()["color"].tolist().count("red")
        6
        """
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise ParameterError("size must be a whole number, at least 1", parameter="size")
        weights = np.ones(len(self)) if self.weights is None else self.weights
        wanted = weights / weights.sum() * size
        counts = np.floor(wanted).astype(np.int64)
        left = size - int(counts.sum())
        counts[np.argsort(counts - wanted, kind="stable")[:left]] += 1
        return SyntheticTable(Records(self.domain, np.repeat(self.records.codes, counts, axis=1)))

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the values by attribute, None where one is missing."""
        return {one.name: one.decode(codes) for one, codes in zip(self.domain, self.records.codes, strict=True)}

    def to_csv(self, path: str | Path) -> Path:
        """Write the rows as UTF-8 text with commas and a header, an empty field where a value is missing.

        Weights are a last column; `table.unweighted(size=...).to_csv(path)` writes repeated rows instead. Days are
        written as days, also where they are kept as times at midnight.
        """
        target, columns = Path(path), self._written()
        for one in self.domain:
            if all(_midnight(value) for value in one.values):
                columns[one.name] = np.array([None if day is None else day.date() for day in columns[one.name]], object)
        with target.open("w", encoding="utf-8", newline="") as file:
            write_csv(file, columns, zip(*(column.tolist() for column in columns.values()), strict=True))
        return target

    def to_parquet(self, path: str | Path) -> Path:
        """Write the rows as a Parquet file, null where a value is missing; weights are a last column."""
        target = Path(path)
        optional("pyarrow.parquet", extra="frames", purpose="to_parquet()").write_table(self.to_arrow(), target)
        return target

    def to_arrow(self) -> Any:
        """Return an Arrow table, null where a value is missing; weights are a last column."""
        return to_arrow(self._written())

    def to_pandas(self) -> Any:
        """Return a pandas data frame; weights are a last column.

        Numbers and truth values have the types of pandas: integers and truth values with missing ones are of its types
        Int64 and boolean, and a float that is missing is NaN.
        """
        pandas = optional("pandas", extra="frames", purpose="to_pandas()")
        columns = self._written()
        for one, codes in zip(self.domain, self.records.codes, strict=True):
            kind = _kind(one.values, missing=bool(np.any(codes == len(one.values))))
            if kind is not None:
                columns[one.name] = pandas.array(columns[one.name].tolist(), dtype=kind)
        return to_pandas(columns)

    def to_polars(self) -> Any:
        """Return a Polars data frame, null where a value is missing; weights are a last column."""
        return to_polars(self._written())

    def _written(self) -> dict[str, NDArray[Any]]:
        """Return the columns with that of the weights, if there are any, under a name that is free."""
        columns = self.columns()
        if self.weights is None:
            return columns
        name = WEIGHT
        while name in columns:
            name += "_"
        return {**columns, name: self.weights}


def _kind(values: Sequence[Any], *, missing: bool) -> str | None:
    """Return the type of pandas for a column of these values, or None where it finds that out itself."""
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return "boolean" if missing else "bool"
    if not kinds <= {int, float} or any(type(value) is int and not -_MOST <= value < _MOST for value in values):
        return None
    return "float64" if float in kinds else "Int64" if missing else "int64"


def _midnight(value: Any) -> bool:
    """Say whether a value is a time without a zone at midnight."""
    whole = isinstance(value, datetime) and value.tzinfo is None and value.time() == time()
    return whole and not getattr(value, "nanosecond", 0)  # which pandas counts beside
