"""Convolutions of one to three dimensions: a product layer on patches, grouped or not."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.nn import functional

from discreet.learning.deep.clip.layers.arithmetic import (
    CHUNK,
    Arithmetic,
    Part,
    Tensor,
    gram_part_norms,
    kept_part,
    scaled,
    without,
)

CONVOLUTION_WAYS = ("unfold", "group", "ghost")
_PATCHES = 64 * CHUNK  # numbers of patches that are laid out at a time


def padded(module: Any, a: Tensor) -> Tensor:
    """Return the input with the layer's padding around it."""
    sides = module._reversed_padding_repeated_twice
    if not any(sides):
        return a
    return functional.pad(a, sides, mode="constant" if module.padding_mode == "zeros" else module.padding_mode)


def patches(module: Any, a: Tensor) -> Tensor:
    """Return the patches (rows, groups, channels a group x kernel, positions) of a padded input."""
    view = a
    dimensions = a.dim() - 2
    for axis in range(dimensions):
        span = module.dilation[axis] * (module.kernel_size[axis] - 1) + 1
        view = view.unfold(axis + 2, span, module.stride[axis])
    view = view[(..., *(slice(None, None, step) for step in module.dilation))]
    # (rows, channels, places..., kernel...) -> (rows, channels, kernel..., places...)
    order = (0, 1, *range(2 + dimensions, 2 + 2 * dimensions), *range(2, 2 + dimensions))
    rows, groups = a.shape[0], module.groups
    places = math.prod(view.shape[2 : 2 + dimensions])
    return view.permute(order).reshape(rows, groups, -1, places)


def convolution_part(
    arithmetic: Arithmetic, way: str, module: Any, a: Tensor, e: Tensor, units: int, *, weight: bool, bias: bool
) -> Part:
    """Return the part of a convolution from its input and output gradients, both rows first."""
    by_unit = e.flatten(2).unflatten(0, (units, -1)) if bias else None
    bias_kept = [] if by_unit is None else [by_unit.sum((1, 3))]
    if not weight:
        return kept_part(arithmetic, bias_kept)
    if way == "unfold":
        return kept_part(arithmetic, [_unfold(module, a, e, units), *bias_kept])
    if way == "group":
        return kept_part(arithmetic, [_group(module, a, e, units), *bias_kept])
    squared, reach = _ghost(arithmetic, module, a, e, units, bias)

    def total(weights: Tensor, lost: Tensor | None) -> list[Tensor]:
        signal = scaled(arithmetic, weights, e.unflatten(0, (units, -1)), lost).flatten(0, 1)
        given = without(a.unflatten(0, (units, -1)), lost).flatten(0, 1)
        sums = (
            _patch_sum(module, given, signal)
            if arithmetic.exact
            else _weight_gradient(module, given, signal, module.weight, module.groups)
        )
        return [sums, signal.flatten(2).sum((0, 2))] if bias else [sums]

    return Part(squared, reach, total)


def _unfold(module: Any, a: Tensor, e: Tensor, units: int) -> Tensor:
    """Return each unit's gradient as one product of its output gradients and its patches."""
    given = patches(module, padded(module, a))
    signal = e.reshape(e.shape[0], module.groups, e.shape[1] // module.groups, -1)
    if units == a.shape[0]:
        return (signal @ given.mT).reshape(units, *module.weight.shape)
    kept = (signal @ given.mT).unflatten(0, (units, -1)).sum(1)
    return kept.reshape(units, *module.weight.shape)


def _group(module: Any, a: Tensor, e: Tensor, units: int) -> Tensor:
    """Return each unit's gradient by one grouped convolution, a unit being a group."""
    given, signal = (value.unflatten(0, (units, -1)).transpose(0, 1).flatten(1, 2) for value in (a, e))
    shape = (units * module.weight.shape[0], *module.weight.shape[1:])
    only_shape = module.weight.new_empty(1).expand(shape)  # nothing reads its numbers
    kept = _weight_gradient(module, given, signal, only_shape, units * module.groups)
    return kept.view(units, *module.weight.shape)


def _weight_gradient(module: Any, given: Tensor, signal: Tensor, weight: Tensor, groups: int) -> Tensor:
    """Return the gradient of a convolution's weight by the device's own convolution."""
    padding: Any = module.padding
    if module.padding_mode != "zeros" or isinstance(padding, str):
        given, padding = padded(module, given), [0] * len(module.stride)
    return torch.ops.aten.convolution_backward(
        signal.contiguous(),
        given.contiguous(),
        weight,
        None,
        module.stride,
        padding,
        module.dilation,
        False,
        [0] * len(module.stride),
        groups,
        [False, True, False],
    )[1]


def _patch_sum(module: Any, given: Tensor, signal: Tensor) -> Tensor:
    """Return the weighted sum in float64 by patches and products: no transform stands between a term and its sum."""
    rows, groups = given.shape[0], module.groups
    signal = signal.reshape(rows, groups, signal.shape[1] // groups, -1)
    size = module.weight[0].numel() * groups * signal.shape[-1]
    step = rows if given.device.type != "cpu" else max(1, _PATCHES // size)
    total = torch.zeros(groups, signal.shape[2], module.weight[0].numel(), dtype=signal.dtype, device=given.device)
    for start in range(0, rows, step):
        layout = patches(module, padded(module, given[start : start + step])).to(signal.dtype)
        total += torch.einsum("ngot,ngkt->gok", signal[start : start + step], layout)
    return total.view(module.weight.shape)


def _ghost(
    arithmetic: Arithmetic, module: Any, a: Tensor, e: Tensor, units: int, bias: bool
) -> tuple[Tensor, Tensor | None]:
    """Return the norms by inner products of patches and of output gradients, group by group."""
    given = patches(module, padded(module, arithmetic.wide(a)))
    signal = arithmetic.wide(e).reshape(e.shape[0], module.groups, e.shape[1] // module.groups, -1)
    # (rows, groups, numbers, places) -> (units, groups, numbers, rows of the unit x places)
    given = given.unflatten(0, (units, -1)).permute(0, 2, 3, 1, 4).flatten(3)
    signal = signal.unflatten(0, (units, -1)).permute(0, 2, 3, 1, 4).flatten(3)
    inner = given.mT @ given
    if bias:
        inner += 1
    inner *= signal.mT @ signal
    if not arithmetic.exact:
        return gram_part_norms(arithmetic, inner, inner, 0)
    length = torch.linalg.vector_norm(given, dim=2)
    if bias:
        length = length.square_().add_(1).sqrt_()
    lengths = (length * torch.linalg.vector_norm(signal, dim=2)).flatten(1)
    return gram_part_norms(arithmetic, inner, lengths, given.shape[2] + signal.shape[2] + 2)
