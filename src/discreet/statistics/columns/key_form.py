"""The one form of a key: equal keys are written alike, so that a released key says nothing about who wrote it how.

Two keys that compare equal may still look different: Decimal('1.0') and Decimal('1.00'), one instant in two time zones,
(1.0,) and (True,). Had each row's own form a chance to be released, the form would tell whose row came first. So every
key is brought to one form that depends on the key alone, and keys of different types are different keys.

| key | its form |
|---|---|
| bool, int, str, bytes, Fraction | itself, as the plain Python type |
| float | itself, 0.0 for minus zero |
| Decimal | without trailing zeros |
| date, datetime, numpy and pandas times | numpy's datetime64 in microseconds, in UTC where there is a time zone |
| timedelta | numpy's timedelta64 in microseconds |
| tuple | the tuple of its entries' forms |

Points in time and spans that microseconds cannot say are missing, and no other time: numpy and Arrow convert between
units by multiplication that wraps around: the year 300,000 becomes some other one.
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

HASHABLE = "keys must be texts, numbers, truth values, dates, or tuples of them"
PLAIN: frozenset[type] = frozenset({str, int, bool, bytes, type(None)})  # in their one form as they are


class Typed(tuple[type, Any]):
    """A key told apart from equal keys of other types; entries of tuples are told apart too."""

    __slots__ = ()

    @classmethod
    def of(cls, form: Any) -> Typed:
        """Return what a form is told apart by."""
        if type(form) is tuple:
            return cls((tuple, tuple(cls.of(entry) for entry in form)))
        return cls((type(form), form))

    @property
    def form(self) -> Any:
        """The form itself."""
        kind, inner = self
        return tuple(entry.form for entry in inner) if kind is tuple else inner


def key_form(key: Any) -> Any:
    """Return the one form of a key, None for a missing one; refuse keys that have none.

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
    if isinstance(key, np.datetime64 | np.timedelta64):
        made = in_microseconds(np.array([key]))[0]
        return None if np.isnat(made) else made
    if isinstance(key, timedelta):
        return np.timedelta64(key, "us")
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


_FINER = frozenset({"ns", "ps", "fs", "as"})


def in_microseconds(times: NDArray[Any]) -> NDArray[Any]:
    """Return datetime64 or timedelta64 of any unit in microseconds, NaT where they do not fit 64 bits.

    >>> in_microseconds(np.array(["2026-01-01", "300000-01-01"], dtype="datetime64[s]"))
    array(['2026-01-01T00:00:00.000000',                        'NaT'],
          dtype='datetime64[us]')
    """
    made = times.astype(f"{times.dtype.kind}8[us]")
    if np.datetime_data(times.dtype)[0] not in _FINER:
        # a time that wrapped around lies nearer to 1970 than any that does not fit, so it does not lead back
        made[made.astype(times.dtype) != times] = np.array("NaT", dtype=made.dtype)
    return made
