"""The discrete Laplace law: two geometric tails back to back, drawn exactly at the speed of a logarithm.

The law with scale s has P(X = x) proportional to q^|x|, q = exp(-1/s), so P(|X| >= k) = 2 q^k / (1 + q) for k >= 1.
With V uniform on (0, 1) and d = s ln(2 / (1 + q)), the integer floor(d - s ln V) is at least k exactly when V <= 2 q^k
/ (1 + q), so it has the law of |X|; a fair bit gives the sign.

Lemma (filter). Let w be a signed 64-bit word, j = w or -w-1 its magnitude, V any real in [j, j+1] 2^-63, and z the
float computed below from |float(w)| 2^-63. If |float(w)| >= 2^43 then z is within

    E = s (2^-42 + 2^-52 + 14 * 2^-40 + 3 * 14 * 2^-53) + 2^-51  <=  s 2^-35 + 2^-51

of d - s ln V. Proof. float(w) lies within a factor 1 +- 2^-53 of |w|, which lies in [j, j+1], so its logarithm differs
from ln V + 63 ln 2 by at most 2^-52 + ln((j+1)/j) <= 2^-52 + 2^-42 (j >= 2^43 - 1; scaling by 2^-63 is exact). |ln| is
at most 20 ln 2 < 14 there, and numpy's log is within a relative 2^-40 of it (assumption float-log-exp, with its slack).
The float of s, the product and the sum add three relative errors 2^-53 of numbers of size at most 14 s + 1; d <= 1/2 is
rounded once. QED. The code tests |fraction - 1/2| <= 1/2 - E with E = s 2^-35 + 2^-50, whose own roundings are below
2^-51. So if the fraction of z lies in [E, 1 - E], every V in the cell gives the same integer floor(z), whatever the
remaining bits are; the output is a fixed function of an infinite bit string, and only the bits that matter are drawn.
Otherwise the bits already drawn are kept, more are appended, and the decision is made in ball arithmetic. The
thresholds 2 q^k / (1 + q) are transcendental for rational s (Lindemann), so no dyadic endpoint meets one and the
refinement ends.

Wide scales (s > 2^20). A geometric G with ratio q splits exactly into independent parts: G = 2^m H + L with H geometric
of ratio q^(2^m) (the same inversion, scale s / 2^m) and P(L = l) proportional to q^l on 0..2^m - 1, drawn uniform and
accepted with an exact coin exp(-l/s). X is G with a fair sign, drawn again when 'minus zero' comes up: P(x) is then
proportional to q^|x|.
Reference. Inversion of the geometric law is classical; discrete Laplace: Inusah and Kozubowski 2006; Ghosh,
Roughgarden, Sundararajan 2009. The filter follows the lazy evaluation of exact random variates (Karney 2016).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.laws.law import as_floats, offsets, ratios
from discreet.laws.noise.noise import IntegerNoise
from discreet.randomness import bernoulli_exp, bits
from discreet.randomness.coins import exp_scaled
from discreet.randomness.keystream import BLOCK_WORDS, fill
from discreet.randomness.rigor import Ball, ball, ensure_tested, precision, uniform_is_below


class DiscreteLaplace(IntegerNoise):
    """P(X = x) = (1 - q) / (1 + q) q^|x - center| on the integers, with q = exp(-1 / scale).

    | property | value |
    |---|---|
    | support | all integers |
    | P(|X - center| >= k) | 2 q^k / (1 + q), k >= 1 |
    | variance | 2 q / (1 - q)^2 |
    | loss of a shift d | at most d / scale, attained on a half-line |

    Cost. One 64-bit word and one logarithm a draw up to scale 2^20, two words beyond.
    Reference. Inusah, Kozubowski 2006; Ghosh, Roughgarden, Sundararajan 2009.

    >>> law = DiscreteLaplace(1)
    >>> round(float(law.pmf(0)), 6), round(float(law.sf(2)), 6)
    (0.462117, 0.036397)
    >>> law.half_width(0.95)
    3
    """

    def _make_drawer(self) -> Callable[[int], NDArray[Any]]:
        """Prepare the exact inversion sampler."""
        return LaplaceSampler(self.scale).draw

    @property
    def variance(self) -> float:
        """2 q / (1 - q)^2, written to stay accurate for wide scales."""
        if self.scale < Fraction(1, 700):
            return 0.0  # below e^-700
        half_sinh = math.sinh(float(1 / (2 * self.scale)))
        return 0.5 / half_sinh / half_sinh

    def pmf(self, outcome: ArrayLike) -> Any:
        """Return P(X = outcome)."""
        distance = np.abs(as_floats(offsets(outcome, self.center)))
        rate = float(1 / self.scale)
        with np.errstate(over="ignore"):  # an infinite exponent has the probability 0
            return np.tanh(rate / 2.0) * np.exp(-distance * rate)

    def log_pmf(self, outcome: ArrayLike) -> Any:
        """Return ln P(X = outcome), also where the probability is below the least float."""
        return _log_peak(self.scale) - np.abs(ratios(offsets(outcome, self.center), self.scale))

    def _tail(self, start: NDArray[Any]) -> Any:
        """P(noise >= t) = q^t / (1 + q) for t >= 1, and one minus its mirror otherwise."""
        rate = float(1 / self.scale)
        place = as_floats(np.asarray(start))
        right = np.exp(-np.maximum(place, 1.0) * rate) / (1.0 + math.exp(-rate))
        left = 1.0 - np.exp(-np.maximum(1.0 - place, 1.0) * rate) / (1.0 + math.exp(-rate))
        return np.where(place >= 1.0, right, left)[()]

    def _near(self, tail: float) -> int:
        """Solve q^k / (1 + q) = tail, by symmetry for tails above 1/2."""
        small = min(max(min(tail, 1.0 - tail), 1e-300), 0.25)
        reach = int(Fraction(-math.log(small * (1.0 + math.exp(-1 / float(self.scale))))) * self.scale)
        return reach if tail < 0.5 else -reach

    def tail_ball(self, start: int) -> Ball:
        """Enclose P(noise >= start)."""
        ratio = (-1 / ball(self.scale)).exp()
        beyond = max(start, 1 - start)
        side = (-ball(Fraction(beyond) / self.scale)).exp() / (1 + ratio)
        return side if start >= 1 else 1 - side

    def mass_ball(self, outcome: int) -> Ball:
        """Enclose P(noise = outcome)."""
        return (1 / (2 * ball(self.scale))).tanh() * (-ball(Fraction(abs(outcome)) / self.scale)).exp()

    def first_above(self, shift: int, epsilon: Fraction) -> int | None:
        """The loss is (|y| - |y - shift|) / scale: flat up to 0, then rising by 2 a step up to shift, then flat."""
        if epsilon * self.scale >= shift:
            return None
        return math.floor((epsilon * self.scale + shift) / 2) + 1

    def losses(self, noise: NDArray[Any], shift: int) -> NDArray[np.float64]:
        """Return (|x + shift| - |x|)/scale for each x."""
        moved = np.abs(noise.astype(np.float64) + float(shift)) - np.abs(noise.astype(np.float64))
        return np.asarray(moved / float(self.scale))

    def largest_loss(self, shift: int) -> Fraction:
        """Shift over scale."""
        return Fraction(shift) / self.scale


@lru_cache(maxsize=256)
def _log_peak(scale: Fraction) -> float:
    """Return ln tanh(1 / (2 scale)), the logarithm of the largest probability: ln(1 - q) - ln(1 + q)."""
    with precision(128):
        ratio = (-1 / ball(scale)).exp()
        return float((-ratio).log1p() - ratio.log1p()) if scale < 1 else float((1 / (2 * ball(scale))).tanh().log())


NARROW_LIMIT = 1 << 20
_SAFE_WORD = 2.0**-20  # 2^43 of 2^63
_MAGNITUDE_BITS = 63
_WIDE_TARGET_BITS = 16
_LARGEST_LOW_BITS = 38
_LARGEST_HIGH = 1 << 24
_DOUBTFUL = np.uint64(((1 << 14) - 1) << 50)


class LogarithmFloor:
    """Draws floor(d - s ln V) with a fair sign, V uniform on (0, 1): the inversion of a geometric tail, exactly."""

    def __init__(self, scale: Fraction, *, two_sided: bool) -> None:
        ensure_tested()
        self.scale = scale
        self.two_sided = two_sided
        self._minus_scale = -float(scale)
        with precision(128):
            self._offset = float(self._offset_ball())
        self.bound = float(scale) * 2.0**-35 + 2.0**-50

    def draw(self, count: int) -> NDArray[Any]:
        """Return `count` draws: signed when two-sided, else h or -1 - h, so that zero keeps its sign."""
        out = np.empty(count, dtype=np.int64)
        size = min(count, BLOCK_WORDS)
        raw, level, whole = np.empty(size, np.uint64), np.empty(size), np.empty(size)
        beyond: dict[int, int] = {}
        for start in range(0, count, BLOCK_WORDS):
            block = out[start : start + BLOCK_WORDS]
            length = block.size
            open_cells = self._block(raw[:length], level[:length], whole[:length], block)
            for index in open_cells:
                value = self._settled(int(raw[:length].view(np.int64)[index]))
                if abs(value) < 1 << 62:
                    block[index] = value
                else:
                    beyond[start + int(index)] = value
        return with_integers(out, beyond)

    def _block(
        self, raw: NDArray[np.uint64], level: NDArray[np.float64], whole: NDArray[np.float64], out: NDArray[np.int64]
    ) -> NDArray[np.intp]:
        """Draw one cache-sized block in place and return the indices the filter leaves open."""
        fill(raw)
        signed = raw.view(np.int64)
        np.multiply(signed, 2.0**-63, out=level)  # the int64 operand is rounded to a float first, then scaled exactly
        np.abs(level, out=level)
        smallest = level.min()
        with np.errstate(divide="ignore"):  # the word 0 has an infinite logarithm and is settled below
            np.log(level, out=level)
        np.multiply(level, self._minus_scale, out=level)
        np.add(level, self._offset, out=level)
        np.floor(level, out=whole)
        with np.errstate(invalid="ignore"):
            np.subtract(level, whole, out=level)
            np.copyto(out, whole, casting="unsafe")
        np.subtract(level, 0.5, out=level)
        np.abs(level, out=level)
        minus = signed >> 63
        np.bitwise_xor(out, minus, out=out)
        if self.two_sided:
            np.subtract(out, minus, out=out)
        limit = 0.5 - self.bound
        if level.max() <= limit and smallest >= _SAFE_WORD:
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(~(level <= limit) | (np.abs(signed * 2.0**-63) < _SAFE_WORD))

    def _settled(self, word: int) -> int:
        """Return the draw of a word in ball arithmetic."""
        if word >= 0:
            return self.settle(word, _MAGNITUDE_BITS)
        magnitude = self.settle(-word - 1, _MAGNITUDE_BITS)
        return -magnitude if self.two_sided else -1 - magnitude

    def settle(self, prefix: int, length: int) -> int:
        """Return floor(d - s ln V) for a uniform V that begins with the bits of `prefix`, drawing more as needed."""
        while True:
            if prefix > 0:
                with precision(length + 64 + self.scale.numerator.bit_length()):
                    high = self._floor(Fraction(prefix, 1 << length))
                    low = self._floor(Fraction(prefix + 1, 1 << length))
                if low is not None and low == high:
                    return low
            prefix, length = (prefix << 64) | bits(64), length + 64

    def _floor(self, uniform: Fraction) -> int | None:
        """Return floor(d - s ln u), or None where the ball does not decide."""
        level = self._offset_ball() - ball(self.scale) * ball(uniform).log()
        whole = level.floor().unique_fmpz()
        return None if whole is None else max(int(whole), 0)

    def _offset_ball(self) -> Ball:
        """Enclose d at the current precision."""
        if not self.two_sided:
            return ball(0)
        ratio = (-1 / ball(self.scale)).exp()
        return ball(self.scale) * (2 / (1 + ratio)).log()


class LaplaceSampler:
    """Draws discrete Laplace noise of a rational scale: inversion for narrow scales, the split for wide ones."""

    def __init__(self, scale: Fraction) -> None:
        self.scale = scale
        self.low_bits = 0 if scale <= NARROW_LIMIT else int(scale).bit_length() - _WIDE_TARGET_BITS
        self._mask = (1 << self.low_bits) - 1
        self._high = LogarithmFloor(scale / (1 << self.low_bits), two_sided=self.low_bits == 0)

    def draw(self, count: int) -> NDArray[Any]:
        """Return `count` independent draws; Python integers when int64 cannot hold the law."""
        out = self._high.draw(count)
        if self.low_bits == 0 or count == 0:
            return out
        if self.low_bits > _LARGEST_LOW_BITS or out.dtype == object or int(np.abs(out).max()) >= _LARGEST_HIGH:
            return np.array([self._finished(int(high)) for high in out] + [None], dtype=object)[:-1]
        raw = np.empty(min(count, BLOCK_WORDS), np.uint64)
        for start in range(0, count, BLOCK_WORDS):
            block = out[start : start + BLOCK_WORDS]
            self._add_low_bits(block, raw[: block.size])
        return out

    def _add_low_bits(self, block: NDArray[np.int64], raw: NDArray[np.uint64]) -> None:
        """Turn a block of high parts into draws, in place.

        With -1 - g standing for 'minus g', appending uniform low bits to either form appends a uniform low part to g.
        The top bits of the same word are the uniform of the coin: exp(-l/s) >= 1 - l/s > 1 - 2^-14, so it is heads
        unless the first 14 of them are all ones.
        """
        fill(raw)
        doubtful = np.flatnonzero(raw >= _DOUBTFUL)
        coins = raw[doubtful]
        np.left_shift(block, self.low_bits, out=block)
        np.bitwise_and(raw, np.uint64(self._mask), out=raw)
        np.bitwise_or(block, raw.view(np.int64), out=block)
        for index, coin in zip(doubtful, coins, strict=True):
            block[index] = self._reconsidered(int(block[index]), int(coin))
        minus_zero = np.flatnonzero(block == -1)
        np.subtract(block, block >> 63, out=block)
        for index in minus_zero:
            block[index] = self._draw_integer()

    def _reconsidered(self, value: int, word: int) -> int:
        """Toss the coin of a doubtful low part exactly, keeping the bits already read; on tails draw it again."""
        magnitude = value if value >= 0 else -1 - value
        exponent = Fraction(magnitude & self._mask) / self.scale
        coin, length = word >> self.low_bits, 64 - self.low_bits
        if exponent == 0 or uniform_is_below(coin, length, lambda b: exp_scaled(exponent, b)):
            return value
        magnitude = (magnitude & ~self._mask) | self._low_part()
        return magnitude if value >= 0 else -1 - magnitude

    def _finished(self, high: int) -> int:
        """Append a low part to a high part in Python integers of any size."""
        minus = high < 0
        magnitude = ((-1 - high if minus else high) << self.low_bits) | self._low_part()
        if minus and magnitude == 0:
            return self._draw_integer()
        return -magnitude if minus else magnitude

    def _draw_integer(self) -> int:
        """Draw one value of a wide law from scratch."""
        high = self._high.settle(0, 0)
        return self._finished(high if bits(1) else -1 - high)

    def _low_part(self) -> int:
        """Draw the low part from scratch: uniform, accepted with an exact coin."""
        while True:
            low = bits(self.low_bits)
            if bernoulli_exp(Fraction(low) / self.scale):
                return low


def with_integers(out: NDArray[np.int64], beyond: dict[int, int]) -> NDArray[Any]:
    """Return the array, as Python integers if some values did not fit (probability below exp(-2^20))."""
    if not beyond:
        return out
    wide = out.astype(object)
    for index, value in beyond.items():
        wide[index] = value
    return wide
