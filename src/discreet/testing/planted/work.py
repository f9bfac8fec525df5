"""Faults in how much work a draw is: exact laws whose sampler has no bound that public numbers give."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from discreet.mechanisms import Exponential
from discreet.randomness import bernoulli_exp, uniform_below
from discreet.testing.planted.fault import WORK, Planted

_LARGEST_SCORE = 18


class WaitsForTheLargest(Exponential):
    """Draws candidates until one is kept, with its weight beside that of the largest score that there may be.

    The law is exact. Where all scores are equal and low, thousands of candidates are drawn for one that is kept.
    """

    def __call__(self, value: Sequence[int]) -> Any:
        """Reject from uniform candidates."""
        while True:
            chosen = uniform_below(len(value))
            if bernoulli_exp(Fraction(_LARGEST_SCORE - int(value[chosen])) * self.slope):
                return chosen


FAULTS = (
    Planted(
        "Exponential: rejection without a bound",
        "candidates are drawn until one is kept, however low all scores are",
        WORK,
        make=partial(WaitsForTheLargest, epsilon=1, sensitivity=1),
        right=partial(Exponential, epsilon=1, sensitivity=1),
        # low scores take e^9 proposals each: the sum over 8 draws is below the alarm with a chance under 1e-12
        inputs=[[_LARGEST_SCORE] * 3, [0, 0, 0], [0, _LARGEST_SCORE, 0]],
    ),
)
