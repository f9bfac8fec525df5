"""What a policy says about one column: its type, its range, its public values."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from fractions import Fraction

from discreet.query.expression import Type, Value
from discreet.query.policy.declarations import LARGEST_DOMAIN, ColumnPolicy
from discreet.query.policy.toml_section import Section, exact, kind, meant, shown

TYPES = {one.value: one for one in Type}
SMALLEST_INTEGER, LARGEST_INTEGER = -(2**63), 2**63 - 1
_KEYS = ("type", "values", "min", "max", "public")
_FAR = "must be a time of the years 1 to 9999. Write such a time"
_OTHER_WORDS = {
    word: type_
    for type_, words in {
        "boolean": ("bool",),
        "integer": ("int", "bigint"),
        "real": ("float", "double", "number", "decimal", "numeric"),
        "text": ("string", "str", "varchar", "category"),
        "timestamp": ("datetime", "time"),
    }.items()
    for word in words
}
End = Fraction | date


def read_columns(section: Section, *, needs_type: bool) -> dict[str, ColumnPolicy]:
    """Return the declared columns of a table; `needs_type` where the source itself has no types."""
    found = {}
    for one in section.sections(inline=True, example="cost = {min = 0, max = 500}"):
        column = _read_column(one, needs_type)
        if column is not None:
            found[column.name] = column
    return found


def value_of_type(value: Value, wanted: Type) -> Value:
    """Return a value as the type has it, None where it has no such value.

    >>> value_of_type(3, Type.REAL), value_of_type("3", Type.INTEGER)
    (3.0, None)
    """
    given = type_of(value)
    if given is wanted:
        return value
    if isinstance(value, int) and given is Type.INTEGER and wanted is Type.REAL:
        return float(value) if abs(value) <= 2**53 else None
    if isinstance(value, float) and wanted is Type.INTEGER:
        return int(value) if value.is_integer() and SMALLEST_INTEGER <= value <= LARGEST_INTEGER else None
    return None


def type_of(value: object) -> Type | None:
    """Return the type of a value, None where it has none."""
    if isinstance(value, datetime):
        return Type.TIMESTAMP if value.tzinfo is None else None
    kinds = {
        bool: Type.BOOLEAN,
        int: Type.INTEGER,
        Decimal: Type.REAL,
        float: Type.REAL,
        str: Type.TEXT,
        date: Type.DATE,
    }
    return kinds.get(type(value))


def as_times(column: ColumnPolicy, wanted: Type) -> ColumnPolicy:
    """Return a column of times whose range or values are dates with the times that these mean: the whole of each day.

    >>> from datetime import date
    >>> day = ColumnPolicy("arrived", Type.DATE, date(2023, 1, 1), date(2023, 12, 31))
    >>> str(as_times(day, Type.TIMESTAMP).high)
    '2023-12-31 23:59:59.999999'
    """
    if wanted is not Type.TIMESTAMP:
        return column
    low = _time_of(column.low, time.min) if isinstance(column.low, date) else column.low
    high = _time_of(column.high, time.max) if isinstance(column.high, date) else column.high
    values = column.values and tuple(
        [_time_of(one, time.min) if isinstance(one, date) else one for one in column.values]
    )
    return replace(column, low=low, high=high, values=values)


def _time_of(day: date, clock: time) -> datetime:
    return day if isinstance(day, datetime) else datetime.combine(day, clock)


def range_problem(column: ColumnPolicy, wanted: Type) -> tuple[str, str] | None:
    """Say at which key a column's range and keys do not go with a type, and why; None where they do."""
    if column.low is not None and wanted in (Type.TEXT, Type.BOOLEAN):
        return "min", f"a {wanted.value} column has no range. Remove min and max, or list values = [...]"
    if column.low is not None and (type_of(column.low) or wanted) is not wanted:
        return "min", f"the column is of type {wanted.value}. Write min and max as {_WRITTEN[wanted]}"
    if isinstance(column.low, Fraction) and not wanted.numeric:
        return "min", f"the column is of type {wanted.value}. Write min and max as {_WRITTEN[wanted]}"
    if column.public and column.values is None and wanted is not Type.BOOLEAN:
        return _keys_problem(column, wanted)
    return None


def _keys_problem(column: ColumnPolicy, wanted: Type) -> tuple[str, str] | None:
    """Say why the range of a column cannot be its public keys."""
    if wanted not in (Type.INTEGER, Type.DATE):
        return "public", f"not all values of a {wanted.value} column can be listed. List public ones as values = [...]"
    if column.low is None:
        return "public", "which keys are public? Add min and max, or values = [...]"
    if any(isinstance(end, Fraction) and end.denominator != 1 for end in (column.low, column.high)):
        return "min", "a public range of integers begins and ends with whole numbers. Write them without decimals"
    return None


_WRITTEN = {
    Type.INTEGER: "numbers",
    Type.REAL: "numbers",
    Type.DATE: "dates without quotes, such as 2026-01-31",
    Type.TIMESTAMP: "dates, or times without a zone, without quotes: 2026-01-31, 2026-01-31T00:00:00",
    Type.TEXT: "texts in quotes",
    Type.BOOLEAN: "true or false",
}


def values_problem(values: tuple[Value, ...], wanted: Type) -> str | None:
    """Say why public values do not go with a type; None where they do."""
    if all(value_of_type(value, wanted) is not None for value in values):
        return None
    return f"the column is of type {wanted.value}. Write the values as {_WRITTEN[wanted]}"


def _read_column(section: Section, needs_type: bool) -> ColumnPolicy | None:
    section.only(_KEYS)
    declared = _declared(section, needs_type)
    listed, ends = _values(section), _ends(section)
    public = section.flag("public")
    if "values" in section and public is False:
        section.complain("values are public keys, and public = false says they are not. Remove one", "public")
    inferred = _inferred(listed, ends)
    wanted = declared or inferred
    if wanted is None:
        if not section.entries:
            section.complain('says nothing. Remove the line, or write what is public, such as `{type = "text"}`')
        elif set(section.entries) <= {"public"}:
            words = 'which keys are public? Add values = [...], or min and max, or `type = "boolean"`'
            section.complain(words, "public")
        return None
    low, high = ends or (None, None)
    column = ColumnPolicy(str(section.place[-1]), wanted, low, high, listed, bool(public), declared is not None)
    return _checked(section, column)


def _checked(section: Section, column: ColumnPolicy) -> ColumnPolicy | None:
    """Return the column with its values as its type has them, None where its parts do not go together."""
    column = as_times(column, column.type)
    trouble = range_problem(column, column.type)
    if trouble:
        return section.complain(trouble[1], trouble[0])
    if column.values is not None:
        trouble_in_words = values_problem(column.values, column.type)
        if trouble_in_words:
            return section.complain(trouble_in_words, "values")
        if column.low is not None and column.high is not None:
            outside = [one for one in column.values if not column.low <= _comparable(one) <= column.high]  # type: ignore[operator]
            if outside:
                return section.complain(
                    "a value lies outside min and max. Widen the range, or remove the value", "values"
                )
        values = tuple(value_of_type(value, column.type) for value in column.values)
        return replace(column, values=values)
    if column.public and _range_size(column) > LARGEST_DOMAIN:
        words = f"has more than {LARGEST_DOMAIN} values, and every one would be a row of an answer"
        return section.complain(f"the public range {words}. Narrow it, or remove public = true", "public")
    return column


def _comparable(value: Value) -> End:
    return value if isinstance(value, date) else Fraction(value)  # type: ignore[arg-type]


def _range_size(column: ColumnPolicy) -> int:
    if isinstance(column.low, Fraction) and isinstance(column.high, Fraction):
        return int(column.high - column.low) + 1
    if isinstance(column.low, date) and isinstance(column.high, date):
        return (column.high - column.low).days + 1
    return 2


def _declared(section: Section, needs_type: bool) -> Type | None:
    if "type" not in section:
        if needs_type and not set(section.entries) & {"min", "max", "values"}:
            words = "CSV files have no types; one of " + ", ".join(TYPES)
            section.missing("type", 'type = "text"', words)
        return None
    word = section.entries["type"]
    if isinstance(word, str) and word in TYPES:
        return TYPES[word]
    if not isinstance(word, str):
        return section.complain(f"must be a text in quotes, not {kind(word)}. Write one of {', '.join(TYPES)}", "type")
    other = _OTHER_WORDS.get(word.casefold())
    near = f"Did you mean {other}? " if other else meant(word, list(TYPES))
    return section.complain(f"{shown(word)} is not a type. {near}Write one of {', '.join(TYPES)}", "type")


def _inferred(listed: tuple[Value, ...] | None, ends: tuple[End, End] | None) -> Type | None:
    if listed:
        kinds = {type_of(value) for value in listed}
        return Type.REAL if Type.REAL in kinds else kinds.pop()
    if ends:
        if isinstance(ends[0], Fraction) and isinstance(ends[1], Fraction):
            return Type.INTEGER if ends[0].denominator == ends[1].denominator == 1 else Type.REAL
        return type_of(ends[0])
    return None


def _values(section: Section) -> tuple[Value, ...] | None:
    """Return the public values, or None where they are not well stated; the first mistake of each kind is noted."""
    if "values" not in section:
        return None
    given = section.entries["values"]
    if not isinstance(given, list):
        return section.complain(
            f'must be a list, not {kind(given)}. Write, for example, `values = ["a", "b"]`', "values"
        )
    if not 0 < len(given) <= LARGEST_DOMAIN:
        words = "is empty" if not given else f"has more than {LARGEST_DOMAIN} values"
        return section.complain(f"the list {words}. Write from 1 to {LARGEST_DOMAIN} values", "values")
    found = [_value(section, position, value) for position, value in enumerate(given)]
    if None in found:
        return None
    kinds = {type_of(value) for value in found}
    if len(kinds) > 1 and kinds != {Type.INTEGER, Type.REAL}:
        words = " and ".join(sorted(one.value for one in kinds if one))
        return section.complain(f"mixes {words}. Write values of one type", "values")
    return tuple(found) if _distinct(section, found) else None


def _value(section: Section, position: int, value: object) -> Value:
    """Return one public value as Python has it, None where it cannot be one."""
    words = _unlisted(value)
    if words:
        return section.complain(f"a value {words}", "values", position)
    if isinstance(value, Decimal):
        return float(value) + 0.0  # minus zero is zero
    return value  # type: ignore[return-value]  # what has no type was refused


def _unlisted(value: object) -> str:
    """Say why something cannot be a public value; nothing if it can."""
    number = exact(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else None
    if isinstance(number, str):
        return number
    if isinstance(value, int) and not SMALLEST_INTEGER <= value <= LARGEST_INTEGER:
        return "is no 64-bit integer. Write a smaller number"
    if isinstance(value, str) and "\0" in value:
        return "contains a zero character, which no database keeps. Remove it"
    if isinstance(value, date) and _far(value):
        return _FAR
    if type_of(value) is None:
        given = "a time with a zone" if isinstance(value, datetime) else kind(value)
        return f"cannot be {given}. Write texts, numbers, true and false, dates or times"
    return ""


def _far(value: date) -> bool:
    """Whether a time is missing or beyond the years that there are; those of pandas can be."""
    return not 1 <= value.year <= 9999


def _distinct(section: Section, values: list[Value]) -> bool:
    seen: set[Value] = set()
    for position, value in enumerate(values):
        if value in seen:
            section.complain("a value is listed twice. Remove one", "values", position)
            return False
        seen.add(value)
    return True


def _ends(section: Section) -> tuple[End, End] | None:
    """Return the range, or None where it is not well stated."""
    if "min" not in section and "max" not in section:
        return None
    for key, other in (("min", "max"), ("max", "min")):
        if key not in section:
            return section.complain(f"{key} is missing beside {other}. Add `{key} = ...`: a range has two ends")
    low, high = _end(section, "min"), _end(section, "max")
    if low is None or high is None:
        return None
    if isinstance(low, date) and isinstance(high, date) and type_of(low) is not type_of(high):
        low, high = _time_of(low, time.min), _time_of(high, time.max)
    if type_of(low) is not type_of(high):
        return section.complain("min and max are of different types. Write both as numbers, or both as dates", "max")
    if not low < high:  # type: ignore[operator]
        return section.complain("min must be less than max. Write the smaller one as min", "min")
    return low, high


def _end(section: Section, key: str) -> End | None:
    value = section.entries[key]
    if isinstance(value, date):
        if _far(value):
            return section.complain(_FAR, key)
        if type_of(value) is None:
            return section.complain("must be without a time zone. Write, for example, `2026-01-31T12:00:00`", key)
        return value
    if isinstance(value, str):
        return section.complain(
            "must not be in quotes. Write a number, a date such as 2026-01-31, or list values = [...]", key
        )
    number = section.number(key)
    if number is not None and isinstance(value, int) and not SMALLEST_INTEGER <= value <= LARGEST_INTEGER:
        return section.complain(
            "is no 64-bit integer. Write a smaller number, or one with decimals for a real column", key
        )
    return number
