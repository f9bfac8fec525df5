"""A released table while a query is read: its columns, a SELECT around it, the order and the number of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.errors import UnknownName, UnsupportedSQL
from discreet.query.expression import Column, Expression
from discreet.query.plan import Aggregation, Order, PostProcessing
from discreet.query.reading.answers.windows import Windows
from discreet.query.reading.expressions import Reader
from discreet.query.reading.parse import check_number, claim, did_you_mean, fold, named_item, only, shown
from discreet.query.reading.refusals import reason

LONGEST_LIMIT = 10**9
Columns = tuple[tuple[str, Expression], ...]
Clauses = Mapping[str, exp.Expr | None]


@dataclass(frozen=True, slots=True)
class Released:
    """A released table: how it comes about, and its columns; `alias` is its name in the FROM around it."""

    aggregation: Aggregation
    finish: tuple[PostProcessing, ...]
    columns: tuple[Column, ...]
    alias: str = ""
    totals: tuple[tuple[int, ...], ...] = ()

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


def around(select: exp.Select, clauses: Clauses, origin: Released) -> Released:
    """Return a released table after a SELECT without aggregates around it."""
    windows = Windows(select)
    columns = _columns(select, origin, _reader(origin, windows))
    condition = Reader(origin.resolve).clause(clauses["where"]) if clauses["where"] is not None else None
    reader = _reader(origin, windows, columns)
    order = orders(clauses["order"], columns, reader)
    kept = reader.clause(clauses["qualify"]) if clauses["qualify"] is not None else None
    step = numbered(clauses, PostProcessing(columns, condition, order, None, windows.read(), kept))
    return released(origin, step, [one.name for one in origin.columns])


def _reader(origin: Released, windows: Windows, columns: Columns = ()) -> Reader:
    """Return what reads expressions over the released table; names of `columns` go first."""
    named = {fold(name): expression for name, expression in columns}

    def special(node: exp.Expr) -> Expression | None:
        if isinstance(node, exp.Window):
            return windows.ask(node, reader)
        plain = isinstance(node, exp.Column) and not node.table
        return named.get(fold(node.name)) if plain else None

    reader = Reader(origin.resolve, special)
    return reader


def released(origin: Released, step: PostProcessing, names: Sequence[str]) -> Released:
    """Return a table with the columns of these names after one more step; a step that changes nothing is left out."""
    columns = tuple([Column(one.type, None, name) for name, one in step.columns])
    same = [(name, name) for name in names] == [
        (name, one.name if isinstance(one, Column) else None) for name, one in step.columns
    ]
    idle = same and not origin.totals and step == PostProcessing(step.columns, None, (), None)
    return replace(origin, finish=origin.finish if idle else (*origin.finish, step), columns=columns, alias="")


def _columns(select: exp.Select, origin: Released, reader: Reader) -> Columns:
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
        plain = isinstance(expression, Column) and not expression.name.startswith("#")
        found.append((name or (expression.name if plain else f"column{position}"), expression))  # type: ignore[attr-defined]
    taken: set[str] = set()
    for name, _ in found:
        claim(name, taken)
    return tuple(found)


def numbered(clauses: Clauses, step: PostProcessing) -> PostProcessing:
    """Return a step with DISTINCT, LIMIT and OFFSET as they are written."""
    distinct = clauses["distinct"]
    if distinct is not None:
        only(distinct)
        shown_columns = [expression for _, expression in step.columns]
        if any(one.expression not in shown_columns for one in step.order):
            raise UnsupportedSQL("SELECT DISTINCT is ordered by its own columns alone. Add the others to SELECT.")
    offset = clauses["offset"]
    if offset is not None:
        only(offset, "expression")
    limit = clauses["limit"]
    if limit is not None and not isinstance(limit, exp.Limit):
        raise UnsupportedSQL("FETCH FIRST is not understood. Write LIMIT 10.")
    if limit is not None:
        only(limit, "expression")
    return replace(
        step,
        distinct=distinct is not None,
        limit=None if limit is None else _number(limit.args.get("expression"), "LIMIT"),
        offset=0 if offset is None else _number(offset.args.get("expression"), "OFFSET"),
    )


def _number(node: exp.Expr | None, word: str) -> int:
    """Return the number of rows of LIMIT or OFFSET."""
    text = node.name if isinstance(node, exp.Literal) and not node.is_string else ""
    if not (text.isdecimal() and text.isascii()) or len(text) > 10 or int(text) > LONGEST_LIMIT:
        raise UnsupportedSQL(f"{word} takes a whole number of rows. Write {word} 10.")
    return int(text)


def orders(clause: exp.Expr | None, columns: Columns, reader: Reader) -> tuple[Order, ...]:
    """Return the terms of ORDER BY: positions, names of the answer's columns, or expressions."""
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
            expression = columns[place_named(node, len(columns))][1]
        else:
            expression = reader.read(node)
        found.append(Order(expression, bool(term.args.get("desc"))))
    return tuple(found)


def place_named(node: exp.Expr, count: int) -> int:
    """Return which column a position names, from 0."""
    text = node.name
    if not (text.isdecimal() and text.isascii()) or len(text) > 6 or not 1 <= int(text) <= count:
        raise UnsupportedSQL(
            f"{shown(text)} is not a position in the SELECT, which has {count}. Write a name, or 1 to {count}."
        )
    return int(text) - 1
