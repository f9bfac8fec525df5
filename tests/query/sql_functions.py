"""Functions as they are written in SQL, at random, each with what it means in plain Python.

Dates, parts and differences of them, INTERVAL, STRFTIME, WIDTH_BUCKET, ILIKE and CONCAT are no operations of their own:
the reader makes them of operations. What they mean is said here without those.
"""

from __future__ import annotations

import calendar
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

Row = Mapping[str, Any]
Meaning = Callable[[Row], Any]
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_DAYS = {"DAY": 1, "WEEK": 7}
_NAMES = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_PARTS: Mapping[str, Callable[[Any], int]] = {
    "DOW": lambda day: day.isoweekday() % 7,
    "ISODOW": lambda day: day.isoweekday(),
    "DOY": lambda day: (date(day.year, day.month, day.day) - date(day.year, 1, 1)).days + 1,
    "WEEK": lambda day: day.isocalendar()[1],
    "YEAR": lambda day: day.year,
    "QUARTER": lambda day: (day.month - 1) // 3 + 1,
    "MONTH": lambda day: day.month,
    "DAY": lambda day: day.day,
}
_CODES: Mapping[str, Callable[[Any], str]] = {
    "%Y": lambda day: f"{day.year:04}",
    "%y": lambda day: f"{day.year % 100:02}",
    "%m": lambda day: f"{day.month:02}",
    "%d": lambda day: f"{day.day:02}",
    "%-d": lambda day: str(day.day),
    "%-m": lambda day: str(day.month),
    "%j": lambda day: f"{_PARTS['DOY'](day):03}",
    "%u": lambda day: str(day.isoweekday()),
    "%w": lambda day: str(day.isoweekday() % 7),
    "%A": lambda day: _NAMES[day.weekday()],
    "%a": lambda day: _NAMES[day.weekday()][:3],
    "%B": lambda day: calendar.month_name[day.month],
    "%b": lambda day: calendar.month_name[day.month][:3],
    "%%": lambda _: "%",
}
_OF_A_TIME: Mapping[str, Callable[[Any], str]] = {
    "%H": lambda day: f"{day.hour:02}",
    "%M": lambda day: f"{day.minute:02}",
}
_STARTS: Mapping[str, Callable[[Any], int]] = {
    "month": lambda day: day.year * 12 + day.month,
    "quarter": lambda day: day.year * 4 + (day.month - 1) // 3,
    "year": lambda day: day.year,
    "day": lambda day: day.toordinal(),
}


@dataclass(frozen=True)
class Written:
    """A text of SQL, and what it means on a row."""

    text: str
    meaning: Meaning


class Functions:
    """Makes texts over the hostile columns of `tests.query.expressions`."""

    def __init__(self, source: random.Random) -> None:
        self.source = source

    def any(self) -> Written:
        """Return a text of any kind."""
        makers = (self.part, self.difference, self.bucket, self.spelled, self.named, self.joined, self.like, self.left)
        return self.source.choice((*makers, self.moment, self.chosen))()

    def moment(self, *, time: bool | None = None) -> Written:
        """Return a date, or a time, moved up to three times."""
        name = self.source.choice({None: "des", True: "s", False: "de"}[time])
        found = Written(name, lambda row: row[name])
        for _ in range(self.source.choice([0, 1, 1, 2, 3])):
            found = self._moved(found)
        return found

    def _moved(self, inner: Written) -> Written:
        unit = self.source.choice([*_MONTHS, *_DAYS])
        number = self.source.choice([1, 2, 3, 11, -1, 13, 400, 9_999_999])
        minus, factor = self.source.random() < 0.4, self.source.choice([1, 1, 2])
        step = _MONTHS.get(unit) or _DAYS[unit]
        count = (-1 if minus else 1) * number * factor * step
        moved = _by_months if unit in _MONTHS else _by_days
        times = f"{factor} * " if factor != 1 else ""
        written = self.source.choice([f"INTERVAL '{number}' {unit}", f"INTERVAL ({number}) {unit}S"])
        text = f"({inner.text} {'-' if minus else '+'} {times}{written})"
        if not minus and not times and self.source.random() < 0.3:
            text = self.source.choice([f"({written} + {inner.text})", f"DATE_ADD({inner.text}, {written})"])
        return Written(text, _of(lambda day: moved(day, count), inner))

    def part(self) -> Written:
        """Return a part of a date."""
        name, inner = self.source.choice(list(_PARTS)), self.moment()
        text = self.source.choice(["EXTRACT(@ FROM #)", "DATE_PART('@', #)"]).replace("@", name)
        return Written(text.replace("#", inner.text), _of(_PARTS[name], inner))

    def named(self) -> Written:
        """Return the name of a day or a month."""
        inner = self.moment()
        name, code = self.source.choice([("DAYNAME", "%A"), ("MONTHNAME", "%B")])
        return Written(f"{name}({inner.text})", _of(_CODES[code], inner))

    def difference(self) -> Written:
        """Return how many beginnings of a unit lie between two dates; of days between dates alone."""
        unit = self.source.choice(list(_STARTS))
        one, two = (self.moment(time=False if unit == "day" else None) for _ in range(2))
        start = _STARTS[unit]
        return Written(
            f"DATEDIFF('{unit}', {one.text}, {two.text})",
            _of(lambda first, second: start(second) - start(first), one, two),
        )

    def spelled(self) -> Written:
        """Return a date written by a format."""
        time = self.source.random() < 0.4
        known = {**_CODES, **(_OF_A_TIME if time else {})}
        codes = self.source.choices(list(known), k=self.source.randint(1, 4))
        signs = self.source.choices(["-", "", ".", " of ", "Q"], k=len(codes))
        if set(codes) == {"%%"}:
            codes[0] = "%Y"
        form, inner = "".join(map("".join, zip(codes, signs, strict=True))), self.moment(time=time)

        def meaning(day: Any) -> str:
            return "".join(known[code](day) + sign for code, sign in zip(codes, signs, strict=True))

        listed = [inner.text, f"'{form}'"]
        return Written(f"STRFTIME({', '.join(listed)})", _of(meaning, inner))

    def bucket(self) -> Written:
        """Return in which of several parts of a range a number lies."""
        name = self.source.choice("ijxy")
        low, high, parts = self.source.choice([(0, 4, 4), (-7, 9, 2), (0.5, 2.5, 8), (-1000, 1000, 1), (0, 64, 16)])

        def meaning(value: Any) -> int:
            if value < low:
                return 0
            return parts + 1 if value >= high else int((value - low) * parts // (high - low)) + 1

        return Written(f"WIDTH_BUCKET({name}, {low}, {high}, {parts})", _of(meaning, _column(name)))

    def like(self) -> Written:
        """Return whether a text is like a pattern, whatever its Latin capitals."""
        name, pattern = (
            self.source.choice("tu"),
            self.source.choice(["A%", "%B_", "%É", "_bC%", "%", "ǅ", "ß%", "%Ü", ""]),
        )
        signs = {"%": ".*", "_": "."}
        made = re.compile("".join(signs.get(sign) or re.escape(sign) for sign in _small(pattern)), re.DOTALL)
        negated = self.source.random() < 0.3
        text = f"{name} {'NOT ' if negated else ''}ILIKE '{pattern}'"
        return Written(text, _of(lambda value: (made.fullmatch(_small(value)) is None) is negated, _column(name)))

    def left(self) -> Written:
        """Return the first signs of a text, or those from a place on."""
        name, number = self.source.choice("tu"), self.source.randint(1, 5)
        if self.source.random() < 0.5:
            return Written(f"LEFT({name}, {number})", _of(lambda value: value[:number], _column(name)))
        return Written(f"SUBSTR({name}, {number})", _of(lambda value: value[number - 1 :], _column(name)))

    def joined(self) -> Written:
        """Return texts, whole numbers, conditions and dates joined; a NULL is left out."""
        parts = [_column(name) for name in self.source.choices("tuijbde", k=self.source.randint(1, 4))]
        parts += [self.source.choice([self.spelled, self.named, self.part])()]

        def meaning(row: Row) -> str:
            values = [one.meaning(row) for one in parts]
            return "".join(
                "" if one is None else str(one).lower() if isinstance(one, bool) else str(one) for one in values
            )

        return Written(f"CONCAT({', '.join(one.text for one in parts)})", meaning)

    def chosen(self) -> Written:
        """Return a number by a condition on dates and texts."""
        condition, one, two = self.like(), self.part(), self.bucket()

        def meaning(row: Row) -> Any:
            return (one if condition.meaning(row) else two).meaning(row)

        return Written(f"CASE WHEN {condition.text} THEN {one.text} ELSE {two.text} END", meaning)


def _column(name: str) -> Written:
    return Written(name, lambda row: row[name])


def _of(function: Callable[..., Any], *inner: Written) -> Meaning:
    """Return a function of what is written; NULL where one part is."""

    def meaning(row: Row) -> Any:
        values = [one.meaning(row) for one in inner]
        return None if None in values else function(*values)

    return meaning


def _by_days(day: Any, count: int) -> Any:
    try:
        return day + timedelta(days=count)
    except OverflowError:
        return None


def _by_months(day: Any, count: int) -> Any:
    year, month = divmod(day.year * 12 + day.month - 1 + count, 12)
    if not 1 <= year <= 9999:
        return None
    return day.replace(year=year, month=month + 1, day=min(day.day, calendar.monthrange(year, month + 1)[1]))


def _small(text: str) -> str:
    return "".join(sign.lower() if sign.isascii() else sign for sign in text)
