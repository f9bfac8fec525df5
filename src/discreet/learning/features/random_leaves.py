"""Leaves of totally random trees: cuts drawn from a public seed, whatever the rows are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.learning.base import whole_number
from discreet.learning.exact import in_unit_box
from discreet.learning.features.public_draws import uniform_numbers
from discreet.learning.features.public_map import MOST_COLUMNS, PublicMap

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False, kw_only=True)
class RandomLeaves(PublicMap):
    """One column a leaf of each tree: 1 where a row falls into it, 0 elsewhere.

    Every node of a tree cuts its box at a place drawn evenly, in a feature drawn evenly, from the public seed; all
    leaves are equally deep. A linear model of the leaves is a forest whose splits cost nothing. A row with a cell that
    is no finite number becomes NaN, so that a private estimator does not count it.

    Args:
        trees: how many trees.
        leaves: how many leaves a tree has, a power of 2.
        seed: the public seed of the cuts.

    Cost. One comparison a row and level of each tree; trees times leaves columns.
    Reference. Geurts, Ernst, Wehenkel 2006 (totally randomized trees).

    >>> RandomLeaves(bounds=(0, 1), trees=2, leaves=2).fit_transform([[0.0], [1.0]])
    array([[1., 0., 1., 0.],
           [0., 1., 0., 1.]])
    """

    trees: int = 20
    leaves: int = 16
    seed: int = 1

    def _names(self, features: list[str], low: Floats, high: Floats) -> list[str]:  # noqa: ARG002
        trees, depth = self._sizes()
        uniform_numbers(self.seed, b"leaves", 0)
        return [f"tree{tree}_leaf{leaf}" for tree in range(trees) for leaf in range(1 << depth)]

    def _sizes(self) -> tuple[int, int]:
        """Return the number of trees and their depth."""
        trees = whole_number(self.trees, name="trees", least=1, most=MOST_COLUMNS)
        leaves = whole_number(self.leaves, name="leaves", least=2, most=MOST_COLUMNS)
        if leaves & (leaves - 1):
            raise ParameterError("leaves must be a power of 2; got another, write leaves=16", parameter="leaves")
        if trees * leaves > MOST_COLUMNS:
            raise ParameterError(f"trees times leaves must be at most {MOST_COLUMNS:,}; got more, write fewer trees")
        return trees, leaves.bit_length() - 1

    def _map(self, features: Floats, low: Floats, high: Floats) -> Floats:
        trees, depth = self._sizes()
        lines, counted = in_unit_box(features, low, high)
        chosen, cuts = _cuts(len(lines), trees, depth, self.seed)
        columns = np.zeros((len(features), trees << depth))
        everyone = np.arange(len(features))
        for tree in range(trees):
            node = np.zeros(len(features), dtype=np.int64)  # children of node i are 2 i + 1 and 2 i + 2
            for _ in range(depth):
                above = lines[chosen[tree, node], everyone] > cuts[tree, node]
                node = 2 * node + 1 + above
            columns[everyone, (tree << depth) + node - ((1 << depth) - 1)] = 1.0
        columns[~counted] = np.nan
        return columns


def _cuts(features: int, trees: int, depth: int, seed: Any) -> tuple[NDArray[np.int64], Floats]:
    """Return the feature and the place of every node's cut, nodes numbered level by level, features in [-1, 1]."""
    nodes = (1 << depth) - 1
    draws = uniform_numbers(seed, b"leaves", 2 * trees * nodes).reshape(trees, nodes, 2)
    chosen = np.minimum((draws[:, :, 0] * features).astype(np.int64), features - 1)
    cuts = np.empty((trees, nodes))
    low, high = np.full((trees, nodes, features), -1.0), np.full((trees, nodes, features), 1.0)
    every = np.arange(trees)
    for node in range(nodes):
        feature = chosen[:, node]
        bottom, top = low[every, node, feature], high[every, node, feature]
        cuts[:, node] = bottom + draws[:, node, 1] * (top - bottom)
        for child, ends in ((2 * node + 1, high), (2 * node + 2, low)):
            if child < nodes:
                low[:, child], high[:, child] = low[:, node], high[:, node]
                ends[every, child, feature] = cuts[:, node]
    return chosen, cuts
