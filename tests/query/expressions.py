"""Hostile rows, and random expressions over them: a fixed seed gives the same ones every time."""

# ruff: noqa: S608 - the statements here are made of our own text, which is what is being tested
from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from discreet.frames import Type
from discreet.query.engines.duckdb.text import quoted, scanned
from discreet.query.expression.expression import Expression, Operation, Value
from discreet.query.expression.typing_rules import apply, column, literal
from tests.query import oracle

LARGEST, SMALLEST = 2**63 - 1, -(2**63)
INTEGERS = [
    0,
    1,
    -1,
    2,
    7,
    -7,
    10,
    63,
    64,
    255,
    2**31,
    -(2**31) - 1,
    2**53 + 1,
    LARGEST,
    LARGEST - 1,
    SMALLEST,
    SMALLEST + 1,
]
REALS = [
    *(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, 0.1, 0.49999999999999994, 3.7, -1234.5678, 1e15 + 0.5, 2.0**52 + 1),
    *(
        2.0**63,
        -(2.0**63),
        math.nextafter(2.0**63, 0),
        1e300,
        -1e300,
        1.7976931348623157e308,
        5e-324,
        -5e-324,
        2.2e-308,
    ),
    *(math.nan, math.inf, -math.inf),
]
TEXTS = [
    *("", " ", "a", "A", "abc", "aBc dEf", "  padded  ", "a%b", "a_b", "a\\b", "it's", '"quoted"', "\t\n", "x" * 3_000),
    *(
        "ß",
        "İstanbul",
        "ΣΑΣ",
        "ǅ",
        "é",
        "e\u0301",
        "日本語",
        "👍🏽",
        "\u200b",
        "\ufeff",
        "\x01\x7f",
        "nul\0l",
        "🏴" * 500,
    ),
    *(
        "0",
        "-0",
        "+5",
        "007",
        " 5",
        "5 ",
        "1_000",
        "1e3",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
    ),
    *("0" * 60 + "1", "9" * 400, "1.5", ".5", "5.", "1e999", "-1e-999", "nan", "inf", "1e", "٣", "0x10", "5\n"),
    *("2020-02-29", "2021-02-29", "2020-1-1", "0000-01-01", "0001-01-01", "9999-12-31", "10000-01-01", "2020-13-01"),
    *("2020-01-01 10:20:30", "2020-01-01T23:59:59.5", "2020-01-01 24:00:00", "2020-01-01 10:20:60", "2020-01-01 10:20"),
    *(
        "2020-01-01 10:20:30.1234567",
        "2020-01-01 10:20:30+02",
        "2020-06-31 00:00:00",
        "infinity",
        "epoch",
        "today",
        "true",
    ),
]
DATES: list[Any] = [
    *(date(1, 1, 1), date(9999, 12, 31), date(1970, 1, 1), date(2000, 2, 29), date(1900, 3, 1), date(2024, 12, 30)),
    *("infinity", "-infinity", "0044-03-15 (BC)", "290000-01-01"),
]
TIMESTAMPS: list[Any] = [
    *(
        datetime(1, 1, 1),
        datetime(9999, 12, 31, 23, 59, 59, 999999),
        datetime(1970, 1, 1),
        datetime(2000, 2, 29, 12, 30),
    ),
    *(datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(2024, 5, 5, 5, 5, 5, 5)),
    *("infinity", "-infinity", "0044-03-15 (BC) 01:02:03", "290000-01-01 00:00:00"),
]
COLUMNS: Mapping[str, Type] = {
    "b": Type.BOOLEAN,
    "i": Type.INTEGER,
    "j": Type.INTEGER,
    "x": Type.REAL,
    "y": Type.REAL,
    "t": Type.TEXT,
    "u": Type.TEXT,
    "d": Type.DATE,
    "e": Type.DATE,
    "s": Type.TIMESTAMP,
}
VALUES: Mapping[Type, Sequence[Any]] = {
    Type.BOOLEAN: [True, False],
    Type.INTEGER: INTEGERS,
    Type.REAL: REALS,
    Type.TEXT: TEXTS,
    Type.DATE: DATES,
    Type.TIMESTAMP: TIMESTAMPS,
}
DECLARED: Mapping[Type, str] = {
    Type.BOOLEAN: "BOOLEAN",
    Type.INTEGER: "BIGINT",
    Type.REAL: "DOUBLE",
    Type.TEXT: "VARCHAR",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
}
# These need not agree to the last bit, so that nothing may be computed from them before they are compared.
INEXACT = (Operation.LN, Operation.LOG10, Operation.EXP, Operation.POWER)


def hostile_rows(source: random.Random, count: int) -> list[dict[str, Any]]:
    """Return rows as they are to be stored: every hostile value at least once, combined at random."""
    decks = {name: [*VALUES[type], None] for name, type in COLUMNS.items()}
    for deck in decks.values():
        source.shuffle(deck)
    return [
        {name: deck[row] if row < len(deck) else source.choice(deck) for name, deck in decks.items()}
        for row in range(count)
    ]


def store(connection: Any, rows: Sequence[Mapping[str, Any]], table: str = "raw") -> None:
    """Put rows into a table of DuckDB, with the number of the row."""
    declared = ", ".join(f"{quoted(name)} {DECLARED[type]}" for name, type in COLUMNS.items())
    connection.execute(f"CREATE OR REPLACE TABLE {table} (row BIGINT, {declared})")
    marks = ", ".join(["?", *(f"?::{DECLARED[type]}" for type in COLUMNS.values())])
    connection.executemany(f"INSERT INTO {table} VALUES ({marks})", [[k, *row.values()] for k, row in enumerate(rows)])


def read(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Value]]:
    """Return stored rows as they are read: the text of a date is one that Python does not have."""
    return [
        {
            name: None
            if type in (Type.DATE, Type.TIMESTAMP) and isinstance(row[name], str)
            else oracle.stored(row[name], type)
            for name, type in COLUMNS.items()
        }
        for row in rows
    ]


def scan(table: str = "raw") -> str:
    """Return the statement that reads a stored table."""
    reading = ", ".join(
        f"{scanned(quoted(name), DECLARED[type], type)} AS {quoted(name)}" for name, type in COLUMNS.items()
    )
    return f"(SELECT row, {reading} FROM {table})"


class Maker:
    """Makes random expressions of a type."""

    def __init__(self, source: random.Random) -> None:
        self.source = source

    def leaf(self, type: Type) -> Expression:
        """Return a column or a literal."""
        if self.source.random() < 0.6:
            return column(self.source.choice([name for name, kind in COLUMNS.items() if kind is type]), type)
        return self.constant(type)

    def constant(self, type: Type, *, null: bool = True) -> Expression:
        if null and self.source.random() < 0.1:
            return apply(Operation.CAST, literal(None), type=type)
        usable = [value for value in VALUES[type] if not _unusable(value, type)]
        return literal(self.source.choice(usable))

    def make(self, type: Type, depth: int) -> Expression:
        """Return an expression of the type, at most that deep."""
        if depth == 0 or self.source.random() < 0.1:
            return self.leaf(type)
        return self.source.choice(self._choices(type))(depth - 1)

    def any(self, depth: int) -> Expression:
        return self.make(self.source.choice(list(Type)), depth)

    def inexact(self, depth: int) -> Expression:
        """Return a function that engines may round differently, of an expression that they may not."""
        operation = self.source.choice(INEXACT)
        arguments = [self.make(Type.REAL, depth) for _ in range(2 if operation is Operation.POWER else 1)]
        return apply(operation, *arguments)

    def _choices(self, type: Type) -> list[Callable[[int], Expression]]:
        return [*self._general(type), *getattr(self, f"_{type.value}")()]

    def _of(self, operation: Operation, *types: Type) -> Callable[[int], Expression]:
        return lambda depth: apply(operation, *(self.make(type, depth) for type in types))

    def _general(self, type: Type) -> list[Callable[[int], Expression]]:
        return [
            lambda depth: apply(
                Operation.CASE, self.make(Type.BOOLEAN, depth), self.make(type, depth), self.make(type, depth)
            ),
            self._of(Operation.COALESCE, type, type),
            self._of(Operation.NULLIF, type, type),
            self._of(Operation.GREATEST, type, type),
            self._of(Operation.LEAST, type, type, type),
        ]

    def _boolean(self) -> list[Callable[[int], Expression]]:
        def compared(depth: int) -> Expression:
            operation = self.source.choice(list(Operation)[list(Operation).index(Operation.EQUAL) :][:6])
            type = self.source.choice(list(Type))
            return apply(operation, self.make(type, depth), self.make(type, depth))

        def member(depth: int) -> Expression:
            type = self.source.choice(list(Type))
            literals = [self.constant(type, null=False) for _ in range(self.source.randint(1, 4))]
            return apply(Operation.IN, self.make(type, depth), *literals)

        def like(depth: int) -> Expression:
            pattern = self.source.choice(["%", "_", "", "a%", "%b", "_b_", "a\\%", "%日%", "é", "%%_%", "it's%", "__"])
            return apply(Operation.LIKE, self.make(Type.TEXT, depth), literal(pattern))

        logical = [self._of(operation, Type.BOOLEAN, Type.BOOLEAN) for operation in (Operation.AND, Operation.OR)]
        return [
            *(compared, compared, member, like, *logical, self._of(Operation.NOT, Type.BOOLEAN)),
            lambda depth: apply(Operation.IS_NULL, self.any(depth)),
        ]

    def _integer(self) -> list[Callable[[int], Expression]]:
        two = (
            "ADD",
            "SUBTRACT",
            "MULTIPLY",
            "FLOOR_DIVIDE",
            "MODULO",
            "BIT_AND",
            "BIT_OR",
            "BIT_XOR",
            "SHIFT_LEFT",
            "SHIFT_RIGHT",
        )
        one = ("NEGATE", "BIT_NOT", "BIT_COUNT", "ABS", "SIGN", "FLOOR", "CEIL")
        parts = ("YEAR", "QUARTER", "MONTH", "DAY", "WEEKDAY")
        named = Operation.__getitem__

        def by_literal(depth: int) -> Expression:
            operation = named(self.source.choice(two))
            return apply(operation, self.make(Type.INTEGER, depth), self.constant(Type.INTEGER, null=False))

        return [
            *(self._of(named(name), Type.INTEGER, Type.INTEGER) for name in two),
            *(self._of(named(name), Type.INTEGER) for name in one),
            *(self._of(named(name), Type.REAL) for name in ("SIGN", "FLOOR", "CEIL", "ROUND")),
            *(by_literal, by_literal),
            *(self._of(named(name), self.source.choice([Type.DATE, Type.TIMESTAMP])) for name in parts),
            *(self._of(named(name), Type.TIMESTAMP) for name in ("HOUR", "MINUTE")),
            self._of(Operation.LENGTH, Type.TEXT),
            self._of(Operation.DAYS_BETWEEN, self.source.choice([Type.DATE, Type.TIMESTAMP]), Type.DATE),
            lambda depth: apply(
                Operation.CLAMP, self.make(Type.INTEGER, depth), literal(-5), literal(SMALLEST + 2**63 + 9)
            ),
            *(self._cast(kind, Type.INTEGER) for kind in (Type.BOOLEAN, Type.REAL, Type.TEXT)),
        ]

    def _real(self) -> list[Callable[[int], Expression]]:
        two = (Operation.ADD, Operation.SUBTRACT, Operation.MULTIPLY, Operation.DIVIDE)
        return [
            *(self._of(operation, Type.REAL, Type.REAL) for operation in two),
            *(self._of(operation, Type.REAL, Type.INTEGER) for operation in two),
            self._of(Operation.DIVIDE, Type.INTEGER, Type.INTEGER),
            *(self._of(operation, Type.REAL) for operation in (Operation.NEGATE, Operation.ABS, Operation.SQRT)),
            lambda depth: apply(Operation.ROUND, self.make(Type.REAL, depth), literal(self.source.randint(1, 15))),
            lambda depth: apply(Operation.CLAMP, self.make(Type.REAL, depth), literal(-1.5), literal(1e6)),
            *(self._cast(kind, Type.REAL) for kind in (Type.INTEGER, Type.TEXT)),
        ]

    def _text(self) -> list[Callable[[int], Expression]]:
        return [
            *(self._of(operation, Type.TEXT) for operation in (Operation.LOWER, Operation.UPPER, Operation.TRIM)),
            self._of(Operation.CONCAT, Type.TEXT, Type.TEXT),
            lambda depth: apply(
                *(Operation.SUBSTRING, self.make(Type.TEXT, depth)),
                *(literal(self.source.randint(1, 12)), literal(self.source.choice([0, 1, 3, 1_000_000]))),
            ),
            *(self._cast(kind, Type.TEXT) for kind in (Type.BOOLEAN, Type.INTEGER, Type.DATE)),
        ]

    def _truncations(self, type: Type) -> list[Callable[[int], Expression]]:
        names = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY")
        return [self._of(Operation[f"TRUNCATE_{name}"], type) for name in names]

    def _by_months(self, type: Type) -> Callable[[int], Expression]:
        """Return a date moved by so few months that it often stays among the years there are."""
        return lambda depth: apply(
            Operation.ADD_MONTHS, self.make(type, depth), literal(self.source.choice([1, -1, 2, 3, 11, 12, -25, 600]))
        )

    def _date(self) -> list[Callable[[int], Expression]]:
        return [
            *self._truncations(Type.DATE),
            *[self._of(Operation.ADD_DAYS, Type.DATE, Type.INTEGER)] * 2,
            *(self._of(Operation.ADD_MONTHS, Type.DATE, Type.INTEGER), self._by_months(Type.DATE)),
            *(self._cast(kind, Type.DATE) for kind in (Type.TEXT, Type.TIMESTAMP)),
        ]

    def _timestamp(self) -> list[Callable[[int], Expression]]:
        return [
            *self._truncations(Type.TIMESTAMP),
            self._of(Operation.TRUNCATE_HOUR, Type.TIMESTAMP),
            *[self._of(Operation.ADD_DAYS, Type.TIMESTAMP, Type.INTEGER)] * 2,
            *(self._of(Operation.ADD_MONTHS, Type.TIMESTAMP, Type.INTEGER), self._by_months(Type.TIMESTAMP)),
            *(self._cast(kind, Type.TIMESTAMP) for kind in (Type.TEXT, Type.DATE)),
        ]

    def _cast(self, given: Type, wanted: Type) -> Callable[[int], Expression]:
        return lambda depth: apply(Operation.CAST, self.make(given, depth), type=wanted)


def _unusable(value: Any, type: Type) -> bool:
    """Tell whether a stored value cannot be a literal."""
    if isinstance(value, float):
        return not math.isfinite(value)
    return isinstance(value, str) and (type is not Type.TEXT or "\0" in value)
