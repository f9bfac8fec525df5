"""Rounded Gaussian draws that integer comparisons decide, all but a few in ten thousand: made for graphics cards.

The wide table of the discrete Gaussian sampler (variance v of the thinning lemma of the rounded sampler), with blocks
sixteen times as fine, draws a block B with probability proportional to g(B 2^m), g(x) = exp(-x^2 / (2 v)); a second
word gives m low bits and the first 64 - m bits of a uniform U. The place x is accepted when

    U < s sqrt(2 pi) r(x) / g(B 2^m) = exp(-(x^2 - (B 2^m)^2) / (2 v)) c(x),

one coin for both rejections: accepted places have the law r. By 1 - a <= exp(-a) and the lemma the right side is at
least 1 - (2B + 1) 2^2m / (2 v) - 1 / (8 s^2) - (x / s^2)^4 / 2880. A word that is below this bound, rounded down to an
integer, is heads by an integer comparison, which is exact on every machine. With s / 2^m in [4096, 8192) all but 2 in
10,000 are. The others are looked at in float64 here, and where floats leave the coin open (below), in balls.

Floats. As in the discrete Gaussian sampler the float of exp(-a) and that of U are within 2^-36 of the true ones, or
within 2^(m - 63), and c(x) is within 2^-42 of 1 for s >= 2^20 and |x| <= 64 s: (64 / s)^4 / 2880 < 2^-67. So a margin
of more than 2^-35 + 2^(m - 62) decides. Beyond 64 s balls decide always.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws.noise.gaussian.gaussian_sampler import RESIDUAL, GaussianTable
from discreet.laws.noise.gaussian.rounded_sampler import rounded_mass
from discreet.randomness.rigor import ball, ceil_of_upper, floor_of_lower, precision, uniform_is_below

LEAST_SCALE, LARGEST_SCALE = 1 << 20, 1 << 40
_BLOCK_BITS = 12
_GUARD = 32
_FAR = 64


class BlockTable(GaussianTable):
    """Draws rounded Gaussian noise from pairs of words; `settle` decides the pairs that a comparison leaves open."""

    def __init__(self, scale: Fraction) -> None:
        if not LEAST_SCALE <= scale <= LARGEST_SCALE:
            raise ParameterError("the scale of a table of blocks must lie between 2^20 and 2^40", parameter="scale")
        square = scale * scale
        super().__init__(scale, square * square / (square - Fraction(1, 12)), block_bits=_BLOCK_BITS)
        self._undecided = 2.0**-35 + 2.0 ** (self.low_bits - 62)
        self._far = int(_FAR * scale) >> self.low_bits
        self.column_bits = self._table.column_bits
        self.kept, self.outcomes = self._table.columns

    @property
    def doubts(self) -> tuple[int, int]:
        """Integers (d, e): a word w of the second kind, at block B, is heads if 2^64 - 1 - w > (2 B + 1) d + e."""
        return int(self._doubt), int(self._least_doubt)

    def settle(self, blocks: NDArray[np.int64], words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the draws of pairs that were left open: the block drawn (or the residual), and the second word."""
        blocks = blocks.copy()
        for index in np.flatnonzero(blocks == RESIDUAL):
            blocks[index] = self._from_residual()
        heads = self._heads(blocks ^ (blocks >> 63), words, blocks < 0)
        low = (words & np.uint64((1 << self.low_bits) - 1)).view(np.int64)
        values = (blocks << self.low_bits) | low
        heads &= values != -1  # zero comes up under both signs, and counts under one
        values -= values >> 63
        again = np.flatnonzero(~heads)
        values[again] = self.draw(again.size)
        return values

    def _heads(
        self, magnitude: NDArray[np.int64], raw: NDArray[np.uint64], minus: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Toss coins in floats, but those of far places in balls."""
        heads = super()._heads(magnitude, raw, minus)
        mask = np.uint64((1 << self.low_bits) - 1)
        for index in np.flatnonzero(magnitude >= self._far):
            word = raw[index] ^ mask if minus[index] else raw[index]
            start = int(magnitude[index]) << self.low_bits
            heads[index] = self._is_heads(start, int(word & mask), int(raw[index]) >> self.low_bits)
        return heads

    def _is_heads(self, start: int, offset: int, coin: int) -> bool:
        """Decide U < s sqrt(2 pi) r(start + offset) / g(start), given the first bits of U."""
        return uniform_is_below(coin, 64 - self.low_bits, partial(self._scaled, start, start + offset))

    def _scaled(self, start: int, place: int, bit_count: int) -> tuple[int, int]:
        """Return integers on both sides of the chance of acceptance times 2^bit_count."""
        import flint

        with precision(bit_count + _GUARD):
            height = ball(self._sigma) * (2 * flint.arb.pi()).sqrt()
            lift = ball(Fraction(start * start) / (2 * self._variance)).exp()
            scaled = height * rounded_mass(self._sigma, place) * lift * (1 << bit_count)
            return max(floor_of_lower(scaled), 0), min(ceil_of_upper(scaled), 1 << bit_count)

    def _thinned(self) -> int:
        """Bound 2^64 (1 - c(x)) within the table."""
        square = self._sigma * self._sigma
        slope = Fraction((self._reach + 2) << self.low_bits) / square
        return math.ceil((1 / (8 * square) + slope**4 / 2880) * (1 << 64))


@lru_cache(maxsize=4)
def block_table(scale: Fraction) -> BlockTable:
    """Return the table of a scale, kept for the last few."""
    return BlockTable(scale)
