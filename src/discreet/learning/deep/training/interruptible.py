"""A training that may be interrupted at any moment: counted by a ledger, kept in a file, and taken up where it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from discreet.display import Progress
from discreet.errors import LedgerMismatch, QueryFailed
from discreet.learning.base import fresh_digest, obtained
from discreet.learning.deep.training.checkpoint import Checkpoint, CheckpointFile, Saved
from discreet.learning.deep.training.steps import TrainingSteps
from discreet.ledger import Charge, Entry, EntryKind, Ledger
from discreet.ledger.contract import GRANTED, Parts, charge_of, taking_up
from discreet.privacy import PureDP

FAILED = (
    "the training ended early. Whether it does can depend on the data, so nothing more is said: look for too little "
    "memory. The steps that were begun stay spent; the same call with the same checkpoint goes on at the next one, and "
    "is not charged again"
)
_SECRETS = {"places": "which people are in which steps", "sums": "sums of recent steps without noise"}


def train_with_checkpoint(
    steps: TrainingSteps,
    checkpoint: Checkpoint,
    subject: Mapping[str, str],
    plan: Any,
    description: str,
    ledger: Ledger,
    analyst: str,
    tell: Progress,
) -> Charge:
    """Begin a training, or take it up where it was interrupted, and go on to its end.

    Steps come in blocks of `checkpoint.every`. A block is counted by the ledger, durably, before anything is drawn for
    it, and the file is replaced when it is done. Whatever ends the process in between, the steps of the block are
    spent, and their noise is never drawn again: the next process goes on with the block after it, from the weights
    that the file has. A file that says all blocks are done is read, and nothing is drawn or charged.

    Privacy. All that the processes of one run release together keeps the guarantee of the plan, and the ledger is
        charged for it once.
        Proof: a run draws each step at most once (`PaidRun`), the name of a run being a digest of a random number, the
        plan and the length of blocks, so that a block of one name is always the same steps of one plan. Steps that are
        drawn see the plan's sampler and noise; what was released before, and the file that holds it, may be chosen in
        any way. Which steps are lost depends on nothing that the rows decide but time, as in any training.
    """
    file = CheckpointFile(checkpoint.place)
    with file.held():
        saved = file.read()
        if saved is None:
            steps.begin()
            saved = _saved(fresh_digest(), subject, 0, steps, checkpoint)
            file.write(saved)
        saved.require(subject)
        total = -(-steps.steps // checkpoint.every)
        run = _paid(saved, plan, checkpoint.every, description, ledger, analyst)
        steps.restore(saved.state)
        if saved.blocks < total:
            if run.ended:
                raise LedgerMismatch(
                    "the training of this checkpoint has ended, as the ledger says, and the file is an older copy: put "
                    "the newest back, or name another file for another training. Nothing was spent."
                )
            _go_on(steps, run, file, saved, checkpoint, tell)
        run.end()
        return run.charge


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


def _paid(saved: Saved, plan: Any, every: int, description: str, ledger: Ledger, analyst: str) -> PaidRun:
    """Return the run of a file with the right to go on: found in the ledger, or charged now."""
    name = hashlib.sha256(json.dumps([saved.run, plan.digest, plan.steps, every]).encode()).hexdigest()
    run = PaidRun.find(ledger, analyst, name)
    if run is not None:
        if not run.ended:
            run.take_up()
        return run
    if saved.blocks:
        raise LedgerMismatch(
            "the checkpoint must be of a training that this ledger was charged for; got that of another ledger, write "
            "its ledger=..., or another checkpoint=.... Nothing was spent."
        )
    charge = obtained(plan, description, ledger, analyst, digest=name)
    return PaidRun(ledger, charge, attempt=charge.number, begun=0, closed=None)


def _go_on(
    steps: TrainingSteps, run: PaidRun, file: CheckpointFile, saved: Saved, checkpoint: Checkpoint, tell: Progress
) -> None:
    """Take all blocks that no process has begun; those that were begun and lost are passed over."""
    every, total = checkpoint.every, steps.steps
    steps.go_on(saved.state, at=min(run.begun * every, total))
    block = None
    tell(steps.done, total)
    while steps.done < total:
        block = run.begin()
        while steps.done < min(block * every, total):
            if not _taken(steps):
                raise QueryFailed(FAILED)
            tell(steps.done, total)
        file.write(_saved(saved.run, saved.subject, block, steps, checkpoint))
    if block is None:  # the last block was begun and lost: the weights before it are the last there will be
        file.write(_saved(saved.run, saved.subject, run.begun, steps, checkpoint))


def _saved(run: str, subject: Mapping[str, str], block: int, steps: TrainingSteps, checkpoint: Checkpoint) -> Saved:
    """Return what the file is to hold, and the names of the secrets in it."""
    state = steps.state(secrets=checkpoint.secrets)
    secrets = tuple(words for name, words in _SECRETS.items() if state[name] is not None)
    return Saved(run, dict(subject), block, secrets, state)


def _taken(steps: TrainingSteps) -> bool:
    """Take a step and say whether it went well; what was raised is let go, for it may carry a row."""
    try:
        steps.step()
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException:
        return False
    return True
