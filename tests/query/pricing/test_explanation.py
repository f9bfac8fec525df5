"""Explanations: price, noise, width, bounding, bias and statement, told without a look at the data."""

from __future__ import annotations

import html

import pytest

from discreet.errors import BudgetExceeded, ParameterError
from discreet.ledger import MemoryLedger
from discreet.privacy import ZCDP, ApproxDP, PureDP
from discreet.query import Session
from discreet.query.policy import terms_of
from tests.query.small_tables import Untouchable, policy_for, table_policy


def session_on(budget, **stated):
    policy = policy_for(table_policy(**stated), budget)
    return Session(policy, analyst="ana", engine=Untouchable(), ledger=MemoryLedger(terms_of(policy)))


def explained(sql, budget=None, *, rows_expected=None, confidence=0.95, price=None, **stated):
    session = session_on(budget or PureDP(4), **(stated or {"rows": 2, "groups": 2}))
    found = session.explain(sql, rows_expected=rows_expected, confidence=confidence, **(price or {"epsilon": 1}))
    assert session.engine.reads == 0
    assert session.balance.spent.loss.epsilon(0.5).upper == 0
    return found


def test_an_explanation_says_what_an_answer_will_cost_and_how_wide_it_will_be():
    found = explained("SELECT COUNT(*) AS n, SUM(x) AS s FROM t")
    assert found.cost.epsilon(0).upper == 1
    assert float(found.guarantee.epsilon) == 1
    assert found.fits == 4
    rows = found.to_dict()["aggregates"]
    assert [row["aggregate"] for row in rows] == ["n", "s"]
    assert sum(row["epsilon"] for row in rows) == pytest.approx(1)
    width = next(name for name in rows[0] if name.startswith("half-width at 95 %"))
    assert float(rows[0][width]) == pytest.approx(2 * 3.0 / 0.5, rel=0.05)
    assert found.sql == "SELECT what was told"
    for text in (str(found), html.unescape(found._repr_html_())):
        for words in ("how many like it still fit", "left out", found.relation.sentence):
            assert words in text


def test_widths_of_means_and_quantiles_are_functions_of_what_is_assumed():
    unknown = explained("SELECT AVG(x) AS m, VARIANCE(x) AS v, MEDIAN(x) AS q FROM t")
    shown = [list(row)[3] for row in unknown.aggregates.rows]
    assert shown[:2] == ["depends on the rows of a group: state rows_expected="] * 2
    assert "rows in rank" in shown[2]
    few, many = (explained("SELECT AVG(x) AS m FROM t", rows_expected=count) for count in (1000, 100_000))
    assert float(many.aggregates.rows[0][3]) < float(few.aggregates.rows[0][3])
    assert "for 1,000 rows a group" in str(few)
    several = explained("SELECT MEDIAN(x) AS a, QUANTILE(x, 0.25) AS b FROM t")
    assert "each with an interval" in str(several)
    with pytest.raises(ParameterError):
        explained("SELECT AVG(x) AS m FROM t", rows_expected=-5)


@pytest.mark.parametrize(
    ("stated", "sql", "budget", "price", "words"),
    [
        (
            {"unit": "row"},
            "SELECT COUNT(*) AS n FROM t",
            PureDP(4),
            {"epsilon": 1},
            "nothing: every row counts in full",
        ),
        (
            {"rows": 2},
            "SELECT COUNT(*) AS n FROM t",
            PureDP(4),
            {"epsilon": 1},
            "a person with more than 2 rows of t counts as 2; the interval does not include this",
        ),
        ({"rows": 2}, "SELECT g, COUNT(*) AS n FROM t GROUP BY g", ZCDP(4), {"rho": 1}, "squares add up to 2^2"),
        (
            {"groups": 1, "rows_per_group": 3},
            "SELECT g, COUNT(*) AS n FROM t GROUP BY g",
            PureDP(4),
            {"epsilon": 1},
            "a person in more than 1 group is missing from the others",
        ),
    ],
)
def test_the_bias_of_every_form_is_said_in_words(stated, sql, budget, price, words):
    assert words in explained(sql, budget, price=price, **stated).bias


@pytest.mark.parametrize(
    ("key", "given", "words"),
    [
        ("g", None, "rows whose k is none of the 2 public values, or NULL, are in no group"),
        ("COALESCE(g, 9)", None, "rows whose k is none of the 3 public values are in no group"),
        ("x > 0", None, "rows whose k is NULL are in no group"),
        ("x > 0", [True], "rows whose k is not the one public value, or NULL, are in no group"),
        ("x IS NULL", None, ""),
        ("COALESCE(x > 0, FALSE)", None, ""),
        ("CASE WHEN x > 0 THEN 'yes' ELSE 'no' END", None, ""),
        ("CASE WHEN x > 0 THEN 'yes' ELSE 'no' END", ["no"], "not the one public value, or NULL, are in no group"),
        ("CASE WHEN x > 0 THEN 'yes' END", None, "not the one public value, or NULL, are in no group"),
        ("CASE WHEN g IN (0, 1) THEN g ELSE 9 END", None, ""),
        ("CAST(g AS TEXT)", ["1", ...], ""),
        ("CAST(g AS TEXT)", [...], ""),
    ],
)
def test_rows_in_no_group_are_named_and_only_those(key, given, words):
    keys = None if given is None else {"k": given}
    sql = "SELECT @ AS k, COUNT(*) AS n FROM t GROUP BY k".replace("@", key)
    found = explained(sql, PureDP(4), price={"epsilon": 1, "keys": keys}, rows=2).bias
    assert words in found
    assert words or "in no group" not in found


X = "x below 0 counts as 0, above 5 as 5"


@pytest.mark.parametrize(
    ("asked", "clipped"),
    [
        ("SUM(x)", [X]),
        ("SUM(x) FILTER (WHERE g = 1)", [X]),
        ("SUM(CASE WHEN g = 1 THEN x ELSE 0 END)", [X]),
        ("AVG(COALESCE(x, 0))", [X]),
        ("SUM(CLAMP(x, 0, 9))", [X]),
        ("SUM(CLAMP(x, 0, 2))", ["x below 0 counts as 0, above 2 as 2"]),
        ("SUM(FLOOR(x / 2))", ["FLOOR(x / 2.0) below 0 counts as 0, above 2 as 2"]),
        ("SUM(x * x)", ["x * x below 0 counts as 0, above 25 as 25"]),
        ("CORR(CLAMP(g, 0, 1), x)", ["g below 0 counts as 0, above 1 as 1", X]),
        ("REGR_SLOPE(CLAMP(g, 0, 1), x)", ["g below 0 counts as 0, above 1 as 1", X]),
        ("SUM(CASE WHEN x > 1 THEN 1 ELSE 0 END)", []),
        ("SUM(CAST(x > 1 AS INTEGER))", []),
        ("AVG(x - CLAMP(x, 0, 1))", ["x - CLAMP(x, 0, 1) below -1 counts as -1, above 5 as 5"]),
        ("SUM(CLAMP(g, 0, 1) * 2)", []),
    ],
)
def test_every_value_that_a_range_clips_is_said_and_no_other(asked, clipped):
    found = explained("SELECT @ AS s FROM t".replace("@", asked), rows=2).bias
    assert [one for one in found.split("; ") if " below " in one] == clipped


@pytest.mark.parametrize("outer", ["COUNT(*) AS s FROM (@) WHERE n > 2", "AVG(CLAMP(n, 0, 9)) AS s FROM (@)"])
@pytest.mark.parametrize("inner", ["SUM(x)", "AVG(x)", "SUM(x) FILTER (WHERE g = 1)", "AVG(CAST(x AS REAL))"])
def test_what_is_clipped_inside_a_number_for_each_unit_is_said(outer, inner):
    people = "SELECT u, @ AS n FROM t GROUP BY u".replace("@", inner)
    assert X in explained("SELECT " + outer.replace("@", people), rows=2).bias


def test_a_number_for_each_unit_that_nothing_clips_leaves_nothing_out():
    found = explained("SELECT COUNT(*) AS s FROM (SELECT u FROM t GROUP BY u HAVING MAX(x) > 2)", rows=2)
    assert found.bias == "nothing: every row counts in full"


def test_a_bounded_table_has_its_own_words():
    session = session_on(PureDP(4), rows=2)
    session._charging._bounded["t"] = ("t, 2 rows a unit", 2)
    found = session.explain("SELECT COUNT(*) AS n FROM t", epsilon=1)
    assert "a person with more than 2 rows of t counts for that many, kept beforehand" in found.bias


def test_groups_are_told_as_public_or_by_their_threshold():
    public = explained("SELECT g, COUNT(*) AS n FROM t GROUP BY g")
    assert public.groups.startswith("2, all of them public")
    assert explained("SELECT COUNT(*) AS n FROM t").groups == "one, the whole table"
    private = explained(
        "SELECT w, COUNT(*) AS n FROM t GROUP BY w", ApproxDP(4, 1e-3), price={"epsilon": 1, "delta": 1e-6}
    )
    assert "reaches" in private.groups
    assert [row[0] for row in private.aggregates.rows] == ["n", "(keys)"]


def test_large_widths_are_written_in_digits():
    found = explained("SELECT COUNT(*) AS n FROM t", price={"epsilon": 1e-5}, rows=2)
    assert "," in found.aggregates.rows[0][3]
    assert "e+" not in str(found.aggregates)


def test_a_price_that_does_not_fit_any_more_is_explained_all_the_same():
    session = session_on(PureDP(1), rows=2)
    found = session.explain("SELECT COUNT(*) AS n FROM t", epsilon=2)
    assert found.fits == 0
    with pytest.raises(BudgetExceeded):
        session.sql("SELECT COUNT(*) AS n FROM t", epsilon=2)


def test_the_price_of_an_error_is_told_before_it_is_paid():
    found = explained("SELECT COUNT(*) AS n FROM t", price={"error": 30})
    assert float(found.aggregates.rows[0][3]) <= 30
    assert 0 < float(found.guarantee.epsilon) < 1
