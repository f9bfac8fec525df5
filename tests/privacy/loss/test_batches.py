"""Losses of trainings against laws enumerated or simulated from the algorithm itself."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from discreet.errors import ParameterError, RelationMismatch
from discreet.privacy import (
    Relation,
    cyclic_poisson_loss,
    discrete_laplace_loss,
    gaussian_loss,
    matrix_gaussian_loss,
    subsample,
    truncated_loss,
)

BOTH = Relation.ADD_REMOVE


@pytest.mark.theorem("matrix_gaussian_loss.privacy")
def test_correlated_noise_costs_what_the_whole_change_costs():
    columns = np.array([[1, 0.5, 0, 0, 0, 0], [0, 0, 1, 0.5, 0, 0], [0, 0, 0, 0, 1, 0.5]])
    norm = math.sqrt(1.25)
    # all three participations move C x by a vector of this length at once
    whole = float(np.linalg.norm(columns.sum(axis=0)))
    loss = matrix_gaussian_loss(2, sensitivity=norm, participations=3)
    for level in (0.0, 0.5, 2.0):
        assert loss.delta(level).upper >= gaussian_loss(2, sensitivity=whole).delta(level).lower * (1 - 1e-12)
        assert loss.delta(level).upper == pytest.approx(gaussian_loss(2, sensitivity=whole).delta(level).upper)


@pytest.mark.theorem("cyclic_poisson_loss.privacy")
def test_cyclic_samples_of_banded_noise_are_dominated():
    scale, rate, groups, steps = 1.0, 0.3, 2, 4
    bands, count, source = np.array([1.0, 0.75]), 400_000, np.random.default_rng()
    matrix = sum(np.diag(np.full(steps - k, c), -k) for k, c in enumerate(bands))
    moves, chances = [], []  # C x of every course of the one person, and its probability
    for group in range(groups):
        own = [t for t in range(steps) if t % groups == group]
        for drawn in product((0, 1), repeat=len(own)):
            x = np.zeros(steps)
            x[own] = drawn
            moves.append(matrix @ x / scale)
            chances.append(math.prod(0.6 if one else 0.4 for one in drawn) / groups)
    moves, chances = np.array(moves), np.array(chances)
    noise = source.standard_normal((count, steps))
    course = source.choice(len(chances), size=count, p=chances)
    loss = cyclic_poisson_loss(
        scale, sensitivity=float(np.linalg.norm(bands)), rate=rate, groups=groups, steps=steps, relation=BOTH
    )
    assert loss.releases == 2
    # Hoeffding: each of 4 means of numbers in [0, 1] is off by more than the margin with chance 2.5e-11
    margin = math.sqrt(math.log(1 / 2.5e-11) / (2 * count))

    def log_ratio(outputs):
        inner = outputs @ moves.T - np.sum(moves**2, axis=1) / 2
        return np.log(np.exp(inner) @ chances)

    for level in (0.1, 0.8):
        removed = np.mean(np.maximum(-np.expm1(level - log_ratio(noise + moves[course])), 0))
        added = np.mean(np.maximum(-np.expm1(level + log_ratio(noise)), 0))
        assert removed - margin <= loss.remove.delta(level).upper
        assert added - margin <= loss.add.delta(level).upper
        # the price would be exact if the group were public: it is not far off, and that of the rate alone is too low
        assert removed + margin > 0.75 * loss.remove.delta(level).lower


def test_a_group_is_sampled_at_most_as_a_whole():
    with pytest.raises(ParameterError, match="at most 1/groups"):
        cyclic_poisson_loss(1, rate=0.3, groups=4, steps=8, relation=BOTH)
    with pytest.raises(RelationMismatch):
        cyclic_poisson_loss(1, rate=0.1, groups=4, steps=8, relation=Relation.CHANGE_ONE)
    plain = cyclic_poisson_loss(1, rate=0.1, groups=1, steps=8, relation=BOTH)
    assert plain.delta(1) == (subsample(gaussian_loss(1, relation=BOTH), rate=0.1) * 8).delta(1)


def output_law(values, rate, cap, noise, offset):
    """The law of a noisy sum over the first `cap` people of a Poisson sample, by all samples."""
    law = np.zeros_like(noise)
    for sample in product((0, 1), repeat=len(values)):
        chance = math.prod(rate if one else 1 - rate for one in sample)
        kept = [value for one, value in zip(sample, values, strict=True) if one][:cap]
        law += chance * np.roll(noise, sum(kept) + offset)
    return law


@pytest.mark.theorem("truncated_loss.privacy")
@pytest.mark.parametrize("others", [(0, 0, 0), (1, 0, 1), (-1, 1, -1)])
def test_dropping_people_beyond_a_cap_costs_its_chance(others):
    rate, cap = 0.4, 2
    y = np.arange(-200, 201)
    noise = np.tanh(0.5) * np.exp(-np.abs(y.astype(float)))  # discrete Laplace noise of scale 1
    base = discrete_laplace_loss(1, relation=BOTH)
    overflow = sum(math.comb(3, k) * rate**k * (1 - rate) ** (3 - k) for k in range(cap, 4))
    loss = truncated_loss(subsample(base, rate=rate), chance=overflow)
    seen = 0.0
    for value in (-1, 1):
        with_person = output_law((value, *others), rate, cap, noise, 0)
        without = output_law(others, rate, cap, noise, 0)
        for level in (0.0, 0.2, 0.5, 1.0):
            removed = float(np.sum(np.maximum(with_person - math.exp(level) * without, 0)))
            added = float(np.sum(np.maximum(without - math.exp(level) * with_person, 0)))
            bound = loss.delta(level)
            assert max(removed, added) <= bound.upper + 1e-12
            plain = subsample(base, rate=rate).delta(level).upper
            assert bound.upper == pytest.approx((1 - overflow) * plain + overflow, rel=1e-3)
            seen = max(seen, removed, added)
    assert seen > 0.1
