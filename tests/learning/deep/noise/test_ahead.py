"""Noise drawn ahead has the law, is used once, and goes along with no fork, copy or pickle."""

from __future__ import annotations

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from discreet.laws import RoundedGaussian
from discreet.learning.deep.noise import ahead as module
from discreet.learning.deep.noise.ahead import DrawnAhead
from tests.laws.agreement import assert_fits
from tests.randomness.sources import in_child

LAW = RoundedGaussian(2**32)


class Counted(RoundedGaussian):
    """Draws that are numbered: no number comes twice from one object, whichever thread asks."""

    def __init__(self, scale=1, center=0):
        super().__init__(scale, center)
        self.handed, self.calls, self.turn = 0, [], threading.Lock()

    def sample(self, shape=None):
        with self.turn:
            first, self.handed = self.handed, self.handed + shape
            self.calls.append((shape, threading.current_thread() is threading.main_thread()))
        return np.arange(first, first + shape)


def drafted(ahead):
    """Wait until what is being drawn ahead is drawn."""
    for draft in ahead._drawn.drafts:
        draft._thread.join()


@pytest.mark.parametrize("length", [1, 7, 5_000, 70_000])
def test_vectors_have_the_law(length):
    ahead = DrawnAhead(LAW, length)
    drawn = np.concatenate([ahead.take() for _ in range(70_000 // length + 1)][:5_000])
    assert_fits(LAW, drawn, comparisons=4, degrees=5)


@pytest.mark.parametrize("length", [1, 1_000, 40_000, 100_000])
def test_no_draw_comes_twice_and_none_but_the_first_makes_the_caller_wait(length):
    law = Counted()
    ahead = DrawnAhead(law, length)
    taken = np.concatenate([ahead.take() for _ in range(20)])
    assert len(set(taken.tolist())) == 20 * length
    drafted(ahead)
    assert [in_main for _, in_main in law.calls] == [True] + [False] * (len(law.calls) - 1)


def test_memory_is_bounded():
    for length in (3, 1_000, 100_000):
        law = Counted()
        ahead = DrawnAhead(law, length)
        for step in range(1, 200_000 // length + 3):
            ahead.take()
            drafted(ahead)
            assert law.handed - step * length <= 2 * max(length, 1 << 16)
            assert len(ahead._drawn.drafts) <= 1


def test_the_last_step_draws_nothing_more():
    law = Counted()
    ahead = DrawnAhead(law, 100_000)
    ahead.start()
    ahead.start()
    ahead.take()
    ahead.take(more=False)
    assert law.handed == 200_000
    only = Counted()
    DrawnAhead(only, 3).take(more=False)
    assert only.handed == 3


def test_threads_that_ask_at_once_get_different_vectors():
    ahead = DrawnAhead(Counted(), 50)
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda _: ahead.take().tolist(), range(4_000)))
    flat = [value for vector in taken for value in vector]
    assert len(set(flat)) == len(flat) == 200_000


def test_a_forked_child_draws_its_own():
    ahead = DrawnAhead(LAW, 100)
    ahead.take()
    drafted(ahead)
    stocked = {tuple(vector) for vector in ahead._drawn.stock}
    assert stocked
    childs = in_child(lambda: [tuple(ahead.take().tolist()) for _ in range(2_000)])
    own = [tuple(ahead.take().tolist()) for _ in range(2_000)]
    assert len(childs) == 2_000
    assert not set(childs) & set(own)
    assert not set(childs) & stocked


def test_a_fork_unseen_by_python_gives_nothing_away(monkeypatch):
    ahead = DrawnAhead(Counted(), 100)
    first = ahead.take()
    drafted(ahead)
    before = ahead._drawn
    monkeypatch.setattr(module.Process, "mark", object())  # as if this were another process
    again = ahead.take()
    assert ahead._drawn is not before
    assert int(again[0]) >= 2 * (1 << 16) // 100 * 100  # neither of the stock nor of the draft
    assert int(first[0]) < int(again[0])


def test_a_fork_in_the_middle_of_drawing_leaves_nothing_to_the_child(monkeypatch):
    marks = [object(), object()]

    class Forking(Counted):
        def sample(self, shape=None):
            drawn = super().sample(shape)
            if marks:
                monkeypatch.setattr(module.Process, "mark", marks.pop())  # the child wakes up here
            return drawn

    law = Forking()
    taken = DrawnAhead(law, 1 << 16).take(more=False)
    assert int(taken[0]) == 2 << 16


def pickled(one):
    """Return what a pickle brings back."""
    return pickle.loads(pickle.dumps(one))  # noqa: S301  written here


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickled])
def test_copies_and_pickles_start_with_nothing(way):
    ahead = DrawnAhead(LAW, 100)
    ahead.take()
    drafted(ahead)
    stocked = {tuple(vector) for vector in ahead._drawn.stock}
    other = way(ahead)
    assert other._drawn.stock == other._drawn.drafts == []
    assert not {tuple(other.take().tolist()) for _ in range(700)} & stocked
    assert len(pickle.dumps(ahead)) < 1_000


def test_where_no_thread_starts_noise_is_drawn_when_asked(monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    law = Counted()
    ahead = DrawnAhead(law, 40_000)
    ahead.start()
    taken = np.concatenate([ahead.take() for _ in range(5)])
    assert len(set(taken.tolist())) == 200_000
    assert all(in_main for _, in_main in law.calls)


def test_a_thread_that_fails_is_replaced_by_the_caller_who_sees_why():
    class Failing(Counted):
        def sample(self, shape=None):
            if threading.current_thread() is not threading.main_thread() or self.handed:
                raise MemoryError("too little memory")
            return super().sample(shape)

    ahead = DrawnAhead(Failing(), 1 << 16)
    ahead.take()
    with pytest.raises(MemoryError, match="too little"):
        ahead.take()


@pytest.mark.parametrize("length", [0, -1, 2.0, True])
def test_a_length_must_be_a_number(length):
    with pytest.raises(ValueError, match="length"):
        DrawnAhead(LAW, length)
