"""The rounded Gaussian law: a normal variable rounded to the nearest integer."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.laws.law import offsets, ratios
from discreet.laws.noise.gaussian.normal_cells import central_cell, gauss_rule, log_normal_cell, normal_tail
from discreet.laws.noise.gaussian.rounded_sampler import RoundedSampler, rounded_mass
from discreet.laws.noise.noise import IntegerNoise
from discreet.randomness.rigor import Ball, ball, precision

_HALF = Fraction(1, 2)
_NODES = 8
_ROOT_HALF = math.sqrt(0.5)
_NEARLY_CONTINUOUS = 4
_START_PRECISION, _LARGEST_PRECISION = 128, 1 << 16


class RoundedGaussian(IntegerNoise):
    """P(X = center + k) = Phi((k + 1/2) / scale) - Phi((k - 1/2) / scale): normal noise of sigma = scale, rounded.

    | property | value |
    |---|---|
    | support | all integers |
    | variance | scale^2 + 1/12, to 7 digits from scale 1 on |
    | loss of a shift d | within d / (2 scale^2) of that of the normal law, unbounded |
    | Renyi divergence of a shift d | at most alpha d^2 / (2 scale^2) |

    Privacy. For an integer v and a normal Z, v + round(Z) = round(v + Z): releasing v with this noise is releasing v +
        Z and rounding. Whatever holds for the normal mechanism with the same sigma holds here, in any dimension: two
        integer vectors at L2 distance D give a pair at least as hard to tell apart as N(0, 1) and N(D / scale, 1).
    Log-concavity, which `pair` needs. P(X = k) is the convolution of a log-concave density with the indicator of an
        interval, at k; a convolution of log-concave functions is log-concave (Prekopa 1973), and so is its restriction
        to the integers.
    Cost. That of the discrete Gaussian law: one 64-bit word and a table look-up a draw (two for sigma >= 1024) once
        many draws were asked.
    Reference. Dong, Roth, Su 2022 (Gaussian differential privacy and post-processing).

    >>> law = RoundedGaussian(10)
    >>> round(float(law.pmf(0)), 6), law.quantile(0.975)
    (0.039878, 20)
    """

    def _make_drawer(self) -> Callable[[int], NDArray[Any]]:
        """Prepare the exact samplers."""
        return RoundedSampler(self.scale).draw

    @property
    def variance(self) -> float:
        """The second moment: 2 sum of (2 k - 1) P(noise >= k) over k >= 1; scale^2 + 1/12 beyond 4.

        The difference is 2 sum (-1)^j exp(-2 pi^2 j^2 scale^2) (2 scale^2 + 1 / (2 pi^2 j^2)) over j >= 1 (Fourier
        series of the rounding error), below 1e-130 beyond 4.
        """
        if self.scale > _NEARLY_CONTINUOUS:
            return float(self.scale) * float(self.scale) + 1 / 12
        places = np.arange(1, 40 * _NEARLY_CONTINUOUS)
        return float(np.sum(2.0 * (2 * places - 1) * self._tail(places)))

    def pmf(self, outcome: ArrayLike) -> Any:
        """Return P(X = outcome)."""
        return np.exp(self.log_pmf(outcome))

    def log_pmf(self, outcome: ArrayLike) -> Any:
        """Return ln P(X = outcome), also where the probability is below the least float."""
        return _log_cells(np.abs(ratios(offsets(outcome, self.center), self.scale)), self.scale)[()]

    def _tail(self, start: NDArray[Any]) -> Any:
        """P(noise >= start) = P(Z >= (start - 1/2) / scale)."""
        from scipy.special import ndtr

        return ndtr(float(_HALF / self.scale) - ratios(np.asarray(start), self.scale))[()]

    def _near(self, tail: float) -> int:
        """Return the quantile of the normal law."""
        quantile = NormalDist().inv_cdf(min(max(tail, 1e-300), 1.0 - 2.0**-53))
        return round(Fraction(-quantile) * self.scale)

    def tail_ball(self, start: int) -> Ball:
        """Enclose P(noise >= start) = P(Z >= (start - 1/2) / scale)."""
        return normal_tail((start - _HALF) / self.scale)

    def mass_ball(self, outcome: int) -> Ball:
        """Enclose P(noise = outcome)."""
        return rounded_mass(self.scale, outcome)

    def log_mass_ball(self, outcome: int) -> Ball:
        """Enclose ln P(noise = outcome), also where the mass is too small for a ball."""
        low, high = (abs(outcome) - _HALF) / self.scale, (abs(outcome) + _HALF) / self.scale
        if outcome:
            return log_normal_cell(low, high)
        return central_cell(high).log() if high < 1 else (-2 * normal_tail(high)).log1p()

    def first_above(self, shift: int, epsilon: Fraction) -> int | None:
        """Round the place c = epsilon scale^2 / shift + shift / 2 where the normal loss is epsilon, and look there.

        p(y - d) / p(y) is an average of the normal ratio exp((2 x d - d^2) / (2 scale^2)) over x in (y - 1/2, y + 1/2),
        with positive weights. So the loss exceeds epsilon where y - 1/2 >= c and does not where y + 1/2 <= c: only the
        integer within 1/2 of c is open, and it is decided in balls. At epsilon 0 the loss vanishes at y = shift / 2, by
        symmetry, and nowhere else. No other tie is known; one would end in an error, after 2^16 bits.
        """
        middle = epsilon * self.scale * self.scale / shift + Fraction(shift, 2)
        nearest = math.floor(middle + _HALF)
        if nearest - _HALF == middle:
            return nearest
        return nearest if epsilon != 0 and self._loss_exceeds(nearest, shift, epsilon) else nearest + 1

    def _loss_exceeds(self, outcome: int, shift: int, epsilon: Fraction) -> bool:
        """Say whether ln p(outcome - shift) / p(outcome) > epsilon, with as much precision as that takes."""
        working = _START_PRECISION
        while working <= _LARGEST_PRECISION:
            with precision(working):
                excess = self.log_mass_ball(outcome - shift) - self.log_mass_ball(outcome) - ball(epsilon)
                if excess > 0:
                    return True
                if excess < 0:
                    return False
            working *= 2
        raise ArithmeticError("a privacy loss could not be told from the epsilon asked for; ask for another epsilon")

    def concentration(self, shift: int) -> Fraction:
        """D_alpha <= alpha shift^2 / (2 scale^2), the divergence of the normal pair, which rounding cannot raise."""
        return Fraction(shift * shift) / (2 * self.scale * self.scale)

    def gaussian_square(self, distance: int) -> Fraction:
        """(distance / scale)^2: rounding is post-processing of the normal pair."""
        return Fraction(distance * distance) / (self.scale * self.scale)

    def largest_loss(self, shift: int) -> None:  # noqa: ARG002  the same for every shift
        """Infinite: the loss grows with the outcome."""
        return


def _log_cells(standard: NDArray[np.float64], scale: Fraction) -> NDArray[np.float64]:
    """Return the logarithms of the masses r(k) at z = |k| / s, without underflow.

    With a = z / s, the exponent of the density at the cell's ends relative to its middle is +-a / 2. For a <= 1 <= s
    the density is integrated over the cell by a Gauss rule of 8 nodes, to 1e-16: ln r = -z^2 / 2 - ln(s sqrt(2 pi)) +
    ln of the mean of cosh(a t) exp(-t^2 / (2 s^2)) over t. Else two tails are subtracted, S(l) - exp(-a) S(h), with
    the scaled tail S(z) = exp(z^2 / 2) Q(z) and the cell's ends l and h: ln r = -l^2 / 2 + ln of that.
    """
    from scipy.special import erfc, erfcx

    rate, half = float(1 / scale), float(_HALF / scale)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        slope = standard * rate
        low, high = (np.maximum(standard - half, 0.0), standard + half)
        tails = erfcx(low * _ROOT_HALF) - np.exp(-slope) * erfcx(high * _ROOT_HALF)
        result: NDArray[np.float64] = -0.5 * low * low + np.log(0.5 * tails)
        if scale >= 1:
            level = math.log(rate) - 0.5 * math.log(2.0 * math.pi) - 0.5 * standard * standard
            return np.where(slope <= 1.0, level + np.log(_cell_means(np.minimum(slope, 1.0), rate)), result)
        return np.where(standard == 0.0, np.log1p(-erfc(half * _ROOT_HALF)), result)


def _cell_means(slope: NDArray[np.float64], rate: float) -> NDArray[np.float64]:
    """Return the means of exp(-a t - t^2 / (2 s^2)) over (-1/2, 1/2): the positive nodes of the rule count twice."""
    rule = [(t, 2.0 * w * math.exp(-0.5 * (t * rate) ** 2)) for t, w in zip(*gauss_rule(_NODES), strict=True) if t > 0]
    return np.asarray(sum(weight * np.cosh(slope * t) for t, weight in rule))
