"""Releases that are made part by part: which parts were begun and by which attempt, so that none is repeated free."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.errors import LedgerMismatch, ParameterError, ReleaseSuperseded
from discreet.ledger.contract.accounts import amounts_of
from discreet.ledger.contract.decisions import append, charge_of, known_charge, spend
from discreet.ledger.contract.entry import Entry, EntryKind, Shelf
from discreet.ledger.contract.terms import Charge, Request

_NAMES = ("attempt", "next", "most", "taken_up")


@dataclass(frozen=True, slots=True)
class Parts:
    """How far a release has come, as its ledger counted it before each part was drawn.

    `attempt` is the entry that began the attempt which may go on, the charge itself at first; `next` the part that it
    begins next; `most` the highest part that any attempt has begun, 0 before the first; `taken_up` the highest part at
    which an attempt has taken the release up, 0 if none has.

    Privacy. Let the charge of a release pay for every part once, and let an attempt that takes it up at part r be
        charged, in the same step, for the parts r to `most` at least. If a part is drawn only after `begin_part` has
        returned, and once for each time, then whatever crashes, and whatever files are lost, copied, changed or put
        back, every part was paid for at least as often as it was drawn.
        Proof: a part is drawn at most as often as the ledger holds its beginnings. The beginnings of one attempt are
        consecutive parts from r on, since only `next` can be begun, so an attempt begins a part at most once. When an
        attempt takes up, all others have begun for the last time, as only `attempt` may begin: so attempts follow each
        other in the ledger, and `most` at the taking up is the highest part that any earlier attempt begins, now or
        later. A part above it is begun there for the first time, or by a later attempt that pays for it; a part up to
        it is paid for by this attempt. So the charge of the release pays for the first beginning of a part, and each
        later one is paid for by its own attempt. Steps are exclusive and durable when they return, and nothing here
        reads any other file than the ledger.

    >>> Parts(attempt=7, next=1, most=0, taken_up=0).begun.begun.resumed(
    ...     attempt=12, start=2
    ... )
    Parts(attempt=12, next=2, most=2, taken_up=2)
    """

    attempt: int
    next: int
    most: int
    taken_up: int

    @classmethod
    def of(cls, charge: int) -> Parts:
        """Return the state after the charge of a release."""
        return cls(attempt=charge, next=1, most=0, taken_up=0)

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> Parts:
        """Return the state that an entry writes down."""
        return cls(**{name: fields["parts"][name] for name in _NAMES})

    @property
    def plain(self) -> dict[str, int]:
        """Return the state as an entry writes it down."""
        return {name: getattr(self, name) for name in _NAMES}

    @property
    def begun(self) -> Parts:
        """Return the state after the next part was begun."""
        return Parts(self.attempt, self.next + 1, max(self.most, self.next), self.taken_up)

    def resumed(self, *, attempt: int, start: int) -> Parts:
        """Return the state after another attempt took the release up at a part."""
        return Parts(attempt, start, self.most, max(self.taken_up, start))


def parts_of(shelf: Shelf, charge: Charge) -> Parts:
    """Return how far a release has come."""
    known_charge(shelf, charge)
    newest = shelf.newest(_digest(charge), (EntryKind.PART, EntryKind.CHARGE))
    return Parts.of(charge.number) if newest is None else Parts.read(newest.fields)


def keep_beginning(shelf: Shelf, charge: Charge, *, part: int, attempt: int) -> None:
    """Write down that an attempt begins a part; refuse a part that is not its next, and an attempt that is over."""
    state = _still_open(shelf, charge)
    if state.attempt != attempt:
        raise ReleaseSuperseded(
            "another attempt has taken this release up since, and only the newest may go on. What was drawn here stays "
            "paid for, and nothing more is drawn: let the other one finish."
        )
    if state.next != part:
        raise ReleaseSuperseded(
            f"part {state.next} comes next in this release, not part {part}: a part is begun once by an attempt. "
            "Nothing more was drawn."
        )
    _, last = shelf.in_force()
    names = {"analyst": charge.analyst, "digest": _digest(charge), "release": charge.number, "part": part}
    append(shelf, last, EntryKind.PART, {**names, "parts": state.begun.plain})


def keep_taking_up(shelf: Shelf, charge: Charge, request: Request, *, start: int, seen: Parts) -> Charge:
    """Charge an attempt that takes a release up at a part; refused where the release has gone on since it was priced.

    The caller prices `request` from `seen`: at least the parts from `start` to `seen.most`.
    """
    state = _still_open(shelf, charge)
    if state != seen:
        raise LedgerMismatch("the release went on while it was being taken up: ask again. Nothing was spent.")
    if request.digest != _digest(charge) or request.analyst != charge.analyst:
        raise LedgerMismatch("a release is taken up by its own analyst and under its own name. Nothing was spent.")
    if not 1 <= start <= state.most + 1:
        raise ParameterError("a release is taken up at a part that was begun, or at the next one", parameter="start")
    terms, last = shelf.in_force()
    after = state.resumed(attempt=last.number + 1, start=start)
    amounts, written = amounts_of(request.cost, terms), {"start": start, "parts": after.plain}
    return charge_of(spend(shelf, terms, last, request, amounts, release=charge.number, **written))


def taking_up(charge: Charge, **given: Any) -> Request:
    """Return the request for taking a release up: its digest is a name made of the charge that paid for the release."""
    return Request(analyst=charge.analyst, digest=_digest(charge), **given)


def lawful(before: Parts, entry: Entry) -> bool:
    """Say whether an entry that begins a part or takes a release up follows from the state before it."""
    if entry.kind is EntryKind.PART:
        return before.next == entry.fields["part"] and Parts.read(entry.fields) == before.begun
    start = entry.fields["start"]
    within = type(start) is int and 1 <= start <= before.most + 1
    return within and Parts.read(entry.fields) == before.resumed(attempt=entry.number, start=start)


def _still_open(shelf: Shelf, charge: Charge) -> Parts:
    state = parts_of(shelf, charge)
    if shelf.closing(charge.number) is not None:
        raise ReleaseSuperseded("this release has ended already, as the ledger says. Nothing more was drawn.")
    return state


def _digest(charge: Charge) -> str:
    """Return the name under which the parts of a release stand: of this charge alone, found by the digests' index."""
    return hashlib.sha256(f"parts of {charge.entry_hash}".encode()).hexdigest()
