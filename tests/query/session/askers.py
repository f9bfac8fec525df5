"""Askers in processes of their own: they ask the same question at once, and are killed where a test says."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path

from discreet.errors import WaitedTooLong
from discreet.ledger import EntryKind
from discreet.ledger.files import crash_points
from discreet.privacy import PureDP
from discreet.query import Session
from discreet.query.policy import open_ledger
from tests.ledger.spenders import TURN
from tests.query.small_tables import Told, policy_for, table_policy

ASK = "SELECT g, COUNT(*) AS n FROM t GROUP BY g"
POINTS = [(1, point) for point in TURN] + [(0, "in the engine")] + [(2, point) for point in TURN]


class Telling(Told):
    """An engine that says when it is asked."""

    def __init__(self, inside):
        super().__init__(([(0,)], {"One": [500]}))
        self.inside = inside

    def run(self, request):
        self.inside()
        return super().run(request)


def crowd(path, *, processes, threads, rounds):
    """Let threads of many processes ask one question at once, again and again; return what each round came to."""
    return [_crowd(path.with_name(f"{one}.db"), processes, threads) for one in range(rounds)]


def killed(path, *, points):
    """Kill the payer at each point while seven others wait; return what the others got and what was charged."""
    return [_killed(path.with_name(f"{turn} {point}.db"), turn, point) for turn, point in points]


def forked(path):
    """Fork while a question is in flight; return what the child and the parent got, and the number of charges."""
    stage, found = Stage(path), []

    def child():
        try:
            stage.session(lambda: None).sql(ASK, epsilon=1, timeout=0.01)
        except WaitedTooLong:
            return "waited too long"
        return "answered"

    def inside():
        found.append(stage.end(stage.fork(lambda say: say(child()))))
        found.append(stage.end(stage.fork(lambda say: say(child()))))  # the first child's end frees nothing

    session = stage.session(inside)
    session.sql(ASK, epsilon=1)
    assert found[0] == found[1], found
    return [found[0], child(), stage.tally()[0]]


def _crowd(path, processes, threads):
    stage = Stage(path)
    children = [stage.fork(lambda say: say(_asked_by_threads(stage, threads))) for _ in range(processes)]
    stage.wait_for(processes * threads)  # everybody is about to ask, and nobody has an answer
    stage.open_gate()
    found = [answer for child in children for answer in json.loads(stage.end(child))]
    return [*stage.tally(), _distinct(found), sum(not replayed for _, replayed, _ in found), len(found)]


def _asked_by_threads(stage, threads):
    session, found, start = stage.session(), [], threading.Barrier(threads)

    def ask():
        start.wait()
        stage.arrive()
        found.append(stage.ask(session))

    each = [threading.Thread(target=ask) for _ in range(threads)]
    for thread in each:
        thread.start()
    for thread in each:
        thread.join()
    return json.dumps(found)


def _killed(path, turn, point):
    stage = Stage(path)
    payer = stage.fork(lambda _: _die(stage, turn, point))
    stage.wait_for(1)  # the payer is at the point, and has the turn
    others = [stage.fork(lambda say: say(_asked_by_threads(stage, 1))) for _ in range(7)]
    stage.wait_for(7)
    stage.open_gate()
    stage.end(payer, killed=True)
    found = [answer for child in others for answer in json.loads(stage.end(child))]
    return [*stage.tally(), _distinct(found), sorted({tuple(lost) for _, _, lost in found})]


def _die(stage, turn, point):
    """Ask, stop at a point until the others have come, and die there."""
    turns = 0

    def die():
        stage.arrive()
        stage.pass_gate()
        os.kill(os.getpid(), signal.SIGKILL)

    def hook(name):
        nonlocal turns
        turns += name == "before begin"
        if (turns, name) == (turn, point):
            die()

    session = stage.session(die if point == "in the engine" else lambda: None)
    crash_points._point = hook
    session.sql(ASK, epsilon=1)


def _distinct(found):
    return len({json.dumps(rows) for rows, _, _ in found})


class Stage:
    """A ledger, children that ask, and a gate behind which the answer waits until all have come."""

    def __init__(self, path):
        self.policy = policy_for(table_policy(unit="row"), PureDP(8), ledger=path)
        self.ledger = open_ledger(self.policy)  # opening takes the lock that a payer may hold when it stops
        self._gate, self._key = os.pipe()
        self._arrivals, self._arrive = os.pipe()

    def session(self, inside=None):
        """Return a session whose engine waits at the gate, or does what is said instead."""
        engine = Telling(inside or self.pass_gate)
        return Session(self.policy, analyst="ana", engine=engine, ledger=self.ledger)

    def ask(self, session):
        answer = session.sql(ASK, epsilon=1)
        return [answer.rows, answer.record.replayed, answer.record.lost]

    def arrive(self):
        os.write(self._arrive, b".")

    def wait_for(self, count):
        for _ in range(count):
            os.read(self._arrivals, 1)

    def pass_gate(self):
        os.read(self._gate, 1)

    def open_gate(self):
        os.close(self._key)

    def fork(self, work):
        reading, writing = os.pipe()
        process = os.fork()
        if process:
            os.close(writing)
            return process, reading
        status = 1
        try:
            os.close(self._key)
            work(lambda text: os.write(writing, text.encode()))
            status = 0
        finally:
            os._exit(status)

    def end(self, child, *, killed=False):
        process, reading = child
        with os.fdopen(reading) as file:
            said = file.read()
        _, status = os.waitpid(process, 0)
        assert os.WIFSIGNALED(status) if killed else status == 0, f"a child ended with {status}"
        return said

    def tally(self):
        """Return how many charges and how many answers the ledger has, once it is checked."""
        self.ledger.verify()
        kinds = [entry.kind for entry in self.ledger.entries()]
        return kinds.count(EntryKind.CHARGE), kinds.count(EntryKind.ANSWER)


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    task, path = given.pop("task"), Path(given.pop("path"))
    print(json.dumps(globals()[task](path, **given)))
