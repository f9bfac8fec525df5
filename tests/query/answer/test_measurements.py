"""What an answer says was measured: the same whatever is done after the release, and whoever is handed it again."""

from __future__ import annotations

import pandas as pd
import pytest

from discreet.ledger import MemoryLedger
from discreet.privacy import ApproxDP, PureDP
from discreet.query import Session
from discreet.query.policy import terms_of
from discreet.query.policy.declarations import Analyst
from discreet.statistics.measurement import Counts, PowerSums
from tests.query.small_tables import Told, Untouchable, policy_for, table_policy

TABLE = table_policy(unit="row")
ASK = "SELECT g, COUNT(*) AS n, AVG(x) AS m, MEDIAN(x) AS q FROM t GROUP BY g"


def policy(**changes):
    return policy_for(TABLE, PureDP(80), analysts={"ana": Analyst("ana"), "bo": Analyst("bo")}, **changes)


def told():
    sums = ([(0,), (1,)], {"One": [500, 30], "Steps": [900, 70], "Present": [500, 30]})
    return Told(sums, {(0,): ([1, 2], [3, 4]), (1,): ([1], [3])})


def session(stated, ledger, *, analyst="ana", on=None):
    return Session(stated, analyst=analyst, engine=on or told(), ledger=ledger)


@pytest.mark.parametrize(
    "other",
    [
        f"{ASK} LIMIT 1",
        f"{ASK} HAVING COUNT(*) > 100",
        f"{ASK} ORDER BY n DESC",
        "SELECT COUNT(*) AS n FROM t GROUP BY g HAVING AVG(x) > 0 AND MEDIAN(x) > 0",
        "SELECT g, COUNT(*) / 2 AS half, COUNT(*) AS n, AVG(x) AS m, MEDIAN(x) AS q FROM t GROUP BY g",
    ],
)
def test_having_limit_and_arithmetic_leave_no_trace(other):
    ledger = MemoryLedger(terms_of(policy()))
    asked = session(policy(), ledger)
    first = asked.sql(ASK, epsilon=1).measurements
    again = asked.sql(other, epsilon=1).measurements
    assert [one.identity for one in again] == [one.identity for one in first]
    assert [one.released for one in again] == [one.released for one in first]
    for one, two in zip(first, again, strict=True):
        assert (one.plan.adds_up, one.plan.noise, one.plan.keys, one.plan.source) == (
            two.plan.adds_up, two.plan.noise, two.plan.keys, two.plan.source,
        )  # fmt: skip


@pytest.mark.parametrize("shared", [False, True])
def test_a_replay_by_anybody_is_the_same_measurement(shared):
    stated = policy(shared_answers=shared)
    ledger = MemoryLedger(terms_of(stated))
    first = session(stated, ledger).sql(ASK, epsilon=1)
    spent = ledger.balance().spent
    own = session(stated, ledger, on=Untouchable()).sql(ASK, epsilon=1)
    assert own.record.replayed
    assert own.measurements == first.measurements
    assert ledger.balance().spent == spent
    if shared:
        other = session(stated, ledger, analyst="bo", on=Untouchable()).sql(ASK, epsilon=1)
        assert other.measurements == first.measurements
        assert ledger.balance().spent == spent


def test_another_price_or_measure_is_another_measurement():
    ledger = MemoryLedger(terms_of(policy()))
    asked = session(policy(), ledger)
    answers = [asked.sql(ASK, epsilon=price) for price in (1, 2)]
    identities = [one.identity for answer in answers for one in answer.measurements]
    assert len(set(identities)) == len(identities) == 4
    assert len({one.release for answer in answers for one in answer.measurements}) == 2


def test_quantiles_are_left_out_and_all_groups_are_there():
    found = session(policy(), MemoryLedger(terms_of(policy()))).sql(f"{ASK} LIMIT 1", epsilon=1)
    count, mean = found.measurements
    assert (type(count.plan.adds_up), type(mean.plan.adds_up)) == (Counts, PowerSums)
    assert count.plan.keys == mean.plan.keys == ((0,), (1,))
    assert [len(mean.released), len(mean.released[0])] == [2, 2]
    assert count.guarantee == found.guarantee
    assert (
        session(policy(), MemoryLedger(terms_of(policy()))).sql("SELECT MEDIAN(x) FROM t", epsilon=1).measurements == ()
    )


def test_keys_in_another_order_are_the_same_groups():
    stated = policy_for(table_policy(unit="row"), PureDP(9))
    sums = ([(0, "a"), (1, "b")], {"One": [50, 3]})
    keys = {"w": ["b", "a"]}
    ledger = MemoryLedger(terms_of(stated))
    first, again = (
        session(stated, ledger, on=Told(sums)).sql(ask, epsilon=1, keys=keys)
        for ask in ("SELECT COUNT(*) AS n FROM t GROUP BY g, w", "SELECT COUNT(*) AS n FROM t GROUP BY w, g")
    )
    one, two = first.measurements[0], again.measurements[0]
    assert one.identity == two.identity
    assert one.plan.source.keys == two.plan.source.keys[::-1]
    held = dict(zip(one.plan.keys, one.released[0], strict=True))
    assert {key[::-1]: count for key, count in zip(two.plan.keys, two.released[0], strict=True)} == held


def frames(**more):
    given = {
        "unit": "row",
        "budget": ApproxDP(50, 1e-3),
        "t": pd.DataFrame({"g": ["a", "b"] * 40, "x": [1.0, 2.0] * 40}),
    }
    return Session.from_frames(**{**given, **more})


def test_frames_without_a_name_are_about_people_of_their_own():
    ask = "SELECT COUNT(*) AS n FROM t"
    one, two = (frames().sql(ask, epsilon=1).measurements[0] for _ in range(2))
    assert one.plan.source.lineage != two.plan.source.lineage
    named = [frames(lineage="trial").sql(ask, epsilon=1).measurements[0] for _ in range(2)]
    assert {one.plan.source.lineage for one in named} == {"trial"}
    assert named[0].identity != named[1].identity


def test_rehearsals_are_labelled_and_about_made_up_rows_of_their_own():
    asked = frames(lineage="trial", columns={"x": (0, 5)})
    one, two = (asked.rehearse("SELECT AVG(x) AS m FROM t", epsilon=1).measurements[0] for _ in range(2))
    assert one.rehearsed
    assert len({one.plan.source.lineage, two.plan.source.lineage, "trial"}) == 3


def test_private_keys_bring_the_numbers_of_units_that_selected_them():
    found = frames().sql("SELECT g, SUM(x) AS s FROM t GROUP BY g", epsilon=2, delta=1e-5, bounds={"x": (0, 5)})
    total, units = found.measurements
    assert units.plan.adds_up.selects
    assert units.plan.keys == total.plan.keys == tuple((row,) for row in found["g"])
    assert not units.plan.source.listed


def test_groups_that_were_chosen_by_their_hash_are_shared_by_equal_queries_only():
    frame = pd.DataFrame({"u": [1, 1, 2, 3] * 20, "g": ["a", "b", "a", "b"] * 20, "h": ["c", "d", "d", "c"] * 20})
    domains = {"u": {"type": "integer"}, "g": {"values": ["a", "b"]}, "h": {"values": ["c", "d"]}}
    asked = frames(unit="u", rows=2, groups=1, rows_per_group=2, columns=domains, t=frame, lineage="one")

    def bounding(by, epsilon, **more):
        sql = "SELECT COUNT(DISTINCT u) AS n FROM t GROUP BY g, h"
        return asked.sql(sql.replace("g, h", by), epsilon=epsilon, **more).measurements[0].plan.source.bounding

    fresh = bounding("g, h", 1)
    assert bounding("g, h", 1.5) == fresh
    assert bounding("h, g", 1.25) != fresh
    assert bounding("g, h", 1.75, keys={"h": ["c"]}) != fresh
    replayed = bounding("h, g", 1)  # who was counted where follows the first spelling, which is not this one
    assert replayed == bounding("g, h", 1) != fresh
    assert bounding("h, g", 2) != replayed
