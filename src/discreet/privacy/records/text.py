"""Records as text: JSON without floats, in one canonical form, read with nothing guessed."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NoReturn

from discreet.errors import ParameterError
from discreet.privacy.records.kinds import shortened

Text = str | bytes

# a float has at most 1075 digits on either side of the bar; this leaves room, and keeps reading fast
_MOST_DIGITS = 2000
_MOST_CHARACTERS = 64 * 2**20
_RATIONAL = re.compile(r"(0|-?[1-9][0-9]*)/([1-9][0-9]*)", re.ASCII)


def write(value: object) -> str:
    """Return the canonical text: keys sorted, no spaces, ASCII.

    >>> write({"b": 1, "a": "2/3"})
    '{"a":"2/3","b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def read(text: Text) -> object:
    """Return the plain values of a JSON text; floats, NaN, doubled keys and huge numbers are refused.

    >>> read('{"rate": 0.01}')
    Traceback (most recent call last):
    ...
    discreet.errors.ParameterError: records hold exact numbers, and 0.01 is not one:
        write a fraction, such as "1/100"
    """
    if not isinstance(text, str | bytes):
        raise ParameterError(f"records must be text, not {shortened(text)}", parameter="records")
    if len(text) > _MOST_CHARACTERS:
        raise ParameterError("more than 64 MiB of records: read them in parts", parameter="records")
    problem = ""
    try:
        return json.loads(
            text if isinstance(text, str) else text.decode("utf-8"),
            object_pairs_hook=_once, parse_float=_no_float, parse_int=_integer, parse_constant=_no_float,
        )  # fmt: skip
    except ParameterError:
        raise
    except UnicodeDecodeError:
        problem = "it is not UTF-8"
    except json.JSONDecodeError as error:
        problem = f"{error.msg} at line {error.lineno}, column {error.colno}"
    except RecursionError:
        problem = "it is nested too deeply"
    raise ParameterError(f"this is not a JSON text: {problem}", parameter="records")


def refuse_fields(given: object, names: Sequence[str], *, what: str) -> dict[str, Any]:
    """Return an object's fields if they are exactly these."""
    if not isinstance(given, dict):
        raise ParameterError(f"{what}: a JSON object is needed, not {shortened(given)}", parameter="records")
    for name in given:
        if name not in names:
            raise ParameterError(
                f"{what}: the field {shortened(name)} is unknown to this version of discreet, which will not guess "
                "whether it changes the price; the fields are " + ", ".join(names),
                parameter="records",
            )
    for name in names:
        if name not in given:
            raise ParameterError(f"{what}: the field {name!r} is missing", parameter=name)
    return given


def rational_text(value: Fraction) -> int | str:
    """Return an integer as itself and a fraction as "p/q" in lowest terms."""
    return value.numerator if value.denominator == 1 else f"{value.numerator}/{value.denominator}"


def read_rational(value: object, *, name: str) -> Fraction:
    """Read an integer or a fraction "p/q".

    >>> read_rational("1/100", name="rate")
    Fraction(1, 100)
    """
    if type(value) is int or isinstance(value, Fraction):
        return Fraction(value)
    if not isinstance(value, str):
        raise ParameterError(f'{name} must be an integer or a fraction "p/q", not {shortened(value)}', parameter=name)
    found = _RATIONAL.fullmatch(value) if len(value) <= _MOST_DIGITS else None
    if found is None:
        raise ParameterError(
            f'{name} must be an integer or a fraction "p/q" of at most {_MOST_DIGITS} digits, not {shortened(value)}',
            parameter=name,
        )
    return Fraction(int(found[1]), int(found[2]))


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object whose keys occur once; readers disagree about which of two counts."""
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ParameterError(f"the field {shortened(twice)} is written twice in one object", parameter="records")
    return made


def _integer(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ParameterError(f"a parameter must be an integer of at most {_MOST_DIGITS} digits", parameter="records")
    return int(text)


def _no_float(text: str) -> NoReturn:
    shown = text if len(text) <= 40 else f"{text[:40]}..."
    raise ParameterError(
        f'records hold exact numbers, and {shown} is not one: write a fraction, such as "1/100"', parameter="records"
    )
