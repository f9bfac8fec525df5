"""Tails and cells of the normal law as balls: right, and as precise far out as near the center."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.laws.noise.gaussian.normal_cells import (
    _expansion,
    central_cell,
    gauss_rule,
    log_normal_cell,
    normal_cell,
    normal_tail,
)
from discreet.randomness.rigor import precision
from tests.laws.agreement import arb

PLACES = [Fraction(0), Fraction(1, 1000), Fraction(1), Fraction(10), Fraction(63), Fraction(64), Fraction(200, 3)]
MANY = 12_000  # bits: more than z^2, beyond which flint's own erfc keeps its relative precision


def tail(z: Fraction) -> flint.arb:
    """Return P(Z >= z) from flint's erfc at a precision that makes up for anything."""
    with flint.ctx.workprec(MANY):
        return (arb(z) / arb(2).sqrt()).erfc() / 2


@pytest.mark.parametrize("working", [128, 640, 2500])
@pytest.mark.parametrize("z", PLACES, ids=str)
def test_a_tail_is_enclosed_and_known_to_nearly_all_bits(z, working):
    with precision(working):
        found = normal_tail(z)
    assert found.overlaps(tail(z))
    assert found.rel_accuracy_bits() >= working - 24
    with precision(working):
        assert (normal_tail(-z) + found).overlaps(arb(1))


@pytest.mark.parametrize("width", [Fraction(1, 3), Fraction(8), Fraction(1, 2**20), Fraction(1, 2**200)], ids=str)
@pytest.mark.parametrize("z", PLACES, ids=str)
def test_a_cell_is_the_difference_of_two_tails_to_nearly_all_bits(z, width):
    with precision(160):
        found, logarithm = normal_cell(z, z + width), log_normal_cell(z, z + width)
    with flint.ctx.workprec(MANY):
        truth = tail(z) - tail(z + width)
        assert found.overlaps(truth)
        assert logarithm.overlaps(truth.log())
    assert found.rel_accuracy_bits() >= 160 - 24


@given(st.fractions(Fraction(1, 1000), 60))
def test_the_cell_about_the_center_is_what_two_tails_leave(z):
    with precision(200):
        assert central_cell(z).overlaps(1 - 2 * tail(z))


@pytest.mark.parametrize("z", [Fraction(64), Fraction(100), Fraction(200)], ids=str)
def test_the_expansion_and_the_error_function_agree_where_both_can_be_used(z):
    with precision(1500):
        expanded = _expansion(z)
        assert expanded.rel_accuracy_bits() > 1400
    with flint.ctx.workprec(2 * int(z * z)):
        assert expanded.overlaps((arb(z) / arb(2).sqrt()).erfc() / 2 * arb(z * z / 2).exp())


@pytest.mark.parametrize("exponent", [10, 40, 100, 600, 1200])
def test_far_out_the_logarithm_of_a_cell_is_still_known(exponent):
    z = Fraction(2) ** exponent
    with precision(128):
        found = log_normal_cell(z, z + 1 / z)
        # exp(-z^2 / 2) / (z sqrt(2 pi)) (1 - 1/e), up to a factor within 1 / z^2 of 1
        near = -arb(z * z / 2) - (arb(z) * (2 * flint.arb.pi()).sqrt()).log() + (1 - (-arb(1)).exp()).log()
        assert abs(found - near) < arb(2 / (z * z)) + arb(z * z * Fraction(1, 2**120))
        assert normal_tail(z) < arb(Fraction(1, 10**300))


@pytest.mark.parametrize("count", [8, 24])
def test_a_gauss_rule_integrates_polynomials_and_has_positive_weights(count):
    nodes, weights = gauss_rule(count)
    assert min(weights) > 0
    assert math.fsum(weights) == pytest.approx(1.0, abs=1e-15)
    assert max(abs(nodes)) < 0.5
    for degree in range(2 * count):
        exact = 0.0 if degree % 2 else 0.5**degree / (degree + 1)
        assert math.fsum(weights * np.power(nodes, degree)) == pytest.approx(exact, abs=4e-16 * 0.5**degree)
