"""Many quantiles at one price: the middle one first, then the others among the rows on either side of it.

A tree over the levels says which quantile is found first; each generation of it gets a share of the price. The exact
law lists every table of random bits and every tuple of answers.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.mechanisms import Mechanism
from discreet.privacy import Guarantee, PrivacyLoss, Relation, bounded_range_loss, compose, warn_if_senseless
from discreet.randomness.rigor import Ball, ball
from discreet.statistics.columns import WEIGHT_UNIT, bounded
from discreet.statistics.pricing import stated_relation
from discreet.statistics.ranks import (
    TIE_BITS,
    ListedLaw,
    Ranked,
    chances,
    checked_positions,
    draw_by_rank,
    exact_level,
    guarantee,
    most_ties,
    one_price,
    range_of_rho,
    rank_error,
    stated_steps,
    stated_tie_bits,
    told_apart,
)


class ManyQuantiles(Mechanism):
    """Several levels on one grid, with room for the random bits that tell equal rows apart, for epsilon or for rho."""

    _epsilon: Fraction | None
    _rho: Fraction | None

    def __init__(self, levels: Any, relation: Relation, steps: int, tie_bits: int) -> None:
        self.levels = increasing_levels(levels)
        self.relation = stated_relation(relation)
        self.steps = stated_steps(steps)
        self.tie_bits = stated_tie_bits(tie_bits, self.steps)

    @property
    def guarantee(self) -> Guarantee:
        """Pure where epsilon was asked for, concentrated where rho was."""
        return guarantee(self._epsilon, self._rho, self.relation)

    @abstractmethod
    def variance(self) -> float:
        """Return about the mean squared rank error of all levels, in rows, on a table without empty stretches."""

    @abstractmethod
    def error(self, confidence: float, *, rows_expected: int) -> list[float]:
        """Return the rank distance of each level that, over all of them at once, holds with the confidence."""

    @property
    def _fine_steps(self) -> int:
        """The steps of the grid with the random bits appended."""
        return ((self.steps + 1) << self.tie_bits) - 1

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield tables that differ in one row."""
        top = self.steps
        base = [0, top // 2, top]
        if self.relation is Relation.ADD_REMOVE:
            yield from ((base, [*base, top]), (base, base[1:]), ([], [top]))
        else:
            yield from ((base, [0, top // 2, 0]), (base, [top, top // 2, top]), ([0], [top]))

    def __repr__(self) -> str:
        kind = type(self).__name__
        return f"{kind}({len(self.levels)} levels, {self.guarantee}, relation={self.relation.name})"


class QuantileTree(ManyQuantiles):
    """Return a position of 0, ..., steps for each of several levels, in order.

    The middle level is chosen by the exponential mechanism as in `RankChoice`. Rows at or below the chosen point go
    left, rows above go right; the lower levels are found in the same way among the rows on the left and the positions
    up to the chosen one, the higher levels on the right, at their shares of those rows. m levels take
    ceil(log2(m + 1)) generations of choices. Rows with equal positions are told apart by `tie_bits` random bits
    appended to every position (and taken off every answer), so that a point can divide them: without that a value that
    many rows share could not be cut where the level wants it.

    Privacy. Each generation g, given those before, has losses that span at most e_g: bounded range. So all of it is
        epsilon-DP for e_g that add up to epsilon, and rho-zCDP for e_g^2 that add up to 8 rho. The rate at a node with
        share b is e_g / (2 D), D = max(b, 1 - b) under add/remove, 2 max(b, 1 - b) under change-one (1 at the root);
        times c where the rows of a person weigh up to c.
        Proof: given the random bits and the points chosen so far, each row is at one node of the generation, which one
        depends on the row alone. Let the rows of one person at node i weigh w_i <= c in sum. The proof in
        `RankChoice`, applied to the rows at the node, bounds what they do to the rank distances there by max(b, 1 - b)
        w_i, so the losses of the node span at most e_g w_i / c. The nodes choose independently: spans add up to e_g.
        Under change-one rows of weight r_i leave node i and rows of weight s_i come; together they move its distances
        by at most max(b, 1 - b) (r_i + s_i), and the sum of r_i + s_i is at most 2 c; at the root by at most c
        (`RankChoice`). The random bits of a row are drawn independently of all rows: couple them and condition on
        them. Generations compose adaptively, pure guarantees and the zCDP of bounded range e^2/8 by addition.
    Accuracy. With the given confidence every answer is within `error` of its rank, in rows.
        Proof: a choice at distance at most t leaves b n rows, give or take t and the rows that share the chosen point
        and its random bits, on the left. A level that is a share a of those inherits a of that (1 - a of it on the
        right). Each of the m choices keeps its t except with probability (1 - confidence) / (2 m), and ties of more
        rows than counted have a probability of at most (1 - confidence) / 2: see `rank_error` and `most_ties`.
    Cost. One sort, and choices among the rows near each wanted rank.
    Reference. Kaplan, Schnapp, Stemmer 2022, with other shares for the generations (`shares`).

    >>> tree = QuantileTree(
    ...     levels=(0.25, 0.5, 0.75),
    ...     epsilon=1,
    ...     relation=Relation.ADD_REMOVE,
    ...     steps=1000,
    ... )
    >>> low, middle, high = tree(list(range(1001)))
    >>> 0 <= low <= middle <= high <= 1000
    True
    """

    def __init__(
        self,
        *,
        levels: Any,
        relation: Relation,
        steps: int,
        epsilon: Number | None = None,
        rho: Number | None = None,
        rows: int | None = None,
        tie_bits: int = TIE_BITS,
    ) -> None:
        super().__init__(levels, relation, steps, tie_bits)
        self.rows = bounded(rows)
        self.root = plan(self.levels)
        self._epsilon, self._rho = one_price(epsilon, rho)
        if self._epsilon is not None:
            self.generation_epsilons = [self._epsilon * share for share in shares(self.root, squares=False)]
        else:
            budget = self._rho or Fraction(0)
            self.generation_epsilons = [range_of_rho(budget * share) for share in shares(self.root, squares=True)]
        warn_if_senseless(self.guarantee, people=None)

    @property
    def loss(self) -> PrivacyLoss:
        """The price of bounded range, generation by generation."""
        return compose([bounded_range_loss(one, relation=self.relation) for one in self.generation_epsilons])

    def rate(self, node: Node) -> Fraction:
        """Return what the rank distance, in rows, is multiplied by at a node."""
        spread = node.spread
        if self.relation is Relation.CHANGE_ONE:
            spread = 2 * spread if node.depth else Fraction(1)
        return self.generation_epsilons[node.depth] / (2 * spread * (self.rows or 1))

    def __call__(self, value: Any) -> tuple[int, ...]:
        """Return the positions; `value` is an array of positions, or one with the weights of the rows."""
        positions, weights = value if isinstance(value, tuple) else (value, None)
        array = checked_positions(positions, self.steps)
        rows = Ranked.of(told_apart(array, self.tie_bits), steps=self._fine_steps, weights=weights)
        unit = 1 if weights is None else WEIGHT_UNIT
        answers = [0] * len(self.levels)
        waiting = [(self.root, rows)]
        while waiting:
            node, part = waiting.pop()
            chosen = draw_by_rank(part, node.share * part.weight, self.rate(node) / unit)
            answers[node.place] = chosen >> self.tie_bits
            left, right = part.split(chosen)
            waiting += [(below, rest) for below, rest in ((node.left, left), (node.right, right)) if below is not None]
        return tuple(answers)

    def law(self, value: Any) -> QuantileTreeLaw:
        """Return the law of the positions, for tables and grids of a few rows and steps."""
        positions, weights = value if isinstance(value, tuple) else (value, None)
        array = checked_positions(positions, self.steps)
        unit = 1 if weights is None else WEIGHT_UNIT
        rates = {node.place: self.rate(node) / unit for node in self.root.nodes()}
        return QuantileTreeLaw(array, weights, self.root, rates, self.steps, self.tie_bits, lambda: self(value))

    def variance(self) -> float:
        """Return about the mean squared rank error of all levels, in rows, on a table without empty stretches."""
        each = [2.0 / float(self.rate(node)) ** 2 * passed_on(node) for node in self.root.nodes()]
        return math.fsum(each) / len(each)

    def error(self, confidence: float, *, rows_expected: int) -> list[float]:
        """Return the rank distance of each level that, over all of them at once, holds with the confidence.

        `rows_expected` bounds the number of rows.
        """
        failure = (1 - Fraction(confidence)) / 2
        each = failure / len(self.levels)
        candidates = self._fine_steps + 1
        own = [rank_error(rate=self.rate(node), candidates=candidates, failure=each) for node in self.root.nodes()]
        bound = [0.0] * len(self.levels)
        _add_errors(self.root, own, most_ties(rows_expected, self.tie_bits, float(failure)), bound)
        return [total * (1 + 1e-12) for total in bound]


def increasing_levels(levels: Any) -> tuple[Fraction, ...]:
    """Return the levels exactly; raise ParameterError unless there is at least one and they increase."""
    try:
        exact = tuple(exact_level(level) for level in levels)
    except TypeError:
        exact = ()
    if not exact or any(first >= second for first, second in pairwise(exact)):
        raise ParameterError(
            "levels must be increasing shares of the rows; got others, write levels=(0.25, 0.5, 0.75), for example",
            parameter="levels",
        )
    return exact


def _add_errors(node: Node, own: list[float], ties: int, bound: list[float]) -> None:
    """Fill in the rank error of every level: its own, and what it inherits from the choices before it."""
    bound[node.place] += own[node.place]
    passed = own[node.place] + ties
    for below, rising in ((node.left, True), (node.right, False)):
        if below is not None:
            _pass_on(below, 0.0, 1.0, passed, bound, rising=rising)
            _add_errors(below, own, ties, bound)


def _pass_on(node: Node, low: float, high: float, passed: float, bound: list[float], *, rising: bool) -> None:
    """Add to every level of a subtree its share of an error made above."""
    at = low + float(node.share) * (high - low)
    bound[node.place] += (at if rising else 1.0 - at) * passed
    for below, ends in ((node.left, (low, at)), (node.right, (at, high))):
        if below is not None:
            _pass_on(below, *ends, passed, bound, rising=rising)


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
    """Return the least depth of a binary tree with `count` nodes: ceil(log2(count + 1))."""
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

    >>> [
    ...     float(share)
    ...     for share in shares(
    ...         plan(tuple(Fraction(i, 4) for i in (1, 2, 3))), squares=False
    ...     )
    ... ]
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


class QuantileTreeLaw(ListedLaw):
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
        self._positions, self._weights = positions, weights
        self._root, self._rates = root, rates
        self._steps, self._tie_bits = steps, tie_bits
        self._draw = draw

    def _enclosed(self) -> tuple[list[Any], list[Ball]]:
        """Add up over the random bits, then over the choices."""
        fine = (self._steps + 1) << self._tie_bits
        tables = 1 << (self._tie_bits * self._positions.size)
        if tables * fine ** len(self._rates) > _LARGEST:
            raise ParameterError(
                "the grid must have few steps for the exact law, which lists every tuple of answers for every way to "
                "tell equal rows apart; got more, write a coarser grid=, and tie_bits=0 or 1",
                parameter="grid",
            )
        total: dict[tuple[int, ...], Ball] = {}
        for bits in product(range(1 << self._tie_bits), repeat=self._positions.size):
            array = (self._positions << self._tie_bits) + np.array(bits, dtype=np.int64)
            rows = Ranked.of(array, steps=fine - 1, weights=self._weights)
            for outcome, chance in self._below(self._root, rows).items():
                total[outcome] = total.get(outcome, ball(0)) + chance
        outcomes = list(combinations_with_replacement(range(self._steps + 1), len(self._rates)))
        return outcomes, [(total[outcome] if outcome in total else ball(0)) / tables for outcome in outcomes]

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
