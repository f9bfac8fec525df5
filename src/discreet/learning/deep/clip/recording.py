"""One forward and one backward, watched: what modules were given, and the gradients of what they returned."""

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
    """What modules do in one pass at a time; a cluster of modules is handed on as soon as all its gradients are there.

    While a pass runs, `forward` of the modules is another. Hooks of tensors see gradients with respect to what a layer
    returned even where an activation overwrites it, and autograd is asked for the first outputs only: it forms no
    gradient of a weight. It is asked for the outputs of `opaque` modules too, which need not depend on what they were
    given, and for all where one watched module lies inside another, whose own tensors may come first.
    """

    def __init__(
        self,
        clusters: Sequence[Mapping[Any, Axes]],
        *,
        opaque: Sequence[Any],
        tables: Mapping[Any, int],
        evened: Sequence[Any],
        rows: int,
    ) -> None:
        self._clusters, self._tables, self._rows = clusters, tables, rows
        self._of = {module: place for place, cluster in enumerate(clusters) for module in cluster}
        self._opaque, self._evened = frozenset(opaque), frozenset(evened)
        self._nested = any(inner in self._of for one in self._of for inner in one.modules() if inner is not one)
        self._watched = tuple(dict.fromkeys((*self._of, *tables, *evened)))
        self._before: list[tuple[Any, Any]] = []
        self._open = self._traced = False

    def handing_to(self, ready: Callable[[int, Mapping[Any, list[Call]]], None], *, traced: bool = False) -> Self:
        """Return this recording for a pass, whose clusters are handed to `ready`; a traced one looks at no number."""
        self._ready, self._traced = ready, traced
        self._calls: list[dict[Any, list[Call]] | None] = [{module: [] for module in one} for one in self._clusters]
        self._waiting = [0] * len(self._clusters)
        self._edges: list[Any] = []
        self._fits: Tensor | None = None
        return self

    def __enter__(self) -> Self:
        self._leave_modules()  # of a pass that was interrupted before it could
        self._open = True
        for module in self._watched:
            own = vars(module)
            self._before.append((own, own.get("forward")))
            forward = partial(even_product, module) if module in self._evened else module.forward
            own["forward"] = partial(self._called, module, forward)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave_modules()
        self._calls.clear()
        self._edges.clear()
        del self._ready

    def _leave_modules(self) -> None:
        """Give the modules their own `forward` again."""
        while self._before:
            own, forward = self._before.pop()
            own.pop("forward", None)
            if forward is not None:
                own["forward"] = forward

    def _called(self, module: Any, forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Return what a module returns, and keep its call."""
        if not self._open:
            return forward(*args, **kwargs)
        if args and module in self._tables:
            args = self._looked_up(module, *args)
        output = forward(*args, **kwargs)
        return self._kept(module, args, kwargs, output) if module in self._of else output

    def _looked_up(self, module: Any, ids: Tensor, *others: Any) -> tuple[Any, ...]:
        """Put a word of the table where an id is none, and remember the rows: an error would tell about a person."""
        if ids.device.type == "cpu" and not self._traced:  # to look at numbers on a graphics card is to wait for it
            low, high = torch.aminmax(ids)
            if low >= 0 and high < module.num_embeddings:
                return (ids, *others)
        fits = ids.clamp(0, module.num_embeddings - 1) == ids
        rows = fits.movedim(self._tables[module], 0).reshape(self._rows, -1).all(1)
        self._fits = rows if self._fits is None else self._fits & rows
        return (torch.where(fits, ids, 0), *others)

    def _kept(self, module: Any, args: Any, kwargs: Any, output: Any) -> Any:
        """Keep the inputs of a call and wait for the gradients of its outputs, which are returned."""
        if not isinstance(output, torch.Tensor):
            # one output may be computed from another: gradients are taken of aliases, which only others read
            output = pytree.tree_map_only(torch.Tensor, lambda value: value.view_as(value), output)
        place = self._of[module]
        axes = self._clusters[place][module]
        simple = len(args) == 1 and not kwargs and isinstance(args[0], torch.Tensor)
        leaves, form = (args, None) if simple else pytree.tree_flatten((args, kwargs))
        given = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        versions = [leaf._version for leaf in given]
        kept = [leaf.detach() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        call = Call(kept, form, axes.inputs, axes.outputs, versions)
        outputs = [output] if isinstance(output, torch.Tensor) else pytree.tree_leaves(output)
        first = self._nested or module in self._opaque or not any(leaf.requires_grad for leaf in given)
        for where in axes.outputs:
            value = outputs[where]
            call.shapes[where] = (value.shape, value.dtype, value.device)
            if value.requires_grad:
                self._waiting[place] += 1
                if first:
                    self._edges.append(get_gradient_edge(value))
                value.register_hook(partial(self._arrived, place, call, where))
        calls = self._calls[place]
        if calls is not None:
            calls[module].append(call)
        return output

    def _arrived(self, place: int, call: Call, where: int, signal: Tensor) -> None:
        """Take the gradient of one output; after the last one of a cluster hand it on."""
        call.signals[where] = signal
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
                if [leaf._version for leaf in call.leaves if isinstance(leaf, torch.Tensor)] != call.versions:
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
