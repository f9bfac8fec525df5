"""What a mechanism accepts, turned into exact grid steps; what it refuses, without showing it.

Integer mechanisms take integers of any size. Mechanisms on a finer grid take finite floats and round them to the
nearest grid point, ties upward. Rounding is exact (no float operation that could round again), because a rounding that
moves differently for neighbors would silently enlarge the sensitivity: round-half-even, for one, sends 0.5 and 1.5 two
steps apart.

Lemma (rounding). Let R(x) = floor(x / g + 1/2). If |x - y| <= D then |R(x) - R(y)| <= ceil(D / g). Proof. y <= x + g
ceil(D / g), R does not fall, and R(x + g k) = R(x) + k for integers k; exchange x and y. Over n coordinates with L1
distance D the sum of ceil(|x_i - y_i| / g) is an integer below D / g + n, hence at most ceil(D / g) + n - 1; in L2 the
triangle inequality gives D / g + sqrt n.
"""

from __future__ import annotations

import numbers
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.laws.number import rational_or_none

Steps = int | NDArray[Any]
_EXACT = 2.0**51
SAFE = 2.0**62
_BLOCK = 1 << 13
_NOT_A_NUMBER = "the value must be a finite number or an array of them"


def is_array(value: object) -> bool:
    """Say whether a value is an array answer rather than a single number."""
    return isinstance(value, np.ndarray) and value.ndim > 0


def integer_steps(value: object) -> Steps:
    """Return integers as they are: a Python int, an int64 array, or an object array of Python integers."""
    if isinstance(value, np.ndarray):
        return _integer_array(value) if value.ndim else integer_steps(value[()])
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise InputError(_integer_message(value))
    return int(value)


def _integer_array(value: NDArray[Any]) -> NDArray[Any]:
    """Return an integer array in a form that arithmetic cannot overflow unseen."""
    if value.dtype.kind == "i" or (value.dtype.kind == "u" and value.dtype.itemsize < 8):
        return value.astype(np.int64)
    if value.dtype.kind == "u":
        return value.astype(object)
    if value.dtype.kind == "O":
        out = np.empty(value.shape, dtype=object)
        out[...] = np.array([integer_steps(entry) for entry in value.ravel()] + [None], dtype=object)[:-1].reshape(
            value.shape
        )
        return out
    raise InputError(_integer_message(value))


def _integer_message(value: object) -> str:
    """Say what to write instead, by type only."""
    kind = value.dtype.name if isinstance(value, np.ndarray) else type(value).__name__
    if isinstance(value, bool | np.bool_) or kind == "bool":
        return "a truth value is not a number; pass int(...) if 0 or 1 is meant"
    if isinstance(value, float | np.floating) or (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
        return (
            "this mechanism adds integer noise to integers, because its sensitivity was given as an int. For "
            "real answers give the "
            "sensitivity as a float, for example sensitivity=1.0; to release whole numbers pass an int"
        )
    return f"this mechanism takes integers (an int or an array of them), not {kind}"


def grid_steps(value: object, grid: Fraction) -> Steps:
    """Round a float, or an array of them, to the nearest grid point, ties upward, exactly; return grid coordinates."""
    if isinstance(value, np.ndarray):
        return _grid_array(value, grid) if value.ndim else grid_steps(value[()], grid)
    return _nearest(_real(value) / grid)


def _real(value: object) -> Fraction:
    """Return a real number exactly, or refuse it without showing it."""
    if isinstance(value, bool | np.bool_):
        raise InputError("a truth value is not a number; pass float(...) if 0 or 1 is meant")
    exact = rational_or_none(value)
    if exact is not None:
        return exact
    is_float = isinstance(value, float | np.floating) and not isinstance(value, np.longdouble)
    raise InputError(_NOT_A_NUMBER if is_float else f"{_NOT_A_NUMBER}, not {type(value).__name__}")


def add_on_grid(value: float, noise: np.int64, grid: float, inverse: float) -> float | None:
    """Return a float rounded to the grid plus noise below 2^62 in size; None where 64 bits do not hold every step.

    The same rounding as `grid_steps`: scaling by a power of two is exact, and so is the comparison with one half.
    """
    scaled = value * inverse
    if not -SAFE < scaled < SAFE:
        return None
    whole = scaled // 1.0
    steps = np.int64(whole) + np.int64(scaled - whole >= 0.5)
    return float(steps + noise) * grid + 0.0


def _nearest(steps: Fraction) -> int:
    """Return floor(x + 1/2)."""
    return (2 * steps.numerator + steps.denominator) // (2 * steps.denominator)


def _grid_array(value: NDArray[Any], grid: Fraction) -> NDArray[Any]:
    """Round an array; coordinates beyond int64 are kept as Python integers."""
    if value.dtype.kind not in "iufO" or value.dtype == np.longdouble:
        raise InputError(f"{_NOT_A_NUMBER}, not an array of {value.dtype.name}")
    if value.dtype.kind != "f":
        return _exact_array(value, grid)
    with np.errstate(over="ignore"):
        scaled = np.multiply(
            value, float(1 / grid), dtype=np.float64
        )  # a power of two: exact unless it over- or underflows
    if not np.all(np.abs(scaled) < SAFE):
        if not np.all(np.isfinite(value)):
            raise InputError(_NOT_A_NUMBER)
        return _exact_array(value, grid)
    whole = np.floor(scaled)
    # x - floor(x) is exact, or lies above 1/2 where it is not (x just below 0), so the comparison is right
    return (
        (whole + (scaled - whole >= 0.5)).astype(np.int64) if np.all(np.abs(scaled) < _EXACT) else _large(scaled, whole)
    )


def _large(scaled: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.int64]:
    """Add the rounding bit in integers, where a float could no longer hold it."""
    return whole.astype(np.int64) + (scaled - whole >= 0.5)


def _exact_array(value: NDArray[Any], grid: Fraction) -> NDArray[np.object_]:
    """Round element by element in rational arithmetic."""
    steps = [_nearest(_real(entry) / grid) for entry in value.ravel()]
    return np.array([*steps, None], dtype=object)[:-1].reshape(value.shape)


def floats_on_grid(steps: Steps, grid: Fraction) -> Any:
    """Return steps * grid as floats, rounded only after the noise is in (post-processing)."""
    if isinstance(steps, int):
        return _to_float(steps * grid)
    if steps.dtype == object:
        return np.array([_to_float(int(step) * grid) for step in steps.ravel()], dtype=np.float64).reshape(steps.shape)
    return steps.astype(np.float64) * float(grid) + 0.0  # adding zero turns -0.0 into 0.0


def _to_float(value: Fraction) -> float:
    """Return the nearest float, the largest finite one beyond the range, and never minus zero."""
    try:
        return float(value) + 0.0
    except OverflowError:
        largest = float(np.finfo(np.float64).max)
        return largest if value > 0 else -largest


def add_noise(steps: Steps, noise: Any) -> Any:
    """Add integers without overflow: int64 arrays saturate at the ends of their range, Python integers are unbounded.

    The type of the result depends on the type of the input alone, never on a value; saturation is post-processing.
    """
    if isinstance(steps, int):
        return steps + int(noise)
    if steps.dtype == object:
        return steps + noise.astype(object)
    if noise.dtype == object:
        return _saturated(steps.astype(object) + noise)
    if _sum_fits(steps, noise):
        return np.add(steps, noise, out=noise)
    total = steps + noise
    overflow = ((steps ^ total) & (noise ^ total)) < 0
    if overflow.any():
        total[overflow] = np.where(steps[overflow] > 0, np.iinfo(np.int64).max, np.iinfo(np.int64).min)
    return total


def _sum_fits(steps: NDArray[np.int64], noise: NDArray[np.int64]) -> bool:
    """Say whether the extremes of two int64 arrays already show that no sum overflows."""
    if not steps.size:
        return True
    ends = np.iinfo(np.int64)
    return int(steps.max()) + int(noise.max()) <= ends.max and int(steps.min()) + int(noise.min()) >= ends.min


def add_to_floats(values: NDArray[np.float64], noise: NDArray[np.int64], grid: float, inverse: float) -> Any:
    """Return floats rounded to the grid plus noise, a block at a time; None where floats do not hold every step."""
    if max(-int(noise.min(initial=0)), int(noise.max(initial=0))) >= _EXACT:
        return None
    flat, out = values.ravel(), np.empty(values.size)
    for start in range(0, flat.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = flat[part] * inverse
            if not (scaled.min() > -_EXACT and scaled.max() < _EXACT):
                return None
        whole = np.floor(scaled)
        scaled -= whole
        whole += scaled >= 0.5
        whole += noise[part]
        whole *= grid
        np.add(whole, 0.0, out=out[part])
    return out.reshape(values.shape)


def _saturated(values: NDArray[Any]) -> NDArray[np.int64]:
    """Fold Python integers onto the int64 range."""
    ends = np.iinfo(np.int64)
    return np.array([min(max(int(v), ends.min), ends.max) for v in values.ravel()], dtype=np.int64).reshape(
        values.shape
    )
