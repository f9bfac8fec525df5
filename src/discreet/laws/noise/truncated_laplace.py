"""Discrete Laplace noise that cannot leave a range: conditioned on lying within a reach of its center."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import ParameterError
from discreet.laws.finite import FinitePair
from discreet.laws.law import Law, as_integers, offsets, ratios
from discreet.laws.noise.discrete_laplace import DiscreteLaplace
from discreet.laws.noise.noise import IntegerNoise
from discreet.laws.number import Number
from discreet.randomness import bernoulli_exp, uniform_below
from discreet.randomness.rigor import Ball, ball, lower_float, precision, upper_float

_PRECISION = 192
_MOST_ATOMS = 1 << 20
_SMALL_REACH = 8


class TruncatedLaplace(IntegerNoise):
    """P(X = x) = q^|x - center| / Z for |x - center| <= reach, with q = exp(-1 / scale).

    | property | value |
    |---|---|
    | support | center - reach .. center + reach |
    | Z | (1 + q - 2 q^(reach+1)) / (1 - q) |
    | P(X - center >= k) | (q^k - q^(reach+1)) / (1 + q - 2 q^(reach+1)), 1 <= k <= reach |
    | loss of a shift d | at most d / scale where both laws have mass, infinite on d outcomes at the end |

    Cost. A draw of discrete Laplace noise, repeated where it falls outside.

    >>> law = TruncatedLaplace(1, reach=2)
    >>> [round(float(law.pmf(x)), 4) for x in (0, 1, 2, 3)]
    [0.4984, 0.1834, 0.0675, 0.0]
    >>> law.half_width(0.95), law.support
    (2, (-2, 2))
    """

    def __init__(self, scale: Number, center: int = 0, *, reach: int) -> None:
        super().__init__(scale, center)
        if isinstance(reach, bool) or not isinstance(reach, int | np.integer) or reach < 1:
            raise ParameterError("the reach of truncated noise must be an int of at least 1", parameter="reach")
        self.reach = int(reach)

    @property
    def support(self) -> tuple[int, int]:  # type: ignore[override]  # a range, where other noise has none
        """The range about the center."""
        return self.center - self.reach, self.center + self.reach

    def at(self, center: int) -> Self:
        """Return the same noise about another center (sharing the prepared sampler, not the drawn noise)."""
        moved = type(self)(self.scale, center, reach=self.reach)
        moved._drawer = self._drawer
        return moved

    def _make_drawer(self) -> Callable[[int], NDArray[Any]]:
        """Draw again what falls outside; for a reach that is small beside the scale, uniform integers and coins."""
        if self.reach * _SMALL_REACH < self.scale:
            return self._draw_by_coins
        wide = DiscreteLaplace(self.scale)

        def draw(count: int) -> NDArray[Any]:
            kept = [np.empty(0, dtype=np.int64)]
            missing = count
            while missing > 0:
                drawn = wide.draw(missing + missing // 8 + 8)
                inside = drawn[np.abs(drawn) <= self.reach][:missing]
                kept.append(inside)
                missing -= inside.size
            return np.concatenate(kept)

        return draw

    def _draw_by_coins(self, count: int) -> NDArray[Any]:
        """Draw uniform integers of the range, each kept with an exact coin of probability q^|x|."""
        kept: list[int] = []
        while len(kept) < count:
            place = uniform_below(2 * self.reach + 1) - self.reach
            if bernoulli_exp(Fraction(abs(place)) / self.scale):
                kept.append(place)
        drawn = np.array([*kept, None], dtype=object)[:-1]
        return drawn.astype(np.int64) if self.reach < 1 << 62 else drawn

    def _beyond(self, start: int) -> Ball:
        """Enclose q^start - q^(reach+1), for 0 <= start <= reach, without cancellation."""
        gap = Fraction(self.reach + 1 - start) / self.scale
        return -(-ball(Fraction(start) / self.scale)).exp() * (-ball(gap)).expm1()

    def _total(self) -> Ball:
        """Enclose (1 - q) Z = (1 - q) + 2 (q - q^(reach+1))."""
        return -(-1 / ball(self.scale)).expm1() + 2 * self._beyond(1)

    def tail_ball(self, start: int) -> Ball:
        """Enclose P(noise >= start); exactly 0 or 1 outside the range."""
        beyond = max(start, 1 - start)
        side = ball(0) if beyond > self.reach else self._beyond(beyond) / self._total()
        return side if start >= 1 else 1 - side

    def mass_ball(self, outcome: int) -> Ball:
        """Enclose P(noise = outcome)."""
        if abs(outcome) > self.reach:
            return ball(0)
        rate = 1 / ball(self.scale)
        return -(-rate).expm1() * (-ball(Fraction(abs(outcome)) / self.scale)).exp() / self._total()

    def pmf(self, outcome: ArrayLike) -> Any:
        """Return P(X = outcome)."""
        return self._each(offsets(outcome, self.center), self.mass_ball)

    def log_pmf(self, outcome: ArrayLike) -> Any:
        """Return ln P(X = outcome), also where the probability is below the least float; minus infinity outside."""
        places = np.asarray(np.abs(offsets(outcome, self.center)))
        with precision(_PRECISION):
            peak = float(self.mass_ball(0).log())
        return np.where(places <= self.reach, peak - ratios(places, self.scale), -math.inf)[()]

    def _tail(self, start: NDArray[Any]) -> Any:
        """Return tails in floats from enclosed ones."""
        return self._each(start, self.tail_ball)

    def _each(self, places: NDArray[Any], enclose: Callable[[int], Ball]) -> Any:
        """Evaluate an enclosure on an array."""
        array = as_integers(places)
        with precision(_PRECISION):
            values = [float(enclose(int(place))) for place in np.atleast_1d(array).ravel()]
        return np.array(values).reshape(array.shape)[()]

    def first_above(self, shift: int, epsilon: Fraction) -> int:
        """As for discrete Laplace noise, or the first outcome that only the shifted law can produce."""
        inside = math.floor((epsilon * self.scale + shift) / 2) + 1
        return self.reach + 1 if epsilon * self.scale >= shift else min(inside, self.reach + 1)

    def largest_loss(self, shift: int) -> None:  # noqa: ARG002  the same for every shift
        """Infinite: a shifted law has outcomes of its own."""
        return

    def pair(self, other: Law[int]) -> FinitePair:
        """Return the exact pair of two centers, outcomes of equal loss put together.

        With d the distance of the centers, the losses are (2 j - d) / scale for j = 0 to d, infinity and minus
        infinity; an outcome's loss is all that a test may use of it.
        """
        if not isinstance(other, TruncatedLaplace) or (other.scale, other.reach) != (self.scale, self.reach):
            raise ParameterError("truncated noise is compared with the same noise about another center")
        return _shifted_pair(self.at(0), abs(self.center - other.center))

    def _key(self) -> Any:
        """What makes two laws the same."""
        return self.scale, self.center, self.reach

    def __reduce__(self) -> Any:
        return _rebuilt, (self.scale, self.center, self.reach)

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, reach={self.reach})"


def _rebuilt(scale: Fraction, center: int, reach: int) -> TruncatedLaplace:
    """Make a law from its parameters."""
    return TruncatedLaplace(scale, center, reach=reach)


def _shifted_pair(noise: TruncatedLaplace, shift: int) -> FinitePair:
    """Return the pair of P about `shift` against Q about 0, one atom for each loss."""
    reach = noise.reach
    low, high = shift - reach, reach  # the outcomes that both laws can produce, if any
    if min(shift, max(high - low, 0)) > _MOST_ATOMS:
        raise ParameterError("truncated laws are compared at most 2^20 steps apart")
    # the loss rises by 2 / scale a step from 0 to the shift and is level on both sides of it
    first, last = max(low, min(0, high)), min(high, max(shift, low))
    groups = [(low, first), *((y, y) for y in range(first + 1, last)), (last, high)] if first < last else [(low, high)]
    ranges = [(-reach, min(low - 1, reach)), *(groups if low <= high else []), (max(high + 1, low), shift + reach)]
    with precision(_PRECISION):
        p = [noise.tail_ball(a - shift) - noise.tail_ball(b + 1 - shift) for a, b in ranges]
        q = [noise.tail_ball(a) - noise.tail_ball(b + 1) for a, b in ranges]
        columns = [_rounded(p), _rounded(q)]
    return FinitePair(ranges, columns[0][0], columns[0][1], columns[1][0], columns[1][1])


def _rounded(masses: list[Ball]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return floats below and above each mass; a mass that is exactly 0 stays so."""
    ends = [(0.0, 0.0) if mass == 0 else (max(lower_float(mass), 0.0), max(upper_float(mass), 0.0)) for mass in masses]
    return np.array([low for low, _ in ends]), np.array([high for _, high in ends])
