"""Many independent exact draws with probability proportional to exp(slope * score), after one pass over the scores.

A race (`Race`) reads all m scores for every draw. Here the scores are read once, into integer weights that are a little
too large; a proposal is a uniform integer below their sum, looked up in the prefix sums, and an exact coin takes away
what was too much. A draw then costs log m.

Exactness. Let z be the largest score, d_i = z - score_i >= 0 and p_i = exp(-slope d_i) <= 1. With integers W_i >= p_i
2^k > 0, position i is proposed with probability W_i / sum W and kept with probability a_i = p_i 2^k / W_i <= 1, so that
it is proposed and kept with probability p_i 2^k / sum W, and what is kept first is i with probability p_i / sum p. The
proposals are exact (integers and `uniform_below_array`); the coin is exact if it compares a uniform real U with a_i,
drawing as many bits as the answer needs. Proposals are independent, so those that are kept, in their order, are too;
and the first of them are the same however many proposals are made at a time, so that leaving out those beyond the count
asked for does not favor any.

Lemma (weights). Let x_i be the float of -slope d_i and e_i the computed exp(x_i). If x_i >= -708, then |e_i - p_i| <=
2^-39 p_i. Proof. d_i is an exact unsigned integer below 2^64; its conversion, that of the slope and the product round
once each, so |x_i + slope d_i| <= 2^-51 slope d_i + 2^-1000 (the last for a subnormal slope) <= 2^-51 709
+ 2^-1000 < 2^-41. By assumption float-log-exp with its slack, e_i is within a relative 2^-40 of exp(x_i); and
exp(2^-41) times 1 + 2^-40 is below 1 + 2^-39. QED. If x_i < -708, both e_i and p_i are at most 2^-1000. (A slope above
2^900 is replaced by 2^900, which changes x_i for d_i >= 1 only, from one number below -708 to another. Scores that
int64 does not hold get the float nearest to the exact -slope d_i, within the same bound.) Let m <= 2^b, k = 61 - b and
W_i = 1 + floor(e_i c), c = 2^k (1 + 2^-37), which a float holds. Then W_i > p_i 2^k, since e_i c, rounded once, is at
least p_i 2^k (1 - 2^-39)(1 + 2^-37)(1 - 2^-53) > p_i 2^k, or else p_i 2^k < 1; and sum W <= m (1 + 2^k (1 + 2^-35)) <
2^62, so no prefix sum overflows. At most m of sum W >= 2^k is too much, besides a share of 2^-35: few proposals are
lost.

Lemma (coin). Let e_i 2^k / W_i be computed in floats (a weight, the product by a power of 2 and the quotient: two
roundings), and let u = floor(w / 2^11) 2^-53 for the first word w of U. Then the computed ratio is within 2^-38 of a_i
<= 1, and u within 2^-53 of U: where they differ by more than 2^-37, u < ratio says whether U < a_i. The code uses
2^-36; elsewhere U < a_i is decided in ball arithmetic on the exact rational slope d_i, drawing more bits as needed.
Reference. Rejection: von Neumann 1951. Decisions in floats only where an error bound settles them: Devroye 1986.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.laws.finite import Floats
from discreet.laws.number import Number, positive_rational
from discreet.laws.samplers.race import Softmax, as_scores
from discreet.randomness import uniform_below_array, words
from discreet.randomness.coins import exp_scaled
from discreet.randomness.keystream import check_count
from discreet.randomness.rigor import ensure_tested, uniform_is_below

Integers = NDArray[np.int64]
_TOTAL_BITS = 61
_MOST_BITS = 28
_TOO_MUCH = 1.0 + 2.0**-37
_SLIVER = 2.0**-36
_LARGEST_RATE = 2.0**900
_FEW = 16


class SoftmaxDraws:
    """Draw positions with probability proportional to exp(slope * score), exactly; the scores are whole numbers.

    Nothing is kept between calls but the weights: copies and forked processes draw their own randomness.

    Cost. One exponential and one addition a score when it is made; two words and a binary search a draw.

    >>> draws = SoftmaxDraws([0, 1000, 0, 1000], Fraction(1))
    >>> sorted(set(draws.draw(100).tolist()))
    [1, 3]
    """

    def __init__(self, scores: Any, slope: Number) -> None:
        self._scores = whole_scores(scores)
        self._proposals = _Proposals(self._scores, positive_rational(slope, name="slope"))

    @property
    def law(self) -> Softmax:
        """The law of one draw."""
        return Softmax(self._scores, self._proposals.slope)

    def draw(self, count: int) -> Integers:
        """Return independent positions."""
        check_count(count)
        drawn = np.empty(count, dtype=np.int64)
        done = 0
        while done < count:
            kept = self._proposals.kept(count - done + _FEW)[: count - done]
            drawn[done : done + kept.size] = kept
            done += kept.size
        return drawn

    def __repr__(self) -> str:
        return f"{type(self).__name__}(<{self._scores.size} scores>)"


class SignedDraws:
    """Draw a query and a sign with probability proportional to exp(sign * slope * score), exactly.

    This is `SoftmaxDraws` on the scores and their negatives, without laying them out. Each query is proposed with
    weight exp(slope |score|) and a fair sign; the sign of the score is kept, the other one with probability
    exp(-2 slope |score|). So (query, sign) is proposed and kept with probability proportional to exp(sign slope score),
    and at least half of all proposals are kept.

    >>> queries, signs = SignedDraws([0, -1000, 1000], Fraction(1)).draw(50)
    >>> sorted(set(zip(queries.tolist(), signs.tolist())))
    [(1, -1), (2, 1)]
    """

    def __init__(self, scores: Any, slope: Number) -> None:
        self._scores = whole_scores(scores)
        self._sizes = _magnitudes(self._scores)
        self._proposals = _Proposals(self._sizes, positive_rational(slope, name="slope"))

    @property
    def law(self) -> Softmax:
        """The law of one draw, as a position: the queries with a plus, then the same queries with a minus."""
        plus = [int(score) for score in self._scores]
        return Softmax(plus + [-score for score in plus], self._proposals.slope)

    def draw(self, count: int) -> tuple[Integers, Integers]:
        """Return independent queries, by position, and their signs, +1 or -1."""
        check_count(count)
        queries, signs = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
        done = 0
        while done < count:
            found, sides = self._kept(2 * (count - done) + _FEW)
            until = min(done + found.size, count)
            queries[done:until], signs[done:until] = found[: until - done], sides[: until - done]
            done = until
        return queries, signs

    def _kept(self, count: int) -> tuple[Integers, Integers]:
        """Propose `count` queries and signs, and return those that are kept, in their order."""
        proposed = self._proposals.kept(count)
        signs = 2 * (words(proposed.size) >> np.uint64(63)).astype(np.int64) - 1
        scores = self._scores[proposed]
        against = np.flatnonzero((signs > 0) != (scores >= 0))
        keep = np.ones(proposed.size, dtype=np.bool_)
        keep[against] = _coins(self._sizes[proposed[against]], 2 * self._proposals.slope)
        return proposed[keep], signs[keep]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(<{self._scores.size} scores>)"


def signed_draws(scores: Any, slope: Number, count: int) -> tuple[Integers, Integers]:
    """Return `count` independent queries and signs, with probability proportional to exp(sign * slope * score)."""
    return SignedDraws(scores, slope).draw(count)


class _Proposals:
    """Integer weights just above exp(-slope * (largest score - score)) 2^k, and what survives their coins."""

    def __init__(self, scores: NDArray[Any], slope: Fraction) -> None:
        ensure_tested()
        bits = max((scores.size - 1).bit_length(), 1)
        if bits > _MOST_BITS:
            raise InputError(f"at most 2^{_MOST_BITS} candidates can be drawn from: split them, or use a race")
        self.slope = slope
        self._shift = _TOTAL_BITS - bits
        self._scores, self._top = scores, scores.max()
        excess = _exponentials(self._distances(slice(None)), slope)
        excess *= _TOO_MUCH * 2.0**self._shift
        weights = excess.astype(np.int64)
        weights += 1
        self._ends = np.cumsum(weights, out=weights)

    def kept(self, count: int) -> Integers:
        """Propose `count` positions, and return those that their coins keep, in their order."""
        drawn = uniform_below_array(int(self._ends[-1]), count)
        proposed = np.searchsorted(self._ends, drawn, side="right").astype(np.int64, copy=False)
        weights = self._ends[proposed]
        weights[proposed > 0] -= self._ends[proposed[proposed > 0] - 1]
        return proposed[_coins(self._distances(proposed), self.slope, self._shift, weights)]

    def _distances(self, where: Any) -> NDArray[Any]:
        """Return how far below the largest score the others are, exactly: as uint64, or as Python integers."""
        if self._scores.dtype == object:
            return np.asarray(self._top - self._scores[where], dtype=object)
        # modulo 2^64, where the difference of any two int64 is what it is
        return np.asarray(self._top.view(np.uint64) - self._scores[where].view(np.uint64))


def _coins(
    distances: NDArray[Any], slope: Fraction, shift: int = 0, weights: Integers | None = None
) -> NDArray[np.bool_]:
    """Return coins with heads of probability exactly exp(-slope * distance) 2^shift / weight, which is at most 1."""
    ratio = _exponentials(distances, slope)
    if weights is not None:
        ratio *= 2.0**shift
        ratio /= weights
    draws = words(distances.size)
    uniforms = (draws >> np.uint64(11)).view(np.int64) * 2.0**-53
    heads = np.asarray(uniforms < ratio)
    for index in np.flatnonzero(np.abs(uniforms - ratio) <= _SLIVER):
        weight = 1 if weights is None else int(weights[index])
        heads[index] = _exact_coin(int(draws[index]), slope * int(distances[index]), shift, weight)
    return heads


def _exact_coin(draw: int, exponent: Fraction, shift: int, weight: int) -> bool:
    """Decide U < exp(-exponent) 2^shift / weight for the uniform that begins with this word."""

    def scaled(bit_count: int) -> tuple[int, int]:
        low, high = exp_scaled(exponent, bit_count + shift)
        return low // weight, -(-high // weight)

    return uniform_is_below(draw, 64, scaled)


def _exponentials(distances: NDArray[Any], slope: Fraction) -> Floats:
    """Return exp(-slope * distance) in floats, as the lemma on weights has it."""
    if distances.dtype == object:
        exponents = np.array([-_float_of(slope * int(distance)) for distance in distances], dtype=np.float64)
    else:
        exponents = distances * -_float_of(slope)
    with np.errstate(under="ignore"):
        return np.exp(exponents, out=exponents)


def _float_of(value: Fraction) -> float:
    """Return the nearest float of a number at least 0, or the largest slope."""
    return float(value) if value < _LARGEST_RATE else _LARGEST_RATE


def whole_scores(scores: Any) -> NDArray[Any]:
    """Return scores as int64, or as Python integers where int64 does not hold them; refuse anything else."""
    array = as_scores(scores)
    if array.dtype == np.int64:
        return array.copy()  # weights and coins must see the same scores, whatever the caller does with the array
    if array.dtype != object or not all(isinstance(score, int) for score in array):
        raise InputError("scores must be whole numbers: put their common denominator into the slope")
    return array


def _magnitudes(scores: NDArray[Any]) -> NDArray[Any]:
    """Return absolute values, as unsigned integers: -2^63 has one, but not in int64."""
    return np.asarray(np.abs(scores)) if scores.dtype == object else np.abs(scores).view(np.uint64)
