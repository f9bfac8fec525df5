"""What may be written: arities, types, the casts that need no word, and messages that say what to write instead."""

from __future__ import annotations

import itertools
import math
from datetime import UTC, date, datetime
from typing import Any

import pytest

from discreet.errors import UnsupportedSQL
from discreet.frames import Type
from discreet.query.expression.expression import Apply, Expression, Literal, Operation
from discreet.query.expression.typing_rules import apply, column, literal
from tests.query.expressions import LARGEST, SMALLEST

WHOLE, NUMBER, WORDS = column("i", Type.INTEGER), column("x", Type.REAL), column("t", Type.TEXT)
DAY, MOMENT, TRUTH = column("d", Type.DATE), column("s", Type.TIMESTAMP), column("b", Type.BOOLEAN)


def test_a_literal_has_the_type_of_its_python_value_and_truth_is_not_a_number() -> None:
    kinds = {True: Type.BOOLEAN, 5: Type.INTEGER, 0.5: Type.REAL, "a": Type.TEXT, date(2020, 1, 1): Type.DATE}
    assert all(literal(value).type is kind for value, kind in kinds.items())
    assert literal(datetime(2020, 1, 1)).type is Type.TIMESTAMP


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -math.inf,
        LARGEST + 1,
        SMALLEST - 1,
        "a" * 10_001,
        "a\0b",
        "\ud800",
        datetime(2020, 1, 1, tzinfo=UTC),
        b"a",
        [1],
    ],
)
def test_a_constant_that_no_engine_holds_is_refused(value: Any) -> None:
    with pytest.raises(UnsupportedSQL):
        literal(value)


@pytest.mark.parametrize(
    ("operation", "arguments", "words"),
    [
        (Operation.ADD, (WHOLE, WORDS), "CAST"),
        (Operation.ADD, (WHOLE, TRUTH), "CASE WHEN x THEN 1 ELSE 0 END"),
        (Operation.SUBTRACT, (DAY, DAY), "DATE_DIFF"),
        (Operation.ADD, (DAY, literal(1)), "INTERVAL"),
        (Operation.ADD, (WHOLE,), "takes 2 arguments and was given 1"),
        (Operation.MODULO, (NUMBER, literal(2)), "FLOOR"),
        (Operation.BIT_AND, (NUMBER, WHOLE), "FLOOR"),
        (Operation.EQUAL, (WHOLE, WORDS), "CAST one"),
        (Operation.EQUAL, (TRUTH, WHOLE), "CASE WHEN"),
        (Operation.LESS, (DAY, WORDS), "CAST one"),
        (Operation.LESS, (DAY, literal("2020-13-01")), "YYYY-MM-DD"),
        (Operation.LESS, (MOMENT, literal("yesterday")), "YYYY-MM-DD HH:MM:SS"),
        (Operation.AND, (TRUTH, WHOLE), "x <> 0"),
        (Operation.NOT, (WORDS,), "x = 'true'"),
        (Operation.IN, (WHOLE, NUMBER), "constants"),
        (Operation.IN, (WHOLE, literal(None)), "IS NULL"),
        (Operation.IN, (WHOLE,), "2 or more"),
        (Operation.LIKE, (WORDS, WORDS), "constant text"),
        (Operation.CASE, (TRUTH, WHOLE), "CASE WHEN condition"),
        (Operation.CASE, (TRUTH, WHOLE, WORDS), "cannot mix"),
        (Operation.CASE, (WHOLE, WHOLE, WHOLE), "x <> 0"),
        (Operation.CLAMP, (WHOLE, literal(5), literal(1)), "low <= high"),
        (Operation.CLAMP, (WHOLE, WHOLE, literal(1)), "two constants"),
        (Operation.ROUND, (NUMBER, literal(-1)), "from 0 to 15"),
        (Operation.ROUND, (NUMBER, WHOLE), "whole constant"),
        (Operation.SUBSTRING, (WORDS, literal(0), literal(1)), "from 1"),
        (Operation.SUBSTRING, (WORDS, literal(1), literal(True)), "whole constant"),
        (Operation.CONCAT, (WORDS, WHOLE), "CAST(x AS TEXT)"),
        (Operation.YEAR, (WORDS,), "CAST(x AS"),
        (Operation.HOUR, (DAY,), "CAST(x AS TIMESTAMP)"),
        (Operation.ADD_DAYS, (DAY, NUMBER), "FLOOR"),
        (Operation.LENGTH, (WHOLE,), "CAST(x AS TEXT)"),
        (Operation.CAST, (WHOLE,), "type to cast to"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_to_write(
    operation: Operation, arguments: tuple[Expression, ...], words: str
) -> None:
    with pytest.raises(UnsupportedSQL) as refusal:
        apply(operation, *arguments)
    assert words in str(refusal.value)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (NUMBER, Type.TEXT),
        (MOMENT, Type.TEXT),
        (WHOLE, Type.BOOLEAN),
        (WORDS, Type.BOOLEAN),
        (TRUTH, Type.REAL),
        (DAY, Type.INTEGER),
    ],
)
def test_a_cast_without_a_portable_meaning_is_refused(given: Expression, wanted: Type) -> None:
    with pytest.raises(UnsupportedSQL, match="cannot be cast"):
        apply(Operation.CAST, given, type=wanted)


def test_a_whole_number_beside_a_real_one_is_cast() -> None:
    total = apply(Operation.ADD, WHOLE, NUMBER)
    assert total.type is Type.REAL
    assert isinstance(total.arguments[0], Apply)
    assert total.arguments[0].operation is Operation.CAST
    assert apply(Operation.ADD, NUMBER, literal(1)).arguments[1] == literal(1.0)


def test_a_text_beside_a_date_is_read_as_the_date() -> None:
    assert apply(Operation.LESS, DAY, literal("2020-01-02")).arguments[1] == literal(date(2020, 1, 2))
    assert apply(Operation.IN, MOMENT, literal("2020-01-02")).arguments[1] == literal(datetime(2020, 1, 2))
    later = apply(Operation.LESS, DAY, literal("2020-01-02 03:04:05.5"))
    assert later.arguments[1] == literal(datetime(2020, 1, 2, 3, 4, 5, 500_000))
    assert later.arguments[0].type is Type.TIMESTAMP
    assert apply(Operation.DAYS_BETWEEN, literal("2020-01-02"), DAY).arguments[0] == literal(date(2020, 1, 2))


def test_null_takes_the_type_of_its_surroundings() -> None:
    choice = apply(Operation.CASE, TRUTH, literal(None), NUMBER)
    assert (choice.type, choice.arguments[1]) == (Type.REAL, Literal(Type.REAL, None, None))
    assert apply(Operation.ADD, literal(None), literal(1)).type is Type.INTEGER
    assert apply(Operation.CAST, literal(None), type=Type.DATE).type is Type.DATE


def test_results_have_the_types_that_the_reference_states() -> None:
    assert apply(Operation.DIVIDE, WHOLE, WHOLE).type is Type.REAL
    assert apply(Operation.FLOOR, NUMBER).type is Type.INTEGER
    assert apply(Operation.ROUND, NUMBER).type is Type.INTEGER
    assert apply(Operation.ROUND, NUMBER, literal(2)).type is Type.REAL
    assert apply(Operation.TRUNCATE_MONTH, DAY).type is Type.DATE
    assert apply(Operation.TRUNCATE_DAY, MOMENT).type is Type.TIMESTAMP
    assert apply(Operation.GREATEST, DAY, MOMENT).type is Type.TIMESTAMP


def test_no_combination_of_types_makes_anything_but_an_expression_or_a_refusal() -> None:
    leaves = (WHOLE, NUMBER, WORDS, DAY, MOMENT, TRUTH, literal(None), literal("a"), literal(3))
    for operation in Operation:
        for size in range(4):
            for arguments in itertools.product(leaves, repeat=size):
                try:
                    made = apply(operation, *arguments)
                except UnsupportedSQL as refusal:
                    assert len(str(refusal)) > 20  # noqa: PT017 - either outcome is right, nothing else is
                else:
                    assert isinstance(made, Apply)
