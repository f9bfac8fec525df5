"""Intervals of values in blocks: exact coverage for every small table, and bounds that are never below the tails."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.signal import convolve2d
from scipy.stats import binom

from discreet.local.estimates.block_support import BlockSupport, _exceeds
from discreet.local.estimates.support import Support
from discreet.local.frequency.blocks import HybridGeometry
from discreet.privacy import Target

Floats = NDArray[np.float64]
SPECS = [(1, 2, 2, 3), (4, 2, 3, 3), (6, 5, 7, 3), (10, 2, 5, 4), (8, 40, 3, 3)]
PEOPLE = 14
RESTS = [0.5, 0.05, 1e-4]


def made(epsilon: int, blocks: int, prime: int, dimension: int) -> HybridGeometry:
    size = blocks * (prime**dimension - 1) // (prime - 1)
    return HybridGeometry(epsilon=Fraction(epsilon), categories=size, blocks=blocks, prime=prime, dimension=dimension)


def steps(spec: HybridGeometry) -> list[Floats]:
    """The law of one report of a holder, of a person near and of one far: [on the plane, in the block]."""
    laws = []
    for plane, block in spec.holders:
        laws.append(np.array([[float(1 - block), float(block - plane)], [0.0, float(plane)]]))
    return laws


def power(law: Floats, times: int) -> Floats:
    total = np.ones((1, 1))
    for _ in range(times):
        total = convolve2d(total, law)
    return total


def ends(spec: HybridGeometry, rest: float, target: Target) -> tuple[Floats, Floats]:
    """The interval for every number of reports on the plane and in the block, by the public road of a spec."""
    planes = np.zeros(PEOPLE + 1, dtype=np.int64)
    low, high = np.zeros((PEOPLE + 1, PEOPLE + 1)), np.zeros((PEOPLE + 1, PEOPLE + 1))
    counts = np.arange(PEOPLE + 1)
    for inside in range(PEOPLE + 1):
        seen = spec._support(planes, np.array([inside]), PEOPLE, np.zeros(planes.size))
        assert isinstance(seen, BlockSupport)
        low[:, inside], high[:, inside] = seen.ends(counts, np.zeros_like(counts), rest, target)
    return low, high


@pytest.mark.theorem("BlockSupport.accuracy")
@pytest.mark.parametrize("rest", RESTS)
@pytest.mark.parametrize("shape", SPECS)
def test_no_end_misses_more_than_its_half_whatever_the_table(shape: tuple[int, int, int, int], rest: float) -> None:
    spec = made(*shape)
    low, high = ends(spec, rest, Target.TABLE)
    powers = [[power(law, times) for times in range(PEOPLE + 1)] for law in steps(spec)]
    for held in range(PEOPLE + 1):
        for around in range(PEOPLE - held + 1):
            law = convolve2d(convolve2d(powers[0][held], powers[1][around]), powers[2][PEOPLE - held - around])
            frequency = held / PEOPLE
            assert law[low > frequency + 1e-12].sum() <= rest / 2
            assert law[high < frequency - 1e-12].sum() <= rest / 2


@pytest.mark.theorem("BlockSupport.accuracy")
@pytest.mark.parametrize("shape", SPECS)
def test_the_share_of_a_population_is_missed_no_more_often(shape: tuple[int, int, int, int]) -> None:
    spec, rest = made(*shape), 0.05
    low, high = ends(spec, rest, Target.POPULATION)
    own, near, far = steps(spec)
    for frequency in (0.0, 0.01, 0.2, 0.5, 0.9, 1.0):
        for block in (0.0, 0.3, 1.0):
            law = power(frequency * own + (1 - frequency) * (block * near + (1 - block) * far), PEOPLE)
            assert law[low > frequency].sum() <= rest / 2
            assert law[high < frequency].sum() <= rest / 2


@pytest.mark.theorem("BlockSupport.accuracy")
@pytest.mark.parametrize("rest", [0.25, 1e-3, 1e-8])
@pytest.mark.parametrize("coins", [(0, 30), (0, 4000), (50, 4000), (2000, 500), (500, 90_000), (1_500, 100_000)])
def test_a_number_is_ruled_out_only_where_the_exact_tail_is_small(coins: tuple[int, int], rest: float) -> None:
    for held, other in ((0.5, 0.01), (0.99, 0.02), (0.6, 0.4), (0.5, 0.99)):
        numbers, tails = _exact_tails(coins, held, other)
        size = np.ones(numbers.size, dtype=np.int64)
        kept = _exceeds(numbers, [(coins[0] * size, held), (coins[1] * size, other)], rest)
        assert (tails[~kept] <= rest * (1 + 1e-9)).all()
        assert not kept[-1]  # far out something is ruled out


@cache
def _exact_tails(coins: tuple[int, int], held: float, other: float) -> tuple[NDArray[np.int64], Floats]:
    """Return numbers from the mean of a sum of two binomials on, and the exact chance of each of them or more."""
    first = binom.pmf(np.arange(coins[0] + 1), coins[0], held)
    second = binom.pmf(np.arange(coins[1] + 1), coins[1], other)
    middle = round(coins[0] * held + coins[1] * other)
    spread = 1 + np.sqrt(coins[0] * held * (1 - held) + coins[1] * other * (1 - other))
    numbers = np.arange(max(middle - 3, 0), min(middle + int(10 * spread) + 200, sum(coins)) + 2)
    upper = np.append(np.cumsum(second[::-1])[::-1], 0.0)
    own = np.flatnonzero(first > 1e-40)
    tails = sum(first[one] * upper[np.clip(numbers - one, 0, second.size)] for one in own.tolist())
    return numbers, np.asarray(tails)


def test_intervals_contain_the_raw_shares_and_chosen_values_are_those_of_all() -> None:
    spec = made(4, 2, 3, 3)
    counts = np.bincount(spec.randomize(np.arange(400) % spec.category_count), minlength=spec.cells)
    found = spec.estimate(counts, 400)
    assert isinstance(found.support, BlockSupport)
    everything = found.intervals()
    assert everything.contain(found.value).all()
    some = found.intervals(among=[5, 0, 17])
    assert some.low.tolist() == everything.low[[5, 0, 17]].tolist()
    assert some.high.tolist() == everything.high[[5, 0, 17]].tolist()
    assert len(found.intervals(among=[])) == 0


def test_planes_that_are_points_have_the_exact_law_without_blocks() -> None:
    spec = made(6, 3, 7, 2)
    found = spec.estimate(np.ones(spec.cells, dtype=np.int64), spec.cells)
    assert isinstance(found.support, Support)
    own, near, far = spec.holders
    assert (found.support.preference, found.support.shared) == (own.plane, far.plane)
    assert near.plane == far.plane
    assert found.support.frequencies == pytest.approx(found.value, abs=1e-12)


def test_a_large_crowd_gets_hardly_wider_intervals_than_the_normal_law_gives() -> None:
    spec, people = HybridGeometry.best(epsilon=5, categories=1000), 400_000
    counts = np.bincount(spec.randomize(np.arange(people) % 900), minlength=spec.cells)
    found = spec.estimate(counts, people)
    wide = (found.intervals().high - found.intervals().low) / (2 * 1.96 * found.standard_error)
    assert 0.95 < np.median(wide) < 1.1  # a median of 1,000 widths that hardly vary
