"""MIN, MAX and MODE of rows are refused, with the text that asks for nearly the same without showing anybody."""

from __future__ import annotations

from datetime import date, datetime

from sqlglot import exp

from discreet.errors import UnsupportedSQL
from discreet.query.expression import Column, Expression, Type
from discreet.query.reading.parse import bare, shown
from discreet.query.reading.rows import ReadableRows


def refuse_extremes(node: exp.Expr, source: ReadableRows) -> None:
    """Refuse MIN, MAX and MODE of rows with the text that asks for nearly the same without showing anybody."""
    call = bare(node.this) if isinstance(node, exp.Filter) else node
    if not isinstance(call, exp.Min | exp.Max | exp.Mode) or call.this is None or not isinstance(call.this, exp.Expr):
        return
    name, inner = type(call).__name__.upper(), bare(call.this)
    if call.args.get("expressions") or isinstance(inner, exp.Distinct | exp.Order | exp.Star):
        return
    argument = source.reader().read(inner)
    if isinstance(call, exp.Mode) or not (argument.type.numeric or argument.type in (Type.DATE, Type.TIMESTAMP)):
        key = shown(inner)
        raise UnsupportedSQL(
            f"{name} shows a value that few may have. Ask for {key} and COUNT(*) AS n, with GROUP BY {key} and "
            "ORDER BY n DESC LIMIT 1."
        )
    level, which = ("0.01", "low") if isinstance(call, exp.Min) else ("0.99", "high")
    raise UnsupportedSQL(
        f"{name} shows the value of one person, the most unusual one. Write QUANTILE("
        f"{_ranged_text(inner, argument, source)}, {level}) for a {which} value."
    )


def _ranged_text(node: exp.Expr, argument: Expression, source: ReadableRows) -> str:
    """Return the text of an argument that has a range: as it is, in CLAMP, or as days from the first one."""
    text = shown(node)
    if argument.type.numeric:
        return text if argument.interval is not None else f"CLAMP({text}, 0, 500)"
    known = source.scope.base.get(argument.name) if isinstance(argument, Column) else None
    low, high = (known.declared.low, known.declared.high) if known is not None and known.declared else (None, None)
    first = low if isinstance(low, date) else date(2000, 1, 1)
    days = (high - first).days + 1 if type(high) is type(first) and isinstance(high, date) else 36_525
    day = first.date() if isinstance(first, datetime) else first
    return f"CLAMP(DATEDIFF('day', DATE '{day}', {text}), 0, {days})"
