"""Expressions as DuckDB text: every row gives the value that the operation is defined to have, and none raises.

Nothing relies on the order in which DuckDB evaluates: an operand that would raise is made NULL before it is used
(divisors, logarithms), integers are widened to 128 bits unless the operands are certain to be small, and every cast
that can fail is TRY_CAST. Within real arithmetic NaN stands for NULL, since both swallow whatever they meet; it is
turned into NULL where something else than arithmetic looks at it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from discreet.errors import UnsupportedSQL
from discreet.query.engines.duckdb.text import (
    FIRST_DAY,
    LAST_DAY,
    NAMES,
    constant,
    real,
    text,
)
from discreet.query.expression import (
    DATE_FORM,
    TIMESTAMP_FORM,
    Apply,
    Column,
    Expression,
    Interval,
    Literal,
    Operation,
    Type,
    ranges,
)

LONGEST_STATEMENT = 200_000
DEEPEST_NESTING = 250  # DuckDB refuses expressions 1000 deep, and one pair of parentheses here is at most 4 of those
_LONGEST_CONCATENATION = 65_536
_TOO_DEEP = "An expression is nested too deeply: write it in steps, in a WITH clause each. Nothing was spent."
_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_WHOLE = real(2.0**52)  # from here on every float is a whole number
_INTEGER_FORM = r"^[+-]?[0-9]+$"
_REAL_FORM = r"^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"


def render(expression: Expression, columns: Callable[[str], str] | Mapping[str, str]) -> str:
    """Return the text of an expression; `columns` gives the text of a column by its name, quoted already.

    Raises:
        UnsupportedSQL: where the text would be longer than 200 000 characters or nested more than 250 deep.

    >>> from discreet.query.expression.typing_rules import apply, column, literal
    >>> month = apply(Operation.MONTH, column("day", Type.DATE))
    >>> print(render(apply(Operation.ADD, month, literal(1)), {"day": '"day"'}))
    (month("day") + (1)::BIGINT)
    """
    name = columns.__getitem__ if isinstance(columns, Mapping) else columns
    try:
        written = _part(expression, name).clean
    except RecursionError:
        raise UnsupportedSQL(_TOO_DEEP) from None
    if len(written) > LONGEST_STATEMENT or _depth(written) > DEEPEST_NESTING:
        raise UnsupportedSQL(_TOO_DEEP)
    return written


def _depth(written: str) -> int:
    """Return how deeply parentheses are nested."""
    steps = ((character == "(") - (character == ")") for character in written)
    return max(accumulate(steps), default=0)


@dataclass(frozen=True, slots=True)
class Rendered:
    """A rendered expression, what is certain of its values, and whether it may be NaN (for NULL) or infinite."""

    sql: str
    node: Expression
    range: Interval | None
    nan: bool = False
    infinite: bool = False

    @property
    def clean(self) -> str:
        """The text with NULL for NaN."""
        return f"(CASE WHEN {self.sql} <= 'inf'::DOUBLE THEN {self.sql} END)" if self.nan else self.sql

    @property
    def number(self) -> float | int | None:
        """The value of a literal number."""
        value = self.node.value if isinstance(self.node, Literal) else None
        return value if isinstance(value, int | float) else None


@dataclass(frozen=True, slots=True)
class RenderedCall:
    """An operation whose arguments are rendered."""

    type: Type
    parts: Sequence[Rendered]


Writer = Callable[[RenderedCall], str]


def _part(node: Expression, columns: Callable[[str], str]) -> Rendered:
    real_number = node.type is Type.REAL
    if isinstance(node, Column):
        return Rendered(columns(node.name), node, _width(node), infinite=real_number)
    if isinstance(node, Literal):
        return Rendered(constant(node.value, node.type), node, ranges.interval_of(node.value) or _width(node))
    if not isinstance(node, Apply):
        raise TypeError("an expression is a column, a literal or an operation")
    parts = [_part(argument, columns) for argument in node.arguments]
    sql = _WRITERS[node.operation](RenderedCall(node.type, parts))
    if len(sql) > LONGEST_STATEMENT:
        raise UnsupportedSQL(_TOO_DEEP)
    certain = ranges.certain(node.operation, node.type, node.arguments, [part.range for part in parts])
    nan, infinite = _surprises(node, parts) if real_number else (False, False)
    return Rendered(sql, node, certain, nan, infinite)


def _width(node: Expression) -> Interval | None:
    return ranges.WIDEST if node.type is Type.INTEGER else None


def _surprises(node: Apply, parts: Sequence[Rendered]) -> tuple[bool, bool]:
    """Tell whether the real result may be NaN, and whether it may be infinite."""
    nan, infinite = any(part.nan for part in parts), any(part.infinite for part in parts)
    match node.operation:
        case Operation.ADD | Operation.SUBTRACT | Operation.DIVIDE:
            nan, infinite = nan or all(part.infinite for part in parts), True
        case Operation.MULTIPLY:  # by a literal other than 0, infinity stays what it is
            nan, infinite = nan or (infinite and not any(part.number for part in parts)), True
        case Operation.POWER:
            nan, infinite = True, True
        case Operation.EXP | Operation.CAST:
            infinite = node.arguments[0].type is not Type.INTEGER
        case Operation.CLAMP:
            nan, infinite = False, False
        case Operation.COALESCE:
            nan = parts[-1].nan
        case Operation.GREATEST | Operation.LEAST:
            nan = False
    return nan, infinite


def _letters(name: str, old: str, new: str) -> Writer:
    """Return the writer of LOWER or UPPER for the 26 letters; a text of ASCII alone takes the fast way."""

    def write(call: RenderedCall) -> str:
        one = call.parts[0].sql
        slow = f"translate({one}, {text(old)}, {text(new)})"
        return f"(CASE WHEN strlen({one}) = length({one}) THEN {name}({one}) ELSE {slow} END)"

    return write


def _cast(call: RenderedCall) -> str:
    """Return a cast that gives NULL where there is no such value."""
    one, given, name = call.parts[0].sql, call.parts[0].node.type, NAMES[call.type]
    if given is call.type:
        return one
    if given is Type.TEXT:
        forms = {
            Type.INTEGER: _INTEGER_FORM,
            Type.REAL: _REAL_FORM,
            Type.DATE: f"^{DATE_FORM}$",
            Type.TIMESTAMP: f"^{TIMESTAMP_FORM}$",
        }
        # What has another form becomes the empty text, which no cast accepts.
        return f"TRY_CAST(regexp_extract({one}, {text(forms[call.type])}) AS {name})"
    return f"TRY_CAST({one} AS {name})" if given is Type.REAL else f"CAST({one} AS {name})"


def _truncate(unit: str) -> Writer:
    """Return the writer of DATE_TRUNC to a unit."""
    return lambda call: f"CAST(date_trunc('{unit}', {call.parts[0].sql}) AS {NAMES[call.type]})"


def _add_days(call: RenderedCall) -> str:
    """Add days within the years 1 to 9999, else NULL."""
    start, number = call.parts[0].sql, call.parts[1].sql
    day = start if call.type is Type.DATE else f"CAST({start} AS DATE)"
    inside = f"{number} BETWEEN {FIRST_DAY} - {day} AND {LAST_DAY} - {day}"
    days = f"TRY_CAST(CASE WHEN {inside} THEN {number} END AS INTEGER)"
    return f"({start} + {days if call.type is Type.DATE else f'to_days({days})'})"


def _add_months(call: RenderedCall) -> str:
    """Add months within the years 1 to 9999, else NULL; a day that the month lacks becomes its last one."""
    start, number = call.parts[0].sql, call.parts[1].sql
    passed = f"(year({start}) * 12 + month({start}) - 1)"  # months since the year 0: 12 is January of the year 1
    inside = f"{number} BETWEEN 12 - {passed} AND {9999 * 12 + 11} - {passed}"
    months = f"to_months(TRY_CAST(CASE WHEN {inside} THEN {number} END AS INTEGER))"
    return f"CAST(({start} + {months}) AS {NAMES[call.type]})"


def _wide(sql: str) -> str:
    return f"{sql}::HUGEINT"


def _narrow(sql: str) -> str:
    return f"TRY_CAST({sql} AS BIGINT)"


def _within(low: int, high: int) -> bool:
    return low >= ranges.SMALLEST_INTEGER and high <= ranges.LARGEST_INTEGER


def _sum(sign: str) -> Writer:
    """Return the writer of + or - or *; 64-bit integers are added in 128 bits unless they are certain to fit."""
    combine: Callable[[int, int], int] = {
        "+": lambda x, y: x + y,
        "-": lambda x, y: x - y,
        "*": lambda x, y: x * y,
    }[sign]

    def write(call: RenderedCall) -> str:
        one, two = call.parts
        if call.type is Type.REAL:
            return f"({one.sql} {sign} {two.sql})"
        ends = [combine(int(x), int(y)) for x in one.range or ranges.WIDEST for y in two.range or ranges.WIDEST]
        if _within(min(ends), max(ends)):
            return f"({one.sql} {sign} {two.sql})"
        return _narrow(f"{_wide(one.sql)} {sign} {_wide(two.sql)}")

    return write


def _nonzero(part: Rendered) -> str:
    """Return a divisor that is NULL instead of 0."""
    return part.sql if part.number else f"(CASE WHEN {part.sql} <> 0 THEN {part.sql} END)"


def _floor_divide(call: RenderedCall) -> str:
    one, two = (part.sql for part in call.parts)
    if (call.parts[1].number or 0) > 0:  # towards minus infinity: the complement of a negative number is not negative
        return f"(CASE WHEN {one} >= 0 THEN {one} // {two} ELSE ~((~{one}) // {two}) END)"
    top, bottom = _wide(one), f"(CASE WHEN {two} <> 0 THEN {_wide(two)} END)"
    return _narrow(
        f"{top} // {bottom} - CASE WHEN {top} % {bottom} <> 0 AND ({one} < 0) <> ({two} < 0) THEN 1 ELSE 0 END"
    )


def _modulo(call: RenderedCall) -> str:
    one, two = (part.sql for part in call.parts)
    divisor = call.parts[1].number or 0
    if 0 < divisor <= 1 << 62:
        return f"(({one} % {two} + {two}) % {two})"
    bottom = f"(CASE WHEN {two} <> 0 THEN {_wide(two)} END)"
    return _narrow(f"({_wide(one)} % {bottom} + {bottom}) % {bottom}")


def _signed(sign: str) -> Writer:
    """Return the writer of a sign or of the absolute value: the smallest integer has none of 64 bits."""

    def write(call: RenderedCall) -> str:
        (one,) = call.parts
        if call.type is Type.REAL or (one.range is not None and one.range[0] > ranges.SMALLEST_INTEGER):
            return f"(-{one.sql})" if sign == "-" else f"{sign}({one.sql})"
        return _narrow(f"{sign}({_wide(one.sql)})")

    return write


def _places(part: Rendered) -> str:
    """Return a number of places to shift by that is NULL outside 0 .. 63."""
    if part.number is not None:
        return str(int(part.number)) if 0 <= part.number <= 63 else "NULL::BIGINT"
    return f"(CASE WHEN {part.sql} BETWEEN 0 AND 63 THEN {part.sql} END)"


def _infix(sign: str) -> Writer:
    """Return the writer of an operation between its arguments, which must not be NaN."""
    return lambda call: "(" + f" {sign} ".join(part.clean for part in call.parts) + ")"


def _function(name: str) -> Writer:
    """Return the writer of a function that is total and gives the right type."""
    return lambda call: f"{name}({', '.join(part.sql for part in call.parts)})"


def _whole(name: str) -> Writer:
    """Return the writer of a part that DuckDB gives as a narrower integer."""
    return lambda call: f"CAST({name}({call.parts[0].clean}) AS BIGINT)"


def _case(call: RenderedCall) -> str:
    pairs = zip(call.parts[:-1:2], call.parts[1::2], strict=True)
    branches = " ".join(f"WHEN {condition.sql} THEN {result.sql}" for condition, result in pairs)
    return f"(CASE {branches} ELSE {call.parts[-1].sql} END)"


def _null_if(call: RenderedCall) -> str:
    one, two = (part.sql for part in call.parts)
    return f"(CASE WHEN {one} = {two} THEN NULL ELSE {one} END)"


def _extreme(name: str) -> Writer:
    """Return the writer of GREATEST or LEAST, which DuckDB lets skip NULLs and we do not."""

    def write(call: RenderedCall) -> str:
        present = " AND ".join(f"{part.clean} IS NOT NULL" for part in call.parts if part.number is None)
        values = list(dict.fromkeys(part.clean for part in call.parts))  # DuckDB cannot copy a call with one name twice
        chosen = f"{name}({', '.join(values)})" if len(values) > 1 else values[0]
        return f"(CASE WHEN {present} THEN {chosen} END)" if present else chosen

    return write


def _clamp(call: RenderedCall) -> str:
    value, low, high = call.parts[0].clean, call.parts[1].sql, call.parts[2].sql
    return f"(CASE WHEN {value} >= {high} THEN {high} WHEN {value} <= {low} THEN {low} ELSE {value} END)"


def _to_integer(name: str) -> Writer:
    """Return the writer of FLOOR, CEIL or ROUND to a whole number."""

    def write(call: RenderedCall) -> str:
        one = call.parts[0].sql
        return one if call.parts[0].node.type is Type.INTEGER else _narrow(f"{name}({one})")

    return write


def _round(call: RenderedCall) -> str:
    if call.type is Type.INTEGER:
        return _to_integer("round")(call)
    one, power = call.parts[0].sql, real(10.0 ** int(call.parts[1].number or 0))
    return f"(CASE WHEN abs({one}) < {_WHOLE} THEN round({one} * {power}) / {power} ELSE {one} END)"


def _defined(name: str, condition: str) -> Writer:
    """Return the writer of a function on the numbers for which it is defined, NULL elsewhere."""

    def write(call: RenderedCall) -> str:
        one = call.parts[0].sql
        return f"{name}(CASE WHEN {one} {condition} THEN {one} END)"

    return write


def _power(call: RenderedCall) -> str:
    base, exponent = (part.clean for part in call.parts)
    return f"pow(CASE WHEN {base} <> 0 OR {exponent} >= 0 THEN {base} END, {exponent})"


_WRITERS: Mapping[Operation, Writer] = {
    Operation.ADD: _sum("+"),
    Operation.SUBTRACT: _sum("-"),
    Operation.MULTIPLY: _sum("*"),
    Operation.DIVIDE: lambda call: f"({call.parts[0].sql} / {_nonzero(call.parts[1])})",
    Operation.FLOOR_DIVIDE: _floor_divide,
    Operation.MODULO: _modulo,
    Operation.NEGATE: _signed("-"),
    Operation.BIT_AND: _infix("&"),
    Operation.BIT_OR: _infix("|"),
    Operation.BIT_XOR: _function("xor"),
    Operation.BIT_NOT: lambda call: f"(~{call.parts[0].sql})",
    Operation.SHIFT_LEFT: lambda call: _narrow(
        f"{_wide(call.parts[0].sql)} * (1::HUGEINT << {_places(call.parts[1])}::HUGEINT)"
    ),
    Operation.SHIFT_RIGHT: lambda call: f"({call.parts[0].sql} >> {_places(call.parts[1])}::BIGINT)",
    Operation.BIT_COUNT: _whole("bit_count"),
    Operation.EQUAL: _infix("="),
    Operation.UNEQUAL: _infix("<>"),
    Operation.LESS: _infix("<"),
    Operation.AT_MOST: _infix("<="),
    Operation.GREATER: _infix(">"),
    Operation.AT_LEAST: _infix(">="),
    Operation.AND: _infix("AND"),
    Operation.OR: _infix("OR"),
    Operation.NOT: lambda call: f"(NOT {call.parts[0].sql})",
    Operation.IS_NULL: lambda call: f"({call.parts[0].clean} IS NULL)",
    Operation.IN: lambda call: f"({call.parts[0].clean} IN ({', '.join(part.sql for part in call.parts[1:])}))",
    Operation.LIKE: _infix("LIKE"),
    Operation.CASE: _case,
    Operation.COALESCE: lambda call: (
        f"coalesce({', '.join([one.clean for one in call.parts[:-1]] + [call.parts[-1].sql])})"
    ),
    Operation.NULLIF: _null_if,
    Operation.GREATEST: _extreme("greatest"),
    Operation.LEAST: _extreme("least"),
    Operation.CLAMP: _clamp,
    Operation.ABS: _signed("abs"),
    Operation.SIGN: _whole("sign"),
    Operation.FLOOR: _to_integer("floor"),
    Operation.CEIL: _to_integer("ceil"),
    Operation.ROUND: _round,
    Operation.SQRT: _defined("sqrt", ">= 0"),
    Operation.LN: _defined("ln", "> 0"),
    Operation.LOG10: _defined("log10", "> 0"),
    Operation.POWER: _power,
    Operation.LOWER: _letters("lower", _CAPITALS, _CAPITALS.lower()),
    Operation.UPPER: _letters("upper", _CAPITALS.lower(), _CAPITALS),
    Operation.TRIM: lambda call: f"trim({call.parts[0].sql}, ' ')",
    Operation.SUBSTRING: lambda call: (
        f"substring({call.parts[0].sql}, {int(call.parts[1].number or 1)}, {int(call.parts[2].number or 0)})"
    ),
    # cut to a length that memory always holds
    Operation.CONCAT: lambda call: f"left({call.parts[0].sql} || {call.parts[1].sql}, {_LONGEST_CONCATENATION})",
    Operation.CAST: _cast,
    Operation.WEEKDAY: _function("isodow"),
    Operation.YEAR: _function("year"),
    Operation.QUARTER: _function("quarter"),
    Operation.MONTH: _function("month"),
    Operation.DAY: _function("day"),
    Operation.HOUR: _function("hour"),
    Operation.MINUTE: _function("minute"),
    Operation.LENGTH: _function("length"),
    Operation.EXP: _function("exp"),
    **{one: _truncate(one.name.removeprefix("TRUNCATE_").lower()) for one in Operation if "TRUNCATE_" in one.name},
    Operation.DAYS_BETWEEN: lambda call: f"CAST({call.parts[1].sql} - {call.parts[0].sql} AS BIGINT)",
    Operation.ADD_DAYS: _add_days,
    Operation.ADD_MONTHS: _add_months,
}
