"""Units of protection in DuckDB: how stored columns are read, what tells people apart, and the way over links.

A stored column is read as a value of its type. A unit is read so that two are equal exactly where they are equal as
they are stored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from discreet.errors import PolicyError, UnknownName
from discreet.query.engines.duckdb.source import StoredTable
from discreet.query.engines.duckdb.text import NAMES, WIDE, indented, quoted, scanned, type_of, whole_text
from discreet.query.expression import Type
from discreet.query.policy import COLLATED, FLOATS, Policy, Unit, UnitColumn, UnitLink, unfit_in_words


@dataclass(frozen=True, slots=True)
class Tables:
    """What a statement knows of the tables: the policy, what is stored, and the bounded tables made so far."""

    policy: Policy
    stored: Mapping[str, StoredTable]
    bounded: Mapping[str, StoredTable]

    def of(self, table: str) -> StoredTable:
        """Return a table as it is stored, or say that it is not there."""
        if table not in self.stored:
            raise UnknownName(f"the source has no table {table!r}; check the source and the name under [tables]")
        return self.stored[table]

    def type_of(self, table: str, column: str) -> Type:
        """Return the type of a column: the one declared in the policy, else the one it is stored with."""
        stated = (self.policy.tables.get(table) or self.policy.public[table]).columns.get(column)
        kind = stated.type if stated is not None else type_of(self.stored_type(table, column))
        if kind is None:
            raise UnknownName(f"column {column!r} of {table!r} has a type that cannot be queried")
        return kind

    def read(self, table: str, column: str, alias: str) -> str:
        """Return the text that reads a stored column as a value of its type; what cannot be read as one is NULL."""
        text, stored, kind = f"{alias}.{quoted(column)}", self.stored_type(table, column), self.type_of(table, column)
        own = type_of(stored)
        if own is kind:
            return scanned(text, stored, kind)
        if own is not Type.TEXT and not (own is not None and own.numeric and kind.numeric):
            words = f"column {column!r} of {table!r} is declared as {kind.value}, but stored as another type"
            raise PolicyError([(None, f"{words}; declare the type it is stored with")])
        if own is Type.TEXT and kind is Type.INTEGER:
            return f"({whole_text(text, NAMES[kind])})"
        return scanned(f"TRY_CAST({text} AS {NAMES[kind]})", NAMES[kind], kind)

    def stored_type(self, table: str, column: str) -> str:
        """Return DuckDB's name of the type that a column is stored with."""
        columns = self.of(table).columns
        if column not in columns:
            raise UnknownName(f"table {table!r} has no column {column!r}; its columns are {', '.join(columns)}")
        return columns[column]


@dataclass(frozen=True, slots=True)
class Identity:
    """What tells units apart: a text of SQL, and the type of its values."""

    text: str
    type: Type

    @property
    def spelled(self) -> str:
        """The text of a VARCHAR, by which values of different types are compared; equal numbers are spelled alike."""
        return self.text if self.type is Type.TEXT else f"CAST({self.text} AS VARCHAR)"


def cannot_name_units(stated: str) -> bool:
    """Say whether a stored type cannot name a unit: a float, or a type without values that are compared.

    >>> [
    ...     cannot_name_units(one)
    ...     for one in ("DOUBLE", "BLOB", "INTEGER[]", "DECIMAL(20,0)", "UUID")
    ... ]
    [True, True, True, False, False]
    """
    return type_of(stated) is None or stated.strip().upper() in FLOATS


def unfit_columns(stored: StoredTable) -> dict[str, str]:
    """Return the columns of a table that cannot name a unit, with DuckDB's names of their types.

    A text with a collation is among them: what is equal in the column is one person, and two that differ are read here.
    """
    found = {name: stated for name, stated in stored.columns.items() if cannot_name_units(stated)}
    return found | {name: COLLATED + collation for name, collation in stored.collations.items()}


def identity(tables: Tables, table: str, column: str, alias: str) -> Identity:
    """Return how the column of a unit or of a link is read: by what is stored, since a cast could merge two people.

    Integers beyond 64 bits, decimal numbers and nanoseconds are compared as texts. In a column of texts that is
    declared as integers, whole numbers are compared by value, and everything else names nobody: one number has many
    spellings. Floats, stored or declared, are refused by their type.
    """
    hidden = tables.of(table).ids.get(column)
    if hidden is not None:
        return Identity(f"{alias}.{quoted(hidden)}", Type.INTEGER)
    stated = tables.stored_type(table, column)
    unfit = unfit_columns(tables.of(table)).get(column)
    if unfit is not None:
        raise PolicyError([(None, unfit_in_words(("tables", table), column, unfit, declared=False))])
    read, kind = tables.read(table, column, alias), tables.type_of(table, column)
    text, stored = f"{alias}.{quoted(column)}", stated.strip().upper()
    own = type_of(stored) or kind
    if own is Type.TEXT:
        if kind is Type.REAL:
            raise PolicyError([(None, unfit_in_words(("tables", table), column, kind.value, declared=True))])
        return Identity(_whole_number(text), Type.TEXT) if kind is Type.INTEGER else Identity(read, kind)
    if stored in WIDE or stored == "TIMESTAMP_NS":
        return Identity(f"CAST({text} AS VARCHAR)", Type.TEXT)
    if stored.startswith(("DECIMAL", "NUMERIC")):
        spelled = f"CAST({text} AS VARCHAR)"
        digits = re.search(r",\s*([0-9]+)\)$", stored)
        fraction = digits is None or int(digits[1]) > 0
        return Identity(f"rtrim(rtrim({spelled}, '0'), '.')" if fraction else spelled, Type.TEXT)
    return Identity(scanned(text, stored, own), own)


def unit_of(tables: Tables, table: str) -> tuple[str, Identity | None]:
    """Return the FROM text of a private table with its links, and how the unit is read; None where a row is a unit.

    Whoever a row reaches over links, it reaches once, however many rows lead there.
    """
    path = _path(tables, table)
    here = f"{tables.of(table).name} AS t"
    last, unit = path[-1]
    if not isinstance(unit, UnitColumn):
        if len(path) > 1:
            words = f"the unit of {table!r} is a row of {last!r}; name the column of {last!r} that tells units"
            raise PolicyError([(None, f"{words} apart, as its unit")])
        return here, None
    if len(path) == 1:
        return here, identity(tables, table, unit.column, "t")
    held = identity(tables, last, unit.column, f"l{len(path) - 1}")
    joined, owner = "", held.text
    for place in range(len(path) - 1, 0, -1):
        link, key = _ends(tables, path, place)
        condition = f"\nWHERE {owner} IS NOT NULL" if not joined else ""
        inner = (
            f"SELECT DISTINCT {key} AS key, {owner} AS unit\n"
            f"FROM {tables.of(path[place][0]).name} AS l{place}{joined}{condition}"
        )
        joined = f"\nJOIN (\n{indented(inner)}\n) AS u{place} ON {link} = u{place}.key"
        owner = f"u{place}.unit"
    return here + joined, Identity(owner, held.type)


def _ends(tables: Tables, path: list[tuple[str, Unit]], place: int) -> tuple[str, str]:
    """Return the two columns that a link compares: of the table before, and of the one at a place."""
    (before, link), (here, _) = path[place - 1], path[place]
    if not isinstance(link, UnitLink):
        raise TypeError("only links lead to another table")
    if tables.type_of(before, link.column) is not tables.type_of(here, link.key):
        words = f"{link.column!r} of {before!r} and {link.key!r} of {here!r} are linked but differ in type"
        raise PolicyError([(None, f"{words}; declare the same type for both")])
    one = identity(tables, before, link.column, f"l{place - 1}" if place > 1 else "t")
    two = identity(tables, here, link.key, f"l{place}")
    return (one.text, two.text) if one.type is two.type else (one.spelled, two.spelled)


def _path(tables: Tables, table: str) -> list[tuple[str, Unit]]:
    """Return the tables from a private one to the one that holds its unit, each with its declaration."""
    path = [(table, tables.policy.tables[table].unit)]
    while isinstance(link := path[-1][1], UnitLink):
        if link.table not in tables.policy.tables or link.table in (passed for passed, _ in path):
            raise PolicyError([(None, f"the unit of {table!r} links to {link.table!r}, which leads to no unit")])
        path.append((link.table, tables.policy.tables[link.table].unit))
    return path


def _whole_number(text: str) -> str:
    """Return how a text that is declared as an integer is compared: as that integer, or as NULL if it is no integer."""
    return f"CAST({whole_text(text, 'HUGEINT')} AS VARCHAR)"
