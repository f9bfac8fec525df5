"""Batches made to break sums: gradients that cancel, numbers far apart, rows that are not finite, rows that repeat."""

from __future__ import annotations

import torch


def hostile_rows(generator, rows, positions, width):
    """Return rows (rows, positions, width), each of a kind that is hard on norms or on sums."""
    batch = torch.randn(rows, positions, width, generator=generator)
    for row in range(rows):
        _spoil(batch[row], generator)
    return batch


def _spoil(row, generator):
    kind = int(torch.randint(0, 8, (), generator=generator))
    if kind == 1:  # positions that cancel to the last bits
        row[1::2] = -row[0::2][: len(row[1::2])] * (1 + 2.0**-20)
    elif kind == 2:  # numbers far apart
        row *= 10.0 ** torch.randint(-30, 31, row.shape, generator=generator)
    elif kind == 3:  # one scale for the row, up to where float32 ends
        row *= 10.0 ** int(torch.randint(-38, 39, (), generator=generator))
    elif kind == 4:
        row[int(torch.randint(0, len(row), (), generator=generator))] = float("nan")
    elif kind == 5:
        row[0, 0] = float("inf")
    elif kind == 6:
        row[:] = row[:1]
    elif kind == 7:
        row.zero_()


def hostile_pair(generator, units, positions, inputs, outputs):
    """Return inputs a and output gradients e of a product layer whose products are hard to sum."""
    a = hostile_rows(generator, units, positions, inputs)
    e = torch.randn(units, positions, outputs, generator=generator)
    for unit in range(units):
        kind = int(torch.randint(0, 5, (), generator=generator))
        if kind == 1:  # the same input twice, gradients that nearly cancel
            a[unit] = a[unit, :1]
            e[unit, 1::2] = -e[unit, 0::2][: len(e[unit, 1::2])] * (1 + 2.0**-22)
        elif kind == 2:  # 1e30 by 1e-30
            a[unit] = torch.randn(positions, inputs, generator=generator) * 1e30
            e[unit] *= 1e-30
        elif kind == 3:
            e[unit] *= 10.0 ** int(torch.randint(-38, 38, (), generator=generator))
        elif kind == 4:  # exact cancellation
            a[unit] = a[unit, :1]
            e[unit, 1::2] = -e[unit, 0::2][: len(e[unit, 1::2])]
    return a, e
