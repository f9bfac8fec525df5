"""The references against each other: where two of them describe one release, they must give the same number."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import flint
import pytest

from tests.privacy.accounting import line_integral as contour
from tests.privacy.accounting import truths
from tests.privacy.accounting.finite import (
    beside,
    curve_of,
    discrete_gaussian,
    discrete_laplace,
    product,
    response,
    reversed_atoms,
    table,
    totals,
)
from tests.privacy.accounting.integrals import beside_normal
from tests.privacy.accounting.references import (
    BITS,
    approximate,
    ball,
    binomial,
    epsilon_of,
    gaussian,
    laplace,
    poisson_add,
    poisson_remove,
    positive,
    pure,
)

LEVELS = (0, 0.01, 0.3, 1, 4.5)


def same(first, second, *, bits=230):
    """Say whether two balls overlap and both are narrow, so that the comparison means something."""
    if first.is_zero() or second.is_zero():
        return abs(first - second) < 1e-60
    return first.overlaps(second) and min(first.rel_accuracy_bits(), second.rel_accuracy_bits()) > bits


def integral(function, low, high):
    """Integrate an analytic function of a real variable in balls."""
    with flint.ctx.workprec(BITS):
        return flint.acb.integral(lambda x, _: function(x), low, high, rel_tol=flint.arb(2) ** -260).real


@pytest.mark.parametrize("level", LEVELS)
def test_the_normal_curve_is_the_integral_of_the_positive_part(level):
    mu = 1.25
    edge = level / ball(mu) + ball(mu) / 2
    scale = (2 * flint.arb.pi()).sqrt()

    def excess(x):
        return ((-((x - mu) ** 2) / 2).exp() - ball(level).exp() * (-x * x / 2).exp()) / scale

    assert same(gaussian(Fraction(mu) ** 2)(level), integral(excess, edge, 40))


@pytest.mark.parametrize("level", LEVELS)
def test_one_laplace_release_has_its_textbook_curve(level):
    assert same(laplace(1.25)(level), positive(1 - ((ball(level) - 1.25) / 2).exp()))


@pytest.mark.parametrize("level", [-3.0, -0.375, 0, 0.0078125, 0.25, 1, 2.375])
def test_two_laplace_releases_are_the_integral_over_the_first_of_the_second(level):
    step, one = ball(1.25), laplace(1.25)
    ends = sorted({-1.25, 1.25, *(edge for edge in (level - 1.25, level + 1.25) if -1.25 < edge < 1.25)})
    inner = flint.arb(0)
    for low, high in pairwise(ends):
        below = level - (low + high) / 2

        def rest(s, below=below):
            shifted = level - s
            if below >= 1.25:
                return 0 * s
            return 1 - shifted.exp() if below <= -1.25 else 1 - ((shifted - step) / 2).exp()

        inner += integral(lambda s, rest=rest: ((s - step) / 2).exp() / 4 * rest(s), low, high)
    whole = inner + one(level - step) / 2 + (-step).exp() / 2 * one(level + step)
    assert same(laplace(1.25, 2)(level), whole)


@pytest.mark.parametrize("count", [1, 2, 7, 40])
@pytest.mark.parametrize("level", LEVELS)
def test_pure_privacy_is_randomized_response_between_two(count, level):
    atoms = response(0.25, 2, count)
    assert same(pure(0.25, count)(level), curve_of(atoms)(level))
    assert same(pure(0.25, count)(level), curve_of(discrete_laplace(4, 1, count))(level))
    assert same(approximate(0.25, 0, count)(level), pure(0.25, count)(level))


@pytest.mark.parametrize("level", LEVELS)
def test_binomial_tails_are_powers_of_a_table_of_two(level):
    p, q = (Fraction(2, 5), Fraction(3, 5)), (Fraction(1, 3), Fraction(2, 3))
    assert same(curve_of(table(p, q, 300))(level), binomial(300, p[0], q[0])(level))


def test_a_table_composes_with_itself_and_with_others():
    p, q = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6), Fraction(0)), (Fraction(1, 4),) * 4
    halves = product(table(p, q, 2), table(p, q, 3))
    response_table = table((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)), 4)
    for level in LEVELS:
        assert same(curve_of(halves)(level), curve_of(table(p, q, 5))(level))
        # randomized response with odds of 3 is pure with epsilon = log 3
        together = beside(pure(ball(3).log(), 4), table(p, q, 2))
        assert same(curve_of(product(response_table, table(p, q, 2)))(level), together(level))


def test_outcomes_that_one_law_excludes_cost_their_mass():
    p, q = (Fraction(1, 10), Fraction(9, 10), Fraction(0)), (Fraction(0), Fraction(9, 10), Fraction(1, 10))
    assert same(curve_of(table(p, q, 3))(50), ball(1 - Fraction(9, 10) ** 3))
    # the same leak as that of the worst (epsilon, delta) release
    leaky = product(table(p, q, 3), response(0.25, 2, 3))
    assert same(curve_of(leaky)(0.3), approximate(0.25, Fraction(1, 10), 3)(0.3))


@pytest.mark.parametrize("atoms", [response(0.2, 5, 30), discrete_laplace(3, 4, 12), discrete_gaussian(1.5, 2, 3)[0]])
def test_lattice_laws_lose_no_mass_and_obey_the_reflection_of_curves(atoms):
    first, second = totals(atoms)
    assert abs(first - 1) < 1e-90
    assert abs(second - 1) < 1e-90
    for level in (0.2, 1.0):
        # H(P, Q) at e equals 1 - e^e + e^e H(Q, P) at -e
        other = 1 - ball(level).exp() + ball(level).exp() * curve_of(reversed_atoms(atoms))(-level)
        assert abs(curve_of(atoms)(level) - other) < 1e-80


def test_categories_merge_into_a_table_of_three_outcomes():
    odds, categories, count = Fraction(3), 6, 9
    total = odds + categories - 1
    p = (odds / total, 1 / total, (categories - 2) / total)
    q = (1 / total, odds / total, (categories - 2) / total)
    for level in LEVELS:
        merged = curve_of(response(ball(3).log(), categories, count))(level)
        assert same(merged, curve_of(table(p, q, count))(level))


def test_wide_integer_gaussian_noise_is_nearly_continuous():
    atoms, lost = discrete_gaussian(12, 1, 40)
    curve = curve_of(atoms, lost=lost)
    for level in (0, 0.3, 1, 2):
        near, smooth = curve(level), gaussian(Fraction(40, 144))(level)
        assert near.rel_accuracy_bits() > 200
        assert abs(near / smooth - 1) < 2e-2


@pytest.mark.parametrize("shift", [1, 3])
def test_integer_gaussian_noise_composes_by_convolution(shift):
    once, lost = discrete_gaussian(0.75, shift, 1)
    twice, lost_twice = discrete_gaussian(0.75, shift, 2)
    heavy = [(p, q) for p, q in once if p > 1e-70 or q > 1e-70]
    for level in LEVELS:
        convolved = curve_of(product(heavy, heavy))(level)
        assert abs(convolved - curve_of(twice, lost=lost_twice)(level)) < 1e-60
        assert lost < 1e-150


@pytest.mark.parametrize("level", LEVELS)
def test_sampling_everyone_changes_nothing(level):
    for base in (gaussian(Fraction(3, 7)), laplace(0.7)):
        assert same(poisson_remove(base, 1)(level), base(level))
        assert same(poisson_add(base, 1)(level), base(level))


@pytest.mark.parametrize("level", [0, 0.01, 0.05, 0.2])
def test_sampling_a_table_is_mixing_it(level):
    p, q = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)), (Fraction(1, 7), Fraction(2, 7), Fraction(4, 7))
    rate = Fraction(1, 5)
    mixed = tuple((1 - rate) * b + rate * a for a, b in zip(p, q, strict=True))
    forward, backward = curve_of(table(p, q)), curve_of(table(q, p))
    assert same(poisson_remove(forward, rate)(level), curve_of(table(mixed, q))(level))
    assert same(poisson_add(backward, rate)(level), curve_of(table(q, mixed))(level))


def test_a_finite_release_beside_a_normal_one_of_no_weight_is_itself():
    p, q = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)), (Fraction(1, 4), Fraction(1, 4), Fraction(1, 2))
    for level in (0.1, 0.5):
        alone = curve_of(table(p, q, 4))(level)
        assert abs(beside(gaussian(Fraction(1, 10**60)), table(p, q, 4))(level) - alone) < 1e-29
    certain = table((Fraction(1),), (Fraction(1),))
    assert same(beside(gaussian(2), certain)(1), gaussian(2)(1))


@pytest.mark.parametrize("removing", [True, False])
def test_a_release_beside_gaussian_noise_agrees_with_what_is_known_of_both(removing):
    for level in (0.25, 2.0):
        whole = beside_normal(Fraction(1, 2), law="gaussian", scale=2, removing=removing)(level)
        assert same(whole, gaussian(Fraction(3, 4))(level), bits=150)
        for law, base in (("gaussian", gaussian(4)), ("laplace", laplace(2))):
            # nearly no other noise: the sampled release alone, up to the little that was added
            nearly = beside_normal(Fraction(1, 10**4), law=law, scale=0.5, rate=0.25, removing=removing)(level)
            alone = (poisson_remove if removing else poisson_add)(base, 0.25)(level)
            assert abs(nearly - alone) < 1e-3


@pytest.mark.parametrize("delta", [1e-2, 1e-12, 1e-300, Fraction(1, 10**400)])
def test_epsilon_inverts_the_curve(delta):
    for curve in (gaussian(Fraction(2, 5)), pure(0.02, 2000) if delta > 1e-30 else gaussian(9)):
        epsilon = epsilon_of(curve, delta)
        assert epsilon.rel_accuracy_bits() > 170
        assert curve(epsilon.lower()) >= ball(delta) >= curve(epsilon.upper())


def test_a_million_pure_releases_are_nearly_normal():
    epsilon = epsilon_of(pure(0.001, 10**6), 1e-5, digits=12)
    assert abs(float(epsilon) - truths.GAUSSIAN_MILLION) < 1e-3


def test_the_contour_agrees_with_the_closed_forms():
    laplaces = contour.laplace([0.25], 20, order=1.0, step=0.25, last=4000.0)
    assert same(laplaces.delta(76), laplace(4, 20)(76), bits=15)
    normals = contour.subsampled_gaussian(1, 5, 10, removing=True, order=4.0, step=0.5, last=100.0)
    assert same(normals.delta(2), gaussian(Fraction(10, 25))(2), bits=40)


@pytest.mark.parametrize(("name", "curve"), truths.CLOSED.items())
def test_stored_closed_forms_have_the_digits_they_claim(name, curve):
    delta, value = curve[1], curve[2]
    assert float(epsilon_of(curve[0](), delta, digits=25)) == pytest.approx(value, rel=1e-15, abs=0), name


@pytest.mark.soak
@pytest.mark.parametrize(("name", "stored"), truths.INTEGRALS.items())
def test_stored_integrals_have_the_digits_they_claim(name, stored):
    line, delta, value, doubt = stored
    found = epsilon_of(line().delta, delta, digits=15, least=0.9 * value)
    assert found.overlaps(flint.arb(value, doubt)), name
    assert found.rad() <= doubt, name


@pytest.mark.soak
def test_the_calibrated_scale_lies_where_it_is_claimed():
    low, high = (truths.subsampled(scale, order=6.5).delta(2) for scale in truths.CALIBRATED)
    assert low > truths.DELTA > high
    adding = truths.subsampled(truths.CALIBRATED[0], order=6.5, removing=False).delta(2)
    assert adding < truths.DELTA
