"""What the contour engine assumes of this machine's floating point, with the test of it.

Assumption (float-elementary). For float64 arrays of any length, numpy's `exp`, `expm1`, `log`, `log1p`, `sin`, `cos`
and `sqrt` return results within 4 units in the last place of the true value (`sin` and `cos`: of 1) for arguments of
magnitude at most 2^40 (`exp`, `expm1`: at most 700); so do `hypot`, `arctan2`, `exp` and `log` of complex numbers
(relative to their size), and Python's own `exp`, `expm1`, `log`, `log1p` and `tanh`; addition, multiplication and division follow IEEE 754; `sum` adds
by halves, or in any other order whose error is at most 64 units of the sum of sizes; a product of matrices is as
accurate as adding up one by one. Bounds in this room use `UNIT`, sixteen times as much. `self_test` compares with ball arithmetic; it runs once per process
before the first answer.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.errors import AssumptionFailed

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

ASSUMED_ULPS = 4
UNIT = 16 * ASSUMED_ULPS * 2.0**-52
LARGEST_PHASE = 2.0**40
_FUNCTIONS = ("exp", "expm1", "log", "log1p", "sin", "cos", "sqrt")
_tested = False


def worst_ulps(points: int = 64) -> float:
    """Return the largest error over the functions and a spread of arguments, in units in the last place."""
    return max(_worst(name, points) for name in _FUNCTIONS)


def ensure_tested() -> None:
    """Raise `AssumptionFailed` if an elementary function is worse than assumed; tested once per process."""
    global _tested  # noqa: PLW0603  a once-per-process flag
    if _tested:
        return
    worst = worst_ulps()
    if worst > ASSUMED_ULPS:
        raise AssumptionFailed(
            f"an elementary function of numpy is off by {worst:.1f} units in the last place on this machine; the "
            f"accountant's bounds assume at most {ASSUMED_ULPS} (docs: threat model, assumption float-elementary)"
        )
    _tested = True


def _arguments(name: str, points: int) -> Floats:
    """Return arguments over the range in which the accountant calls a function; a fixed, irregular spread."""
    spread = (np.arange(1, points + 1) * 0.6180339887498949) % 1.0
    wide = np.exp2(80.0 * spread - 40.0)
    signed = np.where(np.arange(points) % 2, wide, -wide)
    if name in ("exp", "expm1"):
        return np.asarray(np.clip(signed, -700.0, 700.0))
    if name == "log1p":
        return np.where(signed < 0, -spread, wide)
    return np.asarray(wide if name in ("log", "sqrt") else signed)


def _worst(name: str, points: int) -> float:
    """Return the largest error of one function, called on several array lengths (bodies and tails are other code)."""
    import flint

    from discreet.randomness.rigour import precision

    arguments = _arguments(name, points)
    function = getattr(np, name)
    with precision(160):
        truth = np.array([float(getattr(flint.arb(float(x)), name)()) for x in arguments])
    scale = np.ones(points) if name in ("sin", "cos") else np.maximum(np.abs(truth), 2.0**-1000)
    worst = 0.0
    for length in {points, *range(1, min(points, 18))}:
        gaps = np.abs(function(arguments[:length]) - truth[:length]) / np.spacing(scale[:length])
        worst = max(worst, float(np.max(gaps)))
    return worst + 0.5
