"""CORR(x, y) and REGR_SLOPE(y, x) of pairs of values clipped to public bounds, from six or five noisy sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.privacy import Price
from discreet.query.measures.measure import Additive, Estimated, Number, Released, grid_between, noise_words
from discreet.query.plan import Aggregate, Bounding, Cell, MeasureKind, Paired, RowNorms, Steps
from discreet.statistics.columns import FixedPoint

BITS = 14  # of either value: with weights and in units of one another, sums stay far below 2^90
_ALL = (-math.inf, math.inf)
_Range = tuple[float, float]


@dataclass(frozen=True)
class AssociationOfGroups(Additive):
    """CORR(x, y), or REGR_SLOPE(y, x): pairs (a, b) of places in the ranges, from -1 to 1, in sums with noise.

    Privacy. A row where both values are there adds (1, a, b, a^2 - 1/2, ab, b^2 - 1/2), of which the slope of b over a
        leaves out the last; any other row adds nothing. With |a|, |b| <= 1 the entries are at most 1, 1, 1, 1/2, 1, 1/2
        in size, and reach that together at the corners: L1 norm 5, squared L2 norm 9/2 (9/2 and 17/4 for the slope).
        Two rows differ by at most 2, 2, 1, 2, 1 in the entries behind the first, and from no row by less: 8 and 14.
    Accuracy. All sums are within a half-width at once, by the exact quantile of the noise. For centers m, n taken from
        the answer the sums of (a - m)(b - n), (a - m)^2, (b - n)^2 are linear in them, so their errors are bounded by
        their coefficients, whatever the centers; moving the centers to the true means takes off at most the products of
        what is left of the sums of a - m and b - n, over the least size. The interval is what these ranges leave
        possible: all of -1 to 1, or of the line, where nothing is known. It is for the rows as they were weighted,
        clipped and rounded, each value to one of 2^14 to 2^15 steps or to a whole number.
    """

    asked: tuple[Aggregate, ...]
    bounding: Bounding
    norms: RowNorms
    cells: tuple[Cell, ...]  # pairs, both values in steps, their squares and their product
    scales: tuple[FixedPoint, FixedPoint]
    slope: float | None  # what a slope of 1 between places is in the unit of y over that of x; None for CORR

    @property
    def entries(self) -> int:
        """How many integers are released for a group."""
        return 6 if self.slope is None else 5

    def vectors(self, sums: Sequence[Sequence[int]]) -> list[list[int]]:
        """Return the sums over places a = 2 u / s - 1 and b = 2 v / t - 1, in units of 1 / (2 s^2 t^2) and weights."""
        s, t = (scale.steps for scale in self.scales)
        found: list[list[int]] = [[] for _ in range(6)]
        for there, u, v, uu, vv, uv in zip(*(map(int, one) for one in sums), strict=True):
            a, b = 2 * u - s * there, 2 * v - t * there
            aa, bb = 4 * uu - 4 * s * u + s * s * there, 4 * vv - 4 * t * v + t * t * there
            ab = 4 * uv - 2 * t * u - 2 * s * v + s * t * there
            found[0].append(2 * s * s * t * t * there)
            found[1].append(2 * s * t * t * a)
            found[2].append(2 * s * s * t * b)
            found[3].append(t * t * (2 * aa - s * s * there))
            found[4].append(2 * s * t * ab)
            found[5].append(s * s * (2 * bb - t * t * there))
        return found[: self.entries]

    @property
    def _one(self) -> int:
        """What 1 is among the released integers."""
        return _unit(self.scales) * self.bounding.unit

    def values(self, released: Released) -> list[list[Number]]:
        """Return the correlation, or the slope, of every group; 0 where the noisy sums have no spread."""
        return [[_Centered(group, self.slope).value for group in zip(*released, strict=True)]]

    def estimates(self, released: Released, part: Price, confidence: float) -> list[list[Estimated]]:
        """Return intervals from what the sums leave possible."""
        width = self.noise(part).error(confidence, count=self.entries)
        found: list[Estimated] = []
        for group in zip(*released, strict=True):
            centered = _Centered(group, self.slope)
            found.append((centered.value, *centered.ends(width)))
        return [found]

    def words(self, part: Price) -> str:
        """Say what is released."""
        words = noise_words(self.noise(part).noise, Fraction(1, self._one))
        number, of = ("six", "correlation") if self.slope is None else ("five", "slope")
        return f"{number} sums of products, for a {of}, with {words}"


class _Centered:
    """Noisy sums of a group about centers taken from themselves."""

    def __init__(self, group: Sequence[int], slope: float | None) -> None:
        size, a, b, aa, ab, *rest = (int(one) for one in group)
        self.size, self.slope = size, slope
        one, two = (min(max(Fraction(total, size), Fraction(-1)), Fraction(1)) if size > 0 else Fraction(0)
                    for total in (a, b))  # fmt: skip
        self.centers = one, two
        self.left = a - one * size, b - two * size  # nothing, unless a center was brought back to the range
        self.product = ab - one * b - two * a + one * two * size
        self.squares = [aa + Fraction(size, 2) - 2 * one * a + one**2 * size]
        self.squares += [bb + Fraction(size, 2) - 2 * two * b + two**2 * size for bb in rest]

    @property
    def value(self) -> float:
        """The correlation, or the slope, of the noisy sums."""
        if self.size <= 0 or min(self.squares) <= 0:
            return 0.0
        return self._at(self.product, *self.squares)

    def _at(self, product: Fraction, *squares: Fraction) -> float:
        """Return the answer for sums about the means."""
        if self.slope is not None:
            return float(product / squares[0]) * self.slope
        # floats hold a ratio of large integers where they do not hold the integers
        share = float(product * abs(product) / (squares[0] * squares[1]))
        return min(max(math.copysign(math.sqrt(abs(share)), share), -1.0), 1.0)

    def ends(self, width: int) -> _Range:
        """Return the least and the greatest answer that sums within a half-width of the noisy ones have."""
        least = self.size - width
        if least <= 0:
            return self._anything
        (m, n), (first, second) = self.centers, self.left
        apart = abs(first) + width * (1 + abs(m)), abs(second) + width * (1 + abs(n))
        error = width * (1 + abs(m) + abs(n) + abs(m * n)) + apart[0] * apart[1] / least
        low, high = self.product - error, self.product + error
        spreads = []
        for square, center, far in zip(self.squares, self.centers, apart, strict=False):
            off = width * (Fraction(3, 2) + 2 * abs(center) + center**2)
            spreads.append((square - off - far**2 / least, square + off))
        return self._outward(low, high, spreads)

    def _outward(self, low: Fraction, high: Fraction, spreads: Sequence[tuple[Fraction, Fraction]]) -> _Range:
        """Return the range of the answer over ranges of the product and of the squares."""
        smallest, largest = [one for one, _ in spreads], [two for _, two in spreads]
        if min(largest) <= 0:
            return self._anything
        everything = self._anything
        bottom, top = everything
        if low > 0 or min(smallest) > 0:
            bottom = self._at(low, *(largest if low > 0 else smallest))
        if high < 0 or min(smallest) > 0:
            top = self._at(high, *(largest if high < 0 else smallest))
        room = 1e-12 * max(abs(bottom), abs(top), 1.0)  # more than these few operations on floats are off
        ends = sorted((bottom - room, top + room))
        return max(everything[0], min(ends[0], self.value)), min(everything[1], max(ends[1], self.value))

    @property
    def _anything(self) -> _Range:
        return (-1.0, 1.0) if self.slope is None else _ALL


def association(asked: Aggregate, bounding: Bounding) -> AssociationOfGroups:
    """Return the measure of CORR(x, y), or of REGR_SLOPE(y, x), whose first argument is y."""
    if asked.argument is None or asked.second is None or asked.bounds is None or asked.second_bounds is None:
        raise AssertionError("an association has two arguments, each with bounds")
    pairs = [(asked.argument, asked.bounds), (asked.second, asked.second_bounds)]
    if asked.kind is MeasureKind.SLOPE:
        pairs.reverse()
    scales = tuple(grid_between(bounds, argument, bits=BITS) for argument, bounds in pairs)
    slope: float | None = None
    if asked.kind is MeasureKind.SLOPE:
        slope = float(scales[1].steps * scales[1].grid / (scales[0].steps * scales[0].grid))
    one, two = (Steps(argument, scale) for (argument, _), scale in zip(pairs, scales, strict=True))
    cells = tuple(Paired(one, two, powers) for powers in ((0, 0), (1, 0), (0, 1), (2, 0), (0, 2), (1, 1)))
    unit = _unit(scales)
    halves = 10 if slope is None else 9  # L1 norm, in halves of the unit
    quarters = 18 if slope is None else 17  # squared L2 norm, in quarters of its square
    norms = RowNorms(
        one=halves * unit // 2,
        squared=quarters * unit**2 // 4,
        apart=8 * unit,
        apart_squared=14 * unit**2,
        nonnegative=False,
    )
    return AssociationOfGroups((asked,), bounding, norms, cells, (scales[0], scales[1]), slope)


def _unit(scales: Sequence[FixedPoint]) -> int:
    """Return what 1 is among the integers of rows of full weight: even, so that its half is whole."""
    return int(2 * scales[0].steps ** 2 * scales[1].steps ** 2)
