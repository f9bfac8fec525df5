"""Each operation on a table of edge values, through DuckDB and through the oracle, and by hand where it matters."""

# ruff: noqa: S608 - the statements here are made of our own text, which is what is being tested
from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import duckdb
import pytest

from discreet.frames import Type
from discreet.query.engines.duckdb.expressions import render
from discreet.query.engines.duckdb.text import constant, quoted
from discreet.query.expression.expression import Expression, Operation
from discreet.query.expression.typing_rules import apply, column, literal
from tests.query import oracle
from tests.query.expressions import COLUMNS, INEXACT, LARGEST, SMALLEST, VALUES, read, scan, store

NAMES = {name: quoted(name) for name in COLUMNS}
FIRST = {Type.BOOLEAN: "b", Type.INTEGER: "i", Type.REAL: "x", Type.TEXT: "t", Type.DATE: "d", Type.TIMESTAMP: "s"}
SECOND = {**FIRST, Type.INTEGER: "j", Type.REAL: "y", Type.TEXT: "u", Type.DATE: "e"}


CONNECTION = duckdb.connect()


def value_of(expression: Expression, **columns: Any) -> Any:
    """Return what DuckDB and the oracle both give for one row."""
    kinds = {node.name: node.type for node in expression.columns()}
    row = ", ".join(f"{constant(columns[name], kind)} AS {quoted(name)}" for name, kind in kinds.items()) or "1 AS one"
    text = render(expression, quoted)
    (answer,) = CONNECTION.execute(f"SELECT {text} FROM (SELECT {row})").fetchall()
    assert answer == (oracle.evaluate(expression, columns),)
    return answer[0]


def on(operation: Operation, *values: Any) -> Any:
    """Return the operation on values, as columns and once more as literals, which must agree."""
    literals = [literal(value) for value in values]
    names = [f"c{place}" for place in range(len(values))]
    constants = apply(operation, *literals)
    if operation in (Operation.IN, Operation.LIKE, Operation.CLAMP, Operation.ROUND, Operation.SUBSTRING):
        arguments: Sequence[Expression] = [column("c0", literals[0].type), *literals[1:]]
    else:
        arguments = [column(name, one.type) for name, one in zip(names, literals, strict=True)]
    answer = value_of(apply(operation, *arguments), **dict(zip(names, values, strict=True)))
    assert value_of(constants) == answer
    return answer


def every_call() -> list[Expression]:
    """Return each operation on columns of every combination of types that it takes."""
    calls: list[Expression] = []
    for operation in Operation:
        for size in (1, 2, 3):
            for kinds in itertools.product(Type, repeat=size) if size < 3 else ((kind,) * 3 for kind in Type):
                names = [(FIRST, SECOND, FIRST)[place][kind] for place, kind in enumerate(kinds)]
                try:
                    arguments = [column(name, kind) for name, kind in zip(names, kinds, strict=True)]
                    calls.append(apply(operation, *arguments))
                except ValueError:
                    continue
    for given, wanted in itertools.product(Type, repeat=2):
        try:
            calls.append(apply(Operation.CAST, column(FIRST[given], given), type=wanted))
        except ValueError:
            continue
    value = column("x", Type.REAL)
    return [
        *calls,
        *(apply(Operation.IN, column("i", Type.INTEGER), literal(7), literal(SMALLEST)),),
        *(
            apply(Operation.LIKE, column("t", Type.TEXT), literal(pattern))
            for pattern in ("%", "_", "a%", "a\\%", "%b_")
        ),
        *(apply(Operation.CLAMP, value, literal(-1), literal(2.5)), apply(Operation.ROUND, value, literal(2))),
        apply(Operation.SUBSTRING, column("t", Type.TEXT), literal(2), literal(3)),
        *(apply(kind, column("i", Type.INTEGER), literal(10)) for kind in (Operation.FLOOR_DIVIDE, Operation.MODULO)),
        *(apply(Operation.MODULO, column("i", Type.INTEGER), literal(number)) for number in (LARGEST, -10, SMALLEST)),
    ]


def pairs(kind: Type) -> list[tuple[Any, Any]]:
    """Return all pairs of edge values of a type; a text meets every ninth other one."""
    values = [*VALUES[kind], None]
    return list(itertools.product(values, values[::9] if kind is Type.TEXT else values))


def edge_rows() -> list[dict[str, Any]]:
    """Return rows that hold all pairs of each type."""
    longest = max(len(pairs(kind)) for kind in Type)
    filled = {kind: list(itertools.islice(itertools.cycle(pairs(kind)), longest)) for kind in Type}
    return [{name: filled[kind][k][name in "jyue"] for name, kind in COLUMNS.items()} for k in range(longest)]


def test_every_operation_on_all_pairs_of_edge_values_equals_the_oracle() -> None:
    stored = edge_rows()
    connection = duckdb.connect()
    store(connection, stored)
    rows = read(stored)
    connection.execute(f"CREATE TABLE typed AS FROM {scan()}")
    met = set()
    for expression in every_call():
        enough = max(len(pairs(node.type)) for node in expression.columns())
        statement = f"SELECT {render(expression, NAMES)} FROM typed WHERE row < {enough} ORDER BY row"
        answers = connection.execute(statement).fetchall()
        met.add(expression.operation)  # type: ignore[attr-defined]
        for row, (got,) in zip(rows[:enough], answers, strict=True):
            expected = oracle.evaluate(expression, row)
            if expected is not None and expression.operation in INEXACT:  # type: ignore[attr-defined]
                assert math.isclose(got, expected, rel_tol=1e-12, abs_tol=0), expression
            else:
                assert (got, type(got)) == (expected, type(expected)), expression
    assert met == set(Operation)


@pytest.mark.parametrize(
    ("operation", "values", "answer"),
    [
        (Operation.ADD, (LARGEST, 1), None),
        (Operation.SUBTRACT, (SMALLEST, 1), None),
        (Operation.MULTIPLY, (2**32, 2**31), None),
        (Operation.MULTIPLY, (-(2**32), 2**31), SMALLEST),
        (Operation.NEGATE, (SMALLEST,), None),
        (Operation.ABS, (SMALLEST,), None),
        (Operation.ADD, (1e308, 1e308), math.inf),
        (Operation.DIVIDE, (7, 2), 3.5),
        (Operation.DIVIDE, (7, 0), None),
        (Operation.DIVIDE, (0.0, -0.0), None),
        (Operation.FLOOR_DIVIDE, (-7, 2), -4),
        (Operation.FLOOR_DIVIDE, (7, -2), -4),
        (Operation.FLOOR_DIVIDE, (SMALLEST, -1), None),
        (Operation.FLOOR_DIVIDE, (1, 0), None),
        (Operation.MODULO, (-7, 3), 2),
        (Operation.MODULO, (7, -3), -2),
        (Operation.MODULO, (SMALLEST, -1), 0),
        (Operation.MODULO, (1, 0), None),
        (Operation.SHIFT_LEFT, (1, 62), 2**62),
        (Operation.SHIFT_LEFT, (1, 63), None),
        (Operation.SHIFT_LEFT, (-1, 63), SMALLEST),
        (Operation.SHIFT_LEFT, (1, -1), None),
        (Operation.SHIFT_RIGHT, (-8, 1), -4),
        (Operation.SHIFT_RIGHT, (1, 64), None),
        (Operation.BIT_COUNT, (-1,), 64),
        (Operation.BIT_NOT, (5,), -6),
        (Operation.BIT_XOR, (5, 3), 6),
        (Operation.ROUND, (2.5, 0), 3),
        (Operation.ROUND, (-2.5, 0), -3),
        (Operation.ROUND, (0.49999999999999994, 0), 0),
        (Operation.ROUND, (1e300, 0), None),
        (Operation.ROUND, (1e300, 2), 1e300),
        (Operation.ROUND, (1.005, 2), 1.0),
        (Operation.FLOOR, (-0.5,), -1),
        (Operation.CEIL, (-0.5,), 0),
        (Operation.FLOOR, (2.0**63,), None),
        (Operation.SIGN, (-3.5,), -1),
        (Operation.SQRT, (-1.0,), None),
        (Operation.LN, (0.0,), None),
        (Operation.POWER, (0.0, -1.0), None),
        (Operation.POWER, (-8.0, 0.5), None),
        (Operation.GREATEST, (1, 2, 3), 3),
        (Operation.CLAMP, (7, 0, 5), 5),
        (Operation.CLAMP, (-0.5, 0, 5), 0.0),
        (Operation.LOWER, ("ÀBC ß İ",), "Àbc ß İ"),
        (Operation.UPPER, ("àbc ß",), "àBC ß"),
        (Operation.TRIM, ("  a\t ",), "a\t"),
        (Operation.LENGTH, ("👍🏽",), 2),
        (Operation.SUBSTRING, ("日本語", 2, 5), "本語"),
        (Operation.CONCAT, ("a", ""), "a"),
        (Operation.LIKE, ("a\\%", "a\\_"), True),
        (Operation.LIKE, ("a\nb", "a_b"), True),
        (Operation.LIKE, ("é", "_"), True),
        (Operation.LESS, ("Z", "a"), True),
        (Operation.LESS, ("z", "é"), True),
        (Operation.EQUAL, (0.0, -0.0), True),
        (Operation.IN, ("a", "b", "a"), True),
        (Operation.YEAR, (date(1, 1, 1),), 1),
        (Operation.WEEKDAY, (date(2024, 1, 1),), 1),
        (Operation.QUARTER, (datetime(2024, 12, 31, 23),), 4),
        (Operation.TRUNCATE_WEEK, (date(2024, 1, 7),), date(2024, 1, 1)),
        (Operation.TRUNCATE_HOUR, (datetime(2024, 1, 7, 5, 59),), datetime(2024, 1, 7, 5)),
        (Operation.DAYS_BETWEEN, (date(2024, 2, 28), date(2024, 3, 1)), 2),
        (Operation.ADD_DAYS, (date(9999, 12, 31), 1), None),
        (Operation.ADD_DAYS, (date(1, 1, 1), LARGEST), None),
        (Operation.ADD_DAYS, (datetime(2024, 2, 28, 12), 2), datetime(2024, 3, 1, 12)),
    ],
)
def test_an_operation_has_the_value_that_the_reference_states(
    operation: Operation, values: tuple[Any, ...], answer: Any
) -> None:
    assert on(operation, *values) == answer


@pytest.mark.parametrize(
    ("value", "wanted", "answer"),
    [
        ("+07", Type.INTEGER, 7),
        ("1e3", Type.INTEGER, None),
        (" 1", Type.INTEGER, None),
        ("9223372036854775808", Type.INTEGER, None),
        ("1e3", Type.REAL, 1000.0),
        ("nan", Type.REAL, None),
        ("1e999", Type.REAL, math.inf),
        (2.5, Type.INTEGER, 2),
        (3.5, Type.INTEGER, 4),
        (1e19, Type.INTEGER, None),
        (2**53 + 1, Type.REAL, 2.0**53),
        (True, Type.INTEGER, 1),
        (False, Type.TEXT, "false"),
        (-5, Type.TEXT, "-5"),
        (date(9, 1, 2), Type.TEXT, "0009-01-02"),
        ("2020-02-30", Type.DATE, None),
        ("2020-2-3", Type.DATE, None),
        ("2020-02-03", Type.TIMESTAMP, datetime(2020, 2, 3)),
        ("2020-02-03 04:05:06.7", Type.TIMESTAMP, datetime(2020, 2, 3, 4, 5, 6, 700_000)),
        ("2020-02-03 24:00:00", Type.TIMESTAMP, None),
        (datetime(2020, 1, 1, 23, 59), Type.DATE, date(2020, 1, 1)),
    ],
)
def test_a_cast_gives_the_value_or_null(value: Any, wanted: Type, answer: Any) -> None:
    given = literal(value)
    assert value_of(apply(Operation.CAST, given, type=wanted)) == answer
    assert value_of(apply(Operation.CAST, column("c", given.type), type=wanted), c=value) == answer


def test_null_makes_null_except_where_null_is_asked_about() -> None:
    null = literal(None)
    three = literal(3)
    for operation in (Operation.ADD, Operation.EQUAL, Operation.GREATEST, Operation.LEAST, Operation.BIT_AND):
        assert value_of(apply(operation, three, null)) is None
    assert value_of(apply(Operation.IS_NULL, null)) is True
    assert value_of(apply(Operation.COALESCE, null, three)) == 3
    assert value_of(apply(Operation.AND, null, literal(False))) is False
    assert value_of(apply(Operation.OR, null, literal(True))) is True
    assert value_of(apply(Operation.CASE, null, three, literal(4))) == 4
    assert value_of(apply(Operation.NULLIF, three, null)) == 3


def test_nan_is_null_even_in_the_middle_of_arithmetic() -> None:
    infinite = apply(Operation.MULTIPLY, column("x", Type.REAL), literal(1e308))
    difference = apply(Operation.SUBTRACT, infinite, apply(Operation.ADD, infinite, column("x", Type.REAL)))
    assert value_of(difference, x=1e10) is None
    assert value_of(apply(Operation.IS_NULL, difference), x=1e10) is True
    assert value_of(apply(Operation.GREATER, difference, literal(0)), x=1e10) is None
    assert value_of(apply(Operation.COALESCE, difference, literal(5)), x=1e10) == 5.0
    assert value_of(apply(Operation.POWER, difference, literal(0)), x=1e10) is None
    assert value_of(apply(Operation.CLAMP, difference, literal(0), literal(9)), x=1e10) is None


def test_concatenation_keeps_the_first_65536_characters() -> None:
    text = apply(Operation.CONCAT, column("t", Type.TEXT), column("t", Type.TEXT))
    assert len(value_of(text, t="é" * 40_000)) == 65_536
