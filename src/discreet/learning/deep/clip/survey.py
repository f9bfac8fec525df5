"""What a model consists of, seen on made-up rows: which module answers for which tensor, and where rows lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.utils import _pytree as pytree

from discreet.errors import ParameterError
from discreet.learning.deep.clip.layers import Layer, Tensor, layer_class
from discreet.learning.deep.clip.recording import Axes

_SIZES = (2, 3)


@dataclass(frozen=True)
class ModelSurvey:
    """Clusters of layers that share tensors, the axes of rows of each module in them and of ids that are looked up."""

    clusters: list[list[Layer]]
    axes: dict[Any, Axes]
    tables: dict[Any, int]


def survey(
    model: Any, parameters: Sequence[Tensor], names: Sequence[str], run: Callable[[int], Any], *, units: int, rows: int
) -> ModelSurvey:
    """Return the layers of a model; `run(n)` calls it on n made-up rows."""
    refuse_statistics(model)
    seen = [_shapes(model, run, size * rows) for size in _SIZES]
    axes = {module: _axes(seen[0][module], seen[1][module]) for module in seen[0] if module in seen[1]}
    slot_of = {id(parameter): slot for slot, parameter in enumerate(parameters)}
    parents = {child: parent for parent in model.modules() for child in parent.children()}
    owned: dict[Any, dict[str, int]] = {}
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            if parameter.requires_grad:
                owner, path = _owner(model, module, name, axes, parents)
                owned.setdefault(owner, {})[path] = slot_of[id(parameter)]
    titles = {module: name or "model" for name, module in model.named_modules()}
    layers = [_layer(titles[module], module, found, units) for module, found in owned.items()]
    _all_covered(layers, names)
    tables = {
        module: found.inputs[0]
        for module, found in axes.items()
        if isinstance(module, nn.Embedding | nn.EmbeddingBag) and found is not None and 0 in found.inputs
    }
    return ModelSurvey(_clusters(layers), {layer.module: _rows_or_refuse(axes, layer) for layer in layers}, tables)


def refuse_statistics(model: Any) -> None:
    """Raise if a module computes with statistics of the batch, which mixes people."""
    for name, module in model.named_modules():
        batch = isinstance(module, nn.modules.batchnorm._BatchNorm)
        if batch or (isinstance(module, nn.modules.instancenorm._InstanceNorm) and module.track_running_stats):
            raise ParameterError(
                f"model must not compute statistics of a batch; got {type(module).__name__} at {name or 'the top'!r}, "
                "write nn.GroupNorm or nn.LayerNorm there.",
                parameter="model",
            )
        if isinstance(module, nn.Embedding | nn.EmbeddingBag) and (
            module.max_norm is not None or module.scale_grad_by_freq
        ):
            raise ParameterError(
                "model must not rescale an embedding by what a batch holds; got max_norm or scale_grad_by_freq at "
                f"{name!r}, write the embedding without them.",
                parameter="model",
            )


def _shapes(model: Any, run: Callable[[int], Any], size: int) -> dict[Any, tuple[list[Any], list[Any]]]:
    """Return the shapes of inputs and outputs of the first call of every module."""
    found: dict[Any, tuple[list[Any], list[Any]]] = {}

    def note(module: Any, args: Any, kwargs: Any, output: Any) -> None:
        if module not in found:
            found[module] = (_sizes_of((args, kwargs)), _sizes_of(output))

    handles = [module.register_forward_hook(note, with_kwargs=True) for module in model.modules()]
    try:
        run(size)
    finally:
        for handle in handles:
            handle.remove()
    return found


def _sizes_of(tree: Any) -> list[Any]:
    return [tuple(leaf.shape) if isinstance(leaf, torch.Tensor) else None for leaf in pytree.tree_leaves(tree)]


def _axes(two: tuple[list[Any], list[Any]], three: tuple[list[Any], list[Any]]) -> Axes | None:
    """Return the axes that grow with the number of rows; None if an input or output has two of them."""
    found: list[dict[int, int]] = []
    for small, large in zip(two, three, strict=True):
        axes: dict[int, int] = {}
        for place, (one, other) in enumerate(zip(small, large, strict=False)):
            if one is None or other is None or len(one) != len(other):
                continue
            grown = [axis for axis, ends in enumerate(zip(one, other, strict=True)) if ends[0] != ends[1]]
            if len(grown) > 1 or any(one[axis] * _SIZES[1] != other[axis] * _SIZES[0] for axis in grown):
                return None
            if grown:
                axes[place] = grown[0]
        found.append(axes)
    return Axes(*found)


def _owner(
    model: Any, module: Any, name: str, axes: Mapping[Any, Axes | None], parents: Mapping[Any, Any]
) -> tuple[Any, str]:
    """Return the module that answers for a tensor: its own, or the nearest one around it that is called with rows."""
    path, owner = name, module
    while owner is not model and not _called_with_rows(axes.get(owner)):
        parent = parents[owner]
        path = f"{next(key for key, child in parent.named_children() if child is owner)}.{path}"
        owner = parent
    return owner, path


def _called_with_rows(axes: Axes | None) -> bool:
    return axes is not None and bool(axes.inputs) and bool(axes.outputs)


def _layer(title: str, module: Any, found: Mapping[str, int], units: int) -> Layer:
    """Return the layer of a module, weight before bias; one that also answers for tensors inside it is any module."""
    names = sorted(found, key=lambda name: (name == "bias", name))
    kind = layer_class(module) if set(found) <= {"weight", "bias"} else Layer
    return kind(title, module, tuple(names), tuple(found[name] for name in names), units)


def _all_covered(layers: Sequence[Layer], names: Sequence[str]) -> None:
    missing = sorted(set(range(len(names))) - {slot for layer in layers for slot in layer.slots})
    if missing:
        raise ParameterError(
            f"model must use every trained tensor; got no call of the module of {names[missing[0]]!r}, write "
            "requires_grad_(False) for what is not trained.",
            parameter="model",
        )


def _rows_or_refuse(axes: Mapping[Any, Axes | None], layer: Layer) -> Axes:
    found = axes.get(layer.module)
    if found is None or not found.outputs:
        raise ParameterError(
            f"model must treat every row by itself; got tensors at {layer.name!r} whose shape does not grow with the "
            "rows along one axis, write the model so that rows stay apart along one axis.",
            parameter="model",
        )
    return found


def _clusters(layers: Sequence[Layer]) -> list[list[Layer]]:
    """Return the layers grouped by tensors they share."""
    groups: list[tuple[set[int], list[Layer]]] = []
    for layer in layers:
        slots, members = set(layer.slots), [layer]
        rest = []
        for other in groups:
            if other[0] & slots:
                slots |= other[0]
                members = [*other[1], *members]
            else:
                rest.append(other)
        groups = [*rest, (slots, members)]
    return [members for _, members in groups]
