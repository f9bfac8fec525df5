"""Loops that numpy cannot express, compiled by numba at their first call."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from importlib.util import find_spec
from typing import Any, TypeVar

from discreet._optional import optional

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


@cache
def available() -> bool:
    """Say whether numba is installed; without it the same results come from numpy, more slowly."""
    return find_spec("numba") is not None


def compiled(function: Kernel) -> Kernel:
    """Compile a self-contained loop over arrays at its first call, and keep the machine code between processes.

    Calls to other compiled functions are not possible inside.
    """
    made: list[Callable[..., Any]] = []

    @wraps(function)
    def call(*arguments: Any) -> Any:
        if not made:
            numba = optional("numba", extra="fast", purpose="the compiled form of this loop")
            made.append(numba.njit(cache=True, nogil=True)(function))
        return made[0](*arguments)

    return call  # type: ignore[return-value]
