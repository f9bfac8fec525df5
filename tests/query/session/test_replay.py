"""Replay: the same question at the same price is the same answer, free, in every process that opens the ledger."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from discreet.errors import BudgetExceeded, DiscreetError
from discreet.ledger import MemoryLedger
from discreet.privacy import PureDP, Relation
from discreet.query import Session
from discreet.query.policy import open_ledger, terms_of
from discreet.query.policy.declarations import Analyst
from tests.query.small_tables import Told, Untouchable, policy_for, table_policy

ROOT = Path(__file__).resolve().parents[3]
ASK = "SELECT g, COUNT(*) AS n, MEDIAN(x) AS m FROM t GROUP BY g"
TABLE = table_policy(unit="row")


def engine():
    return Told(([(0,)], {"One": [500]}), {(0,): ([1, 2], [3, 4])})


def policy(**changes):
    analysts = {"ana": Analyst("ana"), "bo": Analyst("bo", PureDP(2))}
    return policy_for(TABLE, PureDP(8), **{"analysts": analysts, **changes})


def session(stated, ledger, *, analyst="ana", on=None):
    return Session(stated, analyst=analyst, engine=on or engine(), ledger=ledger)


@pytest.mark.theorem("Session.privacy")
def test_the_same_question_is_answered_from_the_ledger_and_costs_nothing():
    ledger = MemoryLedger(terms_of(policy()))
    first = session(policy(), ledger).sql(ASK, epsilon=1)
    untouched = Untouchable()
    again = session(policy(), ledger, on=untouched).sql(ASK, epsilon=1)
    assert again.rows == first.rows
    assert again.to_dict() == first.to_dict()
    assert again.record.replayed
    assert again.record.number == first.record.number
    assert untouched.reads == 0
    assert ledger.balance().spent.epsilon == 1
    assert "handed out again" in str(again)
    assert "handed out again" not in str(first)


@pytest.mark.parametrize(
    "other",
    [
        "select  G, count(*)  as n, median(X) as m\nfrom T group by g -- a comment",
        "SELECT q.g, COUNT(*) AS n, MEDIAN(q.x) AS m FROM (SELECT * FROM t) AS q GROUP BY q.g",
        "WITH r AS (SELECT g, x AS y FROM t) SELECT g, COUNT(*) AS n, MEDIAN(y) AS m FROM r GROUP BY g",
    ],
)
def test_spaces_capitals_comments_and_inner_names_make_no_other_question(other):
    ledger = MemoryLedger(terms_of(policy()))
    asked = session(policy(), ledger)
    first, again = asked.sql(ASK, epsilon=1), asked.sql(other, epsilon=1)
    assert again.record.replayed
    assert again.rows == first.rows


@pytest.mark.parametrize(
    ("sql", "price", "changes"),
    [
        (ASK, {"epsilon": 1.5}, {}),
        (ASK.replace("MEDIAN(x)", "QUANTILE(x, 0.25)"), {"epsilon": 1}, {}),
        (ASK.replace("FROM t", "FROM t WHERE x > 2"), {"epsilon": 1}, {}),
        (ASK.replace(", MEDIAN(x) AS m", ""), {"epsilon": 1}, {}),
        (ASK.replace("FROM t", "FROM (SELECT g, x + 1 AS x FROM t)"), {"epsilon": 1}, {}),
        (ASK, {"epsilon": 1}, {"version": "2"}),
    ],
)
def test_another_question_price_or_version_of_the_data_is_a_new_release(sql, price, changes):
    ledger = MemoryLedger(terms_of(policy()))
    session(policy(), ledger).sql(ASK, epsilon=1)
    other = session(policy(**changes), ledger).sql(sql, **price)
    assert not other.record.replayed
    assert ledger.balance().spent.epsilon == 1 + price["epsilon"]


@pytest.mark.parametrize(
    ("other", "columns"),
    [
        (f"{ASK} LIMIT 1", {"g": "g", "n": "n", "m": "m"}),
        (f"{ASK} ORDER BY g", {"g": "g", "n": "n", "m": "m"}),
        ("SELECT MEDIAN(x) AS n, g AS m, COUNT(*) AS g FROM t GROUP BY g", {"n": "m", "m": "g", "g": "n"}),
        ("SELECT half, g FROM (SELECT g, COUNT(*) AS half, MEDIAN(x) AS q FROM t GROUP BY g)", {"half": "n", "g": "g"}),
        (
            "SELECT g, COUNT(*) AS n, n / 2 AS h, MEDIAN(x) AS m FROM t GROUP BY g".replace(" n / 2", " COUNT(*) / 2"),
            {"n": "n", "m": "m"},
        ),
    ],
)
def test_what_is_done_after_the_release_makes_no_other_release(other, columns):
    ledger = MemoryLedger(terms_of(policy()))
    asked = session(policy(), ledger)
    first, again = asked.sql(ASK, epsilon=1), asked.sql(other, epsilon=1)
    assert again.record.replayed
    assert ledger.balance().spent.epsilon == 1
    for name, was in columns.items():
        assert again[name] == first[was][: len(again)]
        if again._source(name) is not None:
            assert again.estimates(name) == first.estimates(was)[: len(again)]


def test_the_same_price_said_otherwise_is_the_same_question():
    ledger = MemoryLedger(terms_of(policy()))
    session(policy(), ledger).sql(ASK, epsilon=1)
    assert session(policy(), ledger).sql(ASK, share=0.125).record.replayed


def test_another_analyst_pays_for_the_own_answer_unless_answers_are_shared():
    apart = MemoryLedger(terms_of(policy()))
    session(policy(), apart).sql(ASK, epsilon=1)
    own = session(policy(), apart, analyst="bo").sql(ASK, epsilon=1)
    assert not own.record.replayed
    assert apart.balance().spent.epsilon == 2
    stated = policy(shared_answers=True)
    shared = MemoryLedger(terms_of(stated))
    first = session(stated, shared).sql(ASK, epsilon=1)
    untouched = Untouchable()
    theirs = session(stated, shared, analyst="bo", on=untouched).sql(ASK, epsilon=1)
    assert theirs.rows == first.rows
    assert theirs.record.replayed
    assert theirs.record.analyst == "bo"
    assert untouched.reads == 0
    assert shared.balance().spent.epsilon == 1
    assert shared.balance("bo").own_spent.epsilon == 1
    session(stated, shared).sql(ASK, epsilon=1.5)
    with pytest.raises(BudgetExceeded):
        session(stated, shared, analyst="bo").sql(ASK, epsilon=1.5)


def test_an_idempotency_key_belongs_to_one_question():
    ledger = MemoryLedger(terms_of(policy()))
    asked = session(policy(), ledger)
    first = asked.sql(ASK, epsilon=1, idempotency="monday")
    assert asked.sql(ASK, epsilon=1, idempotency="monday").rows == first.rows
    before = len(list(ledger.entries()))
    with pytest.raises(DiscreetError, match="monday"):
        asked.sql(ASK, epsilon=2, idempotency="monday")
    assert len(list(ledger.entries())) == before


def test_a_failed_question_is_charged_again_when_it_is_asked_again():
    ledger = MemoryLedger(terms_of(policy()))
    with pytest.raises(DiscreetError):
        session(policy(), ledger, on=Untouchable()).sql(ASK, epsilon=1)
    answer = session(policy(), ledger).sql(ASK, epsilon=1)
    assert not answer.record.replayed
    assert ledger.balance().spent.epsilon == 2


SCRIPT = """
import json, sys
from pathlib import Path
from tests.query.session.test_replay import ASK, Untouchable, engine, policy, session
from discreet.query.policy import open_ledger
stated = policy(ledger=Path(sys.argv[1]))
on = engine() if sys.argv[2] == "reads" else Untouchable()
answer = session(stated, open_ledger(stated), on=on).sql(ASK, epsilon=1)
print(json.dumps([answer.to_dict(), answer.record.replayed, answer.record.entry_hash, answer.certificate().to_json()]))
"""


def test_an_answer_outlives_its_process(tmp_path):
    stated = replace(policy(), ledger=tmp_path / "ledger.sqlite")

    def process(task):
        command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", SCRIPT, str(stated.ledger), task]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False, timeout=600)  # noqa: S603
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    bought, replayed, entry, certificate = process("reads")
    assert not replayed
    again = process("must not read")
    assert again == [bought, True, entry, certificate]
    ledger = open_ledger(stated)
    here = session(stated, ledger, on=Untouchable()).sql(ASK, epsilon=1)
    assert here.to_dict() == bought
    assert here.guarantee == PureDP(1, relation=Relation.ADD_REMOVE)
    assert ledger.balance().spent.epsilon == 1
    ledger.verify()


def test_queries_that_release_in_different_bundles_do_not_share_an_answer():
    frame = pd.DataFrame({"uid": range(200), "x": [float(one % 7) for one in range(200)]})
    columns = {"x": {"min": 0, "max": 10}}
    session = Session.from_frames(t=frame, unit="uid", rows=1, budget=PureDP(100), columns=columns)
    source = "FROM (SELECT x AS a, x AS b, uid FROM t)"
    together = session.sql(f"SELECT QUANTILE(a, 0.25) AS p, QUANTILE(a, 0.5) AS q {source}", epsilon=1)
    apart = session.sql(f"SELECT QUANTILE(a, 0.25) AS p, QUANTILE(b, 0.5) AS q {source}", epsilon=1)
    assert apart.record.number != together.record.number
    assert len(apart.rows) == len(together.rows) == 1
