"""What the contour engine assumes of this machine's floating point, with the test of it.

Assumption (float-elementary). For float64 arrays of any length, numpy's `exp`, `expm1`, `log`, `log1p`, `sin`, `cos`
and `sqrt` return results within 4 units in the last place of the true value (`sin` and `cos`: of 1) for arguments of
magnitude at most 2^40 (`exp`, `expm1`: at most 700); so do `hypot`, `arctan2`, and `exp`, `log` and `abs` of complex
numbers (relative to their size), and Python's own `exp`, `expm1`, `log`, `log1p` and `tanh`; addition, multiplication
and division follow IEEE 754; `sum` adds by halves, or in any other order whose error is at most 64 units of the sum of
sizes; a product of matrices is as accurate as adding up one by one. Bounds in this room use `UNIT`, sixteen times as
much. `worst_ulps` compares the functions with ball arithmetic; it runs once per process, before the first answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import AssumptionFailed
from discreet.laws import Enclosure

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]
Numbers = NDArray[Any]

ASSUMED_ULPS = 4
UNIT = 16 * ASSUMED_ULPS * 2.0**-52
LARGEST_PHASE = 2.0**40
_ARRAYS = ("exp", "expm1", "log", "log1p", "sin", "cos", "sqrt")
_NUMBERS = ("exp", "expm1", "log", "log1p", "tanh")
_PLANES = ("hypot", "arctan2")
_COMPLEX = ("exp", "log", "abs")
_GOLDEN, _PLASTIC = 0.6180339887498949, 0.7548776662466927
_BITS, _LONGEST_TAIL = 160, 17
_tested = False


def bounded(lower: float, estimate: float, upper: float, method: str) -> Enclosure:
    """Enclose between computed ends: ends that crossed by a rounding meet, and the guess is brought between them."""
    low = min(lower, upper)
    return Enclosure(low, min(max(estimate, low), upper), upper, method)


@lru_cache(maxsize=32)
def gauss_rule(count: int) -> tuple[Floats, Floats]:
    """Return Gauss's nodes and weights on [0, 1], rounded from balls."""
    import flint

    from discreet.randomness.rigor import precision

    with precision(128):
        pairs = [flint.arb.legendre_p_root(count, k, weight=True) for k in range(count)]
        return np.array([float((1 + x) / 2) for x, _ in pairs]), np.array([float(w / 2) for _, w in pairs])


def worst_ulps(points: int = 64) -> float:
    """Return the largest error over the functions and a spread of arguments, in units in the last place."""
    from discreet.randomness.rigor import precision

    with precision(_BITS):
        errors = [
            *(_of_arrays(name, points) for name in _ARRAYS),
            *(_of_numbers(name, points) for name in _NUMBERS),
            *(_of_planes(name, points) for name in _PLANES),
            *(_of_complex(name, points) for name in _COMPLEX),
        ]
    return float(np.max(errors))  # unlike Python's own `max` it does not pass over NaN


def ensure_tested() -> None:
    """Raise `AssumptionFailed` if an elementary function is worse than assumed; tested once per process."""
    global _tested  # noqa: PLW0603  a once-per-process flag
    if _tested:
        return
    worst = worst_ulps()
    if not worst <= ASSUMED_ULPS:  # NaN fails too
        raise AssumptionFailed(
            f"an elementary function of numpy or Python is off by {worst:.1f} units in the last place here; the "
            f"accountant's bounds assume at most {ASSUMED_ULPS} (docs: threat model, assumption float-elementary)"
        )
    _tested = True


def _spread(points: int, ratio: float = _GOLDEN) -> Floats:
    """Return a fixed, irregular spread of numbers between 0 and 1."""
    return np.asarray((np.arange(1, points + 1) * ratio) % 1.0)


def _arguments(name: str, points: int) -> Floats:
    """Return arguments over the range in which the accountant calls a function of one number."""
    spread = _spread(points)
    wide = np.exp2(80.0 * spread - 40.0)
    signed = np.where(np.arange(points) % 2, wide, -wide)
    if name in ("exp", "expm1"):
        return np.asarray(np.clip(signed, -700.0, 700.0))
    if name == "log1p":
        return np.where(signed < 0, -spread, wide)
    return np.asarray(wide if name in ("log", "sqrt") else signed)


def _plane(name: str, points: int) -> Complexes:
    """Return complex arguments: of `exp` with any phase, of `log` mostly close to 1, where digits are easily lost."""
    first, second = _spread(points), _spread(points, _PLASTIC)
    if name == "exp":
        return np.asarray(1400.0 * first - 700.0 + 1j * np.exp2(80.0 * second - 40.0))
    turn = np.exp(2j * np.pi * second)
    if name == "log":
        near = np.arange(points) % 4 > 0
        return np.asarray(np.where(near, 1 + np.exp2(-50.0 * first) * turn, np.exp2(80.0 * first - 40.0) * turn))
    signs = np.where(np.arange(points) % 2, 1.0, -1.0)
    return np.asarray(signs * np.exp2(80.0 * first - 40.0) + 1j * np.exp2(80.0 * second - 40.0))


def _of_arrays(name: str, points: int) -> float:
    """Return the largest error of a function of arrays."""
    arguments = _arguments(name, points)
    truth = _truth(name, arguments)
    scale = np.ones(points) if name in ("sin", "cos") else np.abs(truth)
    return _largest_gap(lambda length: getattr(np, name)(arguments[:length]), truth, scale)


def _of_numbers(name: str, points: int) -> float:
    """Return the largest error of one of Python's own functions."""
    arguments = _arguments(name, points)
    truth = _truth(name, arguments)
    found = np.array([getattr(math, name)(float(x)) for x in arguments])
    return _largest_gap(lambda length: found[:length], truth, np.abs(truth))


def _truth(name: str, arguments: Floats) -> Floats:
    """Return the nearest floats to a function of numbers."""
    import flint

    return np.array([float(getattr(flint.arb(float(x)), name)()) for x in arguments])


def _of_planes(name: str, points: int) -> float:
    """Return the largest error of a function of two arrays."""
    import flint

    plane = _plane(name, points)
    balls = [(flint.arb(float(z.imag)), flint.arb(float(z.real))) for z in plane]
    truth = np.array([float(flint.arb.atan2(y, x) if name == "arctan2" else abs(flint.acb(x, y))) for y, x in balls])
    return _largest_gap(lambda n: getattr(np, name)(plane.imag[:n], plane.real[:n]), truth, np.abs(truth))


def _of_complex(name: str, points: int) -> float:
    """Return the largest error of a complex function, in units of the size of its value."""
    import flint

    arguments = _plane(name, points)
    balls = [flint.acb(float(z.real), float(z.imag)) for z in arguments]
    truth = np.array([complex(abs(z) if name == "abs" else getattr(z, name)()) for z in balls])
    return _largest_gap(lambda length: getattr(np, name)(arguments[:length]), truth, np.abs(truth))


def _largest_gap(found: Callable[[int], Numbers], truth: Numbers, scale: Floats) -> float:
    """Return the largest error over several array lengths: bodies and tails of arrays are other code."""
    units, points = np.spacing(np.maximum(scale, 2.0**-1000)), len(truth)
    gaps = [
        float(np.max(np.abs(found(length) - truth[:length]) / units[:length]))
        for length in {points, *range(1, min(points, _LONGEST_TAIL) + 1)}
    ]
    return float(np.max(gaps)) + 0.5  # the truth itself is rounded
