"""What is computed from a released table: a SELECT around an aggregation, ORDER BY and LIMIT."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from discreet.errors import UnknownName, UnsupportedSQL
from discreet.query.expression import Column, Expression
from discreet.query.plan import Aggregation, Finish, Order
from discreet.query.reading.expressions import Reader
from discreet.query.reading.parse import only, part, shown
from discreet.query.reading.refusals import reason
from discreet.query.reading.rows import check_number, named_item
from discreet.query.reading.scope import did_you_mean, fold

LONGEST_LIMIT = 10**9


@dataclass(frozen=True, slots=True)
class Released:
    """A released table: how it comes about, and its columns; `alias` is its name in the FROM around it."""

    aggregation: Aggregation
    finish: tuple[Finish, ...]
    columns: tuple[Column, ...]
    alias: str = ""

    def resolve(self, node: exp.Column) -> Expression:
        """Return the column that a name stands for."""
        only(node, "this", "table")
        if not isinstance(node.this, exp.Identifier):
            raise UnsupportedSQL(reason("Star", ""))
        if node.table and fold(node.table) != fold(self.alias):
            raise UnknownName(
                f"There is no table {shown(node.table)!r} in this FROM. {did_you_mean(node.table, [self.alias])}"
            )
        for column in self.columns:
            if fold(column.name) == fold(node.name):
                return column
        known = [column.name for column in self.columns]
        raise UnknownName(f"There is no column {shown(node.name)!r} in the answer. {did_you_mean(node.name, known)}")


def finish(select: exp.Select, origin: Released) -> Released:
    """Return a released table after a SELECT without aggregates around it."""
    reader = Reader(origin.resolve)
    columns = _columns(select, origin, reader)
    clause = part(select, "where")
    if clause is not None:
        only(clause, "this")
    condition = reader.condition(clause.this) if clause is not None else None
    named = {fold(name): expression for name, expression in columns}

    def special(node: exp.Expr) -> Expression | None:
        plain = isinstance(node, exp.Column) and not node.table
        return named.get(fold(node.name)) if plain else None

    order = orders_of(select, columns, Reader(origin.resolve, special))
    step = Finish(columns, condition, order, limit_of(select))
    shown_columns = tuple(Column(one.type, None, name) for name, one in columns)
    untouched = all(isinstance(one, Column) and one.name == name for name, one in columns)
    same = untouched and [name for name, _ in columns] == [one.name for one in origin.columns]
    if same and condition is None and not order and step.limit is None:
        return Released(origin.aggregation, origin.finish, origin.columns)
    return Released(origin.aggregation, (*origin.finish, step), shown_columns)


def _columns(select: exp.Select, origin: Released, reader: Reader) -> tuple[tuple[str, Expression], ...]:
    """Return the columns of an outer SELECT."""
    found: list[tuple[str, Expression]] = []
    check_number(select)
    for position, written in enumerate(select.expressions, 1):
        if isinstance(written, exp.Star):
            only(written)
            found.extend((column.name, column) for column in origin.columns)
            continue
        name, node = named_item(written)
        expression = reader.read(node)
        plain = expression.name if isinstance(expression, Column) else f"column{position}"
        found.append((name or plain, expression))
    taken: set[str] = set()
    for name, _ in found:
        if fold(name) in taken:
            raise UnsupportedSQL(
                f"Two columns are called {shown(name)!r}. Write AS and another name behind one of them."
            )
        taken.add(fold(name))
    return tuple(found)


def orders_of(select: exp.Select, columns: Sequence[tuple[str, Expression]], reader: Reader) -> tuple[Order, ...]:
    """Return the terms of ORDER BY: positions, names of the answer's columns, or expressions."""
    clause = part(select, "order")
    if clause is None:
        return ()
    only(clause, "expressions")
    found = []
    for term in clause.expressions:
        if not isinstance(term, exp.Ordered):
            raise UnsupportedSQL(
                f"{shown(term)!r} is not understood in ORDER BY. Write names of columns of the answer."
            )
        only(term, "this", "desc")
        node = term.this
        if isinstance(node, exp.Var):
            raise UnsupportedSQL("ORDER BY ALL is not understood. Name the columns, or their positions: ORDER BY 1, 2.")
        if isinstance(node, exp.Literal) and not node.is_string:
            expression = columns[position_of(node, len(columns))][1]
        else:
            expression = reader.read(node)
        found.append(Order(expression, bool(term.args.get("desc"))))
    return tuple(found)


def position_of(node: exp.Expr, count: int) -> int:
    """Return which column a position names, from 0."""
    text = node.name
    if not (text.isdecimal() and text.isascii()) or len(text) > 6 or not 1 <= int(text) <= count:
        raise UnsupportedSQL(
            f"{shown(text)} is no position in the SELECT, which has {count}. Write a name, or 1 to {count}."
        )
    return int(text) - 1


def limit_of(select: exp.Select) -> int | None:
    """Return the number of rows that LIMIT allows."""
    clause = part(select, "limit")
    if clause is None:
        return None
    if not isinstance(clause, exp.Limit):
        raise UnsupportedSQL("FETCH FIRST is not understood. Write LIMIT 10.")
    only(clause, "expression")
    node = clause.args.get("expression")
    text = node.name if isinstance(node, exp.Literal) and not node.is_string else ""
    if not (text.isdecimal() and text.isascii()) or len(text) > 10 or int(text) > LONGEST_LIMIT:
        raise UnsupportedSQL("LIMIT takes a whole number of rows. Write LIMIT 10.")
    return int(text)
