"""A release as text that a ledger keeps, so that the same request is answered again without being paid again.

A public object with all that it is made of, in a form that JSON writes: two that differ anywhere differ in it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError, LedgerMismatch
from discreet.synthesis.base import Synthesizer, SyntheticRelease
from discreet.synthesis.domain import Records, SyntheticTable
from discreet.synthesis.methods.dual_query import Round
from discreet.synthesis.workloads import Workload

MOST_BYTES = 64 << 20  # of a text that is stored; a larger release is handed out once
_MOST_ARRAY = 4 << 30  # bytes of one array that is read
_FORMAT = 2


def to_text(release: SyntheticRelease) -> str | None:
    """Return a release as JSON text, or None if that is longer than `MOST_BYTES`.

    Everything in a release is public, so nothing is held back. What is neither a number, a text, an array, a round of
    a transcript nor a collection of those is kept as the text it prints.
    """
    table = release.table
    fields = {
        "format": _FORMAT,
        "method": release.method,
        "workload": release.workload.digest,
        "codes": table.records.codes,
        "weights": table.weights,
        "answers": release.answers,
        "deviations": release.deviations,
        "plan": release.plan,
        "evidence": release.evidence,
    }
    text = json.dumps({name: _plain(value) for name, value in fields.items()}, separators=(",", ":"), sort_keys=True)
    return text if len(text) <= MOST_BYTES else None


def from_text(text: str, made: Synthesizer) -> SyntheticRelease:
    """Return the release that was stored for a synthesizer; raise for any other text."""
    try:
        return _release({name: _value(value) for name, value in json.loads(text).items()}, made)
    except (
        ArithmeticError,
        AttributeError,
        DiscreetError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
        zlib.error,
    ):
        raise LedgerMismatch(
            "the ledger holds something else for this request than a release of these queries, perhaps by another "
            "version of discreet. Nothing was spent."
        ) from None


def _release(fields: Mapping[str, Any], made: Synthesizer) -> SyntheticRelease:
    """Put a release together from its fields, which are checked."""
    queries, deviations = (len(made.workload),), fields["deviations"]
    if (fields["format"], fields["workload"]) != (_FORMAT, made.workload.digest):
        raise ValueError("a release of other queries")
    if not isinstance(fields["method"], str) or not all(
        isinstance(fields[name], dict) for name in ("plan", "evidence")
    ):
        raise TypeError("a method is named, and its plan and evidence are by name")
    if fields["answers"].shape != queries or (deviations is not None and deviations.shape != queries):
        raise ValueError("one answer for each query")
    return SyntheticRelease(
        method=fields["method"],
        workload=made.workload,
        neighbors=made.allowance.neighbors,
        guarantee=made.guarantee,
        table=SyntheticTable(Records(made.workload.domain, fields["codes"]), fields["weights"]),
        answers=fields["answers"],
        plan=fields["plan"],
        evidence=fields["evidence"],
        deviations=deviations,
    )


def _plain(value: Any) -> Any:
    """Return a public value as JSON has it; what JSON has not is written as one entry {kind: content}."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind not in "biuf":
        value = value.tolist()
    for kind, (types, write, _) in _KINDS.items():
        if isinstance(value, types):
            return {kind: write(value)}
    return str(value)


def _value(plain: Any) -> Any:
    """Return what `_plain` was given."""
    if not isinstance(plain, dict):
        return plain
    ((kind, content),) = plain.items()
    return _KINDS[kind][2](content)


def _array_words(array: NDArray[Any]) -> list[Any]:
    """Return an array as its type, its shape and its bytes, compressed."""
    little = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<")))
    content = base64.b64encode(zlib.compress(little.tobytes(), 6)).decode()
    return [array.dtype.newbyteorder("<").str, list(array.shape), content]


def _array(words: list[Any]) -> NDArray[Any]:
    """Return the array, from as many bytes as its shape says and no more."""
    kind, shape = np.dtype(words[0]), tuple(int(length) for length in words[1])
    size = math.prod(shape) * kind.itemsize
    if kind.kind not in "biuf" or min(shape, default=0) < 0 or size > _MOST_ARRAY:
        raise ValueError("no array of numbers")
    unpacked = zlib.decompressobj()
    found = np.frombuffer(unpacked.decompress(base64.b64decode(words[2], validate=True), size + 1), dtype=kind)
    return found.reshape(shape).astype(kind.newbyteorder("="))


_KINDS: Mapping[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "float": (float, repr, float),
    "fraction": (Fraction, str, Fraction),
    "array": (np.ndarray, _array_words, _array),
    "round": (
        Round,
        lambda value: [value.number, _array_words(value.queries), _array_words(value.signs)],
        lambda content: Round(content[0], _array(content[1]), _array(content[2])),
    ),
    "list": (list, lambda value: [_plain(one) for one in value], lambda content: [_value(one) for one in content]),
    "tuple": (
        tuple,
        lambda value: [_plain(one) for one in value],
        lambda content: tuple(_value(one) for one in content),
    ),
    "mapping": (
        Mapping,
        lambda value: [[_plain(name), _plain(one)] for name, one in value.items()],
        lambda content: {_value(name): _value(one) for name, one in content},
    ),
}  # each with its type, how it is written and how it is read


def in_full(value: Any) -> Any:
    """Return a synthesizer, or a part of one, as its type and the same of every field.

    Nothing is left out because it seems not to matter: a digest that forgets a parameter hands out another release.
    A field that is marked as `later` is left out at its default only, so that what was stored before there was such a
    field is found again.

    >>> from fractions import Fraction
    >>> in_full((1, True, Fraction(1, 2), None)), in_full(1.0)
    (['tuple', ['int', '1'], ['bool', 'True'], ['Fraction', 'Fraction(1, 2)'],
        ['NoneType', 'None']], ['float', '1.0'])
    """
    kind = type(value).__name__
    if isinstance(value, Workload):
        return [kind, value.digest]
    if isinstance(value, np.ndarray):
        content = np.ascontiguousarray(value)
        return [kind, str(content.dtype), list(content.shape), hashlib.sha256(content.tobytes()).hexdigest()]
    if isinstance(value, Mapping):
        return [kind, *(in_full(pair) for pair in value.items())]
    if isinstance(value, tuple | list):
        return [kind, *(in_full(one) for one in value)]
    if is_dataclass(value):
        held = [(one, getattr(value, one.name)) for one in fields(value)]
        named = [(one.name, part) for one, part in held if not ("later" in one.metadata and part == one.default)]
        return [kind, *([name, in_full(part)] for name, part in named)]
    return [kind, value.name if isinstance(value, Enum) else repr(value)]
