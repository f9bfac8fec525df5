"""A query in readable words: what is read, what is asked, and what is done with the answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from fractions import Fraction

from discreet.query.expression import Apply, Column, Expression, Literal, Operation
from discreet.query.plan.query_plan import (
    Aggregate,
    AnswerWindow,
    Key,
    MeasureKind,
    Order,
    PostProcessing,
    QueryPlan,
    WindowKind,
)
from discreet.query.plan.row_sources import (
    FilterRows,
    PerUnit,
    PrivateJoin,
    Project,
    PublicJoin,
    RowSource,
    Scan,
    UnionAll,
    UnitValue,
)

# those that are written as signs, but for two that are not between their arguments, and three words
_MOVES = (Operation.ADD_DAYS, Operation.ADD_MONTHS)
_INFIX = {one for one in Operation if not one.value[0].isalpha()} - {Operation.BIT_NOT, *_MOVES}
_INFIX |= {Operation.AND, Operation.OR, Operation.LIKE}
_FEW = 6


def written(query: QueryPlan) -> str:
    """Return a query in lines that read like SQL, with the ranges and domains that were found for it."""
    aggregation = query.aggregation
    lines = _rows(aggregation.source)
    if aggregation.keys:
        lines.append("GROUP BY " + ", ".join(_key(key) for key in aggregation.keys))
    lines.append("ASK " + ", ".join(_asked(one) for one in aggregation.asked))
    if query.totals:
        keys = [key.name for key in aggregation.keys]
        sets = ["(" + ", ".join(keys[place] for place in kept) + ")" for kept in query.totals]
        lines.append("THEN ADD UP TO " + ", ".join(sets))
    for step in query.finish:
        lines.extend(_finish(step))
    return "\n".join(lines)


def written_expression(expression: Expression) -> str:
    """Return an expression as SQL writes it.

    >>> from discreet.query.expression import typing_rules
    >>> written_expression(
    ...     typing_rules.apply(
    ...         Operation.ADD, typing_rules.literal(1), typing_rules.literal(2)
    ...     )
    ... )
    '1 + 2'
    """
    if isinstance(expression, Column):
        return expression.name
    if isinstance(expression, Literal):
        return _constant(expression)
    if not isinstance(expression, Apply):
        raise TypeError(f"no words for {type(expression).__name__}")
    operation, parts = expression.operation, expression.arguments
    if operation in _INFIX:
        return f" {operation.value} ".join(_enclosed(part) for part in parts)
    return _function(expression, [written_expression(part) for part in parts])


def _function(expression: Apply, texts: Sequence[str]) -> str:
    """Return an operation that is not an infix operator."""
    operation, first = expression.operation, _bracketed(expression.arguments[0], texts[0])
    branches = " ".join(f"WHEN {texts[at]} THEN {texts[at + 1]}" for at in range(0, len(texts) - 1, 2))
    forms = {
        Operation.CAST: f"CAST({texts[0]} AS {expression.type.name})",
        Operation.IN: f"{first} IN ({_some(texts[1:])})",
        Operation.CASE: f"CASE {branches} ELSE {texts[-1]} END",
        Operation.IS_NULL: f"{first} IS NULL",
        Operation.NOT: f"NOT {first}",
        Operation.NEGATE: f"-{first}",
        Operation.BIT_NOT: f"~{first}",
        Operation.ADD_DAYS: f"{first} + {texts[-1]} days",
        Operation.ADD_MONTHS: f"{first} + {texts[-1]} months",
        Operation.DAYS_BETWEEN: f"DATEDIFF('day', {texts[0]}, {texts[-1]})",
    }
    if operation.name.startswith("TRUNCATE_"):
        return f"DATE_TRUNC('{operation.name.removeprefix('TRUNCATE_').lower()}', {texts[0]})"
    return forms.get(operation) or f"{operation.value}({', '.join(texts)})"


def _enclosed(expression: Expression) -> str:
    """Return an expression in brackets where it needs them."""
    return _bracketed(expression, written_expression(expression))


def _bracketed(expression: Expression, text: str) -> str:
    """Return the text of an expression in brackets where it needs them; written once, so that depth costs its depth."""
    loose = isinstance(expression, Apply) and (
        expression.operation in _INFIX
        or expression.operation in (Operation.IN, Operation.IS_NULL, Operation.NOT, *_MOVES)
    )
    return f"({text})" if loose else text


def _constant(literal: Literal) -> str:
    """Return a constant as SQL writes it."""
    value = literal.value
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def _some(texts: Sequence[str]) -> str:
    """Return a list, cut short."""
    return ", ".join(texts) if len(texts) <= _FEW else ", ".join(texts[:_FEW]) + f", ... ({len(texts)} in all)"


def _rows(rows: RowSource) -> list[str]:
    """Return how the rows come about, one line a step."""
    if isinstance(rows, UnionAll):
        return [line for part in rows.parts for line in ("UNION ALL", *(f"  {one}" for one in _rows(part)))][1:]
    return [*(_rows(rows.sources[0]) if rows.sources else []), *_step(rows)]


def _step(rows: RowSource) -> list[str]:
    """Return the last step to the rows."""
    if isinstance(rows, Scan):
        return [f"FROM {rows.table}"]
    if isinstance(rows, FilterRows):
        return [f"WHERE {written_expression(rows.condition)}"]
    if isinstance(rows, Project):
        return ["WITH COLUMNS " + ", ".join(_named(name, expression) for name, expression in rows.columns)]
    if isinstance(rows, PublicJoin):
        keys = " AND ".join(f"{_enclosed(one)} = {rows.table}.{column}" for one, column in rows.keys)
        return [f"{rows.kind.name} JOIN {rows.table} ON {keys}"]
    return _private_step(rows)


def _private_step(rows: RowSource) -> list[str]:
    """Return a step that looks at all rows of a unit."""
    if isinstance(rows, PerUnit):
        keys = ", ".join(["unit", *(_named(name, expression) for name, expression in rows.keys)])
        values = ", ".join(_unit_value(one) for one in rows.values)
        return [f"FOR EACH {keys}" + (f" COMPUTE {values}" if values else "")]
    if not isinstance(rows, PrivateJoin):
        raise TypeError(f"no words for {type(rows).__name__}")
    condition = "" if rows.condition is None else f" AND {_enclosed(rows.condition)}"
    return [f"{rows.kind.name} JOIN ON unit = unit{condition} WITH", *(f"  {one}" for one in _rows(rows.other))]


def _unit_value(one: UnitValue) -> str:
    """Return what is computed of the rows of a unit."""
    inner = "*" if one.argument is None else written_expression(one.argument)
    word, _, inside = one.kind.value.partition("(")
    ends = ""
    if one.scale is not None:
        low, high = one.scale.start * one.scale.grid, one.scale.end * one.scale.grid
        ends = f" within {_number(low)} to {_number(high)}"
    distinct = "DISTINCT " if inside.startswith("DISTINCT") else ""
    return f"{word}({distinct}{inner}){ends} AS {one.name}"


def _named(name: str, expression: Expression) -> str:
    """Return an expression with its name, where it differs."""
    text = written_expression(expression)
    return text if text == name else f"{text} AS {name}"


def _key(key: Key) -> str:
    """Return a key and how many public values it has."""
    domain = "private" if key.domain is None else f"{len(key.domain)} public"
    return f"{_named(key.name, key.expression)} ({domain})"


def _asked(one: Aggregate) -> str:
    """Return an aggregate with its ranges."""
    sums = ""
    if one.sums is not None:
        sums = f", of a unit in a group {_number(one.sums[0])} to {_number(one.sums[1])}"
    if one.argument is None:
        return f"{one.kind.value}{sums} AS {one.name}"
    inner = written_expression(one.argument)
    level = f", {_number(one.level)}" if one.level is not None else ""
    word = "COUNT" if one.kind is MeasureKind.COUNT_VALUES else one.kind.value
    ends = f" within {_number(one.bounds[0])} to {_number(one.bounds[1])}" if one.bounds is not None else ""
    if one.second is not None and one.second_bounds is not None:
        inner = f"{inner}, {written_expression(one.second)}"
        ends += f" and {_number(one.second_bounds[0])} to {_number(one.second_bounds[1])}"
    return f"{word}({inner}{level}){ends}{sums} AS {one.name}"


def _number(value: Fraction) -> str:
    """Return a number in few digits."""
    return str(value) if value.denominator == 1 and abs(value) < 10**15 else f"{float(value):g}"


def _finish(step: PostProcessing) -> list[str]:
    """Return a step on the released table."""
    word = "THEN SELECT DISTINCT " if step.distinct else "THEN SELECT "
    lines = [word + ", ".join(_named(name, expression) for name, expression in step.columns)]
    if step.condition is not None:
        lines.append(f"  WHERE {written_expression(step.condition)}")
    lines.extend(f"  WITH {_window(one)} AS {name}" for name, one in step.windows)
    if step.kept is not None:
        lines.append(f"  QUALIFY {written_expression(step.kept)}")
    if step.order:
        lines.append("  ORDER BY " + _order(step.order))
    if step.limit is not None:
        lines.append(f"  LIMIT {step.limit}")
    if step.offset:
        lines.append(f"  OFFSET {step.offset}")
    return lines


def _order(terms: Sequence[Order]) -> str:
    """Return the terms of ORDER BY."""
    return ", ".join(written_expression(one.expression) + (" DESC" if one.descending else "") for one in terms)


def _window(window: AnswerWindow) -> str:
    """Return a window as SQL writes it."""
    counted = "*" if window.kind is WindowKind.COUNT else ""
    inner = counted if window.argument is None else written_expression(window.argument)
    numbered = window.kind in (WindowKind.LAG, WindowKind.LEAD, WindowKind.NTH, WindowKind.NTILE)
    inner += (", " if inner else "") + str(window.number) if numbered else ""
    only = "" if window.condition is None else f" FILTER (WHERE {written_expression(window.condition)})"
    over = ["PARTITION BY " + ", ".join(map(written_expression, window.partition))] if window.partition else []
    over += ["ORDER BY " + _order(window.order)] if window.order else []
    over += [f"ROWS BETWEEN {_side(window.frame[0], -1)} AND {_side(window.frame[1], 1)}"] if window.frame else []
    return f"{window.kind.value}({inner}){only} OVER ({' '.join(over)})"


def _side(rows: int | None, otherwise: int) -> str:
    """Return an end of a frame."""
    if rows == 0:
        return "CURRENT ROW"
    count = "UNBOUNDED" if rows is None else str(abs(rows))
    return f"{count} {'PRECEDING' if (otherwise if rows is None else rows) < 0 else 'FOLLOWING'}"
