"""What statements know of the tables: which there are, and how a stored column is read as a value of its type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.errors import PolicyError, UnknownName
from discreet.query.engines.duckdb.source import Stored
from discreet.query.engines.duckdb.stored_columns import scanned, type_of, whole_text
from discreet.query.engines.duckdb.text import NAMES, quoted
from discreet.query.expression import Type
from discreet.query.policy import ColumnPolicy, Policy


@dataclass(frozen=True, slots=True)
class Tables:
    """What a statement knows of the tables: the policy, what is stored, and the bounded tables made so far."""

    policy: Policy
    stored: Mapping[str, Stored]
    bounded: Mapping[str, Stored]

    def of(self, table: str) -> Stored:
        """Return a table as it is stored, or say that it is not there."""
        if table not in self.stored:
            raise UnknownName(f"the source has no table {table!r}; check the source and the name under [tables]")
        return self.stored[table]

    def type_of(self, table: str, column: str) -> Type:
        """Return the type of a column: the one declared in the policy, else the one it is stored with."""
        stated = self._declared(table).get(column)
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

    def _declared(self, table: str) -> Mapping[str, ColumnPolicy]:
        private = self.policy.tables.get(table)
        return private.columns if private is not None else self.policy.public[table].columns
