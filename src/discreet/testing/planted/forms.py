"""Faults in what surrounds the noise: the form of outputs, errors and prints, and what is stated about the law."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from discreet.audit import Level
from discreet.errors import InputError
from discreet.laws import DiscreteLaplace, Law
from discreet.mechanisms import Laplace
from discreet.privacy import PrivacyLoss, PureDP
from discreet.randomness import word
from discreet.testing.planted.fault import ERROR, ERRORS, HOSTILE, LAW, LOSS, REPR, planted


class OffTheGrid(Laplace):
    """The noise is on the grid; the answer it is added to was never rounded."""

    def __call__(self, value: Any) -> Any:
        """Add in floating point."""
        return float(value) + self.noise.draw_one() * float(self.grid)


class FloatLaplace(Laplace):
    """The textbook's inversion in floating point, whose holes tell where it started."""

    def __call__(self, value: Any) -> Any:
        """Invert the distribution function."""
        uniform = ((word() >> 11) + 1) * 2.0**-53
        noise = self.scale * math.log(uniform)
        return float(value) + noise if word() & 1 else float(value) - noise


class MinusZero(Laplace):
    """Zero comes out with a sign."""

    def __call__(self, value: Any) -> Any:
        """Negate before and after: the law is the same, and zero becomes minus zero."""
        return -super().__call__(-value)


class TypeTells(Laplace):
    """Values beyond a limit take another path, which returns another type."""

    def __call__(self, value: Any) -> Any:
        """Return a numpy integer for positive values."""
        noisy = super().__call__(value)
        return np.int64(noisy) if value > 0 else noisy


class ErrorTells(Laplace):
    """The error quotes what it could not take."""

    def __call__(self, value: Any) -> Any:
        """Refuse in too many words."""
        if not isinstance(value, int):
            raise InputError(f"this mechanism takes integers; got {value!r}")
        return super().__call__(value)


class FailsSometimes(Laplace):
    """Answers below zero are refused after the noise is in."""

    def __call__(self, value: Any) -> Any:
        """Raise where the noisy count is negative."""
        noisy = super().__call__(value)
        if value > 0 and noisy < 0:
            raise InputError("a count cannot be negative: ask again for a larger group of people")
        return noisy


class TakesAnything(Laplace):
    """Values are not looked at before they are used."""

    def __call__(self, value: Any) -> Any:
        """Leave the refusing to Python."""
        return round(value) + self.noise.draw_one()


class HalfToEven(Laplace):
    """Ties are rounded to even numbers; the law that is stated rounds them up."""

    def __call__(self, value: Any) -> Any:
        """Round by Python's rule."""
        return (round(Fraction(value) / self.grid) + self.noise.draw_one()) * float(self.grid) + 0.0


class ShowsTheLast(Laplace):
    """Prints what it was last asked about."""

    _last: Any = None

    def __call__(self, value: Any) -> Any:
        """Remember the value."""
        self._last = value
        return super().__call__(value)

    def __repr__(self) -> str:
        return f"Laplace(last={self._last})"


class CheapLoss(Laplace):
    """The loss that is charged is that of half the shift."""

    @property
    def loss(self) -> PrivacyLoss:
        """Charge too little."""
        return PrivacyLoss.from_guarantee(PureDP(Fraction(self.guarantee.epsilon) / 2))


class ErrorForOne(Laplace):
    """The error that is guaranteed for all of several answers is that of one."""

    def error(self, confidence: float, count: int = 1) -> Any:  # noqa: ARG002  which is the fault
        """Forget how many answers there are."""
        return super().error(confidence)


class LiesAboutItsLaw(Laplace):
    """States the law of twice the noise that it adds."""

    def law(self, value: Any) -> Law[Any]:
        """State another scale."""
        return DiscreteLaplace(2 * self.noise.scale, int(value))


_laplace = partial(planted, Laplace, epsilon=1, sensitivity=1)
FAULTS = [
    _laplace(OffTheGrid, "off the grid", "the answer is not rounded before the noise is added", Level.WIRE,
        sensitivity=1.0, neighbors=[(0.1, 1.1)], draws=400),
    _laplace(FloatLaplace, "inversion in floats", "noise from a logarithm in floating point", Level.WIRE,
        sensitivity=1.0, neighbors=[(0.0, 1.0)], draws=4000),
    _laplace(MinusZero, "minus zero", "zero has a sign", Level.WIRE, sensitivity=1.0, grid=1, neighbors=[(0.0, 1.0)],
        draws=400),
    _laplace(TypeTells, "type depends on the value", "positive values come back as numpy integers", Level.WIRE,
        neighbors=[(0, 1)], draws=400),
    _laplace(ErrorTells, "an error quotes the value", "the text of an error depends on the value", ERRORS, inputs=[3]),
    _laplace(FailsSometimes, "an error on negative answers", "whether a run fails depends on the value", Level.WIRE,
        epsilon=0.5, neighbors=[(0, 1)], draws=2000),
    _laplace(TakesAnything, "inputs not looked at", "a hostile value ends in a traceback that quotes it", HOSTILE,
        inputs=[3]),
    _laplace(HalfToEven, "ties to even", "the input is rounded by another rule than the law's", LAW, sensitivity=1.5,
        grid=0.5, inputs=[0.25], draws=8000),
    _laplace(ShowsTheLast, "repr shows the last value", "what was asked about is printed", REPR, inputs=[3, 4]),
    _laplace(CheapLoss, "loss too small", "half the shift is charged", LOSS, inputs=[3]),
    _laplace(ErrorForOne, "error for one answer", "the width for several answers is that of one", ERROR, inputs=[3]),
    _laplace(LiesAboutItsLaw, "states another law", "twice the noise is stated", LAW, inputs=[3]),
]  # fmt: skip
