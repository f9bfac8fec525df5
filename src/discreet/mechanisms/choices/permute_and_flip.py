"""Permute-and-flip: choose a candidate at the price of the exponential mechanism, and never a worse one on average."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from discreet.laws import PermuteAndFlipLaw, Race
from discreet.laws.choices import HighestOfExponentials
from discreet.laws.number import round_up
from discreet.mechanisms.choices.selection import OneChoice, check_accuracy
from discreet.privacy.numbers import number, upward
from discreet.randomness.rigor import ball, precision

_BISECTIONS = 64
_PRECISION = 192


class PermuteAndFlip(OneChoice):
    """Toss a coin exp(-epsilon (top - score_i) / (2 D)) for every candidate; return the position of one of the heads.

    D is the scores' sensitivity and `top` the largest score; the choice among the heads is uniform.

    Privacy. epsilon-DP for scores that one person moves by at most D each; without the 2 when the scores are monotone,
        that is when between any two neighbors all scores move the same way (counts under add/remove do).
        Proof: give every candidate independent noise E_i / slope, E_i standard exponential and slope = epsilon / (2 D);
        the largest noised score has the law above (those who reach `top` get there with the coins' probabilities, and
        how far beyond they get is, by memorylessness, equally distributed). Fix the noise of all but i: i wins when its
        own noise exceeds M - score_i, M the largest of the others. On the neighbor M is larger by at most D and
        score_i smaller by at most D, so that i wins when its noise exceeds M - score_i + 2 D. P(E > t + s) >= e^-s P(E
        > t) for all real t and s >= 0, so the chance falls by at most the factor e^(-2 D slope) = e^-epsilon. If all
        scores rise, score_i does not fall; if all fall, M does not rise: the shift is D, and slope = epsilon / D will
        do. The range of the losses is not bounded by epsilon, so nothing better than the pure price is claimed.
    Accuracy. For every level the chance that the chosen score is at or below it is at most that of `Exponential` at the
        same epsilon; so is the expected distance from the best score. `error` returns the least t for which P(chosen
        score < OPT - t) <= 1 - confidence is sure, whatever the scores of the n - b that do not share OPT.
        Proof: let p_i be the coins' probabilities. The chance of i is p_i f_i with f_i = E[1 / (1 + heads of others)],
        and under `Exponential` it is p_i / sum p. A candidate of higher score has the smaller coins among the others,
        hence fewer heads there and the larger f: the ratio of the two chances does not fall in the score, and both add
        up to 1, so what one has more at the top the other has more at the bottom. For `error`, let H be the heads below
        OPT - t and G the others: H / (H + G) is the chance that one of the former is chosen; it grows in H and falls in
        G. The limit of bad cases is n - b coins e^(-slope t) beside the b best: E[H / (H + b)] = 1 - 2F1(b - n, 1; b +
        1; e^(-slope t)), from 1 / (H + b) = integral of x^(H + b - 1) over [0, 1].
    Cost. One 64-bit word and one logarithm a candidate, one pass, constant memory: candidates may come from a
        generator.
    Figure. permute_and_flip.svg
    Reference. McKenna, Sheldon 2020; as exponential noise: Ding, Kifer, Saghaian, Steinke, Wang, Xiao, Zhang 2021.

    >>> m = PermuteAndFlip(epsilon=1, sensitivity=1)
    >>> m([0, 0, 1000])
    2
    >>> m.choose(["bus", "tram"], score=lambda name: 1000 * len(name))
    'tram'
    >>> m.error(0.95, candidates=100)
    13.72...
    """

    def _race(self) -> Race:
        """Return the race of heights with exponential noise."""
        return HighestOfExponentials(self.slope)

    def law(self, value: Any) -> PermuteAndFlipLaw:
        """Return the law of the chosen position."""
        return PermuteAndFlipLaw(value, self.slope)

    def error(self, confidence: float | Fraction, *, candidates: int, best: int = 1) -> float:
        """Return how far below the best score, shared by `best` candidates, the chosen one is at most."""
        wanted = check_accuracy(confidence, candidates=candidates, best=best)
        worse = int(candidates) - int(best)
        if worse <= (1 - wanted) * int(candidates):  # a choice blind to the scores is good enough
            return 0.0
        # E[H / (H + b)] <= m q / (m q + b) for m coins q (the function is concave in H): enough at this exponent
        odds = Fraction(worse, int(best)) * wanted / (1 - wanted)
        low, high = 0.0, max(upward(lambda: number(odds).log()), 0.0)
        for _ in range(_BISECTIONS):
            middle = low + (high - low) / 2
            low, high = (low, middle) if _succeeds(middle, worse, int(best), wanted) else (middle, high)
        return round_up(Fraction(high) / self.slope)


def _succeeds(exponent: float, worse: int, best: int, wanted: Fraction) -> bool:
    """Say whether one of the best is certainly chosen often enough when the others have coins exp(-exponent)."""
    with precision(_PRECISION):
        coin = (-ball(Fraction(exponent))).exp()
        return bool(coin.hypgeom_2f1(-worse, 1, best + 1) >= ball(wanted))
