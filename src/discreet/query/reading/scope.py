"""Names in a query: which columns can be read where, and what the policy says about each."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from typing import TypeVar

from discreet.errors import UnknownName, UnsupportedSQL
from discreet.query.expression import Column, Expression, Interval, Type, Value
from discreet.query.policy import LARGEST_DOMAIN, ColumnPolicy

LARGEST_EXPRESSION = 20_000
Named = TypeVar("Named")


def fold(name: str) -> str:
    """Return a name as it is compared: Latin capitals do not matter, look-alike letters of other alphabets do."""
    return name.lower() if name.isascii() else "".join(sign.lower() if sign.isascii() else sign for sign in name)


def look_up(name: str, among: Mapping[str, Named]) -> Named | None:
    """Return what has this name, spelled exactly or else in other capitals, unless that is ambiguous."""
    if name in among:
        return among[name]
    found = [value for key, value in among.items() if fold(key) == fold(name)]
    return found[0] if len(found) == 1 else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the sentence that names the likeliest spelling, or all names."""
    names = sorted(set(known))
    near = difflib.get_close_matches(fold(name), [fold(key) for key in names], n=1)
    for key in names:
        if near and fold(key) == near[0]:
            return f"Did you mean {key!r}?"
    listed = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"Known: {listed}." if listed else "There are none."


def whole_numbers(interval: Interval) -> tuple[int, ...] | None:
    """Return all whole numbers of an interval, None where they are too many."""
    low, high = math.ceil(interval[0]), math.floor(interval[1])
    return tuple(range(low, high + 1)) if high - low < LARGEST_DOMAIN else None


def short(interval: Interval | None) -> Interval | None:
    """Return a range whose ends have few digits, wider by a hair where they had many; None beyond all floats."""
    if interval is None or all(
        end.denominator.bit_length() + abs(end.numerator).bit_length() < 2500 for end in interval
    ):
        return interval
    try:
        low, high = (float(end) for end in interval)
    except OverflowError:
        return None
    ends = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
    return None if any(math.isinf(end) for end in ends) else (Fraction(ends[0]), Fraction(ends[1]))


def _days(type: Type, low: object, high: object) -> tuple[Value, ...] | None:
    """Return all days of a range, None where they are too many or no days."""
    if type not in (Type.DATE, Type.TIMESTAMP) or not isinstance(low, date) or not isinstance(high, date):
        return None
    first, last = (end.date() if isinstance(end, datetime) else end for end in (low, high))
    if (last - first).days >= LARGEST_DOMAIN:
        return None
    days = [first + timedelta(days=day) for day in range((last - first).days + 1)]
    return tuple(days) if type is Type.DATE else tuple(datetime.combine(day, time()) for day in days)


@dataclass(frozen=True, slots=True)
class Visible:
    """A column that a query can name.

    `definition` is the column in terms of the columns of the tables, or None where that would be very long. A column of
    a table has what the policy says in `declared`, and `section` is the place where more could be declared. `unit` says
    that the column is the unit of protection, `from_unit` that it is the unit, leads to it, or is computed from either.
    """

    table: str
    name: str
    column: Column
    definition: Expression | None
    size: int = 1
    declared: ColumnPolicy | None = None
    unit: bool = False
    from_unit: bool = False
    section: str = ""
    qualified_only: bool = False

    @property
    def domain(self) -> tuple[Value, ...] | None:
        """The values that the column can show as a key."""
        return self.declared.domain if self.declared is not None else None

    @property
    def finite(self) -> tuple[Value, ...] | None:
        """All values between declared ends, where there are not too many; of a time its midnights."""
        if self.declared is None or self.domain is not None:
            return self.domain
        if self.column.type is Type.INTEGER and self.column.interval is not None:
            return whole_numbers(self.column.interval)
        return _days(self.column.type, self.declared.low, self.declared.high)


@dataclass(frozen=True, slots=True)
class Scope:
    """The columns that can be read at one place, and the columns of the tables that they are made of."""

    visible: tuple[Visible, ...]
    base: Mapping[str, Visible]

    def find(self, name: str, table: str | None) -> Visible:
        """Return the one column that a name stands for."""
        found = self.matches(name, table)
        if len(found) == 1:
            return found[0]
        written = f"{table}.{name}" if table else name
        if found:
            tables = " or ".join(f"{one.table}.{one.name}" for one in found[:3])
            raise UnsupportedSQL(f"{written!r} could be more than one column. Write {tables}.")
        if table is not None and not any(fold(one.table) == fold(table) for one in self.visible):
            known = {one.table for one in self.visible if one.table}
            raise UnknownName(f"There is no table {table!r} in this FROM. {did_you_mean(table, known)}")
        known = {one.name for one in self.visible if table is None or fold(one.table) == fold(table)}
        raise UnknownName(f"There is no column {written!r} here. {did_you_mean(name, known)}")

    def matches(self, name: str, table: str | None) -> list[Visible]:
        """Return all columns that a name could stand for; one spelled exactly hides those in other capitals."""
        if table is None:
            near = [one for one in self.visible if fold(one.name) == fold(name) and not one.qualified_only]
        else:
            near = [one for one in self.visible if fold(one.name) == fold(name) and fold(one.table) == fold(table)]
        exact = [one for one in near if one.name == name]
        return exact if len(near) > 1 and len(exact) == 1 else near

    def under(self, table: str) -> Scope:
        """Return the same columns under another name of the table."""
        return Scope(tuple(replace(one, table=table, qualified_only=False) for one in self.visible), self.base)

    def from_unit(self, expression: Expression) -> bool:
        """Say whether the unit of protection, or anything computed from it, is read in an expression."""
        names = {one.column.name for one in self.visible if one.from_unit}
        return bool(names) and any(one.name in names for one in expression.columns())

    def definition(self, expression: Expression) -> tuple[Expression | None, int]:
        """Return an expression over these columns in terms of the columns of the tables, and how large that is."""
        by_name = {one.column.name: one for one in self.visible}
        size = tree_size(expression, {name: one.size for name, one in by_name.items()})
        if size > LARGEST_EXPRESSION // 10 or any(by_name[one.name].definition is None for one in expression.columns()):
            return None, size
        return substitute(expression, {name: one.definition for name, one in by_name.items() if one.definition}), size


def tree_size(expression: Expression, columns: Mapping[str, int]) -> int:
    """Return how many nodes an expression has, columns counted as given."""
    if isinstance(expression, Column):
        return columns.get(expression.name, 1)
    return 1 + sum(tree_size(part, columns) for part in expression.parts)


def substitute(expression: Expression, definitions: Mapping[str, Expression]) -> Expression:
    """Return an expression with columns replaced by what they stand for."""
    if isinstance(expression, Column):
        return definitions.get(expression.name, expression)
    if not expression.parts:
        return expression
    return replace(expression, arguments=tuple(substitute(part, definitions) for part in expression.parts))  # type: ignore[call-arg]
