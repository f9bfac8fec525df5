"""Intervals of what is computed from answers: they hold the truth as often as they say, at every size."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from discreet.errors import ParameterError
from discreet.laws import DiscreteLaplace
from discreet.privacy import ZCDP, PureDP
from discreet.query import Rounding, Session
from discreet.query.answer import Answer, Record, finished
from discreet.query.answer.after_noise.intervals import RatioReach, fieller
from discreet.query.engines import evaluate
from discreet.query.pricing import ReleasedTable, read_price

CONFIDENCE = 0.9
FALSE_ALARM = 1e-11  # of one count; a hundred of them are looked at
QUESTIONS = {  # and what is true: n rows, their sum s, and o rows for which a condition holds
    "SELECT g, SUM(x) / COUNT(*) AS y FROM t GROUP BY g": lambda true: true.s / true.n,
    "SELECT g, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS y FROM t GROUP BY g": lambda true: (
        100 * true.n / true.n.sum()
    ),
    "SELECT g, COUNT_IF(o) - (COUNT(*) - COUNT_IF(o)) AS y FROM t GROUP BY g": lambda true: 2 * true.o - true.n,
    "SELECT g, SUM(COUNT(*)) OVER (ORDER BY g) AS y FROM t GROUP BY g": lambda true: np.cumsum(true.n),
    "SELECT g, COUNT(*) - LAG(COUNT(*), 1, 0) OVER (ORDER BY g) AS y FROM t GROUP BY g": lambda true: np.diff(
        true.n, prepend=0
    ),
    "SELECT g, AVG(x) * 3 - 1 AS y FROM t GROUP BY g": lambda true: 3 * true.s / true.n - 1,
    "SELECT g, CASE WHEN g = 0 THEN 0.5 * SUM(x) ELSE SUM(x) - 7 END AS y FROM t GROUP BY g": lambda true: np.where(
        np.arange(len(true.n)) == 0, 0.5 * true.s, true.s - 7
    ),
    "SELECT SUM(n) AS y FROM (SELECT g, COUNT(*) AS n FROM t GROUP BY g)": lambda true: true.n.sum()[None],
    "SELECT g, SQRT(COUNT(*)) AS y FROM t GROUP BY g": lambda true: np.sqrt(true.n),
    "SELECT AVG(x) AS y FROM t GROUP BY GROUPING SETS ((g), ()) HAVING GROUPING(g) = 1": lambda true: (
        true.s.sum()[None] / true.n.sum()
    ),
    "SELECT COUNT(*) AS y FROM t GROUP BY ROLLUP (g)": lambda true: np.append(true.n, true.n.sum()),
}
BUDGETS = {"laplace": (PureDP(1), {"epsilon": 1}), "gaussian": (ZCDP(1), {"rho": 0.05})}


def rows(size):
    counts = [size, 2 * size, 5 * size]
    group = np.repeat(np.arange(3), counts)
    place = np.arange(len(group))
    return pd.DataFrame({"g": group, "x": (place * 7 % 21).astype(float), "o": place % 3 == 0})


def opened(size, budget):
    columns = {"g": {"type": "integer", "values": [0, 1, 2]}, "x": {"min": 0, "max": 20}, "o": {"type": "boolean"}}
    return Session.from_frames(t=rows(size), unit="row", budget=budget, columns=columns)


def fresh(session, made):
    """Return an answer to a priced question, with noise of its own."""
    released = made.release(session.engine)
    record = Record(1, "", "analyst", replayed=False)
    return Answer(made, released, finished(made, released, evaluate), record, "row", "test")


@pytest.mark.theorem("ComputedIntervals.accuracy")
@pytest.mark.parametrize("sql", QUESTIONS)
def test_intervals_hold_the_truth_as_often_as_they_say(sql, rounds):
    runs = rounds(sample=20, full=2_000)
    for size, budget in ((30, "laplace"), (300, "gaussian")):
        frame = rows(size)
        added = {"n": ("x", "size"), "s": ("x", "sum"), "o": ("o", "sum")}
        truth = QUESTIONS[sql](frame.groupby("g").agg(**added).astype(float).to_records(index=False))
        with opened(size, BUDGETS[budget][0]) as session:
            made = session._charging.priced(sql, read_price(**BUDGETS[budget][1]))
            held = np.zeros(len(truth))
            for _ in range(runs):
                found = fresh(session, made).estimates("y", CONFIDENCE)
                held += [one.low is None or one.low <= true <= one.high for one, true in zip(found, truth, strict=True)]
        assert (held >= binom.ppf(FALSE_ALARM, runs, CONFIDENCE)).all(), (size, held)


def test_a_share_knows_that_its_part_is_in_the_total():
    with opened(300, PureDP(10)) as session:
        share = session.sql("SELECT g, COUNT(*) / SUM(COUNT(*)) OVER () AS y FROM t GROUP BY g", epsilon=1)
        same = session.sql("SELECT g, COUNT(*) / COUNT(*) AS y, COUNT(*) - COUNT(*) AS z FROM t GROUP BY g", epsilon=1)
        whole = session.sql("SELECT COUNT(*) / SUM(COUNT(*)) OVER () AS y FROM t", epsilon=1)
    assert all(0 < one.low < one.value < one.high < 1 for one in share.estimates("y"))
    for one in (*same.estimates("y"), *whole.estimates("y")):
        assert one.low == pytest.approx(1, abs=1e-6)
        assert one.high == pytest.approx(1, abs=1e-6)
    assert all(abs(one.low) < 1e-9 > abs(one.high) for one in same.estimates("z"))


def test_a_ratio_whose_denominator_is_within_its_noise_has_no_interval_and_a_mean_its_bounds():
    with opened(30, PureDP(10)) as session:
        narrow = "SELECT SUM(x) / COUNT_IF(x > 99) AS y, 2 * AVG(x) FILTER (WHERE x > 99) AS m FROM t"
        answer = session.sql(narrow, epsilon=0.001)
    ratio, mean = answer.estimates("y")[0], answer.estimates("m")[0]
    assert (ratio.low, ratio.high) == (None, None) or ratio.low <= ratio.value <= ratio.high
    assert 0 <= mean.low <= mean.value <= mean.high <= 40
    assert "no interval" in answer.intervals(0.999999).caption or ratio.low is not None


def test_derived_columns_are_no_measurements_and_leave_the_forms_of_an_answer_right():
    with opened(300, PureDP(10)) as session:
        answer = session.sql(
            "SELECT g, COUNT(*) AS n, SUM(x) / COUNT(*) AS y, RANK() OVER (ORDER BY COUNT(*)) AS r, "
            "MAX(COUNT(*)) OVER () AS m, CASE WHEN COUNT(*) > 5 THEN 'many' END AS w FROM t GROUP BY g",
            epsilon=1,
        )
    assert answer.measured == ("n",)
    assert answer.derived == ("y",)
    assert len(answer.measurements) == 2
    names = ["g", "n", "n_low", "n_high", "y", "y_low", "y_high", "r", "m", "w"]
    assert list(answer.to_dict()) == names == list(answer.to_pandas().columns) == list(answer.intervals().columns)
    alone, together = answer.intervals(), answer.intervals(together=True)
    low = names.index("y_low")
    assert all(two[low] < one[low] for one, two in zip(alone.rows, together.rows, strict=True))
    assert set(answer.noise) == {"n"}
    assert "<svg" in answer.plot("y").svg()
    assert "y_low" in answer.certificate().fields["answer"]
    for name in ("r", "m", "w", "g"):
        with pytest.raises(ParameterError, match="no interval"):
            answer.estimates(name)


@pytest.mark.theorem("GroupTotals.privacy")
def test_the_same_answer_has_the_same_intervals_and_another_select_around_it_is_free():
    with opened(300, PureDP(10)) as session:
        one = session.sql("SELECT g, SQRT(COUNT(*)) AS y FROM t GROUP BY g", epsilon=1)
        again = session.sql("SELECT g, SQRT(COUNT(*)) AS y FROM t GROUP BY g", epsilon=1)
        other = session.sql("SELECT COUNT(*) / SUM(COUNT(*)) OVER () AS s FROM t GROUP BY ROLLUP (g)", epsilon=1)
        charges = session.ledger.balance().charges
    assert one.to_dict() == again.to_dict()
    assert (again.record.replayed, other.record.replayed, charges) == (True, True, 1)


@pytest.mark.theorem("Rounding.privacy", "Rounding.accuracy")
def test_rounding_is_a_function_of_what_was_released_and_free():
    question = "SELECT g, COUNT(*) AS n FROM t WHERE x > 19 GROUP BY g"
    with opened(20, PureDP(10)) as session:
        plain = session.sql(question, epsilon=1)
        whole = session.sql(question, epsilon=1, rounding=Rounding.INTEGER | Rounding.NONNEGATIVE)
        charges = session.ledger.balance().charges
    assert (whole.record.replayed, charges) == (True, 1)
    assert all(isinstance(n, int) and n >= 0 for n in whole["n"])
    assert sum(whole["n"]) == round(max(sum(map(Fraction, plain["n"])), 0))
    ends = [[one.ends for one in answer.estimates("n")] for answer in (plain, whole)]
    assert ends[0] == ends[1]


def test_totals_add_up_exactly_and_their_intervals_are_those_of_sums():
    with opened(300, PureDP(10)) as session:
        answer = session.sql("SELECT g, o, COUNT(*) AS n FROM t GROUP BY CUBE (g, o)", epsilon=1)
    cells = {(g, o): n for g, o, n in answer.rows}
    assert cells[None, None] == sum(n for (g, o), n in cells.items() if g is not None and o is not None)
    assert all(cells[g, None] == cells[g, True] + cells[g, False] for g in (0, 1, 2))
    widths = {(g, o): one.high - one.low for (g, o, _), one in zip(answer.rows, answer.estimates("n"), strict=True)}
    assert widths[0, True] < widths[0, None] < widths[None, True] < widths[None, None]
    assert widths[None, None] < math.sqrt(6) * widths[0, True]


def test_plain_answers_load_nothing_for_intervals_of_computed_columns():
    with opened(30, PureDP(10)) as session:
        answer = session.sql("SELECT g, COUNT(*) AS n FROM t GROUP BY g ORDER BY n", epsilon=1)
    assert answer.derived == ()
    assert "_after_noise" not in vars(answer)


def test_a_function_that_folds_has_the_range_of_the_interval_of_its_argument():
    sql = (
        "SELECT g, COUNT_IF(o) AS a, COUNT_IF(NOT o) AS b, COUNT_IF(o) - COUNT_IF(NOT o) AS d, "
        "ABS(COUNT_IF(o) - COUNT_IF(NOT o)) AS size, POWER(COUNT_IF(o) - COUNT_IF(NOT o), 2) AS square, "
        "ABS(COUNT_IF(o) - COUNT_IF(NOT o)) / COUNT_IF(o) AS part, GREATEST(COUNT_IF(o), COUNT_IF(NOT o), 7) AS most, "
        "CASE WHEN g = 1 THEN ABS(COUNT_IF(o) - COUNT_IF(NOT o)) ELSE COUNT_IF(o) END AS either FROM t GROUP BY g"
    )
    frame = rows(300).assign(o=lambda one: one.x.index % 2 == 0)  # the difference is 0, where |d| turns around
    kinds = {"g": {"type": "integer", "values": [0, 1, 2]}, "o": {"type": "boolean"}}
    with Session.from_frames(t=frame, unit="row", budget=PureDP(1), columns=kinds) as session:
        answer = session.sql(sql, epsilon=1)
    ends = {name: answer.estimates(name) for name in answer.derived + answer.measured}
    for place, one in enumerate(ends["d"]):
        turned = sorted([abs(one.low), abs(one.high)])
        least = 0.0 if one.low <= 0 <= one.high else turned[0]
        assert ends["size"][place].ends == pytest.approx((least, turned[1]), abs=1e-9)
        assert ends["square"][place].ends == pytest.approx((least**2, turned[1] ** 2), abs=1e-6)
        either = ends["size" if place == 1 else "a"][place]
        assert ends["either"][place].ends == pytest.approx(either.ends, abs=1e-9)
        halves = [answer.estimates(name, 0.975)[place] for name in ("size", "a", "b")]
        size, a, b = halves
        assert ends["part"][place].ends == pytest.approx((size.low / a.high, size.high / a.low), abs=1e-9)
        assert ends["most"][place].ends == pytest.approx((max(a.low, b.low, 7), max(a.high, b.high, 7)), abs=1e-9)


def test_a_number_that_is_null_has_no_ends_and_is_left_out_of_the_picture():
    with opened(30, PureDP(2)) as session:
        answer = session.sql("SELECT SUM(x) / (COUNT(*) - COUNT(*)) AS y FROM t", epsilon=1)
        listed = session.sql("SELECT g, COUNT(*) / g AS y FROM t GROUP BY g", epsilon=1)
    assert (answer.value, answer.low, answer.high) == (None, None, None)
    with pytest.raises(ParameterError, match="is NULL in some rows"):
        answer.estimates("y")
    assert listed.intervals().rows[0][1:] == (None, None, None)
    assert listed.plot().figure.axes[0].containers


def test_a_denominator_as_large_as_its_noise_has_no_ends_that_only_floats_make_finite():
    for scale in range(1, 60):
        noise = DiscreteLaplace(scale)
        reach = RatioReach([(noise, 1.0, 0.0, 1), (noise, 0.0, 1.0, 1)], 0.05)
        widest = float(noise.half_width(0.95))  # so large may the noise of the denominator be, and so large it is
        low, high = fieller(np.array([100.0, 100.0]), np.array([widest, 10 * widest]), reach)
        assert np.isinf([low[0], high[0]]).all()
        assert np.isfinite([low[1], high[1]]).all()


def shown_as(session, sql, released, **price):
    """Return the answer to a question as if these integers had been released."""
    priced = session._charging.priced(sql, read_price(**price))
    table = ReleasedTable(((),), tuple(((released[one.asked[0].name],),) for one in priced.measures))
    return replace(fresh(session, priced), released=table, finished=finished(priced, table, evaluate))


def test_what_is_made_of_several_numbers_with_the_same_noise_folds_too():
    sql = (
        "SELECT COUNT(*) AS n, COUNT(*) - 1 AS less, COUNT(*) * (COUNT(*) - 1) AS pairs, COUNT_IF(o) AS a, "
        "COUNT_IF(o) - COUNT(*) AS d, (COUNT_IF(o) - COUNT(*)) * (COUNT(*) - COUNT_IF(o)) AS square, "
        "COUNT(*) * COUNT_IF(o) AS apart FROM t"
    )
    with opened(30, PureDP(1)) as session:
        answer = shown_as(session, sql, {"n": -25, "a": 0}, epsilon=0.1)  # as the noise has it where nobody is
    ends = {name: answer.estimates(name)[0] for name in (*answer.measured, *answer.derived)}
    halves = {name: answer.estimates(name, 0.975)[0] for name in ("n", "less", "d")}
    n, less, d = halves["n"], halves["less"], halves["d"]
    corners = [one * two for one in n.ends for two in less.ends]
    assert ends["pairs"].ends == pytest.approx((min(corners), max(corners)))
    assert ends["pairs"].low <= 0 <= ends["pairs"].high
    assert ends["square"].high >= 0 >= ends["square"].low
    assert ends["square"].low == pytest.approx(-(max(abs(one) for one in d.ends) ** 2))
    whole = ends["n"].low * ends["a"].high, ends["n"].low * ends["a"].low
    assert ends["apart"].high - ends["apart"].low < abs(whole[0] - whole[1])  # other noise: samples are narrower


def test_a_ratio_without_an_interval_gives_none_to_what_is_made_of_it():
    sql = (
        "SELECT a / c AS one, b / d AS two, a / c - b / d AS difference, (a / c) * (b / d) AS product, "
        "a * b / c AS part "
        "FROM (SELECT COUNT(*) AS a, COUNT_IF(x > 1) AS b, COUNT_IF(x > 2) AS c, COUNT_IF(x > 3) AS d FROM t)"
    )
    with opened(30, PureDP(1)) as session:
        for small in (1, 4000):  # the noise has scale 100
            answer = shown_as(session, sql, {"a": 3000, "b": 4000, "c": small, "d": 5000}, epsilon=0.04)
            for name in ("one", "difference", "product", "part"):
                one = answer.estimates(name)[0]
                assert (one.low is None) == (small == 1), name
            assert answer.estimates("two")[0].low is not None


@pytest.mark.parametrize("factor", ["1e160", "1e300", "1e308", "1e-200", "1e-310"])
def test_numbers_near_the_ends_of_the_floats_have_intervals_or_none_and_are_shown(factor):
    columns = {
        "large": "COUNT(*) * {}", "ratio": "SUM(x) * {} / COUNT(*)", "over": "{} / COUNT(*)", "less": "COUNT(*) / {}",
        "total": "SUM(COUNT(*) * {}) OVER ()", "two": "SUM(x) * {} - COUNT(*)", "far": "COUNT(*) * {} * {}",
        "root": "SQRT(COUNT(*) * {})", "n": "COUNT(*)",
    }  # fmt: skip
    listed = ", ".join(f"{written.replace('{}', factor)} AS {name}" for name, written in columns.items())
    question = "SELECT g, LISTED FROM t GROUP BY g".replace("LISTED", listed)
    with opened(5_000, PureDP(3)) as session:
        answer = session.sql(question, epsilon=1)
    assert str(answer)
    assert answer.certificate()._repr_html_()
    for name, column in answer.to_dict().items():
        assert all(one is None or math.isfinite(one) for one in column if name.endswith(("_low", "_high")))
    scale = float(factor)
    if 1e-250 < scale < 1e300:
        for one, count in zip(answer.estimates("large"), answer.estimates("n"), strict=True):
            assert one.high / scale - one.low / scale == pytest.approx(count.high - count.low, rel=1e-6)


@pytest.mark.parametrize("factor", ["1e3", "1e12", "1e200"])
def test_a_constant_over_a_count_has_an_interval_however_large_it_is(factor):
    with opened(5_000, PureDP(3)) as session:
        answer = session.sql("SELECT ? / COUNT(*) AS y, COUNT(*) / ? AS z FROM t".replace("?", factor), epsilon=1)
    (one,), (two,) = answer.estimates("y"), answer.estimates("z")
    assert one.low < one.value < one.high
    assert 1 / one.high == pytest.approx(two.low, rel=1e-6)
    assert 1 / one.low == pytest.approx(two.high, rel=1e-6)
