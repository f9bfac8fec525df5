"""The durable ledger: one SQLite file that processes share, and an anchor that an older copy of it cannot satisfy."""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.errors import LedgerError, LedgerTampered
from discreet.ledger import anchor as anchors
from discreet.ledger.anchor import Anchor, AnchorFile, synchronise_directory
from discreet.ledger.balance import Verification
from discreet.ledger.crash_points import reach
from discreet.ledger.decisions import first_entry, keep_anchoring, require_terms
from discreet.ledger.entry import Entry
from discreet.ledger.ledger import Ledger
from discreet.ledger.sqlite_shelf import SqliteShelf
from discreet.ledger.terms import Terms
from discreet.ledger.verification import verified

_PATIENCE = 60  # seconds to wait for a program that holds SQLite's own lock
_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",  # NORMAL may lose a committed charge with the power
    "PRAGMA fullfsync = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
)
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


class SqliteLedger(Ledger):
    """A ledger in a file: durable, shared by threads and processes, append-only, tied together by hashes.

    Every step takes the lock of the anchor, then SQLite's write lock, compares the last entry with the anchor, decides,
    appends, commits with `synchronous = FULL`, replaces the anchor, and only then returns.

    Privacy. Whatever crashes, and however many threads and processes spend at once, the prices of all answers that were
        handed out add up to at most the budget; the file may say more was spent than was released, never less.
        Proof: `obtain` returns a charge after its transaction is on the disk, and the caller needs the charge to make
        an answer; so at every moment the released answers are among the charges on the disk. The steps are serial under
        two locks, both of which the operating system frees when their holder dies, and a transaction is whole or not
        there. A crash after the commit and before the anchor leaves the file one entry ahead, which the next step
        accepts and repairs; nothing lawful leaves it behind, so a file that is behind is refused.
    Cost. Two transactions and two small files, synchronised, an answer; independent of the number of entries.
    """

    __slots__ = ("_anchor", "_connection", "_finalizer", "_lock", "_path")

    def __init__(self, path: Path, anchor: AnchorFile) -> None:
        """Use `SqliteLedger.open`."""
        self._path = path
        self._anchor = anchor
        self._lock = threading.Lock()
        self._connection: list[sqlite3.Connection] = []  # none or one
        self._finalizer = weakref.finalize(self, _close, self._connection)
        with _registry:
            _living.add(self)

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], terms: Terms | None = None, anchor: str | os.PathLike[str] | None = None
    ) -> SqliteLedger:
        """Open a ledger, or begin one with these terms.

        An existing ledger with other terms is refused; without `terms` it is opened with its own. The anchor is the
        file beside it with `.anchor` added, unless another place is named: a place that is not restored together with
        the ledger is the better one.
        """
        place = Path(path).resolve()
        ledger = cls(place, AnchorFile(_anchor_place(place, anchor)))
        try:
            ledger._begin(terms)
        except BaseException:
            ledger.close()
            raise
        return ledger

    @classmethod
    def reanchor(
        cls,
        path: str | os.PathLike[str],
        *,
        head: str,
        reason: str,
        by: str,
        anchor: str | os.PathLike[str] | None = None,
    ) -> Verification:
        """Make the anchor of a ledger anew, if the whole ledger is in order and contains a head exported earlier.

        What was spent after that head and is not in this copy is lost: name the newest head there is.
        """
        place = Path(path).resolve()
        if not place.exists():
            raise LedgerError("there is no ledger in this place")
        file = AnchorFile(_anchor_place(place, anchor))
        ledger = cls(place, file)
        try:
            with ledger._lock, file.exclusively(), _translated():
                with ledger._transaction() as shelf:
                    shelf.check_file()
                    verified(shelf.entries(), head=head, anchored=False)
                    keep_anchoring(shelf, reason=reason, by=by)
                    last = shelf.last()
                file.write(_anchor_of(last))
            return ledger.verify(head=head)
        finally:
            ledger.close()

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            _close(self._connection)

    def __enter__(self) -> SqliteLedger:
        """Return the ledger."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

    def verify(self, *, head: str | None = None) -> Verification:
        """Check the file, the chain, the totals, the anchor and, if given, a head exported earlier."""
        with self._glance() as shelf:
            shelf.check_file()
            return verified(shelf.entries(), head=head, anchored=True)

    @contextmanager
    def _turn(self) -> Iterator[SqliteShelf]:
        reach("before begin")
        with self._lock, self._anchor.exclusively(), _translated():
            with self._transaction() as shelf:
                before = shelf.last()
                self._compare(shelf)
                yield shelf
                after = shelf.last()
                reach("before commit")
            reach("after commit")
            if after != before:
                self._anchor.write(_anchor_of(after))
            reach("after anchor")
        reach("before return")

    @contextmanager
    def _glance(self) -> Iterator[SqliteShelf]:
        with self._lock, _translated():
            known = self._anchor.read()  # first: the file can only grow after that
            connection = self._connected()
            connection.execute("BEGIN")
            try:
                shelf = SqliteShelf(connection)
                _agreeing(shelf, known)
                yield shelf
            finally:
                connection.rollback()

    @contextmanager
    def _transaction(self) -> Iterator[SqliteShelf]:
        """Begin, and commit if all goes well; otherwise nothing is written."""
        connection = self._connected()
        connection.execute("BEGIN IMMEDIATE")
        try:
            reach("after begin")
            yield SqliteShelf(connection)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.rollback()
            raise

    def _begin(self, terms: Terms | None) -> None:
        """Create the ledger if there is none; else compare it with its anchor and with the terms."""
        with self._lock, self._anchor.exclusively(), _translated():
            known = self._anchor.read()
            if not self._path.exists():
                if known is not None and known.number:
                    raise anchors.put_back()
                if terms is None:
                    raise LedgerError("there is no ledger in this place: name its terms to begin one")
            with self._transaction() as shelf:
                before = shelf.last() if shelf.exists() else None
                if before is None:
                    self._found(shelf, known, terms)
                else:
                    self._compare(shelf)
                    if terms is not None:
                        require_terms(shelf, terms)
                after = shelf.last()
            if after != before:
                synchronise_directory(self._path.parent)
                self._anchor.write(_anchor_of(after))

    def _found(self, shelf: SqliteShelf, known: Anchor | None, terms: Terms | None) -> None:
        """Write the first entry; an anchor at zero comes before it, so that a crash in between is recognised."""
        if known is not None and known.number:
            raise anchors.put_back()
        if terms is None:
            raise LedgerError("the ledger has no entries yet: name its terms to begin it")
        if known is None:
            self._anchor.write(Anchor())
        if not shelf.exists():
            shelf.create()
        shelf.append(first_entry(terms))

    def _compare(self, shelf: SqliteShelf) -> None:
        """Compare with the anchor; one entry ahead is what a crash leaves, and the anchor is brought up to it."""
        known = self._anchor.read()
        last = _agreeing(shelf, known)
        ahead = last.number - (known.number if known else 0)
        if ahead > 1:
            raise anchors.outdated()
        if ahead:
            self._anchor.write(_anchor_of(last))

    def _connected(self) -> sqlite3.Connection:
        if not self._connection:
            connection = sqlite3.connect(
                self._path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
            )  # the lock of this object keeps threads apart
            self._connection.append(connection)
            for pragma in _PRAGMAS:
                connection.execute(pragma)
        return self._connection[0]


def _agreeing(shelf: SqliteShelf, known: Anchor | None) -> Entry:
    """Return the last entry, if the entries contain the one that the anchor remembers."""
    last = shelf.last() if shelf.exists() else None
    if known is None:
        raise anchors.missing()
    if last is None:
        raise anchors.put_back()
    if known != _anchor_of(shelf.entry(known.number)):
        raise anchors.put_back()
    return last


def _anchor_of(entry: Entry | None) -> Anchor:
    return Anchor() if entry is None else Anchor(entry.number, entry.hash)


def _anchor_place(path: Path, anchor: str | os.PathLike[str] | None) -> Path:
    return path.with_name(path.name + ".anchor") if anchor is None else Path(anchor).resolve()


@contextmanager
def _translated() -> Iterator[None]:
    """Turn SQLite's errors into ours, without their chain."""
    try:
        yield
        return
    except sqlite3.Error as problem:
        code = getattr(problem, "sqlite_errorcode", None)
        reason = None if code is None else _CIRCUMSTANCES.get(code & 0xFF)  # the low byte is the kind of error
    except (UnicodeError, OverflowError):
        reason = None
    if reason is None:
        raise LedgerTampered("the ledger's file is damaged: put back a complete copy. Nothing was released.")
    raise LedgerError(f"the ledger's file cannot be used: {reason}. Nothing was released; try again when it can.")


def _close(connections: list[sqlite3.Connection]) -> None:
    while connections:
        connections.pop().close()


_living: weakref.WeakSet[SqliteLedger] = weakref.WeakSet()
_registry = threading.Lock()
_held: list[SqliteLedger] = []


def _before_fork() -> None:
    """Close every connection: SQLite's may not be carried into a child, not even to be closed there."""
    _registry.acquire()
    for ledger in list(_living):
        ledger._lock.acquire()
        _close(ledger._connection)
        _held.append(ledger)


def _after_fork() -> None:
    """Let the ledgers go on, in the parent and in the child."""
    while _held:
        _held.pop()._lock.release()
    _registry.release()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
