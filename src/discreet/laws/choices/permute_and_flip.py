"""The law of permute-and-flip: every candidate tosses a coin, and one of the heads is chosen at random.

Candidate i gets heads with probability p_i = exp(-slope (top - score_i)), top the largest score, and the choice is
uniform among the heads; the best candidates always get heads, so there is one. Going through the candidates in random
order and stopping at the first heads is the same: the first heads of a random order is uniform among them.

Lemma (noise). The largest of score_i + E_i / slope, with independent standard exponential E_i, has the same law. Proof.
Candidate i reaches the level `top` exactly when E_i >= slope (top - score_i): with probability p_i, independently of
the others. By memorylessness the heights above `top` of those who reach it are independent exponential variables with
one rate, so the highest of them is uniform among them; the best always reach it, so nobody else is the highest. QED. So
the choice needs no permutation, no knowledge of `top` and one pass: it is the race of `Race` with U in place of E = -ln
U.

Lemma (filter). For a word w >= 2^30 and every U in [w, w + 1] 2^-64 the computed ln U is within 2^-28 of the truth,
well inside the 2^-19 that `Race` allows. Proof. As there, with v = floor(w / 2) >= 2^29: truncation moves ln U by at
most 1/v <= 2^-29, the rounding of v by 2^-52, and log is wrong by at most 2^-40 * 34 ln 2 < 2^-35. QED.
Reference. McKenna, Sheldon 2020; the noise: Ding, Kifer, Saghaian, Steinke, Wang, Xiao, Zhang 2021.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws.finite import Floats, Tabulated
from discreet.laws.law import Shape, as_size
from discreet.laws.samplers import Race, Runner, as_scores, exact_score, log_uniforms
from discreet.randomness.rigor import Ball, ball, lower_float, precision, upper_float

_PRECISION = 160
_MOST_CANDIDATES = 1 << 9


class HighestOfExponentials(Race):
    """The race in which candidate i climbs to slope * score_i + E_i, and the highest wins."""

    def _log_times(self, draws: NDArray[np.uint64]) -> tuple[Floats, NDArray[np.bool_]]:
        """Return -E = ln U for every word, and which words are outside the lemma."""
        return log_uniforms(draws)

    def _log_time(self, runner: Runner) -> Ball | None:
        """Enclose minus the height at the current precision, or None while it may be infinite."""
        uniform = runner.log_uniform()
        return None if uniform is None else uniform - ball(self.slope * runner.score)


class PermuteAndFlipLaw(Tabulated):
    """Position i with probability p_i E[1 / (1 + H_i)], H_i the number of heads among the others.

    E[1 / (1 + H)] is the integral of x^H over [0, 1], so that

        P(i) = p_i * integral over x in [0, 1] of the product over j != i of (1 - p_j + p_j x).

    The product is a polynomial with coefficients P(H_i = h) >= 0, multiplied out and integrated in ball arithmetic; the
    products without one factor come from those of all factors before it and all after it.

    >>> law = PermuteAndFlipLaw([0, 1], Fraction(1))
    >>> round(
    ...     law.pmf(1), 4
    ... )  # 1 - exp(-1) / 2: heads of both coins are chosen equally often
    0.8161
    """

    def __init__(self, scores: Any, slope: Fraction) -> None:
        self.scores = as_scores(scores)
        self.slope = slope

    def table(self) -> tuple[list[Any], Floats, Floats]:
        """Return the probabilities with bounds."""
        return self._table

    @cached_property
    def _table(self) -> tuple[list[Any], Floats, Floats]:
        """Compute the probabilities once, for all candidates of one score together."""
        if self.scores.size > _MOST_CANDIDATES:
            raise ParameterError(
                f"the exact law of permute-and-flip is available for at most {_MOST_CANDIDATES} candidates"
            )
        exact = [exact_score(score) for score in self.scores]
        counts = Counter(exact)
        levels = sorted(counts)
        with precision(_PRECISION):
            chances = dict(zip(levels, self._chances(levels, [counts[level] for level in levels]), strict=True))
            low = np.array([max(lower_float(chances[score]), 0.0) for score in exact])
            high = np.array([min(upper_float(chances[score]), 1.0) for score in exact])
        return list(range(len(exact))), low, high

    def _chances(self, levels: list[Fraction], counts: list[int]) -> list[Ball]:
        """Enclose the probability of one candidate of each score."""
        import flint

        top = levels[-1]
        heads = [(-ball(self.slope * (top - level))).exp() for level in levels]
        coins = [flint.arb_poly([1 - chance, chance]) for chance in heads]
        before = [flint.arb_poly([1])]
        for coin, count in zip(coins, counts, strict=True):
            before.append(before[-1] * coin**count)
        after, chances = flint.arb_poly([1]), []
        for place in reversed(range(len(levels))):
            others = before[place] * coins[place] ** (counts[place] - 1) * after
            chances.append(heads[place] * others.integral()(ball(1)))
            after *= coins[place] ** counts[place]
        return chances[::-1]

    def sample(self, shape: Shape | None = None) -> Any:
        """Draw one position or an array of them."""
        if shape is None:
            contest = HighestOfExponentials(self.slope)
            contest.run(self.scores)
            return contest.winner
        sizes, count = as_size(shape)
        return np.array([self.sample() for _ in range(count)], dtype=np.int64).reshape(sizes)
