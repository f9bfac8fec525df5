"""The exponential mechanism: choose a candidate with probability growing in its score, exactly, over any range."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from discreet.errors import InputError, ParameterError
from discreet.laws.number import Number
from discreet.laws.race import Race, Softmax, as_scores
from discreet.mechanisms.mechanism import PurelyPrivate, positive_epsilon, stated_sensitivity
from discreet.privacy import Norm, PrivacyLoss, Sensitivity, bounded_range_loss, warn_if_senseless

Candidate = TypeVar("Candidate")
_BLOCK = 4096


class Exponential(PurelyPrivate):
    """Return position i with probability proportional to exp(epsilon * score_i / (2 D)), D the scores' sensitivity.

    Privacy. epsilon-DP for scores that one person moves by at most D each; without the 2 when the scores are monotone,
        that is when between any two neighbours all scores move the same way (counts under add/remove do).
        Proof: the weight of the candidate changes by a factor of at most e^(epsilon/2), and so does the sum of all
        weights, in the other direction at worst. If all move the same way, weight and sum move together and the ratio
        changes by at most one factor e^(epsilon D / D). In both cases the losses of two candidates differ by the change
        of the difference of their scores times the rate, at most epsilon: bounded range, which is what `loss` prices.
    Accuracy. With probability at least 1 - e^-t the chosen score is above OPT - (2 D / epsilon)(ln(|R| / |R_OPT|) + t).
        Proof: scores at or below that level have weight at most e^-t |R_OPT| / |R| e^(epsilon OPT / 2D) each, together
        at most e^-t times the weight of the |R_OPT| best.
    Cost. One 64-bit word and two logarithms a candidate, one pass, constant memory: candidates may come from a
        generator.
    Instance. With score 1 for one's own category and 0 for the others it is randomized response at epsilon / 2: the sum
        of weights is the same for every category, so half the claim is not used.
    Figure. exponential.svg
    Reference. McSherry, Talwar 2007.

    >>> m = Exponential(epsilon=1, sensitivity=1)
    >>> m([0, 0, 1000])
    2
    >>> m.choose(["bus", "tram"], score=lambda name: 1000 * len(name))
    'tram'
    """

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        sensitivity: Number | Sensitivity | None = None,
        monotone: bool = False,
    ) -> None:
        """`sensitivity` bounds every single score's change; `monotone` states that all move the same way."""
        self._epsilon = positive_epsilon(epsilon)
        self.sensitivity = stated_sensitivity(sensitivity, (Norm.LINF,))
        self.relation = self.sensitivity.relation
        self.monotone = truth_value(monotone)
        warn_if_senseless(self.guarantee, people=None)

    @property
    def rate(self) -> Fraction:
        """What a score is multiplied by in the exponent."""
        return self._epsilon / (self.sensitivity.exact * (1 if self.monotone else 2))

    @property
    def _promised(self) -> Fraction:
        """Epsilon as it was given."""
        return self._epsilon

    @property
    def loss(self) -> PrivacyLoss:
        """The price of bounded range: the losses of any two candidates differ by at most epsilon."""
        return bounded_range_loss(self._epsilon, relation=self.relation)

    def __call__(self, value: Any) -> int:
        """Return the position of the chosen score."""
        race = Race(self.rate)
        race.run(as_scores(value))
        return race.winner

    def choose(self, candidates: Iterable[Candidate], *, score: Callable[[Candidate], Number]) -> Candidate:
        """Return a candidate, looking at each once and keeping only the best so far."""
        race = Race(self.rate)
        stream = iter(candidates)
        chosen: list[Candidate] = []
        seen = 0
        while block := list(islice(stream, _BLOCK)):
            race.run(as_scores([score(candidate) for candidate in block]))
            if race.winner >= seen:
                chosen = [block[race.winner - seen]]
            seen += len(block)
        if not chosen:
            raise InputError("there is no candidate to choose from")
        return chosen[0]

    def law(self, value: Any) -> Softmax:
        """Return the law of the chosen position."""
        return Softmax(value, self.rate)

    def error(self, confidence: float, *, candidates: int, best: int = 1) -> float:
        """Return how far below the best score, shared by `best` candidates, the chosen one is at most."""
        if not 0.0 < confidence < 1.0:
            raise ParameterError(
                f"a confidence lies strictly between 0 and 1, got {confidence}", parameter="confidence"
            )
        if not 1 <= best <= candidates:
            raise ParameterError("best counts the candidates that share the best score", parameter="best")
        return (math.log(candidates / best) - math.log1p(-confidence)) / float(self.rate)

    def neighbours(self) -> Iterator[tuple[Any, Any]]:
        """Yield score vectors where one candidate rises and the others fall, or stay when the scores are monotone."""
        step = self.sensitivity.exact
        far = int(30 / (self.rate * step)) + 1
        for count, height in ((2, 0), (2, far), (10, 0), (100, far)):
            base = np.array([Fraction(0)] * count, dtype=object)
            base[0] = -height * step
            moved = base.copy()
            moved[0] += step
            if not self.monotone:
                moved[1:] -= step
            yield list(base), list(moved)
            yield list(moved), list(base)

    def __repr__(self) -> str:
        """Show the public parameters."""
        return (
            f"Exponential(epsilon={float(self._epsilon):.6g}, sensitivity={self.sensitivity.value}, "
            f"monotone={self.monotone}, "
            f"relation={self.relation.name})"
        )


def truth_value(value: object) -> bool:
    """Return True or False, refusing look-alikes."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError("monotone is True or False", parameter="monotone")
    return bool(value)
