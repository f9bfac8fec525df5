"""Which quantile is found first: a tree over the levels, and the share of the price that each generation of it gets.

The law of several quantiles chosen one after the other: every table of random bits, every tuple of answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws.finite import Floats, Tabulated
from discreet.laws.law import Shape, as_size
from discreet.randomness.rigour import Ball, ball, lower_float, precision, upper_float
from discreet.statistics.ranks import Ranked, chances

_SHARE_BITS = 30


@dataclass(frozen=True, slots=True)
class Node:
    """One choice: which level (by its place among all), at which share of the rows that reach this node, and what next.

    `left` finds the lower levels among the rows at or below the chosen point, `right` the higher ones among the rows
    above.
    """

    place: int
    share: Fraction
    depth: int
    left: Node | None
    right: Node | None

    @property
    def spread(self) -> Fraction:
        """max(share, 1 - share): how far one row more or less moves the rank distance here."""
        return max(self.share, 1 - self.share)

    def nodes(self) -> list[Node]:
        """Return this node and all below it, from the lowest level to the highest."""
        before = self.left.nodes() if self.left else []
        return [*before, self, *(self.right.nodes() if self.right else [])]


def plan(levels: tuple[Fraction, ...]) -> Node:
    """Return the tree of least depth over increasing levels, each choice as close to the middle of its rows as can be.

    >>> root = plan((Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)))
    >>> [(node.place, str(node.share), node.depth) for node in root.nodes()]
    [(0, '1/2', 1), (1, '1/2', 0), (2, '1/2', 1)]
    """
    root = _node(levels, 0, len(levels), Fraction(0), Fraction(1), 0, generations(len(levels)))
    if root is None:
        raise AssertionError("there is at least one level")
    return root


def generations(count: int) -> int:
    """Return the least depth of a binary tree with so many nodes: ceil(log2(count + 1))."""
    return count.bit_length()


def _node(
    levels: tuple[Fraction, ...], first: int, stop: int, low: Fraction, high: Fraction, depth: int, room: int
) -> Node | None:
    """Return the tree over some levels, for rows between the shares `low` and `high` of all."""
    if first == stop:
        return None
    most = (1 << (room - 1)) - 1  # what fits on each side in the generations that are left
    places = range(max(first, stop - 1 - most), min(stop, first + most + 1))
    place = min(places, key=lambda at: (abs(2 * levels[at] - low - high), at))
    chosen = levels[place]
    return Node(
        place,
        (chosen - low) / (high - low),
        depth,
        _node(levels, first, place, low, chosen, depth + 1, room - 1),
        _node(levels, place + 1, stop, chosen, high, depth + 1, room - 1),
    )


def shares(root: Node, *, squares: bool) -> list[Fraction]:
    """Return what each generation gets of epsilon, or of rho with `squares`; they add up to 1.

    Accuracy. A choice at rate r has a rank error of variance about 2 / r^2, and passes it on: a level at the share b of
        the rows on one side of the chosen point inherits the share b of it (1 - b on the other side). With v_g the sum
        over all levels of what generation g contributes at price 1, the total is the sum of v_g / e_g^2, least for
        e_g proportional to the cube root of v_g when the e_g add up to epsilon, and for e_g^2 proportional to the
        square root of v_g when their squares add up to 8 rho.
        Proof: Lagrange's condition is v_g / e_g^3 = const in the first case, v_g / e_g^4 = const in the second.

    >>> [float(share) for share in shares(plan(tuple(Fraction(i, 4) for i in (1, 2, 3))), squares=False)]
    [0.47..., 0.52...]
    """
    totals: dict[int, float] = {}
    for node in root.nodes():
        totals[node.depth] = totals.get(node.depth, 0.0) + float(node.spread) ** 2 * passed_on(node)
    power = 1 / 2 if squares else 1 / 3
    raw = [totals[depth] ** power for depth in sorted(totals)]
    cut = [Fraction(round(part / sum(raw) * (1 << _SHARE_BITS)), 1 << _SHARE_BITS) for part in raw[:-1]]
    return [*cut, 1 - sum(cut, Fraction(0))]


def passed_on(node: Node) -> float:
    """Return the sum over a node and all below it of the squared share of this node's error that reaches them."""
    left = _inherited(node.left, 0.0, 1.0, rising=True)
    return 1.0 + left + _inherited(node.right, 0.0, 1.0, rising=False)


def _inherited(node: Node | None, low: float, high: float, *, rising: bool) -> float:
    """Return the sum of squared shares over a subtree whose rows lie between two shares of one side."""
    if node is None:
        return 0.0
    at = low + float(node.share) * (high - low)
    own = (at if rising else 1.0 - at) ** 2
    return own + _inherited(node.left, low, at, rising=rising) + _inherited(node.right, at, high, rising=rising)


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
