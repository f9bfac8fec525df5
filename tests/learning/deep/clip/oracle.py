"""Clipped sums by vmap(grad) of the whole model, networks of every kind of layer, and batches that are hard to sum."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.func import functional_call, grad, vmap

from discreet.learning.deep.clip import ClippedSum, CrossEntropy


@dataclass(frozen=True)
class Rule:
    """What a clip says: a norm and a mode."""

    norm: float
    mode: str = "flat"


def gradients(model, loss, inputs, targets, rows=1):
    """Return each unit's gradient of each trained tensor, the mean over its rows."""
    named = dict(model.named_parameters())
    trained = {name: value.detach() for name, value in named.items() if value.requires_grad}
    fixed = {name: value.detach() for name, value in named.items() if not value.requires_grad}

    def of_row(values, row, target):
        return loss(functional_call(model, {**fixed, **values}, (row[None],)), target[None]).sum()

    found = vmap(grad(of_row), in_dims=(None, 0, 0))(trained, inputs, targets)
    return [value.unflatten(0, (-1, rows)).mean(1) for value in found.values()]


def gradients_one_by_one(model, loss, inputs, targets, rows=1):
    """Return the same by one backward a row, for modules that vmap cannot map."""
    trained = [value for value in model.parameters() if value.requires_grad]
    each = []
    for row, target in zip(inputs, targets, strict=True):
        each.append(torch.autograd.grad(loss(model(row[None]), target[None]).sum(), trained))
    return [torch.stack(one).unflatten(0, (-1, rows)).mean(1) for one in zip(*each, strict=True)]


def flat_sum(found, norm, factor=None):
    """Return the sums of gradients clipped as a whole."""
    lengths = torch.sqrt(sum(one.flatten(1).square().sum(1) for one in found))
    weights = (norm / lengths).clamp_max(1) if factor is None else factor(lengths)
    return [torch.einsum("b,b...->...", weights, one) for one in found]


def middle_norm(found):
    """Return the median length, so that some gradients are cut and some are not."""
    return float(torch.sqrt(sum(one.flatten(1).square().sum(1) for one in found)).median())


def distance(ours, theirs):
    """Return the relative distance of two lists of tensors."""
    off = math.sqrt(sum(float((a.double() - b.double()).square().sum()) for a, b in zip(ours, theirs, strict=True)))
    return off / math.sqrt(sum(float(b.double().square().sum()) for b in theirs))


def everyone(count):
    """Return that every slot is taken."""
    return torch.ones(count, dtype=torch.bool)


def clipped_sum(model, inputs, targets, rule, *, classes=4, exact=False, rows=1, loss=None):
    """Return a sum for batches of this shape."""
    example = (torch.zeros_like(inputs[:1]), torch.zeros_like(targets[:1]))
    return ClippedSum(
        model,
        loss or CrossEntropy(classes),
        rule,
        physical=len(targets) // rows,
        exact=exact,
        rows=rows,
        example=example,
    )


def whole_numbers(high, *shape):
    """Return made-up whole numbers below a bound."""
    return torch.randint(0, high, shape)


class Tied(nn.Module):
    """A table that is looked up and multiplied with."""

    def __init__(self, words: int = 11, width: int = 6, bias: bool = False) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.mix = nn.Linear(width, width)
        self.out = nn.Linear(width, words, bias=bias)
        self.out.weight = self.words.weight

    def forward(self, ids: Any) -> Any:
        return self.out(torch.tanh(self.mix(self.words(ids)))).mean(1)[:, :4]


class Twice(nn.Module):
    """One product called twice, another shared by two modules."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(6, 6)
        self.second = nn.Linear(6, 6)
        self.second.weight = self.first.weight
        self.out = nn.Linear(6, 4)

    def forward(self, x: Any) -> Any:
        x = torch.tanh(self.first(x))
        return self.out(torch.tanh(self.second(torch.tanh(self.first(x)))))


class Cells(nn.Module):
    """A recurrent network from a cell that is called at every step."""

    def __init__(self, cell: Any) -> None:
        super().__init__()
        self.cell, self.out = cell, nn.Linear(6, 4)

    def forward(self, x: Any) -> Any:
        state = x.new_zeros(len(x), 6)
        for step in x.unbind(1):
            found = self.cell(step, (state, state)) if isinstance(self.cell, nn.LSTMCell) else self.cell(step, state)
            state = found[0] if isinstance(found, tuple) else found
        return self.out(state)


class Recurrent(nn.Module):
    """A recurrent module of torch's own, its rows first or second."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner, self.out = inner, nn.Linear(6, 4)

    def forward(self, x: Any) -> Any:
        first = self.inner.batch_first
        found, _ = self.inner(x if first else x.transpose(0, 1))
        return self.out(found[:, -1] if first else found[-1])


class Attending(nn.Module):
    """Torch's own attention, and tensors that the model itself owns."""

    def __init__(self) -> None:
        super().__init__()
        self.attend = nn.MultiheadAttention(6, 2, batch_first=True)
        self.scale = nn.Parameter(torch.ones(6))
        self.shift = nn.Parameter(torch.zeros(1, 5, 6))
        self.out = nn.Linear(6, 4)

    def forward(self, x: Any) -> Any:
        x = x * self.scale + self.shift
        return self.out(self.attend(x, x, x, need_weights=False)[0].mean(1))


class Turned(nn.Module):
    """Layers that have their rows second, or rows and positions in one axis."""

    def __init__(self) -> None:
        super().__init__()
        self.second, self.norm, self.flat, self.out = nn.Linear(6, 6), nn.LayerNorm(6), nn.Linear(6, 6), nn.Linear(6, 4)

    def forward(self, x: Any) -> Any:
        rows = len(x)
        x = self.norm(torch.tanh(self.second(x.transpose(0, 1)))).transpose(0, 1)
        return self.out(torch.tanh(self.flat(x.reshape(-1, 6))).view(rows, -1, 6).mean(1))


class Places(nn.Module):
    """Words plus places that are looked up once for all rows."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places, self.out = nn.Embedding(9, 6), nn.Embedding(5, 6), nn.Linear(6, 4)

    def forward(self, ids: Any) -> Any:
        return self.out(torch.tanh(self.words(ids) + self.places(torch.arange(5))).mean(1))


class _Stopped(nn.Module):
    """A product of what it is given first; it lets no gradient through, and leaves the rest alone."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(6, 6))

    def forward(self, x: Any, _: Any) -> Any:
        """Return the product."""
        return x.detach() @ self.weight


class Beside(nn.Module):
    """A module after another, whose outputs depend on none of those of the other as far as gradients go."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.stopped, self.out = nn.Linear(6, 6), _Stopped(), nn.Linear(6, 4)

    def forward(self, x: Any) -> Any:
        """Return the scores."""
        first = self.first(x)
        return self.out(torch.tanh(first) + self.stopped(x, first))


def _pictures(*layers: Any, places: int) -> Any:
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(places, 4))


def networks():
    """Return models of every kind of layer with the shape of a row, or the number of words."""
    conv = nn.Conv2d
    return {
        "tied": (Tied(), (11, 7)),
        "tied with bias": (Tied(bias=True), (11, 7)),
        "shared and twice": (Twice(), 6),
        "rnn cell": (Cells(nn.RNNCell(3, 6)), (5, 3, 0)),
        "gru cell": (Cells(nn.GRUCell(3, 6)), (5, 3, 0)),
        "lstm cell": (Cells(nn.LSTMCell(3, 6)), (5, 3, 0)),
        "lstm": (Recurrent(nn.LSTM(3, 6, batch_first=True)), (5, 3, 0)),
        "lstm rows second": (Recurrent(nn.LSTM(3, 6)), (5, 3, 0)),
        "gru": (Recurrent(nn.GRU(3, 6, batch_first=True)), (5, 3, 0)),
        "attention and own tensors": (Attending(), (5, 6, 0)),
        "turned": (Turned(), (5, 6, 0)),
        "beside": (Beside(), 6),
        "places": (Places(), (9, 5)),
        "padding": (nn.Sequential(nn.Embedding(9, 6, padding_idx=2), nn.Flatten(), nn.Linear(30, 4)), (9, 5)),
        "bag mean": (nn.Sequential(nn.EmbeddingBag(9, 6, padding_idx=2), nn.Linear(6, 4)), (9, 5)),
        "bag sum": (nn.Sequential(nn.EmbeddingBag(9, 6, mode="sum"), nn.Linear(6, 4)), (9, 5)),
        "conv 1": (_pictures(nn.Conv1d(2, 6, 3, 2, padding=2, groups=2), nn.Tanh(), places=30), (2, 7, 0)),
        "conv 3": (_pictures(nn.Conv3d(1, 3, 2, bias=False), nn.Tanh(), places=24), (1, 3, 3, 3)),
        "dilated": (_pictures(conv(2, 4, 3, dilation=2, padding="same"), nn.Tanh(), places=100), (2, 5, 5)),
        "circular": (_pictures(conv(2, 4, 3, padding=1, padding_mode="circular"), places=100), (2, 5, 5)),
        "norms": (
            _pictures(conv(2, 4, 3), nn.GroupNorm(2, 4), nn.InstanceNorm2d(4, affine=True), nn.Tanh(), places=36),
            (2, 5, 5),
        ),
        "rms": (nn.Sequential(nn.Linear(6, 6), nn.RMSNorm(6), nn.Linear(6, 6), nn.LayerNorm(6), nn.Linear(6, 4)), 6),
        "bias only": (nn.Sequential(nn.Linear(6, 6), nn.ReLU(inplace=True), nn.Linear(6, 4)), 6),
    }


def batch_for(shape, rows, dtype=torch.float64):
    """Return made-up inputs of a network above: whole numbers for (words, places), else normal ones."""
    if isinstance(shape, tuple) and len(shape) == 2:
        return whole_numbers(shape[0], rows, shape[1])
    size = (shape,) if isinstance(shape, int) else tuple(one for one in shape if one)
    return torch.randn(rows, *size, dtype=dtype)
