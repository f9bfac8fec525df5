"""The law of several quantiles chosen at once: every count, every way to tell equal rows apart, every tuple."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws.finite import Floats, Tabulated
from discreet.laws.law import Shape, as_size
from discreet.laws.noise import IntegerNoise
from discreet.randomness.rigour import Ball, ball, lower_float, precision, upper_float
from discreet.statistics.order_statistics.joint_draw import distance_of

_LARGEST = 1 << 18
_BITS = 128
_LEFT_OUT = Fraction(1, 10**15)


class JointLaw(Tabulated):
    """A sorted tuple of positions, averaged over the noise of the count and over the random bits that break ties.

    Sizes whose noise has a probability of less than 1e-15 in all are left out and added to the upper bounds.
    """

    def __init__(
        self,
        positions: NDArray[np.int64],
        means: Callable[[int], list[Fraction]],
        rate: Fraction,
        steps: int,
        tie_bits: int,
        count_noise: IntegerNoise | None,
        draw: Callable[[], tuple[int, ...]],
    ) -> None:
        """`means(size)` are the wanted parts of a table of that size; `draw` runs the mechanism."""
        self._positions, self._means, self._rate = positions, means, rate
        self._steps, self._tie_bits = steps, tie_bits
        self._noise, self._draw = count_noise, draw

    def table(self) -> tuple[list[Any], Floats, Floats]:
        """Return the probabilities with bounds."""
        return self._table

    @cached_property
    def _table(self) -> tuple[list[Any], Floats, Floats]:
        """Add up over sizes and random bits."""
        points, rows = len(self._means(0)) - 1, self._positions.size
        reach = 0 if self._noise is None else self._noise.half_width(1 - _LEFT_OUT)
        tables = 1 << (self._tie_bits * rows)
        if (2 * reach + 1) * tables * ((self._steps + 1) << self._tie_bits) ** points > _LARGEST:
            raise ParameterError(
                "the exact law lists every tuple for every size and every way to tell equal rows apart: state a grid= "
                "of a few steps, tie_bits=0 or 1, and a larger epsilon, to look at it",
                parameter="grid",
            )
        with precision(_BITS):
            outcomes = list(combinations_with_replacement(range(self._steps + 1), points))
            total = dict.fromkeys(outcomes, ball(0))
            for noise in range(-reach, reach + 1):
                chance = ball(1) if self._noise is None else self._noise.mass_ball(noise)
                for outcome, mass in self._given(max(rows + noise, 0)).items():
                    total[outcome] += chance * mass
            low = [lower_float(total[outcome]) for outcome in outcomes]
            high = [upper_float(total[outcome]) for outcome in outcomes]
        left_out = 0.0 if self._noise is None else float(_LEFT_OUT)
        return outcomes, np.maximum(np.array(low), 0.0), np.array(high) + left_out

    def _given(self, size: int) -> dict[tuple[int, ...], Ball]:
        """Enclose the law for one size."""
        bits, rows = self._tie_bits, self._positions.size
        means = self._means(size)
        found: dict[tuple[int, ...], Ball] = {}
        for added in product(range(1 << bits), repeat=rows):
            fine = np.sort((self._positions << bits) + np.array(added, dtype=np.int64))
            weights: dict[tuple[int, ...], Ball] = {}
            for places in product(range((self._steps + 1) << bits), repeat=len(means) - 1):
                ordered = sorted(places)
                ranks = [int(rank) for rank in np.searchsorted(fine, ordered, side="right")]
                outcome = tuple(place >> bits for place in ordered)
                weight = (-ball(self._rate * distance_of(ranks, means, rows))).exp()
                weights[outcome] = weights.get(outcome, ball(0)) + weight
            total = sum(weights.values(), ball(0)) * (1 << (bits * rows))
            for outcome, weight in weights.items():
                found[outcome] = found.get(outcome, ball(0)) + weight / total
        return found

    def sample(self, shape: Shape | None = None) -> Any:
        """Run the mechanism: a tuple of positions, or an array of tuples."""
        if shape is None:
            return self._draw()
        sizes, count = as_size(shape)
        out = np.empty(count, dtype=object)
        for place in range(count):
            out[place] = self.sample()
        return out.reshape(sizes)
