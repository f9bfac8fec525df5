"""From a column of keys to the number of people who hold each, with a bound on the keys of one person.

Rules. A missing key (None, NaN, NaT, NA, NULL, a masked entry) is no key: its row is left out, and so is a row whose
unit is missing. Keys are told apart by type and value, so True, 1 and 1.0 are three keys in a column of mixed types;
0.0 and -0.0 are one, written 0.0. Texts are compared by code points: nothing is normalised, trimmed or folded. Columns
come from numpy, pandas, Polars, Arrow, or are lists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.privacy.parameters import whole
from discreet.statistics.columns import frame_library, unmasked
from discreet.statistics.persons import person_codes

_WANTED = "a column of keys is a numpy array, a pandas, Polars or Arrow column, or a list, in one dimension"
_HASHABLE = "keys must be hashable: texts, numbers, truth values, dates, or tuples of them"

Keys = list[Any]
Counts = NDArray[np.int64]
_Table = TypeVar("_Table", bound=dict[Any, int])
_NEVER_MISSING = {str, int, bool, bytes}


def distinct_counts(column: object) -> tuple[Keys, Counts]:
    """Return the distinct keys of a column and the number of rows of each: counts of people where a row is a person.

    >>> distinct_counts(["fig", "pear", None, "fig"])
    (['fig', 'pear'], array([2, 1]))
    """
    values = _values(column)
    if isinstance(values, np.ndarray):
        distinct, counts = np.unique(_normal(values[_present(values)]), return_counts=True)
        return _listed(distinct), counts.astype(np.int64)
    tally = _hashed(lambda: Counter(_identities(values)))
    counts = np.fromiter(tally.values(), dtype=np.int64, count=len(tally))
    keys, places = _cleaned(list(tally))
    return keys, counts[places]


def bounded_keys(column: object, unit: object, *, keys: int) -> tuple[Keys, Counts]:
    """Return the distinct keys and the number of people who hold each, where a person holds the first `keys` of theirs.

    Privacy. One person counts 1 for each of at most `keys` keys, and nobody else's keys change when the person's rows
        are added, removed or changed.
        Proof: the keys that a person keeps are the first distinct ones among their own rows, in the order of the rows;
        each is counted once, however many rows name it.

    >>> bounded_keys(["a", "b", "a", "c", "a"], ["ana", "ana", "ana", "ana", "bo"], keys=2)
    (['a', 'b'], array([2, 1]))
    """
    most = whole(keys, name="keys")
    codes, named = key_codes(column)
    persons = person_codes(unit)
    if persons.size != codes.size:
        raise InputError("unit= names a person for every row: it must be as long as the column of keys")
    held = np.flatnonzero((codes >= 0) & (persons >= 0))
    # one number for each person and key; the index is that of the first such row
    together = persons[held] * np.int64(max(len(named), 1)) + codes[held]
    first = held[np.unique(together, return_index=True)[1]]
    order = first[np.lexsort((first, persons[first]))]
    starts = np.flatnonzero(np.diff(persons[order], prepend=-1))
    rank = np.arange(order.size) - np.repeat(starts, np.diff(starts, append=order.size))
    counts = np.bincount(codes[order[rank < most]], minlength=len(named)).astype(np.int64)
    kept = np.flatnonzero(counts)
    return [named[place] for place in kept.tolist()], counts[kept]


def key_codes(column: object) -> tuple[NDArray[np.int64], Keys]:
    """Return a number for every row, -1 where its key is missing, and the keys that the numbers stand for.

    >>> key_codes([True, 1, None, True])
    (array([ 0,  1, -1,  0]), [True, 1])
    """
    values = _values(column)
    if isinstance(values, np.ndarray):
        present = _present(values)
        distinct, inverse = np.unique(_normal(values[present]), return_inverse=True)
        codes = np.full(values.size, -1, dtype=np.int64)
        codes[present] = inverse.ravel()
        return codes, _listed(distinct)
    identities = _identities(values)
    table = _hashed(lambda: {identity: place for place, identity in enumerate(dict.fromkeys(identities))})
    codes = np.fromiter(map(table.__getitem__, identities), dtype=np.int64, count=len(values))
    keys, places = _cleaned(list(table))
    numbers = np.full(len(table), -1, dtype=np.int64)
    numbers[places] = np.arange(len(keys))
    return numbers[codes], keys


def _values(column: object) -> NDArray[Any] | Keys:
    """Return a column as an array of numbers or dates, or as a list of Python objects."""
    library = frame_library(column)
    if library is not None:
        column = _from_frame(column, library)
    if isinstance(column, np.ma.MaskedArray):
        column = unmasked(column)
    if isinstance(column, list | tuple):
        return list(column)
    if not isinstance(column, np.ndarray) or column.ndim != 1 or column.dtype.kind not in "biufSUOmM":
        raise InputError(_WANTED)
    if column.dtype.kind in "SUO" or column.dtype.itemsize > 8:
        return list(column.tolist())
    return column


def _from_frame(column: Any, library: str) -> Any:
    """Return a frame library's column as an array where nothing is lost by that, else as a list."""
    if getattr(column, "ndim", 1) != 1 or hasattr(column, "columns"):
        raise InputError("pass one column of keys: pick it from the frame, such as frame['key']")
    try:
        if library == "pandas":
            return column.to_numpy() if isinstance(column.dtype, np.dtype) else column.astype(object).to_numpy()
        if column.null_count if library == "pyarrow" else column.null_count():
            return column.to_pylist() if library == "pyarrow" else column.to_list()
        return column.to_numpy(**({"zero_copy_only": False} if hasattr(column, "buffers") else {}))
    except (TypeError, ValueError, AttributeError, ArithmeticError, NotImplementedError):
        pass
    raise InputError(f"this {library} object could not be read as a column of keys; {_WANTED}")


def _present(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Say which entries of an array of numbers or dates are not missing."""
    if values.dtype.kind in "mM":
        return np.asarray(~np.isnat(values))
    return np.asarray(~np.isnan(values)) if values.dtype.kind == "f" else np.ones(values.size, dtype=np.bool_)


def _normal(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers with one zero: minus zero is zero."""
    return values + values.dtype.type(0) if values.dtype.kind == "f" else values


def _listed(distinct: NDArray[Any]) -> Keys:
    """Return keys as Python objects; dates stay as they are, since tolist makes bare integers of some."""
    return list(distinct) if distinct.dtype.kind in "mM" else distinct.tolist()


class _Typed(tuple[type, Any]):
    """A key of a column of mixed types, told apart from equal keys of other types."""

    __slots__ = ()


def _identities(values: Keys) -> Keys:
    """Return what the keys of a list are told apart by: themselves, or with their types where there are several."""
    kinds = set(map(type, values))
    if any(issubclass(kind, np.generic) for kind in kinds):
        values = [_python(value) for value in values]
        kinds = set(map(type, values))
    if len(kinds - {type(None)}) <= 1:
        return values
    return [_Typed((type(value), value)) for value in values]


def _hashed(count: Callable[[], _Table]) -> _Table:
    """Return what is made by hashing keys; refuse keys that cannot be hashed or compared."""
    try:
        return count()
    except (TypeError, ValueError, ArithmeticError):
        pass
    raise InputError(_HASHABLE)


def _cleaned(identities: Keys) -> tuple[Keys, NDArray[np.intp]]:
    """Return the keys that identities stand for, without missing ones, and their places."""
    kinds = set(map(type, identities))
    if kinds <= _NEVER_MISSING:
        return identities, np.arange(len(identities))
    if kinds <= {*_NEVER_MISSING, type(None)}:
        hole = identities.index(None)
        return identities[:hole] + identities[hole + 1 :], np.delete(np.arange(len(identities)), hole)
    keys = [identity[1] if type(identity) is _Typed else identity for identity in identities]
    kept = [place for place, key in enumerate(keys) if not _is_missing(key)]
    return [_one_zero(keys[place]) for place in kept], np.array(kept, dtype=np.intp)


def _one_zero(key: Any) -> Any:
    """Return a key, 0.0 for minus zero."""
    return key + 0.0 if type(key) is float else key


def _python(value: Any) -> Any:
    """Return a numpy scalar as a Python object, dates as they are."""
    return value.item() if isinstance(value, np.generic) and value.dtype.kind not in "mM" else value


def _is_missing(key: Any) -> bool:
    """Say whether an entry stands for a missing key: what is not a number or not a time differs from itself."""
    return key is None or type(key).__name__ in ("NAType", "NaTType") or bool(key != key)  # noqa: PLR0124
