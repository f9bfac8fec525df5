"""Which columns cannot name a unit, by their types alone: floats, collations, types that have no values to compare."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.query.expression import Type
from discreet.query.policy.declarations import Policy, SourceKind
from discreet.query.policy.toml_lines import Place, header, key_in_toml

Unfit = Mapping[str, Mapping[str, str]]  # by table and column: the name of the type that cannot name a unit
FLOATS = ("FLOAT", "FLOAT4", "FLOAT8", "REAL", "DOUBLE")
COLLATED = "VARCHAR COLLATE "  # before the name of a collation
_ONE_SPELLING = {"nocase": "lower", "noaccent": "strip_accents", "nfc": "nfc_normalize"}
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
    if stated.startswith(COLLATED):
        return f"{header(place)} unit: {_collated_in_words(key_in_toml(column), stated.removeprefix(COLLATED))}"
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


def _collated_in_words(column: str, collation: str) -> str:
    """Say it of a column with a collation.

    >>> print(_collated_in_words("person", "nocase"))
    person has the collation nocase, which cannot name a unit: ids that differ would be one person in the column and
    several here. Store the ids without a collation, each person's in one spelling; in a view:
    lower(person) COLLATE "C".
    """
    name = collation[:_LONGEST]
    why = "ids that differ would be one person in the column and several here"
    function = _ONE_SPELLING.get(name)
    view = f'; in a view: {function}({column}) COLLATE "C"' if function is not None else ""
    remedy = f"Store the ids without a collation, each person's in one spelling{view}."
    return f"{column} has the collation {name}, which cannot name a unit: {why}. {remedy}"
