"""The lemma of location pairs: a half-line attains the divergence, the largest shift prices all smaller ones."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import flint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from discreet.errors import ParameterError
from discreet.laws import DiscreteGaussian, DiscreteLaplace, LocationPair, RoundedGaussian
from tests.laws.agreement import DIGITS, arb, encloses, gaussian_mass, laplace_mass, rounded_mass
from tests.randomness.sources import within

MASSES = {DiscreteLaplace: laplace_mass, DiscreteGaussian: gaussian_mass, RoundedGaussian: rounded_mass}
kinds = pytest.mark.parametrize("kind", MASSES, ids=lambda kind: kind.__name__)
EPSILONS = [Fraction(-3), -1.7, -1, Fraction(-1, 3), -1e-9, 0, 1e-9, 0.1, Fraction(1, 3), 0.5, 1, 1.5, 2, 5, 20]


@lru_cache(maxsize=64)
def atoms(kind, scale: Fraction, shift: int) -> list[tuple[flint.arb, flint.arb]]:
    """Return P and Q at every outcome that matters, from the definition: all but 1e-40 of the mass."""
    with flint.ctx.workprec(DIGITS):
        far = math.ceil((100 if kind is DiscreteLaplace else 16) * scale) + shift + 3
        return [(MASSES[kind](scale, y - shift), MASSES[kind](scale, y)) for y in range(-far, far + 1)]


def brute_delta(kind, scale: Fraction, shift: int, epsilon) -> flint.arb:
    """Add max(0, P - e^epsilon Q) up over all outcomes; what is left out is below 1e-40."""
    with flint.ctx.workprec(DIGITS):
        factor = arb(epsilon).exp()
        gaps = (p - factor * q for p, q in atoms(kind, scale, shift))
        total = sum((gap for gap in gaps if gap > 0), arb(0))
        return total.union(total + arb(Fraction(1, 10**40)))


@kinds
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(2), Fraction(3.7)], ids=str)
@pytest.mark.parametrize("shift", [1, 2, 3, 7])
def test_delta_is_the_sum_over_the_support(kind, scale, shift):
    pair = kind(scale, center=shift).pair(kind(scale))
    for epsilon in EPSILONS:
        delta = pair.delta(epsilon)
        with flint.ctx.workprec(DIGITS):
            assert encloses(delta, brute_delta(kind, scale, shift, epsilon)), epsilon
        assert delta.width <= 1e-12 * delta.upper or delta.upper < 1e-38


@kinds
@given(scale=st.fractions(Fraction(1, 4), 4), shift=st.integers(1, 6), epsilon=st.fractions(-4, 6))
def test_delta_is_the_sum_over_the_support_for_any_parameters(kind, scale, shift, epsilon):
    pair = LocationPair(kind(scale), shift=shift)
    with flint.ctx.workprec(DIGITS):
        assert encloses(pair.delta(epsilon), brute_delta(kind, scale, shift, epsilon))


@kinds
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(10), Fraction(1000), Fraction(2**40)], ids=str)
def test_a_larger_shift_has_a_larger_delta(kind, scale):
    step = max(int(scale / 3), 1)
    for epsilon in (-1, 0, 0.25, 1, 3):
        deltas = [LocationPair(kind(scale), shift=shift).delta(epsilon) for shift in range(0, 6 * step, step)]
        assert all(later.upper >= earlier.lower for earlier, later in pairwise(deltas))


@kinds
def test_a_negative_shift_and_the_reversed_pair_are_the_same_pair(kind):
    forward, backward = kind(2, center=3).pair(kind(2)), kind(2).pair(kind(2, center=3))
    for epsilon in (-0.5, 0, 0.5, 1):
        assert forward.delta(epsilon) == backward.delta(epsilon) == forward.reversed().delta(epsilon)
    assert LocationPair(kind(2), shift=-3).shift == 3


@kinds
@pytest.mark.parametrize("center", [0, 10**30])
def test_only_the_distance_of_the_centers_counts(kind, center):
    pair = kind(2, center=center + 2).pair(kind(2, center=center))
    assert pair.delta(0.5) == LocationPair(kind(2), shift=2).delta(0.5)


@kinds
@pytest.mark.parametrize("epsilon", [50, 700, 1e3, 1e6, 1e20, 1e100, 1e300, Fraction(10**400)])
def test_delta_stays_a_probability_however_large_epsilon_is(kind, epsilon):
    with within(30):
        delta = kind(1, center=1).pair(kind(1)).delta(epsilon)
    assert 0.0 <= delta.lower <= delta.upper <= 1e-100


@kinds
@pytest.mark.parametrize("epsilon", [-50, -700, -1e3, -1e300, Fraction(-(10**400))])
def test_delta_is_one_minus_e_to_the_epsilon_far_below_zero(kind, epsilon):
    with within(30):
        delta = kind(1, center=1).pair(kind(1)).delta(epsilon)
    assert delta.lower <= 1.0 <= delta.upper + 1e-20
    assert delta.lower > 1 - 1e-15


@kinds
def test_equal_laws_have_no_loss(kind):
    pair = kind(2).pair(kind(2))
    assert pair.delta(0).upper == 0.0
    assert pair.delta(1).upper == 0.0
    assert pair.max_loss().upper == 0.0
    assert pair.epsilon(0.0).upper == 0.0
    assert pair.tradeoff(0.25).contains(0.75)
    assert pair.delta(-1).contains(-math.expm1(-1))


def test_sigma_10_and_shift_1_differ_from_the_continuous_law():
    delta = DiscreteGaussian(10, center=1).pair(DiscreteGaussian(10)).delta(0.5)
    continuous = norm.cdf(-5 + 0.05) - math.exp(0.5) * norm.cdf(-5 - 0.05)
    assert delta.estimate == pytest.approx(6.934e-9, rel=1e-4)
    assert continuous == pytest.approx(6.857e-9, rel=1e-4)
    assert delta.lower > continuous


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(2.7), Fraction(2**40)])
@pytest.mark.parametrize("shift", [1, 5])
def test_the_largest_loss_of_laplace_noise_is_shift_over_scale(scale, shift):
    pair = LocationPair(DiscreteLaplace(scale), shift=shift)
    loss = pair.max_loss()
    assert Fraction(loss.lower) <= shift / scale <= Fraction(loss.upper)
    assert loss.width <= math.ulp(loss.upper)
    assert pair.delta(shift / scale).upper == 0.0
    assert pair.delta(shift / scale * (1 - Fraction(1, 10**9))).lower > 0.0
    assert pair.epsilon(0.0).upper == loss.upper


def test_the_largest_loss_of_gaussian_noise_is_infinite():
    assert LocationPair(DiscreteGaussian(5), shift=1).max_loss().lower == math.inf
    assert LocationPair(DiscreteGaussian(5), shift=1).epsilon(0.0).upper == math.inf


def test_a_loss_beyond_every_float_is_enclosed():
    loss = LocationPair(DiscreteLaplace(Fraction(2) ** -600), shift=2**600).max_loss()
    assert loss.lower > 1e308
    assert loss.upper == math.inf


@kinds
@pytest.mark.parametrize("scale", [Fraction(1), Fraction(10)], ids=str)
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-3, 0.1, 0.3])
def test_epsilon_inverts_delta(kind, scale, delta):
    pair = LocationPair(kind(scale), shift=1)
    epsilon = pair.epsilon(delta)
    assert pair.delta(epsilon.upper).upper <= delta
    if epsilon.lower > 0:
        assert pair.delta(epsilon.lower).lower > delta
        assert epsilon.width <= 1e-9 * epsilon.upper
    else:
        assert epsilon.upper == 0.0 or pair.delta(0.0).upper > delta


@kinds
@settings(max_examples=12)  # each runs two bisections
@given(scale=st.fractions(Fraction(1, 2), 20), shift=st.integers(1, 4), level=st.fractions(0, 4))
def test_epsilon_of_delta_of_epsilon_comes_back(kind, scale, shift, level):
    pair = LocationPair(kind(scale), shift=shift)
    delta = pair.delta(level)
    if delta.lower > 1e-250:
        assert pair.epsilon(delta.upper).lower <= level + 1e-9
        assert pair.epsilon(delta.lower).upper >= level - 1e-9


def true_tradeoff(kind, scale: Fraction, shift: int, alpha: float) -> flint.arb:
    """Walk the outcomes from the largest loss down until the size is used up, splitting the last one."""
    with flint.ctx.workprec(DIGITS):
        size, power = arb(0), arb(0)
        for p, q in reversed(atoms(kind, scale, shift)):
            if size + q > arb(alpha):
                return 1 - power - (arb(alpha) - size) / q * p
            size, power = size + q, power + p
        return arb(0)


@kinds
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(3)], ids=str)
@pytest.mark.parametrize("shift", [1, 4])
def test_the_tradeoff_is_that_of_the_best_test(kind, scale, shift):
    pair = LocationPair(kind(scale), shift=shift)
    for alpha in (1e-9, 1e-3, 0.1, 0.25, 0.5, 0.9, 0.999):
        error = pair.tradeoff(alpha)
        with flint.ctx.workprec(DIGITS):
            truth = true_tradeoff(kind, scale, shift, alpha)
            assert encloses(error, truth.union(truth + arb(Fraction(1, 10**35))))
        assert error.width < 1e-12
        assert float(error) == error.lower


@kinds
@given(
    scale=st.fractions(Fraction(1, 2), 50),
    shift=st.integers(1, 5),
    alphas=st.lists(st.floats(0, 1), min_size=3, max_size=3),
)
def test_the_tradeoff_is_convex_falling_and_below_guessing(kind, scale, shift, alphas):
    pair = LocationPair(kind(scale), shift=shift)
    first, middle, last = sorted(alphas)
    errors = [pair.tradeoff(alpha) for alpha in (first, middle, last)]
    assert errors[0].upper >= errors[1].lower
    assert errors[1].upper >= errors[2].lower
    assert all(error.lower <= 1 - alpha + 1e-15 for error, alpha in zip(errors, (first, middle, last), strict=True))
    if last > first:
        share = (middle - first) / (last - first)
        assert errors[1].lower <= (1 - share) * errors[0].upper + share * errors[2].upper + 1e-12


@kinds
@given(scale=st.fractions(Fraction(1, 2), 50), shift=st.integers(1, 5), alpha=st.floats(0, 1), epsilon=st.floats(-3, 3))
def test_the_tradeoff_and_delta_are_dual(kind, scale, shift, alpha, epsilon):
    pair = LocationPair(kind(scale), shift=shift)
    line = 1 - pair.delta(epsilon).upper - math.exp(epsilon) * alpha
    assert pair.tradeoff(alpha).upper >= line - 1e-12


@kinds
def test_some_epsilon_attains_the_tradeoff(kind):
    pair = LocationPair(kind(3), shift=2)
    for alpha in (0.01, 0.2, 0.6):
        best = max(1 - pair.delta(k / 60).lower - math.exp(k / 60) * alpha for k in range(-300, 300))
        assert best == pytest.approx(pair.tradeoff(alpha).estimate, abs=2e-3)


@kinds
@pytest.mark.parametrize("alpha", [-0.1, 1.1, math.nan, math.inf])
def test_a_size_outside_zero_and_one_is_refused(kind, alpha):
    with pytest.raises(ParameterError):
        LocationPair(kind(1), shift=1).tradeoff(alpha)


@kinds
@pytest.mark.parametrize("delta", [-0.1, 1.1, math.nan, math.inf, -1e-300])
def test_a_delta_outside_zero_and_one_is_refused(kind, delta):
    with pytest.raises(ParameterError) as refusal:
        LocationPair(kind(1), shift=1).epsilon(delta)
    assert refusal.value.parameter == "delta"


@kinds
@pytest.mark.parametrize("epsilon", [math.nan, math.inf, -math.inf, None, "1", True, 1j])
def test_an_epsilon_that_is_no_number_is_refused(kind, epsilon):
    with pytest.raises(ParameterError) as refusal:
        LocationPair(kind(1), shift=1).delta(epsilon)
    assert refusal.value.parameter == "epsilon"


@kinds
def test_sizes_zero_and_one_are_answered(kind):
    pair = LocationPair(kind(2), shift=1)
    assert pair.tradeoff(0.0).contains(1.0)
    assert pair.tradeoff(1.0).contains(0.0)
