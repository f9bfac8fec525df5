"""The arithmetic of clipping: plain floats, or float64 with every rounding bounded, and sums over rows with weights.

Names used throughout the floor: a unit is one person's slot (one row, or `rows` rows); `a` is what a layer was given,
`e` is the gradient of the sum of the losses with respect to what it returned; t counts the positions of a unit (tokens,
patches, its rows, several calls of one layer). The gradient of a unit is G = sum_t e_t a_t^T, and its reach is
Q = sum_t |a_t||e_t|, which is never below |G|.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from discreet.errors import AssumptionFailed

Tensor = Any  # torch.Tensor; torch has no types for mypy here

UNIT_ROUNDOFF = 2.0**-53
_MANY = 1 << 18  # below, torch starts its own operations faster
_TRIED = (60, 5_000)
_trusted: dict[Any, bool] = {}
CHUNK = 1 << 15  # elements that are widened at a time: they and their copies stay in a cache


def gamma(roundings: int) -> float:
    """Return an upper bound on n u / (1 - n u), the relative error of `roundings` float64 operations in a row.

    >>> gamma(2) > 2 * UNIT_ROUNDOFF
    True
    """
    error = roundings * UNIT_ROUNDOFF
    return error / (1 - error) * (1 + 2.0**-40)


@dataclass(frozen=True)
class Arithmetic:
    """How numbers are added: in the type of the tensors, or in float64 with guards (`exact`).

    While operations are recorded for a compiler (`traced`), nothing may depend on what numbers are.
    """

    exact: bool
    traced: bool = False

    def wide(self, values: Tensor) -> Tensor:
        """Return the values in the type that sums are made in."""
        return values.double() if self.exact else values

    def squares(self, values: Tensor) -> Tensor:
        """Return, for each unit, the sum of the squares of its numbers, never too low in exact mode.

        Accuracy. In exact mode at least the true sum, and above it by a relative 3 gamma(4 n + 8) at most.
            Proof: a sum of n squares of float32 numbers in float64 has no under- or overflow and a relative error of at
            most gamma(n), in any order; the roots of chunks, their squares and the guard's product are fewer than
            3 n + 8 roundings more, and (1 + 2 gamma)(1 - gamma) >= 1.
        """
        flat = values if values.dim() == 2 else values.flatten(1)
        if not self.exact:
            return torch.linalg.vector_norm(flat, dim=1).square_()
        units, size = flat.shape
        if sums_on_card(flat):
            found: Tensor = _kernel().squares(flat)
            return found.mul_(1 + 2 * gamma(4 * size + 8))
        step = max(1, CHUNK // max(1, units)) if flat.device.type == "cpu" else max(1, size)
        first = flat if step >= size else flat[:, :step]
        total = torch.linalg.vector_norm(first.double(), dim=1).square_()
        for start in range(step, size, step):
            total += torch.linalg.vector_norm(flat[:, start : start + step].double(), dim=1).square_()
        return total.mul_(1 + 2 * gamma(4 * size + 8))

    def lengths(self, values: Tensor) -> Tensor:
        """Return the length of each vector along the last axis, to a relative gamma(n + 3) in exact mode."""
        return torch.linalg.vector_norm(self.wide(values), dim=-1)

    def weighted(self, weights: Tensor, kept: Tensor) -> Tensor:
        """Return the sum over units of weight times kept gradient."""
        flat = kept.flatten(1)
        if self.traced and not self.exact:  # one pass over the gradients, when compiled
            return (weights.to(flat.dtype).unsqueeze(1) * flat).sum(0).view(kept.shape[1:])
        if not self.exact:
            return (weights.to(flat.dtype) @ flat).view(kept.shape[1:])
        if sums_on_card(flat):
            return _kernel().weighted(weights, flat).view(kept.shape[1:])
        if flat.device.type != "cpu":
            return (weights @ flat.double()).view(kept.shape[1:])
        step = max(1, CHUNK // max(1, flat.shape[0]))
        out = torch.empty(flat.shape[1], dtype=torch.float64)
        for start in range(0, flat.shape[1], step):
            out[start : start + step] = weights @ flat[:, start : start + step].double()
        return out.view(kept.shape[1:])


@dataclass
class Part:
    """What one layer adds: the squared norms of the units' gradients, and a way to sum them with weights.

    `squared` is an upper bound on |G|^2 in exact mode; `reach` is one on Q^2 where Q may exceed |G|, else None;
    `total(weights, lost)` returns the weighted sum for each parameter; `lost` holds the indices of units that are not
    finite, to be left out by selection, or a truth value for each unit, or None.
    """

    squared: Tensor
    reach: Tensor | None
    total: Callable[[Tensor, Tensor | None], list[Tensor]]
    kept_bytes: int = 0


def kept_part(arithmetic: Arithmetic, kept: Sequence[Tensor]) -> Part:
    """Return the part of a layer whose units' gradients are at hand, one tensor (units, ...) a parameter.

    In exact mode the gradient of a unit is *defined* as these float32 numbers, however they were computed: they depend
    on the unit alone, so nothing else is assumed of the product that made them.
    """
    squared = sum(arithmetic.squares(one) for one in kept)

    def total(weights: Tensor, lost: Tensor | None) -> list[Tensor]:
        return [arithmetic.weighted(weights, one if lost is None else cleared(one, lost)) for one in kept]

    return Part(squared, None, total, sum(one.numel() * one.element_size() for one in kept))


def without(values: Tensor, lost: Tensor | None) -> Tensor:
    """Return the values with the lost units set to zero, by selection: zero times infinity is not a number."""
    if lost is None:
        return values
    return cleared(values.clone(), lost)


def cleared(values: Tensor, lost: Tensor) -> Tensor:
    """Return the values, overwritten with zero for the units that are lost: their indices, or a truth value each."""
    if lost.dtype == torch.bool:
        return values.masked_fill_(lost.view(-1, *(1,) * (values.dim() - 1)), 0)
    values[lost] = 0
    return values


def scaled(arithmetic: Arithmetic, weights: Tensor, values: Tensor, lost: Tensor | None) -> Tensor:
    """Return weight times value for every unit, lost units zero: a new tensor."""
    factors = weights.view(-1, *(1,) * (values.dim() - 1))
    if arithmetic.exact:
        product = values.to(torch.float64, copy=True).mul_(factors)
    else:
        product = values * factors.to(values.dtype)
    return product if lost is None else cleared(product, lost)


def gram_part_norms(
    arithmetic: Arithmetic, products: Tensor, lengths: Tensor, roundings: int
) -> tuple[Tensor, Tensor | None]:
    """Return (|G|^2, Q^2) from the products (a_s . a_t)(e_s . e_t) of a unit and the lengths |a_t||e_t|.

    Accuracy. In exact mode both are upper bounds. Computed sums of products can cancel to anything, even below zero:
        an entry has an error of at most gamma(n) |a_s||a_t||e_s||e_t|, so the sum of all has one of at most
        gamma(n + T^2) Q^2; twice that, for the roundings of the guard itself, is added.
    """
    squared = products.flatten(1).sum(1)
    if not arithmetic.exact:
        return squared.clamp_min_(0), None
    positions = lengths.shape[1]
    reach = lengths.sum(1).square_().mul_(1 + 2 * gamma(4 * (roundings + positions) + 16))
    guard = 2 * gamma(roundings + positions * positions + 8)
    return (squared + guard * reach).mul_(1 + 2.0**-50).clamp_min_(0), reach


def sums_on_card(flat: Tensor) -> bool:
    """Say whether a kernel of the graphics card sums these numbers: there are many, and it was seen to sum right."""
    if flat.device.type != "cuda" or flat.numel() < _MANY:
        return False
    if flat.dtype != torch.float32 or not flat.is_contiguous():
        return False
    if flat.device not in _trusted:
        _trusted[flat.device] = _sums_are_right(flat.device)
    return _trusted[flat.device]


def _sums_are_right(device: Any) -> bool:
    """Say whether the kernels can be made; raise unless they sum as torch does, also what is below normal numbers."""
    source = torch.Generator().manual_seed(0)
    values = torch.randn(_TRIED, generator=source) * torch.logspace(-44, 15, _TRIED[0]).unsqueeze(1)
    weights = torch.rand(_TRIED[0], generator=source, dtype=torch.float64)
    there = values.to(device)
    try:
        found = _kernel().squares(there), _kernel().weighted(weights.to(device), there)
    except Exception:  # no Triton, or no compiler for it: torch widens the numbers first, which takes more memory
        return False
    wide = values.double()
    wanted = wide.square().sum(1), weights @ wide
    scales = wanted[0], weights @ wide.abs()
    error = 2 * gamma(_TRIED[0] * _TRIED[1])
    for mine, theirs, scale in zip(found, wanted, scales, strict=True):
        if not bool(((mine.cpu() - theirs).abs() <= error * scale).all()):
            raise AssumptionFailed(
                f"float64 sums on {str(device)!r} must be right to the last bits; got others from a kernel made by "
                "Triton, train on the processor."
            )
    return True


def _kernel() -> Any:
    """Return the module of the kernels, which needs Triton."""
    from discreet.learning.deep.clip.layers import sums_kernel

    return sums_kernel
