"""Keys of a column in their one form: equal keys are written alike, whoever wrote them.

Two keys that compare equal may still look different: Decimal('1.0') and Decimal('1.00'), one instant in two time zones,
(1.0,) and (True,). If the form of some row were released, it would tell whose row came first. So every key is brought
to one form that depends on the key alone, and keys of different types are different keys.

| key | its form |
|---|---|
| bool, int, str, bytes, Fraction | itself, as the plain Python type |
| float | itself, 0.0 for minus zero |
| Decimal | without trailing zeros |
| date, datetime, numpy and pandas times | numpy's datetime64 in microseconds, in UTC where there is a time zone |
| timedelta | numpy's timedelta64 in microseconds |
| tuple | the tuple of its entries' forms |

Missing keys (None, NaN, NaT, NA, NULL, masked entries) are None in a list, NaN or NaT in an array. Times that 64 bits
of microseconds do not hold are missing. Texts are compared by code points: nothing is normalized, trimmed or folded. In
a numpy array or a pandas column of a numpy type whole numbers are integers (7.0 is 7), and numbers of 2^53 and more in
size are missing keys: see `frames.numeric`. A column of another type (times of day, lists, records) is refused by its
type, whatever it holds; a list, or a column of Python objects, by an entry that is none of these keys.
"""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.frames.column import ColumnKind, FrameColumn
from discreet.frames.numeric import LARGE, held_by_numpy, safe_floats, safe_form
from discreet.frames.times import attoseconds, in_microseconds

Keys = list[Any]
_COLUMN = "a column of keys"
HASHABLE = "keys must be texts, numbers, truth values, dates, or tuples of them"
PLAIN: frozenset[type] = frozenset({str, int, bool, bytes, type(None)})  # in their one form as they are


class Typed(tuple[type, Any]):
    """A key told apart from equal keys of other types; entries of tuples are told apart too."""

    __slots__ = ()

    @classmethod
    def of(cls, form: Any) -> Typed:
        """Return the key that distinguishes forms."""
        if type(form) is tuple:
            return cls((tuple, tuple(cls.of(entry) for entry in form)))
        return cls((type(form), form))

    @property
    def form(self) -> Any:
        """The form itself."""
        kind, inner = self
        return tuple(entry.form for entry in inner) if kind is tuple else inner


def key_values(column: object) -> NDArray[Any] | Keys:
    """Return a column as an array of numbers or times, or as a list of keys in their one form.

    >>> key_values(["a", np.int64(3), None]), key_values(np.array([3, 2**60]))
    (['a', 3, None], array([ 3., nan]))
    """
    of_numpy = held_by_numpy(column)
    read = FrameColumn.read(column, _COLUMN)
    array = read.array
    listed = array is None and read.kind not in (ColumnKind.OTHER, ColumnKind.UUID)
    if not listed and (array is None or array.dtype.kind not in "biufmM"):
        raise InputError(f"{_COLUMN} must be of a type of texts, bytes, numbers, truth values, dates, times or spans")
    if array is not None:
        if array.dtype.kind in "mM":
            return _unmasked(in_microseconds(array), read, "NaT")
        if array.dtype.kind in "iuf" and of_numpy:
            return _unmasked(safe_floats(array), read, "nan")
        if read.missing is None and array.dtype.itemsize <= 8:
            return array
    forms = _forms(read.listed())
    return [safe_form(form) for form in forms] if of_numpy else forms


def _unmasked(values: NDArray[Any], read: FrameColumn, gone: str) -> NDArray[Any]:
    """Return an array of its own with NaN or NaT where a cell is missing."""
    if read.missing is not None:
        values[read.missing] = values.dtype.type(gone)
    return values


def _forms(keys: Keys) -> Keys:
    """Return every key in its one form."""
    if set(map(type, keys)) <= PLAIN:
        return keys
    forms: Keys | None
    try:
        forms = [key_form(key) for key in keys]
        hash(tuple(forms))
    except Exception:  # arithmetic of some foreign type, whose message may show a value
        forms = None
    if forms is None:
        raise InputError(HASHABLE)
    return forms


def present(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Say which entries of an array of numbers or times are not missing."""
    if values.dtype.kind in "mM":
        return np.asarray(~np.isnat(values))
    return np.asarray(~np.isnan(values)) if values.dtype.kind == "f" else np.ones(values.size, dtype=np.bool_)


def listed_keys(keys: Keys | NDArray[Any]) -> Keys:
    """Return keys as Python objects, whole floats of an array as the integers that they are below 2^53.

    One empty cell makes a column of integers one of floats: whether there was one must not show in 7 or 7.0. Times stay
    as they are, since numpy lists some of them as integers.

    >>> listed_keys(np.array([0.5, 7.0]))
    [0.5, 7]
    """
    if not isinstance(keys, np.ndarray):
        return keys
    if keys.dtype.kind != "f":
        return list(keys) if keys.dtype.kind in "mM" else keys.tolist()
    with np.errstate(all="ignore"):  # a warning would tell that some cell is odd
        whole = (keys == np.rint(keys)) & (np.abs(keys) < LARGE)
    integers = np.where(whole, keys, 0).astype(np.int64).tolist()
    return [a if is_whole else b for a, b, is_whole in zip(integers, keys.tolist(), whole.tolist(), strict=True)]


def key_form(key: Any) -> Any:
    """Return the one form of a key, None for a missing one; a key that has none raises InputError.

    >>> key_form(Decimal("1.50")), key_form(-0.0), key_form(("a", np.int64(3)))
    (Decimal('1.5'), 0.0, ('a', 3))
    """
    form = _form(key)
    if form is NotImplemented:
        raise InputError(HASHABLE)
    return form


def _form(key: Any) -> Any:
    """Return the form, NotImplemented where there is none."""
    kind = type(key)
    if kind in PLAIN or kind is Fraction:
        return key
    if kind.__name__ in ("NAType", "NaTType"):
        return None
    for kinds, form in _FORMS:
        if isinstance(key, kinds):
            return form(key)
    return NotImplemented


def _float_form(key: Any) -> float | None:
    """Return a float with one zero, None for NaN."""
    plain = float.__float__(key) if isinstance(key, float) else float(key)
    return None if math.isnan(plain) else plain + 0.0


def _tuple_form(key: tuple[Any, ...]) -> Any:
    """Return the tuple of the entries' forms; tuples with names are no plain keys."""
    entries = tuple(_form(entry) for entry in key)
    refused = type(key) is not tuple or any(entry is NotImplemented for entry in entries)
    return NotImplemented if refused else entries


def _decimal_form(key: Decimal) -> Decimal | None:
    """Return a decimal without trailing zeros, whatever its precision."""
    key = Decimal(key)  # a subclass may say anything of itself
    if not key.is_finite():
        return None if key.is_nan() else key
    sign, digits, exponent = key.as_tuple()
    kept, place = list(digits), int(exponent)
    while kept and kept[-1] == 0:
        kept.pop()
        place += 1
    return Decimal((sign, tuple(kept), place)) if kept else Decimal(0)


def _time_form(key: Any) -> Any:
    """Return a point in time or a span in microseconds; None for a missing one, or one beyond 64 bits of them."""
    for convert in ("to_datetime64", "to_timedelta64"):  # pandas, whose times may lie farther away than Python's
        key = getattr(key, convert)() if hasattr(key, convert) else key
    if isinstance(key, np.datetime64 | np.timedelta64):
        made = in_microseconds(np.array([key]))[0]
        return None if np.isnat(made) else made
    if isinstance(key, timedelta):
        count = attoseconds(key) // 10**12
        return np.timedelta64(count, "us") if abs(count) < 2**63 else None
    if isinstance(key, datetime) and key.tzinfo is not None:
        shift = key.utcoffset() or timedelta(0)
        return np.datetime64(key.replace(tzinfo=None), "us") - np.timedelta64(shift, "us")
    return np.datetime64(key, "us")


_FORMS: tuple[tuple[Any, Any], ...] = (
    ((float, np.floating), _float_form),
    ((np.datetime64, np.timedelta64, date, timedelta), _time_form),
    (np.generic, lambda key: _form(key.item())),
    (Decimal, _decimal_form),
    (tuple, _tuple_form),
    *((parent, parent) for parent in (str, bytes, bool, int)),
)
