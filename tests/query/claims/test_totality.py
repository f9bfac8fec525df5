"""No row can make the engine raise, and every row has the value that the operation is defined to have."""

# ruff: noqa: S311, S608 - a seed makes the same expressions every time; the statements are what is being tested
from __future__ import annotations

import math
import random
from bisect import bisect_left
from collections import Counter
from dataclasses import replace
from typing import Any

import duckdb
import pytest

from discreet.errors import UnsupportedSQL
from discreet.frames import Type
from discreet.query.engines.duckdb.expressions import LONGEST_STATEMENT, render
from discreet.query.engines.duckdb.text import quoted
from discreet.query.expression.expression import Apply, Column, Expression, Literal, Operation
from discreet.query.expression.typing_rules import apply, column, literal
from discreet.query.policy.declarations import ColumnPolicy, TablePolicy, UnitIsRow
from discreet.query.reading.query import read_query
from tests.conftest import Rounds
from tests.query import oracle
from tests.query.expressions import COLUMNS, Maker, hostile_rows, read, scan, store
from tests.query.sample_policy import POLICY
from tests.query.sql_functions import Functions, Written

NAMES = {name: quoted(name) for name in COLUMNS}
ROWS = replace(
    POLICY,
    tables={"r": TablePolicy("r", UnitIsRow(), {name: ColumnPolicy(name, kind) for name, kind in COLUMNS.items()})},
)
BATCH = 20


class Bench:
    """A table of hostile rows in DuckDB, the same rows as Python reads them, and expressions over them."""

    def __init__(self, seed: int, rows: int = 90) -> None:
        self.source = random.Random(seed)
        stored = hostile_rows(self.source, rows)
        self.connection = duckdb.connect()
        self.connection.execute("SET threads = 1")
        store(self.connection, stored)
        self.rows = read(stored)
        self.maker = Maker(self.source)

    def batch(self, type: Type | None = None) -> list[tuple[Expression, str]]:
        """Return expressions with their text; one that nests too deeply is left out."""
        made: list[tuple[Expression, str]] = []
        while len(made) < BATCH:
            depth = self.source.randint(1, 4)
            expression = self.maker.any(depth) if type is None else self.maker.make(type, depth)
            text = render(expression, NAMES)
            if len(text) < 20_000:
                made.append((expression, text))
        return made

    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(statement).fetchall()


def test_expressions_over_hostile_rows_never_raise_and_equal_the_oracle(rounds: Rounds) -> None:
    bench = Bench(seed=1)
    for _ in range(rounds(sample=600, full=20_000) // BATCH):
        made = bench.batch()
        answers = bench.fetch(f"SELECT {', '.join(text for _, text in made)} FROM {scan()} ORDER BY row")
        for place, (expression, text) in enumerate(made):
            expected = [oracle.evaluate(expression, row) for row in bench.rows]
            got = [answer[place] for answer in answers]
            assert got == expected, text
            assert [type(value) for value in got] == [type(value) for value in expected], text


def test_conditions_in_where_keep_the_rows_that_the_oracle_keeps(rounds: Rounds) -> None:
    bench = Bench(seed=2)
    for _ in range(rounds(sample=100, full=4_000) // BATCH):
        for expression, text in bench.batch(Type.BOOLEAN):
            kept = [k for k, row in enumerate(bench.rows) if oracle.evaluate(expression, row) is True]
            assert bench.fetch(f"SELECT row FROM {scan()} WHERE {text} ORDER BY row") == [(k,) for k in kept], text


def test_conditions_side_by_side_in_where_do_not_guard_each_other(rounds: Rounds) -> None:
    bench = Bench(seed=3)
    for _ in range(rounds(sample=100, full=4_000) // BATCH):
        made = bench.batch(Type.BOOLEAN)
        for (one, first), (two, second) in zip(made[::2], made[1::2], strict=True):
            both = apply(Operation.AND, one, two)
            kept = sum(oracle.evaluate(both, row) is True for row in bench.rows)
            assert bench.fetch(f"SELECT count(*) FROM {scan()} WHERE {first} AND {second}") == [(kept,)]
            assert bench.fetch(f"SELECT count(*) FROM {scan()} WHERE {render(both, NAMES)}") == [(kept,)]


def test_expressions_in_group_by_make_the_groups_that_the_oracle_makes(rounds: Rounds) -> None:
    bench = Bench(seed=4)
    for _ in range(rounds(sample=100, full=4_000) // BATCH):
        for expression, text in bench.batch():
            groups = Counter(oracle.evaluate(expression, row) for row in bench.rows)
            statement = f"SELECT {text}, count(*) FROM {scan()} GROUP BY 1"
            assert Counter(dict(bench.fetch(statement))) == groups, text


def test_neighbors_get_the_same_outcome_whichever_hostile_row_is_missing(rounds: Rounds) -> None:
    bench = Bench(seed=5)
    for _ in range(rounds(sample=100, full=4_000) // BATCH):
        cells = ", ".join(f"count({text})" for _, text in bench.batch())
        whole = bench.fetch(f"SELECT {cells} FROM {scan()}")[0]
        missing = bench.source.randrange(len(bench.rows))
        without = bench.fetch(f"SELECT {cells} FROM (FROM {scan()} WHERE row <> {missing})")[0]
        alone = bench.fetch(f"SELECT {cells} FROM (FROM {scan()} WHERE row = {missing})")[0]
        assert tuple(map(sum, zip(without, alone, strict=True))) == whole


def test_expressions_of_constants_alone_are_folded_without_raising(rounds: Rounds) -> None:
    bench = Bench(seed=6)
    for _ in range(rounds(sample=150, full=4_000)):
        expression = bench.maker.any(3)
        row = bench.source.choice([row for row in bench.rows if "\0" not in f"{row['t']}{row['u']}"])
        fixed = _with_constants(expression, row)
        assert bench.fetch(f"SELECT {render(fixed, NAMES)}") == [(oracle.evaluate(fixed, {}),)]


def test_functions_written_in_sql_never_raise_and_mean_what_python_says(rounds: Rounds) -> None:
    """Of dates and texts, over hostile rows; what would grow too long is refused."""
    bench, functions, refused = Bench(seed=11), Functions(random.Random(11)), 0
    count = rounds(sample=200, full=8_000)
    for _ in range(count // BATCH):
        made: list[tuple[Written, Expression, str]] = []
        for written in (functions.any() for _ in range(BATCH)):
            (asked,) = read_query(f"SELECT COUNT({written.text}) FROM r", ROWS).aggregation.asked
            assert asked.argument is not None
            try:
                made.append((written, asked.argument, render(asked.argument, NAMES)))
            except UnsupportedSQL as refusal:
                assert "in steps" in str(refusal)  # noqa: PT017 - which one is refused is not the claim
                refused += 1
        answers = bench.fetch(f"SELECT {', '.join(text for _, _, text in made)} FROM {scan()} ORDER BY row")
        for place, (written, expression, _) in enumerate(made):
            expected = [written.meaning(row) for row in bench.rows]
            got = [answer[place] for answer in answers]
            assert got == expected, written.text
            assert [type(value) for value in got] == [type(value) for value in expected], written.text
            assert got == [oracle.evaluate(expression, row) for row in bench.rows], written.text
    assert refused < count / 20


def _with_constants(expression: Expression, row: dict[str, Any]) -> Expression:
    """Put the values of a row in place of the columns, as far as they can be written."""
    if isinstance(expression, Column):
        value = row[expression.name]
        unusable = isinstance(value, float) and not math.isfinite(value)
        return Literal(expression.type, None, None if unusable else value)
    if isinstance(expression, Apply):
        parts = tuple(_with_constants(part, row) for part in expression.arguments)
        return Apply(expression.type, None, expression.operation, parts)
    return expression


def test_logarithms_exponentials_and_powers_agree_with_the_oracle_to_twelve_digits(rounds: Rounds) -> None:
    bench = Bench(seed=7)
    for _ in range(rounds(sample=100, full=4_000) // BATCH):
        made = [bench.maker.inexact(2) for _ in range(BATCH)]
        texts = ", ".join(render(expression, NAMES) for expression in made)
        for row, answers in zip(bench.rows, bench.fetch(f"SELECT {texts} FROM {scan()} ORDER BY row"), strict=True):
            for expression, got in zip(made, answers, strict=True):
                expected = oracle.evaluate(expression, row)
                assert (got is None) == (expected is None)
                assert expected is None or math.isclose(got, expected, rel_tol=1e-12, abs_tol=0)


def test_the_hostile_rows_reach_values_and_not_only_nulls() -> None:
    bench = Bench(seed=8)
    values = [oracle.evaluate(expression, row) for expression, _ in bench.batch() * 5 for row in bench.rows]
    assert sum(value is None for value in values) < len(values) * 0.6


@pytest.mark.parametrize("operation", [Operation.GREATEST, Operation.CONCAT, Operation.FLOOR_DIVIDE])
def test_an_expression_whose_text_would_grow_without_end_is_refused(operation: Operation) -> None:
    kind = Type.TEXT if operation is Operation.CONCAT else Type.INTEGER
    expression: Expression = column("a", kind)
    for _ in range(30):
        expression = apply(operation, expression, expression)
    with pytest.raises(UnsupportedSQL, match="write it in steps"):
        render(expression, {"a": '"a"'})


def test_a_long_sum_is_not_refused() -> None:
    expression: Expression = column("i", Type.INTEGER)
    for number in range(200):
        expression = apply(Operation.ADD, expression, literal(number))
    text = render(expression, NAMES)
    assert len(text) < LONGEST_STATEMENT
    assert duckdb.connect().execute(f'SELECT {text} FROM (SELECT 1::BIGINT AS "i")').fetchone() == (19_901,)


DEEP = [
    *(
        (operation, Type.INTEGER, literal(3))
        for operation in (Operation.ADD, Operation.FLOOR_DIVIDE, Operation.SHIFT_LEFT)
    ),
    (Operation.MODULO, Type.INTEGER, literal(3)),
    (Operation.MULTIPLY, Type.REAL, column("x", Type.REAL)),
    (Operation.OR, Type.BOOLEAN, column("b", Type.BOOLEAN)),
    (Operation.CONCAT, Type.TEXT, literal("z")),
    (Operation.SUBTRACT, Type.REAL, column("y", Type.REAL)),
]


@pytest.mark.parametrize(("operation", "kind", "other"), DEEP, ids=[str(operation.name) for operation, _, _ in DEEP])
def test_whatever_depth_is_rendered_is_one_that_duckdb_takes(
    operation: Operation, kind: Type, other: Expression
) -> None:
    connection = duckdb.connect()
    store(connection, hostile_rows(random.Random(9), 3))
    steps: list[Expression] = [column(next(name for name, type in COLUMNS.items() if type is kind), kind)]
    for _ in range(2_000):
        steps.append(apply(operation, steps[-1], other))

    def refused(expression: Expression) -> bool:
        try:
            render(expression, NAMES)
        except UnsupportedSQL as refusal:
            assert "in steps" in str(refusal)  # noqa: PT017 - which step is refused is not the claim
            return True
        return False

    deepest = bisect_left(steps, True, key=refused) - 1
    assert 0 < deepest < 2_000
    connection.execute(f"SELECT {render(steps[deepest], NAMES)} FROM {scan()}").fetchall()


def test_an_expression_of_ten_thousand_steps_is_refused_and_does_not_crash() -> None:
    expression: Expression = column("i", Type.INTEGER)
    for _ in range(10_000):
        expression = apply(Operation.BIT_NOT, expression)
    with pytest.raises(UnsupportedSQL, match="in steps"):
        render(expression, NAMES)
