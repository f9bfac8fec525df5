"""The law of the position of the largest noised score: one sum over where the winner stands."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws.law import Shape, as_size
from discreet.laws.noise.discrete_laplace import DiscreteLaplace
from discreet.laws.pairs.tabulated import Floats, Tabulated

_REACH = 64
_LARGEST_WINDOW = 1 << 21
_UNIT = 2.0**-42
_LEAST_NORMAL = 2.0**-1020


class NoisyMaxLaw(Tabulated):
    """Scores plus independent discrete Laplace noise; the position of the largest, the first one on a tie.

    P(i) = sum over z of p(z - s_i) * product over j < i of P(s_j + X < z) * product over j > i of P(s_j + X <= z). The
    sum runs over a window that reaches 64 scales beyond all scores; what lies outside is bounded by the tail and added
    to the upper bound. Every term is positive, so rounding is relative: 2^-42 for each factor covers it generously.
    """

    def __init__(self, scores: NDArray[np.int64], noise: DiscreteLaplace) -> None:
        """Scores are integers in steps of the grid."""
        self.scores = np.asarray(scores, dtype=np.int64)
        self.noise = noise

    def table(self) -> tuple[list[Any], Floats, Floats]:
        """Return the probabilities with bounds."""
        return self._table

    @cached_property
    def _table(self) -> tuple[list[Any], Floats, Floats]:
        """Compute the probabilities once."""
        count = self.scores.size
        reach = int(_REACH * self.noise.scale) + 2
        low, high = int(self.scores.min()) - reach, int(self.scores.max()) + reach
        if (high - low) * count > _LARGEST_WINDOW * 8 or high - low > _LARGEST_WINDOW:
            raise ParameterError(
                "the exact law of these scores needs too many grid points; use a coarser grid= (or fewer "
                "candidates) to look at it"
            )
        centred = np.arange(low, high + 1)[:, None] - self.scores[None, :]
        at_most, less = self.noise.cdf(centred), self.noise.cdf(centred - 1)
        before = np.cumprod(np.hstack([np.ones((centred.shape[0], 1)), less[:, :-1]]), axis=1)
        after = np.cumprod(np.hstack([np.ones((centred.shape[0], 1)), at_most[:, :0:-1]]), axis=1)[:, ::-1]
        terms = np.ascontiguousarray((self.noise.pmf(centred) * before * after).T)
        values = terms.sum(axis=1)  # along the contiguous axis numpy sums pairwise: an error of log2(n) roundings
        outside = self.noise.sf(high - self.scores) + self.noise.cdf(low - 1 - self.scores)
        error = _UNIT * (count + 2)
        low_bounds = np.where(values < _LEAST_NORMAL, 0.0, values * (1 - error))
        return list(range(count)), low_bounds, values * (1 + error) + outside * (1 + error) + _LEAST_NORMAL

    def sample(self, shape: Shape | None = None) -> Any:
        """Run the mechanism: add noise, take the first largest."""
        if shape is None:
            return int(self.sample(1)[0])
        sizes, count = as_size(shape)
        noise = self.noise.draw(count * self.scores.size).reshape(count, self.scores.size)
        return np.argmax(noise + self.scores, axis=1).astype(np.int64).reshape(sizes)
