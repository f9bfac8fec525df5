"""The same question asked at the same time is charged once, by threads and by processes, whoever dies meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from discreet.errors import ParameterError, QueryFailed, QueryRefused, WaitedTooLong
from discreet.ledger import EntryKind, MemoryLedger, SqliteLedger
from discreet.privacy import PureDP
from discreet.query import Session
from discreet.query.policy import open_ledger, terms_of
from discreet.query.policy.declarations import Analyst
from tests.ledger.spenders import TURN
from tests.query.session.askers import ASK, POINTS
from tests.query.small_tables import Told, policy_for, table_policy

ROOT = Path(__file__).resolve().parents[3]
DURABLE = TURN.index("after commit")
THREADS = 8


def in_a_process_of_its_own(task, path, **arguments):
    text = json.dumps({"task": task, "path": str(path), **arguments})
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-m", "tests.query.session.askers", text]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False, timeout=1800)  # noqa: S603
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.theorem("Session.privacy")
def test_eight_threads_of_eight_processes_are_charged_once_and_get_one_answer(tmp_path, rounds):
    count = rounds(sample=1, full=20)
    found = in_a_process_of_its_own("crowd", tmp_path / "ledger.db", processes=8, threads=THREADS, rounds=count)
    charges, answers, distinct, paid, asked = 1, 1, 1, 1, 8 * THREADS
    assert found == [[charges, answers, distinct, paid, asked]] * count


@pytest.mark.theorem("Session.privacy")
def test_when_the_payer_is_killed_exactly_one_other_pays_and_all_get_its_answer(tmp_path, rounds):
    every = rounds(sample=10, full=1)
    points = POINTS[::every]
    found = in_a_process_of_its_own("killed", tmp_path / "ledger.db", points=points)
    for (turn, point), (charges, answers, distinct, lost) in zip(points, found, strict=True):
        durable = turn != 1 or TURN.index(point) >= DURABLE
        stored = turn == 2 and TURN.index(point) >= DURABLE
        assert (charges, answers, distinct) == (durable + (not stored), 1, 1), (turn, point)
        assert lost == ([[2]] if durable and not stored else [[]]), (turn, point)


class Slow(Told):
    """An engine that tells when it is asked, and answers, or fails, when it may."""

    def __init__(self, *, fails=False):
        super().__init__(([(0,)], {"One": [500]}))
        self.asked, self.may, self.fails = threading.Event(), threading.Event(), fails

    def run(self, request):
        self.asked.set()
        assert self.may.wait(60)
        if self.fails:
            raise RuntimeError("no memory for the row of Ana")
        return super().run(request)


def policy(**changes):
    analysts = {"ana": Analyst("ana"), "bo": Analyst("bo")}
    return policy_for(table_policy(unit="row"), PureDP(8), **{"analysts": analysts, **changes})


def seated(stated, ledger, *, analyst="ana", on=None):
    engine = on or Told(([(0,)], {"One": [500]}))
    return Session(stated, analyst=analyst, engine=engine, ledger=ledger)


class Asking(threading.Thread):
    """A thread that asks, and keeps what it got."""

    def __init__(self, ask):
        super().__init__()
        self.ask, self.found = ask, None
        self.start()

    def run(self):
        try:
            self.found = self.ask()
        except BaseException as problem:
            self.found = problem

    def end(self):
        self.join(60)
        assert not self.is_alive()
        return self.found


@pytest.fixture(params=["memory", "file"])
def ledger(request, tmp_path):
    if request.param == "memory":
        yield MemoryLedger(terms_of(policy()))
        return
    with SqliteLedger.open(tmp_path / "ledger.db", terms_of(policy())) as kept:
        yield kept


def ask(session, **more):
    return lambda: session.sql(ASK, epsilon=1, **more)


def waiting(ledger):
    """Wait until a thread waits for a turn."""
    while not ledger._turns._changed._waiters:
        os.sched_yield()


def test_threads_of_many_sessions_over_one_file_are_charged_once(tmp_path):
    stated = policy(ledger=tmp_path / "ledger.db")
    engine = Slow()
    sessions = [seated(stated, open_ledger(stated), on=engine) for _ in range(THREADS)]
    asked = [Asking(ask(session)) for session in sessions]
    engine.may.set()
    answers = [one.end() for one in asked]
    assert len({str(answer.rows) for answer in answers}) == 1
    assert sum(not answer.record.replayed for answer in answers) == 1
    assert sessions[0].balance.spent.epsilon == 1
    assert sessions[0].ledger._turns._descriptor is None
    for session in sessions:
        session.close()


def test_top_is_charged_once_too(ledger):
    engine = Slow()
    session = seated(policy(), ledger, on=engine)
    asked = [Asking(lambda: session.top(ASK, k=1, epsilon=1)) for _ in range(THREADS)]
    engine.may.set()
    found = [one.end() for one in asked]
    assert len({one.keys for one in found}) == 1
    assert ledger.balance().spent.epsilon == 1


def test_another_question_does_not_wait(ledger):
    engine = Slow()
    payer = Asking(ask(seated(policy(), ledger, on=engine)))
    engine.asked.wait(60)
    assert seated(policy(), ledger).sql(ASK, epsilon=0.5, timeout=0).record.number
    engine.may.set()
    payer.end()


def test_who_waits_too_long_is_refused_and_spends_nothing(ledger):
    engine = Slow()
    payer = Asking(ask(seated(policy(), ledger, on=engine)))
    engine.asked.wait(60)
    before = len(list(ledger.entries()))
    with pytest.raises(WaitedTooLong, match="Nothing was spent"):
        seated(policy(), ledger).sql(ASK, epsilon=1, timeout=0.01)
    assert len(list(ledger.entries())) == before
    engine.may.set()
    assert payer.end().rows == seated(policy(), ledger).sql(ASK, epsilon=1, timeout=0).rows


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("inf"), "soon", True, 1e12])
def test_a_timeout_is_a_number_of_seconds(timeout, ledger):
    with pytest.raises(ParameterError, match="timeout="):
        seated(policy(), ledger).sql(ASK, epsilon=1, timeout=timeout)
    assert ledger.balance().charges == 0


@pytest.mark.theorem("Session.privacy")
def test_when_the_payer_fails_the_next_pays_and_every_answer_says_so(ledger):
    engine = Slow(fails=True)
    payer = Asking(ask(seated(policy(), ledger, on=engine)))
    engine.asked.wait(60)
    others = [Asking(ask(seated(policy(), ledger))) for _ in range(3)]
    waiting(ledger)
    engine.may.set()
    assert isinstance(payer.end(), QueryFailed)
    answers = [other.end() for other in others]
    assert len({str(answer.rows) for answer in answers}) == 1
    assert {answer.record.lost for answer in answers} == {(2,)}
    assert all("(record 2) gave no answer and stays spent" in str(answer) for answer in answers)
    assert ledger.balance().spent.epsilon == 2
    ledger.verify()


def test_a_session_that_failed_while_a_question_of_it_waited_pays_nothing_more(ledger):
    engine = Slow(fails=True)
    session = seated(policy(), ledger, on=engine)
    payer = Asking(ask(session))
    engine.asked.wait(60)
    other = Asking(ask(session))
    waiting(ledger)
    engine.may.set()
    assert isinstance(payer.end(), QueryFailed)
    assert isinstance(other.end(), QueryRefused)
    assert ledger.balance().spent.epsilon == 1


def test_a_session_that_is_closed_while_it_waits_pays_nothing(ledger):
    engine = Slow()
    payer = Asking(ask(seated(policy(), ledger, on=engine)))
    engine.asked.wait(60)
    other = seated(policy(), ledger)
    asked = Asking(ask(other))
    waiting(ledger)
    other.close()
    engine.may.set()
    assert payer.end().record.number == 2
    assert isinstance(asked.end(), QueryRefused)
    assert ledger.balance().spent.epsilon == 1


def test_analysts_who_do_not_share_answers_do_not_wait_for_each_other(ledger):
    engine = Slow()
    payer = Asking(ask(seated(policy(), ledger, on=engine)))
    engine.asked.wait(60)
    assert not seated(policy(), ledger, analyst="bo").sql(ASK, epsilon=1, timeout=0).record.replayed
    engine.may.set()
    payer.end()
    assert ledger.balance().spent.epsilon == 2


def test_analysts_who_share_answers_wait_and_the_total_pays_once():
    stated = policy(shared_answers=True)
    ledger = MemoryLedger(terms_of(stated))
    engine = Slow()
    payer = Asking(ask(seated(stated, ledger, on=engine)))
    engine.asked.wait(60)
    other = Asking(ask(seated(stated, ledger, analyst="bo")))
    waiting(ledger)
    engine.may.set()
    assert payer.end().rows == other.end().rows
    assert ledger.balance().spent.epsilon == 1
    assert ledger.balance("bo").own_spent.epsilon == 1


def test_a_question_that_asks_itself_is_refused_at_once(ledger):
    inner = []

    class Asks(Told):
        def run(self, request):
            try:
                session.sql(ASK, epsilon=1)
            except WaitedTooLong as refusal:
                inner.append(str(refusal))
            return super().run(request)

    session = seated(policy(), ledger, on=Asks(([(0,)], {"One": [500]})))
    session.sql(ASK, epsilon=1)
    assert len(inner) == 1
    assert "wait for itself" in inner[0]
    assert ledger.balance().charges == 1


def test_two_questions_that_ask_each_other_do_not_wait_for_each_other(ledger):
    both, other = threading.Barrier(2), {ASK: "SELECT COUNT(*) AS n FROM t"}
    other[other[ASK]] = ASK

    class Crossed(Told):
        def __init__(self, sql):
            super().__init__(([(0,)], {"One": [500]}))
            self.sql, self.refused = other[sql], None

        def run(self, request):
            both.wait(60)
            try:
                seated(policy(), ledger).sql(self.sql, epsilon=1)
            except WaitedTooLong as refusal:
                self.refused = refusal
            both.wait(60)
            return super().run(request)

    engines = [Crossed(sql) for sql in other]
    asked = [
        Asking(lambda one=one, sql=sql: seated(policy(), ledger, on=one).sql(sql, epsilon=1))
        for one, sql in zip(engines, other, strict=True)
    ]
    assert [one.end().record.replayed for one in asked] == [False, False]
    assert all(engine.refused for engine in engines)


@pytest.fixture
def interruptible():
    """Let SIGINT interrupt here, also where the parent had this process ignore it, as shells do in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_the_waiting_and_leaves_the_turn_to_others(ledger):
    engine = Slow()
    payer = Asking(ask(seated(policy(), ledger, on=engine)))
    engine.asked.wait(60)
    waker = Asking(lambda: (waiting(ledger), signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)))
    with pytest.raises(KeyboardInterrupt):
        seated(policy(), ledger).sql(ASK, epsilon=1)
    waker.end()
    engine.may.set()
    assert payer.end().rows == seated(policy(), ledger).sql(ASK, epsilon=1, timeout=0).rows
    assert ledger.balance().spent.epsilon == 1


def test_an_interrupted_payer_leaves_the_turn_to_others(ledger):
    class Interrupted(Told):
        def run(self, _):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        seated(policy(), ledger, on=Interrupted()).sql(ASK, epsilon=1)
    assert seated(policy(), ledger).sql(ASK, epsilon=1, timeout=0).record.lost == (2,)


def test_a_child_forked_in_the_middle_of_a_question_neither_has_its_turn_nor_frees_it(tmp_path):
    assert in_a_process_of_its_own("forked", tmp_path / "ledger.db") == ["waited too long", "answered", 1]


def test_a_ledger_of_an_earlier_version_needs_nothing_for_it(tmp_path):
    stated = policy(ledger=tmp_path / "ledger.db")
    with SqliteLedger.open(stated.ledger, terms_of(stated)) as ledger:
        (tmp_path / "ledger.db.asking").unlink(missing_ok=True)
        answer = seated(stated, ledger).sql(ASK, epsilon=1)
        assert answer.record.lost == ()
        assert [entry.kind for entry in ledger.entries()] == [EntryKind.OPEN, EntryKind.CHARGE, EntryKind.ANSWER]
        ledger.verify()
