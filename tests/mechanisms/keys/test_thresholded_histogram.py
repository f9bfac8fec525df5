"""Counts for unknown keys: every guarantee against sums over all that small tables can release."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.audit import Level, audit
from discreet.errors import InputError
from discreet.mechanisms import KeyCounts, KeyNoise, ThresholdedHistogram
from discreet.testing.hostile import HOSTILE_VALUES

ADD, CHANGE = dp.Relation.ADD_REMOVE, dp.Relation.CHANGE_ONE
CASES = [
    (kind, keys, relation, epsilon, delta)
    for kind in KeyNoise
    for keys in (1, 2)
    for relation in (ADD, CHANGE)
    for epsilon, delta in ((4, 5e-3), (0.2, 0.3))
    if (kind, epsilon) != (KeyNoise.GAUSSIAN, 0.2) or (keys, relation) == (1, ADD)  # too many joint outcomes to list
]
pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.SenselessParameter")
Atoms = tuple[tuple[float, float], ...]
Moves = tuple[tuple[int, int], ...]


def key_law(histogram: ThresholdedHistogram, count: int) -> dict[int | None, float]:
    """What is released of one key, None if nothing: from the masses of the noise alone."""
    if count == 0:
        return {None: 1.0}
    top = max(histogram.threshold, count) + histogram.noise.half_width(1 - Fraction(1, 10**17)) + 1
    places = np.arange(histogram.threshold, top + 1)
    seen = dict(zip(places.tolist(), histogram.noise.at(count).pmf(places).tolist(), strict=True))
    return {None: 1.0 - math.fsum(seen.values()), **seen}


def key_atoms(histogram: ThresholdedHistogram, first: int, second: int) -> Atoms:
    """Pairs of probabilities of one key's releases on two tables; those of one ratio are added up."""
    p, q = key_law(histogram, first), key_law(histogram, second)
    grouped: Counter[float] = Counter()
    weights: Counter[float] = Counter()
    for outcome in p.keys() | q.keys():
        a, b = p.get(outcome, 0.0), q.get(outcome, 0.0)
        ratio = math.inf if b == 0.0 else round(a / b, 9)
        grouped[ratio] += a
        weights[ratio] += b
    return tuple((grouped[ratio], weights[ratio]) for ratio in grouped)


def hockey_sticks(components: Iterable[Atoms], epsilons: Iterable[float]) -> list[float]:
    """delta(epsilon) of independent keys, by summing over all combinations."""
    p, q = np.ones(1), np.ones(1)
    for atoms in components:
        p = np.outer(p, [a for a, _ in atoms]).ravel()
        q = np.outer(q, [b for _, b in atoms]).ravel()
    return [float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum()) for epsilon in epsilons]


def neighbors(histogram: ThresholdedHistogram) -> Iterator[Moves]:
    """The counts on two tables of all keys that one person moves, other people's counts below, at and above threshold.

    Which key is which does not matter, nor do keys with equal counts. Under change-one some keys gain and some lose.
    """
    others = (0, 1, histogram.threshold - 1, histogram.threshold, histogram.threshold + 3)
    held = [c for size in range(histogram.keys + 1) for c in combinations_with_replacement(others, size)]
    for gained, lost in product(held, held if histogram.relation is CHANGE else [()]):
        moves = (*((c, c + 1) for c in gained), *((c + 1, c) for c in lost))
        yield moves
        yield tuple((b, a) for a, b in moves)


@pytest.mark.theorem("ThresholdedHistogram.privacy")
@pytest.mark.parametrize(("kind", "keys", "relation", "epsilon", "delta"), CASES)
def test_no_small_neighbors_are_told_apart_better_than_guaranteed(
    kind: KeyNoise, keys: int, relation: dp.Relation, epsilon: float, delta: float
) -> None:
    histogram = ThresholdedHistogram(epsilon=epsilon, delta=delta, keys=keys, relation=relation, noise=kind)
    atoms = lru_cache(lambda first, second: key_atoms(histogram, first, second))
    levels = (epsilon, 0.0, epsilon / 2)
    priced = [histogram.loss.delta(level).upper for level in levels]
    worst = np.zeros(len(levels))
    for moves in neighbors(histogram):
        found = hockey_sticks([atoms(a, b) for a, b in moves], levels)
        worst = np.maximum(worst, found)
    assert worst[0] <= delta + 1e-12
    assert np.all(worst <= np.array(priced) + 1e-12)
    if delta < epsilon:
        assert worst[0] >= delta / 50  # the threshold is a whole number


@pytest.mark.theorem("ThresholdedHistogram.privacy")
@pytest.mark.parametrize("keys", [1, 2])
@pytest.mark.parametrize("relation", [ADD, CHANGE])
def test_gaussian_laws_split_as_approximate_zcdp_is_defined(keys: int, relation: dp.Relation) -> None:
    rho, delta = 0.5, 5e-3
    histogram = ThresholdedHistogram(rho=rho, delta=delta, keys=keys, relation=relation)
    assert histogram.guarantee == dp.ZCDP(rho, delta, relation=relation)
    alphas = (1.5, 2.0, 5.0, 20.0)
    laws = lru_cache(lambda count: key_law(histogram, count))
    for moves in neighbors(histogram):
        unnamed = {True: 1.0, False: 1.0}  # chances that no new key is named, on the first and the second table
        divergences = np.zeros(len(alphas))
        for a, b in moves:
            if a and b:
                divergences += [renyi(laws(a), laws(b), alpha) / alpha for alpha in alphas]
            else:
                unnamed[a > 0] *= laws(a or b)[None]
        assert min(unnamed.values()) >= 1 - delta
        assert divergences.max() <= rho + 1e-9


def renyi(p: dict[int | None, float], q: dict[int | None, float], alpha: float) -> float:
    """The Renyi divergence of two laws, on outcomes that are not too unlikely to be computed in floats."""
    both = [(p[place], q[place]) for place in p.keys() & q.keys() if min(p[place], q[place]) > 1e-13]
    return math.log(math.fsum(a**alpha * b ** (1 - alpha) for a, b in both)) / (alpha - 1)


@pytest.mark.theorem("ThresholdedHistogram.loss.privacy")
@pytest.mark.parametrize("kind", KeyNoise)
@pytest.mark.parametrize("relation", [ADD, CHANGE])
@pytest.mark.parametrize("keys", [1, 5])
def test_the_price_keeps_the_guarantee_and_composes_below_it(kind: KeyNoise, relation: dp.Relation, keys: int) -> None:
    histogram = ThresholdedHistogram(epsilon=1, delta=1e-6, keys=keys, relation=relation, noise=kind)
    assert histogram.loss.satisfies(histogram.guarantee)
    assert histogram.loss.delta(1).upper <= 1e-6 * (1 + 1e-9)
    many, guaranteed = (histogram.loss * 30).epsilon(1e-4).upper, (histogram.guarantee.loss * 30).epsilon(1e-4).upper
    assert many <= guaranteed * (1 + 1e-6)
    if keys > 1:
        assert many < 0.75 * guaranteed  # a person's keys are many small losses, not one large one


@pytest.mark.theorem("ThresholdedHistogram.loss.privacy")
@pytest.mark.parametrize("kind", KeyNoise)
@pytest.mark.parametrize("relation", [ADD, CHANGE])
def test_the_price_covers_the_exact_law_at_every_level(kind: KeyNoise, relation: dp.Relation) -> None:
    histogram = ThresholdedHistogram(epsilon=2, delta=1e-3, keys=1, relation=relation, noise=kind)
    for first, second in histogram.neighbors():
        pair = histogram.law(first).pair(histogram.law(second))
        for level in (0.0, 1.0, 2.0):
            assert histogram.loss.delta(level).upper >= max(pair.delta(level).lower, pair.reversed().delta(level).lower)


def test_a_price_by_rho_composes_as_approximate_zcdp() -> None:
    histogram = ThresholdedHistogram(rho=0.01, delta=1e-8, keys=5, relation=ADD)
    loss = histogram.loss
    assert isinstance(loss.guarantee, dp.ZCDP)
    assert loss.guarantee.rho <= 0.01
    assert loss.guarantee.delta <= 1e-8
    assert loss.satisfies(histogram.guarantee)
    budget = dp.privacy_filter(dp.ZCDP(0.02, 1e-7, relation=ADD))
    budget.spend(histogram.guarantee)
    assert (loss * 10).epsilon(1e-5).upper < (histogram.guarantee.loss * 10).epsilon(1e-5).upper * 1.0001


@pytest.mark.parametrize("kind", KeyNoise)
@pytest.mark.parametrize("relation", [ADD, CHANGE])
@pytest.mark.parametrize("keys", [1, 4])
def test_a_key_held_by_one_person_is_named_no_more_often_than_its_share(
    kind: KeyNoise, relation: dp.Relation, keys: int
) -> None:
    delta = 1e-6
    histogram = ThresholdedHistogram(epsilon=1, delta=delta, keys=keys, relation=relation, noise=kind)
    single = histogram.chance(1)
    assert 1 - (1 - Fraction(single.upper)) ** keys <= Fraction(delta)
    assert histogram.chance(0).upper == 0.0
    if kind is not KeyNoise.TRUNCATED_GEOMETRIC:  # its threshold follows from its reach, which is tested with the noise
        lower = float(histogram.noise.sf(histogram.threshold - 3))
        assert 1 - (1 - lower) ** keys > delta


@pytest.mark.theorem("ThresholdedHistogram.accuracy")
@pytest.mark.parametrize("kind", KeyNoise)
def test_named_counts_are_as_close_and_keys_as_likely_as_stated(kind: KeyNoise) -> None:
    histogram = ThresholdedHistogram(epsilon=1, delta=1e-3, keys=1, relation=ADD, noise=kind)
    for count in (1, histogram.threshold - 2, histogram.threshold, histogram.threshold + 10):
        law = key_law(histogram, count)
        assert (
            histogram.chance(count).contains(1.0 - law[None])
            or abs(histogram.chance(count).estimate - (1.0 - law[None])) < 1e-14
        )
        for confidence, number in ((0.5, 1), (0.95, 1), (0.95, 20)):
            width = histogram.error(confidence, count=number)
            off = math.fsum(p for y, p in law.items() if y is not None and abs(y - count) > width)
            assert (1 - off) ** number >= confidence
    far = histogram.threshold + 1000
    for confidence in (0.5, 0.95):
        law, width = key_law(histogram, far), histogram.error(confidence)
        inside = [
            math.fsum(p for y, p in law.items() if y is not None and abs(y - far) <= w) for w in (width - 1, width)
        ]
        assert inside[0] < confidence <= inside[1] + 1e-12


def test_what_leaves_does_not_depend_on_the_order_of_the_input() -> None:
    histogram = ThresholdedHistogram(epsilon=1, delta=1e-6, keys=1, relation=ADD)
    keys = ["b", "a", "é", "e\u0301", "", "Z", "10", "9"]
    for order in (keys, keys[::-1], sorted(keys)):
        released = histogram(dict.fromkeys(order, 10**6))
        assert list(released.keys) == sorted(keys)
        assert all(abs(count - 10**6) < 100 for count in released.counts)


def test_the_form_of_what_leaves_depends_on_named_keys_alone() -> None:
    histogram = ThresholdedHistogram(epsilon=5, delta=1e-9, keys=1, relation=ADD)
    short = histogram((np.array(["ab", "c"]), np.array([5000, 6000])))
    beside_a_secret = histogram((np.array(["ab", "c", "x" * 50]), np.array([5000, 6000, 1])))
    for released in (short, beside_a_secret):
        assert released.keys.dtype == object
        assert [type(key) for key in released.keys] == [str, str]
        assert released.counts.dtype == np.int64
    small, large = ([1, 2], [1, 2, 2**70])
    for numbers in (small, large):
        released = histogram((numbers, np.array([5000, 6000, 1][: len(numbers)])))
        assert [type(key) for key in released.keys] == [int, int]


@pytest.mark.parametrize("kind", KeyNoise)
def test_the_real_output_gives_nothing_away_by_its_form(kind: KeyNoise) -> None:
    histogram = ThresholdedHistogram(epsilon=1, delta=1e-3, keys=1, relation=ADD, noise=kind)
    pairs = [
        ({"a": histogram.threshold, "b": 5}, {"a": histogram.threshold - 1, "b": 5}),
        ({"a": 1, "bbbb": 60}, {"bbbb": 60}),
        ({"a": 1}, {}),
    ]
    verdict = audit(
        lambda table: histogram(table).to_dict(), histogram.guarantee, neighbors=pairs, level=Level.WIRE, draws=1000
    )
    assert verdict.outcome is dp.Outcome.KEPT


def test_keys_of_every_kind_are_told_apart_by_type_and_ordered_by_themselves() -> None:
    histogram = ThresholdedHistogram(epsilon=1, delta=1e-6, keys=1, relation=ADD)
    keys: list[Any] = [2**80, "b", True, 1, 1.0, b"b", (1, "a"), -5, "a", None, 0.5, False]
    released = histogram((keys, [10**4] * len(keys)))
    assert [(type(key), key) for key in released.keys] == [
        (type(None), None),
        (bool, False),
        (bool, True),
        (bytes, b"b"),
        (float, 0.5),
        (float, 1.0),
        (int, -5),
        (int, 1),
        (int, 2**80),
        (str, "a"),
        (str, "b"),
        (tuple, (1, "a")),
    ]
    assert len(released) == len(keys)
    dates = np.array(["2024-05-01", "2023-01-01"], dtype="datetime64[D]")
    assert [str(key) for key in histogram((dates, [10**4, 10**4])).keys] == ["2023-01-01", "2024-05-01"]
    assert [type(key) for key in histogram(([np.int64(3), np.str_("a")], [10**4, 10**4])).keys] == [int, str]


def test_a_key_that_nobody_holds_is_never_named() -> None:
    histogram = ThresholdedHistogram(epsilon=0.5, delta=0.009, keys=1, relation=ADD)
    nobody = dict.fromkeys(range(20_000), 0)
    assert len(histogram(nobody)) == 0
    somebody = dict.fromkeys(range(20_000), 1)
    assert 0 < len(histogram(somebody)) < 0.02 * 20_000


def test_an_empty_table_releases_nothing() -> None:
    histogram = ThresholdedHistogram(epsilon=1, delta=1e-6, keys=1, relation=ADD)
    assert len(histogram({})) == len(histogram(([], np.array([], dtype=np.int64)))) == 0
    assert repr(histogram({})) == "KeyCounts(0 keys)"


def test_truncated_noise_has_the_lowest_threshold_where_little_is_spent() -> None:
    thresholds = {
        kind: ThresholdedHistogram(epsilon=0.1, delta=1e-6, keys=1, relation=ADD, noise=kind).threshold
        for kind in KeyNoise
    }
    assert thresholds[KeyNoise.TRUNCATED_GEOMETRIC] < thresholds[KeyNoise.LAPLACE] < thresholds[KeyNoise.GAUSSIAN]
    many = {
        kind: ThresholdedHistogram(epsilon=0.1, delta=1e-6, keys=100, relation=ADD, noise=kind).threshold
        for kind in KeyNoise
    }
    assert many[KeyNoise.GAUSSIAN] < many[KeyNoise.TRUNCATED_GEOMETRIC] < many[KeyNoise.LAPLACE]


def test_change_one_moves_twice_as_many_counts() -> None:
    for kind, factor in (
        (KeyNoise.LAPLACE, 2.0),
        (KeyNoise.GAUSSIAN, math.sqrt(2)),
        (KeyNoise.TRUNCATED_GEOMETRIC, 2.0),
    ):
        scales = [
            ThresholdedHistogram(epsilon=1, delta=1e-6, keys=3, relation=relation, noise=kind).noise.scale
            for relation in (ADD, CHANGE)
        ]
        assert float(scales[1] / scales[0]) == pytest.approx(factor, rel=1e-3)


def test_released_tables_are_compared_by_type_and_value() -> None:
    one = KeyCounts.ordered(["b", "a"], np.array([1, 2]))
    assert one == KeyCounts.ordered(["a", "b"], np.array([2, 1]))
    assert one != KeyCounts.ordered(["a", "b"], np.array([2, 2]))
    assert KeyCounts.ordered([1], np.array([2])) != KeyCounts.ordered([True], np.array([2]))
    assert one != {"a": 2, "b": 1}
    assert one.to_dict() == {"a": 2, "b": 1}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"ana": 1.0}, "integers"),
        ({"ana": True}, "integers"),
        ({"ana": -1}, "at least 0"),
        ({"ana": 2**62}, "below 2"),
        ({"ana": None}, "integers"),
        ({float("nan"): 3}, "missing"),
        (["ana", "bo"], "mapping"),
        ((["ana"], np.array([1, 2])), "as many"),
        ((["ana", "ana"], np.array([1, 2])), "repeated"),
        ((np.array(["ana", "ana"]), np.array([1, 2])), "repeated"),
        (([["ana"]], np.array([1])), "hashable"),
        ((np.array([["ana"]]), np.array([1])), "mapping"),
        ((np.array(["ana"]), np.array([1.5])), "integers"),
        ((np.array(["ana"]), np.ma.masked_array([1], mask=[True])), "integers"),
        ((np.ma.masked_array(["ana"], mask=[True]), np.array([1])), "mapping"),
        ((np.array([np.datetime64("NaT")]), np.array([1])), "missing"),
        ((np.array(["ana"]), np.array([[1]])), "integers"),
    ],
)
def test_a_bad_table_is_refused_without_being_shown(value: Any, words: str) -> None:
    histogram = ThresholdedHistogram(epsilon=1, delta=1e-6, keys=1, relation=ADD)
    for ask in (histogram, histogram.law, histogram.release):
        with pytest.raises(InputError, match=words) as caught:
            ask(value)
        assert "ana" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None


def test_hostile_pairs_are_refused_in_clear_words_or_answered() -> None:
    histogram = ThresholdedHistogram(epsilon=1, delta=1e-6, keys=1, relation=ADD)
    chained = False
    for value in HOSTILE_VALUES:
        for table in ((value, value), ([value], [1]), (["a"], value), (value, np.array([1]))):
            try:
                histogram(table)
            except InputError as error:
                chained = chained or error.__context__ is not None
    assert not chained
