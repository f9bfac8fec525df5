"""Which process runs this: state that may be used once belongs to the process that made it, and to no fork of it."""

from __future__ import annotations

import os


class Process:
    """The process that runs this, as an object: numbers of processes are used again, a mark that a fork renews is not.

    Both are looked at, as a fork from outside Python renews no mark.

    >>> Process.here() == Process.here()
    True
    """

    mark = object()

    @classmethod
    def renew(cls) -> None:
        """Note in a forked child that it is not its parent."""
        cls.mark = object()

    @classmethod
    def here(cls) -> tuple[int, object]:
        """Return what tells this process from all others that have this object's memory."""
        return os.getpid(), cls.mark


os.register_at_fork(after_in_child=Process.renew)
