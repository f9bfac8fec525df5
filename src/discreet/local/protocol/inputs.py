"""Private values on their way into a client: checked against the public domain, and never shown.

Public parameters of local protocols are checked here too, by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, MissingParameter, ParameterError
from discreet.laws.number import exact_rational

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def checked_items(values: Any, size: int, places: Mapping[str, int]) -> Integers:
    """Return values as int64 from 0 to size - 1; raise InputError on anything else, always in the same words.

    A container without one entry for each person has an error of its own: it is code, not a value. `places` says
    where each label stands; it is empty where a protocol has none.

    >>> (
    ...     checked_items([2, 0, 1], 3, {}).tolist(),
    ...     checked_items(["b", 0], 2, {"a": 0, "b": 1}).tolist(),
    ... )
    ([2, 0, 1], [1, 0])
    """
    column = one_entry_each(values)
    if column is None:
        raise InputError(
            "values must be a list or one-dimensional array, one entry a person (report() takes a single value); "
            "nothing was reported"
        )
    items = _items(column, size, places)
    if items is None:  # raised here, outside any handler: nothing that could carry the value is chained
        words = " or the name of a category" if places else ""
        raise InputError(f"a value must be an int from 0 to {size - 1}{words}; nothing was reported")
    return items


def is_integer(value: object) -> bool:
    """Say whether an object is an integer of Python or numpy: no bool, and no span of time, which numpy counts in."""
    return type(value) is int or (isinstance(value, np.integer) and not isinstance(value, np.timedelta64))


def one_entry_each(values: Any) -> list[Any] | tuple[Any, ...] | NDArray[Any] | None:
    """Return one entry for each person as a list or an array; None if the container has no such entries."""
    if isinstance(values, list | tuple):
        return values
    try:
        array = np.asanyarray(values)
    except Exception:  # an object may do anything when it is asked for an array
        return None
    return array if array.ndim == 1 else None


def array_or_none(values: Any, kind: Any = None) -> NDArray[Any] | None:
    """Return an array; None if the object cannot be one."""
    try:
        return np.asarray(values, dtype=kind)
    except Exception:  # an object may do anything when it is asked for an array
        return None


def whole_within(value: Any, least: int, most: int, *, name: str) -> int:
    """Return a public integer within its limits."""
    if not is_integer(value) or not least <= value <= most:
        raise ParameterError(f"{name} must be an int from {least} to {most}", parameter=name)
    return int(value)


def _items(values: Any, size: int, places: Mapping[str, int]) -> Integers | None:
    """Return the values of a column as int64; None if any of them is not allowed."""
    if isinstance(values, np.ma.MaskedArray):
        return None
    if isinstance(values, list | tuple):
        return _one_by_one(values, size, places)
    if not values.size:
        return np.empty(0, dtype=np.int64)  # nobody is of no kind: numpy makes [] a column of floats
    if values.dtype.kind in "iu":
        return values.astype(np.int64) if _within(values, size) else None
    return _one_by_one(values.tolist(), size, places) if values.dtype.kind in "OUT" else None


def _one_by_one(values: Any, size: int, places: Mapping[str, int]) -> Integers | None:
    """Read Python objects: plain ints and labels, no bool, no float, no text that stands for a number."""
    found = np.empty(len(values), dtype=np.int64)
    for position, value in enumerate(values):
        place = places.get(value, -1) if isinstance(value, str) else int(value) if is_integer(value) else -1
        if not 0 <= place < size:
            return None
        found[position] = place
    return found


def _within(array: NDArray[Any], size: int) -> bool:
    """Say whether all values lie in the domain; compared as Python ints, so that no type can wrap round."""
    return not array.size or (int(array.min()) >= 0 and int(array.max()) < size)


_LARGEST_DOMAIN = 1 << 40
_MOST_LABELS, _LONGEST_LABEL, _MOST_LETTERS = 1 << 20, 1024, 1 << 22


def checked_categories(categories: object) -> int | tuple[str, ...]:
    """Return the public categories: their number, from 2 to 2^40, or their names, all different.

    >>> checked_categories(4), checked_categories(["tea", "coffee"])
    (4, ('tea', 'coffee'))
    """
    if categories is None:
        raise MissingParameter(
            "categories= is the public number of categories, or the list of their names; it is never guessed",
            parameter="categories",
        )
    if isinstance(categories, int | np.integer) and is_integer(categories) and 2 <= categories <= _LARGEST_DOMAIN:
        return int(categories)
    names = _listed(categories)
    if names is None or len(names) < 2:
        raise _refused("an int from 2 to 2^40, or a list of two names or more")
    if len(names) > _MOST_LABELS:
        raise _refused("at most 2^20 names; larger domains use a number, or keys")
    if not all(type(name) is str and 1 <= len(name) <= _LONGEST_LABEL and _writable(name) for name in names):
        raise _refused("texts of 1 to 1024 characters that UTF-8 can write, where they are named")
    # a character beyond U+FFFF counts twice: a spec writes it as two escapes, and must stay short enough to be read
    if sum(len(name.encode("utf-16-le")) for name in names) > 2 * _MOST_LETTERS:
        raise _refused("names of at most 2^22 characters in all; larger domains use a number, or keys")
    if len(set(names)) != len(names):
        raise _refused("different from each other; two names are the same")
    return names


def number_of_categories(categories: int | Sequence[str]) -> int:
    """Return how many categories there are, of those that were checked."""
    return categories if isinstance(categories, int) else len(categories)


def _refused(words: str) -> ParameterError:
    """Return the error that says what categories must be."""
    return ParameterError(f"categories must be {words}", parameter="categories")


def number_of_people(people: Any) -> int:
    """Return a number of people, at least 1."""
    if not is_integer(people) or people < 1:
        raise ParameterError("people must be an int of at least 1", parameter="people")
    return int(people)


def frequency_of_people(frequency: object) -> Fraction:
    """Return a frequency, a part of the people, exactly, from 0 to 1."""
    exact = exact_rational(frequency, name="frequency")
    if not 0 <= exact <= 1:
        raise ParameterError("frequency must be a number from 0 to 1", parameter="frequency")
    return exact


def _listed(names: Any) -> tuple[Any, ...] | None:
    """Return a list or a column of names (an array, a series) as a tuple, None for anything else."""
    if not isinstance(names, str | bytes | list | tuple) and getattr(names, "ndim", 1) == 1:
        listed = getattr(names, "tolist", None) or getattr(names, "to_list", None)
        names = listed() if callable(listed) else names
    if isinstance(names, list | tuple):
        return tuple(str(name) if type(name) is np.str_ else name for name in names)
    return None


def _writable(label: str) -> bool:
    """Say whether UTF-8 can write a text: it holds no lone surrogate."""
    try:
        label.encode()
    except UnicodeEncodeError:
        return False
    return True


def counted(number: int, one: str, many: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "person", "people"), counted(2000, "person", "people")
    ('1 person', '2,000 people')
    """
    return f"{number:,} {one if number == 1 else many}"
