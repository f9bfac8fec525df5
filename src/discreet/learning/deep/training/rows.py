"""The rows of a training: tensors or a dataset, read at secret places into batches of a fixed, public shape."""

from __future__ import annotations

import random  # noqa: TID251  what datasets draw from it is made secret here
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from discreet.display import as_stated
from discreet.errors import InputError, MissingParameter, ParameterError
from discreet.learning.deep.clip import secret_masks
from discreet.randomness import words

_SHARED: Any = np.random  # noqa: TID251  as above
_PROCESSOR = torch.device("cpu")
_WANTED = "write data=(X, y), two tensors with a row a person, or a map-style torch Dataset. Nothing was spent."
_ARRAYS = (
    "write data=(torch.as_tensor(X), torch.as_tensor(y)) for arrays of numbers, with labels as codes from 0 on; "
    "DeepClassifier takes data frames and labels of other types. Nothing was spent."
)


@dataclass(frozen=True)
class RowShape:
    """The public shape of what one person has: inputs and targets, of `rows` rows where there are several."""

    sizes: tuple[tuple[int, ...], ...]
    types: tuple[Any, ...]

    @classmethod
    def of(cls, parts: Sequence[Any]) -> RowShape:
        """Return the shape of tensors."""
        return cls(tuple(tuple(part.shape) for part in parts), tuple(part.dtype for part in parts))

    def padding(self, slots: int) -> list[Any]:
        """Return inputs and targets of rows that nobody has: zeros."""
        return [torch.zeros((slots, *size), dtype=kind) for size, kind in zip(self.sizes, self.types, strict=True)]


class TrainingRows:
    """Private rows, one a person or, with `rows`, that many a person; `len` and all but `shape` are private.

    Floats become those of the model. A row of a dataset that cannot be read, or that has another shape or type than
    `example`, a made-up row, counts for nothing: were the shape that of a row, its person would decide which others
    count. What a dataset draws from the generators that torch, numpy and Python have for all begins at a new secret
    place in every row: a seed that the caller knows, or how much other rows have drawn, would tie rows together.
    """

    def __init__(
        self, data: Any, most: int, *, floats: Any = torch.float32, rows: int = 1, example: Any = None
    ) -> None:
        _refuse_loader(data)
        self._floats, self._rows = floats, _several(rows)
        self._tensors = _tensors(data)
        self._dataset: Any
        self._dataset, self._people = (data, _length(data)) if self._tensors is None else (None, len(self._tensors[0]))
        if len(self) > most:
            raise InputError(
                f"data must have at most {most:,} rows, on which the price rests; got more, write a random part of "
                "them, chosen row by row. Nothing was spent."
            )
        self.shape = self._stated_shape(example)
        if rows > 1 and any(size[:1] != (rows,) for size in self.shape.sizes):
            raise InputError(
                f"data must have shape (people, {rows}, ...), inputs and targets, where a person has {rows} rows; got "
                "other shapes, write X.reshape(people, rows, ...) with targets that count for nothing, such as -1, "
                "where a person has fewer. Nothing was spent."
            )

    def __len__(self) -> int:
        return self._people

    def __repr__(self) -> str:
        return "<TrainingRows: private>"

    @property
    def example(self) -> tuple[Any, Any]:
        """One row of zeros, of the public shape."""
        inputs, targets = self._flat(self.shape.padding(1))
        return inputs[:1], targets[:1]

    def batch(self, places: NDArray[np.int64], device: Any) -> tuple[Any, Any, Any]:
        """Return inputs, targets and which slots are taken: slot s holds the row at places[s], or nobody's if < 0."""
        present = torch.from_numpy(places >= 0)
        if self._tensors is not None:
            at = torch.from_numpy(np.maximum(places, 0))
            parts = [self._gathered(one, at, present) for one in self._tensors]
        else:
            parts = self.shape.padding(len(places))
            with _own_generators():
                for slot in np.flatnonzero(places >= 0):
                    row = self._read(int(places[slot]))
                    present[slot] = row is not None and RowShape.of(row) == self.shape
                    if row is not None and present[slot]:
                        parts[0][slot], parts[1][slot] = row
        inputs, targets = (one.to(device) for one in self._flat(parts))
        return inputs, targets, present.to(device)

    def _stated_shape(self, example: Any) -> RowShape:
        """Return the shape of a row: tensors have it without any row, for a dataset a made-up row says it."""
        if self._tensors is not None:
            if example is not None:
                raise ParameterError(
                    "example must be left out where data are tensors, which have a shape; got one, write data=(X, y) "
                    "alone. Nothing was spent.",
                    parameter="example",
                )
            seen = RowShape.of([one[:0] for one in self._tensors])
            return RowShape(tuple(size[1:] for size in seen.sizes), tuple(map(self._kept_type, seen.types)))
        stated = None if example is None else self._as_row(example)
        if stated is None:
            raise MissingParameter(
                "example must be a made-up row, inputs and a target, where data are a Dataset, because a shape taken "
                "from a row would tell about its person; got none, write example=(torch.zeros(4), 0), for example. "
                "Nothing was spent.",
                parameter="example",
            )
        return RowShape.of(stated)

    def _gathered(self, held: Any, at: Any, present: Any) -> Any:
        kind = self._kept_type(held.dtype)
        if not len(held):
            return torch.zeros((len(at), *held.shape[1:]), dtype=kind)
        absent = ~present.to(held.device).reshape(-1, *[1] * (held.dim() - 1))
        return held[at.to(held.device)].to(kind).masked_fill_(absent, 0)  # in place: rows were copied once already

    def _flat(self, parts: Sequence[Any]) -> list[Any]:
        """Return a row a line, also where a person has several."""
        return [one.flatten(0, 1) if self._rows > 1 else one for one in parts]

    def _kept_type(self, kind: Any) -> Any:
        return self._floats if kind.is_floating_point else kind

    def _read(self, place: int) -> tuple[Any, Any] | None:
        """Return the row at a place as tensors, None where it is no row."""
        _begin_anew()
        try:
            with secret_masks(_PROCESSOR):  # what is random about a row belongs to the row, whoever is read before it
                found = self._dataset[place]
        except Exception:  # whatever a foreign dataset raises: the row counts for nothing, and nobody is told
            return None
        return self._as_row(found)

    def _as_row(self, given: Any) -> tuple[Any, Any] | None:
        try:
            parts = [torch.as_tensor(one).detach() for one in given]
            inputs, target = (one.to(self._kept_type(one.dtype)) for one in parts)
        except Exception:
            return None
        return inputs, target


@contextmanager
def _own_generators() -> Iterator[None]:
    """Put the generators of numpy and Python back where they were: how far they have come tells of rows."""
    held, place, other = _SHARED.get_bit_generator(), _SHARED.get_state(legacy=False), random.getstate()
    try:
        yield
    finally:
        _SHARED.set_bit_generator(held)
        _SHARED.set_state(place)
        random.setstate(other)


def _begin_anew() -> None:
    """Let the generators of numpy and Python begin at a new secret place."""
    one, two, three = words(3).tolist()
    _SHARED.set_bit_generator(_SHARED.PCG64([one, two]))
    random.seed(three)


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
    if isinstance(data, np.ndarray) or hasattr(data, "columns"):  # its entries are no rows, or have no target
        raise ParameterError(
            f"data must be inputs and targets; got one {type(data).__name__}, {_ARRAYS}", parameter="data"
        )
    if not isinstance(data, tuple | list):
        return None
    if len(data) != 2:
        raise ParameterError(
            f"data must be two tensors; got a {type(data).__name__} of another length, {_WANTED}", parameter="data"
        )
    if not all(isinstance(one, torch.Tensor) for one in data):
        got = " and ".join(type(one).__name__ for one in data)
        raise ParameterError(f"data must be two tensors; got {got}, {_ARRAYS}", parameter="data")
    if any(one.layout is not torch.strided or one.is_nested or one.is_meta for one in data):
        raise ParameterError(f"data must be dense tensors; got another kind, {_WANTED}", parameter="data")
    inputs, targets = (one.detach() for one in data)
    if inputs.dim() < 1 or targets.dim() < 1 or len(inputs) != len(targets):
        raise InputError(f"data must have as many inputs as targets, a row a person; got other shapes, {_WANTED}")
    return inputs, targets


def _length(data: Any) -> int:
    """Return the private number of rows of a dataset, or raise an error where there is none."""
    if hasattr(data, "__getitem__") and hasattr(data, "__len__") and not isinstance(data, str | bytes | dict):
        with suppress(Exception):  # whatever a foreign dataset raises may be about its rows
            return len(data)
    raise ParameterError(f"data must be rows; got {type(data).__name__}, {_WANTED}", parameter="data")


def _several(rows: Any) -> int:
    if type(rows) is not int or rows < 1:
        raise ParameterError(
            f"rows must be a whole number, how many rows a person has; got {as_stated(rows)}, write rows=1. "
            "Nothing was spent.",
            parameter="rows",
        )
    return rows
