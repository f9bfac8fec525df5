"""Intervals with real noise: they cover as often as the law of the noise says, and never less than was stated."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from discreet.privacy import ZCDP, ApproxDP, PureDP
from discreet.query import Session
from discreet.query.plan.query_plan import MeasureKind
from discreet.query.plan.request import WEIGHT, Steps, Sums, Units
from tests.chances import fewest, most
from tests.query.small_tables import Told, asked, priced_for, private_key, public_key, table_policy

GROUPS = 250  # so many groups of the same rows are as many independent answers to one query
ROWS = 400
VALUES = np.array([3 * row % 41 for row in range(ROWS)])
BUDGETS = [PureDP(100), ZCDP(100)]


class Alike(Told):
    """An engine whose groups all hold the same rows, each of a person of its own."""

    def __init__(self, unit):
        places, counts = np.unique(VALUES, return_counts=True)
        self.unit, self.names = unit, [(one,) for one in range(GROUPS)]
        super().__init__(None, dict.fromkeys(self.names, (places, counts * unit)))

    def run(self, request):
        return Sums(self.names, [[self.sum(cell)] * GROUPS for cell in request.cells])

    def sum(self, cell):
        if isinstance(cell, Steps):
            return self.unit * int(((VALUES + cell.offset) ** cell.power).sum())
        return ROWS if isinstance(cell, Units) else self.unit * ROWS


def covered(kind, budget, truth, rounds, *, table, level=None, **price):
    """How often, of how many times, the interval of an aggregate holds the truth; and the priced query."""
    aggregate = asked(kind, high=40, level=level)
    made = priced_for(table, aggregate, keys=(public_key(tuple(range(GROUPS))),), budget=budget, **price)
    engine = Alike(made.bounding.unit)
    runs = rounds(sample=500, full=10_000)
    inside = 0
    for _ in range(runs // GROUPS):
        released = made.release(engine)
        (rows,) = made.measures[0].estimates(released.released[0], made.parts[0], 0.95)
        inside += sum(low <= truth <= high for _, low, high in rows)
    return inside, runs, made


def price_of(budget, amount=1):
    return {"rho": Fraction(amount, 2)} if isinstance(budget, ZCDP) else {"epsilon": amount}


@pytest.mark.theorem("count.accuracy", "total.accuracy")
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize(
    ("kind", "truth", "table"),
    [
        (MeasureKind.COUNT_ROWS, ROWS, table_policy(unit="row")),
        (MeasureKind.COUNT_ROWS, ROWS, table_policy(rows=1)),
        (MeasureKind.COUNT_UNITS, ROWS, table_policy(rows=2, groups=2)),
        (MeasureKind.SUM, int(VALUES.sum()), table_policy(unit="row")),
        (MeasureKind.SUM, int(VALUES.sum()), table_policy(groups=2, rows_per_group=1)),
    ],
)
def test_intervals_of_counts_and_sums_cover_as_often_as_the_law_says(kind, truth, table, budget, rounds):
    inside, runs, made = covered(kind, budget, truth, rounds, table=table, **price_of(budget))
    measure, part = made.measures[0], made.parts[0]
    noise = measure.noise(part)
    width = noise.error(0.95)
    predicted = 1 - 2 * float(noise.noise.sf(width))
    assert predicted >= 0.95
    assert fewest(runs, predicted) <= inside <= most(runs, predicted)
    narrower = 1 - 2 * float(noise.noise.sf(width - 1))
    assert narrower < 0.95
    if float(noise.noise.scale) >= 10:
        assert predicted < 0.96


@pytest.mark.theorem("MeanOfGroups.accuracy", "VarianceOfGroups.accuracy")
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize(
    ("kind", "truth"),
    [
        (MeasureKind.MEAN, float(VALUES.mean())),
        (MeasureKind.VARIANCE, float(VALUES.var())),
        (MeasureKind.DEVIATION, float(VALUES.std())),
    ],
)
@pytest.mark.parametrize("amount", [1, Fraction(1, 20)])
def test_intervals_of_means_and_variances_cover_at_least_as_often_as_stated(kind, truth, budget, amount, rounds):
    inside, runs, _ = covered(
        kind, budget, truth, rounds, table=table_policy(rows=1), **price_of(budget, Fraction(amount))
    )
    assert inside >= fewest(runs, 0.95)


@pytest.mark.theorem("QuantilesOfGroups.accuracy")
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("level", [Fraction(1, 10), Fraction(1, 2)])
def test_intervals_of_quantiles_cover_at_least_as_often_as_stated(level, budget, rounds):
    truth = int(np.quantile(VALUES, float(level), method="inverted_cdf"))
    inside, runs, _ = covered(
        MeasureKind.QUANTILE, budget, truth, rounds, table=table_policy(rows=1), level=level, **price_of(budget, 2)
    )
    assert inside >= fewest(runs, 0.95)


@pytest.mark.theorem("SelectedKeys.accuracy")
def test_intervals_of_named_keys_cover_as_often_as_the_law_says(rounds):
    made = priced_for(
        table_policy(rows=1, groups=1),
        asked(MeasureKind.COUNT_UNITS),
        keys=(private_key(),),
        budget=ApproxDP(10, Fraction(1, 2)),
        epsilon=1,
        delta=1e-6,
    )
    keys = [(f"key {one}",) for one in range(GROUPS)]
    engine = Told((keys, {"Units": [ROWS] * GROUPS}))
    runs, inside = rounds(sample=500, full=10_000), 0
    for _ in range(runs // GROUPS):
        released = made.release(engine)
        assert len(released.keys) == GROUPS
        (rows,) = made.measures[0].estimates(released.released[0], made.parts[0], 0.95)
        inside += sum(low <= ROWS <= high for _, low, high in rows)
    noise = made.selection.mechanism(made.parts[0])
    predicted = 1 - 2 * float(noise.noise.sf(noise.error(0.95)))
    assert fewest(runs, predicted) <= inside <= most(runs, predicted)


def test_the_same_intervals_come_out_of_a_session_on_a_database():
    frame = pd.DataFrame({"p": range(2000), "x": [float(one % 11) for one in range(2000)]})
    with Session.from_frames(
        t=frame, unit="p", rows=1, budget=PureDP(50), columns={"x": {"min": 0, "max": 10}}
    ) as session:
        answer = session.sql("SELECT COUNT(*) AS n, SUM(x) AS s, AVG(x) AS m, MEDIAN(x) AS q FROM t", epsilon=40 / 3)
        (n,) = answer.estimates("n", 1 - 1e-10)
        (s,) = answer.estimates("s", 1 - 1e-10)
        (m,) = answer.estimates("m", 1 - 1e-10)
        (q,) = answer.estimates("q", 1 - 1e-10)
        assert n.low <= 2000 <= n.high
        assert s.low <= frame.x.sum() <= s.high
        assert m.low <= frame.x.mean() <= m.high
        assert (q.low, q.high) == (None, None)
        assert str(q).endswith("(no interval bought)")
        caption = answer.intervals(1 - 1e-10).caption
        assert caption.startswith("99.99999999 % intervals")
        assert caption.endswith("where an end is empty there is no interval")
        assert answer.to_dict(1 - 1e-10)["q_low"] == [None]
        assert answer.to_polars(1 - 1e-10)["q_low"].null_count() == 1
        assert "no interval bought" in answer.plot("q", 1 - 1e-10).svg()
        (q,) = answer.estimates("q")
        assert 0 <= q.low <= q.value <= q.high <= 10
        narrow, wide = answer.intervals(0.5), answer.intervals(0.5, together=True)
        place = list(narrow.columns).index("n_low")
        assert wide.rows[0][place] < narrow.rows[0][place]
        exact = answer.priced.measures[answer.priced.places["n"][0]]
        part = answer.priced.parts[answer.priced.places["n"][0]]
        width = exact.noise(part).error(1 - 0.5 / 4)
        assert answer["n"][0] - wide.rows[0][place] == pytest.approx(width / WEIGHT, rel=1e-9)
