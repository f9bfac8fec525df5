"""The law of the first k of a race: choose by softmax, take the winner away, choose again among the rest."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet.errors import ParameterError
from discreet.laws.finite import Floats, Tabulated
from discreet.laws.law import Shape, as_size
from discreet.laws.samplers import Race, as_scores, exact_score
from discreet.randomness.rigor import Ball, ball, lower_float, precision, upper_float

_PRECISION = 160
_MOST_OUTCOMES = 1 << 15


class Peeling(Tabulated):
    """Positions i_1, ..., i_k in this order with probability w_1 / W * w_2 / (W - w_1) * ..., w = exp(slope * score).

    W is the sum of all weights. The sums of what is left are added up anew, never subtracted, in ball arithmetic.

    >>> law = Peeling([0, 0, 0], Fraction(1), 2)
    >>> round(law.pmf((2, 0)), 4)
    0.1667
    """

    def __init__(self, scores: Any, slope: Fraction, places: int) -> None:
        self.scores = as_scores(scores)
        self.slope = slope
        self.places = places

    def table(self) -> tuple[list[Any], Floats, Floats]:
        """Return the ordered tuples of positions and their probabilities with bounds."""
        return self._table

    @cached_property
    def _table(self) -> tuple[list[Any], Floats, Floats]:
        """Walk the tree of choices once."""
        if math.perm(self.scores.size, self.places) > _MOST_OUTCOMES:
            raise ParameterError(
                "the exact law of these ordered choices is too large; use fewer candidates or a smaller k"
            )
        exact = [exact_score(score) for score in self.scores]
        top = max(exact)
        outcomes: list[tuple[int, ...]] = []
        low, high = [], []
        with precision(_PRECISION):
            weights = [ball(self.slope * (score - top)).exp() for score in exact]
            stack: list[tuple[tuple[int, ...], Ball]] = [((), ball(1))]
            while stack:
                chosen, chance = stack.pop()
                if len(chosen) == self.places:
                    outcomes.append(chosen)
                    low.append(max(lower_float(chance), 0.0) if chance.is_finite() else 0.0)
                    high.append(min(upper_float(chance), 1.0) if chance.is_finite() else 1.0)
                    continue
                left = [place for place in range(len(exact)) if place not in chosen]
                total = sum((weights[place] for place in left), ball(0))
                stack.extend(((*chosen, place), chance * (weights[place] / total)) for place in reversed(left))
        return outcomes, np.array(low), np.array(high)

    def sample(self, shape: Shape | None = None) -> Any:
        """Draw one tuple of positions, or an array of them."""
        if shape is None:
            race = Race(self.slope, self.places)
            race.run(self.scores)
            return race.winners
        sizes, count = as_size(shape)
        out = np.empty(count, dtype=object)
        for place in range(count):
            out[place] = self.sample()
        return out.reshape(sizes)
