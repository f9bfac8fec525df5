"""From the rows of a plan to one SELECT over stored tables: filters, projections, joins, each row with its unit.

Rows of several tables meet along their units alone: the equality of units is written here, whatever a query says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from discreet.errors import ParameterError, QueryRefused, UnknownName
from discreet.query.engines.duckdb.expressions import render
from discreet.query.engines.duckdb.text import NAMES, indented, position, quoted, real
from discreet.query.engines.duckdb.units import Identity, Tables, unit_of
from discreet.query.expression import Apply, Expression, Operation, Type
from discreet.query.plan import (
    FilterRows,
    JoinKind,
    Key,
    MatchKind,
    PerUnit,
    PrivateJoin,
    Project,
    PublicJoin,
    RowSource,
    Scan,
    UnionAll,
    UnitValue,
    UnitValueKind,
)

_JOINS = {
    MatchKind.INNER: "JOIN",
    MatchKind.LEFT: "LEFT JOIN",
    MatchKind.SEMI: "SEMI JOIN",
    MatchKind.ANTI: "ANTI JOIN",
}


@dataclass(frozen=True, slots=True)
class Block:
    """A SELECT in the making: FROM, WHERE, how each column is written, and the unit (None where a row is one)."""

    tables: str
    columns: Mapping[str, str]
    unit: str | None
    unit_type: Type | None = None
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
            name = quoted(_free(names))
            unit = f"{alias}.{name}"
            items.append(f"{self.unit} AS {name}")
        inner = indented(self.select(items or ["1"]))
        columns = {name: f"{alias}.{quoted(names[name])}" for name in self.columns}
        return Block(f"(\n{inner}\n) AS {alias}", columns, unit, self.unit_type, size=self.size + 1)


def block(tables: Tables, rows: RowSource, wanted: frozenset[str], bounded: str | None) -> Block:
    """Return the block of rows that has the wanted columns, and reads no other than they need."""
    if isinstance(rows, Scan):
        return _scan(tables, rows.table, wanted, bounded)
    if isinstance(rows, FilterRows):
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
    if bounded is not None:
        raise ParameterError("a bounded table is read by filters, projections and public joins alone")
    return _of_units(tables, rows, wanted)


def _of_units(tables: Tables, rows: RowSource, wanted: frozenset[str]) -> Block:
    """Return the block of rows that are made from all rows of a unit."""
    if isinstance(rows, PrivateJoin):
        return _private_join(tables, rows, wanted)
    if isinstance(rows, PerUnit):
        return _per_unit(tables, rows, wanted)
    if isinstance(rows, UnionAll):
        return _union_all(tables, rows, wanted)
    raise TypeError(f"no rule for rows of {type(rows).__name__}")


def read_by(expressions: Iterable[Expression]) -> frozenset[str]:
    """Return the names of the columns that expressions read."""
    return frozenset([column.name for expression in expressions for column in expression.columns()])


def native_key(key: Key, below: Block) -> str:
    """Return the text of a key; of the two zeros of reals, which are equal, only the positive one."""
    text = render(key.expression, below.columns)
    return _one_zero(below.raw.get(text, text), key.expression.type)


def _one_zero(text: str, kind: Type) -> str:
    """Return a text whose value is the positive zero for both zeros of reals."""
    return f"CASE WHEN {text} = 0 THEN CAST(0 AS DOUBLE) ELSE {text} END" if kind is Type.REAL else text


def native_keys(keys: tuple[Key, ...], below: Block) -> list[str]:
    """Return what `rows` selects for keys as they are: key_1, key_2, ..."""
    return [f"{native_key(key, below)} AS key_{index}" for index, key in enumerate(keys, 1)]


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
    text, unit = unit_of(tables, table)
    columns = {name: tables.read(table, name, "t") for name in sorted(wanted)}
    computed = [f"t.{quoted(name)}" for name in columns] != list(columns.values())
    if unit is None:
        return Block(text, columns, None, computed=computed, size=1)
    return Block(text, columns, unit.text, unit.type, (f"{unit.text} IS NOT NULL",), computed, 1)


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


def _private_join(tables: Tables, rows: PrivateJoin, wanted: frozenset[str]) -> Block:
    """Return rows matched with other rows of their unit."""
    added = {name: column for name, column, _ in rows.columns}
    read = wanted | read_by(rows.read)
    below = block(tables, rows.source, read - added.keys(), None).nested()
    other = block(tables, rows.other, frozenset([column for name, column in added.items() if name in read]), None)
    alias, names = f"j{below.size}", _distinct(other.columns)
    unit = _free(names)
    items = [f"{text} AS {quoted(names[name])}" for name, text in other.columns.items()]
    inner = indented(other.select([*items, f"{_identity(other).text} AS {quoted(unit)}"]))
    columns = {name: f"{alias}.{quoted(names[column])}" for name, column in added.items() if name in read}
    mine, theirs = _identity(below), Identity(f"{alias}.{quoted(unit)}", _identity(other).type)
    same = (mine.text, theirs.text) if mine.type is theirs.type else (mine.spelled, theirs.spelled)
    conditions = [" = ".join(same), *(render(one, {**below.columns, **columns}) for one in _all_of(rows.condition))]
    text = f"{below.tables}\n{_JOINS[rows.kind]} (\n{inner}\n) AS {alias} ON " + " AND ".join(conditions)
    seen = below.columns if rows.kind in (MatchKind.SEMI, MatchKind.ANTI) else {**below.columns, **columns}
    return replace(
        below, tables=text, columns={name: seen[name] for name in seen if name in wanted}, size=below.size + 1
    )


def _identity(below: Block) -> Identity:
    """Return what tells the units of rows apart; rows that are units themselves meet no others."""
    if below.unit is None or below.unit_type is None:
        raise ParameterError("rows of several tables meet along a unit, and here every row is a unit of its own")
    return Identity(below.unit, below.unit_type)


def _all_of(condition: Expression | None) -> list[Expression]:
    """Return the conditions that AND joins, one by one, so that equalities among them are seen as such."""
    if isinstance(condition, Apply) and condition.operation is Operation.AND:
        return [part for argument in condition.arguments for part in _all_of(argument)]
    return [] if condition is None else [condition]


def _per_unit(tables: Tables, rows: PerUnit, wanted: frozenset[str]) -> Block:
    """Return one row for every unit, or for every unit and combination of keys."""
    values = [one for one in rows.values if one.name in wanted]
    arguments = [one.argument for one in values if one.argument is not None]
    read = read_by([*(expression for _, expression in rows.keys), *arguments])
    below = block(tables, rows.source, read, None).nested()
    keys = [_one_zero(render(expression, below.columns), expression.type) for _, expression in rows.keys]
    items = [f"{_identity(below).text} AS unit", *(f"{text} AS k_{place}" for place, text in enumerate(keys, 1))]
    items += [f"{_added(one, below)} AS a_{place}" for place, one in enumerate(values, 1) if one.argument is not None]
    grouped = ", ".join(["unit", *(f"k_{place}" for place in range(1, len(keys) + 1))])
    made = ", ".join([grouped, *(f"{_of_all(one, f'a_{place}')} AS v_{place}" for place, one in enumerate(values, 1))])
    alias = f"r{below.size}"
    text = f"SELECT {made}\nFROM (\n{indented(below.select(items))}\n)\nGROUP BY {grouped}"
    columns = {name: f"{alias}.k_{place}" for place, (name, _) in enumerate(rows.keys, 1) if name in wanted}
    columns |= {one.name: f"{alias}.v_{place}" for place, one in enumerate(values, 1)}
    return Block(f"(\n{indented(text)}\n) AS {alias}", columns, f"{alias}.unit", below.unit_type, size=below.size + 1)


def _added(one: UnitValue, below: Block) -> str:
    """Return what a row adds to a value of its unit: for sums over a grid whole steps, counted from 0."""
    if one.argument is None:
        raise TypeError(f"{one.kind.value} has no argument")
    text, kind = render(one.argument, below.columns), one.argument.type
    if one.scale is None:
        return _one_zero(text, kind)
    return f"{position(text, one.scale, kind)} + ({one.scale.start})"


def _of_all(one: UnitValue, name: str) -> str:
    """Return the text of a value of all rows of a group."""
    total = f"TRY_CAST(sum({name}) AS BIGINT)"
    if one.scale is not None:
        total = f"CAST({total} AS DOUBLE) * {real(float(one.scale.grid))}"
    whole = f"CAST({total} AS DOUBLE)" if one.scale is None else f"({total})"
    return {
        UnitValueKind.COUNT_ROWS: "count(*)",
        UnitValueKind.COUNT_VALUES: f"count({name})",
        UnitValueKind.COUNT_DISTINCT: f"count(DISTINCT {name})",
        UnitValueKind.SUM: total,
        UnitValueKind.MEAN: f"{whole} / CAST(count({name}) AS DOUBLE)",
        UnitValueKind.MIN: f"min({name})",
        UnitValueKind.MAX: f"max({name})",
        UnitValueKind.ANY: f"bool_or({name})",
        UnitValueKind.ALL: f"bool_and({name})",
    }[one.kind]


def _union_all(tables: Tables, rows: UnionAll, wanted: frozenset[str]) -> Block:
    """Return the rows of all parts; units that are stored with several types are compared as they are spelled."""
    parts = [block(tables, part, wanted, None) for part in rows.parts]
    units = [_identity(part) for part in parts]
    kinds = {one.type for one in units}
    names = {name: f"c_{place}" for place, (name, _) in enumerate(rows.columns, 1) if name in wanted}
    texts = []
    for part, unit in zip(parts, units, strict=True):
        items = [f"{part.columns[name]} AS {own}" for name, own in names.items()]
        texts.append(part.select([*items, f"{unit.text if len(kinds) == 1 else unit.spelled} AS unit"]))
    text = "\nUNION ALL\n".join(texts)
    columns = {name: f"r0.{own}" for name, own in names.items()}
    return Block(
        f"(\n{indented(text)}\n) AS r0", columns, "r0.unit", kinds.pop() if len(kinds) == 1 else Type.TEXT, size=1
    )


def _distinct(names: Iterable[str]) -> dict[str, str]:
    """Return a name for each name that no other has in any spelling of capitals, as DuckDB does not tell them apart."""
    taken: dict[str, str] = {}
    for name in names:
        taken.setdefault(name, _free(taken, name))
    return taken


def _free(taken: Mapping[str, str], name: str = "unit") -> str:
    """Return the name, with underscores until it is unique."""
    lowered = {other.lower() for other in taken.values()}
    while name.lower() in lowered:
        name += "_"
    return name
