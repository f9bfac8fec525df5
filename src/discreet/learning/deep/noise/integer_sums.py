"""Sums of a step's physical batches in 64-bit integers: exact, whatever the order and the number of batches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from discreet.errors import ParameterError
from discreet.learning.deep.noise.grid import Grid

Tensor = Any  # torch.Tensor: the checker of types reads nothing of torch


class IntegerSums:
    """Adds up rounded batches of one step: a private number, which only noise may make public.

    Each coordinate is kept as coarse 2^carry_bits + fine. Adding changes `fine` only; before it could leave the range
    of its integers, what is beyond the carry bits moves to `coarse`. Neither loses anything, so the total does not
    depend on when that happens, and is rounded once, when it is taken.
    """

    def __init__(self, grid: Grid, shapes: Sequence[Sequence[int]], device: Any = None) -> None:
        self._grid = grid
        self._shapes = [tuple(shape) for shape in shapes]
        self._sizes = [math.prod(shape) for shape in self._shapes]
        if sum(self._sizes) != grid.dimension:
            raise ParameterError(
                f"shapes must hold {grid.dimension} coordinates in all, as the grid does; got {sum(self._sizes)}",
                parameter="shapes",
            )
        self._factor = math.ldexp(1.0, grid.carry_bits - grid.exponent)
        self._fine = torch.zeros(grid.dimension, dtype=torch.int64, device=device)
        self._parts = self._fine.split(self._sizes)
        self._coarse = torch.zeros_like(self._fine) if grid.carry_bits else None
        self._added = self._since_carry = 0

    def add(self, sums: Sequence[Tensor]) -> None:
        """Round one physical batch to the grid and add it; batches beyond the grid's number add nothing."""
        self._check(sums)
        if self._added == self._grid.batches:
            return
        if self._since_carry == self._grid.between_carries:
            self._carry()
        for part, values in zip(self._parts, sums, strict=True):
            scaled = torch.mul(values.detach(), self._factor).round_()
            part.add_(scaled.to(torch.int64).reshape(-1))
        self._added += 1
        self._since_carry += 1

    def take(self) -> Tensor:
        """Return the sum in steps of the grid as one flat tensor, and start the next at zero."""
        bits = self._grid.carry_bits
        total = self._fine.clone()
        if self._coarse is not None:
            total.add_(1 << (bits - 1)).bitwise_right_shift_(bits).add_(self._coarse)
        self.clear()
        return total

    def clear(self) -> None:
        """Forget what was added."""
        self._fine.zero_()
        if self._coarse is not None:
            self._coarse.zero_()
        self._added = self._since_carry = 0

    def shaped(self, flat: Tensor) -> list[Tensor]:
        """Cut a flat tensor into the shapes of the parameters."""
        parts = flat.split(self._sizes)
        return [part.reshape(shape) for part, shape in zip(parts, self._shapes, strict=True)]

    def _carry(self) -> None:
        """Move what is beyond the fine bits; without any there is room for all batches."""
        bits = self._grid.carry_bits
        if self._coarse is not None:
            self._coarse.add_(self._fine >> bits)
            self._fine.bitwise_and_((1 << bits) - 1)
        self._since_carry = 0

    def _check(self, sums: Sequence[Tensor]) -> None:
        """Raise ParameterError for sums of other shapes, or of floats too short for the proof."""
        if [tuple(one.shape) for one in sums] != self._shapes:
            raise ParameterError("sums must have the shapes of the trainable parameters, in order", parameter="sums")
        if any(one.dtype != torch.float64 for one in sums):
            raise ParameterError(
                "sums must be float64 for exact noise; write ClippedSum(..., exact=True)", parameter="sums"
            )
