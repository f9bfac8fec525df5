"""Losses of one number a row; a target outside its public range makes the row count for nothing."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

from discreet.errors import ParameterError

Tensor = Any
_NOTHING = -100  # a target that torch's cross entropy leaves out


@dataclass(frozen=True)
class CrossEntropy:
    """The cross entropy of scores (rows, classes) and whole targets 0 to classes - 1.

    Targets may have more axes, (rows, positions), with scores (rows, positions, classes): the mean over positions.

    >>> CrossEntropy(3)(torch.zeros(2, 3), torch.tensor([1, 7])).tolist()
    [1.0986..., 0.0]
    """

    classes: int

    def __post_init__(self) -> None:
        if isinstance(self.classes, bool) or not isinstance(self.classes, int) or self.classes < 2:
            raise ParameterError(
                "classes must be a whole number from 2; got another, write CrossEntropy(10).",
                parameter="classes",
            )

    def __call__(self, scores: Tensor, targets: Tensor) -> Tensor:
        """Return one loss a row, zero where a target is out of range."""
        if scores.shape[-1] != self.classes:
            raise ParameterError(
                f"scores must have shape (rows, {self.classes}), one for each class; got {tuple(scores.shape)}, write "
                f"a model with {self.classes} outputs, or as many classes as the model has outputs.",
                parameter="classes",
            )
        if scores.shape[:-1] != targets.shape:
            raise ParameterError(
                f"targets must have shape {tuple(scores.shape[:-1])}, one code for each row of scores; got "
                f"{tuple(targets.shape)}, write y.reshape(-1), or y.argmax(dim=1) where there is a column for each "
                "class.",
                parameter="targets",
            )
        if not targets.is_floating_point() and not targets.is_complex():
            targets = targets.long()  # bytes cannot be compared with more classes than they can hold
        unknown = targets.clamp(0, self.classes - 1) != targets
        if targets.dim() > 1:
            unknown = unknown.flatten(1).any(1).view(-1, *(1,) * (targets.dim() - 1))
        safe = targets.long().masked_fill(unknown, _NOTHING)
        scores = scores.movedim(-1, 1) if targets.dim() > 1 else scores
        each = functional.cross_entropy(scores, safe, reduction="none", ignore_index=_NOTHING)
        return each.flatten(1).mean(1) if targets.dim() > 1 else each


@dataclass(frozen=True)
class SquaredError:
    """Half the squared error of predictions, summed over outputs; targets are cut to public bounds.

    >>> SquaredError((0, 1))(torch.zeros(2), torch.tensor([1.0, 5.0])).tolist()
    [0.5, 0.5]
    """

    bounds: tuple[float, float]

    def __post_init__(self) -> None:
        with suppress(TypeError, ValueError, OverflowError):
            low, high = self.bounds
            if math.isfinite(low) and math.isfinite(high) and low < high:
                return
        raise ParameterError(
            "bounds must be two finite numbers in order; got others, write SquaredError((0, 1)).", parameter="bounds"
        )

    def __call__(self, predictions: Tensor, targets: Tensor) -> Tensor:
        """Return one loss a row, zero where a target is not a number."""
        if predictions.shape != targets.shape:
            predictions = predictions.reshape(targets.shape)
        known = ~torch.isnan(targets)
        safe = torch.where(known, targets, 0).clamp(*self.bounds)
        each = torch.where(known, 0.5 * (predictions - safe) ** 2, 0)
        return each.flatten(1).sum(1) if each.dim() > 1 else each


@dataclass(frozen=True)
class BinaryCrossEntropy:
    """The logistic loss of one score a row, or of several labels a row, and targets 0 or 1.

    >>> BinaryCrossEntropy()(torch.zeros(2), torch.tensor([1.0, 3.0])).tolist()
    [0.693..., 0.0]
    """

    def __call__(self, scores: Tensor, targets: Tensor) -> Tensor:
        """Return one loss a row, zero where a target is neither 0 nor 1."""
        if scores.shape != targets.shape:
            scores = scores.reshape(targets.shape)
        fits = (targets == 0) | (targets == 1)
        safe = torch.where(fits, targets, 0).long()
        # as two classes, one of score 0: torch's own logistic loss has other bits in other slots of a batch
        pairs = torch.stack([torch.zeros_like(scores), scores], -1).flatten(0, -2)
        both = functional.cross_entropy(pairs, safe.flatten(), reduction="none").view(scores.shape)
        each = torch.where(fits, both, 0)
        return each.flatten(1).sum(1) if each.dim() > 1 else each
