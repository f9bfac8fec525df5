"""Sources of words for tests, handed to discreet through its one private hook, and what tests do to processes."""

from __future__ import annotations

import hashlib
import itertools
import os
import pickle
import signal
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from discreet.randomness import Reservoir, keystream
from discreet.randomness.rigor import ensure_tested

Source = Callable[[memoryview], None]
WORD = 1 << 64


@contextmanager
def swapped(source: Source) -> Iterator[None]:
    """Draw from a source of our own; the self-test of floats, which draws words too, is done before."""
    ensure_tested()
    with keystream._swapped_source(source):
        yield


class Stream:
    """An endless fixed stream of bytes, the same in every run."""

    def __init__(self, label: str = "discreet") -> None:
        self._label = label.encode()
        self._count = 0

    def __call__(self, out: memoryview) -> None:
        self._count += 1
        out[:] = hashlib.shake_256(self._label + self._count.to_bytes(8, "little")).digest(len(out))


class Constant:
    """The same word for ever."""

    def __init__(self, word: int) -> None:
        self._bytes = int(word).to_bytes(8, "little")

    def __call__(self, out: memoryview) -> None:
        out[:] = self._bytes * (len(out) // 8)


class Numbered:
    """No word twice, whichever thread asks: where one is handed out twice, that is no coincidence."""

    def __init__(self) -> None:
        self._blocks = itertools.count(1)

    def __call__(self, out: memoryview) -> None:
        first = next(self._blocks) << 32
        out[:] = np.arange(first, first + len(out) // 8, dtype=np.uint64).tobytes()


class Script:
    """The given words first, in the order in which they are asked for; then another source."""

    def __init__(self, words: Iterable[int], then: Source | None = None) -> None:
        self._left = np.array(list(words), dtype=np.uint64).tobytes()
        self._then = then or Stream("after the script")

    def __call__(self, out: memoryview) -> None:
        head, self._left = self._left[: len(out)], self._left[len(out) :]
        out[: len(head)] = head
        if len(head) < len(out):
            self._then(out[len(head) :])


def in_stock(reservoir: Reservoir) -> list[Any]:
    """Return what a reservoir still holds."""
    stock, _ = reservoir._state
    return [item for item in stock if item is not None and item != reservoir._blank]


class TooSlow(Exception):
    """Something took longer than the test allows."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Turn an endless loop into a failure; only the time that this process computes counts, whatever else runs."""

    def ring(*_: object) -> None:
        raise TooSlow(f"not done within {seconds} s of computing")

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def in_child(function: Callable[[], Any], seconds: int = 300) -> Any:
    """Return what a function returns in a forked child; a child that fails or hangs gives None."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # from 3.12 on, forking beside other threads warns
        child = os.fork()
    if child == 0:
        _answer(function, writing, seconds)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else None  # noqa: S301  written by our own child


def _answer(function: Callable[[], Any], writing: int, seconds: int) -> None:
    """Write the result into the pipe and leave without any of the parent's clean-up."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(seconds)
    try:
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(function(), pipe)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)
