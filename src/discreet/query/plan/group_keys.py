"""Group keys as text and back: one text for a key, so that keys of any types can be compared, sorted and stored."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from datetime import date, datetime

from discreet.query.expression import Type, Value


def key_to_text(key: Sequence[Value]) -> str:
    """Write the values of a key as JSON; times in their standard form, reals that JSON has no word for as text.

    Whatever the data holds, this raises nothing: whether a query fails must not depend on a row.

    >>> key_to_text(("north", 3, None, date(2026, 11, 15)))
    '["north", 3, null, "2026-11-15"]'
    >>> key_to_text((math.inf,))
    '["inf"]'
    """
    return json.dumps([_plain(value) for value in key], allow_nan=False)


def key_from_text(text: str, types: Sequence[Type]) -> tuple[Value, ...]:
    """Read the values of a key, given their types.

    >>> key_from_text('["2026-11-15"]', [Type.DATE])
    (datetime.date(2026, 11, 15),)
    """
    return tuple(_value(value, kind) for value, kind in zip(json.loads(text), types, strict=True))


def _plain(value: Value) -> bool | int | float | str | None:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value.isoformat() if isinstance(value, date | datetime) else value


def _value(value: bool | int | float | str | None, kind: Type) -> Value:
    if value is None:
        return None
    if kind is Type.DATE:
        return date.fromisoformat(str(value))
    if kind is Type.TIMESTAMP:
        return datetime.fromisoformat(str(value))
    return float(value) if kind is Type.REAL else value
