"""Reports of hashed keys keep their guarantee exactly, and a sketch of them answers for keys that nobody listed."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from discreet.audit import Outcome, audit, goodness_of_fit
from discreet.data.invention import coins
from discreet.errors import InputError, MissingParameter, ParameterError, StreamSpent
from discreet.local import HashedGeometry, IntegerKeys, PublicHash, Sketch, Spec, TextKeys
from discreet.local.estimates.support import Support
from discreet.local.keys import hashing
from discreet.local.keys.sketch import CollidedSupport, _binomial
from discreet.privacy import PureDP, Target
from discreet.randomness.rigor import ball, precision
from discreet.testing import Check, Subject, conformance_checks
from tests.conftest import Rounds
from tests.local.claims.enumeration import exact_law
from tests.randomness.sources import Stream, swapped

EPSILONS = [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4), Fraction(6)]
SPACES = [(2, 2, 3), (2, 3, 2), (3, 2, 1), (3, 3, 2)]
KEYS = [0, 1, 2, 77, 255]


def small(
    epsilon: Any = Fraction(1), prime: int = 2, dimension: int = 3, rows: int = 2, **other: Any
) -> HashedGeometry:
    """A spec whose reports can all be listed."""
    chosen = {"keys": "integer:8", "seed": 5, **other}
    return HashedGeometry(epsilon=epsilon, prime=prime, dimension=dimension, rows=rows, **chosen)


def laws_of(spec: HashedGeometry, keys: list[int]) -> list[list[Fraction]]:
    """The exact law of the reports of every key, found by following the real client from key to report."""
    found = [exact_law(lambda values: spec.client().report_many(values), [key]) for key in keys]
    assert all(set(law) <= set(range(spec.cells)) for law in found)
    return [[law.get(report, Fraction(0)) for report in range(spec.cells)] for law in found]


@pytest.mark.theorem("HashedGeometry.privacy")
@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
@pytest.mark.parametrize(("prime", "dimension", "rows"), SPACES)
def test_no_report_of_a_key_is_more_than_e_to_the_epsilon_times_as_likely(
    prime: int, dimension: int, rows: int, epsilon: Fraction
) -> None:
    spec = small(epsilon, prime, dimension, rows)
    laws = laws_of(spec, KEYS)
    assert laws == [list(spec.law(key).probabilities) for key in KEYS]
    largest = max(max(masses) / min(masses) for masses in zip(*laws, strict=True))
    with precision(256):
        assert ball(largest) <= ball(epsilon).exp()
        assert ball(largest).log() >= ball(Fraction(99, 100) * epsilon)


@pytest.mark.theorem("HashedGeometry.privacy")
def test_all_keys_prefer_equally_many_reports_in_every_row() -> None:
    spec = small(prime=3, dimension=3, rows=4)
    for key in range(256):
        rows, points = np.divmod(spec.preferred(key), 13)
        assert np.bincount(rows).tolist() == [4] * 4
        for row, bucket in enumerate(spec.hash.buckets(spec.items([key]))[0]):
            assert np.array_equal(points[rows == row], spec.geometry.plane(int(bucket)))
    overlaps = [np.intersect1d(spec.preferred(0), spec.preferred(key)).size for key in range(1, 256)]
    assert spec.inside - min(overlaps) <= spec.apart
    assert 4 * spec.geometry.common in overlaps  # keys that meet in no row are as far apart as is stated


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)], ids=str)
def test_the_exact_audit_agrees(epsilon: Fraction) -> None:
    mechanism = small(epsilon).mechanism()
    found = audit(mechanism)
    assert found.outcome is Outcome.KEPT
    assert found.low >= 0.99 * float(epsilon)
    assert audit(mechanism, PureDP(0.9 * float(epsilon))).refuted


@pytest.mark.parametrize("check", conformance_checks(), ids=str)
def test_a_hashed_protocol_keeps_the_duties_of_a_mechanism(check: Check, rounds: Rounds) -> None:
    check(Subject(make=small().mechanism, inputs=[0, 255], draws=rounds(sample=500, full=2000)))


def test_many_reports_at_once_follow_the_law(rounds: Rounds) -> None:
    spec = small(keys="text:9")
    for key in ("", "süd"):
        drawn = spec.client().report_many([key] * rounds(sample=20_000, full=1_000_000))
        assert not goodness_of_fit(spec.law(key), drawn.tolist()).alarm(1e-9 / 2)


def expected_counts(spec: HashedGeometry, keys: list[int], frequencies: list[float], people: int) -> NDArray[np.int64]:
    """The histogram that many people would leave on average, rounded."""
    total = np.zeros(spec.cells)
    for key, frequency in zip(keys, frequencies, strict=True):
        masses = np.full(spec.cells, float(spec.unlikely))
        masses[spec.preferred(key)] = float(spec.likely)
        total += frequency * people * masses
    return np.rint(total).astype(np.int64)


FREQUENCIES = [0.4, 0.3, 0.2, 0.06, 0.04]


def means_over_seeds(frequencies: list[float], seeds: int) -> NDArray[np.float64]:
    """The mean estimates given the hashes, for many seeds: no report is random."""
    made = []
    for seed in range(seeds):
        spec = small(Fraction(1), 3, 3, 4, seed=seed)
        counts = expected_counts(spec, KEYS, frequencies, 10**12)
        made.append(spec.sketch(counts).estimate(KEYS).value)
    return np.array(made)


def given_hashes(spec: HashedGeometry, frequencies: list[float]) -> NDArray[np.float64]:
    """What estimates of the keys are on average for these hashes: every meeting of two keys counts."""
    buckets = spec.hash.buckets(spec.items(KEYS))
    meets = (buckets[:, None, :] == buckets[None, :, :]).mean(axis=2)
    collision = float(spec.hash.collision)
    return np.asarray((meets @ np.array(frequencies) - collision * sum(frequencies)) / (1 - collision))


@pytest.mark.theorem("HashedGeometry.accuracy")
def test_given_the_hashes_estimates_are_off_by_their_collisions_only() -> None:
    for seed in range(20):
        spec = small(Fraction(1), 3, 3, 4, seed=seed)
        found = spec.sketch(expected_counts(spec, KEYS, FREQUENCIES, 10**12)).estimate(KEYS).value
        assert np.allclose(found, given_hashes(spec, FREQUENCIES), atol=1e-9)


@pytest.mark.theorem("HashedGeometry.accuracy")
def test_over_the_seeds_estimates_are_unbiased_with_the_stated_variance_of_collisions() -> None:
    """Seeds are fixed, so nothing is random here; the allowance is 5 standard errors of as many random seeds."""
    seeds = 400
    found = means_over_seeds(FREQUENCIES, seeds)
    spec = small(Fraction(1), 3, 3, 4)
    others = sum(frequency**2 for frequency in FREQUENCIES) - np.array(FREQUENCIES) ** 2
    spread = spec.collisions * others
    assert np.all(np.abs(found.mean(axis=0) - FREQUENCIES) < 5 * np.sqrt(spread / seeds))
    ratio = found.var(axis=0) / spread
    assert np.all(np.abs(ratio - 1) < 5 * np.sqrt(8 / seeds))


@pytest.mark.theorem("HashedGeometry.accuracy")
def test_the_variance_of_reports_and_seeds_together_is_the_stated_one() -> None:
    """Two keys with all hashes: the exact law of one report, averaged over how often they meet."""
    spec = small(Fraction(2), 3, 3, 2)
    p, r, collision = spec.preference, spec.elsewhere, spec.hash.collision
    people, held = 100, Fraction(1, 4)
    gap = (p - r) * (1 - collision)
    total = Fraction(0)
    for meeting in range(spec.rows + 1):
        chance = math.comb(spec.rows, meeting) * collision**meeting * (1 - collision) ** (spec.rows - meeting)
        other = r + (p - r) * Fraction(meeting, spec.rows)
        mean = (held * p + (1 - held) * other - spec.shared) / gap
        noise = (held * p * (1 - p) + (1 - held) * other * (1 - other)) / (people * gap**2)
        total += chance * (noise + (mean - held) ** 2)
    assert spec.variance(people, float(held), float((1 - held) ** 2)) == pytest.approx(float(total), rel=1e-12)


@pytest.mark.theorem("Sketch.accuracy")
def test_the_sum_of_squares_counts_pairs_of_people_that_share_a_bucket() -> None:
    spec = small(Fraction(4), 2, 3, 2)
    p, r, points = spec.preference, spec.elsewhere, spec.geometry.points
    on: Any = np.zeros((points, points), dtype=object)
    for point in range(points):
        on[point, spec.geometry.plane(point)] = 1
    kernel = (on - r).T @ (on - r) / (p - r) ** 2  # of two reports, summed over the planes
    likely, unlikely = p / spec.geometry.on_plane, (1 - p) / (points - spec.geometry.on_plane)
    law = on * likely + (1 - on) * unlikely
    assert np.array_equal(law @ kernel @ law.T, np.eye(points, dtype=int))  # 1 for one bucket, 0 for two, exactly

    reports = spec.randomize(spec.items([3] * 20 + [9] * 10))
    rows, reported = np.divmod(reports, points)
    pairs = sum(kernel[reported[i], reported[j]] for i, j in itertools.permutations(range(30), 2) if rows[i] == rows[j])
    collision = spec.hash.collision
    exact = (spec.rows * pairs / Fraction(900) + Fraction(1, 30) - collision) / (1 - collision)
    found = spec.sketch(np.bincount(reports, minlength=spec.cells)).squares
    assert found == pytest.approx(min(max(float(exact), 0.0), 1.0), abs=1e-9)


def drawn(label: str, spec: HashedGeometry, keys: Any, counts: Any) -> Sketch:
    """A sketch of people who report with fixed words, the same in every run."""
    with swapped(Stream(label)):
        reports = spec.client().report_many(np.repeat(keys, counts))
    return spec.sketch(spec.aggregator().add(reports).counts)


@pytest.mark.theorem("Sketch.accuracy")
@pytest.mark.parametrize(("epsilon", "rows"), [(1, 64), (4, 64), (4, 512)])
def test_on_skewed_keys_intervals_cover_as_often_as_stated(epsilon: int, rows: int) -> None:
    """All words and keys are fixed: what is seen here is seen in every run."""
    keys = coins(1).integers(0, 2**64, 4000, dtype=np.uint64)
    counts = (20_000 / np.arange(1, 4001) ** 1.3).astype(np.int64)
    best = HashedGeometry.best(epsilon=epsilon, people=int(counts.sum()), keys=IntegerKeys(64), seed=1)
    spec = small(epsilon, best.prime, best.dimension, rows, keys=best.keys, seed=3)
    sketch = drawn("coverage", spec, keys, counts)
    truth = counts / counts.sum()
    found = sketch.estimate(keys)
    ends = found.intervals(confidence=0.95)
    assert np.mean((ends.low <= truth) & (truth <= ends.high)) > 0.93
    ends = found.intervals(confidence=0.9999, together=True)
    assert np.all((ends.low <= truth) & (truth <= ends.high))
    scores = (found.value - truth) / found.standard_error
    assert abs(scores.mean()) < 0.1
    assert 0.9 < scores.std() < 1.1
    noise = math.sqrt(2 * spec.cells) * spec.variance(1, 0.0, 0.0) / sketch.people
    assert sketch.squares == pytest.approx(float(truth @ truth), abs=4 * noise + 0.01)


def collided(rows: int, collision: float, squares: float, people: int = 10**6) -> CollidedSupport:
    """Counts with collisions, of a key that nobody holds."""
    counts = np.array([people // 4])
    return CollidedSupport(counts, people, Fraction(1, 2), Fraction(1, 4), rows, collision, squares, squares)


@pytest.mark.theorem("CollidedSupport.accuracy")
@pytest.mark.parametrize("rest", [0.05, 1e-3, 1e-8])
@pytest.mark.parametrize(("rows", "collision"), [(16, 1 / 31), (128, 1 / 1093), (1858, 1 / 2257)])
def test_intervals_reach_as_far_as_the_collisions_of_one_heavy_key(rows: int, collision: float, rest: float) -> None:
    support = collided(rows, collision, 0.2)
    low, high = support.interval(rest, Target.TABLE)
    plain = Support(support.counts, support.people, support.preference, support.shared)
    (noise,) = plain.standard_errors()
    (error,) = support.standard_errors()
    assert error**2 == pytest.approx(noise**2 + 0.2 * collision / (rows * (1 - collision)), rel=1e-12)
    reach = -low[0] / noise
    jump = math.sqrt(0.2) / (rows * (1 - collision)) / noise
    meetings = np.arange(rows + 1)
    missed = float(
        stats.binom.pmf(meetings, rows, collision) @ stats.norm.sf(reach - jump * (meetings - rows * collision))
    )
    assert missed <= 1.03 * rest / 2
    level = float(stats.norm.isf(rest / 2))
    if reach > 1.02 * level * error / noise:  # farther than by the variance alone: then no farther than needed
        assert missed >= 0.95 * rest / 2
    assert high[0] == pytest.approx(level * error, rel=0.02)


@pytest.mark.theorem("CollidedSupport.accuracy")
@pytest.mark.parametrize("rest", [0.05, 1e-3, 1e-8])
@pytest.mark.parametrize(("rows", "collision"), [(1, 1 / 2257), (4, 1 / 2257), (16, 1 / 31), (128, 1 / 1093)])
@pytest.mark.parametrize("squares", [0.2, 0.02])
def test_intervals_reach_as_far_as_the_collisions_of_any_number_of_equal_keys(
    squares: float, rows: int, collision: float, rest: float
) -> None:
    support = collided(rows, collision, squares)
    low, _ = support.interval(rest, Target.TABLE)
    (noise,) = Support(support.counts, support.people, support.preference, support.shared).standard_errors()
    for keys in range(1, int(1 / squares) + 1):
        jump = math.sqrt(squares / keys) / (rows * (1 - collision)) / noise
        meetings = np.arange(min(keys * rows, 200) + 1)
        met = stats.binom.pmf(meetings, keys * rows, collision)
        moved = jump * (meetings - keys * rows * collision)
        assert float(met @ stats.norm.sf(-low[0] / noise - moved)) <= 1.25 * rest / 2


@pytest.mark.theorem("CollidedSupport.accuracy")
def test_a_share_that_may_be_nothing_but_a_collision_reaches_down_to_zero() -> None:
    people = 10**6
    counts = np.array([people // 4 + people // 4 * 9 // 10])  # looks like a frequency of 0.9
    few, many = (
        CollidedSupport(counts, people, Fraction(1, 2), Fraction(1, 4), rows, 0.1, 0.81, 0.81) for rows in (1, 1000)
    )
    assert few.frequencies[0] == pytest.approx(0.9, abs=1e-6)
    assert few.interval(0.05, Target.TABLE)[0][0] < 0.05
    assert few.interval(0.05, Target.TABLE)[1][0] < 0.91
    assert many.interval(0.05, Target.TABLE)[0][0] > 0.88


@pytest.mark.theorem("CollidedSupport.accuracy")
@pytest.mark.parametrize("rest", [1e-3, 1e-15, 1e-60])
@pytest.mark.parametrize(("trials", "chance"), [(1, 0.3), (7, 1e-6), (65_536, 1 / 2000), (500, 0.1)])
def test_the_law_of_collisions_is_complete_up_to_what_is_said_to_be_beyond(
    trials: int, chance: float, rest: float
) -> None:
    found, beyond = _binomial(trials, chance, rest)
    assert found.size <= trials + 1
    assert 0 <= beyond <= rest
    assert found[0] == pytest.approx((1 - chance) ** trials, rel=1e-9)
    assert np.allclose(found, stats.binom.pmf(np.arange(found.size), trials, chance), rtol=1e-6, atol=1e-15)
    assert beyond == pytest.approx(stats.binom.sf(found.size - 1, trials, chance), rel=1e-6)
    if found.size > 1:
        assert stats.binom.sf(found.size - 2, trials, chance) > rest  # no more numbers than needed


def test_intervals_of_any_confidence_are_finite() -> None:
    support = collided(65_536, 1 / 2000, 0.2)
    lows = [float(support.interval(rest, Target.POPULATION)[0][0]) for rest in (0.5, 1e-3, 1e-12, 1e-18, 1e-100)]
    assert all(-0.2 < lower < upper < 0 for upper, lower in itertools.pairwise(lows))


@pytest.mark.theorem("Sketch.accuracy")
def test_intervals_cover_where_many_equal_keys_collide_rarely() -> None:
    """All words and keys are fixed. One heavy key would be met too rarely here to widen a 95 % interval."""
    keys = coins(4).integers(0, 2**64, 2060, dtype=np.uint64)
    counts = np.concatenate([np.full(60, 10_000), np.zeros(2000, dtype=np.int64)])
    sketch = drawn("equal", small(4, 47, 3, 4, keys="integer:64", seed=8), keys, counts)
    assert sketch.estimate(keys).intervals(confidence=0.95).contain(counts / counts.sum()).mean() > 0.95


@pytest.mark.theorem("CollidedSupport.accuracy")
def test_of_all_keys_with_the_same_squares_one_key_has_the_heaviest_upper_tail() -> None:
    def cumulants(frequencies: NDArray[np.float64], t: float) -> float:
        return float(np.sum(np.expm1(t * frequencies) - t * frequencies))

    for t in (0.1, 1.0, 10.0):
        for many in (2, 10, 1000):
            even = np.full(many, math.sqrt(0.2 / many))
            assert cumulants(even, t) <= cumulants(np.array([math.sqrt(0.2)]), t)
            assert cumulants(even, -t) <= 0.1 * t**2


def test_without_other_keys_intervals_are_those_of_the_reports() -> None:
    support = collided(64, 1 / 1093, 0.0)
    plain = Support(support.counts, support.people, support.preference, support.shared)
    assert np.allclose(support.interval(0.05, Target.TABLE), plain.interval(0.05, Target.TABLE))
    low, high = collided(50_000, 1 / 3, 0.2).interval(0.05, Target.POPULATION)
    assert low[0] < 0 < high[0]


def test_taking_out_known_keys_takes_out_their_collisions_exactly() -> None:
    people = 10**12
    for seed in range(10):
        spec = small(Fraction(1), 3, 3, 4, seed=seed)
        sketch = spec.sketch(expected_counts(spec, KEYS, FREQUENCIES, people))
        rest = sketch.without(KEYS[:-1], FREQUENCIES[:-1])
        assert rest.removed == pytest.approx(0.96)
        assert np.allclose(rest.estimate(KEYS).value, given_hashes(spec, [0, 0, 0, 0, 0.04]), atol=1e-9)
        assert rest.estimate(KEYS[-1:]).value[0] == pytest.approx(0.04, abs=1e-9)
        assert np.allclose(sketch.without(KEYS, FREQUENCIES).estimate([*KEYS, 100]).value, 0, atol=1e-9)
        again = sketch.without(KEYS[:2], FREQUENCIES[:2]).without(KEYS[2:4], FREQUENCIES[2:4])
        assert np.allclose(again.estimate(KEYS).value, rest.estimate(KEYS).value, atol=1e-9)


@pytest.mark.theorem("Sketch.accuracy")
@pytest.mark.parametrize("out", [0, 1, 2, 5])
def test_given_the_hashes_the_sum_of_squares_is_off_by_collisions_of_what_is_left_only(out: int) -> None:
    left = np.array(FREQUENCIES)
    left[:out] = 0.0
    for seed in range(5):
        spec = small(Fraction(1), 3, 3, 4, seed=seed)
        sketch = spec.sketch(expected_counts(spec, KEYS, FREQUENCIES, 10**12)).without(KEYS[:out], FREQUENCIES[:out])
        buckets, collision = spec.hash.buckets(spec.items(KEYS)), float(spec.hash.collision)
        meets = (buckets[:, None, :] == buckets[None, :, :]).mean(axis=2)
        wanted = float(left @ meets @ left - collision * left.sum() ** 2) / (1 - collision)
        assert sketch.squares == pytest.approx(min(max(wanted, 0.0), 1.0), abs=1e-9)


@pytest.mark.theorem("Sketch.accuracy")
def test_taking_out_a_key_does_not_take_out_the_noise_of_its_reports() -> None:
    people = 10**6
    spec = small(Fraction(4), 47, 3, 8)
    sketch = spec.sketch(expected_counts(spec, KEYS, FREQUENCIES, people))
    before, rest = sketch.estimate(KEYS), sketch.without(KEYS, FREQUENCIES)
    after = rest.without([100], [0.0]).estimate(KEYS)
    assert rest.squares == pytest.approx(0.0, abs=1e-6)
    for place, frequency in enumerate(FREQUENCIES):
        noise = math.sqrt(spec.variance(people, frequency, 0.0))
        assert after.standard_error[place] == pytest.approx(noise, rel=0.2)
        assert after.standard_error[place] <= before.standard_error[place]
    ends, target = after.intervals(confidence=0.95), 1.96 * after.standard_error
    assert np.all((after.value - ends.low >= 0.98 * target) & (ends.high - after.value >= 0.98 * target))
    assert after.standard_error[0] > 1.5 * after.standard_error[-1]


def test_taking_out_the_truth_leaves_intervals_that_hold_nothing_but_it() -> None:
    """All words and keys are fixed: a key of everybody leaves noise that is 3.5 times that of an absent key."""
    missed = 0
    for seed in range(20):
        sketch = drawn(f"everybody {seed}", small(4, 47, 3, 4, keys="integer:64", seed=seed), [7], [5000])
        ends = sketch.without([7], [1.0]).estimate([7, 8]).intervals(confidence=0.99)
        missed += int((~ends.contain([0.0, 0.0])).sum())
    assert missed <= 1


def test_a_sketch_of_an_aggregator_is_that_of_its_counts_and_of_no_other_spec() -> None:
    spec = small(rows=7)
    collected = spec.aggregator().add(np.arange(spec.cells))
    sketch, bare = spec.sketch(collected), spec.sketch(collected.counts)
    assert np.array_equal(sketch.table, bare.table)
    assert repr(sketch) == f"Sketch(hashed-geometry, keys {spec.keys}, {spec.cells:,} people)"
    other = small(rows=7, seed=spec.seed + 1)
    assert other.cells == spec.cells
    with pytest.raises(InputError, match="another spec"):
        other.sketch(collected)
    for wrong in ("reports", np.ma.masked_array(collected.counts, mask=True)):
        with pytest.raises(InputError, match="collected must be"):
            spec.sketch(wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"spec\.sketch\(aggregator\)"):
        collected.estimate()


def test_what_is_taken_out_is_right_to_one_report_over_all_rows() -> None:
    spec = small(rows=7)
    sketch = spec.sketch(np.full(spec.cells, 10))
    gap = float(spec.preference - spec.elsewhere)
    for frequency in (0.1, 1 / 3, 0.77):
        taken = (sketch.table - sketch.without([3], [frequency]).table).sum()
        assert abs(taken - frequency * sketch.people * gap) <= 0.5


def test_peeling_brings_the_error_back_to_that_of_the_reports() -> None:
    """All words and keys are fixed."""
    keys = coins(2).integers(0, 2**64, 3000, dtype=np.uint64)
    counts = np.concatenate([[60_000, 30_000], np.full(2998, 5)])
    spec = small(3, 19, 3, 16, keys="integer:64", seed=1)
    sketch = drawn("peeling", spec, keys, counts)
    heavy = sketch.estimate(keys[:2])
    rest = sketch.without(keys[:2], heavy.value)
    truth = counts[2:] / counts.sum()
    before, after = (float(np.mean((one.estimate(keys[2:]).value - truth) ** 2)) for one in (sketch, rest))
    assert before > 3 * after
    assert after == pytest.approx(spec.variance(sketch.people, 0.0, 0.0), rel=0.2)
    assert rest.squares < 0.01 < sketch.squares


@pytest.mark.needs("numba")
def test_the_compiled_look_up_and_the_plain_one_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = small(rows=9)
    sketch = spec.sketch(coins(3).integers(0, 1000, spec.cells))
    words = spec.items(list(range(256)))
    fast = sketch.support(words)
    monkeypatch.setattr(hashing, "available", lambda: False)
    assert np.array_equal(fast, sketch.support(words))
    counts = np.zeros(spec.cells, dtype=np.int64)
    counts[spec.preferred(17)] = 1
    assert spec.sketch(counts).support(spec.items([17])).tolist() == [spec.inside]


def test_texts_are_counted_end_to_end() -> None:
    spec = HashedGeometry.best(epsilon=4, people=30_000, keys=TextKeys(20), seed=9)
    texts = ["north", "süd", "日本", ""]
    with swapped(Stream("texts")):
        batch = spec.client().batch(np.repeat(np.array(texts), [15_000, 9_000, 5_000, 1_000]))
    aggregator = spec.aggregator().add(batch)
    found = spec.sketch(aggregator.counts).estimate([*texts, "nowhere"])
    assert found.labels == (*texts, "nowhere")
    assert np.allclose(found.value, [0.5, 0.3, 1 / 6, 1 / 30, 0.0], atol=0.02)
    assert found.of("süd").value == pytest.approx(0.3, abs=0.02)
    assert [str(label) for label in found.top(3).labels] == texts[:3]


def test_labels_are_the_keys_however_they_are_given() -> None:
    sketch = small(keys="text:4").sketch(np.ones(14, dtype=np.int64))
    for keys in (["a", "b", "a"], ("a", "b", "a"), np.array(["a", "b", "a"]), np.array([b"a", b"b", b"a"])):
        found = sketch.estimate(keys)
        assert found.labels == ("a", "b", "a")
        assert found.value[0] == found.value[2]
    numbers = small().sketch(np.ones(14, dtype=np.int64)).estimate(range(3)).labels
    assert numbers == (0, 1, 2)
    assert all(type(label) is int for label in numbers)


def test_one_person_derives_one_row_however_many_a_hostile_spec_has(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def counted(*places: int) -> int:
        asked.append(places[2])
        return constant(*places)

    constant = hashing.constant
    monkeypatch.setattr(hashing, "constant", counted)
    spec = small(keys="text:1024", rows=1 << 16)
    report = spec.client().report("a")
    assert set(asked) == {report // spec.geometry.points}
    assert len(asked) == spec.kind.words + 4


def test_a_client_refuses_what_is_no_key_and_can_still_report() -> None:
    client = small(keys="text:4").client()
    for wrong in ("secret\0", "too long a secret", 5, None, b"a", "\udfff"):
        with pytest.raises(InputError) as refused:
            client.report(wrong)
        assert "secret" not in str(refused.value)
        assert refused.value.__context__ is None
    assert client.report("good") in range(14)
    with pytest.raises(StreamSpent):
        client.report("good")


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
@pytest.mark.parametrize("people", [1, 10_000, 1_000_000, 10**9])
def test_the_rule_buys_rows_until_collisions_cost_little_or_the_table_is_full(people: int, epsilon: Any) -> None:
    spec = HashedGeometry.best(epsilon=epsilon, people=people, keys="integer:64", seed=1)
    assert spec.cells <= 1 << 22
    assert spec.rows >= 16
    assert spec.variance(people, 0.0, 0.0) <= 1.05 * spec.optimum(people)
    full = spec.cells + spec.geometry.points > 1 << 22
    if not full:
        assert spec.variance(people, 0.0, 0.2) <= 1.1 * spec.optimum(people)
    if people == 10**9:
        assert full
    assert HashedGeometry.best(epsilon=1, people=people, keys="integer:64", seed=1, largest=20_000).cells <= 20_000


@pytest.mark.parametrize(
    ("epsilon", "people", "chosen"),
    [(1, 10_000, (3, 7, 16)), (1, 10**6, (3, 7, 1024)), (4, 10**6, (47, 3, 1858)), (6, 10**6, (353, 3, 33))],
)
def test_the_rule_chooses_what_the_page_says(epsilon: int, people: int, chosen: tuple[int, int, int]) -> None:
    spec = HashedGeometry.best(epsilon=epsilon, people=people, keys="integer:64", seed=1)
    assert (spec.prime, spec.dimension, spec.rows) == chosen


def test_the_rule_asks_for_what_it_needs() -> None:
    with pytest.raises(MissingParameter):
        HashedGeometry.best(epsilon=1, people=10, keys=None)  # type: ignore[arg-type]
    with pytest.raises(ParameterError):
        HashedGeometry.best(epsilon=1, people=0, keys="integer:8")
    with pytest.raises(ParameterError):
        HashedGeometry.best(epsilon=1, people=10, keys="integer:8", largest=100)
    for largest in (1e6, True, None, -5):
        with pytest.raises(ParameterError):
            HashedGeometry.best(epsilon=1, people=10, keys="integer:8", largest=largest)  # type: ignore[arg-type]
    with pytest.raises(ParameterError):
        HashedGeometry.best(epsilon=1, people=10, keys=5)  # type: ignore[arg-type]
    assert HashedGeometry.best(epsilon=20, people=10**400, keys="integer:8", seed=1).cells <= 1 << 22
    seeds = {HashedGeometry.best(epsilon=1, people=10, keys="integer:8").seed for _ in range(3)}
    assert len(seeds) == 3


@pytest.mark.parametrize("seed", [0, 2**53 - 1, 2**53, 2**256 - 1])
def test_a_spec_is_read_back_with_any_seed(seed: int) -> None:
    spec = small(Fraction(3, 2), seed=seed, purpose=4)
    again = Spec.from_json(spec.to_json())
    assert again == spec
    assert isinstance(again, HashedGeometry)
    assert again.seed == seed
    assert again.hash.purpose == 4


@pytest.mark.parametrize(
    "change",
    [
        {"seed": "-1"},
        {"seed": "٣"},
        {"seed": "9" * 90},
        {"seed": 1.0},
        {"rows": 0},
        {"rows": True},
        {"rows": 1 << 17},
        {"keys": "text:0"},
        {"keys": 5},
        {"prime": 4},
        {"dimension": 1},
        {"purpose": -1},
        {"labels": ["a"]},
    ],
)
def test_a_spec_with_other_parameters_is_refused(change: dict[str, Any]) -> None:
    whole = json.loads(small().to_json()) | change
    with pytest.raises(ParameterError):
        Spec.from_json(json.dumps(whole))


def test_other_purposes_are_other_hashes() -> None:
    one, other = small(purpose=1), small(purpose=2)
    assert one.digest != other.digest
    assert isinstance(one.hash, PublicHash)
    assert not np.array_equal(one.hash.constants, other.hash.constants)


def test_keys_cannot_be_counted_or_listed() -> None:
    spec = small()
    assert not hasattr(spec, "category_count")
    with pytest.raises(ParameterError, match="name them"):
        spec.aggregator().add([1, 2]).estimate()


def test_histograms_and_shares_of_another_shape_are_refused() -> None:
    spec = small()
    wrong: list[Any] = [np.zeros(3, dtype=np.int64), np.zeros(spec.cells), np.zeros((2, 7), dtype=np.int64)]
    wrong += [np.arange(spec.cells) - 1, np.full(spec.cells, 2**62), np.full(spec.cells, 2**63, dtype=np.uint64)]
    for counts in wrong:
        with pytest.raises(InputError):
            spec.sketch(counts)
    sketch = spec.sketch(np.ones(spec.cells, dtype=np.int64))
    for frequencies in ([0.1, 0.2], [math.nan], [math.inf], [1e300], ["much"], [None], 0.1):
        with pytest.raises(InputError):
            sketch.without([5], frequencies)
    with pytest.raises(InputError, match="at least one key"):
        sketch.estimate([])
    with pytest.raises(InputError):
        spec.sketch(np.zeros(spec.cells, dtype=np.int64)).estimate([5])


def test_one_hostile_report_gains_what_is_stated() -> None:
    spec = small(Fraction(2), 3, 3, 4)
    counts = np.zeros(spec.cells, dtype=np.int64)
    counts[spec.preferred(5)[0]] = 1
    assert spec.sketch(counts).frequencies(spec.items([5]))[0] == pytest.approx(spec.poisoning_gain, rel=1e-12)
