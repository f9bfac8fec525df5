"""Which rows agree: a number for each combination of values that occurs in some columns of one table or several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.asking.columns import Columns, column_of, columns_of
from discreet.errors import InputError, ParameterError
from discreet.frames import Frame

Integers = NDArray[np.int64]

_WORD = 8
_MOST_CODES = 2**62


def coded(tables: Sequence[Columns], name: str) -> Integers:
    """Return one code a row for a column: equal codes mean equal values; they count from 0, without gaps.

    The rows of all tables follow one another.

    >>> coded([{"a": ["x", "y"]}, {"a": ["y", "z"]}], "a").tolist()
    [0, 1, 1, 2]
    """
    words = [_codes(word) for word in _words(_joined([column_of(Frame.read(table), name) for table in tables], name))]
    if not len(words[0]):
        raise InputError("the table must have at least one row")
    return reduce(paired, words)


def paired(first: Integers, second: Integers) -> Integers:
    """Number the pairs of codes that occur."""
    width = int(second.max()) + 1
    if (int(first.max()) + 1) * width > _MOST_CODES:
        raise InputError("there are too many rows to number the combinations of their values")
    return _codes(first * width + second)


def cells(tables: Sequence[Columns], names: Sequence[str]) -> Integers:
    """Return one code a row for the values of several columns together.

    >>> cells([{"a": [1, 1, 2], "b": ["x", "y", "x"]}], ["a", "b"]).tolist()
    [0, 1, 2]
    """
    wanted = distinct(names)
    read = [columns_of(table, wanted) for table in tables]
    return reduce(paired, (coded(read, name) for name in wanted))


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of columns, at least one and none twice; a text is taken for one name."""
    found = (names,) if isinstance(names, str) else tuple(names) if isinstance(names, Iterable) else ()
    if not found or not all(isinstance(name, str) for name in found) or len(set(found)) != len(found):
        raise ParameterError("name at least one column, each by its text and only once", parameter="columns")
    return found


def _joined(parts: Sequence[NDArray[np.generic]], name: str) -> NDArray[np.generic]:
    """Return one column of all tables; text in one and numbers in another never agree, which is a mistake."""
    kinds = {part.dtype.kind if part.dtype.kind in "USMm" else "n" for part in parts}
    if len(kinds) > 1:
        raise InputError(f"column {name!r} is not of one kind in all tables; turn it into text or numbers in each")
    joined = parts[0] if len(parts) == 1 else np.concatenate(parts)
    if joined.dtype.kind == "f" and any(part.dtype.kind in "iu" and _is_large(part) for part in parts):
        raise InputError(f"column {name!r} holds floats, and whole numbers beyond 2^53: not compared exactly")
    return joined


def _is_large(column: NDArray[np.generic]) -> bool:
    """Say whether some whole number may be rounded as a float."""
    return bool(np.any((column > 2**53) | (column < -(2**53))))  # type: ignore[operator]


def _words(column: NDArray[np.generic]) -> Iterator[Integers]:
    """Yield the column as 64-bit words; sorting those is many times faster than sorting texts."""
    if column.dtype.kind in "USf":
        if column.dtype.kind == "f":
            column = column.astype(np.float64) + 0.0  # one zero, not two
        if column.dtype.kind == "U":
            column = _narrow(column)
        column = np.ascontiguousarray(column)
        width = -(-max(column.dtype.itemsize, 1) // _WORD)
        padded = np.zeros((len(column), width * _WORD), dtype=np.uint8)
        padded[:, : column.dtype.itemsize] = column.view(np.uint8).reshape(len(column), column.dtype.itemsize)
        yield from padded.view(np.int64).T
    else:
        yield column.astype(np.int64)


def _narrow(column: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return text of plain letters in one byte a letter, any other as it is."""
    letters = np.ascontiguousarray(column).view(np.uint32)
    if letters.max(initial=0) < 128:
        return column.astype(np.bytes_)
    return column


def _codes(values: Integers) -> Integers:
    """Number the distinct values in order, from 0."""
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    if high - low > 8 * len(values) + 1024:
        return np.unique(values, return_inverse=True)[1].astype(np.int64)
    present = np.zeros(high - low + 1, dtype=np.int64)
    present[values - low] = 1
    return (np.cumsum(present) - 1)[values - low]
