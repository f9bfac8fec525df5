"""Sessions: charged before data is read, nothing private in words, never over the budget."""

from __future__ import annotations

import copy
import pickle
import threading
import traceback
from dataclasses import replace
from fractions import Fraction

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.errors import (
    BudgetExceeded,
    ConflictingParameters,
    DiscreetError,
    InputError,
    MissingParameter,
    NotCopyable,
    ParameterError,
    PolicyError,
    QueryFailed,
    QueryRefused,
    UnknownName,
)
from discreet.ledger import MemoryLedger
from discreet.privacy import ZCDP, ApproxDP, PureDP, Relation
from discreet.query import Session
from discreet.query.policy import terms_of
from discreet.query.policy.declarations import Analyst, TablePolicy, UnitColumn
from discreet.query.session.charging import FAILED, UNBOUNDED
from discreet.query.session.grants import grant_once
from tests.query.small_tables import Told, Untouchable, policy_for, table_policy

PEOPLE = Relation.ADD_REMOVE
COLUMNS = {"region": {"values": ["north", "south"]}, "cost": {"min": 0, "max": 500}}
ASK = "SELECT region, COUNT(*) AS n FROM visits GROUP BY region"


def frame(count=300):
    return pd.DataFrame(
        {
            "patient": [row // 3 for row in range(count)],
            "region": ["north", "south", "elsewhere"] * (count // 3),
            "cost": [float(row % 500) for row in range(count)],
            "ward": [f"ward-{row % 7}" for row in range(count)],
        }
    )


def open_session(budget=None, **changes):
    given = {"visits": frame(), "unit": "patient", "rows": 3, "budget": budget or PureDP(8), "columns": COLUMNS}
    return Session.from_frames(**{**given, **changes})


def test_a_bare_column_is_declared_for_every_table_that_has_it():
    people = pd.DataFrame({"patient": [0, 1], "Region": ["north", "south"], "age": [3, 4]})
    columns = COLUMNS | {"age": {"min": 0, "max": 9}}
    with open_session(people=people, columns=columns) as session:
        assert session.policy.tables["visits"].columns["region"].domain == ("north", "south")
        assert session.policy.tables["people"].columns["Region"].domain == ("north", "south")
        assert session.policy.tables["people"].columns["age"].interval == (0, 9)
        joined = (
            "SELECT visits.region, AVG(age) AS m, SUM(cost) AS c FROM visits JOIN people USING (patient) GROUP BY 1"
        )
        assert session.explain(joined, epsilon=1).fits == 8
    with pytest.raises(PolicyError, match="has no column ages"):
        open_session(people=people, columns=columns | {"ages": {"min": 0, "max": 9}})


def small_session(engine, budget=None, table=None, **changes):
    policy = policy_for(table or table_policy(rows=2, groups=2), budget or PureDP(8), **changes)
    return Session(policy, analyst="ana", engine=engine, ledger=MemoryLedger(terms_of(policy)))


def entries(session):
    return [(entry.number, entry.hash) for entry in session.ledger.entries()]


@pytest.mark.theorem("Session.privacy")
def test_every_answer_is_charged_what_it_guarantees_and_the_sum_keeps_the_budget():
    with open_session(PureDP(1)) as session:
        asked = (ASK, ASK, "SELECT COUNT(*) AS n FROM visits")
        for sql, epsilon in zip(asked, (0.25, 0.5, 0.25), strict=True):
            answer = session.sql(sql, epsilon=epsilon)
            assert answer.guarantee == PureDP(epsilon, relation=PEOPLE)
            assert not answer.record.replayed
        assert session.balance.spent.epsilon == 1
        before = entries(session)
        with pytest.raises(BudgetExceeded):
            session.sql(ASK, epsilon=Fraction(1, 10**9))
        assert entries(session) == before


@pytest.mark.theorem("Session.privacy")
@pytest.mark.parametrize(
    ("budget", "prices", "spent"),
    [
        (PureDP(4), [{"epsilon": 1}, {"share": 0.5}], {"epsilon": 3}),
        (ApproxDP(4, 1e-3), [{"epsilon": 1, "delta": 2.0**-20}, {"share": 0.5}], {"epsilon": 3, "delta": None}),
        (ZCDP(2, 1e-3), [{"rho": 0.5, "delta": 2.0**-20}, {"share": 0.25}], {"rho": 1, "delta": None}),
    ],
)
def test_the_ledger_is_charged_the_sum_of_the_parts_under_every_budget(budget, prices, spent):
    keyed = "SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY ward"
    plain = "SELECT COUNT(*) AS n, AVG(cost) AS m, MEDIAN(cost) AS q FROM visits"
    with open_session(budget, groups=2, rows_per_group=2) as session:
        queries = [plain, plain] if isinstance(budget, PureDP) else [keyed, plain]
        whole = Fraction(0)
        for query, price in zip(queries, prices, strict=True):
            answer = session.sql(query, **price)
            parts = [one.rho if one.rho is not None else one.epsilon for one in answer.priced.parts]
            assert sum(parts) == answer.priced.cost.amount
            whole += sum(parts)
        found = session.balance.spent
        name = "rho" if isinstance(budget, ZCDP) else "epsilon"
        assert Fraction(getattr(found, name)) == whole == spent[name]
        if "delta" in spent:
            assert Fraction(found.delta) == Fraction(2.0**-20)


@pytest.mark.parametrize(
    "price",
    [
        {},
        {"epsilon": 1, "rho": 1},
        {"epsilon": 0},
        {"epsilon": float("nan")},
        {"epsilon": "1"},
        {"share": 2},
        {"share": 0.5, "delta": 1e-6},
        {"rho": 1},
        {"epsilon": 1, "delta": 1e-6},
        {"error": -1},
        {"epsilon": 9},
    ],
)
def test_a_bad_price_is_refused_before_anything_is_charged_or_read(price):
    engine = Untouchable()
    session = small_session(engine)
    before = entries(session)
    for call in (session.sql, session.rehearse):
        with pytest.raises(DiscreetError) as caught:
            call("SELECT COUNT(*) AS n FROM t", **price)
        assert "secret" not in str(caught.value)
    assert entries(session) == before
    assert engine.reads == 0


@pytest.mark.theorem("Session.privacy")
@pytest.mark.parametrize("sql", ["SELECT COUNT(*) AS n FROM t", "SELECT MEDIAN(x) AS m FROM t"])
def test_an_engine_that_fails_says_one_constant_sentence_and_the_price_stays_spent(sql):
    session = small_session(Untouchable())
    with pytest.raises(QueryFailed) as caught:
        session.sql(sql, epsilon=1)
    failure = caught.value
    assert str(failure) == FAILED
    assert failure.__context__ is None
    assert failure.__cause__ is None
    assert "secret-4711" not in "".join(traceback.format_exception(failure))
    assert session.balance.spent.epsilon == 1
    kinds = [entry.kind.value for entry in session.ledger.entries()]
    assert len(kinds) == 3
    assert "failed" in str([entry.fields for entry in session.ledger.entries()][-1])
    assert "secret" not in str([entry.fields for entry in session.ledger.entries()])
    reads, before = session.engine.reads, entries(session)
    with pytest.raises(QueryRefused, match=r"open another session\. Nothing was spent\.$"):
        session.sql(sql, epsilon=1)
    assert (session.engine.reads, entries(session)) == (reads, before)
    other = Session(session.policy, analyst="ana", engine=Untouchable(), ledger=session.ledger)
    with pytest.raises(QueryFailed):
        other.sql(sql, epsilon=1)
    assert other.balance.spent.epsilon == 2


def test_top_watch_grant_and_bound_fail_without_a_word_of_the_engine():
    keyed = "SELECT g, COUNT(*) AS n FROM t GROUP BY g"

    def granted(session):
        with session.grant("t", ["x"], PureDP(1)):
            raise AssertionError("no rows were handed out")

    for call, words, spent in (
        (lambda session: session.top(keyed, k=1, epsilon=1), FAILED, 1),
        (lambda session: session.watch(3, epsilon=1).ask("SELECT COUNT(*) AS n FROM t"), FAILED, 1),
        (granted, FAILED, 1),
        (lambda session: session.bound("t"), UNBOUNDED, 0),
    ):
        session = small_session(Untouchable())
        with pytest.raises(QueryFailed) as caught:
            call(session)
        assert str(caught.value) == words
        assert caught.value.__context__ is None
        assert caught.value.__cause__ is None
        assert session.balance.spent.epsilon == spent


def test_a_closed_session_refuses_every_question_before_the_charge():
    keyed = "SELECT region, COUNT(*) AS n FROM visits GROUP BY region"

    def granted(session):
        with session.grant("visits", ["cost"], PureDP(1)):
            raise AssertionError("no rows were handed out")

    def once(session):
        work = {"digest": "0" * 64, "description": "", "releases": (), "work": lambda *_: ("made", "text")}
        grant_once(session, "visits", ["cost"], PureDP(1), **work)

    with open_session() as session:
        watching = session.watch(3, epsilon=1)
    before = entries(session)
    for call in (
        lambda: session.sql(keyed, epsilon=1),
        lambda: session.top(keyed, k=1, epsilon=1),
        lambda: session.watch(3, epsilon=1).ask("SELECT COUNT(*) AS n FROM visits"),
        lambda: watching.ask("SELECT COUNT(*) AS n FROM visits"),
        lambda: granted(session),
        lambda: once(session),
        lambda: session.bound("visits"),
    ):
        with pytest.raises(QueryRefused, match=r"this session is closed.*Nothing was spent"):
            call()
    assert session.balance.spent.epsilon == 0
    assert entries(session) == before
    session.close()


@pytest.mark.theorem("Session.privacy")
def test_eight_threads_at_once_never_overspend():
    session = small_session(Told(([()], {"One": [5]})), PureDP(2))
    count, outcomes, gate = "SELECT COUNT(*) AS n FROM t", [], threading.Barrier(8)

    def ask(number):
        gate.wait()
        for again in range(10):
            try:
                session.sql(f"{count} WHERE x > {number * 10 + again}", epsilon=0.125)
                outcomes.append("answered")
            except BudgetExceeded:
                outcomes.append("refused")

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 80
    assert outcomes.count("answered") == 16
    assert session.balance.spent.epsilon == 2
    session.ledger.verify()


@pytest.mark.theorem("Session.privacy")
def test_what_is_answered_afresh_at_once_is_paid_each_time():
    gate = threading.Barrier(4)

    class Waiting(Told):
        def run(self, request):
            gate.wait()  # all four have been charged before any of them has an answer
            return super().run(request)

    session = small_session(Waiting(([()], {"One": [5]})), PureDP(2))
    answers, asked = [], iter("1234")
    threads = [
        threading.Thread(
            target=lambda: answers.append(
                session.sql("SELECT COUNT(*) AS n FROM t WHERE x < @".replace("@", next(asked)), epsilon=0.25)
            )
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 4
    assert session.balance.spent.epsilon == 1
    assert not any(one.record.replayed for one in answers)
    again = session.sql("SELECT COUNT(*) AS n FROM t WHERE x < 3", epsilon=0.25)
    assert again.record.replayed
    assert again.rows in [one.rows for one in answers]


def test_threads_may_share_a_session_on_a_database():
    with open_session(PureDP(4)) as session:
        found, gate = [], threading.Barrier(8)

        def ask(number):
            gate.wait()
            found.append(session.sql(ASK, epsilon=0.25, keys={"region": ["north", f"place {number}"]}))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 8
        assert session.balance.spent.epsilon == 2
        assert sorted(one.record.number for one in found) == sorted({one.record.number for one in found})


def test_a_session_is_neither_pickled_nor_copied_and_shows_nothing_of_the_data():
    with open_session() as session:
        for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(NotCopyable):
                attempt(session)
        made = session._charging.priced(
            ASK, __import__("discreet.query.pricing.price", fromlist=["read_price"]).read_price(epsilon=1)
        )
        shown = [repr(session), str(session), session._repr_html_(), repr(made), str(made), repr(session.engine)]
        shown += [str(session.balance), repr(session.ledger), str(session.explain(ASK, epsilon=1))]
        for text in shown:
            assert "ward-" not in text
            assert "elsewhere" not in text


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_frames_of_three_kinds_are_read_alike(kind):
    table = {"pandas": frame, "polars": lambda: pl.from_pandas(frame()), "arrow": lambda: pa.table(frame())}[kind]()
    with open_session(visits=table) as session:
        answer = session.sql(ASK, epsilon=8)
        assert all(abs(value - 100) < 100 for value in answer["n"])
        assert session.tables()["visits"]["cost"] == "real"


def test_only_a_listed_analyst_may_ask():
    policy = policy_for(table_policy(rows=1))
    with pytest.raises(UnknownName, match="not among the analysts"):
        Session(policy, analyst="bo", engine=Told(), ledger=MemoryLedger(terms_of(policy)))


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"visits": None, "budget": PureDP(1)}, DiscreetError),
        ({"unit": "nobody"}, PolicyError),
        ({"rows": None}, MissingParameter),
        ({"rows": 0}, ParameterError),
        ({"rows": True}, ParameterError),
        ({"budget": 3}, ParameterError),
        ({"ledger": "ledger.sqlite"}, MissingParameter),
        ({"unit": {"other": "patient"}}, MissingParameter),
        ({"columns": {"nowhere.cost": {"min": 0, "max": 1}}}, ParameterError),
        ({"columns": {"cost": {"min": 5, "max": 1}}}, PolicyError),
        ({"public": {"regions": frame()}}, ParameterError),
    ],
)
def test_what_frames_need_is_said_before_anything_is_opened(changes, error):
    with pytest.raises(error):
        open_session(**changes)
    with pytest.raises(MissingParameter, match="name at least one table"):
        Session.from_frames(unit="row", budget=PureDP(1))


def test_a_public_frame_joins_by_its_unique_column():
    regions = pd.DataFrame({"region": ["north", "south", "elsewhere"], "country": ["A", "B", "B"]})
    with open_session(
        public={"regions": (regions, "region")},
        columns={**COLUMNS, "regions.country": {"values": ["A", "B"]}},
    ) as session:
        answer = session.sql(
            "SELECT country, COUNT(*) AS n FROM visits JOIN regions USING (region) GROUP BY country", epsilon=8
        )
        assert abs(answer["n"][1] - 200) < 100


@pytest.mark.theorem("Session.privacy")
def test_a_grant_is_charged_once_and_recorded_and_hands_out_units():
    with open_session(PureDP(2)) as session:
        with session.grant("visits", ["cost"], PureDP(0.5), purpose="a model") as rows:
            assert session.balance.spent.epsilon == 0.5
            assert set(rows) == {"cost", "unit"}
            assert len(rows["cost"]) == 300
        with pytest.raises(ValueError, match="inside"), session.grant("visits", ["cost"], PureDP(0.5)):
            raise ValueError("inside")
        assert session.balance.spent.epsilon == 1
        before = entries(session)
        for arguments, error in (
            (("nothing", ["cost"], PureDP(0.5)), UnknownName),
            (("visits", ["nothing"], PureDP(0.5)), UnknownName),
            (("visits", ["cost"], 0.5), ParameterError),
            (("visits", ["cost"], PureDP(2)), BudgetExceeded),
        ):
            with pytest.raises(error), session.grant(*arguments):
                pass
        assert entries(session) == before


def test_a_bounded_table_is_made_once_and_read_by_the_queries_it_fits():
    with open_session(PureDP(100), groups=2, rows_per_group=2) as session:
        plain = session.explain(ASK, epsilon=1)
        session.bound("visits")
        session.bound("VISITS")
        bounded = session.explain(ASK, epsilon=1)
        assert "bounded beforehand to 3 rows" in bounded.bounding
        assert plain.digest != bounded.digest
        assert abs(session.sql(ASK, epsilon=8)["n"][0] - 100) < 100
        units = session.sql("SELECT COUNT(DISTINCT patient) AS u FROM visits", epsilon=8)
        assert "bounded beforehand" not in units.priced.bounding.reason
        assert session.balance.spent.epsilon == 16
        with pytest.raises(UnknownName):
            session.bound("nothing")


def test_only_what_has_rows_to_bound_is_bounded():
    with open_session(unit="row", rows=None) as session, pytest.raises(ParameterError, match="nothing to bound"):
        session.bound("visits")
    with (
        open_session(rows=None, groups=2, rows_per_group=2) as session,
        pytest.raises(MissingParameter, match="rows = "),
    ):
        session.bound("visits")


def test_a_declared_size_makes_every_guarantee_one_about_a_changed_unit():
    table = replace(table_policy(unit="row"), people=7)
    session = small_session(Told(([()], {"One": [7]})), table=table)
    answer = session.sql("SELECT COUNT(*) AS n FROM t", epsilon=1)
    assert answer.relation is Relation.CHANGE_ONE
    assert session.balance.spent.relation is Relation.CHANGE_ONE


def test_rehearsals_and_explanations_read_nothing_and_spend_nothing():
    engine = Untouchable()
    session = small_session(engine, ZCDP(2, 1e-3))
    before = entries(session)
    for sql, price in (
        ("SELECT COUNT(*) AS n, AVG(x) AS m FROM t", {"rho": 1}),
        ("SELECT g, COUNT(DISTINCT u) AS c FROM t GROUP BY g", {"share": 0.5}),
        ("SELECT w, MEDIAN(x) AS m FROM t GROUP BY w", {"rho": 1, "delta": 1e-6}),
        ("SELECT COUNT(*) AS n FROM t", {"epsilon": 1, "delta": 1e-6}),
        ("SELECT COUNT(*) AS n FROM t", {"error": 100}),
    ):
        answer = session.rehearse(sql, size=2000, **price)
        assert answer.to_dict()
        explained = session.explain(sql, **price)
        assert explained.digest == answer.priced.digest
        assert explained.guarantee == answer.guarantee
    assert engine.reads == 0
    assert entries(session) == before
    with pytest.raises(ParameterError, match="size= must be a number of made-up rows"):
        session.rehearse("SELECT COUNT(*) AS n FROM t", size=0, rho=1)


def test_a_rehearsal_has_every_type_and_link_of_the_policy():
    from datetime import date, datetime

    from discreet.frames import Type
    from discreet.query.policy.declarations import ColumnPolicy, UnitLink

    columns = {
        one.name: one
        for one in (
            ColumnPolicy("u", Type.TEXT),
            ColumnPolicy("flag", Type.BOOLEAN, public=True),
            ColumnPolicy("day", Type.DATE, date(2026, 1, 1), date(2026, 1, 5), public=True),
            ColumnPolicy("at", Type.TIMESTAMP, datetime(2026, 1, 1), datetime(2026, 1, 5)),
            ColumnPolicy("born", Type.DATE),
            ColumnPolicy("share", Type.REAL, Fraction(0), Fraction(1)),
            ColumnPolicy("name", Type.TEXT),
            ColumnPolicy("size", Type.INTEGER),
        )
    }
    people = TablePolicy("people", UnitColumn("u"), columns, table_policy(rows=1).limits)
    link = {
        "owner": ColumnPolicy("owner", Type.INTEGER),
        "x": ColumnPolicy("x", Type.INTEGER, Fraction(0), Fraction(9)),
    }
    visits = TablePolicy("visits", UnitLink("owner", "people", "size"), link, table_policy(rows=3).limits)
    policy = policy_for(people, tables={"people": people, "visits": visits})
    session = Session(policy, analyst="ana", engine=Untouchable(), ledger=MemoryLedger(terms_of(policy)))
    for sql in (
        "SELECT flag, COUNT(*) AS n FROM people GROUP BY flag",
        "SELECT day, AVG(share) AS m FROM people GROUP BY day",
        "SELECT EXTRACT(year FROM at) AS y, COUNT(*) AS n FROM people GROUP BY EXTRACT(year FROM at)",
        "SELECT COUNT(*) AS n FROM people WHERE name LIKE 'text%' AND born > DATE '1990-01-01'",
        "SELECT SUM(x) AS s FROM visits",
    ):
        answer = session.rehearse(sql, size=500, epsilon=1)
        assert len(answer) >= 1


def test_caps_of_analysts_bind_within_the_budget():
    analysts = {"ana": Analyst("ana", PureDP(1)), "bo": Analyst("bo")}
    session = small_session(Told(([()], {"One": [5]})), PureDP(8), analysts=analysts)
    session.sql("SELECT COUNT(*) AS n FROM t", epsilon=1)
    with pytest.raises(BudgetExceeded):
        session.sql("SELECT COUNT(*) AS n FROM t WHERE x > 1", epsilon=0.5)
    assert session.explain("SELECT COUNT(*) AS n FROM t", epsilon=1).fits == 0
    with pytest.raises(ConflictingParameters):
        session.sql("SELECT COUNT(*) AS n FROM t", epsilon=1, share=0.5)


@pytest.mark.parametrize(("names", "unit"), [(["", "v0"], "v0"), (["id\0z", "id"], "id")])
def test_names_that_the_engine_would_change_are_refused(names, unit):
    """An empty name would become v0, and a name ends at a NUL: the unit would be another column."""
    one_person = pd.DataFrame({names[0]: [f"row {row}" for row in range(9)], names[1]: ["ana"] * 9}).astype("string")
    for frame in (one_person, pa.table({name: one_person[name].tolist() for name in names})):
        with pytest.raises(InputError, match="must have names"):
            Session.from_frames(visits=frame, unit=unit, rows=1, budget=PureDP(1))
