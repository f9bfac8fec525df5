"""The law of a candidate chosen by its rank: every candidate listed, for tables and grids small enough to look at."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws.finite import Floats, Tabulated
from discreet.laws.law import Shape, as_size
from discreet.randomness.rigor import Ball, ball, lower_float, precision, upper_float
from discreet.statistics.ranks.draw import draw_by_rank
from discreet.statistics.ranks.ranked import Ranked

_LARGEST = 1 << 12
_BITS = 128


def chances(rows: Ranked, target: Fraction, rate: Fraction) -> list[Ball]:
    """Enclose the probability of each candidate at the current precision: exp(-rate * distance) over the sum."""
    if rows.candidates > _LARGEST:
        raise ParameterError(
            "the grid must have at most 4096 steps for the exact law, which lists every candidate; got more, write a "
            "coarser grid=",
            parameter="grid",
        )
    places = range(rows.low, rows.high + 1)
    weights = [(-ball(rate * rows.distance(place, target))).exp() for place in places]
    total = sum(weights, ball(0))
    return [weight / total for weight in weights]


class ListedLaw(Tabulated):
    """A law whose outcomes are listed once, with balls around their probabilities, and drawn by a mechanism."""

    _kind: type = object
    _left_out = 0.0
    _draw: Callable[[], Any]

    @abstractmethod
    def _enclosed(self) -> tuple[list[Any], list[Ball]]:
        """Return the outcomes and a ball around the probability of each, at the precision that is set."""

    def table(self) -> tuple[list[Any], Floats, Floats]:
        """Return the probabilities with bounds."""
        return self._table

    @cached_property
    def _table(self) -> tuple[list[Any], Floats, Floats]:
        """Compute the probabilities once; what was left out of them is added to the upper bounds."""
        with precision(_BITS):
            outcomes, balls = self._enclosed()
            low, high = [lower_float(chance) for chance in balls], [upper_float(chance) for chance in balls]
        return outcomes, np.maximum(np.array(low), 0.0), np.array(high) + self._left_out

    def sample(self, shape: Shape | None = None) -> Any:
        """Run the mechanism: one outcome, or an array of them."""
        if shape is None:
            return self._draw()
        sizes, count = as_size(shape)
        drawn: NDArray[Any] = np.empty(count, dtype=self._kind)
        for place in range(count):
            drawn[place] = self._draw()
        return drawn.reshape(sizes)


class RankLaw(ListedLaw):
    """Candidate v with probability proportional to exp(-rate * rank distance of v).

    >>> law = RankLaw(Ranked.of([1, 1, 3], steps=4), Fraction(3, 2), Fraction(1))
    >>> round(law.pmf(1), 3), round(law.pmf(3), 3)
    (0.376, 0.228)
    """

    _kind = np.int64

    def __init__(self, rows: Ranked, target: Fraction, rate: Fraction) -> None:
        self.rows, self.target, self.rate = rows, target, rate
        self._draw = partial(draw_by_rank, rows, target, rate)

    def _enclosed(self) -> tuple[list[Any], list[Ball]]:
        outcomes: list[Any] = list(range(self.rows.low, self.rows.high + 1))
        return outcomes, chances(self.rows, self.target, self.rate)
