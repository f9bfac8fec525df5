"""One at a time for one question: whoever asks the same meanwhile waits for the answer instead of paying for it again.

Threads wait for each other by a condition, processes by a lock on one byte of a file, whose place is made from the
digest. The operating system lets the lock go when its holder ends, however it ends, and a forked child does not have
it. Nothing here is needed for privacy: were a lock lost, the same question would be charged twice.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.errors import WaitedTooLong
from discreet.ledger.files.anchor import unusable
from discreet.ledger.files.private_file import open_private

_SHORTEST, _LONGEST = 0.001, 0.05  # seconds between two looks at the lock of another process
_PATIENCE = 0.25  # seconds until a waiting thread looks up: an interrupt that came just before a wait does not end it
_DIGITS = 15  # of a digest, which name a byte: 60 bits are a place that a file can have


class OneAtATime:
    """Turns at questions, of the threads of this process and, with a file, of all processes that name the file.

    A thread that has a turn does not wait for another one, so that no two can wait for each other.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._descriptor: int | None = None
        self._holders: dict[int, object] = {}
        self._begin()
        with _registry[0]:
            _living.add(self)

    @classmethod
    def of_file(cls, path: Path) -> OneAtATime:
        """Return this process's one object for a file: a second one, when closed, would free the locks of the first."""
        with _registry[0]:
            found = _by_file.get(path)
            if found is None:
                found = _by_file[path] = cls(path)
            return found

    @contextmanager
    def turn(self, digest: str, *, timeout: float) -> Iterator[None]:
        """Wait for, and hold, the turn at a question; raise `WaitedTooLong` when it does not come in time."""
        place, mine = int(digest[:_DIGITS], 16), object()
        nested = bool(_thread.turns)
        until = time.monotonic() + (0.0 if nested else timeout)
        try:
            if not self._entered(place, mine, until):
                raise _nested() if nested else _too_long()
            _thread.turns += 1
            try:
                yield
            finally:
                _thread.turns = max(0, _thread.turns - 1)  # a fork in between begins at 0
        finally:
            self._leave(place, mine)

    def _entered(self, place: int, mine: object, until: float) -> bool:
        """Say whether the turn came in time: first among the threads, then among the processes."""
        with self._changed:
            while place in self._holders:
                left = until - time.monotonic()
                if left <= 0:
                    return False
                self._changed.wait(min(left, _PATIENCE))
            self._holders[place] = mine
        pause = _SHORTEST
        while not self._locked(place):
            left = until - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(pause, left))
            pause = min(2 * pause, _LONGEST)
        return True

    def _locked(self, place: int) -> bool:
        """Take the lock of a byte if no other process has it; the caller is the only thread at this place."""
        if self._path is None:
            return True
        try:
            with self._changed:
                if self._descriptor is None:
                    self._descriptor = open_private(self._path)
                fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except (BlockingIOError, PermissionError) as problem:
            if self._descriptor is None:
                raise unusable("the file of questions in flight cannot be opened", problem) from None
            return False
        except OSError as problem:
            raise unusable("the file of questions in flight cannot be locked", problem) from None
        return True

    def _leave(self, place: int, mine: object) -> None:
        """Give a turn on, if it is one's own; an interrupt may have come before it was, and a fork after it."""
        with self._changed:
            if self._holders.get(place) is not mine:
                return
            if self._descriptor is not None:
                fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, place)
            del self._holders[place]
            if not self._holders and self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None
            self._changed.notify_all()

    def _begin(self) -> None:
        """Start without turns: at import, and in a forked child, which has no thread and no lock of its parent."""
        self._changed = threading.Condition()
        self._holders = {}
        self._descriptor = None


class _OfThread(threading.local):
    """How many turns this thread holds."""

    turns = 0


def _too_long() -> WaitedTooLong:
    return WaitedTooLong(
        "the same question is still being answered elsewhere, and the time to wait for it is over. Ask again later: "
        "its answer will then be free. Nothing was spent."
    )


def _nested() -> WaitedTooLong:
    return WaitedTooLong(
        "this question is being answered already, and it was asked again while its thread answers a question: it would "
        "wait for itself. Ask it afterwards. Nothing was spent."
    )


_thread = _OfThread()
_by_file: weakref.WeakValueDictionary[Path, OneAtATime] = weakref.WeakValueDictionary()
_living: weakref.WeakSet[OneAtATime] = weakref.WeakSet()
_registry = [threading.RLock()]


def _after_fork() -> None:
    """Begin anew in a child; a descriptor of the parent's is closed, which frees no lock of the parent's."""
    _registry[0] = threading.RLock()
    _thread.turns = 0
    for one in list(_living):
        inherited = one._descriptor
        one._begin()
        if inherited is not None:
            os.close(inherited)


os.register_at_fork(after_in_child=_after_fork)
