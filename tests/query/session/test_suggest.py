"""Suggested bounds: found at one charge, near what people have, free when asked again, and usable as they are."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet.errors import BudgetExceeded, DiscreetError, ParameterError, UnknownName, UnsupportedSQL

WARDS = ["a", "b", "c"]
COLUMNS = {"ward": {"values": WARDS}, "cost": {"min": 0, "max": 100}, "refund": {"min": -50, "max": 10}}
PEOPLE = 400
QUERY = "SELECT ward, COUNT(*) AS n, SUM(cost) AS cost FROM visits GROUP BY ward"
EXACT, LATER = 10**6, 10**-6  # quantiles are those of the rows, for answers at an epsilon of 1


def visits() -> pd.DataFrame:
    """Everybody has 6 rows, two in each ward, but for 4 people with 60."""
    rows = [(person, WARDS[place % 3]) for person in range(PEOPLE) for place in range(60 if person < 4 else 6)]
    frame = pd.DataFrame(rows, columns=["person", "ward"])
    return frame.assign(cost=10.0, refund=-5.0, fee=np.where(frame.person % 2 == 0, -3.0, 700.0))


@pytest.fixture
def session():
    with dp.Session.from_frames(
        visits=visits(), unit="person", rows=50, budget=dp.PureDP(10**7), columns=COLUMNS
    ) as made:
        yield made


pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.SenselessParameter")


@pytest.mark.theorem("suggest.privacy")
@pytest.mark.parametrize(
    ("budget", "price"),
    [
        (dp.PureDP(2), {"epsilon": 0.5}),
        (dp.ZCDP(2, delta=1e-6), {"rho": 0.5}),
        (dp.ZCDP(2, delta=1e-6), {"epsilon": 0.5}),
        (dp.GaussianDP(2), {"mu": 0.5}),
        (dp.ApproxDP(2, 1e-6), {"share": 0.25}),
    ],
)
def test_a_suggestion_is_one_charge_at_its_price_and_its_parts_add_up_to_it(budget, price):
    from discreet.query.pricing import read_price
    from discreet.query.session.numbers_of_units import of_query
    from discreet.query.session.suggest import _Work

    with dp.Session.from_frames(visits=visits(), unit="person", rows=50, budget=budget, columns=COLUMNS) as session:
        work = _Work(session._charging, of_query(session._charging, QUERY, None, None), read_price(**price), 4)
        whole = session.suggest(QUERY, **price)
        assert whole.guarantee == work.cost.guarantee
        parts = [*work.first.parts, *work.second(400.0, 3).parts]
        amounts = [one.epsilon or one.rho or one.mu for one in parts]
        spent = sum(one**2 for one in amounts) if work.cost.word == "mu" else sum(amounts)
        stated = work.cost.amount**2 if work.cost.word == "mu" else work.cost.amount
        assert float(stated) * (1 - 1e-9) <= float(spent) <= stated
        assert session.balance.charges == 1


def test_bounds_are_near_what_people_have(session):
    found = session.suggest(QUERY, epsilon=EXACT, multiple=LATER)
    assert abs(found.people - PEOPLE) < 0.5
    assert found.arguments["groups"] == 3
    assert found.arguments["sums"]["n"] == (0, 2)
    low, high = found.arguments["sums"]["cost"]
    assert low == 0
    assert 20 <= high <= 22
    assert "groups=3" in found.lines
    answer = session.sql(QUERY, epsilon=EXACT, **found.arguments)
    assert answer["n"] == pytest.approx([2 * PEOPLE] * 3, abs=1)
    before, after = found.noise["n"]
    assert after < before / 5


def test_people_who_are_all_alike_get_bounds_near_what_they_have():
    # each of two ends lies beyond all people with a chance of at most 1 %: 13 of 32 pairs with one below 4e8 .02^13
    twelve = pd.DataFrame({"p": np.repeat(np.arange(2000), 12), "x": 10.0})
    near = []
    columns = {"x": {"min": -10, "max": 500}}
    with dp.Session.from_frames(t=twelve, unit="p", rows=50, columns=columns, budget=dp.PureDP(20)) as session:
        for turn in range(16):
            found = session.suggest("SELECT COUNT(*) AS n, SUM(x) AS s FROM t", epsilon=1 + turn * 1e-6).arguments
            low, high = found["sums"]["s"]
            near += [found["sums"]["n"] == (0, 12), low == 0 and 120 <= high <= 140]
    assert sum(near) >= 20


def test_a_table_has_lines_for_its_policy(session):
    found = session.suggest("visits", epsilon=EXACT, multiple=LATER / 10)
    lines = "\n".join(found.lines)
    assert "[tables.visits] rows = 6" in lines
    assert "groups = 3, rows_per_group = 6  # by ward" in lines
    assert 'sums={"SUM(cost)": (0, 60)}' in lines or 'sums={"SUM(cost)": (0, 61)}' in lines
    assert "[tables.visits.columns] fee = {min = -3" in lines
    values = {one.name: one.value for one in found.bounds}
    assert values["refund"][0] <= -30
    assert values["refund"][0] >= -31
    assert not found.arguments
    assert found.noise == {}
    some = session.suggest("visits", epsilon=EXACT, multiple=LATER, columns=["fee"])
    assert {one.name for one in some.bounds} == {"rows", "fee"}


def test_a_suggestion_that_was_paid_is_free_and_the_same(session):
    first = session.suggest(QUERY, epsilon=1)
    spent = session.balance.spent
    again = session.suggest(QUERY, epsilon=1)
    assert session.balance.spent == spent
    assert again.record.replayed
    assert (again.bounds, again.arguments, again.people) == (first.bounds, first.arguments, first.people)
    assert not session.suggest(QUERY, epsilon=1, multiple=2).record.replayed


def test_it_is_shown_like_other_results(session):
    found = session.suggest(QUERY, epsilon=1)
    assert json.loads(json.dumps(found.to_dict()))["arguments"]["groups"] == 3
    for words in ("write", "share of persons", "chosen for an answer at", "epsilon 1 "):
        assert words in str(found)
    assert "<table" in found._repr_html_()
    assert found.plot().svg().startswith("<?xml")
    assert found.relation is found.guarantee.relation


def test_means_get_a_bound_on_rows_and_private_keys_one_on_groups(session):
    assert session.suggest("SELECT AVG(cost) AS m FROM visits", epsilon=EXACT, multiple=LATER / 10).arguments == {
        "rows": 6
    }
    keyed = session.suggest("SELECT ward, AVG(cost) AS m FROM visits GROUP BY ward", epsilon=EXACT, multiple=LATER)
    assert keyed.arguments == {"groups": 3, "rows_per_group": 2}
    hidden = session.suggest("SELECT SUM(cost) / COUNT(*) AS m FROM visits", epsilon=EXACT, multiple=LATER)
    assert set(hidden.arguments["sums"]) == {"SUM(cost)", "COUNT(*)"}
    session.sql("SELECT SUM(cost) / COUNT(*) AS m FROM visits", epsilon=1, **hidden.arguments)


def test_a_price_too_small_for_useful_bounds_says_so(session):
    table, query = (dict(session.suggest(of, epsilon=0.01).facts())["worth knowing"] for of in ("visits", QUERY))
    assert "larger price, or for fewer columns" in table
    assert query.endswith("larger price, before you use it")
    assert "worth knowing" not in dict(session.suggest(QUERY, epsilon=EXACT, multiple=LATER).facts())


def linked(tmp_path):
    """Open a shop whose lines are linked to orders by the number of the order, with a view over both."""
    import duckdb

    with duckdb.connect(tmp_path / "shop.duckdb") as shop:
        shop.execute("CREATE TABLE orders AS SELECT i AS number, i // 3 AS person, 5.0 AS total FROM range(90) t(i)")
        shop.execute("CREATE TABLE lines AS SELECT i // 2 AS number, i AS line, 1.0 AS price FROM range(180) t(i)")
    (tmp_path / "policy.toml").write_text(
        """
        data = {source = "shop.duckdb", lineage = "shop", version = "1"}
        protect = {unit = "person"}
        budget = {notion = "pure", epsilon = 1e4, ledger = "ledger.sqlite"}
        analysts = {ana = {}}
        views = {sales = "SELECT price, total FROM lines JOIN orders USING (number)"}
        [tables.orders]
        unit = "person"
        rows = 3
        columns = {total = {min = 0, max = 9}}
        [tables.lines]
        unit = "number -> orders.number"
        rows = 9
        columns = {price = {min = 0, max = 9}}
        """,
        encoding="utf-8",
    )
    return dp.Session.open(tmp_path / "policy.toml", analyst="ana")


def test_the_key_that_a_link_leads_to_gets_no_range_unless_it_is_asked_for(tmp_path):
    with linked(tmp_path) as session:
        found = session.suggest("orders", epsilon=1000)
        assert [one.name for one in found.bounds] == ["rows", "total"]
        named = session.suggest("orders", epsilon=1000, columns=["number"])
        assert [one.name for one in named.bounds] == ["rows", "number"]


def test_a_view_is_called_one_and_a_question_on_it_gets_bounds(tmp_path):
    with linked(tmp_path) as session:
        with pytest.raises(ParameterError, match=r"sales is a view.* AS n FROM sales'"):
            session.suggest("sales", epsilon=1)
        assert session.suggest("SELECT SUM(price) AS s FROM sales", epsilon=1000).arguments["sums"]


def test_what_cannot_be_suggested_is_refused_and_costs_nothing(session):
    for of, error in (
        ("nothing", UnknownName),
        ("SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n FROM x)", UnknownName),
    ):
        with pytest.raises(error, match="Nothing was spent"):
            session.suggest(of, epsilon=1)
    with pytest.raises(ParameterError, match="nothing to suggest"):
        session.suggest("SELECT COUNT(*) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person)", epsilon=1)
    with pytest.raises(ParameterError, match="multiple must be"):
        session.suggest(QUERY, epsilon=1, multiple=0)
    with pytest.raises(ParameterError, match="has no column"):
        session.suggest("visits", epsilon=1, columns=["nothing"])
    with pytest.raises(BudgetExceeded):
        session.suggest(QUERY, epsilon=10**8)
    assert session.balance.charges == 0


def test_rows_that_are_units_have_nothing_to_bound():
    session = dp.Session.from_frames(visits=visits(), unit="row", budget=dp.PureDP(1), columns=COLUMNS)
    with session, pytest.raises(ParameterError, match="nothing to bound"):
        session.suggest("visits", epsilon=1)


def test_neighbors_are_asked_alike():
    """The plan, the price, the digest and the statements follow from public words; people change the noise alone."""
    from discreet.query.pricing import read_price
    from discreet.query.session.numbers_of_units import of_query
    from discreet.query.session.suggest import _Work

    told = []
    for frame in (visits(), visits().query("person > 7")):
        with dp.Session.from_frames(
            visits=frame, unit="person", rows=50, budget=dp.PureDP(9), columns=COLUMNS, lineage="hospital"
        ) as session:
            work = _Work(session._charging, of_query(session._charging, QUERY, None, None), read_price(epsilon=1), 4)
            texts = [session.engine.text(one) for one in (*work.first.requests, *work.second(400.0, 3).requests)]
            told.append((work.digest, texts, work.cost))
    assert told[0] == told[1]


def test_bounds_of_a_question_are_checked_before_anything_is_spent(session):
    bad = [
        {"rows": 0},
        {"rows": True},
        {"groups": 2.0},
        {"rows_per_group": 10**12},
        {"groups": 10**6, "rows_per_group": 10**6},
        {"sums": {"n": (3, 3)}},
        {"sums": {"n": 3}},
        {"sums": {"nothing": (0, 1)}},
        {"sums": [("n", (0, 1))]},
        {"bias": 1},
        {"bias": True},  # the policy declares no outer_rows
    ]
    for stated in bad:
        for ask in (session.sql, session.explain):
            with pytest.raises(dp.errors.DiscreetError):
                ask(QUERY, epsilon=1, **stated)
    with pytest.raises(ParameterError, match="SUM and COUNT"):
        session.sql("SELECT AVG(cost) AS m FROM visits", epsilon=1, sums={"m": (0, 1)})
    assert session.balance.charges == 0


def test_top_takes_bounds_of_its_own(session):
    chosen = session.top(
        "SELECT ward, SUM(cost) AS total FROM visits WHERE ward < 'c' OR person > 200 GROUP BY ward",
        k=3,
        epsilon=EXACT,
        sums={"total": (0, 20)},
    )
    assert set(chosen) == set(WARDS)
    assert list(chosen)[-1] == "c"


def test_a_sum_without_a_declared_range_takes_it_from_what_a_person_adds(session):
    answer = session.sql("SELECT SUM(fee) AS fee FROM visits", epsilon=EXACT, sums={"fee": (-10, 1000)})
    half = PEOPLE // 2
    assert answer.value == pytest.approx(-10 * half + 1000 * half, rel=1e-3)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(n) AS n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)",
        "SELECT SUM(cost) / COUNT(*) AS mean FROM visits",
    ],
)
def test_bias_that_no_column_would_include_is_not_sold(sql):
    with dp.Session.from_frames(
        visits=visits(), unit="person", rows=6, outer_rows=60, budget=dp.PureDP(10), columns=COLUMNS
    ) as session:
        with pytest.raises(UnsupportedSQL, match="Select the COUNT or SUM beside it"):
            session.sql(sql, epsilon=1, bias=True)
        assert session.balance.spent.epsilon == 0
        beside = session.sql("SELECT SUM(cost) / COUNT(*) AS mean, COUNT(*) AS n FROM visits", epsilon=1, bias=True)
        assert beside.bias("n")


def test_an_answer_with_bias_holds_the_truth_and_says_what_was_cut():
    with dp.Session.from_frames(
        visits=visits(), unit="person", rows=6, outer_rows=60, budget=dp.PureDP(10**7), columns=COLUMNS
    ) as session:
        plain = session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=EXACT)
        whole = session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=EXACT, bias=True)
        rows = len(visits())
        assert not plain.low <= rows <= plain.high
        assert whole.low <= rows <= whole.high + 1
        (cut,) = whole.bias("n")
        assert cut.value == pytest.approx(4 * 54, abs=1)
        assert "nobody has more than 60" in str(whole)
        assert "about cut: n 216" in str(whole)
        left = whole.certificate().fields["left out"]
        assert left[0] == "a person with more than 6 rows of visits counts as 6"
        assert "includes the rows that are cut" in left[-1]
        assert "Left out" in whole.plot().figure.get_supxlabel()
        with pytest.raises(ParameterError, match="bias=True"):
            plain.bias("n")
        again = session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=EXACT, bias=True)
        assert again.record.replayed
        assert again.to_dict() == whole.to_dict()
        assert "(cut of n)" in str(session.explain("SELECT COUNT(*) AS n FROM visits", epsilon=1, bias=True))


@pytest.mark.parametrize(
    ("of", "given"),
    [
        ("visits", {"columns": 5}),
        ("visits", {"columns": [5]}),
        ("visits", {"columns": [None]}),
        ("visits", {"bounds": {"cost": (0, 5)}}),
        ("visits", {"keys": {"ward": ["a"]}}),
        (QUERY, {"columns": ["cost"]}),
        (QUERY, {"multiple": 5e-324}),
        (QUERY, {"multiple": 10**400}),
        (QUERY, {"multiple": "4"}),
        (QUERY, {"bounds": {"cost": (0, 1e200)}}),
    ],
)
def test_arguments_that_do_not_go_together_are_refused_in_a_sentence(session, of, given):
    with pytest.raises(DiscreetError, match="Nothing was spent"):
        session.suggest(of, epsilon=1, **given)
    assert session.balance.charges == 0


def test_bounds_of_any_size_are_finite_and_serve_the_question(session):
    question = "SELECT ward, SUM(cost) AS cost FROM visits GROUP BY ward"
    for end in (1e-100, 1e100, 1e150):
        ranges = {"cost": (-end, end)}
        for price in (1e-9, 1.0):  # the smaller one finds bounds anywhere
            found = session.suggest(question, epsilon=price, bounds=ranges)
            json.dumps(found.to_dict(), allow_nan=False)
            session.explain(question, epsilon=1, bounds=ranges, **found.arguments)


def test_columns_with_a_range_that_no_query_takes_are_left_out():
    columns = {**COLUMNS, "fee": {"min": -1e300, "max": 1e300}}
    with dp.Session.from_frames(
        visits=visits(), unit="person", rows=50, budget=dp.PureDP(10), columns=columns
    ) as session:
        assert "fee" not in " ".join(session.suggest("visits", epsilon=1).lines)


def test_a_question_may_be_written_with_line_ends_alone(session):
    assert "sums" in session.suggest("SELECT\nSUM(cost)\nFROM\nvisits", epsilon=1).arguments
