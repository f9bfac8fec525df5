"""Normalizations within a row (layer, group, root mean square, instance): gradients as wide as the layer, kept."""

from __future__ import annotations

from typing import Any

from torch import nn
from torch.nn import functional

from discreet.learning.deep.clip.layers.arithmetic import Tensor


def normalized(module: Any, a: Tensor) -> Tensor:
    """Return the input as the layer normalizes it, before its weight and bias."""
    if isinstance(module, nn.LayerNorm):
        return functional.layer_norm(a, module.normalized_shape, None, None, module.eps)
    if isinstance(module, nn.RMSNorm):
        return functional.rms_norm(a, module.normalized_shape, None, module.eps)
    if isinstance(module, nn.GroupNorm):
        return functional.group_norm(a, module.num_groups, None, None, module.eps)
    return functional.instance_norm(a, eps=module.eps)


def normalization_kept(module: Any, a: Tensor, e: Tensor, units: int, *, weight: bool, bias: bool) -> list[Tensor]:
    """Return each unit's gradients of weight and bias, as far as they are trained."""
    last = isinstance(module, nn.LayerNorm | nn.RMSNorm)
    shape = tuple(module.normalized_shape) if last else (e.shape[1],)
    terms = ([normalized(module, a) * e] if weight else []) + ([e] if bias else [])
    if last:
        return [one.reshape(units, -1, *shape).sum(1) for one in terms]
    return [one.reshape(units, -1, shape[0], one[0, 0].numel()).sum((1, 3)) for one in terms]
