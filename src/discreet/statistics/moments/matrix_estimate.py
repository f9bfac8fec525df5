"""A noisy matrix as people should see it: with intervals that hold for all entries at once, and what it cost."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.display import Table, definition_list
from discreet.errors import ParameterError
from discreet.privacy import Estimate, Guarantee, PrivacyLoss, Target

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MatrixEstimate:
    """A released symmetric matrix, the ends of its intervals, and the number of rows it was made of.

    The intervals hold for all entries at once. `count` is the noisy number of rows, or the public one.

    >>> from discreet.privacy import PureDP
    >>> print(MatrixEstimate([[1.0]], [[0.5]], [[1.5]], 40.0, 0.95, PureDP(1), "exact quantile"))
    all intervals together 95 %, about 40 rows
       1
    --------------------
    1  1.00 [0.50, 1.50]
    """

    matrix: Floats
    low: Floats
    high: Floats
    count: float
    confidence: float
    guarantee: Guarantee
    method: str
    loss: PrivacyLoss | None = field(default=None)

    def __post_init__(self) -> None:
        """Keep the arrays as they are now."""
        for name in ("matrix", "low", "high"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if not self.matrix.ndim == 2 or not self.matrix.shape == self.low.shape == self.high.shape:
            raise ParameterError("matrix, low and high are square arrays of one shape", parameter="matrix")

    @property
    def half_width(self) -> Floats:
        """Half the length of every interval."""
        widths: Floats = (self.high - self.low) / 2
        return widths

    @property
    def cost(self) -> PrivacyLoss:
        """The price of the release."""
        return self.guarantee.loss if self.loss is None else self.loss

    def nearest_psd(self) -> MatrixEstimate:
        """Return the nearest matrix without negative eigenvalues, at no further price; the intervals stay.

        >>> from discreet.privacy import PureDP
        >>> MatrixEstimate([[-1.0]], [[0.0]], [[1.5]], 40.0, 0.95, PureDP(1), "exact quantile").nearest_psd().matrix
        array([[0.]])
        """
        values, vectors = np.linalg.eigh(self.matrix)
        projected = (vectors * np.maximum(values, 0.0)) @ vectors.T
        return dataclasses.replace(self, matrix=(projected + projected.T) / 2)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the matrix alone."""
        return np.array(self.matrix, dtype=dtype, copy=True if copy is None else copy)

    def _table(self) -> Table:
        """Return the entries with their intervals."""
        names = [str(place + 1) for place in range(len(self.matrix))]
        cells = [
            [name, *(self._cell(*entry) for entry in zip(*rows, strict=True))]
            for name, *rows in zip(names, self.matrix, self.low, self.high, strict=True)
        ]
        return Table(["", *names], cells, f"all intervals together {self._percent} %, about {self.count:.6g} rows")

    def _cell(self, value: float, low: float, high: float) -> str:
        """Return an entry with its interval, which need not have the value in the middle."""
        entry = Estimate(value, low, high, self.confidence, Target.TABLE, self.guarantee, self.method)
        return str(entry).partition(" (")[0]

    @property
    def _percent(self) -> str:
        return f"{100 * self.confidence:.6g}"

    def __str__(self) -> str:
        """Print the entries with their intervals."""
        return str(self._table())

    def __repr__(self) -> str:
        """Show the shape and the promise."""
        rows, columns = self.matrix.shape
        return f"MatrixEstimate({rows} x {columns}, {self.guarantee!r})"

    def _repr_html_(self) -> str:
        """Return the table and the promise for a notebook."""
        promise = definition_list([("promise", self.guarantee), ("method", self.method)])
        return self._table()._repr_html_() + promise
