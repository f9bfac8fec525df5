"""Embeddings and bags of embeddings: a table's gradient has one row for each word that was looked up."""

from __future__ import annotations

from typing import Any

import torch

from discreet.learning.deep.clip.layers.arithmetic import Arithmetic, Part, Tensor, gram_part_norms, scaled


def embedding_part(arithmetic: Arithmetic, table: Tensor, ids: Tensor, e: Tensor, share: Tensor | None = None) -> Part:
    """Return the part of a table from ids (units, T) and e (units, T, width): place t adds share_t e_t to its word.

    A place whose gradient is not finite meets itself on the diagonal, so that the norm of its unit is not finite.
    """
    signal = arithmetic.wide(e)
    inner = torch.where(ids.unsqueeze(1) == ids.unsqueeze(2), signal @ signal.mT, 0)
    lengths = torch.linalg.vector_norm(signal, dim=-1)
    if share is not None:
        inner = inner * share.unsqueeze(1) * share.unsqueeze(2)
        lengths = lengths * share.abs()
    squared, reach = gram_part_norms(arithmetic, inner, lengths, e.shape[-1] + 6)

    def total(weights: Tensor, lost: Tensor | None) -> list[Tensor]:
        terms = scaled(arithmetic, weights, e, lost)
        if share is not None:
            terms = terms * torch.nan_to_num(share).unsqueeze(-1)
        return [looked_up_sum(table, ids, terms)]

    return Part(squared, reach, total)


def merged_part(arithmetic: Arithmetic, table: Tensor, ids: Tensor, e: Tensor, share: Tensor | None = None) -> Part:
    """Return the same part from gradients in which places of a unit that hold one word are added up first.

    In exact mode the gradient of a unit is defined as these float32 sums, made place by place in order.
    """
    units, places = ids.shape
    if share is not None:
        e = (e * share.unsqueeze(-1)).to(e.dtype)
    words, order = ids.sort(dim=1, stable=True)
    rank = torch.zeros_like(words)
    torch.cumsum(words[:, 1:] != words[:, :-1], 1, out=rank[:, 1:])
    rank += torch.arange(0, units * places, places, device=ids.device).unsqueeze(1)
    target = torch.empty_like(rank).scatter_(1, order, rank)
    merged = torch.zeros(units * places, e.shape[-1], dtype=e.dtype, device=e.device)
    merged.index_add_(0, target.flatten(), e.reshape(-1, e.shape[-1]))
    word = torch.zeros(units * places, dtype=ids.dtype, device=ids.device).scatter_(0, rank.flatten(), words.flatten())
    merged = merged.view(units, places, -1)

    def total(weights: Tensor, lost: Tensor | None) -> list[Tensor]:
        return [looked_up_sum(table, word, scaled(arithmetic, weights, merged, lost))]

    return Part(arithmetic.squares(merged), None, total, merged.numel() * merged.element_size())


def learned_words(module: Any, ids: Tensor, e: Tensor) -> Tensor:
    """Return the output gradients with zero at the places that hold padding."""
    if module.padding_idx is None:
        return e
    return torch.where((ids != module.padding_idx).unsqueeze(-1), e, 0)


def looked_up_sum(table: Tensor, ids: Tensor, terms: Tensor) -> Tensor:
    """Return the table of which row w is the sum of the terms at the places that hold word w."""
    sums = torch.zeros(table.shape, dtype=terms.dtype, device=terms.device)
    return sums.index_add_(0, ids.flatten(), terms.flatten(0, 1))


def bag_share(arithmetic: Arithmetic, module: Any, ids: Tensor, factors: Tensor | None, like: Tensor) -> Tensor:
    """Return what each word of a bag counts: one, one over the words of the bag, or its factor; padding nothing."""
    learned = torch.ones_like(ids, dtype=torch.bool) if module.padding_idx is None else ids != module.padding_idx
    share = learned.to(torch.float64 if arithmetic.exact else like.dtype)
    if module.mode == "mean":
        share = share / share.sum(-1, keepdim=True).clamp_min_(1)
    return share if factors is None else share * factors
