"""Public values as text that a ledger keeps, and as parts of a digest, so that the same request is answered again free.

Two forms. `TextForms` writes values as JSON that is read back bit for bit. `in_full` writes all that an object is made
of: two objects that differ anywhere differ in it.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_BYTES = 64 << 20  # of a text that is stored; a larger release is handed out once
UNREADABLE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
    zlib.error,
)
"""What reading a text raises that some other version, or somebody else, has written."""

_MOST_ARRAY = 4 << 30  # bytes of one array that is read
_MOST_DIGITS = 1 << 12
_FRACTION = re.compile(r"-?[0-9]+(/[0-9]+)?")
Kind = tuple[type, Callable[[Any], Any], Callable[[Any], Any]]


class TextForms:
    """Values as JSON has them, and back; what JSON has not is written as one entry {kind: content}.

    `own` adds kinds, each with its type, how it is written and how it is read. A value of no kind raises TypeError,
    unless `other` says how it is written.

    >>> forms = TextForms()
    >>> forms.plain((1.5, float("inf"), {"a": np.array(["x"])}))
    {'tuple': [1.5, {'float': 'inf'}, {'mapping': [['a', {'texts': [[1], ['x']]}]]}]}
    >>> forms.value(forms.plain([Fraction(1, 3), np.array([True])]))
    [Fraction(1, 3), array([ True])]
    """

    def __init__(self, *, other: Callable[[Any], str] | None = None, **own: Kind) -> None:
        self._other = other
        self._kinds: Mapping[str, Kind] = {
            "float": (float, repr, float),
            "fraction": (Fraction, str, fraction_of),
            "array": (np.ndarray, array_words, array_of),
            **own,
            "list": (list, self._listed, lambda content: [self.value(one) for one in content]),
            "tuple": (tuple, self._listed, lambda content: tuple(self.value(one) for one in content)),
            "mapping": (
                Mapping,
                lambda value: [[self.plain(name), self.plain(one)] for name, one in value.items()],
                lambda content: {self.value(name): self.value(one) for name, one in content},
            ),
            "texts": (_Never, _refused, lambda content: np.array(content[1], dtype=np.str_).reshape(content[0])),
            "objects": (_Never, _refused, self._objects),
        }

    def plain(self, value: Any) -> Any:
        """Return a public value as JSON has it."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
            return value
        if isinstance(value, np.ndarray) and value.dtype.kind not in "biuf":
            if value.dtype.kind in "UO":
                named = "texts" if value.dtype.kind == "U" else "objects"
                return {named: [list(value.shape), self._listed(value.ravel().tolist())]}
            value = value.tolist()
        for kind, (types, write, _) in self._kinds.items():
            if isinstance(value, types):
                return {kind: write(value)}
        if self._other is None:
            raise TypeError(f"a value of {type(value).__name__} has no text")
        return self._other(value)

    def value(self, plain: Any) -> Any:
        """Return what `plain` was given."""
        if not isinstance(plain, dict):
            return plain
        ((kind, content),) = plain.items()
        return self._kinds[kind][2](content)

    def _listed(self, values: Any) -> list[Any]:
        return [self.plain(one) for one in values]

    def _objects(self, content: Any) -> NDArray[Any]:
        made = np.empty(len(content[1]), dtype=object)
        made[:] = [self.value(one) for one in content[1]]
        return made.reshape(content[0])


class _Never:
    """The type of nothing: such kinds are found by the type of an array's cells."""


def _refused(value: Any) -> Any:
    raise TypeError(f"{type(value).__name__} is not written so")


def fraction_of(text: str) -> Fraction:
    """Return a fraction that `str` has written: digits alone, for 1e99999999 is short and takes hours.

    >>> fraction_of("-1/3")
    Fraction(-1, 3)
    """
    if len(text) > _MOST_DIGITS or _FRACTION.fullmatch(text) is None:
        raise ValueError("no fraction")
    return Fraction(text)


def bytes_of_arrays(plain: Any) -> int:
    """Return how many bytes the arrays in what JSON has read will take: those of numbers, and those of texts.

    >>> bytes_of_arrays({"tuple": [{"array": ["<f8", [2, 3], "..."]}]})
    48
    """
    total, left = 0, [plain]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            if "array" in one:
                total += max(np.dtype(one["array"][0]).itemsize * math.prod(one["array"][1]), 0)
            if "texts" in one:
                texts = one["texts"][1]
                total += 4 * len(texts) * max(map(len, texts), default=0)
            left += one.values()
        elif isinstance(one, list):
            left += one
    return total


def array_words(array: NDArray[Any]) -> list[Any]:
    """Return an array of numbers as its type, its shape and its bytes, compressed."""
    little = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<")))
    content = base64.b64encode(zlib.compress(little.tobytes(), 6)).decode()
    return [array.dtype.newbyteorder("<").str, list(array.shape), content]


def array_of(words: list[Any]) -> NDArray[Any]:
    """Return the array, from as many bytes as its shape says and no more."""
    kind, shape = np.dtype(words[0]), tuple(int(length) for length in words[1])
    size = math.prod(shape) * kind.itemsize
    if kind.kind not in "biuf" or min(shape, default=0) < 0 or size > _MOST_ARRAY:
        raise ValueError("no array of numbers")
    unpacked = zlib.decompressobj()
    found = np.frombuffer(unpacked.decompress(base64.b64decode(words[2], validate=True), size + 1), dtype=kind)
    return found.reshape(shape).astype(kind.newbyteorder("="))


def in_full(value: Any, *, digested: tuple[type[Any], ...] = ()) -> Any:
    """Return a public object, or a part of one, as its type and the same of every field.

    Nothing is left out because it seems not to matter: a digest that forgets a parameter hands out another release.
    A field that is marked as `later` is left out at its default only, so that what was stored before there was such a
    field is found again. Objects of the types `digested` are written as their own `digest`.

    >>> in_full((1, True, Fraction(1, 2), None)), in_full(1.0)
    (['tuple', ['int', '1'], ['bool', 'True'], ['Fraction', 'Fraction(1, 2)'],
        ['NoneType', 'None']], ['float', '1.0'])
    """
    kind = type(value).__name__
    if isinstance(value, digested):
        return [kind, value.digest]
    if isinstance(value, np.ndarray):
        objects = value.dtype.hasobject  # whose bytes are addresses, and say nothing
        content = in_full(value.tolist(), digested=digested) if objects else _hash(value)
        return [kind, str(value.dtype), list(value.shape), content]
    if isinstance(value, Mapping):
        return [kind, *(in_full(pair, digested=digested) for pair in value.items())]
    if isinstance(value, tuple | list):
        return [kind, *(in_full(one, digested=digested) for one in value)]
    if is_dataclass(value):
        held = [(one, getattr(value, one.name)) for one in fields(value)]
        named = [(one.name, part) for one, part in held if not ("later" in one.metadata and part == one.default)]
        return [kind, *([name, in_full(part, digested=digested)] for name, part in named)]
    return [kind, value.name if isinstance(value, Enum) else repr(value)]


def _hash(array: NDArray[Any]) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
