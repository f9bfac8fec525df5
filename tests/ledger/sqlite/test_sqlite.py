"""The ledger in a file: durable, append-only, tied to its data and to its anchor."""

from __future__ import annotations

import gc
import shutil
import sqlite3
import warnings
from contextlib import closing

import pytest

from discreet.errors import BudgetExceeded, LedgerError, LedgerMismatch, LedgerTampered
from discreet.ledger import Charge, EntryKind, SqliteLedger, Stored
from discreet.privacy import ZCDP, Relation
from tests.ledger.ledgers import PEOPLE, epsilon, in_a_process_of_its_own, request, terms


def at(folder):
    return folder / "ledger.db"


def anchor(folder):
    return folder / "ledger.db.anchor"


def keep(folder, name):
    """Copy the ledger, closed, without its anchor."""
    shutil.copy(at(folder), folder / name)


def put_back(folder, name):
    shutil.copy(folder / name, at(folder))


def test_answers_are_replayed_after_a_restart_and_in_another_process(folder):
    with SqliteLedger.open(at(folder), terms()) as ledger:
        first = ledger.store(ledger.obtain(request("q")), '{"count": 41}')
    with SqliteLedger.open(at(folder), terms()) as ledger:
        assert ledger.obtain(request("q")) == first
    assert in_a_process_of_its_own("replay", at(folder), name="q") == ["Stored", '{"count": 41}']
    assert in_a_process_of_its_own("replay", at(folder), name="new") == ["Charge", None]
    with SqliteLedger.open(at(folder), terms()) as ledger:
        assert ledger.balance().charges == 2


def test_a_charge_whose_answer_was_lost_is_spent_after_a_restart(folder):
    with SqliteLedger.open(at(folder), terms()) as ledger:
        ledger.obtain(request("q"))
    with SqliteLedger.open(at(folder), terms()) as ledger:
        assert ledger.balance().spent == epsilon(0.125)
        assert isinstance(ledger.obtain(request("q")), Charge)


def test_a_new_session_gains_nothing(folder):
    granted = 0
    for name in range(12):
        with SqliteLedger.open(at(folder), terms()) as ledger:
            try:
                ledger.obtain(request(name))
                granted += 1
            except BudgetExceeded:
                continue
    assert granted == 8


@pytest.mark.parametrize("change", [{"lineage": "another"}, {"unit": "visit"}])
@pytest.mark.usefixtures("durable")
def test_a_ledger_of_other_data_is_refused(folder, change):
    with pytest.raises(LedgerMismatch, match="this ledger is of the data 'hospital' with the unit 'patient'"):
        SqliteLedger.open(at(folder), terms(**change))


@pytest.mark.parametrize(
    "change",
    [
        {"budget": epsilon(2)},
        {"budget": ZCDP(1, relation=PEOPLE), "caps": {"ana": None, "bo": None}},
        {
            "budget": epsilon(1, Relation.CHANGE_ONE),
            "caps": {"ana": None, "bo": epsilon(0.5, Relation.CHANGE_ONE)},
        },
        {"caps": {"ana": None}},
        {"shared_answers": True},
    ],
)
@pytest.mark.usefixtures("durable")
def test_other_terms_are_refused_with_the_remedy(folder, change):
    with pytest.raises(LedgerMismatch, match=r"amend\(budget=\.\.\., caps=\.\.\., reason=\.\.\., by=\.\.\.\)"):
        SqliteLedger.open(at(folder), terms(**change))


@pytest.mark.usefixtures("durable")
def test_a_ledger_is_opened_with_its_own_terms_and_amended(folder):
    with SqliteLedger.open(at(folder)) as ledger:
        ledger.amend(budget=epsilon(2), reason="a vote", by="curator")
    with SqliteLedger.open(at(folder), terms(budget=epsilon(2))) as ledger:
        assert ledger.verify().entries == 2
    with pytest.raises(LedgerMismatch, match="differ in: budget"):
        SqliteLedger.open(at(folder), terms())


def test_a_place_without_a_ledger_needs_terms(folder):
    with pytest.raises(LedgerError, match="name its terms"):
        SqliteLedger.open(at(folder))
    with pytest.raises(LedgerError, match="No such file or directory"):
        SqliteLedger.open(folder / "nowhere" / "ledger.db", terms())
    with pytest.raises(LedgerError, match="no ledger in this place"):
        SqliteLedger.reanchor(at(folder), head="0" * 64, reason="none", by="curator")


def test_a_commit_waits_for_the_disk(durable):
    connection = durable._connected()
    settings = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")}
    assert settings == {"journal_mode": "wal", "synchronous": 2}


def test_a_connection_is_kept_only_with_all_its_settings(durable, folder, monkeypatch):
    from discreet.ledger.sqlite import shelf as module

    monkeypatch.setattr(module, "_PATIENCE", 0)
    durable.close()
    with closing(sqlite3.connect(at(folder), isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(LedgerError, match="another program holds it"):
            durable.obtain(request())
    assert durable._connection == []
    durable.obtain(request())
    connection = durable._connected()
    settings = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "trusted_schema")]
    assert settings == ["wal", 0]


def test_a_place_where_a_commit_does_not_wait_for_the_disk_is_refused(folder, monkeypatch):
    from discreet.ledger.sqlite import shelf as module

    monkeypatch.setattr(module, "_PRAGMAS", ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL"))
    with pytest.raises(LedgerError, match="put the ledger on a local disk"):
        SqliteLedger.open(at(folder), terms())


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET body = '{}' WHERE number = 2",
        "UPDATE entries SET content = x'32' WHERE number = 3",
        "DELETE FROM entries WHERE number = 2",
        "DELETE FROM entries",
        "INSERT OR REPLACE INTO entries SELECT * FROM entries WHERE number = 2",
        "INSERT OR REPLACE INTO entries SELECT 4, kind, analyst, digest, idempotency, 2, body, hash, content FROM "
        "entries WHERE number = 3",
        "INSERT INTO entries SELECT 9, kind, analyst, digest, idempotency, NULL, body, hash, NULL FROM entries LIMIT 1",
    ],
)
def test_the_table_refuses_every_change_but_an_addition(durable, folder, statement):
    durable.store(durable.obtain(request()), "1")
    connection = sqlite3.connect(at(folder))
    try:
        with pytest.raises(sqlite3.IntegrityError, match="entries are"):
            connection.execute(statement)
    finally:
        connection.close()
    assert durable.verify().entries == 3


def test_an_older_copy_that_was_put_back_is_refused(folder):
    with SqliteLedger.open(at(folder), terms()) as ledger:
        ledger.obtain(request("a"))
    keep(folder, "old.db")
    with SqliteLedger.open(at(folder), terms()) as ledger:
        charge = ledger.obtain(request("b"))
        ledger.close()
        put_back(folder, "old.db")
        for attempt in (
            lambda: ledger.obtain(request("c")),
            lambda: ledger.store(charge, "1"),
            ledger.balance,
            ledger.verify,
            lambda: ledger.head,
            lambda: SqliteLedger.open(at(folder), terms()),
            lambda: SqliteLedger.open(at(folder)),
        ):
            with pytest.raises(LedgerTampered, match="an older copy of the ledger was put back"):
                attempt()


def test_another_history_of_the_same_length_is_refused(folder):
    with SqliteLedger.open(at(folder), terms()):
        pass
    keep(folder, "old.db")
    old_anchor = anchor(folder).read_bytes()
    with SqliteLedger.open(at(folder), terms()) as ledger:
        ledger.obtain(request("dear", cost=0.5))
    spent_anchor = anchor(folder).read_bytes()
    put_back(folder, "old.db")
    anchor(folder).write_bytes(old_anchor)
    with SqliteLedger.open(at(folder), terms()) as ledger:
        ledger.obtain(request("cheap", cost=0.125))
    anchor(folder).write_bytes(spent_anchor)
    with pytest.raises(LedgerTampered, match="an older copy"):
        SqliteLedger.open(at(folder), terms())


def test_a_ledger_that_was_removed_does_not_begin_afresh(folder):
    with SqliteLedger.open(at(folder), terms()) as ledger:
        ledger.obtain(request())
    at(folder).unlink()
    with pytest.raises(LedgerTampered, match="put back"):
        SqliteLedger.open(at(folder), terms())
    at(folder).touch()
    with pytest.raises(LedgerTampered, match="put back"):
        SqliteLedger.open(at(folder), terms())


def test_a_missing_anchor_is_refused_until_it_is_made_anew_with_an_exported_head(folder):
    with SqliteLedger.open(at(folder), terms()) as ledger:
        ledger.obtain(request("a"))
        head = ledger.head
        ledger.obtain(request("b"))
    anchor(folder).unlink()
    with pytest.raises(LedgerTampered, match=r"anchor file is gone.*SqliteLedger\.reanchor"):
        SqliteLedger.open(at(folder), terms())
    with pytest.raises(LedgerTampered, match="exported head is not in this ledger"):
        SqliteLedger.reanchor(at(folder), head="ab" * 32, reason="a new disk", by="curator")
    found = SqliteLedger.reanchor(at(folder), head=head, reason="a new disk", by="curator")
    assert (found.entries, found.head_at, found.anchored) == (4, 2, True)
    with SqliteLedger.open(at(folder), terms()) as ledger:
        entry = list(ledger.entries())[-1]
        assert (entry.kind, entry.fields["reason"], entry.fields["by"]) == (EntryKind.ANCHOR, "a new disk", "curator")
        assert entry.fields["remembered"] is None
        assert ledger.balance().spent == epsilon(0.25)


def test_an_anchor_made_anew_over_lost_spending_says_so_for_ever(folder):
    with SqliteLedger.open(at(folder), terms()) as ledger:
        head = ledger.head
    keep(folder, "old.db")
    with SqliteLedger.open(at(folder), terms()) as ledger:
        for name in range(3):
            ledger.obtain(request(name))
    put_back(folder, "old.db")
    SqliteLedger.reanchor(at(folder), head=head, reason="the disk broke", by="curator")
    with SqliteLedger.open(at(folder), terms()) as ledger:
        entry = list(ledger.entries())[-1]
        assert (entry.number, entry.fields["remembered"]) == (2, 4)
    anchor(folder).write_bytes(b"{}")
    assert SqliteLedger.reanchor(at(folder), head=head, reason="again", by="curator").entries == 3


@pytest.mark.parametrize(
    "text", [b"", b"{}", b'{"head":"x","number":1}', b"\xff", b'{"head":"%s","number":-1}' % (b"0" * 64)]
)
def test_an_anchor_that_discreet_did_not_write_is_refused(folder, text):
    with SqliteLedger.open(at(folder), terms()):
        pass
    anchor(folder).write_bytes(text)
    with pytest.raises(LedgerTampered, match="the anchor file is not what discreet wrote"):
        SqliteLedger.open(at(folder), terms())


def test_an_anchor_one_entry_behind_is_what_a_crash_leaves_and_two_are_not(folder):
    with SqliteLedger.open(at(folder), terms()) as ledger:
        old = anchor(folder).read_bytes()
        ledger.obtain(request("a"))
        newer = anchor(folder).read_bytes()
        anchor(folder).write_bytes(old)
        assert ledger.balance().charges == 1
    with SqliteLedger.open(at(folder), terms()) as ledger:
        assert anchor(folder).read_bytes() == newer
        ledger.obtain(request("b"))
        anchor(folder).write_bytes(old)
        with pytest.raises(LedgerTampered, match="older than a crash can leave it"):
            ledger.obtain(request("c"))
        with pytest.raises(LedgerTampered, match="older than a crash can leave it"):
            ledger.verify()
    with pytest.raises(LedgerTampered, match="older than a crash can leave it"):
        SqliteLedger.open(at(folder), terms())


def test_the_anchor_may_be_in_another_place(folder):
    elsewhere = folder / "safe"
    elsewhere.mkdir()
    with SqliteLedger.open(at(folder), terms(), anchor=elsewhere / "anchor") as ledger:
        ledger.obtain(request())
    assert not anchor(folder).exists()
    with SqliteLedger.open(at(folder), anchor=elsewhere / "anchor") as ledger:
        assert ledger.verify().anchored
    with pytest.raises(LedgerTampered, match="anchor file is gone"):
        SqliteLedger.open(at(folder))


def test_a_link_to_a_ledger_is_that_ledger(durable, folder):
    durable.obtain(request())
    (folder / "link.db").symlink_to(at(folder))
    with SqliteLedger.open(folder / "link.db", terms()) as ledger:
        assert ledger.balance().charges == 1


def test_a_failed_anchor_releases_nothing_and_stays_spent(durable, monkeypatch):
    from discreet.ledger.files import anchor as module

    def full(_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(module, "synchronize", full)
        with pytest.raises(LedgerError, match="the anchor cannot be written: No space left on device") as caught:
            durable.obtain(request("a"))
    assert caught.value.__cause__ is None
    assert durable.balance().spent == epsilon(0.125)
    durable.obtain(request("b"))
    assert durable.verify().charges == 2


def test_a_lock_held_by_another_program_is_named(durable, folder, monkeypatch):
    from discreet.ledger.sqlite import shelf as module

    monkeypatch.setattr(module, "_PATIENCE", 0)
    durable.close()
    other = sqlite3.connect(at(folder), isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="another program holds it") as caught:
            durable.obtain(request())
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__
        assert not isinstance(caught.value, LedgerTampered)
    finally:
        other.close()
    assert isinstance(durable.obtain(request()), Charge)


def test_no_other_program_can_write_between_the_check_and_the_charge(durable, folder, monkeypatch):
    from discreet.ledger.files import crash_points

    refused = []

    def intrude(name):
        if name == "after begin":
            with closing(sqlite3.connect(at(folder), isolation_level=None, timeout=0)) as other:
                with pytest.raises(sqlite3.OperationalError, match="locked"):
                    other.execute("BEGIN IMMEDIATE")
                refused.append(name)

    monkeypatch.setattr(crash_points, "_point", intrude)
    durable.obtain(request())
    assert refused == ["after begin"]


def test_what_is_no_database_is_refused(folder):
    at(folder).write_bytes(b"not a database" * 1000)
    with pytest.raises(LedgerTampered, match="damaged"):
        SqliteLedger.open(at(folder), terms())


def test_an_interrupted_step_leaves_nothing_half_done(durable, monkeypatch):
    from discreet.ledger.files import crash_points

    def interrupt(name):
        if name == "after insert":
            raise KeyboardInterrupt

    with monkeypatch.context() as hooked:
        hooked.setattr(crash_points, "_point", interrupt)
        with pytest.raises(KeyboardInterrupt):
            durable.obtain(request())
    assert durable.balance().charges == 0
    assert isinstance(durable.obtain(request()), Charge)


@pytest.mark.parametrize("step", ["obtain", "balance"])
def test_an_interrupt_between_two_lines_leaves_no_transaction_open(durable, step):
    class Interrupted:
        """A connection whose BEGIN is the last thing that happens before Ctrl-C."""

        def __getattr__(self, name):
            return getattr(real, name)

        def execute(self, statement, *values):
            real.execute(statement, *values)
            raise KeyboardInterrupt

        def rollback(self):
            raise KeyboardInterrupt

    real = durable._connected()
    durable._connection[0] = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        durable.obtain(request()) if step == "obtain" else durable.balance()
    assert real.in_transaction
    durable._connection[0] = real
    assert durable.balance().charges == 0
    assert isinstance(durable.obtain(request()), Charge)


def test_what_the_operating_system_refuses_is_a_ledger_error(durable, folder, monkeypatch):
    import os

    from discreet.ledger.files import anchor as module

    def none_left(*_):
        raise OSError(37, "No locks available")

    with monkeypatch.context() as broken:
        broken.setattr(module.fcntl, "flock", none_left)
        with pytest.raises(LedgerError, match="the lock file cannot be locked: No locks available"):
            durable.obtain(request())
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", none_left)
        with pytest.raises(LedgerError, match="No locks"):
            SqliteLedger.open(folder / "other.db", terms())
    assert isinstance(durable.obtain(request()), Charge)


def test_the_file_is_opened_anew_after_an_error_of_sqlite(durable):
    durable._connected().execute("PRAGMA query_only = ON")  # as a file that may not be written
    with pytest.raises(LedgerError, match="it may not be written"):
        durable.obtain(request())
    assert durable._connection == []
    assert isinstance(durable.obtain(request()), Charge)


def test_a_ledger_of_another_format_is_refused(folder, monkeypatch):
    from discreet.ledger.contract import decisions as opening

    with monkeypatch.context() as older:
        older.setattr(opening, "FORMAT", 2)
        SqliteLedger.open(at(folder), terms()).close()
    for stated in (terms(), None):
        with pytest.raises(LedgerMismatch, match="another format"):
            SqliteLedger.open(at(folder), stated)


def test_a_ledger_that_is_let_go_closes_its_file(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ledger = SqliteLedger.open(at(folder), terms())
        connections = ledger._connection
        del ledger
        gc.collect()
    assert connections == []


def test_a_closed_ledger_opens_itself_again(durable):
    stored = durable.store(durable.obtain(request()), "1")
    durable.close()
    durable.close()
    assert durable.obtain(request()) == stored
    assert isinstance(stored, Stored)


def test_a_charge_takes_the_same_steps_after_many_entries(durable):
    """Constant cost, counted in SQLite's own steps, not in time."""
    durable.amend(budget=epsilon(1000), caps={"ana": None}, reason="room", by="curator")

    def steps(name):
        count = 0

        def step():
            nonlocal count
            count += 1

        durable._connected().set_progress_handler(step, 1)
        durable.obtain(request(name))
        durable._connected().set_progress_handler(None, 0)
        return count

    for name in range(20):
        durable.obtain(request(name))
    early = steps("early")
    for name in range(200):
        durable.obtain(request((name, "later")))
    assert steps("late") <= early + 50
