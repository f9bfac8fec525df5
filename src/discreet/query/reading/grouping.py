"""What is released of rows, and what is made of it: aggregates by keys, a SELECT around them, ORDER BY and LIMIT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from discreet.errors import UnknownName, UnsupportedSQL
from discreet.query.expression import Column, Expression, Interval, Literal
from discreet.query.plan import Aggregation, Order, PostProcessing
from discreet.query.reading.aggregates import Aggregates, default_name
from discreet.query.reading.expressions import Reader
from discreet.query.reading.extremes import refuse_extremes
from discreet.query.reading.keys import KeyValues
from discreet.query.reading.parse import (
    bare,
    check_number,
    claim,
    did_you_mean,
    fold,
    has_aggregate,
    is_aggregate,
    items,
    named_item,
    only,
    shown,
)
from discreet.query.reading.refusals import ROWS, reason
from discreet.query.reading.rows import ReadableRows

MOST_KEYS = 30
LONGEST_LIMIT = 10**9
_Columns = tuple[tuple[str, Expression], ...]
_Clauses = Mapping[str, exp.Expr | None]
_Items = Sequence[tuple[str | None, exp.Expr]]


@dataclass(frozen=True, slots=True)
class Released:
    """A released table: how it comes about, and its columns; `alias` is its name in the FROM around it."""

    aggregation: Aggregation
    finish: tuple[PostProcessing, ...]
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


@dataclass(frozen=True, slots=True)
class _Term:
    """A term of GROUP BY: how it was written, what it is, and the column it names, if it is one."""

    node: exp.Expr
    expression: Expression
    name: str | None


def aggregate(
    source: ReadableRows,
    select: exp.Select,
    clauses: _Clauses,
    unit: str,
    bounds: Mapping[str, Interval],
    keys: KeyValues,
    used: set[str],
) -> Released:
    """Return the released table of a SELECT with aggregates."""
    if any(isinstance(node, exp.Star) for node in select.expressions):
        raise UnsupportedSQL(ROWS)
    listed = items(select, None)
    for _, node in listed:
        refuse_extremes(node, source)
    terms = _terms(source, clauses["group"], listed, unit)
    grouping = _Grouping(source, terms, Aggregates(source, unit, bounds, used), _labels(listed, source))
    columns = grouping.columns(listed)
    having = clauses["having"]
    condition = grouping.reader().clause(having) if having is not None else None
    order = _orders(clauses["order"], columns, grouping.reader(columns))
    if not grouping.aggregates.asked:
        raise UnsupportedSQL("Groups alone are not shown: ask something about each, such as COUNT(*).")
    step = PostProcessing(columns, condition, order, _limit(clauses["limit"]))
    made = tuple([keys.key(source, term.expression, name, term.name, used) for term, name in grouping.ordered_keys()])
    aggregation = Aggregation(source.rows, made, tuple(grouping.aggregates.asked))
    plain = [key.name for key in made] + [one.name for one in aggregation.asked]
    return _released(aggregation, (), step, plain)


def finish(select: exp.Select, clauses: _Clauses, origin: Released) -> Released:
    """Return a released table after a SELECT without aggregates around it."""
    reader = Reader(origin.resolve)
    columns = _columns(select, origin, reader)
    condition = reader.clause(clauses["where"]) if clauses["where"] is not None else None
    named = {fold(name): expression for name, expression in columns}

    def special(node: exp.Expr) -> Expression | None:
        plain = isinstance(node, exp.Column) and not node.table
        return named.get(fold(node.name)) if plain else None

    order = _orders(clauses["order"], columns, Reader(origin.resolve, special))
    step = PostProcessing(columns, condition, order, _limit(clauses["limit"]))
    return _released(origin.aggregation, origin.finish, step, [one.name for one in origin.columns])


def _released(
    aggregation: Aggregation, earlier: tuple[PostProcessing, ...], step: PostProcessing, names: list[str]
) -> Released:
    """Return a table with the columns of these names after one more step; a step that changes nothing is left out."""
    columns = tuple([Column(one.type, None, name) for name, one in step.columns])
    same = [(name, name) for name in names] == [
        (name, one.name if isinstance(one, Column) else None) for name, one in step.columns
    ]
    idle = same and step.condition is None and not step.order and step.limit is None
    return Released(aggregation, earlier if idle else (*earlier, step), columns)


def _columns(select: exp.Select, origin: Released, reader: Reader) -> _Columns:
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
        claim(name, taken)
    return tuple(found)


def _labels(listed: _Items, source: ReadableRows) -> list[str]:
    """Return the names of the answer's columns."""
    found: list[str] = []
    taken: set[str] = set()
    for position, (name, node) in enumerate(listed, 1):
        if name is not None:
            label = name
        elif isinstance(node, exp.Column):
            matches = source.scope.matches(node.name, node.table or None)
            label = matches[0].name if matches else node.name
        else:
            label = default_name(node) if is_aggregate(node) else f"column{position}"
            stem, number = label, 1
            while fold(label) in taken:
                number += 1
                label = f"{stem}_{number}"
        if label.startswith("#"):
            raise UnsupportedSQL(
                f"{shown(label)!r} cannot be a name in the answer. Write AS and another name behind it."
            )
        claim(label, taken)
        found.append(label)
    return found


def _terms(source: ReadableRows, clause: exp.Expr | None, listed: _Items, unit: str) -> list[_Term]:
    """Return the terms of GROUP BY, without repetitions."""
    if clause is None:
        return []
    written_terms = group_terms(clause, listed)
    if len(written_terms) > MOST_KEYS:
        raise UnsupportedSQL(f"GROUP BY takes at most {MOST_KEYS} keys. Group by fewer columns.")
    found: list[_Term] = []
    for written in written_terms:
        node = meant_by(written, source, listed)
        visible = source.find(node) if isinstance(node, exp.Column) else None
        if visible is None and has_aggregate(node):
            raise UnsupportedSQL(
                f"GROUP BY {shown(node)}: an aggregate cannot be a key. Group by columns or expressions."
            )
        expression = visible.column if visible is not None else source.reader().read(node)
        if source.scope.from_unit(expression):
            key = visible.name if visible is not None else shown(node)
            raise UnsupportedSQL(
                f"GROUP BY {key} makes groups of one {unit} each, or of what is computed from one. Group by something "
                f"that many share; or put this query into brackets behind FROM and ask about its numbers, such as "
                "AVG(CLAMP(n, 0, 50)) where it counts COUNT(*) AS n."
            )
        if isinstance(expression, Literal):
            raise UnsupportedSQL(
                f"GROUP BY {shown(node)} is a constant. Leave it out: without keys there is one group."
            )
        if expression not in [one.expression for one in found]:
            found.append(_Term(node, expression, visible.name if visible is not None else None))
    return found


def group_terms(clause: exp.Expr, listed: _Items) -> list[exp.Expr]:
    """Return the terms of GROUP BY; ALL stands for the items without aggregates that read a column."""
    only(clause, "expressions", "all")
    if not clause.args.get("all"):
        return list(clause.expressions)
    return [node for _, node in listed if not has_aggregate(node) and node.find(exp.Column) is not None]


def meant_by(node: exp.Expr, source: ReadableRows, listed: _Items) -> exp.Expr:
    """Return the expression that a term of GROUP BY stands for: itself, a position, or a name given by AS."""
    node = bare(node)
    if isinstance(node, exp.Literal) and not node.is_string:
        return listed[_position(node, len(listed))][1]
    if isinstance(node, exp.Column) and not node.table and not source.scope.matches(node.name, None):
        for name, item in listed:
            if name is not None and fold(name) == fold(node.name):
                return item
    if isinstance(node, exp.Tuple):
        raise UnsupportedSQL("GROUP BY takes its keys without brackets: GROUP BY a, b.")
    if isinstance(node, exp.Rollup | exp.Cube | exp.GroupingSets):
        raise UnsupportedSQL(reason(f"Group.{type(node).__name__.lower()}", reason("Grouping", "")))
    return node


@dataclass(slots=True)
class _Grouping:
    """What is known while one SELECT with aggregates is read."""

    source: ReadableRows
    terms: list[_Term]
    aggregates: Aggregates
    labels: list[str]
    names: dict[int, str] = field(default_factory=dict)  # of the keys that are shown, by place in `terms`
    earlier: dict[str, Expression] = field(default_factory=dict)  # what the names before an item stand for

    def columns(self, listed: _Items) -> _Columns:
        """Return the columns of the answer over the released table; plain keys and aggregates get their names first."""
        plain: list[Expression | None] = []
        for label, (_, node) in zip(self.labels, listed, strict=True):
            place = self._place(node)
            if place is not None:
                self.names.setdefault(place, label)
                plain.append(self._shown(place))
            else:
                plain.append(self.aggregates.ask(node, label) if is_aggregate(node) else None)
        found = []
        for label, (_, node), known in zip(self.labels, listed, plain, strict=True):
            expression = known if known is not None else self.reader().read(node)
            found.append((label, expression))
            self.earlier[fold(label)] = expression
        return tuple(found)

    def reader(self, named: _Columns = ()) -> Reader:
        """Return what reads expressions over the released table; `named` columns of the answer go before keys."""
        first = {fold(name): expression for name, expression in named}

        def special(node: exp.Expr) -> Expression | None:
            if isinstance(node, exp.Column) and not node.table and fold(node.name) in first:
                return first[fold(node.name)]
            if is_aggregate(node):
                return self.aggregates.ask(node)
            place = self._place(node)
            return self._shown(place) if place is not None else None

        return Reader(self._column, special)

    def ordered_keys(self) -> list[tuple[_Term, str]]:
        """Return the keys in the order in which they are shown, then those that are not."""
        shown_first = sorted(self.names, key=lambda place: self.labels.index(self.names[place]))
        rest = [place for place in range(len(self.terms)) if place not in self.names]
        return [(self.terms[place], self._name(place)) for place in (*shown_first, *rest)]

    def _name(self, place: int) -> str:
        """Return the name of a key in the released table."""
        return self.names.get(place, f"#key{place + 1}")

    def _shown(self, place: int) -> Column:
        """Return the column of the released table that holds a key."""
        return Column(self.terms[place].expression.type, None, self._name(place))

    def _place(self, node: exp.Expr) -> int | None:
        """Return which key a node is, if it is one."""
        if type(node) not in [type(term.node) for term in self.terms]:
            return None
        if isinstance(node, exp.Column):
            if not self.source.scope.matches(node.name, node.table or None):
                return None
            expression = self.source.resolve(node)
        elif has_aggregate(node):
            return None
        else:
            expression = self.source.reader().read(node)
        return next((place for place, term in enumerate(self.terms) if term.expression == expression), None)

    def _column(self, node: exp.Column) -> Expression:
        """Return what a name stands for that is not a key: an earlier column of the answer, or a refusal."""
        if not node.table and fold(node.name) in self.earlier and not self.source.scope.matches(node.name, None):
            return self.earlier[fold(node.name)]
        found = self.source.find(node)
        raise UnsupportedSQL(
            f"{shown(node)!r} differs from row to row, and rows are never shown. Write an aggregate such as "
            f"{'AVG' if found.column.type.numeric else 'COUNT'}({found.name}), or add {found.name} to GROUP BY."
        )


def _orders(clause: exp.Expr | None, columns: _Columns, reader: Reader) -> tuple[Order, ...]:
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
            expression = columns[_position(node, len(columns))][1]
        else:
            expression = reader.read(node)
        found.append(Order(expression, bool(term.args.get("desc"))))
    return tuple(found)


def _position(node: exp.Expr, count: int) -> int:
    """Return which column a position names, from 0."""
    text = node.name
    if not (text.isdecimal() and text.isascii()) or len(text) > 6 or not 1 <= int(text) <= count:
        raise UnsupportedSQL(
            f"{shown(text)} is not a position in the SELECT, which has {count}. Write a name, or 1 to {count}."
        )
    return int(text) - 1


def _limit(clause: exp.Expr | None) -> int | None:
    """Return the number of rows that LIMIT allows."""
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
