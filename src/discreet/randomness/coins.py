"""Exact coins: heads with a rational probability, or with probability exp(-x).

Exactness. The coin is the comparison U < p for a uniform real U of which only as many bits are drawn as the answer
needs. The first word decides unless it equals the first 64 bits of p, which happens with probability 2^-64 a coin; then
more bits of both are compared. exp(-x) is irrational for rational x other than 0 (Lindemann), so no finite prefix of it
is exact, and an exact one is not needed: balls around it are refined until they decide.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.randomness.keystream import check_count, word, words
from discreet.randomness.rigor import ball, ceil_of_upper, floor_of_lower, precision, uniform_is_below

_BITS = 64
_GUARD = 32


def bernoulli(probability: Fraction) -> bool:
    """Return True with exactly the given rational probability.

    >>> bernoulli(Fraction(1)), bernoulli(Fraction(0))
    (True, False)
    """
    _check(probability)
    return uniform_is_below(word(), _BITS, lambda b: _scaled_rational(probability, b))


def bernoulli_array(probability: Fraction, count: int) -> NDArray[np.bool_]:
    """Return `count` independent coins of exactly the given rational probability."""
    _check(probability)
    check_count(count)
    if probability == 1:
        return np.ones(count, dtype=np.bool_)
    threshold = (probability.numerator << _BITS) // probability.denominator
    draws = words(count)
    heads = draws < np.uint64(threshold)
    for index in np.flatnonzero(draws == np.uint64(threshold)):
        heads[index] = uniform_is_below(threshold, _BITS, lambda b: _scaled_rational(probability, b))
    return heads


def bernoulli_exp(exponent: Fraction) -> bool:
    """Return True with probability exactly exp(-exponent), for a rational exponent >= 0."""
    if isinstance(exponent, bool) or not isinstance(exponent, Fraction | int) or exponent < 0:
        raise ParameterError("exponent must be a Fraction or an int of at least 0", parameter="exponent")
    if exponent == 0:
        return True
    return uniform_is_below(word(), _BITS, lambda b: exp_scaled(exponent, b))


def exp_scaled(exponent: Fraction, bit_count: int) -> tuple[int, int]:
    """Return integers (low, high) with low <= exp(-exponent) 2^bit_count <= high, at most a few apart."""
    if exponent > bit_count:  # exp(-x) < 2^-x < 2^-bit_count
        return 0, 1
    with precision(bit_count + _GUARD):
        scaled = (-ball(exponent)).exp() * (1 << bit_count)
        return floor_of_lower(scaled), ceil_of_upper(scaled)


def _scaled_rational(probability: Fraction, bit_count: int) -> tuple[int, int]:
    """Return the integers just below and just above probability * 2^bit_count."""
    shifted = probability.numerator << bit_count
    return shifted // probability.denominator, -(-shifted // probability.denominator)


def _check(probability: Fraction) -> None:
    """Raise ParameterError unless the argument is a probability."""
    if isinstance(probability, bool) or not isinstance(probability, Fraction | int) or not 0 <= probability <= 1:
        raise ParameterError("probability must be a Fraction in [0, 1]", parameter="probability")
