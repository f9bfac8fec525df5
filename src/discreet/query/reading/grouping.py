"""What is released of rows: aggregates by keys, and the first step on the answer, with HAVING, windows and ORDER BY."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from discreet.errors import UnsupportedSQL
from discreet.query.expression import Column, Expression, Interval, Literal, Operation, Type, typing_rules
from discreet.query.plan import Aggregation, PostProcessing, gone
from discreet.query.reading.aggregates import Aggregates, default_name
from discreet.query.reading.answers import Released, Windows, check_totals, grouping_sets, numbered, orders, released
from discreet.query.reading.answers.select_around import Clauses, Columns, place_named
from discreet.query.reading.expressions import Reader
from discreet.query.reading.extremes import refuse_extremes
from discreet.query.reading.keys import KeyValues
from discreet.query.reading.parse import (
    bare,
    claim,
    fold,
    has_aggregate,
    is_aggregate,
    items,
    only,
    shown,
)
from discreet.query.reading.refusals import ROWS, reason
from discreet.query.reading.rows import ReadableRows

MOST_KEYS = 30
_SETS = exp.Rollup | exp.Cube | exp.GroupingSets
_Items = Sequence[tuple[str | None, exp.Expr]]


@dataclass(frozen=True, slots=True)
class _Term:
    """A term of GROUP BY: how it was written, what it is, and the column it names, if it is one."""

    node: exp.Expr
    expression: Expression
    name: str | None


def aggregate(
    source: ReadableRows,
    select: exp.Select,
    clauses: Clauses,
    unit: str,
    bounds: Mapping[str, Interval],
    keys: KeyValues,
    used: set[str],
    *,
    sums: Mapping[str, Interval],
) -> Released:
    """Return the released table of a SELECT with aggregates."""
    if any(isinstance(node, exp.Star) for node in select.expressions):
        raise UnsupportedSQL(ROWS)
    listed = items(select, None)
    for _, node in listed:
        refuse_extremes(node, source)
    terms, sets = _terms(source, clauses["group"], listed, unit)
    windows = Windows(select)
    aggregates, labels = Aggregates(source, unit, bounds, used, sums), _labels(listed, source)
    grouping = _Grouping(source, terms, aggregates, labels, windows, bool(sets))
    columns = grouping.columns(listed)
    having, qualify = clauses["having"], clauses["qualify"]
    condition = grouping.reader(windows=False).clause(having) if having is not None else None
    order = orders(clauses["order"], columns, grouping.reader(columns))
    kept = grouping.reader(columns).clause(qualify) if qualify is not None else None
    if not grouping.aggregates.asked:
        raise UnsupportedSQL("Groups alone are not shown: ask something about each, such as COUNT(*).")
    step = numbered(clauses, PostProcessing(columns, condition, order, None, windows.read(), kept))
    ordered = grouping.ordered_keys()
    made = tuple([keys.key(source, terms[place].expression, name, terms[place].name, used) for place, name in ordered])
    aggregation = Aggregation(source.rows, made, tuple(grouping.aggregates.asked))
    places = {place: key for key, (place, _) in enumerate(ordered)}
    totals = tuple([tuple(sorted(places[place] for place in kept)) for kept in sets])
    if totals:
        check_totals(aggregation)
    plain = [key.name for key in made] + [one.name for one in aggregation.asked]
    return released(Released(aggregation, (), (), totals=totals), step, plain)


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


def _terms(
    source: ReadableRows, clause: exp.Expr | None, listed: _Items, unit: str
) -> tuple[list[_Term], list[tuple[int, ...]]]:
    """Return the terms of GROUP BY, without repetitions, and the grouping sets by their places where there are some."""
    if clause is None:
        return [], []
    sets = grouping_sets(group_terms(clause, listed))
    nodes = {id(one): one for kept in sets for one in kept}
    if len(nodes) > MOST_KEYS:
        raise UnsupportedSQL(f"GROUP BY takes at most {MOST_KEYS} keys. Group by fewer columns.")
    found: list[_Term] = []
    places: dict[int, int] = {}
    for number, written in nodes.items():
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
        known = [one.expression for one in found]
        places[number] = known.index(expression) if expression in known else len(found)
        if expression not in known:
            found.append(_Term(node, expression, visible.name if visible is not None else None))
    kept = [tuple(dict.fromkeys(places[id(one)] for one in each)) for each in sets]
    plain = not any(isinstance(bare(one), _SETS) for one in clause.expressions)
    return found, [] if plain else kept


def group_terms(clause: exp.Expr, listed: _Items) -> list[exp.Expr]:
    """Return the terms of GROUP BY; ALL stands for the items without aggregates that read a column."""
    only(clause, "expressions", "all")
    if not clause.args.get("all"):
        return list(clause.expressions)
    if clause.expressions:
        raise UnsupportedSQL("GROUP BY ALL names all keys by itself. Leave out the others, or ALL.")
    return [node for _, node in listed if not has_aggregate(node) and node.find(exp.Column) is not None]


def meant_by(node: exp.Expr, source: ReadableRows, listed: _Items) -> exp.Expr:
    """Return the expression that a term of GROUP BY stands for: itself, a position, or a name given by AS."""
    node = bare(node)
    if isinstance(node, exp.Literal) and not node.is_string:
        return listed[place_named(node, len(listed))][1]
    if isinstance(node, exp.Column) and not node.table and not source.scope.matches(node.name, None):
        for name, item in listed:
            if name is not None and fold(name) == fold(node.name):
                return item
    if isinstance(node, exp.Tuple):
        raise UnsupportedSQL("GROUP BY takes its keys without brackets: GROUP BY a, b.")
    if isinstance(node, _SETS):
        raise UnsupportedSQL(reason(f"Group.{type(node).__name__.lower()}", reason("Grouping", "")))
    return node


@dataclass(slots=True)
class _Grouping:
    """What is known while one SELECT with aggregates is read."""

    source: ReadableRows
    terms: list[_Term]
    aggregates: Aggregates
    labels: list[str]
    windows: Windows
    grouped: bool  # there are totals
    names: dict[int, str] = field(default_factory=dict)  # of the keys that are shown, by place in `terms`
    earlier: dict[str, Expression] = field(default_factory=dict)  # what the names before an item stand for

    def columns(self, listed: _Items) -> Columns:
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

    def reader(self, named: Columns = (), *, windows: bool = True) -> Reader:
        """Return what reads expressions over the released table; `named` columns of the answer go before keys."""
        first = {fold(name): expression for name, expression in named}

        def special(node: exp.Expr) -> Expression | None:
            if isinstance(node, exp.Column) and not node.table and fold(node.name) in first:
                return first[fold(node.name)]
            if isinstance(node, exp.Window) and windows:
                return self.windows.ask(node, reader)
            if isinstance(node, exp.Grouping | exp.GroupingId):
                return self._gone(node, reader)
            if is_aggregate(node):
                return self.aggregates.ask(node)
            place = self._place(node)
            return self._shown(place) if place is not None else None

        reader = Reader(self._column, special)
        return reader

    def ordered_keys(self) -> list[tuple[int, str]]:
        """Return the keys, by place and name, in the order in which they are shown, then those that are not."""
        shown_first = sorted(self.names, key=lambda place: self.labels.index(self.names[place]))
        rest = [place for place in range(len(self.terms)) if place not in self.names]
        return [(place, self._name(place)) for place in (*shown_first, *rest)]

    def _gone(self, node: exp.Expr, reader: Reader) -> Expression:
        """Return GROUPING(a, b): a bit for each key, 1 where a row adds up all of its values."""
        only(node, "expressions")
        found: Expression = typing_rules.literal(0)
        for one in node.expressions:
            place = self._place(one)
            if place is None:
                raise UnsupportedSQL(f"GROUPING takes keys of GROUP BY, and {shown(one)!r} is none of them.")
            bit = Column(Type.INTEGER, None, gone(self._name(place))) if self.grouped else typing_rules.literal(0)
            doubled = reader.apply(Operation.MULTIPLY, found, typing_rules.literal(2))
            found = bit if node.expressions[0] is one else reader.apply(Operation.ADD, doubled, bit)
        return found

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
