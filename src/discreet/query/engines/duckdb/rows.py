"""From the rows of a plan to one SELECT over stored tables: filters, projections, joins, each row with its unit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from discreet.errors import QueryRefused, UnknownName
from discreet.query.engines.duckdb.expressions import render
from discreet.query.engines.duckdb.tables import Tables
from discreet.query.engines.duckdb.text import NAMES, indented, quoted
from discreet.query.engines.duckdb.units import unit_of
from discreet.query.expression import Expression, Type
from discreet.query.plan import Filter, JoinKind, Project, PublicJoin, Rows, Scan


@dataclass(frozen=True, slots=True)
class Block:
    """A SELECT in the making: FROM, WHERE, how each column is written, and the unit (None where a row is one)."""

    tables: str
    columns: Mapping[str, str]
    unit: str | None
    conditions: tuple[str, ...] = ()
    computed: bool = False  # whether a column is more than a name, so that it should be computed once
    size: int = 0  # how many aliases are taken
    raw: Mapping[str, str] = field(default_factory=dict)  # texts that unpack a column, and the column

    def select(self, items: Iterable[str]) -> str:
        """Return the SELECT of these items."""
        lines = "SELECT " + ", ".join(items) + f"\nFROM {self.tables}"
        return lines + ("\nWHERE " + "\n  AND ".join(self.conditions) if self.conditions else "")

    def nested(self) -> Block:
        """Return a block in which every column is a name, on top of this one where that takes a subquery."""
        if not self.computed:
            return self
        alias, names = f"r{self.size}", _distinct(self.columns)
        items = [f"{text} AS {quoted(names[name])}" for name, text in self.columns.items()]
        unit = None
        if self.unit is not None:
            unit = f"{alias}.{quoted(_free(names))}"
            items.append(f"{self.unit} AS {quoted(_free(names))}")
        inner = indented(self.select(items or ["1"]))
        columns = {name: f"{alias}.{quoted(names[name])}" for name in self.columns}
        return Block(f"(\n{inner}\n) AS {alias}", columns, unit, size=self.size + 1)


def block(tables: Tables, rows: Rows, wanted: frozenset[str], bounded: str | None) -> Block:
    """Return the block of rows that has the wanted columns, and reads no other than they need."""
    if isinstance(rows, Scan):
        return _scan(tables, rows.table, wanted, bounded)
    if isinstance(rows, Filter):
        below = block(tables, rows.source, wanted | read_by([rows.condition]), bounded).nested()
        condition = render(rows.condition, below.columns)
        kept = {name: text for name, text in below.columns.items() if name in wanted}
        return replace(below, columns=kept, conditions=(*below.conditions, condition))
    if isinstance(rows, Project):
        columns = {name: expression for name, expression in rows.columns if name in wanted}
        below = block(tables, rows.source, read_by(columns.values()), bounded).nested()
        texts = {name: render(expression, below.columns) for name, expression in columns.items()}
        return replace(below, columns=texts, computed=not set(texts.values()) <= set(below.columns.values()))
    if isinstance(rows, PublicJoin):
        return _public_join(tables, rows, wanted, bounded)
    raise TypeError(f"no rule for rows of {type(rows).__name__}")


def read_by(expressions: Iterable[Expression]) -> frozenset[str]:
    """Return the names of the columns that expressions read."""
    return frozenset(column.name for expression in expressions for column in expression.columns())


def _scan(tables: Tables, table: str, wanted: frozenset[str], bounded: str | None) -> Block:
    """Return the rows of a private table, or of the bounded table made from it."""
    if bounded is not None:
        if bounded not in tables.bounded or bounded.rpartition(", ")[0] != table:
            raise UnknownName(f"there is no bounded table {bounded!r} of {table!r}")
        made = tables.bounded[bounded]
        # Which texts are kept as numbers depends on the data, so all are unpacked: the statement must not tell.
        texts = {name for name in wanted if made.columns[name] == NAMES[Type.TEXT]}
        columns = {n: f"CAST(t.{quoted(n)} AS VARCHAR)" if n in texts else f"t.{quoted(n)}" for n in sorted(wanted)}
        raw = {columns[name]: f"t.{quoted(name)}" for name in texts}
        return Block(f"{made.name} AS t", columns, None, size=1, raw=raw)
    if table not in tables.policy.tables:
        raise UnknownName(f"the policy has no private table {table!r}")
    text, known = unit_of(tables, table)
    unit = None if known is None else known.text
    columns = {name: tables.read(table, name, "t") for name in sorted(wanted)}
    plain = all(column == f"t.{quoted(name)}" for name, column in columns.items())
    conditions = () if unit is None else (f"{unit} IS NOT NULL",)
    return Block(text, columns, unit, conditions, not plain, 1)


def table_of(rows: Rows) -> str:
    """Return the private table beneath rows."""
    while not isinstance(rows, Scan):
        rows = rows.source  # type: ignore[attr-defined]
    return rows.table


def _public_join(tables: Tables, rows: PublicJoin, wanted: frozenset[str], bounded: str | None) -> Block:
    """Return rows joined with a public table on its unique key."""
    if rows.table not in tables.policy.public:
        raise UnknownName(f"the policy has no public table {rows.table!r}")
    added = {name: column for name, column, _ in rows.columns if name in wanted}
    below = block(
        tables, rows.source, (wanted - added.keys()) | read_by(expression for expression, _ in rows.keys), bounded
    ).nested()
    alias = f"p{below.size}"
    names = dict.fromkeys([*(key for _, key in rows.keys), *added.values()])
    items = ", ".join(f"{tables.read(rows.table, name, 's')} AS {quoted(name)}" for name in names)
    matches = " AND ".join(
        f"{render(expression, below.columns)} = {alias}.{quoted(_same_type(tables, rows.table, expression, key))}"
        for expression, key in rows.keys
    )
    joined = "JOIN" if rows.kind is JoinKind.INNER else "LEFT JOIN"
    text = f"{below.tables}\n{joined} (SELECT {items} FROM {tables.of(rows.table).name} AS s) AS {alias} ON {matches}"
    columns = {name: column for name, column in below.columns.items() if name in wanted}
    columns |= {name: f"{alias}.{quoted(column)}" for name, column in added.items()}
    return replace(below, tables=text, columns=columns, size=below.size + 1)


def _same_type(tables: Tables, table: str, expression: Expression, key: str) -> str:
    """Return the key; another type than the expression's could match two rows, or raise."""
    if tables.type_of(table, key) is not expression.type:
        raise QueryRefused(
            f"the join with {table!r} compares {expression.type.value} with {key!r}, which is "
            f"{tables.type_of(table, key).value}; cast one side"
        )
    return key


def _distinct(names: Iterable[str]) -> dict[str, str]:
    """Return a name for each name that no other has in any spelling of capitals, as DuckDB does not tell them apart."""
    taken: dict[str, str] = {}
    for name in names:
        taken.setdefault(name, _free(taken, name))
    return taken


def _free(taken: Mapping[str, str], name: str = "unit") -> str:
    """Return the name, with underscores until nobody has it."""
    lowered = {other.lower() for other in taken.values()}
    while name.lower() in lowered:
        name += "_"
    return name
