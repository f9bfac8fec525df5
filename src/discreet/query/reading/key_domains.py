"""Which values a grouping key can have, from declarations alone; a key for which that is unknown is private."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import chain, islice, product

from discreet.errors import ParameterError
from discreet.query.expression import (
    PARTS_OF_DAYS,
    TRUNCATED_DAYS,
    Apply,
    Column,
    Expression,
    Interval,
    Literal,
    Operation,
    Type,
    Value,
    plain_value,
    typing_rules,
)
from discreet.query.policy import LARGEST_DOMAIN
from discreet.query.reading.rows import Visible

Evaluate = Callable[[Expression, Mapping[str, list[Value]]], Sequence[Value]]
PublicRows = Callable[[str, tuple[str, ...]], Sequence[tuple[Value, ...]] | None]  # columns of a public table, each row
# once; None where they are many

_MOST_PUBLIC_ROWS = 10_000  # of a table whose conditions carry over to others
_MOST_DIGITS = 40  # more than any integer of a type has: a decimal number may have a billion
_TURNED = {  # what a comparison is with its sides exchanged
    Operation.LESS: Operation.GREATER,
    Operation.AT_MOST: Operation.AT_LEAST,
    Operation.GREATER: Operation.LESS,
    Operation.AT_LEAST: Operation.AT_MOST,
    Operation.EQUAL: Operation.EQUAL,
}
_Leaves = dict[str, tuple[Value, ...]]


def public_domain(
    definition: Expression | None, base: Mapping[str, Visible], evaluate: Evaluate | None
) -> tuple[Value, ...] | None:
    """Return all values of a key that declarations allow, in order, or None for a private key.

    A column has the domain that the policy declares. An expression has the image of its columns' declared values, NULL
    included: it is computed for every combination. NULL itself is never a public key.

    Nothing private is read: the domain is a function of the policy and the query.
    """
    if definition is None:
        return None
    if isinstance(definition, Column):
        known = base.get(definition.name)
        declared = known.declared.domain if known is not None and known.declared is not None else None
        return declared or ((False, True) if definition.type is Type.BOOLEAN else None)
    leaves: _Leaves = {}
    outer = _reduce(definition, base, leaves)
    if isinstance(outer, Column):
        return leaves[outer.name]
    few = math.prod(len(values) + 1 for values in leaves.values()) <= LARGEST_DOMAIN
    if outer is not None and evaluate is not None and few:
        return _image(outer, leaves, evaluate)
    return _by_itself(definition)


def named_values(definition: Expression, true: Sequence[Expression]) -> tuple[Value, ...] | None:
    """Return the values of a key that conditions on every row list, in order: x IN (constants), or x = constant."""
    listed: list[set[Value]] = []
    for one in true:
        if not isinstance(one, Apply) or one.operation not in (Operation.IN, Operation.EQUAL):
            continue
        first, *others = one.arguments
        if one.operation is Operation.EQUAL and definition == others[0]:
            first, others = others[0], [first]
        if definition == first and all(isinstance(other, Literal) for other in others):
            listed.append({other.value for other in others if isinstance(other, Literal) and other.value is not None})
    if not any(listed):
        return None
    values = set.intersection(*listed) or set.union(*listed)  # in whatever order the conditions are written
    return tuple(sorted(values))  # type: ignore[type-var]  # values of one type


def narrowed(
    definition: Expression, base: Mapping[str, Visible], true: Sequence[Expression], evaluate: Evaluate | None
) -> Mapping[str, Visible]:
    """Return what is known of columns, without the values for which a condition on every row is not true.

    Nothing private is read: the conditions are those of the query. A group that is left out could have no row. A
    midnight stands for its day, and stays where a condition can be true at some time of that day.
    """
    found = dict(base)
    if evaluate is None:
        return found
    for column in definition.columns():
        known = base.get(column.name)
        conditions = [one for one in true if {part.name for part in one.columns()} == {column.name}]
        if column.type is Type.TIMESTAMP:
            told = known is not None and known.declared is not None and known.declared.domain is not None
            conditions = [] if told else [day for one in conditions if (day := _on_days(one)) is not None]
        if known is None or known.declared is None or not conditions:
            continue
        values = () if isinstance(definition, Column) and known.declared.domain is None else _finite(known) or ()
        met = evaluate(_all_of(conditions), {column.name: list(values)}) if values else ()
        kept = tuple(value for value, yes in zip(values, met, strict=True) if yes is True)
        if kept:
            found[column.name] = replace(known, declared=replace(known.declared, values=kept))
    return found


def _on_days(condition: Expression) -> Expression | None:
    """Return a condition on a time that is true at the midnight of every day on which the given one can be true.

    None where none is known. Where only the day matters it is the condition itself; a comparison with a constant asks
    whether some time of the day compares so.
    """
    if _only_the_day_matters(condition):
        return condition
    if not isinstance(condition, Apply):
        return None
    if condition.operation in (Operation.AND, Operation.OR):
        parts = [_on_days(one) for one in condition.arguments]
        known = [one for one in parts if one is not None]
        if len(known) == len(parts) or (condition.operation is Operation.AND and known):
            return known[0] if len(known) == 1 else typing_rules.apply(condition.operation, *known)
    return _compared_on_days(condition)


def _compared_on_days(condition: Apply) -> Expression | None:
    """Return a comparison of a time with constants as one of its midnight."""
    if condition.operation in _TURNED and isinstance(condition.arguments[0], Literal):
        condition = replace(condition, operation=_TURNED[condition.operation], arguments=condition.arguments[::-1])
    first, *constants = condition.arguments
    times = [one.value for one in constants if isinstance(one, Literal) and isinstance(one.value, datetime)]
    if not isinstance(first, Column) or not times or len(times) < len(constants):
        return None
    if condition.operation in (Operation.LESS, Operation.AT_MOST):
        return condition
    if condition.operation not in (Operation.GREATER, Operation.AT_LEAST, Operation.EQUAL, Operation.IN):
        return None
    operation = Operation.AT_LEAST if condition.operation is Operation.GREATER else condition.operation
    starts = [typing_rules.literal(datetime.combine(one, time())) for one in times]
    return typing_rules.apply(operation, first, *starts)


def _only_the_day_matters(expression: Expression) -> bool:
    """Say whether an expression reads times by their day alone, so that it is at midnight what it is all day."""
    if isinstance(expression, Column):
        return expression.type is not Type.TIMESTAMP
    return _is_by_day(expression) or all(map(_only_the_day_matters, expression.parts))


def _is_by_day(expression: Expression) -> bool:
    """Say whether an expression is a function of the day of a column of times."""
    if not isinstance(expression, Apply) or not isinstance(expression.arguments[0], Column):
        return False
    to_day = expression.operation is Operation.CAST and expression.type is Type.DATE
    return to_day or expression.operation in (*PARTS_OF_DAYS, *TRUNCATED_DAYS)


def _all_of(conditions: Sequence[Expression]) -> Expression:
    """Return conditions joined by AND, half by half, so that many are nested in few brackets."""
    if len(conditions) == 1:
        return conditions[0]
    half = len(conditions) // 2
    return typing_rules.apply(Operation.AND, _all_of(conditions[:half]), _all_of(conditions[half:]))


_Rows = list[dict[str, Value]]


def joined_values(
    definition: Expression,
    base: Mapping[str, Visible],
    true: Sequence[Expression],
    evaluate: Evaluate | None,
    public_rows: PublicRows | None,
) -> dict[str, tuple[Value, ...]]:
    """Return the values of columns of public tables that meet the conditions on public tables alone.

    A condition on a region leaves the nations of that region, by the equality that joins the two tables. Only public
    tables are read: a group that is left out could have no row.
    """
    public = {name for name, one in base.items() if one.public}
    asked = {column.name for column in definition.columns()} & public
    told = {one: sorted({part.name for part in one.columns()}) for one in true}
    told = {one: names for one, names in told.items() if names and public.issuperset(names)}
    links = [pair for pair in map(_two_columns, told) if pair is not None]
    if not asked or len(links) == len(told) or evaluate is None or public_rows is None:
        return {}
    tables = _rows_of({*asked, *chain(*told.values())}, base, public_rows)
    for table, rows in tables.items():
        own = [one for one, names in told.items() if {_table_of(name, base) for name in names} == {table}]
        if own and rows:
            read = {name for one in own for name in told[one]}
            met = evaluate(_all_of(own), {name: [row[name] for row in rows] for name in sorted(read)})
            tables[table] = [row for row, yes in zip(rows, met, strict=True) if yes is True]
    known = [pair for pair in links if {_table_of(name, base) for name in pair} <= set(tables)]
    for pair in known * len(tables):  # every round carries a condition one join further
        for mine, other in (pair, pair[::-1]):
            among = {row[other] for row in tables[_table_of(other, base)]} - {None}
            holder = _table_of(mine, base)
            tables[holder] = [row for row in tables[holder] if row[mine] in among]
    left = {name: {row[name] for row in tables.get(_table_of(name, base), ())} - {None} for name in asked}
    return {name: tuple(sorted(values)) for name, values in left.items() if values}  # type: ignore[type-var]


def _rows_of(names: set[str], base: Mapping[str, Visible], public_rows: PublicRows) -> dict[str, _Rows]:
    """Return these columns of public tables, for each table that is joined and is not long."""
    read: dict[str, list[str]] = {}
    for name in sorted(names):
        read.setdefault(_table_of(name, base), []).append(name)
    tables = {}
    for table, columns in read.items():
        rows = public_rows(base[columns[0]].public, tuple(base[name].name for name in columns))
        if rows is not None and len(rows) <= _MOST_PUBLIC_ROWS:
            tables[table] = [dict(zip(columns, row, strict=True)) for row in rows]
    return tables


def _table_of(name: str, base: Mapping[str, Visible]) -> str:
    """Return what stands before the name of a column: one name for each table that is joined."""
    return name.removesuffix(f".{base[name].name}")


def _two_columns(condition: Expression) -> tuple[str, str] | None:
    """Return the two columns of an equality between columns; None for other conditions."""
    if not isinstance(condition, Apply) or condition.operation is not Operation.EQUAL:
        return None
    first, second = condition.arguments
    return (first.name, second.name) if isinstance(first, Column) and isinstance(second, Column) else None


def _image(expression: Expression, leaves: _Leaves, evaluate: Evaluate) -> tuple[Value, ...] | None:
    """Return the values of an expression over all combinations, without repetitions, in order."""
    rows = list(product(*((*values, None) for values in leaves.values())))
    columns: dict[str, list[Value]] = {name: [row[index] for row in rows] for index, name in enumerate(leaves)}
    found = {value for value in evaluate(expression, columns) if value is not None}
    return tuple(sorted(found)) if found else None


def _by_itself(expression: Expression) -> tuple[Value, ...] | None:
    """Return the values of an expression that follow from its own type and range."""
    if expression.type is Type.BOOLEAN:
        return False, True
    if expression.type is Type.INTEGER and expression.interval is not None and isinstance(expression, Apply):
        return _whole_numbers(expression.interval)
    return None


def _reduce(expression: Expression, base: Mapping[str, Visible], leaves: _Leaves) -> Expression | None:
    """Return the expression with every part of known values as a column of its own, whose values go into `leaves`."""
    if isinstance(expression, Literal):
        return expression
    if isinstance(expression, Column):
        known = base.get(expression.name)
        values = _finite(known) if known is not None and expression.type is not Type.TIMESTAMP else None
        if values is None and expression.type is Type.BOOLEAN:
            values = (False, True)
        return None if values is None else _leaf(expression, values, leaves)
    if not isinstance(expression, Apply):
        return None
    midnights = _midnights(expression, base)
    if midnights is not None:
        leaves[expression.arguments[0].name] = midnights  # type: ignore[attr-defined]
        return expression
    inner: _Leaves = {}
    parts = [_reduce(part, base, inner) for part in expression.arguments]
    if all(part is not None for part in parts) and math.prod(len(one) + 1 for one in inner.values()) <= LARGEST_DOMAIN:
        leaves.update(inner)
        return replace(expression, arguments=tuple(part for part in parts if part is not None))
    values = _choices(expression) or _by_itself(expression)
    return None if values is None else _leaf(expression, values, leaves)


def _finite(column: Visible) -> tuple[Value, ...] | None:
    """Return all values between declared ends, where there are not too many; of a time its midnights."""
    declared = column.declared
    if declared is None:
        return None
    if declared.domain is not None:
        return declared.domain
    if column.column.type is Type.INTEGER and column.column.interval is not None:
        return _whole_numbers(column.column.interval)
    return _days(column.column.type, declared.low, declared.high)


def _whole_numbers(interval: Interval) -> tuple[int, ...] | None:
    """Return all whole numbers of an interval, None where they are too many."""
    low, high = math.ceil(interval[0]), math.floor(interval[1])
    return tuple(range(low, high + 1)) if high - low < LARGEST_DOMAIN else None


def _days(type: Type, low: object, high: object) -> tuple[Value, ...] | None:
    """Return all days of a range, None where they are too many or no days."""
    if type not in (Type.DATE, Type.TIMESTAMP) or not isinstance(low, date) or not isinstance(high, date):
        return None
    first, last = (end.date() if isinstance(end, datetime) else end for end in (low, high))
    if (last - first).days >= LARGEST_DOMAIN:
        return None
    days = [first + timedelta(days=day) for day in range((last - first).days + 1)]
    return tuple(days) if type is Type.DATE else tuple(datetime.combine(day, time()) for day in days)


def _leaf(expression: Expression, values: tuple[Value, ...], leaves: _Leaves) -> Column:
    """Return a column that stands for a part with known values."""
    name = (
        expression.name if isinstance(expression, Column) else f"#{len(leaves) + 1}:{hash(expression) & 0xFFFFFFFF:x}"
    )
    leaves[name] = values
    return Column(expression.type, expression.interval, name)


def _midnights(expression: Apply, base: Mapping[str, Visible]) -> tuple[Value, ...] | None:
    """Return the midnights of a time's declared range where only the day matters."""
    inner = expression.arguments[0]
    if not _is_by_day(expression) or not isinstance(inner, Column) or inner.type is not Type.TIMESTAMP:
        return None
    if inner.name not in base:
        return None
    return _finite(base[inner.name])


def _choices(expression: Apply) -> tuple[Value, ...] | None:
    """Return the results of a CASE whose branches are all constants, whatever its conditions are."""
    if expression.operation is not Operation.CASE:
        return None
    arguments = expression.arguments
    results = [*arguments[1:-1:2], arguments[-1]]
    if not all(isinstance(one, Literal) for one in results):
        return None
    values = dict.fromkeys(one.value for one in results if isinstance(one, Literal) and one.value is not None)
    return tuple(values) or None


def stated_keys(name: str, values: object, wanted: Type) -> tuple[Value, ...]:
    """Return the values of a key that the call gives, checked against its type."""
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise ParameterError(f'keys= pairs a name with a list: keys={{"{name}": [...]}}', parameter="keys")
    found = [_as_type(one, wanted, name) for one in islice(values, LARGEST_DOMAIN + 1)]
    if not found or len(found) > LARGEST_DOMAIN:
        raise ParameterError(f"keys= needs 1 to {LARGEST_DOMAIN} values for {name!r}", parameter="keys")
    if len(set(found)) < len(found):
        raise ParameterError(f"keys= has a value of {name!r} twice. Leave out one of them", parameter="keys")
    return tuple(found)


def _as_type(given: object, wanted: Type, name: str) -> Value:
    """Return a key as a value of the type, or say what is expected."""
    value = _whole(given) if wanted is Type.INTEGER else plain_value(given)
    if wanted is Type.REAL and isinstance(value, int | float) and not isinstance(value, bool):
        value = float(value) if abs(value) <= sys.float_info.max else None
    if wanted in (Type.DATE, Type.TIMESTAMP):
        value = _as_time(value, wanted)
    fits = {
        Type.BOOLEAN: isinstance(value, bool),
        Type.INTEGER: isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63,
        Type.REAL: isinstance(value, float),
        Type.TEXT: isinstance(value, str) and _storable(value),
        Type.DATE: isinstance(value, date) and not isinstance(value, datetime),
        Type.TIMESTAMP: isinstance(value, datetime) and value.tzinfo is None,
    }[wanted]
    if isinstance(value, datetime) and value.tzinfo is not None and wanted in (Type.DATE, Type.TIMESTAMP):
        raise ParameterError(
            f"keys= for {name!r} has a time with a zone, and times have no zone here: write the time in UTC, without "
            "one",
            parameter="keys",
        )
    if not fits:
        raise ParameterError(
            f"keys= for {name!r} must be values of type {wanted.value}, and not NULL", parameter="keys"
        )
    return value  # type: ignore[return-value]


def _whole(given: object) -> object:
    """Return a whole number exactly, however it is written: 20, 20.0, Decimal(20); anything else as Python has it."""
    value = given if isinstance(given, Decimal) else plain_value(given)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Decimal) and value.is_finite() and (not value or value.adjusted() < _MOST_DIGITS):
        return int(value) if value == value.to_integral_value() else None
    return value


def _as_time(value: object, wanted: Type) -> object:
    """Return a text as the date or the time that it writes; midnight is a date where a date is wanted."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
        return value.date() if wanted is Type.DATE and value.tzinfo is None else value
    if wanted is Type.DATE and isinstance(value, datetime) and value.tzinfo is None:
        return value.date() if value.time() == time() else None
    if wanted is Type.TIMESTAMP and isinstance(value, date) and not isinstance(value, datetime):
        return datetime.combine(value, time())
    return value


def _storable(text: str) -> bool:
    """Say whether a database can hold a text."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)
