"""TrainingNoise that is mixed over steps: coefficients, how far a person moves it, and what error is left."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.learning.deep.plan import (
    BallsInBins,
    Banded,
    Buffered,
    Clip,
    CyclicPoisson,
    Float,
    FullBatch,
    IndependentNoise,
    PoissonBatches,
)
from discreet.learning.deep.plan.mixing import inverse_series, prefix_error, sensitivity_ratio, squared_sensitivity
from discreet.learning.deep.plan.pricing import price_of
from discreet.privacy import Relation, gaussian_loss, subsample

ADD = Relation.ADD_REMOVE
FALLING = st.lists(st.integers(0, 50), min_size=1, max_size=8).map(lambda found: (60, *sorted(found, reverse=True)))


def matrix(coefficients, steps):
    return np.array(
        [
            [coefficients[row - column] if 0 <= row - column < len(coefficients) else 0 for column in range(steps)]
            for row in range(steps)
        ]
    )


def patterns(steps, separation, most):
    """All sets of steps that are at least so far apart, and at most so many."""
    for count in range(min(most, steps) + 1):
        for chosen in itertools.combinations(range(steps), count):
            if all(second - first >= separation for first, second in itertools.pairwise(chosen)):
                yield chosen


@pytest.mark.theorem("price_of.privacy")
@given(coefficients=FALLING, steps=st.integers(1, 9), separation=st.integers(1, 5), most=st.integers(1, 9))
def test_the_first_pattern_is_the_worst_of_all(coefficients, steps, separation, most):
    """Brute force over all patterns, with the same unit vector in all participations."""
    mixed = matrix(coefficients, steps)
    worst = max(int((mixed[:, list(one)].sum(axis=1) ** 2).sum()) for one in patterns(steps, separation, most))
    assert squared_sensitivity(coefficients, steps, separation=separation, most=most) == worst


@pytest.mark.theorem("price_of.privacy")
@given(coefficients=FALLING, steps=st.integers(1, 7), separation=st.integers(1, 3), seed=st.integers(0, 2**32))
def test_no_vectors_move_the_releases_further(coefficients, steps, separation, seed):
    """Random vectors of length at most 1 in every pattern stay within the sensitivity."""
    generator = np.random.default_rng(seed)
    mixed = matrix(coefficients, steps)
    bound = squared_sensitivity(coefficients, steps, separation=separation, most=steps)
    for chosen in patterns(steps, separation, steps):
        vectors = generator.normal(size=(len(chosen), 3))
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1)
        assert np.sum((mixed[:, list(chosen)] @ vectors) ** 2) <= bound * (1 + 1e-12)


def test_a_pattern_of_growing_coefficients_would_be_worse_elsewhere():
    """The theorem needs that coefficients fall: for others the first pattern is not the worst."""
    growing = (1, 0, 5)
    mixed = matrix(growing, 5)
    worst = max(int((mixed[:, list(one)].sum(axis=1) ** 2).sum()) for one in patterns(5, 1, 2))
    first = int((mixed[:, [0, 1]].sum(axis=1) ** 2).sum())
    assert first < worst


@pytest.mark.theorem("Banded.privacy")
@given(bands=st.integers(1, 400), steps=st.integers(1, 500))
def test_bands_fall_after_rounding(bands, steps):
    found = Banded(1.0, bands=bands).coefficients(steps)
    assert len(found) == min(bands, steps)
    assert list(found) == sorted(found, reverse=True)
    assert found[-1] > 0
    exact = Fraction(1)
    for index, one in enumerate(found):
        assert one <= 1024 * exact < one + 1
        exact *= Fraction(2 * index + 1, 2 * index + 2)


def test_the_square_of_the_root_sums_up():
    root = np.array(Banded(1.0, bands=200).coefficients(200)) / 1024
    assert np.convolve(root, root)[:200] == pytest.approx(np.ones(200), abs=0.05)


@pytest.mark.theorem("Buffered.privacy")
@pytest.mark.parametrize("buffers", range(1, 17))
def test_buffers_fall_after_rounding_and_begin_as_the_root(buffers):
    found = Buffered(1.0, buffers=buffers).coefficients(10_000)
    assert list(found) == sorted(found, reverse=True)
    assert found[0] == 1024
    assert found[-1] > 0
    begin = Banded(1.0, bands=2 * buffers + 1).coefficients(2 * buffers + 1)
    assert np.abs(np.array(found[: 2 * buffers + 1]) - begin).max() <= 1
    exact = [
        sum(
            2 / (2 * buffers + 1) * decay**power
            for decay in (math.cos((2 * i - 1) * math.pi / (4 * buffers + 2)) ** 2 for i in range(1, buffers + 1))
        )
        for power in range(1, len(found))
    ]
    assert np.abs(np.array(found[1:]) - 1024 * np.array(exact)).max() <= 1.001


@pytest.mark.theorem("TrainingNoise.privacy")
def test_a_rounded_normal_on_integers_is_a_rounded_gaussian_release():
    """Exact masses: the law of u moved by m is the law of round(m + Z), so its delta is at most the normal pair's."""
    from discreet.laws import RoundedGaussian

    law, scale = RoundedGaussian(3), 3
    points = range(-80, 81)
    for moved in (1, 2, 3):
        for level in (0.1, 0.5, 1.0):
            found = sum(
                max(float(law.pmf(k - moved)) - math.exp(level) * float(law.pmf(k)), 0.0) for k in points
            )  # fmt: skip
            assert found <= gaussian_loss(scale, sensitivity=moved).delta(level).upper + 1e-12


def test_the_error_of_prefix_sums_is_that_of_the_matrices():
    for coefficients in ((1,), (1024, 512, 384, 320), (7, 7, 7), (5, 3)):
        steps = 12
        inverse = np.linalg.inv(matrix(coefficients, steps))
        summed = np.tril(np.ones((steps, steps))) @ inverse * math.sqrt(sum(one**2 for one in coefficients))
        expected = math.sqrt((summed**2).sum() / steps)
        assert prefix_error(coefficients, steps) == pytest.approx(expected, rel=1e-12)


def test_an_inverse_series_is_exact_to_rounding_at_length():
    root = np.array(Banded(1.0, bands=300).coefficients(300)) / 1024
    found = inverse_series(root, 5_000)
    product = np.convolve(root, found)[:5_000]
    assert product[0] == pytest.approx(1)
    assert np.abs(product[1:]).max() < 1e-10


@pytest.mark.parametrize(("bands", "ratio"), [(4, 0.56), (16, 0.32), (64, 0.19)])
def test_bands_leave_the_error_that_was_computed_elsewhere(bands, ratio):
    found = prefix_error(Banded(1.0, bands=bands).coefficients(1000), 1000) / prefix_error((1,), 1000)
    assert found == pytest.approx(ratio, abs=0.005)


@pytest.mark.theorem("price_of.privacy")
def test_unsampled_noise_costs_the_worst_pattern():
    """Full batches with bands: mu is the norm of the sum of all columns over scale |k|, twice it for a changed row."""
    noise = Banded(2.0, bands=3)
    mixed = noise.coefficients(6)
    moved = matrix(mixed, 6).sum(axis=1)
    mu = math.sqrt((moved**2).sum() / sum(one**2 for one in mixed)) / 2
    for relation, times in ((ADD, 1), (Relation.CHANGE_ONE, 2)):
        found = price_of(FullBatch(), noise, 6, relation, "person").mu_squared
        assert found is not None
        assert math.sqrt(found) == pytest.approx(times * mu, rel=1e-12)
        assert found >= times**2 * sensitivity_ratio(mixed, 6, separation=1, most=6) / 4


@pytest.mark.theorem("CyclicPoisson.privacy")
def test_bands_on_a_cycle_cost_few_poisson_steps():
    price = price_of(CyclicPoisson(rate=0.01, groups=8), Banded(1.5, bands=8), 1001, ADD, "person")
    steps = subsample(gaussian_loss(1.5, relation=ADD), rate=Fraction(8, 100)) * 126
    assert price.steps.loss.delta(1).upper == steps.delta(1).upper


@pytest.mark.theorem("CyclicPoisson.privacy")
def test_the_price_of_a_cycle_holds_for_exact_mixtures():
    """Two groups, two bands, three steps, vectors of length 1: the densities themselves, on a grid of outcomes.

    In groups 0 and 1 the person can take part in steps 0, 2 and 1. The law with the person is the mean over groups and
    coins; delta is integrated numerically and stays below the price of two Poisson steps.
    """
    first, second, rate, scale = 0.8, 0.6, 0.5, 1.2  # coefficients of length 1, the rate within a group
    axis = np.linspace(-6, 7, 90)
    cell = (axis[1] - axis[0]) ** 3
    u = np.meshgrid(axis, axis, axis, indexing="ij")

    def density(*moves):
        return math.prod(
            np.exp(-((one - move) ** 2) / (2 * scale**2)) / (scale * math.sqrt(2 * math.pi))
            for one, move in zip(u, moves, strict=True)
        )

    def coin(chance, heads, tails):
        return chance * heads + (1 - chance) * tails

    none = density(0, 0, 0)
    group_0 = coin(
        rate,
        coin(rate, density(first, second, first), density(first, second, 0)),
        coin(rate, density(0, 0, first), none),
    )
    group_1 = coin(rate, density(0, first, second), none)
    with_person = (group_0 + group_1) / 2
    price = subsample(gaussian_loss(scale, relation=ADD), rate=rate) * 2
    for level in (0.1, 0.5, 1.0):
        found = max(
            float(np.maximum(a - math.exp(level) * b, 0).sum() * cell)
            for a, b in ((with_person, none), (none, with_person))
        )
        assert 0 < found <= price.delta(level).upper


def test_a_cycle_in_which_everyone_takes_part_takes_more_bands_than_groups():
    sampler = CyclicPoisson(rate=0.25, groups=4)
    price = price_of(sampler, Banded(1.0, bands=7), 20, ADD, "person")
    mixed = Banded(1.0, bands=7).coefficients(20)
    expected = Fraction(squared_sensitivity(mixed, 20, separation=4, most=5), sum(one * one for one in mixed))
    assert price.steps.kind.value == "matrix gaussian"
    assert float(dict(price.steps.parameters)["sensitivity"]) == pytest.approx(math.sqrt(expected))


@pytest.mark.parametrize(
    ("sampler", "noise", "words"),
    [
        (PoissonBatches(rate=0.1), Banded(1, bands=2), "independent"),
        (BallsInBins(steps_per_epoch=4), Buffered(1, buffers=2), "independent"),
        (CyclicPoisson(rate=0.1, groups=3), Banded(1, bands=4), "bands must be"),
    ],
)
def test_correlated_noise_without_a_proof_is_refused(sampler, noise, words):
    with pytest.raises(ParameterError, match=words):
        price_of(sampler, noise, 50, ADD, "person")


@pytest.mark.parametrize(
    "make",
    [
        lambda: IndependentNoise(0),
        lambda: IndependentNoise(float("inf")),
        lambda: Float(-1),
        lambda: Banded(1, bands=0),
        lambda: Banded(1, bands=2**17),
        lambda: Buffered(1, buffers=65),
        lambda: Clip(0),
        lambda: Clip(float("nan")),
        lambda: Clip(1, mode="adaptive"),
        lambda: Clip(1, mode=3),
    ],
)
def test_bad_noise_and_clips_are_refused_in_one_sentence(make):
    with pytest.raises(ParameterError) as problem:
        make()
    assert "\n" not in str(problem.value)


@pytest.mark.theorem("Clip.privacy")
@given(
    norm=st.floats(1e-3, 1e3),
    mode=st.sampled_from(["flat", "normalized"]),
    length=st.floats(0, 1e6),
)
def test_a_clipped_gradient_is_at_most_as_long_as_the_norm(norm, mode, length):
    assert Clip(norm, mode=mode).factor(length) * length <= norm * (1 + 1e-12)


@pytest.mark.theorem("Clip.privacy")
@given(lengths=st.lists(st.floats(0, 1e3), min_size=1, max_size=6))
def test_layers_clipped_by_themselves_are_short_together(lengths):
    part = Clip(1 / math.sqrt(len(lengths)), mode="per layer")
    assert sum((part.factor(one) * one) ** 2 for one in lengths) <= 1 + 1e-9
