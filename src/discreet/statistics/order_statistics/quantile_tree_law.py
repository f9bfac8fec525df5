"""The law of several quantiles chosen one after the other: every table of random bits, every tuple of answers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws.law import Shape, as_size
from discreet.laws.pairs.tabulated import Floats, Tabulated
from discreet.randomness.rigour import Ball, ball, lower_float, precision, upper_float
from discreet.statistics.order_statistics.tree_plan import Node
from discreet.statistics.ranks.law import chances
from discreet.statistics.ranks.ranked import Ranked

_LARGEST = 1 << 18
_BITS = 128


class QuantileTreeLaw(Tabulated):
    """A tuple of positions, in order, with the product of the probabilities of the choices that lead to it.

    It is the mean over all random bits that could tell equal rows apart: 2^(bits * rows) tables, so it is for audits of
    small cases.
    """

    def __init__(
        self,
        positions: NDArray[np.int64],
        weights: NDArray[np.int64] | None,
        root: Node,
        rates: dict[int, Fraction],
        steps: int,
        tie_bits: int,
        draw: Callable[[], tuple[int, ...]],
    ) -> None:
        """`rates` are by the place of a node, in units of weight; `draw` runs the mechanism."""
        self._positions, self._weights = positions, weights
        self._root, self._rates = root, rates
        self._steps, self._tie_bits = steps, tie_bits
        self._draw = draw

    def table(self) -> tuple[list[Any], Floats, Floats]:
        """Return the probabilities with bounds."""
        return self._table

    @cached_property
    def _table(self) -> tuple[list[Any], Floats, Floats]:
        """Add up over the random bits, then over the choices."""
        fine = (self._steps + 1) << self._tie_bits
        tables = 1 << (self._tie_bits * self._positions.size)
        if tables * fine ** len(self._rates) > _LARGEST:
            raise ParameterError(
                "the exact law lists every tuple of answers for every way to tell equal rows apart: state a grid= of a "
                "few steps, and tie_bits=0 or 1, to look at it",
                parameter="grid",
            )
        with precision(_BITS):
            total: dict[tuple[int, ...], Ball] = {}
            for bits in product(range(1 << self._tie_bits), repeat=self._positions.size):
                array = (self._positions << self._tie_bits) + np.array(bits, dtype=np.int64)
                rows = Ranked.of(array, steps=fine - 1, weights=self._weights)
                for outcome, chance in self._below(self._root, rows).items():
                    total[outcome] = total.get(outcome, ball(0)) + chance
            outcomes = list(combinations_with_replacement(range(self._steps + 1), len(self._rates)))
            balls: list[Ball] = [(total[outcome] if outcome in total else ball(0)) / tables for outcome in outcomes]
            low, high = [lower_float(one) for one in balls], [upper_float(one) for one in balls]
        return outcomes, np.maximum(np.array(low), 0.0), np.array(high)

    def _below(self, node: Node | None, rows: Ranked) -> dict[tuple[int, ...], Ball]:
        """Enclose the probabilities of all answers of a subtree."""
        if node is None:
            return {(): ball(1)}
        found: dict[tuple[int, ...], Ball] = {}
        places = range(rows.low, rows.high + 1)
        for place, chance in zip(places, chances(rows, node.share * rows.weight, self._rates[node.place]), strict=True):
            left, right = rows.split(place)
            lower, higher = self._below(node.left, left), self._below(node.right, right)
            for (before, one), (after, two) in product(lower.items(), higher.items()):
                outcome = (*before, place >> self._tie_bits, *after)
                found[outcome] = found.get(outcome, ball(0)) + chance * one * two
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
