"""A ledger in memory: the same rules, for one process and for as long as it lives."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from discreet.errors import NotCopyable
from discreet.ledger.contract import Entry, EntryKind, Shelf, Terms, first_entry
from discreet.ledger.files import OneAtATime
from discreet.ledger.ledger import Ledger


class MemoryLedger(Ledger):
    """A ledger that forgets when the process ends: for data in memory, rehearsals and tests.

    It belongs to the process that opened it; a fork is refused, as both copies could spend the same budget.

    >>> from discreet.privacy import PureDP, Relation
    >>> budget = PureDP(1, relation=Relation.ADD_REMOVE)
    >>> ledger = MemoryLedger(
    ...     Terms(lineage="demo", unit="patient", budget=budget, caps={"ana": None})
    ... )
    >>> ledger.fits("ana", PureDP(0.25, relation=Relation.ADD_REMOVE))
    4
    """

    __slots__ = ("_foreign", "_lock", "_shelf", "_turns")

    def __init__(self, terms: Terms) -> None:
        self._lock = threading.Lock()
        self._turns = OneAtATime()
        self._foreign = False
        self._shelf = _MemoryShelf()
        self._shelf.append(first_entry(terms))
        _living.add(self)

    @contextmanager
    def _turn(self) -> Iterator[Shelf]:
        with self._glance() as shelf:
            pending = _Pending(shelf)
            yield pending
            for entry, content in pending.added:
                shelf.append(entry, content)

    @contextmanager
    def _glance(self) -> Iterator[_MemoryShelf]:
        if self._foreign:
            raise NotCopyable(
                "this ledger is in the memory of another process, which may go on spending it. Open a SqliteLedger, "
                "which processes can share."
            )
        with self._lock:
            self._shelf.catch_up()
            yield self._shelf


class _MemoryShelf(Shelf):
    """A list of entries and, for each question, where its answer stands."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._first: dict[tuple[object, ...], Entry] = {}
        self._latest: dict[str, Entry] = {}
        self._newest: dict[tuple[str, EntryKind], Entry] = {}
        self._charges: dict[str | None, set[int]] = {}
        self._contents: dict[int, bytes] = {}
        self._paid: dict[tuple[str, str | None], dict[int, None]] = {}
        self._placed = 0

    def last(self) -> Entry | None:
        return self._entries[-1] if self._entries else None

    def entry(self, number: int) -> Entry | None:
        return self._entries[number - 1] if 1 <= number <= len(self._entries) else None

    def latest_spending(self, analyst: str) -> Entry | None:
        return self._latest.get(analyst)

    def first(self, kind: EntryKind, digest: str, analyst: str | None = None) -> Entry | None:
        return self._first.get((kind, digest, analyst))

    def first_with_key(self, analyst: str, idempotency: str) -> Entry | None:
        return self._first.get(("key", analyst, idempotency))

    def closing(self, charge: int) -> Entry | None:
        return self._first.get(("closing", charge))

    def charged(self, digest: str, analyst: str | None = None) -> list[int]:
        return list(self._paid.get((digest, analyst), ()))

    def newest(self, digest: str, kinds: Sequence[EntryKind]) -> Entry | None:
        known = [self._newest[digest, kind] for kind in kinds if (digest, kind) in self._newest]
        return max(known, key=lambda entry: entry.number, default=None)

    def charges(self, analyst: str | None = None) -> int:
        return len(self._charges.get(analyst, ()))

    def entries(self, start: int = 1) -> Iterator[Entry]:
        return islice(self._entries, start - 1, None)

    def content(self, number: int) -> bytes | None:
        return self._contents.get(number)

    def append(self, entry: Entry, content: bytes | None = None) -> None:
        if content is not None:
            self._contents[entry.number] = content
        self._entries.append(entry)  # the one step that counts; an interrupt after it leaves only places to catch up
        self.catch_up()

    def catch_up(self) -> None:
        """Note where each entry stands, from the first that was not noted on; doing it twice changes nothing."""
        for entry in islice(self._entries, self._placed, None):
            kind, fields = entry.kind, entry.fields
            for place in _places(entry):
                self._first.setdefault(place, entry)
            if "digest" in fields:
                self._newest[fields["digest"], kind] = entry
            if kind in (EntryKind.CHARGE, EntryKind.SHARE):
                self._latest[fields["analyst"]] = entry
                for whose in (None, fields["analyst"]):
                    self._charges.setdefault(whose, set()).add(entry.number)
                    if kind is EntryKind.CHARGE:
                        self._paid.setdefault((fields["digest"], whose), {})[entry.number] = None
            self._placed = entry.number


class _Pending(_MemoryShelf):
    """One step's view: the shelf, and what the step would add to it."""

    def __init__(self, shelf: _MemoryShelf) -> None:
        self.__dict__.update(shelf.__dict__)  # the same lists: a step asks first and appends once, last
        self.added: list[tuple[Entry, bytes | None]] = []

    def append(self, entry: Entry, content: bytes | None = None) -> None:
        self.added.append((entry, content))


def _places(entry: Entry) -> Iterator[tuple[object, ...]]:
    """Yield the questions to which an entry may be the first answer."""
    kind, fields = entry.kind, entry.fields
    if kind in (EntryKind.ANSWER, EntryKind.SHARE):
        yield kind, fields["digest"], None
        yield kind, fields["digest"], fields["analyst"]
    if kind in (EntryKind.ANSWER, EntryKind.OUTCOME):
        yield "closing", fields["charge"]
    if fields.get("idempotency") is not None:
        yield "key", fields["analyst"], fields["idempotency"]


_living: weakref.WeakSet[MemoryLedger] = weakref.WeakSet()


def _disown() -> None:
    for ledger in list(_living):
        ledger._foreign = True


os.register_at_fork(after_in_child=_disown)
