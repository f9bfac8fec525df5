"""Sixty-four spenders at once, in threads and in processes: exactly as many charges as fit, never one more."""

from __future__ import annotations

import threading

import pytest

from discreet.errors import BudgetExceeded
from discreet.ledger import Charge, MemoryLedger, SqliteLedger
from tests.ledger.ledgers import epsilon, in_a_process_of_its_own, request, terms

SPENDERS = 64
FITS = 100
PRICE = 0.0625


def granted_to_threads(ledgers):
    granted, problems, start = [], [], threading.Barrier(SPENDERS)

    def spend(index):
        start.wait()
        try:
            for turn in range(FITS):
                charge = ledgers[index].obtain(request((index, turn), cost=PRICE))
                assert isinstance(charge, Charge)
                granted.append(charge.number)
        except BudgetExceeded:
            return
        except BaseException as problem:  # a thread's own error would be lost
            problems.append(problem)

    threads = [threading.Thread(target=spend, args=(index,)) for index in range(SPENDERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    return granted


def room_for(count):
    return terms(budget=epsilon(count * PRICE), caps={"ana": None})


@pytest.mark.theorem("Ledger.privacy")
def test_threads_with_one_ledger_get_exactly_what_fits(folder):
    with SqliteLedger.open(folder / "ledger.db", room_for(FITS)) as ledger:
        granted = granted_to_threads([ledger] * SPENDERS)
        assert sorted(granted) == list(range(2, FITS + 2))
        assert ledger.verify().charges == FITS
        assert ledger.balance().remaining == epsilon(0)


@pytest.mark.theorem("SqliteLedger.privacy")
def test_threads_with_a_ledger_each_get_exactly_what_fits(folder):
    ledgers = [SqliteLedger.open(folder / "ledger.db", room_for(FITS)) for _ in range(SPENDERS)]
    try:
        assert len(granted_to_threads(ledgers)) == FITS
        assert ledgers[0].verify().spent == epsilon(FITS * PRICE)
    finally:
        for ledger in ledgers:
            ledger.close()


@pytest.mark.theorem("Ledger.privacy")
def test_threads_with_a_ledger_in_memory_get_exactly_what_fits():
    ledger = MemoryLedger(room_for(FITS))
    assert len(granted_to_threads([ledger] * SPENDERS)) == FITS
    assert ledger.verify().charges == FITS


@pytest.mark.theorem("SqliteLedger.privacy")
def test_processes_get_exactly_what_fits(folder, rounds):
    count = rounds(sample=FITS, full=10 * FITS)
    with SqliteLedger.open(folder / "ledger.db", room_for(count)) as ledger:
        granted = in_a_process_of_its_own("race", folder / "ledger.db", processes=SPENDERS, cost=PRICE)
        assert (len(granted), sum(granted)) == (SPENDERS, count)
        assert ledger.verify().answers == count


def test_a_ledger_opened_by_many_at_once_begins_once(folder):
    ledgers, start = [], threading.Barrier(16)

    def begin():
        start.wait()
        ledgers.append(SqliteLedger.open(folder / "ledger.db", terms()))

    threads = [threading.Thread(target=begin) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    heads = {ledger.verify().head for ledger in ledgers}
    for ledger in ledgers:
        ledger.close()
    assert (len(ledgers), len(heads)) == (16, 1)


def test_a_child_goes_on_with_its_parents_ledger_and_a_connection_of_its_own(folder):
    carried, child, charges, entries = in_a_process_of_its_own("inherit", folder / "ledger.db")
    assert (carried, child, charges, entries) == (0, 3, 2, 3)


def test_a_child_may_not_spend_a_ledger_in_memory(folder):
    assert in_a_process_of_its_own("disowned", folder) == "refused"
