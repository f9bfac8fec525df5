"""One rule a query: its formula under each relation, why it holds, and two tables that attain it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from discreet.display import LastDigit, format_number
from discreet.privacy import Norm, Relation
from discreet.privacy.numbers import root_upward
from discreet.statistics.sensitivities.known_tables import KnownTables

Blocks = tuple[tuple[object, int], ...]
"""Rows and how often each occurs."""

_READABLE = 10_000  # a larger denominator is easier to read as a decimal


@dataclass(frozen=True, slots=True, repr=False)
class ExampleTable:
    """A table made of blocks of equal rows, so that a million rows are written in one line.

    >>> table = ExampleTable(((0, 3), (1, 1)))
    >>> table, len(table), list(table)
    (3 rows of 0 and 1 row of 1, 4, [0, 0, 0, 1])
    """

    blocks: Blocks

    def __len__(self) -> int:
        return sum(count * (len(row) if isinstance(row, range) else 1) for row, count in self.blocks)

    def __iter__(self) -> Iterator[object]:
        for row, count in self.blocks:
            for one in row if isinstance(row, range) else (row,):
                yield from (one for _ in range(count))

    def __repr__(self) -> str:
        return " and ".join(_block(row, count) for row, count in self.blocks if count and row != range(0)) or "no rows"


def _block(row: object, count: int) -> str:
    rows = f"{count:,} row{'' if count == 1 else 's'}"
    if isinstance(row, range):
        return f"{rows} of {row[0]:,}" if len(row) == 1 else f"{rows} of each of {row[0]:,} to {row[-1]:,}"
    return f"{rows} of {written(row)}"


def written(value: object) -> str:
    """Write a number as people do: a fraction of small numbers as it is, otherwise a few digits, rounded up.

    >>> written(Fraction(1, 3)), written(2**0.5), written((Fraction(3), 0))
    ('1/3', '1.41422', '(3, 0)')
    """
    if isinstance(value, tuple):
        return f"({', '.join(written(one) for one in value)})"
    if isinstance(value, Fraction) and value.denominator < _READABLE:
        return str(value)
    if isinstance(value, int | float | Fraction):
        return format_number(value, digits=6, rounding=LastDigit.UP)
    return str(value)


@dataclass(frozen=True, slots=True)
class Finding:
    """The least bound, exact where it is rational and else rounded up, and two neighbors that attain it."""

    value: Fraction | float
    first: ExampleTable
    second: ExampleTable


@dataclass(frozen=True, slots=True)
class Case:
    """What holds under one relation, for tables of at least `least_rows` rows where the size matters."""

    formula: str
    proof: str
    find: Callable[[KnownTables], Finding]
    least_rows: int = 1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rule:
    """Everything that is known about the sensitivity of one query.

    `needs` names the parameters of the domain beside the rows of one person. `norms` are those that mean something, the
    default first; None where the caller must choose. `integral` says that integer rows give integer answers.
    """

    name: str
    description: str
    add_remove: Case
    change_one: Case
    needs: tuple[str, ...] = ()
    norms: tuple[Norm, ...] = (Norm.L1, Norm.L2, Norm.LINF)
    norm_is_stated: bool = False
    integral: bool = True
    remark: str = ""

    def case(self, relation: Relation) -> Case:
        """Return what holds under a stated relation."""
        return self.add_remove if relation is Relation.ADD_REMOVE else self.change_one

    def __repr__(self) -> str:
        return self.description


def pair(value: Fraction | float, first: Blocks, second: Blocks) -> Finding:
    """Return a finding from the blocks of its two tables."""
    return Finding(value, ExampleTable(first), ExampleTable(second))


def root(square: Fraction | int) -> Fraction | float:
    """Return a square root: exactly where it is rational, else the least float above it.

    >>> root(Fraction(9, 4)), root(2)
    (Fraction(3, 2), 1.4142135623730951)
    """
    exact = Fraction(square)
    top, bottom = math.isqrt(exact.numerator), math.isqrt(exact.denominator)
    return Fraction(top, bottom) if Fraction(top, bottom) ** 2 == exact else root_upward(exact)
