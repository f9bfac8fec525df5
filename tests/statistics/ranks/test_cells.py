"""Counts of the rows around released positions: how far a row moves them, and the intervals that they prove."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.errors import ParameterError
from discreet.laws import DiscreteLaplace
from discreet.statistics.columns import WEIGHT_UNIT
from discreet.statistics.pricing.laplace_sums import chernoff_reach, laplace_sum_reach
from discreet.statistics.ranks import CountsAround, Ranked, RankInterval
from tests.chances import fewest
from tests.conftest import Rounds
from tests.statistics.tables import neighbors

ADD_REMOVE, CHANGE_ONE = dp.Relation.ADD_REMOVE, dp.Relation.CHANGE_ONE
BOTH = pytest.mark.parametrize("relation", [ADD_REMOVE, CHANGE_ONE])


@pytest.mark.theorem("CountsAround.privacy")
@BOTH
def test_a_row_moves_the_counts_by_no_more_than_the_noise_is_for(relation: dp.Relation) -> None:
    around = CountsAround(levels=(0.5,), epsilon=1, relation=relation, steps=6, confidence=0.9)
    times = 2 if relation is CHANGE_ONE else 1
    furthest = furthest_squared = 0
    for first, second in neighbors(range(0, 7, 2), 3, relation):
        for chosen in ([0], [3], [6], [1, 4], [2, 2, 5]):
            one, two = (around.counts(chosen, table) for table in (first, second))
            assert len(one) == around.cuts(chosen).size + 1
            assert sum(one) == len(first) * WEIGHT_UNIT
            assert one == around.counts(chosen, Ranked.of(first, steps=6))
            moved = [abs(before - after) for before, after in zip(one, two, strict=True)]
            furthest = max(furthest, sum(moved))
            furthest_squared = max(furthest_squared, sum(step**2 for step in moved))
    assert furthest == times * WEIGHT_UNIT
    assert furthest_squared == times * WEIGHT_UNIT**2
    assert around.counter.noise.scale == times * WEIGHT_UNIT
    gaussian = CountsAround(levels=(0.5,), rho=Fraction(1, 2), relation=relation, steps=6, confidence=0.9)
    assert float(gaussian.counter.noise.scale) == pytest.approx(math.sqrt(times) * WEIGHT_UNIT)


@BOTH
def test_rows_of_one_person_weigh_what_the_noise_is_for(relation: dp.Relation) -> None:
    weights = np.array([WEIGHT_UNIT // 2, WEIGHT_UNIT // 2, WEIGHT_UNIT])
    one = CountsAround(levels=(0.5,), epsilon=1, relation=relation, steps=6, confidence=0.9)
    three = CountsAround(levels=(0.5,), epsilon=1, relation=relation, steps=6, confidence=0.9, rows=3)
    assert three.counter.noise.scale == 3 * one.counter.noise.scale
    table = np.array([0, 3, 6])
    found = one.counts([3], (table, weights))
    assert found == one.counts([3], Ranked.of(table, steps=6, weights=weights))
    assert sum(found) == 2 * WEIGHT_UNIT


@pytest.mark.theorem("CountsAround.ends_of_groups.privacy")
def test_counts_of_all_groups_get_noise_in_one_draw_and_each_count_its_own() -> None:
    around = CountsAround(levels=(0.5,), epsilon=1, relation=ADD_REMOVE, steps=100, confidence=0.9)
    counter, drawn = around.counter, list[list[int]]()

    class Seen:
        noise = counter.noise

        def __call__(self, counts: Any) -> Any:
            noisy = counter(counts)
            drawn.extend([list(counts), list(noisy)])
            return noisy

    around.counter = Seen()  # type: ignore[assignment]
    chosen, rows = [[30], [70]], [[10, 20, 30, 40], [60, 70, 80]]
    found = around.ends_of_groups(chosen, rows)
    exact, noisy = drawn
    parts = [around.counts(at, own) for at, own in zip(chosen, rows, strict=True)]
    assert exact == [*parts[0], *parts[1]]
    cut = len(parts[0])
    assert found == [around.ends(chosen[0], noisy[:cut]), around.ends(chosen[1], noisy[cut:])]


def test_cuts_halve_the_way_to_the_next_position_and_to_the_ends() -> None:
    around = CountsAround(levels=(0.5,), epsilon=1, relation=ADD_REMOVE, steps=100, confidence=0.9)
    assert around.cuts([40]).tolist() == [20, 30, 35, 38, 39, 40, 41, 42, 44, 48, 56, 71]
    assert around.cuts([0, 100]).tolist() == sorted({1, 2, 4, 7, 13, 26, 51, 100, 99, 97, 94, 88, 75, 50})
    assert around.cuts([0]).tolist()[0] == 1


@pytest.mark.parametrize(
    ("level", "below", "above"), [(0.5, 1, 1), (0.5, 7, 3), (0.9, 4, 9), (0.1, 2, 30), (0.0, 1, 2)]
)
@pytest.mark.parametrize("failure", [0.25, 0.025, 1e-4])
def test_the_quantile_of_a_weighted_sum_is_that_of_the_convolved_law(
    level: float, below: int, above: int, failure: float
) -> None:
    step, half = 1 / 256, 1 << 15  # an independent way: the law of each term on a fine grid, convolved
    places = (np.arange(2 * half) - half) * step

    def law(scale: float) -> np.ndarray:
        if scale == 0.0:
            return (places == 0).astype(float)
        edges = np.append(places, places[-1] + step) - step / 2
        tail = np.exp(-np.abs(edges) / scale) / 2
        distribution = np.where(edges < 0, tail, 1 - tail)
        return np.diff(distribution)

    first, second = (np.fft.rfft(np.fft.ifftshift(law(scale))) for scale in (1 - level, level))
    total = np.fft.fftshift(np.fft.irfft(first**below * second**above))
    reach = laplace_sum_reach(level, below, above, failure)
    tail = float(total[places > reach].sum())
    assert tail == pytest.approx(failure, rel=0.02)
    assert reach <= float(chernoff_reach(level, below, above, failure))


def test_the_noise_of_a_rank_exceeds_its_reach_as_rarely_as_stated(rounds: Rounds) -> None:
    noise, reach = DiscreteLaplace(WEIGHT_UNIT), laplace_sum_reach(0.3, 6, 10, 0.025)
    count = rounds(sample=20_000, full=400_000)
    drawn = noise.draw(count * 16).reshape(count, 16).astype(float) / WEIGHT_UNIT
    rank = 0.7 * drawn[:, :6].sum(axis=1) - 0.3 * drawn[:, 6:].sum(axis=1)
    within = int((rank <= reach).sum())
    assert within >= fewest(count, 0.975)
    assert count - within >= fewest(count, 0.0249)


def _tables() -> dict[str, list[int]]:
    spread = [(37 * row) % 201 for row in range(150)]
    return {
        "nobody": [],
        "one row": [77],
        "one value": [50] * 60,
        "two values": [50] * 30 + [150] * 30,
        "two values, one row more": [50] * 31 + [150] * 30,
        "spread": spread,
        "at the ends": [0] * 40 + [200] * 41,
    }


@pytest.mark.theorem("CountsAround.accuracy", "RankInterval.accuracy")
@pytest.mark.parametrize("name", _tables())
@pytest.mark.parametrize(
    ("level", "price"), [(Fraction(1, 2), {"epsilon": 2}), (Fraction(4, 5), {"rho": Fraction(1, 4)})]
)
def test_intervals_hold_every_quantile_of_the_table(name: str, level: Fraction, price: dict, rounds: Rounds) -> None:
    rows = Ranked.of(_tables()[name], steps=200)
    wanted = level * rows.weight
    exact = [place for place in range(201) if rows.distance(place, wanted) == 0]
    interval = RankInterval(level=level, relation=ADD_REMOVE, steps=200, confidence=0.9, **price)
    count = rounds(sample=300, full=20_000)
    held = 0
    for _ in range(count):
        value, low, high = interval(rows)
        assert 0 <= low <= value <= high <= 200
        held += low <= exact[0] and exact[-1] <= high
    assert held >= fewest(count, 0.9)


@pytest.mark.theorem("CountsAround.accuracy")
@pytest.mark.parametrize("failure", [Fraction(1, 20), Fraction(1, 2)])
def test_an_end_passes_the_first_cut_that_it_must_not_pass_with_the_stated_chance(
    failure: Fraction, rounds: Rounds
) -> None:
    around = CountsAround(levels=(0.5,), epsilon=1, relation=ADD_REMOVE, steps=100, confidence=1 - float(failure))
    chosen, table = [50], [10] * 40 + [90] * 40  # N(x < b) is just half of the rows at every cut from 25 to 75
    count = rounds(sample=3000, full=100_000)
    passed = 0
    for counts in (around((chosen, table)) for _ in range(count)):
        [(low, high)] = around.ends(chosen, counts)
        passed += low > 10
        assert low <= high
    first = int(around.cuts(chosen)[0])
    assert first == 25
    assert passed <= count - fewest(count, 1 - float(failure) / 2)
    assert passed >= fewest(count, float(failure / 2) * 0.98)  # and no more rarely: the bound is the law's own quantile


@pytest.mark.theorem("RankInterval.privacy")
@BOTH
def test_a_choice_and_its_counts_cost_half_each(relation: dp.Relation) -> None:
    interval = RankInterval(level=0.5, epsilon=3, relation=relation, steps=2, confidence=0.9)
    assert interval.guarantee == dp.PureDP(3.0, relation=relation)
    half = Fraction(3, 2)
    for first, second in neighbors(range(3), 3, relation):
        assert interval.value.law(first).pair(interval.value.law(second)).max_loss().upper <= half + Fraction(1, 10**9)
    moved = 2 if relation is CHANGE_ONE else 1
    assert moved * WEIGHT_UNIT / interval.around.counter.noise.scale == half
    assert interval.loss.satisfies(interval.guarantee)
    with pytest.raises(ParameterError, match="two parts"):
        interval.law([0])


def test_the_interval_is_a_function_of_released_numbers_alone() -> None:
    around = CountsAround(levels=(0.25, 0.75), epsilon=1, relation=ADD_REMOVE, steps=1000, confidence=0.9)
    counts = around(([300, 700], list(range(1001))))
    assert around.ends([300, 700], counts) == around.ends([300, 700], counts)
    assert all(around.ends([300, 700], [0] * len(counts)) == [(0, 1000)] * 2 for _ in range(2))


@pytest.mark.parametrize("confidence", [0.5, 0.95, 1 - 1e-12])
def test_a_higher_confidence_never_narrows(confidence: float) -> None:
    wide = CountsAround(levels=(0.5,), epsilon=1, relation=ADD_REMOVE, steps=1000, confidence=1 - (1 - confidence) / 4)
    narrow = CountsAround(levels=(0.5,), epsilon=1, relation=ADD_REMOVE, steps=1000, confidence=confidence)
    for middle, spread in product((100, 500), (1, 40)):
        counts = [WEIGHT_UNIT * spread * (1 + place % 3) for place in range(wide.cuts([middle]).size + 1)]
        [(low, high)], [(inner, outer)] = wide.ends([middle], counts), narrow.ends([middle], counts)
        assert low <= inner <= outer <= high
