"""How long work says how far it is: steps done, and steps in all where that number is public."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int | None], None]
"""Called with (done, total): public counts only, and None for a total that is secret or unknown."""


def silent(done: int, total: int | None) -> None:
    """Say nothing."""
