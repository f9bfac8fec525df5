"""What a column of an answer is in terms of the noise: known, a weighted sum, a ratio of two such sums, or samples.

A weighted sum keeps for every row the weights of all released integers in it, so that a total and its parts, which hold
the same noise, are not taken for independent. What was chosen in view of the answer (a row by HAVING, a branch by CASE,
a neighbor by LAG) counts as chosen beforehand, as for the intervals of the aggregates themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.query.expression import Value

Floats = NDArray[np.float64]
Matrix = Any  # scipy's sparse rows
End = float | None
Ends = list[tuple[End, End]]


@dataclass(frozen=True)
class KnownColumn:
    """A column without noise: keys, constants, and what is computed from them."""

    values: Sequence[Value]

    @cached_property
    def numbers(self) -> Floats:
        """The values as numbers; NaN for NULL and for what is no number."""
        return numbers(self.values)


@dataclass(frozen=True)
class WeightedColumn:
    """A column of released numbers, each a constant and a weighted sum of released integers: their noise is its own."""

    numbers: Floats
    weights: Matrix  # a row for each row of the answer, a column for each released integer


@dataclass(frozen=True)
class RatioColumn:
    """A column of quotients of weighted sums; `within` are ends that the true value has for public reasons."""

    above: WeightedColumn
    below: WeightedColumn
    within: tuple[Floats, Floats] | None = None

    @property
    def numbers(self) -> Floats:
        """The quotients."""
        with np.errstate(all="ignore"):
            return np.where(self.below.numbers == 0, np.nan, self.above.numbers / self.below.numbers)


@dataclass(frozen=True)
class SampledColumn:
    """A column of anything else, as samples of what it may truly be: made when an interval is asked for.

    `known_ends` are ends that follow from those of what it is computed from; `folds` says that samples would not do,
    because something in it may turn around within its interval. `reads` tells which released integers are in each row.
    """

    make: Callable[[], Floats | None]
    known_ends: Callable[[float], Ends] | None = None
    folds: bool = False
    reads: Matrix | None = None  # None: any

    @cached_property
    def samples(self) -> Floats | None:
        """One row a sample, one column a row of the answer; None where there would be too many."""
        return self.make()


Form = KnownColumn | WeightedColumn | RatioColumn | SampledColumn


def numbers(values: Sequence[Value]) -> Floats:
    """Return values as floats: NaN for NULL and for what is no number."""
    found = [float(one) if isinstance(one, int | float) and not isinstance(one, bool) else np.nan for one in values]
    return np.array(found, dtype=np.float64)


def empty(rows: int, atoms: int) -> Matrix:
    """Return the weights of columns without noise."""
    from scipy.sparse import csr_matrix

    return csr_matrix((rows, atoms))


def diagonal(factors: Floats) -> Matrix:
    """Return a matrix that multiplies rows by factors; where one is no number, by 0."""
    from scipy.sparse import diags

    return diags(np.where(np.isfinite(factors), factors, 0.0)).tocsr()


def taken(form: Form | None, places: Sequence[int | None]) -> Form | None:
    """Return a column with rows at other places; NULL where a place is None."""
    if form is None:
        return None
    if isinstance(form, KnownColumn):
        return KnownColumn([None if place is None else form.values[place] for place in places])
    if isinstance(form, RatioColumn):
        above, below = _rows(form.above, places), _rows(form.below, places)
        within = None if form.within is None else (_numbers(form.within[0], places), _numbers(form.within[1], places))
        return RatioColumn(above, below, within)
    if isinstance(form, WeightedColumn):
        return _rows(form, places)
    known = form.known_ends
    ends = None if known is None else lambda rest: _ends(known(rest), places)
    read = None if form.reads is None else _matrix_rows(form.reads, places)
    return SampledColumn(lambda: _samples(form.samples, places), ends, form.folds, read)


def _numbers(values: Floats, places: Sequence[int | None]) -> Floats:
    return np.array([np.nan if place is None else values[place] for place in places], dtype=np.float64)


def _ends(ends: Ends, places: Sequence[int | None]) -> Ends:
    return [(None, None) if place is None else ends[place] for place in places]


def _rows(form: WeightedColumn, places: Sequence[int | None]) -> WeightedColumn:
    return WeightedColumn(_numbers(form.numbers, places), _matrix_rows(form.weights, places))


def _matrix_rows(matrix: Matrix, places: Sequence[int | None]) -> Matrix:
    there = np.array([float(place is not None) for place in places])
    found = matrix[[0 if place is None else place for place in places]] if matrix.shape[0] else matrix
    return found if there.all() else diagonal(there) @ found


def _samples(samples: Floats | None, places: Sequence[int | None]) -> Floats | None:
    if samples is None:
        return None
    columns = [np.full(len(samples), np.nan) if place is None else samples[:, place] for place in places]
    return np.stack(columns, axis=1) if columns else np.empty((len(samples), 0))


def read_by(forms: Sequence[Form | None]) -> Matrix | None:
    """Return how many of these columns hold each released integer, in each row; None where that is not known."""
    found = None
    for form in forms:
        if isinstance(form, KnownColumn):
            continue
        if isinstance(form, RatioColumn):
            own = (abs(form.above.weights) + abs(form.below.weights)) > 0
        elif isinstance(form, WeightedColumn):
            own = abs(form.weights) > 0
        else:
            own = None if form is None or form.reads is None else form.reads > 0
        if own is None:
            return None
        found = own.astype(np.int64) if found is None else found + own.astype(np.int64)
    return found


def weighted(form: Form | None, atoms: int) -> WeightedColumn | None:
    """Return a column without noise, or with weights, as a weighted sum."""
    if isinstance(form, KnownColumn):
        return WeightedColumn(form.numbers, empty(len(form.values), atoms))
    return form if isinstance(form, WeightedColumn) else None


def added(one: Form, two: Form, sign: float, atoms: int) -> Form | None:
    """Return a sum, or a difference where the sign is -1; None where it is neither a weighted sum nor a ratio."""
    first, second = weighted(one, atoms), weighted(two, atoms)
    if first is not None and second is not None:
        return WeightedColumn(first.numbers + sign * second.numbers, first.weights + sign * second.weights)
    if isinstance(one, RatioColumn) and isinstance(two, KnownColumn):
        return _shifted(one, sign * two.numbers)
    if isinstance(two, RatioColumn) and isinstance(one, KnownColumn):
        turned = scaled(two, np.full(len(two.numbers), sign))
        return _shifted(turned, one.numbers) if isinstance(turned, RatioColumn) else None
    if isinstance(one, RatioColumn) and isinstance(two, RatioColumn) and _same(one.below, two.below):
        above = added(one.above, two.above, sign, atoms)
        return RatioColumn(above, one.below) if isinstance(above, WeightedColumn) else None
    return None


def _same(one: WeightedColumn, two: WeightedColumn) -> bool:
    """Whether two weighted sums are one and the same."""
    equal = one.weights is two.weights or (one.weights - two.weights).nnz == 0
    return equal and np.array_equal(one.numbers, two.numbers, equal_nan=True)


def _shifted(ratio: RatioColumn, by: Floats) -> RatioColumn:
    below = ratio.below
    above = WeightedColumn(
        ratio.above.numbers + by * below.numbers, (ratio.above.weights + diagonal(by) @ below.weights).tocsr()
    )
    within = None if ratio.within is None else (ratio.within[0] + by, ratio.within[1] + by)
    return RatioColumn(above, below, within)


def scaled(form: WeightedColumn | RatioColumn, by: Floats) -> WeightedColumn | RatioColumn:
    """Return a column times numbers without noise."""
    if isinstance(form, WeightedColumn):
        return WeightedColumn(form.numbers * by, (diagonal(by) @ form.weights).tocsr())
    above = WeightedColumn(form.above.numbers * by, (diagonal(by) @ form.above.weights).tocsr())
    within = None
    if form.within is not None:
        ends = np.stack([form.within[0] * by, form.within[1] * by])
        within = (ends.min(axis=0), ends.max(axis=0))
    return RatioColumn(above, form.below, within)


def multiplied(one: Form, two: Form) -> Form | None:
    """Return a product with a column without noise."""
    for first, second in ((one, two), (two, one)):
        if isinstance(second, KnownColumn) and isinstance(first, WeightedColumn | RatioColumn):
            return scaled(first, second.numbers)
    return None


def divided(one: Form, two: Form, atoms: int) -> Form | None:
    """Return a quotient of weighted sums, or of ratios with one and the same denominator."""
    if isinstance(two, KnownColumn):
        with np.errstate(all="ignore"):
            inverse = np.where(two.numbers == 0, np.nan, 1.0 / two.numbers)
        return scaled(one, inverse) if isinstance(one, WeightedColumn | RatioColumn) else None
    first = weighted(one, atoms)
    if first is not None and isinstance(two, WeightedColumn):
        return RatioColumn(first, two)
    if isinstance(one, KnownColumn) and isinstance(two, RatioColumn):
        above = scaled(two.below, one.numbers)
        return RatioColumn(above, two.above) if isinstance(above, WeightedColumn) else None
    if isinstance(one, RatioColumn) and isinstance(two, RatioColumn) and _same(one.below, two.below):
        return RatioColumn(one.above, two.above)
    return None


def chosen(branches: Sequence[tuple[NDArray[np.bool_], Form | None]], rows: int, atoms: int) -> Form | None:
    """Return a column that takes each row from one of several columns; NULL where it takes none."""
    forms = [form for _, form in branches]
    if any(form is None for form in forms):
        return None
    if any(isinstance(form, SampledColumn) for form in forms):
        return None
    if any(isinstance(form, RatioColumn) for form in forms):
        one = KnownColumn([1.0] * rows)
        aboves = [(mask, form.above if isinstance(form, RatioColumn) else form) for mask, form in branches]
        belows = [(mask, form.below if isinstance(form, RatioColumn) else one) for mask, form in branches]
        above, below = chosen(aboves, rows, atoms), chosen(belows, rows, atoms)
        first, second = weighted(above, atoms), weighted(below, atoms)
        return None if first is None or second is None else RatioColumn(first, second)
    values, weights = np.full(rows, np.nan), empty(rows, atoms)
    for mask, form in branches:
        part = weighted(form, atoms)
        if part is None:
            return None
        values = np.where(mask, part.numbers, values)
        weights = weights + diagonal(mask.astype(np.float64)) @ part.weights
    return WeightedColumn(values, weights.tocsr())
