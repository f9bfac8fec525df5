"""Whose row it is: from a unit column to one number for each person, the same on every road that takes units.

Rules. Equal ids are one person, whatever they are written as (see `unit_form`), and a missing id is nobody: its row is
left out. A column whose type is a float is refused, whatever it holds: one empty id makes a column of integers one of
floats, and there large integers that differ are equal. So is a column of a type that holds no ids, such as times of
day, lists or records. Ids of two kinds in one list or object column, such as texts beside numbers, are refused, since
it is not stated whether they can be equal.

Privacy. With a column of integers, texts, times or any other type but objects, nothing that one person's rows hold can
    cause a refusal, and no person's number says anything but which rows are theirs. In a list or an object column one
    person's id of another kind does cause a refusal, and a refusal tells that such an id is there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.frames.column import ColumnKind, FrameColumn, without
from discreet.frames.unit_form import ZONED, Named, NoFloat, named

Codes = NDArray[np.int64]
IDS = "ids come as integers, texts, or a nullable integer type such as pandas' Int64"
FLOATS = (
    f"a unit column must not hold floats: large ids that differ are equal there, and an empty one makes floats of all; "
    f"{IDS}"
)
MIXED = (
    "a unit column must hold ids of one kind: whether a text can equal a number, or a day a time, is unclear; convert "
    "all ids to one kind, best in a column with a type"
)
NO_IDS = f"a unit column must hold what can name a person; {IDS}, or dates, bytes, UUIDs, or tuples of such"


def person_codes(unit: object) -> Codes:
    """Return a number for every row, equal for rows of the same person, -1 where nobody is named.

    >>> person_codes(["ana", None, "bo", "ana"])
    array([ 0, -1,  1,  0])
    >>> person_codes([1, True, 1.0, 2])
    array([0, 0, 0, 1])
    """
    read = _read(unit)
    if read.array is None:
        return _listed_codes(read.listed())
    codes = np.unique(read.array, return_inverse=True)[1].ravel().astype(np.int64, copy=False)
    codes[_nobody(read)] = -1
    return codes


def joint_codes(*units: object) -> list[Codes]:
    """Return the numbers of several unit columns, equal for the same person in all of them.

    >>> joint_codes(np.array([3, 5]), [5.0, None, True])
    [array([0, 1]), array([ 1, -1,  2])]
    """
    found = [_names(_read(unit)) for unit in units]
    codes = _named_codes([one for column in found for one in column])
    return np.split(codes, np.cumsum([len(column) for column in found])[:-1])


def unit_array(unit: object) -> NDArray[Any]:
    r"""Return a copy of the ids of a column: of a typed one in its type, of any other the objects that they are.

    >>> unit_array(["a", "a\0"]).tolist(), unit_array([2**64 - 1, -1]).tolist()
    (['a', 'a\x00'], [18446744073709551615, -1])
    """
    read = _read(unit)
    gone = _nobody(read)
    if read.array is None or gone.any():
        listed = without(read.listed(), gone if len(gone) else None)
        return np.fromiter(listed, dtype=object, count=len(listed))
    return read.array.copy()


def _listed_codes(ids: list[Any]) -> Codes:
    """Return the numbers of ids read one by one; Python's integers, texts and bytes are told apart as they are."""
    kinds = set(map(type, ids)) - {type(None)}
    if kinds <= {int, bool} or kinds in ({str}, {bytes}):
        return _numbered(ids)
    return _named_codes(_identified(ids))


def _identified(ids: list[Any]) -> list[Named | None]:
    """Return whom every id names; what cannot name a person raises InputError."""
    refused: str
    try:
        return [named(entry) for entry in ids]
    except NoFloat:
        refused = FLOATS
    except Exception:  # no id, or arithmetic of some foreign type, whose message may show a value
        refused = NO_IDS
    raise InputError(refused)


def _names(read: FrameColumn) -> list[Named | None]:
    """Return whom every id of a column names; times of a column with a zone are of that kind."""
    found = _identified(read.listed())
    return [one and one._replace(kind=ZONED) for one in found] if read.zone else found


def _named_codes(found: list[Named | None]) -> Codes:
    """Return the numbers of ids that must all be of one kind."""
    if len({one.kind for one in found if one is not None}) > 1:
        raise InputError(MIXED)
    return _numbered([None if one is None else one.identity for one in found])


def _numbered(identities: list[Any]) -> Codes:
    """Return the place of every identity among the distinct ones, -1 for None."""
    known = dict.fromkeys(identities)
    known.pop(None, None)
    places = {identity: place for place, identity in enumerate(known)}
    return np.fromiter((places.get(one, -1) for one in identities), dtype=np.int64, count=len(identities))


def _read(unit: Any) -> FrameColumn:
    """Return a column of ids; its type alone decides whether it can be one."""
    read = FrameColumn.read(unit, "a unit column")
    if read.array is not None and read.array.dtype.kind == "f":
        raise InputError(FLOATS)
    if read.kind is ColumnKind.OTHER if read.array is None else read.array.dtype.kind not in "biumM":
        raise InputError(NO_IDS)
    return read


def _nobody(read: FrameColumn) -> NDArray[np.bool_]:
    """Say which cells of a typed column name nobody."""
    if read.array is None:
        return np.zeros(0, dtype=np.bool_)
    nobody = np.isnat(read.array) if read.array.dtype.kind in "mM" else np.zeros(read.array.size, dtype=np.bool_)
    return nobody if read.missing is None else nobody | read.missing
