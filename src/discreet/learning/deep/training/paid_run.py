"""A training that a ledger counts block by block, so that no step is drawn twice, whatever happens to files."""

from __future__ import annotations

from typing import Any

from discreet.errors import LedgerMismatch
from discreet.ledger import Charge, Entry, EntryKind, Ledger
from discreet.ledger.contract import GRANTED, Parts, charge_of, taking_up
from discreet.privacy import PureDP


class PaidRun:
    """A run under its name in a ledger: its charge, and which of its blocks of steps were begun.

    Privacy. Together with all that was interrupted, and whatever was done to the checkpoint, to copies of it or by
        other processes in between, a run draws every step of its plan at most once, and its one charge pays for them.
        Proof: the name is drawn at random when the run begins, and the first charge under it is the only one: a later
        process finds it in the ledger. The noise of a step is drawn only after `begin` has returned for its block, once
        for each return, and the ledger then holds that beginning. A process that takes the run up does so at the block
        after the last one begun, by any process, so it pays for none; all earlier attempts are over from then on
        (`Parts`), so blocks are begun in order and each at most once. Steps of a block that was begun and not finished
        are never drawn again: what remains of the plan is a part of it, and costs at most as much as the whole.
    """

    def __init__(self, ledger: Ledger, charge: Charge, *, attempt: int, begun: int, closed: Entry | None) -> None:
        self._ledger, self._attempt, self._closed = ledger, attempt, closed
        self.charge, self.begun = charge, begun

    @classmethod
    def find(cls, ledger: Ledger, analyst: str, name: str) -> PaidRun | None:
        """Return the run of this name, None where the ledger knows none; nothing is written."""
        charge, closed = None, None
        for entry in ledger.entries():
            if entry.kind is EntryKind.CHARGE and charge is None and entry.fields["digest"] == name:
                charge = charge_of(entry)
            if entry.kind in (EntryKind.ANSWER, EntryKind.OUTCOME) and entry.fields["digest"] == name:
                closed = entry
        if charge is None:
            return None
        if charge.analyst != analyst:
            raise LedgerMismatch("the checkpoint belongs to another analyst. Name another file. Nothing was spent.")
        parts = ledger.parts(charge)
        return cls(ledger, charge, attempt=parts.attempt, begun=parts.most, closed=closed)

    @property
    def ended(self) -> bool:
        """Whether the ledger says that the run is over."""
        return self._closed is not None

    def take_up(self) -> None:
        """Make this process the only one that may go on, at the block after the last that was begun."""
        seen: Parts = self._ledger.parts(self.charge)
        nothing: Any = PureDP(0, relation=self.charge.cost.relation)
        start = seen.most + 1
        words = f"charge {self.charge.number} taken up at block {start} of its steps, none once more"
        request = taking_up(self.charge, cost=nothing, description=words)
        self._attempt = self._ledger.take_up(self.charge, request, start=start, seen=seen).number
        self.begun = seen.most

    def begin(self) -> int:
        """Count the next block as begun, and return its number when that is durable."""
        block = self.begun + 1
        self._ledger.begin_part(self.charge, block, attempt=self._attempt)
        self.begun = block
        return block

    def end(self) -> None:
        """Write down that the run is over; twice is once."""
        if self._closed is None:
            self._ledger.note(self.charge, GRANTED)
