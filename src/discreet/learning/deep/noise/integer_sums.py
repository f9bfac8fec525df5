"""Sums of a step's physical batches in 64-bit integers: exact, whatever the order and the number of batches."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from discreet.errors import ParameterError
from discreet.learning.deep.noise.grid import GradientGrid

Tensor = Any  # torch.Tensor: the checker of types reads nothing of torch
_PIECE = 1 << 15
_JOINED = 1 << 25  # on a graphics card every operation has to be started: fewer are better until they fill its memory


class IntegerSums:
    """Adds up rounded batches of one step: a private number, which only noise may make public.

    Each coordinate is kept as coarse 2^carry_bits + fine. Adding changes `fine` only; before it could leave the range
    of its integers, what is beyond the carry bits moves to `coarse`. Neither loses anything, so the total does not
    depend on when that happens, and is rounded once, when it is taken.
    """

    def __init__(self, grid: GradientGrid, shapes: Sequence[Sequence[int]], device: Any = None) -> None:
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
        self._joined = _PIECE if self._fine.device.type == "cpu" else _JOINED
        self._coarse: Tensor | None = None  # zero, which it stays unless many batches come
        self._added = self._since_carry = 0
        self._touched = False  # whether `fine` may hold something: also after an interruption in the middle

    def add(self, sums: Sequence[Tensor]) -> None:
        """Round one physical batch to the grid and add it; batches beyond the grid's number add nothing."""
        self._check(sums)
        if self._added == self._grid.batches:
            return
        if self._since_carry == self._grid.between_carries:
            self._carry()
        self._touched = True
        flats = [values.detach().reshape(-1) for values in sums]
        if self._grid.dimension <= self._joined:  # one piece: joined, they cost no more than one of them
            self._fine.add_(torch.cat(flats).mul_(self._factor).round_().to(torch.int64))
        else:
            for part, flat in zip(self._parts, flats, strict=True):
                for piece in pieces(flat):
                    part[piece].add_(torch.mul(flat[piece], self._factor).round_().to(torch.int64))
        self._added += 1
        self._since_carry += 1

    def take(self) -> Tensor:
        """Return the sum in steps of the grid as one flat tensor, and start the next at zero."""
        total = torch.zeros_like(self._fine)
        self.add_to(total)
        return total

    def add_to(self, total: Tensor) -> None:
        """Add the sum in steps of the grid to a flat tensor of integers, and start the next at zero."""
        bits = self._grid.carry_bits
        for piece in pieces(total):
            fine = self._fine[piece]
            if bits:
                fine.add_(1 << (bits - 1)).bitwise_right_shift_(bits)
            total[piece].add_(fine)
            if self._coarse is not None:
                total[piece].add_(self._coarse[piece])
            fine.zero_()
        self._touched = False
        self.clear()

    def as_floats(self, steps: Tensor) -> list[Tensor]:
        """Return a flat tensor of steps of the grid in units of the gradient, cut into the shapes of the parameters.

        Integers are overwritten: the floats take their place in memory.
        """
        flat = steps.view(torch.float64) if steps.dtype == torch.int64 else torch.empty_like(steps)
        unit = math.ldexp(1.0, self._grid.exponent)
        for piece in pieces(flat):
            torch.mul(steps[piece].to(torch.float64), unit, out=flat[piece])
        parts = flat.split(self._sizes)
        return [part.view(shape) for part, shape in zip(parts, self._shapes, strict=True)]

    def clear(self) -> None:
        """Forget what was added."""
        if self._touched:
            self._fine.zero_()
        self._touched, self._coarse = False, None
        self._added = self._since_carry = 0

    def _carry(self) -> None:
        """Move what is beyond the fine bits; where there are none, all batches have room."""
        bits = self._grid.carry_bits
        if bits:
            beyond = self._fine >> bits
            self._coarse = beyond if self._coarse is None else self._coarse.add_(beyond)
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


def pieces(flat: Tensor) -> Iterator[slice]:
    """Cut a flat tensor into parts that stay in a processor's caches over several operations; other devices need none.

    >>> [piece.start for piece in pieces(torch.zeros(100_000))]
    [0, 32768, 65536, 98304]
    """
    size = flat.numel()
    step = _PIECE if flat.device.type == "cpu" else max(size, 1)
    return (slice(start, start + step) for start in range(0, size, step))
