"""Noise drawn while the step before it is being computed: each draw used once, none taken along by a fork or a copy."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws import IntegerLaw
from discreet.randomness.process import Process

_STOCK = 1 << 16  # integers drawn at once where a step needs fewer: a thread costs as much as some thousand draws
_alive: weakref.WeakSet[DrawnAhead] = weakref.WeakSet()


class DrawnAhead:
    """Hands out vectors of independent integers of one law, drawn by a thread ahead of time.

    A vector is handed out once: it leaves the stock by an operation that no other thread and no signal handler can
    interrupt. In memory are the vector last handed out, at most one stock, and at most one more being drawn; a stock is
    one vector, or up to 2^16 integers if vectors are shorter. A forked child, a copy and a pickle start with nothing
    drawn, because two owners of one future would release the same noise twice. Where no thread can be started, or one
    fails, the noise is drawn when it is asked for; its law is the same.

    >>> from discreet.laws import RoundedGaussian
    >>> DrawnAhead(RoundedGaussian(10), length=3).take(more=False).shape
    (3,)
    """

    def __init__(self, law: IntegerLaw, length: int) -> None:
        if isinstance(length, bool) or not isinstance(length, int) or length < 1:
            raise ParameterError("length must be an int of at least 1", parameter="length")
        self._law, self._length = law, length
        self._vectors = max(_STOCK // length, 1)
        self.discard()
        _alive.add(self)

    def take(self, *, more: bool = True) -> NDArray[np.int64]:
        """Return a vector that nobody else gets, which the caller may overwrite, and begin the next if more follow."""
        while True:
            drawn = self._drawn  # read once: a fork between two reads would join the child's mark to the parent's stock
            try:
                vector: NDArray[np.int64] = drawn.stock.pop()
            except IndexError:
                self._restock(drawn, more=more)
                continue
            if drawn.owner == Process.here():
                return vector
            self.discard()

    def start(self) -> None:
        """Begin to draw a stock in a thread, unless one is being drawn or none can be started."""
        drawn = self._drawn
        if not drawn.drafts:
            draft = _Draft(self._law, self._vectors, self._length)
            if draft.started:
                drawn.drafts.append(draft)

    def discard(self) -> None:
        """Forget everything drawn ahead, and what is being drawn right now."""
        self._drawn = _Drawn()

    def _restock(self, drawn: _Drawn, *, more: bool) -> None:
        """Put the thread's draw into stock, or one made now, and begin the next."""
        if drawn.owner != Process.here():
            self.discard()
            return
        try:
            vectors = drawn.drafts.pop().result()
        except IndexError:
            vectors = None
        if vectors is None:
            vectors = _draw(self._law, self._vectors if more else 1, self._length)
        if drawn.owner == Process.here():  # else a fork came in between: they are the parent's
            drawn.stock.extend(vectors)
            if more:
                self.start()

    def __reduce__(self) -> tuple[type[DrawnAhead], tuple[IntegerLaw, int]]:
        return type(self), (self._law, self._length)

    def __copy__(self) -> DrawnAhead:
        return type(self)(self._law, self._length)

    def __deepcopy__(self, memo: dict[int, Any]) -> DrawnAhead:
        return type(self)(self._law, self._length)


class _Drawn:
    """What one process has drawn and is drawing."""

    def __init__(self) -> None:
        self.owner = Process.here()
        self.stock: list[NDArray[np.int64]] = []
        self.drafts: list[_Draft] = []


class _Draft:
    """One stock that a thread draws."""

    def __init__(self, law: IntegerLaw, vectors: int, length: int) -> None:
        self._drawn: list[NDArray[np.int64]] = []
        self._thread = threading.Thread(target=self._work, args=(law, vectors, length), name="noise drawn ahead")
        try:
            self._thread.start()
        except (RuntimeError, MemoryError):  # no more threads here, or the interpreter is about to end
            self.started = False
        else:
            self.started = True

    def _work(self, law: IntegerLaw, vectors: int, length: int) -> None:
        """Draw; what fails here is tried again by whoever asks, who then sees why."""
        try:
            self._drawn = _draw(law, vectors, length)
        except Exception:
            self._drawn = []

    def result(self) -> list[NDArray[np.int64]] | None:
        """Wait for the thread and hand over its vectors, or None if it failed."""
        self._thread.join()
        drawn, self._drawn = self._drawn, []
        return drawn or None


def _draw(law: IntegerLaw, vectors: int, length: int) -> list[NDArray[np.int64]]:
    """Draw independent vectors."""
    drawn = np.asarray(law.sample(vectors * length), dtype=np.int64)
    return list(drawn.reshape(vectors, length))


def _discard_all() -> None:
    """Forget in a forked child what its parent has drawn."""
    for ahead in list(_alive):
        ahead.discard()


os.register_at_fork(after_in_child=_discard_all)
