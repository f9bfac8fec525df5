"""Shuffled reports keep the guarantee computed for them: checked against all multisets where they can be listed."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import MissingParameter, NoSoundConversion, ParameterError
from discreet.local import (
    DirectResponse,
    FrequencyOracle,
    HashedGeometry,
    HybridGeometry,
    OneBitHadamard,
    ProjectiveGeometry,
)
from discreet.local.heavy_hitters.addresses import FIRST_BITS
from discreet.local.heavy_hitters.protocol import HeavyHitters
from discreet.local.means.one_bit_and_hybrid import DuchiBit
from discreet.local.shuffling.blankets import (
    BinomialWindow,
    Blanket,
    TwoLevels,
    _with_rest,
    clones,
    distances,
    symmetric_excess,
)
from discreet.local.shuffling.shuffled import Shuffled, _over_distances, pair_below
from discreet.privacy import Relation

LEVELS = (0.0, 0.05, 0.2, 0.6, 1.1)
Multisets = dict[tuple[int, ...], int]


def _weights(spec: FrequencyOracle, value: int) -> tuple[list[int], int]:
    """The exact law of a report as integers over a common denominator."""
    law = spec.law(value).probabilities
    common = math.lcm(*(mass.denominator for mass in law))
    return [int(mass * common) for mass in law], common


def _shuffled(laws: list[list[int]]) -> Multisets:
    """The law of the multiset of independent reports, as integers."""
    found: Multisets = {(): 1}
    for law in laws:
        more: Multisets = defaultdict(int)
        for reports, mass in found.items():
            for output, weight in enumerate(law):
                more[tuple(sorted((*reports, output)))] += mass * weight
        found = more
    return found


def _true_deltas(spec: FrequencyOracle, pair: tuple[int, int], people: int, values: range) -> list[float]:
    """The largest delta at each level over all values that the others may have, a little too small if anything."""
    laws = {value: _weights(spec, value) for value in values}
    worst = [Fraction(0)] * len(LEVELS)
    for others in combinations_with_replacement(values, people - 1):
        rest = [laws[value][0] for value in others]
        one, two = (_shuffled([laws[value][0], *rest]) for value in pair)
        total = laws[pair[0]][1] ** people
        for place, level in enumerate(LEVELS):
            growth = Fraction(math.exp(level) * (1 + 2.0**-50))
            excess = sum((max(Fraction(0), mass - growth * two[reports]) for reports, mass in one.items()), Fraction(0))
            worst[place] = max(worst[place], excess / total)
    return [float(delta) for delta in worst]


TINY = HeavyHitters(
    epsilon=Fraction(3),
    keys=f"integer:{FIRST_BITS + 4}",
    people=9,
    prime=2,
    dimension=2,
    levels=(FIRST_BITS, FIRST_BITS + 4),
    rows=(1, 1, 1),
    seed=3,
)
SMALL: list[tuple[str, FrequencyOracle, tuple[int, int], int, range]] = [
    ("two answers of 2", DirectResponse(epsilon=Fraction(1), categories=2), (0, 1), 2, range(2)),
    ("two answers of 5", DirectResponse(epsilon=Fraction(2), categories=2), (0, 1), 5, range(2)),
    ("three answers of 4", DirectResponse(epsilon=Fraction(1), categories=3), (0, 1), 4, range(3)),
    ("three answers of 5", DirectResponse(epsilon=Fraction(3), categories=3), (2, 0), 5, range(3)),
    ("five answers of 3", DirectResponse(epsilon=Fraction(2), categories=5), (1, 4), 3, range(5)),
    (
        "the plane of 7, of 2",
        ProjectiveGeometry(epsilon=Fraction(1), categories=7, prime=2, dimension=3),
        (0, 1),
        2,
        range(7),
    ),
    (
        "the plane of 7, of 3",
        ProjectiveGeometry(epsilon=Fraction(2), categories=7, prime=2, dimension=3),
        (2, 5),
        3,
        range(7),
    ),
    ("one bit of 4 values", OneBitHadamard(epsilon=Fraction(1), categories=4), (1, 2), 3, range(4)),
    (
        "two lines, one block",
        HybridGeometry(epsilon=Fraction(2), categories=6, blocks=2, prime=2, dimension=2),
        (0, 2),
        3,
        range(6),
    ),
    (
        "two lines, two blocks",
        HybridGeometry(epsilon=Fraction(2), categories=6, blocks=2, prime=2, dimension=2),
        (0, 1),
        3,
        range(6),
    ),
    (
        "hashed keys",
        HashedGeometry(epsilon=Fraction(2), keys="integer:8", prime=2, dimension=2, rows=3, seed=8),
        (0, 1),
        3,
        range(4),
    ),
    ("prefixes that meet", TINY, (0, 1), 3, range(4)),
]


@pytest.mark.theorem("Shuffled.privacy", "Blanket.privacy", "TwoLevels.privacy", "TwoLevels.between.privacy")
@pytest.mark.parametrize(("spec", "pair", "people", "values"), [case[1:] for case in SMALL], ids=[c[0] for c in SMALL])
def test_the_real_multisets_are_never_told_apart_better_than_guaranteed(
    spec: FrequencyOracle, pair: tuple[int, int], people: int, values: range
) -> None:
    true = _true_deltas(spec, pair, people, values)
    shuffled = Shuffled(spec, people=people, delta=1e-3)
    levels = TwoLevels.of(spec, people, 1e-3)
    everywhere = levels.between(1, spec.apart)
    apart = len(set(spec.preferred(pair[0]).tolist()) - set(spec.preferred(pair[1]).tolist()))
    for level, delta in zip(LEVELS, true, strict=True):
        assert delta <= shuffled.delta_at(level)
        assert everywhere is None or delta <= everywhere.delta(level)
        for blanket in levels.exactly(apart):
            assert delta <= blanket.delta(level)
    assert max(true) > 0


@pytest.mark.theorem("TwoLevels.between.privacy")
@given(
    inside=st.integers(2, 30), outside=st.integers(1, 60), ratio=st.fractions(Fraction(11, 10), 3000), data=st.data()
)
def test_a_range_of_distances_is_claimed_where_others_really_imitate_enough(
    inside: int, outside: int, ratio: Fraction, data: st.DataObject
) -> None:
    apart = min(inside, outside)
    most = data.draw(st.integers(1, apart))
    least = data.draw(st.integers(1, most))
    unlikely = 1 / (inside * ratio + outside)
    levels = TwoLevels(50, unlikely * ratio, unlikely, inside, inside + outside, 1e-6)
    wide = levels.between(least, most)
    spare = []
    for apart in range(least, most + 1):
        steepest = next(iter(levels.exactly(apart)))
        assert steepest.first + steepest.second + steepest.third == 1
        others = (1 - apart * (1 + ratio) * unlikely) / ratio  # what the others imitate of kind 3, at the largest tilt
        spare.append(others - 2 * (most - apart) * unlikely)
    assert (wide is None) == (min(spare) < 0)
    if wide is not None:
        assert wide.rest == min(spare)
        assert (wide.first, wide.second, wide.each) == (most * unlikely * ratio, most * unlikely, most * unlikely)


@pytest.mark.theorem("TwoLevels.privacy")
@given(inside=st.integers(1, 30), outside=st.integers(1, 60), ratio=st.fractions(Fraction(11, 10), 3000))
def test_others_imitate_no_more_than_the_least_they_do(inside: int, outside: int, ratio: Fraction) -> None:
    unlikely = 1 / (inside * ratio + outside)
    levels = TwoLevels(50, unlikely * ratio, unlikely, inside, inside + outside, 1e-6)
    for apart in range(1, min(inside, outside) + 1):
        both, neither = inside - apart, outside - apart
        blankets = list(levels.exactly(apart))
        assert len(blankets) == (3 if both else 1)
        for blanket in blankets:
            assert (blanket.first, blanket.second) == (apart * unlikely * ratio, apart * unlikely)
            assert blanket.each == apart * unlikely
            if blanket.third:
                tilt = blanket.third / blanket.rest
                assert 1 <= tilt <= ratio  # so the person gives kind 3 that much, and the others a part of 1 / tilt
                assert blanket.third == unlikely * (neither + tilt * both)


def test_where_no_range_is_proven_every_distance_is_checked_by_itself() -> None:
    spec = HashedGeometry(epsilon=Fraction(6), keys="integer:8", prime=7, dimension=2, rows=8, seed=8)
    shuffled = Shuffled(spec, people=10_000, delta=1e-6)
    levels = TwoLevels.of(spec, 10_000, 1e-6)
    assert levels.between(1, 7) is None
    for apart in range(1, 9):
        assert min(one.delta(shuffled.epsilon) for one in levels.exactly(apart)) <= 1e-6


class Uneven:
    """Blankets that are the worse the smaller the distance, and for ranges a little worse than for the largest."""

    def exactly(self, apart: int) -> list[Blanket]:
        return [clones(Fraction(6 - apart, 2), 1000, 1e-6)]

    def between(self, least: int, most: int) -> Blanket:
        return clones(Fraction(6 - least, 2), 1000, 1e-6) if most < 4 else clones(Fraction(201, 200), 1000, 1e-6)


def test_the_worst_distance_decides_and_a_range_must_meet_delta_itself() -> None:
    best, worst = (Uneven().exactly(apart)[0].epsilon(1e-6, most=3.0) for apart in (4, 1))
    assert 1e-6 < Uneven().between(1, 4).delta(best) < 2e-6
    found = _over_distances(Uneven(), [1, 2, 3, 4], 1e-6, 3.0)  # type: ignore[arg-type]
    assert found is not None
    assert found[0] == pytest.approx(worst, rel=1e-6)
    assert max(min(one.delta(found[0]) for one in family) for family in found[1]) <= 1e-6
    two = _over_distances(Uneven(), [3, 4, 4, 4], 1e-6, 3.0)  # type: ignore[arg-type]
    assert two is not None
    assert max(min(one.delta(two[0]) for one in family) for family in two[1]) <= 1e-6


@pytest.mark.theorem("clones.privacy")
@pytest.mark.parametrize(("spec", "pair", "people", "values"), [case[1:] for case in SMALL], ids=[c[0] for c in SMALL])
def test_clones_hold_for_every_protocol(
    spec: FrequencyOracle, pair: tuple[int, int], people: int, values: range
) -> None:
    blanket = clones(spec.epsilon, people, 1e-3)
    for level, delta in zip(LEVELS, _true_deltas(spec, pair, people, values), strict=True):
        assert delta <= blanket.delta(level)


def test_clones_hold_for_means() -> None:
    spec = DuchiBit(epsilon=Fraction(1), bounds=(-1, 1))
    shuffled = Shuffled(spec, people=1000, delta=1e-6)
    assert shuffled.guarantee == shuffled.generic
    assert shuffled.epsilon == pytest.approx(0.18241, rel=1e-3)


def _exact(blanket: Blanket, level: float) -> Fraction:
    """The formula of `Blanket` summed over all counts, exactly for a rational close to e^level."""
    growth, people = Fraction(math.exp(level)), blanket.people
    first = (blanket.first - growth * blanket.second) / blanket.each
    second = (blanket.second - growth * blanket.first) / blanket.each
    third = (1 - growth) * blanket.third / blanket.rest if blanket.rest else Fraction(0)
    none = 1 - 2 * blanket.each - blanket.rest
    total = Fraction(0)
    for a in range(people + 1):
        for b in range(people + 1 - a):
            for c in range(people + 1 - a - b if blanket.rest else 1):
                ways = math.comb(people, a) * math.comb(people - a, b) * math.comb(people - a - b, c)
                mass = blanket.each ** (a + b) * blanket.rest**c * none ** (people - a - b - c)
                total += ways * mass * max(Fraction(0), first * a + second * b + third * c)
    return total / people


@given(
    people=st.integers(1, 11),
    parts=st.lists(st.integers(1, 40), min_size=3, max_size=3),
    each=st.integers(1, 30),
    rest=st.integers(0, 30),
    level=st.floats(0, 3),
)
def test_the_sum_is_the_exact_one_rounded_up(people: int, parts: list[int], each: int, rest: int, level: float) -> None:
    low, high, other = min(parts[:2]), max(parts[:2]) + 1, parts[2]
    whole = low + high + other
    blanket = Blanket(
        people,
        Fraction(high, whole),
        Fraction(low, whole),
        Fraction(other, whole),
        Fraction(each, 100),
        Fraction(rest, 100),
        1e-6,
    )
    exact = _exact(blanket, level)
    found = Fraction(blanket.delta(level))
    assert exact * (1 - Fraction(1, 10**13)) <= found <= exact * (1 + Fraction(1, 10**9)) + Fraction(1, 10**9)


def test_thirty_people_are_summed_exactly() -> None:
    blanket = clones(Fraction(1), 30, 1e-6)
    for level in (0.0, 0.3, 0.8):
        assert 0 <= blanket.delta(level) / float(_exact(blanket, level)) - 1 < 1e-11


def _reference(people: int, epsilon: float, level: float) -> float:
    """Delta of the clones, in plain floats, by a double sum over logarithms of factorials."""
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, people + 1)))])
    clone, truth = math.exp(-epsilon), math.exp(epsilon) / (math.exp(epsilon) + 1)
    growth, total = math.exp(level), 0.0
    mean, spread = people * clone, math.sqrt(people * clone)
    for v in range(max(0, int(mean - 9 * spread)), min(people, int(mean + 9 * spread)) + 1):
        chance = factorials[people] - factorials[v] - factorials[people - v]
        chance += v * math.log(clone) + (people - v) * math.log1p(-clone)
        a = np.arange(v + 1)
        heads = factorials[v] - factorials[a] - factorials[v - a] - v * math.log(2)
        gain = (truth * a + (1 - truth) * (v - a)) - growth * ((1 - truth) * a + truth * (v - a))
        total += float(np.sum(np.exp(chance + heads) * np.maximum(gain, 0.0))) * 2 / clone
    return total / people


@pytest.mark.parametrize(("people", "epsilon", "level"), [(6000, 0.5, 0.01), (6000, 0.5, 0.03), (20_000, 2.0, 0.08)])
def test_boxes_of_many_counts_cost_little(people: int, epsilon: float, level: float) -> None:
    reference = _reference(people, epsilon, level)
    found = clones(Fraction(epsilon), people, 1e-8).delta(level)
    assert reference * (1 - 1e-9) <= found <= reference * 1.05


def test_slices_that_share_a_law_of_the_rest_share_the_least() -> None:
    blanket = next(
        iter(TwoLevels.of(ProjectiveGeometry.best(epsilon=Fraction(1), categories=100), 20_000, 1e-6).exactly(9))
    )
    high = np.arange(2000, 2400, 9)
    z, weights, rows = _with_rest(blanket, 40.0, np.zeros(high.size), high, np.ones(high.size), np.arange(high.size))
    probability = blanket.rest / (1 - 2 * blanket.each)
    for place in range(high.size):
        lows = np.round(z[rows == place] * float(blanket.rest / blanket.third)).astype(np.int64)
        law = BinomialWindow.of(20_000 - int(high[place]), probability, 40.0)
        for count in (len(lows) // 3, len(lows) // 2):
            least = float(law.chances[: lows[count] - law.first].sum())  # of all counts below a box
            assert weights[rows == place][:count].sum() >= least * (1 - 1e-9)


def test_counts_beyond_the_window_are_paid_for() -> None:
    blanket = clones(Fraction(1), 10_000, 1e-6)
    log_tail = 25 - math.log(1e-6)
    lost = BinomialWindow.of(10_000, 2 * blanket.each, log_tail).weighted_beyond()
    assert lost > 0
    assert blanket.delta(3.0) >= float(blanket.first) * lost  # although no counts within tell anything there


@given(trials=st.integers(0, 300), top=st.integers(1, 999), log_tail=st.floats(5, 60))
def test_a_window_bounds_every_chance_and_what_lies_outside(trials: int, top: int, log_tail: float) -> None:
    probability = Fraction(top, 1000)
    window = BinomialWindow.of(trials, probability, log_tail)
    exact = [math.comb(trials, k) * probability**k * (1 - probability) ** (trials - k) for k in range(trials + 1)]
    for place, chance in enumerate(window.chances.tolist()):
        assert exact[window.first + place] <= chance
    assert sum(exact[: window.first]) <= window.below
    assert sum(exact[window.last + 1 :]) <= window.above
    tilted = sum(((k * exact[k]) for k in range(window.last + 1, trials + 1)), Fraction(0))
    assert tilted <= Fraction(window.weighted_beyond()) * trials * probability
    assert window.chances.sum() <= 1 + window.below + window.above + 1e-9
    low, high, chance = window.cut(np.full(window.chances.size, 7))
    assert low[0] == 0
    assert high[-1] == window.last
    assert math.isclose(chance.sum(), window.chances.sum() + window.below, rel_tol=1e-12)


@given(coins=st.integers(0, 200), log_tail=st.floats(0.5, 50), level=st.floats(0, 120))
def test_the_excess_of_fair_coins_is_bounded_from_above(coins: int, log_tail: float, level: float) -> None:
    tails, excesses = symmetric_excess(np.array([coins]), log_tail)
    last = tails.shape[1] - 1
    place = min(math.floor(level), last)
    found = Fraction(float(tails[0, place])) * max(place + 1 - Fraction(level), Fraction(0))
    found += Fraction(float(excesses[0, place]))
    lead = [heads - coins // 2 for heads in range(coins + 1)]
    exact = sum(
        (math.comb(coins, heads) * max(Fraction(0), j - Fraction(level)) for heads, j in enumerate(lead)), Fraction(0)
    ) / Fraction(2**coins)
    assert exact <= found


CROWDS = (100, 1000, 10_000, 100_000, 1_000_000, 10**9)


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), 1, 2, 4])
def test_more_people_hide_better_and_the_protocol_itself_hides_better_than_its_epsilon(epsilon: Any) -> None:
    for spec in (
        DirectResponse(epsilon=epsilon, categories=16),
        ProjectiveGeometry.best(epsilon=epsilon, categories=1000),
    ):
        guarantees = [Shuffled(spec, people=people, delta=1e-6) for people in CROWDS]
        found = [shuffled.epsilon for shuffled in guarantees]
        assert found == sorted(found, reverse=True)
        assert len(set(found)) == len(found)
        for shuffled in guarantees:
            assert shuffled.epsilon <= shuffled.generic.epsilon <= epsilon
        assert guarantees[-1].epsilon < 0.7 * float(guarantees[-1].generic.epsilon)


@pytest.mark.theorem("Shuffled.closed_form.privacy")
@given(
    epsilon=st.fractions(Fraction(1, 8), 6, max_denominator=8),
    people=st.integers(1, 2_000_000),
    delta=st.sampled_from([1e-3, 1e-6, 1e-9]),
)
def test_the_numeric_bound_is_below_the_closed_form_wherever_that_holds(
    epsilon: Fraction, people: int, delta: float
) -> None:
    shuffled = Shuffled(DirectResponse(epsilon=epsilon, categories=2), people=people, delta=delta)
    holds = float(epsilon) <= math.log(people / (16 * math.log(2 / delta)))
    if holds:
        assert shuffled.generic.epsilon <= shuffled.closed_form.epsilon
        assert shuffled.epsilon <= shuffled.generic.epsilon
    else:
        with pytest.raises(NoSoundConversion, match="numeric bound"):
            _ = shuffled.closed_form


def test_the_closed_form_is_the_published_one() -> None:
    shuffled = Shuffled(DirectResponse(epsilon=Fraction(4), categories=2), people=10**6, delta=1e-6)
    growth = math.exp(4)
    inner = 8 * math.sqrt(growth * math.log(4e6) / 1e6) + 8 * growth / 1e6
    expected = math.log(1 + (growth - 1) / (growth + 1) * inner)
    assert float(shuffled.closed_form.epsilon) == pytest.approx(expected, rel=1e-12)
    assert round(expected, 2) == 0.2


@pytest.mark.parametrize(("people", "holds"), [(12_675, True), (12_674, False)])
def test_the_closed_form_is_refused_from_its_limit_on(people: int, holds: bool) -> None:
    limit = 16 * math.log(2e6) * math.exp(4)
    assert 12_674 < limit < 12_675
    shuffled = Shuffled(DirectResponse(epsilon=Fraction(4), categories=2), people=people, delta=1e-6)
    if holds:
        assert shuffled.closed_form.delta == 1e-6
    else:
        with pytest.raises(NoSoundConversion):
            _ = shuffled.closed_form
        assert "does not apply" in shuffled.explain()


def test_the_guarantee_is_for_changing_one_value_and_names_its_conditions() -> None:
    shuffled = Shuffled(DirectResponse(epsilon=Fraction(1), categories=4), people=5000, delta=1e-5)
    assert shuffled.guarantee.relation is Relation.CHANGE_ONE
    assert shuffled.guarantee.delta == 1e-5
    text = str(shuffled)
    for words in ("one person's value is changed", "honest", "no names", "one report each", "before the shuffler"):
        assert words in text
        assert words in shuffled._repr_html_().replace("&#x27;", "'")
    assert "5000" in repr(shuffled)


def test_one_person_alone_is_not_hidden() -> None:
    shuffled = Shuffled(DirectResponse(epsilon=Fraction(2), categories=4), people=1, delta=1e-9)
    assert shuffled.epsilon == pytest.approx(2, rel=1e-6)
    assert shuffled.epsilon <= 2


def test_epsilon_meets_its_delta_and_hardly_less_would() -> None:
    shuffled = Shuffled(OneBitHadamard(epsilon=Fraction(1), categories=100), people=3000, delta=1e-5)
    assert shuffled.delta_at(shuffled.epsilon) <= 1e-5
    assert shuffled.delta_at(shuffled.epsilon * (1 - 1e-6)) > 1e-5
    assert shuffled.delta_at(1) == 0.0


@pytest.mark.theorem("Blanket.privacy")
@pytest.mark.parametrize("level", [0.0, 0.3, 0.9])
def test_a_delta_that_is_missed_by_its_last_bit_is_not_met(level: float) -> None:
    blanket = clones(Fraction(1), 100, 1e-60)
    target = math.nextafter(blanket.delta(level), 0.0)  # its logarithm is the same float
    assert math.log(target) == math.log(blanket.delta(level))
    found = blanket.epsilon(target, least=level, most=1.0)
    assert found > level
    assert blanket.delta(found) <= target


@pytest.mark.theorem("pair_below.privacy")
@pytest.mark.parametrize("people", [200, 50_000])
def test_the_price_for_the_accountant_is_the_whole_curve(people: int) -> None:
    shuffled = Shuffled(DirectResponse(epsilon=Fraction(2), categories=3), people=people, delta=1e-6)
    loss = shuffled.loss
    assert loss.relation is Relation.CHANGE_ONE
    assert not loss.attained
    assert loss.max_loss().upper == 2.0
    for part in (0.0, 0.3, 0.777, 1.0, 1.4):
        level = part * shuffled.epsilon
        assert loss.delta(level).upper >= shuffled.delta_at(level) * (1 - 1e-12)
    assert shuffled.epsilon * (1 - 1e-6) <= loss.epsilon(1e-6).upper <= shuffled.epsilon * 1.01
    twice = (loss * 2).epsilon(1e-5).upper
    assert shuffled.epsilon < twice < 2 * shuffled.epsilon


def test_where_delta_covers_everything_epsilon_is_zero_and_rounds_still_add_up() -> None:
    shuffled = Shuffled(DirectResponse(epsilon=Fraction(1, 1024), categories=2), people=10**6, delta=1e-6)
    assert shuffled.epsilon == 0.0
    assert shuffled.loss.epsilon(1e-6).upper == 0.0
    assert 0 < (shuffled.loss * 100).delta(0).upper < 1e-4
    assert shuffled.loss.max_loss().upper == 1 / 1024
    assert shuffled.loss.delta(5e-7).upper <= 1.05 * shuffled.delta_at(5e-7) < 0.8 * shuffled.delta_at(0)


@given(st.lists(st.integers(1, 30), min_size=3, max_size=6), st.randoms(use_true_random=False))
def test_the_polygon_dominates_a_pair_whose_directions_differ(masses: list[int], order: Any) -> None:
    whole, other = Fraction(sum(masses)), order.sample(masses, len(masses))
    one, two = ([Fraction(mass) / whole for mass in law] for law in (masses, other))

    def delta(first: list[Fraction], second: list[Fraction], level: float) -> float:
        growth = Fraction(math.exp(level))
        return float(sum((max(p - growth * q, Fraction(0)) for p, q in zip(first, second, strict=True)), Fraction(0)))

    dots = [(level, max(delta(one, two, level), delta(two, one, level))) for level in (0.0, 0.4, 1.0, 2.0)]
    pair = pair_below(dots, Fraction(4))
    for level in (-2.0, -0.7, -0.1, 0.0, 0.2, 0.6, 1.5, 3.0):
        assert pair.delta(level).upper >= max(delta(one, two, level), delta(two, one, level)) - 1e-12


@given(st.lists(st.tuples(st.floats(0, 2), st.floats(0, 1)), max_size=12))
def test_the_polygon_keeps_above_the_best_pair_below_its_dots(dots: list[tuple[float, float]]) -> None:
    pair = pair_below(dots, Fraction(2))
    assert math.isclose(math.fsum(pair.p_high), 1, rel_tol=1e-9)
    assert math.isclose(math.fsum(pair.q_high), 1, rel_tol=1e-9)
    heights = [pair.delta(level / 8).upper for level in range(17)]
    assert heights == sorted(heights, reverse=True)
    assert heights[-1] <= 1e-12
    for level, bound in dots:
        assert pair.delta(level).lower <= bound + 1e-9


def test_keys_and_heavy_hitters_have_bounds_of_their_own() -> None:
    hashed = Shuffled(
        HashedGeometry.best(epsilon=Fraction(4), people=10_000, keys="text:24", seed=7), people=10_000, delta=1e-6
    )
    assert hashed.epsilon < 0.6 * float(hashed.generic.epsilon)
    spec = HeavyHitters.plan(people=100_000, epsilon=Fraction(2), keys="integer:32", seed=1)
    assert distances(spec)[-1] == spec.apart
    shuffled = Shuffled(spec, people=100_000, delta=1e-6)
    assert shuffled.epsilon < 0.6 * float(shuffled.generic.epsilon)


def test_every_distance_of_real_keys_is_foreseen() -> None:
    for spec in (
        HashedGeometry(epsilon=Fraction(1), keys="integer:8", prime=2, dimension=2, rows=3, seed=8),
        HybridGeometry(epsilon=Fraction(2), categories=6, blocks=2, prime=2, dimension=2),
        HybridGeometry(epsilon=Fraction(2), categories=9, blocks=2, prime=2, dimension=3),
        ProjectiveGeometry(epsilon=Fraction(1), categories=7, prime=2, dimension=3),
        OneBitHadamard(epsilon=Fraction(1), categories=8),
        TINY,
    ):
        sets = [set(spec.preferred(value).tolist()) for value in range(6)]
        seen = {len(one - two) for one in sets for two in sets} - {0}
        assert seen <= set(distances(spec))
        assert spec.apart in distances(spec)


def test_where_common_outputs_are_not_known_all_distances_are_foreseen() -> None:
    class Unknown(OneBitHadamard):
        @property
        def shared(self) -> Fraction:
            return Fraction(3, 5)

    assert list(distances(OneBitHadamard(epsilon=Fraction(1), categories=8))) == [4]
    assert list(distances(Unknown(epsilon=Fraction(1), categories=8))) == [1, 2, 3, 4]


def test_nothing_is_guessed() -> None:
    spec = DirectResponse(epsilon=Fraction(1), categories=4)
    with pytest.raises(MissingParameter, match="people="):
        Shuffled(spec, delta=1e-6)
    with pytest.raises(MissingParameter, match="delta="):
        Shuffled(spec, people=10)
    for people in (0, -3, 2.0, True):
        with pytest.raises(ParameterError):
            Shuffled(spec, people=people, delta=1e-6)  # type: ignore[arg-type]
    for delta in (0, 1, -0.1, 1e-200):
        with pytest.raises(ParameterError):
            Shuffled(spec, people=10, delta=delta)
    for level in (-0.1, math.nan, "1"):
        with pytest.raises(ParameterError):
            Shuffled(spec, people=10, delta=1e-6).delta_at(level)  # type: ignore[arg-type]
    with pytest.raises(ParameterError):
        _ = clones(Fraction(1), 10, 1e-6).delta(-0.1)
    with pytest.raises(NoSoundConversion, match="fewer are safe"):
        _ = Shuffled(spec, people=10**10 + 1, delta=1e-6).epsilon
