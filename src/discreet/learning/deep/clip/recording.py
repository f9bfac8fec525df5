"""One forward and one backward with hooks: what modules were given, and the gradients of what they returned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, Self

import torch
from torch.autograd.graph import get_gradient_edge
from torch.utils import _pytree as pytree

from discreet.errors import ParameterError
from discreet.learning.deep.clip.layers import Call, Tensor, even_product


@dataclass(frozen=True)
class Axes:
    """Where the tensors of a module's call have their rows: axis by place among the inputs and the outputs."""

    inputs: Mapping[int, int]
    outputs: Mapping[int, int]


class Recording:
    """Hooks on modules for one pass; a cluster of modules is handed on as soon as all its gradients are there.

    Hooks of tensors see gradients with respect to what a layer returned even where an activation overwrites it, and
    autograd is asked for the first outputs only: it forms no gradient of a weight. Where one hooked module lies inside
    another, whose own tensors may come first, it is asked for all.
    """

    def __init__(
        self,
        clusters: Sequence[Mapping[Any, Axes]],
        ready: Callable[[int, Mapping[Any, list[Call]]], None],
        *,
        tables: Mapping[Any, int],
        evened: Sequence[Any],
        rows: int,
        nested: bool,
    ) -> None:
        self._clusters, self._ready = clusters, ready
        self._of = {module: place for place, cluster in enumerate(clusters) for module in cluster}
        self._calls: list[dict[Any, list[Call]] | None] = [{module: [] for module in one} for one in clusters]
        self._waiting = [0] * len(clusters)
        self._edges: list[Any] = []
        self._handles: list[Any] = []
        self._open = True
        self._nested, self._tables, self._evened, self._rows = nested, tables, evened, rows
        self._fits: Tensor | None = None

    def __enter__(self) -> Self:
        for module in self._of:
            self._handles.append(module.register_forward_hook(self._called, with_kwargs=True))
        for module in self._tables:
            self._handles.append(module.register_forward_pre_hook(self._looked_up))
        for module in self._evened:
            module.forward = partial(even_product, module)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for handle in self._handles:
            handle.remove()
        for module in self._evened:
            del module.forward
        self._calls.clear()
        self._edges.clear()

    def _looked_up(self, module: Any, args: Any) -> Any:
        """Put a word of the table where an id is none, and remember the rows: an error would tell about a person."""
        if not self._open or not args:
            return None
        low, high = torch.aminmax(args[0])
        if low >= 0 and high < module.num_embeddings:
            return None
        fits = args[0].clamp(0, module.num_embeddings - 1) == args[0]
        rows = fits.movedim(self._tables[module], 0).reshape(self._rows, -1).all(1)
        self._fits = rows if self._fits is None else self._fits & rows
        return (torch.where(fits, args[0], 0), *args[1:])

    def _called(self, module: Any, args: Any, kwargs: Any, output: Any) -> Any:
        """Keep the inputs of a call and wait for the gradients of its outputs, which are returned."""
        if not self._open:
            return output
        if not isinstance(output, torch.Tensor):
            # one output may be computed from another: gradients are taken of aliases, which only others read
            output = pytree.tree_map_only(torch.Tensor, lambda value: value.view_as(value), output)
        place = self._of[module]
        axes = self._clusters[place][module]
        simple = len(args) == 1 and not kwargs and isinstance(args[0], torch.Tensor)
        leaves, form = (list(args), None) if simple else pytree.tree_flatten((args, kwargs))
        passed = any(isinstance(leaf, torch.Tensor) and leaf.requires_grad for leaf in leaves)
        versions = [leaf._version if isinstance(leaf, torch.Tensor) else 0 for leaf in leaves]
        kept = [leaf.detach() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        call = Call(kept, form, axes.inputs, axes.outputs, versions)
        outputs = [output] if isinstance(output, torch.Tensor) else pytree.tree_leaves(output)
        for where in axes.outputs:
            value = outputs[where]
            call.shapes[where] = (value.shape, value.dtype, value.device)
            if value.requires_grad:
                self._waiting[place] += 1
                if self._nested or not passed:
                    self._edges.append(get_gradient_edge(value))
                value.register_hook(partial(self._arrived, place, call, where))
        calls = self._calls[place]
        if calls is not None:
            calls[module].append(call)
        return output

    def _arrived(self, place: int, call: Call, where: int, signal: Tensor) -> None:
        """Take the gradient of one output; after the last one of a cluster hand it on."""
        call.signals[where] = signal.detach()
        self._waiting[place] -= 1
        if self._waiting[place] == 0:
            self._hand_on(place)

    def _hand_on(self, place: int) -> None:
        calls = self._calls[place]
        self._calls[place] = None
        if calls is None:
            return
        for some in calls.values():
            for call in some:
                for leaf, version in zip(call.leaves, call.versions, strict=True):
                    if isinstance(leaf, torch.Tensor) and leaf._version != version:
                        raise ParameterError(
                            "model must not overwrite what a trained layer was given; got an in-place operation on the "
                            "input of a layer, write it without inplace=True or the trailing underscore.",
                            parameter="model",
                        )
        self._ready(place, calls)
        for some in calls.values():  # the graph holds the hooks, and these the calls, until the pass is over
            for call in some:
                call.leaves.clear()
                call.signals.clear()

    def backward(self, losses: Tensor, factors: Tensor) -> None:
        """Run the one backward of the sum of factors times losses; rows with an id outside a table have factor zero."""
        self._open = False
        factors = factors if self._fits is None else torch.where(self._fits, factors, 0)
        if self._edges:
            torch.autograd.grad(losses, self._edges, factors, allow_unused=True)
        for place, calls in enumerate(self._calls):
            if calls is not None:
                self._hand_on(place)
