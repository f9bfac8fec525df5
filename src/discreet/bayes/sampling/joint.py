"""What draws are wanted of: a proper prior that can be drawn from, times the likelihood of what was released."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Joint:
    """The joint density of unknowns and release as three functions, each of many points at once.

    `draw_prior(count, generator)` returns points (count, d), `log_prior(points)` and `log_likelihood(points)` return
    one number a point. The prior must be proper and normalized where the evidence is to mean anything. The likelihood
    is only asked where the prior is above 0, so that it need not know where points make sense; what is no number counts
    as impossible. `outline` is a likelihood near the other one that has slopes, where that has steps: modes are sought
    by it, and nothing else.

    >>> line = Joint(
    ...     lambda count, generator: generator.normal(size=(count, 1)),
    ...     lambda points: -(points[:, 0] ** 2) / 2 - np.log(2 * np.pi) / 2,
    ...     lambda points: -np.abs(points[:, 0] - 1),
    ... )
    >>> [float(one[0].round(3)) for one in line.both(np.zeros((1, 1)))]
    [-0.919, -1.0]
    """

    draw_prior: Callable[[int, np.random.Generator], Floats]
    log_prior: Callable[[Floats], Floats]
    log_likelihood: Callable[[Floats], Floats]
    outline: Callable[[Floats], Floats] | None = None

    @property
    def sloped(self) -> Joint:
        """The density by which modes are sought."""
        return self if self.outline is None else replace(self, log_likelihood=self.outline, outline=None)

    def both(self, points: Floats) -> tuple[Floats, Floats]:
        """Return ln of prior and likelihood at points (count, d), -inf where something is impossible."""
        with np.errstate(all="ignore"):
            prior = _possible(self.log_prior(points))
            inside = np.isfinite(prior)
            if inside.all():
                return prior, _possible(self.log_likelihood(points))
            likelihood = np.full(len(points), -np.inf)
            if inside.any():
                likelihood[inside] = _possible(self.log_likelihood(points[inside]))
        return prior, likelihood

    def density(self, points: Floats) -> Floats:
        """Return ln of prior times likelihood at points (count, d)."""
        prior, likelihood = self.both(points)
        return prior + likelihood


def _possible(values: Floats) -> Floats:
    """Return logarithms with -inf for what is no number, or infinitely likely."""
    array = np.asarray(values, dtype=np.float64)
    return np.where(np.isnan(array) | (array == np.inf), -np.inf, array)
