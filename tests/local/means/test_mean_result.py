"""An estimated mean: intervals that hold for every table, however small, and say what they are for."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.local.means.one_bit_and_hybrid import DuchiBit, HybridMean
from discreet.local.means.scalar_mean import LocalMean
from discreet.privacy import Target
from tests.chances import fewest
from tests.conftest import Rounds


def bits(epsilon: Fraction = Fraction(1)) -> DuchiBit:
    return DuchiBit(epsilon=epsilon, bounds=(0, 1))


def _interval(spec: DuchiBit, ones: int, people: int, confidence: float) -> tuple[float, float]:
    estimate = spec.estimate(np.array([people - ones, ones]), people).estimate(confidence)
    return estimate.low, estimate.high


def _ones_law(chances: list[float]) -> np.ndarray:
    law = np.ones(1)
    for chance in chances:
        law = np.convolve(law, [1 - chance, chance])
    return law


@pytest.mark.theorem("LocalMean.accuracy")
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2), Fraction(6)])
@pytest.mark.parametrize("people", [1, 2, 5, 20])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_intervals_of_bits_cover_every_small_table(epsilon: Fraction, people: int, confidence: float) -> None:
    spec = bits(epsilon)
    intervals = [_interval(spec, ones, people, confidence) for ones in range(people + 1)]
    low, slope = float(spec.branches[0].law.unlikely), float(spec.branches[0].law.slope)
    tables = [[i / people] * people for i in range(people + 1)]  # everybody the same
    tables += [[1.0] * i + [0.0] * (people - i) for i in range(people + 1)]  # all at the ends
    tables += [[1.0] * i + [0.3] * (people - i) for i in range(people + 1)]
    for table in tables:
        mean = sum(table) / people
        law = _ones_law([low + slope * value for value in table])
        inside = [ones for ones, (a, b) in enumerate(intervals) if a - 1e-12 <= mean <= b + 1e-12]
        assert law[inside].sum() >= confidence - 1e-9


@pytest.mark.theorem("LocalMean.accuracy")
def test_each_end_misses_unequal_coins_at_most_as_often_as_it_may() -> None:
    spec = bits(Fraction(20))  # nearly no noise: a person with 1 is sure to report 1
    intervals = [_interval(spec, ones, 2, 0.5) for ones in range(3)]
    assert intervals[1][0] <= 1e-6  # Clopper and Pearson would say 0.134 and 0.866
    assert intervals[1][1] >= 1 - 1e-6
    # mean 0.87: one report of 1 has the chance 0.26, above a quarter, so that it must not refute the mean
    assert intervals[1][0] <= 0.87 <= intervals[1][1]
    assert intervals[1][0] <= 0.13 <= intervals[1][1]


@pytest.mark.theorem("LocalMean.accuracy")
@pytest.mark.parametrize("target", list(Target))
def test_few_people_get_the_half_width_that_solves_bernsteins_inequality(target: Target) -> None:
    spec = HybridMean(epsilon=Fraction(6), bounds=(0, 10))
    counts = np.zeros(spec.cells, dtype=np.int64)
    counts[(spec.steps + spec.window) // 2] = 900
    found = spec.estimate(counts, 900)
    interval = found.estimate(0.9, target=target)
    variance = 100 * float(spec.worst if target is Target.TABLE else spec.worst_in_population)
    reach = 10 * max(float(max(spec.decoded)), 1 - float(min(spec.decoded)))
    for half in (interval.high - found.value, found.value - interval.low):
        chance = 2 * math.exp(-900 * half**2 / 2 / (variance + reach * half / 3))
        assert chance == pytest.approx(0.1, rel=1e-6)


@pytest.mark.theorem("LocalMean.accuracy")
@pytest.mark.parametrize("people", [40, 2000])
@pytest.mark.parametrize("target", list(Target))
def test_intervals_of_the_hybrid_hold_at_their_confidence(people: int, target: Target, rounds: Rounds) -> None:
    spec = HybridMean(epsilon=Fraction(2), bounds=(0, 10))
    table = np.linspace(0, 6, people)
    repeats = rounds(sample=200, full=3000)
    hits = 0
    for _ in range(repeats):
        counts = np.bincount(spec.client().report_many(table), minlength=spec.cells)
        estimate = spec.estimate(counts, people).estimate(0.95, target=target)
        hits += estimate.low <= 3 <= estimate.high
    assert hits >= fewest(repeats, 0.95)


@pytest.mark.theorem("LocalMean.accuracy")
def test_few_people_get_a_proven_interval_and_many_the_normal_one() -> None:
    spec = HybridMean(epsilon=Fraction(2), bounds=(0, 10))
    counts = np.zeros(spec.cells, dtype=np.int64)
    counts[spec.cells // 2] = 999
    assert "Bernstein" in spec.estimate(counts, 999).estimate().method
    counts[0] = 1
    assert "normal" in spec.estimate(counts, 1000).estimate().method


def test_the_standard_error_is_that_of_the_decoded_reports() -> None:
    spec = HybridMean(epsilon=Fraction(2), bounds=(0, 10), steps=3)
    reports = [0, 1, 1, 4, 3, 2, 0]
    decoded = np.array([10 * float(spec.decoded[report]) for report in reports])
    found = spec.aggregator().add(reports).estimate()
    assert isinstance(found, LocalMean)
    assert found.value == pytest.approx(decoded.mean(), rel=1e-12)
    assert found.standard_error == pytest.approx(decoded.std(ddof=1) / np.sqrt(7), rel=1e-12)


@pytest.mark.theorem("LocalMean.accuracy")
def test_equal_reports_do_not_make_the_mean_known_exactly() -> None:
    spec = HybridMean(epsilon=Fraction(20), bounds=(0, 1), steps=4, window=1, weight=Fraction(1))
    counts = np.array([0, 5000, 0, 0, 0])  # that all 5000 people with 1/4 report 1 has a chance of 0.999 99
    found = spec.estimate(counts, 5000)
    assert found.standard_error == pytest.approx(float(spec.least / 5000) ** 0.5, rel=1e-12)
    assert found.value < 0.25
    assert found.estimate().low < 0.25 < found.estimate().high


def test_ends_are_rounded_outward() -> None:
    third = DuchiBit(epsilon=Fraction(1), bounds=(0, Fraction(1, 3)))
    assert Fraction(third.aggregator().add([1] * 9).estimate().estimate().high) >= Fraction(1, 3)
    far = HybridMean(epsilon=Fraction(4), bounds=(Fraction(10**15), Fraction(10**15 + 1)))
    inner = [cell for cell, relative in enumerate(far.decoded) if Fraction(1, 5) < relative < Fraction(4, 5)]
    for cell in inner:  # floats lie an eighth apart there, so that some ends would be rounded inward
        reports = np.zeros(far.cells, dtype=np.int64)
        reports[cell] = 10**6
        found = far.estimate(reports, 10**6)
        half, ends = 1.95996 * found.standard_error, found.estimate(0.95)
        assert Fraction(ends.low) - 10**15 <= far.decoded[cell] - Fraction(half)
        assert Fraction(ends.high) - 10**15 >= far.decoded[cell] + Fraction(half)


def test_one_person_has_the_largest_standard_error() -> None:
    spec = HybridMean(epsilon=Fraction(2), bounds=(0, 10))
    assert spec.aggregator().add([0]).estimate().standard_error == pytest.approx(
        10 * float(spec.worst_in_population) ** 0.5
    )


def test_an_interval_contains_its_estimate_be_that_outside_the_range() -> None:
    far = HybridMean(epsilon=Fraction(1, 2), bounds=(0, 100))
    for spec in (bits(), HybridMean(epsilon=Fraction(2), bounds=(0, 1)), far):
        for report in (0, spec.cells - 1):
            for people in (1, 3, 5000):
                found = spec.aggregator().add([report] * people).estimate()
                estimate = found.estimate(0.5)
                assert not spec.bounds[0] <= found.value <= spec.bounds[1]
                assert estimate.low < found.value < estimate.high
                assert estimate.guarantee == spec.guarantee


def test_a_mean_is_a_number_and_shows_itself() -> None:
    found = bits().aggregator().add([1] * 600 + [0] * 400).estimate()
    assert float(found) == found.value
    html = found._repr_html_()
    assert "1,000 people" in html
    assert found.estimate()._repr_html_() in html


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1.0, 2.0, float("nan"), True, "0.95"])
def test_a_confidence_lies_between_0_and_1(confidence: float) -> None:
    with pytest.raises(ParameterError):
        bits().aggregator().add([1]).estimate().estimate(confidence)
