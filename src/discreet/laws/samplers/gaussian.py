"""Exact discrete Gaussian draws by whichever exact method is cheaper for the number asked so far."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from discreet.laws.samplers.gaussian_rejection import GaussianRejection
from discreet.laws.samplers.gaussian_table import NARROW_LIMIT, gaussian_table

_LEAST_TABLE_SIGMA, _LARGEST_TABLE_SIGMA = Fraction(1, 1 << 10), 1 << 40
_DRAWS_PER_COLUMN = 16  # building a column costs about as much as rejection loses on this many draws


class GaussianSampler:
    """Rejection until a table would have paid for itself, then the table; both have exactly the same law."""

    def __init__(self, sigma: Fraction) -> None:
        """Prepare the rejection sampler; the table comes later, if at all."""
        self.sigma = sigma
        self._rejection = GaussianRejection(sigma)
        columns = 16 * max(min(int(sigma), NARROW_LIMIT), 1)
        self._worth_a_table = _DRAWS_PER_COLUMN * columns
        self._asked = 0

    def draw(self, count: int) -> NDArray[Any]:
        """Return `count` independent draws."""
        self._asked += count
        if self._asked >= self._worth_a_table and _LEAST_TABLE_SIGMA <= self.sigma <= _LARGEST_TABLE_SIGMA:
            return gaussian_table(self.sigma).draw(count)
        return self._rejection.draw(count)
