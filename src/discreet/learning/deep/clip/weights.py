"""The weight of each unit in the sum: flat, per layer or normalized clipping, proven or plain."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from discreet.learning.deep.clip.layers import Part, Tensor, gamma

KAPPA = 256.0
LONGEST = 2.0**64  # a longer gradient counts as one that is not finite: its square is beyond float32
NORMALIZED = 0.01  # added to the norm in units of the clip norm, so that a tiny gradient stays tiny


def clip_weights(
    parts: Sequence[Part], norm: float, *, normalized: bool, exact: bool, traced: bool = False
) -> tuple[Tensor, Tensor | None]:
    """Return a weight for each unit so that its weighted gradient has norm at most `norm`, and the units that are lost.

    Accuracy. In exact mode w |G|_2 <= norm and w Q <= kappa norm, with Q = sqrt(sum over parts of Q_l^2).
        Proof: each part's numbers are upper bounds on |G_l|^2 and Q_l^2. Adding n of them, a root, a quotient and the
        products lose at most a relative gamma(n + 8); the factor 1 - 2 gamma(n + 16) makes up for all.
        A norm of zero, of `LONGEST` or more, or one that is not a number gives weight zero by selection.
    """
    squared = _added([part.squared for part in parts])
    most = norm * (1 - 2 * gamma(len(parts) + 16)) if exact else norm
    ratio = most / squared.sqrt().add_(NORMALIZED * norm) if normalized else squared.rsqrt().mul_(most)
    if exact:
        if any(part.reach is not None for part in parts):
            reach = _added([part.squared if part.reach is None else part.reach for part in parts])
            ratio = torch.minimum(ratio, KAPPA * most / reach.sqrt())
        ratio.masked_fill_(squared <= 0, 0.0)
    if not normalized:
        ratio.clamp_max_(1.0)
    if not traced and float(squared.sum()) < LONGEST**2:
        return ratio, None
    usable = squared < LONGEST**2  # not true of what is not a number
    return torch.where(usable, ratio, 0.0), ~usable if traced else (~usable).nonzero().flatten()


def _added(values: Sequence[Tensor]) -> Tensor:
    """Return the sum of a few vectors."""
    return values[0] + values[1] if len(values) == 2 else torch.stack(tuple(values)).sum(0)


def summation_error(units: int, positions: int, cancels: bool) -> float:
    """Return a bound, in units of the clip norm, on how far float64 sums are from the sum of weighted gradients.

    Accuracy. |S - sum_i w_i G_i|_2 <= E C, in any order of addition, in the standard model of the products.
        Proof: one number of S is a sum of at most m = units x positions terms w e a, each with at most three roundings
        (a share of a bag is one), so its error is at most gamma(m + 3) sum_i w_i sum_t |e_t||a_t|. The Euclidean norm
        of that over a layer is at most gamma(m + 3) sum_i w_i Q_il, because |e_t||a_t|^T has norm |e_t||a_t|; over all
        layers at most gamma(m + 3) sum_i w_i sqrt(sum_l Q_il^2) <= gamma(m + 3) kappa units C. Where no layer is summed
        over several positions Q = |G| and kappa is 1, up to the guards of the norms. Float32 factors and weights
        between 2^-600 and 1 / 2^-300 leave no product below the normal numbers, so that nothing underflows.
    """
    return gamma(units * positions + 8) * (KAPPA if cancels else 1.001) * units * (1 + math.ulp(1.0) * 8)
