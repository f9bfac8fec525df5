"""Rows of several columns as whole steps within a public box or ball, and the exact sums of their products.

Every row becomes a vector of integers between -steps and steps, in the box as it is, in the ball with an L2 norm of at
most `steps`. The map looks at one row at a time, so rounding cannot enlarge a sensitivity. Integers beyond 2^53 are
read as the nearest floats.

Lemma (ball). With t = steps (1 - 2^-40) a row whose computed norm exceeds t is scaled by t over that norm; all rows are
then cut towards 0. Norm, factor and product have relative errors below (d + 8) 2^-53 together, and cutting only
shortens: for d <= 2^10 columns no norm exceeds t (1 + 2^-42) < steps.

Products are exact although they run in floats: integers of 38 bits are split into halves of 19 bits, products of halves
have 38 bits, and 2^14 of them add up to less than 2^53.

How far one row moves the products of its entries is what second moments are priced by. Let u be a row in the box [-1,
1]^d, or in the unit ball, with squared norm r at most B (d, or 1). The entries u_i u_j with i <= j are released, and
where the number of rows is private what is left, B - r, which gives it back.

Lemma (L1, one row). sum |u_i u_j| over i <= j is ((sum |u_i|)^2 + r) / 2 <= (d + 1) r / 2. With (d + 1) / 2 times B - r
it is at most (d + 1) B / 2: what is left costs nothing.

Lemma (L1, two rows). d (d + 1) / 2 in a box, sqrt(d (d + 3) / 2) in a ball. Proof. Put u = p + q, v = p - q; uu' - vv'
has the entries 2 (p_i q_j + q_i p_j). In a box |p_i| + |q_i| <= 1, so they add up to at most 2 sum |p_i| sum |q_i| + 2
sum |p_i q_i| <= d^2 / 2 + d / 2. In a ball count all d^2 entries, those off the diagonal by 1/2: the sum is at most the
norm of the counts, sqrt(d + d (d - 1) / 4), times Frobenius' norm, whose square is |u|^4 + |v|^4 - 2 (u'v)^2 <= 2.

Lemma (L2, ball). With the entries off the diagonal counted 7/5 < sqrt 2 times the norm is at most Frobenius': squared,
r^2 for a row, r^2 + (1 - r)^2 <= 1 with what is left, and 2 between two rows.

Lemma (L2, box). One row: (r^2 + sum u_i^4) / 2 <= (r^2 + r) / 2 and, what is left counted 7/10 times, 49/100 (d - r)^2:
convex in r, so at most d (d + 1) / 2, the value at r = d. Two rows: with e_i = 1 - 2 |p_i| the square of entry ij is at
most (1 - e_i e_j)^2, and the sum d (d + 1) / 2 - ((sum e_i)^2 + s) + (s^2 + sum e_i^4) / 2, s = sum e_i^2 <= d, is at
most d (d + 1) / 2 + s (s - 1) / 2 <= d^2.

Lemma (change-one where B - r is released). Twice the L1 norm; twice the squared L2 norm, because the inner product of
two rows' vectors is a sum of (u'v)^2, u_i^2 v_i^2 and (B - r) (B - r') with factors at or above 0.

People state where rows are clipped as bounds a column, or as a center and a radius.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ConflictingParameters, InputError, MissingParameter, ParameterError
from discreet.frames import Frame, frame_library, numbers
from discreet.laws.number import Number, positive_rational, rational_or_none, round_up
from discreet.privacy import Relation
from discreet.privacy.numbers import whole
from discreet.statistics.columns import Missing, replacement, stated_bounds

STEPS = 1 << 38
MOST_COLUMNS = 1 << 10
_HALF = float(1 << 19)
_CHUNK = 1 << 14
_FAR = 2.0**500
_WITHIN = 1.0 - 2.0**-40
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Gram:
    """How many rows there were, and the exact sums of products of their steps."""

    present: int
    products: NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class Region:
    """A box of half-widths `halves` about a center, or the ball of radius `halves[0]`."""

    center: tuple[float, ...]
    halves: tuple[float, ...]
    ball: bool
    steps: int = STEPS

    @property
    def dimension(self) -> int:
        """The number of columns."""
        return len(self.center)

    @property
    def reach(self) -> int:
        """The largest squared norm of a row, in units of steps^2."""
        return 1 if self.ball else self.dimension

    def positions(self, rows: Floats) -> Floats:
        """Return rows as whole floats; a row with a missing value keeps NaN in its place."""
        with np.errstate(all="ignore"):
            steps = (rows - np.array(self.center)) * (self.steps / np.array(self.halves))
            if not self.ball:
                return np.asarray(np.clip(np.rint(steps), -float(self.steps), float(self.steps)))
            steps = np.clip(steps, -_FAR, _FAR)
            norms = np.sqrt(np.einsum("ij,ij->i", steps, steps))
            steps *= np.fmin(1.0, self.steps * _WITHIN / norms)[:, np.newaxis]
            return np.asarray(np.trunc(steps))

    def gram(self, columns: Sequence[NDArray[Any]], fill: Sequence[float] | None) -> Gram:
        """Return the exact sums over a table; rows with a missing value are left out, or have it replaced."""
        present, products = 0, np.zeros((self.dimension, self.dimension), dtype=object)
        for begin in range(0, columns[0].size, _CHUNK):
            rows = np.column_stack([column[begin : begin + _CHUNK].astype(np.float64) for column in columns])
            if fill is not None:
                rows = np.where(np.isnan(rows), np.array(fill), rows)
            steps = self.positions(rows)
            left_out = np.isnan(rows).any(axis=1)
            steps[left_out] = 0.0
            present += len(rows) - int(np.count_nonzero(left_out))
            products = products + _products(steps)
        return Gram(present, products)


def _products(steps: Floats) -> NDArray[np.object_]:
    """Return the exact sums of products of all pairs of columns."""
    high = np.floor(steps / _HALF)
    low = steps - high * _HALF
    mixed = _whole(high.T @ low)
    half = int(_HALF)
    total: NDArray[np.object_] = half * half * _whole(high.T @ high) + half * (mixed + mixed.T) + _whole(low.T @ low)
    return total


def _whole(values: Floats) -> NDArray[np.object_]:
    """Return whole floats below 2^53 as Python integers."""
    return values.astype(np.int64).astype(object)


def table_columns(table: Any, count: int) -> list[NDArray[Any]]:
    """Return the columns of a matrix, a frame, an Arrow table, or a list of arrays or frame columns.

    Lists within a list could be rows or columns, and raise InputError.

    >>> [
    ...     column.tolist()
    ...     for column in table_columns(np.array([[1.0, 2.0], [3.0, 4.0]]), 2)
    ... ]
    [[1.0, 3.0], [2.0, 4.0]]
    """
    columns = [numbers(column) for column in _split(table)]
    if len(columns) != count:
        raise InputError("a table must have as many columns as the center or the bounds; got another number")
    if len({column.size for column in columns}) > 1:
        raise InputError("all columns of a table must have the same length; got different lengths")
    return columns


def _split(table: Any) -> list[Any]:
    """Return the columns of whatever holds a table, as they are."""
    if not isinstance(table, list | tuple):
        frame = Frame.read(table)
        return [frame.at(place) for place in range(len(frame.names))]
    if all(isinstance(column, np.ndarray) or frame_library(column) is not None for column in table):
        return list(table)
    raise InputError(
        "a list must hold arrays or frame columns, one a column; got lists, which could be rows too, write "
        "np.array(rows, dtype=float) for rows or [np.array(column, dtype=float), ...] for columns"
    )


@dataclass(frozen=True, slots=True)
class MomentWeights:
    """How often diagonal, other entries and what is left are counted, and how far neighbors then are at most."""

    diagonal: int
    other: int
    left: int
    sensitivity: int
    squared: int


def moment_weights(region: Region, relation: Relation, *, gaussian: bool, size_is_public: bool) -> MomentWeights:
    """Return weights that spend a budget well, with the L1 distance and the squared L2 distance in steps^2."""
    if size_is_public:
        return _entries_alone(region, gaussian=gaussian)
    columns = region.dimension
    twice = 1 if relation is Relation.ADD_REMOVE else 2
    if not gaussian:
        sensitivity = twice * (columns + 1) * region.reach
        return MomentWeights(2, 2, columns + 1, sensitivity, sensitivity**2)
    sensitivity = twice * 12 * columns * (columns + 1)
    if region.ball:
        return MomentWeights(5, 7, 5, sensitivity, twice * 25)
    return MomentWeights(10, 10, 7, sensitivity, twice * 50 * columns * (columns + 1))


def _entries_alone(region: Region, *, gaussian: bool) -> MomentWeights:
    """Return the weights under change-one with a public number of rows."""
    columns = region.dimension
    if gaussian:
        sensitivity = 7 * columns * (columns + 1)
        return (
            MomentWeights(5, 7, 0, sensitivity, 50) if region.ball else MomentWeights(1, 1, 0, sensitivity, columns**2)
        )
    # in units of 1/64, rounded up
    within = math.isqrt(2048 * columns * (columns + 3) - 1) + 1 if region.ball else 32 * columns * (columns + 1)
    return MomentWeights(64, 64, 0, within, within**2)


_WHOLE = 2.0**53  # beyond it floats skip integers
_OFF_CENTER = Fraction(1, 1 << 20)


def stated_region(center: Sequence[Number] | None, radius: Number | None, bounds: Any, steps: int) -> Region:
    """Return the box or the ball that was asked for; neither is ever taken from the data."""
    steps = whole(steps, name="steps")
    if steps > STEPS:
        raise ParameterError("steps must be at most 2^38; got more, write fewer", parameter="steps")
    if bounds is not None and (center is not None or radius is not None):
        raise ConflictingParameters(
            "the region must be given once; got bounds= and center= or radius=, write bounds=, or center= with radius=",
            parameter="bounds",
        )
    if bounds is None and (center is None or radius is None):
        raise MissingParameter(
            "the region to clip rows to must be public and not taken from the data; got none, write bounds=[(low, "
            "high), ...] with a pair a column, or center=[...] with radius=",
            parameter="bounds",
        )
    return _box(bounds, steps) if bounds is not None else _ball(center, radius, steps)


def _box(bounds: Any, steps: int) -> Region:
    """Return the box of the bounds; its center is a float, and its sides reach at least as far as the bounds."""
    pairs = [stated_bounds(pair, name="columns") for pair in _listed(bounds, "bounds")]
    middles = [_float((low + high) / 2, "bounds") for low, high in pairs]
    halves = [
        _upward(max(high - Fraction(middle), Fraction(middle) - low), "bounds")
        for (low, high), middle in zip(pairs, middles, strict=True)
    ]
    for (low, high), middle, half in zip(pairs, middles, halves, strict=True):
        _check_floats((low + high) / 2, middle, half, steps, "bounds")
    return Region(tuple(middles), tuple(halves), ball=False, steps=steps)


def _ball(center: Any, radius: Any, steps: int) -> Region:
    """Return the ball about a center; on a line that is a box."""
    places = [rational_or_none(place) for place in _listed(center, "center")]
    if any(place is None for place in places):
        raise ParameterError(
            "center must be a list of finite numbers, one a column; got another, write center=[...]", parameter="center"
        )
    size = _upward(positive_rational(radius, name="radius"), "radius")
    exact = [place or Fraction(0) for place in places]
    centers = tuple(_float(place, "center") for place in exact)
    for place, used in zip(exact, centers, strict=True):
        _check_floats(place, used, size, steps, "center")
    return Region(centers, (size,) * len(centers), ball=len(centers) > 1, steps=steps)


def _check_floats(center: Fraction, used: float, half: float, steps: int, name: str) -> None:
    """Refuse where the float used as a center is no center, or where integers are read to less than a step.

    An integer moved by half a step, and then by rounding to steps, stays within what the intervals allow for.
    """
    largest = abs(used) + half
    skipped = largest >= _WHOLE and math.ulp(largest) > half / steps
    if skipped or abs(Fraction(used) - center) > Fraction(half) * _OFF_CENTER:
        raise ParameterError(
            f"{name} must be near 0 for floats to be close enough to each other; got a distant one, write it and the "
            "column with a public offset subtracted",
            parameter=name,
        )


def _listed(values: Any, name: str) -> list[Any]:
    """Return a list with an entry a column."""
    entries = list(values) if isinstance(values, list | tuple | np.ndarray) else []
    if not 1 <= len(entries) <= MOST_COLUMNS:
        raise ParameterError(
            f"{name} must be a list with one entry a column, at most {MOST_COLUMNS}; got another, write {name}=[...]",
            parameter=name,
        )
    return entries


def _float(value: Fraction, name: str) -> float:
    """Return the nearest float; raise ParameterError where products of floats would overflow or underflow."""
    if not abs(value) <= 10**150 or (value and abs(value) < Fraction(1, 10**150)):
        raise ParameterError(
            f"{name} must be between 1e-150 and 1e150 in size; got another, write it in another unit", parameter=name
        )
    return float(value)


def _upward(value: Fraction, name: str) -> float:
    """Return the least float that is at least a size; raise ParameterError as `_float` does."""
    _float(value, name)
    return round_up(value)


def stated_fill(missing: Any, region: Region) -> tuple[float, ...] | None:
    """Return what replaces a missing value in each column, None where rows with one are left out."""
    if isinstance(missing, Missing):
        return None
    listed = list(missing) if isinstance(missing, list | tuple | np.ndarray) else [missing] * region.dimension
    if len(listed) != region.dimension or any(isinstance(one, Missing) for one in listed):
        raise ParameterError(
            "missing must be Missing.LEAVE_OUT, a number, or one number a column; got another, write one of these",
            parameter="missing",
        )
    fills = [replacement(one) or Fraction(0) for one in listed]
    for fill, center, half in zip(fills, region.center, region.halves, strict=True):
        if abs(fill - Fraction(center)) > Fraction(half):
            raise ParameterError(
                "missing must be within the bounds of its column, or within the radius of its center; got a number "
                "outside, write one inside, or a list with one number a column",
                parameter="missing",
            )
    return tuple(_float(fill, "missing") for fill in fills)
