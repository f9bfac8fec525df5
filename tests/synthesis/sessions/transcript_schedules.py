"""Random schedules around one transcript: processes that take turns and die, files that are copied and put back.

A process is a thread that runs only when it is given the turn; it hands the turn back between any two steps that other
processes could come between, and dies at a step drawn beforehand, inside the ledger's transactions too. Every call of
the sampler is counted by a hook around it, which knows nothing of transcripts, ledgers and prices.
"""

from __future__ import annotations

import os
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet.errors import DiscreetError
from discreet.laws.samplers.softmax_draws import SignedDraws
from discreet.ledger import EntryKind, SqliteLedger
from discreet.ledger.files import crash_points
from discreet.privacy import PureDP
from discreet.query import Session
from discreet.query.policy import terms_of
from discreet.query.policy.declarations import Analyst, Policy
from discreet.synthesis import Workload, conjunctions
from discreet.synthesis.methods.dual_query.method import _Game
from discreet.synthesis.methods.dual_query.transcript import Round
from discreet.synthesis.sessions.asking import domain_of, dual_query
from discreet.synthesis.sessions.file_transcript import FileTranscript
from tests.query.small_tables import Told

ROUNDS, QUERIES, SIZE = 5, 6, 60
SEX, SMOKES = ["f", "m"], ["no", "yes"]
FILES = ("draws", "copy", "other")
STEPS = {"rows", "before the draw", "after the draw", "before the line", "after the line"}
LONGEST = 90  # steps of a release that nobody interrupts, about
FREE = {"before begin", "before return", *STEPS}  # no lock of the ledger is held there


Drawn = Counter[tuple[int, int]]  # by release and round


class Death(SystemExit):
    """What ends a process: the disk stays as it is."""


class Rows(Told):
    """An engine with sixty people in memory."""

    def rows(self, source: Any, columns: Any) -> dict[str, Any]:  # noqa: ARG002 (an engine's own signature)
        """Return the columns and the units."""
        moment("rows")
        found = {"sex": np.array(SEX * (SIZE // 2)), "smokes": np.array(SMOKES * (SIZE // 2)), "unit": np.arange(SIZE)}
        return {name: found[name] for name in (*columns, "unit")}


@dataclass(frozen=True)
class Setting:
    """What is the same in all schedules."""

    policy: Policy
    workload: Workload

    @classmethod
    def made(cls) -> Setting:
        """Return two analysts, a budget that lasts, and six queries."""
        people = pd.DataFrame({"sex": SEX, "smokes": SMOKES})
        columns = {"sex": {"values": SEX}, "smokes": {"values": SMOKES}}
        with Session.from_frames(people=people, unit="row", budget=PureDP(500), columns=columns) as session:
            analysts = {**session.policy.analysts, "ben": Analyst("ben")}
            policy = replace(session.policy, analysts=analysts)
            return cls(policy, conjunctions(domain_of(session, "people"), ways=2, count=QUERIES))

    def ask(self, ledger: SqliteLedger, path: Path, *, analyst: str, version: str) -> None:
        """Ask for the one release of the schedules."""
        policy = replace(self.policy, version=version)
        with Session(policy, analyst=analyst, engine=Rows(), ledger=ledger) as session:
            dual_query(
                session,
                "people",
                self.workload,
                epsilon=1,
                people=SIZE,
                eta=1,
                rounds=ROUNDS,
                certify=0,
                transcript=path,
            )


class Process:
    """One attempt, from the opening of the ledger to the release or to its death."""

    def __init__(self, work: Callable[[], None], *, life: int | None, half: float) -> None:
        """Prepare a process that dies at step `life`, or never; `half` of a line may reach the disk."""
        self.left, self.half, self.turn = life, half, 0
        self.problem: BaseException | None = None
        self._go, self._back, self.ended = threading.Semaphore(0), threading.Semaphore(0), False
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def step(self) -> None:
        """Let it run to where it next hands the turn back."""
        self._go.release()
        self._back.acquire()
        if self.ended:
            self._thread.join()

    @property
    def dying(self) -> bool:
        """Whether the next step is the last."""
        return self.left == 1

    def moment(self, locked: bool) -> None:
        """Die here, or hand the turn back where no lock is held."""
        if self.left is not None:
            self.left -= 1
            if self.left <= 0:
                raise Death
        if not locked:
            self._back.release()
            self._go.acquire()

    def _run(self, work: Callable[[], None]) -> None:
        _here.process = self
        self._go.acquire()
        try:
            work()
        except (Death, DiscreetError):
            pass
        except BaseException as problem:  # a mistake, which the schedule raises
            self.problem = problem
        self.ended = True
        self._back.release()


_here = threading.local()


def moment(name: str) -> None:
    """Tell the process of this thread, if it is one, that a point was reached."""
    process: Process | None = getattr(_here, "process", None)
    if process is not None:
        process.moment(name not in FREE)


@contextmanager
def hooked(patch: pytest.MonkeyPatch) -> Iterator[Drawn]:
    """Count what the sampler draws, by the charge that a file names and by rounds; make every step a moment."""
    drawn: Drawn = Counter()
    draw, sample, write, begin = _Game.draw, SignedDraws.draw, FileTranscript._write, FileTranscript.begin

    def begun(self: FileTranscript, terms: Any) -> None:
        begin(self, terms)
        _here.release = (self.terms or {})["charge"]

    def turned(self: _Game, turn: int) -> Round:
        _here.turn = turn
        return draw(self, turn)

    def sampled(self: SignedDraws, count: int) -> Any:
        moment("before the draw")
        drawn[_here.release, _here.turn] += 1
        found = sample(self, count)
        moment("after the draw")
        return found

    def wrote(self: FileTranscript, words: str) -> None:
        process: Process | None = getattr(_here, "process", None)
        if process is not None and process.dying:
            line = f"{self._next_sum(words.encode())} {words}\n".encode()
            with suppress(OSError):
                os.write(self._file, line[: int(process.half * len(line))])
        moment("before the line")
        write(self, words)
        moment("after the line")

    patch.setattr(_Game, "draw", turned)
    patch.setattr(SignedDraws, "draw", sampled)
    patch.setattr(FileTranscript, "_write", wrote)
    patch.setattr(FileTranscript, "begin", begun)
    patch.setattr(crash_points, "_point", moment)
    # a process that waits for its turn at a question would wait for one that has not got the turn here
    patch.setattr(SqliteLedger, "turn_at", lambda *_, **__: nullcontext())
    yield drawn


class Schedule:
    """One random history in a folder; `run` plays it and returns what was charged and the cost of what was drawn."""

    def __init__(self, setting: Setting, folder: Path, random: Random, drawn: Drawn) -> None:
        """Begin with no file and a new ledger."""
        self.setting, self.folder, self.random, self.drawn = setting, folder, random, drawn
        self.place = folder / "ledger.sqlite"
        self._head()
        self.running: list[Process] = []
        self.pool: list[bytes] = []
        self.last = folder / FILES[0]
        self.tried: Counter[str] = Counter()

    def run(self, actions: int) -> None:
        """Play some actions, let everybody end, and complete the release from one more copy."""
        choices: dict[Callable[[], None], float] = {
            self.start: 10, self.step: 24, self.copy: 14, self.put_back: 3, self.shorten: 3, self.damage: 0.5,
            self.forge: 0.5, self.remove: 0.5, self.older_ledger: 0.3,
        }  # fmt: skip
        for action in self.random.choices(list(choices), weights=list(choices.values()), k=actions):
            self.tried[action.__name__] += 1
            action()
        while self.running:
            self.step()
        self.put_back()
        self._alone()
        self.check()
        with self._ledger() as ledger:
            ledger.verify()

    def start(self, life: int | None = 0) -> None:
        """Begin a process: mostly of the first analyst and on the first file; most die."""
        if len(self.running) == self.random.choice([1, 2, 3]):
            return
        if life == 0:
            life = self.random.randint(1, LONGEST) if self.random.random() < 0.98 else None
        analyst = self.random.choices(["analyst", "ben"], [30, 1])[0]
        version = self.random.choices(["1", "2"], [30, 1])[0]
        path = self._path()
        if self.pool and self.random.random() < 0.75:  # a copy that no other process has open
            path = self.folder / f"copy {len(list(self.folder.iterdir()))}"
            path.write_bytes(self.random.choice(self.pool))
        self.last = path

        def work() -> None:
            with self._ledger() as ledger:
                self.setting.ask(ledger, path, analyst=analyst, version=version)

        self.running.append(Process(work, life=life, half=self.random.random()))

    def step(self) -> None:
        """Give one process a few turns."""
        if not self.running:
            return
        process = self.random.choice(self.running)
        for _ in range(self.random.choice([1, 4, 12, 40])):
            process.step()
            if process.ended:
                self.running.remove(process)
                if process.problem is not None:
                    raise process.problem
                self.check()
                return

    def copy(self) -> None:
        """Keep a copy of a file, also while a process writes it."""
        path = self.random.choice([self.last, self._path()])
        if path.exists():
            self.pool.append(path.read_bytes())

    def put_back(self) -> None:
        """Put a copy in the place of a file: as another file, or into the one that is open."""
        if self.pool:
            self._write(self.random.choice(self.pool))

    def shorten(self) -> None:
        """Take rounds away, or cut a line."""
        path = self._path()
        if path.exists() and (content := path.read_bytes()):
            lines = content.splitlines(keepends=True)
            whole = b"".join(lines[: self.random.randint(1, len(lines))])
            self._write(whole if self.random.random() < 0.7 else content[: self.random.randrange(len(content))])

    def damage(self) -> None:
        """Change a byte."""
        path = self._path()
        if path.exists() and (content := bytearray(path.read_bytes())):
            content[self.random.randrange(len(content))] ^= 1 << self.random.randrange(8)
            self._write(bytes(content))

    def forge(self) -> None:
        """Add a round that nobody drew, with the right checksum."""
        with suppress(DiscreetError), FileTranscript(self._path()) as transcript:
            if transcript.terms is not None and transcript.rounds:
                draws = len(transcript.rounds[0])
                transcript.append(Round(len(transcript.rounds) + 1, np.zeros(draws, int), np.ones(draws, int)))

    def remove(self) -> None:
        """Lose a file."""
        self._path().unlink(missing_ok=True)

    def older_ledger(self) -> None:
        """Put an older ledger back beside its anchor: it is noticed before anything is drawn."""
        if self.running:
            return
        older, head = self.place.read_bytes(), self._head()
        self._alone()
        newest, before = self.place.read_bytes(), sum(self.drawn.values())
        if self._head() != head:
            self.place.write_bytes(older)
            self._alone()
            assert sum(self.drawn.values()) == before
            self.place.write_bytes(newest)
        self.check()

    def check(self) -> None:
        """Compare what the ledger charged for each release with what was drawn for it."""
        charged, cost = self.charged(), self.cost()
        assert all(charged[one] >= cost[one] for one in cost), (charged, cost, dict(self.drawn), dict(self.tried))

    def charged(self) -> dict[int, Fraction]:
        """Return the sum of all prices in the ledger, by the release that they are for."""
        found: dict[int, Fraction] = defaultdict(Fraction)
        with self._ledger() as ledger:
            for entry in ledger.entries():
                if entry.kind is EntryKind.CHARGE and isinstance(entry.cost, PureDP):
                    again = re.search(r"charge (\d+)", entry.fields["description"])
                    found[int(again[1]) if again else entry.number] += Fraction(entry.cost.epsilon)
        return found

    def cost(self) -> dict[int, Fraction]:
        """Return the cost of all draws: s draws of round t are s (t - 1) eta / size, eta 1, one record a unit."""
        draws = SIZE // sum(range(ROUNDS))  # the most that one epsilon buys in a round
        found: dict[int, Fraction] = defaultdict(Fraction)
        for (release, turn), count in self.drawn.items():
            found[release] += Fraction(draws * (turn - 1), SIZE) * count
        return found

    def _alone(self) -> None:
        self.start(life=None)
        process = self.running.pop()
        while not process.ended:
            process.step()
        if process.problem is not None:
            raise process.problem

    def _head(self) -> str:
        with self._ledger() as ledger:
            return ledger.head

    def _ledger(self) -> SqliteLedger:
        return SqliteLedger.open(self.place, terms_of(self.setting.policy))

    def _path(self) -> Path:
        return self.folder / self.random.choices(FILES, [8, 2, 1])[0]

    def _write(self, content: bytes) -> None:
        path = self._path()
        if self.random.random() < 0.5:
            path.unlink(missing_ok=True)
        path.write_bytes(content)
