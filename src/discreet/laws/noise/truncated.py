"""Integer noise cut to a finite range: conditioned on it, or with the outside folded onto the ends."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import ParameterError
from discreet.laws.finite import FinitePair
from discreet.laws.law import IntegerLaw, Law, Shape, as_integers, as_size, probability_in_unit
from discreet.laws.noise.noise import IntegerNoise
from discreet.randomness import bits
from discreet.randomness.rigor import Ball, ball, lower_float, precision, upper_float

_LARGEST_RANGE = 1 << 22
_COMMON = 0.05
_LARGEST_PRECISION = 1 << 17


class Outside(Enum):
    """What happens to the mass outside the range."""

    CONDITIONED = "dropped, and the rest scaled up"
    CLAMPED = "moved to the nearer end"


class Truncated(IntegerLaw):
    """Noise about a center cut to low..high.

    `CONDITIONED` is the law given that the draw lies in the range: drawn again until it does, or by walking the
    cumulative masses in balls where the range is unlikely. `CLAMPED` moves what lies outside to the nearer end:
    post-processing of the noise, so it costs no privacy.

    >>> from discreet.laws.noise.discrete_laplace import DiscreteLaplace
    >>> law = Truncated(DiscreteLaplace(1), 0, 2, outside=Outside.CLAMPED)
    >>> [round(float(law.pmf(x)), 4) for x in (0, 1, 2)]
    [0.7311, 0.17, 0.0989]
    """

    def __init__(self, noise: IntegerNoise, low: int, high: int, *, outside: Outside) -> None:
        for name, end in (("low", low), ("high", high)):
            if isinstance(end, bool) or not isinstance(end, int | np.integer):
                raise ParameterError("the ends of a range must be integers", parameter=name)
        if high < low:
            raise ParameterError("the range of a truncated law needs low <= high", parameter="high")
        self.noise, self.low, self.high, self.outside = noise, int(low), int(high), outside

    @property
    def support(self) -> tuple[int, int]:
        """The range itself."""
        return self.low, self.high

    def _tail_from(self, start: int) -> Ball:
        """Enclose P(noise about its center >= start)."""
        return self.noise.tail_ball(start - self.noise.center)

    def _at_or_below(self, end: int) -> Ball:
        """Enclose P(noise about its center <= end), by symmetry a tail: tiny values stay accurate."""
        return self.noise.tail_ball(self.noise.center - end)

    def _range(self, low: int, high: int) -> Ball:
        """Enclose the mass of a range before cutting, from the side on which it does not cancel."""
        if low > high:
            return ball(0)
        if high < self.noise.center:
            return self._at_or_below(high) - self._at_or_below(low - 1)
        return self._tail_from(low) - self._tail_from(high + 1)

    def _inside(self) -> Ball:
        """Enclose the mass of the range."""
        return self._range(self.low, self.high)

    def _mass(self, outcome: int) -> Ball:
        """Enclose the probability of an outcome in the range."""
        if self.outside is Outside.CONDITIONED:
            return self.noise.mass_ball(outcome - self.noise.center) / self._inside()
        if self.low == self.high:
            return ball(1)
        if outcome == self.low:
            return self._at_or_below(self.low)
        if outcome == self.high:
            return self._tail_from(self.high)
        return self.noise.mass_ball(outcome - self.noise.center)

    @cached_property
    def _working_precision(self) -> int:
        """Return enough bits for the mass of the range to be told from 0 with many digits."""
        working = 256
        while working < _LARGEST_PRECISION:
            with precision(working):
                inside = self._inside()
                if inside > 0 and inside.rel_accuracy_bits() > 128:
                    return working
            working *= 2
        raise ParameterError("this range lies too far out for its mass to be told from 0", parameter="low")

    def pmf(self, outcome: ArrayLike) -> Any:
        """Return P(X = outcome)."""
        return self._each(outcome, lambda x: self._mass(x) if self.low <= x <= self.high else ball(0))

    def _at_most(self, outcome: int) -> Ball:
        """Enclose P(X <= outcome)."""
        if outcome < self.low:
            return ball(0)
        if outcome >= self.high:
            return ball(1)
        if self.outside is Outside.CLAMPED:
            return self._at_or_below(outcome)
        return self._range(self.low, outcome) / self._inside()

    def _above(self, outcome: int) -> Ball:
        """Enclose P(X > outcome)."""
        if outcome < self.low:
            return ball(1)
        if outcome >= self.high:
            return ball(0)
        if self.outside is Outside.CLAMPED:
            return self._tail_from(outcome + 1)
        return self._range(outcome + 1, self.high) / self._inside()

    def cdf(self, outcome: ArrayLike) -> Any:
        """Return P(X <= outcome)."""
        return self._each(outcome, self._at_most)

    def sf(self, outcome: ArrayLike) -> Any:
        """Return P(X > outcome)."""
        return self._each(outcome, self._above)

    def _each(self, outcome: ArrayLike, enclose: Callable[[int], Ball]) -> Any:
        """Evaluate an enclosure on an array of outcomes."""
        places = as_integers(outcome)
        with precision(self._working_precision):
            values = [float(enclose(int(place))) for place in np.atleast_1d(places).ravel()]
        return np.array(values).reshape(np.shape(places))[()]

    def quantile(self, probability: float | Fraction) -> int:
        """Return the least x with P(X <= x) >= probability, by bisection on enclosed values."""
        wanted = probability_in_unit(probability)
        low, high = self.low, self.high
        with precision(self._working_precision):
            target = ball(wanted)
            while low < high:
                middle = (low + high) // 2
                low, high = (middle + 1, high) if self._at_most(middle) < target else (low, middle)
        return low

    def sample(self, shape: Shape | None = None) -> Any:
        """Draw one integer or an array of them."""
        if shape is None:
            return int(self.sample(1)[0])
        sizes, count = as_size(shape)
        if self.outside is Outside.CLAMPED:
            return np.clip(self.noise.sample(count), self.low, self.high).reshape(sizes)
        with precision(self._working_precision):
            common = bool(self._inside() > _COMMON)
        drawn = self._by_rejection(count) if common else _integers([self._by_walking() for _ in range(count)])
        return drawn.reshape(sizes)

    def _by_rejection(self, count: int) -> NDArray[Any]:
        """Draw until enough lie in the range."""
        kept: list[NDArray[Any]] = [np.empty(0, dtype=np.int64)]
        missing = count
        while missing > 0:
            drawn = self.noise.sample(2 * missing + 16)
            inside = drawn[(drawn >= self.low) & (drawn <= self.high)][:missing]
            kept.append(inside)
            missing -= inside.size
        return np.concatenate(kept)

    def _by_walking(self) -> int:
        """Find the outcome whose cumulative interval holds a uniform, adding bits until it is certain."""
        prefix, length = bits(64), 64
        while True:
            with precision(length + self._working_precision):
                found = self._walk(ball(Fraction(prefix, 1 << length)), ball(Fraction(prefix + 1, 1 << length)))
            if found is not None:
                return found
            prefix, length = (prefix << 64) | bits(64), length + 64

    def _walk(self, first: Ball, last: Ball) -> int | None:
        """Bisect for the outcome whose cumulative interval contains [first, last]."""
        low, high = self.low, self.high
        while low < high:
            middle = (low + high) // 2
            end = self._at_most(middle)
            if last <= end:
                high = middle
            elif first >= end:
                low = middle + 1
            else:
                return None
        return low

    def pair(self, other: Law[int]) -> FinitePair:
        """Return the pair over the common list of outcomes."""
        if not isinstance(other, Truncated):
            raise ParameterError("a truncated law is compared with a truncated law")
        low, high = min(self.low, other.low), max(self.high, other.high)
        if high - low > _LARGEST_RANGE:
            raise ParameterError("truncated laws are compared over at most 2^22 outcomes")
        outcomes = range(low, high + 1)
        return FinitePair(list(outcomes), *self._enclosed(outcomes), *other._enclosed(outcomes))

    def _enclosed(self, outcomes: range) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return floats below and above each mass."""
        with precision(self._working_precision):
            masses = [self._mass(x) if self.low <= x <= self.high else ball(0) for x in outcomes]
            lows = [max(lower_float(mass), 0.0) for mass in masses]
            highs = [
                upper_float(mass) if x_in else 0.0 for mass, x_in in zip(masses, self._flags(outcomes), strict=True)
            ]
        return np.array(lows), np.array(highs)

    def _flags(self, outcomes: range) -> list[bool]:
        """Say which outcomes lie in the range."""
        return [self.low <= x <= self.high for x in outcomes]

    def __repr__(self) -> str:
        return f"Truncated({self.noise!r}, {self.low}, {self.high}, outside={self.outside})"


def _integers(values: list[int]) -> NDArray[Any]:
    """Return integers as int64 where they fit, as Python integers elsewhere."""
    array = np.array([*values, None], dtype=object)[:-1]
    return array.astype(np.int64) if all(abs(value) < 1 << 63 for value in values) else array
