"""Trees and forests whose splits are drawn from a public seed: only the class counts of their leaves are private."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import shake_256
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.learning.base import MOST_CELLS, Box, Public, whole_number
from discreet.learning.counts.one_release import OneRelease, OneRow, labels_of, number_of_classes
from discreet.learning.exact import CHUNK, FitRows, filled

Floats = NDArray[np.float64]
_MOST_LEVELS = 16
_MOST_TREES = 1 << 12
_MOST_SEED = (1 << 63) - 1
_PRIOR_ROWS = 1.0  # rows of its parent's classes that a node is given, and half a deviation of its noise more
_OF_DEVIATION = 0.5


@dataclass(frozen=True, slots=True)
class Splits:
    """Complete binary trees: the feature and the threshold of every inner node, level by level, a line a tree."""

    depth: int
    features: NDArray[np.int64]
    thresholds: Floats

    def __post_init__(self) -> None:  # a file of a model may hold anything
        shape = len(self.features), (1 << min(self.depth, _MOST_LEVELS)) - 1
        if not 1 <= self.depth <= _MOST_LEVELS or {self.features.shape, self.thresholds.shape} != {shape}:
            raise ValueError("no complete trees")

    @classmethod
    def drawn(cls, seed: int, trees: int, depth: int, low: Floats, high: Floats) -> Splits:
        """Draw a feature and a place in the middle half of its range for every node, by a public hash of the seed."""
        nodes = (1 << depth) - 1
        stream = shake_256(f"trees {trees} {depth} {len(low)} {seed}".encode()).digest(16 * trees * nodes)
        words = np.frombuffer(stream, dtype="<u8").reshape(2, trees, nodes)
        features = (words[0] % len(low)).astype(np.int64)
        places = 0.25 + 0.5 * (words[1] >> np.uint64(11)).astype(np.float64) * 2.0**-53
        thresholds = np.empty((trees, nodes))
        for level in range(depth):
            here = np.arange(1 << level, 2 << level)  # nodes are counted from 1: the parent of node i is i // 2
            feature = features[:, here - 1]
            start, end = low[feature], high[feature]
            for height in range(1, level + 1):
                above, right = (here >> height) - 1, (here >> (height - 1)) % 2 == 1
                cut, same = thresholds[:, above], features[:, above] == feature
                start = np.where(same & right, np.maximum(start, cut), start)
                end = np.where(same & ~right, np.minimum(end, cut), end)
            thresholds[:, here - 1] = start + places[:, here - 1] * (end - start)
        return cls(depth, features, thresholds)

    def leaves(self, rows: Floats) -> NDArray[np.int64]:
        """Return the leaf of every row in every tree, a line a tree: comparisons of its own cells and nothing else."""
        found, every = np.empty((len(self.features), len(rows)), dtype=np.int64), np.arange(len(rows))
        for tree, (features, thresholds) in enumerate(zip(self.features, self.thresholds, strict=True)):
            node = np.zeros(len(rows), dtype=np.int64)
            for _ in range(self.depth):
                node = 2 * node + 1 + (rows[every, features[node]] > thresholds[node])
            found[tree] = node - len(features)
        return found

    def boxes(self) -> list[Box]:
        """Return the leaves of every tree as boxes: a row goes to the right where its cell is above the threshold."""
        found: list[Box] = []
        for features, thresholds in zip(self.features, self.thresholds, strict=True):
            inside: list[dict[int, tuple[float, float]]] = [{}]
            for node in range(len(features)):
                feature, end = int(features[node]), float(np.nextafter(thresholds[node], np.inf))
                low, high = inside[node].get(feature, (-math.inf, math.inf))
                inside.append({**inside[node], feature: (low, min(high, end))})
                inside.append({**inside[node], feature: (max(low, end), high)})
            leaves = inside[len(features) :]
            found += [tuple((feature, *ends) for feature, ends in leaf.items()) for leaf in leaves]
        return found


@dataclass(eq=False, repr=False, kw_only=True)
class RandomTrees(OneRelease, ABC):
    """The base of the tree and the forest.

    Args:
        max_depth: how many splits there are from the root to a leaf.
        seed: the public number that the splits are drawn from; it has nothing to do with the noise.
    """

    max_depth: int = 4
    seed: int = 0

    _pure: ClassVar[bool] = True

    @abstractmethod
    def _trees(self) -> int:
        """Return how many trees there are."""

    def _shape(self, public: Public) -> tuple[int, ...]:
        depth = whole_number(self.max_depth, name="max_depth", least=1, most=_MOST_LEVELS)
        return self._trees(), 1 << depth, number_of_classes(public)

    def _plan(self, public: Public) -> Mapping[str, Any]:
        whole_number(self.seed, name="seed", least=0, most=_MOST_SEED)
        planned = super()._plan(public)
        return {**planned, "trees": self._trees(), "leaves of a tree": self._shape(public)[1]}

    def _row(self, public: Public) -> OneRow:  # noqa: ARG002
        return OneRow(self._trees(), l1=self._trees(), acute=True)

    def _splits(self, public: Public) -> Splits:
        return Splits.drawn(self.seed, self._trees(), self.max_depth, public.low, public.high)

    def _sums(self, public: Public, rows: FitRows) -> NDArray[Any]:
        """Return the counts of every class in every leaf of every tree."""
        trees, leaves, classes = self._shape(public)
        splits, codes = self._splits(public), labels_of(rows)
        total = np.zeros(trees * leaves * classes, dtype=np.int64)
        first = np.arange(trees)[:, np.newaxis] * leaves
        for begin in range(0, len(rows), CHUNK):
            part, code = rows.features[begin : begin + CHUNK], codes[begin : begin + CHUNK]
            counted = np.isfinite(part).all(axis=1) & (code < classes)
            cells = (first + splits.leaves(part[counted])) * classes + code[counted]
            total += np.bincount(cells.ravel(), minlength=len(total))
        return total.reshape(trees, leaves, classes)

    def _boxes(self, public: Public) -> Sequence[Box] | None:
        trees, leaves, _ = self._shape(public)
        return None if trees * leaves > MOST_CELLS else self._splits(public).boxes()

    def _model(self, public: Public, noisy: Floats) -> None:
        deviation, (trees, leaves, _) = self._deviation(public), noisy.shape
        totals = np.maximum(noisy.sum(axis=(0, 1)) / trees, 0.0)
        prior = totals + _PRIOR_ROWS + deviation * math.sqrt(leaves / trees)
        self._low, self._high = public.low, public.high
        self.splits_ = self._splits(public)
        self.class_prior_ = prior / prior.sum()
        self.leaf_proba_ = smoothed(noisy, self.class_prior_, deviation)

    def _scores(self, features: Floats) -> Floats:
        """Add up what the trees say beyond the prior, over the root of their number: they see the same rows."""
        leaves = self.splits_.leaves(filled(features, self._low, self._high))
        beyond = np.log(self.leaf_proba_ / self.class_prior_) / math.sqrt(len(leaves))
        scores = np.tile(np.log(self.class_prior_), (len(features), 1))
        for table, leaf in zip(beyond, leaves, strict=True):
            scores += table[leaf]
        return scores


def smoothed(counts: Floats, prior: Floats, deviation: float) -> Floats:
    """Return class probabilities of the leaves: from the root down, each node starts with those of its parent.

    A node is given as many rows of its parent's classes as noise could feign: half a deviation of its own count, the
    sum of those of its leaves.
    """
    levels = [counts]
    while levels[-1].shape[1] > 1:
        trees, nodes, classes = levels[-1].shape
        levels.append(levels[-1].reshape(trees, nodes // 2, 2, classes).sum(axis=2))
    chances = np.broadcast_to(prior, levels[-1].shape)
    for height in reversed(range(len(levels))):
        seen = np.maximum(levels[height], 0.0)
        given = _PRIOR_ROWS + _OF_DEVIATION * deviation * math.sqrt(2.0**height)
        parents = chances if height == len(levels) - 1 else np.repeat(chances, 2, axis=1)
        chances = (seen + given * parents) / (seen.sum(axis=2, keepdims=True) + given)
    return np.asarray(chances)


@dataclass(eq=False, repr=False, kw_only=True)
class DecisionTreeClassifier(RandomTrees):
    """One tree with splits from a public seed, and the class counts of its leaves.

    Privacy. epsilon-DP where epsilon is stated alone, by discrete Laplace noise; else mu-Gaussian-DP, mu the one that
        the price buys; under the stated relation.
        Proof: the splits do not depend on the rows, and a row adds 1 to one count, or nothing: a vector of norm and L1
        norm 1, with no entry below 0. The counts are released once; the rest is post-processing.
    Accuracy. A leaf that holds little beside the noise speaks with its parent's voice. With few people epsilon alone
        buys less noise for one tree than epsilon with delta: 14 against 31 rows a count at epsilon 0.1, delta 1e-5.
    Cost. One pass over the rows; one count for every leaf and class.
    Reference. Geurts, Ernst, Wehenkel 2006 (random splits); Ghosh, Roughgarden, Sundararajan 2009 (discrete Laplace).

    >>> from discreet.privacy import Relation
    >>> rows = np.repeat([[0.0, 0.0], [1.0, 1.0]], 500, axis=0)
    >>> model = DecisionTreeClassifier(
    ...     epsilon=1,
    ...     relation=Relation.ADD_REMOVE,
    ...     people=1000,
    ...     bounds=(0, 1),
    ...     classes=["a", "b"],
    ... )
    >>> model.fit(rows, ["a"] * 500 + ["b"] * 500).predict([[0, 0], [1, 1]])
    array(['a', 'b'], dtype='<U1')
    """

    max_depth: int = 6  # a deep tree costs little: its leaves fall back on their parents

    def _trees(self) -> int:
        return 1


@dataclass(eq=False, repr=False, kw_only=True)
class RandomForestClassifier(RandomTrees):
    """Trees with splits from a public seed, and the class counts of all their leaves.

    Args:
        n_estimators: how many trees there are.

    Privacy. epsilon-DP where epsilon is stated alone, by discrete Laplace noise; else mu-Gaussian-DP, mu the one that
        the price buys; under the stated relation.
        Proof: the splits do not depend on the rows, and a row adds 1 to one count of every tree, or nothing: a vector
        of norm sqrt(trees) and L1 norm trees, with no entry below 0. The counts are released once; the rest is
        post-processing.
    Accuracy. The noise in a count grows with the root of the number of trees (with the number where epsilon is stated
        alone), and so does what they say together: more trees than 30 pay where there are many features.
    Cost. One pass over the rows for every tree; one count for every leaf and class.
    Reference. Geurts, Ernst, Wehenkel 2006 (random splits); Dong, Roth, Su 2022 (Gaussian differential privacy).

    >>> from discreet.privacy import Relation
    >>> rows = np.repeat([[0.0, 0.0], [1.0, 1.0]], 500, axis=0)
    >>> model = RandomForestClassifier(
    ...     epsilon=1,
    ...     delta=1e-6,
    ...     relation=Relation.ADD_REMOVE,
    ...     people=1000,
    ...     bounds=(0, 1),
    ...     classes=["a", "b"],
    ... )
    >>> model.fit(rows, ["a"] * 500 + ["b"] * 500).predict([[0, 0], [1, 1]])
    array(['a', 'b'], dtype='<U1')
    """

    n_estimators: int = 30

    def _trees(self) -> int:
        return whole_number(self.n_estimators, name="n_estimators", least=1, most=_MOST_TREES)
