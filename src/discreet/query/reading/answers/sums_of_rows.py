"""Rows of an answer added up after the noise: SELECT SUM(n) FROM (SELECT ... GROUP BY ...) GROUP BY something coarser.

It costs nothing. Every aggregate is a window over the rows that have one key, and one row of each key is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from discreet.errors import UnsupportedSQL
from discreet.query.expression import Column, Expression, Operation, Type, typing_rules
from discreet.query.plan import AnswerWindow, PostProcessing, WindowKind
from discreet.query.reading.answers.select_around import (
    Clauses,
    Columns,
    Released,
    numbered,
    orders,
    place_named,
    released,
)
from discreet.query.reading.answers.windows import Windows, read_function
from discreet.query.reading.expressions import Reader
from discreet.query.reading.parse import bare, claim, fold, is_aggregate, items, only, shown

_UNDERSTOOD = (WindowKind.SUM, WindowKind.MEAN, WindowKind.COUNT, WindowKind.MIN, WindowKind.MAX)


def added_up(select: exp.Select, clauses: Clauses, origin: Released) -> Released:
    """Return a released table whose rows are added up by the keys of a SELECT around it."""
    if any(isinstance(node, exp.Star) for node in select.expressions):
        raise UnsupportedSQL("* cannot stand beside aggregates. List the columns.")
    listed = items(select, None)
    reading = _AddedUp(origin, _terms(origin, clauses["group"], listed))
    windows = Windows(select)
    columns = reading.columns(listed, windows)
    having, qualify = clauses["having"], clauses["qualify"]
    condition = reading.reader(None).clause(having) if having is not None else None
    reader = reading.reader(windows, columns)
    order = orders(clauses["order"], columns, reader)
    kept = reader.clause(qualify) if qualify is not None else None
    where = Reader(origin.resolve).clause(clauses["where"]) if clauses["where"] is not None else None
    first = replace(origin, finish=(*origin.finish, reading.step(where)))
    last = numbered(clauses, PostProcessing(columns, condition, order, None, windows.read(), kept))
    return released(first, last, [])


@dataclass(slots=True)
class _AddedUp:
    """What is known while rows of an answer are added up."""

    origin: Released
    terms: list[Expression]
    windows: list[AnswerWindow] = field(default_factory=list)

    def columns(self, listed: Sequence[tuple[str | None, exp.Expr]], windows: Windows) -> Columns:
        """Return the columns, with their names."""
        found: list[tuple[str, Expression]] = []
        taken: set[str] = set()
        for place, (name, node) in enumerate(listed, 1):
            label = name or (node.name if isinstance(node, exp.Column) else f"column{place}")
            claim(label, taken)
            found.append((label, self.reader(windows, tuple(found), keys_first=True).read(node)))
        return tuple(found)

    def reader(self, windows: Windows | None, named: Columns = (), *, keys_first: bool = False) -> Reader:
        """Return what reads expressions over keys and sums."""
        first = {fold(name): expression for name, expression in named}

        def special(node: exp.Expr) -> Expression | None:
            if isinstance(node, exp.Window) and windows is not None:
                return windows.ask(node, reader)
            if is_aggregate(node):
                return self._sum(node)
            key = self._key(node)
            bare_name = isinstance(node, exp.Column) and not node.table and fold(node.name) in first
            if bare_name and not (keys_first and key is not None):
                return first[fold(node.name)]
            return key

        reader = Reader(self._no_key, special)
        return reader

    def step(self, condition: Expression | None) -> PostProcessing:
        """Return the step that adds up: all sums beside each row, and of every key one row."""
        one = AnswerWindow(WindowKind.ROW_NUMBER, None, tuple(self.terms))
        named = tuple((f"#sum{place}", window) for place, window in enumerate((*self.windows, one)))
        number = Column(Type.INTEGER, None, named[-1][0])
        kept = typing_rules.apply(Operation.EQUAL, number, typing_rules.literal(1))
        columns = [(f"#by{place}", key) for place, key in enumerate(self.terms)]
        columns += [(name, Column(window.type, None, name)) for name, window in named[:-1]]
        return PostProcessing(tuple(columns), condition, (), None, named, kept)

    def _sum(self, node: exp.Expr) -> Column:
        """Return the column that holds an aggregate of the rows of one key."""
        reader, condition = Reader(self.origin.resolve, _no_aggregate), None
        if isinstance(node, exp.Filter):
            only(node, "this", "expression")
            only(node.args["expression"], "this")
            node, condition = node.this, reader.condition(node.args["expression"].this)
        window = read_function(node, reader, condition)
        if window.kind not in _UNDERSTOOD:
            raise UnsupportedSQL(f"{shown(node)!r} is not understood of answers. Write SUM, AVG, COUNT, MIN or MAX.")
        window = replace(window, partition=tuple(self.terms), frame=(None, None))
        if window not in self.windows:
            self.windows.append(window)
        return Column(window.type, None, f"#sum{self.windows.index(window)}")

    def _key(self, node: exp.Expr) -> Column | None:
        """Return the column of a key, if a node is one."""
        if isinstance(node, exp.Column):
            known = [fold(one.name) for one in self.origin.columns]
            if fold(node.name) not in known:
                return None
        elif not self.terms or isinstance(node, exp.Literal | exp.Null | exp.Boolean) or _has_inner(node):
            return None
        expression = Reader(self.origin.resolve).read(node)
        if expression not in self.terms:
            return None
        return Column(expression.type, None, f"#by{self.terms.index(expression)}")

    def _no_key(self, node: exp.Column) -> Expression:
        """Refuse a column that is neither a key nor added up."""
        self.origin.resolve(node)
        raise UnsupportedSQL(
            f"{shown(node)!r} differs among the rows that are added up. Write SUM({shown(node)}), or add it to GROUP "
            "BY."
        )


def _has_inner(node: exp.Expr) -> bool:
    """Whether an aggregate or a window stands in a node."""
    return any(is_aggregate(one) or isinstance(one, exp.Window | exp.Query) for one in node.walk())


def _no_aggregate(node: exp.Expr) -> Expression | None:
    if is_aggregate(node) or isinstance(node, exp.Window):
        raise UnsupportedSQL(f"{shown(node)!r} stands inside another aggregate. Compute it in a SELECT in brackets.")
    return None


def _terms(
    origin: Released, clause: exp.Expr | None, listed: Sequence[tuple[str | None, exp.Expr]]
) -> list[Expression]:
    """Return the keys of GROUP BY over an answer."""
    if clause is None:
        return []
    only(clause, "expressions")
    known = [fold(one.name) for one in origin.columns]
    found: list[Expression] = []
    for written in clause.expressions:
        node = bare(written)
        if isinstance(node, exp.Literal) and not node.is_string:
            node = listed[place_named(node, len(listed))][1]
        elif isinstance(node, exp.Column) and not node.table and fold(node.name) not in known:
            node = next((one for name, one in listed if name is not None and fold(name) == fold(node.name)), node)
        if _has_inner(node):
            raise UnsupportedSQL(f"GROUP BY {shown(node)}: an aggregate cannot be a key. Group by columns.")
        if isinstance(node, exp.Rollup | exp.Cube | exp.GroupingSets):
            raise UnsupportedSQL("ROLLUP, CUBE and GROUPING SETS stand where rows are added up, not around an answer.")
        expression = Reader(origin.resolve).read(node)
        if expression not in found:
            found.append(expression)
    return found
