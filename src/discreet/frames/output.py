"""Results as frames: columns by name become a frame of pandas or Polars, or an Arrow table.

A column is a list, an array of objects with None for what is missing, or an array of numpy with NaN for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from discreet._optional import optional


def to_pandas(columns: Mapping[str, Any], *, index: Iterable[Any] | None = None, index_name: str | None = None) -> Any:
    """Return a pandas data frame; a missing value is NaN. `index` are the labels of the rows, one object each.

    >>> to_pandas({"value": [1, 2]}, index=["a", ("b", 3)]).index.tolist()
    ['a', ('b', 3)]
    """
    pandas = optional("pandas", extra="frames", purpose="to_pandas()")
    labels = None if index is None else pandas.Index(list(index), name=index_name, tupleize_cols=False)
    return pandas.DataFrame(dict(columns), index=labels)


def to_polars(columns: Mapping[str, Any], *, strict: bool = True) -> Any:
    """Return a Polars data frame; a missing value is null. Without `strict` mixed values get a common type."""
    polars = optional("polars", extra="frames", purpose="to_polars()")
    return polars.DataFrame({name: _plain(column) for name, column in columns.items()}, strict=strict, nan_to_null=True)


def to_arrow(columns: Mapping[str, Any]) -> Any:
    """Return an Arrow table; a missing value is null. Whole numbers beyond 64 bits make a column of reals.

    >>> to_arrow({"value": [1, 10**30]}).column("value").to_pylist()
    [1.0, 1e+30]
    """
    arrow = optional("pyarrow", extra="frames", purpose="to_arrow()")
    plain = {name: _narrow(_plain(column)) for name, column in columns.items()}
    return arrow.table(
        {name: arrow.array(column, from_pandas=isinstance(column, np.ndarray)) for name, column in plain.items()}
    )


def _narrow(column: Any) -> Any:
    """Return a list with reals in place of whole numbers, where one of these needs more than 64 bits."""
    if not isinstance(column, list) or all(not isinstance(one, int) or -(1 << 63) <= one < 1 << 63 for one in column):
        return column
    return [float(one) if isinstance(one, int) else one for one in column]


def _plain(column: Any) -> Any:
    """Return a column of objects as a list, and any other as it is."""
    return column.tolist() if isinstance(column, np.ndarray) and column.dtype == object else column
