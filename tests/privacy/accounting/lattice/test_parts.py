"""The parts of the tilted lattice: quadrature, the two maps, the transform and its error bounds."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.privacy.accounting.lattice.cells import AtomSource, Grid, LatticeAtoms, LossMeasure, Reach
from discreet.privacy.accounting.lattice.composition import compose
from discreet.privacy.accounting.lattice.densities import ExponentialDensity, NormalDensity, laid_out
from discreet.privacy.accounting.lattice.fft_bounds import ASSUMED_UNITS, UNIT, SpectrumProduct
from discreet.privacy.accounting.lattice.loss_map import LossMap, SamplingKind
from discreet.privacy.accounting.lattice.rounding_maps import TiltedLaw, lowered, raised
from discreet.privacy.accounting.lattice.sources import source_of
from discreet.privacy.pairs.derived import PoissonPair, Side
from discreet.privacy.pairs.laplace import LaplacePair
from discreet.privacy.pairs.worst_pairs import NormalPair, PureApproxPair

REACH = Reach(-80.0, -80.0)


def curve(law: TiltedLaw, level: float) -> float:
    """Return infinite + the sum of mass * max(0, 1 - e^(level - loss)) of a law on a grid."""
    loss = law.grid.loss(np.arange(len(law.weight)) + law.first)
    mass = law.weight * np.exp(law.log_scale - law.theta * loss)
    return law.infinite + float(np.sum(mass * np.maximum(-np.expm1(level - loss), 0.0)))


def discrete(losses: list[float], weights: list[float]) -> LossMeasure:
    """Return a measure with atoms of the given weights, scaled to mass 1."""
    mass = np.array(weights) / np.sum(weights)
    return LossMeasure(LatticeAtoms(np.array(losses), np.log(mass), np.full(len(losses), 1e-15)), None, 0.0, 0.0)


def true_curve(losses: list[float], weights: list[float], level: float) -> float:
    """Return the curve of those atoms."""
    mass = np.array(weights) / np.sum(weights)
    return float(np.sum(mass * np.maximum(-np.expm1(level - np.array(losses)), 0.0)))


ATOMS = st.lists(st.tuples(st.floats(-3, 3), st.floats(0.01, 1)), min_size=1, max_size=12)


@pytest.mark.theorem("raised.privacy", "lowered.privacy")
@settings(max_examples=100)
@given(ATOMS, st.floats(0.01, 1.0), st.floats(-1, 1), st.floats(0, 5), st.floats(-4, 4))
def test_one_map_only_raises_the_curve_and_the_other_only_lowers_it(atoms, step, anchor, theta, level):
    losses, weights = [loss for loss, _ in atoms], [weight for _, weight in atoms]
    grid, measure = Grid(step, anchor), discrete(losses, weights)
    above, below = raised(measure, grid, theta), lowered(measure, grid, theta)
    truth = true_curve(losses, weights, level)
    assert curve(above, level - above.shift) >= truth * (1 - 1e-12) - 1e-15
    assert curve(below, level + below.shift) <= truth * (1 + 1e-12) + 1e-15


@pytest.mark.theorem("raised.privacy", "lowered.privacy")
@pytest.mark.parametrize("step", [0.3, 0.1, 0.03])
@pytest.mark.parametrize(
    "pair",
    [
        NormalPair(1),
        LaplacePair(Fraction(13, 10)),
        PureApproxPair(Fraction(7, 10), 1e-3),
        PoissonPair(NormalPair(2), 0.1, Side.REMOVE),
        PoissonPair(LaplacePair(2), 0.3, Side.ADD),
    ],
)
def test_the_curve_of_a_release_lies_between_those_of_its_two_layouts(pair, step):
    source = source_of(pair, REACH)
    grid = Grid(step, 0.0)  # atoms are off the grid here
    above = raised(source.measure(grid, REACH, upper=True), grid, 1.0)
    below = lowered(source.measure(grid, REACH, upper=False), grid, 1.0)
    for level in np.linspace(-3, 3, 61):
        truth = pair.delta(float(level))
        assert curve(above, level - above.shift) >= truth.lower * (1 - 1e-12)
        assert curve(below, level + below.shift) <= truth.upper * (1 + 1e-12)


@pytest.mark.theorem("raised.accuracy", "lowered.accuracy")
def test_both_layouts_of_a_density_are_of_second_order_and_an_atom_off_the_grid_costs_little_more():
    def gaps(pair, level):
        found = []
        for step in (0.08, 0.04, 0.02):
            grid, source = Grid(step, 0.0), source_of(pair, REACH)
            above = raised(source.measure(grid, REACH, upper=True), grid, 0.0)
            below = lowered(source.measure(grid, REACH, upper=False), grid, 0.0)
            found.append((curve(above, level) - pair.delta(level).upper, pair.delta(level).lower - curve(below, level)))
        return found

    smooth = gaps(NormalPair(1), 0.013)
    for side in (0, 1):
        # the gap depends on where the level lies within its cell, so the order shows in the largest ratio's size
        assert all(gap[side] < 0.1 * step * step for gap, step in zip(smooth, (0.08, 0.04, 0.02), strict=True))
    atoms = gaps(LaplacePair(Fraction(13, 10)), 0.5)
    assert all(gap[1] < 0.3 * step**1.5 for gap, step in zip(atoms, (0.08, 0.04, 0.02), strict=True))


@pytest.mark.theorem("laid_out.accuracy")
@pytest.mark.parametrize("kind", list(SamplingKind))
@pytest.mark.parametrize("density", [NormalDensity(1.5), NormalDensity(0.02), ExponentialDensity(2.0, -2.0)])
@pytest.mark.parametrize("step", [0.5, 0.01])
def test_quadrature_gives_masses_and_moments_of_half_cells(density, kind, step):
    rate = 1.0 if kind is SamplingKind.NONE else 0.2
    mapped, grid = LossMap.of(kind, rate), Grid(step, 0.0)
    nodes, wobble = laid_out(density, mapped, grid, REACH)
    assert nodes.error < 1e-15
    assert wobble < 1e-12
    mass = np.exp(nodes.log_mass)
    q_mass = mass * np.exp(-nodes.loss)
    if isinstance(density, NormalDensity) and kind is not SamplingKind.FIXED:
        # all of P's mass, and of Q's where P is not zero, up to the tails beyond reach
        assert math.fsum(mass) == pytest.approx(1.0, abs=1e-12)
        assert math.fsum(q_mass) == pytest.approx(1.0, abs=1e-12)
    cell = np.floor(nodes.loss / (step / 2) + 1e-9)
    assert np.all(np.abs(cell - nodes.half_cell) <= 1)
    # a finer rule for one half-cell agrees to the last digits
    if kind is SamplingKind.NONE:
        chosen = nodes.half_cell == 1
        low, high = (density.place(np.array([edge]))[0] for edge in (step / 2, step))
        x = low + (high - low) * (np.arange(20000) + 0.5) / 20000
        fine = float(np.sum(np.exp(density.log_density(x)))) * (high - low) / 20000
        assert float(np.sum(mass[chosen])) == pytest.approx(fine, rel=1e-6)


def exact_transform(vector: np.ndarray) -> list[complex]:
    """Return the discrete Fourier transform by its definition, in balls of 160 bits."""
    size = len(vector)
    with flint.ctx.workprec(160):
        roots = [flint.acb(0, flint.arb(-2 * k) / size * flint.arb.pi()).exp() for k in range(size)]
        values = [flint.arb(float(x)) for x in vector]
        return [
            sum((x * roots[(k * j) % size] for j, x in enumerate(values)), flint.acb(0)) for k in range(size // 2 + 1)
        ]


@pytest.mark.parametrize("size", [8, 30, 128, 250, 384])
def test_the_transform_is_far_better_than_assumed(size):
    generator = np.random.default_rng(size)
    for vector in (generator.random(size), np.exp(-np.arange(size) / 3.0), np.eye(size)[1], np.ones(size)):
        truth = exact_transform(vector)
        computed = np.fft.rfft(vector)
        with flint.ctx.workprec(160):
            off = [
                float(abs(flint.acb(complex(c).real, complex(c).imag) - t).mid())
                for c, t in zip(computed, truth, strict=True)
            ]
        norm = math.sqrt(sum(abs(complex(t)) ** 2 for t in truth))
        allowed = ASSUMED_UNITS * UNIT * math.log2(size)
        assert math.sqrt(sum(one * one for one in off)) <= allowed * norm
        assert max(off) <= allowed * float(np.sum(np.abs(vector)))
        back = np.fft.irfft(computed, n=size)
        assert np.linalg.norm(back - vector) <= 2 * allowed * np.linalg.norm(vector)


@pytest.mark.theorem("SpectrumProduct.accuracy")
@pytest.mark.parametrize("times", [1, 7, 300])
def test_powers_of_spectra_stay_within_their_bound(times):
    success = 0.3
    product = SpectrumProduct(1024)
    vector = np.zeros(1024)
    vector[:2] = 1 - success, success
    product.multiply(vector, times)
    values, error = product.inverse()
    with flint.ctx.workprec(200):
        p = flint.arb(success)
        q = flint.arb(1 - success)
        truth = [float(flint.arb(math.comb(times, j)) * p**j * q ** (times - j)) for j in range(min(times, 1023) + 1)]
    wrong = values.copy()
    wrong[: len(truth)] -= truth
    assert float(np.linalg.norm(wrong)) <= error < 1e-9


def test_the_window_of_a_heavy_tailed_law_is_small_and_what_it_leaves_out_is_counted():
    weight = np.full(20_001, 1e-12)
    weight[:2] = 0.5, 0.5
    law = TiltedLaw(Grid(0.01, 0.0), 0, weight / weight.sum(), 0.0, 0.0, 0.0, 0.0)
    composed = compose([(law, 100)], upper=True)
    assert len(composed.weight) < 100_000
    assert 0.0 < composed.alias < 1e-15
    # the largest sum has a chance of (1e-12)^100 and must not be lost
    assert composed.log_delta(100 * 200.0 - 1.0, upper=True) > 100 * math.log(1e-12)


@pytest.mark.parametrize(
    "rate", [Fraction(1, 10**400), 1e-260, 0.3, Fraction(10**17 - 1, 10**17), 1 - Fraction(1, 10**300)]
)
@pytest.mark.parametrize("kind", [SamplingKind.REMOVE, SamplingKind.ADD])
def test_the_loss_of_a_sample_is_known_up_to_its_doubt_at_every_rate(rate, kind):
    mapped = LossMap.of(kind, rate)
    base = np.concatenate([np.linspace(-1000, 1000, 81), [-1e-9, 1e-9, 0.1, -0.1, 38.0, -38.0, 610.0]])
    loss = mapped.loss(base)
    doubt = mapped.doubt(base, loss) + 16 * UNIT * np.abs(loss)
    turn = -1 if kind is SamplingKind.ADD else 1
    exact = Fraction(rate)
    with flint.ctx.workprec(4000):
        share = flint.arb(exact.numerator) / exact.denominator
        for t, found, allowed in zip(base, loss, doubt, strict=True):
            truth = turn * ((1 - share) + share * (turn * flint.arb(float(t))).exp()).log()
            assert float(abs(truth - flint.arb(float(found))).mid()) <= allowed
    back = mapped.inverse(loss)
    inner = np.isfinite(back)
    assert np.all(np.abs(mapped.loss(back[inner]) - loss[inner]) <= 8 * doubt[inner] + 1e-12)


def test_a_lower_law_never_has_negative_mass():
    unsure = LossMeasure(LatticeAtoms(np.array([0.0, 0.35]), np.log([0.5, 0.5]), np.array([0.8, 3.0])), None, 0.0, 0.0)
    grid = Grid(0.1, 0.0)
    assert np.all(lowered(unsure, grid, 1.0).weight >= 0.0)
    above = raised(unsure, grid, 0.0)
    assert float(np.sum(above.weight)) * math.exp(above.log_scale) >= 0.5 * (math.exp(0.8) + math.exp(3.0))


def test_atoms_that_differ_by_rounding_have_no_spacing():
    atoms = LatticeAtoms.of([-0.1, 0.1, 0.1 + 2e-17, math.nextafter(0.1, 1.0)], [-1.0] * 4, 0.0)
    wide = LatticeAtoms.of([-3.0, 0.1], [-1.0] * 2, 0.0)
    source = AtomSource((wide, atoms), (0.0, 0.0), 0.0)
    assert source.lattice() == (-0.1, pytest.approx(0.2))
    assert source.extent(REACH)[0] == -3.0


def test_infinite_parts_of_measures_heavier_than_a_law_are_counted_in_full():
    law = TiltedLaw(Grid(0.1, 0.0), 0, np.array([1.0]), math.log(1.1), 0.0, 0.2, 0.0, math.log(1.3))
    assert compose([(law, 2)], upper=True).infinite >= 1.3**2 - 1.1**2
