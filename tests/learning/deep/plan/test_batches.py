"""Secret batches: exact draws, cuts that are certified, and runs that go on after a crash."""

from __future__ import annotations

import copy
import itertools
import os
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError, MissingParameter, NotCopyable, ParameterError, RelationMismatch
from discreet.learning.deep.plan import (
    MOST_PEOPLE,
    BallsInBins,
    BatchState,
    CyclicPoisson,
    FullBatch,
    PoissonBatches,
    uniform_slots,
)
from discreet.learning.deep.plan.most_rows import least_cap, tail_is_below
from discreet.privacy import Relation
from discreet.randomness import keystream
from tests.chances import fewest, most

SAMPLERS = [
    FullBatch(),
    PoissonBatches(rate=0.3),
    BallsInBins(steps_per_epoch=4),
    CyclicPoisson(rate=0.1, groups=3),
]


def within(count, runs, chance):
    """Whether a count is one that chance allows, but once in 1e9 on either side."""
    return fewest(runs, chance) <= count <= most(runs, chance)


@pytest.mark.theorem("PoissonBatches.privacy")
def test_poisson_coins_are_heads_as_often_as_stated_and_independent():
    """Counts of heads, of pairs of people and of pairs of steps; 2e-9 each that an honest sampler fails."""
    batches = list(PoissonBatches(rate=0.3).batches(200, steps=100))
    drawn = np.zeros((100, 200), dtype=bool)
    for step, batch in enumerate(batches):
        assert np.array_equal(batch, np.unique(batch))
        drawn[step, batch] = True
    assert within(int(drawn.sum()), 20_000, 0.3)
    assert within(int((drawn[:, ::2] & drawn[:, 1::2]).sum()), 10_000, 0.09)
    assert within(int((drawn[::2] & drawn[1::2]).sum()), 10_000, 0.09)


@pytest.mark.theorem("PoissonBatches.privacy")
def test_coins_are_exact_at_the_boundary_of_the_rate():
    """A word below the first 64 bits of the rate is heads, above is tails, whatever a float would say."""
    rate = Fraction(1, 3)
    threshold = (1 << 64) // 3
    words = iter([threshold - 1, threshold + 1])

    def fill(out):
        out[:] = np.full(len(out) // 8, 0, dtype=np.uint64).tobytes()
        values = np.frombuffer(np.array([next(words), next(words)], dtype=np.uint64).tobytes(), dtype=np.uint8)
        out[: len(values)] = values.tobytes()

    with keystream._swapped_source(fill):
        (batch,) = PoissonBatches(rate=rate).batches(2, steps=1)
    assert batch.tolist() == [0]


@pytest.mark.theorem("BallsInBins.privacy")
def test_everyone_is_in_one_bin_of_each_epoch_uniform_and_drawn_anew():
    people, bins = 2_000, 5
    batches = list(BallsInBins(steps_per_epoch=bins).batches(people, steps=2 * bins))
    places = []
    for epoch in (batches[:bins], batches[bins:]):
        assert np.array_equal(np.sort(np.concatenate(epoch)), np.arange(people))
        place = np.empty(people, dtype=int)
        for number, batch in enumerate(epoch):
            place[batch] = number
            assert within(len(batch), people, 1 / bins)  # ten of them: 2e-8 in all
        places.append(place)
    assert within(int((places[0] == places[1]).sum()), people, 1 / bins)


@pytest.mark.theorem("CyclicPoisson.privacy")
def test_people_of_a_cycle_take_part_in_the_steps_of_their_group_only():
    people, groups, steps = 3_000, 4, 12
    batches = list(CyclicPoisson(rate=0.125, groups=groups).batches(people, steps=steps))
    residues = np.full((people, groups), 0)
    for step, batch in enumerate(batches):
        residues[batch, step % groups] += 1
        assert within(len(batch), people, 0.125)
    assert ((residues > 0).sum(axis=1) <= 1).all()
    twice = sum(len(np.intersect1d(first, second)) for first, second in zip(batches, batches[groups:], strict=False))
    assert within(twice, people * (steps - groups), 1 / groups / 4)


def test_one_group_is_poisson():
    batches = list(CyclicPoisson(rate=0.25, groups=1).batches(400, steps=50))
    assert within(sum(map(len, batches)), 20_000, 0.25)


@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda one: one.name)
def test_a_table_without_people_has_empty_batches(sampler):
    assert [len(batch) for batch in sampler.batches(0, steps=3)] == [0, 0, 0]


@pytest.mark.theorem("SecretBatches.privacy")
@pytest.mark.parametrize("stop", range(1, 9))
def test_a_run_that_goes_on_after_a_stop_has_the_places_of_the_first_run(stop):
    """In each epoch everyone is in exactly one batch, also where the run was cut in two at any step."""
    sampler, people = BallsInBins(steps_per_epoch=4), 50
    first = sampler.batches(people, steps=9)
    done = list(itertools.islice(first, stop))
    state = first.state
    rest = list(sampler.batches(people, steps=9, state=BatchState(state.step, state.places)))
    both = [*done, *rest]
    assert len(both) == 9
    for epoch in (both[:4], both[4:8]):
        assert np.array_equal(np.sort(np.concatenate(epoch)), np.arange(people))


@pytest.mark.theorem("SecretBatches.privacy")
def test_groups_of_a_cycle_stay_after_a_stop():
    sampler, people = CyclicPoisson(rate=0.5, groups=2), 300
    first = sampler.batches(people, steps=4)
    done = list(itertools.islice(first, 1))
    rest = list(sampler.batches(people, steps=4, state=first.state))
    assert not set(done[0].tolist()) & set(rest[0].tolist())
    assert np.array_equal(rest[1], done[0])  # rate within a group is 1


@pytest.mark.parametrize("sampler", SAMPLERS[:2], ids=lambda one: one.name)
def test_batches_without_places_go_on_by_the_step_alone(sampler):
    batches = sampler.batches(10, steps=5, state=BatchState(3))
    assert not batches.state.is_secret
    assert len(list(batches)) == 2


@pytest.mark.parametrize("sampler", SAMPLERS[2:], ids=lambda one: one.name)
def test_places_that_were_lost_cannot_be_drawn_again_before_they_are_renewed(sampler):
    with pytest.raises(ParameterError, match="places"):
        sampler.batches(10, steps=8, state=BatchState(2))


def test_bins_can_go_on_without_places_at_the_next_epoch():
    assert len(list(BallsInBins(steps_per_epoch=4).batches(10, steps=8, state=BatchState(4)))) == 4


def test_a_state_of_another_table_or_beyond_the_plan_is_refused():
    sampler = BallsInBins(steps_per_epoch=4)
    state = sampler.batches(10, steps=8).state
    with pytest.raises(InputError, match="same table") as problem:
        sampler.batches(11, steps=8, state=state)
    assert "1" not in str(problem.value)
    with pytest.raises(ParameterError, match="beyond the plan"):
        sampler.batches(10, steps=8, state=BatchState(9))


@pytest.mark.theorem("SecretBatches.privacy")
def test_secret_batches_are_not_copied_pickled_or_forked():
    batches = BallsInBins(steps_per_epoch=2).batches(5, steps=4)
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(NotCopyable):
            attempt(batches)
    batches._owner = (os.getpid() + 1, batches._owner[1])  # what a fork sees
    with pytest.raises(NotCopyable):
        next(batches)


def test_nothing_shows_places_or_the_number_of_rows():
    batches = BallsInBins(steps_per_epoch=2).batches(777, steps=4)
    assert "777" not in repr(batches) + repr(batches.state)
    assert repr(batches.state) == "BatchState(step=0, with secret places)"


@pytest.mark.theorem("least_cap.privacy")
@given(
    others=st.integers(1, 40),
    rate=st.fractions(min_value=Fraction(1, 50), max_value=Fraction(49, 50), max_denominator=50),
    exponent=st.integers(1, 12),
)
def test_a_cap_is_certified_against_the_exact_tail(others, rate, exponent):
    chance = Fraction(1, 10**exponent)
    cap = least_cap(others, rate, chance)
    assert exact_tail(others, rate, cap) <= chance
    if cap <= others and cap > others * rate + 1:  # not far from the least: a geometric tail is nearly exact
        assert exact_tail(others, rate, cap - 2) > chance


def exact_tail(others, rate, cap):
    from math import comb

    return sum(
        (comb(others, k) * rate**k * (1 - rate) ** (others - k) for k in range(max(cap, 0), others + 1)), Fraction(0)
    )


def test_a_cap_of_many_people_is_that_of_the_exact_tail():
    from scipy.stats import binom

    assert least_cap(59_999, Fraction(1, 100), Fraction(1, 10**10)) == int(binom.isf(1e-10, 59_999, 0.01)) + 1
    assert not tail_is_below(10, Fraction(1), 10, Fraction(1, 2))


@pytest.mark.theorem("BatchSampler.privacy")
def test_a_batch_is_cut_at_the_cap_and_only_there():
    """At rate 1/2 the cap for 2^-60 is below 383 people; coins that are all heads meet it."""
    sampler = PoissonBatches(rate=0.5, overflow="drop", most_people=384)
    cap = sampler.most_rows(10)
    assert 192 < cap < 383
    with keystream._swapped_source(lambda out: out.__setitem__(slice(None), bytes(len(out)))):
        (batch,) = sampler.batches(383, steps=1)
    assert len(batch) == sampler.most_rows(1)
    assert sampler.overflow_chance(10) == Fraction(1, 2**60)
    assert (
        10 * exact_tail(383, Fraction(1, 2), cap) <= Fraction(1, 2**60) < 10 * exact_tail(383, Fraction(1, 2), cap - 2)
    )


@pytest.mark.theorem("BatchSampler.privacy")
def test_a_mixture_with_an_event_apart_has_the_mixed_delta():
    """Exact laws: a person's coin at rate q, others k of n, cut at the cap: delta at most (1 - tau) r + tau."""
    from math import comb

    n, q, cap, noise = 4, Fraction(1, 3), 3, {-1: Fraction(1, 4), 0: Fraction(1, 2), 1: Fraction(1, 4)}

    def law(person, limit):
        found = {}
        for k in range(n + 1):
            others = comb(n, k) * q**k * (1 - q) ** (n - k)
            for coin, chance in ((1, q), (0, 1 - q)) if person else ((0, Fraction(1)),):
                for z, p in noise.items():
                    # the cut keeps the person first, which is the worst: all know whether k others were drawn
                    total = min(k + coin, limit) + z
                    found[k, total] = found.get((k, total), 0) + others * chance * p
        return found

    tau = sum(comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(cap, n + 1))
    for level in (Fraction(1), Fraction(3, 2), Fraction(2)):

        def delta(limit, level=level):
            with_person, without = law(True, limit), law(False, limit)
            keys = {*with_person, *without}
            return max(
                sum(max(a.get(key, 0) - level * b.get(key, 0), Fraction(0)) for key in keys)
                for a, b in ((with_person, without), (without, with_person))
            )

        uncut = delta(n + 1)
        assert delta(cap) <= (1 - tau) * uncut + tau


@pytest.mark.theorem("FullBatch.privacy")
def test_full_batches_have_everyone_and_are_never_cut():
    sampler = FullBatch()
    assert sampler.overflow_chance(10**6) == 0
    assert sampler.most_rows(10**6) == MOST_PEOPLE - 1
    assert sampler.physical_batches(5, 256) == 1 << 20
    assert [len(batch) for batch in sampler.batches(7, steps=2)] == [7, 7]


@pytest.mark.theorem("uniform_slots.privacy")
def test_slots_are_a_uniform_injection():
    """Two rows in three slots: six placements, 1/6 each; 2e-9 a placement that an honest draw fails."""
    counts = {}
    for _ in range(6_000):
        placed = tuple(uniform_slots(np.array([7, 9]), 3).tolist())
        assert sorted(placed) == [-1, 7, 9]
        counts[placed] = counts.get(placed, 0) + 1
    assert len(counts) == 6
    assert all(within(count, 6_000, 1 / 6) for count in counts.values())


def test_equal_keys_of_slots_are_drawn_again():
    blocks = iter([bytes(1 << 17)] * 1)

    def fill(out):
        block = next(blocks, None)
        out[:] = os.urandom(len(out)) if block is None else block[: len(out)]

    with keystream._swapped_source(fill):
        assert sorted(uniform_slots(np.array([3]), 100).tolist())[-1] == 3
    assert next(blocks, None) is None


@pytest.mark.parametrize("sampler", SAMPLERS[1:], ids=lambda one: one.name)
def test_samples_are_priced_for_add_remove_alone(sampler):
    sampler.refuse_relation(Relation.ADD_REMOVE)
    with pytest.raises(RelationMismatch, match="add/remove"):
        sampler.refuse_relation(Relation.CHANGE_ONE)
    FullBatch().refuse_relation(Relation.CHANGE_ONE)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PoissonBatches(rate=1.5), "rate must be"),
        (lambda: PoissonBatches(rate=0), "rate must be"),
        (lambda: PoissonBatches(rate=float("nan")), "rate must be"),
        (lambda: PoissonBatches(rate="0.1"), "rate must be"),
        (lambda: PoissonBatches(rate=0.1, overflow="shuffle"), "overflow must be"),
        (lambda: PoissonBatches(rate=0.1, physical=0), "physical must be"),
        (lambda: PoissonBatches(rate=0.1, most_people=2**29), "most_people must be"),
        (lambda: BallsInBins(steps_per_epoch=0), "steps_per_epoch must be"),
        (lambda: BallsInBins(steps_per_epoch=2**32), "steps_per_epoch must be"),
        (lambda: CyclicPoisson(rate=0.5, groups=3), "groups must be"),
        (lambda: CyclicPoisson(rate=0.5).batches(10, steps=2), "groups must be"),
        (lambda: FullBatch().batches(-1, steps=2), "people must be"),
        (lambda: FullBatch().batches(3.5, steps=2), "people must be"),
        (lambda: FullBatch().batches(10, steps=0), "steps must be"),
        (lambda: uniform_slots(np.arange(5), 4), "slots"),
    ],
)
def test_bad_samplers_are_refused_in_one_sentence(make, words):
    with pytest.raises(ParameterError, match=words) as problem:
        make()
    assert "\n" not in str(problem.value)


def test_slots_that_are_fixed_need_a_public_number_of_people():
    with pytest.raises(MissingParameter, match="most_people"):
        PoissonBatches(rate=0.1, overflow="drop")


def test_a_table_beyond_the_assumption_is_refused_without_its_size():
    with pytest.raises(InputError, match="fewer than 96 people") as problem:
        PoissonBatches(rate=0.1, most_people=90).batches(12_345, steps=1)
    assert "12" not in str(problem.value)


def test_a_rate_is_read_by_its_decimals():
    assert PoissonBatches(rate=0.01).share == Fraction(1, 100)
    assert CyclicPoisson(rate=0.01, groups=100).group_rate == 1
    assert repr(PoissonBatches(rate=0.01)) == "PoissonBatches(overflow='extend', rate=0.01)"


def test_refusals_of_large_tables_tell_the_size_of_a_table_and_no_more():
    """Whoever chooses plans could find the exact number of rows by bisection if every bound were taken as it is."""
    bounds = sorted({FullBatch(most_people=stated).below for stated in range(1, 5000)})
    assert bounds == [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072,
                      4096, 6144]  # fmt: skip
    assert all(FullBatch(most_people=stated).below >= stated for stated in range(1, 5000))
