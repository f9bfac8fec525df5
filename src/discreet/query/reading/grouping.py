"""A SELECT with aggregates: keys, what is asked of each group, and the step that shapes the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from discreet.errors import UnsupportedSQL
from discreet.query.expression import Column, Expression, Interval, Literal, Value
from discreet.query.plan import Aggregation, Finish, Key
from discreet.query.reading.after_release import Released, limit_of, orders_of, position_of
from discreet.query.reading.aggregates import Aggregates
from discreet.query.reading.calls import default_name, has_aggregate, is_aggregate
from discreet.query.reading.expressions import Reader
from discreet.query.reading.key_domains import Evaluate, public_domain, stated_keys
from discreet.query.reading.parse import only, part, shown
from discreet.query.reading.refusals import ROWS, reason
from discreet.query.reading.rows import Source, items
from discreet.query.reading.scope import fold, look_up

MOST_KEYS = 30


@dataclass(frozen=True, slots=True)
class _Term:
    """A term of GROUP BY: how it was written, what it is, and the column it names, if it is one."""

    node: exp.Expr
    expression: Expression
    name: str | None


def aggregate(
    source: Source,
    select: exp.Select,
    unit: str,
    bounds: Mapping[str, Interval],
    keys: Mapping[str, Sequence[Value]],
    evaluate: Evaluate | None,
    used: set[str],
) -> Released:
    """Return the released table of a SELECT with aggregates."""
    if any(isinstance(node, exp.Star) for node in select.expressions):
        raise UnsupportedSQL(ROWS)
    listed = items(select, None)
    terms = _terms(source, select, listed, unit)
    grouping = _Grouping(source, terms, Aggregates(source, unit, bounds, used), _labels(listed, source))
    columns = grouping.columns(listed)
    having = part(select, "having")
    if having is not None:
        only(having, "this")
    condition = grouping.reader().condition(having.this) if having is not None else None
    order = orders_of(select, columns, grouping.reader(columns))
    if not grouping.aggregates.asked:
        raise UnsupportedSQL("Groups alone are not shown: ask something about each, such as COUNT(*).")
    step = Finish(columns, condition, order, limit_of(select))
    made = tuple(grouping.key(term, name, keys, evaluate) for term, name in grouping.ordered_keys())
    aggregation = Aggregation(source.rows, made, tuple(grouping.aggregates.asked))
    plain = [key.name for key in made] + [one.name for one in aggregation.asked]
    shaped = [(name, expression) for name, expression in columns]
    trivial = [name for name, _ in shaped] == plain and all(
        isinstance(one, Column) and one.name == name for name, one in shaped
    )
    if trivial and condition is None and not order and step.limit is None:
        return Released(aggregation, (), tuple(Column(one.type, None, name) for name, one in shaped))
    return Released(aggregation, (step,), tuple(Column(one.type, None, name) for name, one in shaped))


def _labels(listed: Sequence[tuple[str | None, exp.Expr]], source: Source) -> list[str]:
    """Return the names of the answer's columns."""
    found: list[str] = []
    for position, (name, node) in enumerate(listed, 1):
        if name is not None:
            label = name
        elif isinstance(node, exp.Column):
            matches = source.scope.matches(node.name, node.table or None)
            label = matches[0].name if matches else node.name
        else:
            label = default_name(node) if is_aggregate(node) else f"column{position}"
            stem, number = label, 1
            while fold(label) in [fold(one) for one in found]:
                number += 1
                label = f"{stem}_{number}"
        if label.startswith("#"):
            raise UnsupportedSQL(
                f"{shown(label)!r} cannot be a name in the answer. Write AS and another name behind it."
            )
        if fold(label) in [fold(one) for one in found]:
            raise UnsupportedSQL(
                f"Two columns are called {shown(label)!r}. Write AS and another name behind one of them."
            )
        found.append(label)
    return found


def _terms(source: Source, select: exp.Select, listed: Sequence[tuple[str | None, exp.Expr]], unit: str) -> list[_Term]:
    """Return the terms of GROUP BY, without repetitions."""
    clause = part(select, "group")
    if clause is None:
        return []
    only(clause, "expressions")
    if len(clause.expressions) > MOST_KEYS:
        raise UnsupportedSQL(f"GROUP BY takes at most {MOST_KEYS} keys. Group by fewer columns.")
    found: list[_Term] = []
    for written in clause.expressions:
        node = _meant(written, source, listed)
        if has_aggregate(node):
            raise UnsupportedSQL(
                f"GROUP BY {shown(node)}: an aggregate cannot be a key. Group by columns or expressions."
            )
        visible = source.find(node) if isinstance(node, exp.Column) else None
        expression = visible.column if visible is not None else source.reader().read(node)
        if source.scope.from_unit(expression):
            key = visible.name if visible is not None else shown(node)
            raise UnsupportedSQL(
                f"GROUP BY {key} makes groups of one {unit} each, or of what is computed from one. Group by something "
                "that many share."
            )
        if isinstance(expression, Literal):
            raise UnsupportedSQL(
                f"GROUP BY {shown(node)} is a constant. Leave it out: without keys there is one group."
            )
        if all(one.expression != expression for one in found):
            found.append(_Term(node, expression, visible.name if visible is not None else None))
    return found


def _meant(node: exp.Expr, source: Source, listed: Sequence[tuple[str | None, exp.Expr]]) -> exp.Expr:
    """Return the expression that a term of GROUP BY stands for: itself, a position, or a name given by AS."""
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Literal) and not node.is_string:
        return listed[position_of(node, len(listed))][1]
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

    source: Source
    terms: list[_Term]
    aggregates: Aggregates
    labels: list[str]
    names: dict[int, str] = field(default_factory=dict)  # of the keys that are shown, by place in `terms`
    earlier: dict[str, Expression] = field(default_factory=dict)  # what the names before an item stand for

    def columns(self, listed: Sequence[tuple[str | None, exp.Expr]]) -> tuple[tuple[str, Expression], ...]:
        """Return the columns of the answer over the released table; plain keys and aggregates get their names first."""
        for label, (_, node) in zip(self.labels, listed, strict=True):
            place = self._place(node)
            if place is not None:
                self.names.setdefault(place, label)
            elif is_aggregate(node):
                self.aggregates.ask(node, label)
        found = []
        for label, (_, node) in zip(self.labels, listed, strict=True):
            expression = self.reader().read(node)
            found.append((label, expression))
            self.earlier[fold(label)] = expression
        return tuple(found)

    def reader(self, named: tuple[tuple[str, Expression], ...] = ()) -> Reader:
        """Return what reads expressions over the released table; `named` columns of the answer go before keys."""
        first = {fold(name): expression for name, expression in named}

        def special(node: exp.Expr) -> Expression | None:
            if isinstance(node, exp.Column) and not node.table and fold(node.name) in first:
                return first[fold(node.name)]
            if is_aggregate(node):
                return self.aggregates.ask(node)
            place = self._place(node)
            return self._released(place) if place is not None else None

        return Reader(self._column, special)

    def ordered_keys(self) -> list[tuple[_Term, str]]:
        """Return the keys in the order in which they are shown, then those that are not."""
        shown_first = sorted(self.names, key=lambda place: self.labels.index(self.names[place]))
        rest = [place for place in range(len(self.terms)) if place not in self.names]
        return [(self.terms[place], self._name(place)) for place in (*shown_first, *rest)]

    def key(self, term: _Term, name: str, keys: Mapping[str, Sequence[Value]], evaluate: Evaluate | None) -> Key:
        """Return a key with its public domain, from the call, the policy or the expression itself."""
        for label in (name, term.name):
            given = look_up(label, keys) if label is not None else None
            if given is not None and label is not None:
                self.aggregates.used.add(f"key {fold(label)}")
                return Key(name, term.expression, stated_keys(label, given, term.expression.type))
        definition, _ = self.source.scope.definition(term.expression)
        return Key(name, term.expression, public_domain(definition, self.source.scope.base, evaluate))

    def _name(self, place: int) -> str:
        """Return the name of a key in the released table."""
        return self.names.get(place, f"#key{place + 1}")

    def _released(self, place: int) -> Column:
        """Return the column of the released table that holds a key."""
        return Column(self.terms[place].expression.type, None, self._name(place))

    def _place(self, node: exp.Expr) -> int | None:
        """Return which key a node is, if it is one."""
        if not any(type(node) is type(term.node) for term in self.terms):
            return None
        if has_aggregate(node):
            return None
        if isinstance(node, exp.Column) and not self.source.scope.matches(node.name, node.table or None):
            return None
        expression = self.source.resolve(node) if isinstance(node, exp.Column) else self.source.reader().read(node)
        for place, term in enumerate(self.terms):
            if term.expression == expression:
                return place
        return None

    def _column(self, node: exp.Column) -> Expression:
        """Return what a name stands for that is no key: an earlier column of the answer, or a refusal."""
        if not node.table and fold(node.name) in self.earlier and not self.source.scope.matches(node.name, None):
            return self.earlier[fold(node.name)]
        found = self.source.find(node)
        raise UnsupportedSQL(
            f"{shown(node)!r} differs from row to row, and rows are never shown. Write an aggregate such as "
            f"{'AVG' if found.column.type.numeric else 'COUNT'}({found.name}), or add {found.name} to GROUP BY."
        )
