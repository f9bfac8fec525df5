"""Promises as plain values for an entry: every number an exact rational, every notion and relation by its name.

Checks of the public words an entry keeps: names, digests, keys and descriptions.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import fields
from fractions import Fraction

from discreet.errors import ParameterError
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, Relation, RenyiDP
from discreet.privacy.adaptive import Amounts
from discreet.privacy.numbers import exactly, written
from discreet.privacy.records import rational_text, read_rational, refuse_fields

_NOTIONS: dict[str, type[Guarantee]] = {
    "pure": PureDP, "approximate": ApproxDP, "zero-concentrated": ZCDP, "renyi": RenyiDP, "gaussian": GaussianDP,
}  # fmt: skip
_NAMES = {notion: name for name, notion in _NOTIONS.items()}
_LEAST = Fraction(sys.float_info.min)
_MOST_CHARACTERS = 900  # the totals, of this number and of floats, stay within what `read_rational` reads


def checked_promise(promise: object, *, name: str) -> Guarantee:
    """Return a promise whose numbers a ledger can add up for ever: 0 or a normal number, of a bounded length.

    >>> checked_promise(PureDP(5e-324), name="price")
    Traceback (most recent call last):
    ...
    discreet.errors.ParameterError: price: epsilon lies below the least normal float, 2.2e-308; name 0 or a larger ...
    """
    if not isinstance(promise, Guarantee) or type(promise) not in _NAMES:
        kind = promise.__name__ if isinstance(promise, type) else type(promise).__name__
        raise ParameterError(f"{name} is a promise, for example PureDP(0.1), not {kind}", parameter=name)
    for parameter, value in _numbers(promise).items():
        if 0 < value < _LEAST:
            raise ParameterError(
                f"{name}: {parameter} lies below the least normal float, 2.2e-308; name 0 or a larger number",
                parameter=name,
            )
        if len(str(rational_text(value))) > _MOST_CHARACTERS:
            raise ParameterError(
                f"{name}: {parameter} has more than {_MOST_CHARACTERS} digits; round it up to a float", parameter=name
            )
    return promise


def promise_to_plain(promise: Guarantee) -> dict[str, int | str]:
    """Return the promise as names and exact numbers.

    >>> promise_to_plain(PureDP(0.5, relation=Relation.ADD_REMOVE))
    {'notion': 'pure', 'relation': 'add/remove', 'epsilon': '1/2'}
    """
    numbers = {name: rational_text(value) for name, value in _numbers(promise).items()}
    return {"notion": _NAMES[type(promise)], "relation": promise.relation.value, **numbers}


def promise_from_plain(plain: object) -> Guarantee:
    """Return the promise that plain values stand for."""
    notion = _NOTIONS.get(str(plain.get("notion"))) if isinstance(plain, dict) else None
    if notion is None:
        raise ParameterError("a promise in an entry needs its notion", parameter="entry")
    names = [field.name for field in fields(notion) if field.name != "relation"]  # type: ignore[arg-type]
    given = refuse_fields(plain, ["notion", "relation", *names], what="a promise")
    numbers = {name: exactly(read_rational(given[name], name=name)) for name in names}
    return notion(**numbers, relation=Relation(given["relation"]))  # type: ignore[call-arg]  # every notion takes it


def amounts_to_plain(amounts: Sequence[Fraction]) -> list[int | str]:
    """Return exact amounts as integers and fractions."""
    return [rational_text(amount) for amount in amounts]


def amounts_from_plain(plain: object) -> Amounts:
    """Return exact amounts from an entry."""
    if not isinstance(plain, list):
        raise ParameterError("amounts in an entry are a list", parameter="entry")
    return tuple(read_rational(value, name="amount") for value in plain)


def _numbers(promise: Guarantee) -> dict[str, Fraction]:
    names = [field.name for field in fields(promise) if field.name != "relation"]  # type: ignore[arg-type]
    return {name: written(getattr(promise, name)) for name in names}


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
