"""The eight networks that the benchmarks of deep learning train, in a small and a large size, and made-up batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn import functional


class Network(NamedTuple):
    """A network with a maker of made-up batches, and the number of its classes."""

    model: Any
    batch: Callable[[int], tuple[Any, Any]]
    classes: int


def _images(*shape: int) -> Callable[[int], tuple[Any, Any]]:
    return lambda rows: (torch.randn(rows, *shape), torch.randint(0, 10, (rows,)))


def _words(vocabulary: int, tokens: int, classes: int) -> Callable[[int], tuple[Any, Any]]:
    return lambda rows: (torch.randint(0, vocabulary, (rows, tokens)), torch.randint(0, classes, (rows,)))


def digits(large: bool = False) -> Network:
    """A perceptron for 8 x 8 digits: 64-64-10."""
    del large
    return Network(nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)), _images(64), 10)


def perceptron(large: bool = False) -> Network:
    """A perceptron 784-256-128-10, or 784-1024-512-10."""
    one, two = (1024, 512) if large else (256, 128)
    layers = (nn.Linear(784, one), nn.ReLU(), nn.Linear(one, two), nn.ReLU(), nn.Linear(two, 10))
    return Network(nn.Sequential(*layers), _images(784), 10)


def convolutional(large: bool = False) -> Network:
    """The small convolutional network of many private experiments, for 28 x 28."""
    del large
    layers = (
        nn.Conv2d(1, 16, 8, 2, padding=3),
        nn.ReLU(),
        nn.MaxPool2d(2, 1),
        nn.Conv2d(16, 32, 4, 2),
        nn.ReLU(),
        nn.MaxPool2d(2, 1),
        nn.Flatten(),
        nn.Linear(512, 32),
        nn.ReLU(),
        nn.Linear(32, 10),
    )
    return Network(nn.Sequential(*layers), _images(1, 28, 28), 10)


def vgg(large: bool = False) -> Network:
    """Three pairs of 3 x 3 convolutions with pooling, for 3 x 32 x 32."""
    factor = 4 if large else 1
    layers: list[Any] = []
    before = 3
    for width in (32 * factor, 64 * factor, 128 * factor):
        layers += [nn.Conv2d(before, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU()]
        layers.append(nn.MaxPool2d(2))
        before = width
    layers += [nn.Flatten(), nn.Linear(2048 * factor, 64 * factor), nn.ReLU(), nn.Linear(64 * factor, 10)]
    return Network(nn.Sequential(*layers), _images(3, 32, 32), 10)


class _Residual(nn.Module):
    """Two convolutions with group normalization and a way around them."""

    def __init__(self, before: int, width: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(before, width, 3, stride, 1, bias=False)
        self.first_norm = nn.GroupNorm(8, width)
        self.second = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.second_norm = nn.GroupNorm(8, width)
        self.around = (
            nn.Conv2d(before, width, 1, stride, bias=False) if stride > 1 or before != width else nn.Identity()
        )

    def forward(self, x: Any) -> Any:
        """Return the block's output."""
        y = functional.relu(self.first_norm(self.first(x)))
        return functional.relu(self.second_norm(self.second(y)) + self.around(x))


def residual(large: bool = False) -> Network:
    """A residual network with group normalization, widths 16-16-32-64 (four times that if large), global pooling."""
    factor = 4 if large else 1
    w0, w1, w2, w3 = (factor * width for width in (16, 16, 32, 64))
    layers = (
        nn.Conv2d(3, w0, 3, padding=1, bias=False),
        nn.GroupNorm(8, w0),
        nn.ReLU(),
        _Residual(w0, w1, 1),
        _Residual(w1, w2, 2),
        _Residual(w2, w3, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(w3, 10),
    )
    return Network(nn.Sequential(*layers), _images(3, 32, 32), 10)


class _Bag(nn.Module):
    """The mean of word vectors and a perceptron."""

    def __init__(self, vocabulary: int, width: int, hidden: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.hidden = nn.Linear(width, hidden)
        self.out = nn.Linear(hidden, 4)

    def forward(self, ids: Any) -> Any:
        """Return the scores of the classes."""
        return self.out(functional.relu(self.hidden(self.words(ids).mean(1))))


def embedding(large: bool = False) -> Network:
    """Word vectors, their mean, a perceptron; 4 classes."""
    vocabulary, width, tokens, hidden = (30_000, 256, 128, 1024) if large else (2_000, 64, 32, 256)
    return Network(_Bag(vocabulary, width, hidden), _words(vocabulary, tokens, 4), 4)


class _Block(nn.Module):
    """Attention and a perceptron, each after a layer normalization."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before = nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.project = nn.Linear(width, width)
        self.between = nn.LayerNorm(width)
        self.wide = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)

    def forward(self, x: Any) -> Any:
        """Return the block's output."""
        rows, tokens, width = x.shape
        parts = self.query_key_value(self.before(x)).view(rows, tokens, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(parts[0], parts[1], parts[2])
        x = x + self.project(mixed.transpose(1, 2).reshape(rows, tokens, width))
        return x + self.narrow(functional.gelu(self.wide(self.between(x))))


class _Transformer(nn.Module):
    """Words and places, blocks of attention, the mean, classes."""

    def __init__(self, vocabulary: int, tokens: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(tokens, width)
        self.blocks = nn.Sequential(*(_Block(width, heads) for _ in range(layers)))
        self.last = nn.LayerNorm(width)
        self.out = nn.Linear(width, 4)

    def forward(self, ids: Any) -> Any:
        """Return the scores of the classes."""
        places = torch.arange(ids.shape[1], device=ids.device).expand(ids.shape)
        x = self.words(ids) + self.places(places)
        return self.out(self.last(self.blocks(x)).mean(1))


def transformer(large: bool = False) -> Network:
    """A transformer of 2 layers, width 128, 64 tokens; 6 layers, width 512, 256 tokens if large."""
    vocabulary, tokens, width, heads, layers = (30_000, 256, 512, 8, 6) if large else (2_000, 64, 128, 4, 2)
    return Network(_Transformer(vocabulary, tokens, width, heads, layers), _words(vocabulary, tokens, 4), 4)


class _LowRank(nn.Module):
    """A frozen product plus a trained one of low rank."""

    def __init__(self, frozen: Any, rank: int) -> None:
        super().__init__()
        self.frozen = frozen
        self.down = nn.Linear(frozen.in_features, rank, bias=False)
        self.up = nn.Linear(rank, frozen.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x: Any) -> Any:
        """Return the sum of both products."""
        return self.frozen(x) + self.up(self.down(x))


def low_rank(large: bool = False) -> Network:
    """The transformer with updates of rank 8 on its products, the rest frozen."""
    made = transformer(large)
    for parameter in made.model.parameters():
        parameter.requires_grad_(False)
    for block in made.model.blocks:
        for name in ("query_key_value", "project", "wide", "narrow"):
            setattr(block, name, _LowRank(getattr(block, name), 8))
    return made


NETWORKS: dict[str, Callable[[bool], Network]] = {
    "digits": digits,
    "MLP": perceptron,
    "CNN": convolutional,
    "VGG": vgg,
    "ResNet-GN": residual,
    "embedding": embedding,
    "transformer": transformer,
    "LoRA": low_rank,
}
