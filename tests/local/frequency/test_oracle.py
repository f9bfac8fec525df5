"""What all frequency oracles share, on the simplest of them: the price, the moments and the gain of a poisoner."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas
import pytest

from discreet.errors import InputError, ParameterError
from discreet.local import DirectResponse, FrequencyOracle, OneBitHadamard, ProjectiveGeometry
from discreet.privacy import PureDP, Relation
from discreet.randomness.rigor import ball, precision

SMALL: list[FrequencyOracle] = [
    DirectResponse(epsilon=Fraction(1), categories=3),
    DirectResponse(epsilon=Fraction(1, 10), categories=2),
    OneBitHadamard(epsilon=Fraction(1, 2), categories=5),
    ProjectiveGeometry.best(epsilon=Fraction(1), categories=9),
]


@pytest.mark.theorem("FrequencyOracle.privacy")
@pytest.mark.parametrize("spec", SMALL, ids=repr)
def test_every_output_has_one_of_two_probabilities_whose_ratio_is_at_most_e_to_the_epsilon(
    spec: FrequencyOracle,
) -> None:
    for value in range(spec.category_count):
        assert set(spec.law(value).probabilities) <= {spec.likely, spec.unlikely}
        assert len(set(spec.preferred(value).tolist())) == spec.inside
    assert spec.likely > spec.unlikely
    with precision(512):
        assert ball(spec.likely / spec.unlikely).log() <= ball(spec.epsilon)
    assert spec.guarantee == PureDP(spec.guarantee.epsilon, relation=Relation.CHANGE_ONE)
    assert Fraction(spec.guarantee.epsilon) >= spec.epsilon


@pytest.mark.theorem("FrequencyOracle.privacy")
@pytest.mark.parametrize("spec", SMALL, ids=repr)
def test_the_price_covers_every_pair_of_values(spec: FrequencyOracle) -> None:
    loss = spec.loss
    for first, second in product(range(spec.category_count), repeat=2):
        if first != second:
            pair = spec.law(first).pair(spec.law(second))
            for epsilon in (0.0, 0.2, 0.9):
                assert loss.delta(epsilon).upper >= pair.delta(epsilon).lower


@pytest.mark.theorem("PureOracle.accuracy")
@pytest.mark.parametrize("people", [[0], [1, 1], [0, 0, 1, 2, 2, 2, 2]])
def test_estimates_are_unbiased_with_the_stated_variance_by_exact_enumeration(people: list[int]) -> None:
    spec = DirectResponse(epsilon=Fraction(1), categories=3)
    p, r = spec.preference, spec.shared
    for value in range(3):
        wanted = set(spec.preferred(value).tolist())
        hits = [sum(m for y, m in enumerate(spec.law(one).probabilities) if y in wanted) for one in people]
        frequency = Fraction(people.count(value), len(people))
        mean, variance = sum(hits), sum(hit * (1 - hit) for hit in hits)
        assert (mean / len(people) - r) / (p - r) == frequency
        stated = (frequency * p * (1 - p) + (1 - frequency) * r * (1 - r)) / (len(people) * (p - r) ** 2)
        assert variance / (len(people) * (p - r)) ** 2 == stated
        assert spec.variance(len(people), float(frequency)) == pytest.approx(float(stated), rel=1e-12)


@pytest.mark.parametrize("spec", SMALL, ids=repr)
def test_one_hostile_report_gains_what_is_printed_and_no_more(spec: FrequencyOracle) -> None:
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 50, spec.cells)
    people = int(counts.sum())
    before = spec.estimate(counts, people).value * people
    gains = []
    for report in range(spec.cells):
        counts[report] += 1
        gains.append(np.max(spec.estimate(counts, people + 1).value * (people + 1) - before))
        counts[report] -= 1
    assert max(gains) == pytest.approx(spec.poisoning_gain, rel=1e-9)
    assert spec.poisoning_gain >= 1


def test_laws_are_listed_for_a_bounded_number_of_outputs() -> None:
    with pytest.raises(ParameterError, match="2\\^16"):
        DirectResponse(epsilon=Fraction(1), categories=(1 << 16) + 1).law(0)


NAMED = DirectResponse(epsilon=Fraction(1), categories=("tea", "coffee", "water"))


@pytest.mark.parametrize("spec", SMALL, ids=repr)
@pytest.mark.parametrize("item", ["x", 10_000, -1, None, 0.5, True, np.timedelta64(1)], ids=repr)
def test_there_is_no_law_of_what_is_no_value_and_the_error_does_not_show_it(spec: FrequencyOracle, item: Any) -> None:
    with pytest.raises(InputError, match=f"an int from 0 to {spec.category_count - 1}; nothing") as caught:
        spec.law(item)
    assert caught.value.__context__ is None


def test_a_law_is_that_of_a_value_or_of_its_label() -> None:
    assert NAMED.law("coffee").probabilities == NAMED.law(1).probabilities == NAMED.law(np.int8(1)).probabilities
    for item in (9, "x"):
        with pytest.raises(InputError, match="or the name of a category"):
            NAMED.preferred(item)


@pytest.mark.parametrize("people", [0, -1, 1.5, "x", None, True, np.timedelta64(3)], ids=repr)
def test_a_variance_is_of_at_least_one_person(people: Any) -> None:
    with pytest.raises(ParameterError, match="an int of at least 1"):
        NAMED.variance(people)
    with pytest.raises(ParameterError, match="an int of at least 1"):
        NAMED.optimum(people)


@pytest.mark.parametrize("frequency", [-0.1, 1.1, float("nan"), "x", None])
def test_a_variance_is_of_a_share_from_0_to_1(frequency: Any) -> None:
    with pytest.raises(ParameterError, match="frequency"):
        NAMED.variance(10, frequency)


def test_a_histogram_may_be_a_list() -> None:
    assert NAMED.estimate([1, 2, 3], 6).value.tolist() == NAMED.estimate(np.array([1, 2, 3]), 6).value.tolist()


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([1, 2], "3 whole numbers"),
        ([1, 2, 3, 0], "3 whole numbers"),
        ([1.0, 2.0, 3.0], "3 whole numbers"),
        ([7, -1, 0], "3 whole numbers"),
        ([True, True, True], "3 whole numbers"),
        ([[1, 2, 3]], "3 whole numbers"),
        ([1, [2], 3], "3 whole numbers"),
        ([10**30, 0, 0], "3 whole numbers"),
        ([(1 << 63) - 1, (1 << 63) - 1, 8], "3 whole numbers"),
        ("123", "3 whole numbers"),
        (None, "3 whole numbers"),
        (np.ma.masked_array([1, 2, 3], mask=[True, False, False]), "3 whole numbers"),
        ([1, 2, 4], "sum of the counts"),
    ],
)
def test_counts_that_are_no_histogram_of_the_people_are_refused(counts: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        NAMED.estimate(counts, 6)


def test_labels_may_be_an_array_or_a_series() -> None:
    names = ["tea", "coffee", "water"]
    for labels in (np.array(names), list(np.array(names)), np.array(names, dtype=object), pandas.Series(names)):
        spec = DirectResponse(epsilon=Fraction(1), categories=labels)
        assert spec == NAMED
        assert all(type(label) is str for label in spec.labels)
    for labels in (np.array([names]), np.array([1, 2, 3]), "tea", {"tea": 1}):
        with pytest.raises(ParameterError, match="categories must be"):
            DirectResponse(epsilon=Fraction(1), categories=labels)
