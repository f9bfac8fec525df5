"""Bounded tables in DuckDB: made once with at most so many rows of each unit, then read by every query as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.errors import ParameterError, UnknownName
from discreet.query.engines.duckdb_expressions import quoted, type_of
from discreet.query.engines.duckdb_rows import DICTIONARY, Tables, indented, unit_of
from discreet.query.engines.duckdb_text import NAMES
from discreet.query.types import Type

LARGEST_DICTIONARY = 1 << 14
_UNIT = '"the unit"'  # of the rows, beside whatever columns they have


@dataclass(frozen=True, slots=True)
class BoundedTable:
    """How a bounded table is made from a private one: its columns, and the statements."""

    name: str
    columns: Mapping[str, Type]
    everything: str  # the rows as they are read, with their units
    rows: int
    salt: int

    @property
    def distinct(self) -> str:
        """The statement that counts the values of every text column, so that few are kept as numbers."""
        counts = ", ".join(f"count(DISTINCT {quoted(name)})" for name in self.texts)
        return f"SELECT {counts} FROM (\n{indented(self.everything)}\n)"

    @property
    def texts(self) -> list[str]:
        """The text columns."""
        return [name for name, kind in self.columns.items() if kind is Type.TEXT]

    def dictionary(self, column: str) -> tuple[str, str]:
        """Return the name of the type that holds the values of a text column, and the statement that makes it."""
        name = f"{DICTIONARY}{self.name}_{list(self.columns).index(column)}"
        values = (
            f"SELECT DISTINCT {quoted(column)} AS value FROM (\n{indented(self.everything)}\n) WHERE value IS NOT NULL"
        )
        return name, f"CREATE TYPE {name} AS ENUM ({values} ORDER BY value)"

    def made_with(self, dictionaries: Mapping[str, str]) -> str:
        """Return the statement that makes the table; columns in `dictionaries` are kept as numbers.

        Stability. Removing a unit removes at most `rows` rows and changes no other.
            Proof: a unit with more rows keeps the first of them by (hash, columns), an order that rests on the contents
            of its own rows; rows that tie in it are equal, so it does not matter which of them stays.
        """
        names = [quoted(name) for name in self.columns]
        listed = ", ".join(names) or "1"
        order = ", ".join([f"hash({', '.join([str(self.salt), *names])})", *(f"{name} NULLS LAST" for name in names)])
        kept = ", ".join(
            f"CAST({quoted(name)} AS {dictionaries[name]}) AS {quoted(name)}" if name in dictionaries else quoted(name)
            for name in self.columns
        )
        return f"""CREATE TABLE {self.name} AS
WITH rows AS NOT MATERIALIZED (
{indented(self.everything)}
),
many AS (
    SELECT {_UNIT} FROM rows GROUP BY {_UNIT} HAVING count(*) > {self.rows}
),
kept AS (
    SELECT {listed} FROM rows ANTI JOIN many USING ({_UNIT})
    UNION ALL
    SELECT {listed} FROM rows SEMI JOIN many USING ({_UNIT})
    QUALIFY row_number() OVER (PARTITION BY {_UNIT} ORDER BY {order}) <= {self.rows}
)
SELECT {kept or "1"} FROM kept"""


def bounded_table(tables: Tables, table: str, rows: int, *, name: str, salt: int) -> BoundedTable:
    """Return how to make a table with at most `rows` rows of each unit of a private one."""
    if table not in tables.policy.tables:
        raise UnknownName(f"the policy has no private table {table!r}")
    text, unit = unit_of(tables, table)
    if unit is None or not 1 <= rows <= 1 << 40:
        raise ParameterError("a table is bounded where its unit is named by a column, to 1 row of a unit or more")
    stored = tables.of(table).columns
    columns = {column: tables.type_of(table, column) for column in stored if type_of(stored[column]) is not None}
    items = [f"{tables.read(table, column, 't')} AS {quoted(column)}" for column in columns]
    everything = f"SELECT {', '.join([*items, f'{unit} AS {_UNIT}'])}\nFROM {text}\nWHERE {unit} IS NOT NULL"
    return BoundedTable(name, columns, everything, rows, salt)


def stored_as(made: BoundedTable, dictionaries: Mapping[str, str]) -> dict[str, str]:
    """Return the columns of a bounded table with the names of their types."""
    return {name: dictionaries.get(name, NAMES[kind]) for name, kind in made.columns.items()}
