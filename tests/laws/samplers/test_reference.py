"""The slow sampler uses integers and fair comparisons only, and its coins are right."""

from __future__ import annotations

import ast
import inspect
import math
from fractions import Fraction

import pytest
from scipy.stats import binomtest

from discreet.laws.samplers import reference
from discreet.laws.samplers.reference import (
    LazyUniform,
    coin,
    coin_at,
    coin_exp,
    coin_exp_at,
    reference_gaussian,
    reference_laplace,
    reference_rounded,
)
from tests.chances import ALARM


def test_it_shares_nothing_with_the_fast_path_but_uniform_integers():
    tree = ast.parse(inspect.getsource(reference))
    imports = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imports == {"__future__", "fractions", "discreet.randomness.uniform"}
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import)]


def test_it_contains_no_float():
    tree = ast.parse(inspect.getsource(reference))
    constants = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    assert not [value for value in constants if isinstance(value, float)]
    assert "float" not in {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


@pytest.mark.parametrize("probability", [Fraction(0), Fraction(1, 3), Fraction(7, 8), Fraction(1)])
def test_its_coins_fall_as_often_as_they_should(probability, rounds):
    count = rounds(sample=20_000, full=500_000)
    heads = sum(coin(probability) for _ in range(count))
    assert binomtest(heads, count, float(probability)).pvalue > ALARM / 4


@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(1, 10), Fraction(1), Fraction(3, 2), Fraction(4)])
def test_its_exponential_coins_fall_as_often_as_they_should(exponent, rounds):
    count = rounds(sample=20_000, full=500_000)
    heads = sum(coin_exp(exponent) for _ in range(count))
    assert binomtest(heads, count, math.exp(-exponent)).pvalue > ALARM / 5


class Known(LazyUniform):
    """A real number that is given, not drawn."""

    def __init__(self, value: Fraction) -> None:
        self._value = value

    def ends(self, length):
        first = math.floor(self._value * 2**length)
        return Fraction(first, 2**length), Fraction(first + 1, 2**length)


@pytest.mark.parametrize("place", [Fraction(1, 7), Fraction(5, 7)])
def test_its_coins_at_a_real_number_fall_as_often_as_they_should(place, rounds):
    count = rounds(sample=5_000, full=200_000)
    slope, curve = Fraction(1, 3), Fraction(1, 2)
    heads = sum(coin_at(Known(place), slope, curve) for _ in range(count))
    assert binomtest(heads, count, float(slope * place + curve * place**2)).pvalue > ALARM / 4
    heads = sum(coin_exp_at(Known(place), 4 * slope, 3 * curve) for _ in range(count))
    assert binomtest(heads, count, math.exp(-4 * slope * place - 3 * curve * place**2)).pvalue > ALARM / 4


def test_a_lazy_uniform_keeps_the_bits_it_has_given():
    real = LazyUniform()
    coarse, fine = real.ends(3), real.ends(70)
    assert coarse[0] <= fine[0] < fine[1] <= coarse[1]
    assert real.ends(3) == coarse
    assert fine[1] - fine[0] == Fraction(1, 2**70)


def test_its_draws_are_python_integers_of_any_size():
    assert type(reference_laplace(Fraction(5, 3))) is int
    assert type(reference_gaussian(Fraction(5, 3))) is int
    assert type(reference_rounded(Fraction(5, 3))) is int
    assert max(abs(reference_laplace(Fraction(2**100))) for _ in range(20)) > 2**90
