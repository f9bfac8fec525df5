"""Points and planes of a projective space over a prime field, by number, and exact sums over planes.

Plane sums are a discrete Radon transform, one coordinate at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._compiled import available, compiled
from discreet.errors import ParameterError
from discreet.local.protocol import Integers, is_integer, toss
from discreet.randomness import uniform_below_array

LARGEST = 1 << 30
_BLOCK = 1 << 13
_LARGEST_LIST = 1 << 20
_KEPT = 64


@dataclass(frozen=True)
class Geometry:
    """The points of PG(dimension - 1, prime): vectors of `dimension` digits modulo a prime, up to a factor.

    A point is written as its one multiple whose highest nonzero digit is 1. With that digit at position m its number
    is (prime^m - 1) / (prime - 1) plus the lower digits read in base prime, digit 0 the lowest. The plane of a point x
    holds the points y with <x, y> = 0; so y is on the plane of x exactly when x is on that of y.

    >>> plane = Geometry(prime=2, dimension=3)
    >>> plane.points, plane.on_plane, plane.common, plane.plane(0)
    (7, 3, 1, array([1, 3, 5]))
    """

    prime: int
    dimension: int

    def __post_init__(self) -> None:
        for name, value, least in (("prime", self.prime, 2), ("dimension", self.dimension, 2)):
            if not is_integer(value) or value < least:
                raise ParameterError(f"{name} must be an int of at least {least}", parameter=name)
            object.__setattr__(self, name, int(value))
        if self.prime**2 >= LARGEST or self.dimension > 31 or self.points > LARGEST:
            raise ParameterError("this projective space has more than 2^30 points: take a smaller prime or dimension")
        if not is_prime(self.prime):
            raise ParameterError(f"{self.prime} is not a prime number", parameter="prime")

    @property
    def points(self) -> int:
        """The number of points, and of planes."""
        return int(self.prime**self.dimension - 1) // (self.prime - 1)

    @property
    def on_plane(self) -> int:
        """The number of points on a plane; `points - on_plane` is prime^(dimension - 1)."""
        return int(self.prime ** (self.dimension - 1) - 1) // (self.prime - 1)

    @property
    def common(self) -> int:
        """The number of points on two different planes at once."""
        return int(self.prime ** (self.dimension - 2) - 1) // (self.prime - 1)

    @property
    def outside(self) -> int:
        """The number of points off a plane: prime^(dimension - 1)."""
        return int(self.prime ** (self.dimension - 1))

    def plane(self, point: int) -> Integers:
        """Return the points on the plane of a point, in order: by listing all, so for spaces of at most 2^20 points."""
        if not 0 <= point < self.points:
            raise ParameterError("point must be an int from 0 to points - 1", parameter="point")
        if self.points > _LARGEST_LIST:
            raise ParameterError("a plane is listed in spaces of at most 2^20 points; `place` works in any")
        free = np.arange(1, self.outside, dtype=np.int64)
        centers = np.full(free.size, point, dtype=np.int64)
        return np.unique(self.place(centers, np.zeros(free.size, dtype=np.bool_), free))

    def place(self, points: Integers, outside: NDArray[np.bool_], free: Integers) -> Integers:
        """Return for each point x the point off its plane, or on it, that a free number stands for.

        Let x have its leading 1 at position m. The dimension - 1 digits of `free` are the coordinates of a vector v
        but for coordinate m, which is set so that <v, x> is 1 (outside) or 0 (on the plane; free is not 0 then).
        Each point off the plane has exactly one multiple with <v, x> = 1, each point on it prime - 1 multiples, all
        with <v, x> = 0: a uniform free number gives a uniform point.
        """
        points, outside, free = np.ascontiguousarray(points), np.ascontiguousarray(outside), np.ascontiguousarray(free)
        starts, inverses = _starts(self.prime, self.dimension), _inverses(self.prime)
        if not available():
            return _place_plain(points, outside, free, starts, inverses)
        return _place(points, outside, free, starts, inverses, *division(self.prime))

    def draw(self, points: Integers, coin: int) -> Integers:
        """Draw, for each point, one on its plane with probability coin / 2^64 and one off it otherwise, uniformly."""
        reports = np.empty(points.size, dtype=np.int64)
        for start in range(0, points.size, _BLOCK):
            part = points[start : start + _BLOCK]
            outside = ~toss(coin, part.size)
            free = uniform_below_array(self.outside, part.size)
            again = np.flatnonzero((free == 0) & ~outside)
            while again.size:
                free[again] = uniform_below_array(self.outside, again.size)
                again = again[free[again] == 0]
            reports[start : start + _BLOCK] = self.place(part, outside, free)
        return reports

    def plane_sums(self, counts: Integers) -> Integers:
        """Return, for every point, the sum of the counts on its plane; counts have the points as their last axis."""
        if counts.ndim < 1 or counts.shape[-1] != self.points or counts.dtype.kind not in "iu":
            raise ParameterError("counts must be integers, one for each point along the last axis", parameter="counts")
        return plane_sums(counts, self.prime, self.dimension)


@lru_cache(maxsize=1 << 16)  # choosing a space asks for the same numbers again and again
def is_prime(number: int) -> bool:
    """Say whether a number below 2^30 is prime, by division."""
    return number >= 2 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))


@lru_cache(maxsize=_KEPT)
def _starts(prime: int, dimension: int) -> Integers:
    """Return the number of the first point with its leading 1 at each position, and the number of points."""
    return np.array([(prime**m - 1) // (prime - 1) for m in range(dimension + 1)], dtype=np.int64)


@lru_cache(maxsize=_KEPT)
def _inverses(prime: int) -> Integers:
    """Return the inverses modulo the prime; 0 has no inverse."""
    inverses = np.zeros(prime, dtype=np.int64)
    inverses[1] = 1
    for number in range(2, prime):
        inverses[number] = -(prime // number) * inverses[prime % number] % prime
    return inverses


def division(prime: int) -> tuple[int, int]:
    """Return a reciprocal and a scale such that n * reciprocal >> scale is n // prime for 0 <= n < 2^30.

    The reciprocal exceeds 2^scale / prime by at most 1, so the quotient by at most 2^30 / 2^scale < 1 / prime: too
    little to reach the next integer. It is at most 2^31, so that no product passes 2^62.
    """
    scale = 30 + prime.bit_length()
    return (1 << scale) // prime + 1, scale


@compiled
def _place(
    points: Integers,
    outside: NDArray[np.bool_],
    free: Integers,
    starts: Integers,
    inverses: Integers,
    reciprocal: int,
    scale: int,
) -> Integers:
    """Place every report; n * reciprocal >> scale is n // prime (`division`)."""
    prime, dimension = len(inverses), len(starts) - 1
    reports = np.empty(len(points), dtype=np.int64)
    vector = np.zeros(dimension, dtype=np.int64)
    for i in range(len(points)):
        leading = dimension - 1
        while leading > 0 and points[i] < starts[leading]:
            leading -= 1
        x, v, product = points[i] - starts[leading], free[i], 0
        for j in range(leading):
            quotient, rest = (x * reciprocal) >> scale, (v * reciprocal) >> scale
            vector[j] = v - rest * prime
            product += (x - quotient * prime) * vector[j]
            x, v = quotient, rest
        for j in range(leading + 1, dimension):
            rest = (v * reciprocal) >> scale
            vector[j] = v - rest * prime
            v = rest
        vector[leading] = (int(outside[i]) - product) % prime
        top = dimension - 1
        while top > 0 and vector[top] == 0:
            top -= 1
        factor, number = inverses[vector[top]], 0
        for j in range(top - 1, -1, -1):
            multiple = vector[j] * factor
            number = number * prime + multiple - ((multiple * reciprocal) >> scale) * prime
        reports[i] = starts[top] + number
    return reports


def _place_plain(
    points: Integers,
    outside: NDArray[np.bool_],
    free: Integers,
    starts: Integers,
    inverses: Integers,
) -> Integers:
    """Do as `_place` does, all reports at once."""
    prime, dimension = len(inverses), len(starts) - 1
    leading = np.searchsorted(starts, points, side="right") - 1
    x, v, product = points - starts[leading], free.copy(), np.zeros(points.size, dtype=np.int64)
    digits = np.zeros((dimension, points.size), dtype=np.int64)
    for j in range(dimension):
        elsewhere = leading != j
        digits[j] = np.where(elsewhere, v % prime, 0)
        product += x % prime * digits[j]
        x //= prime
        v = np.where(elsewhere, v // prime, v)
    everyone = np.arange(points.size)
    digits[leading, everyone] = (outside - product) % prime
    top = dimension - 1 - np.argmax(digits[::-1] != 0, axis=0)
    factors, number = inverses[digits[top, everyone]], np.zeros(points.size, dtype=np.int64)
    for j in range(dimension - 1, -1, -1):
        number = np.where(j < top, number * prime + digits[j] * factors % prime, number)
    return np.asarray(starts[top] + number)


_SMALL = (1 << 31) - 1


def plane_sums(counts: Integers, prime: int, dimension: int) -> Integers:
    """Return, for every point of PG(dimension - 1, prime), the sum of the counts on its plane; the last axis is points.

    Write a point y as (u, b) with b its top coordinate. The points with b = 0 are a space of one dimension less and
    come first in our order; those with b = 1 are all u of an affine space. The plane of x = (w, a) is b = 0 if w = 0.
    Otherwise w = mu * direction for one canonical direction and one mu, and the plane holds the plane of `direction`
    among the points with b = 0, and the affine points with <direction, u> = -a / mu. So it takes the sums over all
    parallel affine planes of all directions.

    Cost. About (dimension - 2) * prime additions a point, and a few copies of the table; int32 inside where all sums
        fit.

    >>> plane_sums(np.array([1, 10, 100]), prime=2, dimension=2)
    array([ 10,   1, 100])
    """
    table = np.ascontiguousarray(counts).reshape(-1, counts.shape[-1])
    sizes = table if table.min(initial=0) >= 0 else np.abs(table)
    small = int(sizes.sum(axis=1, dtype=np.int64).max(initial=0)) <= _SMALL
    working: NDArray[Any] = table.astype(np.int32 if small else np.int64)
    return _sums(working, prime, dimension).astype(np.int64).reshape(counts.shape)


def _sums(table: NDArray[Any], prime: int, dimension: int) -> NDArray[Any]:
    """Return the plane sums of every row."""
    if dimension == 1:
        return np.zeros_like(table)
    infinite = (prime ** (dimension - 1) - 1) // (prime - 1)
    sums = np.empty_like(table)
    parallel = _sums(np.ascontiguousarray(table[:, :infinite]), prime, dimension - 1)
    sums[:, infinite] = table[:, :infinite].sum(axis=1)
    affine = table[:, infinite:]
    for leading in range(dimension - 2, -1, -1):
        affine = affine.reshape(len(table), prime, prime**leading)
        _directions(sums, affine, parallel, prime, leading)
        affine = affine.sum(axis=1, dtype=table.dtype)
    return sums


def _directions(sums: NDArray[Any], affine: NDArray[Any], parallel: NDArray[Any], prime: int, leading: int) -> None:
    """Fill in the points whose direction has its leading 1 at a position; `affine` is summed over the digits above."""
    size = prime**leading
    start, infinite = (size - 1) // (prime - 1), parallel.shape[1]
    along = parallel[:, start : start + size]
    offsets = _radon(affine, prime, leading)
    sums[:, start : start + size] = offsets(0) + along
    for factor in range(1, prime):
        places = infinite + factor * size + _multiples(factor, prime, leading)
        sums[:, places] = offsets(-pow(factor, -1, prime) % prime) + along


def _radon(affine: NDArray[Any], prime: int, leading: int) -> Any:
    """Return offset -> the sums of the planes <direction, u> = offset, for every direction with that leading position.

    With s = u_leading the sums over u_0, u_1, ... are taken one after the other: A(.., w_j, ..; s) is the sum over u_j
    of A(.., u_j, ..; s - w_j u_j). The low half of the digits waits behind s while the high half is done, and then the
    other way round, so that the inner loops are long whatever the prime.
    """
    rows, low = len(affine), leading // 2
    first, second = prime ** (leading - low), prime**low
    table = np.ascontiguousarray(affine.reshape(rows, prime, first, second).transpose(0, 2, 1, 3))
    table = _shear_all(table, prime, leading - low)
    table = np.ascontiguousarray(table.transpose(0, 3, 2, 1))
    table = _shear_all(table, prime, low)
    return lambda offset: table[:, :, offset, :].transpose(0, 2, 1).reshape(rows, first * second)


def _shear_all(table: NDArray[Any], prime: int, digits: int) -> NDArray[Any]:
    """Replace every digit of the axis before s by the same digit of the direction."""
    rows, size, _, behind = table.shape
    for digit in range(digits):
        lower = prime**digit
        cut = table.reshape(rows * size // (lower * prime), prime, lower, prime * behind)
        table = (_shear if available() else _shear_plain)(cut, prime, behind)
    return table.reshape(rows, size, prime, behind)


def _shear_plain(table: NDArray[Any], prime: int, behind: int) -> NDArray[Any]:
    """Sum over one digit u for every w, the axis (s, behind) turned by w u."""
    result = np.zeros_like(table)
    for w in range(prime):
        for u in range(prime):
            turn = w * u % prime * behind
            result[:, w, :, turn:] += table[:, u, :, : prime * behind - turn]
            result[:, w, :, :turn] += table[:, u, :, prime * behind - turn :]
    return result


@compiled
def _shear(table: NDArray[Any], prime: int, behind: int) -> NDArray[Any]:
    """Do as `_shear_plain` does."""
    result = np.zeros_like(table)
    length = prime * behind
    for high in range(table.shape[0]):
        for w in range(prime):
            for u in range(prime):
                turn = w * u % prime * behind
                for low in range(table.shape[2]):
                    target = result[high, w, low]
                    source = table[high, u, low]
                    for s in range(length - turn):
                        target[turn + s] += source[s]
                    for s in range(turn):
                        target[s] += source[length - turn + s]
    return result


def _multiples(factor: int, prime: int, digits: int) -> Integers:
    """Return every number of that many digits with each digit multiplied by a factor, modulo the prime."""
    digit = factor * np.arange(prime, dtype=np.int64) % prime
    numbers = np.zeros(1, dtype=np.int64)
    for _ in range(digits):
        numbers = (numbers[:, None] * prime + digit).ravel()
    return numbers
