"""The durable ledger: one SQLite file that processes share, and an anchor that an older copy of it cannot satisfy."""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.errors import LedgerError
from discreet.ledger.contract import (
    Entry,
    Terms,
    Verification,
    complete,
    first_entry,
    keep_anchoring,
    require_format,
    require_terms,
    verified,
)
from discreet.ledger.files import Anchor, AnchorFile, OneAtATime, reach, synchronize_directory
from discreet.ledger.files import anchor as anchors
from discreet.ledger.ledger import Ledger
from discreet.ledger.sqlite.shelf import SqliteShelf, connected, translated


class SqliteLedger(Ledger):
    """A ledger in a file: durable, shared by threads and processes, append-only, tied together by hashes.

    Every step takes the lock of the anchor, then SQLite's write lock, compares the last entry with the anchor, decides,
    appends, commits with `synchronous = FULL`, replaces the anchor, and only then returns.

    Privacy. Whatever crashes, and however many threads and processes spend at once, the costs of all answers that were
        handed out add up to at most the budget; the file may say more was spent than was released, never less.
        Proof: `obtain` returns a charge after its transaction is on the disk, and the caller needs the charge to make
        an answer; so at every moment the released answers are among the charges on the disk. The steps are serial under
        two locks, both of which the operating system frees when their holder dies, and a transaction is whole or not
        there. A crash after the commit and before the anchor leaves the file one entry ahead, which the next step
        accepts and repairs; nothing lawful leaves it behind, so a file that is behind is refused.
    Cost. Two transactions and two small files, synchronized, an answer; independent of the number of entries.
    """

    __slots__ = ("_anchor", "_connection", "_finalizer", "_lock", "_path", "_turns")

    def __init__(self, path: Path, anchor: AnchorFile) -> None:
        self._path = path
        self._anchor = anchor
        self._lock = threading.Lock()
        self._turns = OneAtATime.of_file(path.with_name(path.name + ".asking"))
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
            with ledger._lock, file.exclusively(), translated():
                with ledger._transaction() as shelf:
                    shelf.check_file()
                    verified(complete(shelf), head=head, anchored=False)
                    keep_anchoring(shelf, remembered=file.remembered(), reason=reason, by=by)
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
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def verify(self, *, head: str | None = None) -> Verification:
        """Check the file, the chain, the totals, the anchor and, if given, a head exported earlier."""
        with self._lock, translated(), self._view() as shelf:
            with self._anchor.exclusively():  # the view is taken here, where nobody writes: a difference is no race
                _settled(shelf, self._anchor.read())
            shelf.check_file()
            return verified(complete(shelf), head=head, anchored=True)

    @contextmanager
    def _turn(self) -> Iterator[SqliteShelf]:
        reach("before begin")
        with self._lock, self._anchor.exclusively(), translated():
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
        with self._lock, translated():
            known = self._anchor.read()  # first: the file can only grow after that
            with self._view() as shelf:
                _agreeing(shelf, known)
                yield shelf

    @contextmanager
    def _view(self) -> Iterator[SqliteShelf]:
        """Begin to read: everything is as it is at the first question."""
        connection = self._connected()
        try:
            connection.execute("BEGIN")
            yield SqliteShelf(connection)
        except sqlite3.Error:
            _close(self._connection)
            raise
        finally:
            if self._connection:
                connection.rollback()

    @contextmanager
    def _transaction(self) -> Iterator[SqliteShelf]:
        """Begin, and commit if all goes well; otherwise nothing is written."""
        connection = self._connected()
        try:
            connection.execute("BEGIN IMMEDIATE")
            reach("after begin")
            yield SqliteShelf(connection)
            connection.execute("COMMIT")
        except sqlite3.Error:
            _close(self._connection)  # undone; the next step opens the file anew, which may be usable by then
            raise
        except BaseException:
            if connection.in_transaction:
                connection.rollback()
            raise

    def _begin(self, terms: Terms | None) -> None:
        """Create the ledger if there is none; else compare it with its anchor and with the terms."""
        with self._lock, self._anchor.exclusively(), translated():
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
                    require_format(shelf)
                    if terms is not None:
                        require_terms(shelf, terms)
                after = shelf.last()
            if after != before:
                synchronize_directory(self._path.parent)
                self._anchor.write(_anchor_of(after))

    def _found(self, shelf: SqliteShelf, known: Anchor | None, terms: Terms | None) -> None:
        """Write the first entry; an anchor at zero comes before it, so that a crash in between is recognized."""
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
        last = _settled(shelf, known)
        if known != _anchor_of(last):
            self._anchor.write(_anchor_of(last))

    def _connected(self) -> sqlite3.Connection:
        """Return the connection, outside any transaction; one is kept only when all its settings are in force."""
        if not self._connection:
            self._connection.append(connected(self._path))
        connection = self._connection[0]
        if connection.in_transaction:  # left by an interrupt that came between two lines
            connection.rollback()
        return connection


def _agreeing(shelf: SqliteShelf, known: Anchor | None) -> Entry:
    """Return the last entry, if the entries contain the one that the anchor remembers."""
    last = shelf.last() if shelf.exists() else None
    if known is None:
        raise anchors.missing()
    if last is None or known != _anchor_of(shelf.entry(known.number)):
        raise anchors.put_back()
    return last


def _settled(shelf: SqliteShelf, known: Anchor | None) -> Entry:
    """Return the last entry, if the anchor is at most one behind it; the caller holds `exclusively`."""
    last = _agreeing(shelf, known)
    if last.number > (known.number if known else 0) + 1:
        raise anchors.outdated()
    return last


def _anchor_of(entry: Entry | None) -> Anchor:
    return Anchor() if entry is None else Anchor(entry.number, entry.hash)


def _anchor_place(path: Path, anchor: str | os.PathLike[str] | None) -> Path:
    return path.with_name(path.name + ".anchor") if anchor is None else Path(anchor).resolve()


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
