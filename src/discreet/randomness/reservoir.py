"""A stock of things drawn ahead of time that no fork, pickle or copy can take along."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")

_FIRST, _LARGEST = 16, 2048
_alive: weakref.WeakSet[Reservoir[Any]] = weakref.WeakSet()


class Reservoir(Generic[Item]):
    """Hand out items one at a time, each exactly once, refilling in growing batches.

    Taking is a single `list.pop`, which is atomic: two threads, or a signal handler in the middle of a call, never get
    the same item. An item handed out is gone from the stock. A child process starts with every reservoir empty, because
    two processes sharing one future would release the same noise twice; a copy or a pickle starts empty for the same
    reason.
    """

    __slots__ = ("__weakref__", "_refill", "_size", "_stock")

    def __init__(self, refill: Callable[[int], list[Item]]) -> None:
        """`refill(count)` draws that many new items."""
        self._refill = refill
        self._stock: list[Item] = []
        self._size = _FIRST
        _alive.add(self)

    def take(self) -> Item:
        """Return an item nobody else gets."""
        while True:
            try:
                return self._stock.pop()
            except IndexError:
                self._restock()

    def _restock(self) -> None:
        """Draw a batch, twice the last one up to a limit."""
        size, self._size = self._size, min(2 * self._size, _LARGEST)
        self._stock.extend(self._refill(size))

    def discard(self) -> None:
        """Forget everything drawn ahead."""
        self._stock = []
        self._size = _FIRST

    def __len__(self) -> int:
        """Count the items in stock."""
        return len(self._stock)

    def __copy__(self) -> Reservoir[Item]:
        """Return an empty reservoir with the same refill."""
        return Reservoir(self._refill)

    def __deepcopy__(self, memo: dict[int, Any]) -> Reservoir[Item]:
        """Return an empty reservoir with the same refill."""
        return Reservoir(self._refill)

    def __reduce__(self) -> tuple[type[Reservoir[Item]], tuple[Callable[[int], list[Item]]]]:
        """Pickle the refill and nothing drawn."""
        return (Reservoir, (self._refill,))


def discard_all() -> None:
    """Empty every reservoir of this process."""
    for reservoir in list(_alive):
        reservoir.discard()


os.register_at_fork(after_in_child=discard_all)
