"""Symmetric, log-concave integer noise about a center: what discrete Laplace and the two Gaussian laws share."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import ParameterError
from discreet.laws.law import IntegerLaw, Law, Shape, as_size, offsets, probability_in_unit
from discreet.laws.number import Number, exact_rational, positive_rational
from discreet.laws.pair import Pair
from discreet.randomness import Reservoir, words
from discreet.randomness.rigor import Ball, ball, lower_float, precision, upper_float

LARGEST_SCALE = 1 << 600
SMALLEST_SCALE = Fraction(1, 1 << 600)
_START_PRECISION, _LARGEST_PRECISION = 128, 1 << 16
_DIGIT_BITS, _ROOM_BITS, _REACH_BITS = 30, 14, 10
_PAUSE_BITS = 7


def _random_pauses(count: int) -> list[range]:
    """Draw empty loops of 0 to 127 turns."""
    return [range(turns) for turns in (words(count) >> np.uint64(64 - _PAUSE_BITS)).tolist()]


_pauses = Reservoir(_random_pauses)


class IntegerNoise(IntegerLaw):
    """A symmetric log-concave law on the integers, moved to a center.

    The subclass gives the scale's meaning: the tail as a ball, the point where a shift's loss exceeds a level, and a
    sampler. Equal parameters mean equal laws; copies and pickles carry parameters only, never drawn noise.
    """

    def __init__(self, scale: Number, center: int = 0) -> None:
        self.scale = positive_rational(scale, name="scale")
        if not SMALLEST_SCALE <= self.scale <= LARGEST_SCALE:
            raise ParameterError("a scale must lie between 2^-600 and 2^600", parameter="scale")
        exact_center = exact_rational(center, name="center")
        if exact_center.denominator != 1:
            raise ParameterError("the center of integer noise must be an integer", parameter="center")
        self.center = int(exact_center)
        self.lift = _lift(self.scale)
        self._reservoir = Reservoir(self._draw_lifted)
        self._drawer: Callable[[int], NDArray[Any]] | None = None

    @abstractmethod
    def _make_drawer(self) -> Callable[[int], NDArray[Any]]:
        """Return a function that draws centered noise as an array."""

    @abstractmethod
    def tail_ball(self, start: int) -> Ball:
        """Enclose P(noise >= start) of the centered law at the current precision."""

    @abstractmethod
    def mass_ball(self, outcome: int) -> Ball:
        """Enclose P(noise = outcome) of the centered law at the current precision."""

    @abstractmethod
    def log_pmf(self, outcome: ArrayLike) -> Any:
        """Return ln P(X = outcome), for each outcome of an array or a list; it does not underflow."""

    @abstractmethod
    def first_above(self, shift: int, epsilon: Fraction) -> int | None:
        """Return the least y with ln p(y - shift) / p(y) > epsilon, for shift > 0, or None if there is none.

        By log-concavity the loss does not fall as y grows, so these y form a half-line. Asked only where some y is at
        or below epsilon.
        """

    @abstractmethod
    def largest_loss(self, shift: int) -> Fraction | None:
        """Return the supremum of ln p(y - shift) / p(y), exactly, or None when it is infinite."""

    def concentration(self, shift: int) -> Fraction | None:  # noqa: ARG002  for laws that know one
        """Return a rho with D_alpha <= alpha rho for two centers this far apart, where a theorem gives one."""
        return None

    def gaussian_square(self, distance: int) -> Fraction | None:  # noqa: ARG002  for laws that know one
        """Return mu^2 where two centers this far apart are no easier to tell apart than N(mu, 1) and N(0, 1)."""
        return None

    def losses(self, noise: NDArray[Any], shift: int) -> NDArray[np.float64]:
        """Return ln p(x) / p(x + shift) for each x: the loss of the output x + shift when P's center is `shift`."""
        with precision(_START_PRECISION):
            masses = [(self.mass_ball(int(x)), self.mass_ball(int(x) + shift)) for x in noise]
            found = [float((own / other).log()) if other > 0 else math.inf for own, other in masses]
        return np.array(found, dtype=np.float64)

    @property
    def support(self) -> tuple[None, None]:
        """All integers."""
        return None, None

    def at(self, center: int) -> Self:
        """Return the same noise about another center (sharing the prepared sampler, not the drawn noise)."""
        moved = type(self)(self.scale, center)
        moved._drawer = self._drawer
        return moved

    def draw(self, count: int) -> NDArray[Any]:
        """Draw centered noise, `count` independent integers."""
        if self._drawer is None:
            self._drawer = self._make_drawer()
        return self._drawer(count)

    def _draw_lifted(self, count: int) -> list[int]:
        """Draw noise for the stock of single draws, each with `lift` added."""
        return [value + self.lift for value in self.draw(count).tolist()]

    def draw_lifted(self) -> int:
        """Draw `lift` plus one centered integer from a stock drawn ahead: its time tells nothing about the noise.

        Python keeps the integers from -5 to 256 ready and makes and frees all others, which takes some ten nanoseconds,
        and it works on integers digit by digit. Lifted noise is always made, always freed and always equally long.
        """
        lifted: int = self._reservoir.take()
        return lifted

    def draw_one(self) -> int:
        """Draw one centered integer."""
        return self.draw_lifted() - self.lift

    def added_to(self, value: int) -> int:
        """Return an integer plus noise.

        The sum itself may be an integer that Python keeps ready. The few nanoseconds by which that still shows are
        covered by a pause of random length, which has nothing to do with the noise.
        """
        for _ in _pauses.take():
            pass
        return (value - self.lift) + self.draw_lifted()

    def sample(self, shape: Shape | None = None) -> Any:
        """Draw one Python integer, or an array (int64, or Python integers for scales beyond it)."""
        if shape is None:
            return self.added_to(self.center)
        sizes, count = as_size(shape)
        noise = self.draw(count)
        if noise.dtype == object or abs(self.center) >= 1 << 61:
            return (noise.astype(object) + self.center).reshape(sizes)
        noise += self.center
        return noise.reshape(sizes)

    def cdf(self, outcome: ArrayLike) -> Any:
        """Return P(X <= outcome), by symmetry of the tail."""
        return self._tail(-offsets(outcome, self.center))

    def sf(self, outcome: ArrayLike) -> Any:
        """Return P(X > outcome)."""
        return self._tail(offsets(outcome, self.center) + 1)

    @abstractmethod
    def _tail(self, start: NDArray[Any]) -> Any:
        """Return P(noise >= start) in floats."""

    def quantile(self, probability: float | Fraction) -> int:
        """Return the least x with P(X <= x) >= probability: bisection on the enclosed tail."""
        wanted = probability_in_unit(probability)
        if wanted <= Fraction(1, 2):  # P(X <= x) >= p exactly when P(noise >= c - x) >= p
            return self.center - self._greatest_start(
                lambda tail: tail >= ball(wanted), lambda tail: tail < ball(wanted), self._near(float(wanted))
            )
        rest = 1 - wanted  # P(X <= x) >= p exactly when P(noise >= x - c + 1) <= 1 - p
        start = self._greatest_start(
            lambda tail: tail > ball(rest), lambda tail: tail <= ball(rest), self._near(float(rest))
        )
        return self.center + start

    def half_width(self, confidence: float | Fraction, count: int = 1) -> int:
        """Return the least t with P(all of `count` draws are within t of the center) >= confidence, decided exactly.

        It is remembered by law, confidence and count. The center, which may be private, is not stored.
        """
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
            raise ParameterError("count must be an int of at least 1", parameter="count")
        return _half_width(self.at(0), probability_in_unit(confidence), int(count))

    def _near(self, tail: float) -> int:  # noqa: ARG002  for laws that know one
        """Return about the start whose tail is this one: any number is right, and a near one is fast."""
        return 0

    def _greatest_start(self, holds: Callable[[Ball], bool], fails: Callable[[Ball], bool], near: int = 0) -> int:
        """Return the greatest t for which a property of P(noise >= t), true for small t, still holds."""
        low = high = near
        step = 1
        if self._decided(near, holds, fails):
            while self._decided(high := low + step, holds, fails):
                low, step = high, 2 * step
        else:
            while not self._decided(low := high - step, holds, fails):
                high, step = low, 2 * step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._decided(middle, holds, fails) else (low, middle)
        return low

    def _decided(self, start: int, holds: Callable[[Ball], bool], fails: Callable[[Ball], bool]) -> bool:
        """Say whether the property holds at a tail, with as much precision as that takes."""
        working = _START_PRECISION
        while working <= _LARGEST_PRECISION:
            with precision(working):
                tail = self.tail_ball(start)
                if holds(tail):
                    return True
                if fails(tail):
                    return False
            working *= 2
        raise ArithmeticError(
            "a tail could not be told from a rational number, which a transcendental one never equals"
        )

    def pair(self, other: Law[int]) -> Pair:
        """Return the exact loss pair of two centers of the same noise."""
        from discreet.laws.noise.location_pair import LocationPair

        if type(other) is not type(self) or not isinstance(other, IntegerNoise) or other.scale != self.scale:
            raise ParameterError(
                "a closed-form pair needs the same kind of noise with the same scale on both sides; "
                "truncate both laws to a finite range to compare others"
            )
        return LocationPair(self.at(0), shift=self.center - other.center)

    def enclosed_tail(self, start: int) -> tuple[float, float]:
        """Return floats below and above P(noise >= start)."""
        with precision(_START_PRECISION):
            tail = self.tail_ball(start)
            return lower_float(tail), upper_float(tail)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, IntegerNoise) and other._key() == self._key()

    def __hash__(self) -> int:
        return hash((type(self), *self._key()))

    def _key(self) -> tuple[Fraction, int]:
        """What makes two laws of a kind the same."""
        return self.scale, self.center

    def __reduce__(self) -> tuple[type[IntegerNoise], tuple[Fraction, int]]:
        return (type(self), (self.scale, self.center))

    def __repr__(self) -> str:
        shown = str(self.scale) if self.scale.denominator < 1000 else f"{float(self.scale):.6g}"
        return f"{type(self).__name__}(scale={shown}, center=...)"


@lru_cache(maxsize=4096)
def _half_width(law: IntegerNoise, wanted: Fraction, count: int) -> int:
    """Return the half-width of a law about 0: see `IntegerNoise.half_width`."""

    def inside(tail: Ball) -> Ball:
        return (1 - 2 * tail) ** count

    # `tail` is P(noise >= t + 1), below 1/2 from t = 0 on; the greatest start that is still too small is the answer
    return law._greatest_start(
        lambda tail: tail > 0.5 or inside(tail) < ball(wanted),
        lambda tail: tail < 0.5 and inside(tail) >= ball(wanted),
        law._near(-math.expm1(math.log1p(-min(float(1 - wanted), 1.0 - 2.0**-53)) / count) / 2),
    )


def _lift(scale: Fraction) -> int:
    """Return a power of two that keeps lift + noise at one length, counted in Python's digits of 30 bits.

    Noise beyond 2^10 scales, which has a probability below exp(-1000), would be as right and merely take another time.
    """
    needed = int(scale).bit_length() + _REACH_BITS - _ROOM_BITS
    return 1 << (_DIGIT_BITS * max(-(-needed // _DIGIT_BITS), 1) + _ROOM_BITS)
