"""DualQuery on a session with its draws in a file: a round is paid for as often as it is drawn, crashes included."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet.errors import BudgetExceeded, LedgerError, LedgerMismatch, LedgerTampered, QueryFailed, ReleaseSuperseded
from discreet.ledger import Charge, MemoryLedger, SqliteLedger
from discreet.ledger import ledger as ledger_rules
from discreet.ledger.contract.entry import Shelf
from discreet.ledger.contract.parts import keep_beginning, parts_of
from discreet.privacy import ZCDP, ApproxDP, PureDP, Relation
from discreet.query import Session
from discreet.query.engines.duckdb.engine import DuckDBEngine
from discreet.query.policy import terms_of
from discreet.query.policy.declarations import Analyst
from discreet.synthesis import Neighbors, SyntheticRelease, Workload, conjunctions
from discreet.synthesis.methods.dual_query.method import DualQuery, _Game
from discreet.synthesis.methods.dual_query.transcript import Round
from discreet.synthesis.sessions.asking import domain_of, dual_query
from discreet.synthesis.sessions.file_transcript import FileTranscript
from discreet.synthesis.sessions.transcript import rounds_again
from tests.conftest import Rounds
from tests.query.small_tables import Untouchable

ROUNDS = 6
SETUP = """
    import pandas as pd
    from discreet.privacy import PureDP
    from discreet.query import Session
    from discreet.synthesis import conjunctions
    from discreet.synthesis.sessions.asking import domain_of, dual_query

    def opened(folder):
        people = pd.DataFrame({"person": range(90), "sex": ["f", "m", "m"] * 30, "smokes": ["no", "yes"] * 45})
        columns = {"sex": {"values": ["f", "m"]}, "smokes": {"values": ["no", "yes"]}}
        return Session.from_frames(
            people=people, unit="person", rows=1, budget=PureDP(9), columns=columns, ledger=folder + "/ledger.sqlite",
            lineage="people of a test",
        )

    def asked(session, path):
        workload = conjunctions(domain_of(session, "people"), ways=2, count=15)
        return dual_query(session, "people", workload, epsilon=2, people=90, eta=1, rounds=6, transcript=path)
"""
KILLED = """
    import os, signal, sys
    from discreet.synthesis.sessions.file_transcript import FileTranscript

    folder, number, point = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    append = FileTranscript.append

    def dying(self, one):
        if one.number == number and point == "drawn":
            os.kill(os.getpid(), signal.SIGKILL)
        append(self, one)
        if one.number == number and point == "kept":
            os.kill(os.getpid(), signal.SIGKILL)

    FileTranscript.append = dying
    asked(opened(folder), folder + "/draws")
"""
POINTS = [(3, "drawn"), (1, "drawn"), (3, "kept"), (ROUNDS, "kept")]
space: dict[str, Any] = {}
exec(textwrap.dedent(SETUP), space)  # noqa: S102 (the same words run in the process that is killed)
opened, asked = space["opened"], space["asked"]


def kept(path: Path) -> tuple[Any, ...]:
    with FileTranscript(path) as transcript:
        return transcript.rounds


class Death(SystemExit):
    """What ends a process: nothing of discreet's runs after it, and the disk stays as it is."""


@contextmanager
def dying(number: int, point: str) -> Iterator[Counter[int]]:
    """End whatever draws a round, at a point of it; count the draws of every round until then."""
    append, draw, store, begin = FileTranscript.append, _Game.draw, SqliteLedger.store, FileTranscript.begin
    draws: Counter[int] = Counter()
    rows = DuckDBEngine.rows

    def appended(self: FileTranscript, one: Round) -> None:
        if (one.number, point) == (number, "drawn"):
            raise Death
        append(self, one)
        if (one.number, point) == (number, "kept"):
            raise Death

    def drawn(self: _Game, turn: int) -> Round:
        draws[turn] += 1
        return draw(self, turn)

    def dead(*_: object) -> None:
        raise Death

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FileTranscript, "append", appended)
        patch.setattr(_Game, "draw", drawn)
        patch.setattr(FileTranscript, "begin", dead if point == "before the header" else begin)
        patch.setattr(DuckDBEngine, "rows", dead if point == "before rows are read" else rows)
        patch.setattr(SqliteLedger, "store", dead if point == "before it is stored" else store)
        yield draws


def killed(folder: Path, number: int, point: str) -> Counter[int]:
    """Leave in a folder what a release leaves that ends at a point of a round; return the draws it made."""
    with dying(number, point) as draws, opened(str(folder)) as session, pytest.raises(Death):
        asked(session, folder / "draws")
    return draws


@pytest.fixture(scope="module")
def really_killed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path, int, str], None]:
    """Do the same by SIGKILL to a process of its own, one for each point: folders are copies of what it left."""

    @cache
    def left(number: int, point: str) -> Path:
        folder = tmp_path_factory.mktemp("killed")
        _kill(folder, number, point)
        return folder

    return lambda folder, number, point: shutil.copytree(left(number, point), folder, dirs_exist_ok=True)


def _kill(folder: Path, number: int, point: str) -> None:
    script = textwrap.dedent(SETUP) + textwrap.dedent(KILLED)
    done = subprocess.run(  # noqa: S603 (our own program)
        [sys.executable, "-c", script, str(folder), str(number), point],
        capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "NUMBA_DISABLE_JIT": "1"},
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr


def price_of(round_number: int, source: SyntheticRelease | Session) -> Fraction:
    """Return the price of one round, for the plan of a release or of the session that it is asked of."""
    if isinstance(source, Session):
        workload = conjunctions(domain_of(source, "people"), ways=2, count=15)
        neighbors = Neighbors(Relation.ADD_REMOVE, 90)
    else:
        workload, neighbors = source.workload, source.neighbors
    made = DualQuery.of(workload, neighbors, epsilon=2, eta=1, rounds=ROUNDS)
    return Fraction(rounds_again(made, round_number, round_number).epsilon)  # type: ignore[attr-defined]


def goes_on(folder: Path, number: int, point: str) -> None:
    """Check that what a crash left is taken up for the price of a round that was lost, and is free from then on."""
    before = kept(folder / "draws")
    assert len(before) == number - (point == "drawn")
    with opened(str(folder)) as session:
        assert session.balance.spent.epsilon == 2
        release = asked(session, folder / "draws")
        rounds = release.evidence["transcript"]
        assert len(rounds) == ROUNDS
        assert rounds[: len(before)] == before
        spent = session.balance.spent.epsilon
        assert spent == 2 + (price_of(number, release) if point == "drawn" else 0)
        again = asked(session, folder / "draws")
        assert again.evidence["record"]["replayed"]
        assert again.evidence["transcript"] == rounds
        assert np.array_equal(again.answers, release.answers)
        assert asked(session, folder / "others").evidence["record"]["replayed"]
        assert session.balance.spent.epsilon == spent
        session.ledger.verify()


@pytest.mark.theorem("released_with.privacy")
@pytest.mark.parametrize(("number", "point"), POINTS)
def test_a_release_that_ended_goes_on_and_pays_for_the_lost_round_only(tmp_path: Path, number: int, point: str) -> None:
    killed(tmp_path, number, point)
    goes_on(tmp_path, number, point)


@pytest.mark.theorem("released_with.privacy")
def test_a_killed_process_leaves_what_can_be_taken_up(
    tmp_path: Path, rounds: Rounds, really_killed: Callable[[Path, int, str], None]
) -> None:
    points = [(5, "drawn"), *POINTS]
    for place, (number, point) in enumerate(points[: rounds(sample=1, full=len(points))]):
        folder = tmp_path / str(place)
        folder.mkdir()
        really_killed(folder, number, point)
        goes_on(folder, number, point)


@pytest.mark.theorem("released_with.privacy")
def test_a_copy_that_is_put_back_after_a_kill_pays_for_what_the_killed_process_drew(
    tmp_path: Path, rounds: Rounds, really_killed: Callable[[Path, int, str], None]
) -> None:
    for lines in range(1, 1 + rounds(sample=1, full=4)):  # the header and so many rounds less one
        folder = tmp_path / str(lines)
        folder.mkdir()
        really_killed(folder, 5, "drawn")
        content = (folder / "draws").read_bytes().splitlines(keepends=True)
        for times in (1, 2):
            (folder / "draws").write_bytes(b"".join(content[:lines]))
            with dying(0, "before it is stored"), opened(str(folder)) as session:
                with pytest.raises(Death):
                    asked(session, folder / "draws")
                spent = Fraction(session.balance.spent.epsilon)
            prices = [price_of(one, session) for one in range(lines, ROUNDS + 1)]
            assert spent == 2 + sum(prices[: 5 - lines + 1]) + (times - 1) * sum(prices)


@pytest.mark.theorem("released_with.privacy")
def test_a_crash_between_the_charge_and_the_first_line_pays_for_everything_again(tmp_path: Path) -> None:
    draws = killed(tmp_path, 1, "before the header")
    assert not draws
    with opened(str(tmp_path)) as session:
        release = asked(session, tmp_path / "draws")
        assert len(release.evidence["transcript"]) == ROUNDS
        assert session.balance.spent.epsilon == 4


@pytest.mark.theorem("released_with.privacy")
@pytest.mark.parametrize(
    ("deaths", "again"),
    [
        ([(2, "drawn"), (2, "drawn"), (2, "drawn")], [(2, 2), (2, 6), (2, 6)]),
        (
            [(0, "before rows are read"), (2, "kept"), (0, "before rows are read"), (3, "drawn")],
            [(3, 2), (3, 6), (3, 6)],
        ),
        ([(2, "kept"), (3, "kept"), (5, "drawn")], [(3, 2), (4, 3), (5, 5)]),
        ([(1, "drawn"), (4, "kept"), (5, "drawn"), (0, "before it is stored")], [(1, 1), (5, 4), (5, 6)]),
    ],
)
def test_a_release_is_taken_up_for_the_rounds_that_were_lost(
    tmp_path: Path, deaths: list[tuple[int, str]], again: list[tuple[int, int]]
) -> None:
    draws: Counter[int] = Counter()
    for number, point in deaths:
        draws += killed(tmp_path, number, point)
    with dying(0, "never") as last, opened(str(tmp_path)) as session:
        release = asked(session, tmp_path / "draws")
        draws += last
        words = [one.fields["description"] for one in session.ledger.entries() if one.kind.value == "charge"]
        assert [bool("taken up at" in one) for one in words] == [False] + [True] * (len(words) - 1)
        paid = Counter(dict.fromkeys(range(1, ROUNDS + 1), 1))
        for first, until in again:
            paid += Counter(range(first, until + 1))
        assert draws <= paid
        extra = sum((price_of(one, release) * (paid[one] - 1) for one in paid), Fraction(0))
        assert session.balance.spent.epsilon == 2 + extra
        session.ledger.verify()


@pytest.mark.theorem("released_with.privacy")
def test_a_second_taking_up_at_the_same_round_pays_for_all_that_follow(tmp_path: Path) -> None:
    draws = killed(tmp_path, 3, "kept")
    copy = (tmp_path / "draws").read_bytes()
    spent: list[Fraction] = []
    for _ in range(3):
        draws += killed(tmp_path, 0, "before it is stored")
        (tmp_path / "draws").write_bytes(copy)
        with opened(str(tmp_path)) as session:
            spent.append(Fraction(session.balance.spent.epsilon))
    with dying(0, "never") as last, opened(str(tmp_path)) as session:
        release = asked(session, tmp_path / "draws")
        draws += last
        remaining = sum(price_of(one, release) for one in range(4, ROUNDS + 1))
        assert spent == [2, 2 + remaining, 2 + 2 * remaining]
        assert session.balance.spent.epsilon == 2 + 3 * remaining
        assert draws == {**dict.fromkeys(range(1, 4), 1), **dict.fromkeys(range(4, ROUNDS + 1), 4)}


@pytest.mark.theorem("released_with.privacy")
def test_a_file_put_back_to_an_earlier_state_pays_for_every_round_that_was_begun_since(tmp_path: Path) -> None:
    killed(tmp_path, 5, "kept")
    late = (tmp_path / "draws").read_bytes()
    (tmp_path / "draws").write_bytes(b"".join(late.splitlines(keepends=True)[:2]))  # as a copy of the first round was
    with opened(str(tmp_path)) as session:
        release = asked(session, tmp_path / "draws")
        assert session.balance.spent.epsilon == 2 + sum(price_of(one, release) for one in range(2, 6))


@pytest.mark.theorem("Parts.privacy")
def test_of_two_attempts_from_copies_only_the_newest_draws(tmp_path: Path) -> None:
    killed(tmp_path, 2, "kept")
    shutil.copy(tmp_path / "draws", tmp_path / "copy")
    first, second = opened(str(tmp_path)), opened(str(tmp_path))
    with first, second, dying(0, "never") as draws, pytest.MonkeyPatch.context() as patch:
        append = FileTranscript.append

        def overtaken(self: FileTranscript, one: Round) -> None:
            append(self, one)
            if one.number == 4 and self._path == tmp_path / "draws":
                asked(second, tmp_path / "copy")

        patch.setattr(FileTranscript, "append", overtaken)
        with pytest.raises(ReleaseSuperseded):
            asked(first, tmp_path / "draws")
        assert draws == {3: 2, 4: 2, 5: 1, 6: 1}
        release = asked(first, tmp_path / "draws")  # the session goes on, and has what the other released
        assert release.evidence["record"]["replayed"]
        assert first.balance.spent.epsilon == 2 + sum(price_of(one, release) for one in range(3, ROUNDS + 1))
        first.ledger.verify()


def without_a_fence(shelf: Shelf, charge: Charge, *, part: int, attempt: int) -> None:
    """Let every attempt go on, also one that another has followed."""
    state = parts_of(shelf, charge)
    keep_beginning(shelf, charge, part=state.next if attempt != state.attempt else part, attempt=state.attempt)


@pytest.mark.theorem("Parts.privacy")
@pytest.mark.parametrize("fenced", [True, False])
def test_an_attempt_that_was_copied_while_it_ran_does_not_go_on_beside_its_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fenced: bool
) -> None:
    killed(tmp_path, 2, "kept")
    append, folder = FileTranscript.append, str(tmp_path)
    if not fenced:  # the test sees a ledger that lets both go on
        monkeypatch.setattr(ledger_rules, "keep_beginning", without_a_fence)
    with opened(folder) as first, dying(0, "never") as draws:

        def copied(self: FileTranscript, one: Round) -> None:
            append(self, one)
            if one.number == 3 and self._path == tmp_path / "draws":
                shutil.copy(tmp_path / "draws", tmp_path / "copy")
                with opened(folder) as second, pytest.MonkeyPatch.context() as patch, contextlib.suppress(Death):
                    patch.setattr(FileTranscript, "append", dead_after_five)
                    asked(second, tmp_path / "copy")

        def dead_after_five(self: FileTranscript, one: Round) -> None:
            append(self, one)
            if one.number == 5:
                raise Death

        monkeypatch.setattr(FileTranscript, "append", copied)
        with contextlib.suppress(ReleaseSuperseded):
            asked(first, tmp_path / "draws")
        spent = Fraction(first.balance.spent.epsilon)
        monkeypatch.undo()
        release = asked(first, tmp_path / ("copy" if fenced else "draws"))
    cost = 2 + sum(price_of(one, release) * max(draws[one] - (one > 2), 0) for one in range(1, ROUNDS + 1))
    assert (draws[4], draws[5]) == ((1, 1) if fenced else (2, 2))
    assert (spent >= cost) is fenced


def test_two_at_once_do_not_draw_the_same_rounds(tmp_path: Path) -> None:
    killed(tmp_path, 3, "kept")
    with opened(str(tmp_path)) as session:
        with FileTranscript(tmp_path / "draws"), pytest.raises(LedgerError, match="another process"):
            asked(session, tmp_path / "draws")
        assert session.balance.spent.epsilon == 2


def test_another_analyst_or_another_version_of_the_data_cannot_take_it_up(tmp_path: Path) -> None:
    killed(tmp_path, 3, "kept")
    with opened(str(tmp_path)) as session:
        both = {**session.policy.analysts, "ben": Analyst("ben")}
        session.ledger.amend(caps={"analyst": None, "ben": None}, reason="a test", by="the test")
        policy = replace(session.policy, analysts=both)
        for changed, who in ((policy, "ben"), (replace(policy, version="2"), "analyst")):
            other = Session(changed, analyst=who, engine=Untouchable(), ledger=session.ledger)
            with pytest.raises(LedgerMismatch, match="Nothing was spent"):
                asked(other, tmp_path / "draws")
            assert other.engine.reads == 0  # type: ignore[attr-defined]
        assert session.balance.spent.epsilon == 2


def forged(path: Path, header: str, rounds: list[Round]) -> None:
    """Write a file whose checksums are right, as anybody can."""
    path.unlink(missing_ok=True)
    with FileTranscript(path) as transcript:
        transcript._write(header)
        transcript._header = header
        for one in rounds:
            transcript.append(one)


def test_forged_rounds_are_refused_before_anything_is_charged_or_read(tmp_path: Path) -> None:
    killed(tmp_path, 2, "kept")
    path = tmp_path / "draws"
    with FileTranscript(path) as transcript:
        terms, rounds = dict(transcript.terms or {}), transcript.rounds
    draws = len(rounds[0])
    header = json.dumps(terms, sort_keys=True)
    foreign = [
        (json.dumps({**terms, "digest": "0" * 64}, sort_keys=True), list(rounds), LedgerMismatch),
        (json.dumps({**terms, "lineage": "others"}, sort_keys=True), list(rounds), LedgerMismatch),
        (json.dumps({**terms, "charge": None}, sort_keys=True), list(rounds), LedgerMismatch),
        ("{}", list(rounds), LedgerMismatch),
        (header, [Round(1, [15] * draws, [1] * draws)], LedgerTampered),
        (header, [Round(1, [0] * (draws + 1), [1] * (draws + 1))], LedgerTampered),
        (header, [Round(one, [0] * draws, [1] * draws) for one in range(1, ROUNDS + 2)], LedgerTampered),
    ]
    with opened(str(tmp_path)) as session:
        blind = Session(session.policy, analyst="analyst", engine=Untouchable(), ledger=session.ledger)
        for words, false, error in foreign:
            forged(path, words, false)
            with pytest.raises(error):
                asked(blind, path)
            assert blind.balance.spent.epsilon == 2
        assert blind.engine.reads == 0  # type: ignore[attr-defined]


def test_a_complete_transcript_is_finished_without_reading_data(tmp_path: Path) -> None:
    killed(tmp_path, ROUNDS, "kept")
    with opened(str(tmp_path)) as session:
        blind = Session(session.policy, analyst="analyst", engine=Untouchable(), ledger=session.ledger)
        release = asked(blind, tmp_path / "draws")
        assert blind.engine.reads == 0  # type: ignore[attr-defined]
        assert release.evidence["transcript"] == kept(tmp_path / "draws")
        assert blind.balance.spent.epsilon == 2


def test_a_transcript_of_another_ledger_or_request_is_refused(tmp_path: Path) -> None:
    killed(tmp_path, 3, "kept")
    with opened(str(tmp_path)) as session:
        other = Session(
            session.policy, analyst="analyst", engine=Untouchable(), ledger=MemoryLedger(terms_of(session.policy))
        )
        with pytest.raises(LedgerMismatch, match="Nothing was spent"):
            asked(other, tmp_path / "draws")
        assert other.balance.spent.epsilon == 0
        workload = conjunctions(domain_of(session, "people"), ways=2, count=15)
        with pytest.raises(LedgerMismatch, match="Nothing was spent"):
            dual_query(
                session, "people", workload, epsilon=1, people=90, eta=1, rounds=6, transcript=tmp_path / "draws"
            )
        assert session.balance.spent.epsilon == 2


def test_what_failed_after_the_charge_is_not_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any) -> None:
        raise OSError("a disk that is full of secret-4711")

    with opened(str(tmp_path)) as session:
        with monkeypatch.context() as patch:
            patch.setattr(FileTranscript, "append", failing)
            with pytest.raises(QueryFailed):
                asked(session, tmp_path / "draws")
        with (
            Session(session.policy, analyst="analyst", engine=session.engine, ledger=session.ledger) as other,
            pytest.raises(LedgerMismatch, match="ended without"),
        ):
            asked(other, tmp_path / "draws")


def test_taking_up_is_refused_where_the_budget_does_not_allow_the_lost_round(tmp_path: Path) -> None:
    killed(tmp_path, 4, "drawn")
    with opened(str(tmp_path)) as session:
        session.ledger.amend(budget=PureDP(2, relation=Relation.ADD_REMOVE), reason="a test", by="the test")
        blind = Session(session.policy, analyst="analyst", engine=Untouchable(), ledger=session.ledger)
        with pytest.raises(BudgetExceeded):
            asked(blind, tmp_path / "draws")
        assert blind.engine.reads == 0  # type: ignore[attr-defined]
        assert len(kept(tmp_path / "draws")) == 3


def small() -> tuple[Workload, Neighbors]:
    people = pd.DataFrame({"sex": ["f", "m"], "smokes": ["no", "yes"]})
    columns = {"sex": {"values": ["f", "m"]}, "smokes": {"values": ["no", "yes"]}}
    with Session.from_frames(people=people, unit="row", budget=PureDP(1), columns=columns) as session:
        return conjunctions(domain_of(session, "people"), ways=2, count=15), Neighbors(Relation.CHANGE_ONE, 1000)


@pytest.mark.theorem("rounds_again.privacy")
def test_the_rounds_together_cost_what_the_release_costs() -> None:
    workload, neighbors = small()
    pure = DualQuery.of(workload, neighbors, epsilon=1, eta=1, rounds=5)
    assert sum(Fraction(rounds_again(pure, one, one).epsilon) for one in range(1, 6)) == pure.price.pure_epsilon  # type: ignore[attr-defined]
    assert pure.price.pure_epsilon <= 1
    whole = DualQuery.of(workload, neighbors, rho=0.1, eta=1, rounds=5)
    prices = [rounds_again(whole, one, one) for one in range(1, 6)]
    assert prices[0] == PureDP(0, relation=Relation.CHANGE_ONE)
    assert all(isinstance(one, ZCDP) for one in prices[1:])
    assert sum(Fraction(one.rho) for one in prices[1:]) == whole.price.rho <= Fraction(0.1)  # type: ignore[attr-defined]


@pytest.mark.theorem("rounds_again.privacy")
def test_under_an_approximate_guarantee_a_round_costs_the_less_of_its_two_prices() -> None:
    workload, neighbors = small()
    made = DualQuery.of(workload, neighbors, epsilon=1, delta=1e-6, eta=1, rounds=5)
    for number in range(2, 6):
        width, draws = made.price.ranges[number - 2]
        found = rounds_again(made, number, number)
        level = ZCDP(draws * width**2 / 8).to_approx(Fraction(1, 10**6)).epsilon
        if isinstance(found, ApproxDP):
            assert Fraction(found.epsilon) >= level
            assert found.epsilon < draws * width
        else:
            assert found.epsilon == draws * width  # type: ignore[attr-defined]


@pytest.mark.theorem("released_with.privacy")
@pytest.mark.parametrize(
    ("budget", "price"),
    [
        (ZCDP(2), {"rho": 0.5}),
        (ZCDP(2), {"epsilon": 1}),
        (ApproxDP(6, 1e-3), {"epsilon": 1, "delta": Fraction(1, 10**6)}),
    ],
)
def test_a_lost_round_is_charged_in_the_notion_of_every_budget(tmp_path: Path, budget: Any, price: Any) -> None:
    people = pd.DataFrame({"sex": ["f", "m", "m"] * 30, "smokes": ["no", "yes"] * 45})
    columns = {"sex": {"values": ["f", "m"]}, "smokes": {"values": ["no", "yes"]}}
    given: dict[str, Any] = {"unit": "row", "budget": budget, "columns": columns, "lineage": "x"}
    prices = []
    for number, point in ((1, "drawn"), (4, "drawn"), (0, "never")):
        with (
            dying(number, point),
            Session.from_frames(people=people, **given, ledger=tmp_path / "ledger.sqlite") as session,
            contextlib.suppress(Death),
        ):
            workload = conjunctions(domain_of(session, "people"), ways=2, count=15)
            dual_query(
                session, "people", workload, **price, people=90, eta=1, rounds=ROUNDS, transcript=tmp_path / "draws"
            )
        with Session.from_frames(people=people, **given, ledger=tmp_path / "ledger.sqlite") as session:
            prices = [one.cost for one in session.ledger.entries() if one.kind.value == "charge"]
            session.ledger.verify()
    made = DualQuery.of(workload, Neighbors(Relation.ADD_REMOVE, 90), **price, eta=1, rounds=ROUNDS)
    assert prices == [made.guarantee, rounds_again(made, 1, 1), rounds_again(made, 4, 4)]


def test_a_release_without_a_file_keeps_its_transcript_in_the_ledger() -> None:
    people = pd.DataFrame({"sex": ["f", "m", "m"] * 30, "smokes": ["no", "yes"] * 45})
    columns = {"sex": {"values": ["f", "m"]}, "smokes": {"values": ["no", "yes"]}}
    with Session.from_frames(people=people, unit="row", budget=PureDP(3), columns=columns) as session:
        workload = conjunctions(domain_of(session, "people"), ways=2, count=15)
        steps: list[tuple[int, int]] = []
        given: dict[str, Any] = {"epsilon": 2, "people": 90, "eta": 1, "rounds": 4}
        first = dual_query(session, "people", workload, progress=lambda *step: steps.append(step), **given)
        again = dual_query(session, "people", workload, **given)
        assert isinstance(again, SyntheticRelease)
        assert again.evidence["record"]["replayed"]
        assert again.evidence["transcript"] == first.evidence["transcript"]
        assert steps == [(number, 4) for number in range(1, 5)]
        assert session.balance.spent.epsilon == 2
