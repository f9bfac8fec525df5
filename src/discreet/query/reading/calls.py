"""Aggregates as they are written: which one, of what, under which condition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from sqlglot import exp

from discreet.errors import UnsupportedSQL
from discreet.query.plan import MeasureKind
from discreet.query.reading.expressions import number, refused, unknown_function
from discreet.query.reading.parse import only, shown
from discreet.query.reading.refusals import reason
from discreet.query.reading.scope import fold

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
_NAMED: dict[str, MeasureKind] = {"MEAN": MeasureKind.MEAN, "STD": MeasureKind.DEVIATION, "VAR": MeasureKind.VARIANCE}
_QUANTILES: dict[type[exp.Expr], str] = {
    exp.Quantile: "quantile",
    exp.ApproxQuantile: "quantile",
    exp.PercentileCont: "expression",
    exp.PercentileDisc: "expression",
}
_WORDS: dict[MeasureKind, str] = {
    MeasureKind.COUNT_ROWS: "count",
    MeasureKind.COUNT_VALUES: "count",
    MeasureKind.COUNT_UNITS: "count",
    MeasureKind.SUM: "sum",
    MeasureKind.MEAN: "avg",
    MeasureKind.VARIANCE: "variance",
    MeasureKind.DEVIATION: "stddev",
    MeasureKind.QUANTILE: "quantile",
}
_UNREAD = ("PRODUCT", "ENTROPY", "HISTOGRAM", "FAVG", "FSUM", "RESERVOIR_QUANTILE")


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node adds up rows, in a way that is understood or not."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).upper() in (*_NAMED, *_UNREAD)
    return isinstance(node, exp.AggFunc | exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls)


def has_aggregate(node: exp.Expr) -> bool:
    """Whether an aggregate stands somewhere in a node, subqueries aside."""
    if is_aggregate(node):
        return True
    return any(has_aggregate(child) for child in node.iter_expressions() if not isinstance(child, exp.Query))


@dataclass(slots=True)
class Call:
    """An aggregate as it was written."""

    kind: MeasureKind
    node: exp.Expr
    argument: exp.Expr | None = None
    level: Fraction | None = None
    conditions: list[exp.Expr] = field(default_factory=list)


def read_call(node: exp.Expr) -> Call:
    """Return what an aggregate asks, or refuse it."""
    if isinstance(node, exp.Filter):
        only(node, "this", "expression")
        call = read_call(node.this)
        only(node.args["expression"], "this")
        return Call(call.kind, node, call.argument, call.level, [*call.conditions, node.args["expression"].this])
    if isinstance(node, exp.WithinGroup):
        return _within_group(node)
    for kind, read in _CALLS.items():
        if type(node) is kind:
            return read(node)
    raise refused(node)


def _counted(node: exp.Expr) -> Call:
    """Read COUNT in its forms."""
    only(node, "this", "big_int")
    what = node.this
    if what is None or isinstance(what, exp.Star):
        if isinstance(what, exp.Star):
            only(what)
        return Call(MeasureKind.COUNT_ROWS, node)
    if isinstance(what, exp.Distinct):
        only(what, "expressions")
        if len(what.expressions) != 1:
            raise UnsupportedSQL("COUNT(DISTINCT ...) takes the unit of protection alone. Write COUNT(DISTINCT unit).")
        return Call(MeasureKind.COUNT_UNITS, node, what.expressions[0])
    return Call(MeasureKind.COUNT_VALUES, node, what)


def _counted_if(node: exp.Expr) -> Call:
    """Read COUNT_IF as a count of rows with a condition."""
    only(node, "this")
    if isinstance(node.this, exp.Distinct):
        raise UnsupportedSQL(reason("Distinct", ""))
    return Call(MeasureKind.COUNT_ROWS, node, conditions=[node.this])


def _ranged(node: exp.Expr) -> Call:
    """Read an aggregate of numbers."""
    only(node, "this")
    kind = _WITH_RANGE[type(node)]
    level = Fraction(1, 2) if isinstance(node, exp.Median) else None
    return Call(kind, node, _plain(node.this), level)


def _named(node: exp.Expr) -> Call:
    """Read an aggregate that sqlglot knows by name alone."""
    only(node, "this", "expressions")
    name = str(node.this).upper()
    if name not in _NAMED:
        raise unknown_function(name)
    if len(node.expressions) != 1:
        raise UnsupportedSQL(f"{name} takes one argument. Write {name}(x).")
    return Call(_NAMED[name], node, _plain(node.expressions[0]))


def _quantile(node: exp.Expr) -> Call:
    """Read QUANTILE(x, level)."""
    place = _QUANTILES[type(node)]
    only(node, "this", place)
    if node.args.get(place) is None:
        raise UnsupportedSQL(
            f"{shown(node)} needs a level. Write QUANTILE(x, 0.5), or PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)."
        )
    return Call(MeasureKind.QUANTILE, node, _plain(node.this), level_of(node.args[place]))


def _within_group(node: exp.Expr) -> Call:
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
    level = level_of(inner.this)
    return Call(MeasureKind.QUANTILE, node, _plain(terms[0].this), 1 - level if terms[0].args.get("desc") else level)


def level_of(node: exp.Expr) -> Fraction:
    """Return the level of a quantile exactly as it is written."""
    while isinstance(node, exp.Paren):
        node = node.this
    if not isinstance(node, exp.Literal) or node.is_string or len(node.name) > 20:
        raise UnsupportedSQL(
            f"{shown(node)!r} is no level. Write one constant between 0 and 1 a QUANTILE: QUANTILE(x, 0.5)."
        )
    number(node.name)
    level = Fraction(node.name.rstrip("."))
    if not 0 < level < 1:
        raise UnsupportedSQL(
            "The level of a quantile lies between 0 and 1: the ends are single people. Write 0.01 or 0.99."
        )
    return level


def _plain(node: exp.Expr) -> exp.Expr:
    """Refuse DISTINCT and ORDER BY inside an aggregate."""
    if isinstance(node, exp.Distinct | exp.Order):
        raise UnsupportedSQL(reason(type(node).__name__, ""))
    return node


_CALLS: dict[type[exp.Expr], Callable[[exp.Expr], Call]] = {
    exp.Count: _counted,
    exp.CountIf: _counted_if,
    exp.Anonymous: _named,
    **dict.fromkeys(_WITH_RANGE, _ranged),
    **dict.fromkeys(_QUANTILES, _quantile),
}


def default_name(node: exp.Expr) -> str:
    """Return the name of an aggregate in the answer where none is given: count, sum_cost, avg_cost, ..."""
    call = read_call(node)
    word = "median" if call.level == Fraction(1, 2) else _WORDS[call.kind]
    inner = call.argument
    while isinstance(inner, exp.Paren):
        inner = inner.this
    if isinstance(inner, exp.Anonymous) and str(inner.this).upper() == "CLAMP" and inner.expressions:
        inner = inner.expressions[0]
    return f"{word}_{fold(inner.name)}" if isinstance(inner, exp.Column) else word
