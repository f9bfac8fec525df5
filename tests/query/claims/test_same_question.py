"""Which texts are the same question: equal on every row means one digest, and one digest means equal on every row."""

from __future__ import annotations

import itertools
import random
from decimal import Decimal
from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.frames import Type
from discreet.privacy import ZCDP, ApproxDP, PureDP
from discreet.query import Session
from discreet.query.expression.expression import Apply, Literal, Operation
from discreet.query.expression.typing_rules import apply, column, literal
from discreet.query.plan.canonical_form import canonical
from discreet.query.plan.query_plan import Aggregate, MeasureKind
from tests.query import expressions, oracle
from tests.query.small_tables import query_for

PEOPLE = pd.DataFrame(
    {
        "uid": range(40),
        "region": ["north", "south"] * 20,
        "ward": ["a", "b", "c", "a"] * 10,
        "age": list(range(20, 60)),
        "cost": [float(one) for one in range(40)],
    }
)
COLUMNS = {
    "region": {"values": ["north", "south"]},
    "ward": {"values": ["b", "a", "c"]},
    "age": {"type": "integer", "min": 0, "max": 100},
    "cost": {"min": 0, "max": 50},
}


def session(budget=None, **changes):
    given = {"unit": "uid", "rows": 1, "groups": 1, "rows_per_group": 1, "columns": COLUMNS}
    return Session.from_frames(people=PEOPLE, budget=budget or PureDP(1000), **{**given, **changes})


SAME = [
    ("WHERE age > 30 AND cost < 9", "WHERE cost < 9 AND age > 30", "WHERE (cost < 9 AND age > 30) AND cost < 9"),
    ("WHERE age > 30 OR cost < 9", "WHERE cost < 9 OR age > 30", "WHERE cost < 9 OR (age > 30 OR cost < 9)"),
    ("WHERE (age > 30 OR cost < 9) AND ward = 'a'", "WHERE 'a' = ward AND (9 > cost OR age > 30)"),
    ("", "WHERE TRUE", "WHERE 1 = 1", "WHERE 2 > 1", "WHERE 'a' = 'a' AND NOT FALSE", "WHERE 1 IN (3, 2, 1)"),
    ("", "WHERE 1 + 1 = 2", "WHERE NULL IS NULL", "WHERE age > 30 OR TRUE", "WHERE 1 BETWEEN 0 AND 2"),
    ("WHERE age > 30", "WHERE age > 30 AND 1 = 1", "WHERE 2 > 1 AND age > 30", "WHERE age > 30 OR 1 = 2"),
    ("WHERE age > 30", "WHERE 30 < age", "WHERE NOT FALSE AND (age > 30 AND TRUE) OR FALSE"),
    ("WHERE ward IN ('a', 'b')", "WHERE ward IN ('b', 'a', 'b')"),
    ("WHERE ward = 'a'", "WHERE 'a' = ward", "WHERE ward IN ('a')"),
    ("WHERE age < cost", "WHERE cost > age"),
]


@pytest.mark.parametrize("conditions", SAME)
def test_conditions_of_one_meaning_are_one_question(conditions):
    asked = session()
    answers = [asked.sql(f"SELECT COUNT(*) AS n FROM people {one}", epsilon=1) for one in conditions]  # noqa: S608
    assert [one.record.replayed for one in answers] == [False] + [True] * (len(answers) - 1)
    assert len({one.value for one in answers}) == 1
    assert asked.balance.spent.epsilon == 1


def test_conditions_of_other_meanings_are_other_questions():
    conditions = [
        "", "WHERE FALSE", "WHERE age > NULL", "WHERE age > 30", "WHERE age < 30", "WHERE age >= 30", "WHERE age = 30",
        "WHERE NOT age > 30", "WHERE age > 30 AND cost < 9", "WHERE age > 30 OR cost < 9", "WHERE age > cost",
        "WHERE age < cost", "WHERE age >= cost", "WHERE ward IN ('a', 'b')", "WHERE ward IN ('a', 'b', 'c')",
        "WHERE ward = 'a'", "WHERE ward <> 'a'", "WHERE ward IS NULL", "WHERE ward = ward", "WHERE age > 30 AND NULL",
        "WHERE (age > 30 AND cost < 9) OR ward = 'a'", "WHERE age > 30 AND (cost < 9 OR ward = 'a')",
    ]  # fmt: skip
    asked = session()
    for one in conditions:
        assert not asked.sql(f"SELECT COUNT(*) AS n FROM people {one}", epsilon=1).record.replayed, one  # noqa: S608


def by_key(answer, names):
    return {tuple(row[name] for name in names): row["n"] for row in answer}


@pytest.mark.parametrize("budget", [PureDP(1000), ZCDP(1000, delta=Fraction(1, 10**6))])
def test_the_order_of_public_values_is_no_other_question_and_every_row_keeps_its_value(budget):
    asked = session(budget)
    sql = "SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM people GROUP BY ward"
    price = {"rho": 5} if isinstance(budget, ZCDP) else {"epsilon": 5}
    answers = [asked.sql(sql, keys={"ward": list(order)}, **price) for order in itertools.permutations(["a", "b", "c"])]
    assert [one.record.replayed for one in answers] == [False] + [True] * 5
    assert [one["ward"] for one in answers] == [list(order) for order in itertools.permutations(["a", "b", "c"])]
    for one in answers:
        assert by_key(one, ["ward"]) == by_key(answers[0], ["ward"])
        ends = {row[0]: row[1:] for row in one.intervals().rows}
        assert ends == {row[0]: row[1:] for row in answers[0].intervals().rows}


def test_the_order_of_groups_is_no_other_question_and_every_row_keeps_its_value():
    asked = session()
    first = asked.sql("SELECT region, ward, COUNT(*) AS n FROM people GROUP BY region, ward", epsilon=5)
    other = asked.sql("SELECT ward, region, COUNT(*) AS n FROM people GROUP BY ward, region", epsilon=5)
    assert other.record.replayed
    assert by_key(first, ["region", "ward"]) == by_key(other, ["region", "ward"])
    assert [row[0] for row in other.rows] == ["b", "b", "a", "a", "c", "c"]


def test_the_order_of_private_keys_is_no_other_question_and_every_row_keeps_its_value():
    asked = session(ApproxDP(1000, Fraction(1, 100)), columns={"cost": COLUMNS["cost"]})
    price = {"epsilon": 18, "delta": Fraction(1, 1000)}
    first = asked.sql("SELECT region, ward, COUNT(*) AS n FROM people GROUP BY region, ward", **price)
    other = asked.sql("SELECT ward, region, COUNT(*) AS n FROM people GROUP BY ward, region", **price)
    assert other.record.replayed
    assert len(first) >= 4  # ten people a pair, and a threshold of about two at this price
    assert by_key(first, ["region", "ward"]) == by_key(other, ["region", "ward"])
    assert other.rows == sorted(other.rows)


def test_top_among_the_same_keys_in_another_order_is_the_same_question():
    asked = session()
    sql = "SELECT ward, COUNT(*) AS n FROM people GROUP BY ward"
    first = asked.top(sql, k=2, epsilon=1, keys={"ward": ["a", "b", "c"]})
    again = asked.top(sql, k=2, epsilon=1, keys={"ward": ["c", "a", "b"]})
    assert again.record.replayed
    assert again.keys == first.keys


def test_inner_names_do_not_order_what_is_asked():
    asked = session()
    first = asked.sql("SELECT SUM(a) AS p, SUM(b) AS q FROM (SELECT cost AS a, age AS b FROM people)", epsilon=1)
    again = asked.sql("SELECT SUM(b) AS p, SUM(a) AS q FROM (SELECT cost AS b, age AS a FROM people)", epsilon=1)
    assert again.record.replayed
    assert again.rows == first.rows


@pytest.mark.parametrize(
    ("sql", "budget"),
    [
        ("SELECT COUNT(*) AS n FROM people", PureDP(1000)),
        ("SELECT ward, SUM(cost) AS s FROM people GROUP BY ward", PureDP(1000)),
        ("SELECT COUNT(*) AS n, COUNT(cost) AS m FROM people", PureDP(1000)),
        ("SELECT COUNT(*) AS n FROM people", ZCDP(1000, delta=Fraction(1, 10**6))),
    ],
)
def test_an_error_and_the_price_that_it_comes_to_are_one_question(sql, budget):
    asked = session(budget)
    word = "rho" if isinstance(budget, ZCDP) else "epsilon"
    first = asked.sql(sql, error=30)
    amount = getattr(first.guarantee, word)
    for spelled in (amount, float(amount), Fraction(amount)):
        assert asked.sql(sql, **{word: spelled}).record.replayed
    shown = f"{float(amount):.6g}"  # as the answer shows it
    assert word in str(first)
    if "COUNT(cost)" not in sql:
        assert Fraction(Decimal(shown)) == Fraction(amount)
    assert asked.sql(sql, error=30).record.replayed


def test_one_price_in_all_spellings_is_one_question():
    asked = session()
    sql = "SELECT COUNT(*) AS n FROM people"
    prices = [0.50, 0.5, Fraction(1, 2), Fraction("0.50"), 5e-1]
    assert [asked.sql(sql, epsilon=one).record.replayed for one in prices] == [False] + [True] * 4


# Every condition of two levels over a few atoms, on every row there is.

B, C, NUMBER = column("b", Type.BOOLEAN), column("c", Type.BOOLEAN), column("i", Type.INTEGER)
ROWS = [
    {"b": b, "c": c, "i": i}
    for b, c, i in itertools.product((True, False, None), (True, False, None), (-1, 0, 1, 2, None))
]
ONE, NOTHING = literal(1), literal(0)
ATOMS = [
    *(B, C, literal(True), literal(False), Literal(Type.BOOLEAN, None, None), apply(Operation.IS_NULL, NUMBER)),
    *(apply(Operation.EQUAL, *pair) for pair in [(ONE, ONE), (NUMBER, NOTHING), (NOTHING, NUMBER), (C, B)]),
    *(apply(Operation.LESS, *pair) for pair in [(NUMBER, ONE), (literal(None), NUMBER), (B, C)]),
    *(apply(Operation.GREATER, *pair) for pair in [(ONE, NUMBER), (C, B)]),
    *(apply(Operation.IN, NUMBER, *listed) for listed in [(NOTHING,), (NOTHING, ONE), (ONE, NOTHING, ONE)]),
    *(apply(Operation.IN, literal(2), NOTHING, ONE), apply(Operation.UNEQUAL, B, C)),
    *(apply(Operation.AT_LEAST, NUMBER, ONE),),
    apply(Operation.LESS, apply(Operation.ADD, ONE, literal(2**63 - 1)), NUMBER),  # beyond 64 bits: NULL
]


def text_of(condition):
    return canonical(query_for(Aggregate("n", MeasureKind.COUNT_VALUES, condition, None)))


def kept_text(condition):
    return canonical(query_for(Aggregate("n", MeasureKind.COUNT_ROWS, None, None), condition=condition))


def truths(condition):
    return tuple(oracle.evaluate(condition, row) for row in ROWS)


def one_level(atoms):
    yield from (apply(Operation.NOT, one) for one in atoms)
    for operation in (Operation.AND, Operation.OR):
        yield from (apply(operation, *pair) for pair in itertools.product(atoms, repeat=2))


def test_one_text_means_one_truth_on_every_row(rounds):
    simple = [*ATOMS, *one_level(ATOMS)]
    choice = random.Random(15)  # noqa: S311
    deeper = one_level(choice.sample(simple, 60))
    conditions = choice.sample([*simple, *deeper], rounds(sample=600, full=8000))
    by_text, by_filter = {}, {}
    for condition in conditions:
        by_text.setdefault(text_of(condition), set()).add(truths(condition))
        by_filter.setdefault(kept_text(condition), set()).add(tuple(one is True for one in truths(condition)))
    assert all(len(found) == 1 for found in by_text.values())
    assert all(len(found) == 1 for found in by_filter.values())
    assert len(by_text) < 0.9 * len(conditions)  # and many are merged


def rewritten(condition, choice):
    """Return a condition of the same meaning: parts in another order, nested, repeated, beside what is always true."""
    if not isinstance(condition, Apply) or condition.operation not in (Operation.AND, Operation.OR):
        return condition
    parts = [rewritten(one, choice) for one in condition.arguments]
    parts.append(choice.choice(parts))
    parts.append(literal(condition.operation is Operation.AND))
    choice.shuffle(parts)
    if len(parts) > 2:
        parts = [apply(condition.operation, *parts[:2]), *parts[2:]]
    return apply(condition.operation, *parts)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.integers(0, 2**32))
def test_order_nesting_repetition_and_what_is_always_true_leave_no_trace(seed):
    choice = random.Random(seed)  # noqa: S311
    condition = expressions.Maker(choice).make(Type.BOOLEAN, 4)
    other = rewritten(condition, choice)
    assert text_of(condition) == text_of(other)
    rows = expressions.read(expressions.hostile_rows(choice, 20))
    assert [oracle.evaluate(condition, row) for row in rows] == [oracle.evaluate(other, row) for row in rows]


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 2**32))
def test_hostile_conditions_of_one_text_agree_on_hostile_rows(seed):
    choice = random.Random(seed)  # noqa: S311
    maker = expressions.Maker(choice)
    constants = [apply(one, maker.constant(kind), maker.constant(kind)) for kind in Type for one in COMPARISONS]
    rows = expressions.read(expressions.hostile_rows(choice, 5))
    by_text = {}
    for condition in (*constants, *(maker.make(Type.BOOLEAN, 2) for _ in range(20))):
        found = tuple(oracle.evaluate(condition, row) for row in rows)
        assert by_text.setdefault(text_of(condition), found) == found


COMPARISONS = (Operation.EQUAL, Operation.UNEQUAL, Operation.LESS, Operation.AT_MOST, Operation.GREATER)


@pytest.mark.parametrize("operation", [Operation.AND, Operation.OR])
def test_three_hundred_conditions_have_a_text_in_any_order(operation):
    parts = [apply(Operation.GREATER, NUMBER, literal(number)) for number in range(300)]
    forward, backward = parts[0], parts[-1]
    for one in parts[1:]:
        forward = apply(operation, forward, one)
    for one in reversed(parts[:-1]):
        backward = apply(operation, one, backward)
    assert text_of(forward) == text_of(backward)
    assert kept_text(forward) == kept_text(backward)


def test_a_sum_of_three_thousand_terms_has_a_text():
    whole = NUMBER
    for number in range(3000):
        whole = Apply(Type.INTEGER, None, Operation.ADD, (whole, literal(number)))
    assert len(text_of(whole)) > 3000
