"""What is looked at for bounds: numbers of each unit, of which a count and quantiles are released."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from discreet.errors import ParameterError
from discreet.query.expression import Column, Expression, Operation, Type, typing_rules
from discreet.query.plan import (
    LARGEST_END,
    Aggregate,
    Aggregation,
    FilterRows,
    MeasureKind,
    PerUnit,
    QueryPlan,
    RowSource,
    Scan,
    UnitValue,
    UnitValueKind,
    table_named,
    written_expression,
)
from discreet.query.policy import UnitColumn, UnitIsRow, UnitLink
from discreet.query.session.charging import Charging
from discreet.statistics.columns import FixedPoint

COUNTS = (MeasureKind.COUNT_ROWS, MeasureKind.COUNT_VALUES)
WHOLE = (MeasureKind.COUNT_UNITS, MeasureKind.COUNT_DISTINCT)
STEPS = 20  # of a logarithm: numbers are told apart by 5 %; finer steps would leave more places beyond all people
_LARGEST = 17.0  # logarithm of the largest number of rows that is looked for, about 24 million
_WIDEST = 30.0  # logarithm of the largest sum, in thousandths of the largest value
_FARTHEST = 35.0  # logarithm of the largest value of a column
_SMALL = 1000
_FEW_GROUPS = 10  # taken for keys whose values are private
_MOST_LISTED = 1000


@dataclass(frozen=True, slots=True)
class NumberOfUnit:
    """A number of each unit of which a quantile is released: how it is computed, drawn out and written."""

    name: str
    kind: str  # rows, rows_per_group, groups, sum, values
    number: UnitValue  # over the rows, or over the rows of each unit and group
    side: int  # 1 for an upper end, -1 for a lower one
    range: float
    scale: float = 1.0  # what 1 stands for under the logarithm

    @property
    def label(self) -> str:
        """What tells it from other targets."""
        return f"{self.kind} {self.name} {self.side}"

    @property
    def argument(self) -> Expression:
        """The number of a unit under a logarithm, which is as fine for small bounds as for large ones, in whole steps.

        Steps are rounded up, so that what a quantile stands for is no less than the number at its place.
        """
        ends = typing_rules.literal(-self.range), typing_rules.literal(self.range)
        inside = typing_rules.apply(Operation.CLAMP, self._logarithm, *ends)
        return typing_rules.apply(
            Operation.CEIL, typing_rules.apply(Operation.MULTIPLY, inside, typing_rules.literal(float(STEPS)))
        )

    @property
    def _logarithm(self) -> Expression:
        number = typing_rules.apply(Operation.CAST, _column(self.number), type=Type.REAL)
        sided = number if self.side > 0 else typing_rules.apply(Operation.NEGATE, number)
        if self.kind == "values":
            size = typing_rules.apply(Operation.LN, _plus_one(typing_rules.apply(Operation.ABS, sided)))
            return typing_rules.apply(Operation.MULTIPLY, typing_rules.apply(Operation.SIGN, sided), size)
        there = typing_rules.apply(Operation.GREATEST, sided, typing_rules.literal(0.0))
        scaled = typing_rules.apply(Operation.MULTIPLY, there, typing_rules.literal(1.0 / self.scale))
        return typing_rules.apply(Operation.LN, _plus_one(scaled))

    def aggregate(self, level: Fraction) -> Aggregate:
        """Return the quantile that is asked."""
        most = Fraction(math.ceil(self.range * STEPS))
        ends = -most if self.kind == "values" else Fraction(0), most
        return Aggregate(self.label, MeasureKind.QUANTILE, self.argument, ends, level)

    def decoded(self, steps: float) -> float:
        """Return a quantile as the number that it stands for."""
        value = steps / STEPS
        return math.copysign(math.expm1(abs(value)), value) * self.scale * self.side + 0.0


@dataclass(frozen=True, slots=True)
class LookedAt:
    """What is looked at: the rows of each unit, the targets, and how many groups an answer has."""

    said: str
    units: RowSource
    first: tuple[NumberOfUnit, ...]  # beside the count, at a level that is known
    then: tuple[NumberOfUnit, ...]  # at levels that follow from the count
    groups: int
    measures: int  # of the answer
    query: QueryPlan | None
    table: str


def of_query(
    charging: Charging, sql: str, bounds: Mapping[str, Any] | None, keys: Mapping[str, Any] | None
) -> LookedAt:
    """Return what is looked at for a query: groups of a unit, its rows, and what it adds to each sum."""
    query = charging.read(sql, bounds=bounds, keys=keys)
    aggregation = query.aggregation
    source = _within_domains(aggregation)
    asked = [one for one in aggregation.asked if one.kind not in WHOLE]
    rows = UnitValue("rows", UnitValueKind.COUNT_ROWS, None, Type.INTEGER)
    sums = {f"sum {place}": one for place, one in enumerate(asked) if one.kind is MeasureKind.SUM}
    inner = [rows, *(_summed(name, one) for name, one in sums.items())]
    keyed = [(f"key {place}", key.expression) for place, key in enumerate(aggregation.keys)]
    pairs = PerUnit(source, tuple(keyed), tuple(inner))
    several = bool(aggregation.keys) and not aggregation.source.single
    targets: list[NumberOfUnit] = []
    if any(one.kind is not MeasureKind.SUM for one in asked) and not aggregation.source.single:
        number = UnitValue("most rows", UnitValueKind.MAX, _column(rows), Type.INTEGER)
        kind = "rows_per_group" if aggregation.keys else "rows"
        targets.append(NumberOfUnit(kind, kind, number, 1, _LARGEST))
    for name, one in sums.items():
        targets += _of_sum(one, name)
    groups = UnitValue("groups", UnitValueKind.COUNT_ROWS, None, Type.INTEGER)
    every = math.prod(len(key.domain) if key.domain is not None else _FEW_GROUPS for key in aggregation.keys)
    most = math.log1p(every) if aggregation.public else _LARGEST
    first = [NumberOfUnit("groups", "groups", groups, 1, most)] if several and every > 1 else []
    if not targets and not first:
        raise ParameterError(
            f"there is nothing to suggest: every {charging.policy.unit} has one row here and counts in full. Nothing "
            "was spent.",
            parameter="of",
        )
    units = PerUnit(pairs, (), tuple(one.number for one in (*first, *targets)))
    said = " ".join(sql.split())
    return LookedAt(said, units, tuple(first), tuple(targets), every, max(len(asked), 1), query, aggregation.table)


def _of_sum(one: Aggregate, name: str) -> list[NumberOfUnit]:
    """Return the upper end of what a unit adds to a sum in a group, and the lower end where it may be below 0."""
    low, high = one.bounds or (Fraction(0), Fraction(1))
    scale = float(max(abs(low), abs(high))) / _SMALL
    column = typing_rules.column(name, Type.REAL)
    top = UnitValue(f"{name} high", UnitValueKind.MAX, column, Type.REAL)
    bottom = UnitValue(f"{name} low", UnitValueKind.MIN, column, Type.REAL)
    found = [NumberOfUnit(called(one), "sum", top, 1, _WIDEST, scale)]
    return found if low >= 0 else [*found, NumberOfUnit(called(one), "sum", bottom, -1, _WIDEST, scale)]


def called(one: Aggregate) -> str:
    """Return how `sums=` names an aggregate: by its name in the answer, or as it is written where it has none."""
    if not one.name.startswith("#"):
        return one.name
    word = one.kind.value.partition("(")[0]
    return "COUNT(*)" if one.argument is None else f"{word}({written_expression(one.argument)})"


def _summed(name: str, one: Aggregate) -> UnitValue:
    """Return what a unit adds to a sum, values clipped to their range."""
    if one.bounds is None:
        raise AssertionError("a sum has bounds")
    return UnitValue(name, UnitValueKind.SUM, one.argument, Type.REAL, FixedPoint.between(one.bounds))


def _within_domains(aggregation: Aggregation) -> RowSource:
    """Return the rows that are in a public group, where the values are few enough to list."""
    source = aggregation.source
    for key in aggregation.keys:
        if key.domain is not None and len(key.domain) <= _MOST_LISTED and None not in key.domain:
            listed = [typing_rules.literal(value) for value in key.domain]
            source = FilterRows(source, typing_rules.apply(Operation.IN, key.expression, *listed))
    return source


def _names(columns: Sequence[str] | None) -> list[str] | None:
    """Return the names of columns, one or several, as they were given."""
    listed = [columns] if isinstance(columns, str) else columns
    if listed is not None and not (isinstance(listed, list | tuple) and all(isinstance(one, str) for one in listed)):
        raise ParameterError(
            'columns= is a list of names of columns, such as ["cost", "age"]. Nothing was spent.', parameter="columns"
        )
    return None if listed is None else list(listed)


def of_table(charging: Charging, name: str, columns: Sequence[str] | None) -> LookedAt:
    """Return what is looked at for a table: rows, groups by public columns, values and sums of numbers."""
    listed = _names(columns)
    if name.casefold() in {one.casefold() for one in charging.policy.views}:
        shown = name[:80]
        raise ParameterError(
            f"{shown} is a view: ask about a table, or about a question, such as 'SELECT COUNT(*) AS n FROM {shown}'. "  # noqa: S608
            "Nothing was spent.",
            parameter="of",
        )
    table = table_named(charging.policy, name)
    if isinstance(table.unit, UnitIsRow):
        raise ParameterError(
            f"every row of {table.name} is a {charging.policy.unit} of its own, so there is nothing to bound. Nothing "
            "was spent.",
            parameter="of",
        )
    own = {table.unit.column} if isinstance(table.unit, UnitColumn | UnitLink) else set()
    links = [one.unit for one in charging.policy.tables.values() if isinstance(one.unit, UnitLink)]
    led_to = {one.key for one in links if one.table == table.name}  # numbers of rows, of which nobody asks a range
    unknown = [one for one in listed or [] if one not in table.columns]
    if unknown:
        raise ParameterError(f"{table.name} has no column {unknown[0][:80]!r}. Nothing was spent.", parameter="columns")
    first: list[NumberOfUnit] = []
    rows = UnitValue("rows", UnitValueKind.COUNT_ROWS, None, Type.INTEGER)
    then = [NumberOfUnit("rows", "rows", rows, 1, _LARGEST)]
    for one in table.columns.values():
        if one.name in own or (one.name in led_to if listed is None else one.name not in listed):
            continue
        column = typing_rules.column(one.name, one.type, one.interval if one.type.numeric else None)
        if one.domain is not None:
            number = UnitValue(f"groups by {one.name}", UnitValueKind.COUNT_DISTINCT, column, Type.INTEGER)
            first.append(NumberOfUnit(one.name, "groups", number, 1, math.log1p(len(one.domain))))
        elif one.type.numeric and one.interval is not None and _has_sums(one.interval):
            asked = Aggregate(one.name, MeasureKind.SUM, column, one.interval)
            for target in _of_sum(asked, f"sum of {one.name}"):
                then.append(replace(target, number=_summed(f"sum of {one.name}", asked)))
        elif one.type.numeric and one.interval is None:
            for kind, side in ((UnitValueKind.MAX, 1), (UnitValueKind.MIN, -1)):
                number = UnitValue(f"{kind.value} of {one.name}", kind, column, one.type)
                then.append(NumberOfUnit(one.name, "values", number, side, _FARTHEST))
    numbers = {one.number.name: one.number for one in (*first, *then)}
    units = PerUnit(Scan(table.name), (), tuple(numbers.values()))
    return LookedAt(table.name, units, tuple(first), tuple(then), 1, 1, None, table.name)


def _has_sums(ends: tuple[Fraction, Fraction]) -> bool:
    """Whether values in a range are summed: it has some width, and ends that a query may state."""
    return ends[0] < ends[1] and max(map(abs, ends)) <= LARGEST_END


def _column(value: UnitValue) -> Column:
    return typing_rules.column(value.name, value.type)


def _plus_one(expression: Expression) -> Expression:
    return typing_rules.apply(Operation.ADD, expression, typing_rules.literal(1.0))
