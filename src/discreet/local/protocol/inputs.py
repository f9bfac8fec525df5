"""Private values on their way into a client: checked against the public domain, and never shown.

Public parameters of local protocols are checked here too, by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, MissingParameter, ParameterError
from discreet.laws.number import exact_rational

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def checked_items(values: Any, size: int, places: Mapping[str, int]) -> Integers:
    """Return values as int64 from 0 to size - 1; refuse everything else in the same words, whatever it is.

    A container that has no entry for each person is refused in other words: it is code, not a value. `places` says
    where each label stands; it is empty where a protocol has none.

    >>> checked_items([2, 0, 1], 3, {}).tolist(), checked_items(["b", 0], 2, {"a": 0, "b": 1}).tolist()
    ([2, 0, 1], [1, 0])
    """
    column = one_entry_each(values)
    if column is None:
        raise InputError(
            "values come as a list or one-dimensional array, one entry a person (report() takes a single value); "
            "nothing was reported"
        )
    items = _items(column, size, places)
    if items is None:  # raised here, outside any handler: nothing that could carry the value is chained
        words = " or one of its labels" if places else ""
        raise InputError(f"a value is an int from 0 to {size - 1}{words}; nothing was reported")
    return items


def is_integer(value: object) -> bool:
    """Say whether an object is an integer of Python or numpy: no bool, and no span of time, which numpy counts in."""
    return type(value) is int or (isinstance(value, np.integer) and not isinstance(value, np.timedelta64))


def one_entry_each(values: Any) -> list[Any] | tuple[Any, ...] | NDArray[Any] | None:
    """Return one entry for each person as a list or an array, or None if the container has no such entries."""
    if isinstance(values, list | tuple):
        return values
    try:
        array = np.asanyarray(values)
    except Exception:  # an object may do anything when it is asked for an array
        return None
    return array if array.ndim == 1 else None


def array_or_none(values: Any, kind: Any = None) -> NDArray[Any] | None:
    """Return an array, or None if the object cannot be one."""
    try:
        return np.asarray(values, dtype=kind)
    except Exception:  # an object may do anything when it is asked for an array
        return None


def whole_within(value: Any, least: int, most: int, *, name: str) -> int:
    """Return a public integer within its limits."""
    if not is_integer(value) or not least <= value <= most:
        raise ParameterError(f"{name} is an int from {least} to {most}", parameter=name)
    return int(value)


def _items(values: Any, size: int, places: Mapping[str, int]) -> Integers | None:
    """Return the values of a column as int64, or None if any of them is no value."""
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


def domain_size(values: Any) -> int:
    """Return the public number of values, from 2 to 2^40."""
    if values is None:
        raise MissingParameter("values= is the public number of values and is never guessed", parameter="values")
    if not is_integer(values) or not 2 <= values <= _LARGEST_DOMAIN:
        raise ParameterError("values is the public number of values, an int from 2 to 2^40", parameter="values")
    return int(values)


def number_of_people(people: Any) -> int:
    """Return a number of people, at least 1."""
    if not is_integer(people) or people < 1:
        raise ParameterError("people is the number of reports, an int of at least 1", parameter="people")
    return int(people)


def frequency_of_people(frequency: object) -> Fraction:
    """Return a frequency, a part of the people, exactly, from 0 to 1."""
    exact = exact_rational(frequency, name="frequency")
    if not 0 <= exact <= 1:
        raise ParameterError("frequency must be a number from 0 to 1", parameter="frequency")
    return exact


def listed_labels(labels: Any) -> Any:
    """Return a column of labels (an array, a series) as a list, and anything else as it is, to be checked."""
    if not isinstance(labels, str | bytes | list | tuple) and getattr(labels, "ndim", 1) == 1:
        listed = getattr(labels, "tolist", None) or getattr(labels, "to_list", None)
        labels = listed() if callable(listed) else labels
    if isinstance(labels, list | tuple):
        return tuple(str(label) if type(label) is np.str_ else label for label in labels)
    return labels


def public_labels(labels: object, size: int) -> tuple[str, ...]:
    """Return the public names of the values: none, or one for each, all different.

    >>> public_labels(["tea", "coffee"], 2)
    ('tea', 'coffee')
    """
    if isinstance(labels, str | bytes) or not isinstance(labels, list | tuple):
        raise ParameterError("labels are a list of texts, one for each value", parameter="labels")
    if not labels:
        return ()
    if len(labels) > _MOST_LABELS:
        raise ParameterError("labels name at most 2^20 values; larger domains use numbers or keys", parameter="labels")
    if not all(type(label) is str and 1 <= len(label) <= _LONGEST_LABEL and _writable(label) for label in labels):
        raise ParameterError("a label is a text of 1 to 1024 characters that UTF-8 can write", parameter="labels")
    # a character beyond U+FFFF counts twice: a spec writes it as two escapes, and must stay short enough to be read
    if sum(len(label.encode("utf-16-le")) for label in labels) > 2 * _MOST_LETTERS:
        raise ParameterError("labels have at most 2^22 characters in all; use numbers or keys", parameter="labels")
    if len(set(labels)) != len(labels):
        raise ParameterError("two labels are the same; every value needs its own", parameter="labels")
    if len(labels) != size:
        raise ParameterError(f"there are {len(labels)} labels for {size} values", parameter="labels")
    return tuple(labels)


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
