"""A frame becomes a table whose types follow from declarations and from kinds of columns, never from values.

A declared type wins. Without one a column has a kind, which its dtype tells, and the kind has a type:

| kind | dtypes | type |
|---|---|---|
| numeric | integers, floats and complex numbers of any width, nullable or not, decimal numbers | real |
| text, object | texts, Python objects, columns that are empty | text |
| time | times with or without a zone, dates | timestamp |
| boolean | truth values | boolean |

Categories have the kind of what they stand for. Other dtypes (lists, bytes, durations) are refused, or
missing where a type is declared. Cells that do not fit the type are missing: see `frames.cells`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from discreet._optional import optional
from discreet.errors import InputError
from discreet.frames import ALL, ColumnKind, Frame, FrameColumn, identities, typed
from discreet.query.expression import Type
from discreet.query.policy import Policy, UnitIsRow, UnitLink

TYPE_OF_KIND = {
    ColumnKind.NUMERIC: Type.REAL,
    ColumnKind.TEXT: Type.TEXT,
    ColumnKind.OBJECT: Type.TEXT,
    ColumnKind.TIME: Type.TIMESTAMP,
    ColumnKind.BOOLEAN: Type.BOOLEAN,
}
IDENTITIES = "integer", "text"


@dataclass(frozen=True, slots=True)
class FrameTable:
    """A frame as an Arrow table; `ids` are the columns that tell units of integers apart, all 64 bits of them."""

    table: Any = field(repr=False)
    ids: Mapping[str, str] = field(default_factory=dict)


def frame_table(name: str, frame: Any, *, declared: Mapping[str, Type], units: frozenset[str]) -> FrameTable:
    """Return a pandas, Polars or Arrow table with a type for every column; `units` are the columns that tell units.

    Stability. The types follow from `declared` and the kinds; a row of the result depends on that row of the frame, on
    the types and on nothing else.
    """
    pyarrow = optional("pyarrow", extra="frames", purpose="a session over data frames")
    columns: dict[str, Any] = {}
    ids: dict[str, Any] = {}
    for label, given in _columns(name, frame).items():
        wanted = declared.get(label)
        if label in units:
            wanted = _unit_type(name, label, given, wanted)
            if wanted is Type.INTEGER:
                ids[label] = _ids(given, declared=label in declared)
        elif wanted is None:
            wanted = _undeclared_type(name, label, given)
        columns[label] = typed(given, wanted)
    hidden = {label: _free(f"{label} as a unit", columns) for label in ids}
    return FrameTable(pyarrow.table(columns | {hidden[label]: ids[label] for label in ids}), hidden)


def labels_of(frame: Any) -> list[str]:
    """Return the names of a frame's columns, an empty list for anything else."""
    held = _held(frame)
    return [] if held is None else [str(label) for label in held.names]


def _held(frame: Any) -> Frame | None:
    """Return a frame of one of the three libraries, None for anything else."""
    with suppress(InputError):
        held = Frame.read(frame)
        return None if held.library is None else held
    return None


def _columns(name: str, frame: Any) -> dict[str, FrameColumn]:
    """Return the columns of a frame by name."""
    held = _held(frame)
    if held is None:
        raise InputError(
            f"the frame {name!r} must be a pandas or Polars DataFrame or an Arrow table; collect a lazy frame first"
        )
    names = [str(label) for label in held.names]
    # the engine gives an empty name another one and ends a name at a NUL: a unit would then be another column
    if any(not label or "\0" in label for label in names):
        raise InputError(
            f"the columns of the frame {name!r} must have names that are not empty and hold no NUL character; got one "
            "that is or does, write frame.rename(...) first"
        )
    return {label: FrameColumn.read(held.at(place)) for place, label in enumerate(names)}


def _ids(given: FrameColumn, *, declared: bool) -> Any:
    """Return integers of 64 bits that tell units apart; under a declared type unsigned ones beyond them are missing.

    A dtype of unsigned integers has no negative ones, so that without a declaration no two ids become one.
    """
    return identities(given) if given.whole and not declared else typed(given, Type.INTEGER, ALL)


def _undeclared_type(name: str, label: str, given: FrameColumn) -> Type:
    if given.kind not in TYPE_OF_KIND:
        raise InputError(
            f"column {label!r} of the frame {name!r} has a type that cannot be queried; cast it to boolean, integer, "
            "real, text, date or timestamp, or leave it out"
        )
    return TYPE_OF_KIND[given.kind]


def _unit_type(name: str, label: str, given: FrameColumn, declared: Type | None) -> Type:
    """Return the type of a column that tells units apart, or say what it must be.

    One missing number turns a column of integers into floats in some libraries, and many large ids into few: people
    would be merged because of somebody else's row.
    """
    column = f"the unit column {label!r} of the frame {name!r}"
    if given.floating:
        raise InputError(
            f"{column} holds floats, in which large ids are no longer told apart: ids come as integers, texts, or a "
            f'nullable integer type. Read the ids as such from the start, or write frame["{label}"] = '
            f'frame["{label}"].astype("Int64") if all of them are below 2^53'
        )
    if (
        given.kind is ColumnKind.OTHER and given.array is None
    ):  # by its type, whatever is declared and whatever it holds
        raise InputError(
            f"{column} must be of a type of integers or texts; got times of day, lists, records or another type that "
            f"cannot name a person. Write its ids into a column of their own, and name that as the unit"
        )
    if declared is not None and declared.value not in IDENTITIES:
        raise InputError(
            f"{column} is declared as {declared.value}, but ids come as integers or texts: declare "
            f'columns={{"{label}": {{"type": "integer"}}}} or "text"'
        )
    if declared is None and not given.whole and given.kind is not ColumnKind.TEXT:
        raise InputError(
            f"{column} needs a declared type, since its dtype tells neither integers nor texts: add "
            f'columns={{"{label}": {{"type": "integer"}}}} or "text"; rows whose id is of another type are left out. '
            f'Ids of other classes (UUID, date, bytes) become texts with frame["{label}"].astype(str)'
        )
    return declared or (Type.INTEGER if given.whole else Type.TEXT)


def _free(name: str, taken: Mapping[str, Any]) -> str:
    """Return the name, with underscores until no column has it."""
    lowered = {other.lower() for other in taken}
    while name.lower() in lowered:
        name += "_"
    return name


def columns_of_units(policy: Policy, table: str) -> frozenset[str]:
    """Return the columns of a table that tell units apart, or lead to them."""
    stated = policy.tables[table].unit if table in policy.tables else UnitIsRow()
    own = set() if isinstance(stated, UnitIsRow) else {stated.column}
    links = [one.unit for one in policy.tables.values() if isinstance(one.unit, UnitLink)]
    return frozenset(own | {link.key for link in links if link.table == table})
