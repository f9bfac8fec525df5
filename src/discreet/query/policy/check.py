"""Compare a policy with the schema of its source: names that are not there, types that differ, links that cannot be.

Some columns cannot name a unit, by their types alone: floats, collations, types that have no values to compare.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from discreet.errors import PolicyError
from discreet.query.expression import Type
from discreet.query.policy.columns import as_times, range_problem, value_of_type, values_problem
from discreet.query.policy.declarations import (
    ColumnPolicy,
    Policy,
    PublicTable,
    SourceKind,
    TablePolicy,
    Unit,
    UnitColumn,
    UnitIsRow,
    UnitLink,
)
from discreet.query.policy.toml_lines import Place, header, key_in_toml
from discreet.query.policy.toml_section import Problems, meant

Schema = Mapping[str, Mapping[str, Type]]
Unfit = Mapping[str, Mapping[str, str]]  # by table and column: the name of the type that cannot name a unit
FLOATS = ("FLOAT", "FLOAT4", "FLOAT8", "REAL", "DOUBLE")
COLLATED = "VARCHAR COLLATE "  # before the name of a collation
_ONE_SPELLING = {"nocase": "lower", "noaccent": "strip_accents", "nfc": "nfc_normalize"}
_WHY_FLOATS = "large ids that differ are equal as floats, and one empty id makes floats of all"
_LONGEST = 30
_MOST_LISTED = 20
_NO_COLUMN, _COLUMNS = "the table has no column", "Its columns"


def check(policy: Policy, schema: Schema, unfit: Unfit | None = None) -> list[tuple[int | None, str]]:
    """Return where a policy and the schema of its source disagree, each as (line, what is wrong and the remedy).

    `schema` maps every table to its columns and their types, `unfit` to its columns that cannot name a unit. Of CSV
    files only the names count.
    """
    problems = Problems(policy.lines)
    _fit(policy, schema, unfit or {}, problems)
    return problems.listed()


def with_schema(policy: Policy, schemas: Schema, unfit: Unfit | None = None) -> Policy:
    """Return the policy with every column of its tables, spelled and typed as in the source; refuse what `check` finds.

    A column that the policy does not name is private and unbounded. Its type is the source's, and text in a CSV file.
    """
    problems = Problems(policy.lines)
    fitted = _fit(policy, schemas, unfit or {}, problems)
    if problems.listed():
        raise PolicyError(problems.listed(), file=policy.file)
    return fitted


def _fit(policy: Policy, schema: Schema, stored: Unfit, problems: Problems) -> Policy:
    types = _types(policy, schema)
    unfit = _declared_unfit(policy, types, stored)
    tables, public = {}, {}
    for name, table in policy.tables.items():
        place: Place = ("tables", name)
        found = _spelled(name, types, problems, place, "the source has no table", "Its tables")
        if found is not None:
            columns = _columns(table.columns, types[found], problems, (*place, "columns"))
            unit = table.unit
            _note_untyped(unit, found, policy, types, problems)
            if not _noted_unfit(unit, found, policy, unfit, problems, place):
                unit = _unit(unit, types[found], policy, types, problems, place)
            tables[found] = TablePolicy(found, unit, columns, table.limits, table.people)
    for name, visible in policy.public.items():
        place = ("public", name)
        found = _spelled(name, types, problems, place, "the source has no table", "Its tables")
        if found is not None:
            columns = _columns(visible.columns, types[found], problems, (*place, "columns"))
            public[found] = PublicTable(found, columns, _unique(visible, types[found], problems, place))
    return replace(policy, tables=tables, public=public)


def _types(policy: Policy, schema: Schema) -> dict[str, dict[str, Type]]:
    """Return the types of all columns; those of CSV files are what the policy declares, else text."""
    if policy.source.kind is not SourceKind.CSV:
        return {name: dict(columns) for name, columns in schema.items()}
    declared = {}
    tables: list[TablePolicy | PublicTable] = [*policy.tables.values(), *policy.public.values()]
    for table in tables:
        columns = {name.casefold(): column.type for name, column in table.columns.items()}
        declared[table.name.casefold()] = columns
    return {
        name: {column: declared.get(name.casefold(), {}).get(column.casefold(), Type.TEXT) for column in columns}
        for name, columns in schema.items()
    }


def _columns(
    declared: Mapping[str, ColumnPolicy], types: Mapping[str, Type], problems: Problems, place: Place
) -> dict[str, ColumnPolicy]:
    """Return a column for every one of the source, in its order."""
    found = {}
    for name, column in declared.items():
        spelled = _spelled(name, types, problems, (*place, name), _NO_COLUMN, _COLUMNS)
        if spelled is not None:
            found[spelled] = _column(replace(column, name=spelled), types[spelled], problems, (*place, name))
    return {name: found.get(name) or ColumnPolicy(name, type_) for name, type_ in types.items()}


def _column(column: ColumnPolicy, wanted: Type, problems: Problems, place: Place) -> ColumnPolicy:
    """Return a declared column with the type of the source."""

    def complain(key: str, words: str) -> ColumnPolicy:
        problems.add((*place, key), f"{header(place[:-1])} {key_in_toml(place[-1])} {key}: {words}")
        return column

    if column.type is wanted:
        return column
    if column.typed:
        return complain("type", f'the source has type {wanted.value}. Write `type = "{wanted.value}"`, or remove it')
    column = as_times(column, wanted)
    trouble = range_problem(column, wanted)
    if trouble:
        return complain(*trouble)
    if column.values is None:
        return replace(column, type=wanted)
    words = values_problem(column.values, wanted)
    if words:
        return complain("values", words)
    return replace(column, type=wanted, values=tuple(value_of_type(value, wanted) for value in column.values))


def _unit(
    unit: Unit, types: Mapping[str, Type], policy: Policy, schema: Schema, problems: Problems, place: Place
) -> Unit:
    """Return the unit with names as the source spells them."""
    at = (*place, "unit")
    if isinstance(unit, UnitIsRow):
        return unit
    column = _spelled(unit.column, types, problems, at, _NO_COLUMN, _COLUMNS)
    if isinstance(unit, UnitColumn):
        return UnitColumn(column or unit.column)
    # a table that is missing is noted where it is declared
    target = _match(unit.table, schema)
    if target is None:
        return unit
    key = _spelled(unit.key, schema[target], problems, at, f"{key_in_toml(target)} has no column", _COLUMNS)
    if column is None or key is None:
        return unit
    here, there = types[column], schema[target][key]
    if here is not there:
        there_name = f"{key_in_toml(target)}.{key_in_toml(key)}"
        words = f"{key_in_toml(column)} is of type {here.value}, but {there_name} of type {there.value}"
        remedy = "Declare one type for both" if policy.source.kind is SourceKind.CSV else "Link columns of one type"
        problems.add(at, f"{header(place)} unit: the link cannot be followed: {words}. {remedy}.")
    return UnitLink(column, target, key)


def _ends(unit: Unit, table: str) -> list[tuple[str, str]]:
    """Return the column of a unit, or those at both ends of a link, each with its table."""
    own = [] if isinstance(unit, UnitIsRow) else [(table, unit.column)]
    return [*own, (unit.table, unit.key)] if isinstance(unit, UnitLink) else own


def _noted_unfit(unit: Unit, table: str, policy: Policy, unfit: Unfit, problems: Problems, place: Place) -> bool:
    """Note the columns of a unit, or at either end of a link, whose type cannot name a unit, and say if there are."""
    found = []
    for here, name in _ends(unit, table):
        known = unfit.get(_match(here, unfit) or "", {})
        column = _match(name, known)
        if column is not None:
            found.append(unfit_in_words(place, column, known[column], declared=policy.source.kind is SourceKind.CSV))
    for words in found:
        problems.add((*place, "unit"), words)
    return bool(found)


def _note_untyped(unit: Unit, table: str, policy: Policy, types: Schema, problems: Problems) -> None:
    """Note the columns of a unit, or at either end of a link, that a CSV file leaves without a type."""
    for here, name in _ends(unit, table) if policy.source.kind is SourceKind.CSV else []:
        stated = policy.tables.get(_match(here, policy.tables) or "")
        column = _match(name, types.get(_match(here, types) or "", {}))
        if stated is not None and column is not None and _match(column, stated.columns) is None:
            problems.add(("tables", table, "unit"), _untyped_in_words(table, stated.name, column))


def _unique(
    table: PublicTable, types: Mapping[str, Type], problems: Problems, place: Place
) -> tuple[frozenset[str], ...]:
    found = []
    for key in table.unique:
        names = [_spelled(name, types, problems, (*place, "unique"), _NO_COLUMN, _COLUMNS) for name in sorted(key)]
        found.append(frozenset(name for name in names if name is not None))
    return tuple(found)


def _match(name: str, known: Mapping[str, object]) -> str | None:
    """Return a name as it is spelled there: exactly, or up to case where that leaves one."""
    if name in known:
        return name
    alike = [one for one in known if one.casefold() == name.casefold()]
    return alike[0] if len(alike) == 1 else None


def _spelled(
    name: str, known: Mapping[str, object], problems: Problems, place: Place, lacks: str, what: str
) -> str | None:
    """Return a name as the source spells it, or note that it is not there."""
    found = _match(name, known)
    if found is None:
        names = ", ".join(key_in_toml(one) for one in list(known)[:_MOST_LISTED]) or "none"
        more = ", ..." if len(known) > _MOST_LISTED else ""
        title = header(place) if len(place) == 2 else f"{header(place[:-1])} {key_in_toml(place[-1])}"
        near = meant(name, list(known))
        problems.add(place, f"{title}: {lacks} {key_in_toml(name)}. {near}{what}: {names}{more}.")
    return found


def _declared_unfit(policy: Policy, types: Mapping[str, Mapping[str, Type]], stored: Unfit) -> Unfit:
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
    [tables.visits] unit: person is of type BLOB, which cannot name a unit. Store the
        ids as integers or texts.
    """
    if stated.startswith(COLLATED):
        return f"{header(place)} unit: {_collated_in_words(key_in_toml(column), stated.removeprefix(COLLATED))}"
    name = stated.strip().partition("(")[0][:_LONGEST]
    floats = name.upper() in FLOATS
    why = f"which cannot name a unit{f': {_WHY_FLOATS}' if floats else ''}"
    remedy = 'Declare `type = "integer"` or `type = "text"`' if declared else "Store the ids as integers or texts"
    nullable = " (in pandas: Int64, which has room for empty ids)" if floats and not declared else ""
    return f"{header(place)} unit: {key_in_toml(column)} is of type {name}, {why}. {remedy}{nullable}."


def _untyped_in_words(table: str, holder: str, column: str) -> str:
    """Say that a column of a CSV file that tells units apart needs a type, and which line gives it one.

    >>> print(_untyped_in_words("visits", "visits", "person"))
    [tables.visits] unit: person has no declared type, and CSV files have none: 7 and
        007 are one unit as integers, two
    as texts. Add the line `person = {type = "integer"}`, or "text", under
        [tables.visits.columns].
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
    person has the collation nocase, which cannot name a unit: ids that differ would
        be one person in the column and
    several here. Store the ids without a collation, each person's in one spelling; in
        a view:
    lower(person) COLLATE "C".
    """
    name = collation[:_LONGEST]
    why = "ids that differ would be one person in the column and several here"
    function = _ONE_SPELLING.get(name)
    view = f'; in a view: {function}({column}) COLLATE "C"' if function is not None else ""
    remedy = f"Store the ids without a collation, each person's in one spelling{view}."
    return f"{column} has the collation {name}, which cannot name a unit: {why}. {remedy}"
