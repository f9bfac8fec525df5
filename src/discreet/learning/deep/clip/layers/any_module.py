"""Any other module: the gradient of each unit by reverse differentiation of that module alone, under vmap."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.func import functional_call, vjp, vmap
from torch.utils import _pytree as pytree

from discreet.learning.deep.clip.layers.arithmetic import Tensor


def module_kept(
    module: Any, parameters: Mapping[str, Tensor], leaves: Sequence[Any], form: Any, calls: ModuleCall, way: str
) -> list[Tensor]:
    """Return each unit's gradient of the named parameters of a module, from its inputs and output gradients."""
    units, inside = calls.units, calls.input_axes
    names = list(parameters)

    def pulled(values: tuple[Any, ...], signals: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        whole = list(leaves)
        for place, value in zip(inside, values, strict=True):
            whole[place] = value
        args, kwargs = (tuple(whole), {}) if form is None else pytree.tree_unflatten(whole, form)

        def run(chosen: dict[str, Tensor]) -> tuple[Tensor, ...]:
            out = pytree.tree_leaves(functional_call(module, chosen, args, kwargs))
            return tuple(out[place] for place in calls.output_axes)

        _, pull = vjp(run, dict(parameters))
        (found,) = pull(signals)
        return tuple(found[name] for name in names)

    given = tuple(_by_unit(leaves[place], axis, units) for place, axis in inside.items())
    signals = tuple(
        _by_unit(signal, axis, units) for signal, axis in zip(calls.signals, calls.output_axes.values(), strict=True)
    )
    in_axes = (tuple(inside.values()), tuple(calls.output_axes.values()))
    return list(_mapped(pulled, way, units)(given, signals, in_axes))


class ModuleCall:
    """One call of a module: output gradients and where each tensor has its rows."""

    def __init__(
        self, units: int, input_axes: Mapping[int, int], output_axes: Mapping[int, int], signals: Sequence[Tensor]
    ) -> None:
        self.units, self.input_axes, self.output_axes, self.signals = units, input_axes, output_axes, signals


def _by_unit(values: Tensor, axis: int, units: int) -> Tensor:
    """Return the values with the axis of rows cut into units and rows of a unit."""
    return values.unflatten(axis, (units, -1))


def _mapped(pulled: Callable[..., Any], way: str, units: int) -> Callable[..., Any]:
    """Return the function that maps over units, at once or one by one."""

    def at_once(given: Any, signals: Any, axes: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch says where a batching rule is missing: it is slow, not wrong
            return vmap(pulled, in_dims=axes)(given, signals)

    def one_by_one(given: Any, signals: Any, axes: Any) -> Any:
        found = []
        for unit in range(units):
            values = tuple(value.select(axis, unit) for value, axis in zip(given, axes[0], strict=True))
            parts = tuple(value.select(axis, unit) for value, axis in zip(signals, axes[1], strict=True))
            found.append(pulled(values, parts))
        return [torch.stack(one) for one in zip(*found, strict=True)]

    return at_once if way == "vmap" else one_by_one
