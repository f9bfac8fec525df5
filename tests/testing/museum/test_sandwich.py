"""A pair held between a coarser and a finer one: both ends are right, close together, and survive every operation."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.privacy.pairs.laplace import LaplacePair
from discreet.testing.museum.laws.floating_pair import alike, finite_pair
from discreet.testing.museum.laws.laplace_products import laplace_product
from discreet.testing.museum.laws.quadrature import Panels, cut, laplace_below, laplace_between, laplace_density
from discreet.testing.museum.laws.sandwich import PairAtoms, Sandwich, mixture, power_curve

EPSILONS = (0.0, 0.01, 0.05, 0.09, 0.3, 1.0)
ALPHAS = (1e-7, 1e-3, 0.05, 0.5, 0.9)


@pytest.mark.parametrize("moved", [Fraction(1, 10), Fraction(1), Fraction(10)])
def test_one_laplace_answer_agrees_with_the_closed_form(moved: Fraction) -> None:
    exact, held = LaplacePair(moved), laplace_product(float(moved), 1)
    for epsilon in EPSILONS:
        truth, found = exact.delta(epsilon), held.delta(epsilon)
        assert found.lower <= truth.upper
        assert truth.lower <= found.upper
        assert found.width < 1e-3 * float(moved) ** 2 + 1e-11
    for alpha in ALPHAS:
        truth, found = exact.tradeoff(alpha), held.tradeoff(alpha)
        assert found.lower <= truth.upper
        assert truth.lower <= found.upper
    assert held.max_loss().estimate == pytest.approx(float(moved))


def test_products_of_laplace_answers_agree_with_a_plain_grid() -> None:
    # three answers moved by half a scale, on a grid of cubes: publishing the cube is post-processing
    edges = np.array([-np.inf, *np.linspace(0, 0.5, 41), np.inf])
    p, q = (laplace_between(edges[:-1] - shift, edges[1:] - shift) for shift in (0.5, 0.0))
    joint = [np.einsum("i,j,k->ijk", mass, mass, mass).ravel() for mass in (p, q)]
    pair = laplace_product(0.5, 3)
    for epsilon in (0.0, 0.4, 1.0):
        grid = float(np.maximum(joint[0] - math.exp(epsilon) * joint[1], 0.0).sum())
        assert pair.delta(epsilon).estimate == pytest.approx(grid, abs=1e-4)
        assert pair.delta(epsilon).upper >= grid
        assert pair.delta(epsilon).width < 1e-5


masses = st.lists(st.floats(0.01, 1.0), min_size=2, max_size=12)


@settings(deadline=None)
@given(masses, st.data())
def test_the_coarser_side_never_exceeds_the_finer_one(weights: list[float], data: st.DataObject) -> None:
    count = len(weights)
    p = np.array(weights) / sum(weights)
    ratios = np.array(data.draw(st.lists(st.floats(-2, 2), min_size=count, max_size=count)))
    q = p * np.exp(-ratios)
    scale = q.sum()
    q, ratios = q / scale, ratios + math.log(scale)
    spread = np.array(data.draw(st.lists(st.floats(0, 0.5), min_size=count, max_size=count)))
    pair = Sandwich.of_cells(p, q, ratios - spread, ratios + spread)
    for one in (pair, pair.reversed(), pair.times(pair), pair.times(pair).compressed(16), pair.merged()):
        assert one.outer.p.sum() == pytest.approx(1.0)
        assert one.outer.q.sum() == pytest.approx(1.0)
        assert one.inner.p.sum() == pytest.approx(1.0)
        for epsilon in EPSILONS:
            enclosure = one.delta(epsilon)
            assert enclosure.lower <= enclosure.upper
        errors = [one.tradeoff(alpha) for alpha in ALPHAS]
        assert all(0 <= error.lower <= error.upper <= 1 for error in errors)
    gathered, plain = pair.times(pair).compressed(16), pair.times(pair)
    for epsilon in EPSILONS:
        assert gathered.delta(epsilon).lower <= plain.delta(epsilon).lower + 1e-12
        assert gathered.delta(epsilon).upper >= plain.delta(epsilon).upper - 1e-12


@st.composite
def cut_laws(draw: st.DrawFn) -> tuple[PairAtoms, Sandwich]:
    """Draw two laws on few outcomes, some impossible, and the sandwich that knows only cells of outcomes."""
    cells, each = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    weight = st.one_of(st.just(0.0), st.floats(1e-12, 1.0), st.floats(0.01, 1.0))
    p, q = (np.array(draw(st.lists(weight, min_size=cells * each, max_size=cells * each))) for _ in range(2))
    p[0], q[-1] = max(p[0], 1e-3), max(q[-1], 1e-3)
    p, q = p / p.sum(), q / q.sum()
    loss = np.where((p > 0) | (q > 0), PairAtoms(p, q).losses(), np.nan).reshape(cells, each)
    low, high = np.nanmin(loss, 1, initial=np.inf), np.nanmax(loss, 1, initial=-np.inf)
    return PairAtoms(p, q), Sandwich.of_cells(p.reshape(cells, each).sum(1), q.reshape(cells, each).sum(1), low, high)


def assert_held(pair: Sandwich, truth: PairAtoms) -> None:
    """The curve and the largest loss of the fine laws lie between the ends of what the cells say."""
    largest, found = float(np.max(truth.losses())), pair.max_loss()
    assert found.lower <= largest <= found.upper or math.isclose(found.estimate, largest, rel_tol=1e-11, abs_tol=1e-11)
    for epsilon in (-1.0, *EPSILONS, 3.0, 50.0, 800.0):
        with np.errstate(over="ignore", invalid="ignore"):
            level = float(np.exp(epsilon))
            terms = np.where(truth.q > 0, truth.p - level * truth.q, truth.p)
        delta = float(np.maximum(terms, 0.0).sum())
        assert pair.delta(epsilon).lower <= delta + 1e-15
        assert pair.delta(epsilon).upper >= delta - 1e-15
    for alpha in (0.0, *ALPHAS, 1.0):
        error = 1.0 - float(np.interp(alpha, *power_curve(truth)))
        assert pair.tradeoff(alpha).lower <= error + 1e-14
        assert pair.tradeoff(alpha).upper >= error - 1e-14


@settings(deadline=None, max_examples=60)
@given(cut_laws(), cut_laws(), st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_the_truth_stays_between_the_ends_under_every_operation(
    one: tuple[PairAtoms, Sandwich], two: tuple[PairAtoms, Sandwich], p: float, q: float
) -> None:
    (truth, pair), (other_truth, other) = one, two
    for form in (pair, pair.merged()):
        assert_held(form, truth)
        assert_held(form.reversed(), truth.reversed())
    both = truth.times(other_truth)
    both = PairAtoms(both.p[(both.p > 0) | (both.q > 0)], both.q[(both.p > 0) | (both.q > 0)])
    product = pair.times(other)
    for form in (product, product.compressed(2), product.compressed(8)):
        assert_held(form, both)
        assert_held(form.reversed(), both.reversed())
    parts = (
        [m * a for m, a in zip((p, q), truth, strict=True)],
        [(1 - m) * a for m, a in zip((p, q), other_truth, strict=True)],
    )
    mixed = PairAtoms(*(np.concatenate(sides) for sides in zip(*parts, strict=True)))
    assert_held(mixture([(p, q, pair), (1 - p, 1 - q, other)]), mixed)


def test_beyond_the_largest_level_only_the_impossible_is_certain() -> None:
    pair = Sandwich.of_atoms(np.array([1.0, 1e-306]), np.array([1e-306, 1.0]))  # losses of plus and minus 704.6
    assert pair.delta(699.0).lower == pytest.approx(0.99, abs=0.01)
    assert pair.delta(710.0).lower == 0.0
    assert pair.epsilon(0.5).lower < 705


def test_epsilon_is_infinite_where_the_impossible_weighs_more_than_delta() -> None:
    pair = Sandwich.of_atoms(np.array([0.1, 0.9, 0.0]), np.array([0.0, 0.7, 0.3]))
    assert pair.epsilon(0.05).lower == math.inf
    assert pair.epsilon(0.2).upper < 1


def test_a_part_that_never_occurs_tells_nothing() -> None:
    part = laplace_product(0.1, 1)
    pair = mixture([(1.0, 1.0, part), (0.0, 0.0, part)])
    for one in (pair, pair.reversed()):
        assert one.max_loss().estimate == pytest.approx(0.1)


def test_small_steps_of_loss_do_not_add_up_in_one_atom() -> None:
    _, starts = alike(np.linspace(0.0, 1e-11, 5001), 1e-14)  # each step is a fifth of the tolerance
    assert len(starts) > 500
    _, starts = alike(np.array([np.inf, 0.0, -np.inf, 0.0, np.inf, -np.inf]), 1e-14)
    assert starts.tolist() == [0, 2, 4]


def test_enclosures_say_that_they_rest_on_floating_point() -> None:
    finite = finite_pair(["a", "b"], np.array([0.25, 0.75]), np.array([0.5, 0.5]))
    for pair in (finite, finite.reversed(), laplace_product(0.1, 2), laplace_product(0.1, 2).reversed()):
        for one in (pair.delta(0.0), pair.max_loss(), pair.epsilon(0.01), pair.tradeoff(0.1)):
            assert "floating point" in one.method
            assert "not proven" in one.assumptions[0]


def test_infinite_losses_stay_infinite() -> None:
    pair = Sandwich.of_cells(
        np.array([0.1, 0.9, 0.0]), np.array([0.0, 0.7, 0.3]), np.array([0.0, 0.0, 0.0]), np.array([1.0, 1.0, 1.0])
    )
    assert pair.max_loss().lower == math.inf
    assert pair.reversed().max_loss().lower == math.inf
    assert pair.delta(50.0).lower == pytest.approx(0.1)
    assert pair.tradeoff(0.0).upper == pytest.approx(0.9)


def test_a_mixture_shows_its_parts() -> None:
    parts = [(0.25, 0.5, laplace_product(0.1, 1)), (0.75, 0.5, laplace_product(0.1, 2))]
    pair = mixture(parts)
    assert pair.max_loss().estimate == pytest.approx(math.log(1.5) + 0.2)
    assert pair.reversed().max_loss().estimate == pytest.approx(math.log(2) + 0.1)
    assert pair.delta(0.0).estimate == pytest.approx(0.25, abs=0.05)


def test_outcomes_of_one_loss_are_one_atom() -> None:
    pair = finite_pair(["a", "b", "c"], np.array([0.25, 0.5, 0.25]), np.array([0.125, 0.25, 0.625]))
    assert len(pair.outcomes) == 2
    assert pair.outcomes[1] == "c"
    assert pair.p_high[0] == pytest.approx(0.75)


def test_panels_integrate_smooth_pieces_to_the_last_digits() -> None:
    panels = Panels(cut(np.array([0.0]), width=1.0, reach=45.0), 12)
    density = laplace_density(panels.nodes)
    assert panels.integrals(density).sum() == pytest.approx(1.0, abs=1e-14)
    at_nodes, at_edges = panels.primitive(density)
    assert np.allclose(at_nodes, laplace_below(panels.nodes), rtol=1e-12, atol=1e-19)
    assert np.allclose(at_edges[1:], laplace_below(panels.edges[1:]), rtol=1e-12, atol=1e-19)


def test_chances_between_two_numbers_keep_their_digits_in_the_tails() -> None:
    low, high = np.array([-np.inf, -31.0, 30.0, -1.0, 2.0]), np.array([-30.0, -30.0, 31.0, 2.0, np.inf])
    expected = [
        math.exp(-30) / 2,
        math.exp(-30) * -math.expm1(-1) / 2,
        math.exp(-30) * -math.expm1(-1) / 2,
        1 - math.exp(-1) / 2 - math.exp(-2) / 2,
        math.exp(-2) / 2,
    ]
    assert np.allclose(laplace_between(low, high), expected, rtol=1e-13)
