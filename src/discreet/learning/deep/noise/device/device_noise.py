"""Exact Gaussian integers made on a graphics card: integer operations there, and the few open coins settled here."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import torch

from discreet.laws.noise.gaussian.block_table import LARGEST_SCALE, LEAST_SCALE, block_table
from discreet.laws.noise.gaussian.gaussian_sampler import RESIDUAL
from discreet.learning.deep.noise.device.chacha import Tensor, keystream

_CHUNK = 1 << 23  # draws at a time, so that what is in between stays below a gigabyte


class DeviceNoise:
    """Vectors of rounded Gaussian integers of one scale, drawn on a device of torch when they are asked for.

    Each draw takes two words of ChaCha20 (`keystream`): the first picks a block from a table of integers, the second
    gives low bits and a coin (`BlockTable`). Nothing on the device is a float: look-ups, shifts and comparisons of
    integers, which are the same on every machine. A pair that the comparison leaves open, less than 3 in 10,000, is
    flagged, and settled on the processor in floats with a proven margin, and then in balls. So the law is exactly
    that of `RoundedGaussian`, given that the words are uniform. There is no state besides the table: a fork, a copy or
    a pickle takes no noise along.
    Cost. 16 bytes of keystream a draw; one transfer of the flagged pairs, which waits for the device.

    >>> DeviceNoise(Fraction(2**30), length=4, device="cpu").take().dtype
    torch.int64
    """

    def __init__(self, scale: Fraction, length: int, device: Any) -> None:
        self._scale, self._length, self._device = scale, length, torch.device(device)
        table = block_table(scale)
        self._kept = torch.tensor(table.kept, device=self._device)
        self._outcomes = torch.tensor(table.outcomes, device=self._device)

    @staticmethod
    def serves(scale: Fraction) -> bool:
        """Say whether a scale is one that is drawn this way."""
        return LEAST_SCALE <= scale <= LARGEST_SCALE

    def start(self) -> None:
        """Do nothing: noise is made when it is asked for."""

    def take(self, *, more: bool = True) -> Tensor:  # noqa: ARG002  nothing is drawn ahead
        """Return a vector of independent draws as an int64 tensor on the device."""
        sizes = [min(_CHUNK, self._length - start) for start in range(0, self._length, _CHUNK)]
        return torch.cat([self._drawn(keystream(2 * size, self._device)) for size in sizes])

    def _drawn(self, words: Tensor) -> Tensor:
        """Return a draw for each pair of words."""
        first, second = words.view(2, -1)
        values, flagged, chosen = self._decided(first, second)
        places = flagged.nonzero().squeeze(1)
        if places.numel():
            opened = torch.stack([chosen[places], second[places]]).cpu().numpy()
            settled = block_table(self._scale).settle(opened[0], opened[1].view(np.uint64))
            values[places] = torch.from_numpy(settled).to(self._device)
        return values

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
