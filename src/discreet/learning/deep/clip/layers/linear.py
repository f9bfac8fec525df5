"""Linear layers: the norm of a gradient from the inner products of its positions, or from the gradient itself."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from discreet.learning.deep.clip.layers.arithmetic import (
    Arithmetic,
    Part,
    Tensor,
    gram_part_norms,
    kept_part,
    scaled,
    without,
)

_EVEN = 16  # numbers that a vector unit takes at once


def uneven(module: Any) -> bool:
    """Whether rows of a product's inputs or outputs start at other places of a vector unit, from slot to slot."""
    usual = isinstance(module, nn.Linear) and type(module).forward is nn.Linear.forward
    return usual and bool(module.in_features % _EVEN or module.out_features % _EVEN)


def even_product(module: Any, given: Tensor) -> Tensor:
    """Return what a product returns, computed in even widths: its bits are then the same in every slot."""
    wider, longer = -module.in_features % _EVEN, -module.out_features % _EVEN
    weight = functional.pad(module.weight, (0, wider, 0, longer))
    bias = None if module.bias is None else functional.pad(module.bias, (0, longer))
    product = functional.linear(functional.pad(given, (0, wider)), weight, bias)
    # a copy, not a view: an activation may overwrite it
    return product[..., : module.out_features].clone() if longer else product


def ghost_ways(positions: int, inputs: int, outputs: int) -> tuple[str, ...]:
    """Return whether inner products of positions are worth a trial: they take T^2 (inputs + outputs) products."""
    return ("ghost",) if positions * (inputs + outputs) <= 4 * inputs * outputs else ()


def linear_part(arithmetic: Arithmetic, way: str, a: Tensor, e: Tensor, *, weight: bool, bias: bool) -> Part:
    """Return the part of a layer y = W a + b from a (units, T, inputs) and e (units, T, outputs)."""
    if way == "kept":
        kept = [e.mT @ a] if weight else []
        return kept_part(arithmetic, kept + ([e.sum(1)] if bias else []))
    if not weight:
        return kept_part(arithmetic, [e.sum(1)])
    squared, reach = _ghost(arithmetic, a, e, bias)

    def total(weights: Tensor, lost: Tensor | None) -> list[Tensor]:
        signal = scaled(arithmetic, weights, e, lost).flatten(0, 1)
        return _products(arithmetic, signal, without(a, lost).flatten(0, 1), bias)

    return Part(squared, reach, total)


def outer_part(arithmetic: Arithmetic, a: Tensor, e: Tensor, *, weight: bool, bias: bool) -> Part:
    """Return the part of a layer y = W a + b from one a (units, inputs) and one e (units, outputs) a unit.

    The norm is |a|^2 |e|^2, with (a, 1) for a where there is a bias: nothing cancels.
    """
    if not weight:
        return kept_part(arithmetic, [e.clone()])  # not e: others read it, and lost units are overwritten
    given, length = arithmetic.squares(a), arithmetic.squares(e)
    squared = torch.addcmul(length, given, length) if bias else given.mul_(length)
    if arithmetic.exact:
        squared.mul_(1 + 2.0**-49)

    def total(weights: Tensor, lost: Tensor | None) -> list[Tensor]:
        return _products(arithmetic, scaled(arithmetic, weights, e, lost), without(a, lost), bias)

    return Part(squared, None, total)


def _products(arithmetic: Arithmetic, signal: Tensor, given: Tensor, bias: bool) -> list[Tensor]:
    """Return the sum of the outer products of the rows of both, and the sum of the signals for a bias."""
    extra = [signal.sum(0)] if bias else []
    return [signal.mT @ arithmetic.wide(given), *extra]


def _ghost(arithmetic: Arithmetic, a: Tensor, e: Tensor, bias: bool) -> tuple[Tensor, Tensor | None]:
    """Return the norm by inner products of positions: sum over s and t of (a_s . a_t + 1)(e_s . e_t)."""
    given, signal = arithmetic.wide(a), arithmetic.wide(e)
    inner = given @ given.mT
    if bias:
        inner += 1
    inner *= signal @ signal.mT
    if not arithmetic.exact:
        return gram_part_norms(arithmetic, inner, inner, 0)
    length = torch.linalg.vector_norm(given, dim=-1)
    if bias:
        length = length.square_().add_(1).sqrt_()
    lengths = length * torch.linalg.vector_norm(signal, dim=-1)
    return gram_part_norms(arithmetic, inner, lengths, a.shape[-1] + e.shape[-1] + 2)
