"""Keys with counts: how a table of them is read, and the form in which some of them leave.

Keys are told apart by type and value: True, 1 and 1.0 are three keys, and texts that look alike but are written with
different code points are two. In an array of floats whole numbers are integers: 1.0 is 1. The form of what leaves
depends on the released keys alone: a numpy array of texts is as wide as its widest text, released or not, so keys leave
as Python objects; and their order is a function of themselves.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.frames import listed_keys

_WANTED = (
    "pass a mapping from keys to counts of people, or a pair (keys, counts) of a one-dimensional array of keys and an "
    "array of as many integers"
)
_COUNTS = "counts are whole numbers of people: integers of at least 0 and below 2^62"
_LARGEST = 1 << 62
_ORDERED = (bool, int, float, str, bytes)


@dataclass(frozen=True, slots=True, eq=False)
class KeyCounts:
    """Keys and a count for each, in an order that depends on the keys alone.

    Keys of one type come in their natural order (numbers by size, texts by code points), keys of several types ordered
    by the type's name first; keys of other types than bool, int, float, str and bytes by what they print.

    >>> released = KeyCounts.ordered(["pear", "fig"], np.array([120, 87]))
    >>> released
    KeyCounts(2 keys)
    >>> list(released)
    [('fig', 87), ('pear', 120)]
    """

    keys: NDArray[np.object_]
    counts: NDArray[np.int64]

    @classmethod
    def ordered(cls, keys: list[Any], counts: NDArray[np.int64], places: NDArray[np.intp] | None = None) -> KeyCounts:
        """Put keys and their counts, or only those at some places, into the canonical order."""
        order = canonical_order(keys, np.arange(len(keys)) if places is None else places)
        column = np.fromiter(map(keys.__getitem__, order.tolist()), dtype=object, count=order.size)
        return cls(column, np.asarray(counts, dtype=np.int64)[order])

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[tuple[Any, int]]:
        return zip(self.keys.tolist(), self.counts.tolist(), strict=True)

    def to_dict(self) -> dict[Any, int]:
        """Return a dict, in which Python takes True, 1 and 1.0 for one key."""
        return dict(iter(self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KeyCounts) or len(other) != len(self):
            return False
        same = all(type(a) is type(b) and a == b for (a, _), (b, _) in zip(self, other, strict=True))
        return same and bool(np.array_equal(self.counts, other.counts))

    __hash__ = None  # type: ignore[assignment]  # arrays can be changed

    def __repr__(self) -> str:
        return f"KeyCounts({len(self)} key{'s'[: len(self) != 1]})"


def canonical_order(keys: list[Any], places: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return places of keys, sorted into the canonical order of the keys that stand there."""
    listed = places.tolist()
    kinds = {type(keys[place]) for place in listed}
    if kinds == {int}:
        try:
            column = np.fromiter(map(keys.__getitem__, listed), dtype=np.int64, count=len(listed))
            return places[np.argsort(column)]
        except OverflowError:
            pass  # Python compares integers of any size, more slowly
    if len(kinds) == 1 and kinds <= set(_ORDERED):
        return np.array(sorted(listed, key=keys.__getitem__), dtype=np.intp)
    return np.array(sorted(listed, key=lambda place: _rank(keys[place])), dtype=np.intp)


def _rank(key: Any) -> tuple[str, Any]:
    """Return what keys of several types are sorted by; entries of one type are comparable."""
    kind = type(key)
    return f"{kind.__module__}.{kind.__qualname__}", key if kind in _ORDERED else repr(key)


def read_table(value: object) -> tuple[list[Any] | NDArray[Any], NDArray[np.int64]]:
    """Return the keys and the counts of a table; raise InputError, without the value, if it is not one.

    Numbers that come as an array in order stay one: they are seen to be distinct, and few of them may be named.
    """
    if isinstance(value, Mapping):
        return _distinct(list(value.keys())), _as_counts(list(value.values()))
    if not isinstance(value, tuple) or len(value) != 2:
        raise InputError(_WANTED)
    in_order = _increases(value[0])
    keys, counts = value[0] if in_order else _as_keys(value[0]), _as_counts(value[1])
    if len(keys) != counts.size:
        raise InputError(f"there must be as many counts as keys; {_WANTED}")
    return keys if in_order else _distinct(keys), counts


def _increases(column: object) -> bool:
    """Say whether a column is a plain array of increasing numbers: no key is missing or repeated."""
    if type(column) is not np.ndarray or column.ndim != 1 or column.dtype.kind not in "iuf" or column.itemsize > 8:
        return False
    return bool((column[1:] > column[:-1]).all()) and not (column.size == 1 and bool(column[0] != column[0]))


def _as_keys(column: object) -> list[Any]:
    """Return a column of keys as Python objects."""
    if isinstance(column, list):
        return column
    plain = isinstance(column, np.ndarray) and not isinstance(column, np.ma.MaskedArray)
    if not plain or column.ndim != 1 or column.dtype.kind not in "biufSUOmM":  # type: ignore[attr-defined]
        raise InputError(_WANTED)
    return listed_keys(column)  # type: ignore[arg-type]


def _distinct(keys: list[Any]) -> list[Any]:
    """Raise InputError for keys that are unhashable, NaN or repeated; numpy scalars become Python objects."""
    kinds = set(map(type, keys))
    if any(issubclass(kind, np.generic) for kind in kinds):
        keys = [_python(key) for key in keys]
        kinds = set(map(type, keys))
    missing, distinct = False, -1
    try:
        missing = any(map(operator.ne, keys, keys))  # only what is not a number differs from itself
        distinct = len(set(keys) if len(kinds) <= 1 else {(type(key), key) for key in keys})
    except (TypeError, ValueError, ArithmeticError):
        pass
    if distinct < 0:
        raise InputError("keys must be hashable: texts, numbers, truth values, dates, or tuples of them")
    if missing:
        raise InputError("a key is missing (NaN): leave such entries out before asking")
    if distinct != len(keys):
        raise InputError("a key is repeated: add its counts up before asking, counting each person once")
    return keys


def _python(key: Any) -> Any:
    """Return a numpy scalar as a Python object, dates as they are."""
    return key.item() if isinstance(key, np.generic) and key.dtype.kind not in "mM" else key


def _as_counts(column: object) -> NDArray[np.int64]:
    """Return counts as int64."""
    if isinstance(column, list):
        plain = [count.item() if isinstance(count, np.integer) else count for count in column]
        if set(map(type, plain)) <= {int} and (not plain or 0 <= min(plain) <= max(plain) < _LARGEST):
            return np.array(plain, dtype=np.int64)
    elif isinstance(column, np.ndarray) and not isinstance(column, np.ma.MaskedArray):
        array = column if column.ndim == 1 and column.dtype.kind in "iu" else None
        if array is not None and (array.size == 0 or 0 <= int(array.min()) <= int(array.max()) < _LARGEST):
            return array.astype(np.int64)
    raise InputError(_COUNTS)
