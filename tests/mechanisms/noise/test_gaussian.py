"""Gaussian noise: the least variance of both laws, the analytic scale, and prices that no enumeration exceeds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dp
from discreet.errors import ConflictingParameters, ParameterError
from discreet.laws import DiscreteGaussian, LocationPair, RoundedGaussian
from discreet.privacy.price import largest_mu

ADD_REMOVE, CHANGE_ONE = dp.Relation.ADD_REMOVE, dp.Relation.CHANGE_ONE
LEVELS = np.linspace(0.0, 6.0, 40)


def analytic_scale(epsilon: float, delta: float) -> float:
    """Return the scale of the continuous mechanism at sensitivity 1 (Balle, Wang 2018), by scipy alone."""
    from scipy.optimize import brentq
    from scipy.special import log_ndtr

    def excess(log_scale: float) -> float:
        mu = math.exp(-log_scale)
        first, second = log_ndtr(mu / 2 - epsilon / mu), epsilon + log_ndtr(-mu / 2 - epsilon / mu)
        gap = math.log1p(-math.exp(second - first)) if second < first else -1e6
        return float(first + gap - math.log(delta))

    return math.exp(brentq(excess, -8.0, 12.0, xtol=1e-14))


def l2(value: float, relation: dp.Relation = ADD_REMOVE) -> dp.Sensitivity:
    """Return a sensitivity over a whole array."""
    return dp.Sensitivity(value, norm=dp.Norm.L2, relation=relation)


@pytest.mark.parametrize("length", [1, 10, 1_000_000])
@pytest.mark.parametrize("epsilon", [0.1, 1, 4, 10])
@pytest.mark.parametrize("delta", [1e-6, 1e-9])
def test_on_reals_the_scale_is_that_of_the_analytic_gaussian(length: int, epsilon: float, delta: float) -> None:
    mechanism = dp.Gaussian(epsilon=epsilon, delta=delta, sensitivity=l2(1.0), length=length)
    ratio = mechanism.scale / analytic_scale(epsilon, delta)
    assert mechanism.gaussian_law is dp.GaussianLaw.ROUNDED
    assert 1 - 1e-12 <= ratio <= 1 + 1e-6


@pytest.mark.parametrize("sensitivity", [1, 2, 10])
@pytest.mark.parametrize("epsilon", [0.1, 1, 4, 10, 19])
@pytest.mark.parametrize("scalar", [True, False])
def test_on_integers_the_variance_is_that_of_the_best_law(sensitivity: int, epsilon: float, scalar: bool) -> None:
    delta = 1e-6
    stated = sensitivity if scalar else l2(sensitivity)
    mechanism = dp.Gaussian(epsilon=epsilon, delta=delta, sensitivity=stated)
    each = [dp.Gaussian(epsilon=epsilon, delta=delta, sensitivity=stated, law=law) for law in dp.GaussianLaw]
    assert mechanism.noise.variance == min(one.noise.variance for one in each)
    assert mechanism.noise.variance <= (sensitivity * analytic_scale(epsilon, delta)) ** 2 * (1 + 1e-10) + 1 / 12
    assert mechanism.loss.delta(epsilon).upper <= delta


def test_the_discrete_law_wins_where_one_person_moves_one_count() -> None:
    mechanism = dp.Gaussian(epsilon=4, delta=1e-6, sensitivity=l2(1))
    assert mechanism.gaussian_law is dp.GaussianLaw.DISCRETE
    assert round(mechanism.scale, 3) == 1.170 < analytic_scale(4, 1e-6)


def shifts(squared: int, length: int) -> Iterator[tuple[int, ...]]:
    """Yield the largest moves of a vector of integers within an L2 distance, up to signs and order."""
    reach = math.isqrt(squared)
    moves = [m for m in itertools.product(range(reach + 1), repeat=length) if 0 < sum(x * x for x in m) <= squared]
    yield from {tuple(sorted(move)) for move in moves}


def grid_law(noise: RoundedGaussian | DiscreteGaussian, center: tuple[int, ...], reach: int) -> NDArray[np.float64]:
    """Return the joint law of a noisy vector on a cube that holds all but 1e-14 of it."""
    places = np.arange(-reach, reach + 1)
    joint = np.ones(())
    for one in center:
        joint = np.multiply.outer(joint, np.asarray(noise.at(one).pmf(places)))
    return joint.ravel()


def hockey_stick(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return delta at every level."""
    return np.array([np.maximum(p - math.exp(level) * q, 0.0).sum() for level in LEVELS])


def certified(loss: dp.PrivacyLoss) -> NDArray[np.float64]:
    """Return the guaranteed delta at every level."""
    return np.array([loss.delta(float(level)).upper for level in LEVELS])


CASES = [(2, 2, 1.0), (2, 3, 0.6), (4, 2, 2.0), (4, 4, 1.5), (3, 3, 0.25)]


@pytest.mark.theorem("Gaussian.privacy", "gaussian_noise_loss.privacy")
@pytest.mark.parametrize(("squared", "length", "scale"), CASES)
@pytest.mark.parametrize("relation", [ADD_REMOVE, CHANGE_ONE])
def test_no_pair_of_small_vectors_exceeds_the_price(
    squared: int, length: int, scale: float, relation: dp.Relation
) -> None:
    noise = RoundedGaussian(Fraction(scale))
    loss = dp.mechanisms.noise.gaussian_noise_loss(noise, Fraction(squared), shift=None, relation=relation)
    allowed = certified(loss)
    reach = math.ceil(7 * scale) + 3
    base = grid_law(noise, (0,) * length, reach)
    for move in shifts(squared, length):
        moved = grid_law(noise, move, reach)
        assert np.all(np.maximum(hockey_stick(moved, base), hockey_stick(base, moved)) <= allowed + 1e-10)


@pytest.mark.theorem("Gaussian.privacy")
@pytest.mark.parametrize(("squared", "length", "scale"), CASES)
@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_no_poisson_sample_of_small_vectors_exceeds_the_price(
    squared: int, length: int, scale: float, rate: float
) -> None:
    noise = RoundedGaussian(Fraction(scale))
    loss = dp.mechanisms.noise.gaussian_noise_loss(noise, Fraction(squared), shift=None, relation=ADD_REMOVE)
    allowed = certified(dp.subsample(loss, rate=rate))
    reach = math.ceil(7 * scale) + 3
    base = grid_law(noise, (0,) * length, reach)
    for move in shifts(squared, length):
        mixed = (1 - rate) * base + rate * grid_law(noise, move, reach)
        assert np.all(np.maximum(hockey_stick(mixed, base), hockey_stick(base, mixed)) <= allowed + 1e-10)


@pytest.mark.theorem("Gaussian.privacy")
@pytest.mark.parametrize("rate", [0.1, 0.5])
@pytest.mark.parametrize(("squared", "scale"), [(2, 1.0), (4, 1.5)])
def test_no_sample_of_fixed_size_exceeds_the_price(squared: int, scale: float, rate: float) -> None:
    noise = RoundedGaussian(Fraction(scale))
    loss = dp.mechanisms.noise.gaussian_noise_loss(noise, Fraction(squared), shift=None, relation=CHANGE_ONE)
    allowed = certified(dp.subsample(loss, rate=rate, sampler="fixed size"))
    reach = math.ceil(7 * scale) + 4
    far = math.isqrt(squared)
    points = list(itertools.product(range(-far, far + 1), repeat=2))
    laws = {point: grid_law(noise, point, reach) for point in points}

    def near(one: tuple[int, ...], two: tuple[int, ...]) -> bool:
        return sum((a - b) ** 2 for a, b in zip(one, two, strict=True)) <= squared

    for first, second in itertools.permutations(points, 2):
        if (0, 0) in (first, second) and near(first, second):
            for other in points:
                if near(other, first) and near(other, second):  # a sample without the row holds another row instead
                    p, q = (rate * laws[one] + (1 - rate) * laws[other] for one in (first, second))
                    assert np.all(hockey_stick(p, q) <= allowed + 1e-10)


def test_a_step_of_private_training_is_priced_from_the_mechanism_itself() -> None:
    step = dp.Gaussian(scale=1, sensitivity=l2(1.0), length=1000)
    spent = (dp.subsample(step.loss, rate=0.01) * 10_000).epsilon(delta=1e-5)
    assert abs(spent.upper - 6.18771239) <= 1e-6 * 6.18771239
    assert abs(spent.lower - 6.18771239) <= 1e-6 * 6.18771239


def test_gaussian_guarantees_add_up_in_squares() -> None:
    mechanism = dp.Gaussian(mu=0.5, sensitivity=l2(3))
    assert mechanism.guarantee == dp.GaussianDP(0.5, relation=ADD_REMOVE)
    assert mechanism.scale == 6
    assert (mechanism.loss * 4).satisfies(dp.GaussianDP(1, relation=ADD_REMOVE))
    assert not (mechanism.loss * 5).satisfies(dp.GaussianDP(1, relation=ADD_REMOVE))


def test_the_exact_pair_of_coarse_rounded_noise_is_below_the_normal_one() -> None:
    coarse = dp.Gaussian(scale=2, sensitivity=3, law=dp.GaussianLaw.ROUNDED)
    normal = dp.privacy.gaussian_loss(2, sensitivity=3)
    for level in (0.5, 0.7, 2.0, 5.0):
        assert coarse.loss.delta(level).upper < normal.delta(level).lower
    three, normal_three = coarse.loss * 3, normal * 3
    assert three.epsilon(1e-6).upper < normal_three.epsilon(1e-6).lower


def test_a_law_that_was_asked_for_is_taken() -> None:
    for law, kind in ((dp.GaussianLaw.ROUNDED, RoundedGaussian), (dp.GaussianLaw.DISCRETE, DiscreteGaussian)):
        for stated in ({"scale": 3}, {"epsilon": 1, "delta": 1e-6}):
            mechanism = dp.Gaussian(**stated, sensitivity=1, law=law)  # type: ignore[arg-type]
            assert isinstance(mechanism.noise, kind)
            assert law.name in repr(mechanism)


def test_what_contradicts_itself_is_refused() -> None:
    with pytest.raises(ConflictingParameters, match="delta"):
        dp.Gaussian(mu=1, delta=1e-6, sensitivity=1)
    with pytest.raises(ConflictingParameters, match="no exact price in mu"):
        dp.Gaussian(mu=1, sensitivity=1, law=dp.GaussianLaw.DISCRETE)
    with pytest.raises(ConflictingParameters, match="not both"):
        dp.Gaussian(mu=1, scale=1, sensitivity=1)
    with pytest.raises(ParameterError, match="GaussianLaw"):
        dp.Gaussian(scale=1, sensitivity=1, law="rounded")  # type: ignore[arg-type]


@pytest.mark.parametrize("length", [1, 10, 10**6, 10**12])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_rounding_adds_a_millionth_to_the_sensitivity_at_most(length: int, scale: float) -> None:
    mechanism = dp.Gaussian(scale=scale, sensitivity=l2(1.0), length=length)
    assert 1 <= mechanism.steps * mechanism.grid <= 1 + Fraction(1, 10**6)


def test_the_largest_mu_is_the_largest() -> None:
    from discreet.privacy.pairs import NormalPair

    for epsilon, delta in ((0.1, 1e-6), (1.0, 1e-9), (8.0, 1e-5)):
        mu = largest_mu(Fraction(epsilon), Fraction(delta))
        assert NormalPair(mu).delta(epsilon).upper <= delta < NormalPair(mu * Fraction(1 + 1e-12)).delta(epsilon).lower


def test_a_shift_of_one_coordinate_is_the_worst_where_only_one_moves() -> None:
    noise = RoundedGaussian(Fraction(7, 5))
    for level in LEVELS:
        found = [LocationPair(noise, shift=shift).delta(float(level)).upper for shift in range(5)]
        assert found == sorted(found)
