"""Finitely many outcomes whose probabilities are enclosed rather than rational: softmax and latent laws."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws.law import Law
from discreet.laws.pairs.each import of_each
from discreet.laws.pairs.finite import FinitePair

Floats = NDArray[np.float64]


class Tabulated(Law[Hashable]):
    """A law given by its outcomes and floats below and above each probability; the subclass says how it is drawn."""

    @abstractmethod
    def table(self) -> tuple[list[Any], Floats, Floats]:
        """Return the outcomes, lower bounds and upper bounds of their probabilities."""

    def pmf(self, outcome: Any) -> Any:
        """Return the probability of an outcome (of each, for an array or a list of them), 0 for impossible ones."""
        outcomes, low, high = self.table()
        return of_each(outcome, outcomes, lambda index: float((low[index] + high[index]) / 2))

    def pair(self, other: Law[Hashable]) -> FinitePair:
        """Return the pair of two laws of the same kind on the same outcomes."""
        if not isinstance(other, Tabulated):
            raise ParameterError("an enclosed finite law is compared with one of its kind")
        outcomes, *mine = self.table()
        theirs_outcomes, *theirs = other.table()
        if outcomes != theirs_outcomes:
            raise ParameterError(
                "neighbouring inputs must have the same possible outcomes (the same number of candidates)"
            )
        return FinitePair(outcomes, *mine, *theirs)

    def __repr__(self) -> str:
        """Show the kind only: inputs are private."""
        return f"{type(self).__name__}(...)"
