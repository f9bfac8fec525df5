"""Fixed random words instead of the operating system's: the one place that reaches for the private hook."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from discreet.laws import DiscreteGaussian, DiscreteLaplace
from discreet.randomness import keystream


class Stream:
    """An endless fixed stream of bytes that depends on a label alone."""

    def __init__(self, label: str) -> None:
        """Start at the first block."""
        self._label = label.encode()
        self._count = 0

    def __call__(self, out: memoryview) -> None:
        """Fill the next block."""
        self._count += 1
        out[:] = hashlib.shake_256(self._label + self._count.to_bytes(8, "little")).digest(len(out))


@contextmanager
def fixed_words(label: str) -> Iterator[None]:
    """Draw from the stream of this label, whatever was drawn before."""
    _settle()
    with keystream._swapped_source(Stream(label)):
        yield


@cache
def _settle() -> None:
    """Draw once: the first vectorized draw of a process tests the machine's floats on random words of its own."""
    for law in (DiscreteLaplace(1), DiscreteGaussian(1)):
        law.sample(100)
