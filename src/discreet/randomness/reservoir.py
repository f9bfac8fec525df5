"""A stock of things drawn ahead of time that no fork, pickle or copy can take along."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

_FIRST, _LARGEST = 16, 2048
_alive: weakref.WeakSet[Reservoir] = weakref.WeakSet()


class Reservoir:
    """Hand out items one at a time, each exactly once, refilling in growing batches.

    The next position comes from a counter whose step is atomic: two threads, or a signal handler in the middle of a
    call, never get the same item (under the interpreter's lock). An item handed out is overwritten in the stock. A
    child process starts with every reservoir empty, because two processes sharing one future would release the same
    noise twice; a copy or a pickle starts empty for the same reason. Taking from a flat array costs the same time
    whatever the number taken, to a few nanoseconds.
    """

    __slots__ = ("__weakref__", "_blank", "_discards", "_refill", "_size", "_state")

    def __init__(self, refill: Callable[[int], Any], blank: Any = 0) -> None:
        self._refill = refill
        self._blank = blank
        self._size = _FIRST
        self._discards = 0
        self._state: tuple[Any, Iterator[int]] = ([], count())
        _alive.add(self)

    def take(self) -> Any:
        """Return an item that no other caller gets."""
        while True:
            stock, positions = self._state
            position = next(positions)
            if position < len(stock):
                item = stock[position]
                stock[position] = self._blank
                return item
            self._restock(stock)

    def _restock(self, exhausted: Any) -> None:
        """Draw a batch, twice the last one up to a limit, unless another thread just did."""
        if self._state[0] is exhausted:
            size, self._size = self._size, min(2 * self._size, _LARGEST)
            before = self._discards
            stock = self._refill(size)
            if before == self._discards:  # a batch drawn before a fork in the middle of the refill is the parent's
                self._state = (stock, count())

    def discard(self) -> None:
        """Forget everything drawn ahead, and what is being drawn right now."""
        self._discards += 1
        self._size = _FIRST
        self._state = ([], count())

    def __copy__(self) -> Reservoir:
        return Reservoir(self._refill, self._blank)

    def __deepcopy__(self, memo: dict[int, Any]) -> Reservoir:
        return Reservoir(self._refill, self._blank)

    def __reduce__(self) -> tuple[type[Reservoir], tuple[Callable[[int], Any], Any]]:
        return (Reservoir, (self._refill, self._blank))


def discard_all() -> None:
    """Empty every reservoir of this process."""
    for reservoir in list(_alive):
        reservoir.discard()


os.register_at_fork(after_in_child=discard_all)
