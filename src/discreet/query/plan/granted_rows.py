"""What a mechanism that is handed rows must know first: the table, and which rows of one unit count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import MissingBound, UnknownName
from discreet.frames import person_codes
from discreet.query.expression import Type
from discreet.query.policy import Policy, TablePolicy, UnitIsRow, header
from discreet.randomness import words


def table_named(policy: Policy, name: str) -> TablePolicy:
    """Return what the policy says about a private table."""
    for one in policy.tables.values():
        if one.name.lower() == str(name).lower():
            return one
    known = ", ".join(policy.tables)
    raise UnknownName(f"there is no private table {str(name)[:80]!r}; there are {known}. Nothing was spent.")


def rows_of_one_unit(table: TablePolicy) -> int:
    """Return how many records of one unit count at most: what the policy says, and 1 where every row is a unit."""
    if isinstance(table.unit, UnitIsRow):
        return 1
    if table.limits.rows is None:
        raise MissingBound(
            f"say how many rows of one unit count: add rows = ... under {header(('tables', table.name))}. Nothing was "
            "spent."
        )
    return table.limits.rows


def bounded(units: Any, most: int) -> NDArray[np.int64]:
    """Return the positions of the rows to keep: at most `most` of each unit, a uniformly random set of its rows.

    Rows that name nobody are not kept; `frames.units` says which ids are one unit.

    Privacy. The law of what is kept is a product over units, and the factor of a unit depends on its own rows alone.
        So tables that differ in one unit have, coupled, kept tables that differ in at most `most` rows of that unit, or
        under change-one in at most `most` rows that go and `most` that come.
        Proof: every row gets a key; keys are independent and uniform, and drawn again, all of them, until no two are
        alike. Given that, all orders of the keys are equally likely. A unit keeps its rows with the least keys; which
        these are depends on the order of the keys of its own rows only. These orders are uniform and independent over
        units, since the order of all rows is uniform and the units share no row.
    Cost. One sort.

    >>> kept = bounded(["ana", "ben", "ana", "ana"], 2)
    >>> len(kept), 1 in kept
    (3, True)
    """
    unit = person_codes(units)
    held = np.flatnonzero(unit >= 0)
    keys = _distinct_keys(len(held))
    order = held[np.lexsort((keys, unit[held]))]
    first = np.flatnonzero(np.diff(unit[order], prepend=-1))
    rank = np.arange(len(order)) - np.repeat(first, np.diff(np.append(first, len(order))))
    return np.sort(order[rank < most])


def _distinct_keys(count: int) -> NDArray[np.uint64]:
    """Return uniform words of which no two are alike."""
    while True:
        keys = words(count)
        if len(np.unique(keys)) == count:
            return keys


def entries_of(entries: Any, kind: Type) -> Any:
    """Return a column as arrays whose entries are those of the policy's type: a date is no time."""
    if kind is Type.DATE and np.ma.getdata(entries).dtype.kind == "M":
        return np.ma.masked_array(
            np.ma.getdata(entries).astype("datetime64[D]"), mask=np.ma.getmaskarray(entries) | np.isnat(entries)
        )
    return np.ma.asarray(entries)
