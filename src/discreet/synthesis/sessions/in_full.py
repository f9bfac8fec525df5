"""A public object with all that it is made of, in a form that JSON writes: two that differ anywhere differ in it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from discreet.synthesis.workloads.workload import Workload


def in_full(value: Any) -> Any:
    """Return a synthesizer, or a part of one, as its type and the same of every field.

    Nothing is left out because it seems not to matter: a digest that forgets a parameter hands out another release.

    >>> from fractions import Fraction
    >>> in_full((1, True, Fraction(1, 2), None)), in_full(1.0)
    (['tuple', ['int', '1'], ['bool', 'True'], ['Fraction', 'Fraction(1, 2)'], ['NoneType', 'None']], ['float', '1.0'])
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
        return [kind, *([one.name, in_full(getattr(value, one.name))] for one in fields(value))]
    return [kind, value.name if isinstance(value, Enum) else repr(value)]
