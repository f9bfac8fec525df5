"""Dates and times: their parts, truncation, differences, and how they are written as texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import reduce

from sqlglot import exp

from discreet.errors import UnsupportedSQL
from discreet.query.expression import Expression, Literal, Operation, Type, typing_rules
from discreet.query.reading.expressions.intervals import is_interval, moved
from discreet.query.reading.expressions.reader import NAMED, RULES, Reader, cast_to, rule_of
from discreet.query.reading.parse import shown
from discreet.query.reading.refusals import reason

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_Part = Callable[[Reader, Expression], Expression]
_literal = typing_rules.literal


def _operation(operation: Operation) -> _Part:
    return lambda reader, value: reader.apply(operation, value)


def _from_sunday(reader: Reader, moment: Expression) -> Expression:
    """Return the day of the week, 0 for Sunday to 6 for Saturday."""
    return reader.apply(Operation.MODULO, reader.apply(Operation.WEEKDAY, moment), _literal(7))


def _day_of_year(reader: Reader, moment: Expression) -> Expression:
    """Return the number of the day in its year; the clamp changes nothing and tells the range."""
    first = reader.apply(Operation.TRUNCATE_YEAR, moment)
    passed = reader.apply(Operation.DAYS_BETWEEN, first, moment)
    return reader.apply(Operation.CLAMP, reader.apply(Operation.ADD, passed, _literal(1)), _literal(1), _literal(366))


def _week(reader: Reader, moment: Expression) -> Expression:
    """Return the number of the week, which is that of its Thursday in its year (ISO 8601)."""
    thursday = reader.apply(Operation.ADD_DAYS, reader.apply(Operation.TRUNCATE_WEEK, moment), _literal(3))
    first = reader.apply(Operation.TRUNCATE_YEAR, thursday)
    whole = reader.apply(Operation.FLOOR_DIVIDE, reader.apply(Operation.DAYS_BETWEEN, first, thursday), _literal(7))
    return reader.apply(Operation.CLAMP, reader.apply(Operation.ADD, whole, _literal(1)), _literal(1), _literal(53))


def _name_of(operation: Operation, names: Sequence[str]) -> _Part:
    """Return what names a number that counts from 1."""

    def read(reader: Reader, moment: Expression) -> Expression:
        number = reader.apply(operation, moment)
        branches = [
            part
            for place, name in enumerate(names, 1)
            for part in (reader.apply(Operation.EQUAL, number, _literal(place)), _literal(name))
        ]
        return reader.apply(Operation.CASE, *branches, _literal(None))

    return read


_PARTS: dict[str, _Part] = {
    name: _operation(Operation[name]) for name in ("YEAR", "QUARTER", "MONTH", "DAY", "HOUR", "MINUTE")
}
_PARTS |= {
    "DAYOFMONTH": _operation(Operation.DAY),
    "ISODOW": _operation(Operation.WEEKDAY),
    **dict.fromkeys(("DOW", "DAYOFWEEK"), _from_sunday),
    **dict.fromkeys(("DOY", "DAYOFYEAR"), _day_of_year),
    **dict.fromkeys(("WEEK", "WEEKOFYEAR"), _week),
}


def _date_part(reader: Reader, part: str, moment_of: exp.Expr) -> Expression:
    """Read EXTRACT and its relatives."""
    read = _PARTS.get(part.upper().strip())
    if read is None:
        raise UnsupportedSQL(
            f"{shown(part)!r} is not a part of a date here. Write YEAR, QUARTER, MONTH, WEEK, DAY, DOW (0 Sunday to 6 "
            "Saturday), ISODOW (1 Monday to 7 Sunday), DOY, HOUR or MINUTE."
        )
    return read(reader, reader.read(moment_of))


def _extract(reader: Reader, node: exp.Expr) -> Expression:
    """Read EXTRACT(part FROM x)."""
    return _date_part(reader, node.this.name, node.args["expression"])


def _part_of(reader: Reader, arguments: Sequence[exp.Expr]) -> Expression:
    """Read DATE_PART('year', x)."""
    return _date_part(reader, arguments[0].name if isinstance(arguments[0], exp.Literal) else "", arguments[1])


def _of_one(read: _Part) -> tuple[tuple[str, ...], Callable[[Reader, exp.Expr], Expression]]:
    """Return the rule of a function of one argument."""
    return ("this",), lambda reader, node: read(reader, reader.read(node.this))


def _to_date(reader: Reader, node: exp.Expr) -> Expression:
    """Read DATE(x)."""
    return cast_to(reader, reader.read(node.this), Type.DATE)


def _truncate(reader: Reader, node: exp.Expr) -> Expression:
    """Read DATE_TRUNC."""
    unit = node.args.get("unit")
    name = f"TRUNCATE_{(unit.name if unit is not None else '').upper()}"
    if name not in Operation.__members__:
        raise UnsupportedSQL("DATE_TRUNC takes 'year', 'quarter', 'month', 'week', 'day' or 'hour'.")
    return reader.apply(Operation[name], reader.read(node.this))


def _difference(reader: Reader, node: exp.Expr) -> Expression:
    """Read DATEDIFF('month', first, second): how many beginnings of months lie between two dates."""
    unit = node.args.get("unit")
    name = unit.name.upper().removesuffix("S") if unit is not None else ""
    second, first = reader.read(node.this), reader.read(node.args["expression"])
    if name == "DAY":
        return reader.apply(Operation.DAYS_BETWEEN, first, second)
    if name not in _A_YEAR:
        raise UnsupportedSQL(
            "DATEDIFF takes 'day', 'month', 'quarter' or 'year'. Write DATEDIFF('day', first, second); of weeks, which "
            "databases count in two ways, DATEDIFF('day', first, second) // 7."
        )
    start, end = (_counted(reader, one, name) for one in _days(first, second))
    return reader.apply(Operation.SUBTRACT, end, start)


_A_YEAR = {"YEAR": 1, "QUARTER": 4, "MONTH": 12}


def _days(*moments: Expression) -> list[Expression]:
    """Return what is read as a date beside a function that takes texts for nothing else."""
    return [
        typing_rules.cast_implicitly(Operation.CAST, one, Type.DATE) if one.type is Type.TEXT else one
        for one in moments
    ]


def _counted(reader: Reader, moment: Expression, unit: str) -> Expression:
    """Return how many years, quarters or months there are up to a date."""
    year = reader.apply(Operation.YEAR, moment)
    if unit == "YEAR":
        return year
    whole = reader.apply(Operation.MULTIPLY, year, _literal(_A_YEAR[unit]))
    return reader.apply(Operation.ADD, whole, reader.apply(Operation[unit], moment))


def _date_add(reader: Reader, node: exp.Expr) -> Expression:
    """Read DATE_ADD(d, INTERVAL n DAY)."""
    amount = node.args.get("expression")
    if amount is None or not is_interval(amount):
        raise UnsupportedSQL(reason("Interval", ""))
    return moved(reader, reader.read(node.this), amount, minus=False)


# pieces of 'YYYY-MM-DD', longer ones first: where they begin, and how many signs they have
_OF_THE_DATE = {
    "%Y-%m-%d": (1, 10), "%Y-%m": (1, 7), "%m-%d": (6, 5), "%Y": (1, 4), "%y": (3, 2), "%m": (6, 2),
    "%d": (9, 2),
}  # fmt: skip
_FORMAT = re.compile(r"%Y-%m-%d|%Y-%m|%m-%d|%-?.|[^%]+|%", re.DOTALL)


def _digits(part: _Part, digits: int) -> _Part:
    """Return a number as a text of so many digits, zeros in front."""

    def read(reader: Reader, moment: Expression) -> Expression:
        longer = reader.apply(Operation.ADD, part(reader, moment), _literal(10**digits))
        return reader.apply(
            Operation.SUBSTRING, reader.apply(Operation.CAST, longer, type=Type.TEXT), _literal(2), _literal(digits)
        )

    return read


def _plain(part: _Part) -> _Part:
    return lambda reader, moment: reader.apply(Operation.CAST, part(reader, moment), type=Type.TEXT)


_CODES: dict[str, _Part] = {
    "%H": _digits(_operation(Operation.HOUR), 2),
    "%M": _digits(_operation(Operation.MINUTE), 2),
    "%j": _digits(_day_of_year, 3),
    "%u": _plain(_operation(Operation.WEEKDAY)),
    "%w": _plain(_from_sunday),
    "%-d": _plain(_operation(Operation.DAY)),
    "%-m": _plain(_operation(Operation.MONTH)),
    "%A": _name_of(Operation.WEEKDAY, WEEKDAYS),
    "%a": _name_of(Operation.WEEKDAY, [name[:3] for name in WEEKDAYS]),
    "%B": _name_of(Operation.MONTH, MONTHS),
    "%b": _name_of(Operation.MONTH, [name[:3] for name in MONTHS]),
    "%%": lambda _reader, _moment: _literal("%"),
}


def _written(reader: Reader, node: exp.Expr) -> Expression:
    """Read STRFTIME(x, format), the two in either order."""
    if node.args.get("format") is None:
        raise UnsupportedSQL("STRFTIME takes a date and a format. Write STRFTIME(x, '%Y-%m').")
    written, moment = (reader.read(one) for one in (node.args["format"], node.this))
    if moment.type is Type.TEXT and isinstance(moment, Literal) and written.type in (Type.DATE, Type.TIMESTAMP):
        written, moment = moment, written
    if not isinstance(written, Literal) or not isinstance(written.value, str):
        raise UnsupportedSQL("The format of STRFTIME must be a constant text. Write STRFTIME(x, '%Y-%m').")
    if moment.type is Type.TEXT:
        moment = typing_rules.cast_implicitly(Operation.CAST, moment, Type.DATE)
    pieces = [_piece(reader, moment, code) for code in _FORMAT.findall(written.value)]
    if all(isinstance(one, Literal) for one in pieces):
        raise UnsupportedSQL(f"The format of {shown(node)} has no part of a date. Write STRFTIME(x, '%Y-%m').")
    return reduce(lambda whole, one: reader.apply(Operation.CONCAT, whole, one), pieces)


def _piece(reader: Reader, moment: Expression, code: str) -> Expression:
    """Return what one code of a format stands for."""
    if not code.startswith("%"):
        return _literal(code)
    if code in _OF_THE_DATE:
        text = reader.apply(Operation.CAST, cast_to(reader, moment, Type.DATE), type=Type.TEXT)
        start, length = _OF_THE_DATE[code]
        return text if length == 10 else reader.apply(Operation.SUBSTRING, text, _literal(start), _literal(length))
    if code not in _CODES or (code in ("%H", "%M") and moment.type is Type.DATE):
        known = ", ".join([one for one in (*_OF_THE_DATE, *_CODES) if len(one) < 4])
        of = " of a date" if code in _CODES else ""
        raise UnsupportedSQL(f"{shown(code)!r} is not understood in STRFTIME{of}. Known: {known}.")
    return _CODES[code](reader, moment)


NAMED.update({"DATE_PART": (2, _part_of), "DATEPART": (2, _part_of)})
_NAMED_ALIKE: tuple[type[exp.Expr], ...] = (exp.Year, exp.Quarter, exp.Month, exp.Day, exp.Hour, exp.Minute)
RULES.update({node: rule_of(Operation[node.__name__.upper()]) for node in _NAMED_ALIKE})
RULES.update(
    {
        exp.DayOfMonth: rule_of(Operation.DAY),
        exp.DayOfWeekIso: rule_of(Operation.WEEKDAY),
        exp.DayOfWeek: _of_one(_from_sunday),
        exp.DayOfYear: _of_one(_day_of_year),
        exp.Week: _of_one(_week),
        exp.WeekOfYear: _of_one(_week),
        exp.Dayname: _of_one(_name_of(Operation.WEEKDAY, WEEKDAYS)),
        exp.Monthname: _of_one(_name_of(Operation.MONTH, MONTHS)),
        exp.Extract: (("this", "expression"), _extract),
        exp.TimestampTrunc: (("this", "unit"), _truncate),
        exp.DateTrunc: (("this", "unit"), _truncate),
        exp.DateDiff: (("this", "expression", "unit", "date_part_boundary"), _difference),
        exp.DateAdd: (("this", "expression"), _date_add),
        exp.Date: (("this",), _to_date),
        exp.TimeToStr: (("this", "format"), _written),
    }
)
