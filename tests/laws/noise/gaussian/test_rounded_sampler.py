"""Rounded Gaussian draws are exact: the thinning coin, the table of the law itself, and the change between them."""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np
import pytest

from discreet.audit import goodness_of_fit
from discreet.laws import DiscreteGaussian, RoundedGaussian
from discreet.laws.noise.gaussian import rounded_sampler as module
from discreet.laws.noise.gaussian.gaussian_sampler import GaussianSampler
from discreet.laws.noise.gaussian.rounded_sampler import RoundedSampler, RoundedTable, Thinned, rounded_table
from discreet.laws.samplers.reference import reference_rounded
from discreet.randomness.rigor import precision
from tests.laws.agreement import arb, assert_counts_fit, assert_fits, rounded_mass
from tests.randomness.sources import WORD, Constant, Script, swapped, within

SCALES = {
    "1/8": Fraction(1, 8),
    "1/3": Fraction(1, 3),
    "1": Fraction(1),
    "3.7": Fraction(3.7),
    "16": Fraction(16),
    "100": Fraction(100),
    "1023.7": Fraction(1023.7),
    "1024": Fraction(1024),
    "2^20": Fraction(2**20),
    "2^30+1/3": Fraction(2**30) + Fraction(1, 3),
    "2^40": Fraction(2**40),
    "2^80": Fraction(2**80),
}
NARROW = [name for name, scale in SCALES.items() if scale < 1024]
THINNED = {name: scale for name, scale in SCALES.items() if scale >= 1} | {"1/2": Fraction(1, 2), "2": Fraction(2)}


@pytest.mark.parametrize("name", SCALES)
def test_the_draws_have_the_law(name, rounds):
    scale = SCALES[name]
    count = rounds(sample=1_000_000, full=20_000_000) if scale < 2**50 else rounds(sample=1_500, full=100_000)
    assert_fits(RoundedGaussian(scale), RoundedSampler(scale).draw(count), comparisons=len(SCALES), degrees=2)


@pytest.mark.parametrize("name", THINNED)
def test_thinned_draws_have_the_law(name, rounds):
    scale = THINNED[name]
    many = rounds(sample=100_000, full=1_000_000) if 16 <= scale < 2**50 else rounds(sample=3_000, full=100_000)
    with within(60):
        drawn = Thinned(scale).draw(many)
    assert_fits(RoundedGaussian(scale), drawn, comparisons=len(THINNED), degrees=2)


@pytest.mark.parametrize("name", ["1/3", "1", "3.7", "100", "2^30+1/3", "2^80"])
def test_the_reference_has_the_law(name, rounds):
    draws = [reference_rounded(SCALES[name]) for _ in range(rounds(sample=1_000, full=100_000))]
    assert_fits(RoundedGaussian(SCALES[name]), np.array([*draws, None], dtype=object)[:-1], comparisons=6, degrees=2)


def test_a_biased_sampler_is_found(rounds):
    count = rounds(sample=200_000, full=1_000_000)
    half = Fraction(1, 2)
    unthinned = GaussianSampler(half, Thinned(half)._variance).draw(count)
    truncated = (RoundedGaussian(64).sample(count) // 128).astype(np.int64)
    for draws in (DiscreteGaussian(half).sample(count), unthinned, truncated):
        assert goodness_of_fit(RoundedGaussian(half), draws).alarm(1e-30)
    assert not goodness_of_fit(RoundedGaussian(half), RoundedGaussian(half).sample(count)).alarm(1e-9)


@pytest.mark.parametrize("name", ["1024", "2^20", "2^30+1/3", "2^40"])
@pytest.mark.parametrize("modulus", [2, 16])
def test_the_low_bits_are_uniform(name, modulus, rounds):
    draws = RoundedSampler(SCALES[name]).draw(rounds(sample=100_000, full=10_000_000)) % modulus
    assert_counts_fit(np.bincount(draws, minlength=modulus), np.full(modulus, 1 / modulus), comparisons=8)


def coin(thinned: Thinned, place: int) -> flint.arb:
    """Return c(k) = s sqrt(2 pi) r(k) exp(k^2 / (2 v)) from the definitions."""
    scale = thinned._scale
    variance = scale**4 / (scale * scale - Fraction(1, 12))
    height = arb(scale) * (2 * flint.arb.pi()).sqrt()
    return height * rounded_mass(scale, place) * arb(place * place / (2 * variance)).exp()


def places_of(scale: Fraction) -> list[int]:
    return sorted({int(z * scale) for z in (0, Fraction(1, 3), 1, 2, 5, 9, 30)} | {1, 2})


@pytest.mark.parametrize("name", THINNED)
def test_the_coin_lies_within_the_bounds_of_the_lemma(name):
    scale, thinned = THINNED[name], Thinned(THINNED[name])
    with flint.ctx.workprec(600):
        for place in places_of(scale):
            slope = Fraction(place) / (scale * scale)
            chance = coin(thinned, place)
            assert chance <= 1
            assert chance >= arb(1 - 1 / (8 * scale * scale)) * (-arb(slope**4 / 2880)).exp()
            assert thinned._doubt(place) == 1 or chance >= 1 - arb(thinned._doubt(place)) + arb(Fraction(1, 2**41))


@pytest.mark.parametrize("name", THINNED)
def test_doubtful_coins_around_their_probability_are_decided_exactly(name):
    thinned = Thinned(THINNED[name])
    for place in places_of(THINNED[name]):
        with flint.ctx.workprec(900):
            cells = int((coin(thinned, place) * flint.arb(2) ** 144).floor().unique_fmpz())
        first, second, third = cells >> 128, (cells >> 64) % WORD, cells % WORD
        near = [(first, second + step, 0) for step in (-(2**50), -(2**20), -1, 1, 2**20, 2**50)]
        near += [(first, second, third - 1), (first, second, third + 1), (first - 1, WORD - 1, 0), (first + 1, 0, 0)]
        for bits in near:
            if not (0 <= bits[0] < 1 << 16 and all(0 <= word < WORD for word in bits)):
                continue
            with swapped(Script([bits[1]], then=Constant(bits[2]))):
                assert thinned._is_heads(place, bits[0]) == (bits < (first, second, third))


def test_tails_are_drawn_again(monkeypatch):
    thinned = Thinned(Fraction(20))
    tosses = iter([False] * 5)
    monkeypatch.setattr(thinned, "_doubt", lambda _: 1.0)
    monkeypatch.setattr(thinned, "_is_heads", lambda _place, _coin: next(tosses, True))
    assert thinned._tails(np.arange(9)).tolist() == [0, 1, 2, 3, 4]
    assert thinned.draw(50).shape == (50,)


@pytest.mark.parametrize("name", NARROW)
def test_no_integer_mass_exceeds_its_probability_and_little_is_left(name):
    table = RoundedTable(SCALES[name])
    assert sum(table._masses) + table._residual == WORD
    assert 0 < table._residual < WORD >> 35
    masses = dict(zip(table._outcomes.tolist(), table._masses, strict=True))
    assert set(masses) == set(range(-table._reach, table._reach + 1))
    assert table._reach >= 8 * SCALES[name]
    with flint.ctx.workprec(160):
        for place in range(0, table._reach + 1, max(table._reach // 600, 1)):
            assert masses[place] == masses[-place]
            assert arb(Fraction(masses[place], WORD)) <= rounded_mass(SCALES[name], place)


@pytest.mark.parametrize(
    "scale", [Fraction(1), Fraction(5, 4), Fraction(3.7), Fraction(16), Fraction(1023.7)], ids=float
)
def test_the_gauss_rule_gives_the_masses_to_more_digits_than_the_table_relies_on(scale):
    table = RoundedTable(scale)
    weights = table._float_weights(np.arange(table._reach + 1.0))
    with flint.ctx.workprec(160):
        height = arb(scale) * (2 * flint.arb.pi()).sqrt()
        for place in range(0, table._reach + 1, max(table._reach // 200, 1)):
            truth = height * rounded_mass(scale, place)
            assert abs(arb(weights[place]) - truth) < truth * arb(Fraction(1, 2**44))


@pytest.mark.parametrize(("name", "bits"), [("1/3", 8), ("1", 8), ("3.7", 8), ("16", 10)])
def test_a_table_that_often_leaves_it_to_the_residual_has_the_law(name, bits, rounds):
    table = RoundedTable(SCALES[name], mass_bits=bits)
    assert table._residual >= WORD >> 8
    draws = table.draw(rounds(sample=2_000, full=50_000))
    assert_fits(RoundedGaussian(SCALES[name]), draws, comparisons=4, degrees=2)


def test_the_walk_goes_on_beyond_the_table():
    table = RoundedTable(Fraction(1, 2))
    with precision(600):
        far = [table._walk((1 << 192) - 1 - step, 192) for step in (2**60, 2**100, 2**120)]
    assert any(outcome is not None and abs(outcome) > table._reach for outcome in far)


@pytest.fixture
def tables(monkeypatch):
    """Every scale a table was asked for."""
    asked = []
    original = module.rounded_table
    monkeypatch.setattr(module, "rounded_table", lambda scale: asked.append(scale) or original(scale))
    return asked


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(31, 2)], ids=str)
def test_a_table_of_few_columns_is_made_at_once(scale, tables):
    RoundedSampler(scale).draw(1)
    assert tables == [scale]


@pytest.mark.parametrize("scale", [Fraction(16), Fraction(1000)], ids=str)
def test_a_larger_table_is_made_once_many_draws_were_asked(scale, tables):
    sampler = RoundedSampler(scale)
    sampler.draw(10)
    assert tables == []
    sampler.draw(10**6)
    assert tables == [scale]


def test_a_wide_law_needs_no_table_of_its_own(tables):
    RoundedSampler(Fraction(1024)).draw(10**6)
    assert tables == []


@pytest.mark.parametrize("exponent", [-600, -520, -100, -10, -3, 100, 600])
def test_every_scale_a_law_accepts_can_be_drawn(exponent):
    law = RoundedGaussian(Fraction(2) ** exponent)
    with within(30):
        one, few, more = law.sample(), law.sample(20), law.sample(300)
    assert bool(np.any(more)) == (exponent > 0) or exponent == -3
    assert type(one) is int
    assert few.dtype == (object if exponent > 0 else np.int64)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 64, 257, 16_385])
@pytest.mark.parametrize("scale", [1, 20, 2**30])
def test_as_many_draws_as_asked(scale, count):
    drawn = RoundedSampler(Fraction(scale)).draw(count)
    assert drawn.shape == (count,)
    assert drawn.dtype == np.int64


def test_a_table_is_made_once_for_a_scale():
    assert rounded_table(Fraction(77)) is rounded_table(Fraction(77))


@pytest.mark.parametrize("scale", [1, 20, 2**30])
def test_single_draws_from_the_stock_have_the_law(scale, rounds):
    law = RoundedGaussian(scale)
    draws = np.array([law.sample() for _ in range(rounds(sample=20_000, full=500_000))])
    assert_fits(law, draws, comparisons=3, degrees=2)
