"""Which columns cannot name a unit, by their types alone: floats, and types that have no values to compare."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.query.policy import Policy, SourceKind
from discreet.query.policy_lines import Place, header, key_in_toml
from discreet.query.types import Type

Unfit = Mapping[str, Mapping[str, str]]  # by table and column: the name of the type that cannot name a unit
FLOATS = ("FLOAT", "FLOAT4", "FLOAT8", "REAL", "DOUBLE")
_WHY_FLOATS = "large ids that differ are equal as floats, and one empty id makes floats of all"
_LONGEST = 30


def declared_unfit(policy: Policy, types: Mapping[str, Mapping[str, Type]], stored: Unfit) -> Unfit:
    """Return the columns that cannot name a unit: those of a source by what is stored, those of CSV as declared."""
    if policy.source.kind is not SourceKind.CSV:
        return stored
    return {
        table: {name: kind.value for name, kind in columns.items() if kind is Type.REAL}
        for table, columns in types.items()
    }


def unfit_in_words(place: Place, column: str, stated: str, *, declared: bool) -> str:
    """Say that a column cannot name a unit, why, and what to write instead.

    >>> print(unfit_in_words(("tables", "visits"), "person", "BLOB", declared=False))
    [tables.visits] unit: person is of type BLOB, which cannot name a unit. Store the ids as integers or texts.
    """
    name = stated.strip().partition("(")[0][:_LONGEST]
    floats = name.upper() in FLOATS
    why = f"which cannot name a unit{f': {_WHY_FLOATS}' if floats else ''}"
    remedy = 'Declare `type = "integer"` or `type = "text"`' if declared else "Store the ids as integers or texts"
    nullable = " (in pandas: Int64, which has room for empty ids)" if floats and not declared else ""
    return f"{header(place)} unit: {key_in_toml(column)} is of type {name}, {why}. {remedy}{nullable}."


def untyped_in_words(table: str, holder: str, column: str) -> str:
    """Say that a column of a CSV file that tells units apart needs a type, and which line gives it one.

    >>> print(untyped_in_words("visits", "visits", "person"))
    [tables.visits] unit: person has no declared type, and CSV files have none: 7 and 007 are one unit as integers, two
    as texts. Add the line `person = {type = "integer"}`, or "text", under [tables.visits.columns].
    """
    line = f'`{key_in_toml(column)} = {{type = "integer"}}`'
    return (
        f"{header(('tables', table))} unit: {key_in_toml(column)} has no declared type, and CSV files have none: 7 and "
        f'007 are one unit as integers, two as texts. Add the line {line}, or "text", under '
        f"{header(('tables', holder, 'columns'))}."
    )
