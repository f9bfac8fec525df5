"""Exact Gaussian integers made on a graphics card: integer operations there, and the few open coins settled here."""

from __future__ import annotations

import struct
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import torch

from discreet.errors import AssumptionFailed
from discreet.laws.noise.gaussian.block_table import LARGEST_SCALE, LEAST_SCALE, block_table
from discreet.laws.noise.gaussian.gaussian_sampler import RESIDUAL
from discreet.learning.deep.noise.device.chacha import Tensor, keystream, new_key

_CHUNK = 1 << 23  # draws at a time, so that what is in between stays below a gigabyte
_KERNEL_CHUNK = 1 << 30  # a kernel has nothing in between
_DRAWS_A_BLOCK = 4  # of the cipher: two words each
_OPEN = 1024  # one in this many is more than are ever open
_TRIED = (1 << 16) + 3


class DeviceNoise:
    """Vectors of rounded Gaussian integers of one scale, drawn on a device of torch when they are asked for.

    Each draw takes two words of ChaCha20 under a new key (`keystream`): the first picks a block from a table of
    integers, the second gives low bits and a coin (`BlockTable`). Nothing on the device is a float: look-ups, shifts
    and comparisons of integers, which are the same on every machine. A pair that the comparison leaves open, less than
    3 in 10,000, is flagged, and settled on the processor in floats with a proven margin, and then in balls. So the law
    is exactly that of `RoundedGaussian`, given that the words are uniform. There is no state besides the table: a fork,
    a copy or a pickle takes no noise along. On a graphics card one kernel of Triton does all this, where it can be
    made (`draws_kernel`); before its first use its draws are compared with those of the processor under one key, bit
    for bit.
    Cost. 16 bytes of keystream a draw; one transfer of the flagged pairs, which waits for the device.

    >>> DeviceNoise(Fraction(2**30), length=4, device="cpu").take().dtype
    torch.int64
    """

    def __init__(self, scale: Fraction, length: int, device: Any) -> None:
        self._scale, self._length, self._device = scale, length, torch.device(device)
        table = block_table(scale)
        self._kept = torch.tensor(table.kept, device=self._device)
        self._outcomes = torch.tensor(table.outcomes, device=self._device)
        self._fused = self._device.type == "cuda" and self._fuses()

    @staticmethod
    def serves(scale: Fraction) -> bool:
        """Say whether a scale is one that is drawn this way."""
        return LEAST_SCALE <= scale <= LARGEST_SCALE

    def start(self) -> None:
        """Do nothing: noise is made when it is asked for."""

    def take(self, *, more: bool = True) -> Tensor:  # noqa: ARG002  nothing is drawn ahead
        """Return a vector of independent draws as an int64 tensor on the device."""
        chunk = _KERNEL_CHUNK if self._fused else _CHUNK
        sizes = [min(chunk, self._length - start) for start in range(0, self._length, chunk)]
        parts = [self._drawn(new_key(), size) for size in sizes]
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def _drawn(self, key: bytes, count: int) -> Tensor:
        """Return as many draws under a key, the open ones settled."""
        values, places, blocks, words = self._made(key, count) if self._fused else self._computed(key, count)
        if len(blocks):
            settled = block_table(self._scale).settle(blocks, words.view(np.uint64))
            values[places] = torch.from_numpy(settled).to(self._device)
        return values

    def _made(self, key: bytes, count: int) -> tuple[Tensor, Tensor, Any, Any]:
        """Return the draws of a key by the kernel, the places of the open ones, their blocks and their second words."""
        table, room = block_table(self._scale), count // _OPEN + _OPEN
        while True:
            values, found = _kernel().draws(
                struct.unpack("<8i", key), count, self._kept, self._outcomes, table.doubts, table.low_bits, room
            )
            seen = found.cpu().numpy()
            number = int(seen[0])
            if number <= room:
                _, blocks, words = np.split(seen[1:], 3)
                return values, found[1 : 1 + number], blocks[:number], words[:number]
            room = number  # the same draws again: another key for want of room would change their law

    def _computed(self, key: bytes, count: int) -> tuple[Tensor, Tensor, Any, Any]:
        """Return the same by operations of torch."""
        first, second = self._pairs(key, count)
        values, flagged, chosen = self._decided(first, second)
        places = flagged.nonzero().squeeze(1)
        opened = torch.stack([chosen[places], second[places]]).cpu().numpy()
        return values, places, opened[0], opened[1]

    def _pairs(self, key: bytes, count: int) -> tuple[Tensor, Tensor]:
        """Return the two words of each draw: draw j of the four of block b of the cipher stands at j blocks + b."""
        blocks = -(-count // _DRAWS_A_BLOCK)
        words = keystream(2 * _DRAWS_A_BLOCK * blocks, self._device, key).view(blocks, _DRAWS_A_BLOCK, 2)
        first, second = words.permute(2, 1, 0).reshape(2, -1)[:, :count]
        return first, second

    def _decided(self, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the draws, which of them are open (their coin, the residual, or minus zero), and their blocks.

        A word stands for an integer below 2^64; a sign says that its top bit is set. ~second is 2^64 - 1 - w, and what
        it is compared with is below 2^63, so a set top bit means heads.
        """
        table = block_table(self._scale)
        (doubt, least), bits, low_bits = table.doubts, table.column_bits, table.low_bits
        columns = (first >> (64 - bits)) & ((1 << bits) - 1)
        aliased = (first & ((1 << (64 - bits)) - 1)) >= self._kept[columns]
        chosen = self._outcomes[columns + (aliased.to(torch.int64) << bits)]
        left = ~second
        bound = ((chosen ^ (chosen >> 63)) * 2 + 1) * doubt + least
        values = (chosen << low_bits) | (second & ((1 << low_bits) - 1))
        flagged = ((left >= 0) & (left <= bound)) | (chosen == RESIDUAL) | (values == -1)
        return values.sub_(values >> 63), flagged, chosen

    def _fuses(self) -> bool:
        """Say whether the kernel can be made; raise unless its draws are those of the processor."""
        key = new_key()
        try:
            values, places, *_ = self._made(key, _TRIED)
        except Exception:  # no Triton, or no compiler for it: torch's operations are slower, and the same
            return False
        wanted = DeviceNoise(self._scale, _TRIED, "cpu")
        theirs, others, *_ = wanted._computed(key, _TRIED)
        alike = torch.equal(values.cpu(), theirs) and torch.equal(places.sort().values.cpu(), others)
        if not alike:
            raise AssumptionFailed(
                f"integers on {str(self._device)!r} must be those of the processor; got others from a kernel made by "
                "Triton. Nothing was sampled; train on the processor."
            )
        return True


def _kernel() -> ModuleType:
    """Return the kernel's module, which needs Triton."""
    from discreet.learning.deep.noise.device import draws_kernel

    return draws_kernel
