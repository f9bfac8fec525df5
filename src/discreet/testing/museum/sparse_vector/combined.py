"""Benchmark exhibits: sparse vector with freshly noised values, and two sparse-vector algorithms side by side.

A value that is released with fresh noise is independent of the verdicts, and so are two algorithms with noise of their
own: their losses add.
Reference. Wang, Ding, Wang, Kifer, Zhang 2019; Bichsel, Steffen, Bogunovic, Vechev 2021.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.laws import Pair
from discreet.privacy import PureDP
from discreet.testing.museum.exhibit import NumericExhibit, Vector, Vectors, all_differ, laplace, right, wrong
from discreet.testing.museum.laws import Sandwich, laplace_product, mixture
from discreet.testing.museum.sparse_vector.values import BELOW, SparseVectorValues
from discreet.testing.museum.sparse_vector.verdicts import EPSILON, SparseVector, SparseVectorMisscaled


class NumericalSparseVector(SparseVector):
    """Sparse vector whose hits are answered with fresh noise."""

    label = right(
        "NumericalSVT",
        PureDP(EPSILON),
        "A third of epsilon each for the threshold, the comparisons and the values, which have fresh noise: right.",
        "Wang, Ding, Wang, Kifer, Zhang 2019",
    )
    threshold = 1.0
    hits = 2
    threshold_scale = 3 / EPSILON
    query_scale = 12 / EPSILON
    value_scale = 6 / EPSILON
    varied = None

    def runs(self, value: Vector, draws: int) -> NDArray[Any]:
        """Draw vectors of values, 0 for a miss and -1000 for not looked at any more."""
        verdicts = super().runs(value, draws)
        released = value + laplace(self.random, self.value_scale, (draws, value.size))
        released[verdicts == 0] = 0.0
        released[verdicts == -1] = BELOW
        return released

    def pair(self, first: Vector, second: Vector) -> Sandwich:
        """Given the verdicts the values are independent Laplace answers; their losses add to that of the verdicts."""
        panels = self.panels(first, second)
        outcomes, p = self.chances(panels, first)
        _, q = self.chances(panels, second)
        moved = np.abs(first - second)
        parts = []
        for outcome, mass, other in zip(outcomes, p.tolist(), q.tolist(), strict=True):
            moves = [move for move, told in zip(moved.tolist(), outcome, strict=True) if told == 1]
            values = Sandwich.of_atoms(np.ones(1), np.ones(1))
            for move, count in Counter(moves).items():
                values = values.times(laplace_product(move / self.value_scale, count, 64))
            parts.append((mass, other, values))
        return mixture(parts).compressed()


class SparseVectorParallel(NumericExhibit):
    """The third and the fourth algorithm on the same answers, with independent noise."""

    label = wrong(
        "SVT34Parallel",
        PureDP(2 * EPSILON),
        "The third and the fourth algorithm side by side, two hits each: the guarantees add, and so do the losses.",
        "Bichsel, Steffen, Bogunovic, Vechev 2021",
    )

    def __init__(self, *, seed: int | None = None) -> None:
        super().__init__(seed=seed)
        self.third, self.fourth = SparseVectorValues(hits=2, cells=24), SparseVectorMisscaled(hits=2)
        self.third.random = self.fourth.random = self.random

    def neighbors(self) -> list[Vectors]:
        """Ten answers that all may differ."""
        return all_differ(10)

    def runs(self, value: Vector, draws: int) -> NDArray[Any]:
        """Draw both vectors side by side."""
        return np.concatenate([self.third.runs(value, draws), self.fourth.runs(value, draws)], axis=1)

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Losses of independent outputs add."""
        panels = self.fourth.panels(first, second)
        masses = [self.fourth.chances(panels, value)[1] for value in (first, second)]
        fourth = Sandwich.of_atoms(*masses).merged()
        return self.third.pair(first, second).compressed(1 << 12).times(fourth).compressed(1 << 13)
