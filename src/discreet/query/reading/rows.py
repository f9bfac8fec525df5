"""The rows that a query reads, with their names: which columns stand where, and what the policy says about each.

Rows are those of one private table; WHERE keeps some of them, and a SELECT without aggregates gives them other columns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from sqlglot import exp

from discreet.errors import UnknownName, UnsupportedSQL
from discreet.query.expression import Apply, Column, Expression, Interval, Operation
from discreet.query.plan import FilterRows, Project, RowSource, Scan
from discreet.query.policy import ColumnPolicy, Policy, TablePolicy, UnitColumn, UnitLink, undeclared
from discreet.query.reading.expressions import LARGEST_EXPRESSION, Reader
from discreet.query.reading.parse import claim, did_you_mean, fold, is_aggregate, items, look_up, only, shown
from discreet.query.reading.refusals import reason

UNIT = ("unit",)  # what a column that names the unit of protection leads to
SYSTEM = ("information_schema", "pg_catalog", "sqlite_", "duckdb_", "pg_")


@dataclass(frozen=True, slots=True)
class Visible:
    """A column that a query can name.

    `definition` is the column in terms of the columns of the tables, or None where that would be very long. A column of
    a table has what the policy says in `declared`, and `section` is the place where more could be declared. `unit` says
    that the column is the unit of protection, `from_unit` that it is the unit, leads to it, or is computed from either.
    `anchor` is what a declared link leads to, the same at both of its ends: `UNIT`, or a column of a table. `public`
    names the table that everybody may see.
    """

    table: str
    name: str
    column: Column
    definition: Expression | None
    size: int = 1
    declared: ColumnPolicy | None = None
    unit: bool = False
    from_unit: bool = False
    section: str = ""
    qualified_only: bool = False
    anchor: tuple[str, ...] = ()
    public: str = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """The columns that can be read at one place, and the columns of the tables that they are made of.

    `true` holds conditions on columns of the tables that every row meets, for the keys: some of them, not all.
    """

    visible: tuple[Visible, ...]
    base: Mapping[str, Visible]
    true: tuple[Expression, ...] = ()
    alike: dict[str, list[Visible]] = field(default_factory=dict, init=False, repr=False, compare=False)  # by name

    def __post_init__(self) -> None:
        for one in self.visible:
            self.alike.setdefault(fold(one.name), []).append(one)

    def find(self, name: str, table: str | None) -> Visible:
        """Return the one column that a name stands for."""
        found = self.matches(name, table)
        if len(found) == 1:
            return found[0]
        written = f"{table}.{name}" if table else name
        if found:
            tables = " or ".join(f"{one.table}.{one.name}" for one in found[:3])
            raise UnsupportedSQL(f"{written!r} could be more than one column. Write {tables}.")
        if table is not None and not any(fold(one.table) == fold(table) for one in self.visible):
            known = {one.table for one in self.visible if one.table}
            raise UnknownName(f"There is no table {table!r} in this FROM. {did_you_mean(table, known)}")
        known = {one.name for one in self.visible if table is None or fold(one.table) == fold(table)}
        raise UnknownName(f"There is no column {written!r} here. {did_you_mean(name, known)}")

    def unused_prefix(self, table: str) -> str:
        """Return a prefix for the columns of a joined table that no column has yet."""
        prefix = table
        while any(name.startswith(f"{prefix}.") for name in (*self.base, *(one.column.name for one in self.visible))):
            prefix += "'"
        return prefix

    def matches(self, name: str, table: str | None) -> list[Visible]:
        """Return all columns that a name could stand for; one spelled exactly hides those in other capitals."""
        near = self.alike.get(name) or self.alike.get(fold(name), [])
        if table is None:
            near = [one for one in near if not one.qualified_only]
        else:
            near = [one for one in near if fold(one.table) == fold(table)]
        exact = [one for one in near if one.name == name]
        return exact if len(near) > 1 and len(exact) == 1 else near

    def under(self, table: str) -> Scope:
        """Return the same columns under another name of the table."""
        visible = tuple(replace(one, table=table, qualified_only=False) for one in self.visible)
        return replace(self, visible=visible)

    def where(self, condition: Expression) -> Scope:
        """Return the same columns of rows for which a condition is true."""
        told = [self.definition(one)[0] for one in _joined_by_and(condition)]
        return replace(self, true=(*self.true, *(one for one in told if one is not None)))

    def from_unit(self, expression: Expression) -> bool:
        """Say whether the unit of protection, or anything computed from it, is read in an expression."""
        names = {one.column.name for one in self.visible if one.from_unit}
        return not names.isdisjoint([one.name for one in expression.columns()])

    def definition(self, expression: Expression) -> tuple[Expression | None, int]:
        """Return an expression over these columns in terms of the columns of the tables, and how large that is."""
        by_name = {one.column.name: one for one in self.visible}
        size = tree_size(expression, {name: one.size for name, one in by_name.items()})
        if size > LARGEST_EXPRESSION // 10 or None in [by_name[one.name].definition for one in expression.columns()]:
            return None, size
        return substitute(expression, {name: one.definition for name, one in by_name.items() if one.definition}), size


@dataclass(frozen=True, slots=True)
class ReadableRows:
    """Rows, and the columns that can be read of them."""

    rows: RowSource
    scope: Scope

    def reader(self) -> Reader:
        """Return what reads expressions over these rows."""
        return Reader(self.resolve, _refuse_aggregate)

    def resolve(self, node: exp.Column) -> Expression:
        """Return the column that a name stands for."""
        return self.find(node).column

    def columns(self) -> list[exp.Expr]:
        """Return what * stands for."""
        return [
            exp.column(one.name, table=one.table or None, quoted=True)
            for one in self.scope.visible
            if not one.qualified_only
        ]

    def find(self, node: exp.Column) -> Visible:
        """Return what is known about the column that a name stands for."""
        only(node, "this", "table")
        if not isinstance(node.this, exp.Identifier):
            raise UnsupportedSQL(reason("Star", ""))
        return self.scope.find(node.name, node.table or None)


def read_table(name: str, alias: str, policy: Policy, bounds: Mapping[str, Interval]) -> ReadableRows:
    """Return all rows of a private table; ranges that the call gives take the place of declared ones."""
    table = look_up(name, policy.tables)
    if table is None:
        raise unknown_table(name, policy)
    lines = undeclared(policy, table)
    visible = []
    for column in table.columns.values():
        one = of_table(column, column.name, alias, f"[tables.{table.name}.columns]", bounds)
        if column.name in lines:
            made = replace(one.column, declare=lines[column.name])
            one = replace(one, column=made, definition=made)
        anchor = _anchor(table, column.name, policy)
        visible.append(replace(one, unit=anchor == UNIT, from_unit=bool(anchor), anchor=anchor))
    return ReadableRows(Scan(table.name), Scope(tuple(visible), {one.column.name: one for one in visible}))


def unknown_table(name: str, policy: Policy) -> UnsupportedSQL | UnknownName:
    """Return the refusal of a table that cannot be read."""
    public = look_up(name, policy.public)
    if public is not None:
        private = next(iter(policy.tables), "table")
        return UnsupportedSQL(
            f"{public.name!r} is a public table: read it directly. To use it with private rows write "
            f"FROM {private} JOIN {public.name} ON ..., the private table first."
        )
    if fold(name).startswith(SYSTEM):
        return UnsupportedSQL(f"{shown(name)!r} is a table of the database itself. Name a table of the policy.")
    if any(sign in name for sign in "./\\:*"):
        return UnsupportedSQL(
            f"Files cannot be read in a query, and {shown(name)!r} names one. Name a table of the policy."
        )
    return UnknownName(
        f"There is no table {shown(name)!r}. {did_you_mean(name, [*policy.tables, *policy.public, *policy.views])}"
    )


def of_table(column: ColumnPolicy, name: str, alias: str, section: str, bounds: Mapping[str, Interval]) -> Visible:
    """Return a column of a table with what the policy says of it, or with the range that the call gives for it."""
    given = look_up(column.name, bounds) if bounds else None
    made = Column(column.type, (given or column.interval) if column.type.numeric else None, name)
    return Visible(alias, column.name, made, made, declared=column, section=section)


def _anchor(table: TablePolicy, column: str, policy: Policy) -> tuple[str, ...]:
    """Return what a value of this column belongs to, which has one unit: the unit itself, or the key of a link."""
    unit = table.unit
    if isinstance(unit, UnitColumn) and unit.column == column:
        return UNIT
    if isinstance(unit, UnitLink) and unit.column == column and unit.table in policy.tables:
        return _anchor(policy.tables[unit.table], unit.key, policy) or (unit.table, unit.key)
    links = [other.unit for other in policy.tables.values() if isinstance(other.unit, UnitLink)]
    return (table.name, column) if any(link.table == table.name and link.key == column for link in links) else ()


def kept(source: ReadableRows, conditions: Sequence[exp.Expr]) -> ReadableRows:
    """Return the rows for which all of these conditions are true."""
    if not conditions:
        return source
    whole = conditions[0]
    for one in conditions[1:]:
        whole = exp.And(this=whole, expression=one)  # a chain, which the reader knows to be no deeper than its parts
    condition = source.reader().condition(whole)
    return ReadableRows(FilterRows(source.rows, condition), source.scope.where(condition))


def project(source: ReadableRows, select: exp.Select) -> ReadableRows:
    """Return the rows with the columns of a SELECT without aggregates."""
    columns: list[tuple[str, Expression]] = []
    visible: list[Visible] = []
    taken: set[str] = set()
    reader = source.reader()
    for position, (name, node) in enumerate(items(select, source.columns()), 1):
        found = source.find(node) if isinstance(node, exp.Column) else None
        expression = found.column if found is not None else reader.read(node)
        label = name or (found.name if found is not None else f"column{position}")
        claim(label, taken)
        columns.append((label, expression))
        definition, size = source.scope.definition(expression)
        made = Column(expression.type, short(expression.interval), label)
        known = found or Visible("", label, made, definition)
        known = replace(known, from_unit=source.scope.from_unit(expression))
        visible.append(replace(known, table="", name=label, column=made, definition=definition, size=size))
    return ReadableRows(Project(source.rows, tuple(columns)), replace(source.scope, visible=tuple(visible)))


def _joined_by_and(condition: Expression) -> list[Expression]:
    """Return the conditions that AND joins, from the left to the right."""
    found, waiting = [], [condition]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Apply) and one.operation is Operation.AND:
            waiting += reversed(one.arguments)
        else:
            found.append(one)
    return found


def _refuse_aggregate(node: exp.Expr) -> Expression | None:
    """Refuse an aggregate where single rows are read."""
    if is_aggregate(node):
        raise UnsupportedSQL(f"{shown(node)} adds up rows where single rows are read. Write it in SELECT or HAVING.")
    return None


def short(interval: Interval | None) -> Interval | None:
    """Return a range whose ends have few digits, wider by a hair where they had many; None beyond all floats."""
    if interval is None or all(
        end.denominator.bit_length() + abs(end.numerator).bit_length() < 2500 for end in interval
    ):
        return interval
    try:
        low, high = (float(end) for end in interval)
    except OverflowError:
        return None
    ends = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
    return None if any(math.isinf(end) for end in ends) else (Fraction(ends[0]), Fraction(ends[1]))


def tree_size(expression: Expression, columns: Mapping[str, int]) -> int:
    """Return how many nodes an expression has, columns counted as given."""
    if isinstance(expression, Column):
        return columns.get(expression.name, 1)
    return 1 + sum(tree_size(part, columns) for part in expression.parts)


def substitute(expression: Expression, definitions: Mapping[str, Expression]) -> Expression:
    """Return an expression with columns replaced by what they stand for."""
    if isinstance(expression, Column):
        return definitions.get(expression.name, expression)
    if not expression.parts:
        return expression
    return replace(expression, arguments=tuple(substitute(part, definitions) for part in expression.parts))  # type: ignore[call-arg]
