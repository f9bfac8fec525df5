"""Independent components: probabilities multiply, losses add, and the shift vector matters."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import flint
import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.laws import DiscreteGaussian, DiscreteLaplace, Finite, LocationPair, Product, ProductPair, RoundedGaussian
from tests.laws.agreement import DIGITS, arb, assert_fits, encloses, gaussian_mass, laplace_mass, rounded_mass


def shifted(kind, scale, shift):
    return Product([kind(scale, center=d) for d in shift]), Product([kind(scale)] * len(shift))


def test_probabilities_multiply():
    law = Product([DiscreteLaplace(1), DiscreteGaussian(2), Finite("ab", [Fraction(1, 4), Fraction(3, 4)])])
    expected = DiscreteLaplace(1).pmf(2) * DiscreteGaussian(2).pmf(-1) * 0.75
    assert law.pmf((2, -1, "b")) == pytest.approx(expected)
    assert law.pmf((2, -1, "elsewhere")) == 0.0


def test_components_are_drawn_independently_from_their_laws(rounds):
    laws = [DiscreteLaplace(2, center=5), DiscreteGaussian(3), DiscreteLaplace(1)]
    drawn = Product(laws).sample(rounds(sample=20_000, full=1_000_000))
    for index, law in enumerate(laws):
        assert_fits(law, drawn[:, index], comparisons=6)
    for first, second in itertools.combinations(range(3), 2):
        signs = 2 * (drawn[:, first] > laws[first].center) + (drawn[:, second] > laws[second].center)
        chance = [float(laws[i].sf(laws[i].center)) for i in (first, second)]
        table = [(1 - chance[0]) * (1 - chance[1]), (1 - chance[0]) * chance[1], chance[0] * (1 - chance[1])]
        exact = [Fraction(p) for p in [*table, chance[0] * chance[1]]]
        assert_fits(Finite(range(4), [p / sum(exact) for p in exact]), signs, comparisons=6)


@pytest.mark.parametrize(
    ("shift", "epsilon", "delta"),
    [((2,), 1, 0.540), ((1, 1, 1, 1), 1, 0.495), ((2,), 2, 0.267), ((1, 1, 1, 1), 2, 0.315)],
)
def test_the_vector_discrete_gaussian_is_not_rotation_invariant(shift, epsilon, delta):
    p, q = shifted(DiscreteGaussian, 1, shift)
    enclosed = p.pair(q).delta(epsilon)
    assert enclosed.estimate == pytest.approx(delta, abs=5e-4)
    assert enclosed.width < 1e-10


@pytest.mark.parametrize(
    ("kind", "mass"),
    [(DiscreteLaplace, laplace_mass), (DiscreteGaussian, gaussian_mass), (RoundedGaussian, rounded_mass)],
)
@pytest.mark.parametrize("shift", [(1, 1), (2, -1)])
def test_delta_is_the_sum_over_all_vectors(kind, mass, shift):
    scale = Fraction(1, 2)
    p, q = shifted(kind, scale, shift)
    pair = p.pair(q)
    with flint.ctx.workprec(DIGITS):
        places = range(-30, 31)
        beyond = arb(Fraction(1, 10**25)) if kind is DiscreteLaplace else arb(0)  # more than lies outside these places
        columns = [[(mass(scale, y - d), mass(scale, y)) for y in places] for d in shift]
        for epsilon in (-1, 0, 0.5, 2, 30, 45):
            factor = arb(epsilon).exp()
            gaps = (a[0] * b[0] - factor * a[1] * b[1] for a in columns[0] for b in columns[1])
            total = sum((gap for gap in gaps if gap > 0), arb(0))
            assert encloses(pair.delta(epsilon), total.union(total + beyond))
            assert pair.delta(epsilon).width < 1e-12


def test_the_suprema_of_the_losses_add():
    p, q = shifted(DiscreteLaplace, 2, (1, 2, 3))
    assert p.pair(q).max_loss().contains(3.0)
    assert p.pair(q).max_loss().width < 1e-14
    p, q = shifted(DiscreteGaussian, 2, (1, 2))
    assert p.pair(q).max_loss().upper == math.inf


def test_components_equal_on_both_sides_drop_out():
    p = Product([DiscreteLaplace(2, center=1), DiscreteGaussian(5, center=3)])
    q = Product([DiscreteLaplace(2), DiscreteGaussian(5, center=3)])
    pair = p.pair(q)
    assert isinstance(pair, LocationPair)
    assert pair.delta(0.1) == DiscreteLaplace(2, center=1).pair(DiscreteLaplace(2)).delta(0.1)


def test_equal_products_lose_nothing():
    law = Product([DiscreteLaplace(2), DiscreteGaussian(5)])
    pair = law.pair(Product([DiscreteLaplace(2), DiscreteGaussian(5)]))
    assert pair.delta(0).upper < 1e-14
    assert pair.max_loss().contains(0.0)


def test_finite_and_location_components_are_multiplied_out_together():
    coin, biased = Finite("ab", [Fraction(1, 2)] * 2), Finite("ab", [Fraction(1, 4), Fraction(3, 4)])
    pair = Product([coin, DiscreteLaplace(1, center=1)]).pair(Product([biased, DiscreteLaplace(1)]))
    assert isinstance(pair, ProductPair)
    assert pair.max_loss().contains(1 + math.log(2))
    parts = [coin.pair(biased), DiscreteLaplace(1, center=1).pair(DiscreteLaplace(1))]
    atoms = [(0.5, 0.25), (0.5, 0.75)]
    places = np.arange(-60, 61)
    expected = sum(
        np.maximum(
            p * DiscreteLaplace(1, center=1).pmf(places) - math.exp(0.3) * q * DiscreteLaplace(1).pmf(places), 0
        ).sum()
        for p, q in atoms
    )
    assert pair.delta(0.3).estimate == pytest.approx(expected, rel=1e-9)
    assert pair.delta(0.3).lower >= max(part.delta(0.3).lower for part in parts) - 1e-12


def test_the_reversed_pair_reverses_every_component():
    coin, biased = Finite("ab", [Fraction(1, 2)] * 2), Finite("ab", [Fraction(1, 4), Fraction(3, 4)])
    p, q = Product([coin, coin]), Product([biased, biased])
    assert p.pair(q).reversed().delta(0.2) == q.pair(p).delta(0.2)


def test_the_tradeoff_of_a_product_is_below_that_of_its_components():
    p, q = shifted(DiscreteLaplace, Fraction(1, 2), (1, 1))
    single = DiscreteLaplace(Fraction(1, 2), center=1).pair(DiscreteLaplace(Fraction(1, 2)))
    for alpha in (0.01, 0.2, 0.7):
        error = p.pair(q).tradeoff(alpha)
        assert error.lower <= single.tradeoff(alpha).upper
        assert error.width < 1e-9


def test_epsilon_inverts_delta():
    p, q = shifted(DiscreteGaussian, 3, (1, 1))
    pair = p.pair(q)
    epsilon = pair.epsilon(1e-3)
    assert pair.delta(epsilon.upper).upper <= 1e-3 < pair.delta(epsilon.lower).lower


def test_products_too_large_are_refused_with_advice():
    p, q = shifted(DiscreteGaussian, 40, (1, 1, 1))
    with pytest.raises(ParameterError, match="composition"):
        p.pair(q).delta(1)
    p, q = shifted(DiscreteLaplace, 2**30, (1, 1))
    with pytest.raises(ParameterError, match="composition"):
        p.pair(q).delta(1)


@pytest.mark.parametrize("outcome", [(), (1,), (1, 2, 3)])
def test_an_outcome_of_another_length_is_refused(outcome):
    with pytest.raises(ParameterError) as refusal:
        Product([DiscreteLaplace(1), DiscreteLaplace(1)]).pmf(outcome)
    assert refusal.value.parameter == "outcome"


def test_products_of_other_lengths_are_not_compared():
    law = Product([DiscreteLaplace(1), DiscreteLaplace(1)])
    for other in (Product([DiscreteLaplace(1)]), DiscreteLaplace(1), None):
        with pytest.raises(ParameterError):
            law.pair(other)


def test_a_product_of_nothing_is_refused():
    with pytest.raises(ParameterError) as refusal:
        Product([])
    assert refusal.value.parameter == "laws"


def test_the_components_are_not_shown():
    assert repr(Product([DiscreteLaplace(1, center=4711)])) == "Product(1 laws)"
