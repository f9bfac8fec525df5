"""Patient answers of the lattice: losses capped above every level, atoms split from below, several tilts."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import privacy
from discreet.privacy import Relation
from discreet.privacy.accounting.effort import Effort
from discreet.privacy.accounting.lattice import enclose_delta, enclose_epsilon
from discreet.privacy.accounting.lattice.capped import CappedSource
from discreet.privacy.accounting.lattice.cells import AtomSource, Grid, LatticeAtoms, Reach
from discreet.privacy.accounting.lattice.composition import Composed, SplitComposed, compose
from discreet.privacy.accounting.lattice.densities import DensitySource, NormalDensity
from discreet.privacy.accounting.lattice.loss_map import LossMap, SamplingKind
from discreet.privacy.accounting.lattice.rounding_maps import raised, split_down
from discreet.privacy.pairs import Side
from tests.privacy.accounting.finite import Atoms, curve_of, product, table
from tests.privacy.accounting.lattice.test_parts import curve, discrete, true_curve
from tests.privacy.accounting.references import ball, precise
from tests.privacy.accounting.subsampled import Subsampled, subsampled

REACH = Reach(-80.0, -80.0)
ATOMS = st.lists(st.tuples(st.floats(-1, 3), st.floats(0.01, 1)), min_size=2, max_size=6, unique_by=lambda one: one[0])
THIRDS = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)), (Fraction(1, 5), Fraction(3, 10), Fraction(1, 2))


def source(losses: list[float], weights: list[float]) -> AtomSource:
    """Return a release with those atoms, known exactly."""
    atoms = discrete(losses, weights).atoms
    return AtomSource((atoms, atoms), (0.0, 0.0), 0.0)


@pytest.mark.theorem("CappedSource.privacy")
@settings(max_examples=100)
@given(ATOMS, st.floats(0.01, 0.5), st.floats(-1, 1), st.floats(0, 5), st.floats(0, 2), st.floats(-3, 4))
def test_a_cap_changes_no_curve_at_levels_below_it_and_lowers_none(atoms, step, anchor, theta, cap, level):
    losses, weights = [loss for loss, _ in atoms], [weight for _, weight in atoms]
    grid, plain, capped = Grid(step, anchor), source(losses, weights), CappedSource(source(losses, weights), cap)
    truth = true_curve(losses, weights, level)
    above = raised(capped.measure(grid, REACH, upper=True), grid, theta)
    assert curve(above, level - above.shift) >= truth * (1 - 1e-12) - 1e-15
    before = raised(plain.measure(grid, REACH, upper=True), grid, theta)
    if level <= cap:
        assert curve(above, level) == pytest.approx(curve(before, level), rel=1e-9, abs=1e-12)
    if level <= cap:
        least = split_down(capped.measure(grid, REACH, upper=False), grid, theta)
        assert curve(least, level) <= curve(before, level) * (1 + 1e-12) + 1e-15
        assert curve(least, level) == pytest.approx(curve(before, level), rel=1e-9, abs=1e-12)


@pytest.mark.theorem("CappedSource.privacy")
def test_a_capped_density_keeps_its_curve_below_the_cap():
    grid = Grid(0.01, 0.0)
    law = LossMap.of(SamplingKind.REMOVE, Fraction(1, 100))
    plain = DensitySource(NormalDensity(2.0), LatticeAtoms.of([], [], 0.0), law)
    capped = CappedSource(DensitySource(NormalDensity(2.0), LatticeAtoms.of([], [], 0.0), law), 0.4)
    one, other = (raised(each.measure(grid, REACH, upper=True), grid, 0.0) for each in (plain, capped))
    assert len(other.weight) < len(one.weight) / 4
    for level in (0.0, 0.1, 0.37, 0.4):
        assert curve(other, level) == pytest.approx(curve(one, level), rel=1e-10)
    assert curve(other, 3.0) > 1.1 * curve(one, 3.0)


def split(losses: list[float], weights: list[float], count: int, grid: Grid, theta: float) -> SplitComposed:
    """Compose some atoms, split from below."""
    measure = discrete(losses, weights)
    found = compose([(split_down(measure, grid, theta), count)], upper=False)
    local = compose([(raised(measure, grid, theta), count)], upper=True)
    columns = {name: getattr(found, name) for name in Composed.__slots__}
    return SplitComposed(**columns, local=local, spread=grid.step * math.sqrt(count) / 2)


@pytest.mark.theorem("SplitComposed.log_delta.accuracy")
@settings(max_examples=100)
@given(ATOMS, st.floats(1e-4, 0.3), st.integers(1, 4), st.floats(0, 5), st.floats(-1, 6))
def test_split_atoms_less_what_splitting_adds_never_exceed_the_sum_over_all_outcomes(atoms, step, count, theta, level):
    losses, weights = [loss for loss, _ in atoms], [weight for _, weight in atoms]
    total = math.fsum(weights)
    truth = math.fsum(
        math.prod(weights[one] / total for one in chosen)
        * max(-math.expm1(level - math.fsum(losses[one] for one in chosen)), 0.0)
        for chosen in itertools.product(range(len(losses)), repeat=count)
    )
    found = split(losses, weights, count, Grid(step, losses[0]), theta).log_delta(level, upper=False)
    assert math.exp(found) <= truth * (1 + 1e-10) + 1e-13


@pytest.mark.theorem("SplitComposed.log_delta.accuracy")
def test_what_splitting_adds_is_subtracted_where_it_is_largest():
    # two outcomes, and the level on the kink of one: the split law alone exceeds the truth there
    losses, weights, grid = [0.0, 0.05, 1.0], [1.0, 1.0, 1.0], Grid(0.1, 0.0)
    found = split(losses, weights, 1, grid, 0.0)
    truth = true_curve(losses, weights, 0.05)
    assert math.exp(Composed.log_delta(found, 0.05, upper=False)) > truth * 1.01
    assert math.exp(found.log_delta(0.05, upper=False)) < truth
    fine = split(losses, weights, 1, Grid(0.1 / 128, 0.03), 0.0)
    assert math.exp(fine.log_delta(0.3, upper=False)) == pytest.approx(true_curve(losses, weights, 0.3), rel=1e-9)


@pytest.mark.parametrize("steps", [2, 25])
@pytest.mark.parametrize("rate", [Fraction(1, 10_000), Fraction(1, 100), Fraction(1, 3)])
@pytest.mark.parametrize("side", list(Side))
def test_patient_answers_for_tables_hold_the_sum_over_all_outcomes_in_balls(rate, steps, side):
    p, q = THIRDS
    mixed = [(1 - rate) * b + rate * a for a, b in zip(p, q, strict=True)]
    truth = curve_of(table(*((mixed, q) if side is Side.REMOVE else (q, mixed)), steps))
    loss = privacy.subsample(privacy.table_loss(p, q, relation=Relation.ADD_REMOVE), rate=rate)
    pairs = [(loss.parts[0][0].towards(side)[0], steps)]
    for delta in (1e-7, 1e-5):
        usual = (loss * steps).remove if side is Side.REMOVE else (loss * steps).add
        highest = usual.epsilon(delta).upper
        found = enclose_epsilon(pairs, delta, tolerance=1e-4 * highest, effort=Effort.PATIENT, highest=highest)
        assert not truth(found.upper) > ball(delta)
        assert found.lower == 0.0 or not truth(found.lower) < ball(delta)
        level = highest / 2
        there = enclose_delta(pairs, level, tolerance=1e-4, effort=Effort.PATIENT)
        assert not truth(level) < ball(there.lower)
        assert not truth(level) > ball(there.upper)


@precise
def sampled_integer_gaussian(scale: Fraction, rate: Fraction, reach: int) -> tuple[Atoms, object]:
    """Return the outcomes of integer Gaussian noise on a Poisson sample, the person removed, and the mass left out."""
    weights = {x: (-ball(Fraction(x * x) / (2 * scale * scale))).exp() for x in range(-reach - 1, reach + 2)}
    total = sum(weights.values(), flint.arb(0))
    near, share = ball(1 - rate), ball(rate)
    atoms = [
        ((near * weights[x] + share * weights[x - 1]) / total, weights[x] / total) for x in range(-reach, reach + 1)
    ]
    return atoms, 2.0**-200


def test_a_patient_answer_for_integer_noise_holds_the_truth_in_balls():
    case = Subsampled("integer Gaussian", 0.749, 0.0004349, 2, 6.55e-11)
    atoms, lost = sampled_integer_gaussian(Fraction(0.749), Fraction(0.0004349), 24)
    truth = curve_of(product(atoms, atoms), lost=lost)
    found = case.loss().remove.epsilon(case.delta)
    assert found.width <= 1e-6 * found.upper
    assert not truth(found.upper) > ball(case.delta)
    assert not truth(found.lower) < ball(case.delta)
    # and it is sharp: a millionth away the truth is on the other side
    assert truth(found.upper * (1 + 2e-6)) < ball(case.delta)
    assert truth(found.lower * (1 - 2e-6)) > ball(case.delta)


def test_patient_answers_lie_within_the_usual_ones(rounds):
    for case in subsampled(rounds(sample=10, full=300), seed=23):
        if case.steps == 1 or case.steps > 20_000:
            continue
        loss = case.loss()
        for side in Side:
            pairs = [(loss.parts[0][0].towards(side)[0], case.steps)]
            usual = enclose_epsilon(pairs, case.delta, tolerance=1e-3, effort=Effort.QUICK)
            if not 0 < usual.upper < math.inf:
                continue
            found = enclose_epsilon(
                pairs, case.delta, tolerance=1e-3 * usual.upper, effort=Effort.PATIENT, highest=usual.upper
            )
            assert max(found.lower, usual.lower) <= min(found.upper, usual.upper), str(case)
            answer = (loss.remove if side is Side.REMOVE else loss.add).epsilon(case.delta)
            assert max(found.lower, answer.lower) <= min(found.upper, answer.upper), str(case)


def test_a_highest_level_that_is_too_low_keeps_the_answer_sound():
    pairs = [(Subsampled("Gaussian", 1, 0.01, 1, 1e-5).loss().parts[0][0].towards(Side.REMOVE)[0], 100)]
    truth = enclose_epsilon(pairs, 1e-5, tolerance=1e-5)
    found = enclose_epsilon(pairs, 1e-5, tolerance=truth.upper, effort=Effort.PATIENT, highest=truth.lower / 3)
    assert found.lower <= truth.lower / 3
    assert found.upper >= truth.lower


def test_an_answer_of_zero_is_exact_where_losses_lie_on_a_lattice():
    case = Subsampled("randomized response", 3.71, 0.0001279, 437, 0.00064)
    found = case.loss().epsilon(case.delta)
    assert (found.lower, found.upper) == (0.0, 0.0)
    assert case.loss().delta(0.0).upper <= case.delta


def test_capped_losses_keep_mass_and_infinity_within_one():
    found = CappedSource(source([0.0, 5.0, 9.0], [1.0, 1.0, 2.0]), 1.0).measure(Grid(0.25, 0.0), REACH, upper=True)
    total = found.infinite + float(np.sum(np.exp(found.atoms.log_mass)))
    assert total == pytest.approx(1.0, abs=1e-12)
    assert found.infinite > 0.7
