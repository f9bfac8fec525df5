"""The exponential mechanism: choose a candidate with probability growing in its score, exactly, over any range."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from discreet.laws import Race, Softmax
from discreet.mechanisms.choices.selection import OneChoice, check_accuracy
from discreet.privacy import PrivacyLoss, bounded_range_loss
from discreet.privacy.numbers import number, upward


class Exponential(OneChoice):
    """Return position i with probability proportional to exp(epsilon * score_i / (2 D)), D the scores' sensitivity.

    Privacy. epsilon-DP for scores that one person moves by at most D each; without the 2 when the scores are monotone,
        that is when between any two neighbors all scores move the same way (counts under add/remove do).
        Proof: the weight of the candidate changes by a factor of at most e^(epsilon/2), and so does the sum of all
        weights, in the other direction at worst. If all move the same way, weight and sum move together and the ratio
        changes by at most one factor e^(epsilon D / D). In both cases the losses of two candidates differ by the change
        of the difference of their scores times the slope, at most epsilon: bounded range, which is what `loss` prices.
    Accuracy. With probability at least 1 - e^-t the chosen score is above OPT - (2 D / epsilon)(ln(|R| / |R_OPT|) + t).
        Proof: scores at or below that level have weight at most e^-t |R_OPT| / |R| e^(epsilon OPT / 2D) each, together
        at most e^-t times the weight of the |R_OPT| best.
    Cost. One 64-bit word and two logarithms a candidate, one pass, constant memory: candidates may come from a
        generator.
    Instance. Every mechanism is one: with the score ln P(output | table) and the rate 1 the law is the mechanism's own,
        and the guarantee at most twice its epsilon. With score 1 for one's own category and 0 for the others it is
        randomized response at epsilon / 2; with minus the distance on all integers it is integer Laplace noise of scale
        2 D / epsilon. In both the sum of weights is the same for every table, so half the guarantee is not used.
    Figure. exponential.svg
    Reference. McSherry, Talwar 2007.

    >>> m = Exponential(epsilon=1, sensitivity=1)
    >>> m([0, 0, 1000])
    2
    >>> m.choose(["bus", "tram"], score=lambda name: 1000 * len(name))
    'tram'
    """

    @property
    def loss(self) -> PrivacyLoss:
        """The price of bounded range: the losses of any two candidates differ by at most epsilon."""
        return bounded_range_loss(self._epsilon, relation=self.relation)

    def _race(self) -> Race:
        """Return the race whose winner is i with probability proportional to exp(slope * score_i)."""
        return Race(self.slope)

    def law(self, value: Any) -> Softmax:
        """Return the law of the chosen position."""
        return Softmax(value, self.slope)

    def error(self, confidence: float | Fraction, *, candidates: int, best: int = 1) -> float:
        """Return how far below the best score, shared by `best` candidates, the chosen one is at most."""
        exact = check_accuracy(confidence, candidates=candidates, best=best)
        odds = Fraction(int(candidates), int(best)) / (1 - exact)
        return upward(lambda: number(odds).log() / number(self.slope))
