"""Spenders in processes of their own: they charge, answer, and are killed where a test says."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import NamedTuple

from discreet.errors import BudgetExceeded
from discreet.ledger import Charge, EntryKind, SqliteLedger
from discreet.ledger.files import crash_points
from discreet.privacy.numbers import written
from tests.ledger.ledgers import epsilon, mu, request, terms

TURN = (
    "before begin", "after begin", "before insert", "after insert", "before commit", "after commit", "anchor written",
    "anchor renamed", "after anchor", "before return",
)  # fmt: skip


class End(NamedTuple):
    """What a child said, and whether it was killed."""

    said: str
    killed: bool


def race(path, *, processes, cost, notion="pure"):
    """Let many processes spend until nothing fits; return how many charges each was granted."""
    price = cost if notion == "pure" else mu(cost)
    with SqliteLedger.open(path) as ledger:
        children = _children(processes, lambda index, say: say(_spend(ledger, index, price)))
        return [int(child.said) for child in children]


def kill_in_gaussian_ledger(path, *, rounds):
    """End children at each point of their second charge of mu; return answers, charges and what they cost in all."""
    found = {}
    for point in TURN:
        place = path.with_name(f"{point}.db")
        with SqliteLedger.open(place, terms(budget=mu(1000, 1e-3), caps={"ana": None})) as ledger:
            released = 0
            for index in range(rounds):
                released += _release_or_die(ledger, index, 3, point, cost=mu(0.3, 1e-9))
            kinds = [entry.kind for entry in ledger.entries()]
            balance = ledger.verify().spent
            spent = [str(written(balance.mu) ** 2), str(written(balance.delta))]
            found[point] = [released, kinds.count(EntryKind.CHARGE), kinds.count(EntryKind.ANSWER), spent]
    return found


def kill_in_turn(path, *, rounds, turn):
    """End children by SIGKILL at each point of a turn: their first charge, their first store, their second charge."""
    return {point: _kill_at(path.with_name(f"{point}.db"), rounds, turn, point) for point in TURN}


def kill_in_repair(path, *, rounds):
    """End one child after its commit and the next while it brings the anchor up to that; return the tally."""
    with SqliteLedger.open(path, terms(budget=epsilon(10**6), caps={"ana": None})) as ledger:
        tally = []
        for index in range(rounds):
            _release_or_die(ledger, (index, 0), 1, "after commit")
            _release_or_die(ledger, (index, 1), 1, "anchor written", repair=True)
            tally.append(_standing(ledger))
        ledger.obtain(request("last"))
        ledger.verify()
        return {"tally": tally}


def kill_at_opening(path, *, most):
    """End a child at the first, second, ... point of opening a new ledger; return how each file reads afterwards."""
    found = []
    for count in range(1, most + 1):
        place = f"{path}.{count}"
        killed = _child(lambda say, place=place, count=count: say(_open_or_die(place, count))).killed
        with SqliteLedger.open(place, terms()) as ledger:
            found.append([killed, ledger.verify().entries])
        if not killed:
            break
    return found


def replay(path, *, name):
    """Ask once more in another process; return the kind of what came back and the answer."""
    with SqliteLedger.open(path, terms()) as ledger:
        found = ledger.obtain(request(name))
        return [type(found).__name__, getattr(found, "answer", None)]


def inherit(path):
    """Use a ledger in a child that its parent opened; return what both see."""
    with SqliteLedger.open(path, terms()) as ledger:
        ledger.obtain(request("parent"))
        carried = _child(lambda say: say(len(ledger._connection)))
        child = _child(lambda say: say(ledger.obtain(request("child")).number))
        return [int(carried.said), int(child.said), ledger.balance().charges, ledger.verify().entries]


def disowned(_):
    """Use a ledger in memory in a child; return the name of what is raised."""
    from discreet.errors import NotCopyable
    from discreet.ledger import MemoryLedger

    ledger = MemoryLedger(terms())

    def attempt(say):
        try:
            ledger.obtain(request())
        except NotCopyable:
            say("refused")

    return _child(attempt).said


def _kill_at(path, rounds, turn, point):
    """Return how the ledger stood after each kill, and how many entries it had after one more charge."""
    with SqliteLedger.open(path, terms(budget=epsilon(10**6), caps={"ana": None})) as ledger:
        tally, released = [], 0
        for index in range(rounds):
            released += _release_or_die(ledger, index, turn, point)
            tally.append([released, *_standing(ledger)])
        ledger.verify()
        ledger.obtain(request("last"))
        return [tally, ledger.verify().entries]


def _spend(ledger, index, cost):
    granted = 0
    while True:
        try:
            charge = ledger.obtain(request((index, granted), cost=cost))
        except BudgetExceeded:
            return granted
        ledger.store(charge, "1")
        granted += 1


def _release_or_die(ledger, index, turn, point, *, repair=False, cost=1):
    """Return how many answers a child released before it was killed."""

    def release(say):
        _die_at(turn, point, repair=repair)
        for question in range(9):
            charge = ledger.obtain(request((index, question), cost=cost))
            assert isinstance(charge, Charge)
            ledger.store(charge, "1")
            say("r")

    child = _child(release)
    assert child.killed
    return len(child.said)


def _die_at(turn, point, *, repair=False):
    """Replace the hook: die at a point of a turn; the anchor of a repair is written before the turn's own commit."""
    seen = []
    turns = 0

    def hook(name):
        nonlocal turns
        if name == "before begin":
            turns += 1
            seen.clear()
        seen.append(name)
        own = not name.startswith("anchor") or (("after commit" in seen) != repair)
        if turns == turn and name == point and own:
            os.kill(os.getpid(), signal.SIGKILL)

    crash_points._point = hook


def _open_or_die(place, count):
    reached = 0

    def hook(_):
        nonlocal reached
        reached += 1
        if reached == count:
            os.kill(os.getpid(), signal.SIGKILL)

    crash_points._point = hook
    SqliteLedger.open(place, terms()).close()
    return "opened"


def _standing(ledger):
    kinds = [entry.kind for entry in ledger.entries()]
    return [kinds.count(EntryKind.CHARGE), kinds.count(EntryKind.ANSWER), int(ledger.balance().spent.epsilon)]


def _child(work):
    """Return the end of one forked child."""
    return _children(1, lambda _, say: work(say))[0]


def _children(count, work):
    """Fork children that work at once; return the end of each."""
    places = []
    for index in range(count):
        reading, writing = os.pipe()
        process = os.fork()
        if process == 0:
            status = 1
            try:
                work(index, lambda text, place=writing: os.write(place, str(text).encode()))
                status = 0
            finally:
                os._exit(status)
        os.close(writing)
        places.append((process, reading))
    return [_outcome(*place) for place in places]


def _outcome(process, reading):
    with os.fdopen(reading) as file:
        said = file.read()
    _, status = os.waitpid(process, 0)
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    assert killed or os.WEXITSTATUS(status) == 0, "a child failed"
    return End(said, killed)


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    task, path = given.pop("task"), Path(given.pop("path"))
    print(json.dumps(globals()[task](path, **given)))
