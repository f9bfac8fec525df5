"""How the ledger's file is opened, so that a commit waits for the disk, and what SQLite's errors mean."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.errors import LedgerError, LedgerTampered
from discreet.ledger.files import make_private, unusable

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
