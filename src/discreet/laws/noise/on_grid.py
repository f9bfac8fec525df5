"""An integer law stretched onto a public grid: outcomes are integer multiples of a power of two."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import ParameterError
from discreet.laws.law import IntegerLaw, Law, Shape, as_array
from discreet.laws.number import rational_or_none
from discreet.laws.pair import Pair


class OnGrid(Law[float]):
    """The law of grid * X for an integer law X and a grid 2^k.

    The loss does not change: multiplying by a public constant is a bijection.

    >>> from discreet.laws.noise.discrete_laplace import DiscreteLaplace
    >>> law = OnGrid(DiscreteLaplace(1), Fraction(1, 4))
    >>> float(law.pmf(0.25)) == float(DiscreteLaplace(1).pmf(1)), float(law.pmf(0.3))
    (True, 0.0)
    """

    def __init__(self, law: IntegerLaw, grid: Fraction) -> None:
        exact = isinstance(grid, Fraction | int) and not isinstance(grid, bool) and grid > 0
        if not exact or grid.numerator & (grid.numerator - 1) or grid.denominator & (grid.denominator - 1):
            raise ParameterError("a grid must be a power of two", parameter="grid")
        self.law, self.grid = law, grid

    def _steps(self, outcome: ArrayLike) -> tuple[NDArray[np.object_], NDArray[np.bool_]]:
        """Return the exact grid coordinates rounded down, and which outcomes lie on the grid."""
        given = [rational_or_none(value) for value in as_array(outcome).ravel().tolist()]
        values = [value for value in given if value is not None]
        if len(values) < len(given):
            raise ParameterError("outcomes of a law on a grid must be finite numbers", parameter="outcome")
        flat = [value / self.grid for value in values]
        steps = np.array([value.numerator // value.denominator for value in flat] + [None], dtype=object)[:-1]
        return steps, np.array([value.denominator == 1 for value in flat], dtype=np.bool_)

    def pmf(self, outcome: ArrayLike) -> Any:
        """Return P(X = outcome), 0 off the grid."""
        steps, on_grid = self._steps(outcome)
        return np.where(on_grid, self.law.pmf(steps), 0.0).reshape(np.shape(outcome))[()]

    def cdf(self, outcome: ArrayLike) -> Any:
        """Return P(X <= outcome)."""
        return np.asarray(self.law.cdf(self._steps(outcome)[0])).reshape(np.shape(outcome))[()]

    def sf(self, outcome: ArrayLike) -> Any:
        """Return P(X > outcome)."""
        return np.asarray(self.law.sf(self._steps(outcome)[0])).reshape(np.shape(outcome))[()]

    def quantile(self, probability: float | Fraction) -> float:
        """Return the least outcome whose cumulative probability reaches the given one."""
        return float(self.law.quantile(probability) * self.grid)

    def sample(self, shape: Shape | None = None) -> Any:
        """Draw floats on the grid; beyond 2^53 steps they are the nearest floats."""
        if shape is None:
            return float(self.law.sample() * self.grid)
        return self.law.sample(shape).astype(np.float64) * float(self.grid)

    def pair(self, other: Law[float]) -> Pair:
        """Return the pair of the integer laws."""
        if not isinstance(other, OnGrid) or other.grid != self.grid:
            raise ParameterError("laws on a grid are compared on the same grid")
        return self.law.pair(other.law)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OnGrid) and other.grid == self.grid and other.law == self.law

    def __hash__(self) -> int:
        return hash((self.grid, self.law))

    def __repr__(self) -> str:
        return f"OnGrid({self.law!r}, grid={self.grid})"
