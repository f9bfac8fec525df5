"""Expressions over one row: typed, immutable, and total: no row can make an engine raise.

An expression is a column, a literal, or an operation applied to expressions. What an operation means is fixed here, for
every engine: where an engine would raise (an overflow, a zero divisor, a bad cast, a logarithm of 0) the result is
NULL, and NaN is NULL everywhere. A column of a frame for which no type is declared knows the line that declares one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import Enum
from fractions import Fraction

from discreet.frames import Type

Value = bool | int | float | str | date | datetime | None
Interval = tuple[Fraction, Fraction]
TYPE = "TYPE"  # stands in a line for the type that is wanted


class Operation(Enum):
    """Everything that can be computed from a row; the value is the word people read in messages."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"  # always real
    FLOOR_DIVIDE = "//"  # integers, towards minus infinity
    MODULO = "%"  # integers, the remainder of FLOOR_DIVIDE
    NEGATE = "unary -"
    BIT_AND = "&"
    BIT_OR = "|"
    BIT_XOR = "XOR"
    BIT_NOT = "~"
    SHIFT_LEFT = "<<"
    SHIFT_RIGHT = ">>"
    BIT_COUNT = "BIT_COUNT"
    EQUAL = "="
    UNEQUAL = "<>"
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="
    AND = "AND"
    OR = "OR"
    NOT = "NOT"
    IS_NULL = "IS NULL"
    IN = "IN"  # a value, then the literals
    LIKE = "LIKE"  # a text, then a literal pattern of % and _
    CASE = "CASE"  # condition, result, condition, result, ..., otherwise
    COALESCE = "COALESCE"
    NULLIF = "NULLIF"
    GREATEST = "GREATEST"
    LEAST = "LEAST"
    CLAMP = "CLAMP"  # a value, then two literals
    ABS = "ABS"
    SIGN = "SIGN"
    FLOOR = "FLOOR"  # to an integer
    CEIL = "CEIL"
    ROUND = "ROUND"  # half away from zero; a value, then a literal number of digits
    SQRT = "SQRT"
    LN = "LN"
    LOG10 = "LOG10"
    EXP = "EXP"
    POWER = "POWER"
    LOWER = "LOWER"
    UPPER = "UPPER"
    TRIM = "TRIM"
    LENGTH = "LENGTH"
    SUBSTRING = "SUBSTRING"  # a text, then two literals: first position (from 1) and length
    CONCAT = "||"
    CAST = "CAST"  # to the type of the result
    YEAR = "YEAR"
    QUARTER = "QUARTER"
    MONTH = "MONTH"
    DAY = "DAY"
    WEEKDAY = "WEEKDAY"  # 1 Monday .. 7 Sunday
    HOUR = "HOUR"
    MINUTE = "MINUTE"
    TRUNCATE_YEAR = "DATE_TRUNC year"
    TRUNCATE_QUARTER = "DATE_TRUNC quarter"
    TRUNCATE_MONTH = "DATE_TRUNC month"
    TRUNCATE_WEEK = "DATE_TRUNC week"
    TRUNCATE_DAY = "DATE_TRUNC day"
    TRUNCATE_HOUR = "DATE_TRUNC hour"
    DAYS_BETWEEN = "days between"  # second minus first, in whole days
    ADD_DAYS = "+ INTERVAL days"  # a date, then an integer
    ADD_MONTHS = "+ INTERVAL months"  # to the same day of the month, or to its last one

    def __repr__(self) -> str:
        return f"Operation.{self.name}"


# what depends on the day of a date or a time alone
PARTS_OF_DAYS = (Operation.YEAR, Operation.QUARTER, Operation.MONTH, Operation.DAY, Operation.WEEKDAY)
TRUNCATED_DAYS = tuple(Operation[f"TRUNCATE_{unit}"] for unit in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY"))


@dataclass(frozen=True, slots=True)
class Expression:
    """What every expression knows: its type, and the public range of its values where one follows from the policy.

    `interval` is a declaration, not a fact about the data: whoever relies on it clips to it.
    """

    type: Type
    interval: Interval | None

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The expressions directly beneath."""
        return ()

    def columns(self) -> Iterator[Column]:
        """Yield every column that is read, with repetitions."""
        for part in self.parts:
            yield from part.columns()


@dataclass(frozen=True, slots=True)
class Column(Expression):
    """A column of the rows that the expression stands on, by name.

    `declare` is how another type would be declared for it, with TYPE in the type's place, where none is declared.
    """

    name: str
    declare: str = field(default="", compare=False, repr=False)

    def columns(self) -> Iterator[Column]:
        """Yield the column itself."""
        yield self


@dataclass(frozen=True, slots=True)
class Literal(Expression):
    """A constant; `value` is a Python value of the type, or None for NULL."""

    value: Value


@dataclass(frozen=True, slots=True)
class Apply(Expression):
    """An operation on expressions; `typing_rules.apply` makes one, and checks the types."""

    operation: Operation
    arguments: tuple[Expression, ...]

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The arguments."""
        return self.arguments


# where a declaration reads more of the cells than the type without one
_HELPS = {(Type.REAL, Type.INTEGER), (Type.TIMESTAMP, Type.DATE)}


def advice(hint: str, expressions: Sequence[Expression], *wanted: Type) -> str:
    """Return a hint together with the line that declares the type for a column of a frame without one.

    Such a column read as text is NULL wherever a cell is no text, and no conversion in the query brings the cell back:
    the line comes first, and the hint is for cells that are texts. Whether there are such cells is not looked at.
    """
    for column in _without_a_type(expressions):
        if column.type is Type.TEXT:
            line = _filled(column, *wanted)
            return (
                f"no type is declared for {column.name}, which is read as text, other cells as NULL: add {line}; only "
                f"if its cells are texts, {hint}"
            )
    return hint + declared_otherwise(expressions, *wanted)


def declared_otherwise(expressions: Sequence[Expression], *wanted: Type) -> str:
    """Return the line that declares the type for a column of a frame without one, as the end of a sentence."""
    for column in _without_a_type(expressions):
        if any((column.type, type) in _HELPS for type in wanted):
            line = _filled(column, *(type for type in wanted if (column.type, type) in _HELPS))
            return f"; no type is declared for {column.name}, which is read as {column.type.value}; or add {line}"
    return ""


def _without_a_type(expressions: Sequence[Expression]) -> Iterator[Column]:
    """Yield columns that a declaration could help: of texts those that stand by themselves, not inside functions."""
    for expression in expressions:
        for column in expression.columns():
            if column.declare and (column.type is not Type.TEXT or column is expression):
                yield column


def _filled(column: Column, *wanted: Type) -> str:
    """Return the line with the first type in it, and the others behind."""
    line = column.declare.replace(TYPE, wanted[0].value)
    return line + "".join(f' or "{other.value}"' for other in wanted[1:])
