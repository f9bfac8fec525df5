"""Compositions on Poisson samples: narrow at every rate, and never beyond what is true."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet import privacy
from discreet.privacy import ApproxDP, PrivacyLoss, Relation, gaussian_loss, subsample
from discreet.privacy.accounting.lattice import enclose_epsilon
from discreet.privacy.pairs import Side
from tests.privacy.accounting.finite import curve_of, table
from tests.privacy.accounting.references import ball
from tests.privacy.accounting.subsampled import Subsampled, subsampled

ADD_REMOVE = Relation.ADD_REMOVE
MILLIONTH = 1e-6
HALVES = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)), (Fraction(1, 5), Fraction(3, 10), Fraction(1, 2))


def _sampled_gaussian(scale: float, rate: float, steps: int) -> PrivacyLoss:
    return subsample(gaussian_loss(scale, relation=ADD_REMOVE), rate=rate) * steps


@pytest.mark.parametrize(
    ("loss", "delta", "low", "high"),
    [
        (_sampled_gaussian(0.6, 1e-4, 130_000), 1e-4, 0.4505, 0.46525),
        (_sampled_gaussian(1, 0.01, 10_000), 1e-5, 6.18771238, 6.1877124),
        pytest.param(
            Subsampled("integer Gaussian", 1, 1e-3, 10, 1e-6).loss(), 1e-6, 0.0387193, 0.0389094, marks=pytest.mark.soak
        ),
        (Subsampled("Laplace", 1.57, 3.704e-4, 14_112, 1e-8).loss(), 1.05e-8, 0.121200, 0.121520),
    ],
)
def test_small_rates_are_priced_to_a_millionth(loss, delta, low, high):
    found = loss.epsilon(delta)
    assert found.width <= MILLIONTH * found.upper
    assert low <= found.lower
    assert found.upper <= high


def test_an_infinite_mass_beside_a_density_is_priced_to_a_millionth():
    found = (gaussian_loss(1) + ApproxDP(0, 0.01).loss).epsilon(0.02)
    assert found.width <= MILLIONTH * found.upper
    inner = gaussian_loss(1).epsilon((Fraction(2, 100) - Fraction(1, 100)) / Fraction(99, 100))
    assert found.lower <= inner.upper
    assert inner.lower <= found.upper


@pytest.mark.parametrize("rate", [Fraction(1, 10_000), Fraction(1, 100), Fraction(9, 10)])
@pytest.mark.parametrize("steps", [1, 3, 25])
@pytest.mark.parametrize("side", list(Side))
def test_samples_of_a_table_agree_with_all_outcomes_counted(rate, steps, side):
    p, q = HALVES
    loss = subsample(privacy.table_loss(p, q, relation=ADD_REMOVE), rate=rate) * steps
    mixed = [(1 - rate) * b + rate * a for a, b in zip(p, q, strict=True)]
    # a table's directions: the person is in the first law
    laws = (mixed, q) if side is Side.REMOVE else (q, mixed)
    curve = curve_of(table(*laws, steps))
    one_way = loss.remove if side is Side.REMOVE else loss.add
    for share in (0.1, 0.4, 0.8):
        level = float(Fraction(one_way.max_loss().upper) * Fraction(share))
        found = one_way.delta(level)
        truth = curve(level)
        assert not truth < ball(found.lower)
        assert not truth > ball(found.upper)
        assert found.width <= 1e-5 * found.upper


def test_both_engines_meet_on_random_samples(rounds):
    for case in subsampled(rounds(sample=5, full=400), seed=11):
        loss = case.loss()
        if case.steps == 1:
            continue
        for side in Side:
            found = (loss.remove if side is Side.REMOVE else loss.add).epsilon(case.delta, tolerance=1e-3)
            pairs = [(loss.parts[0][0].towards(side)[0], case.steps)]
            other = enclose_epsilon(pairs, case.delta, tolerance=max(1e-2 * found.upper, 1e-9))
            assert max(found.lower, other.lower) <= min(found.upper, other.upper), str(case)


@pytest.mark.soak
def test_one_random_sample_in_a_hundred_is_wider_than_a_millionth():
    wide = []
    for case in subsampled(2000):
        found = case.loss().epsilon(case.delta)
        if found.width > MILLIONTH * found.upper:
            wide.append(f"{case}: {found} ({found.width / found.upper:.1e})")
    assert len(wide) <= 20, "\n".join(wide)
