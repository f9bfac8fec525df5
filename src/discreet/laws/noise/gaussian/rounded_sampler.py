"""Exact rounded Gaussian draws: a table of the law itself when narrow, thinned discrete Gaussian draws when wide.

Write r(k) for the law of the normal variable of standard deviation s rounded to the nearest integer, a = k / s^2 and T
for a uniform variable on (-1/2, 1/2). Integrating the density over the cell of k,

    s sqrt(2 pi) r(k) = exp(-k^2 / (2 s^2)) E exp(-a T - T^2 / (2 s^2)).

Lemma (thinning). Let v = s^4 / (s^2 - 1/12), for s^2 > 1/12, and c(k) = s sqrt(2 pi) r(k) exp(k^2 / (2 v)). Then

    (1 - 1 / (8 s^2)) exp(-a^4 / 2880)  <=  c(k)  <=  1.

Proof. k^2 / (2 v) = k^2 / (2 s^2) - a^2 / 24, so c(k) = exp(-a^2 / 24) E exp(-a T - T^2 / (2 s^2)). With x = a / 2,
E exp(-a T) = sinh(x) / x, and ln(sinh(x) / x) lies between x^2 / 6 - x^4 / 180 and x^2 / 6, because its derivative
coth x - 1 / x = 2 x sum over n >= 1 of 1 / (x^2 + n^2 pi^2) lies between x / 3 - x^3 / 45 and x / 3: take each term
between 1 / (n^2 pi^2) - x^2 / (n^4 pi^4) and 1 / (n^2 pi^2). Since 0 <= T^2 <= 1/4, the factor exp(-T^2 / (2 s^2)) lies
between 1 - 1 / (8 s^2) and 1. QED.

So a discrete Gaussian draw k of variance v, kept with probability c(k), has the law r. Nearly every coin is heads by
the lower bound alone, after 16 bits: with U the coin's uniform and m the largest |k| of the call, heads is certain
where U is below the bound at m. The floats below enlarge what is left over by 2^-20 of it and by 2^-40, far beyond
their rounding. The other coins get 64 bits more and the bound at their own k, and then balls.

Narrow (s < 1024). The alias table of the discrete Gaussian sampler with weights s sqrt(2 pi) r(k), which add up to s
sqrt(2 pi). From s = 1 on their floats come from the Gauss rule of 24 nodes t with weights w on (-1/2, 1/2): the sum of
w exp(-(k + t)^2 / (2 s^2)), to a relative 2^-38. Rule: it is exact on polynomials of degree 47 and its weights are
positive with sum 1, so divided by exp(-k^2 / (2 s^2)) it errs by at most twice the distance of exp(-a t) exp(-b t^2), b
= 1 / (2 s^2), from a polynomial of that degree. Cut the series of the second factor after 23 terms and, in its j-th
term, that of the first after degree 47 - 2 j. Within the table a <= 9 and b <= 1/2, so what is cut is below the sum
over j <= 23 of (1/8)^j / j! e^4.5 4.5^(48 - 2j) / (48 - 2j)!, plus (1/8)^24: less than 2^-60. The mean that is sought
is at least E exp(-b T^2) >= 7/8, since E exp(-a T - b T^2) = E cosh(a T) exp(-b T^2). Rounding: (k + t)^2 / (2 s^2) <=
(9 + 1/2)^2 / 2 < 46 is off by a relative 2^-50, nodes and weights come from balls, and exp is off by a relative 2^-40
(assumption float-log-exp, with its slack). Below s = 1 there are at most 17 columns, and the weights come from balls.
Below 16 the table is made at once, within milliseconds.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.laws.noise.gaussian.gaussian_sampler import NARROW_LIMIT, GaussianSampler, GaussianTable
from discreet.laws.noise.gaussian.normal_cells import central_cell, gauss_rule, normal_cell
from discreet.randomness import bits, words
from discreet.randomness.rigor import (
    Ball,
    ball,
    ceil_of_upper,
    ensure_tested,
    floor_of_lower,
    lower_float,
    precision,
    uniform_is_below,
)

_ALWAYS_A_TABLE = 16
_DRAWS_PER_COLUMN = 16
_COIN_BITS = 16
_COINS_PER_WORD = 64 // _COIN_BITS
_MORE_BITS = 64
_MASS_PRECISION = 128
_NODES = 24
_GUARD = 32


class RoundedSampler:
    """Thinned discrete Gaussian draws; for narrow laws only until a table has paid for itself."""

    def __init__(self, scale: Fraction) -> None:
        ensure_tested()
        self.scale = scale
        self._thinned = Thinned(scale) if scale >= _ALWAYS_A_TABLE else None
        self._worth_a_table = _DRAWS_PER_COLUMN * 16 * int(scale)
        self._asked = 0

    def draw(self, count: int) -> NDArray[Any]:
        """Return `count` independent draws."""
        self._asked += count
        if self._thinned is None or (self.scale < NARROW_LIMIT and self._asked >= self._worth_a_table):
            return rounded_table(self.scale).draw(count)
        return self._thinned.draw(count)


class Thinned:
    """Draws rounded Gaussian noise as discrete Gaussian noise of variance v, each kept with probability c(k)."""

    def __init__(self, scale: Fraction) -> None:
        square = scale * scale
        self._scale, self._square = scale, square
        self._variance = square * square / (square - Fraction(1, 12))
        self._proposal = GaussianSampler(scale, self._variance)

    def draw(self, count: int) -> NDArray[Any]:
        """Return `count` independent draws."""
        out = self._proposal.draw(count)
        again = self._tails(out)
        if again.size:
            drawn = self.draw(again.size)
            out = out.astype(object) if drawn.dtype == object else out
            out[again] = drawn
        return out

    def _tails(self, places: NDArray[Any]) -> NDArray[np.intp]:
        """Toss the coins and return the indices of tails."""
        if places.size == 0:
            return np.empty(0, dtype=np.intp)
        farthest = max(abs(int(places.min())), abs(int(places.max())))
        undoubted = int((1.0 - self._doubt(farthest)) * 2.0**_COIN_BITS)
        coins = words(-(-places.size // _COINS_PER_WORD)).view(np.uint16)[: places.size]
        doubtful = np.flatnonzero(coins >= undoubted)
        kept = [self._is_heads(int(places[index]), int(coins[index])) for index in doubtful]
        return doubtful[~np.array(kept, dtype=np.bool_)]

    def _doubt(self, place: int) -> float:
        """Return a float above 1 - c(k) for |k| up to a place."""
        slope = float(min(Fraction(place) / self._square, Fraction(16)))
        return min((float(1 / (8 * self._square)) + slope**4 / 2880) * (1 + 2.0**-20) + 2.0**-40, 1.0)

    def _is_heads(self, place: int, coin: int) -> bool:
        """Toss a doubtful coin, keeping the bits already drawn."""
        prefix, length = (coin << _MORE_BITS) | bits(_MORE_BITS), _COIN_BITS + _MORE_BITS
        if prefix * 2.0**-length < 1.0 - self._doubt(place) - 2.0**-40:
            return True
        return uniform_is_below(prefix, length, partial(self._scaled, place))

    def _scaled(self, place: int, bit_count: int) -> tuple[int, int]:
        """Return integers (low, high) with low <= c(place) 2^bit_count <= high."""
        import flint

        with precision(bit_count + _GUARD):
            height = ball(self._scale) * (2 * flint.arb.pi()).sqrt()
            coin = height * rounded_mass(self._scale, place) * ball(place * place / (2 * self._variance)).exp()
            scaled = coin * (1 << bit_count)
            return max(floor_of_lower(scaled), 0), min(ceil_of_upper(scaled), 1 << bit_count)


class RoundedTable(GaussianTable):
    """Draws rounded Gaussian noise of a scale below 1024 from an alias table of the law itself."""

    def _weight(self, outcome: int) -> Ball:
        """Enclose the probability of an outcome, times s sqrt(2 pi)."""
        return self._total() * rounded_mass(self._sigma, outcome)

    def _total(self) -> Ball:
        """Enclose s sqrt(2 pi): the probabilities add up to 1."""
        import flint

        return ball(self._sigma) * (2 * flint.arb.pi()).sqrt()

    def _float_weights(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        """Integrate the density over each cell, by the Gauss rule from scale 1 on; in balls below."""
        if self._sigma < 1:
            with precision(_MASS_PRECISION):
                return np.array([max(lower_float(self._weight(int(place))), 0.0) for place in places])
        shape = -0.5 / float(self._variance)
        parts = [w * np.exp((places + t) ** 2 * shape) for t, w in zip(*gauss_rule(_NODES), strict=True)]
        return np.asarray(np.sum(parts, axis=0))


def rounded_mass(scale: Fraction, place: int) -> Ball:
    """Enclose the probability r(place) of the rounded Gaussian law about 0."""
    low, high = (abs(place) - Fraction(1, 2)) / scale, (abs(place) + Fraction(1, 2)) / scale
    return normal_cell(low, high) if place else central_cell(high)


@lru_cache(maxsize=16)
def rounded_table(scale: Fraction) -> RoundedTable:
    """Return the table of a scale, kept for the last few."""
    return RoundedTable(scale)
