"""FROM, WITH, joins with public tables and WHERE, as rows of one private table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.errors import UnknownName, UnsupportedSQL
from discreet.query.expression import Column, Expression, Interval
from discreet.query.plan import Filter, Project, Rows, Scan
from discreet.query.policy import ColumnPolicy, Policy, TablePolicy, UnitColumn, UnitLink, declaration
from discreet.query.reading.calls import is_aggregate
from discreet.query.reading.expressions import Reader
from discreet.query.reading.parse import only, part, shown
from discreet.query.reading.refusals import ROWS, reason
from discreet.query.reading.scope import Scope, Visible, did_you_mean, fold, look_up, short

MOST_ITEMS = 500
SYSTEM = ("information_schema", "pg_catalog", "sqlite_", "duckdb_", "pg_")


@dataclass(frozen=True, slots=True)
class Source:
    """Rows, and the columns that can be read of them."""

    rows: Rows
    scope: Scope

    def reader(self) -> Reader:
        """Return what reads expressions over these rows."""
        return Reader(self.resolve, _refuse_aggregate)

    def resolve(self, node: exp.Column) -> Expression:
        """Return the column that a name stands for."""
        return self.find(node).column

    def find(self, node: exp.Column) -> Visible:
        """Return what is known about the column that a name stands for."""
        only(node, "this", "table")
        if not isinstance(node.this, exp.Identifier):
            raise UnsupportedSQL(reason("Star", ""))
        return self.scope.find(node.name, node.table or None)


def _refuse_aggregate(node: exp.Expr) -> Expression | None:
    """Refuse an aggregate where single rows are read."""
    if is_aggregate(node):
        raise UnsupportedSQL(f"{shown(node)} adds up rows where single rows are read. Write it in SELECT or HAVING.")
    return None


def read_table(name: str, alias: str, policy: Policy, bounds: Mapping[str, Interval]) -> Source:
    """Return all rows of a private table; ranges that the call gives take the place of declared ones."""
    table = look_up(name, policy.tables)
    if table is None:
        raise unknown_table(name, policy)
    visible = tuple(
        replace(
            of_table(column, column.name, alias, f"[tables.{table.name}.columns]"),
            unit=_names_unit(table, column.name, policy),
            from_unit=_leads_to_unit(table, column.name, policy),
        )
        for column in table.columns.values()
    )
    visible = tuple(_with_declaration(with_range(one, bounds), policy, table.name) for one in visible)
    return Source(Scan(table.name), Scope(visible, {one.column.name: one for one in visible}))


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
    return UnknownName(f"There is no table {shown(name)!r}. {did_you_mean(name, [*policy.tables, *policy.public])}")


def of_table(column: ColumnPolicy, name: str, alias: str, section: str) -> Visible:
    """Return a column of a table with what the policy says of it."""
    made = Column(column.type, column.interval if column.type.numeric else None, name)
    return Visible(alias, column.name, made, made, declared=column, section=section)


def _with_declaration(one: Visible, policy: Policy, table: str) -> Visible:
    """Return a column that knows how another type is declared for it, where none is."""
    line = declaration(policy, table, one.declared) if one.declared is not None else ""
    made = replace(one.column, declare=line)
    return replace(one, column=made, definition=made) if line else one


def with_range(one: Visible, bounds: Mapping[str, Interval]) -> Visible:
    """Return a column with the range that the call gives for it."""
    given = look_up(one.name, bounds)
    if given is None or not one.column.type.numeric:
        return one
    made = replace(one.column, interval=given)
    return replace(one, column=made, definition=made)


def _names_unit(table: TablePolicy, column: str, policy: Policy) -> bool:
    """Whether different units have different values in this column, and each unit one."""
    unit = table.unit
    if isinstance(unit, UnitColumn):
        return unit.column == column
    if isinstance(unit, UnitLink) and unit.column == column:
        other = policy.tables.get(unit.table)
        return other is not None and isinstance(other.unit, UnitColumn) and other.unit.column == unit.key
    return False


def _leads_to_unit(table: TablePolicy, column: str, policy: Policy) -> bool:
    """Whether a value of this column belongs to one unit: the unit, a link to it, or a key that others link to."""
    if isinstance(table.unit, UnitColumn | UnitLink) and table.unit.column == column:
        return True
    links = [other.unit for other in policy.tables.values() if isinstance(other.unit, UnitLink)]
    return any(link.table == table.name and link.key == column for link in links)


def where(source: Source, node: exp.Expr | None) -> Source:
    """Return the rows that a WHERE keeps."""
    if node is None:
        return source
    only(node, "this")
    return Source(Filter(source.rows, source.reader().condition(node.this)), source.scope)


def project(source: Source, select: exp.Select) -> Source:
    """Return the rows with the columns of a SELECT without aggregates."""
    columns: list[tuple[str, Expression]] = []
    visible: list[Visible] = []
    taken: set[str] = set()
    reader = source.reader()
    for position, (name, node) in enumerate(items(select, source), 1):
        found = source.find(node) if isinstance(node, exp.Column) else None
        expression = found.column if found is not None else reader.read(node)
        label = name or (found.name if found is not None else f"column{position}")
        if fold(label) in taken:
            raise UnsupportedSQL(
                f"Two columns are called {shown(label)!r}. Write AS and another name behind one of them."
            )
        taken.add(fold(label))
        columns.append((label, expression))
        definition, size = source.scope.definition(expression)
        made = Column(expression.type, short(expression.interval), label)
        known = found or Visible("", label, made, definition)
        known = replace(known, from_unit=source.scope.from_unit(expression))
        visible.append(replace(known, table="", name=label, column=made, definition=definition, size=size))
    return Source(Project(source.rows, tuple(columns)), Scope(tuple(visible), source.scope.base))


def items(select: exp.Select, source: Source | None) -> list[tuple[str | None, exp.Expr]]:
    """Return the items of a SELECT with the names given to them; * stands for all columns of the rows."""
    found: list[tuple[str | None, exp.Expr]] = []
    check_number(select)
    for written in select.expressions:
        if isinstance(written, exp.Star) and source is not None:
            only(written)
            found.extend(
                (None, exp.column(one.name, table=one.table or None, quoted=True))
                for one in source.scope.visible
                if not one.qualified_only
            )
            continue
        found.append(named_item(written))
    if not found:
        raise UnsupportedSQL(ROWS)
    return found


def check_number(select: exp.Select) -> None:
    """Refuse a SELECT of very many items."""
    if len(select.expressions) > MOST_ITEMS:
        raise UnsupportedSQL(f"A SELECT has at most {MOST_ITEMS} items, and this one more. Ask in several queries.")


def named_item(written: exp.Expr) -> tuple[str | None, exp.Expr]:
    """Return the name that AS gives to an item of a SELECT, and the item without brackets."""
    if not isinstance(written, exp.Alias):
        return None, bare(written)
    only(written, "this", "alias")
    name = written.alias
    if not name or name.startswith("#") or not isinstance(written.args.get("alias"), exp.Identifier):
        raise UnsupportedSQL(f"{shown(written)!r} gives no usable name. Write AS and a name of letters, digits and _.")
    return name, bare(written.this)


def bare(node: exp.Expr) -> exp.Expr:
    """Return a node without the brackets around it."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def table_alias(node: exp.Expr) -> str:
    """Return the name a table has in the query, if one is given."""
    alias = part(node, "alias")
    if alias is None:
        return ""
    only(alias, "this")
    return alias.name
