"""Every report of every protocol, with its exact probability under the real code: no ratio exceeds e^epsilon."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet import local
from discreet.audit import Level, Outcome, audit, goodness_of_fit
from discreet.local import DirectResponse, FrequencyOracle, HybridGeometry
from discreet.local.frequency import geometry
from discreet.local.frequency import geometry as radon
from discreet.local.keys import hashing
from discreet.local.protocol.rational_coin import COIN_TOTAL
from discreet.privacy import PureDP
from discreet.randomness.keystream import words
from discreet.randomness.rigor import ball, precision
from discreet.testing import Check, Subject, conformance_checks
from tests.conftest import Rounds
from tests.local.claims.enumeration import Unscripted, exact_law
from tests.local.claims.protocols import CHOSEN, EPSILONS, MEANS, SMALL, values_of

EVERY = 100  # more than any of the small protocols has
KEYS = {"hashed", "heavy hitters"}  # their estimates average over the seed of the hash
ALL = [pytest.param(make, epsilon, id=f"{name}, {epsilon}") for name, make in SMALL.items() for epsilon in EPSILONS]
LISTED = [
    pytest.param(make, epsilon, id=f"{name}, {epsilon}")
    for name, make in SMALL.items()
    if name not in KEYS
    for epsilon in EPSILONS
]
NUMBERS = [pytest.param(name, epsilon, id=f"{name}, {epsilon}") for name in MEANS for epsilon in EPSILONS]
BEST = [pytest.param(make, epsilon, id=f"{name}, {epsilon}") for name, make in CHOSEN.items() for epsilon in EPSILONS]
ONE_EACH = [SMALL[name] for name in ("seven answers", "one bit of 5", "a plane of 13", "two planes", "hashed")]
Make = Callable[[Fraction], FrequencyOracle]


@cache
def enumerated(make: Make, epsilon: Fraction, most: int) -> dict[int, list[Fraction]]:
    """The exact law of the reports of every value, or of so many, found by following the real sampler."""
    spec = make(epsilon)
    values = values_of(spec)
    few = sorted({values[place * (len(values) - 1) // (most - 1)] for place in range(most)})
    found = {item: exact_law(spec.randomize, spec.items([item])) for item in few}
    assert all(set(law) <= set(range(spec.cells)) for law in found.values())
    return {item: [law.get(report, Fraction(0)) for report in range(spec.cells)] for item, law in found.items()}


@pytest.fixture
def most(rounds: Rounds, epsilon: Fraction) -> int:
    """How many values are followed: all at one epsilon, since only the coin depends on it, and in the soak at all."""
    return rounds(sample=EVERY if epsilon == 1 else 7, full=EVERY)


def weights_of(spec: FrequencyOracle) -> NDArray[np.float64]:
    """What one report of each kind does to the estimate of each value, by the real decoding."""
    return np.array([spec.estimate(counts, 1).value for counts in np.eye(spec.cells, dtype=np.int64)])


@pytest.mark.theorem("FrequencyOracle.privacy")
@pytest.mark.theorem("OneBitHadamard.privacy")
@pytest.mark.theorem("ProjectiveGeometry.privacy")
@pytest.mark.theorem("HybridGeometry.privacy")
@pytest.mark.theorem("HashedGeometry.privacy")
@pytest.mark.theorem("HeavyHitters.privacy")
@pytest.mark.theorem("Randomizer.privacy")
@pytest.mark.theorem("DirectResponse.privacy")
@pytest.mark.parametrize(("make", "epsilon"), ALL)
def test_no_report_is_more_than_e_to_the_epsilon_times_as_likely(make: Make, epsilon: Fraction, most: int) -> None:
    laws = enumerated(make, epsilon, most).values()
    largest = max(max(masses) / min(masses) for masses in zip(*laws, strict=True))
    with precision(256):
        assert ball(largest) <= ball(epsilon).exp()  # holds for every number in both balls, or not at all
        assert ball(largest).log() >= ball(Fraction(99, 100) * epsilon)


@pytest.mark.parametrize(("make", "epsilon"), ALL)
def test_the_real_sampler_has_exactly_the_stated_law(make: Make, epsilon: Fraction, most: int) -> None:
    spec = make(epsilon)
    for item, law in enumerated(make, epsilon, most).items():
        assert law == list(spec.law(item).probabilities)


@pytest.mark.parametrize("name", ["a plane of 13", "two planes", "hashed", "heavy hitters"])
def test_without_compiled_loops_the_law_is_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (geometry, hashing, radon):
        monkeypatch.setattr(module, "available", lambda: False)
    spec = SMALL[name](Fraction(2))
    for item in values_of(spec):
        law = exact_law(spec.randomize, spec.items([item]))
        assert [law.get(report, Fraction(0)) for report in range(spec.cells)] == list(spec.law(item).probabilities)


@pytest.mark.theorem("ScalarMean.privacy")
@pytest.mark.theorem("DuchiBit.privacy")
@pytest.mark.theorem("HybridMean.privacy")
@pytest.mark.theorem("UnitVectors.privacy")
@pytest.mark.parametrize(("name", "epsilon"), NUMBERS)
def test_means_have_exactly_the_stated_law_and_no_ratio_above_e_to_the_epsilon(name: str, epsilon: Fraction) -> None:
    make, values = MEANS[name]
    spec = make(epsilon)
    laws = []
    for value in values:
        law = exact_law(spec.randomize, spec.items([value]))
        laws.append([law.get(report, Fraction(0)) for report in range(spec.cells)])
        assert laws[-1] == list(spec.law(value).probabilities)
    largest = max(max(masses) / min(masses) for masses in zip(*laws, strict=True))
    with precision(256):
        assert ball(largest) <= ball(epsilon).exp()
        assert ball(largest).log() >= ball(Fraction(99, 100) * epsilon)
    assert audit(spec.mechanism(), search=0).outcome is Outcome.KEPT


@pytest.mark.parametrize(("make", "epsilon"), BEST)
def test_with_chosen_parameters_a_few_values_have_exactly_the_stated_law(make: Make, epsilon: Fraction) -> None:
    spec = make(epsilon)
    items = (0, spec.category_count - 1)
    laws = [exact_law(spec.randomize, spec.items([item])) if spec.cells <= 40 else None for item in items]
    stated = [spec.law(item).probabilities for item in items]
    for law, masses in zip(laws, stated, strict=True):
        if law is not None:
            assert [law.get(report, Fraction(0)) for report in range(spec.cells)] == list(masses)
    with precision(256):
        for first, second in (stated, stated[::-1]):
            ratio = max(one / other for one, other in zip(first, second, strict=True))
            assert ball(ratio) <= ball(epsilon).exp()
            assert ball(ratio).log() >= ball(Fraction(99, 100) * epsilon)


@pytest.mark.parametrize(("make", "epsilon"), ALL)
def test_the_coin_is_the_largest_that_keeps_the_ratio(make: Make, epsilon: Fraction) -> None:
    spec = make(epsilon)
    inside, outside = spec.inside, spec.cells - spec.inside
    with precision(256):
        bound = ball(epsilon).exp()
        ratios = [Fraction(c * outside, (COIN_TOTAL - c) * inside) for c in (spec.coin, spec.coin + 1)]
        assert ball(ratios[0]) <= bound
        assert ball(ratios[1]) > bound


@pytest.mark.theorem("PureOracle.accuracy")
@pytest.mark.theorem("OneBitHadamard.accuracy")
@pytest.mark.theorem("ProjectiveGeometry.accuracy")
@pytest.mark.theorem("DirectResponse.accuracy")
@pytest.mark.theorem("HybridGeometry.accuracy")
@pytest.mark.parametrize(("make", "epsilon"), LISTED)
def test_estimates_are_unbiased_with_exactly_the_stated_variance(make: Make, epsilon: Fraction) -> None:
    spec = make(epsilon)
    laws = np.array([spec.law(item).probabilities for item in values_of(spec)], dtype=np.float64)
    weights = np.array(
        [spec.estimate(np.eye(spec.cells, dtype=np.int64)[report], 1).value for report in range(spec.cells)]
    )
    means = laws @ weights  # of the estimated frequency of each value, for one person who holds each value
    spread = laws @ weights**2 - means**2
    scale = float(np.abs(weights).max())
    assert np.allclose(means, np.eye(spec.category_count), atol=1e-12 * scale)
    for asked in range(spec.category_count):
        for frequency in (0.0, 0.25, 1.0):
            # the others hold all other values equally often, block by block where there are blocks
            others = np.zeros(spec.category_count)
            if isinstance(spec, HybridGeometry):
                others = _even_over_blocks(spec, asked)
            else:
                others[np.arange(spec.category_count) != asked] = 1 / (spec.category_count - 1)
            found = frequency * spread[asked, asked] + (1 - frequency) * (others @ spread[:, asked])
            assert found == pytest.approx(spec.variance(1, frequency), rel=1e-9, abs=1e-12 * scale**2)
            assert found / 1000 == pytest.approx(spec.variance(1000, frequency), rel=1e-9, abs=1e-15 * scale**2)


def _even_over_blocks(spec: HybridGeometry, asked: int) -> NDArray[np.float64]:
    """Frequencies of the other values in which every block holds the same."""
    blocks = np.arange(spec.category_count) % spec.blocks
    others = np.zeros(spec.category_count)
    for block in range(spec.blocks):
        members = np.flatnonzero((blocks == block) & (np.arange(spec.category_count) != asked))
        others[members] = 1 / (spec.blocks * members.size)
    return others


@pytest.mark.parametrize(("make", "epsilon"), LISTED)
def test_the_largest_weight_of_a_report_is_the_poisoning_gain(make: Make, epsilon: Fraction) -> None:
    spec = make(epsilon)
    assert float(np.max(weights_of(spec))) == pytest.approx(spec.poisoning_gain, rel=1e-9)


@pytest.mark.parametrize(("make", "epsilon"), ALL)
def test_the_exact_audit_agrees(make: Make, epsilon: Fraction) -> None:
    mechanism = make(epsilon).mechanism()
    kept = audit(mechanism)
    assert kept.outcome is Outcome.KEPT
    assert kept.low >= 0.99 * float(epsilon)
    assert audit(mechanism, PureDP(0.99 * float(epsilon))).refuted


@pytest.mark.parametrize("make", ONE_EACH, ids=["answers", "bit", "space", "blocks", "keys"])
def test_the_statistical_audit_agrees(make: Make, rounds: Rounds) -> None:
    spec = make(Fraction(2))
    sure: dict[str, Any] = {"level": Level.STATISTICAL, "confidence": 1 - 1e-9}
    assert not audit(spec.mechanism(), draws=rounds(sample=1000, full=200_000), **sure).refuted
    # the two values that differ most, so that a guarantee of a quarter is refuted with next to certainty
    sets = {value: set(spec.preferred(value).tolist()) for value in values_of(spec)}
    furthest = max(combinations(sets, 2), key=lambda pair: len(sets[pair[0]] - sets[pair[1]]))
    assert audit(spec.mechanism(), PureDP(0.5), neighbors=[furthest], draws=6000, **sure).refuted


@pytest.mark.parametrize("name", SMALL)
def test_many_reports_at_once_follow_the_law(name: str, rounds: Rounds) -> None:
    spec = SMALL[name](Fraction(1))
    items = sorted({0, 1, values_of(spec)[-1]})
    for item in items:
        drawn = spec.client().report_many(np.full(rounds(sample=20_000, full=1_000_000), item))
        assert not goodness_of_fit(spec.law(item), drawn.tolist()).alarm(1e-9 / (len(items) * len(SMALL)))


@pytest.mark.parametrize("name", SMALL)
def test_reports_of_one_batch_do_not_depend_on_each_other(name: str) -> None:
    spec = SMALL[name](Fraction(1))
    people = 30_000
    drawn = spec.client().report_many(np.zeros(people, dtype=np.int64))
    inside = np.isin(drawn, spec.preferred(0))
    p = float(spec.preference)
    both = np.array([np.count_nonzero(inside[:-lag] & inside[lag:]) / (people - lag) for lag in (1, 2, 3, 64)])
    # neighbors agree as independent ones do: 7 standard errors of a mean of dependent pairs
    assert np.all(np.abs(both - p**2) < 7 * np.sqrt(3 * p**2 / people))


@pytest.mark.parametrize("check", conformance_checks(), ids=str)
@pytest.mark.parametrize("make", ONE_EACH, ids=["answers", "bit", "space", "blocks", "keys"])
def test_every_protocol_keeps_the_duties_of_a_mechanism(make: Make, check: Check, rounds: Rounds) -> None:
    spec = make(Fraction(1))
    check(Subject(make=spec.mechanism, inputs=[0, values_of(spec)[-1]], draws=rounds(sample=500, full=2000)))


def test_every_frequency_protocol_is_enumerated() -> None:
    kinds = {type(make(Fraction(1))) for make in SMALL.values()}
    public = [getattr(local, name) for name in local.__all__]
    known = {
        one for one in public if isinstance(one, type) and issubclass(one, FrequencyOracle) and hasattr(one, "protocol")
    }
    assert known <= kinds


def test_the_enumeration_finds_a_wrong_sampler() -> None:
    right = DirectResponse(epsilon=Fraction(1), categories=4)

    class Coin(DirectResponse):
        @property
        def coin(self) -> int:
            return super().coin + 1

    rounded_up = Coin(epsilon=Fraction(1), categories=4)
    law, wrong = (exact_law(spec.randomize, spec.items([0])) for spec in (right, rounded_up))
    assert wrong[0] - law[0] == Fraction(1, COIN_TOTAL)
    with pytest.raises(Unscripted):
        exact_law(lambda items: words(items.size).astype(np.int64), right.items([0]))
