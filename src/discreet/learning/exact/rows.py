"""Rows and labels as scikit-learn's users hand them over, read so that no refusal follows from a value.

Which columns there are and of which type is the schema of a table and public; everything else is private. A cell that
is no finite number, and a label that was not declared, make their row count for nothing, and nobody is told.
"""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, MissingParameter, ParameterError
from discreet.frames import ColumnKind, Frame, FrameColumn, frame_library, numbers, places

Floats = NDArray[np.float64]
_MOST_CLASSES = 1 << 10
_NUMBERS = (ColumnKind.NUMERIC, ColumnKind.BOOLEAN, ColumnKind.OBJECT)
_SPARSE = "Sparse data was passed to a private estimator, which reads dense rows; write X.toarray()"


def matrix(table: Any) -> Floats:
    """Return a table as a matrix of floats, a row a person; NaN for every cell that is no number. Private.

    >>> matrix([[1, None], ["x", 2.5]])
    array([[1. , nan],
           [nan, 2.5]])
    """
    if hasattr(table, "toarray") and hasattr(table, "nnz"):
        raise TypeError(_SPARSE)
    held = table if isinstance(table, np.ndarray) or frame_library(table) is not None else _as_array(table)
    if isinstance(held, np.ndarray):
        if held.ndim != 2:
            wanted = "X.reshape(-1, 1) for one column or X.reshape(1, -1) for one row"
            raise InputError(
                f"X must have two dimensions, a row a person; got {held.ndim}. Reshape your data: write "
                f"{wanted if held.ndim < 2 else 'X.reshape(len(X), -1), all numbers of a person in one row'}"
            )
        if held.dtype.kind == "c":
            raise InputError("Complex data not supported: X must hold real numbers; write two columns instead")
        if held.dtype.kind in "fiub" and not np.ma.isMaskedArray(held):
            with np.errstate(all="ignore"):
                return np.ascontiguousarray(held, dtype=np.float64)
    frame = Frame.read(held)
    columns = [_column(frame.at(place), str(name)) for place, name in enumerate(frame.names)]
    return np.column_stack(columns) if columns else np.empty((0, 0))


def _column(column: Any, name: str) -> Floats:
    """Return one column as floats, NaN where a cell is no number; a column whose type holds no numbers is refused."""
    if FrameColumn.read(column).kind not in _NUMBERS:
        raise InputError(
            f"{name[:80]} must be a column of numbers; got texts, times or another type, write codes 0 to k - 1, "
            "days since a public day, or fit_session, which codes the values that a policy declares"
        )
    with np.errstate(all="ignore"):
        return numbers(column, odd_is_missing=True).astype(np.float64)


def _as_array(table: Any, name: str = "X") -> NDArray[Any]:
    """Return rows in lists, or anything that numpy takes, as an array; what it says about a cell is never passed on."""
    made = listed_cells(table) if isinstance(table, list | tuple) else _converted(table)
    if made is None:
        raise InputError(f"{name} must have rows of one length; got something else, write an array")
    return made


def listed_cells(rows: list[Any] | tuple[Any, ...]) -> NDArray[Any] | None:
    """Return rows in lists as an array of objects, cell by cell: no cell has a say in the type of the others.

    Numbers in a row that is no sequence make one dimension. An empty list has no columns.
    """
    sequences = [isinstance(row, list | tuple) or (isinstance(row, np.ndarray) and row.ndim == 1) for row in rows]
    if not any(sequences):
        flat = np.empty(len(rows), dtype=object)
        for place, cell in enumerate(rows):
            flat[place] = cell
        return flat if rows else np.empty((0, 0), dtype=object)
    if not all(sequences) or len({len(row) for row in rows}) > 1:
        return None
    made = np.empty((len(rows), len(rows[0])), dtype=object)
    for place, row in enumerate(rows):
        for column, cell in enumerate(row):
            made[place, column] = cell
    return made


def listed_column(cells: list[Any] | tuple[Any, ...]) -> NDArray[Any] | None:
    """Return one cell a row as an array of objects, or None where all of them are sequences: that is another shape."""
    if cells and all(isinstance(cell, list | tuple) or (isinstance(cell, np.ndarray) and cell.ndim) for cell in cells):
        return None
    flat = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        flat[place] = cell
    return flat


class _Silence:
    """Filters of warnings are those of the process: the first thread that comes keeps them, the last puts them back."""

    def __init__(self) -> None:
        self._lock, self._inside, self._kept = threading.Lock(), 0, warnings.catch_warnings()

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._kept = warnings.catch_warnings()
                self._kept.__enter__()
                warnings.simplefilter("ignore")
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._kept.__exit__(None, None, None)


_SILENCE = _Silence()


@contextmanager
def unheard() -> Iterator[None]:
    """Keep warnings, of Python and of numpy, from being told or raised: whether there is one can follow from a row."""
    with _SILENCE, np.errstate(all="ignore"):
        yield


def _converted(table: Any) -> NDArray[Any] | None:
    """Return what numpy makes of anything else, or None where it raises: its message may show a cell."""
    try:
        made: NDArray[Any] = np.asarray(table)
        return made if made.dtype.kind in "fiubcO" else np.asarray(table, dtype=object)
    except Exception:  # whatever a foreign object raises
        return None


def targets(column: Any) -> Floats:
    """Return the numbers to be predicted as floats, NaN where there is none. Private."""
    return np.asarray(_column(_one_column(column), "y"), dtype=np.float64)


def _one_column(column: Any) -> Any:
    """Return labels as one column, whatever has a second dimension of length 1; sparse and wider ones are refused."""
    if column is None:
        raise MissingParameter("requires y to be passed, but the target y is None; write fit(X, y)", parameter="y")
    if hasattr(column, "toarray") and hasattr(column, "nnz"):
        raise TypeError(_SPARSE)
    shape = getattr(column, "shape", None)
    if shape is not None and len(shape) == 2:
        if shape[1] != 1:
            raise InputError("y must be one column; got several. Write y = y[:, 0], for example (bad input shape)")
        return column.iloc[:, 0] if hasattr(column, "iloc") else np.asarray(column)[:, 0]
    if shape is not None and len(shape) != 1:
        raise InputError("y must be one column; got another shape, write y.ravel()")
    if getattr(getattr(column, "dtype", None), "kind", "") == "c":
        raise InputError("Complex data not supported: y must hold labels or real numbers")
    known = isinstance(column, np.ndarray | list | tuple | range) or frame_library(column) is not None
    return column if known else _as_array(column, "y")


@dataclass(frozen=True, slots=True)
class Classes:
    """The declared classes, in the order in which scikit-learn shows them."""

    labels: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.labels)

    def codes(self, column: Any) -> NDArray[np.int64]:
        """Return the place of every label among the classes, and their number for any other label. Private."""
        return places(_one_column(column), self.labels)

    def array(self) -> NDArray[Any]:
        """Return the classes as the array that `classes_` is."""
        if all(type(one) is int for one in self.labels) and all(abs(one) < 1 << 62 for one in self.labels):
            return np.array(self.labels, dtype=np.int64)
        if all(type(one) is str for one in self.labels) or all(type(one) in (int, float, bool) for one in self.labels):
            return np.array(self.labels)
        made = np.empty(len(self.labels), dtype=object)
        made[:] = self.labels
        return made


def stated_classes(classes: Any) -> Classes:
    """Return the classes that a user declared, sorted where they can be; they are never read off the labels.

    >>> stated_classes(["yes", "no"]).labels
    ('no', 'yes')
    """
    if classes is None:
        raise MissingParameter(
            "classes must be given: which classes occur is private, so they are not read off y; got none, write "
            "classes=[...] with every label that may occur",
            parameter="classes",
        )
    if isinstance(classes, str | bytes) or not isinstance(classes, Iterable):
        raise ParameterError(
            "classes must be a list of labels; got another, write classes=[0, 1], or range(10) for codes from 0 to 9",
            parameter="classes",
        )
    listed = [one.item() if isinstance(one, np.generic) else one for one in classes]
    try:
        distinct = len(set(listed))
    except TypeError:
        raise ParameterError("classes must be numbers or texts; got others", parameter="classes") from None
    odd = any(one is None or (isinstance(one, float) and not math.isfinite(one)) for one in listed)
    if odd or distinct != len(listed) or not 2 <= distinct <= _MOST_CLASSES:
        raise ParameterError(
            f"classes must be 2 to {_MOST_CLASSES} different labels; got others, write each label once",
            parameter="classes",
        )
    try:
        return Classes(tuple(sorted(listed)))
    except TypeError:
        return Classes(tuple(listed))


@dataclass(frozen=True, slots=True, repr=False)
class FitRows:
    """The rows of one fit: features, with class codes or numbers to be predicted beside them. Private.

    `sums` are the exact sums of a model of one release, where an engine has added them up; there are no features then.
    """

    features: Floats
    codes: NDArray[np.int64] | None = None
    targets: Floats | None = None
    sums: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        for beside in (self.codes, self.targets):
            if beside is not None and len(beside) != len(self.features):
                raise InputError(
                    "X and y must have the same number of rows: inconsistent numbers of samples; write one label a row"
                )

    def __len__(self) -> int:
        return len(self.features)

    def __repr__(self) -> str:
        return "FitRows(private)"
