"""Gaussian losses in closed form: continuous noise, and integer noise wide enough to look like it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.laws import DiscreteGaussian, LocationPair, Pair
from discreet.privacy.accounting.contour.moments import Factor, Indices
from discreet.privacy.accounting.floats import UNIT, Complexes, Floats

NARROW = Fraction(40)
_LARGEST_SQUARE = 1e8


@dataclass(frozen=True, slots=True, eq=False)
class NormalFactor(Factor):
    """All Gaussian releases of a composition as one: mu^2 is the sum of theirs; ln phi is exact for every t."""

    square: float  # mu^2, within a relative 2^-50
    needs_short_intervals = False

    @property
    def counts(self) -> Floats:  # type: ignore[override]
        """One release."""
        return np.ones(1)

    def log_moment(self, order: float) -> tuple[float, float]:
        """K(s) = s (s + 1) mu^2/2."""
        value = order * (order + 1) * self.square / 2
        return value, UNIT * abs(value)

    def slopes(self, order: float) -> tuple[float, float]:
        """K' = (s + 1/2) mu^2, K'' = mu^2."""
        return (order + 0.5) * self.square, self.square

    def values(self, order: float, nodes: Floats) -> tuple[Complexes, Floats]:
        """phi(t) = exp(i t (2 c + 1) mu^2/2 - mu^2 t^2/2)."""
        exponent = self.square / 2 * (1j * nodes * (2 * order + 1) - nodes * nodes)
        values = np.exp(exponent)[None, :]
        return values, UNIT * np.abs(values) * (2 + np.abs(exponent)) + 1e-300

    def variances(self, order: float) -> Floats:  # noqa: ARG002  the same at every tilt
        """The variance is mu^2."""
        return np.array([self.square * (1 + UNIT)])

    def far(self, order: float, start: float) -> float:  # noqa: ARG002  the same at every tilt
        """|phi| falls with t."""
        return -self.square * start * start / 2 * (1 - UNIT)

    def ceilings(self, order: float, starts: Floats, ends: Floats) -> Floats:  # noqa: ARG002  it falls with t
        """|phi| is largest where an interval starts."""
        return np.asarray(-self.square * starts * starts / 2 * (1 - UNIT))


@dataclass(frozen=True, slots=True, eq=False)
class WideGaussianFactor(Factor):
    """Integer Gaussian noise of scale sigma >= 40 steps, moved by `shift` steps, `counts` times.

    With theta(a) the sum over integers y of exp(-(y - a)^2/(2 sigma^2)), completing the square gives
    M(s) = e^(s (s+1) shift^2/(2 sigma^2)) theta(shift (1 + s))/theta(0). Poisson's formula turns theta(a)/(sigma
    sqrt(2 pi)) into 1 + the sum over m != 0 of e^(-2 pi^2 sigma^2 m^2 + 2 pi i m a); with |Im a| = shift |t| <= pi
    sigma^2/2 the m-th term is at most e^(-pi^2 sigma^2 |m|), so for sigma >= 40 both thetas differ from 1 by less than
    e^-15000: nothing, beside a rounding. Beyond that t only |phi| <= 1 is used.
    """

    counts: Floats
    square: Floats  # (shift/sigma)^2
    valid: Floats  # the largest t for which the closed form is used: pi sigma^2/(2 shift)
    needs_short_intervals = False

    @staticmethod
    def accepts(pair: Pair) -> bool:
        """Say whether a pair is integer Gaussian noise, wide in steps."""
        return (
            isinstance(pair, LocationPair)
            and isinstance(pair.noise, DiscreteGaussian)
            and pair.shift > 0
            and pair.noise.scale >= NARROW
            and Fraction(pair.shift) ** 2 <= pair.noise.scale**2 * int(_LARGEST_SQUARE)
        )

    @classmethod
    def of(cls, pairs: Sequence[Pair], counts: Sequence[int]) -> WideGaussianFactor:
        """Gather pairs that this family accepts."""
        kept = [pair for pair in pairs if isinstance(pair, LocationPair)]
        square = np.array([float(Fraction(pair.shift) ** 2 / pair.noise.scale**2) for pair in kept])
        valid = np.array([math.pi / 2 * float(pair.noise.scale**2 / pair.shift) for pair in kept]) * (1 - UNIT)
        return cls(np.array(counts, dtype=np.float64), square, valid)

    def restricted(self, chosen: Indices) -> WideGaussianFactor:
        """Return some of the releases."""
        return WideGaussianFactor(self.counts[chosen], self.square[chosen], self.valid[chosen])

    def log_moment(self, order: float) -> tuple[float, float]:
        """K(s) = s (s + 1) (shift/sigma)^2/2: theta of a real argument is within e^-15000 of theta(0)."""
        value = order * (order + 1) / 2 * float(np.sum(self.counts * self.square))
        return value, UNIT * abs(value) + 1e-300 * float(np.sum(self.counts))

    def slopes(self, order: float) -> tuple[float, float]:
        """As for continuous noise."""
        total = float(self.counts @ self.square)
        return (order + 0.5) * total, total

    def values(self, order: float, nodes: Floats) -> tuple[Complexes, Floats]:
        """The closed form up to its last t, and an error of 1 about 0 beyond."""
        exponent = self.square[:, None] / 2 * (1j * nodes * (2 * order + 1) - nodes * nodes)
        known = nodes <= self.valid[:, None]
        values = np.where(known, np.exp(np.where(known, exponent, 0.0)), 0.0)
        return values, np.where(known, UNIT * np.abs(values) * (2 + np.abs(exponent)) + 1e-300, 1.0)

    def ceilings(self, order: float, starts: Floats, ends: Floats) -> Floats:  # noqa: ARG002  it falls with t
        """|phi| is largest where an interval starts, within the range of the closed form."""
        falling = np.where(ends <= self.valid[:, None], self.square[:, None] * starts * starts / 2, 0.0)
        return np.asarray(-(self.counts @ falling) * (1 - UNIT))

    def variances(self, order: float) -> Floats:  # noqa: ARG002  the same at every tilt
        """The second derivative of K: (shift/sigma)^2, theta's part being below a rounding."""
        return self.square * (1 + 1e-9)
