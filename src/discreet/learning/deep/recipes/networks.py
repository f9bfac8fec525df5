"""Small networks whose rows do not mix: linear, perceptron, convolutional, bag of embeddings, transformer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import nn
from torch.nn import functional


def linear(columns: int, classes: int) -> Any:
    """Return a linear model without intercept, all zero: its scores are equal before the first step.

    >>> linear(3, 2).weight.abs().sum().item()
    0.0
    """
    model = nn.Linear(columns, classes, bias=False)
    nn.init.zeros_(model.weight)
    return model


def perceptron(columns: int, classes: int, hidden: Sequence[int] = (64,)) -> Any:
    """Return layers of `hidden` units with tanh between them, whose bounded slopes suit clipped gradients.

    Reference. Papernot, Thakurta, Song, Chien, Erlingsson 2021 (bounded activations).
    """
    sizes = [columns, *hidden]
    layers = [part for one, two in pairwise(sizes) for part in (nn.Linear(one, two), nn.Tanh())]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], classes))


def convolutional(side: int, classes: int, colors: int = 1, width: int = 16) -> Any:
    """Return two convolutions with groups normalized one image at a time, and two linear layers; images are square."""
    left = ((side + 1) // 2 + 1) // 2
    return nn.Sequential(
        nn.Conv2d(colors, width, 3, stride=2, padding=1),
        nn.GroupNorm(4, width),
        nn.Tanh(),
        nn.Conv2d(width, 2 * width, 3, stride=2, padding=1),
        nn.GroupNorm(4, 2 * width),
        nn.Tanh(),
        nn.Flatten(),
        nn.Linear(2 * width * left * left, 32),
        nn.Tanh(),
        nn.Linear(32, classes),
    )


class BagOfEmbeddings(nn.Module):  # type: ignore[misc]  # torch has no types here
    """The mean of the embeddings of a text's tokens, and a linear layer; token 0 is nobody's."""

    def __init__(self, words: int, classes: int, width: int = 32) -> None:
        super().__init__()
        self.bag = nn.EmbeddingBag(words, width, mode="mean", padding_idx=0)
        self.head = nn.Linear(width, classes)

    def forward(self, tokens: Any) -> Any:
        """Return the scores of each text."""
        return self.head(self.bag(tokens))


class Attention(nn.Module):  # type: ignore[misc]  # torch has no types here
    """Self-attention of several heads, from linear layers; tokens that fill a row are not attended to."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.queries, self.keys, self.values, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, states: Any, real: Any) -> Any:
        """Return what each token gathers from the others of its text."""
        queries, keys, values = (self._split(one(states)) for one in (self.queries, self.keys, self.values))
        found = functional.scaled_dot_product_attention(queries, keys, values, attn_mask=real[:, None, None, :])
        return self.out(found.transpose(1, 2).flatten(2))

    def _split(self, states: Any) -> Any:
        return states.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class TransformerBlock(nn.Module):  # type: ignore[misc]  # torch has no types here
    """Attention and two linear layers, each added to what went in."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.wide, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, states: Any, real: Any) -> Any:
        """Return the states of tokens after this block."""
        states = states + self.attention(self.before(states), real)
        return states + self.narrow(functional.gelu(self.wide(self.between(states))))


class SmallTransformer(nn.Module):  # type: ignore[misc]  # torch has no types here
    """A transformer for short texts: embeddings of tokens and places, a few blocks, the mean over real tokens."""

    def __init__(self, words: int, tokens: int, classes: int, width: int = 64, heads: int = 4, blocks: int = 2) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width, padding_idx=0)
        self.places = nn.Embedding(tokens, width)
        self.blocks = nn.ModuleList(TransformerBlock(width, heads) for _ in range(blocks))
        self.after, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, tokens: Any) -> Any:
        """Return the scores of each text."""
        first = torch.zeros_like(tokens[:, :1]) == 0  # one token is attended to even where a text is empty
        real = torch.cat([first, tokens[:, 1:] != 0], dim=1)
        where = torch.arange(tokens.shape[1], device=tokens.device).expand_as(tokens)
        states = self.embedding(tokens) + self.places(where)
        for block in self.blocks:
            states = block(states, real)
        share = real.to(states.dtype).unsqueeze(-1)
        return self.head((self.after(states) * share).sum(dim=1) / share.sum(dim=1))
