"""What taking a secret sample does to the loss of a release: an increasing map, and a factor for P's mass."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.accounting.lattice.fft_bounds import ELEMENTARY, UNIT, Floats
from discreet.privacy.numbers import bounds, number

_FAR = 600.0
_LEAST_RATE = 1e-290


class SamplingKind(Enum):
    """What was done to the base pair before the loss is looked at."""

    NONE = "nothing"
    REMOVE = "a Poisson sample; P is the table with the person"
    ADD = "a Poisson sample; P is the table without"
    FIXED = "a sample of fixed size; a row is changed"


@dataclass(frozen=True, slots=True)
class LossMap:
    """The loss after sampling as an increasing function of the base's loss t, and the mass of P that it moves there.

    `rate` and `rest` are g and 1 - g, each rounded by itself, and so are their logarithms: a rate within rounding of
    1 is still a sample, whose losses the rest bounds.
    """

    kind: SamplingKind
    rate: float
    rest: float
    log_rate: float
    log_rest: float

    @classmethod
    def of(cls, kind: SamplingKind, rate: Fraction | float) -> LossMap:
        """Take the exact rate apart."""
        exact = Fraction(rate)
        if exact == 1:
            return cls(SamplingKind.NONE if kind is not SamplingKind.FIXED else kind, 1.0, 0.0, 0.0, -math.inf)
        rest = 1 - exact
        return cls(kind, float(exact), float(rest), _log(exact), _log(rest))

    @property
    def whole(self) -> bool:
        """Say whether everybody is in the sample."""
        return self.log_rest == -math.inf

    def loss(self, base: Floats) -> Floats:
        """ln(1 - g + g e^t) for a removed person, -ln(1 - g + g e^-t) for an added one."""
        if self.whole:
            return base
        if self.kind is SamplingKind.ADD:
            return -self._mixed(-base)
        return self._mixed(base)

    def _mixed(self, base: Floats) -> Floats:
        """A sum of two positive terms; where it is near 1, one plus what is small."""
        near, small = self._near(base)
        return np.where(near, np.log1p(np.where(near, small, 0.0)), np.logaddexp(self.log_rest, self.log_rate + base))

    def _near(self, base: Floats) -> tuple[NDArray[np.bool_], Floats]:
        """Say where g (e^t - 1) is small and known to its last places, and what it is there."""
        small = self.rate * np.expm1(np.minimum(base, _FAR))
        return (np.abs(small) <= 0.5) & (base <= _FAR) & (self.rate >= _LEAST_RATE), small

    def inverse(self, loss: Floats) -> Floats:
        """Return the base's loss; infinite where sampling never leads."""
        if self.whole:
            return loss
        if self.kind is SamplingKind.ADD:
            return -self._unmixed(-loss)
        return self._unmixed(loss)

    def _unmixed(self, loss: Floats) -> Floats:
        """ln((e^l - 1 + g)/g), in three forms, each with a small error of the loss it belongs to."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inside = np.expm1(np.clip(loss, -1.0, 1.0)) / self.rate if self.rate >= _LEAST_RATE else np.zeros_like(loss)
            near = np.where(inside > -1.0, np.log1p(np.maximum(inside, -1.0)), -math.inf)
            above = loss + np.log1p(-self.rest * np.exp(-np.clip(loss, 0.0, 700.0))) - self.log_rate
            over = np.clip(loss - self.log_rest, 0.0, 700.0)
            below = self.log_rest + np.where(over > 0.0, np.log(np.expm1(over)), -math.inf) - self.log_rate
        close = (np.abs(loss) <= 0.7) & (self.rate >= _LEAST_RATE)
        return np.where(close, near, np.where(loss > 0.0, above, below))

    def slope(self, base: Floats, loss: Floats) -> Floats:
        """Return the derivative of the loss, at most 1: g e^(t - l), or its mirror image."""
        if self.whole:
            return np.ones_like(base)
        turn = -1.0 if self.kind is SamplingKind.ADD else 1.0
        return np.minimum(np.exp(np.clip(self.log_rate + turn * (base - loss), -740.0, 0.0)), 1.0)

    def doubt(self, base: Floats, loss: Floats) -> Floats:
        """Bound the rounding of the loss: a few units in its last place, or in that of the logarithms in it."""
        if self.whole:
            return np.zeros_like(base)
        near, _ = self._near(-base if self.kind is SamplingKind.ADD else base)
        far = 8 * UNIT * (np.abs(loss) + abs(self.log_rate) + abs(self.log_rest) + 2) + 2 * ELEMENTARY
        return np.where(near, 4 * ELEMENTARY * np.abs(loss), far)

    def log_factor(self, base: Floats, loss: Floats) -> Floats:
        """Return ln of P's new mass over P's old: the mixture's (1 - g) e^-t + g = e^(l - t), or 1."""
        return loss - base if self.kind in (SamplingKind.REMOVE, SamplingKind.FIXED) else np.zeros_like(base)


def _log(share: Fraction) -> float:
    """Return the logarithm of a rational to its last places, however near 0 or 1 that is."""
    low, high = bounds(lambda: number(share).log())
    return low + (high - low) / 2
