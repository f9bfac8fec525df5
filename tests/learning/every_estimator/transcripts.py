"""What a fit releases, written down: exact sums and stated distances, with answers that are fixed beforehand.

With fixed answers a fit is a function of them and of public parameters alone; whatever else differs is a leak.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.learning.exact import FitPrice, Measurements, measurements

Integers = NDArray[Any]
_SIZES = (0.1, 3.0, 50.0)  # of an answer, in lengths of one person


@dataclass(frozen=True)
class Release:
    """One release: exact sums, the distance and the share that were stated, the law of the noise, and the answer."""

    sums: Integers
    share: Fraction
    squared: int
    l1: int | None
    law: Any
    answer: NDArray[np.float64]

    @property
    def noise(self) -> Integers:
        """What was added to the exact sums; sums and answers are whole numbers below 2^53."""
        return whole(self.answer.astype(np.int64)) - self.sums


@dataclass
class Transcript:
    """The releases of one fit, in their order."""

    releases: list[Release] = field(default_factory=list)
    price: FitPrice | None = None


def whole(numbers: Any) -> Integers:
    """Return numbers as exact integers; an error where they are of another type."""
    array = np.asarray(numbers)
    assert array.dtype.kind in "iuO", array.dtype
    made = np.empty(array.size, dtype=object)
    made[:] = [int(one) for one in array.ravel().tolist()]
    return made.reshape(array.shape)


@contextmanager
def recorded(answers: np.random.Generator | None = None) -> Iterator[Transcript]:
    """Write down every release made inside; answers come from a generator of the test's own, or are real."""
    transcript = Transcript()
    laws: list[Any] = []
    sizes: list[float] = []
    release, noisy = Measurements.release, measurements.noisy

    def watched(self: Measurements, sums: Any, *, share: Fraction, squared: int, l1: int | None = None) -> Any:
        exact, laws[:] = whole(sums), []
        transcript.price, sizes[:] = self._price, [math.sqrt(squared)]
        answer = release(self, sums, share=share, squared=squared, l1=l1)
        transcript.releases.append(Release(exact, share, squared, l1, laws[0], answer))
        return answer

    def answered(noise: Any, sums: Any) -> Any:
        laws.append(noise.noise)
        if answers is None:
            return noisy(noise, sums)
        size = sizes[0] * float(answers.choice(_SIZES))
        return np.rint(answers.standard_normal(np.shape(sums)) * size)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Measurements, "release", watched)
        patch.setattr(measurements, "noisy", answered)
        yield transcript


@dataclass(frozen=True)
class Outcome:
    """Everything that a fit shows: what it released, what is on the model, and what was warned of or raised."""

    releases: list[Release]
    shown: dict[str, Any]
    warned: list[tuple[type, str]]
    raised: tuple[type, str] | None


def outcome(model: Any, rows: Any, labels: Any, seed: int) -> Outcome:
    """Fit with answers of a seed, and return everything that can be seen."""
    raised = None
    with recorded(np.random.default_rng(seed)) as transcript, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(rows, labels)
        except Exception as problem:  # whatever it is, neighbors must show the same
            raised = (type(problem), str(problem))
    warned = [(one.category, str(one.message)) for one in caught]
    return Outcome(transcript.releases, dict(vars(model)), warned, raised)


def same(first: Any, second: Any) -> bool:
    """Whether two things are alike to the last bit: types, shapes, numbers, and what lies inside them."""
    return bool(first is second or form(first) == form(second))


def form(value: Any) -> Any:
    """Return a thing as nested tuples of types and bytes, which are equal only where it is the same in every bit."""
    inside: Any = value
    if isinstance(value, np.ndarray) and value.dtype == object:
        inside = (value.shape, form(value.ravel().tolist()))
    elif isinstance(value, np.ndarray):
        inside = (value.dtype.str, value.shape, value.tobytes())
    elif isinstance(value, dict):
        inside = tuple((key, form(one)) for key, one in value.items())
    elif isinstance(value, list | tuple):
        inside = tuple(map(form, value))
    elif isinstance(value, float):
        inside = np.float64(value).tobytes()
    elif is_dataclass(value) and not isinstance(value, type):
        inside = tuple(form(getattr(value, one.name)) for one in fields(value))
    elif hasattr(value, "__dict__") and not isinstance(value, type) and type(value).__eq__ is object.__eq__:
        inside = form(vars(value))
    return (type(value), inside)
