"""What an answer leaves out, in the curator's words: rows beyond the bounds, values beyond a range, undeclared keys."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from discreet.query.expression import Apply, Expression, Interval, Literal, Operation, Type, Value, ranges
from discreet.query.measures import NumberOfValues, UnitTotals
from discreet.query.plan import (
    Aggregate,
    EachRow,
    FilterRows,
    Groups,
    MatchKind,
    MeasureKind,
    NormWeights,
    PerUnit,
    PrivateJoin,
    Project,
    PublicJoin,
    RowSource,
    RowWeights,
    Scan,
    UnitValue,
    UnitValueKind,
    written_expression,
)
from discreet.query.pricing.priced_query import PricedQuery

NOT_INCLUDED = "the interval does not include this"
_WHOLE = (MeasureKind.COUNT_UNITS, MeasureKind.COUNT_DISTINCT)  # rows beyond a bound change nothing about these


def left_out(made: PricedQuery, unit: str) -> tuple[str, ...]:
    """Return a sentence for everything that bounding, clipping and public keys leave out; no data is read.

    `unit` is the policy's word for who is protected. Empty where every row counts in full.
    """
    who = f"{'an' if unit[:1].lower() in set('aeio') else 'a'} {unit}"
    beyond = [
        f"{what} below {_number(low)} counts as {_number(low)}, above {_number(high)} as {_number(high)}"
        for what, (low, high) in clipped(made)
    ]
    found = [*_of_units(made, who), *_of_values(made, who), *beyond, *_of_keys(made)]
    return tuple(dict.fromkeys(found))


def in_one_line(sentences: Sequence[str], made: PricedQuery) -> str:
    """Return the sentences as one text that says what of it the intervals include."""
    if not sentences:
        return "nothing: every row counts in full"
    return "; ".join([*sentences, included(made)])


def included(made: PricedQuery) -> str:
    """Say what of all that is left out the intervals include: what was bought of it."""
    if made.outer is None:
        return NOT_INCLUDED
    bought = ", ".join(made.cuts)
    return (
        f"the interval of {bought} includes the rows that are cut, if nobody has more than {made.outer:,}, as the "
        "policy says; not what ranges and keys leave out"
    )


def _of_units(made: PricedQuery, who: str) -> list[str]:
    """Say what becomes of a unit with more rows, or in more groups, than the form lets through."""
    form, source = made.bounding.form, made.query.aggregation.source
    rows_of = _rows_of(source)
    weighed = any(one.sums is None and one.kind not in _WHOLE for one in made.query.aggregation.asked)
    match form:
        case EachRow() if made.bounded is not None:
            return [f"{who} with more than {made.bounding.total:,} {rows_of} counts for that many, kept beforehand"]
        case EachRow():
            return []
        case RowWeights(rows):
            in_all = " in all groups together" if made.query.aggregation.keys else ""
            return [f"{who} with more than {_rows(rows, rows_of)}{in_all} counts as {rows:,}"]
        case NormWeights(rows):
            return [
                f"{who} with more than {_rows(rows, rows_of)} in one group counts as {rows:,} there; in several groups "
                f"as fewer in each, so that the squares add up to {rows:,}^2 at most"
            ]
        case Groups(groups, rows):
            return [*_of_groups(made, who, groups), *([_in_group(made, who, rows, rows_of)] if weighed else [])]
    raise TypeError(f"no words for {type(form).__name__}")


def _rows_of(source: RowSource) -> str:
    """Return what the rows are that are counted: those of tables, or one for each unit and value of further keys."""
    while isinstance(source, FilterRows | Project | PublicJoin):
        source = source.source
    if isinstance(source, PerUnit) and source.keys:
        return f"rows, one for each {_listed([_shortened(expression) for _, expression in source.keys])},"
    return f"rows of {_listed(_counted(source))}"


def _listed(names: Sequence[str]) -> str:
    """Return names with commas and an 'and' before the last."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _counted(source: RowSource) -> list[str]:
    """Return the tables whose rows are counted: not those by which a cohort was chosen."""
    if isinstance(source, Scan):
        return [source.table]
    chosen = isinstance(source, PrivateJoin) and source.kind in (MatchKind.SEMI, MatchKind.ANTI)
    beneath = source.sources[:1] if chosen else source.sources
    return list(dict.fromkeys(table for one in beneath for table in _counted(one)))


def _of_groups(made: PricedQuery, who: str, groups: int) -> list[str]:
    """Say what becomes of a unit in more groups than count."""
    aggregation = made.query.aggregation
    if not aggregation.keys:
        return []
    if aggregation.public and groups >= math.prod(len(key.domain or ()) for key in aggregation.keys):
        return []
    return [f"{who} in more than {groups:,} group{'s' if groups > 1 else ''} is missing from the others"]


def _in_group(made: PricedQuery, who: str, rows: int, rows_of: str) -> str:
    """Say what becomes of a unit with more rows in a group than count."""
    where = " in a group" if made.query.aggregation.keys else ""
    return f"{who} with more than {_rows(rows, rows_of)}{where} counts as {rows:,}{' there' if where else ''}"


def _rows(count: int, rows_of: str) -> str:
    return f"{count:,} {rows_of.replace('rows', 'row', 1) if count == 1 else rows_of}"


def _of_values(made: PricedQuery, who: str) -> list[str]:
    """Say what is clipped of a unit as a whole, and how many different values it brings."""
    where = " to a group" if made.query.aggregation.keys else ""
    found = []
    for measure in made.measures:
        if isinstance(measure, UnitTotals):
            low, high = measure.asked[0].sums or (Fraction(0), Fraction(0))
            ends = f"no more than {_number(high)}" + (f" and no less than {_number(low)}" if low else "")
            found.append(f"of {_called(measure.asked[0])} {who} adds {ends}{where}")
        if isinstance(measure, NumberOfValues) and isinstance(measure.bounding.form, Groups):
            most = measure.bounding.form.groups
            found.append(f"of {who} with more than {most:,} different values only {most:,} are counted")
    return found


def _called(asked: Aggregate) -> str:
    """Return what an aggregate is called: its name, or what it is where it has none in the answer."""
    if not asked.name.startswith("#"):
        return asked.name
    return asked.kind.value if asked.argument is None else f"{asked.kind.value} of {_shortened(asked.argument)}"


def clipped(made: PricedQuery) -> list[tuple[str, Interval]]:
    """Return what is clipped to which range, of rows and of numbers for each unit, where a column may have others."""
    aggregation = made.query.aggregation
    ranged = [(one.argument, one.bounds) for one in aggregation.asked]
    ranged += [(one.second, one.second_bounds) for one in aggregation.asked]
    for step in aggregation.source.steps():
        ranged += [(one.argument, _added_within(one)) for one in step.values] if isinstance(step, PerUnit) else []
    pairs = [(argument, bounds) for argument, bounds in ranged if argument is not None and bounds is not None]
    return [found for argument, bounds in pairs for found in _clipped(argument, bounds)]


def _added_within(value: UnitValue) -> Interval | None:
    """Return the range to which what is added up for a unit is clipped: of whole numbers it is the argument's own."""
    if value.argument is None or value.kind not in (UnitValueKind.SUM, UnitValueKind.MEAN):
        return None
    return value.argument.interval if value.scale is not None or value.argument.type is Type.INTEGER else None


def _clipped(expression: Expression, bounds: Interval) -> Iterator[tuple[str, Interval]]:
    """Yield the parts of an argument that may lie beyond a range: not those whose range follows from what they are.

    What chooses a value, or only clips or converts it, is looked through: a row counts by the value that was chosen.
    """
    if isinstance(expression, Apply) and expression.operation is Operation.CLAMP:
        inner, *ends = expression.arguments
        low, high = (end.value for end in ends if isinstance(end, Literal))
        yield from _clipped(inner, (max(bounds[0], Fraction(low)), min(bounds[1], Fraction(high))))  # type: ignore[arg-type]
    elif isinstance(expression, Apply) and (chosen := _chosen(expression)):
        for one in chosen:
            yield from _clipped(one, bounds)
    elif not isinstance(expression, Literal) or expression.value is not None:
        certain = _certain(expression)
        if certain is None or certain[0] < bounds[0] or certain[1] > bounds[1]:
            yield _shortened(expression), bounds


def _chosen(expression: Apply) -> Sequence[Expression]:
    """Return the arguments of which an operation gives one as it is."""
    arguments = expression.arguments
    match expression.operation:
        case Operation.CASE:
            return *arguments[1:-1:2], arguments[-1]
        case Operation.COALESCE:
            return arguments
        case Operation.NULLIF:
            return arguments[:1]
        case Operation.CAST if (arguments[0].type, expression.type) == (Type.INTEGER, Type.REAL):
            return arguments
    return ()


def _certain(expression: Expression) -> Interval | None:
    """Return the range of an expression whatever its columns hold."""
    if not isinstance(expression, Apply):
        return expression.interval if isinstance(expression, Literal) else None
    parts = [_certain(one) for one in expression.arguments]
    return ranges.certain(expression.operation, expression.type, expression.arguments, parts)


def _of_keys(made: PricedQuery) -> list[str]:
    """Say which rows are in no group."""
    aggregation = made.query.aggregation
    found = []
    for key in aggregation.keys:
        if key.domain is None or _always_named(key.expression, frozenset(key.domain)):
            continue
        if len(key.domain) == 2 and set(map(type, key.domain)) == {bool}:
            found.append(f"rows whose {key.label} is NULL are in no group")
            continue
        values = f"none of the {len(key.domain):,} public values" if key.domain[1:] else "not the one public value"
        others = "" if _never_null(key.expression) else ", or NULL,"
        found.append(f"rows whose {key.label} is {values}{others} are in no group")
    if not aggregation.public:
        found.append("a group that few have is not shown")
    return found


def _never_null(key: Expression) -> bool:
    """Say whether a key has a value whatever the row holds: COALESCE(x, constant), IS NULL."""
    if not isinstance(key, Apply) or key.operation is Operation.IS_NULL:
        return isinstance(key, Apply)
    return key.operation is Operation.COALESCE and _constant(key.arguments[-1])


def _always_named(key: Expression, domain: frozenset[Value]) -> bool:
    """Say whether every row is in a group, whatever it holds."""
    if not isinstance(key, Apply):
        return False
    if key.operation is not Operation.CASE:
        return domain == {False, True} and key.type is Type.BOOLEAN and _never_null(key)
    *pairs, last = key.arguments
    branches = zip(pairs[::2], pairs[1::2], strict=True)
    return _is_one_of(last, domain) and all(
        _is_one_of(result, domain) or _among(condition, result, domain) for condition, result in branches
    )


def _constant(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.value is not None


def _is_one_of(expression: Expression, domain: frozenset[Value]) -> bool:
    return isinstance(expression, Literal) and expression.value in domain


def _among(condition: Expression, result: Expression, domain: frozenset[Value]) -> bool:
    """Say whether a branch is CASE WHEN x IN (constants) THEN x, and these are public values."""
    if not isinstance(condition, Apply) or condition.operation is not Operation.IN:
        return False
    first, *others = condition.arguments
    return first == result and all(_is_one_of(one, domain) for one in others)


def _shortened(expression: Expression) -> str:
    text = written_expression(_without_casts(expression))
    return text if len(text) <= 60 else text[:57] + "..."


def _without_casts(expression: Expression) -> Expression:
    """Return an expression without the casts of whole numbers that reading added: nobody wrote them."""
    if not isinstance(expression, Apply):
        return expression
    if expression.operation is Operation.CAST and expression.type is Type.REAL:
        return _without_casts(expression.arguments[0])
    return replace(expression, arguments=tuple(map(_without_casts, expression.arguments)))


def _number(value: Fraction) -> str:
    """Return a number in few digits, with commas where it is whole."""
    return f"{int(value):,}" if value.denominator == 1 and abs(value) < 10**15 else f"{float(value):,g}"
