"""Post-processing: rows selected, ordered, cut and computed from what was released alone."""

from __future__ import annotations

from decimal import Decimal

import pandas as pd
import pytest

from discreet.frames import Type
from discreet.privacy import ApproxDP
from discreet.query import Session
from discreet.query.answer.after_noise.steps import finish
from discreet.query.expression.expression import Column
from discreet.query.plan.query_plan import Order, PostProcessing

N, NAME = Column(Type.REAL, None, "n"), Column(Type.TEXT, None, "name")
RELEASED = {"name": ["a", "b", None, "d"], "n": [3, 1, 2, 3]}
TYPES = {"name": Type.TEXT, "n": Type.REAL}


def nothing_to_evaluate(*_):
    raise AssertionError("bare columns need no engine")


def step(*, columns=(("name", NAME), ("n", N)), condition=None, order=(), limit=None):
    return PostProcessing(columns, condition, tuple(order), limit)


def finished(*steps, evaluate=nothing_to_evaluate):
    return finish(RELEASED, TYPES, steps, evaluate)


@pytest.mark.theorem("finish.privacy", "PostProcessing.privacy")
def test_no_step_shows_the_released_table_as_it_is():
    shown = finished()
    assert shown.names == ("name", "n")
    assert shown.rows == (("a", 3), ("b", 1), (None, 2), ("d", 3))
    assert shown.sources == (0, 1, 2, 3)
    assert shown.shown == ("name", "n")


def test_order_keeps_ties_as_they_were_and_nulls_last_either_way():
    assert finished(step(order=[Order(N, descending=True)])).sources == (0, 3, 2, 1)
    assert finished(step(order=[Order(N, descending=False)])).sources == (1, 2, 0, 3)
    assert finished(step(order=[Order(NAME, descending=True)])).sources == (3, 1, 0, 2)
    assert finished(step(order=[Order(NAME, descending=False)])).sources == (0, 1, 3, 2)
    both = [Order(N, descending=True), Order(NAME, descending=True)]
    assert finished(step(order=both)).sources == (3, 0, 2, 1)


def test_a_limit_cuts_after_the_order_and_a_condition_before_it():
    positive = Column(Type.BOOLEAN, None, "big")

    table = {**RELEASED, "big": [True, False, None, True]}
    kinds = {**TYPES, "big": Type.BOOLEAN}
    shown = finish(
        table, kinds, [step(condition=positive, order=[Order(NAME, descending=True)], limit=1)], nothing_to_evaluate
    )
    assert shown.rows == (("d", 3),)
    assert finish(table, kinds, [step(limit=0)], nothing_to_evaluate).rows == ()


def test_a_later_step_sees_the_columns_of_the_step_before_and_remembers_where_they_came_from():
    renamed = step(columns=(("count", N),), order=[Order(N, descending=False)])
    again = PostProcessing((("c", Column(Type.REAL, None, "count")),), None, (), 2)
    shown = finished(renamed, again)
    assert shown.names == ("c",)
    assert shown.rows == ((1,), (2,))
    assert shown.shown == ("n",)
    assert shown.sources == (1, 2)


@pytest.fixture(scope="module")
def session():
    frame = pd.DataFrame(
        {"p": range(600), "region": ["north", "south", "west"] * 200, "cost": [10.0, 20.0, 30.0] * 200}
    )
    with Session.from_frames(
        visits=frame,
        unit="p",
        rows=1,
        budget=ApproxDP(100, 1e-3),
        columns={"region": {"values": ["north", "south", "west", "east"]}, "cost": {"min": 0, "max": 40}},
    ) as opened:
        yield opened


@pytest.mark.theorem("finish.privacy", "PostProcessing.privacy")
def test_having_order_limit_arithmetic_and_outer_selects_work_on_the_release_and_cost_once(session):
    before = session.ledger.balance().charges
    answer = session.sql(
        """
        SELECT region, s / n AS mean, n FROM (
            SELECT region, SUM(cost) AS s, COUNT(*) AS n FROM visits GROUP BY region HAVING COUNT(*) > 100
        ) ORDER BY mean DESC LIMIT 2
        """,
        epsilon=8,
    )
    assert session.ledger.balance().charges == before + 1
    assert answer.columns == ("region", "mean", "n")
    assert [row[0] for row in answer.rows] == ["west", "south"]
    assert all(abs(row[1] - true) < 5 for row, true in zip(answer.rows, (30, 20), strict=True))
    assert answer.measured == ("n",)
    assert answer.derived == ("mean",)
    assert all(one.low < one.value < one.high for one in answer.estimates("mean"))
    assert not isinstance(answer.rows[0][1], Decimal)


def test_a_having_that_nothing_meets_gives_an_empty_answer_that_shows_itself(session):
    answer = session.sql("SELECT region, COUNT(*) AS n FROM visits GROUP BY region HAVING COUNT(*) > 100000", epsilon=1)
    assert len(answer) == 0
    assert answer.rows == []
    assert str(answer)
    assert answer._repr_html_()
    assert answer.to_pandas().empty
    assert answer.certificate().to_html()
    assert len(answer.intervals(together=True).rows) == 0
