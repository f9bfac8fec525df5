"""Flipped bytes in the ledger's files: found, or where no entry, index or rule is written."""

from __future__ import annotations

import sqlite3

import pytest

from discreet.errors import LedgerError, LedgerTampered
from discreet.ledger import EntryKind, SqliteLedger
from discreet.ledger.sqlite.shelf import SCHEMA
from tests.ledger.ledgers import epsilon, request, terms


@pytest.fixture
def files(folder):
    """A closed ledger with some history, its bytes and its entries."""
    place = folder / "ledger.db"
    with SqliteLedger.open(place, terms(shared_answers=True)) as ledger:
        for name in range(5):
            ledger.store(ledger.obtain(request(name, idempotency=f"k{name}")), '{"answer": [1, 2, 3]}')
        ledger.obtain(request(0, analyst="bo"))
        ledger.amend(budget=epsilon(2), reason="a vote", by="curator")
        entries = list(ledger.entries())
    return place, place.read_bytes(), entries


def outcome(place, content, log=None):
    """Return the entries that a changed file reads as, None if the change is found."""
    for suffix in ("-wal", "-shm"):
        place.with_name(place.name + suffix).unlink(missing_ok=True)
    place.write_bytes(content)
    if log is not None:
        place.with_name(place.name + "-wal").write_bytes(log)
    try:
        with SqliteLedger.open(place) as ledger:
            ledger.verify()
            return list(ledger.entries())
    except LedgerError:
        return None


def flipped(content, place, pattern):
    return content[:place] + bytes([content[place] ^ pattern]) + content[place + 1 :]


def test_a_flipped_byte_anywhere_is_found_or_changes_no_entry(files, rounds):
    place, content, entries = files
    count = rounds(sample=150, full=len(content))
    step = max(1, len(content) // count) | 1
    anchor = place.with_name(place.name + ".anchor")
    remembered = anchor.read_bytes()
    for offset in range(0, len(content), step):
        found = outcome(place, flipped(content, offset, 1 << offset % 8))
        assert found is None or found == entries, offset
        assert anchor.read_bytes() == remembered


def test_a_flipped_byte_of_an_entry_is_found(files, rounds):
    place, content, entries = files
    offsets = []
    for entry in entries:
        for text in (entry.text, entry.hash, *(['{"answer": [1, 2, 3]}'] if entry.kind is EntryKind.ANSWER else [])):
            start = content.find(text.encode())
            assert start >= 0
            offsets += range(start, start + len(text))
    count = rounds(sample=150, full=len(offsets))
    for offset in offsets[:: max(1, len(offsets) // count)]:
        assert outcome(place, flipped(content, offset, 1 << offset % 8)) is None, offset


def test_a_flipped_byte_of_the_anchor_is_found(files):
    place, content, _ = files
    anchor = place.with_name(place.name + ".anchor")
    good = anchor.read_bytes()
    for offset in range(len(good)):
        anchor.write_bytes(flipped(good, offset, 1))
        assert outcome(place, content) is None, offset


def test_files_of_different_times_are_the_newest_ledger_or_refused(folder):
    """Whatever a backup caught and a restore put back: the file, SQLite's log beside it, both or none."""
    place, copies = folder / "ledger.db", []
    log = place.with_name(place.name + "-wal")

    def copy():
        copies.append((place.read_bytes(), log.read_bytes() if log.exists() else None))

    with SqliteLedger.open(place, terms(shared_answers=True)) as ledger:
        for name in range(6):
            ledger.store(ledger.obtain(request(name)), "1")
            if name == 3:
                ledger._connected().execute("PRAGMA wal_checkpoint(TRUNCATE)")
            copy()
        entries = list(ledger.entries())
    copy()
    whole = 0
    for content, _ in copies:
        for _, logged in copies:
            found = outcome(place, content, logged)
            assert found is None or found == entries
            whole += found is not None
    assert 2 <= whole < len(copies) ** 2


def test_a_shortened_file_is_found(files):
    place, content, _ = files
    for length in range(0, len(content), 4096):
        assert outcome(place, content[:length]) is None


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TRIGGER no_update",
        "DROP TRIGGER no_delete",
        "DROP TRIGGER in_order",
        "DROP INDEX entries_by_charge",
        "CREATE TABLE more (a)",
        "PRAGMA application_id = 7",
    ],
)
def test_a_ledger_without_its_guards_is_found(files, statement):
    place, _, _ = files
    edit(place, statement)
    with SqliteLedger.open(place) as ledger, pytest.raises(LedgerTampered, match="guards"):
        ledger.verify()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET body = replace(body, '1/8', '1/9') WHERE number = 6",
        "UPDATE entries SET kind = 'outcome' WHERE number = 3",
        "UPDATE entries SET analyst = 'bo' WHERE number = 2",
        "UPDATE entries SET digest = NULL WHERE number = 3",
        "UPDATE entries SET idempotency = 'other' WHERE number = 2",
        "UPDATE entries SET charge = 5 WHERE number = 3",
        "UPDATE entries SET hash = upper(hash) WHERE number = 4",
        "UPDATE entries SET body = CAST(body AS BLOB) WHERE number = 4",
        "UPDATE entries SET content = replace(content, '1', '2') WHERE number = 3",
        "UPDATE entries SET content = CAST(content AS TEXT) WHERE number = 3",
        "UPDATE entries SET content = NULL WHERE number = 3",
        "UPDATE entries SET content = x'31' WHERE number = 4",
        "DELETE FROM entries WHERE number = 5",
    ],
)
def test_an_edit_by_hand_is_found(files, statement):
    place, _, _ = files
    made = [text for text in SCHEMA if "TABLE" not in text]
    names = [text.split(" ON ")[0].split(" BEFORE ")[0].removeprefix("CREATE ").replace("UNIQUE ", "") for text in made]
    edit(place, *(f"DROP {name}" for name in names), statement, *made)
    with SqliteLedger.open(place) as ledger, pytest.raises(LedgerTampered, match=r"entry [2-6] "):
        ledger.verify()


def edit(place, *statements):
    connection = sqlite3.connect(place, isolation_level=None)
    try:
        for statement in statements:
            connection.execute(statement)
    finally:
        connection.close()
