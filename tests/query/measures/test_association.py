"""CORR and REGR_SLOPE: how far a row moves the sums, what they say without noise, and how often intervals are right."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from discreet.errors import MissingBound, ParameterError, QueryRefused, UnsupportedSQL
from discreet.privacy import ZCDP, PureDP, Relation
from discreet.query import Session
from discreet.query.expression.expression import Type
from discreet.query.expression.typing_rules import column
from discreet.query.measures.associations import association
from discreet.query.measures.measure import Additive
from discreet.query.plan.bounding import Bounding
from discreet.query.plan.query_plan import Aggregate, MeasureKind
from discreet.query.plan.request import EachRow
from discreet.query.pricing.price import read_price

KINDS = (MeasureKind.CORRELATION, MeasureKind.SLOPE)
ONE_ROW = Bounding(EachRow(), Relation.ADD_REMOVE, 1, 1, 1, 1, True, "one row")


def measure(kind, first=(0, 3), second=(-2, 3), type=Type.INTEGER):
    asked = Aggregate(
        "a",
        kind,
        column("x", type),
        tuple(map(Fraction, first)),
        second=column("y", type),
        second_bounds=tuple(map(Fraction, second)),
    )
    return association(asked, ONE_ROW)


def sums(pairs):
    """Return the exact sums of the cells over pairs of steps."""
    powers = ((0, 0), (1, 0), (0, 1), (2, 0), (0, 2), (1, 1))
    return [[sum(u**p * v**q for u, v in pairs)] for p, q in powers]


def vector(made, pairs):
    return [one[0] for one in made.vectors(sums(pairs))]


@pytest.mark.theorem("AssociationOfGroups.privacy")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ranges", [((0, 1), (0, 1)), ((0, 3), (-2, 3)), ((5, 12), (0, 2))])
def test_a_row_moves_the_sums_by_the_stated_norms_and_no_less(kind, ranges):
    made = measure(kind, *ranges)
    s, t = (scale.steps for scale in made.scales)
    rows = [vector(made, [pair]) for pair in product(range(s + 1), range(t + 1))]
    assert len(rows[0]) == made.entries == (6 if kind is MeasureKind.CORRELATION else 5)
    assert max(sum(map(abs, row)) for row in rows) == made.norms.one
    assert max(sum(one**2 for one in row) for row in rows) == made.norms.squared
    apart = [[a - b for a, b in zip(row, other, strict=True)] for row in rows for other in (*rows, [0] * len(row))]
    assert max(sum(map(abs, row)) for row in apart) <= made.norms.apart
    assert max(sum(one**2 for one in row) for row in apart) <= made.norms.apart_squared
    whole = vector(made, [(0, 0), (s, t), (1, 1)])
    assert whole == [sum(one) for one in zip(*(vector(made, [p]) for p in ((0, 0), (s, t), (1, 1))), strict=True)]


def true_answer(kind, x, y):
    """Return the correlation, or the slope of the first over the second, of values."""
    return np.corrcoef(x, y)[0, 1] if kind is MeasureKind.CORRELATION else np.polyfit(y, x, 1)[0]


@pytest.mark.parametrize("kind", KINDS)
def test_without_noise_the_value_is_that_of_the_rows(kind):
    made, chance = measure(kind, (0, 40), (-10, 30)), np.random.default_rng(3)
    x = chance.integers(0, 41, 500)
    y = np.clip(x // 2 + chance.integers(-10, 11, 500), -10, 30)
    steps = list(zip(x.tolist(), (y + 10).tolist(), strict=True))
    if kind is MeasureKind.SLOPE:
        steps = [pair[::-1] for pair in steps]
    ((value,),) = made.values([[one] for one in vector(made, steps)])
    assert math.isclose(value, true_answer(kind, x, y), rel_tol=1e-9)


@pytest.mark.theorem("AssociationOfGroups.accuracy")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", [{"rho": 0.5}, {"epsilon": 2}])
def test_intervals_hold_the_answer_as_often_as_they_say(kind, part, rounds):
    made, chance = measure(kind, (0, 40), (0, 40)), np.random.default_rng(5)
    price, runs, misses = read_price(**part), rounds(sample=300, full=20_000), 0
    widths = []
    for size in (30, 400, 4000):
        x = chance.integers(0, 41, size)
        y = np.clip(x // 2 + chance.integers(0, 21, size), 0, 40)
        true = true_answer(kind, x, y)
        steps = zip(x.tolist(), y.tolist(), strict=True)
        exact = sums([pair[::-1] for pair in steps] if kind is MeasureKind.SLOPE else list(steps))
        for _ in range(runs // 3):
            ((found,),) = made.estimates(made.release(exact, price), price, 0.95)
            value, low, high = found
            assert low <= value <= high
            misses += not low <= true <= high
            widths.append((size, high - low))
    # false alarm: fewer than one in 1e9 runs, as each interval misses with a chance of at most 5 %
    assert misses <= binom.isf(1e-9, runs // 3 * 3, 0.05)
    narrow = [width for size, width in widths if size == 4000]
    assert np.median(narrow) < 0.6 * abs(true)


@pytest.mark.parametrize("kind", KINDS)
def test_groups_without_spread_say_nothing_and_raise_nothing(kind):
    made, price = measure(kind), read_price(rho=Fraction(1, 100))
    anything = (-1.0, 1.0) if kind is MeasureKind.CORRELATION else (-math.inf, math.inf)
    for released in ([0] * made.entries, [-(10**9)] * made.entries, vector(made, [(1, 1)] * 3)):
        ((found,),) = made.estimates([[one] for one in released], price, 0.95)
        assert found == (0.0, *anything)


FRAME = pd.DataFrame(
    {
        "p": range(600),
        "x": np.where(np.arange(600) % 7 == 0, np.nan, np.arange(600) % 50 / 2),
        "y": [None if n % 11 == 0 else float(n % 50) - n % 13 for n in range(600)],
        "g": np.arange(600) % 2,
        "free": 1.0,
    }
)
COLUMNS = {
    "x": {"min": 0, "max": 20},
    "y": {"min": -8, "max": 50},
    "g": {"type": "integer", "min": 0, "max": 1, "public": True},
}


@pytest.fixture(scope="module")
def session():
    return Session.from_frames(t=FRAME, unit="p", rows=1, budget=ZCDP(1000), columns=COLUMNS)


def test_pairs_with_a_missing_value_are_left_out_and_values_are_clipped(session, monkeypatch):
    monkeypatch.setattr(Additive, "release", lambda self, exact, _part: self.vectors(exact))
    found = session.sql(
        "SELECT g, CORR(x, y), REGR_SLOPE(y, x) AS s, CORR(y, x) FILTER (WHERE x > 3) AS f FROM t GROUP BY g", rho=1
    )
    rows = FRAME.assign(x=FRAME.x.clip(0, 20), y=FRAME.y.clip(-8, 50)).dropna()
    for place, group in enumerate((0, 1)):
        kept = rows[rows.g == group]
        some = kept[kept.x > 3]
        assert math.isclose(found["corr_x_y"][place], np.corrcoef(kept.x, kept.y)[0, 1], rel_tol=1e-3)
        assert math.isclose(found["s"][place], np.polyfit(kept.x, kept.y, 1)[0], rel_tol=1e-3)
        assert math.isclose(found["f"][place], np.corrcoef(some.x, some.y)[0, 1], rel_tol=1e-3)


def test_one_question_is_charged_once_and_the_order_of_the_arguments_matters_for_a_slope(session):
    spent = session.balance.spent.rho
    one = session.sql("SELECT CORR(x, y) AS c FROM t", rho=0.1)
    two = session.sql("select corr(x, y) as c from t", rho=0.1)
    assert one.value == two.value
    assert session.balance.spent.rho == spent + Fraction(1, 10)
    first, second = (
        session.sql("SELECT REGR_SLOPE(@) AS c FROM t".replace("@", pair), rho=0.1) for pair in ("x, y", "y, x")
    )
    assert first.value != second.value
    assert "sums of products" in str(session.explain("SELECT CORR(x, y) FROM t", rho=0.1))
    assert session.rehearse("SELECT CORR(x, y), REGR_SLOPE(x, y) FROM t", rho=0.1, size=50) is not None


@pytest.mark.parametrize(
    ("sql", "kind", "words"),
    [
        ("SELECT CORR(x, free) FROM t", MissingBound, "free"),
        ("SELECT CORR(free, x) FROM t", MissingBound, "free"),
        ("SELECT CORR(x) FROM t", QueryRefused, "."),
        ("SELECT CORR(x, 'a') FROM t", UnsupportedSQL, "numbers"),
        ("SELECT COVAR_POP(x, y) FROM t", UnsupportedSQL, "REGR_SLOPE"),
        ("SELECT REGR_R2(x, y) FROM t", UnsupportedSQL, "CORR"),
        ("SELECT CORR(DISTINCT x, y) FROM t", QueryRefused, "."),
        ("SELECT CORR(SUM(x), y) FROM t", UnsupportedSQL, "another aggregate"),
    ],
)
def test_what_has_no_association_is_refused(session, sql, kind, words):
    with pytest.raises(kind, match=words):
        session.explain(sql, rho=0.1)


def test_ranges_come_from_the_call_too_and_no_price_is_named_for_an_error(session):
    told = session.explain("SELECT CORR(x, free) FROM t", rho=0.1, bounds={"free": (0, 2)})
    assert "corr_x_free" in str(told)
    with pytest.raises(ParameterError, match="depends on the data"):
        session.explain("SELECT CORR(x, y) FROM t", error=0.1)


def test_pure_privacy_buys_it_too():
    session = Session.from_frames(t=FRAME, unit="p", rows=1, budget=PureDP(50), columns=COLUMNS)
    answer = session.sql("SELECT CORR(x, y) AS c FROM t", epsilon=10)
    assert -1 <= answer.low <= answer.value <= answer.high <= 1


def test_an_interval_without_ends_is_shown_and_kept(session):
    answer = session.sql("SELECT g, REGR_SLOPE(y, x) AS s FROM t GROUP BY g", rho=1e-6)
    assert (answer.estimates("s")[0].low, answer.estimates("s")[0].high) == (-math.inf, math.inf)
    assert "∞" in str(answer)
    assert "<svg" in answer.plot().svg()
    json.loads(answer.certificate().to_json())
    assert answer.to_pandas().shape == (2, 4)
