"""Values as text that is the same on every run and says nothing about where a class is defined."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

Line = tuple[str, str]
Lines = Iterator[Line]

_MODULE = re.compile(r"\bdiscreet(?:\.[a-z_][a-z_0-9]*)+\.(?=[A-Za-z_])")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def without_modules(text: str) -> str:
    """Drop the modules before names, `discreet.laws.finite.Finite` to `Finite`, and the addresses of objects."""
    return _ADDRESS.sub("", _MODULE.sub("", text))


def written(value: Any, digits: int | None = 10) -> str:
    """Return a value as one line; floats get so many significant digits, or all of them with `digits=None`."""
    if isinstance(value, np.generic | np.ndarray):
        return written(value.tolist(), digits)
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, float) and digits is not None:
        return f"{value:.{digits}g}"
    if value is None or isinstance(value, int | float | str | bytes):
        return repr(value)
    return str(value) if isinstance(value, Fraction) else _structure(value, digits)


def _structure(value: Any, digits: int | None) -> str:
    """Return something made of other values as one line."""
    if isinstance(value, Mapping):
        pairs = (f"{written(key, digits)}: {written(entry, digits)}" for key, entry in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(written(entry, digits) for entry in value)) + "}"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        shown = [field.name for field in dataclasses.fields(value) if field.repr and not field.name.startswith("_")]
        parts = (f"{name}={written(getattr(value, name), digits)}" for name in shown)
        return f"{type(value).__name__}({', '.join(parts)})"
    if isinstance(value, list | tuple | range):
        inside = ", ".join(written(entry, digits) for entry in value)
        return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    return without_modules(repr(value))


def block(text: str) -> str:
    """Return a text of several lines as the value of a key: every line indented, on a line of its own."""
    return "".join(f"\n    {line}".rstrip() if line.strip() else "\n" for line in text.rstrip("\n").split("\n"))


def prefixed(prefix: str, lines: Iterable[Line]) -> Lines:
    """Put a word and a slash before every key."""
    for key, value in lines:
        yield f"{prefix}/{key}", value
