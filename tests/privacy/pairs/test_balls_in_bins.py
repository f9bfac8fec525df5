"""Balls in bins: the enclosed curve against integrals of its own, simulations, and the bar on its width."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import logsumexp, ndtr

from discreet.errors import ParameterError, RelationMismatch
from discreet.privacy import PrivacyLoss, Relation, Sampler, balls_in_bins_loss, calibrate, gaussian_loss, subsample
from discreet.privacy.pairs import BallsInBinsPair, NormalPair, Side
from discreet.privacy.pairs.lognormal_sums import sum_law


def call(sigma, strikes):
    """E (X - k)^+ for X = e^(Z/sigma - 1/(2 sigma^2)): Black and Scholes; for k <= 0 it is 1 - k."""
    positive = np.maximum(strikes, 1e-300)
    first = -sigma * np.log(positive) + 1 / (2 * sigma)
    return np.where(strikes > 0, ndtr(first) - positive * ndtr(first - 1 / sigma), 1 - strikes)


def removed(sigma, steps, level):
    """E (R - a)^+ for two or three steps: all terms but the last by the trapezoidal rule, the last in closed form."""
    z, width = np.linspace(-14, 14, 1401, retstep=True)
    weight = np.exp(-z * z / 2) * width / math.sqrt(2 * math.pi)
    x = np.exp(z / sigma - 1 / (2 * sigma**2))
    strike = steps * math.exp(level) - x
    if steps == 2:
        return float(np.dot(weight, call(sigma, strike))) / 2
    return float(sum(w * np.dot(weight, call(sigma, strike - y)) for w, y in zip(weight, x, strict=True))) / 3


@pytest.mark.theorem("BallsInBinsPair.privacy", "balls_in_bins_loss.privacy")
@pytest.mark.parametrize("sigma", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("steps", [2, 3])
def test_few_steps_agree_with_an_integral(steps, sigma):
    for level in (0.0, 0.3, 1.0, 2.0):
        truth = removed(sigma, steps, level)
        back = 1 - math.exp(level) + math.exp(level) * removed(sigma, steps, -level)  # E (1 - a R)^+ by parity
        for side, wanted in ((Side.REMOVE, truth), (Side.ADD, back)):
            pair = BallsInBinsPair(1 / sigma, steps, side)
            found = pair.delta(level)
            assert found.lower - 1e-12 <= wanted <= found.upper + 1e-12
            if wanted > 1e-7:  # so that the reference, good to about 1e-14, has digits enough
                ends = pair.epsilon(wanted)
                assert ends.lower - 1e-6 <= level <= ends.upper + 1e-6
                assert ends.upper - ends.lower <= 1e-3


@pytest.mark.theorem("BallsInBinsPair.privacy")
def test_two_steps_agree_with_multiple_precision():
    mpmath = pytest.importorskip("mpmath")
    mu, factor = mpmath.mpf(1), mpmath.exp(4)

    def inner(z):
        strike = 2 * factor - mpmath.exp(mu * z - mu**2 / 2)
        if strike <= 0:
            return mpmath.npdf(z) * (1 - strike)
        score = -mpmath.log(strike) / mu + mu / 2
        return mpmath.npdf(z) * (mpmath.ncdf(score) - strike * mpmath.ncdf(score - mu))

    truth = mpmath.quad(inner, [-12, -4, 0, 4, 4.6, 5.5, 8, 14]) / 2
    found = BallsInBinsPair(1, 2, Side.REMOVE).delta(4.0)
    assert found.lower <= truth <= found.upper
    assert 1e-6 < truth < 1e-5
    assert found.upper - found.lower < 1e-3 * truth


@pytest.mark.theorem("balls_in_bins_loss.accuracy")
@pytest.mark.parametrize(("steps", "scale"), [(100, 0.5), (100, 1), (1000, 0.5), (1000, 0.8), (1000, 2)])
def test_epsilon_is_known_to_a_thousandth(steps, scale):
    found = balls_in_bins_loss(scale, steps=steps, relation=Relation.ADD_REMOVE).epsilon(1e-6)
    assert 0 < found.upper - found.lower <= 1e-3


@pytest.mark.theorem("BallsInBinsPair.privacy")
def test_a_simulation_agrees_in_both_directions():
    # Hoeffding: each of 8 means of n numbers in [0, 1] is off by more than t with chance 2 e^(-2 n t^2), together 1e-10
    steps, count, source = 50, 100_000, np.random.default_rng()
    margin = math.sqrt(math.log(16 / 1e-10) / (2 * count))
    noise = source.standard_normal((count, steps))
    for mu in (0.8, 2.0):
        for side in Side:
            moved = noise.copy()
            moved[:, 7] += mu if side is Side.REMOVE else 0
            loss = logsumexp(mu * moved - mu * mu / 2, axis=1) - math.log(steps)
            loss = loss if side is Side.REMOVE else -loss
            for level in (0.05, 0.3):
                simulated = float(np.mean(np.maximum(-np.expm1(level - loss), 0.0)))
                found = BallsInBinsPair(mu, steps, side, 200).delta(level)
                assert found.lower - margin <= simulated <= found.upper + margin
                assert margin < 0.02


@pytest.mark.theorem("BallsInBinsPair.privacy", "balls_in_bins_loss.privacy")
def test_several_epochs_agree_with_a_simulation_and_with_finer_laws():
    loss = balls_in_bins_loss(1, steps=20, relation=Relation.ADD_REMOVE, cells=100) * 4
    fine = balls_in_bins_loss(1, steps=20, relation=Relation.ADD_REMOVE, cells=400) * 4
    # Hoeffding, as above: two means of 2e5 numbers in [0, 1]
    margin = math.sqrt(math.log(4 / 1e-10) / 4e5)
    for side in (0, 1):
        pair = (loss.parts[0][0].remove, loss.parts[0][0].add)[side][0]
        draws = pair.draw_losses(800_000).reshape(4, -1).sum(axis=0)
        coarse, narrow = ((one.remove, one.add)[side].delta(0.5) for one in (loss, fine))
        simulated = float(np.mean(np.maximum(-np.expm1(0.5 - draws), 0.0)))
        assert coarse.lower - margin <= simulated <= coarse.upper + margin
        assert coarse.lower <= narrow.upper
        assert narrow.lower <= coarse.upper
        assert narrow.upper - narrow.lower < (coarse.upper - coarse.lower) / 4


def removed_often(sigma, epochs, level):
    """Delta of epochs of two steps, a person removed: the law of one loss on a grid, and a power of its transform."""
    z = np.linspace(-9.5, 9.5, 1201)
    weight = np.exp(-z * z / 2) / np.exp(-z * z / 2).sum()
    moved, other = (np.exp((z + shift) / sigma - 1 / (2 * sigma**2)) for shift in (1 / sigma, 0))
    places = np.log((moved[:, None] + other) / 2).ravel() / 1e-3
    cell = np.floor(places).astype(np.int64)
    right = (weight[:, None] * weight).ravel() * (places - cell)
    size = 1 << int(epochs * (cell.max() - cell.min() + 2)).bit_length()
    law = np.bincount(cell - cell.min(), (weight[:, None] * weight).ravel() - right, size)
    law += np.bincount(cell - cell.min() + 1, right, size)
    law = np.fft.irfft(np.fft.rfft(law) ** epochs, size)
    losses = (np.arange(size) + epochs * cell.min()) * 1e-3
    return float(np.dot(law, np.maximum(-np.expm1(level - losses), 0.0)))


@pytest.mark.theorem("BallsInBinsPair.privacy", "balls_in_bins_loss.privacy")
@pytest.mark.parametrize(("scale", "delta"), [(0.4, 0.3), (0.7, 1e-6), (0.8494, 0.3)])
def test_several_epochs_of_few_steps_are_composed_although_points_of_the_law_have_no_mass(scale, delta):
    found = (balls_in_bins_loss(scale, steps=2, relation=Relation.ADD_REMOVE) * 5).epsilon(delta)
    assert found.upper - found.lower < 1e-3 * max(found.upper, 1)
    assert removed_often(scale, 5, found.upper) <= delta * (1 + 1e-4)
    assert removed_often(scale, 5, found.lower) >= delta * (1 - 1e-4)


@pytest.mark.parametrize("upper", [False, True])
def test_laws_keep_the_mass_and_the_mean(upper):
    for mu, steps in ((0.01, 7), (1, 100), (3, 13)):
        law = sum_law(mu, steps, 128, upper=upper)
        assert math.fsum(law.mass) == pytest.approx(1, abs=1e-9)
        assert float(np.dot(law.place, law.mass)) + law.beyond == pytest.approx(steps, rel=1e-9)
        assert law.beyond < 1e-12
        assert np.all(np.diff(law.place) > 0)


def test_both_laws_bracket_every_call_of_one_term():
    strikes = np.exp(np.linspace(-4, 4, 41))
    for steps in (1, 2):
        low, high = (sum_law(1, steps, 64, upper=upper) for upper in (False, True))
        ends = [
            [float(np.dot(law.mass, np.maximum(law.place - k, 0))) + law.beyond for k in strikes] for law in (low, high)
        ]
        truth = call(1.0, strikes) if steps == 1 else np.array([2 * removed(1.0, 2, math.log(k / 2)) for k in strikes])
        assert np.all(np.array(ends[0]) <= truth * (1 + 1e-9) + 1e-13)
        assert np.all(truth <= np.array(ends[1]) * (1 + 1e-9) + 1e-13)


@pytest.mark.theorem("BallsInBinsPair.privacy")
def test_it_lies_between_nothing_and_the_release_that_tells_the_step():
    for mu in (1e-3, 1, 12, 30):
        for level in (-1.0, 0.0, 0.5, 40.0):
            found = BallsInBinsPair(mu, 10, Side.ADD, 64).delta(level)
            assert max(0.0, -math.expm1(level)) * (1 - 1e-12) <= found.upper <= NormalPair(mu).delta(level).upper
    for mu, steps in ((1e-9, 10**6), (1, 10**11), (50, 3)):  # beyond what floats can follow: as if the step were told
        found = BallsInBinsPair(mu, steps, Side.REMOVE).delta(0.1)
        assert (found.lower, found.upper) == (0.0, NormalPair(mu).delta(0.1).upper)
        epochs = (balls_in_bins_loss(1 / mu, steps=steps, relation=Relation.ADD_REMOVE) * 2).delta(0.1)
        assert epochs.lower == 0.0
    one = balls_in_bins_loss(2, steps=1, relation=Relation.ADD_REMOVE)
    assert one.delta(0.3) == gaussian_loss(2).delta(0.3)


def test_an_epoch_costs_less_than_poisson_here():
    epoch = balls_in_bins_loss(1, steps=100, relation=Relation.ADD_REMOVE)
    poisson = subsample(gaussian_loss(1, relation=Relation.ADD_REMOVE), rate=0.01) * 100
    assert epoch.epsilon(1e-6).upper < 0.91 * poisson.epsilon(1e-6).lower
    assert epoch.samplers == (Sampler.BALLS_IN_BINS,)


def test_other_relations_and_senseless_numbers_are_refused():
    for relation in (Relation.CHANGE_ONE, Relation.UNSTATED):
        with pytest.raises(RelationMismatch, match=r"add/remove.*write relation=Relation\.ADD_REMOVE"):
            balls_in_bins_loss(1, steps=10, relation=relation)
    with pytest.raises(ParameterError, match="cells must be between"):
        balls_in_bins_loss(1, steps=10, relation=Relation.ADD_REMOVE, cells=2)
    with pytest.raises(ParameterError, match="balls_in_bins_loss"):
        subsample(gaussian_loss(1, relation=Relation.ADD_REMOVE), rate=0.1, sampler="balls in bins")
    assert isinstance(balls_in_bins_loss(1, steps=10, relation=Relation.ADD_REMOVE), PrivacyLoss)


@pytest.mark.theorem("calibrate.privacy")
def test_a_rough_family_saves_prices_and_finds_the_same_noise():
    def family(cells, asked):
        def at(scale):
            asked.append(scale)
            return balls_in_bins_loss(scale, steps=30, relation=Relation.ADD_REMOVE, cells=cells) * 2

        return at

    asked, alone = [], []
    found = calibrate(family(200, asked), epsilon=1, delta=1e-6, tolerance=1e-3, rough=family(60, []))
    plain = calibrate(family(200, alone), epsilon=1, delta=1e-6, tolerance=1e-3)
    assert found.loss.delta(1).upper <= 1e-6 < family(200, [])(found.refused).delta(1).upper
    assert found == pytest.approx(plain, rel=3e-3)
    assert len(set(asked)) < len(set(alone))
    wrong = calibrate(family(200, []), epsilon=1, delta=1e-6, tolerance=1e-3, rough=gaussian_loss)
    assert wrong.loss.delta(1).upper <= 1e-6  # a rough family of other releases costs time, not privacy
    assert wrong == pytest.approx(plain, rel=3e-3)
