"""COUNT, SUM, AVG and the other aggregates: what is asked of each group, with a public range for every argument."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from sqlglot import exp

from discreet.errors import MissingBound, ParameterError, UnsupportedSQL
from discreet.query.expression import Column, Expression, Interval, Literal, Operation, Type, advice, typing_rules
from discreet.query.plan import Asked, MeasureKind
from discreet.query.reading.calls import Call, is_aggregate, read_call
from discreet.query.reading.expressions import Reader
from discreet.query.reading.parse import shown
from discreet.query.reading.rows import Source
from discreet.query.reading.scope import fold, look_up, short
from discreet.statistics.columns import FixedPoint


@dataclass(slots=True)
class Aggregates:
    """Collects what is asked; an aggregate written twice is asked and paid once."""

    source: Source
    unit: str
    bounds: Mapping[str, Interval]
    used: set[str]
    asked: list[Asked] = field(default_factory=list)
    met: dict[int, tuple[exp.Expr, str]] = field(default_factory=dict)  # by the identity of the node

    def ask(self, node: exp.Expr, name: str | None = None) -> Column:
        """Return the column of the released table that holds an aggregate; without a name it is not shown."""
        if id(node) not in self.met:
            self.met[id(node)] = node, self._ask(read_call(node), name)
        return Column(Type.REAL, None, self.met[id(node)][1])

    def _ask(self, call: Call, name: str | None) -> str:
        """Return the name under which an aggregate is asked, which it may be already."""
        reader = Reader(self.source.resolve, _refuse_nested)
        kind, plain = self._argument(call, reader)
        kind, argument = _filtered(kind, plain, call, reader)
        alike = [one for one in self.asked if (one.kind, one.argument, one.level) == (kind, argument, call.level)]
        if alike and name is None:
            return alike[0].name
        needs = plain is not None and kind not in (MeasureKind.COUNT_VALUES, MeasureKind.COUNT_ROWS)
        bounds = self._range(call, plain, name) if needs and plain is not None else None
        for one in alike:
            if one.bounds == bounds:
                return one.name
        label = name or f"#{len(self.asked) + 1}"
        self.asked.append(Asked(label, kind, argument, bounds, call.level))
        return label

    def _argument(self, call: Call, reader: Reader) -> tuple[MeasureKind, Expression | None]:
        """Return what is added up; a constant that is there is counted like the row itself."""
        if call.kind is MeasureKind.COUNT_UNITS:
            self._check_unit(call)
            return call.kind, None
        argument = reader.read(call.argument) if call.argument is not None else None
        if argument is None or call.kind is MeasureKind.COUNT_VALUES:
            there = isinstance(argument, Literal) and argument.value is not None
            return (MeasureKind.COUNT_ROWS, None) if there else (call.kind, argument)
        if not argument.type.numeric:
            raise UnsupportedSQL(_not_numbers(call, argument))
        return call.kind, argument

    def _range(self, call: Call, argument: Expression, name: str | None) -> Interval:
        """Return the public range of an argument: the call's own, or what follows from the policy and the query."""
        is_column = name is not None and any(fold(one.name) == fold(name) for one in self.source.scope.base.values())
        given = look_up(name, self.bounds) if name and not is_column else None
        if given is not None and name is not None:
            self.used.add(fold(name))
        found = given or short(argument.interval)
        if found is None:
            raise MissingBound(self._missing(call, argument))
        if found[0] >= found[1]:
            raise MissingBound(
                f"{shown(call.node)} has the range {_end(found[0])} to {_end(found[1])}, in which there is nothing to "
                "learn. State a range with its lower end below its upper end; to count rows write COUNT(*)."
            )
        try:
            FixedPoint.between(found)
        except ParameterError:
            raise MissingBound(
                f"The range of {shown(call.node)} is too wide or too narrow for its size. Write CLAMP with a range "
                "that values really have, and subtract what they have in common first."
            ) from None
        return found

    def _missing(self, call: Call, argument: Expression) -> str:
        """Return the sentence that says how to state a range."""
        text = shown(call.node)
        definition, _ = self.source.scope.definition(argument)
        names = {one.name for one in (definition or argument).columns()}
        lacking = [one for key, one in self.source.scope.base.items() if key in names and one.column.interval is None]
        lacking = [one for one in lacking if one.column.type.numeric]
        inner = shown(call.argument) if call.argument is not None else ""
        clamped = f"CLAMP({inner}, 0, 500)"
        instead = text.replace(inner, clamped, 1) if inner and inner in text else clamped
        if lacking:
            one = lacking[0]
            return (
                f'{text} needs a range for "{one.name}". Add {one.name} = {{min = 0, max = ...}} under '
                f"{one.section}, or write {instead}."
            )
        return (
            f"{text} needs a range, and none follows from those of its columns. Write {instead}, with your own range."
        )

    def _check_unit(self, call: Call) -> None:
        """Refuse COUNT(DISTINCT) of anything but the unit of protection."""
        node = call.argument
        while isinstance(node, exp.Paren):
            node = node.this
        if isinstance(node, exp.Column):
            matches = self.source.scope.matches(node.name, node.table or None)
            if len(matches) == 1 and matches[0].unit:
                return
            if not matches and not node.table and fold(node.name) in ("unit", fold(self.unit)):
                return
            if not matches:
                self.source.find(node)
        units = [one.name for one in self.source.scope.visible if one.unit] or ["unit"]
        raise UnsupportedSQL(
            f"{shown(call.node)}: only the {self.unit} is counted once, COUNT(DISTINCT {units[0]}). How many different "
            "values there are depends on single people; write COUNT(*) with GROUP BY instead."
        )


def _end(value: Fraction) -> str:
    """Return the end of a range in few digits."""
    return f"{float(value):g}" if abs(value) < 10**300 else "a very large number"


def _filtered(
    kind: MeasureKind, argument: Expression | None, call: Call, reader: Reader
) -> tuple[MeasureKind, Expression | None]:
    """Return an aggregate of the rows for which the conditions hold: elsewhere its argument is NULL."""
    if not call.conditions:
        return kind, argument
    if kind is MeasureKind.COUNT_UNITS:
        raise UnsupportedSQL("COUNT(DISTINCT ...) has no FILTER. Put the condition into WHERE, in a query of its own.")
    kept = argument if argument is not None else typing_rules.literal(1)
    for condition in call.conditions:
        kept = reader.apply(Operation.CASE, reader.condition(condition), kept, typing_rules.literal(None))
    return MeasureKind.COUNT_VALUES if kind is MeasureKind.COUNT_ROWS else kind, kept


def _refuse_nested(node: exp.Expr) -> Expression | None:
    """Refuse an aggregate inside an aggregate."""
    if is_aggregate(node):
        raise UnsupportedSQL(
            f"{shown(node)} stands inside another aggregate. Rows are added up once: ask for it by itself."
        )
    return None


def _not_numbers(call: Call, argument: Expression) -> str:
    """Say what to write for an aggregate of something that is no number."""
    remedies = {
        Type.BOOLEAN: "write COUNT_IF(x), or AVG(CASE WHEN x THEN 1 ELSE 0 END)",
        Type.TEXT: "write COUNT(*) with GROUP BY, or CAST(x AS DOUBLE) with CLAMP",
    }
    days = "write it of DATEDIFF('day', DATE '2000-01-01', x)"
    hint = advice(remedies.get(argument.type, days), [argument], Type.REAL)
    return f"{shown(call.node)} needs numbers, and got {argument.type.value}: {hint}."
