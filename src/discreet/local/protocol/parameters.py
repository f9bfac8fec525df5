"""Public parameters of local protocols, checked by name."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import MissingParameter, ParameterError
from discreet.laws.number import exact_rational
from discreet.local.protocol.inputs import is_integer

_LARGEST_DOMAIN = 1 << 40
_MOST_LABELS, _LONGEST_LABEL, _MOST_LETTERS = 1 << 20, 1024, 1 << 22


def domain_size(values: object) -> int:
    """Return the public number of values, from 2 to 2^40."""
    if values is None:
        raise MissingParameter("values= is the public number of values and is never guessed", parameter="values")
    number = _integer(values)
    if number is None or not 2 <= number <= _LARGEST_DOMAIN:
        raise ParameterError("values is the public number of values, an int from 2 to 2^40", parameter="values")
    return number


def number_of_people(people: object) -> int:
    """Return a number of people, at least 1."""
    number = _integer(people)
    if number is None or number < 1:
        raise ParameterError("people is the number of reports, an int of at least 1", parameter="people")
    return number


def share_of_people(fraction: object) -> Fraction:
    """Return a share of the people exactly, from 0 to 1."""
    share = exact_rational(fraction, name="fraction")
    if not 0 <= share <= 1:
        raise ParameterError("fraction is a share of the people, from 0 to 1", parameter="fraction")
    return share


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


def _integer(value: Any) -> int | None:
    """Return an integer of Python or numpy, or None."""
    return int(value) if is_integer(value) else None


def _writable(label: str) -> bool:
    """Say whether UTF-8 can write a text: it holds no lone surrogate."""
    try:
        label.encode()
    except UnicodeEncodeError:
        return False
    return True
