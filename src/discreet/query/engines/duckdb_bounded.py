"""Bounded tables in DuckDB: made once with at most so many rows of each unit, then read by every query as it is."""

from __future__ import annotations

from discreet.errors import ParameterError, UnknownName
from discreet.query.engines.duckdb_expressions import quoted, type_of
from discreet.query.engines.duckdb_rows import Tables, indented, unit_of
from discreet.query.engines.duckdb_text import NAMES


def bounded_statement(tables: Tables, table: str, rows: int, salt: int) -> tuple[str, dict[str, str]]:
    """Return the SELECT of at most `rows` rows of each unit, and the columns it has with DuckDB's types.

    Stability. Removing a unit removes at most `rows` rows and changes no other.
        Proof: a unit with more rows keeps the first of them by (hash, columns), an order that rests on the contents of
        its own rows; rows that tie in it are equal, so it does not matter which of them stays.
    """
    if table not in tables.policy.tables:
        raise UnknownName(f"the policy has no private table {table!r}")
    text, unit = unit_of(tables, table)
    if unit is None or not 1 <= rows <= 1 << 40:
        raise ParameterError("a table is bounded where its unit is named by a column, to 1 row of a unit or more")
    names = [name for name, stated in tables.of(table).columns.items() if type_of(stated) is not None]
    items = ", ".join(f"{tables.read(table, name, 't')} AS {quoted(name)}" for name in names)
    listed = ", ".join(quoted(name) for name in names)
    order = ", ".join(f"{quoted(name)} NULLS LAST" for name in names)
    everything = f'SELECT {items}, {unit} AS "the unit"\nFROM {text}\nWHERE {unit} IS NOT NULL'
    statement = f"""WITH rows AS NOT MATERIALIZED (
{indented(everything)}
),
many AS (
    SELECT "the unit" FROM rows GROUP BY "the unit" HAVING count(*) > {rows}
)
SELECT {listed} FROM rows ANTI JOIN many USING ("the unit")
UNION ALL
SELECT {listed} FROM rows SEMI JOIN many USING ("the unit")
QUALIFY row_number() OVER (PARTITION BY "the unit" ORDER BY hash({salt}, {listed}), {order}) <= {rows}"""
    return statement, {name: NAMES[tables.type_of(table, name)] for name in names}
