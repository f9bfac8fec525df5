"""Noise added to an answer, on a public grid: what Laplace and Gaussian share."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ConflictingParameters, InputError, ParameterError
from discreet.laws import Law, OnGrid, Product
from discreet.laws.noise import IntegerNoise
from discreet.laws.number import Number, exact_rational, round_up
from discreet.mechanisms.domain import (
    SAFE,
    Steps,
    add_noise,
    add_on_grid,
    add_to_floats,
    floats_on_grid,
    grid_steps,
    integer_steps,
    is_array,
)
from discreet.mechanisms.mechanism import Mechanism
from discreet.privacy import Relation, Sensitivity

_STEPS_PER_SCALE_BITS = 30
_FINEST, _COARSEST = -960, 900


class AdditiveNoise(Mechanism):
    """Integer noise on a grid, added to the answer rounded to that grid.

    The grid is public: 1 for an integer sensitivity; otherwise a power of two about 2^-30 of the scale, or the one
    given. All that is stated below is in steps of the grid, with the rounding of the input inside the sensitivity.
    """

    noise: IntegerNoise

    def __init__(self, *, sensitivity: Sensitivity, bare: bool, grid: Number | None, length: int | None) -> None:
        self.sensitivity = sensitivity
        self.relation: Relation = sensitivity.relation
        self._grid_given = power_of_two(grid)
        self.length = _length(length, bare=bare)
        self._bare = bare
        self._scalar_only = bare or (self.length is None and not sensitivity.is_integer)
        if sensitivity.is_integer and self._grid_given not in (None, Fraction(1)):
            raise ConflictingParameters(
                "an integer sensitivity means integers in, integers out, on grid 1; for a finer grid give "
                "the sensitivity as a "
                "float, for example sensitivity=1.0",
                parameter="grid",
            )

    def _settle_grid(self, approximate_scale: Fraction) -> None:
        """Fix the grid from public numbers alone."""
        if self.sensitivity.is_integer:
            self.grid = Fraction(1)
            return
        self._place_grid(self._grid_given or two_to(floor_log2(approximate_scale) - _STEPS_PER_SCALE_BITS))

    def _place_grid(self, grid: Fraction) -> None:
        """Take a grid; raise an error if floats cannot hold its multiples."""
        check_grid(grid)
        self.grid, self._grid_float, self._per_grid_float = grid, float(grid), float(1 / grid)

    @property
    def _integer(self) -> bool:
        """Whether integers come in and go out."""
        return self.sensitivity.is_integer

    @property
    def scale(self) -> float:
        """The noise's scale in the unit of the answer."""
        return float(self.noise.scale * self.grid)

    @property
    @abstractmethod
    def steps(self) -> Fraction:
        """The sensitivity in steps of the grid, the rounding of the input included."""

    def _steps(self, value: object) -> Steps:
        """Return the answer in steps of the grid; refuse shapes the sensitivity does not cover."""
        if is_array(value):
            self._check_array(np.asanyarray(value))
        elif isinstance(value, list | tuple):
            raise InputError("pass an array answer as a numpy array")
        elif self.length not in (None, 1):
            raise InputError(f"this mechanism was priced for an array of {self.length} numbers, not for a single one")
        return integer_steps(value) if self._integer else grid_steps(value, self.grid)

    def _check_array(self, value: NDArray[Any]) -> None:
        """Refuse an array that the stated sensitivity says nothing about; the shape of an answer is public."""
        if isinstance(value, np.ma.MaskedArray):
            raise InputError("a masked array hides some of its entries: fill or drop them before asking")
        count = value.size
        if self._scalar_only:
            length = "length= with the number of coordinates, each of which is rounded to the grid"
            if not self._bare:
                raise InputError(f"an array of real numbers needs its public length: add {length}")
            hint = "" if self.sensitivity.is_integer else f", and {length}"
            raise InputError(
                "a bare number as sensitivity is for a single answer. For an array state its norm over the "
                "whole array: "
                f"sensitivity=Sensitivity(..., norm=..., relation=...){hint}"
            )
        if self.length is not None and count != self.length:
            raise InputError(f"this mechanism was priced for {self.length} numbers, got an array of {count}")

    def __call__(self, value: Any) -> Any:
        """Release the answer with noise: an int or int64 array for integers, floats on the grid otherwise."""
        if type(value) is float and math.isfinite(value) and not self._integer and self.length in (None, 1):
            return self._call_float(value)
        if isinstance(value, np.ndarray) and value.dtype == np.float64 and value.ndim and not self._integer:
            return self._call_floats(value)
        steps = self._steps(value)
        if isinstance(steps, int):
            noisy: Any = self.noise.added_to(steps)
        else:
            noise = self.noise.draw(steps.size).reshape(steps.shape)
            if not self._integer and noise.dtype == object:  # floats never saturate: whether they did would be data
                steps = steps.astype(object)
            noisy = add_noise(steps, noise)
        return noisy if self._integer else floats_on_grid(noisy, self.grid)

    def _call_float(self, value: float) -> float:
        """Release one float in 64-bit arithmetic, whose time depends neither on the noise nor on the value."""
        lifted, lift = self.noise.draw_lifted(), self.noise.lift
        if 0 < lifted < SAFE and lift < SAFE:
            noise = np.int64(lifted) - np.int64(lift)
            released = add_on_grid(value, noise, self._grid_float, self._per_grid_float)
            if released is not None:
                return released
        return float(floats_on_grid(grid_steps(value, self.grid) + lifted - lift, self.grid))

    def _call_floats(self, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """Release an array of floats."""
        self._check_array(value)
        noise = self.noise.draw(value.size)
        released: NDArray[np.float64] | None = None
        if noise.dtype != object:
            released = add_to_floats(value, noise, self._grid_float, self._per_grid_float)
        if released is None:
            steps: Any = grid_steps(value, self.grid)
            if noise.dtype == object:  # floats never saturate: whether they did would be data
                steps = steps.astype(object)
            released = floats_on_grid(add_noise(steps, noise.reshape(value.shape)), self.grid)
        return released

    def law(self, value: Any) -> Law[Any]:
        """Return the law of the release: noise about the rounded answer, one component a coordinate."""
        steps = self._steps(value)
        if isinstance(steps, int):
            return self._law_about(steps)
        return Product([self._law_about(int(step)) for step in steps.ravel()])

    def _law_about(self, steps: int) -> Law[Any]:
        """Return the law of one coordinate."""
        centered = self.noise.at(steps)
        return centered if self._integer else OnGrid(centered, self.grid)

    def error(self, confidence: float, count: int = 1) -> Any:
        """Return the half-width that holds for all `count` answers at once: the exact quantile of the noise.

        On a grid finer than 1 it includes the half step by which the input may have been rounded.
        """
        width = self.noise.half_width(confidence, count)
        return width if self._integer else round_up((width + Fraction(1, 2)) * self.grid)

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield answers one sensitivity apart, at places where rounding and size could matter."""
        if self.length in (None, 1):
            yield from self._scalar_neighbors()
        if self.length != 1 and not self._scalar_only:
            yield from self._array_neighbors()

    def _scalar_neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield single answers."""
        step = self.sensitivity.value
        if self._integer:
            yield from ((start, start + int(step)) for start in (0, -int(step), 10**6, 2**63 - 1, -(10**30)))
            return
        half = float(self.grid / 2)
        for start in (0.0, half, math.nextafter(half, 0.0), -half, 1e6 * float(self.grid), -1.0):
            yield start, Fraction(start) + Fraction(step)

    def _array_neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield arrays in which one coordinate takes the whole sensitivity."""
        base = np.zeros(self.length or 3, dtype=np.int64 if self._integer else np.float64)
        moved = base.copy()
        moved[-1] = int(self.sensitivity.value) if self._integer else float(self.sensitivity.value)
        yield base, moved
        yield -moved, base

    def __repr__(self) -> str:
        grid = "" if self._integer else f", grid=2^{floor_log2(self.grid)}"
        stated = f"scale={self.scale:.6g}, sensitivity={self.sensitivity.value}{grid}, relation={self.relation.name}"
        return f"{type(self).__name__}({stated})"


def rounded_steps(sensitivity: Sensitivity, grid: Fraction, length: int | None) -> Fraction:
    """Return an L1 sensitivity in grid steps after rounding every coordinate (the rounding lemma)."""
    if sensitivity.is_integer:
        return sensitivity.exact
    return Fraction(math.ceil(sensitivity.exact / grid) + (length or 1) - 1)


def check_grid(grid: Fraction) -> None:
    """Refuse a grid whose multiples floats cannot hold."""
    if not two_to(_FINEST) <= grid <= two_to(_COARSEST):
        raise ParameterError(
            "this scale needs a grid that floats cannot hold; measure the answer in another unit", parameter="scale"
        )


def _length(length: int | None, *, bare: bool) -> int | None:
    """Return the number of coordinates: 1 for a bare number, else as stated."""
    if length is None:
        return 1 if bare else None
    if isinstance(length, bool) or not isinstance(length, int | np.integer) or length < 1:
        raise ParameterError(
            "length must be the public number of coordinates, an int of at least 1", parameter="length"
        )
    if bare and length != 1:
        raise ConflictingParameters(
            "a bare number as sensitivity is for a single answer; for an array give "
            "sensitivity=Sensitivity(..., norm=..., "
            "relation=...)",
            parameter="length",
        )
    return int(length)


def power_of_two(grid: Number | None) -> Fraction | None:
    """Return a grid exactly; raise ParameterError unless it is a power of two."""
    if grid is None:
        return None
    exact = exact_rational(grid, name="grid")
    if exact <= 0 or exact.numerator & (exact.numerator - 1) or exact.denominator & (exact.denominator - 1):
        raise ParameterError("a grid must be a power of two, such as 2**-10 or 0.25", parameter="grid")
    return exact


def floor_log2(value: Fraction) -> int:
    """Return the greatest k with 2^k <= value."""
    k = value.numerator.bit_length() - value.denominator.bit_length()
    return k if two_to(k) <= value else k - 1


def two_to(exponent: int) -> Fraction:
    """Return 2^exponent exactly."""
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)
