"""Entries in an SQLite table that only grows, and the file of it: how that is opened, and what its errors mean."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from discreet.errors import LedgerError, LedgerTampered
from discreet.ledger.contract import START, Entry, EntryKind, Shelf, changed
from discreet.ledger.files import make_private, reach, unusable

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
_PATIENCE = 60  # seconds to wait for a program that holds SQLite's own lock
_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",  # NORMAL may lose a committed charge with the power
    "PRAGMA fullfsync = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
)
_FULL = 2
_CIRCUMSTANCES = {
    sqlite3.SQLITE_PERM: "no permission",
    sqlite3.SQLITE_BUSY: "another program holds it",
    sqlite3.SQLITE_LOCKED: "another program holds it",
    sqlite3.SQLITE_NOMEM: "not enough memory",
    sqlite3.SQLITE_READONLY: "it may not be written",
    sqlite3.SQLITE_INTERRUPT: "it was interrupted",
    sqlite3.SQLITE_IOERR: "the disk reports an error",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
}


class SqliteShelf(Shelf):
    """The entries as one connection sees them; each row that is used is checked against its hash and its columns."""

    def __init__(self, connection: sqlite3.Connection) -> None:
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
        return self._latest("analyst", analyst, (EntryKind.CHARGE, EntryKind.SHARE))

    def first(self, kind: EntryKind, digest: str, analyst: str | None = None) -> Entry | None:
        """Return the first answer, or the first share, under a digest."""
        where = "SELECT min(number) FROM entries WHERE digest = ? AND kind = ?"
        if analyst is None:
            return self._at(self._value(where, digest, kind.value))
        return self._at(self._value(f"{where} AND analyst = ?", digest, kind.value, analyst))

    def first_with_key(self, analyst: str, idempotency: str) -> Entry | None:
        """Return the entry that bound a key."""
        where = "SELECT min(number) FROM entries WHERE analyst = ? AND idempotency = ?"
        return self._at(self._value(where, analyst, idempotency))

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

    def newest(self, digest: str, kinds: Sequence[EntryKind]) -> Entry | None:
        """Return the last entry of some kinds under a digest."""
        return self._latest("digest", digest, kinds)

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

    def _latest(self, column: str, value: str, kinds: Sequence[EntryKind]) -> Entry | None:
        newest = f"SELECT max(number) FROM entries WHERE {column} = ? AND kind = ?"  # noqa: S608  our names
        numbers = [self._value(newest, value, kind.value) for kind in kinds]
        return self._at(max((number for number in numbers if number is not None), default=None))

    def _at(self, number: int | None) -> Entry | None:
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


def connected(path: Path) -> sqlite3.Connection:
    """Open the file so that a commit waits for the disk; a new one is its owner's only, and what SQLite adds."""
    make_private(path)
    connection = sqlite3.connect(
        path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
    )  # the lock of the ledger keeps threads apart
    try:
        for pragma in _PRAGMAS:
            connection.execute(pragma)
        settings = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
    except BaseException:
        connection.close()
        raise
    if settings != ["wal", _FULL]:
        connection.close()
        raise LedgerError("a commit would not wait for the disk here: put the ledger on a local disk")
    return connection


@contextmanager
def translated() -> Iterator[None]:
    """Turn SQLite's errors into ours, without their chain."""
    try:
        yield
        return
    except sqlite3.Error as problem:
        code = getattr(problem, "sqlite_errorcode", None)
        reason = None if code is None else _CIRCUMSTANCES.get(code & 0xFF)  # the low byte is the kind of error
    except OSError as problem:
        raise unusable("the ledger cannot be reached", problem) from None
    except (UnicodeError, OverflowError):
        reason = None
    if reason is None:
        raise LedgerTampered("the ledger's file is damaged: put back a complete copy. Nothing was released.") from None
    raise LedgerError(
        f"the ledger's file cannot be used: {reason}. Nothing was released; try again when it can."
    ) from None
