"""From a column of keys to the number of people who hold each, with a bound on the keys of one person.

Rules. A missing key is no key: its row is left out, and so is a row whose unit is missing (`frames.units` says whose
row is whose). Keys are told apart by type and value and come out in one form (`frames.keys`), so True, 1 and 1.0 are
three keys in a column of mixed types, and 0.0 and -0.0 are one.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.frames import Typed, key_values, listed_keys, person_codes, present
from discreet.privacy.numbers import whole
from discreet.statistics.columns.even_sort import as_long_as_a_sort

Keys = list[Any]
Counts = NDArray[np.int64]


def distinct_counts(column: object) -> tuple[Keys, Counts]:
    """Return the distinct keys of a column and the number of rows of each: counts of people where a row is a person.

    >>> distinct_counts(["fig", "pear", None, "fig"])
    (['fig', 'pear'], array([2, 1]))
    """
    keys, counts = distinct_table(column)
    return (listed_keys(keys) if isinstance(keys, np.ndarray) else keys), counts


def distinct_table(column: object) -> tuple[Keys | NDArray[Any], Counts]:
    """Return the same, with keys that are numbers or times as an array in order: few of them will be named.

    Numbers of numpy are floats there, which are written as integers where they are whole (`mechanisms.keys`).

    >>> distinct_table([3, 1, None, 3])[0], distinct_table(np.array([3, 1, 3]))[0]
    ([3, 1], array([1., 3.]))
    """
    values = key_values(column)
    if isinstance(values, np.ndarray):
        as_long_as_a_sort(values.size)
        distinct, counts = np.unique(_normal(values[present(values)]), return_counts=True)
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

    >>> bounded_keys(
    ...     ["a", "b", "a", "c", "a"], ["ana", "ana", "ana", "ana", "bo"], keys=2
    ... )
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
    values = key_values(column)
    if isinstance(values, np.ndarray):
        as_long_as_a_sort(values.size)
        held = present(values)
        distinct, inverse = np.unique(_normal(values[held]), return_inverse=True)
        codes = np.full(values.size, -1, dtype=np.int64)
        codes[held] = inverse.ravel()
        return codes, listed_keys(distinct)
    identities = _identities(values)
    known = dict.fromkeys(identities)
    known.pop(None, None)
    places: dict[Any, int] = {identity: place for place, identity in enumerate(known)}
    codes = np.fromiter((places.get(identity, -1) for identity in identities), dtype=np.int64, count=len(identities))
    return codes, _keys(list(known))


def _normal(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers with one zero: minus zero is zero."""
    return values + values.dtype.type(0) if values.dtype.kind == "f" else values


def _identities(forms: Keys) -> Keys:
    """Return what the keys of a list are told apart by: themselves, or with their types where these may differ."""
    kinds = set(map(type, forms)) - {type(None)}
    if len(kinds) <= 1 and tuple not in kinds:
        return forms
    return [None if form is None else Typed.of(form) for form in forms]


def _keys(identities: Keys) -> Keys:
    """Return the keys that identities stand for."""
    return [identity.form if type(identity) is Typed else identity for identity in identities]
