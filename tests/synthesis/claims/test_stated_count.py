"""A public number of records is the one that was stated: whatever the table holds, nothing exact is told of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.ledger import MemoryLedger
from discreet.privacy import PureDP, Relation
from discreet.query import Session
from discreet.query.policy import terms_of
from discreet.query.session.opening import policy_of_frames
from discreet.synthesis import Domain, Neighbors, NoisyAnswers, Records, Residual, SyntheticRelease, Workload, marginals
from discreet.synthesis.methods.weights.mwem import Mwem
from discreet.synthesis.methods.weights.reweighted import Reweighted
from discreet.synthesis.sessions.asking import domain_of, synthesize

STATED = 100
DOMAIN = Domain.of(a=range(2), b=range(3))
PEOPLE = Neighbors(Relation.CHANGE_ONE, STATED)
METHODS: dict[str, Any] = {
    "residual": Residual.of, "answers": NoisyAnswers.of, "mwem": Mwem.of, "reweighted": Reweighted.of,
}  # fmt: skip
PRICES: list[dict[str, Any]] = [{"epsilon": 1}, {"rho": 0.5}]
every_table = pytest.mark.parametrize("rows", [0, 1, 99, 100, 150])


def records(rows: int) -> Records:
    return Records(DOMAIN, np.array([np.arange(rows) % 2, np.arange(rows) % 3], dtype=np.uint16))


def people(ids: list[int | None]) -> pd.DataFrame:
    count = len(ids)
    sex, room = [("f", "m")[row % 2] for row in range(count)], [row % 3 for row in range(count)]
    return pd.DataFrame({"person": pd.array(ids, dtype="Int64"), "sex": sex, "room": room})


def told(release: SyntheticRelease) -> Any:
    return release.evidence["number of records"]


def of_session(table: pd.DataFrame, method: str) -> SyntheticRelease:
    columns = {"sex": {"values": ["f", "m"]}, "room": {"values": [0, 1, 2]}}
    left_out = dict.fromkeys(("groups", "rows_per_group", "outer_rows", "public", "ledger", "lineage"))
    given: dict[str, Any] = {
        "columns": columns,
        "analyst": "analyst",
        "unit_name": "person",
        "version": "1",
        **left_out,
    }
    made, engine = policy_of_frames({"people": table}, unit="person", rows=1, budget=PureDP(1), **given)
    policy = replace(made, tables={"people": replace(made.tables["people"], people=STATED)})
    with Session(policy, analyst="analyst", engine=engine, ledger=MemoryLedger(terms_of(policy))) as session:
        asked: Workload = marginals(domain_of(session, "people"), ways=2)
        return synthesize(session, "people", asked, method=method, epsilon=1)


@pytest.mark.theorem("released.privacy", "Residual.privacy", "NoisyAnswers.privacy", "AdaptiveRounds.privacy")
@pytest.mark.parametrize("method", METHODS)
def test_a_session_tells_the_declared_size_whether_or_not_somebody_has_a_row(method: str) -> None:
    whole = list(range(STATED))
    tables = [people(whole), people([*whole[:-1], None]), people(list(range(150)))]
    releases = [of_session(table, method) for table in tables]
    assert [told(release) for release in releases] == [STATED] * 3
    assert releases[0].plan == releases[1].plan == releases[2].plan
    assert releases[0].guarantee == releases[1].guarantee == releases[2].guarantee
    spread = [release.deviations for release in releases]
    if spread[0] is not None:
        assert all(np.array_equal(spread[0], one) for one in spread)


@pytest.mark.theorem("Residual.privacy", "NoisyAnswers.privacy", "AdaptiveRounds.privacy")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("price", PRICES)
@every_table
def test_records_in_memory_are_not_counted_either(method: str, price: dict[str, Any], rows: int) -> None:
    release = METHODS[method](marginals(DOMAIN, ways=2), PEOPLE, **price)(records(rows))
    assert told(release) == STATED


@pytest.mark.theorem("Residual.privacy", "measure_histograms.privacy")
@pytest.mark.parametrize("price", PRICES)
@every_table
def test_every_released_marginal_adds_up_to_the_stated_number(price: dict[str, Any], rows: int) -> None:
    release = Residual.of(marginals(DOMAIN, ways=1), PEOPLE, **price)(records(rows))
    for place in range(2):
        assert release.workload.table(place, release.answers).sum() == pytest.approx(1)
    assert release.evidence["residuals"].variances[()] == 0


def test_answers_are_counts_over_the_stated_number(monkeypatch: pytest.MonkeyPatch) -> None:
    for law in (DiscreteGaussian, RoundedGaussian, DiscreteLaplace):
        monkeypatch.setattr(law, "draw", lambda _law, count: np.zeros(count, dtype=np.int64))
    asked, table = marginals(DOMAIN, ways=2), records(50)
    release = NoisyAnswers.of(asked, PEOPLE, epsilon=1)(table)
    assert np.allclose(release.evidence["noisy answers"], asked.counts(table) / STATED)


@pytest.mark.theorem("Neighbors.privacy")
@pytest.mark.parametrize("size", [1, 7, 10**12])
def test_the_count_is_stated_only_where_every_unit_is_said_to_have_one_record(size: int) -> None:
    assert Neighbors(Relation.CHANGE_ONE, size).stated_count == size
    assert Neighbors(Relation.CHANGE_ONE, size, everyone=False).stated_count is None
    assert Neighbors(Relation.CHANGE_ONE, size, rows=2).stated_count is None
    assert Neighbors(Relation.ADD_REMOVE, size).stated_count is None
