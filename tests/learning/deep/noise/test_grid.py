"""A grid is chosen from public numbers, leaves room for every sum, and states a distance that nobody exceeds."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.learning.deep.noise.grid import COARSEST_BITS, FINEST_BITS, LARGEST_NOISE, GradientGrid, root_above

PLAIN = {
    "norm": Fraction(1),
    "dimension": 10_000,
    "physical": 64,
    "batches": 8,
    "summation_error": Fraction(1, 10**10),
    "scale": Fraction(1),
    "fixed_slots": False,
}
grids = st.builds(
    lambda norm, dimension, physical, batches, error, scale, fixed, weight: GradientGrid(
        norm=norm,
        dimension=dimension,
        physical=physical,
        batches=min(batches, (1 << 28) // physical),
        summation_error=error,
        scale=scale,
        fixed_slots=fixed,
        weight=weight,
    ),
    st.fractions(Fraction(1, 1000), 1000),
    st.integers(1, 10**8),
    st.integers(1, 1 << 12),
    st.integers(1, 1 << 28),
    st.fractions(0, Fraction(1, 10**8)),
    st.fractions(Fraction(1, 8), 64),
    st.booleans(),
    st.integers(1, 1 << 16),
)


def grid(**changed):
    return GradientGrid(**PLAIN | changed)


@given(grids)
def test_no_sum_of_all_rows_and_no_noise_leaves_64_bits(one):
    steps = one.norm / one.step
    assert 2**one.bits <= steps < 2 ** (one.bits + 1)
    rows = one.physical * one.batches
    largest = one.weight * (steps * (rows + one.batches * one.summation_error) + one.batches + 1)
    assert largest + 64 * one.noise_scale < 1 << 62
    assert one.noise_scale <= LARGEST_NOISE
    fine = steps * 2**one.carry_bits * (one.physical + one.summation_error) + 1
    if one.carry_bits:
        assert one.between_carries >= 2
        assert one.between_carries * fine + 2**one.carry_bits < 1 << 63
    assert math.log2(one.step) == one.exponent


@given(grids)
def test_the_grid_is_the_finest_that_fits(one):
    assert COARSEST_BITS <= one.bits <= FINEST_BITS
    if one.bits < FINEST_BITS:
        assert not one._fits(one.bits + 1)


@given(grids)
def test_the_distance_is_the_formula_rounded_up(one):
    changing = 1 if one.fixed_slots else one.batches
    root = root_above(Fraction(one.dimension))
    roundings = 1 + Fraction(changing, 2**one.carry_bits) if one.carry_bits else changing
    exact = (one.norm + 2 * changing * one.summation_error * one.norm) / one.step + roundings * root
    assert exact <= one.distance < exact + 1


@given(st.fractions(0, 10**12))
def test_roots_are_rounded_up(value):
    root = root_above(value)
    assert root * root > value
    assert root <= Fraction(1, 2**39) or (root - Fraction(1, 2**39)) ** 2 <= value


def test_groups_add_up_in_squares_and_never_cost_more_than_one_group():
    flat = grid(dimension=10**8)
    grouped = grid(dimension=10**8, sizes=(10**8 - 300, 100, 100, 100))
    assert flat.norm / flat.step < grouped.distance < flat.distance
    assert grid(sizes=(10_000,)).distance == grid().distance
    assert grid(sizes=(5_000, 5_000)).distance == grid().distance  # equal groups: the two bounds are one


@pytest.mark.parametrize(
    ("changed", "most"),
    [
        ({"fixed_slots": True}, 1e-6),
        ({"batches": 1 << 15, "dimension": 10**6}, 1e-4),
        ({"batches": 1 << 22, "dimension": 10**6, "summation_error": Fraction(1, 10**12)}, 5e-3),
        ({"batches": 1 << 22, "dimension": 10**8, "summation_error": Fraction(0)}, 5e-2),
    ],
    ids=["fixed slots", "a rate of a hundredth", "full batch", "full batch of a large model"],
)
def test_integers_cost_little_noise(changed, most):
    assert 1 < grid(**changed).inflation < 1 + most


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"dimension": 0}, "dimension"),
        ({"physical": True}, "physical"),
        ({"batches": 0}, "batches"),
        ({"weight": 1.5}, "weight"),
        ({"norm": 1.0}, "norm"),
        ({"norm": Fraction(0)}, "norm"),
        ({"norm": Fraction(2) ** 401}, "norm"),
        ({"scale": Fraction(-1)}, "scale"),
        ({"summation_error": Fraction(-1)}, "summation_error"),
        ({"sizes": (1, 2)}, "sizes"),
        ({"sizes": (10_000, 0)}, "sizes"),
        ({"scale": Fraction(2) ** 40}, "scale"),
        ({"weight": 2**50}, "scale"),
    ],
)
def test_what_cannot_be_is_refused(changed, named):
    with pytest.raises(ParameterError) as refused:
        grid(**changed)
    assert refused.value.parameter == named
