"""Trainings that are interrupted: no step is drawn twice, none is charged twice, and files can only cost steps."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import time
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from discreet.errors import (  # noqa: E402
    LedgerError,
    LedgerMismatch,
    LedgerTampered,
    NotCopyable,
    QueryFailed,
    ReleaseSuperseded,
    StreamSpent,
)
from discreet.learning.deep.clip import CrossEntropy  # noqa: E402
from discreet.learning.deep.noise import IntegerRelease  # noqa: E402
from discreet.learning.deep.plan import Clip, IndependentNoise, Plan, PoissonBatches  # noqa: E402
from discreet.learning.deep.training import ExponentialAverage, train  # noqa: E402
from discreet.learning.deep.training.checkpoint import Checkpoint, CheckpointFile  # noqa: E402
from discreet.learning.deep.training.interruptible import train_with_checkpoint  # noqa: E402
from discreet.ledger import EntryKind, MemoryLedger, SqliteLedger  # noqa: E402
from discreet.privacy import Relation  # noqa: E402
from tests.learning.deep.training import fakes  # noqa: E402

SUBJECT = {"plan": "a", "model": "m"}


class Stop(BaseException):
    """The end of a process, as far as the training can see."""


def run(ledger: Any, checkpoint: Checkpoint, steps: Any, *, subject: Any = None, tell: Any = None) -> Any:
    plan = fakes.PricedSteps(steps.steps)
    words = "training of Linear"
    tell = tell or fakes.quiet
    return train_with_checkpoint(steps, checkpoint, subject or SUBJECT, plan, words, ledger, "ann", tell)


def weights(steps: Any) -> list[list[float]]:
    return [one.detach().flatten().tolist() for one in steps._parameters]


def stopping_at(step: int) -> Any:
    def seen(done: int) -> None:
        if done == step:
            raise KeyboardInterrupt

    return seen


def charges(ledger: Any) -> list[Any]:
    return [entry for entry in ledger.entries() if entry.kind is EntryKind.CHARGE]


def test_a_training_that_stops_between_blocks_ends_where_the_uninterrupted_one_does(tmp_path, monkeypatch):
    whole, seen = fakes.made(6), []
    run(MemoryLedger(fakes.terms()), Checkpoint(tmp_path / "whole", every=2), whole)
    ledger, checkpoint, write = MemoryLedger(fakes.terms()), Checkpoint(tmp_path / "c", every=2), CheckpointFile.write

    def stop_after_writing(self: CheckpointFile, saved: Any) -> None:
        write(self, saved)
        if saved.blocks == 1:
            raise Stop

    with monkeypatch.context() as patch:
        patch.setattr(CheckpointFile, "write", stop_after_writing)
        with pytest.raises(Stop):
            run(ledger, checkpoint, fakes.made(6, seen.append))
    again = fakes.made(6, seen.append)
    run(ledger, checkpoint, again)
    assert seen == [0, 1, 2, 3, 4, 5]
    assert weights(again) == weights(whole)
    assert (again.done, again.taken) == (6, 6)


@pytest.mark.theorem("PaidRun.privacy")
@pytest.mark.theorem("train_with_checkpoint.privacy")
@pytest.mark.parametrize("every", [1, 2, 3])
@pytest.mark.parametrize("step", range(5))
def test_a_step_that_was_begun_and_lost_is_never_drawn_again_and_the_run_is_charged_once(tmp_path, every, step):
    ledger, checkpoint = MemoryLedger(fakes.terms()), Checkpoint(tmp_path / "c", every=every)
    seen: list[int] = []

    def stop(done: int) -> None:
        seen.append(done)
        if done == step and seen.count(done) == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(ledger, checkpoint, fakes.made(5, stop))
    again = fakes.made(5, stop)
    run(ledger, checkpoint, again)
    assert len(seen) == len(set(seen))
    assert again.done == 5
    block = range(step // every * every, min((step // every + 1) * every, 5))
    assert again.taken == 5 - len(block)
    paid = [entry for entry in charges(ledger) if entry.fields["cost"] == charges(ledger)[0].fields["cost"]]
    assert len(paid) == 1
    assert float(ledger.balance().spent.epsilon) == 0.5


def test_the_end_of_a_training_is_read_from_its_file_and_nothing_is_drawn_or_charged(tmp_path):
    ledger, checkpoint = MemoryLedger(fakes.terms()), Checkpoint(tmp_path / "c", every=2)
    first = fakes.made(5)
    run(ledger, checkpoint, first)
    before, seen = ledger.head, []
    again = fakes.made(5, seen.append)
    run(ledger, checkpoint, again)
    assert (ledger.head, seen, weights(again)) == (before, [], weights(first))


def test_a_training_whose_last_block_was_lost_ends_with_the_weights_before_it(tmp_path):
    ledger, checkpoint = MemoryLedger(fakes.terms()), Checkpoint(tmp_path / "c", every=2)
    with pytest.raises(KeyboardInterrupt):
        run(ledger, checkpoint, fakes.made(4, stopping_at(3)))
    for _ in range(2):
        seen: list[int] = []
        again = fakes.made(4, seen.append)
        run(ledger, checkpoint, again)
        assert (seen, again.taken, again.done) == ([], 2, 4)


def test_an_older_copy_of_the_file_costs_steps_and_repeats_none(tmp_path):
    ledger, checkpoint = MemoryLedger(fakes.terms()), Checkpoint(tmp_path / "c", every=1)
    copies: list[bytes] = []
    seen: list[int] = []

    def keep(done: int, _: int | None) -> None:
        copies.append((tmp_path / "c").read_bytes())
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(ledger, checkpoint, fakes.made(6, seen.append), tell=keep)
    (tmp_path / "c").write_bytes(copies[1])
    again = fakes.made(6, seen.append)
    run(ledger, checkpoint, again)
    assert seen == [0, 1, 2, 3, 4, 5]
    assert again.taken < 6
    (tmp_path / "c").write_bytes(copies[1])
    with pytest.raises(LedgerMismatch, match="older copy"):
        run(ledger, checkpoint, fakes.made(6, seen.append))
    assert len(seen) == 6


def test_a_copy_that_is_taken_up_elsewhere_ends_the_other_attempt(tmp_path):
    ledger = MemoryLedger(fakes.terms())
    seen: list[int] = []

    def take_over(done: int, _: int | None) -> None:
        if done == 2:
            (tmp_path / "copy").write_bytes((tmp_path / "c").read_bytes())
            run(ledger, Checkpoint(tmp_path / "copy", every=1), fakes.made(4, seen.append))

    with pytest.raises(ReleaseSuperseded):
        run(ledger, Checkpoint(tmp_path / "c", every=1), fakes.made(4, seen.append), tell=take_over)
    assert seen == [0, 1, 2, 3]


def test_a_file_is_held_by_one_training_at_a_time(tmp_path):
    ledger, checkpoint = MemoryLedger(fakes.terms()), Checkpoint(tmp_path / "c")
    refused: list[str] = []

    def second(*_: Any) -> None:
        with pytest.raises(LedgerError, match="in use") as problem:
            run(ledger, checkpoint, fakes.made(2))
        refused.append(str(problem.value))

    run(ledger, checkpoint, fakes.made(2), tell=second)
    assert refused
    assert len(charges(ledger)) == 1


def test_a_charge_without_a_first_block_is_found_again(tmp_path, monkeypatch):
    ledger, checkpoint = MemoryLedger(fakes.terms()), Checkpoint(tmp_path / "c")
    real = MemoryLedger.obtain

    def stop(self: Any, request: Any) -> Any:
        real(self, request)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(MemoryLedger, "obtain", stop)
        with pytest.raises(KeyboardInterrupt):
            run(ledger, checkpoint, fakes.made(3))
    run(ledger, checkpoint, fakes.made(3))
    assert float(ledger.balance().spent.epsilon) == 0.5


@pytest.mark.parametrize("name", ["plan", "model"])
def test_a_checkpoint_of_another_plan_or_model_is_refused(tmp_path, name):
    ledger, checkpoint = MemoryLedger(fakes.terms()), Checkpoint(tmp_path / "c")
    run(ledger, checkpoint, fakes.made(2))
    before = ledger.head
    with pytest.raises(LedgerMismatch, match=f"must be of this {name}.*Nothing was spent"):
        run(ledger, checkpoint, fakes.made(2), subject={**SUBJECT, name: "other"})
    assert ledger.head == before


def test_another_length_of_blocks_is_another_run_which_a_begun_file_refuses(tmp_path):
    ledger = MemoryLedger(fakes.terms())
    with pytest.raises(KeyboardInterrupt):
        run(ledger, Checkpoint(tmp_path / "c", every=3), fakes.made(6, stopping_at(4)))
    with pytest.raises(LedgerMismatch, match="another ledger"):
        run(ledger, Checkpoint(tmp_path / "c", every=1), fakes.made(6))
    with pytest.raises(LedgerMismatch, match="another ledger"):
        run(MemoryLedger(fakes.terms()), Checkpoint(tmp_path / "c", every=3), fakes.made(6))


def test_a_file_that_was_changed_is_refused_and_runs_nothing(tmp_path):
    ledger, checkpoint = MemoryLedger(fakes.terms()), Checkpoint(tmp_path / "c")
    run(ledger, checkpoint, fakes.made(2))
    content = (tmp_path / "c").read_bytes()
    for changed in (b"", b"x", content[:-1], content[:80], content.replace(b'"blocks": 1', b'"blocks": 0')):
        (tmp_path / "c").write_bytes(changed)
        with pytest.raises(LedgerTampered) as problem:
            run(ledger, checkpoint, fakes.made(2))
        assert problem.value.__cause__ is None
        assert problem.value.__suppress_context__


def test_the_file_is_for_its_owner_and_says_that_nothing_in_it_is_secret(tmp_path):
    (tmp_path / "c.new").write_text("left by a crash", encoding="ascii")
    (tmp_path / "c.new").chmod(0o644)
    before = os.umask(0)
    try:
        run(MemoryLedger(fakes.terms()), Checkpoint(tmp_path / "c"), fakes.made(2))
    finally:
        os.umask(before)
    for name in ("c", "c.lock"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    assert b'"content": "released: may be shown"' in (tmp_path / "c").read_bytes()


def test_a_failure_is_one_constant_message_chained_to_nothing_and_the_run_goes_on_afterwards(tmp_path):
    ledger, checkpoint = MemoryLedger(fakes.terms()), Checkpoint(tmp_path / "c", every=1)

    def fail(step: int) -> None:
        if step == 1:
            raise ValueError("the row of Ms. Miller")

    with pytest.raises(QueryFailed) as problem:
        run(ledger, checkpoint, fakes.made(3, fail))
    assert "Miller" not in str(problem.value)
    assert (problem.value.__cause__, problem.value.__context__) == (None, None)
    again = fakes.made(3)
    run(ledger, checkpoint, again)
    assert again.taken == 2
    assert float(ledger.balance().spent.epsilon) == 0.5


def test_steps_beyond_the_plan_are_refused():
    steps = fakes.made(2)
    steps.begin()
    steps.step()
    steps.step()
    with pytest.raises(StreamSpent, match="2 steps"):
        steps.step()


def test_a_training_in_progress_is_neither_copied_nor_pickled_nor_taken_along_by_a_fork():
    steps = fakes.made(2)
    steps.begin()
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(NotCopyable):
            attempt(steps)
    child = os.fork()
    if child == 0:
        try:
            steps.step()
        except NotCopyable:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    steps.step()


def made_up_training(folder: Path, every: int) -> None:
    ledger = SqliteLedger.open(folder / "ledger", fakes.terms())
    run(ledger, Checkpoint(folder / "c", every=every), fakes.made(40, fakes.appending(folder / "drawn")))


def real_training(folder: Path, every: int) -> None:
    """Train by a plan, with sampling, clipping and exact noise, and write down each step before its noise is drawn."""
    write, release = fakes.appending(folder / "drawn"), IntegerRelease.release

    def watched(self: IntegerRelease, step: int) -> Any:
        write(step)
        return release(self, step)

    IntegerRelease.release = watched
    data = torch.randn(30, 4), torch.zeros(30, dtype=torch.int64)
    train(
        torch.nn.Linear(4, 3), data, PLAN, CrossEntropy(3), optimizer=partial(torch.optim.Adam, lr=0.1), physical=8,
        ledger=SqliteLedger.open(folder / "ledger", fakes.terms()), checkpoint=Checkpoint(folder / "c", every=every),
        average=ExponentialAverage(decay=0.9),
    )  # fmt: skip


PLAN = Plan(
    sampler=PoissonBatches(rate=0.25), clip=Clip(1.0), noise=IndependentNoise(8.0), steps=40, unit="person",
    relation=Relation.ADD_REMOVE, divisor=8, delta=1e-6,
)  # fmt: skip
TRAININGS = {"made-up": (made_up_training, fakes.PricedSteps(40)), "real": (real_training, PLAN)}


def killed_after(seconds: float, training: Any, folder: Path, every: int) -> bool:
    """Train in a forked process, kill that after a while, and say whether the training had ended by then."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            training(folder, every)
            code = 0
        finally:
            os._exit(code)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert ended in (0, -signal.SIGKILL)
    return ended == 0


@pytest.mark.parametrize("name", TRAININGS)
def test_kills_at_random_moments_never_repeat_a_step_and_the_run_is_charged_once(tmp_path, rounds, name):
    """Whenever a step is drawn, its block is in the ledger; at the end the ledger has what an undisturbed run costs."""
    training, plan = TRAININGS[name]
    fakes.made(1)  # torch reads half of itself when an optimizer is first made: not in every child
    assert float(plan.under(fakes.terms().budget).epsilon) < 1  # the price is computed once, here
    moments, folder, ends, begun = Random(5), tmp_path, 0, []  # noqa: S311  moments to kill at
    most, kills = 0.25 if name == "made-up" else 0.5, rounds(sample=8, full=200)
    for kill in range(kills + 12):
        if kill >= kills:
            if ends or begun:
                break
            most *= 2  # the machine is so slow that no child came as far as its first step
        every = 1 + ends % 3
        ended = killed_after(moments.uniform(0, most), training, folder, every)
        path = folder / "drawn"
        drawn = [int(line) for line in path.read_text(encoding="ascii").split()] if path.exists() else []
        assert drawn == sorted(set(drawn))
        if (folder / "ledger").exists():
            with SqliteLedger.open(folder / "ledger", fakes.terms()) as ledger:
                begun = [one.fields["part"] for one in ledger.entries() if one.kind is EntryKind.PART]
                assert begun == sorted(set(begun))
                assert all(step // every + 1 in begun for step in drawn)  # spent is at least released
                paid = [one.cost for one in charges(ledger) if "start" not in one.fields]
                assert len(paid) == (1 if begun or ended else len(paid))
                assert len(paid) <= 1
                assert not paid or ledger.balance().spent == plan.under(ledger.terms.budget)
                ledger.verify()
        if ended:
            assert begun[-1] == -(-40 // every)
            ends += 1
            folder = tmp_path / str(kill)
            folder.mkdir()
    assert ends or begun, f"no child came as far as its first step, with up to {most} seconds each"


def test_of_two_processes_that_take_one_file_up_at_once_one_goes_on(tmp_path):
    checkpoint, steps = Checkpoint(tmp_path / "c", every=1), 30
    ledger = SqliteLedger.open(tmp_path / "ledger", fakes.terms())
    with pytest.raises(KeyboardInterrupt):
        run(ledger, checkpoint, fakes.made(steps, stopping_at(2)))
    ledger.close()
    gate = os.pipe()
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            os.close(gate[1])
            os.read(gate[0], 1)
            code = 1
            try:
                mine = SqliteLedger.open(tmp_path / "ledger", fakes.terms())
                run(mine, checkpoint, fakes.made(steps, fakes.appending(tmp_path / "drawn")))
                code = 0
            except LedgerError as problem:
                code = 3 if "in use" in str(problem) else 1
            finally:
                os._exit(code)
        children.append(child)
    os.close(gate[1])
    os.close(gate[0])
    codes = {os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children}
    drawn = [int(line) for line in (tmp_path / "drawn").read_text(encoding="ascii").split()]
    assert drawn == list(range(3, steps))
    assert codes <= {0, 3}
    assert 0 in codes
