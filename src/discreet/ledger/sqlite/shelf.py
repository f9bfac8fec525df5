"""Entries in an SQLite table that only grows, with the columns that questions are asked by."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

from discreet.errors import LedgerTampered
from discreet.ledger.contract import START, Entry, Kind, Shelf, changed
from discreet.ledger.files import reach

APPLICATION = 0x64697363  # 'disc'

SCHEMA = (
    "CREATE TABLE entries (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, analyst TEXT, digest TEXT, "
    "idempotency TEXT, charge INTEGER, body TEXT NOT NULL, hash TEXT NOT NULL, content BLOB)",
    "CREATE INDEX entries_by_analyst ON entries (analyst, kind, number)",
    "CREATE INDEX entries_by_digest ON entries (digest, kind, analyst, number)",
    "CREATE INDEX entries_by_key ON entries (analyst, idempotency, number)",
    "CREATE UNIQUE INDEX entries_by_charge ON entries (charge)",
    "CREATE INDEX entries_by_kind ON entries (kind)",
    "CREATE TRIGGER no_update BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END",
    "CREATE TRIGGER no_delete BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are never removed'); END",
    # a replacing insert removes rows without the trigger above, so it is caught on its way in
    "CREATE TRIGGER in_order BEFORE INSERT ON entries WHEN NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM "
    "entries) OR EXISTS (SELECT 1 FROM entries WHERE charge = NEW.charge) "
    "BEGIN SELECT RAISE(ABORT, 'entries are added at the end'); END",
)

_GUARDS = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid"
_COLUMNS = "number, kind, analyst, digest, idempotency, charge, body, hash"


class SqliteShelf(Shelf):
    """The entries as one connection sees them; each row that is used is checked against its hash and its columns."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Read through a connection; transactions are the caller's."""
        self._connection = connection

    def create(self) -> None:
        """Make the table in an empty database."""
        self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
        for statement in SCHEMA:
            self._connection.execute(statement)

    def exists(self) -> bool:
        """Say whether there is a table."""
        return bool(self._value("SELECT count(*) FROM sqlite_master"))

    def check_file(self) -> None:
        """Refuse a file whose pages, indexes, columns or guards are not as they were made."""
        with closing(sqlite3.connect(":memory:")) as model:
            SqliteShelf(model).create()
            expected = model.execute(_GUARDS).fetchall()
        found = self._connection.execute(_GUARDS).fetchall()
        sound = self._value("PRAGMA integrity_check(1)") == "ok" and self._value("PRAGMA application_id") == APPLICATION
        if not sound or found != expected:
            raise LedgerTampered(
                "the ledger's file is damaged or its guards against changes were removed. Put back a complete copy."
            )

    def last(self) -> Entry | None:
        """Return the last entry."""
        return self._one("ORDER BY number DESC LIMIT 1")

    def entry(self, number: int) -> Entry | None:
        """Return one entry."""
        return self._one("WHERE number = ?", number)

    def latest_spending(self, analyst: str) -> Entry | None:
        """Return the last charge or share of an analyst."""
        newest = "SELECT max(number) FROM entries WHERE analyst = ? AND kind = ?"
        numbers = [self._value(newest, analyst, kind.value) for kind in (Kind.CHARGE, Kind.SHARE)]
        return self._latest(numbers)

    def first_answer(self, digest: str, analyst: str | None = None) -> Entry | None:
        """Return the first answer under a digest."""
        where = "SELECT min(number) FROM entries WHERE digest = ? AND kind = 'answer'"
        if analyst is None:
            return self._first(where, digest)
        return self._first(f"{where} AND analyst = ?", digest, analyst)

    def share(self, digest: str, analyst: str) -> Entry | None:
        """Return the entry by which an analyst obtained another's answer."""
        where = "SELECT min(number) FROM entries WHERE digest = ? AND kind = 'share' AND analyst = ?"
        return self._first(where, digest, analyst)

    def first_with_key(self, analyst: str, idempotency: str) -> Entry | None:
        """Return the entry that bound a key."""
        where = "SELECT min(number) FROM entries WHERE analyst = ? AND idempotency = ?"
        return self._first(where, analyst, idempotency)

    def closing(self, charge: int) -> Entry | None:
        """Return the answer or the outcome of a charge."""
        return self._one("WHERE charge = ?", charge)

    def charged(self, digest: str, analyst: str | None = None) -> list[int]:
        """Return the numbers of the charges under a digest."""
        where, values = "digest = ? AND kind = 'charge'", [digest]
        if analyst is not None:
            where, values = f"{where} AND analyst = ?", [digest, analyst]
        rows = self._connection.execute(f"SELECT number FROM entries WHERE {where} ORDER BY number", values)  # noqa: S608
        return [row[0] for row in rows]

    def newest(self, digest: str, kinds: Sequence[Kind]) -> Entry | None:
        """Return the last entry of some kinds under a digest."""
        where = "SELECT max(number) FROM entries WHERE digest = ? AND kind = ?"
        numbers = [self._value(where, digest, kind.value) for kind in kinds]
        return self._latest(numbers)

    def charges(self, analyst: str | None = None) -> int:
        """Return the number of charges and shares."""
        count = "SELECT count(*) FROM entries WHERE kind IN ('charge', 'share')"
        found = self._value(count) if analyst is None else self._value(f"{count} AND analyst = ?", analyst)
        return int(found)

    def entries(self, start: int = 1) -> Iterator[Entry]:
        """Return the entries in order; each is tied to the one before it."""
        previous = self._hash_before(start)
        rows = f"SELECT {_COLUMNS} FROM entries WHERE number >= ? ORDER BY number"  # noqa: S608  our names
        for row in self._connection.execute(rows, (start,)):
            entry = _checked(row, previous)
            yield entry
            previous = entry.hash

    def content(self, number: int) -> bytes | None:
        """Return the answer of a row: the last column, which SQLite leaves unread for every other question."""
        found: bytes | None = self._value("SELECT content FROM entries WHERE number = ?", number)
        return found

    def append(self, entry: Entry, content: bytes | None = None) -> None:
        """Add a row."""
        reach("before insert")
        self._connection.execute(
            f"INSERT INTO entries ({_COLUMNS}, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608  our names
            (entry.number, *_columns(entry), entry.text, entry.hash, content),
        )
        reach("after insert")

    def _latest(self, numbers: Sequence[int | None]) -> Entry | None:
        known = [number for number in numbers if number is not None]
        return self.entry(max(known)) if known else None

    def _first(self, where: str, *values: object) -> Entry | None:
        number = self._value(where, *values)
        return None if number is None else self.entry(number)

    def _one(self, where: str, *values: object) -> Entry | None:
        row = self._connection.execute(f"SELECT {_COLUMNS} FROM entries {where}", values).fetchone()  # noqa: S608
        if row is None:
            return None
        return _checked(row, self._hash_before(row[0]) if isinstance(row[0], int) else None)

    def _hash_before(self, number: int) -> Any:
        before = self._value("SELECT hash FROM entries WHERE number = ?", number - 1)
        return START if before is None else before

    def _value(self, query: str, *values: object) -> Any:
        row = self._connection.execute(query, values).fetchone()
        return None if row is None else row[0]


def _checked(row: tuple[Any, ...], previous: Any) -> Entry:
    """Return the entry of a row, if its text, its hash and its columns agree."""
    entry = Entry.parse(row[0], previous, row[6], row[7])
    if tuple(row[1:6]) != _columns(entry):
        raise changed(entry.number)
    return entry


def _columns(entry: Entry) -> tuple[Any, ...]:
    return (entry.kind.value, *(entry.fields.get(name) for name in ("analyst", "digest", "idempotency", "charge")))
