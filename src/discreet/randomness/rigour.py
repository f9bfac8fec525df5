"""Ball arithmetic where a decision must be right whatever a float says.

A ball is an interval that provably contains the number; more precision makes it smaller. flint's precision is one
setting for the whole process, so every computation takes the lock of `precision`: another thread could not make a ball
wrong, only wider, but wider could make a refinement loop slower.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from discreet.randomness.keystream import bits

Ball = Any  # flint.arb: the package ships no types
_lock = threading.RLock()
_STEP = 64


def _new_lock() -> None:
    """Give a forked child a free lock: the thread that held its parent's does not exist there."""
    global _lock  # noqa: PLW0603  replaced once per process
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_new_lock)


@contextmanager
def precision(bit_count: int) -> Iterator[None]:
    """Work with balls of this many bits; one thread at a time."""
    import flint  # loaded where used: importing discreet must stay fast

    with _lock, flint.ctx.workprec(bit_count):
        yield


def ball(value: Fraction | int) -> Ball:
    """Enclose a rational number at the current precision."""
    import flint

    exact = Fraction(value)
    return flint.arb(flint.fmpq(exact.numerator, exact.denominator))


def floor_of_lower(value: Ball) -> int:
    """Return an integer at most every number in the ball, as large as it can be told."""
    return int(value.lower().floor().lower().fmpz())


def ceil_of_upper(value: Ball) -> int:
    """Return an integer at least every number in the ball, as small as it can be told."""
    return int(value.upper().ceil().upper().fmpz())


def lower_float(value: Ball) -> float:
    """Return a float at most every number in the ball."""
    return _directed(value.lower(), -1)


def upper_float(value: Ball) -> float:
    """Return a float at least every number in the ball."""
    return _directed(value.upper(), +1)


def _directed(end: Ball, direction: int) -> float:
    """Convert an exact endpoint to a float on its outer side."""
    import math

    nearest = float(end)
    if math.isinf(nearest) or math.isnan(nearest):
        return nearest
    return math.nextafter(nearest, direction * math.inf)


def uniform_is_below(prefix: int, length: int, scaled: Callable[[int], tuple[int, int]]) -> bool:
    """Decide U < r exactly for a uniform U in [0, 1) whose first `length` bits are `prefix`.

    `scaled(b)` returns integers (low, high) with low <= r 2^b <= high. While the known bits of U leave the question
    open, 64 more are drawn; each round leaves it open with probability about 2^-64, so the loop ends with probability
    one.
    """
    while True:
        low, high = scaled(length)
        if prefix + 1 <= low:
            return True
        if prefix >= high:
            return False
        prefix, length = (prefix << _STEP) | bits(_STEP), length + _STEP
