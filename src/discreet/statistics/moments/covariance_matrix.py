"""Second moments of several columns about a public center: the covariance where the center is the mean.

The answer is a noisy matrix with intervals that hold for all entries at once, and what it cost.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from discreet.display import Table, definition_list
from discreet.errors import InputError, ParameterError
from discreet.laws.noise import IntegerNoise
from discreet.laws.number import Number
from discreet.mechanisms.noise import GaussianNoise
from discreet.privacy import Estimate, Guarantee, PrivacyLoss, PureDP, Relation, Target
from discreet.statistics.columns import Missing
from discreet.statistics.measurement import Products
from discreet.statistics.moments.gram import STEPS, moment_weights, stated_fill, stated_region, table_columns
from discreet.statistics.options import CovarianceOptions, TableOptions, named_after
from discreet.statistics.pricing import NoisyVector, combination_quantile, expected_rows, priced_noise
from discreet.statistics.statistic import Statistic, Tables, known_rows


class Covariance(Statistic):
    """The mean of (x - c) (x - c)' over rows x clipped to a ball about the public center c, or to a box.

    With `bounds=` each column is clipped to its own and measured in half their distance, which suits columns of
    different units, and c is the float nearest to their middle; with `center=` and `radius=` whole rows are pulled to
    the ball. Rows with a missing value are left out unless `missing=` replaces it. Where the number of rows is private
    it is released too, at no further price. One row a person.

    Privacy. In units in which the box is [-1, 1]^d or the ball has radius 1, let r be the squared norm of a row u and B
        the largest, d or 1. The entries u_i u_j with i <= j and (d + 1) / 2 times B - r are released: epsilon-DP for
        noise of scale (d + 1) B / (2 epsilon) under add/remove, twice that under change-one. With a public number of
        rows only the entries are, for noise of scale d (d + 1) / (2 epsilon) in a box and sqrt(d (d + 3) / 2) / epsilon
        in a ball. Gaussian noise is scaled to the L2 distances that `moment_weights` proves.
        Proof: the lemmas of `moment_weights`. For one row, sum |u_i u_j| over i <= j is ((sum |u_i|)^2 + r) / 2, which
        is at most (d + 1) r / 2, and the rest adds (d + 1) (B - r) / 2. About a private mean this would not hold: one
        row would move all others. Here the center is public.
    Accuracy. All entries are within the exact joint quantile of the noise; where the number of rows is noisy, it is
        enclosed with a tenth of the error allowed, and each interval is the widest ratio.
    Cost. One pass and one matrix product in halves of integers; d (d + 1) / 2 draws and one.
    Figure. covariance-error.svg
    Reference. Dwork, Talwar, Thakurta, Zhang 2014.

    >>> rows = np.array([[1.0, 2.0], [3.0, 2.0]] * 5000)
    >>> moments = Covariance(
    ...     bounds=[(0, 4), (0, 4)], relation=Relation.ADD_REMOVE, rho=1
    ... )(rows)
    >>> bool(np.abs(moments.value - [[1, 0], [0, 0]]).max() < 0.05)
    True
    """

    mechanism: NoisyVector

    def __init__(
        self,
        *,
        center: Sequence[Number] | None = None,
        radius: Number | None = None,
        bounds: Any = None,
        rows_expected: int | None = None,
        missing: Missing | Number | Sequence[Number] = Missing.LEAVE_OUT,
        steps: int = STEPS,
        **options: Unpack[TableOptions],
    ) -> None:
        super().__init__(**options)
        self.region = stated_region(center, radius, bounds, steps)
        self._fill = stated_fill(missing, self.region)
        self._rows_expected = expected_rows(rows_expected, self.price, of="second moment")
        price = self.price
        gaussian = price.is_gaussian
        self._weights = moment_weights(
            self.region, self.relation, gaussian=gaussian, size_is_public=self.size_is_public
        )
        self.mechanism = priced_noise(
            price,
            sensitivity=self._weights.sensitivity * steps**2,
            squared=self._weights.squared * steps**4,
            relation=self.relation,
            width=self._predicted,
        )

    @property
    def size_is_public(self) -> bool:
        """Whether the number of rows is the same for all neighbors."""
        return self.relation is Relation.CHANGE_ONE and self._fill is not None

    def public_rows(self, value: Any) -> int | None:
        """Return the number of rows where it is public."""
        return int(table_columns(value, self.region.dimension)[0].size) if self.size_is_public else None

    def measure(self, value: Any) -> NDArray[np.object_]:
        """Return the exact weighted sums: the entries on and above the diagonal, row by row, and what is left."""
        gram = self.region.gram(table_columns(value, self.region.dimension), self._fill)
        if self.size_is_public and not gram.present:
            raise InputError("a table must have at least one row under change-one; got none, write another table")
        sums = gram.products[np.triu_indices(self.region.dimension)] * self._counts
        if self.size_is_public:
            return np.asarray(sums)
        left = self.region.reach * self.region.steps**2 * gram.present - int(np.trace(gram.products))
        return np.append(sums, [left * self._weights.left])

    @property
    def _counts(self) -> NDArray[np.object_]:
        """How often each entry on and above the diagonal is counted."""
        return np.where(self._on_diagonal, self._weights.diagonal, self._weights.other).astype(object)

    @property
    def _on_diagonal(self) -> NDArray[np.bool_]:
        """Which of the entries on and above the diagonal are on it."""
        first, second = np.triu_indices(self.region.dimension)
        return np.equal(first, second)

    def estimate(self, released: Any, *, public_rows: int | None) -> MatrixEstimate:
        """Return the noisy second moments with their intervals."""
        unit = float(self.region.steps) ** 2
        counts = self._counts.astype(np.float64)
        sums = np.array([int(value) for value in released[: counts.size]], dtype=np.float64) / (counts * unit)
        size, lost, confidence = float(public_rows or 0), 0.0, self.confidence
        if public_rows is None:
            left = int(released[-1]) / self._weights.left / unit
            size = (float(sums[self._on_diagonal].sum()) + left) / self.region.reach
            lost = self._size_reach(self.mechanism.noise, 0.1 * (1.0 - self.confidence))
            confidence = 1.0 - 0.9 * (1.0 - self.confidence)
        reach = self.mechanism.error(confidence, counts.size) / (counts * unit)
        values, low, high = (self._moments(sums + side * reach, size, lost, side) for side in (0, -1, 1))
        return MatrixEstimate(
            self._square(values, 0),
            self._square(low, -1),
            self._square(high, 1),
            size,
            *self._terms(f"joint quantile of the noise{'' if public_rows else ' over an enclosed number of rows'}"),
        )

    def wire(self, value: Any) -> Any:
        """Run once and return the arrays of the estimate by name: the form in which they leave."""
        result = self(value)
        return {"value": result.value, "low": result.low, "high": result.high, "count": result.count}

    def _moments(self, sums: NDArray[np.float64], size: float, lost: float, side: int) -> NDArray[np.float64]:
        """Return sums over the number of rows, which is `lost` more or less on the two sides; cut to the region."""
        least = np.where(self._on_diagonal, 0.0, -1.0)
        if side and size <= lost:
            return np.where(side < 0, least, 1.0) + side * self._rounding
        smaller = size - lost * np.sign(sums) * side if side else max(size, 1.0)
        return np.clip(sums / smaller, least, 1.0) + side * self._rounding

    @property
    def _rounding(self) -> float:
        """Beyond how far rounding to steps cannot move an entry; what is left over is for the rounding of floats.

        In a box each factor moves by half a step, in a ball by a step and a quarter; the other is at most 1 in size.
        """
        return (4.0 if self.region.ball else 2.0) / self.region.steps

    def _square(self, entries: NDArray[np.float64], side: int) -> NDArray[np.float64]:
        """Return the symmetric matrix of entries in the units of the columns, rounded to a side; squares stay so."""
        d = self.region.dimension
        matrix = np.zeros((d, d))
        matrix[np.triu_indices(d)] = entries
        matrix = matrix + np.triu(matrix, 1).T
        halves = np.array(self.region.halves)
        matrix = matrix * np.outer(halves, halves)
        if side:
            matrix = np.nextafter(matrix, side * math.inf)
            np.fill_diagonal(matrix, np.maximum(np.diagonal(matrix), 0.0))
        return matrix

    def _size_reach(self, noise: IntegerNoise, rest: float) -> float:
        """Return how far the noisy number of rows goes, but for a probability `rest`."""
        unit = float(self.region.steps) ** 2 * self.region.reach
        sizes = [1.0 / (self._weights.diagonal * unit)] * self.region.dimension + [1.0 / (self._weights.left * unit)]
        if isinstance(noise, GaussianNoise):
            return combination_quantile(noise, sizes, 1.0 - rest)
        return _chernoff_reach([size * float(noise.scale) for size in sizes], rest) + math.fsum(sizes)

    def _predicted(self, noisy: NoisyVector) -> float:
        """Return the half-width of the widest entry for a table of `rows_expected` rows, whatever is in it."""
        rows, rest = float(self._rows_expected or 1), 1.0 - self.confidence
        counts = self._counts.astype(np.float64)
        largest = max(self.region.halves) ** 2
        unit = largest / float(self.region.steps) ** 2 / float(counts.min())
        rounding = largest * self._rounding
        if self.size_is_public:
            return noisy.error(self.confidence, counts.size) * unit / rows + rounding
        lost = self._size_reach(noisy.noise, 0.1 * rest)
        if lost >= rows:
            return math.inf
        wide = noisy.error(1.0 - 0.9 * rest, counts.size) * unit
        return (wide + lost * largest) / (rows - lost) + rounding

    def _adds_up(self, column: str, people: int | None) -> Products:
        region = self.region
        pairs = zip(*(ends.tolist() for ends in np.triu_indices(region.dimension)), self._counts.tolist(), strict=True)
        terms: list[tuple[int, tuple[tuple[int, int, int], ...]]] = [(0, (one,)) for one in pairs]
        if not self.size_is_public:
            left = self._weights.left
            diagonal = tuple((place, place, -left) for place in range(region.dimension))
            terms.append((region.reach * region.steps**2 * left, diagonal))
        places = range(1, region.dimension + 1)
        names = tuple(one.strip() for one in column.split(",")) if column else tuple(f"x{place}" for place in places)
        if len(names) != region.dimension or len({*names} - {""}) < len(names):
            raise ParameterError(
                "column= must name every column once, with commas between; got another number of names, or one twice, "
                'write column="age,cost"',
                parameter="column",
            )
        size = known_rows(people) if self.size_is_public else None
        center, halves = region.center, region.halves
        return Products(names, center, halves, region.steps, region.ball, tuple(terms), size)

    def _one_row_apart(self, *, added: bool) -> Tables:
        """A row lies at the center, at an edge, or, for pure guarantees, at a corner."""
        center, halves = np.array(self.region.center), np.array(self.region.halves)
        edge, corner = center.copy(), center + halves / (math.sqrt(self.region.dimension) if self.region.ball else 1.0)
        edge[0] += halves[0]
        rows = [center, edge] if self.region.ball or self.size_is_public else [center]
        rows += [corner] if isinstance(self.guarantee, PureDP) else []
        for row in rows:
            if added:
                yield np.array([edge]), np.array([edge, row])
            elif self._fill is None:
                yield np.array([edge, row]), np.array([edge, np.full(center.size, np.nan)])
            else:
                yield np.array([edge, center]), np.array([edge, row])


def _chernoff_reach(scales: list[float], rest: float) -> float:
    """Return a t that a sum of Laplace variables exceeds in size with probability at most `rest`.

    Proof: the sum S has E exp(h S) = product of 1 / (1 - h^2 b^2), so P(|S| >= t) <= 2 exp(-h t) E exp(h S) for any h.
    """
    largest = max(scales)
    trials = [place / 64.0 / largest for place in range(1, 64)]
    return min(
        (math.log(2.0 / rest) - math.fsum(math.log1p(-((h * scale) ** 2)) for scale in scales)) / h for h in trials
    )


@named_after(Covariance)
def covariance(table: Any, **options: Unpack[CovarianceOptions]) -> MatrixEstimate:
    """Return private second moments about a public center: see `Covariance`.

    >>> rows = np.array([[1.0, 2.0], [3.0, 2.0]] * 5000)
    >>> answer = covariance(
    ...     rows, center=[2, 2], radius=2, relation=Relation.ADD_REMOVE, epsilon=1
    ... )
    >>> abs(answer.count - 10_000) < 200, bool(abs(answer.value[0, 0] - 1) < 0.1)
    (True, True)
    """
    answer: MatrixEstimate = Covariance(**options)(table)
    return answer


Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MatrixEstimate:
    """A released symmetric matrix, the ends of its intervals, and the number of rows it was made of.

    The intervals hold for all entries at once. `count` is the noisy number of rows, or the public one.

    >>> from discreet.privacy import PureDP
    >>> print(
    ...     MatrixEstimate(
    ...         [[1.0]], [[0.5]], [[1.5]], 40.0, 0.95, PureDP(1), "exact quantile"
    ...     )
    ... )
    all intervals together 95 %, about 40 rows
       1
    --------------------
    1  1.00 [0.50, 1.50]
    """

    value: Floats
    low: Floats
    high: Floats
    count: float
    confidence: float
    guarantee: Guarantee
    method: str
    cost: PrivacyLoss = field(default=None)  # type: ignore[assignment]  # unless given, that of the guarantee

    def __post_init__(self) -> None:
        if self.cost is None:
            object.__setattr__(self, "cost", self.guarantee.loss)
        for name in ("value", "low", "high"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if not self.value.ndim == 2 or not self.value.shape == self.low.shape == self.high.shape:
            raise ParameterError(
                "value, low and high must be square arrays of one shape; got other shapes, write matrices",
                parameter="value",
            )

    @property
    def half_width(self) -> Floats:
        """Half the length of every interval."""
        widths: Floats = (self.high - self.low) / 2
        return widths

    def nearest_psd(self) -> MatrixEstimate:
        """Return the nearest matrix without negative eigenvalues, at no further price; the intervals stay.

        >>> from discreet.privacy import PureDP
        >>> MatrixEstimate(
        ...     [[-1.0]], [[0.0]], [[1.5]], 40.0, 0.95, PureDP(1), "exact quantile"
        ... ).nearest_psd().value
        array([[0.]])
        """
        values, vectors = np.linalg.eigh(self.value)
        projected = (vectors * np.maximum(values, 0.0)) @ vectors.T
        return dataclasses.replace(self, value=(projected + projected.T) / 2)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.value, dtype=dtype, copy=True if copy is None else copy)

    def _table(self) -> Table:
        """Return the entries with their intervals."""
        names = [str(place + 1) for place in range(len(self.value))]
        cells = [
            [name, *(self._cell(*entry) for entry in zip(*rows, strict=True))]
            for name, *rows in zip(names, self.value, self.low, self.high, strict=True)
        ]
        return Table(
            ["", *names], cells, f"all intervals together {100 * self.confidence:.6g} %, about {self.count:.6g} rows"
        )

    def _cell(self, value: float, low: float, high: float) -> str:
        """Return an entry with its interval, which need not have the value in the middle."""
        return Estimate(value, low, high, self.confidence, Target.TABLE, self.guarantee, self.method).number

    def __str__(self) -> str:
        return str(self._table())

    def __repr__(self) -> str:
        rows, columns = self.value.shape
        return f"MatrixEstimate({rows} x {columns}, {self.guarantee!r})"

    def _repr_html_(self) -> str:
        """Return the table and the guarantee for a notebook."""
        guarantee = definition_list([("guarantee", self.guarantee), ("method", self.method)])
        return self._table()._repr_html_() + guarantee
