"""Exhibits whose law is right on paper and whose floating-point outputs give the input away: the wire sees it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.audit import Level
from discreet.privacy import PureDP
from discreet.testing.museum.exhibit import NumericExhibit, wrong

_MIRONOV = "Mironov 2012"
_EPSILON = 0.1


class FloatingLaplace(NumericExhibit):
    """Laplace noise from a numerical library, added to a float."""

    label = wrong(
        "FloatingLaplace",
        PureDP(_EPSILON),
        "A float plus a library's Laplace noise: which floats can come out, to the last bit, depends on the input.",
        _MIRONOV,
        level=Level.WIRE,
    )
    scale = 1 / _EPSILON

    def neighbors(self) -> list[tuple[float, float]]:
        """Zero and one: around zero floats are densest."""
        return [(0.0, 1.0)]

    def runs(self, value: float, draws: int) -> NDArray[np.float64]:
        """Draw noisy numbers."""
        return value + self.random.laplace(scale=self.scale, size=draws)


class InvertedLaplace(FloatingLaplace):
    """Laplace noise by inverting the distribution function by hand."""

    label = wrong(
        "InvertedLaplace",
        PureDP(_EPSILON),
        "A float plus noise from the logarithm of a uniform float: there are few such logarithms, with gaps between.",
        _MIRONOV,
        level=Level.WIRE,
    )

    def runs(self, value: float, draws: int) -> NDArray[np.float64]:
        """Draw noisy numbers."""
        uniform = self.random.random(draws) - 0.5
        noise: NDArray[np.float64] = -self.scale * np.sign(uniform) * np.log1p(-2 * np.abs(uniform))
        return value + noise
