"""Sums of exp(-x^2 / (2 v)) are enclosed as tightly as guaranteed, against adding the terms up."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.laws.noise.gaussian import theta
from discreet.laws.noise.gaussian.theta import gaussian_sum, gaussian_tail
from discreet.randomness.rigor import precision
from tests.laws.agreement import arb
from tests.randomness.sources import within

VARIANCES = [
    Fraction(1, 10**6), Fraction(1, 50), Fraction(1, 3), Fraction(99, 100), Fraction(1), Fraction(101, 100),
    Fraction(10), Fraction(1023), Fraction(1024), Fraction(1025), Fraction(10**4), Fraction(12345, 7), Fraction(10**5),
]  # fmt: skip


def added_up(variance: Fraction, start: int, bit_count: int = 300) -> flint.arb:
    """Return the tail sum term by term; what is left out is below 2^-400 of the first term."""
    with flint.ctx.workprec(bit_count):
        reach = math.isqrt(int(start * start + 600 * variance)) + 40
        terms = ((-arb(Fraction(x * x) / (2 * variance))).exp() for x in range(start, reach))
        return sum(terms, arb(0))


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
def test_the_sum_over_all_integers_is_that_of_its_terms(variance):
    expected = 1 + 2 * added_up(variance, 1)
    with precision(200):
        enclosed = gaussian_sum(variance)
        assert enclosed.overlaps(expected)
        assert enclosed.rel_accuracy_bits() > 150


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
@pytest.mark.parametrize("place", [0, 1, 3, 6, 8, 12])
def test_a_tail_is_the_sum_of_its_terms(variance, place):
    start = max(int(place * math.sqrt(variance)), 1)
    expected = added_up(variance, start)
    with precision(200):
        enclosed = gaussian_tail(variance, start)
        assert enclosed.overlaps(expected)
        assert enclosed.rel_accuracy_bits() > 110


@pytest.mark.parametrize("variance", [Fraction(1024), Fraction(1500), Fraction(4000)], ids=str)
@pytest.mark.parametrize("offset", [-2, -1, 0, 1])
def test_the_two_ways_to_a_tail_agree_where_they_meet(variance, offset):
    start = int(variance) // 4 + offset
    expected = added_up(variance, start)
    with precision(200):
        assert gaussian_tail(variance, start).overlaps(expected)
        assert theta._euler_maclaurin(variance, start).overlaps(expected)
        assert theta._euler_maclaurin(variance, start).rel_accuracy_bits() > 60


@given(st.fractions(1030, 6000), st.integers(1, 2000))
def test_euler_maclaurin_encloses_the_sum_of_the_terms(variance, start):
    expected = added_up(variance, start, 200)
    with precision(160):
        assert theta._euler_maclaurin(variance, start).overlaps(expected)


@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(7), Fraction(2000), Fraction(10**12)], ids=str)
def test_a_tail_loses_exactly_its_first_term_at_each_step(variance):
    for start in (1, 2, 10, int(math.sqrt(variance)) + 1, int(3 * math.sqrt(variance)) + 1):
        with precision(200):
            step = gaussian_tail(variance, start) - gaussian_tail(variance, start + 1)
            assert step.overlaps((-arb(Fraction(start * start) / (2 * variance))).exp())


@pytest.mark.parametrize("variance", [Fraction(1, 7), Fraction(3), Fraction(3000), Fraction(10**20)], ids=str)
def test_both_tails_and_the_middle_make_the_whole(variance):
    with precision(200):
        assert (1 + 2 * gaussian_tail(variance, 1)).overlaps(gaussian_sum(variance))


@pytest.mark.parametrize("exponent", [-600, -100, -70, -40, -10, 10, 40, 60, 62, 70, 600])
@pytest.mark.parametrize("bit_count", [128, 512])
def test_every_scale_that_a_law_accepts_has_its_sums(exponent, bit_count):
    variance = Fraction(4) ** exponent
    with within(30), precision(bit_count):
        total = gaussian_sum(variance)
        assert (1 + 2 * gaussian_tail(variance, 1)).overlaps(total)
        assert total.rel_accuracy_bits() > 100


def test_bernoulli_numbers_are_those_of_the_textbook():
    expected = {
        0: 1,
        1: Fraction(-1, 2),
        2: Fraction(1, 6),
        4: Fraction(-1, 30),
        10: Fraction(5, 66),
        12: Fraction(-691, 2730),
    }
    for index, value in expected.items():
        assert theta._bernoulli_number(index) == value
    assert all(theta._bernoulli_number(index) == 0 for index in (3, 5, 31))


def test_hermite_polynomials_are_those_of_the_textbook():
    rows = theta._hermite()
    assert rows[3] == [0, -3, 0, 1]
    assert rows[4] == [3, 0, -6, 0, 1]
    assert len(rows) == theta._ORDER + 1
