"""Checks of the public words an entry keeps: names, digests, keys and descriptions."""

from __future__ import annotations

import re

from discreet.errors import ParameterError

_SHORT = 200
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


def checked_words(value: object, *, name: str, most: int = _SHORT) -> str:
    """Return a text that is not empty, not too long, and Unicode."""
    if not isinstance(value, str) or not value.strip():
        raise ParameterError(f"{name} is a text that is not empty", parameter=name)
    if len(value) > most:
        raise ParameterError(f"{name} has more than {most} characters: shorten it", parameter=name)
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise ParameterError(f"{name} holds half of a character pair, which is no text", parameter=name)
    return value


def checked_digest(value: object, *, name: str) -> str:
    """Return a SHA-256 in hexadecimal.

    >>> checked_digest("abc", name="digest")
    Traceback (most recent call last):
    ...
    discreet.errors.ParameterError: digest is a SHA-256 written as 64 hexadecimal digits
    """
    if not isinstance(value, str) or _DIGEST.fullmatch(value) is None:
        raise ParameterError(f"{name} is a SHA-256 written as 64 hexadecimal digits", parameter=name)
    return value
