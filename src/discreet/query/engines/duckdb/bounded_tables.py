"""Bounded tables in DuckDB: made once with at most so many rows of each unit, then read by every query as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.errors import ParameterError, UnknownName
from discreet.query.engines.duckdb.stored_columns import type_of
from discreet.query.engines.duckdb.tables import Tables
from discreet.query.engines.duckdb.text import NAMES, indented, quoted
from discreet.query.engines.duckdb.units import unit_of
from discreet.query.expression import Type

LARGEST_DICTIONARY = 1 << 14


@dataclass(frozen=True, slots=True)
class BoundedTable:
    """How a bounded table is made from a private one: its columns, and the statements."""

    name: str
    columns: Mapping[str, Type]
    everything: str  # the rows as they are read: their unit, and their columns as x_1, x_2, ...
    rows: int
    salt: int

    @property
    def distinct(self) -> str:
        """The statement that counts the values of every text column, so that few are kept as numbers."""
        counts = ", ".join(f"count(DISTINCT {self._own(name)})" for name in self.texts)
        return f"SELECT {counts} FROM (\n{indented(self.everything)}\n)"

    @property
    def texts(self) -> list[str]:
        """The text columns."""
        return [name for name, kind in self.columns.items() if kind is Type.TEXT]

    @property
    def stored(self) -> dict[str, str]:
        """The columns with the names of their types; which texts are kept as numbers is nobody's business."""
        return {name: NAMES[kind] for name, kind in self.columns.items()}

    def dictionary(self, column: str) -> tuple[str, str]:
        """Return the name of the type that holds the values of a text column, and the statement that makes it."""
        own = self._own(column)
        name = f"{self.name}_{own}"
        values = f"SELECT DISTINCT {own} AS value FROM (\n{indented(self.everything)}\n) WHERE {own} IS NOT NULL"
        return name, f"CREATE TYPE {name} AS ENUM ({values} ORDER BY value)"

    def made_with(self, dictionaries: Mapping[str, str]) -> str:
        """Return the statement that makes the table; columns in `dictionaries` are kept as numbers.

        Stability. Removing a unit removes at most `rows` rows and changes no other.
            Proof: a unit with more rows keeps the first of them by (hash, columns), an order that rests on the contents
            of its own rows; rows that tie in it are equal, so it does not matter which of them stays. The two zeros of
            reals, which compare as equal, are told apart by their sign.
        """
        names = [self._own(name) for name in self.columns]
        listed = ", ".join(names) or "1"
        signs = [f"signbit({self._own(name)})" for name, kind in self.columns.items() if kind is Type.REAL]
        compared = [f"{name} NULLS LAST" for name in [*names, *signs]]
        order = ", ".join([f"hash({', '.join([str(self.salt), *names])})", *compared])
        kept = ", ".join(
            f"CAST({self._own(name)} AS {dictionaries[name]}) AS {quoted(name)}"
            if name in dictionaries
            else f"{self._own(name)} AS {quoted(name)}"
            for name in self.columns
        )
        return f"""CREATE TABLE {self.name} AS
WITH rows AS NOT MATERIALIZED (
{indented(self.everything)}
),
many AS (
    SELECT unit FROM rows GROUP BY unit HAVING count(*) > {self.rows}
),
kept AS (
    SELECT {listed} FROM rows ANTI JOIN many USING (unit)
    UNION ALL
    SELECT {listed} FROM rows SEMI JOIN many USING (unit)
    QUALIFY row_number() OVER (PARTITION BY unit ORDER BY {order}) <= {self.rows}
)
SELECT {kept or "1"} FROM kept"""

    def _own(self, column: str) -> str:
        """Return what a column is called while the table is made."""
        return f"x_{list(self.columns).index(column) + 1}"


def bounded_table(tables: Tables, table: str, rows: int, *, name: str, salt: int) -> BoundedTable:
    """Return how to make a table with at most `rows` rows of each unit of a private one."""
    if table not in tables.policy.tables:
        raise UnknownName(f"the policy has no private table {table!r}")
    text, unit = unit_of(tables, table)
    if unit is None or not 1 <= rows <= 1 << 40:
        raise ParameterError("a table is bounded where its unit is named by a column, to 1 row of a unit or more")
    stored = tables.of(table).columns
    columns = {column: tables.type_of(table, column) for column in stored if type_of(stored[column]) is not None}
    items = [f"{tables.read(table, column, 't')} AS x_{place}" for place, column in enumerate(columns, 1)]
    listed = ", ".join([*items, f"{unit.text} AS unit"])
    everything = f"SELECT {listed}\nFROM {text}\nWHERE {unit.text} IS NOT NULL"
    return BoundedTable(name, columns, everything, rows, salt)
