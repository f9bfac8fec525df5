"""Top lists name a value that nobody holds no more often than stated: every protocol, few people and many."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

from discreet.data.invention import coins
from discreet.errors import ParameterError
from discreet.local import DirectResponse, HashedGeometry, HybridGeometry, OneBitHadamard, ProjectiveGeometry
from discreet.local.estimates.support import Support
from discreet.local.frequency.oracle import PureOracle
from discreet.local.protocol import Integers
from discreet.privacy import Target
from tests.chances import most
from tests.conftest import Rounds

CONFIDENCE = 0.95
# A list is wrong by its lower ends alone, each of which misses with at most half of the allowed error: 2.5 %, so that
# `most` counts from there; at 400 runs that is 34 lists, below the bar of 5 % and four standard errors, 37.
CHANCE = (1 - CONFIDENCE) / 2
SAMPLE = 6  # the fewest runs of which so many can be wrong that it is an alarm
PRICES = [Fraction(1, 10), Fraction(1), Fraction(4), Fraction(8), Fraction(12)]
FLEETS = [100, 1_000, 20_000, 200_000]
MADE: dict[str, Callable[[Fraction, int], PureOracle]] = {
    "answers": lambda epsilon, values: DirectResponse(epsilon=epsilon, categories=values),
    "bits": lambda epsilon, values: OneBitHadamard(epsilon=epsilon, categories=values),
    "space": lambda epsilon, values: ProjectiveGeometry.best(epsilon=epsilon, categories=values),
}


@cache
def made(name: str, epsilon: Fraction) -> list[PureOracle]:
    """Specs for few values and for many, as far as the protocol has any."""
    found = []
    for values in (10, 30_000):
        with suppress(ParameterError):
            found.append(MADE[name](epsilon, values))
    return found


@pytest.mark.parametrize("people", FLEETS)
@pytest.mark.parametrize("epsilon", PRICES)
@pytest.mark.parametrize("name", MADE)
def test_the_exact_chance_of_a_false_listing_is_at_most_half_of_what_is_allowed(
    name: str, epsilon: Fraction, people: int
) -> None:
    """Whatever other values people hold, a value that nobody holds is spoken for by Bin(n, r) reports."""
    for spec in made(name, epsilon):
        values = spec.category_count
        rest = (1 - CONFIDENCE) / values
        mean, spread = people * float(spec.shared), np.sqrt(people * float(spec.shared * (1 - spec.shared)))
        last = min(int(mean + 9 * spread) + 60, people)
        for step in (1, max(1, (last - int(mean)) // 8)):  # many different counts at once, and few
            counts = np.arange(int(mean), last + 1, step, dtype=np.int64)
            low = Support(counts, people, spec.preference, spec.shared).interval(rest, Target.TABLE)[0]
            listed = counts[low > 0]
            if listed.size:
                assert values * binom.sf(listed[0] - 1, people, float(spec.shared)) <= CHANCE * (1 + 1e-6)


@cache
def blocks(epsilon: int, values: int) -> HybridGeometry:
    """The best blocks, chosen once for all tests."""
    return HybridGeometry.best(epsilon=epsilon, categories=values)


def chance_of_a_list(spec: HybridGeometry, people: int, near: bool) -> float:
    """Return the chance, times all values, that one is listed that nobody holds: all people in its block, or none.

    For planes that are points the law is exact, and does not depend on the block. Else N = Bin(n, c) reports lie in the
    block, and Bin(N, p) of them on the plane; the chance is averaged over ten quantiles of N.
    """
    holder = spec.holders[1 if near else 2]
    rest, points = (1 - CONFIDENCE) / spec.category_count, spec.geometry.common == 0
    quantiles = binom.ppf((np.arange(1 if points else 10) + 0.5) / 10, people, float(holder.block)).astype(np.int64)
    chances = []
    for reports in quantiles.tolist():
        draws, chance = (people, holder.plane) if points else (reports, holder.plane / holder.block)
        middle, spread = draws * float(chance), np.sqrt(draws * float(chance * (1 - chance)))
        counts = np.arange(int(middle), min(int(middle + 10 * spread) + 60, draws) + 1, dtype=np.int64)
        in_blocks, frequencies = np.full(spec.blocks, reports), np.ones(counts.size * spec.blocks)
        support = spec._support(np.repeat(counts, spec.blocks), in_blocks, people, frequencies)
        listed = counts[support.interval(rest, Target.TABLE, np.arange(counts.size) * spec.blocks)[0] > 0]
        chances.append(binom.sf(listed[0] - 1, draws, float(chance)) if listed.size else 0.0)
    return float(spec.category_count * np.mean(chances))


@pytest.mark.theorem("BlockSupport.accuracy")
@pytest.mark.parametrize("epsilon", [6, 8, 10, 12])
def test_the_chance_of_a_false_listing_in_blocks_is_at_most_half_of_what_is_allowed(epsilon: int) -> None:
    for values in (1_000, 10_000):
        spec = blocks(epsilon, values)
        for people in (1_000, 20_000, 200_000):
            assert max(chance_of_a_list(spec, people, near) for near in (False, True)) <= CHANCE * 1.01


def held(people: int, kind: str, spec: HybridGeometry) -> Integers:
    """Ten values that fall off fast, or half of the values of the first block."""
    if kind == "few":
        return np.minimum(coins(3, people).geometric(0.3, people) - 1, 9)
    return coins(4, people).integers(0, max(spec.category_count // spec.blocks // 2, 1), people) * spec.blocks


def false_lists(spec: HybridGeometry, items: Integers, runs: int) -> int:
    """Count the lists with a value that nobody holds, through the client and the aggregator."""
    somebody, wrong = np.bincount(items, minlength=spec.category_count) > 0, 0
    for _ in range(runs):
        top = (
            spec.aggregator()
            .add(spec.client().report_many(items))
            .estimate()
            .top(spec.category_count, confidence=CONFIDENCE)
        )
        wrong += not somebody[np.array(list(top), dtype=np.int64)].all()
    return wrong


@pytest.mark.theorem("BlockSupport.accuracy")
@pytest.mark.parametrize("kind", ["few", "block"])
@pytest.mark.parametrize(
    ("epsilon", "values", "people"),
    [
        pytest.param(epsilon, values, people, marks=[pytest.mark.soak] if values > 1_000 or people > 20_000 else [])
        for epsilon in (6, 8, 10, 12)
        for values in (1_000, 10_000)
        for people in (1_000, 20_000, 200_000)
    ],
)
def test_blocks_list_a_value_that_nobody_holds_no_more_often_than_stated(
    rounds: Rounds, record_property: Callable[[str, object], None], epsilon: int, values: int, people: int, kind: str
) -> None:
    runs = rounds(sample=8 if values == 1_000 else SAMPLE, full=400 if values == 1_000 else 100)
    spec = blocks(epsilon, values)
    wrong = false_lists(spec, held(people, kind, spec), runs)
    record_property("false_lists", wrong)
    assert wrong <= most(runs, CHANCE)


@pytest.mark.parametrize("kind", ["few", "block"])
@pytest.mark.parametrize("shape", [(10, 2, 23, 3), (12, 3, 5, 4), (8, 2, 3, 5), (6, 40, 2, 4), (12, 300, 3, 3)])
def test_blocks_of_any_shape_list_no_more_false_values(
    rounds: Rounds, shape: tuple[int, int, int, int], kind: str
) -> None:
    runs, (epsilon, blocks, prime, dimension) = rounds(sample=8, full=200), shape
    size = blocks * (prime**dimension - 1) // (prime - 1)
    spec = HybridGeometry(epsilon=Fraction(epsilon), categories=size, blocks=blocks, prime=prime, dimension=dimension)
    assert false_lists(spec, held(3_000, kind, spec), runs) <= most(runs, CHANCE)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), 1, 4, pytest.param(8, marks=pytest.mark.soak)])
@pytest.mark.parametrize("people", [100, 2_000, 20_000])
def test_hashed_keys_that_nobody_holds_are_seldom_listed(rounds: Rounds, epsilon: Fraction | int, people: int) -> None:
    """Their intervals are approximate, because keys collide: so the whole 5 % and its chance is the bar."""
    runs = rounds(sample=3, full=100)
    items, asked, wrong = coins(3, people).geometric(0.3, people), np.arange(10**9, 10**9 + 1_000), 0
    for _ in range(runs):
        spec = HashedGeometry.best(epsilon=epsilon, people=people, keys="integer:64")  # with a fresh seed
        wrong += len(spec.sketch(spec.aggregator().add(spec.client().report_many(items))).estimate(asked).top(9)) > 0
    assert wrong <= most(runs, 2 * CHANCE)
