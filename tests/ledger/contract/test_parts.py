"""Releases made part by part: only the newest attempt begins parts, each once, and a taking up pays for the past."""

from __future__ import annotations

import pytest

from discreet.errors import BudgetExceeded, LedgerMismatch, LedgerTampered, ParameterError, ReleaseSuperseded
from discreet.ledger import EntryKind, MemoryLedger, SqliteLedger
from discreet.ledger.contract.parts import Parts, taking_up
from discreet.ledger.contract.verification import replayed
from tests.ledger.contract.test_verification import rechained
from tests.ledger.ledgers import epsilon, request, terms


@pytest.fixture(params=["memory", "file"])
def ledger(request, tmp_path):
    if request.param == "memory":
        yield MemoryLedger(terms())
        return
    with SqliteLedger.open(tmp_path / "ledger.sqlite", terms()) as opened:
        yield opened


def again(charge, cost=0.125):
    return taking_up(charge, cost=epsilon(cost), description="once more")


def begun(ledger, count=2):
    charge = ledger.obtain(request("a"))
    for part in range(1, count + 1):
        ledger.begin_part(charge, part, attempt=charge.number)
    return charge


@pytest.mark.theorem("Parts.privacy")
def test_parts_are_begun_in_order_and_once(ledger):
    charge = begun(ledger)
    for part in (1, 2, 4, 0, -1):
        with pytest.raises(ReleaseSuperseded, match="part 3 comes next"):
            ledger.begin_part(charge, part, attempt=charge.number)
    assert ledger.parts(charge) == Parts(attempt=charge.number, next=3, most=2, taken_up=0)
    ledger.verify()


@pytest.mark.theorem("Parts.privacy")
def test_after_a_taking_up_only_the_new_attempt_goes_on(ledger):
    charge = begun(ledger)
    more = ledger.take_up(charge, again(charge), start=2, seen=ledger.parts(charge))
    with pytest.raises(ReleaseSuperseded, match="only the newest"):
        ledger.begin_part(charge, 3, attempt=charge.number)
    ledger.begin_part(charge, 2, attempt=more.number)
    ledger.begin_part(charge, 3, attempt=more.number)
    assert ledger.parts(charge) == Parts(attempt=more.number, next=4, most=3, taken_up=2)
    assert ledger.balance().spent == epsilon(0.25)
    ledger.note(more, "granted")
    ledger.store(charge, "1")
    for attempt in (charge.number, more.number):
        with pytest.raises(ReleaseSuperseded, match="ended"):
            ledger.begin_part(charge, 4, attempt=attempt)
    with pytest.raises(ReleaseSuperseded, match="ended"):
        ledger.take_up(charge, again(charge), start=1, seen=ledger.parts(charge))
    ledger.verify()


@pytest.mark.theorem("Parts.privacy")
def test_a_taking_up_that_was_priced_before_the_release_went_on_is_refused(ledger):
    charge = begun(ledger)
    seen = ledger.parts(charge)
    ledger.begin_part(charge, 3, attempt=charge.number)
    with pytest.raises(LedgerMismatch, match="went on"):
        ledger.take_up(charge, again(charge), start=2, seen=seen)
    assert ledger.balance().spent == epsilon(0.125)


def test_a_taking_up_that_does_not_fit_changes_nothing(ledger):
    charge = begun(ledger)
    seen = ledger.parts(charge)
    with pytest.raises(BudgetExceeded):
        ledger.take_up(charge, again(charge, cost=1), start=2, seen=seen)
    for start in (0, 4, -1):
        with pytest.raises(ParameterError):
            ledger.take_up(charge, again(charge), start=start, seen=seen)
    with pytest.raises(LedgerMismatch):
        ledger.take_up(charge, request("b"), start=2, seen=seen)
    assert ledger.parts(charge) == seen
    ledger.begin_part(charge, 3, attempt=charge.number)


def test_the_parts_of_two_releases_of_one_digest_are_apart(ledger):
    first, second = begun(ledger, 3), begun(ledger, 1)
    assert first.digest == second.digest
    assert (ledger.parts(first).most, ledger.parts(second).most) == (3, 1)
    foreign = MemoryLedger(terms()).obtain(request("a"))
    for ask in (lambda: ledger.parts(foreign), lambda: ledger.begin_part(foreign, 1, attempt=foreign.number)):
        with pytest.raises(LedgerMismatch):
            ask()


@pytest.mark.parametrize(
    ("place", "changes"),
    [
        (3, {"part": 2}),
        (3, {"release": 1}),
        (3, {"analyst": "bo"}),
        (3, {"parts": {"attempt": 2, "next": 2, "most": 0, "taken_up": 0}}),
        (5, {"start": 9}),
        (5, {"start": True}),
        (5, {"release": 5}),
        (6, {"parts": {"attempt": 2, "next": 3, "most": 2, "taken_up": 2}}),
        (6, {"parts": {}}),
    ],
)
def test_forged_parts_are_found(place, changes):
    ledger = MemoryLedger(terms())
    charge = begun(ledger)
    more = ledger.take_up(charge, again(charge), start=2, seen=ledger.parts(charge))
    ledger.begin_part(charge, 2, attempt=more.number)
    entries = list(ledger.entries())
    assert [one.kind for one in entries[2:]] == [EntryKind.PART, EntryKind.PART, EntryKind.CHARGE, EntryKind.PART]
    with pytest.raises(LedgerTampered):
        replayed(rechained(entries, place, **changes))
