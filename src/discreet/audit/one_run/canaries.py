"""Canaries: records put in or left out by secret fair coins, and the guesses that scores about them make."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.audit.one_run.one_run_audit import OneRun, one_run
from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.privacy import Guarantee, Relation
from discreet.privacy.numbers import whole
from discreet.randomness import bernoulli_array


@dataclass(frozen=True, eq=False, repr=False)
class Canaries:
    """The coins of so many canaries, drawn once and kept apart from whoever guesses.

    `included` says which canaries go into the data. Whoever sees the output gives a score to each canary, larger ones
    for canaries that seem to be in; `audit` then guesses 'in' about the largest, 'out' about the smallest, and nothing
    about the others. The number of guesses is fixed beforehand, and one draw of coins serves one run.

    >>> canaries = Canaries.drawn(1000)
    >>> found = canaries.audit(canaries.included + 0.0, guesses=100)  # a mechanism that hides nothing
    >>> found.right, round(found.low, 2) == round(found.cap, 2) == 3.49
    (100, True)
    """

    included: NDArray[np.bool_]

    def __post_init__(self) -> None:
        """Keep a read-only copy of one coin a canary."""
        coins = np.array(self.included)
        if coins.ndim != 1 or coins.dtype != np.bool_:
            raise ParameterError("included holds one bool for each canary", parameter="included")
        coins.flags.writeable = False
        object.__setattr__(self, "included", coins)

    @classmethod
    def drawn(cls, count: int) -> Canaries:
        """Toss exact fair coins for so many canaries."""
        return cls(bernoulli_array(Fraction(1, 2), whole(count, name="count")))

    def __len__(self) -> int:
        """The number of canaries."""
        return len(self.included)

    def __repr__(self) -> str:
        """Say how many there are, and nobody's coin."""
        return f"Canaries({len(self)})"

    def right(self, scores: ArrayLike, *, guesses: int) -> int:
        """Return how many guesses are right, half of them about the largest scores and half about the smallest."""
        made = whole(guesses, name="guesses")
        ranked = _ranked(scores, len(self))
        if made > len(self):
            raise ParameterError("there is at most one guess about each canary", parameter="guesses")
        lower, upper = made // 2, made - made // 2
        said_out, said_in = ranked[:lower], ranked[len(self) - upper :]
        return int(np.count_nonzero(~self.included[said_out]) + np.count_nonzero(self.included[said_in]))

    def audit(
        self,
        scores: ArrayLike,
        *,
        guesses: int,
        claim: Guarantee | None = None,
        delta: Number = 0,
        confidence: Number = 0.95,
        relation: Relation = Relation.ADD_REMOVE,
    ) -> OneRun:
        """Guess by the scores and say what so many right guesses refute; see `one_run`."""
        return one_run(
            canaries=len(self),
            guesses=guesses,
            right=self.right(scores, guesses=guesses),
            delta=delta,
            confidence=confidence,
            claim=claim,
            relation=relation,
        )


def _ranked(scores: ArrayLike, count: int) -> NDArray[np.intp]:
    """Return the places of the canaries from the smallest score to the largest."""
    values = np.asarray(scores, dtype=np.float64)
    if values.shape != (count,) or np.isnan(values).any():
        raise ParameterError("there is one score for each canary, and it is a number", parameter="scores")
    return np.argsort(values, kind="stable")
