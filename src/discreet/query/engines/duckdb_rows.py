"""From the rows of a plan to one SELECT over stored tables: filters, projections, joins, each row with its unit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from discreet.errors import PolicyError, QueryRefused, UnknownName
from discreet.query.engines.duckdb_expressions import quoted, render, scanned, type_of
from discreet.query.engines.duckdb_source import Stored
from discreet.query.engines.duckdb_text import NAMES
from discreet.query.expression import Expression
from discreet.query.plan import Filter, JoinKind, Project, PublicJoin, Rows, Scan
from discreet.query.policy import ColumnPolicy, Policy, Unit, UnitColumn, UnitLink
from discreet.query.types import Type

DICTIONARY = "dictionary_"  # how the types of texts that bounded tables keep as numbers are named


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
        kind = stated.type if stated is not None else type_of(self._name(table, column))
        if kind is None:
            raise UnknownName(f"column {column!r} of {table!r} has a type that cannot be queried")
        return kind

    def read(self, table: str, column: str, alias: str) -> str:
        """Return the text that reads a stored column as a value of its type; what cannot be read as one is NULL."""
        text, stored, kind = f"{alias}.{quoted(column)}", self._name(table, column), self.type_of(table, column)
        own = type_of(stored)
        if own is kind:
            return scanned(text, stored, kind)
        if own is not Type.TEXT and not (own is not None and own.numeric and kind.numeric):
            words = f"column {column!r} of {table!r} is declared as {kind.value}, but stored as another type"
            raise PolicyError([(None, f"{words}; declare the type it is stored with")])
        return scanned(f"TRY_CAST({text} AS {NAMES[kind]})", NAMES[kind], kind)

    def _declared(self, table: str) -> Mapping[str, ColumnPolicy]:
        private = self.policy.tables.get(table)
        return private.columns if private is not None else self.policy.public[table].columns

    def _name(self, table: str, column: str) -> str:
        columns = self.of(table).columns
        if column not in columns:
            raise UnknownName(f"table {table!r} has no column {column!r}; its columns are {', '.join(columns)}")
        return columns[column]


@dataclass(frozen=True, slots=True)
class Block:
    """A SELECT in the making: FROM, WHERE, how each column is written, and the unit (None where a row is one)."""

    tables: str
    columns: Mapping[str, str]
    unit: str | None
    conditions: tuple[str, ...] = ()
    computed: bool = False  # whether a column is more than a name, so that it should be computed once
    size: int = 0  # how many aliases are taken
    raw: Mapping[str, str] = field(default_factory=dict)  # texts that unpack a dictionary, and what they unpack

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


def indented(text: str) -> str:
    """Return a text with every line moved to the right."""
    return "\n".join("    " + line for line in text.splitlines())


def _scan(tables: Tables, table: str, wanted: frozenset[str], bounded: str | None) -> Block:
    """Return the rows of a private table, or of the bounded table made from it."""
    if bounded is not None:
        if bounded not in tables.bounded or bounded.rpartition(", ")[0] != table:
            raise UnknownName(f"there is no bounded table {bounded!r} of {table!r}")
        made = tables.bounded[bounded]
        packed = {name: made.columns[name].startswith(DICTIONARY) for name in sorted(wanted)}
        columns = {n: f"CAST(t.{quoted(n)} AS VARCHAR)" if packed[n] else f"t.{quoted(n)}" for n in packed}
        raw = {columns[name]: f"t.{quoted(name)}" for name in packed if packed[name]}
        return Block(f"{made.name} AS t", columns, None, size=1, raw=raw)
    if table not in tables.policy.tables:
        raise UnknownName(f"the policy has no private table {table!r}")
    text, unit = unit_of(tables, table)
    columns = {name: tables.read(table, name, "t") for name in sorted(wanted)}
    plain = all(column == f"t.{quoted(name)}" for name, column in columns.items())
    conditions = () if unit is None else (f"{unit} IS NOT NULL",)
    return Block(text, columns, unit, conditions, not plain, 1)


def table_of(rows: Rows) -> str:
    """Return the private table beneath rows."""
    while not isinstance(rows, Scan):
        rows = rows.source  # type: ignore[attr-defined]
    return rows.table


def unit_type(tables: Tables, table: str) -> Type:
    """Return the type of a unit that is named by a column, here or along links."""
    last, unit = _path(tables, table)[-1]
    if not isinstance(unit, UnitColumn):
        raise PolicyError([(None, f"the unit of {table!r} is not named by a column")])
    return tables.type_of(last, unit.column)


def unit_of(tables: Tables, table: str) -> tuple[str, str | None]:
    """Return the FROM text of a private table with its links, and how the unit is read; None where a row is a unit."""
    text, alias, path = f"{tables.of(table).name} AS t", "t", _path(tables, table)
    for here, unit in path:
        if isinstance(unit, UnitColumn):
            return text, tables.read(here, unit.column, alias)
        if isinstance(unit, UnitLink):
            if tables.type_of(here, unit.column) is not tables.type_of(unit.table, unit.key):
                words = f"{unit.column!r} of {here!r} and {unit.key!r} of {unit.table!r} are linked but differ in type"
                raise PolicyError([(None, f"{words}; declare the same type for both")])
            there = f"l{int(alias[1:] or 0) + 1}"
            one, two = tables.read(here, unit.column, alias), tables.read(unit.table, unit.key, there)
            text, alias = f"{text}\nJOIN {tables.of(unit.table).name} AS {there} ON {one} = {two}", there
    if len(path) > 1:
        words = (
            f"the unit of {table!r} is a row of {path[-1][0]!r}; name the column of {path[-1][0]!r} that tells units"
        )
        raise PolicyError([(None, f"{words} apart, as its unit")])
    return text, None


def _path(tables: Tables, table: str) -> list[tuple[str, Unit]]:
    """Return the tables from a private one to the one that holds its unit, each with its declaration."""
    path = [(table, tables.policy.tables[table].unit)]
    while isinstance(link := path[-1][1], UnitLink):
        if link.table not in tables.policy.tables or link.table in (passed for passed, _ in path):
            raise PolicyError([(None, f"the unit of {table!r} links to {link.table!r}, which leads to no unit")])
        path.append((link.table, tables.policy.tables[link.table].unit))
    return path


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
