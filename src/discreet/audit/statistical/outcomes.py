"""Whatever a mechanism puts out, as columns of numbers and columns of codes that an audit can count."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
_COLUMNS = 64
_WORDS = 2000
_DEPTH = 6
UNSEEN = -1


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Runs as a matrix of numbers, NaN where a run has none, and a matrix of codes for everything else."""

    numbers: Floats
    codes: Codes

    def __len__(self) -> int:
        return len(self.numbers)

    def part(self, start: int, stop: int | None = None) -> Outcomes:
        """Return some of the runs."""
        return Outcomes(self.numbers[start:stop], self.codes[start:stop])

    def turned(self, start: int) -> Outcomes:
        """Return the runs from one on, and after them those before it."""
        return Outcomes.joined([self.part(start), self.part(0, start)])

    @classmethod
    def joined(cls, parts: list[Outcomes]) -> Outcomes:
        """Put runs after one another."""
        return cls(np.concatenate([one.numbers for one in parts]), np.concatenate([one.codes for one in parts]))


@dataclass(slots=True)
class Raised:
    """An error that a run ended with: an outcome of its own, told by its type and its text."""

    text: str


@dataclass
class Encoder:
    """How outputs become columns: learned from early runs of both inputs and kept for all later ones.

    Numbers and truth values are columns; the type, the lengths and the keys of an output, its texts and the error it
    ended with are codes, one for each text among the early runs and one for all others. Outputs longer than 64 numbers
    keep the columns whose means differ most, and their sum.
    """

    width: int = 1
    kept: Codes | None = None
    words: list[dict[str, int]] = field(default_factory=list)

    @classmethod
    def fitted(cls, first: Any, second: Any) -> Encoder:
        """Learn from runs of both inputs."""
        encoder = cls()
        if is_numeric(first) and is_numeric(second):
            encoder.width = max(_flat(first).shape[1], _flat(second).shape[1], 1)
        else:
            flat = [flattened(output) for runs in (first, second) for output in listed(runs)]
            encoder.width = max((len(numbers) for _, numbers, _ in flat), default=0)
            texts = max((len(words) for _, _, words in flat), default=0)
            encoder.words = [_vocabulary(form for form, _, _ in flat)]
            for place in range(min(texts, _COLUMNS)):
                encoder.words.append(_vocabulary(words[place] for _, _, words in flat if place < len(words)))
        if encoder.width > _COLUMNS:
            encoder._choose(encoder.encode(first).numbers, encoder.encode(second).numbers)
        return encoder

    def encode(self, runs: Any) -> Outcomes:
        """Turn runs into columns."""
        if is_numeric(runs) and not self.words:
            return Outcomes(self._fit_width(_flat(runs)), np.empty((len(runs), 0), dtype=np.int64))
        flat = [flattened(output) for output in listed(runs)]
        numbers = np.full((len(flat), self.width), np.nan)
        codes = np.full((len(flat), len(self.words)), UNSEEN, dtype=np.int64)
        for row, (form, values, words) in enumerate(flat):
            kept = values[: self.width]
            numbers[row, : len(kept)] = kept
            for place, word in enumerate((form, *words)[: len(self.words)]):
                codes[row, place] = self.words[place].get(word, UNSEEN)
        return Outcomes(self._fit_width(numbers), codes)

    def _fit_width(self, numbers: Floats) -> Floats:
        """Cut or fill rows to the width learned, and keep the columns chosen."""
        missing = self.width - numbers.shape[1]
        if missing:
            numbers = np.pad(numbers, ((0, 0), (0, max(missing, 0))), constant_values=np.nan)[:, : self.width]
        if self.kept is None:
            return numbers
        return np.column_stack([numbers[:, self.kept], np.nansum(numbers, axis=1)])

    def _choose(self, first: Floats, second: Floats) -> None:
        """Keep the columns whose means differ most, in standard errors."""
        with np.errstate(all="ignore"):
            columns = [np.where(np.isfinite(one), one, 0.0) for one in (first, second)]
            spread = np.sqrt(sum(one.var(axis=0) / len(one) for one in columns)) + 1e-300
            distance = np.abs(columns[0].mean(axis=0) - columns[1].mean(axis=0)) / spread
        self.kept = np.sort(np.argsort(-np.nan_to_num(distance))[: _COLUMNS - 1])


def collected(mechanism: Callable[[Any], Any], value: Any, draws: int, *, one_by_one: bool = False) -> Any:
    """Run on one input: all at once where the mechanism has `runs`, one by one otherwise; an error is an outcome.

    None says that running all at once raised an error, or gave another number of rows. That is one event for many runs,
    not an outcome of each.
    """
    many = getattr(mechanism, "runs", None)
    if callable(many) and not one_by_one:
        try:
            return _rows(many(value, draws), draws)
        except Exception:
            return None
    return [run_once(mechanism, value) for _ in range(draws)]


def run_once(mechanism: Callable[[Any], Any], value: Any) -> Any:
    """Return the output of one run, in the form in which outputs leave, or the error that it ended with."""
    try:
        return getattr(mechanism, "wire", mechanism)(value)
    except Exception as error:
        return Raised(f"{type(error).__name__}: {_printed(error)}")


def _rows(batch: Any, draws: int) -> Any:
    """Return a batch as an array or a list, or None where it has not one row a run."""
    if not isinstance(batch, np.ndarray):
        batch = batch.to_numpy() if hasattr(batch, "to_numpy") else list(batch)
    return batch if len(batch) == draws else None


def flattened(output: Any) -> tuple[str, list[float], list[str]]:
    """Return the form of an output in words, its numbers and its texts, in the order in which they stand."""
    numbers: list[float] = []
    texts: list[str] = []
    try:
        return _form(output, numbers, texts, _DEPTH), numbers, texts
    except Exception:  # an object that fails when it is read is told by its type
        return f"{type(output).__name__} that cannot be read", [], []


def _form(output: Any, numbers: list[float], texts: list[str], depth: int) -> str:  # noqa: PLR0911  one a kind
    """Describe types, shapes and keys, and collect the leaves."""
    kind = type(output).__name__
    if isinstance(output, Raised):
        return f"error {output.text}"
    if output is None:
        return kind
    if isinstance(output, str | bytes):
        texts.append(repr(output))
        return f"{kind} of length {len(output)}"
    if isinstance(output, np.ndarray):
        return _array_form(output, numbers, texts, depth)
    if isinstance(output, complex | np.complexfloating):
        numbers += [float(output.real), float(output.imag)]
        return kind
    if depth > 0 and isinstance(output, dict):
        entries = sorted(output.items(), key=lambda item: repr(item[0]))
        return f"dict {{{', '.join(f'{key!r}: {_form(one, numbers, texts, depth - 1)}' for key, one in entries)}}}"
    if depth > 0 and isinstance(output, list | tuple | set | frozenset):
        listed = sorted(output, key=repr) if isinstance(output, set | frozenset) else output
        return f"{kind} ({', '.join(_form(one, numbers, texts, depth - 1) for one in listed)})"
    try:
        numbers.append(_number(output))
    except Exception:  # whatever cannot be a number is told by how it prints
        texts.append(_printed(output))
    return kind


def _array_form(output: NDArray[Any], numbers: list[float], texts: list[str], depth: int) -> str:
    """Describe an array and collect its entries."""
    if output.dtype.kind in "biuf":
        numbers.extend(np.asarray(output, dtype=np.float64).ravel().tolist())
    elif depth > 0:
        for one in output.ravel().tolist():
            _form(one, numbers, texts, depth - 1)
    return f"array of {output.dtype}, shape {output.shape}"


def _number(output: Any) -> float:
    """Return a number as a float; integers beyond all floats are infinite."""
    try:
        return float(output)
    except OverflowError:
        return math.inf if output > 0 else -math.inf


def _printed(output: Any) -> str:
    """Return how an object prints, without the address some put there."""
    try:
        return repr(output).split(" at 0x")[0]
    except Exception:
        return type(output).__name__


def is_numeric(runs: Any) -> bool:
    """Say whether runs are an array of plain numbers, one row a run."""
    return isinstance(runs, np.ndarray) and runs.ndim >= 1 and runs.dtype.kind in "biuf"


def _flat(runs: NDArray[Any]) -> Floats:
    """Return an array of runs as a matrix."""
    return np.asarray(runs, dtype=np.float64).reshape(len(runs), -1)


def listed(runs: Any) -> list[Any]:
    """Return runs one by one, rows of an array as tuples.

    The type of an array is one for all of its rows, and one odd row changes it: it is no outcome of a run, and the
    numbers of arrays of every type come out alike.
    """
    if not isinstance(runs, np.ndarray):
        return list(runs)
    if runs.ndim > 1:
        return [tuple(_plain(one) for one in row) for row in runs.reshape(len(runs), -1).tolist()]
    return [_plain(one) for one in runs.tolist()]


def _plain(entry: Any) -> Any:
    """Return a real number of an array as a float, and anything else as it is."""
    return _number(entry) if isinstance(entry, bool | int | float | np.bool_ | np.integer | np.floating) else entry


def _vocabulary(words: Iterable[str]) -> dict[str, int]:
    """Number the words that are seen most often."""
    return {word: code for code, (word, _) in enumerate(Counter(words).most_common(_WORDS))}
