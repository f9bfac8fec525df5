"""The one thing the fast samplers assume about this machine's floating point, and the test of it.

Assumption (float-log-exp). For float64 arrays of any length and alignment, numpy's `log` and `exp` return results
within 4 units in the last place of the true value, on the arguments that samplers and laws use: log on positive floats
up to 64, exp on [-708, 0], and below -708 exp is at most 2^-1000. Python's own `exp`, `log` and `tanh`, used where a
law is evaluated at one point, are as good. Addition, subtraction, multiplication and conversion follow IEEE 754.

The samplers do not rely on 4 units: they decide only when the answer is the same for every result within 2^12 units
(slack 2^10), and hand everything else to ball arithmetic. `self_test` compares numpy with correctly rounded values on
all array lengths from 1 to 70 (vectorised bodies and their tails are different code), and is run once per process
before the first vectorised draw, on a few hundred points; the test suite runs it on many more and with vector
instructions switched off. A test is not a proof: the assumption is listed in the threat model.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.errors import AssumptionFailed
from discreet.randomness import words

ASSUMED_ULPS = 4
SLACK = 1 << 10
LOG_RELATIVE = ASSUMED_ULPS * SLACK * 2.0**-52  # |computed - true| <= LOG_RELATIVE * |true|, with the slack
EXP_RELATIVE = LOG_RELATIVE
_tested = False


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
    """Return the largest error over all array lengths from 1 to 70, covering bodies and tails of vectorised loops."""
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

    from discreet.randomness.rigour import precision

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
