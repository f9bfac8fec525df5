"""The layers that are trained: what each keeps of a call, the ways it has, and its part of the clipped sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.utils import _pytree as pytree

from discreet.learning.deep.clip.layers.any_module import ModuleCall, module_kept
from discreet.learning.deep.clip.layers.arithmetic import Arithmetic, Part, Tensor, kept_part
from discreet.learning.deep.clip.layers.convolution import CONVOLUTION_WAYS, convolution_part
from discreet.learning.deep.clip.layers.embedding import bag_share, embedding_part, learned_words, merged_part
from discreet.learning.deep.clip.layers.linear import ghost_ways, linear_part, outer_part
from discreet.learning.deep.clip.layers.normalization import normalization_kept

NORMALIZATIONS = (nn.LayerNorm, nn.RMSNorm, nn.GroupNorm, nn.modules.instancenorm._InstanceNorm)
CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)


@dataclass
class Call:
    """One call of a module: its inputs, where tensors have their rows, and the gradients of its outputs."""

    leaves: list[Any]
    form: Any
    input_axes: Mapping[int, int]
    output_axes: Mapping[int, int]
    versions: list[int]
    signals: dict[int, Tensor] = field(default_factory=dict)
    shapes: dict[int, Any] = field(default_factory=dict)

    def given(self, place: int = 0) -> Tensor:
        """Return an input, rows first."""
        axis = self.input_axes.get(place, 0)
        return self.leaves[place].movedim(axis, 0) if axis else self.leaves[place]

    def arguments(self) -> tuple[Any, Any]:
        """Return the arguments and keywords of the call."""
        found: tuple[Any, Any] = (
            (tuple(self.leaves), {}) if self.form is None else pytree.tree_unflatten(self.leaves, self.form)
        )
        return found

    def signal(self, place: int = 0) -> Tensor:
        """Return the gradient of an output, rows first."""
        axis = self.output_axes.get(place, 0)
        return self.signal_as_given(place).movedim(axis, 0) if axis else self.signal_as_given(place)

    def signal_as_given(self, place: int) -> Tensor:
        """Return the gradient of an output in the output's shape; zero where nothing depends on it."""
        if place not in self.signals:
            shape, dtype, device = self.shapes[place]
            self.signals[place] = torch.zeros(shape, dtype=dtype, device=device)
        return self.signals[place]


@dataclass
class Layer:
    """A module with trained tensors: `names` are those it answers for, `slots` their places in the model's list."""

    name: str
    module: Any
    names: tuple[str, ...]
    slots: tuple[int, ...]
    units: int

    def ways(self, calls: Sequence[Call]) -> tuple[str, ...]:  # noqa: ARG002  the same for every call
        """Return the names of the ways to the same sum."""
        return ("vmap", "loop")

    def positions(self, calls: Sequence[Call]) -> int:  # noqa: ARG002  the same for every call
        """Return an upper bound on the number of terms that a unit adds to one number of the sum."""
        return 1

    def part(self, arithmetic: Arithmetic, way: str, calls: Sequence[Call]) -> Part:
        """Return the norms of the units and the weighted sum, by the named way."""
        return kept_part(arithmetic, self.kept(way, calls))

    def kept(self, way: str, calls: Sequence[Call]) -> list[Tensor]:
        """Return the gradient of every unit, one tensor a trained tensor; calls add up."""
        found = [self._kept_of_call(way, call) for call in calls]
        return [torch.stack(one).sum(0) if len(one) > 1 else one[0] for one in zip(*found, strict=True)]

    def _kept_of_call(self, way: str, call: Call) -> list[Tensor]:
        """Return the kept gradients of one call, by differentiating the module alone."""
        parameters = {name: self.module.get_parameter(name).detach() for name in self.names}
        signals = [call.signal_as_given(place) for place in call.output_axes]
        use = ModuleCall(self.units, call.input_axes, call.output_axes, signals)
        return module_kept(self.module, parameters, call.leaves, call.form, use, way)

    @property
    def weight(self) -> bool:
        """Whether the weight is trained."""
        return "weight" in self.names

    @property
    def bias(self) -> bool:
        """Whether the bias is trained."""
        return "bias" in self.names


class LinearLayer(Layer):
    """y = W a + b at every position."""

    def ways(self, calls: Sequence[Call]) -> tuple[str, ...]:
        """Return the names of the ways to the same sum."""
        positions = self.positions(calls)
        if positions == 1:
            return ("outer",)
        return ("kept", *ghost_ways(positions, self.module.in_features, self.module.out_features))

    def positions(self, calls: Sequence[Call]) -> int:
        """Return the number of positions of a unit."""
        return int(sum(call.leaves[0].numel() for call in calls) // (self.units * self.module.in_features))

    def pair(self, calls: Sequence[Call]) -> tuple[Tensor, Tensor]:
        """Return a and e, (units, positions, width), the calls side by side."""
        inputs, outputs = self.module.in_features, self.module.out_features
        a = [call.given().reshape(self.units, -1, inputs) for call in calls]
        e = [call.signal().reshape(self.units, -1, outputs) for call in calls]
        return _side_by_side(a), _side_by_side(e)

    def part(self, arithmetic: Arithmetic, way: str, calls: Sequence[Call]) -> Part:
        """Return the norms of the units and the weighted sum."""
        if way == "outer":
            return outer_part(arithmetic, *self.rows(calls), weight=self.weight, bias=self.bias)
        a, e = self.pair(calls)
        return linear_part(arithmetic, way, a, e, weight=self.weight, bias=self.bias)

    def rows(self, calls: Sequence[Call]) -> tuple[Tensor, Tensor]:
        """Return a and e of the one position, (units, width)."""
        a, e = calls[0].given(), calls[0].signal()
        return (a, e) if a.dim() == 2 else (a.flatten(1), e.flatten(1))

    def kept(self, way: str, calls: Sequence[Call]) -> list[Tensor]:  # noqa: ARG002  the same for every way
        """Return the gradient of every unit."""
        a, e = self.pair(calls)
        return [e.mT @ a] * self.weight + [e.sum(1)] * self.bias


class ConvolutionLayer(Layer):
    """A convolution of one, two or three dimensions."""

    def ways(self, calls: Sequence[Call]) -> tuple[str, ...]:
        """Return the names of the ways to the same sum."""
        if len({call.leaves[0].shape for call in calls}) > 1:
            return ("vmap", "loop")
        inputs, outputs = self.module.weight[0].numel(), self.module.out_channels // self.module.groups
        return ("unfold", "group", *ghost_ways(self.positions(calls), inputs, outputs))

    def positions(self, calls: Sequence[Call]) -> int:
        """Return the number of positions of a unit."""
        outputs = sum(torch.Size(call.shapes[0][0]).numel() for call in calls)
        return int(outputs // (self.units * self.module.out_channels))

    def part(self, arithmetic: Arithmetic, way: str, calls: Sequence[Call]) -> Part:
        """Return the norms of the units and the weighted sum."""
        if way not in CONVOLUTION_WAYS:
            return super().part(arithmetic, way, calls)
        a, e = (self._joined([one(call) for call in calls]) for one in (Call.given, Call.signal))
        return convolution_part(arithmetic, way, self.module, a, e, self.units, weight=self.weight, bias=self.bias)

    def _joined(self, values: list[Tensor]) -> Tensor:
        """Return several calls as more rows of each unit."""
        if len(values) == 1:
            return values[0]
        return torch.cat([value.unflatten(0, (self.units, -1)) for value in values], 1).flatten(0, 1)


class NormalizationLayer(Layer):
    """A normalization within each row."""

    def ways(self, calls: Sequence[Call]) -> tuple[str, ...]:  # noqa: ARG002  the same for every call
        """Return the names of the ways to the same sum."""
        return ("kept",)

    def _kept_of_call(self, way: str, call: Call) -> list[Tensor]:  # noqa: ARG002  the same for every way
        a = call.given() if self.weight else None
        return normalization_kept(self.module, a, call.signal(), self.units, weight=self.weight, bias=self.bias)


class EmbeddingLayer(Layer):
    """A table of vectors, one a word."""

    def ways(self, calls: Sequence[Call]) -> tuple[str, ...]:
        """Return the names of the ways; sums by index have no fixed order on a graphics card."""
        fixed = calls[0].leaves[0].device.type == "cpu"
        return ("ghost", "merged") if fixed and self.positions(calls) > 1 else ("ghost",)

    def positions(self, calls: Sequence[Call]) -> int:
        """Return the number of positions of a unit."""
        return int(sum(call.leaves[0].numel() for call in calls) // self.units)

    def pair(self, calls: Sequence[Call]) -> tuple[Tensor, Tensor]:
        """Return ids (units, T) and e (units, T, width), padding without gradient, the calls side by side."""
        ids = _side_by_side([call.given().reshape(self.units, -1) for call in calls])
        e = _side_by_side([call.signal().reshape(self.units, -1, self.module.embedding_dim) for call in calls])
        return ids, learned_words(self.module, ids, e)

    def part(self, arithmetic: Arithmetic, way: str, calls: Sequence[Call]) -> Part:
        """Return the norms of the units and the weighted sum."""
        make = merged_part if way == "merged" else embedding_part
        return make(arithmetic, self.module.weight, *self.pair(calls))


class BagLayer(EmbeddingLayer):
    """The sum or the mean of the vectors of a row's words."""

    def part(self, arithmetic: Arithmetic, way: str, calls: Sequence[Call]) -> Part:
        """Return the norms of the units and the weighted sum."""
        ids, share, places = [], [], []
        for call in calls:
            words, e = call.given(), call.signal()
            factors = _factors(call)
            share.append(bag_share(arithmetic, self.module, words, factors, e).reshape(self.units, -1))
            ids.append(words.reshape(self.units, -1))
            spread = e.unsqueeze(1).expand(-1, words.shape[1], -1)
            places.append(spread.reshape(self.units, -1, e.shape[-1]))
        joined = (_side_by_side(one) for one in (ids, places, share))
        make = merged_part if way == "merged" else embedding_part
        return make(arithmetic, self.module.weight, *joined)


def _side_by_side(values: Sequence[Tensor]) -> Tensor:
    """Return the positions of several calls as positions of one."""
    return values[0] if len(values) == 1 else torch.cat(values, 1)


def _factors(call: Call) -> Tensor | None:
    """Return the factors of the words of a bag, if the call had some."""
    args, kwargs = call.arguments()
    return kwargs.get("per_sample_weights", args[2] if len(args) > 2 else None)


def layer_class(module: Any) -> type[Layer]:
    """Return how a module's own tensors are summed; a subclass with another forward is any module."""
    for kinds, found in (
        ((nn.Linear,), LinearLayer),
        (CONVOLUTIONS, ConvolutionLayer),
        (NORMALIZATIONS, NormalizationLayer),
        ((nn.Embedding,), EmbeddingLayer),
        ((nn.EmbeddingBag,), BagLayer),
    ):
        for kind in kinds:
            if isinstance(module, kind) and type(module).forward is kind.forward:
                usual = found is not BagLayer or module.mode in ("sum", "mean")
                return found if usual else Layer
    return Layer
