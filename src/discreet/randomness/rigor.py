"""What is assumed of floats, and ball arithmetic for decisions that must not depend on their rounding.

A ball is an interval that provably contains the number; more precision makes it smaller. flint's precision is one
setting for the whole process, so every computation takes the lock of `precision`: another thread could not make a ball
wrong, only wider, but wider could make a refinement loop slower.

The fast samplers assume one thing about this machine's floating point, and test it.

Assumption (float-log-exp). For float64 arrays of any length and alignment, numpy's `log` and `exp` return results
within 4 units in the last place of the true value, on the arguments that samplers and laws use: log on positive floats
up to 64, exp on [-708, 0], and below -708 exp is at most 2^-1000. Python's own `exp`, `log` and `tanh`, used where a
law is evaluated at one point, are as good. Addition, subtraction, multiplication and conversion follow IEEE 754.

The samplers do not rely on 4 units: they decide only when the answer is the same for every result within 2^12 units
(slack 2^10), and hand everything else to ball arithmetic. `self_test` compares numpy with correctly rounded values on
all array lengths from 1 to 70 (vectorized bodies and their tails are different code), and is run once per process
before the first vectorized draw, on a few hundred points; the test suite runs it on many more and with vector
instructions switched off. A test is not a proof: the assumption is listed in the threat model.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import AssumptionFailed
from discreet.randomness.keystream import bits, words

Ball = Any  # flint.arb: the package ships no types
_lock = threading.RLock()
_STEP = 64
ASSUMED_ULPS = 4
SLACK = 1 << 10
LOG_RELATIVE = ASSUMED_ULPS * SLACK * 2.0**-52  # |computed - true| <= LOG_RELATIVE * |true|, with the slack
EXP_RELATIVE = LOG_RELATIVE
_tested = False


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
    """Return the largest integer that is certainly at most every number in the ball."""
    return int(value.lower().floor().lower().fmpz())


def ceil_of_upper(value: Ball) -> int:
    """Return the smallest integer that is certainly at least every number in the ball."""
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


def worst_ulps(points: int = 256) -> tuple[float, float]:
    """Return the largest error of log and of exp seen on random points, in units in the last place."""
    draws = words(points).astype(np.float64) * 2.0**-64
    wide = np.exp2(64.0 - 70.0 * draws)
    arguments = np.where(np.arange(points) % 2, np.clip(draws, 2.0**-64, 1.0), np.minimum(wide, 64.0))
    arguments[::16] = np.exp2(-1070.0 * draws[::16])
    exponents = np.where(np.arange(points) % 2, -64.0 * draws, -708.0 * draws)
    return _worst(np.log, arguments), _worst(np.exp, exponents)


def self_test(points: int = 256) -> None:
    """Raise `AssumptionFailed` if log or exp is further from the truth than assumed."""
    log_error, exp_error = worst_ulps(points)
    if max(log_error, exp_error) > ASSUMED_ULPS:
        raise AssumptionFailed(
            f"numpy's log or exp is off by {max(log_error, exp_error):.1f} units in the last place on this "
            "machine; the exact "
            f"samplers assume at most {ASSUMED_ULPS} (docs: threat model, assumption float-log-exp). Nothing "
            "was sampled."
        )


def ensure_tested() -> None:
    """Run the self-test once per process."""
    global _tested  # noqa: PLW0603  a once-per-process flag
    if not _tested:
        self_test()
        _tested = True


def _worst(function: np.ufunc, arguments: NDArray[np.float64]) -> float:
    """Return the largest error over all array lengths from 1 to 70, covering bodies and tails of vectorized loops."""
    truth = _true_values(function, arguments)
    worst = 0.0
    computed = function(arguments)
    worst = max(worst, _ulps(computed, truth))
    for length in range(1, min(71, arguments.size)):
        start = (length * 7) % (arguments.size - length)
        part = function(arguments[start : start + length])
        worst = max(worst, _ulps(part, truth[start : start + length]))
    return worst


def _true_values(function: np.ufunc, arguments: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values correctly rounded from balls of 120 bits."""
    import flint

    with precision(120):
        balls = (flint.arb(float(x)) for x in arguments)
        return np.array([float(b.log() if function is np.log else b.exp()) for b in balls])


def _ulps(computed: NDArray[np.float64], truth: NDArray[np.float64]) -> float:
    """Return the largest distance in units in the last place of the truth (half a unit more for its own rounding)."""
    if not np.all(np.isfinite(computed)):
        return float("inf")
    return (
        float(np.max(np.abs(computed - truth) / np.spacing(np.maximum(np.abs(truth), 2.0**-1000)), initial=0.0)) + 0.5
    )
