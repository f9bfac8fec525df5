"""SELECT ... GROUP BY the unit, in brackets: one row for every person, computed from the rows that it has."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from sqlglot import exp

from discreet.errors import MissingBound, ParameterError, QueryRefused, UnsupportedSQL
from discreet.query.expression import Column, Expression, Interval, Literal, Operation, Type, typing_rules
from discreet.query.plan import FilterRows, MeasureKind, PerUnit, Project, UnitValue, UnitValueKind
from discreet.query.reading.aggregates import filtered, read_call
from discreet.query.reading.expressions import Reader
from discreet.query.reading.grouping import group_terms, meant_by
from discreet.query.reading.parse import claim, fold, has_aggregate, is_aggregate, items, look_up, only, shown
from discreet.query.reading.rows import ReadableRows, Scope, Visible, short
from discreet.query.reading.sources.context import Context
from discreet.statistics.columns import FixedPoint

_KINDS: dict[type[exp.Expr], UnitValueKind] = {
    exp.Min: UnitValueKind.MIN,
    exp.Max: UnitValueKind.MAX,
    exp.LogicalOr: UnitValueKind.ANY,
    exp.LogicalAnd: UnitValueKind.ALL,
}
_MEANT = {
    MeasureKind.COUNT_ROWS: UnitValueKind.COUNT_ROWS,
    MeasureKind.COUNT_VALUES: UnitValueKind.COUNT_VALUES,
    MeasureKind.COUNT_DISTINCT: UnitValueKind.COUNT_DISTINCT,
    MeasureKind.SUM: UnitValueKind.SUM,
    MeasureKind.MEAN: UnitValueKind.MEAN,
}
_COUNTS = (UnitValueKind.COUNT_ROWS, UnitValueKind.COUNT_VALUES, UnitValueKind.COUNT_DISTINCT)
_OF_ARGUMENT = (UnitValueKind.MEAN, UnitValueKind.MIN, UnitValueKind.MAX)  # within the range of what they are of
_Clauses = Mapping[str, exp.Expr | None]


def groups_units(source: ReadableRows, select: exp.Select, read: _Clauses) -> bool:
    """Whether GROUP BY names the unit, or something that leads to it: then every group is part of one person."""
    clause = read["group"]
    listed = items(select, []) if clause is not None else []
    for written in group_terms(clause, listed) if clause is not None else []:
        node = meant_by(written, source, listed)
        found = source.scope.matches(node.name, node.table or None) if isinstance(node, exp.Column) else []
        if len(found) == 1 and found[0].anchor:
            return True
    return False


def per_unit(source: ReadableRows, select: exp.Select, read: _Clauses, context: Context) -> ReadableRows:
    """Return one row for every unit, or for every unit and combination of the other keys."""
    context.check_one_unit(source)
    for name in ("order", "limit"):
        if read[name] is not None:
            raise UnsupportedSQL(
                f"{'ORDER BY' if name == 'order' else 'LIMIT'} is understood on answers alone, and these are rows, one "
                f"for each {context.policy.unit}. Leave it out."
            )
    return _Reading(source, context).rows(select, read)


@dataclass(frozen=True, slots=True)
class _Term:
    """A term of GROUP BY: what it is, the column it names, if it is one, and the column of the rows that are made."""

    expression: Expression
    known: Visible | None
    made: Column


@dataclass(slots=True)
class _Reading:
    """What is known while rows for each unit are read."""

    source: ReadableRows
    context: Context
    terms: list[_Term] = field(default_factory=list)
    values: dict[tuple[object, ...], UnitValue] = field(default_factory=dict)
    visible: dict[str, Visible] = field(default_factory=dict)  # what the columns of the rows that are made stand for
    named: dict[str, Expression] = field(default_factory=dict)  # the items so far, by name
    base: dict[str, Visible] = field(default_factory=dict)

    def rows(self, select: exp.Select, read: _Clauses) -> ReadableRows:
        """Return the rows, with the columns that the SELECT lists."""
        listed = items(select, None)
        self.base = dict(self.source.scope.base)
        for node in group_terms(read["group"], listed) if read["group"] is not None else []:
            self._term(meant_by(node, self.source, listed))
        reader, columns, taken = Reader(self._resolve, self._special), [], set[str]()
        for position, (name, node) in enumerate(listed, 1):
            expression = reader.read(node)
            label = name or _name(node, position)
            claim(label, taken)
            columns.append((label, expression))
            self.named[fold(label)] = expression
        having = read["having"]
        condition = reader.clause(having) if having is not None else None
        keys = tuple((one.made.name, one.expression) for one in self.terms if not self._is_unit(one))
        made = PerUnit(self.source.rows, keys, tuple(self.values.values()))
        kept = made if condition is None else FilterRows(made, condition)
        visible = [self._shown(label, expression) for label, expression in columns]
        scope = Scope(tuple(visible), self.base, self.source.scope.true)  # true of the rows, and so of their keys
        return ReadableRows(Project(kept, tuple(columns)), scope)

    def _term(self, node: exp.Expr) -> None:
        """Add a term of GROUP BY; the column of the unit is the same in all rows of a unit, so it is no key."""
        known = self.source.find(node) if isinstance(node, exp.Column) else None
        if known is None and has_aggregate(node):
            raise UnsupportedSQL(f"GROUP BY {shown(node)}: an aggregate cannot be a key. Group by columns.")
        expression = known.column if known is not None else self.source.reader().read(node)
        if any(one.expression == expression for one in self.terms):
            return
        if known is not None and known.unit:
            value = self._add(UnitValueKind.MIN, expression, expression.type, None)
            self.terms.append(_Term(expression, known, value))
            self._know(value, known.column, known)
            return
        made = Column(expression.type, short(expression.interval), f"key {len(self.terms) + 1}")
        self.terms.append(_Term(expression, known, made))
        definition, size = self.source.scope.definition(expression)
        plain = known or Visible("", made.name, made, definition)
        of_unit = self.source.scope.from_unit(expression)
        self.visible[made.name] = replace(plain, column=made, definition=definition, size=size, from_unit=of_unit)

    def _is_unit(self, term: _Term) -> bool:
        return term.known is not None and term.known.unit

    def _resolve(self, node: exp.Column) -> Expression:
        """Return a key, or an earlier item of the SELECT."""
        if not self.source.scope.matches(node.name, node.table or None):
            if not node.table and fold(node.name) in self.named:
                return self.named[fold(node.name)]
            self.source.find(node)
        found = self.source.find(node)
        for term in self.terms:
            if term.expression == found.column:
                return term.made
        raise UnsupportedSQL(
            f"{shown(node)!r} differs between the rows of one {self.context.policy.unit}. Write MIN({found.name}), "
            f"MAX({found.name}) or COUNT({found.name}), or add {found.name} to GROUP BY."
        )

    def _special(self, node: exp.Expr) -> Expression | None:
        """Return what is computed of a unit's rows, or a key that is an expression."""
        if is_aggregate(node):
            return self._value(node)
        if (
            not isinstance(node, exp.Column)
            and any(one.known is None for one in self.terms)
            and not has_aggregate(node)
        ):
            expression = _attempt(self.source, node)
            for term in self.terms:
                if expression is not None and term.expression == expression:
                    return term.made
        return None

    def _value(self, node: exp.Expr) -> Column:
        """Return the column that holds an aggregate of the rows of a unit; one that is written twice is one."""
        call = _call(node, self.context.policy.unit)
        kind = call.kind
        reader = Reader(self.source.resolve, _refuse_nested)
        argument = reader.read(call.argument) if call.argument is not None else None
        argument = filtered(argument, call.conditions, reader)
        if argument is not None and kind is UnitValueKind.COUNT_ROWS:
            kind = UnitValueKind.COUNT_VALUES
        if kind is UnitValueKind.COUNT_VALUES and isinstance(argument, Literal) and argument.value is not None:
            kind, argument = UnitValueKind.COUNT_ROWS, None
        self._check(kind, argument, node)
        scale = None
        if kind in (UnitValueKind.SUM, UnitValueKind.MEAN) and argument is not None:
            argument, scale = self._ranged(argument, call)
        type = _type(kind, argument)
        made = self._add(kind, argument, type, scale)
        self._know_value(made, kind, argument)
        return made

    def _add(self, kind: UnitValueKind, argument: Expression | None, type: Type, scale: FixedPoint | None) -> Column:
        key = (kind, argument, scale)
        if key not in self.values:
            self.values[key] = UnitValue(f"value {len(self.values) + 1}", kind, argument, type, scale)
        interval = argument.interval if argument is not None and kind in _OF_ARGUMENT and type.numeric else None
        return Column(type, short(interval), self.values[key].name)

    def _know_value(self, made: Column, kind: UnitValueKind, argument: Expression | None) -> None:
        """Note what is known about a value: of MIN and MAX of a column that it is one of its declared values."""
        known = None
        if kind in (UnitValueKind.MIN, UnitValueKind.MAX) and isinstance(argument, Column):
            known = next((one for one in self.source.scope.visible if one.column == argument), None)
        from_unit = kind not in _COUNTS and argument is not None and self.source.scope.from_unit(argument)
        declared = known.declared if known is not None else None
        self._know(made, made, Visible("", made.name, made, made, declared=declared, from_unit=from_unit))

    def _know(self, made: Column, own: Column, known: Visible) -> None:
        """Note a column of the rows that are made, as a column that nothing else is made of."""
        leaf = replace(own, name=made.name)
        while leaf.name in self.source.scope.base:
            leaf = replace(leaf, name=leaf.name + "'")
        self.base[leaf.name] = replace(known, name=made.name, column=leaf, definition=leaf)
        self.visible[made.name] = replace(known, column=made, definition=leaf, size=1)

    def _shown(self, label: str, expression: Expression) -> Visible:
        """Return what is known about an item of the SELECT; bounds= may give it a range."""
        is_column = any(fold(one.name) == fold(label) for one in self.source.scope.base.values())
        given = look_up(label, self.context.bounds) if expression.type.numeric and not is_column else None
        if given is not None:
            self.context.used.add(fold(label))
        made = Column(expression.type, given or short(expression.interval), label)
        known = self.visible.get(expression.name) if isinstance(expression, Column) else None
        if known is not None:
            definition = known.definition
            if isinstance(definition, Column) and definition.name in self.base and not known.unit:
                held = self.base[definition.name]
                if held.declared is None:
                    self.base[definition.name] = replace(held, name=label)
            return replace(known, table="", name=label, column=made, qualified_only=False)
        inside = Scope(tuple(self.visible.values()), self.base)
        definition, size = inside.definition(expression)
        return Visible("", label, made, definition, size=size, from_unit=inside.from_unit(expression))

    def _check(self, kind: UnitValueKind, argument: Expression | None, node: exp.Expr) -> None:
        """Refuse arguments of a type that has no such aggregate."""
        if argument is None:
            return
        if kind in (UnitValueKind.SUM, UnitValueKind.MEAN) and not argument.type.numeric:
            raise UnsupportedSQL(
                f"{shown(node)} needs numbers, and got {argument.type.value}. Write COUNT, MIN or MAX, or CAST it."
            )
        if kind in (UnitValueKind.ANY, UnitValueKind.ALL) and argument.type is not Type.BOOLEAN:
            raise UnsupportedSQL(f"{shown(node)} needs a condition, and got {argument.type.value}. Compare it: x > 0.")
        if kind in (UnitValueKind.MIN, UnitValueKind.MAX) and argument.type is Type.BOOLEAN:
            raise UnsupportedSQL(f"{shown(node)} is of a condition. Write BOOL_AND or BOOL_OR.")

    def _ranged(self, argument: Expression, call: _Call) -> tuple[Expression, FixedPoint | None]:
        """Return what is added up within its public range: whole numbers as they are, reals on a grid."""
        interval = short(argument.interval)
        if argument.type is Type.INTEGER:
            return (argument if interval is None else _clamped(argument, interval)), None
        if interval is None:
            inner = shown(call.argument) if call.argument is not None else ""
            text = shown(call.node)
            raise MissingBound(
                f"{text} adds real numbers, which takes a range of {inner} so that the sum is the same in any order. "
                f"Write {text.replace(inner, f'CLAMP({inner}, 0, 500)', 1)}, or declare min and max."
            )
        low, high = interval
        if low == high:
            low, high = min(low, Fraction(0)), max(high, Fraction(0 if low else 1))
        try:
            return argument, FixedPoint.between((low, high))
        except ParameterError:
            raise MissingBound(
                f"The range of {shown(call.node)} is too wide or too narrow for its size. Write CLAMP with a range "
                "that values really have."
            ) from None


@dataclass(frozen=True, slots=True)
class _Call:
    """An aggregate of the rows of one unit, as it was written."""

    kind: UnitValueKind
    node: exp.Expr
    argument: exp.Expr | None
    conditions: tuple[exp.Expr, ...] = ()


def _call(node: exp.Expr, unit: str) -> _Call:
    """Return which aggregate of a unit's rows is written, or refuse it."""
    if isinstance(node, exp.Filter):
        only(node, "this", "expression")
        only(node.args["expression"], "this")
        inner = _call(node.this, unit)
        return replace(inner, node=node, conditions=(*inner.conditions, node.args["expression"].this))
    if type(node) in _KINDS:
        only(node, "this")
        return _Call(_KINDS[type(node)], node, node.this)
    call = read_call(node)
    if call.kind not in _MEANT:
        raise UnsupportedSQL(
            f"{shown(node)} of the rows of one {unit} is not understood. Of one {unit} there are COUNT, "
            "COUNT(DISTINCT x), SUM, AVG, MIN, MAX, BOOL_AND and BOOL_OR."
        )
    return _Call(_MEANT[call.kind], node, call.argument, tuple(call.conditions))


def _clamped(argument: Expression, interval: Interval) -> Expression:
    """Return whole numbers within their range."""
    if getattr(argument, "operation", None) is Operation.CLAMP:
        return argument
    low, high = math.ceil(interval[0]), math.floor(interval[1])
    return typing_rules.apply(Operation.CLAMP, argument, typing_rules.literal(low), typing_rules.literal(high))


def _type(kind: UnitValueKind, argument: Expression | None) -> Type:
    """Return the type of a value."""
    if kind in _COUNTS or argument is None:
        return Type.INTEGER
    return Type.REAL if kind is UnitValueKind.MEAN else argument.type


def _name(node: exp.Expr, position: int) -> str:
    """Return the name of an item without one."""
    if isinstance(node, exp.Column):
        return node.name
    inner = node.this if isinstance(node, exp.Filter) else node
    if not is_aggregate(inner):
        return f"column{position}"
    word = type(inner).__name__.lower()
    return f"{word}_{fold(inner.this.name)}" if isinstance(inner.this, exp.Column) else word


def _attempt(source: ReadableRows, node: exp.Expr) -> Expression | None:
    """Return an expression over the rows of a unit, None where it is none."""
    try:
        return source.reader().read(node)
    except QueryRefused:
        return None


def _refuse_nested(node: exp.Expr) -> Expression | None:
    """Refuse an aggregate inside an aggregate."""
    if is_aggregate(node):
        raise UnsupportedSQL(f"{shown(node)} stands inside another aggregate. Compute it in a SELECT of its own.")
    return None
