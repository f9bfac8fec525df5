"""Random waves: cosines and sines of public directions, whose products are a Gaussian kernel on average.

Cosine and sine are our own, from sums and products alone: those of numpy and of a processor may round differently at
the ends of an array, and then one person's leaving would move another person's features.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.learning.base import whole_number
from discreet.learning.exact import in_unit_box
from discreet.learning.features.public_draws import normal_numbers
from discreet.learning.features.public_map import MOST_COLUMNS, PublicMap

Floats = NDArray[np.float64]
_MOST_GAMMA = 1e4
_COSINE = tuple((-1.0) ** k / math.factorial(2 * k) for k in range(8, -1, -1))
_SINE = tuple((-1.0) ** k / math.factorial(2 * k + 1) for k in range(8, -1, -1))


@dataclass(eq=False, repr=False, kw_only=True)
class FourierFeatures(PublicMap):
    """Cosine and sine of w'x for random w: a linear model of them is a smooth model of the features.

    Features are moved into [-1, 1] by their bounds. Half of the columns are cosines, the others sines of the same
    directions w, drawn from the public seed with variance 2 gamma a coordinate. All rows get equally long vectors, of
    squared norm n_components / 2. A row with a cell that is no finite number becomes NaN, so that a private estimator
    does not count it.

    Args:
        n_components: how many columns, an even number.
        gamma: the kernel is exp(-gamma |x - y|^2); larger is rougher.
        seed: the public seed of the directions.

    Accuracy. The mean of the products of columns of x and y, times 2, is off from the kernel by about
        1 / sqrt(n_components).
    Cost. One product a row, feature and direction, and a polynomial a column.
    Reference. Rahimi, Recht 2007.

    >>> waves = FourierFeatures(bounds=(0, 1), n_components=4).fit_transform(
    ...     [[0.5], [0.9]]
    ... )
    >>> (waves * waves).sum(axis=1).round(6)
    array([2., 2.])
    """

    n_components: int = 400
    gamma: float = 0.5
    seed: int = 1

    def _names(self, features: list[str], low: Floats, high: Floats) -> list[str]:  # noqa: ARG002
        pairs = self._turns(len(features)).shape[1]
        return [f"{kind}{pair}" for kind in ("cosine", "sine") for pair in range(pairs)]

    def _turns(self, features: int) -> Floats:
        """Return the public directions, a line a feature, in full turns rather than radians."""
        columns = whole_number(self.n_components, name="n_components", least=2, most=MOST_COLUMNS)
        if columns % 2:
            raise ParameterError("n_components must be even; got an odd number, write 400", parameter="n_components")
        usable = isinstance(self.gamma, int | float | np.number) and not isinstance(self.gamma, bool)
        if not usable or not 0 < float(self.gamma) <= _MOST_GAMMA:
            raise ParameterError("gamma must be a number above 0, at most 10,000; got another, write gamma=0.5")
        normal = normal_numbers(self.seed, b"waves", features * (columns // 2))
        return normal.reshape(features, -1) * (math.sqrt(2 * float(self.gamma)) / (2 * math.pi))

    def _map(self, features: Floats, low: Floats, high: Floats) -> Floats:
        lines, counted = in_unit_box(features, low, high)
        turns = self._turns(len(lines))
        phase = np.zeros((turns.shape[1], len(features)))
        for line, weights in zip(lines, turns, strict=True):
            phase += weights[:, np.newaxis] * line
        columns = np.vstack(waves(phase)).T
        columns[~counted] = np.nan
        return np.ascontiguousarray(columns)


def waves(turns: Floats) -> tuple[Floats, Floats]:
    """Return cosine and sine of full turns, to 1e-11, the same to the last bit wherever a number stands.

    With h half the angle left after whole turns, |h| <= pi/2: cos 2h = 1 - 2 sin(h)^2 and sin 2h = 2 sin(h) cos(h).

    >>> [line.round(9).tolist() for line in waves(np.array([0.0, 1 / 6, 7.25]))]
    [[1.0, 0.5, 0.0], [0.0, 0.866025404, 1.0]]
    """
    half = (turns - np.rint(turns)) * math.pi
    square = half * half
    cosine, sine = np.full_like(half, _COSINE[0]), np.full_like(half, _SINE[0])
    for even, odd in zip(_COSINE[1:], _SINE[1:], strict=True):
        cosine *= square
        cosine += even
        sine *= square
        sine += odd
    sine *= half
    return np.clip(1.0 - 2.0 * (sine * sine), -1.0, 1.0), np.clip(2.0 * (sine * cosine), -1.0, 1.0)
