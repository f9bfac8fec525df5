"""What a policy declares about the columns of a fit: ranges, values as codes, and the classes of a target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import MissingBound, MissingParameter, ParameterError, UnknownName
from discreet.frames import Frame, Type, numbers, places
from discreet.query.policy import ColumnPolicy, TablePolicy, header, key_in_toml

Floats = NDArray[np.float64]
BINS = 16  # of a column of numbers, where nobody states another number
_LISTED = 20


@dataclass(frozen=True, slots=True)
class FeatureColumn:
    """A column as a feature: numbers as they are, declared values as codes 0, 1, ... in their order.

    >>> FeatureColumn("sex", ("f", "m")).cells(["m", None, "x"])
    array([ 1., nan, nan])
    """

    name: str
    values: tuple[Any, ...] | None = None
    bounds: tuple[float, float] | None = None
    size: int | None = None  # of the codes that its bounds hold, where it has codes

    def cells(self, entries: Any) -> Floats:
        """Return the column as floats, one cell at a time; NaN where one is missing or was not declared. Private."""
        with np.errstate(all="ignore"):
            if self.values is None:
                return np.asarray(numbers(entries, odd_is_missing=True), dtype=np.float64)
            codes = places(entries, self.values).astype(np.float64)
        codes[codes == len(self.values)] = np.nan
        return codes


def feature_columns(table: TablePolicy, names: Any) -> tuple[FeatureColumn, ...]:
    """Return the features that are asked for, as the policy declares them; raise for names that are not there."""
    if isinstance(names, str) or not isinstance(names, Sequence) or not names:
        raise ParameterError(
            'features must be a list of names of columns; got another, write features=["age", "income"]. Nothing was '
            "spent.",
            parameter="features",
        )
    if len(set(names)) < len(names):
        raise ParameterError(
            "features must name every column once; got one twice, write it once. Nothing was spent.",
            parameter="features",
        )
    return tuple(_feature(column_named(table, name), table) for name in names)


def column_named(table: TablePolicy, name: Any) -> ColumnPolicy:
    """Return what the policy says about a column."""
    if isinstance(name, str) and name in table.columns:
        return table.columns[name]
    known = [*list(table.columns)[:_LISTED], *["..."] * (len(table.columns) > _LISTED)]
    raise UnknownName(
        f"{table.name} has no column {str(name)[:80]!r}; there are {', '.join(known)}. Nothing was spent."
    )


def _feature(column: ColumnPolicy, table: TablePolicy) -> FeatureColumn:
    if column.type is Type.BOOLEAN:
        return FeatureColumn(column.name, None, (0.0, 1.0), 2)
    values = column.domain
    if not column.type.numeric:
        if values is None:
            raise MissingBound(_add(table, column, "the values that it can have"))
        size = max(2, len(values))
        return FeatureColumn(column.name, tuple(values), (0.0, float(size - 1)), size)
    if column.interval is not None:
        return FeatureColumn(column.name, None, (float(column.interval[0]), float(column.interval[1])))
    if values is not None:
        return FeatureColumn(column.name, None, (float(min(values)), float(max(values))))  # type: ignore[type-var, arg-type]
    return FeatureColumn(column.name)


def declared_bounds(table: TablePolicy, features: Sequence[FeatureColumn]) -> tuple[list[float], list[float]]:
    """Return the ends of the ranges of the features; raise where the policy declares none for one."""
    ends: list[tuple[float, float]] = []
    for feature in features:
        if feature.bounds is None:
            words = _add(table, table.columns[feature.name], "its range")
            raise MissingBound(words.replace(". Nothing", ", or write bounds=(low, high). Nothing"))
        ends.append(feature.bounds)
    return [low for low, _ in ends], [high for _, high in ends]


def declared_classes(table: TablePolicy, target: ColumnPolicy) -> tuple[Any, ...]:
    """Return the classes that the policy declares for a column."""
    values = (False, True) if target.type is Type.BOOLEAN else target.domain
    if values is None:
        line = f"{key_in_toml(target.name)} = {{values = [...]}}"
        raise MissingParameter(
            f"classes must be declared, because which ones occur is private; got none for {target.name}, add {line} "
            f"under {header(('tables', table.name, 'columns'))} of the policy, or write classes=[...]; a column "
            "of numbers may be predicted as a number instead. Nothing was spent.",
            parameter="classes",
        )
    return tuple(values)


def declared_target(table: TablePolicy, target: ColumnPolicy) -> tuple[float, float]:
    """Return the range that the policy declares for a column of numbers to be predicted."""
    found = _feature(target, table)
    if found.values is not None:
        raise ParameterError(
            f"target must be a column of numbers for a regression; got {target.name}, write another column or take a "
            "classifier. Nothing was spent.",
            parameter="target",
        )
    if found.bounds is None:
        words = _add(table, target, "its range")
        raise MissingBound(words.replace(". Nothing", ", or write target_bounds=(low, high). Nothing"))
    return found.bounds


def _add(table: TablePolicy, column: ColumnPolicy, what: str) -> str:
    """Say which line of the policy is missing."""
    declared = "min = ..., max = ..." if column.type.numeric else "values = [...]"
    line = f"{key_in_toml(column.name)} = {{{declared}}}"
    place = header(("tables", table.name, "columns"))
    return f"the policy must say of {column.name} {what}; got nothing, add {line} under {place}. Nothing was spent."


def coded(table: Any, columns: Mapping[str, tuple[Any, ...] | None]) -> Floats | None:
    """Return a frame with named columns as the matrix of a model that was fitted through a session.

    None where the table has no names, such as a matrix: its cells are then taken to be codes already.
    """
    if not Frame.is_one(table):
        return None
    frame = Frame.read(table)
    return np.column_stack([FeatureColumn(name, values).cells(frame.stored(name)) for name, values in columns.items()])
