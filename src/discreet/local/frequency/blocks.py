"""Projective geometry response in blocks: smaller tables for large domains, at a few percent of variance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, NamedTuple, Self

import numpy as np

from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.local.estimates import BlockChances, BlockSupport, Frequencies, Support
from discreet.local.frequency.geometry import LARGEST, Geometry, is_prime
from discreet.local.frequency.oracle import CategoricalOracle
from discreet.local.frequency.projective import in_value_order, value_points
from discreet.local.protocol import (
    Floats,
    Integers,
    checked_categories,
    checked_histogram,
    frequency_of_people,
    is_integer,
    local_epsilon,
    number_of_categories,
    number_of_people,
    toss,
)
from discreet.privacy.numbers import whole
from discreet.randomness import uniform_below_array

LARGEST_TABLE = 1 << 24
_SLACK, _BAR, _FAR = 1.02, 1.06, 3.0
_BLOCK = 1 << 13


class Holder(NamedTuple):
    """Where the report of a person falls, seen from a value x: on the plane of x, and anywhere in the block of x."""

    plane: Fraction
    block: Fraction


@dataclass(frozen=True, kw_only=True, eq=False)
class HybridGeometry(CategoricalOracle):
    """Split the values over blocks, each with a projective space of its own; prefer one plane of one's own block.

    Value i lies in block i mod B and stands there for the point of value i // B of `ProjectiveGeometry`. A report is
    block * K + point. `best` chooses blocks, prime and dimension.

    Privacy. Pure epsilon-local privacy.
        Proof: see `FrequencyOracle`: every value prefers S = on_plane reports out of B K; a report off the plane is a
        uniform number below B K - S, read as a point off the plane in the own block or as any point of another block.
    Accuracy. Let C be the part of the reports on the plane of x, N the part of the reports in its block, I = common,
        and l > u the probabilities of one preferred and of one other report. Then (C - (I / S) N - o) / ((S - I) (l -
        u))
        with o = u (S - K I / S) is unbiased for the frequency f of x. Its variance is f v_x + (F - f) v_s + (1 - F) v_o
        over n, where F is the frequency whose value lies in the block of x, and v_x, v_s, v_o are the
        variances of the weight of one report of a person with x, with another value of the block, with any other.
        For a rare value and equal blocks that is about (e^epsilon - 1 + B prime)^2 / (n B prime (e^epsilon - 1)^2
        (1 - 1 / prime)); with B prime near e^epsilon, about prime / (prime - 1) times `optimum`.
        Proof: a report of a person with x, with another value of the block, with any other lies on the plane of x with
        probability S l, I l + (S - I) u, S u, and in the block with S l + (K - S) u twice, and K u. So the mean of
        1[plane] - (I / S) 1[block] is o for the others; for another value of the block it is I l + (S - I) u - I l -
        (I / S) (K - S) u = o as well; for x it is o + (S - I) (l - u). Reports are independent, and there are n f,
        n (F - f) and n (1 - F) of the three kinds. The weight is a bounded variable with three values, so its variance
        is exact; the approximation puts S / K, I / S near 1 / prime.
    Cost. As `ProjectiveGeometry`, with B times K points.
    Reference. Feldman, Nelson, Nguyen, Talwar 2022, whose hybrid form has blocks as well.

    >>> spec = HybridGeometry.best(epsilon=5, categories=3_300_000)
    >>> (
    ...     spec.blocks,
    ...     spec.prime,
    ...     spec.dimension,
    ...     spec.cells,
    ...     round(spec.variance(1000) / spec.optimum(1000), 3),
    ... )
    (4, 31, 5, 3817220, 1.034)
    """

    protocol: ClassVar[str] = "hybrid-geometry"
    blocks: int
    prime: int
    dimension: int

    def __post_init__(self) -> None:
        super().__post_init__()
        self._take(prime=self.geometry.prime, dimension=self.geometry.dimension)
        if not is_integer(self.blocks) or not 2 <= self.blocks <= LARGEST:
            raise ParameterError("blocks must be an int from 2 to 2^30; one is ProjectiveGeometry", parameter="blocks")
        self._take(blocks=int(self.blocks))
        if not self.category_count <= self.cells <= LARGEST:
            raise ParameterError(
                f"{self.blocks} blocks of {self.geometry.points} points must hold {self.category_count} categories "
                "in at most 2^30 cells: let HybridGeometry.best choose",
                parameter="blocks",
            )

    @classmethod
    def best(cls, *, epsilon: Number, categories: int | Sequence[str], largest: int = LARGEST_TABLE) -> Self:
        """Return a spec with at most `largest` cells, of a variance within two percent of the least there is.

        Among those, and below 1.06 times the optimum where that can be had, the product of cells and blocks decides: a
        small table, and few blocks, because one that many people fall into is the worse the more blocks there are
        (`worst_variance`).
        """
        exact, listed, most = local_epsilon(epsilon), checked_categories(categories), whole(largest, name="largest")
        size = number_of_categories(listed)
        growth = math.exp(exact)
        found = [
            (_variance(growth, blocks, space), blocks, space)
            for blocks, space in _candidates(growth, size, min(most, LARGEST))
        ]
        least = min((variance for variance, _, _ in found), default=math.inf)
        optimum = 4 * growth / math.expm1(exact) ** 2
        if least > _FAR * optimum:
            raise ParameterError(
                f"no blocks of projective spaces hold {size} categories in at most {most} cells with a variance near "
                "the optimum at this epsilon: treat the values as keys, or raise largest=",
                parameter="categories",
            )
        enough = max(least, min(_SLACK * least, _BAR * optimum))
        _, blocks, space = min(
            (choice for choice in found if choice[0] <= enough),
            key=lambda choice: (choice[1] ** 2 * choice[2].points, choice[0]),
        )
        chosen = {"blocks": blocks, "prime": space.prime, "dimension": space.dimension}
        return cls(epsilon=exact, categories=listed, **chosen)

    @cached_property
    def geometry(self) -> Geometry:
        """The projective space of a block."""
        return Geometry(self.prime, self.dimension)

    @property
    def cells(self) -> int:
        """A report is a point of a block."""
        return self.blocks * self.geometry.points

    @property
    def inside(self) -> int:
        """A value prefers the points on its plane, in its block."""
        return self.geometry.on_plane

    @property
    def apart(self) -> int:
        """Values of different blocks share no preferred report."""
        return self.inside

    def preferred(self, item: int) -> Integers:
        """Return the reports on the plane of a value."""
        value = int(self.items([item])[0])
        point = int(value_points(self.geometry, np.array([value // self.blocks]))[0])
        return value % self.blocks * self.geometry.points + self.geometry.plane(point)

    def randomize(self, items: Integers) -> Integers:
        """Draw a report on the plane with probability p, else any other."""
        reports = np.empty(items.size, dtype=np.int64)
        for start in range(0, items.size, _BLOCK):
            reports[start : start + _BLOCK] = self._draw(items[start : start + _BLOCK])
        return reports

    def _draw(self, items: Integers) -> Integers:
        """Draw reports: the numbers below K - S stand for the points off the plane, the rest for the other blocks."""
        space = self.geometry
        preferred = toss(self.coin, items.size)
        free, again = np.empty(items.size, dtype=np.int64), np.flatnonzero(preferred)
        free[~preferred] = uniform_below_array(self.cells - self.inside, items.size - again.size)
        while again.size:
            free[again] = uniform_below_array(space.outside, again.size)
            again = again[free[again] == 0]
        blocks, numbers = items % self.blocks, items // self.blocks
        own = free < space.outside
        reports = np.empty(items.size, dtype=np.int64)
        points = value_points(space, numbers[own])
        reports[own] = blocks[own] * space.points + space.place(points, ~preferred[own], free[own])
        elsewhere = free[~own] - space.outside
        reports[~own] = elsewhere + space.points * (elsewhere >= blocks[~own] * space.points)
        return reports

    @property
    def holders(self) -> tuple[Holder, Holder, Holder]:
        """Where the reports of people with x, with another value of its block, and with any other value fall."""
        space, likely, unlikely = self.geometry, self.likely, self.unlikely
        block = space.on_plane * likely + space.outside * unlikely
        return (
            Holder(self.preference, block),
            Holder(space.common * likely + (space.on_plane - space.common) * unlikely, block),
            Holder(space.on_plane * unlikely, space.points * unlikely),
        )

    @property
    def weights(self) -> tuple[Fraction, Fraction, Fraction]:
        """What a report adds to n f: on the plane of x, elsewhere in its block, anywhere else."""
        space = self.geometry
        scale = 1 / ((space.on_plane - space.common) * (self.likely - self.unlikely))
        overlap = Fraction(space.common, space.on_plane)
        rest = -scale * self.unlikely * (space.on_plane - space.points * overlap)
        return scale * (1 - overlap) + rest, rest - scale * overlap, rest

    @cached_property
    def _variances(self) -> tuple[Fraction, Fraction, Fraction]:
        """The variance of the weight of one report, for the three kinds of people."""
        on_plane, in_block, rest = self.weights
        top, low = on_plane - rest, in_block - rest
        found = []
        for plane, block in self.holders:
            mean = plane * top + (block - plane) * low
            found.append(plane * top**2 + (block - plane) * low**2 - mean**2)
        return found[0], found[1], found[2]

    def estimate(self, counts: Integers, people: int) -> Frequencies:
        """Estimate the frequency of every value; standard errors use the estimates of value and block."""
        table = checked_histogram(counts, self.cells, people).reshape(self.blocks, self.geometry.points)
        total, each = max(people, 1), -(-self.category_count // self.blocks)
        on_plane, in_block, rest = (float(weight) for weight in self.weights)
        in_blocks = table.sum(axis=1, keepdims=True)
        planes = in_value_order(self.geometry, self.geometry.plane_sums(table), each)
        frequencies = (on_plane - in_block) * (planes / total) + (in_block - rest) * (in_blocks / total) + rest
        same, other = self.holders[1:]
        around_blocks = (in_blocks / total - float(other.block)) / float(same.block - other.block)
        held = np.clip(frequencies, 0.0, 1.0)
        around = np.maximum(np.clip(around_blocks, 0.0, 1.0), held)
        own, near, far = (float(variance) for variance in self._variances)
        variances = (held * own + (around - held) * near + (1 - around) * far) / total
        raw, errors, on_planes = (
            np.ascontiguousarray(part.T).ravel()[: self.category_count]
            for part in (frequencies, np.sqrt(variances), planes)
        )
        support = self._support(on_planes, in_blocks.ravel(), int(people), raw)
        return Frequencies(self, people, raw, errors, self.labels, support)

    def _support(self, planes: Integers, in_blocks: Integers, people: int, raw: Floats) -> Support | BlockSupport:
        """Return the law of the reports on a plane: exact for spaces of points only, else out of those in the block.

        Planes of PG(1, prime) are points, so that two of them share none: then a report of anybody else lies on the
        plane of x with the same probability S u, whichever block it comes from.
        """
        own, near, far = self.holders
        if self.geometry.common == 0:
            return Support(planes, people, self.preference, far.plane)
        chances = BlockChances(own.plane, own.block, far.block, near.plane / near.block, far.plane / far.block)
        return BlockSupport(planes, in_blocks, people, chances, raw)

    def variance(self, people: int, frequency: float = 0.0, block: float | None = None) -> float:
        """Return the exact variance for a value of this frequency in a block of the frequency `block`.

        Without `block` the people with other values are taken to be spread evenly over the blocks.
        """
        held, count = frequency_of_people(frequency), number_of_people(people)
        around = held + (1 - held) / self.blocks if block is None else frequency_of_people(block)
        if not 0 <= held <= around <= 1:
            raise ParameterError(
                "frequency must be at least 0 and at most that of the block; block must be at most 1", parameter="block"
            )
        own, near, far = self._variances
        return float((held * own + (around - held) * near + (1 - around) * far) / count)

    def worst_variance(self, people: int, frequency: float = 0.0) -> float:
        """Return the largest variance over all frequencies of the block: it is linear in that frequency."""
        return max(self.variance(people, frequency, frequency), self.variance(people, frequency, 1.0))

    def _gain(self) -> float:
        """Return the weight of a report on the plane."""
        return float(self.weights[0])


def _candidates(growth: float, categories: int, largest: int) -> Iterator[tuple[int, Geometry]]:
    """Yield for every prime and dimension the fewest blocks that hold the categories, and those next to the optimum."""
    for prime in (number for number in range(2, min(1 << 14, int(2 * growth) + 4)) if is_prime(number)):
        dimension, points, ideal = 2, prime + 1, int((growth + 1) / prime)
        while 2 * points <= largest:
            fewest = max(2, -(-categories // points))
            for blocks in {fewest, max(fewest, ideal), max(fewest, ideal + 1)}:
                if blocks * points <= largest:
                    yield blocks, Geometry(prime, dimension)
            dimension, points = dimension + 1, points * prime + 1


def _variance(growth: float, blocks: int, space: Geometry) -> float:
    """Return n times the variance of a rare value with equal blocks, in floats: to choose by."""
    inside, common, points = space.on_plane, space.common, space.points
    unlikely = 1 / (growth * inside + blocks * points - inside)
    likely, overlap = growth * unlikely, common / inside
    near = common * likely + (inside - common) * unlikely, inside * likely + space.outside * unlikely
    far = inside * unlikely, points * unlikely
    spreads = [
        plane * (1 - overlap) ** 2 + (block - plane) * overlap**2 - (plane - overlap * block) ** 2
        for plane, block in (near, far)
    ]
    scale = 1 / ((inside - common) * (likely - unlikely))
    return scale**2 * (spreads[0] + (blocks - 1) * spreads[1]) / blocks
