"""From a column of keys to the number of people who hold each, with a bound on the keys of one person.

Rules. A missing key (None, NaN, NaT, NA, NULL, a masked entry) is no key: its row is left out, and so is a row whose
unit is missing (`units` says whose row is whose). Keys are told apart by type and value and come out in one form (see
`key_form`), so True, 1 and 1.0 are three keys in a column of mixed types, and 0.0 and -0.0 are one. Texts are compared
by code points: nothing is normalized, trimmed or folded. Columns come from numpy, pandas, Polars, Arrow, or are lists;
how one is read depends on its type alone, never on what it holds. In a numpy array or a pandas column of a numpy type
whole numbers are integers (7.0 is 7), and numbers of 2^53 and more in size are missing keys: see `columns.numbers`.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._optional import optional
from discreet.errors import InputError
from discreet.mechanisms.keys import listed
from discreet.privacy.numbers import whole
from discreet.statistics.columns.even_sort import as_long_as_a_sort
from discreet.statistics.columns.key_form import HASHABLE, PLAIN, Typed, in_microseconds, key_form
from discreet.statistics.columns.numbers import frame_library, held_by_numpy, safe_floats, safe_form, unmasked
from discreet.statistics.columns.units import person_codes

_WANTED = "a column of keys is a numpy array, a pandas, Polars or Arrow column, or a list, in one dimension"
_NOT_A_TIME = np.iinfo(np.int64).min

Keys = list[Any]
Counts = NDArray[np.int64]


def distinct_counts(column: object) -> tuple[Keys, Counts]:
    """Return the distinct keys of a column and the number of rows of each: counts of people where a row is a person.

    >>> distinct_counts(["fig", "pear", None, "fig"])
    (['fig', 'pear'], array([2, 1]))
    """
    keys, counts = distinct_table(column)
    return (_listed(keys) if isinstance(keys, np.ndarray) else keys), counts


def distinct_table(column: object) -> tuple[Keys | NDArray[Any], Counts]:
    """Return the same, with keys that are numbers or times as an array in order: few of them will be named.

    Numbers of numpy are floats there, which are written as integers where they are whole (`mechanisms.keys`).

    >>> distinct_table([3, 1, None, 3])[0], distinct_table(np.array([3, 1, 3]))[0]
    ([3, 1], array([1., 3.]))
    """
    values = _values(column)
    if isinstance(values, np.ndarray):
        as_long_as_a_sort(values.size)
        distinct, counts = np.unique(_normal(values[_present(values)]), return_counts=True)
        return distinct, counts.astype(np.int64)
    tally = Counter(_identities(values))
    tally.pop(None, None)
    counts = np.fromiter(tally.values(), dtype=np.int64, count=len(tally))
    return _keys(list(tally)), counts


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


def key_codes(column: object, *, as_written: bool = False) -> tuple[NDArray[np.int64], Keys]:
    """Return a number for every row, -1 where its key is missing, and the keys that the numbers stand for.

    `as_written` keeps numbers of numpy as they are, large ones too: for attacks, which protect nobody.

    >>> key_codes([True, 1, None, True])
    (array([ 0,  1, -1,  0]), [True, 1])
    """
    values = _values(column, as_written=as_written)
    if isinstance(values, np.ndarray):
        as_long_as_a_sort(values.size)
        present = _present(values)
        distinct, inverse = np.unique(_normal(values[present]), return_inverse=True)
        codes = np.full(values.size, -1, dtype=np.int64)
        codes[present] = inverse.ravel()
        return codes, _listed(distinct)
    identities = _identities(values)
    known = dict.fromkeys(identities)
    known.pop(None, None)
    places: dict[Any, int] = {identity: place for place, identity in enumerate(known)}
    codes = np.fromiter((places.get(identity, -1) for identity in identities), dtype=np.int64, count=len(identities))
    return codes, _keys(list(known))


def _values(column: object, *, as_written: bool = False) -> NDArray[Any] | Keys:
    """Return a column as an array of numbers or times, or as a list of keys in their one form."""
    of_numpy = held_by_numpy(column) and not as_written
    library = frame_library(column)
    if library is not None:
        column = _from_frame(column, library)
    if isinstance(column, np.ma.MaskedArray):
        column = unmasked(column)
    if isinstance(column, np.ndarray):
        if column.ndim != 1 or column.dtype.kind not in "biufSUOmM":
            raise InputError(_WANTED)
        if column.dtype.kind in "iuf" and of_numpy:
            return safe_floats(column)
        if column.dtype.kind in "biuf" and column.dtype.itemsize <= 8:
            return column
        if column.dtype.kind in "mM":
            return in_microseconds(column)
        column = column.tolist() if column.dtype.kind != "f" else list(column)
    if not isinstance(column, list | tuple):
        raise InputError(_WANTED)
    forms = list(column) if set(map(type, column)) <= PLAIN else _forms(column)
    return [safe_form(form) for form in forms] if of_numpy else forms


def _forms(column: list[Any] | tuple[Any, ...]) -> Keys:
    """Return every key in its one form."""
    forms: Keys | None
    try:
        forms = [key_form(key) for key in column]
        hash(tuple(forms))
    except Exception:  # arithmetic of some foreign type, whose message may show a value
        forms = None
    if forms is None:
        raise InputError(HASHABLE)
    return forms


def _from_frame(column: Any, library: str) -> Any:
    """Return a frame library's column: plain numpy types as arrays, times in microseconds, all others as lists."""
    if getattr(column, "ndim", 1) != 1 or hasattr(column, "columns"):
        raise InputError("pass one column of keys: pick it from the frame, such as frame['key']")
    read: Any = None
    try:
        if library == "pandas":
            read = column.to_numpy() if isinstance(column.dtype, np.dtype) else list(column.astype(object))
        else:
            read = _from_polars(column) if library == "polars" else _from_arrow(column)
    except Exception:  # each library has a tree of its own, and its messages may show a value
        read = None
    if read is None:
        raise InputError(f"this {library} object could not be read as a column of keys; {_WANTED}")
    return read


def _from_polars(column: Any) -> Any:
    """Return a Polars column; a point in time with a zone is stored in UTC."""
    polars = optional("polars", extra="frames", purpose="reading a Polars column")

    kind = column.dtype.base_type()
    if kind is polars.Date:
        return _times(column.to_physical().to_list(), "M8[D]")
    if kind in (polars.Datetime, polars.Duration):
        letter = "M" if kind is polars.Datetime else "m"
        return _times(column.to_physical().to_list(), f"{letter}8[{column.dtype.time_unit}]")
    return column.to_list()


def _from_arrow(column: Any) -> Any:
    """Return an Arrow column; a point in time with a zone is stored in UTC."""
    pyarrow = optional("pyarrow", extra="frames", purpose="reading an Arrow column")

    types = pyarrow.types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_date32(column.type):
        return _times(column.cast(pyarrow.int32()).to_pylist(), "M8[D]")
    if types.is_date64(column.type):
        return _times(column.cast(pyarrow.int64()).to_pylist(), "M8[ms]")
    if types.is_timestamp(column.type) or types.is_duration(column.type):
        letter = "M" if types.is_timestamp(column.type) else "m"
        return _times(column.cast(pyarrow.int64()).to_pylist(), f"{letter}8[{column.type.unit}]")
    return column.to_pylist()


def _times(counts: list[int | None], kind: str) -> NDArray[Any]:
    """Return points in time, or spans, from whole numbers of the unit that a dtype names."""
    numbers = np.array([_NOT_A_TIME if one is None else one for one in counts], dtype=np.int64)
    return in_microseconds(numbers.view(kind))


def _present(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Say which entries of an array of numbers or times are not missing."""
    if values.dtype.kind in "mM":
        return np.asarray(~np.isnat(values))
    return np.asarray(~np.isnan(values)) if values.dtype.kind == "f" else np.ones(values.size, dtype=np.bool_)


def _normal(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers with one zero: minus zero is zero."""
    return values + values.dtype.type(0) if values.dtype.kind == "f" else values


def _listed(distinct: NDArray[Any]) -> Keys:
    """Return keys as Python objects; times stay as they are, since tolist makes bare integers of some."""
    return list(distinct) if distinct.dtype.kind in "mM" else listed(distinct)


def _identities(forms: Keys) -> Keys:
    """Return what the keys of a list are told apart by: themselves, or with their types where these may differ."""
    kinds = set(map(type, forms)) - {type(None)}
    if len(kinds) <= 1 and tuple not in kinds:
        return forms
    return [None if form is None else Typed.of(form) for form in forms]


def _keys(identities: Keys) -> Keys:
    """Return the keys that identities stand for."""
    return [identity.form if type(identity) is Typed else identity for identity in identities]
