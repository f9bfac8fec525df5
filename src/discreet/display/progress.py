"""How long work says how far it is: steps done, and steps in all where that number is public."""

from __future__ import annotations

from collections.abc import Callable

from discreet.errors import ParameterError

Progress = Callable[[int, int | None], None]
"""Called with (done, total): public counts only, and None for a total that is secret or unknown."""


def listener(progress: Progress | None) -> Progress:
    """Return what to call with the steps done, `silent` for None; raise ParameterError for what cannot be called.

    >>> listener(5)
    Traceback (most recent call last):
    ...
    discreet.errors.ParameterError: progress must be a function of (done, total); got
        int, write for example ...
    """
    if progress is None:
        return silent
    if not callable(progress):
        raise ParameterError(
            f"progress must be a function of (done, total); got {type(progress).__name__}, write for example "
            "progress=lambda done, total: print(done, total)",
            parameter="progress",
        )
    return progress


def silent(done: int, total: int | None) -> None:
    """Say nothing."""
