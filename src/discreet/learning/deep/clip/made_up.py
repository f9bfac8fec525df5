"""Made-up rows of the public shape: for shapes, for timing, for the probe, and in the slots that nobody takes."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from discreet.errors import InputError, ParameterError
from discreet.learning.deep.clip.layers import Tensor


class MadeUp:
    """Rows like a public example `(inputs, targets)`: the same shapes and types, numbers of no person.

    Numbers are standard normal if the example has one row, else one of its own entries at every place, so that an
    example of several rows says what a model can be given. Whole numbers are words of the smallest embedding, or
    classes of the loss, where these are known, else 0 or 1, and so are numbers that are targets: rows that are all
    alike, or that no loss counts, would show nothing to the probe.
    """

    def __init__(self, example: tuple[Any, Any], model: Any, loss: Any, device: Any) -> None:
        if not isinstance(example, tuple) or len(example) != 2:
            raise ParameterError(
                f"example must be a pair (inputs, targets) of made-up rows; got {type(example).__name__}, write "
                "(torch.zeros(1, 10), torch.zeros(1, dtype=torch.long)).",
                parameter="example",
            )
        inputs, targets = example
        inputs = tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,)
        for one in (*inputs, targets):
            if not isinstance(one, torch.Tensor) or one.dim() < 1 or len(one) < 1:
                raise ParameterError(
                    "example must hold tensors of at least one made-up row; got something else, write torch.zeros(1, "
                    "...) of the shape of one row.",
                    parameter="example",
                )
        self._inputs = tuple(one.detach().to(device) for one in inputs)
        self._targets = targets.detach().to(device)
        self._forms = [(tuple(one.shape[1:]), one.dtype, one[:1]) for one in (*self._inputs, self._targets)]
        self._words = min(
            (module.num_embeddings for module in model.modules() if isinstance(module, nn.Embedding | nn.EmbeddingBag)),
            default=None,
        )
        self._classes = getattr(loss, "classes", None)
        self._device = device

    def batch(self, rows: int, seed: int = 0) -> tuple[tuple[Tensor, ...], Tensor]:
        """Return a number of made-up rows; the seed only says which."""
        source = torch.Generator().manual_seed(seed)
        inputs = tuple(self._like(one, rows, source, self._words) for one in self._inputs)
        if self._targets.is_floating_point() and len(self._targets) == 1:
            return inputs, torch.randint(0, 2, (rows, *self._targets.shape[1:]), generator=source).to(self._targets)
        return inputs, self._like(self._targets, rows, source, self._classes)

    def _like(self, example: Tensor, rows: int, source: Any, values: int | None) -> Tensor:
        shape = (rows, *example.shape[1:])
        if len(example) == 1 and example.is_floating_point():
            return torch.randn(shape, generator=source).to(example)
        if not example.is_floating_point() and example.dtype != torch.bool and (values or len(example) == 1):
            return torch.randint(0, values or 2, shape, generator=source).to(example)
        if len(example) == 1:
            return torch.randint(0, 2, shape, generator=source).to(example)
        # one of the example's own entries at every place
        take = torch.randint(0, len(example), shape, generator=source).to(self._device)
        return torch.gather(example, 0, take)

    def in_place_of_absent(
        self, inputs: Any, targets: Any, here: Tensor, rows: int
    ) -> tuple[tuple[Tensor, ...], Tensor]:
        """Return the batch with the example's first row in the slots that nobody takes, by selection."""
        given = tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,)
        if len(given) != len(self._inputs):
            raise InputError(
                f"inputs must be {len(self._inputs)} tensors as in the example; got {len(given)}, write a tuple."
            )
        taken = []
        for one, (shape, kind, padding) in zip((*given, targets), self._forms, strict=True):
            if not isinstance(one, torch.Tensor):
                raise InputError("a batch must hold tensors; got something else, write torch.as_tensor(...).")
            if one.shape != (rows, *shape) or one.dtype != kind:
                raise InputError(
                    f"a batch must have {rows} rows of shape {shape} and type {kind}; got shape {tuple(one.shape)} and "
                    f"type {one.dtype}, write padding rows in slots that nobody takes."
                )
            select = here.view(rows, *(1,) * len(shape)) if shape else here
            taken.append(torch.where(select, one.to(self._device), padding))
        return tuple(taken[:-1]), taken[-1]
