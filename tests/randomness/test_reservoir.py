"""A stock hands out each item once, and no fork, copy or pickle takes any of it along."""

from __future__ import annotations

import copy
import gc
import itertools
import pickle
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from discreet.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.randomness import Reservoir, reservoir
from tests.randomness.sources import in_child, in_stock

_numbers = itertools.count(1)


def numbered(count):
    return [next(_numbers) for _ in range(count)]  # next() on a count is atomic


@pytest.fixture
def stocked():
    stock = Reservoir(numbered)
    stock.take()
    assert in_stock(stock)
    return stock


def test_items_are_handed_out_once():
    stock = Reservoir(numbered)
    taken = [stock.take() for _ in range(10_000)]
    assert len(set(taken)) == 10_000
    assert not set(taken) & set(in_stock(stock))


@pytest.mark.parametrize("as_array", [False, True])
def test_an_item_handed_out_is_overwritten_in_the_stock(as_array):
    stock = Reservoir(lambda count: np.array(numbered(count)) if as_array else numbered(count))
    for _ in range(10):
        taken = stock.take()
        assert taken not in list(stock._state[0])
    assert list(stock._state[0][:10]) == [0] * 10


def test_batches_grow_up_to_a_limit():
    asked = []

    def refill(count):
        asked.append(count)
        return ["item"] * count

    stock = Reservoir(refill)
    for _ in range(20_000):
        stock.take()
    assert asked[0] <= 16
    assert all(later in (earlier, 2 * earlier) for earlier, later in itertools.pairwise(asked))
    assert max(asked) == 2048


def test_a_refill_that_brings_nothing_is_asked_again():
    batches = iter([[], [], ["here"]])
    assert Reservoir(lambda _: next(batches)).take() == "here"


def test_an_error_in_the_refill_reaches_the_caller_and_loses_nothing():
    answers = iter([ZeroDivisionError(), ["later"]])

    def refill(_):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    stock = Reservoir(refill)
    with pytest.raises(ZeroDivisionError):
        stock.take()
    assert stock.take() == "later"


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda stock: pickle.loads(pickle.dumps(stock))],  # noqa: S301
    ids=["copy", "deepcopy", "pickle"],
)
def test_a_duplicate_starts_empty(stocked, duplicate):
    before = in_stock(stocked)
    twin = duplicate(stocked)
    assert in_stock(twin) == []
    assert twin.take() not in before
    assert in_stock(stocked) == before


def test_a_child_starts_with_every_reservoir_empty(stocked):
    assert in_child(lambda: in_stock(stocked)) == []
    assert in_stock(stocked)


def test_what_a_child_takes_was_never_in_the_parents_stock(stocked):
    stock = in_stock(stocked)
    assert in_child(stocked.take) not in stock


def test_a_duplicate_is_emptied_in_a_child_too(stocked):
    twin = copy.copy(stocked)
    twin.take()
    assert in_child(lambda: in_stock(twin)) == []


def test_discarding_all_forgets_everything(stocked):
    reservoir.discard_all()
    assert in_stock(stocked) == []


def test_a_fork_during_a_refill_discards_what_the_refill_brings():
    batches = iter([["the parent's"], ["the child's"]])

    def refill(_):
        batch = next(batches)
        if batch == ["the parent's"]:
            reservoir.discard_all()  # what happens in a child forked by a signal handler at this point
        return batch

    assert Reservoir(refill).take() == "the child's"


def test_reservoirs_that_nobody_uses_are_collected():
    stock = Reservoir(numbered)
    reference = weakref.ref(stock)
    del stock
    gc.collect()
    assert reference() is None


def test_eight_threads_never_get_the_same_item():
    stock = Reservoir(numbered)
    start = threading.Barrier(8)

    def draw(_):
        start.wait()
        return [stock.take() for _ in range(100_000)]

    with ThreadPoolExecutor(8) as pool:
        taken = [item for part in pool.map(draw, range(8)) for item in part]
    assert len(set(taken)) == 800_000


WIDE = 2**600  # two independent draws of this scale are equal with probability below 2^-600


@pytest.mark.parametrize("kind", [DiscreteLaplace, DiscreteGaussian, RoundedGaussian])
def test_a_child_shares_no_noise_with_its_parent(kind):
    law = kind(WIDE)
    law.sample()
    assert len(in_stock(law._reservoir)) > 5
    child = in_child(lambda: [law.sample() for _ in range(30)] + list(law.sample(5)))
    assert child is not None
    assert not set(child) & {law.sample() for _ in range(30)}


@pytest.mark.parametrize("kind", [DiscreteLaplace, DiscreteGaussian, RoundedGaussian])
@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda law: pickle.loads(pickle.dumps(law)), lambda law: law.at(0)],  # noqa: S301
    ids=["copy", "deepcopy", "pickle", "at"],
)
def test_a_copied_law_shares_no_drawn_noise(kind, duplicate):
    law = kind(WIDE)
    law.sample()
    stock = set(in_stock(law._reservoir))
    assert len(stock) > 5
    twin = duplicate(law)
    assert in_stock(twin._reservoir) == []
    assert not stock & {twin.sample() for _ in range(30)}


@pytest.mark.parametrize("kind", [DiscreteLaplace, DiscreteGaussian, RoundedGaussian])
def test_a_pickled_law_holds_its_parameters_and_nothing_drawn(kind):
    fresh, used = kind(10, center=3), kind(10, center=3)
    for _ in range(100):
        used.sample()
    assert pickle.dumps(used) == pickle.dumps(fresh)
