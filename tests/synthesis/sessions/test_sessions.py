"""Releases on a session's table: charged once and first, refused before that, silent about the data, free again."""

from __future__ import annotations

import itertools
import threading
import traceback
from collections import Counter
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

from discreet.errors import (
    BudgetExceeded,
    ConflictingParameters,
    DiscreetError,
    MissingBound,
    MissingParameter,
    ParameterError,
    QueryFailed,
    QueryRefused,
    UnknownName,
)
from discreet.ledger import MemoryLedger
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, PureDP, Relation, largest_mu
from discreet.privacy.numbers import written
from discreet.query import Session
from discreet.query.plan import bounded
from discreet.query.plan import granted_rows as granted_rows_module
from discreet.query.policy import terms_of
from discreet.query.policy.declarations import Analyst
from discreet.query.session.charging import FAILED
from discreet.synthesis import (
    Allowance,
    Bins,
    Domain,
    Neighbors,
    Synthesizer,
    SyntheticRelease,
    SyntheticTable,
    Workload,
    conjunctions,
    marginals,
)
from discreet.synthesis.methods import METHODS
from discreet.synthesis.sessions.asking import best, domain_of, dual_query, independent, mwem, synthesize, tree
from discreet.synthesis.sessions.asking import explain_synthesis as explain
from discreet.synthesis.sessions.domain import packed
from discreet.synthesis.sessions.release import released
from discreet.synthesis.sessions.stored import MOST_BYTES
from tests.query.small_tables import Untouchable

COLUMNS = {
    "region": {"values": ["north", "south"]},
    "smokes": {"public": True, "type": "boolean"},
    "cost": {"min": 0, "max": 500},
    "age": {"type": "integer", "min": 0, "max": 99},
}


def frame(count: int = 60) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "patient": [row // 3 for row in range(count)],
            "region": ["north", "south", "elsewhere"] * (count // 3),
            "smokes": [row % 2 == 0 for row in range(count)],
            "cost": [float(row % 500) for row in range(count)],
            "age": [row % 120 for row in range(count)],
        }
    )


def open_session(budget: Any = None, **changes: Any) -> Session:
    given = {"visits": frame(), "unit": "patient", "rows": 3, "budget": budget or PureDP(8), "columns": COLUMNS}
    return Session.from_frames(**{**given, **changes})


def untouchable(session: Session) -> Session:
    policy = session.policy
    return Session(policy, analyst="analyst", engine=Untouchable(), ledger=MemoryLedger(terms_of(policy)))


def workload_of(session: Session, columns: tuple[str, ...] = ("region", "smokes")) -> Workload:
    return conjunctions(domain_of(session, "visits", columns), ways=2, count=12)


def entries(session: Session) -> list[tuple[str, dict[str, Any]]]:
    return [(entry.kind.value, dict(entry.fields)) for entry in session.ledger.entries()]


@dataclass(frozen=True, kw_only=True)
class Counted(Synthesizer):
    """A toy that keeps the records it was given, to look at them; it protects nobody."""

    name: ClassVar[str] = "counted"
    workload: Workload
    allowance: Allowance
    seen: list[Any]
    problem: Exception | None = None

    @property
    def plan(self) -> dict[str, Any]:
        return {"toy": True}

    def _release(self, records: Any, progress: Any) -> SyntheticRelease:
        self.seen.append(records)
        if self.problem is not None:
            raise self.problem
        progress(1, 1)
        return SyntheticRelease(
            method=self.name, workload=self.workload, neighbors=self.allowance.neighbors, guarantee=self.guarantee,
            table=SyntheticTable(records), answers=self.workload.frequencies(records), plan=self.plan,
            evidence={"odd": (Fraction(1, 3), float("inf"), None, {"deep": [np.int64(4), np.arange(3)]})},
        )  # fmt: skip


def counting(seen: list[Any], problem: Exception | None = None) -> Any:
    def make(workload: Workload, neighbors: Neighbors, price: Any) -> Counted:
        return Counted(
            workload=workload, allowance=Allowance.of(neighbors, **price.amounts()), seen=seen, problem=problem
        )

    return make


@pytest.mark.theorem("released.privacy")
@pytest.mark.parametrize(
    ("budget", "price", "guarantee"),
    [
        (PureDP(4), {"epsilon": 0.1}, PureDP(Fraction(1, 10))),
        (PureDP(4), {"share": 0.5}, PureDP(2)),
        (ApproxDP(4, 1e-3), {"epsilon": 1, "delta": 2.0**-20}, ApproxDP(1, Fraction(1, 2**20))),
        (ApproxDP(4, 2.0**-10), {"epsilon": 1}, PureDP(1)),
        (ApproxDP(4, 2.0**-10), {"share": 0.5}, ApproxDP(2, Fraction(1, 2**11))),
        (ZCDP(2), {"rho": 0.5}, ZCDP(Fraction(1, 2))),
        (ZCDP(2, 1e-6), {"share": 0.25}, ZCDP(Fraction(1, 2))),
        (ZCDP(2), {"epsilon": 1}, PureDP(1)),
    ],
)
def test_the_ledger_is_charged_the_guarantee_of_the_release_once(budget: Any, price: Any, guarantee: Any) -> None:
    with open_session(budget) as session:
        workload = workload_of(session)
        release = mwem(session, "visits", workload, people=60, **price)
        wanted = guarantee.under(Relation.ADD_REMOVE)
        assert release.guarantee == wanted
        kinds = [kind for kind, _ in entries(session)]
        assert kinds.count("charge") == 1
        charge = next(entry for entry in session.ledger.entries() if entry.kind.value == "charge")
        assert charge.cost == wanted
        assert "mwem" in charge.fields["description"]
        assert release.neighbors == Neighbors(Relation.ADD_REMOVE, 60, 3)


@pytest.mark.theorem("released.privacy")
def test_under_a_budget_of_zcdp_epsilon_and_delta_buy_the_rho_that_implies_them() -> None:
    with open_session(ZCDP(2, 1e-6)) as session:
        made = explain(session, "visits", workload_of(session), method="mwem", people=60, epsilon=1, delta=1e-6)
        assert isinstance(made.guarantee, ZCDP)
        assert made.guarantee.to_approx(Fraction(1, 10**6)).epsilon <= 1
        assert made.guarantee.delta == 0
        assert made.fits == int(2 / made.guarantee.rho)


def test_the_same_request_is_the_stored_release_and_free() -> None:
    with open_session() as session:
        workload = workload_of(session)
        first, again = (mwem(session, "visits", workload, people=60, epsilon=1) for _ in range(2))
        assert session.balance.spent.epsilon == 1
        assert (first.evidence["record"]["replayed"], again.evidence["record"]["replayed"]) == (False, True)
        assert first.evidence["record"]["number"] == again.evidence["record"]["number"]
        assert np.array_equal(first.answers, again.answers)
        assert np.array_equal(first.table.records.codes, again.table.records.codes)
        assert first.table.weights is not None
        assert np.array_equal(first.table.weights, again.table.weights)
        assert dict(first.plan) == dict(again.plan)
        assert again.guarantee == first.guarantee
        assert repr(again) == repr(first)


def test_another_price_size_method_or_workload_is_another_release() -> None:
    with open_session() as session:
        workload = workload_of(session)
        made = explain(session, "visits", workload, method="mwem", people=60, epsilon=1)
        others = [
            explain(session, "visits", workload, method="mwem", people=60, epsilon=2),
            explain(session, "visits", workload, method="mwem", people=61, epsilon=1),
            explain(session, "visits", workload, method="independent", people=60, epsilon=1),
            explain(session, "visits", workload_of(session, ("region", "age")), method="mwem", people=60, epsilon=1),
            replace(made, table=replace(made.table, name="other")),
        ]
        assert len({made.digest, *(other.digest for other in others)}) == 6
        assert explain(session, "visits", workload, method="mwem", people=60, epsilon=1).digest == made.digest


def test_another_analyst_gets_a_release_only_where_answers_are_shared_and_pays_for_it() -> None:
    for shared in (False, True):
        with open_session(PureDP(3)) as opened:
            both = {"analyst": Analyst("analyst"), "ben": Analyst("ben", PureDP(1))}
            policy = replace(opened.policy, analysts=both, shared_answers=shared)
            ledger = MemoryLedger(terms_of(policy))
            first = Session(policy, analyst="analyst", engine=opened.engine, ledger=ledger)
            second = Session(policy, analyst="ben", engine=opened.engine, ledger=ledger)
            workload = workload_of(opened)
            one, two = (mwem(session, "visits", workload, people=60, epsilon=1) for session in (first, second))
            assert two.evidence["record"]["replayed"] is shared
            assert (two.evidence["record"]["number"] == one.evidence["record"]["number"]) is shared
            assert ledger.balance("ben").spent.epsilon == (1 if shared else 2)
            assert ledger.balance("ben").own_spent.epsilon == 1  # type: ignore[union-attr]
            with pytest.raises(BudgetExceeded):
                mwem(second, "visits", workload, people=61, epsilon=1)


def test_a_release_too_large_to_keep_is_handed_out_once_and_charged_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_BYTES <= 256 << 20
    monkeypatch.setattr("discreet.synthesis.sessions.stored.MOST_BYTES", 10)
    with open_session() as session:
        workload = workload_of(session)
        for spent in (1, 2):
            release = mwem(session, "visits", workload, people=60, epsilon=1)
            assert not release.evidence["record"]["replayed"]
            assert session.balance.spent.epsilon == spent
        assert [fields["outcome"] for kind, fields in entries(session) if kind == "outcome"] == ["granted"] * 2


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"people": None}, MissingParameter, "people=, a number that you may tell everybody"),
        ({"people": 0}, ParameterError, "people="),
        ({"people": True}, ParameterError, "people="),
        ({"people": 10**400}, ParameterError, "people="),
        ({"epsilon": None}, MissingParameter, "write epsilon=, rho=, mu= or share="),
        ({"rho": 1, "epsilon": None}, ParameterError, "under a budget in epsilon"),
        ({"rho": 1}, ConflictingParameters, "write one of them"),
        ({"delta": 1e-6}, ParameterError, "under a pure budget"),
        ({"epsilon": float("nan")}, DiscreetError, "epsilon"),
        ({"epsilon": "1"}, DiscreetError, "epsilon"),
        ({"epsilon": 9}, BudgetExceeded, "epsilon"),
        ({"table": "nobody"}, UnknownName, "no private table"),
        ({"table": "visits; DROP TABLE visits"}, UnknownName, "no private table"),
        ({"method": "magic"}, UnknownName, "no method"),
        ({"workload": "SELECT 1"}, ParameterError, "Workload"),
        ({"error": 5}, ParameterError, "write epsilon="),
        (
            {"epsilom": 1},
            ParameterError,
            "no epsilom= here; there are epsilon=, delta=, rho=, mu=, share=, people=, progress=",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_charged_or_read(
    changes: Any, error: Any, words: str
) -> None:
    with open_session() as opened:
        session = untouchable(opened)
        given = {"table": "visits", "workload": workload_of(opened), "method": "mwem", "people": 60, "epsilon": 1}
        before = entries(session)
        with pytest.raises(error, match=words) as caught:
            synthesize(session, **{**given, **changes})
        assert caught.value.__cause__ is None
        assert entries(session) == before
        assert session.engine.reads == 0  # type: ignore[attr-defined]
        explain(session, "visits", given["workload"], method="mwem", people=60, epsilon=1)
        assert session.engine.reads == 0  # type: ignore[attr-defined]


def test_a_closed_session_is_refused_before_anything_is_charged() -> None:
    with open_session() as session:
        asked = workload_of(session)
    for method in ("mwem", "dual-query"):
        with pytest.raises(QueryRefused, match=r"this session is closed: open another one to ask. Nothing was spent."):
            synthesize(session, "visits", asked, method=method, epsilon=1, people=60)
    assert session.balance.spent.epsilon == 0
    assert not entries(session)[1:]


@pytest.mark.parametrize("wrong", [frame(), "visits", None])
def test_what_is_no_session_is_said_to_be_none(wrong: Any) -> None:
    with open_session() as session:
        asked = workload_of(session)
    for call in (
        lambda: domain_of(wrong, "visits"),
        lambda: best(wrong, "visits", asked, epsilon=1),
        lambda: dual_query(wrong, "visits", asked, epsilon=1),
        lambda: explain(wrong, "visits", asked, epsilon=1),
    ):
        with pytest.raises(ParameterError, match=r"must be a Session, not .*Session.from_frames"):
            call()


def test_keywords_that_a_function_does_not_take_are_named_with_those_it_takes() -> None:
    with open_session() as session:
        asked = workload_of(session)
        for call, words in (
            (
                lambda: explain(session, "visits", asked, epsilon=1, progress=print),
                "there are epsilon=.* people=. Nothing",
            ),
            (lambda: dual_query(session, "visits", asked, epsilon=1, round=3), "transcript=, accounting=.* rounds="),
            (
                lambda: dual_query(session, "visits", asked, epsilon=1, error=3),
                "error= sets the price of one answer",
            ),
            (lambda: tree(session, "visits", asked, epsilon=1, method="best"), "no method= here"),  # type: ignore[call-arg]
        ):
            with pytest.raises(ParameterError, match=words):
                call()


@pytest.mark.parametrize("name", ["dual_query", "dual-query", "dual query", "Dual Query"])
def test_a_method_has_one_name_in_every_spelling(name: str) -> None:
    with open_session() as session:
        found = explain(session, "visits", workload_of(session), method=name, epsilon=1, people=60)
        assert found.made.name == "dual query"


def test_a_prepared_release_prints_what_is_to_be_known_before_it_is_paid() -> None:
    with open_session() as session:
        found = explain(session, "visits", workload_of(session), method="tree", epsilon=1, people=60)
        assert repr(found) == "Prepared(tree, visits, 12 queries, epsilon 1)"
        lines = dict(line.split("  ", 1) for line in str(found).splitlines())
        assert {name: words.strip() for name, words in lines.items()} == dict(found.lines())
        assert lines["method"].strip() == "tree"
        assert "pure differential privacy" in lines["cost"]
        assert "8 times" in lines["fits"]
        assert {"plan: most edges", "plan: deviation"} <= lines.keys()
        assert "<dt>method</dt><dd>tree</dd>" in found._repr_html_()


@pytest.mark.parametrize(
    ("price", "squared"),
    [
        ({"mu": 0.5}, Fraction(1, 4)),
        ({"rho": 0.125}, Fraction(1, 4)),
        ({"share": 0.25}, Fraction(4)),
        ({"epsilon": 1, "delta": 1e-6}, largest_mu(Fraction(1), Fraction(1, 10**6)) ** 2),
        ({"epsilon": 1}, Fraction(PureDP(1).to_gaussian().mu) ** 2),
    ],
)
def test_a_gaussian_ledger_charges_the_mu_of_a_price(price: dict[str, float], squared: Fraction) -> None:
    with open_session(GaussianDP(4)) as session:
        independent(session, "visits", workload_of(session), people=60, **price)
        charged = written(session.balance.spent.mu) ** 2
        assert squared <= charged <= squared * (1 + Fraction(1, 10**12))


def test_under_zcdp_rho_is_a_whole_price() -> None:
    with open_session(ZCDP(2, 1e-6)) as session, pytest.raises(ConflictingParameters, match="write rho="):
        mwem(session, "visits", workload_of(session), people=60, rho=0.5, delta=1e-7)


def test_a_progress_that_fails_costs_nobody_the_release() -> None:
    def closed(*_: int) -> None:
        raise BrokenPipeError

    with open_session() as session:
        release = mwem(session, "visits", workload_of(session), people=60, epsilon=1, progress=closed)
        assert release.answers.shape == (12,)
        assert session.balance.spent.epsilon == 1


def test_best_is_a_function_like_the_others() -> None:
    with open_session() as session:
        workload = workload_of(session)
        one = best(session, "visits", workload, people=60, epsilon=1)
        again = synthesize(session, "visits", workload, people=60, epsilon=1)
        assert again.evidence["record"]["replayed"]
        assert np.array_equal(one.answers, again.answers)
        assert one.plan["reason"]
        assert session.balance.spent.epsilon == 1


@pytest.mark.parametrize("rows", [0, 1])
def test_a_table_with_nobody_or_one_person_in_it_is_no_error(rows: int) -> None:
    with open_session(PureDP(99), visits=frame(60).iloc[:rows]) as session:
        cells = marginals(domain_of(session, "visits", ["region", "smokes", "age"]), ways=1)
        for method in METHODS:
            release = synthesize(session, "visits", cells, method=method, people=60, epsilon=1)
            assert release.answers.shape == (len(cells),)
            assert np.all(np.isfinite(release.answers))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_explained_for_a_session(method: str) -> None:
    with open_session() as opened:
        session = untouchable(opened)
        cells = marginals(domain_of(opened, "visits", ["region", "smokes"]), ways=1)
        made = explain(session, "visits", cells, method=method, people=60, epsilon=1)
        assert made.guarantee == PureDP(1, relation=Relation.ADD_REMOVE)
        assert made.fits == 8
        assert made.plan


def test_a_domain_in_which_an_entry_could_be_an_error_is_refused() -> None:
    with open_session() as opened:
        session = untouchable(opened)
        strict = conjunctions(Domain.of(region=["north"], smokes=[True]), ways=1, count=3)
        with pytest.raises(ParameterError, match=r"missing=True\. Nothing was spent"):
            mwem(session, "visits", strict, people=60, epsilon=1)
        foreign = conjunctions(Domain.of({"diagnosis": ["flu"]}, missing=True), ways=1, count=3)
        with pytest.raises(UnknownName, match="has no column 'diagnosis'"):
            mwem(session, "visits", foreign, people=60, epsilon=1)
        assert session.engine.reads == 0  # type: ignore[attr-defined]


@pytest.mark.theorem("released.privacy")
def test_what_fails_after_the_charge_says_one_constant_sentence_and_stays_spent() -> None:
    with open_session() as opened:
        workload = workload_of(opened)
        broken = untouchable(opened)
        raising = counting([], ValueError("patient 17 has secret-4711"))
        for session, run in (
            (broken, lambda one: mwem(one, "visits", workload, people=60, epsilon=1)),
            (opened, lambda one: released(one, "visits", workload, raising, people=60, epsilon=1)),
        ):
            with pytest.raises(QueryFailed) as caught:
                run(session)
            assert str(caught.value) == FAILED
            assert caught.value.__context__ is None
            assert caught.value.__cause__ is None
            assert "secret-4711" not in "".join(traceback.format_exception(caught.value))
            assert session.balance.spent.epsilon == 1
            assert entries(session)[-1][1]["outcome"] == "failed"
            assert "secret" not in str(entries(session))
            with pytest.raises(QueryRefused, match="open another session"):
                run(session)
            assert session.balance.spent.epsilon == 1


def test_two_releases_at_once_are_charged_each_and_never_over_the_budget() -> None:
    with open_session(PureDP(2)) as session:
        workloads = [workload_of(session, pair) for pair in itertools.combinations(COLUMNS, 2)]
        outcomes, gate = [], threading.Barrier(len(workloads))

        def ask(workload: Workload) -> None:
            gate.wait()
            try:
                synthesize(session, "visits", workload, method="mwem", people=60, epsilon=0.5)
                outcomes.append("released")
            except BudgetExceeded:
                outcomes.append("refused")

        threads = [threading.Thread(target=ask, args=(one,)) for one in workloads]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert Counter(outcomes) == {"released": 4, "refused": 2}
        assert session.balance.spent.epsilon == 2
        session.ledger.verify()


@pytest.mark.theorem("released.privacy")
def test_a_unit_has_at_most_its_rows_and_rows_without_a_unit_are_left_out() -> None:
    patients = pd.array([1, 1, 1, 2, None, None], dtype="Int64")
    table = pd.DataFrame({"patient": patients, "region": ["north"] * 3 + ["south"] * 3})
    seen: list[Any] = []
    with open_session(visits=table, rows=2, columns={"region": COLUMNS["region"]}) as session:
        workload = conjunctions(domain_of(session, "visits", ["region"]), ways=1, count=3)
        release = released(session, "visits", workload, counting(seen), people=6, epsilon=1)
        assert sorted(seen[0].codes[0].tolist()) == [0, 0, 1]
        assert release.neighbors.rows == 2


def test_null_and_undeclared_values_have_a_code_and_numbers_are_clipped() -> None:
    table = pd.DataFrame(
        {
            "patient": range(5),
            "region": ["north", None, "elsewhere", "south", "north"],
            "smokes": pd.array([True, None, False, True, False], dtype="boolean"),
            "cost": [0.0, float("nan"), -5.0, 1e9, 499.0],
            "age": pd.array([0, None, 99, -3, 200], dtype="Int64"),
        }
    )
    seen: list[Any] = []
    with open_session(visits=table, rows=1) as session:
        domain = domain_of(session, "visits", bins=10)
        assert domain.names == ("region", "smokes", "cost", "age")
        assert domain.sizes == (3, 3, 11, 11)
        released(session, "visits", conjunctions(domain, ways=1, count=3), counting(seen), people=5, epsilon=1)
        assert sorted(zip(*seen[0].codes.tolist(), strict=True)) == [
            (0, 0, 9, 9), (0, 1, 0, 0), (1, 1, 9, 0), (2, 0, 0, 9), (2, 2, 10, 10),
        ]  # fmt: skip


def test_dates_keep_their_days_and_integers_their_middles() -> None:
    table = pd.DataFrame({"day": pd.to_datetime(["2026-01-02", "2026-01-03", None]).date, "age": [3, 40, 77]})
    columns = {
        "day": {"min": date(2026, 1, 1), "max": date(2026, 1, 3), "public": True},
        "age": {"type": "integer", "min": 0, "max": 99},
    }
    seen: list[Any] = []
    with open_session(visits=table, unit="row", rows=None, columns=columns) as session:
        domain = domain_of(session, "visits", bins={"age": 5})
        assert domain.attributes[0].values == (date(2026, 1, 1), date(2026, 1, 2), date(2026, 1, 3))
        assert domain.attributes[1].values == (9, 29, 49, 69, 89)
        released(session, "visits", conjunctions(domain, ways=1, count=3), counting(seen), people=3, epsilon=1)
        assert sorted(zip(*seen[0].codes.tolist(), strict=True)) == [(1, 0), (2, 2), (3, 3)]


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({}, MissingBound, r'Add ward = \{values = \[\.\.\.\]\} under \[tables\.visits\.columns\]'),
        ({"columns": ["weight"]}, MissingBound, r"weight = \{min = \.\.\., max = \.\.\.\}"),
        ({"columns": ["nothing"]}, UnknownName, "no column"),
        ({"columns": "region"}, ParameterError, "a list"),
        ({"columns": []}, ParameterError, "a list"),
        ({"columns": [1]}, ParameterError, "a list"),
        ({"columns": ["region", "region"]}, ParameterError, "twice"),
        ({"columns": ["cost"], "bins": 0}, ParameterError, "bins"),
        ({"columns": ["cost"], "bins": True}, ParameterError, "bins"),
        ({"columns": ["cost"], "bins": Bins((0, 1), 2)}, ParameterError, "bins"),
        ({"columns": ["cost"], "bins": {"nothing": 3}}, UnknownName, "no column"),
        ({"columns": ["region"], "bins": {"region": 3}}, ParameterError, "for columns of numbers"),
        ({"table": 'visits"; --'}, UnknownName, "no private table"),
    ],
)  # fmt: skip
def test_a_domain_that_the_policy_does_not_settle_is_refused_with_the_line_to_add(
    arguments: Any, error: Any, words: str
) -> None:
    table = frame(6).assign(ward="a", weight=3.5)
    with open_session(visits=table) as session, pytest.raises(error, match=words):
        domain_of(session, **{"table": "visits", **arguments})


def test_bins_by_name_and_stated_bins() -> None:
    with open_session() as session:
        domain = domain_of(session, "visits", ["age", "cost"], bins={"cost": Bins((0, 100), 4)})
        assert domain.attributes[1].edges == (0, 25, 50, 75, 100)  # type: ignore[attr-defined]
        assert len(domain.attributes[0]) == 26


@pytest.mark.parametrize("name", ['a"b', "x y", "select", "; DROP TABLE t", "naïve", "c" * 300, "100%"])
def test_hostile_names_are_names(name: str) -> None:
    table = pd.DataFrame({name: ["a", "b", "b"], "other": ["x", "x", "x"]})
    columns = {name: {"values": ["a", "b"]}, "other": {"values": ["x"]}}
    seen: list[Any] = []
    with Session.from_frames(unit="row", budget=PureDP(1), columns=columns, **{name: table}) as session:
        domain = domain_of(session, name)
        assert domain.names == (name, "other")
        released(session, name, conjunctions(domain, ways=1, count=3), counting(seen), people=3, epsilon=1)
        assert sorted(seen[0].codes[0].tolist()) == [0, 1, 1]


def test_a_declared_size_is_taken_and_forces_change_one() -> None:
    with open_session(unit="row", rows=None) as opened:
        sized = replace(opened.policy.tables["visits"], people=60)
        policy = replace(opened.policy, tables={"visits": sized})
        session = Session(policy, analyst="analyst", engine=Untouchable(), ledger=MemoryLedger(terms_of(policy)))
        made = explain(session, "visits", workload_of(opened), method="mwem", epsilon=1)
        assert made.made.allowance.neighbors == Neighbors(Relation.CHANGE_ONE, 60, 1)
        assert made.guarantee == PureDP(1, relation=Relation.CHANGE_ONE)
        with pytest.raises(ConflictingParameters, match="leave people= out"):
            explain(session, "visits", workload_of(opened), method="mwem", epsilon=1, people=61)


@pytest.mark.theorem("released.privacy")
def test_where_another_table_has_the_public_size_the_number_of_records_is_not_public() -> None:
    with open_session(rows=1) as opened:
        visits = opened.policy.tables["visits"]
        people = replace(visits, name="people", people=40)
        policy = replace(opened.policy, tables={"visits": visits, "people": people})
        session = Session(policy, analyst="analyst", engine=Untouchable(), ledger=MemoryLedger(terms_of(policy)))
        made = explain(session, "visits", workload_of(opened), method="mwem", epsilon=1, people=60)
        assert made.made.allowance.neighbors == Neighbors(Relation.CHANGE_ONE, 60, 1, everyone=False)
        assert not made.made.allowance.neighbors.same_count
        own = conjunctions(domain_of(session, "people", ["region", "smokes"]), ways=2, count=12)
        assert explain(session, "people", own, method="mwem", epsilon=1).made.allowance.neighbors.same_count


def test_a_unit_with_several_rows_needs_a_number_of_rows() -> None:
    with open_session(rows=None, groups=2, rows_per_group=2) as session:
        workload = workload_of(session)
        with pytest.raises(MissingBound, match=r"rows = \.\.\. under \[tables\.visits\]"):
            independent(session, "visits", workload, people=60, epsilon=1)


def kept_with(keys: dict[Any, int], rows: list[Any], most: int, monkeypatch: pytest.MonkeyPatch) -> set[Any]:
    """Return the rows that are kept where each row has the key that belongs to it."""
    monkeypatch.setattr(
        granted_rows_module, "_distinct_keys", lambda _: np.array([keys[row] for row in rows], dtype=np.uint64)
    )
    units = np.array([unit for unit, _ in rows], dtype=object)
    return {rows[place] for place in bounded(units, most)}


@pytest.mark.theorem("bounded.privacy")
def test_one_unit_changes_at_most_its_own_kept_rows_in_every_small_table(monkeypatch: pytest.MonkeyPatch) -> None:
    everybody = [(unit, number) for unit, most in (("a", 3), ("b", 2), ("c", 1)) for number in range(most)]
    orders = list(itertools.permutations(range(len(everybody))))
    for order in orders[:: max(1, len(orders) // 60)]:
        keys = dict(zip(everybody, order, strict=True))
        for most in (1, 2, 3):
            whole = kept_with(keys, everybody, most, monkeypatch)
            for unit in "abc":
                own = {row for row in whole if row[0] == unit}
                assert len(own) == min(most, sum(row[0] == unit for row in everybody))
                without = kept_with(keys, [row for row in everybody if row[0] != unit], most, monkeypatch)
                assert without == whole - own
                other = [row for row in everybody if row[0] != unit] + [("new", number) for number in range(3)]
                more = {**keys, **{("new", number): 100 + number for number in range(3)}}
                swapped = kept_with(more, other, most, monkeypatch)
                assert whole - own <= swapped
                assert len(swapped - whole) <= most


@pytest.mark.theorem("bounded.privacy")
def test_every_set_of_rows_of_a_unit_is_kept_equally_often(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("a", 0), ("b", 0), ("a", 1), ("a", 2), ("b", 1)]
    found = Counter(
        frozenset(kept_with(dict(zip(rows, order, strict=True)), rows, 2, monkeypatch))
        for order in itertools.permutations(range(5))
    )
    assert set(found.values()) == {40}
    assert len(found) == 3


def test_rows_are_kept_by_numbers_texts_and_dates_alike() -> None:
    for units in (
        [5, 5, 6],
        ["x", "x", "y"],
        np.array(["2026-01-01", "2026-01-01", "2026-01-02"], dtype="datetime64[D]"),
    ):
        kept = bounded(units, 1)
        assert len(kept) == 2
        assert 2 in kept
    assert len(bounded(np.array([], dtype=object), 3)) == 0


def test_a_table_in_which_every_row_is_a_unit_is_not_bounded() -> None:
    with open_session(unit="row", rows=None) as session:
        domain = domain_of(session, "visits", ["smokes"])
        table = session.policy.tables["visits"]
        records = packed(domain, table, {"smokes": np.array([True, False, True]), "unit": np.zeros(3)}, 1)
        assert len(records) == 3
