"""An approximate price divided as mu squared: the parts compose to the target, with less noise than parts of rho."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.laws import RoundedGaussian
from discreet.privacy import ApproxDP, GaussianDP, Relation, largest_mu
from discreet.privacy.numbers import root_upward, written
from discreet.privacy.pairs import NormalPair
from discreet.synthesis import Allowance, Domain, Neighbors, conjunctions, marginals
from discreet.synthesis.methods.answers import NoisyAnswers
from discreet.synthesis.methods.forest import Independent, Tree
from discreet.synthesis.methods.residual import Residual
from discreet.synthesis.methods.residual.method import noise_scales

BOTH = [Relation.ADD_REMOVE, Relation.CHANGE_ONE]
DOMAIN = Domain.of(sex=["f", "m"], rooms=range(1, 6), tenure=["own", "rent", "free"])
TARGET = {"epsilon": 1, "delta": Fraction(1, 10**6)}
both = pytest.mark.parametrize("relation", BOTH)


@pytest.mark.theorem("Allowance.for_noise.privacy", "Allowance.for_noise.accuracy", "Allowance.privacy")
@settings(max_examples=25, deadline=None)
@given(st.floats(1e-3, 30), st.floats(1e-12, 0.1), st.sampled_from(BOTH), st.booleans(), st.sampled_from([1, 3]))
@pytest.mark.filterwarnings("ignore::discreet.errors.SenselessParameter")
def test_the_amount_implies_the_guarantee_and_noise_never_grows(epsilon, delta, relation, vectors, rows):
    as_rho = Allowance.of(Neighbors(relation, people=3, rows=rows), epsilon=epsilon, delta=delta)
    allowance = as_rho.for_noise(vectors=vectors)
    assert allowance.guarantee == as_rho.guarantee
    assert allowance.for_noise() is allowance
    if not allowance.gaussian:
        assert allowance is as_rho
        return
    assert NormalPair(root_upward(2 * allowance.amount)).delta(written(epsilon)).upper <= written(delta)
    more = NormalPair(root_upward(2 * allowance.amount * (1 + Fraction(1, 10**6))))
    assert more.delta(written(epsilon)).upper > written(delta)  # hardly more would
    assert allowance.amount > as_rho.amount
    for share, sensitivity in product([Fraction(1), Fraction(1, 30)], [rows, allowance.neighbors.swing]):
        if not vectors:
            before = as_rho.single(share, sensitivity=sensitivity).noise.scale
            assert allowance.single_deviation(share, sensitivity=sensitivity) <= float(before) * (1 + 1e-12)
        assert isinstance(allowance.single(share, sensitivity=sensitivity).noise, RoundedGaussian)
        assert isinstance(allowance.noise(share).noise, RoundedGaussian)


def test_other_allowances_stay_what_they_are():
    for price in ({"epsilon": 1}, {"rho": 1}, {"mu": 1}):
        allowance = Allowance.of(Neighbors(Relation.ADD_REMOVE, people=3), **price)
        assert allowance.for_noise() is allowance


def test_where_rounding_would_add_more_than_mu_saves_the_price_stays_rho():
    neighbors = Neighbors(Relation.ADD_REMOVE, people=10**6)
    assert not Allowance.of(neighbors, epsilon=10, delta=1e-6).for_noise().gaussian
    assert Allowance.of(neighbors, epsilon=10, delta=1e-6).for_noise(vectors=True).gaussian
    assert Allowance.of(neighbors, epsilon=4, delta=1e-6).for_noise().gaussian


def composed(parts: Sequence[tuple[int, Fraction]]) -> Fraction:
    """Return the square of the mu of noise of these scales on integers of these squared distances."""
    return sum((squared / scale**2 for squared, scale in parts), start=Fraction(0))


@pytest.mark.theorem("Independent.privacy", "Tree.privacy", "Residual.privacy", "NoisyAnswers.privacy")
@both
def test_the_parts_of_every_method_compose_to_the_target_and_waste_nothing(relation):
    neighbors = Neighbors(relation, people=10**5)
    asked = marginals(DOMAIN, ways=2)
    made = {}
    independent = Independent.of(asked, neighbors, **TARGET)
    noise = [independent.allowance.noise(share).noise for share in independent.shares.values()]
    made["independent"] = composed([(neighbors.squared, Fraction(one.scale)) for one in noise])
    residual = Residual.of(asked, neighbors, **TARGET)
    scales = noise_scales(residual.allocation, residual.allowance.amount)
    allocation = residual.allocation
    units = [  # of the theorem: n(B)/(w(B) scale^2), the same for all B up to rounding
        Fraction(math.prod(DOMAIN.sizes[one] for one in part), weight) / scale**2
        for part, weight, scale in zip(allocation.residuals, allocation.weights, scales, strict=True)
    ]
    made["residual"] = max(units) * allocation.distance
    answers = NoisyAnswers.of(asked, neighbors, **TARGET)
    scale = Fraction(answers._noise(answers.measurement).noise.scale)
    made["answers"] = composed([(answers.measurement.squared, scale)])
    for name, squared in made.items():
        assert squared <= largest_mu(Fraction(1), TARGET["delta"]) ** 2, name
        delta = NormalPair(root_upward(squared)).delta(Fraction(1))
        assert 0.999999e-6 <= delta.upper <= TARGET["delta"], name
    tree = Tree.of(asked, neighbors, **TARGET)
    spent = [*tree.one_way_shares.values(), *[tree.step] * tree.most_edges, 1 - Fraction(2, 5) - tree.choices]
    assert tree.allowance.gaussian
    assert sum(spent) == 1


@both
def test_the_variance_is_that_of_the_analytic_gaussian_over_that_of_zcdp(relation):
    """0.8694 is mu^2/2 over rho at (1, 1e-6), both from their definitions in other tests."""
    neighbors = Neighbors(relation, people=10**5)
    asked = marginals(DOMAIN, ways=2)
    as_rho, share = Allowance.of(neighbors, **TARGET), Fraction(1, 3)
    rho = as_rho.amount
    independent = Independent.of(asked, neighbors, **TARGET).allowance.deviation(share)
    assert (independent / as_rho.deviation(share)) ** 2 == pytest.approx(0.8694, abs=0.003)
    residual = Residual.of(asked, neighbors, **TARGET).deviations_of_counts
    before = Residual.of(asked, neighbors, rho=rho).deviations_of_counts
    assert np.allclose(np.square(residual) / np.square(before), 0.8694, atol=0.001)
    answers = NoisyAnswers.of(asked, neighbors, **TARGET).deviation
    assert (answers / NoisyAnswers.of(asked, neighbors, rho=rho).deviation) ** 2 == pytest.approx(0.8694, abs=0.001)


def hockey_stick(parts: Sequence[tuple[Fraction, int]], epsilon: float) -> float:
    """Return delta at epsilon of independent rounded noises of these scales, moved so far; all outcomes are summed."""

    def masses(scale: Fraction, by: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        places = np.arange(-30, 31)
        law = RoundedGaussian(scale)
        return np.asarray(law.pmf(places - by)), np.asarray(law.pmf(places))

    first, second = (
        reduce(np.multiply.outer, one) for one in zip(*(masses(scale, by) for scale, by in parts), strict=True)
    )
    return float(np.maximum(first - np.exp(epsilon) * second, 0).sum())


def moves(relation: Relation) -> Iterator[tuple[int, ...]]:
    """Yield by how much one unit with one record, or none, moves the cells of two histograms of two cells each."""
    records = [(0, 0), (0, 1), (1, 0), (1, 1)]
    cells = [np.array([a == 0, a == 1, b == 0, b == 1], dtype=int) for a, b in records]
    if relation is Relation.ADD_REMOVE:
        yield from (tuple(sign * one) for one in cells for sign in (1, -1))
    else:
        none = np.zeros(4, dtype=int)
        yield from (tuple(one - other) for one in [*cells, none] for other in [*cells, none])


@pytest.mark.theorem("Independent.privacy", "Allowance.privacy")
@both
@pytest.mark.filterwarnings("ignore::discreet.errors.SenselessParameter")
def test_all_outcomes_of_a_small_release_keep_the_target(relation):
    """Enumerated for every move of one unit: never above delta, and near it for the worst move."""
    domain = Domain.of(one=[0, 1], two=[0, 1])
    epsilon, delta = 1, Fraction(1, 20)
    method = Independent.of(conjunctions(domain, count=3), Neighbors(relation, people=9), epsilon=epsilon, delta=delta)
    assert method.allowance.gaussian
    scales = [Fraction(method.allowance.noise(share).noise.scale) for share in method.shares.values()]
    found = []
    for by in set(moves(relation)):
        parts = [(scales[place // 2], one) for place, one in enumerate(by) if one]
        found.append(hockey_stick(parts, epsilon) if parts else 0.0)
    assert max(found) <= float(delta)
    assert max(found) >= 0.8 * float(delta)


def test_the_guarantee_is_still_the_one_asked_for_and_a_part_of_it_is_gaussian():
    method = Independent.of(conjunctions(DOMAIN, count=3), Neighbors(Relation.ADD_REMOVE, people=9_999), **TARGET)
    assert method.guarantee == ApproxDP(1, TARGET["delta"], relation=Relation.ADD_REMOVE)
    part = method.allowance.part(Fraction(1, 3))
    assert part.gaussian
    assert part.amount == method.allowance.amount / 3
    assert isinstance(part.guarantee, GaussianDP)
    assert 2 * part.amount <= written(part.guarantee.mu) ** 2 <= 2 * part.amount * (1 + Fraction(1, 10**12))
