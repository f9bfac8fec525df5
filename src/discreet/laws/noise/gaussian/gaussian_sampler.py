"""Exact discrete Gaussian draws by whichever exact method is cheaper for the number asked so far.

Everything below holds for any rational variance in the place of sigma^2, sigma being a rational within 1 % of its root
that sets the sizes of blocks and proposals; the rounded Gaussian law draws from such a one.

Rejection, without preparation: discrete Laplace proposals and one exact coin each. With t = floor(sigma) + 1 and Y
discrete Laplace of scale t, accepting Y with probability exp(-(|Y| - sigma^2 / t)^2 / (2 sigma^2)) leaves P(Y = y)
proportional to exp(-|y|/t - (|y| - sigma^2/t)^2 / (2 sigma^2)), which is exp(-y^2 / (2 sigma^2)) up to a constant.
About 7 of 10 proposals are accepted.

Exactness. The coin is U < p with p = exp(-e). u is the first 63 bits of U as a float and p the float of exp(-e); the
true U and p are within 2^-36 of them: U - u is at most 2^-53; |Y| and sigma^2 / t are each off by a relative 2^-53, so
the float e is off by at most 2^-51 (| |Y| - sigma^2 / t | / t + e) + 2^-100, and either term times exp(-e) stays below
2^-50; exponents above 64 are cut there, where p < 2^-92; exp adds a relative 2^-40 (assumption float-log-exp, with its
slack). Where |u - p| > 2^-36 the coin is decided; elsewhere it is tossed in ball arithmetic on the exact rational e,
keeping the bits of U already drawn.
Reference. Canonne, Kamath, Steinke 2020 (the proposal and its acceptance probability).

A table, for many draws with one sigma: an integer alias table with a residual column.

Narrow (sigma < 1024). The table holds every x with |x| <= 8 sigma. Its masses n_x are integers with n_x <= 2^64 P(X =
x), so a 64-bit word picks x with probability n_x / 2^64, a little too small; the words left over pick the residual
column, which is sampled exactly in ball arithmetic from what is missing: P(X = x) - n_x / 2^64 inside the table, P(X =
x) outside. The sum of the two is P(X = x) exactly. The residual holds less than 2^-35 of the mass, so its cost does not
matter.

Wide. The same table draws a block B >= 0 and a sign with probability proportional to g(B 2^m), g(x) = exp(-x^2 / (2
sigma^2)), where sigma / 2^m lies in [256, 512); a second word gives m uniform low bits l and a coin that accepts x = B
2^m + l with probability g(x) / g(B 2^m) = exp(-(2 B 2^m l + l^2) / (2 sigma^2)). Accepted draws have P(x) proportional
to g(|x|), with zero coming up under both signs: minus zero is drawn again. Since 1 - a <= exp(-a), a coin whose uniform
is below 1 - (2B + 1) 2^2m / (2 sigma^2) is heads without further thought; the others are tossed in floats with the
filter of the rejection sampler, then in balls.

Masses. n_x is 2^64 (1 - 2^-36) times the float probability, rounded down. The float is off by less than a relative
2^-38 (exp by 2^-40 under assumption float-log-exp with its slack, its argument by 2^-46, the normalizer by 2^-50), so
n_x is a true lower bound.
Reference. Walker 1977 for alias tables; the residual column and the integer masses are ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache, partial
from itertools import count as count_from
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import AssumptionFailed
from discreet.laws.noise.discrete_laplace import LaplaceSampler
from discreet.laws.noise.gaussian.theta import gaussian_sum
from discreet.randomness import AliasTable, bernoulli_exp, bits, words
from discreet.randomness.coins import exp_scaled
from discreet.randomness.keystream import BLOCK_WORDS, fill
from discreet.randomness.rigor import Ball, ball, ensure_tested, precision, uniform_is_below

_LEAST_TABLE_SIGMA, _LARGEST_TABLE_SIGMA = Fraction(1, 1 << 10), 1 << 40
_DRAWS_PER_COLUMN = 16  # building a column costs about as much as rejection loses on this many draws
_SHARE_ACCEPTED = 0.6
_FLOATS_SUFFICE = Fraction(1, 1 << 100)
NARROW_LIMIT = 1024
_BLOCKS_PER_SIGMA_BITS = 8
_REACH = 8
_FILTER = 2.0**-36
RESIDUAL = np.iinfo(np.int64).min  # stands for the residual column; no outcome of a table comes near it


class GaussianSampler:
    """Rejection until a table would have paid for itself, then the table; both have exactly the same law."""

    def __init__(self, sigma: Fraction, variance: Fraction | None = None) -> None:
        self.sigma, self.variance = sigma, sigma * sigma if variance is None else variance
        self._rejection = GaussianRejection(sigma, self.variance)
        columns = 16 * max(min(int(sigma), NARROW_LIMIT), 1)
        self._worth_a_table = _DRAWS_PER_COLUMN * columns
        self._asked = 0

    def draw(self, count: int) -> NDArray[Any]:
        """Return `count` independent draws."""
        self._asked += count
        if self._asked >= self._worth_a_table and _LEAST_TABLE_SIGMA <= self.sigma <= _LARGEST_TABLE_SIGMA:
            return gaussian_table(self.sigma, self.variance).draw(count)
        return self._rejection.draw(count)


class GaussianRejection:
    """Draws discrete Gaussian noise of a rational sigma by rejection, or of a rational variance near sigma^2."""

    def __init__(self, sigma: Fraction, variance: Fraction | None = None) -> None:
        self._variance = sigma * sigma if variance is None else variance
        self._proposal_scale = int(sigma) + 1
        self._proposal = LaplaceSampler(Fraction(self._proposal_scale))
        self._peak = self._variance / self._proposal_scale
        self._exact = sigma < _FLOATS_SUFFICE
        self.bound = 2.0**-36

    def draw(self, count: int) -> NDArray[Any]:
        """Return `count` independent draws."""
        kept: list[NDArray[Any]] = []
        missing = count
        while missing > 0:
            proposals = self._proposal.draw(int(missing / _SHARE_ACCEPTED) + 8)
            exact = self._exact or proposals.dtype == object
            accepted = self._accepted_integers(proposals) if exact else self._accepted(proposals)
            kept.append(accepted[:missing])
            missing -= len(kept[-1])
        return np.concatenate(kept) if kept else np.empty(0, dtype=np.int64)

    def _accepted(self, proposals: NDArray[Any]) -> NDArray[np.int64]:
        """Return the proposals whose coin is heads."""
        distance = np.abs(proposals).astype(np.float64) - float(self._peak)
        exponent = np.minimum(distance * distance * (0.5 / float(self._variance)), 64.0)
        draws = words(proposals.size)
        margin = np.exp(-exponent) - (draws >> np.uint64(1)).view(np.int64) * 2.0**-63
        heads = margin > 0.0
        for index in np.flatnonzero(np.abs(margin) <= self.bound):
            exact = self._exponent(int(proposals[index]))
            heads[index] = uniform_is_below(int(draws[index]), 64, partial(exp_scaled, exact))
        result: NDArray[np.int64] = proposals[heads]
        return result

    def _accepted_integers(self, proposals: NDArray[Any]) -> NDArray[np.object_]:
        """Return the accepted proposals among Python integers of any size."""
        heads = np.array([bernoulli_exp(self._exponent(int(value))) for value in proposals], dtype=np.bool_)
        result: NDArray[np.object_] = proposals[heads].astype(object)
        return result

    def _exponent(self, value: int) -> Fraction:
        """Return the exact exponent of the acceptance probability."""
        return (abs(value) - self._peak) ** 2 / (2 * self._variance)


class GaussianTable:
    """Draws discrete Gaussian noise of a rational sigma, or of a rational variance near sigma^2, prepared once."""

    def __init__(
        self,
        sigma: Fraction,
        variance: Fraction | None = None,
        *,
        mass_bits: int = 64,
        block_bits: int = _BLOCKS_PER_SIGMA_BITS,
    ) -> None:
        ensure_tested()
        self._sigma = sigma
        self.low_bits = 0 if sigma < NARROW_LIMIT else int(sigma).bit_length() - 1 - block_bits
        self._variance = sigma * sigma if variance is None else variance
        self._step_variance = self._variance / (1 << (2 * self.low_bits))
        self._reach = int(_REACH * sigma / (1 << self.low_bits)) + 1
        self._outcomes = np.array(list(self._inside()), dtype=np.int64)
        self._masses = self._integer_masses(mass_bits)
        self._residual = (1 << 64) - sum(self._masses)
        self._decode = np.concatenate([[RESIDUAL], self._outcomes])
        self._table = AliasTable([self._residual, *self._masses], self._decode)
        if self.low_bits:
            doubt = int(Fraction(1 << 63) / self._step_variance) + 1
            self._doubt = np.uint64(doubt)
            self._least_doubt = np.uint64((1 << self.low_bits) + self._thinned())
            self._heads_for_all = np.uint64((1 << 64) - 1 - (2 * self._reach + 3) * doubt - int(self._least_doubt))
            self._undecided = max(_FILTER, 2.0 ** (self.low_bits - 63))

    @property
    def columns(self) -> int:
        """How many columns the table has."""
        return 1 << self._table.column_bits

    def draw(self, count: int) -> NDArray[np.int64]:
        """Return `count` independent draws."""
        out = np.empty(count, dtype=np.int64)
        raw = np.empty(min(count, BLOCK_WORDS), np.uint64)
        rejected = [np.empty(0, dtype=np.intp)]
        for start in range(0, count, BLOCK_WORDS):
            block = out[start : start + BLOCK_WORDS]
            part = raw[: block.size]
            self._pick(part, block)
            if self.low_bits:
                rejected.append(self._refine(part, block) + start)
        again = np.concatenate(rejected)
        if again.size:
            out[again] = self.draw(again.size)
        return out

    def _pick(self, raw: NDArray[np.uint64], out: NDArray[np.int64]) -> None:
        """Draw table outcomes: values when narrow, blocks in the form B or -1 - B when wide."""
        fill(raw)
        self._table.lookup(raw, out=out)
        if out.min() == RESIDUAL:
            for index in np.flatnonzero(out == RESIDUAL):
                out[index] = self._from_residual()

    def _refine(self, raw: NDArray[np.uint64], block: NDArray[np.int64]) -> NDArray[np.intp]:
        """Append low bits to blocks, toss the coins, and return the indices to draw again."""
        fill(raw)
        doubtful = self._doubtful(raw, block)
        magnitude = block[doubtful] ^ (block[doubtful] >> 63)
        tails = doubtful[~self._heads(magnitude, raw[doubtful], block[doubtful] < 0)]
        np.left_shift(block, self.low_bits, out=block)
        np.bitwise_or(block, (raw & np.uint64((1 << self.low_bits) - 1)).view(np.int64), out=block)
        minus_zero = np.flatnonzero(block == -1)
        np.subtract(block, block >> 63, out=block)
        return np.concatenate([tails, minus_zero])

    def _doubtful(self, raw: NDArray[np.uint64], block: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return where the coin is not heads at first sight: by a bound for all blocks, then by their own."""
        candidates = np.flatnonzero(raw >= self._heads_for_all)
        if block.max() > self._reach or block.min() < -1 - self._reach:
            return np.arange(block.size)
        blocks = block[candidates]
        slack = (2 * (blocks ^ (blocks >> 63)) + 1).view(np.uint64) * self._doubt + self._least_doubt
        return candidates[~raw[candidates] <= slack]

    def _heads(
        self, magnitude: NDArray[np.int64], raw: NDArray[np.uint64], minus: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Toss the coins g(x) / g(B 2^m) of doubtful draws."""
        width = self.low_bits
        mask = np.uint64((1 << width) - 1)
        low = np.where(minus, ~raw & mask, raw & mask)
        fraction = low * 2.0**-width
        exponent = (2.0 * magnitude + fraction) * fraction * (0.5 / float(self._step_variance))
        coins = raw >> np.uint64(width)
        margin = np.exp(-exponent) - coins * 2.0 ** (width - 64)
        heads: NDArray[np.bool_] = margin > 0.0
        for index in np.flatnonzero(np.abs(margin) <= self._undecided):
            heads[index] = self._is_heads(int(magnitude[index]) << width, int(low[index]), int(coins[index]))
        return heads

    def _is_heads(self, start: int, offset: int, coin: int) -> bool:
        """Toss the coin of the place start + offset exactly, keeping its first bits."""
        exact = Fraction(2 * start * offset + offset * offset) / (2 * self._variance)
        return exact == 0 or uniform_is_below(coin, 64 - self.low_bits, partial(exp_scaled, exact))

    def _thinned(self) -> int:
        """Return 2^64 times a bound on the part of the accepted draws of a wide table that a further coin rejects."""
        return 0

    def _inside(self) -> Iterator[int]:
        """Walk the outcomes of the table: 0, 1, -1, 2, ... when narrow; 0, -1, 1, -2, ... (B and -1 - B) when wide."""
        yield 0
        for step in range(1, self._reach + 1):
            yield from (step, -step) if self.low_bits == 0 else (-step, step)

    def _weight(self, outcome: int) -> Ball:
        """Enclose g of an outcome's value or block start at the current precision."""
        place = outcome if self.low_bits == 0 or outcome >= 0 else -1 - outcome
        return (-ball(Fraction(place * place) / (2 * self._step_variance))).exp()

    def _total(self) -> Ball:
        """Enclose the sum of all weights, inside and outside the table."""
        whole = gaussian_sum(self._step_variance)
        return whole if self.low_bits == 0 else whole + 1

    def _integer_masses(self, mass_bits: int) -> list[int]:
        """Return integers certainly at most 2^64 times the probabilities, multiples of 2^(64 - mass_bits)."""
        with precision(128):
            total = float(self._total())
        places = np.abs(self._outcomes) if self.low_bits == 0 else self._outcomes ^ (self._outcomes >> 63)
        weights = self._float_weights(np.arange(self._reach + 1.0))[places]
        scaled = np.floor(weights * ((1.0 - 2.0**-36) / total * 2.0**mass_bits))
        return [int(mass) << (64 - mass_bits) for mass in scaled]

    def _float_weights(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights of values or block starts from 0 on, to a relative 2^-38."""
        return np.exp(-(places * places) * (0.5 / float(self._step_variance)))

    def _from_residual(self) -> int:
        """Sample exactly what the integer masses leave out, by walking its cumulative sums in balls."""
        prefix, length = bits(64), 64
        while True:
            with precision(length + 128):
                found = self._walk(prefix, length)
            if found is not None:
                return found
            prefix, length = (prefix << 64) | bits(64), length + 64

    def _walk(self, prefix: int, length: int) -> int | None:
        """Return the outcome whose residual interval holds the uniform's whole cell, or None to ask for more bits."""
        low = ball(Fraction(prefix * self._residual, 1 << (length + 64)))
        high = ball(Fraction((prefix + 1) * self._residual, 1 << (length + 64)))
        total = self._total()
        cumulative = ball(0)
        masses = dict(zip(self._outcomes.tolist(), self._masses, strict=True))
        for outcome in self._everywhere():
            missing = self._weight(outcome) / total - ball(Fraction(masses.get(outcome, 0), 1 << 64))
            if missing < 0:
                raise AssumptionFailed("a table mass exceeds its probability: numpy's exp is worse than assumed")
            beyond = cumulative + missing
            if high <= beyond:
                return outcome if low >= cumulative else None
            if not low >= beyond:
                return None
            cumulative = beyond
        raise AssertionError("the walk covers all integers")

    def _everywhere(self) -> Iterator[int]:
        """Walk the table's outcomes, then all those outside it."""
        yield from self._outcomes.tolist()
        for step in count_from(self._reach + 1):
            yield from (step, -step) if self.low_bits == 0 else (-step, step)


@lru_cache(maxsize=16)
def gaussian_table(sigma: Fraction, variance: Fraction) -> GaussianTable:
    """Return the table of a law, kept for the last few."""
    return GaussianTable(sigma, variance)
