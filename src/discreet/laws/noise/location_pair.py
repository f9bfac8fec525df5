"""The loss pair of one noise law about two centers, in closed form."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws.enclosure import Enclosure, SafeEnd
from discreet.laws.noise.noise import IntegerNoise
from discreet.laws.number import exact_rational, round_down, round_up
from discreet.laws.pair import Pair
from discreet.randomness.rigor import Ball, ball, lower_float, precision, upper_float

_PRECISIONS = (160, 640, 2560)
_TIGHT = 1e-13


class LocationPair(Pair):
    """P is symmetric log-concave noise about `shift`, Q the same noise about 0.

    Lemma. delta(epsilon) = P(y >= t) - e^epsilon Q(y >= t) for the least integer t whose loss exceeds epsilon, and for
    fixed epsilon it does not fall as |shift| grows. Proof. By log-concavity the loss ln p(y - d) - ln p(y) does not
    fall in y, so the outcomes with loss above epsilon are a half-line, which attains the supremum over events. Hence
    delta = max over t of T(t - d) - e^epsilon T(t) with T(t) = P(noise >= t), and T(t - d) grows with d for every t.
    For d < 0 mirror the outcomes. So the largest shift prices every smaller one, whatever the grid.
    """

    def __init__(self, noise: IntegerNoise, *, shift: int) -> None:
        self.noise = noise
        self.shift = abs(shift)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LocationPair) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[type[IntegerNoise], Fraction, int]:
        return type(self.noise), self.noise.scale, self.shift

    def __repr__(self) -> str:
        return f"LocationPair({type(self.noise).__name__}({self.noise.scale}), shift={self.shift})"

    def reversed(self) -> LocationPair:
        """By symmetry of the noise the other direction is the same pair."""
        return self

    def delta(self, epsilon: float | Fraction) -> Enclosure:
        """Enclose P(y >= t) - e^epsilon Q(y >= t) at the exact t."""
        level = exact_rational(epsilon, name="epsilon")
        method = "closed form on the half-line where the loss exceeds epsilon, in balls"
        largest = self.noise.largest_loss(self.shift) if self.shift else Fraction(0)
        if largest is not None and level < -largest:  # every outcome is above the level: the event is everything
            with precision(_PRECISIONS[0]):
                whole = -ball(level).expm1()
                return Enclosure.outward(lower_float(whole), upper_float(whole), method=method, floor=0.0)
        start = self.noise.first_above(self.shift, level) if self.shift else None
        if start is None:
            return Enclosure.exact(0.0, method=method)
        for working in _PRECISIONS:
            with precision(working):
                gap = self.noise.tail_ball(start - self.shift) - ball(level).exp() * self.noise.tail_ball(start)
                low, high = max(lower_float(gap), 0.0), max(upper_float(gap), 0.0)
                if not math.isfinite(high):  # e^epsilon is beyond a ball: delta is at most the first tail
                    low, high = 0.0, upper_float(self.noise.tail_ball(start - self.shift))
            if high - low <= _TIGHT * high or high <= 5e-324:
                break
        low, high = min(low, 1.0), min(high, 1.0)
        return Enclosure(low, low + (high - low) / 2, high, method)

    def max_loss(self) -> Enclosure:
        """The supremum of the loss, exact for Laplace, infinite for Gaussian."""
        method = "closed form"
        largest = self.noise.largest_loss(self.shift) if self.shift else Fraction(0)
        if largest is None:
            return Enclosure.exact(math.inf, method=method)
        low, high = round_down(largest), round_up(largest)
        return Enclosure(low, low, high, method)

    def concentration(self) -> Fraction | None:
        """The rho of the noise at this shift, where a theorem gives one."""
        return self.noise.concentration(self.shift)

    def gaussian_square(self) -> Fraction | None:
        """The mu^2 of the noise at this shift, where a theorem gives one."""
        return self.noise.gaussian_square(self.shift)

    def draw_losses(self, count: int) -> NDArray[np.float64]:
        """Draw noise by its exact sampler, and return the loss of each output."""
        drawn, places = np.unique(self.noise.draw(count), return_inverse=True)
        return np.asarray(self.noise.losses(drawn, self.shift)[places])

    def tradeoff(self, alpha: float) -> Enclosure:
        """Enclose the error of the best test of size alpha: a half-line, randomized on its boundary point."""
        if not 0.0 <= alpha <= 1.0:
            raise ParameterError(f"a test's size must lie in [0, 1], got {alpha}", parameter="alpha")
        method = "Neyman-Pearson on half-lines, in balls"
        if alpha in (0.0, 1.0) or self.shift == 0:
            edge = 1.0 - alpha
            return Enclosure.outward(edge, edge, method=method, safe=SafeEnd.LOWER, floor=0.0)
        size = exact_rational(alpha, name="alpha")
        start = self._start_of_size(size)
        with precision(_PRECISIONS[1]):
            rest = ball(size) - self.noise.tail_ball(start)
            ratio = self.noise.mass_ball(start - 1 - self.shift) / self.noise.mass_ball(start - 1)
            missed = 1 - self.noise.tail_ball(start - self.shift) - rest * ratio
            low, high = max(lower_float(missed), 0.0), max(upper_float(missed), 0.0)
        return Enclosure(low, low + (high - low) / 2, high, method, SafeEnd.LOWER)

    def _start_of_size(self, size: Fraction) -> int:
        """Return the least t with Q(y >= t) <= size (to the precision of a ball: a tie changes nothing)."""

        def above(tail: Ball) -> bool:
            return bool(tail > ball(size))

        return self.noise._greatest_start(above, lambda tail: bool(tail <= ball(size))) + 1
