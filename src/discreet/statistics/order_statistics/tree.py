"""Many quantiles at one price: the middle one first, then the others among the rows on either side of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.mechanisms import Mechanism
from discreet.privacy import Guarantee, PrivacyLoss, Relation, bounded_range_loss, compose, warn_if_senseless
from discreet.statistics.columns import WEIGHT_UNIT, stated_contribution
from discreet.statistics.order_statistics.tree_plan import Node, QuantileTreeLaw, passed_on, plan, shares
from discreet.statistics.pricing import stated_relation
from discreet.statistics.ranks import (
    TIE_BITS,
    Ranked,
    checked_positions,
    draw_by_rank,
    exact_level,
    most_ties,
    one_price,
    promise,
    range_of_rho,
    rank_error,
    stated_steps,
    stated_tie_bits,
    told_apart,
)


class QuantileTree(Mechanism):
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
        them. Generations compose adaptively, pure promises and the zCDP of bounded range e^2/8 by addition.
    Accuracy. With the given confidence every answer is within `error` of its rank, in rows.
        Proof: a choice at distance at most t leaves b n rows, give or take t and the rows that share the chosen point
        and its random bits, on the left. A level that is a share a of those inherits a of that (1 - a of it on the
        right). Each of the m choices keeps its t except with probability (1 - confidence) / (2 m), and ties of more
        rows than counted have a probability of at most (1 - confidence) / 2: see `rank_error` and `most_ties`.
    Cost. One sort, and choices among the rows near each wanted rank.
    Reference. Kaplan, Schnapp, Stemmer 2022, with other shares for the generations (`quantile_plan.shares`).

    >>> tree = QuantileTree(levels=(0.25, 0.5, 0.75), epsilon=1, relation=Relation.ADD_REMOVE, steps=1000)
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
        contribution: int | None = None,
        tie_bits: int = TIE_BITS,
    ) -> None:
        """The levels increase; one of `epsilon` and `rho` is given."""
        self.levels = increasing_levels(levels)
        self.relation = stated_relation(relation)
        self.steps = stated_steps(steps)
        self.tie_bits = stated_tie_bits(tie_bits, self.steps)
        self.contribution = stated_contribution(contribution)
        self.root = plan(self.levels)
        self._epsilon, self._rho = one_price(epsilon, rho)
        if self._epsilon is not None:
            self.generation_epsilons = [self._epsilon * share for share in shares(self.root, squares=False)]
        else:
            budget = self._rho or Fraction(0)
            self.generation_epsilons = [range_of_rho(budget * share) for share in shares(self.root, squares=True)]
        warn_if_senseless(self.guarantee, people=None)

    @property
    def guarantee(self) -> Guarantee:
        """Pure where epsilon was asked for, concentrated where rho was."""
        return promise(self._epsilon, self._rho, self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """The price of bounded range, generation by generation."""
        return compose([bounded_range_loss(one, relation=self.relation) for one in self.generation_epsilons])

    def rate(self, node: Node) -> Fraction:
        """Return what the rank distance, in rows, is multiplied by at a node."""
        spread = node.spread
        if self.relation is Relation.CHANGE_ONE:
            spread = 2 * spread if node.depth else Fraction(1)
        return self.generation_epsilons[node.depth] / (2 * spread * (self.contribution or 1))

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

    @property
    def _fine_steps(self) -> int:
        """The steps of the grid with the random bits appended."""
        return ((self.steps + 1) << self.tie_bits) - 1

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

    def error(self, confidence: float, *, people: int) -> list[float]:
        """Return the rank distance of each level that, over all of them at once, holds with the confidence.

        `people` bounds the number of rows.
        """
        failure = (1 - Fraction(confidence)) / 2
        each = failure / len(self.levels)
        candidates = self._fine_steps + 1
        own = [rank_error(rate=self.rate(node), candidates=candidates, failure=each) for node in self.root.nodes()]
        bound = [0.0] * len(self.levels)
        _add_errors(self.root, own, most_ties(people, self.tie_bits, float(failure)), bound)
        return [total * (1 + 1e-12) for total in bound]

    def neighbours(self) -> Iterator[tuple[Any, Any]]:
        """Yield tables that differ in one row."""
        top = self.steps
        base = [0, top // 2, top]
        if self.relation is Relation.ADD_REMOVE:
            yield base, [*base, top]
            yield base, base[1:]
            yield [], [top]
        else:
            yield base, [0, top // 2, 0]
            yield base, [top, top // 2, top]
            yield [0], [top]

    def __repr__(self) -> str:
        """Show the public parameters."""
        return f"QuantileTree({len(self.levels)} levels, {self.guarantee}, relation={self.relation.name})"


def increasing_levels(levels: Any) -> tuple[Fraction, ...]:
    """Return the levels exactly; refuse none, and levels that do not increase."""
    try:
        exact = tuple(exact_level(level) for level in levels)
    except TypeError:
        exact = ()
    if not exact or any(first >= second for first, second in pairwise(exact)):
        raise ParameterError(
            "levels are shares of the rows that increase, such as levels=(0.25, 0.5, 0.75)", parameter="levels"
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
