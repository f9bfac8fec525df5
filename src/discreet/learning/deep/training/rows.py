"""The rows of a training: tensors or a dataset, read at secret places into batches of a fixed, public shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from discreet.errors import InputError, ParameterError

_WANTED = "write data=(X, y), two tensors with a row a person, or a map-style torch Dataset. Nothing was spent."


@dataclass(frozen=True, eq=False)
class Shape:
    """The public shape of one row: its inputs and its target."""

    sizes: tuple[tuple[int, ...], ...]
    types: tuple[Any, ...]

    @classmethod
    def of(cls, parts: Sequence[Any]) -> Shape:
        """Return the shape of one row that is at hand."""
        return cls(tuple(tuple(part.shape) for part in parts), tuple(part.dtype for part in parts))

    def padding(self, slots: int, device: Any) -> tuple[Any, Any]:
        """Return inputs and targets of rows that nobody has: zeros."""
        inputs, target = (
            torch.zeros((slots, *size), dtype=kind, device=device)
            for size, kind in zip(self.sizes, self.types, strict=True)
        )
        return inputs, target

    def fits(self, parts: Sequence[Any]) -> bool:
        """Say whether a row has this shape."""
        found = Shape.of(parts)
        return (found.sizes, found.types) == (self.sizes, self.types)

    def words(self) -> list[Any]:
        """Return the shape as plain values, which a checkpoint compares."""
        return [[list(size), str(kind)] for size, kind in zip(self.sizes, self.types, strict=True)]


class TrainingRows:
    """Private rows, one a unit; `len` and everything but `shape` are private.

    A row of a dataset that cannot be read, or that has another shape or type than the first one, counts for nothing.
    """

    def __init__(self, data: Any, most: int) -> None:
        _refuse_loader(data)
        self._tensors = _tensors(data)
        self._dataset = None if self._tensors is not None else _dataset(data)
        if len(self) > most:
            raise InputError(
                f"data must have at most {most:,} rows, on which the price rests; got more, write a random part of "
                "them, chosen row by row. Nothing was spent."
            )
        if self._tensors is not None:
            self.shape = Shape(tuple(tuple(one.shape[1:]) for one in self._tensors), tuple(t.dtype for t in self._tensors))
        else:
            first = self._read(0) if len(self) else None
            if first is None:
                raise InputError(
                    "data must show the shape of a row in its first row, an input and a target that are tensors; got "
                    f"something else, {_WANTED}"
                )
            self.shape = Shape.of(first)

    def __len__(self) -> int:
        return len(self._tensors[0] if self._tensors is not None else self._dataset)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return "<TrainingRows: private>"

    def batch(self, places: NDArray[np.int64], device: Any) -> tuple[Any, Any, Any]:
        """Return inputs, targets and which slots are taken: slot s holds the row at places[s], or nobody's if < 0."""
        present = torch.from_numpy(places >= 0)
        if self._tensors is not None:
            at = torch.from_numpy(np.maximum(places, 0))
            gathered = [self._gathered(one, at, present).to(device) for one in self._tensors]
            return gathered[0], gathered[1], present.to(device)
        inputs, targets = self.shape.padding(len(places), "cpu")
        for slot, place in enumerate(places):
            row = self._read(int(place)) if place >= 0 else None
            if row is None or not self.shape.fits(row):
                present[slot] = False
            else:
                inputs[slot], targets[slot] = row
        return inputs.to(device), targets.to(device), present.to(device)

    @staticmethod
    def _gathered(rows: Any, at: Any, present: Any) -> Any:
        if not len(rows):
            return torch.zeros((len(at), *rows.shape[1:]), dtype=rows.dtype)
        taken = rows[at.to(rows.device)]
        mask = present.to(rows.device).reshape(-1, *[1] * (rows.dim() - 1))
        return torch.where(mask, taken, torch.zeros((), dtype=rows.dtype, device=rows.device))

    def _read(self, place: int) -> tuple[Any, Any] | None:
        """Return the row at a place as tensors, None where it is no row."""
        try:
            inputs, target = self._dataset[place]  # type: ignore[index]
            return torch.as_tensor(inputs).detach(), torch.as_tensor(target).detach()
        except Exception:  # whatever a foreign dataset raises: the row counts for nothing, and nobody is told
            return None


def _refuse_loader(data: Any) -> None:
    from torch.utils.data import DataLoader, IterableDataset, Sampler

    if isinstance(data, DataLoader | Sampler | IterableDataset):
        raise ParameterError(
            f"data must be rows that the plan's sampler can draw from; got a {type(data).__name__}, which chooses and "
            "orders rows by itself: the price of a plan holds for the plan's own draws alone, and shuffled batches "
            f"are another mechanism. {_WANTED[0].upper()}{_WANTED[1:]}",
            parameter="data",
        )


def _tensors(data: Any) -> tuple[Any, Any] | None:
    """Return two tensors of one length, None where the data is something else."""
    if isinstance(data, torch.Tensor):
        raise ParameterError(f"data must be inputs and targets; got one tensor, {_WANTED}", parameter="data")
    if not isinstance(data, tuple | list):
        return None
    if len(data) != 2 or not all(isinstance(one, torch.Tensor) for one in data):
        raise ParameterError(f"data must be two tensors; got something else, {_WANTED}", parameter="data")
    inputs, targets = (one.detach() for one in data)
    if inputs.dim() < 1 or targets.dim() < 1 or len(inputs) != len(targets):
        raise InputError(f"data must have as many inputs as targets, a row a person; got other shapes, {_WANTED}")
    return inputs, targets


def _dataset(data: Any) -> Any:
    if not (hasattr(data, "__getitem__") and hasattr(data, "__len__")) or isinstance(data, str | bytes | dict):
        raise ParameterError(f"data must be rows; got {type(data).__name__}, {_WANTED}", parameter="data")
    return data
