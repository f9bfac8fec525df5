"""What taking a secret sample does to the loss of a release: an increasing map, and a factor for P's mass."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np

from discreet.privacy.accounting.fft_bounds import ELEMENTARY, Floats


class Sampling(Enum):
    """What was done to the base pair before the loss is looked at."""

    NONE = "nothing"
    REMOVE = "a Poisson sample; P is the table with the person"
    ADD = "a Poisson sample; P is the table without"
    FIXED = "a sample of fixed size; a row is changed"


@dataclass(frozen=True, slots=True)
class LossMap:
    """The loss after sampling as an increasing function of the base's loss t, and what becomes of P's mass at t."""

    kind: Sampling
    rate: float

    def loss(self, base: Floats) -> Floats:
        """ln(1 - g + g e^t) for a removed person, -ln(1 - g + g e^-t) for an added one."""
        if self.kind is Sampling.NONE or self.rate == 1.0:
            return base
        if self.kind is Sampling.ADD:
            return -self._mixed(-base)
        return self._mixed(base)

    def _mixed(self, base: Floats) -> Floats:
        near = np.log1p(self.rate * np.expm1(np.minimum(base, 600.0)))
        return np.where(base > 600.0, base + math.log(self.rate), near)

    def inverse(self, loss: Floats) -> Floats:
        """Return the base's loss; infinite where sampling never leads."""
        if self.kind is Sampling.NONE or self.rate == 1.0:
            return loss
        if self.kind is Sampling.ADD:
            return -self._unmixed(-loss)
        return self._unmixed(loss)

    def _unmixed(self, loss: Floats) -> Floats:
        inside = np.expm1(np.minimum(loss, 600.0)) / self.rate
        with np.errstate(divide="ignore", invalid="ignore"):
            near = np.where(inside > -1.0, np.log1p(np.maximum(inside, -1.0)), -math.inf)
        return np.where(loss > 600.0, loss - math.log(self.rate), near)

    def slope(self, base: Floats, loss: Floats) -> Floats:
        """Return the derivative of the loss, at most 1: g e^(t - l), or its mirror image."""
        if self.kind is Sampling.NONE or self.rate == 1.0:
            return np.ones_like(base)
        turn = -1.0 if self.kind is Sampling.ADD else 1.0
        return np.minimum(np.exp(np.minimum(math.log(self.rate) + turn * (base - loss), 0.0)), 1.0)

    def doubt(self, base: Floats, loss: Floats) -> Floats:
        """Bound the rounding of the loss beyond its own last places: e^l is a sum with g (e^t - 1) as a term."""
        if self.kind is Sampling.NONE or self.rate == 1.0:
            return np.zeros_like(base)
        turn = -1.0 if self.kind is Sampling.ADD else 1.0
        term = np.abs(np.expm1(np.clip(turn * base, -600.0, 600.0)))
        doubt: Floats = 2 * ELEMENTARY * self.rate * term * np.exp(np.clip(-turn * loss, -700.0, 700.0))
        return doubt

    def log_factor(self, base: Floats, loss: Floats) -> Floats:
        """Return ln of P's new mass over P's old: the mixture's (1 - g) e^-t + g = e^(l - t), or 1."""
        return loss - base if self.kind in (Sampling.REMOVE, Sampling.FIXED) else np.zeros_like(base)
