"""Projective geometry response: a report is a point of a projective space, more likely on the plane of the value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.local.frequency.geometry import LARGEST, Geometry, is_prime
from discreet.local.frequency.oracle import CategoricalOracle, PureOracle
from discreet.local.protocol import Integers, checked_categories, local_epsilon, number_of_categories
from discreet.privacy.numbers import whole

LARGEST_TABLE = 1 << 26
_SLACK, _BAR, _FAR = 1.005, 1.03, 3.0
_LARGEST_PRIME = math.isqrt(LARGEST - 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class ProjectiveGeometry(CategoricalOracle, PureOracle):
    """Report a point of PG(dimension - 1, prime): one on the plane of one's value with probability p, else one off it.

    Value i stands for the point with the digits of i in base prime and a 1 on top of them, as long as i has at most
    dimension - 1 digits; the values after those stand for points 0, 1, 2, ... So value i is point
    (on_plane + i) mod points, in the numbers of `Geometry`. `best` chooses prime and dimension.

    Privacy. Pure epsilon-local privacy.
        Proof: see `FrequencyOracle`: every value prefers the points of one plane, and all planes have S = on_plane
        points out of K = points. `Geometry.place` turns a uniform number into a uniform point on the plane or off it,
        so only the
        coin is rounded, and it is rounded down.
    Accuracy. Unbiased with the variance of `PureOracle`, where r = p I / S + (1 - p) / prime and I = common. For a rare
        value in a large space that is (e^epsilon + prime - 1)^2 / (n (prime - 1) (e^epsilon - 1)^2), least where
        prime - 1 = e^epsilon: then it is `optimum`, 4 e^epsilon / (n (e^epsilon - 1)^2).
        Proof: two different planes have I points in common, so a report of another value lies on the plane of x with
        probability p I / S if it lies on its own, and (S - I) / (K - S) = prime^(t-2) / prime^(t-1) if not, whatever
        the other value. Up to rounding p = e^epsilon S / (e^epsilon S + prime^(t-1)). As t grows S / prime^(t-1) tends
        to 1 / (prime - 1) and I / S to 1 / prime, so p tends to e^epsilon / (e^epsilon + prime - 1) and r to 1 / prime;
        put these into r (1 - r) / (p - r)^2.
    Cost. Two 64-bit words and about 5 t multiplications a report; decoding takes about (t - 2) prime additions for
        each of the K points, on integers.
    Reference. Feldman, Nelson, Nguyen, Talwar 2022.

    >>> spec = ProjectiveGeometry.best(epsilon=1, categories=65536)
    >>> (
    ...     spec.prime,
    ...     spec.dimension,
    ...     spec.report_bits,
    ...     round(spec.variance(1000) / spec.optimum(1000), 3),
    ... )
    (3, 11, 17, 1.024)
    """

    protocol: ClassVar[str] = "projective-geometry"
    prime: int
    dimension: int

    def __post_init__(self) -> None:
        super().__post_init__()
        self._take(prime=self.geometry.prime, dimension=self.geometry.dimension)
        if self.category_count > self.geometry.points:
            raise ParameterError(
                f"this projective space has {self.geometry.points} points for {self.category_count} categories: take a "
                "larger dimension or prime, or let ProjectiveGeometry.best choose",
                parameter="dimension",
            )

    @classmethod
    def best(cls, *, epsilon: Number, categories: int | Sequence[str], largest: int = LARGEST_TABLE) -> Self:
        """Return the spec of least variance whose table has at most `largest` points.

        Among those within half a percent of it that stay below 1.03 times the optimum, the smallest table wins.
        """
        exact, listed, most = local_epsilon(epsilon), checked_categories(categories), whole(largest, name="largest")
        size = number_of_categories(listed)
        growth = math.exp(exact)
        found = [(_variance(growth, space), space) for space in _candidates(growth, size, min(most, LARGEST))]
        least = min((variance for variance, _ in found), default=math.inf)
        optimum = 4 * growth / math.expm1(exact) ** 2
        if least > _FAR * optimum:
            raise ParameterError(
                f"no projective space for {size} categories has at most {most} points and a variance near the optimum "
                "at this epsilon: take HybridGeometry, treat the values as keys, or raise largest=",
                parameter="categories",
            )
        enough = max(least, min(_SLACK * least, _BAR * optimum))
        chosen = min((space for variance, space in found if variance <= enough), key=lambda space: space.points)
        return cls(epsilon=exact, categories=listed, prime=chosen.prime, dimension=chosen.dimension)

    @cached_property
    def geometry(self) -> Geometry:
        """The projective space."""
        return Geometry(self.prime, self.dimension)

    @property
    def cells(self) -> int:
        """A report is a point."""
        return self.geometry.points

    @property
    def inside(self) -> int:
        """A value prefers the points on its plane."""
        return self.geometry.on_plane

    @property
    def apart(self) -> int:
        """Two planes share `common` points."""
        return self.geometry.on_plane - self.geometry.common

    @property
    def shared(self) -> Fraction:
        """A report on another plane is on this one too with probability I / S, a report off it with 1 / prime."""
        p = self.preference
        return p * Fraction(self.geometry.common, self.inside) + (1 - p) / self.prime

    def preferred(self, item: int) -> Integers:
        """Return the points on the plane of a value."""
        return self.geometry.plane(int(value_points(self.geometry, self.items([item]))[0]))

    def randomize(self, items: Integers) -> Integers:
        """Draw a point on the plane with probability p, else one off it."""
        return self.geometry.draw(value_points(self.geometry, items), self.coin)

    def support(self, counts: Integers) -> Integers:
        """Return the number of reports on the plane of every value."""
        return in_value_order(self.geometry, self.geometry.plane_sums(counts), self.category_count)


def value_points(geometry: Geometry, items: Integers) -> Integers:
    """Return the points that values stand for: those with a 1 as their top digit first."""
    return np.where(items < geometry.outside, items + geometry.on_plane, items - geometry.outside)


def in_value_order(geometry: Geometry, table: Integers, count: int) -> Integers:
    """Return the entries of the points along the last axis in the order of the values that they stand for."""
    first = table[..., geometry.on_plane : geometry.on_plane + count]
    return np.concatenate([first, table[..., : max(count - geometry.outside, 0)]], axis=-1)


def _candidates(growth: float, categories: int, largest: int) -> Iterator[Geometry]:
    """Yield the spaces of primes up to far above e^epsilon + 1, each of the least sufficient dimension."""
    for prime in range(2, min(_LARGEST_PRIME, int(8 * growth) + 16) + 1):
        if is_prime(prime):
            dimension, points = 2, prime + 1
            while points < categories:
                dimension, points = dimension + 1, points * prime + 1
            if points <= largest:
                yield Geometry(prime, dimension)


def _variance(growth: float, space: Geometry) -> float:
    """Return n times the variance of a rare value, in floats: to choose by."""
    p = growth * space.on_plane / (growth * space.on_plane + space.outside)
    r = p * space.common / space.on_plane + (1 - p) / space.prime
    return r * (1 - r) / (p - r) ** 2
