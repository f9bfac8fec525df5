"""Sums of float32 numbers in float64 on a graphics card, each number read once and widened in a register.

Kernels of Triton, which comes with torch for such cards. Products are fused with additions where the compiler likes:
a fused operation rounds once instead of twice. Numbers below the normal ones are kept as they are: before the first use
on a device both sums are compared, such numbers among them, with those of torch.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

Tensor = Any
_WIDTH = 1024
_PART = 1 << 16
_COLUMNS, _ROWS = 128, 16


@triton.jit  # type: ignore[untyped-decorator]
def _squares(values, parts, size, part_size, width: tl.constexpr):  # type: ignore[no-untyped-def]
    """Sum the squares of one part of a row."""
    row, part = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    start = part * part_size
    end = tl.minimum(start + part_size, size)
    total = tl.zeros([width], tl.float64)
    for at in range(start, end, width):
        place = at + tl.arange(0, width)
        one = tl.load(values + row * size + place, mask=place < end, other=0.0).to(tl.float64)
        total += one * one
    tl.store(parts + row * tl.num_programs(1) + part, tl.sum(total))


@triton.jit  # type: ignore[untyped-decorator]
def _weighted(values, weights, sums, units, size, rows: tl.constexpr, columns: tl.constexpr):  # type: ignore[no-untyped-def]
    """Sum the rows of a few columns with weights; a row whose weight is zero is left out, whatever it holds."""
    column = tl.program_id(0).to(tl.int64) * columns + tl.arange(0, columns)
    total = tl.zeros([rows, columns], tl.float64)
    for start in range(0, units, rows):
        row = start + tl.arange(0, rows)
        weight = tl.load(weights + row, mask=row < units, other=0.0)
        inside = (weight != 0.0)[:, None] & (column < size)[None, :]
        place = row.to(tl.int64)[:, None] * size + column[None, :]
        one = tl.load(values + place, mask=inside, other=0.0).to(tl.float64)
        total += one * weight[:, None]
    tl.store(sums + column, tl.sum(total, axis=0), mask=column < size)


def squares(values: Tensor) -> Tensor:
    """Return the sum of the squares of each row of float32 numbers, as float64."""
    units, size = values.shape
    count = -(-size // _PART)
    parts = torch.empty(units, count, dtype=torch.float64, device=values.device)
    with torch.cuda.device_of(values):
        _squares[(units, count)](values, parts, size, _PART, width=_WIDTH)
    return parts.sum(1) if count > 1 else parts.squeeze(1)


def weighted(weights: Tensor, values: Tensor) -> Tensor:
    """Return the sum of the rows of float32 numbers times their float64 weights."""
    units, size = values.shape
    sums = torch.empty(size, dtype=torch.float64, device=values.device)
    with torch.cuda.device_of(values):
        _weighted[(-(-size // _COLUMNS),)](values, weights, sums, units, size, rows=_ROWS, columns=_COLUMNS)
    return sums
