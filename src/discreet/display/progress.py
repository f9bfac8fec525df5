"""How long work says how far it is: steps done, and steps in all where that number is public."""

from __future__ import annotations

from collections.abc import Callable

# called with (done, total); total is None where it is secret or unknown; public counts only, never rows or values
Progress = Callable[[int, int | None], None]


def silent(done: int, total: int | None) -> None:
    """Say nothing."""
