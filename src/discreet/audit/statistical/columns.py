"""What can be read off a run: special values, patterns of them, values in between, and differences of neighbors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.statistical.outcomes import Codes, Floats, Outcomes

_FREQUENT = 0.004
_LEAST_SEEN = 8
_MOST_ATOMS = 40
_LOOKED_AT = 60_000
_FIRST_ATOM = 4
_MULTIPLIER = 1_000_003
BETWEEN, MISSING, PLUS_INFINITY, MINUS_INFINITY = range(_FIRST_ATOM)


@dataclass(frozen=True)
class Columns:
    """The special values of each column, which columns belong together, and which may share what is learned.

    A value that many runs share is an atom of its column; NaN and infinities are atoms too. Outputs as long as the
    inputs, or a multiple of it, fall into blocks of that length; columns of a block whose entries are equal on both
    inputs form a group, because nothing but their position tells them apart.
    """

    atoms: tuple[Floats, ...]
    blocks: tuple[tuple[int, ...], ...]
    groups: tuple[tuple[int, ...], ...]

    @classmethod
    def fitted(cls, first: Outcomes, second: Outcomes, inputs: tuple[Any, Any]) -> Columns:
        """Learn from runs of both inputs."""
        sides = [one.part(0, _LOOKED_AT).numbers for one in (first, second)]
        width = sides[0].shape[1]
        alone = [_atoms([side[:, column] for side in sides]) for column in range(width)]
        entries = _entries(inputs)
        length = len(entries) if entries and width % len(entries) == 0 else max(width, 1)
        blocks = tuple(tuple(range(start, start + length)) for start in range(0, width, length))
        kinds = list(dict.fromkeys(entries)) if entries and length == len(entries) else []
        groups = blocks
        if kinds:
            groups = tuple(
                tuple(column for column, entry in zip(block, entries, strict=True) if entry == kind)
                for block in blocks
                for kind in kinds
            )
        # columns that share what is learned must agree on what is special
        atoms = {column: _together([alone[one] for one in group]) for group in groups for column in group}
        return cls(tuple(atoms[column] for column in range(width)), blocks, groups)

    def kinds(self, numbers: Floats) -> Codes:
        """Return for each number which atom of its column it is, or that it lies between them."""
        kinds = np.zeros(numbers.shape, dtype=np.int64)
        for column, atoms in enumerate(self.atoms):
            values = numbers[:, column]
            if len(atoms):
                place = np.minimum(np.searchsorted(atoms, values), len(atoms) - 1)
                kinds[:, column] = np.where(atoms[place] == values, place + _FIRST_ATOM, BETWEEN)
            finite = np.isfinite(values)
            if not finite.all():
                odd = np.where(np.isnan(values), MISSING, np.where(values > 0, PLUS_INFINITY, MINUS_INFINITY))
                kinds[:, column] = np.where(finite, kinds[:, column], odd)
        return kinds

    @property
    def discrete(self) -> bool:
        """Whether every column has atoms."""
        return all(len(atoms) for atoms in self.atoms)


class View:
    """Runs as the columns show them; what several scores look at is computed once."""

    def __init__(self, outcomes: Outcomes, columns: Columns) -> None:
        self.outcomes, self.columns = outcomes, columns

    def __len__(self) -> int:
        return len(self.outcomes)

    def part(self, start: int, stop: int | None = None) -> View:
        """Return some of the runs, with what was computed of them."""
        view = View(self.outcomes.part(start, stop), self.columns)
        for name in ("kinds", "differences"):
            if name in self.__dict__:
                view.__dict__[name] = self.__dict__[name][start:stop]
        return view

    @property
    def numbers(self) -> Floats:
        """The numbers as they are."""
        return self.outcomes.numbers

    @cached_property
    def kinds(self) -> Codes:
        """Which atom each number is."""
        return self.columns.kinds(self.outcomes.numbers)

    @cached_property
    def differences(self) -> Floats:
        """Each number less the one before it."""
        return differences(self.outcomes.numbers, self.columns.blocks)


def pattern(codes: Codes) -> Codes:
    """Return one code for each row of codes: equal rows have equal codes, unequal ones almost always unequal ones."""
    mixed = np.zeros(len(codes), dtype=np.int64)
    with np.errstate(over="ignore"):
        for column in range(codes.shape[1]):
            mixed = mixed * _MULTIPLIER + codes[:, column] + 7
            mixed ^= mixed >> 29
    return mixed


def counted(kinds: Codes, columns: Sequence[int]) -> Codes:
    """Return how many of the columns of a group show each kind of value, as one code a row."""
    return pattern(np.sort(kinds[:, list(columns)], axis=1))


def differences(numbers: Floats, blocks: Sequence[Sequence[int]]) -> Floats:
    """Return each column less the one before it in its block: what running totals were added up from."""
    changed = numbers.copy()
    with np.errstate(invalid="ignore"):
        for block in blocks:
            changed[:, list(block[1:])] = numbers[:, list(block[1:])] - numbers[:, list(block[:-1])]
    return changed


def finest_bit(values: Floats) -> Floats:
    """Return the exponent of the lowest bit that is set in each float: which grid of a power of two it lies on."""
    finite = np.where(np.isfinite(values), values, 0.0)
    fraction, exponent = np.frexp(finite)
    digits = np.abs(fraction * 2.0**53).astype(np.int64)
    lowest = digits & -digits
    place = np.where(lowest > 0, np.log2(np.maximum(lowest, 1).astype(np.float64)), 1074.0)
    return np.where(np.isfinite(values), place - 53.0 + exponent, 2000.0)


def _atoms(sides: list[Floats]) -> Floats:
    """Return the finite values that one side shows often, all of them where there are few."""
    found: list[Floats] = []
    for values in sides:
        distinct, counts = np.unique(values[np.isfinite(values)], return_counts=True)
        few = len(distinct) <= min(_MOST_ATOMS, len(values) // _LEAST_SEEN)
        often = counts >= (1 if few else max(_FREQUENT * len(values), _LEAST_SEEN))
        found.append(distinct[often])
    return _together(found)


def _together(found: list[Floats]) -> Floats:
    """Return the values of several columns, or none where there are too many to be special."""
    values = np.unique(np.concatenate(found))
    return values if len(values) <= 2 * _MOST_ATOMS else np.empty(0)


def _entries(inputs: tuple[Any, Any]) -> list[tuple[Any, Any]]:
    """Return the entries of two equally long vectors side by side, or nothing."""
    try:
        first, second = (np.asarray(value) for value in inputs)
        if first.ndim != 1 or first.shape != second.shape or len(first) < 2 or first.dtype.kind not in "biuf":
            return []  # one entry says nothing about which outputs belong together
        return list(zip(first.tolist(), second.tolist(), strict=True))
    except Exception:  # inputs may be anything at all
        return []


def tally(codes: Codes, known: Codes) -> NDArray[np.int64]:
    """Return the place of each code among the sorted known ones, and their number for one that is not known."""
    if not len(known):
        return np.zeros(len(codes), dtype=np.int64)
    place = np.minimum(np.searchsorted(known, codes), len(known) - 1)
    return np.where(known[place] == codes, place, len(known)).astype(np.int64)
