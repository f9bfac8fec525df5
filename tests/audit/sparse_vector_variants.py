"""Six published sparse-vector algorithms as exact laws, two right and four wrong (Lyu, Su, Li 2017, figure 1)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from discreet.laws import DiscreteLaplace
from discreet.laws.tabulated import Tabulated

REACH = 64


class TableLaw(Tabulated):
    """Outcomes with computed probabilities, each with a generous relative error and the mass outside the sums."""

    def __init__(self, outcomes: list[Any], values: np.ndarray, outside: float) -> None:
        self._table = (outcomes, values * (1 - 1e-12), values * (1 + 1e-12) + outside)

    def table(self) -> Any:
        return self._table

    def sample(self, shape: Any = None) -> Any:  # noqa: ARG002  the signature of a law
        raise AssertionError("these laws are only looked at")


class Variant:
    """A sparse-vector algorithm on integers of sensitivity 1 against threshold 0: scales, cut-off, what it releases."""

    def __init__(
        self,
        epsilon: float,
        *,
        threshold_scale: Fraction,
        query_scale: Fraction | None,
        hits: int | None,
        redraw: bool = False,
        releases_value: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.threshold_noise = DiscreteLaplace(threshold_scale)
        self.query_noise = None if query_scale is None else DiscreteLaplace(query_scale)
        self.hits, self.redraw, self.releases_value = hits, redraw, releases_value

    def _grid(self) -> np.ndarray:
        reach = 10 * int(self.threshold_noise.scale) + int(REACH * self.threshold_noise.scale) + 2
        return np.arange(-reach, reach + 1)

    def _above(self, noise: np.ndarray, value: int) -> np.ndarray:
        """P(value + query noise >= threshold noise) for each threshold noise."""
        if self.query_noise is None:
            return (value >= noise).astype(float)
        return self.query_noise.sf(noise - value - 1)

    def law(self, values: np.ndarray) -> TableLaw:
        values = np.asarray(values)
        noise = self._grid()
        outside = 2 * float(self.threshold_noise.sf(int(noise[-1])))
        if self.releases_value:
            return self._law_with_values(values, noise, outside)
        outcomes, probabilities = [], []
        limit = len(values) if self.hits is None else self.hits
        for pattern in product((False, True), repeat=len(values)):
            stop = next((i + 1 for i in range(len(values)) if sum(pattern[: i + 1]) == limit), len(values))
            if any(pattern[stop:]):
                continue
            outcomes.append(pattern)
            probabilities.append(self._probability(values[:stop], pattern[:stop], noise))
        return TableLaw(outcomes, np.array(probabilities), outside * (limit if self.redraw else 1))

    def _probability(self, values: np.ndarray, pattern: tuple[bool, ...], noise: np.ndarray) -> float:
        weight, total = self.threshold_noise.pmf(noise), 1.0
        for value, hit in zip(values, pattern, strict=True):
            above = self._above(noise, int(value))
            below = 1.0 - above if self.query_noise is None else self.query_noise.cdf(noise - int(value) - 1)
            weight = weight * (above if hit else below)
            if hit and self.redraw:
                total *= float(weight.sum())
                weight = self.threshold_noise.pmf(noise)
        return total * float(weight.sum())

    def _law_with_values(self, values: np.ndarray, noise: np.ndarray, outside: float) -> TableLaw:
        """The noisy value that was compared is released with the first hit."""
        outcomes: list[Any] = ["none"]
        probabilities = []
        weight = self.threshold_noise.pmf(noise)
        for i, value in enumerate(values):
            cumulative = np.cumsum(weight)
            for released in range(int(noise[0]), int(noise[-1]) + 1, 1):
                outcomes.append((i, released))
                compared = self.query_noise.pmf(released - int(value))
                probabilities.append(float(cumulative[released - int(noise[0])] * compared))
            weight = weight * self.query_noise.cdf(noise - int(value) - 1)
        return TableLaw(outcomes, np.array([float(weight.sum()), *probabilities]), outside * 1e-6)

    def neighbours(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Streams that move together, apart, and around a far-away last value."""
        length = 5 if self.hits is None or self.hits > 1 else 8
        zeros, ones = np.zeros(length, dtype=np.int64), np.ones(length, dtype=np.int64)
        last = zeros.copy()
        last[-1] = 1
        far = int(5 * float(self.threshold_noise.scale))
        high = np.full(length, far)
        high[-1] = -far
        apart = high + 1
        apart[-1] = -far - 1
        half = np.array([1] * (length // 2) + [0] * (length - length // 2))
        for first, second in ((zeros, ones), (zeros, last), (high, apart), (half, 1 - half)):
            yield first, second
            yield second, first


def variants(epsilon: float) -> dict[int, Variant]:
    """Return the six, for cut-off 1 where there is one (2 for the first two as well, through `hits`)."""
    half = Fraction(epsilon) / 2
    quarter, rest = Fraction(epsilon) / 4, 3 * Fraction(epsilon) / 4
    return {
        1: Variant(epsilon, threshold_scale=1 / half, query_scale=4 / half, hits=2),
        2: Variant(epsilon, threshold_scale=2 / half, query_scale=4 / half, hits=2, redraw=True),
        3: Variant(epsilon, threshold_scale=1 / half, query_scale=1 / half, hits=1, releases_value=True),
        4: Variant(epsilon, threshold_scale=1 / quarter, query_scale=1 / rest, hits=1),
        5: Variant(epsilon, threshold_scale=1 / half, query_scale=None, hits=None),
        6: Variant(epsilon, threshold_scale=1 / half, query_scale=1 / half, hits=None),
    }
