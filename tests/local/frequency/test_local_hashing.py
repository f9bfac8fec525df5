"""The reference itself keeps its guarantee and its theory, and projective geometry comes to the same error."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from discreet.local.protocol.rational_coin import COIN_TOTAL, coin
from discreet.randomness.rigor import ball, precision
from tests.chances import ALARM
from tests.local.frequency.local_hashing import LocalHashing

EPSILONS = [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4), Fraction(6)]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_number_of_buckets_is_the_rounded_optimum(epsilon: Fraction) -> None:
    growth = math.exp(epsilon)
    best = LocalHashing(epsilon, 100)
    assert best.buckets == round(growth) + 1
    assert best.variance(1) == pytest.approx(
        (growth + best.buckets - 1) ** 2 / ((best.buckets - 1) * (growth - 1) ** 2), rel=1e-12
    )
    others = [LocalHashing(epsilon, 100, best.buckets + step) for step in (-1, 1) if best.buckets + step >= 2]
    assert all(best.variance(1) <= other.variance(1) for other in others)


@pytest.mark.parametrize("epsilon", EPSILONS[:3])
def test_with_all_functions_as_hashes_the_law_is_private_and_pure(epsilon: Fraction) -> None:
    hashing = LocalHashing(epsilon, 3)
    laws = [hashing.law(item) for item in range(3)]
    with precision(256):
        bound = ball(epsilon).exp()
        for report in laws[0]:
            masses = [law[report] for law in laws]
            assert ball(max(masses) / min(masses)) <= bound
    for held, law in enumerate(laws):
        assert sum(law.values()) == 1
        for asked in range(3):
            supporting = sum(mass for report, mass in law.items() if report[asked] == report[-1])
            assert supporting == (hashing.preference if asked == held else hashing.shared)


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(3)])
def test_real_reports_support_values_as_often_as_the_theory_says(epsilon: Fraction) -> None:
    hashing, people = LocalHashing(epsilon, 8), 20_000
    support = hashing.support(*hashing.randomize(np.full(people, 5)))
    for item in range(8):
        chance = float(hashing.preference if item == 5 else hashing.shared)
        # one false alarm in 10^9 for the eight values and both sides together
        assert binom.cdf(support[item], people, chance) > ALARM / 16
        assert binom.sf(support[item] - 1, people, chance) > ALARM / 16
    frequencies = hashing.estimate(support, people)
    assert abs(frequencies[5] - 1) < 8 * math.sqrt(hashing.variance(people, Fraction(1)))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("prime", [2, 3, 7, 53])
def test_in_large_spaces_projective_geometry_has_the_error_of_local_hashing(epsilon: Fraction, prime: int) -> None:
    # The plane of a value holds 1 / q of all points, and of any other plane, as a bucket of q does: the differences
    # are those of finitely many points.
    hashing = LocalHashing(epsilon, 100, prime).variance(1)
    distances = []
    for dimension in (3, 6, 12):
        points, on_plane, common = ((prime**power - 1) // (prime - 1) for power in range(dimension, dimension - 3, -1))
        p = Fraction(coin(epsilon, on_plane, points - on_plane), COIN_TOTAL)
        r = p * common / on_plane + (1 - p) * (on_plane - common) / (points - on_plane)
        distances.append(abs(r * (1 - r) / (p - r) ** 2 / hashing - 1))
    assert distances[0] > distances[1] > distances[2]
    assert distances[2] < Fraction(4, prime ** (12 - 2))
