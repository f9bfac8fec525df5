"""Discrete Gaussian draws by rejection are exact: floats decide a coin only where no error can change the answer."""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np
import pytest

from discreet.laws.noise import discrete_laplace as laplace_sampler
from discreet.laws.noise.gaussian.gaussian_sampler import GaussianRejection
from discreet.laws.samplers.reference import reference_gaussian
from tests.laws.agreement import SCALES as COMMON
from tests.laws.agreement import arb, assert_counts_fit, assert_fits, gaussian
from tests.randomness.sources import WORD, Constant, Script, Stream, swapped, within

SCALES = COMMON | {"2^70": Fraction(2**70)}
FLOATED = [name for name, scale in SCALES.items() if scale < 2**53]


def unfiltered(scale: Fraction, monkeypatch) -> GaussianRejection:
    """Return a sampler whose filters trust no float."""
    sampler = GaussianRejection(scale)
    sampler.bound = 2.0
    sampler._proposal._high.bound = 1.0
    monkeypatch.setattr(laplace_sampler, "_DOUBTFUL", np.uint64(0))
    return sampler


@pytest.mark.parametrize("name", SCALES)
def test_the_fast_path_has_the_law(name, rounds):
    count = rounds(sample=100_000, full=4_000_000) if SCALES[name] < 2**53 else rounds(sample=5_000, full=100_000)
    draws = GaussianRejection(SCALES[name]).draw(count)
    with within(30):
        assert_fits(gaussian(SCALES[name]), draws, comparisons=len(SCALES), degrees=2)


@pytest.mark.parametrize("name", SCALES)
def test_the_path_in_balls_has_the_law(name, monkeypatch, rounds):
    draws = unfiltered(SCALES[name], monkeypatch).draw(rounds(sample=2_000, full=100_000))
    with within(30):
        assert_fits(gaussian(SCALES[name]), draws, comparisons=len(SCALES), degrees=2)


@pytest.mark.parametrize("name", SCALES)
def test_the_reference_has_the_law(name, rounds):
    draws = [reference_gaussian(SCALES[name]) for _ in range(rounds(sample=2_000, full=100_000))]
    with within(30):
        assert_fits(gaussian(SCALES[name]), np.array(draws, dtype=object), comparisons=len(SCALES), degrees=2)


def test_a_scale_of_a_thousandth_is_always_zero():
    assert not GaussianRejection(Fraction(1, 1000)).draw(20_000).any()
    assert {reference_gaussian(Fraction(1, 1000)) for _ in range(20)} == {0}


@pytest.mark.parametrize("name", ["1e3", "1e6", "2^20", "2^21", "2^30", "2^40", "2^70"])
@pytest.mark.parametrize("modulus", [2, 16])
def test_the_low_bits_are_uniform(name, modulus, rounds):
    count = rounds(sample=50_000, full=4_000_000) if SCALES[name] < 2**53 else rounds(sample=4_000, full=100_000)
    draws = GaussianRejection(SCALES[name]).draw(count) % modulus  # uniform to within exp(-2 pi^2 sigma^2 / 256)
    assert_counts_fit(
        np.bincount(draws.astype(np.int64), minlength=modulus), np.full(modulus, 1 / modulus), comparisons=14
    )


@pytest.mark.parametrize("name", FLOATED)
def test_the_same_words_give_the_same_draws_with_and_without_the_filter(name, monkeypatch, rounds):
    count = rounds(sample=3_000, full=10_000)
    with swapped(Stream(name)):
        fast = GaussianRejection(SCALES[name]).draw(count)
    with swapped(Stream(name)):
        slow = unfiltered(SCALES[name], monkeypatch).draw(count)
    assert np.array_equal(fast, slow)


def acceptance(scale: Fraction, value: int) -> Fraction:
    """Return the exponent of the acceptance probability, from the formula of the module."""
    proposal = int(scale) + 1
    return (abs(value) - scale * scale / proposal) ** 2 / (2 * scale * scale)


@pytest.mark.parametrize("name", [*FLOATED, "1/1000"])
@pytest.mark.parametrize("bound", [None, 2.0], ids=["fast", "balls"])
def test_words_around_the_probability_of_a_coin_are_decided_exactly(name, bound):
    scale = SCALES.get(name, Fraction(1, 1000))
    sampler = GaussianRejection(scale)
    sampler.bound = bound or sampler.bound
    peak = int(scale * scale / (int(scale) + 1))
    for value in {0, 1, -1, peak, peak + 1, -2 * peak, int(scale), int(3 * scale) + 1, -int(6 * scale) - 2}:
        exponent = acceptance(scale, value)
        with flint.ctx.workprec(400):
            bits = int(((-arb(exponent)).exp() * flint.arb(2) ** 128).floor().unique_fmpz()) if exponent else 1 << 128
        cell, after = divmod(bits, WORD)
        near = [cell - 2, cell - 1, cell + 1, cell + 2, 0, 1, WORD - 1, cell + 2**28, cell - 2**28]
        cases = [(word, 1 << 63) for word in near if 0 <= word < WORD and word != cell]
        cases += [(cell, later) for later in (after - 1, after + 1, WORD - 1) if 0 < later < WORD and cell < WORD]
        for word, later in cases:
            proposals = np.full(70, value)
            with swapped(Script([word] * 70, then=Constant(later))):
                accepted = sampler._accepted(proposals)
            expected = (word, later) < (cell, after)
            assert accepted.tolist() == proposals.tolist() * expected


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(7, 2), Fraction(1000)])
def test_accepted_proposals_are_proportional_to_the_gaussian_weight(scale):
    proposal = int(scale) + 1
    with flint.ctx.workprec(200):
        constants = [
            (
                -arb(Fraction(abs(y), proposal))
                - arb(acceptance(scale, y))
                + arb(Fraction(y * y) / (2 * scale * scale))
            ).exp()
            for y in (0, 1, -2, 17, 1000)
        ]
        assert all(constants[0].overlaps(constant) for constant in constants)


@pytest.mark.parametrize("exponent", [-10, -40, -100, -512, -520, -537, -560, -600])
def test_every_small_scale_a_law_accepts_can_be_drawn(exponent):
    with within(30):
        assert not GaussianRejection(Fraction(2) ** exponent).draw(50).any()


@pytest.mark.parametrize("count", [0, 1, 2, 63, 64, 65, 1000])
def test_as_many_draws_as_asked(count):
    drawn = GaussianRejection(Fraction(10)).draw(count)
    assert drawn.shape == (count,)
    assert drawn.dtype == np.int64


def test_scales_beyond_int64_give_python_integers():
    drawn = GaussianRejection(Fraction(2**70)).draw(50)
    assert all(type(value) is int for value in drawn)
    assert max(abs(value) for value in drawn) > 2**63
