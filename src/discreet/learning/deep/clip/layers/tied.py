"""Layers that share tensors: their gradients add before the norm is taken, cross terms and all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from discreet.learning.deep.clip.layers.arithmetic import Arithmetic, Part, Tensor, gamma, kept_part
from discreet.learning.deep.clip.layers.embedding import embedding_part
from discreet.learning.deep.clip.layers.layer import BagLayer, Call, EmbeddingLayer, Layer, LinearLayer
from discreet.learning.deep.clip.layers.linear import linear_part

Calls = Mapping[Any, list[Call]]


def cluster_slots(layers: Sequence[Layer]) -> list[int]:
    """Return the places of a cluster's tensors in the model's list, in the order in which a part sums them."""
    return list(dict.fromkeys(slot for layer in layers for slot in layer.slots))


def cluster_ways(layers: Sequence[Layer], calls: Calls) -> tuple[str, ...]:
    """Return the ways of a cluster: those of its one layer, or two for tied ones."""
    if len(layers) == 1:
        return layers[0].ways(calls[layers[0].module])
    return ("cross", "kept") if _crosses(layers) else ("kept",)


def cluster_positions(layers: Sequence[Layer], calls: Calls) -> int:
    """Return an upper bound on the terms that a unit adds to one number of the sum."""
    return sum(layer.positions(calls[layer.module]) for layer in layers)


def cluster_part(arithmetic: Arithmetic, layers: Sequence[Layer], way: str, calls: Calls) -> Part:
    """Return the part of layers that share tensors."""
    if len(layers) == 1:
        return layers[0].part(arithmetic, way, calls[layers[0].module])
    if way == "cross":
        return _cross_part(arithmetic, layers, calls)
    kept: dict[int, Tensor] = {}
    for layer in layers:
        ways = layer.ways(calls[layer.module])
        for slot, one in zip(layer.slots, layer.kept(ways[-1], calls[layer.module]), strict=True):
            kept[slot] = kept[slot] + one if slot in kept else one
    return kept_part(arithmetic, [kept[slot] for slot in cluster_slots(layers)])


def _crosses(layers: Sequence[Layer]) -> bool:
    """Whether these are embeddings and products that share one weight and nothing else."""
    usual = all(isinstance(layer, LinearLayer | EmbeddingLayer) and not isinstance(layer, BagLayer) for layer in layers)
    if not usual or not all(layer.weight for layer in layers):
        return False
    biases = [layer.slots[1] for layer in layers if layer.bias]
    return len({layer.slots[0] for layer in layers}) == 1 and len(set(biases)) == len(biases)


def _cross_part(arithmetic: Arithmetic, layers: Sequence[Layer], calls: Calls) -> Part:
    """Return the part of a weight that is looked up and multiplied with.

    The squared norm is that of both gradients plus 2 sum over s and t of f_s[id_t] (a_s . e_t), where a and f are the
    inputs and output gradients of the product, e the output gradients of the embedding. The error of this sum is at
    most gamma(width + S T) times twice the product of both reaches.
    """
    products = [layer for layer in layers if isinstance(layer, LinearLayer)]
    tables = [layer for layer in layers if isinstance(layer, EmbeddingLayer)]
    parts: list[Part] = []
    a = f = ids = e = None
    if products:
        pairs = [layer.pair(calls[layer.module]) for layer in products]
        a, f = (torch.cat(one, 1) for one in zip(*pairs, strict=True))
        parts.append(linear_part(arithmetic, "ghost", a, f, weight=True, bias=False))
    if tables:
        looked = [layer.pair(calls[layer.module]) for layer in tables]
        ids, e = (torch.cat(one, 1) for one in zip(*looked, strict=True))
        parts.append(embedding_part(arithmetic, tables[0].module.weight, ids, e))
    squared, reach = parts[0].squared, parts[0].reach
    if len(parts) == 2:
        squared, reach = _crossed(arithmetic, parts, (a, f), (ids, e))
    biases = [layer.pair(calls[layer.module])[1].sum(1) for layer in products if layer.bias]
    extra = kept_part(arithmetic, biases) if biases else None
    order = [layers[0].slots[0], *(layer.slots[1] for layer in products if layer.bias)]
    places = [order.index(slot) for slot in cluster_slots(layers)]

    def total(weights: Tensor, lost: Tensor | None) -> list[Tensor]:
        sums = [sum(part.total(weights, lost)[0] for part in parts)]
        sums += extra.total(weights, lost) if extra else []
        return [sums[place] for place in places]

    if extra is not None:
        squared = squared + extra.squared
        reach = None if reach is None else reach + extra.squared
    return Part(squared, reach, total)


def _crossed(
    arithmetic: Arithmetic, parts: Sequence[Part], product: tuple[Any, Any], table: tuple[Any, Any]
) -> tuple[Tensor, Tensor | None]:
    """Return the norms of both parts together."""
    (a, f), (ids, e) = product, table
    wide = arithmetic.wide
    at_words = torch.gather(wide(f), 2, ids.unsqueeze(1).expand(-1, f.shape[1], -1))
    cross = 2 * (at_words * (wide(a) @ wide(e).mT)).flatten(1).sum(1)
    squared = parts[0].squared + parts[1].squared + cross
    if parts[0].reach is None or parts[1].reach is None:
        return squared.clamp_min(0), None
    reach = (parts[0].reach.sqrt() + parts[1].reach.sqrt()).square().mul_(1 + 2.0**-48)
    guard = 2 * gamma(a.shape[-1] + a.shape[1] * ids.shape[1] + 16)
    return (squared + guard * reach).mul_(1 + 2.0**-49).clamp_min_(0), reach
