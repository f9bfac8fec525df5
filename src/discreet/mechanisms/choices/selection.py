"""What mechanisms that choose among scored candidates share: the scores' sensitivity, the race, the neighbors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from discreet.errors import ConflictingParameters, InputError, ParameterError
from discreet.laws import Race
from discreet.laws.number import Number, exact_rational
from discreet.laws.samplers import as_scores
from discreet.mechanisms.mechanism import Mechanism, PurelyPrivate, positive_epsilon, stated_sensitivity
from discreet.privacy import Norm, Relation, Sensitivity, warn_if_senseless
from discreet.privacy.numbers import whole

Candidate = TypeVar("Candidate")
MONOTONE = "monotone=True: between neighbors all scores move the same way"
_BLOCK = 4096
_FAR = 30


class Selection(Mechanism):
    """A choice by a race whose slope is the epsilon of one place over D, or over 2 D when scores may move both ways."""

    places = 1

    def __init__(self, sensitivity: Number | Sensitivity | None, monotone: bool) -> None:
        self.monotone = truth_value(monotone, name="monotone")
        self.sensitivity = moved_by(stated_sensitivity(sensitivity, (Norm.LINF,)), monotone=self.monotone)
        self.relation = self.sensitivity.relation

    @property
    @abstractmethod
    def _each(self) -> Fraction:
        """The epsilon of one place."""

    @property
    def slope(self) -> Fraction:
        """What a score is multiplied by in the exponent."""
        return self._each / (self.sensitivity.exact * (1 if self.monotone else 2))

    @abstractmethod
    def _race(self) -> Race:
        """Return a race that has not begun."""

    def _positions(self, scores: Any) -> tuple[int, ...]:
        """Return the positions of the winners, the first one first."""
        race = self._race()
        race.run(as_scores(scores))
        return race.winners

    def _winners(self, candidates: Iterable[Candidate], score: Callable[[Candidate], Any]) -> list[Candidate]:
        """Return the winners, looking at each candidate once and keeping only the best so far."""
        race, stream = self._race(), iter(candidates)
        kept: dict[int, Candidate] = {}
        seen = 0
        while block := list(islice(stream, _BLOCK)):
            race.run(as_scores([score(candidate) for candidate in block]))
            kept = {place: kept[place] if place < seen else block[place - seen] for place in race.winners}
            seen += len(block)
        if not kept:
            raise InputError("there is no candidate to choose from")
        return [kept[place] for place in race.winners]  # asked once more, in case the stream forked at its end

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield score vectors where as many rise as there are places, and the others fall (or stay, if monotone)."""
        yield from self._moves(both_ways=not self.monotone)

    def left_out(self) -> Mapping[str, Iterable[tuple[Any, Any]]]:
        """Scores that move both ways, where they were stated to be monotone."""
        return {MONOTONE: self._moves(both_ways=True)} if self.monotone else {}

    def _moves(self, *, both_ways: bool) -> Iterator[tuple[Any, Any]]:
        """Yield score vectors where as many rise as there are places, and the others fall or stay."""
        step, places = self.sensitivity.exact, self.places
        far = int(_FAR / (self.slope * step)) + 1
        for others, behind in ((1, 0), (1, far), *self._larger(far)):
            base = np.array([Fraction(0)] * (places + others), dtype=object)
            base[:places] = -behind * step
            moved = base.copy()
            moved[:places] += step
            if both_ways:
                moved[places:] -= step
            yield list(base), list(moved)
            yield list(moved), list(base)

    def _larger(self, far: int) -> tuple[tuple[int, int], ...]:
        """Return how many others there are in larger cases, and how many steps the rising ones are behind them."""
        return (9, 0), (99, far)


class OneChoice(Selection, PurelyPrivate):
    """A selection of one position at a price of epsilon."""

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        sensitivity: Number | Sensitivity | None = None,
        monotone: bool = False,
    ) -> None:
        self._epsilon = positive_epsilon(epsilon)
        super().__init__(sensitivity, monotone)
        warn_if_senseless(self.guarantee, people=None)

    @property
    def _each(self) -> Fraction:
        """Epsilon as it was given."""
        return self._epsilon

    @property
    def _guaranteed(self) -> Fraction:
        """Epsilon as it was given."""
        return self._epsilon

    def __call__(self, value: Any) -> int:
        """Return the position of the chosen score."""
        return self._positions(value)[0]

    def choose(self, candidates: Iterable[Candidate], *, score: Callable[[Candidate], Any]) -> Candidate:
        """Return a candidate, looking at each once and keeping only the best so far."""
        return self._winners(candidates, score)[0]

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(epsilon={float(self._epsilon):.6g}, sensitivity={self.sensitivity.value}, "
            f"monotone={self.monotone}, "
            f"relation={self.relation.name})"
        )


def check_accuracy(confidence: float | Fraction, *, candidates: int, best: int = 1) -> Fraction:
    """Return the confidence exactly; raise ParameterError for an impossible confidence or number of candidates."""
    exact = exact_rational(confidence, name="confidence")
    if not 0 < exact < 1:
        raise ParameterError(f"confidence must lie strictly between 0 and 1, got {confidence}", parameter="confidence")
    if whole(best, name="best") > whole(candidates, name="candidates"):
        raise ParameterError(
            "best must be the number of candidates that share the best score, at most all of them",
            parameter="best",
        )
    return exact


def moved_by(sensitivity: Sensitivity, *, monotone: bool) -> Sensitivity:
    """Return a sensitivity with the relation for which monotone scores can be: add/remove.

    Privacy. The saving for monotone scores is refused under change-one, and where no relation was stated the guarantee
        is one for add/remove, so that it composes with nothing else.
        Proof that change-one loses twice the guarantee: a row that changes from one category to another raises a count
        by D = 1 and lowers another by 1. At the slope epsilon / D the odds of the two candidates then change by the
        factor e^(2 epsilon), in `Exponential`, in every place of `Top`, and for scores far apart in `PermuteAndFlip`
        and `NoisyMax`; a hit of `AboveThreshold` needs noise for a shift of 2 D where it has noise for D.
    """
    if not monotone:
        return sensitivity
    if sensitivity.relation is Relation.CHANGE_ONE:
        raise ConflictingParameters(
            "monotone=True must not be stated under change-one: a row that changes raises one score and lowers "
            "another. Leave monotone=True out, or state the sensitivity for relation=Relation.ADD_REMOVE",
            parameter="monotone",
        )
    return Sensitivity(sensitivity.value, norm=sensitivity.norm, relation=Relation.ADD_REMOVE)


def truth_value(value: object, *, name: str) -> bool:
    """Return True or False, refusing look-alikes."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name} must be True or False", parameter=name)
    return bool(value)
