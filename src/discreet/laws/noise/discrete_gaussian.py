"""The discrete Gaussian law: the normal density at the integers, normalized there."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.laws.law import as_floats, offsets, ratios
from discreet.laws.noise.gaussian.gaussian_sampler import GaussianSampler
from discreet.laws.noise.gaussian.theta import gaussian_sum, gaussian_tail
from discreet.laws.noise.noise import IntegerNoise
from discreet.randomness.rigor import Ball, ball, precision

_FAR = 1e4  # beyond it every float probability is 0


class DiscreteGaussian(IntegerNoise):
    """P(X = x) proportional to exp(-(x - center)^2 / (2 scale^2)) on the integers; the scale is sigma.

    | property | value |
    |---|---|
    | support | all integers |
    | variance | at most scale^2, and almost equal to it from scale 1 on |
    | loss of a shift d | linear in the outcome, unbounded |
    | Renyi divergence of a shift d | at most alpha d^2 / (2 scale^2) |

    Cost. One 64-bit word and a table look-up a draw (two for sigma >= 1024) once many draws were asked; rejection
        before.
    Reference. Canonne, Kamath, Steinke 2020.

    >>> law = DiscreteGaussian(10)
    >>> round(float(law.pmf(0)), 6), law.quantile(0.975)
    (0.039894, 20)
    """

    def _make_drawer(self) -> Callable[[int], NDArray[Any]]:
        """Prepare the exact samplers."""
        return GaussianSampler(self.scale).draw

    @property
    def variance(self) -> float:
        """The second moment, summed for small sigma; sigma^2 beyond 4, where the difference is below 1e-100."""
        if self.scale > 4:
            return float(self.scale) * float(self.scale)
        places = np.arange(-60, 61)
        return float(np.sum(places * places * self.at(0).pmf(places)))

    def pmf(self, outcome: ArrayLike) -> Any:
        """Return P(X = outcome)."""
        with np.errstate(over="ignore"):  # the largest float is as far out as any other
            standard = np.minimum(np.abs(as_floats(offsets(outcome, self.center))) / float(self.scale), _FAR)
        return np.exp(-0.5 * standard * standard) / _normalizer(self.scale)

    def log_pmf(self, outcome: ArrayLike) -> Any:
        """Return ln P(X = outcome), also where the probability is below the least float."""
        standard = ratios(offsets(outcome, self.center), self.scale)
        with np.errstate(over="ignore"):  # beyond the largest float the logarithm is minus infinity
            return -0.5 * standard * standard - _log_normalizer(self.scale)

    def _tail(self, start: NDArray[Any]) -> Any:
        """Return tails in floats from enclosed ones, remembered."""
        flat = [int(place) for place in np.atleast_1d(start).ravel()]
        values = [_tail_float(self.scale, place) for place in flat]
        return np.array(values).reshape(np.shape(start))[()]

    def _near(self, tail: float) -> int:
        """Return the quantile of the normal law."""
        quantile = NormalDist().inv_cdf(min(max(tail, 1e-300), 1.0 - 2.0**-53))
        return round(Fraction(-quantile) * self.scale)

    def tail_ball(self, start: int) -> Ball:
        """Enclose P(noise >= start)."""
        variance = self.scale * self.scale
        total = gaussian_sum(variance)
        if start >= 1:
            return gaussian_tail(variance, start) / total
        return 1 - gaussian_tail(variance, 1 - start) / total

    def mass_ball(self, outcome: int) -> Ball:
        """Enclose P(noise = outcome)."""
        variance = self.scale * self.scale
        return (-ball(Fraction(outcome * outcome) / (2 * variance))).exp() / gaussian_sum(variance)

    def first_above(self, shift: int, epsilon: Fraction) -> int | None:
        """The loss (2 y shift - shift^2) / (2 scale^2) exceeds epsilon from epsilon scale^2 / shift + shift / 2 on."""
        return math.floor(epsilon * self.scale * self.scale / shift + Fraction(shift, 2)) + 1

    def concentration(self, shift: int) -> Fraction:
        """D_alpha <= alpha shift^2 / (2 scale^2).

        Completing the square, D_alpha is that plus 1 / (alpha - 1) times the log of a ratio of two sums of the Gaussian
        over the lattice, the numerator shifted off it; by Poisson summation, with positive terms, the unshifted sum is
        the larger.
        """
        return Fraction(shift * shift) / (2 * self.scale * self.scale)

    def losses(self, noise: NDArray[Any], shift: int) -> NDArray[np.float64]:
        """Return shift (2 x + shift)/(2 scale^2) for each x."""
        share = Fraction(shift) / (2 * self.scale**2)
        return (2.0 * noise.astype(np.float64) + float(shift)) * float(share)

    def largest_loss(self, shift: int) -> None:  # noqa: ARG002  the same for every shift
        """Infinite: the loss grows with the outcome."""
        return


@lru_cache(maxsize=256)
def _normalizer(scale: Fraction) -> float:
    """Return the sum of exp(-x^2 / (2 scale^2)) over the integers."""
    with precision(128):
        return float(gaussian_sum(scale * scale))


@lru_cache(maxsize=256)
def _log_normalizer(scale: Fraction) -> float:
    """Return the logarithm of that sum, accurate also where the sum is hardly more than 1."""
    variance = scale * scale
    with precision(128):
        rest = 2 * gaussian_tail(variance, 1) if variance < 1 else gaussian_sum(variance) - 1
        return float(rest.log1p())


@lru_cache(maxsize=1 << 15)
def _tail_float(scale: Fraction, start: int) -> float:
    """Return P(noise >= start) correctly to double precision."""
    with precision(128):
        return float(DiscreteGaussian(scale).tail_ball(start))
