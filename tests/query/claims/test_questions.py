"""What people ask is answered as they write it, or in the private form that its refusal tells; answers are right."""

from __future__ import annotations

import math
import re
import tomllib
from pathlib import Path

import duckdb
import pytest

from discreet.cli.demo.stage import build
from discreet.data import trade_database
from discreet.errors import MissingBound, QueryRefused
from discreet.query import Session
from discreet.query.measures.measure import Additive
from tests.query.claims.questions import BENCHMARK, HOSPITAL, TRADE

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "questions.md"
ASKED = [("hospital", *one) for one in HOSPITAL] + [("trade", *one) for one in TRADE]
DELTA = 1e-9


def opened(folder, base, *, wide=False):
    """Open a trading company in a folder; with `wide` no customer is bounded."""
    source = base.to_duckdb(folder / "trade.duckdb")
    text = base.policy(source=source.name, budget={"notion": "zcdp", "rho": 10_000, "delta": 1e-3})
    if wide:
        text = re.sub(r"^(rows|groups|rows_per_group) = (?!1\b)\d+", r"\1 = 9999", text, flags=re.MULTILINE)
        assert text.count("= 9999") == 6
    (folder / "policy.toml").write_text(text, encoding="utf-8")
    assert tomllib.loads(text)["protect"]["unit"] == "customer"
    return Session.open(folder / "policy.toml", analyst="ana")


@pytest.fixture(scope="module")
def sessions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("questions")
    (folder / "trade").mkdir()
    stage = build(folder / "hospital", people=400, seed=1)
    text = stage.policy.read_text(encoding="utf-8").replace("epsilon = 6 ", "epsilon = 200 ")
    stage.policy.write_text(text, encoding="utf-8")
    return {
        "hospital": Session.open(stage.policy, analyst="ana"),
        "trade": opened(folder / "trade", trade_database(scale=0.002, seed=1)),
    }


def answer(session, sql):
    """Explain a question, ask it, and return the answer."""
    told = session.explain(sql, epsilon=0.5, delta=DELTA)
    assert str(told)
    return session.sql(sql, epsilon=0.5, delta=DELTA)


def outcome(session, sql, form):
    """Return how a question fares: as it is written, in its private form, or refused."""
    refused = ""
    try:
        answer(session, sql)
    except (QueryRefused, MissingBound) as refusal:
        refused = str(refusal)
    if refused:
        assert refused.count(".") >= 2, refused  # what is the matter, what to do, what it cost
        if form:
            answer(session, form)
        return "private form" if form else "refused"
    return "as written"


def test_questions_are_answered_as_written_or_in_a_private_form(sessions):
    found = {what: outcome(sessions[base], sql, form) for base, what, sql, form in ASKED}
    assert len(ASKED) == 62
    assert [what for what, how in found.items() if how == "refused"] == []
    assert {what for what, how in found.items() if how == "private form"} <= {
        what for _, what, _, form in ASKED if form
    }
    assert sum(how == "as written" for how in found.values()) >= 53


@pytest.mark.parametrize("name", BENCHMARK)
def test_the_benchmark_is_answered_with_the_customer_as_the_unit(sessions, name):
    assert len(answer(sessions["trade"], BENCHMARK[name])) >= 0
    assert len(BENCHMARK) - len({"Q20"}) >= 14  # which asks something else


@pytest.fixture(scope="module")
def unbounded(tmp_path_factory):
    """A company of which no customer is bounded, and plain SQL over it."""
    folder = tmp_path_factory.mktemp("wide")
    session = opened(folder, trade_database(scale=0.004, seed=2), wide=True)
    plain = duckdb.connect(str(folder / "trade.duckdb"), read_only=True)
    return session, plain


def _number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def _alike(one, other):
    if _number(one) and _number(other):
        return math.isclose(one, other, rel_tol=1e-4, abs_tol=1e-3)
    return one == other or str(one) == str(other)


@pytest.mark.parametrize("name", [name for name in BENCHMARK if name not in ("Q13", "Q22")])  # whose keys are private
def test_without_noise_and_bounds_the_benchmark_has_the_answers_of_plain_sql(unbounded, monkeypatch, name):
    session, plain = unbounded
    monkeypatch.setattr(Additive, "release", lambda self, sums, _part: self.vectors(sums))
    sql = BENCHMARK[name]
    found = session.sql(sql, epsilon=0.5, delta=DELTA)
    columns = [column for column in found.columns if not column.endswith(("_low", "_high"))]
    rows = list(zip(*(found[column] for column in columns), strict=True))
    true = plain.execute(sql).fetchall()
    assert len(true) > 0
    unmatched = [row for row in true if not any(all(map(_alike, row, one)) for one in rows)]
    if "LIMIT" in sql:  # equal sums may stand in another order
        assert len(unmatched) <= len(true) // 2
    else:
        assert unmatched == []
        others = [row for row in rows if not any(all(map(_alike, row, one)) for one in true)]
        # a public key without rows is zero here, and absent there
        assert all(value == 0 or not _number(value) or math.isnan(value) for row in others for value in row[-1:])


GROUPS = {"Q5": 5, "Q8": 2, "Q12": 2}  # as many as the conditions of the query leave


@pytest.mark.parametrize(("name", "count"), GROUPS.items())
def test_the_benchmark_is_answered_for_the_groups_that_it_asks_about(sessions, name, count):
    assert len(answer(sessions["trade"], BENCHMARK[name])) == count


def test_suppliers_of_other_nations_are_not_in_an_answer_about_one(sessions, tmp_path):
    base = trade_database(scale=0.002, seed=1)
    plain = duckdb.connect(str(base.to_duckdb(tmp_path / "trade.duckdb")), read_only=True)
    sql = "SELECT s_name FROM supplier, nation WHERE s_nationkey = n_nationkey AND n_name = 'SAUDI ARABIA'"
    asked = BENCHMARK["Q21"]
    assert set(answer(sessions["trade"], asked)["s_name"]) <= {name for (name,) in plain.execute(sql).fetchall()}


def page():
    """Return the page of all questions."""
    lines = [
        "# Questions that are answered",
        "",
        "Questions that people asked of the demo's hospital and of the trading company that",
        "`discreet.data.trade_database` invents, as they wrote them. Where a question shows a row or the most",
        "unusual value of somebody, its refusal tells a private form, which stands below it. A test asks all",
        "of them on every change. [Which SQL is understood](sql.md).",
    ]
    for title, questions in (("A hospital", HOSPITAL), ("A trading company", TRADE)):
        lines += ["", f"## {title}", ""]
        for what, sql, form in questions:
            lines += [f"**{what}**", "", "```sql", *_wrapped(sql), "```", ""]
            lines += ["instead", "", "```sql", *_wrapped(form), "```", ""] if form else []
    lines += [
        "## The TPC-H benchmark, with the customer as the unit",
        "",
        f"{len(BENCHMARK)} of its 22 queries. Q2, Q11 and Q16 ask about public tables alone, and need no",
        "privacy. Q3 and Q10 ask for groups that many customers share in place of single orders and",
        "customers. Q17 and Q22 have a constant in place of a subquery, Q18 counts the large orders that",
        "the benchmark lists, Q15 names the one supplier with the largest noisy revenue. Q20 is a related",
        "question, not the same: who sold most of these parts, and not whose stock is larger than half of",
        "what was sold. The others ask what the benchmark asks.",
        "",
    ]
    for name, sql in BENCHMARK.items():
        lines += [f"**{name}**", "", "```sql", *_wrapped(sql), "```", ""]
    return "\n".join(lines).rstrip() + "\n"


def _wrapped(sql):
    """Return a statement in lines of at most 84 signs."""
    lines = [""]
    for word in sql.split(" "):
        if len(lines[-1]) + len(word) > 83:
            lines.append("  " + word)
        else:
            lines[-1] += (" " if lines[-1] else "") + word
    return lines


def test_the_page_of_questions_is_current():
    assert PAGE.read_text(encoding="utf-8") == page(), f"write it anew: python -m {__spec__.name}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)
