"""COUNT, SUM, AVG and the other aggregates: what is asked of each group, with a public range for every argument.

An aggregate is first read as it is written (`AggregateCall`: which one, of what, under which condition), then asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from sqlglot import exp

from discreet.errors import MissingBound, ParameterError, UnsupportedSQL
from discreet.query.expression import Column, Expression, Interval, Literal, Operation, Type, advice, typing_rules
from discreet.query.plan import LARGEST_END, Aggregate, MeasureKind
from discreet.query.reading.expressions import Reader, number, refused
from discreet.query.reading.extremes import refuse_extremes
from discreet.query.reading.parse import bare, fold, is_aggregate, look_up, only, shown
from discreet.query.reading.refusals import reason
from discreet.query.reading.rows import ReadableRows, short
from discreet.statistics.columns import FixedPoint

_WITH_RANGE: dict[type[exp.Expr], MeasureKind] = {
    exp.Sum: MeasureKind.SUM,
    exp.Avg: MeasureKind.MEAN,
    exp.Variance: MeasureKind.VARIANCE,
    exp.VariancePop: MeasureKind.VARIANCE,
    exp.Stddev: MeasureKind.DEVIATION,
    exp.StddevPop: MeasureKind.DEVIATION,
    exp.StddevSamp: MeasureKind.DEVIATION,
    exp.Median: MeasureKind.QUANTILE,
}
_OF_PAIRS: dict[type[exp.Expr], MeasureKind] = {exp.Corr: MeasureKind.CORRELATION, exp.RegrSlope: MeasureKind.SLOPE}
_NAMED: dict[str, MeasureKind] = {"MEAN": MeasureKind.MEAN, "STD": MeasureKind.DEVIATION, "VAR": MeasureKind.VARIANCE}
_QUANTILES: dict[type[exp.Expr], str] = {
    exp.Quantile: "quantile",
    exp.ApproxQuantile: "quantile",
    exp.PercentileCont: "expression",
    exp.PercentileDisc: "expression",
}


_COUNTS = (MeasureKind.COUNT_VALUES, MeasureKind.COUNT_ROWS, MeasureKind.COUNT_DISTINCT)


@dataclass(slots=True)
class Aggregates:
    """Collects what is asked; an aggregate written twice is asked and paid once."""

    source: ReadableRows
    unit: str
    bounds: Mapping[str, Interval]
    used: set[str]
    sums: Mapping[str, Interval] = field(default_factory=dict)
    asked: list[Aggregate] = field(default_factory=list)
    met: dict[int, tuple[exp.Expr, str]] = field(default_factory=dict)  # by the identity of the node

    def ask(self, node: exp.Expr, name: str | None = None) -> Column:
        """Return the column of the released table that holds an aggregate; without a name it is not shown."""
        refuse_extremes(node, self.source)
        if id(node) not in self.met:
            self.met[id(node)] = node, self._ask(read_call(node), name)
        return Column(Type.REAL, None, self.met[id(node)][1])

    def _ask(self, call: AggregateCall, name: str | None) -> str:
        """Return the name under which an aggregate is asked, which it may be already."""
        reader = Reader(self.source.resolve, _refuse_nested)
        kind, plain = self._argument(call, reader)
        kind, argument = _filtered(kind, plain, call, reader)
        other = replace(call, argument=call.second)
        second = self._argument(other, reader)[1] if call.second is not None else None
        sums = self._sums(call, kind, name)
        meant = kind, argument, call.level, second
        alike = [one for one in self.asked if (one.kind, one.argument, one.level, one.second) == meant]
        if alike and name is None and sums in (None, alike[0].sums):
            return alike[0].name
        needs, own = plain is not None and kind not in _COUNTS, name if second is None else None
        bounds = self._range(call, plain, own, sums) if needs and plain is not None else None
        second_bounds = self._range(other, second, None) if second is not None else None
        for one in alike:
            if (one.bounds, one.sums, one.second_bounds) == (bounds, sums, second_bounds):
                return one.name
        label = name or f"#{len(self.asked) + 1}"
        self.asked.append(Aggregate(label, kind, argument, bounds, call.level, sums, second, second_bounds))
        return label

    def _sums(self, call: AggregateCall, kind: MeasureKind, name: str | None) -> Interval | None:
        """Return the range that the call gives for what one unit adds to a group: by its name, or as it is written."""
        if not self.sums:
            return None
        written = call.node.sql("duckdb")
        for stated, ends in self.sums.items():
            if (name is not None and fold(stated) == fold(name)) or _spaceless(stated) == _spaceless(written):
                if kind not in (MeasureKind.SUM, *_COUNTS[:2]):
                    raise ParameterError(
                        f"sums= clips what one {self.unit} adds to SUM and COUNT; got {shown(stated)}, which is "
                        f"{shown(call.node)}. Leave it out, or ask for SUM(x) / COUNT(x). Nothing was spent.",
                        parameter="sums",
                    )
                self.used.add(f"sums {stated}")
                return ends
        return None

    def _argument(self, call: AggregateCall, reader: Reader) -> tuple[MeasureKind, Expression | None]:
        """Return what is added up; a constant that is there is counted like the row itself."""
        if call.kind is MeasureKind.COUNT_DISTINCT and self._counts_units(call):
            return MeasureKind.COUNT_UNITS, None
        argument = reader.read(call.argument) if call.argument is not None else None
        if call.kind is MeasureKind.COUNT_DISTINCT:
            return call.kind, argument
        if argument is None or call.kind is MeasureKind.COUNT_VALUES:
            there = isinstance(argument, Literal) and argument.value is not None
            return (MeasureKind.COUNT_ROWS, None) if there else (call.kind, argument)
        if not argument.type.numeric:
            raise UnsupportedSQL(_not_numbers(call, argument))
        return call.kind, argument

    def _range(
        self, call: AggregateCall, argument: Expression, name: str | None, sums: Interval | None = None
    ) -> Interval:
        """Return the public range of an argument: the call's own, or what follows from the policy and the query.

        Without one, what a unit may add to a group says how large a value can be.
        """
        is_column = name is not None and any(fold(one.name) == fold(name) for one in self.source.scope.base.values())
        given = look_up(name, self.bounds) if name and not is_column else None
        if given is not None and name is not None:
            self.used.add(fold(name))
        found = given or short(argument.interval)
        if found is None and sums is not None:
            most = max(abs(end) for end in sums)
            found = (-most, most)
        if found is None:
            raise MissingBound(self._missing(call, argument))
        if found[0] >= found[1]:
            raise MissingBound(
                f"{shown(call.node)} has the range {_end(found[0])} to {_end(found[1])}, in which there is nothing to "
                "learn. State a range with its lower end below its upper end; to count rows write COUNT(*)."
            )
        if not _fits(found):
            raise MissingBound(
                f"The range of {shown(call.node)} is too wide or too narrow for its size. Write CLAMP with a range "
                "that values really have, and subtract what they have in common first."
            )
        return found

    def _missing(self, call: AggregateCall, argument: Expression) -> str:
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
            if not one.section:
                return (
                    f"{text} needs a range for {one.name!r}, which is computed for each {self.unit}. Write {instead}, "
                    f'or give it with the query: bounds={{"{one.name}": (0, 500)}}.'
                )
            return (
                f'{text} needs a range for "{one.name}". Add {one.name} = {{min = 0, max = ...}} under '
                f"{one.section}, or write {instead}."
            )
        return (
            f"{text} needs a range, and none follows from those of its columns. Write {instead}, with your own range."
        )

    def _counts_units(self, call: AggregateCall) -> bool:
        """Whether COUNT(DISTINCT ...) is of the unit of protection, by a column that names it or by its word."""
        node = bare(call.argument) if call.argument is not None else None
        if not isinstance(node, exp.Column):
            return False
        matches = self.source.scope.matches(node.name, node.table or None)
        if matches or node.table:
            return len(matches) == 1 and matches[0].unit
        return fold(node.name) in ("unit", fold(self.unit))


def _spaceless(text: str) -> str:
    """Return the text of an aggregate without spaces and capitals."""
    return "".join(text.split()).casefold()


def _end(value: Fraction) -> str:
    """Return the end of a range in few digits."""
    return f"{float(value):g}" if abs(value) < 10**300 else "a very large number"


def _filtered(
    kind: MeasureKind, argument: Expression | None, call: AggregateCall, reader: Reader
) -> tuple[MeasureKind, Expression | None]:
    """Return an aggregate of the rows for which the conditions hold."""
    if not call.conditions:
        return kind, argument
    if kind is MeasureKind.COUNT_UNITS:
        raise UnsupportedSQL("COUNT(DISTINCT ...) has no FILTER. Put the condition into WHERE, in a query of its own.")
    counted = MeasureKind.COUNT_VALUES if kind is MeasureKind.COUNT_ROWS else kind
    return counted, filtered(argument, call.conditions, reader)


def filtered(argument: Expression | None, conditions: Sequence[exp.Expr], reader: Reader) -> Expression | None:
    """Return an argument that is NULL where a condition of FILTER does not hold; rows have 1 for their argument."""
    if not conditions:
        return argument
    kept = argument if argument is not None else typing_rules.literal(1)
    for condition in conditions:
        kept = reader.apply(Operation.CASE, reader.condition(condition), kept, typing_rules.literal(None))
    return kept


def _refuse_nested(node: exp.Expr) -> Expression | None:
    """Refuse an aggregate inside an aggregate."""
    if is_aggregate(node):
        raise UnsupportedSQL(
            f"{shown(node)} stands inside another aggregate. Rows are added up once: ask for it by itself."
        )
    return None


def _not_numbers(call: AggregateCall, argument: Expression) -> str:
    """Say what to write for an aggregate of something that is not a number."""
    remedies = {
        Type.BOOLEAN: "write COUNT_IF(x), or AVG(CASE WHEN x THEN 1 ELSE 0 END)",
        Type.TEXT: "write COUNT(*) with GROUP BY, or CAST(x AS DOUBLE) with CLAMP",
    }
    days = "write it of DATEDIFF('day', DATE '2000-01-01', x)"
    hint = advice(remedies.get(argument.type, days), [argument], Type.REAL)
    return f"{shown(call.node)} needs numbers, and got {argument.type.value}: {hint}."


@dataclass(slots=True)
class AggregateCall:
    """An aggregate as it was written."""

    kind: MeasureKind
    node: exp.Expr
    argument: exp.Expr | None = None
    level: Fraction | None = None
    second: exp.Expr | None = None
    conditions: list[exp.Expr] = field(default_factory=list)


def read_call(node: exp.Expr) -> AggregateCall:
    """Return what an aggregate asks, or refuse it."""
    if isinstance(node, exp.Filter):
        only(node, "this", "expression")
        call = read_call(node.this)
        only(node.args["expression"], "this")
        return replace(call, node=node, conditions=[*call.conditions, node.args["expression"].this])
    if isinstance(node, exp.WithinGroup):
        return _within_group(node)
    if type(node) not in _CALLS:
        raise refused(node)
    return _CALLS[type(node)](node)


def _counted(node: exp.Expr) -> AggregateCall:
    """Read COUNT in its forms."""
    only(node, "this", "big_int")
    what = node.this
    if what is None or isinstance(what, exp.Star):
        if isinstance(what, exp.Star):
            only(what)
        return AggregateCall(MeasureKind.COUNT_ROWS, node)
    if isinstance(what, exp.Distinct):
        only(what, "expressions")
        if len(what.expressions) != 1:
            raise UnsupportedSQL(
                "COUNT(DISTINCT ...) takes one argument. Write COUNT(DISTINCT x || '-' || y) for pairs."
            )
        return AggregateCall(MeasureKind.COUNT_DISTINCT, node, what.expressions[0])
    return AggregateCall(MeasureKind.COUNT_VALUES, node, what)


def _counted_if(node: exp.Expr) -> AggregateCall:
    """Read COUNT_IF as a count of rows with a condition."""
    only(node, "this")
    if isinstance(node.this, exp.Distinct):
        raise UnsupportedSQL(reason("Distinct", ""))
    return AggregateCall(MeasureKind.COUNT_ROWS, node, conditions=[node.this])


def _ranged(node: exp.Expr) -> AggregateCall:
    """Read an aggregate of numbers."""
    only(node, "this")
    kind = _WITH_RANGE[type(node)]
    level = Fraction(1, 2) if isinstance(node, exp.Median) else None
    return AggregateCall(kind, node, _plain(node.this), level)


def _of_pairs(node: exp.Expr) -> AggregateCall:
    """Read CORR(x, y) and REGR_SLOPE(y, x)."""
    only(node, "this", "expression")
    one, other = node.this, node.args.get("expression")
    if other is None:
        raise UnsupportedSQL(f"{shown(node)} takes two arguments. Write CORR(x, y), or REGR_SLOPE(y, x).")
    return AggregateCall(_OF_PAIRS[type(node)], node, _plain(one), second=_plain(other))


def _named(node: exp.Expr) -> AggregateCall:
    """Read an aggregate that sqlglot knows by name alone."""
    only(node, "this", "expressions")
    name = str(node.this).upper()
    if name not in _NAMED:
        raise refused(node)
    if len(node.expressions) != 1:
        raise UnsupportedSQL(f"{name} takes one argument. Write {name}(x).")
    return AggregateCall(_NAMED[name], node, _plain(node.expressions[0]))


def _quantile(node: exp.Expr) -> AggregateCall:
    """Read QUANTILE(x, level)."""
    place = _QUANTILES[type(node)]
    only(node, "this", place)
    if node.args.get(place) is None:
        raise UnsupportedSQL(
            f"{shown(node)} needs a level. Write QUANTILE(x, 0.5), or PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)."
        )
    return AggregateCall(MeasureKind.QUANTILE, node, _plain(node.this), _level(node.args[place]))


def _within_group(node: exp.Expr) -> AggregateCall:
    """Read PERCENTILE_CONT(level) WITHIN GROUP (ORDER BY x)."""
    only(node, "this", "expression")
    inner, order = node.this, node.args.get("expression")
    terms = order.expressions if isinstance(order, exp.Order) else []
    if (
        not isinstance(inner, exp.PercentileCont | exp.PercentileDisc)
        or inner.args.get("expression")
        or len(terms) != 1
    ):
        raise UnsupportedSQL("WITHIN GROUP is written PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x).")
    only(inner, "this")
    only(terms[0], "this", "desc")
    level = _level(inner.this)
    return AggregateCall(
        MeasureKind.QUANTILE, node, _plain(terms[0].this), 1 - level if terms[0].args.get("desc") else level
    )


def _level(node: exp.Expr) -> Fraction:
    """Return the level of a quantile exactly as it is written."""
    node = bare(node)
    if not isinstance(node, exp.Literal) or node.is_string or len(node.name) > 20:
        raise UnsupportedSQL(
            f"{shown(node)!r} is not a level. Write one constant between 0 and 1 a QUANTILE: QUANTILE(x, 0.5)."
        )
    number(node.name)
    level = Fraction(node.name.rstrip("."))
    if not 0 < level < 1:
        raise UnsupportedSQL(
            "The level of a quantile must lie between 0 and 1: the ends are single people. Write 0.01 or 0.99."
        )
    return level


def _plain(node: exp.Expr) -> exp.Expr:
    """Refuse DISTINCT and ORDER BY inside an aggregate."""
    if isinstance(node, exp.Distinct | exp.Order):
        raise UnsupportedSQL(reason(type(node).__name__, ""))
    return node


_CALLS: dict[type[exp.Expr], Callable[[exp.Expr], AggregateCall]] = {
    exp.Count: _counted,
    exp.CountIf: _counted_if,
    exp.Anonymous: _named,
    **dict.fromkeys(_WITH_RANGE, _ranged),
    **dict.fromkeys(_OF_PAIRS, _of_pairs),
    **dict.fromkeys(_QUANTILES, _quantile),
}


def default_name(node: exp.Expr) -> str:
    """Return the name of an aggregate in the answer where none is given: count, sum_cost, avg_cost, ..."""
    call = read_call(node)
    word = "median" if call.level == Fraction(1, 2) else call.kind.value.partition("(")[0].lower()
    parts = [bare(one) for one in (call.argument, call.second) if one is not None]
    parts = [_without_clamp(one) for one in parts]
    named = all(isinstance(one, exp.Column) for one in parts)
    return "_".join([word, *(fold(one.name) for one in parts)]) if named else word


def _without_clamp(node: exp.Expr) -> exp.Expr:
    """Return what CLAMP clamps, and anything else as it is."""
    if isinstance(node, exp.Anonymous) and str(node.this).upper() == "CLAMP" and node.expressions:
        inner: exp.Expr = node.expressions[0]
        return inner
    return node


def _fits(ends: Interval) -> bool:
    """Whether floats hold a range, its steps and the squares of its ends."""
    try:
        FixedPoint.between(ends)
    except ParameterError:
        return False
    return max(map(abs, ends)) <= LARGEST_END
