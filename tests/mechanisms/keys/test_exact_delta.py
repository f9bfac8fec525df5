"""Noise and threshold together: the claimed delta against an enumeration that knows nothing of the closed forms."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dp
from discreet.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.laws.noise import IntegerNoise
from discreet.mechanisms import KeyNoise, ThresholdedHistogram
from discreet.mechanisms.keys.exact_delta import KeysPair, curve
from discreet.privacy.loss import discrete_gaussian_loss, discrete_laplace_loss
from discreet.privacy.pairs import Side

ADD, CHANGE = dp.Relation.ADD_REMOVE, dp.Relation.CHANGE_ONE
STEP = 1e-4
Curves = list[tuple[NDArray[np.float64], int]]


def step_of(noise: IntegerNoise) -> float:
    """Return a step of about 1e-4 of which geometric noise's losses are multiples: their sum may be epsilon itself."""
    rate = 1 / float(noise.scale)
    return STEP if isinstance(noise, DiscreteGaussian | RoundedGaussian) else rate / max(1, round(rate / STEP))


def moved_losses(noise: IntegerNoise, most: int) -> tuple[Curves, float]:
    """Return P's masses over sums of losses of 0 to `most` counts that move by 1, and P's mass of infinite losses."""
    support = noise.support[1]
    reach = math.ceil(14 * float(noise.scale)) + 40 if support is None else support
    places = np.arange(-reach, reach + 2)
    p, q = np.asarray(noise.at(1).pmf(places)), np.asarray(noise.pmf(places))
    infinite = float(p[(q == 0) & (p > 0)].sum())
    both = (p > 0) & (q > 0)
    cells = np.rint(np.log(p[both] / q[both]) / step_of(noise)).astype(int)
    one = np.zeros(cells.max() - cells.min() + 1)
    np.add.at(one, cells - cells.min(), p[both])
    from scipy.signal import fftconvolve

    curves: Curves = [(np.ones(1), 0)]
    for _ in range(most):
        masses, start = curves[-1]
        curves.append((np.maximum(fftconvolve(masses, one), 0.0), start + int(cells.min())))
    return curves, infinite


def enumerated(histogram: ThresholdedHistogram, epsilon: float) -> float:
    """Return the largest delta over all numbers of new keys on both tables, in both directions."""
    keys, named = histogram.keys, histogram.chance(1).estimate
    curves, infinite = moved_losses(histogram.noise, histogram.moved)
    worst = 0.0
    pairs = (
        [(a, 0) for a in range(keys + 1)] + [(0, b) for b in range(keys + 1)]
        if histogram.relation is ADD
        else [(a, b) for a in range(keys + 1) for b in range(keys + 1)]
    )
    if histogram.kind is KeyNoise.TRUNCATED_GEOMETRIC:  # all keys are alike
        pairs, named = [(0, 0)], 0.0
    for a, b in pairs:
        m = histogram.moved - a - b
        masses, start = curves[m]
        kept_p, kept_q = (1 - named) ** a, (1 - named) ** b
        losses = (start + np.arange(len(masses))) * step_of(histogram.noise) + math.log(kept_p / kept_q)
        finite = kept_p * np.sum(masses * np.maximum(-np.expm1(epsilon - losses), 0.0))
        outright = 1 - kept_p * (1 - infinite) ** m
        worst = max(worst, outright + float(finite))
    return worst


CASES = [(kind, keys, epsilon, relation) for kind in KeyNoise for keys in range(1, 6) for epsilon in (0.1, 1, 4)
         for relation in (ADD, CHANGE)]  # fmt: skip
SAMPLE = [case for case in CASES if case[1:3] in ((1, 0.1), (1, 4), (2, 1), (5, 4))]


def check_claim(kind: KeyNoise, keys: int, epsilon: float, relation: dp.Relation) -> None:
    histogram = ThresholdedHistogram(epsilon=epsilon, delta=1e-6, keys=keys, relation=relation, noise=kind)
    claimed = histogram.loss.delta(epsilon).upper
    assert claimed <= 1e-6 * (1 + 1e-9)
    found = enumerated(histogram, epsilon)
    assert 0.97 * claimed <= found <= claimed * (1 + 2e-3)  # losses were rounded to a step of 1e-4
    if kind is KeyNoise.GAUSSIAN:
        assert claimed >= 0.97e-6


@pytest.mark.theorem("ThresholdedHistogram.privacy")
@pytest.mark.theorem("KeysPair.privacy")
@pytest.mark.parametrize(("kind", "keys", "epsilon", "relation"), SAMPLE)
def test_the_enumerated_delta_is_the_claimed_one(
    kind: KeyNoise, keys: int, epsilon: float, relation: dp.Relation
) -> None:
    check_claim(kind, keys, epsilon, relation)


@pytest.mark.soak
@pytest.mark.parametrize(("kind", "keys", "epsilon", "relation"), CASES)
def test_every_enumerated_delta_is_the_claimed_one(
    kind: KeyNoise, keys: int, epsilon: float, relation: dp.Relation
) -> None:
    check_claim(kind, keys, epsilon, relation)


@pytest.mark.parametrize(("keys", "epsilon"), [(1, 1), (10, 1), (1, 4)])
def test_no_scale_allows_a_lower_threshold(keys: int, epsilon: float) -> None:
    histogram = ThresholdedHistogram(epsilon=epsilon, delta=1e-6, keys=keys, relation=ADD, noise=KeyNoise.GAUSSIAN)
    for factor in np.geomspace(0.8, 1.25, 46):
        noise = DiscreteGaussian(histogram.noise.scale * Fraction(float(factor)))
        narrower = KeysPair.of(noise, histogram.threshold - 1, keys=keys, exchanged=False, side=Side.REMOVE)
        assert narrower.delta(float(epsilon)).lower > 1e-6


@pytest.mark.parametrize("moved", [1, 2, 7, 16])
@pytest.mark.parametrize("level", [0.0, 0.3, 1.0, 2.5])
def test_curves_agree_with_the_accountant(moved: int, level: float) -> None:
    for noise, loss in (
        (DiscreteGaussian(3), discrete_gaussian_loss(3)),
        (DiscreteLaplace(4), discrete_laplace_loss(4)),
    ):
        low, high = curve(noise, moved, level)
        known = (loss * moved).delta(level)
        assert low <= known.upper * (1 + 1e-12) + 1e-15
        assert known.lower <= high * (1 + 1e-12) + 1e-15
        assert high - low <= 1e-9 * high + 1e-18


@pytest.mark.parametrize("kind", KeyNoise)
@pytest.mark.parametrize("relation", [ADD, CHANGE])
@pytest.mark.parametrize(
    ("epsilon", "delta", "keys"), [(1e-4, 1e-6, 20), (0.3, 1e-30, 3), (1e-3, 1e-3, 2), (3, 0.2, 9)]
)
def test_prices_at_the_edge_find_a_threshold_that_keeps_them(
    kind: KeyNoise, relation: dp.Relation, epsilon: float, delta: float, keys: int
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some of these prices make little sense, and must hold all the same
        histogram = ThresholdedHistogram(epsilon=epsilon, delta=delta, keys=keys, relation=relation, noise=kind)
    assert histogram.loss.delta(Fraction(str(epsilon))).upper <= delta * (1 + 1e-9)


@pytest.mark.parametrize("exchanged", [False, True])
def test_the_largest_term_is_found_without_looking_at_all(exchanged: bool) -> None:
    noise = DiscreteLaplace(Fraction(9, 2))
    for side in Side:
        pair = KeysPair.of(noise, 40, keys=6, exchanged=exchanged, side=side)
        for level in (0.0, 0.5, 1.0, 1.4):
            every = max(
                pair._term(a, b, pair.moved - a - b, Fraction(level))[1]
                for a in range(pair.new + 1)
                for b in range(pair.other_new + 1)
            )
            found = pair.delta(level)
            assert found.lower <= every * (1 + 1e-9)
            assert every <= found.upper * (1 + 1e-12)


@pytest.mark.parametrize("relation", [ADD, CHANGE])
@pytest.mark.parametrize("kind", KeyNoise)
def test_a_thousand_keys_a_person_need_no_enumeration(kind: KeyNoise, relation: dp.Relation) -> None:
    histogram = ThresholdedHistogram(epsilon=1, delta=1e-6, keys=1000, relation=relation, noise=kind)
    pure = 1 + 1000 * (1 if relation is ADD else 2) * math.log(1000 / 2e-6)
    assert histogram.threshold < pure / 4
    assert histogram.loss.delta(1).upper <= 1e-6 * (1 + 1e-9)


def test_a_price_by_mu_is_gaussian_with_a_delta_for_naming() -> None:
    histogram = ThresholdedHistogram(mu=0.5, delta=1e-7, keys=4, relation=ADD)
    assert histogram.guarantee == dp.GaussianDP(0.5, 1e-7, relation=ADD)
    assert float(histogram.noise.scale) == 4.0
    named = 1 - (1 - Fraction(histogram.chance(1).upper)) ** 4
    before = 1 - (1 - Fraction(histogram.noise.enclosed_tail(histogram.threshold - 2)[0])) ** 4
    assert named <= Fraction(1, 10**7) < before
    normal = dp.GaussianDP(0.5).loss
    for level in (0.0, 0.5, 1.0, 2.0):
        assert histogram.loss.delta(level).upper <= normal.delta(level).upper + 1e-7
