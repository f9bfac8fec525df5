"""What an engine is asked: integer sums over bounded rows, in terms that no engine owns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.errors import UnknownName
from discreet.query.expression import Expression, Type, Value
from discreet.query.plan.query_plan import Key
from discreet.query.plan.row_sources import RowSource
from discreet.statistics.columns import FixedPoint

WEIGHT_BITS = 20
WEIGHT = 1 << WEIGHT_BITS


@dataclass(frozen=True, slots=True)
class Form:
    """How the rows of one unit are bounded: a rule that gives every row an integer weight of at most `one`."""


@dataclass(frozen=True, slots=True)
class EachRow(Form):
    """Every row has weight 1: rows are units, no unit has two rows, or the table was bounded beforehand."""


@dataclass(frozen=True, slots=True)
class RowWeights(Form):
    """Weight min(2^20, floor(rows 2^20 / n)) for a unit of n rows, counted after every filter and join."""

    rows: int


@dataclass(frozen=True, slots=True)
class NormWeights(Form):
    """Weight min(2^20, floor(rows 2^20 / ceil(sqrt(sum of squares of the unit's rows a group))))."""

    rows: int


@dataclass(frozen=True, slots=True)
class Groups(Form):
    """The `groups` groups of a unit with the smallest keyed hash; in each, weight min(2^20, floor(rows 2^20 / n))."""

    groups: int
    rows: int


@dataclass(frozen=True, slots=True)
class Cell:
    """An integer that every row adds to its group, times the row's weight."""


@dataclass(frozen=True, slots=True)
class One(Cell):
    """1 for every row."""


@dataclass(frozen=True, slots=True)
class Present(Cell):
    """1 where the argument is not NULL, else 0."""

    argument: Expression


@dataclass(frozen=True, slots=True)
class Steps(Cell):
    """The argument clipped and rounded to a grid, in steps above the lower bound: 0 .. scale.steps; NULL adds 0.

    `power` 2 adds the square. `offset` is added to the steps of a value that is there, before squaring.
    """

    argument: Expression
    scale: FixedPoint
    power: int = 1
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Paired(Cell):
    """The product of powers of two `Steps`, each 0, 1 or 2 and together at most 2; 0 where either value is NULL."""

    first: Steps
    second: Steps
    powers: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Units(Cell):
    """1 for every unit with a row in the group; only with the form `Groups`, or where a row is a unit."""


@dataclass(frozen=True, slots=True)
class UnitTotal(Cell):
    """What all rows of a unit add to `cell` in a group, clipped to `low` .. `high`; 0 for a unit without a value there.

    It stands beside weights, not under them: with the form `Groups`, or where no unit has two rows.

    Stability. A unit moves the cell by at most max(|low|, |high|) in each of at most `groups` groups, and in no other.
        Proof: the cell is a sum over units, and what a unit adds is a function of its own rows in the group; it is 0,
        or lies between `low` and `high`. The form keeps at most `groups` groups of a unit, chosen by its own rows.
    """

    cell: One | Present | Steps
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class SumRequest:
    """Sums of cells over bounded rows, by keys. `table` names a bounded table to be read instead of the private one."""

    source: RowSource
    keys: tuple[Key, ...]
    form: Form
    cells: tuple[Cell, ...]
    bounded: str | None = None


@dataclass(frozen=True, slots=True)
class ValuesRequest:
    """The number of different values of an argument in every group, NULL aside.

    By the form `Groups` a unit brings at most `groups` pairs of a group and a value, chosen as groups are; by `EachRow`
    every row brings its own.
    """

    source: RowSource
    keys: tuple[Key, ...]
    form: EachRow | Groups
    argument: Expression
    bounded: str | None = None


@dataclass(frozen=True, slots=True)
class HistogramRequest:
    """For quantiles: the weight of the rows of every group at every position of a grid."""

    source: RowSource
    keys: tuple[Key, ...]
    form: Form
    argument: Expression
    scale: FixedPoint
    bounded: str | None = None


Request = SumRequest | ValuesRequest | HistogramRequest


@dataclass(frozen=True, slots=True)
class Sums:
    """What an engine returns: one tuple of key values a group that has rows, and an integer for each cell. Private."""

    keys: list[tuple[Value, ...]]
    cells: list[list[int]]  # one list a cell, in the order of `keys`

    def __repr__(self) -> str:
        return "Sums(private)"


class Engine(ABC):
    """A leaf that runs requests on one kind of database; it adds no noise, raises nothing that depends on the data."""

    def has(self, table: str) -> bool:
        """Say whether the source has a table of this name."""
        try:
            self.schema(table)
        except UnknownName:
            return False
        return True

    @abstractmethod
    def schema(self, table: str) -> Mapping[str, Type]:
        """Return the columns of a table and their types, reading no row."""

    def unfit(self, table: str) -> Mapping[str, str]:  # noqa: ARG002  an engine without such columns needs no rule
        """Return the columns of a table whose type cannot name a unit (floats, lists, ...), and the type's name."""
        return {}

    @abstractmethod
    def text(self, request: Request) -> str:
        """Return the statement that `run` would execute."""

    @abstractmethod
    def run(self, request: SumRequest | ValuesRequest) -> Sums:
        """Return the exact sums, or the numbers of different values as the one cell."""

    @abstractmethod
    def histogram(self, request: HistogramRequest) -> dict[tuple[Value, ...], tuple[Any, Any]]:
        """Return for every group with rows the occupied positions, increasing, and their weights, as integer arrays."""

    @abstractmethod
    def rows(self, source: RowSource, columns: Sequence[str]) -> dict[str, Any]:
        """Return columns of rows, with the unit under the name "unit", as arrays that are the caller's own."""

    @abstractmethod
    def unique_violated(self, table: str, columns: Sequence[str]) -> bool:
        """Say whether two rows of a public table agree on columns that are declared unique; reads public data only."""

    def public_rows(self, table: str, columns: tuple[str, ...]) -> tuple[tuple[Value, ...], ...] | None:  # noqa: ARG002
        """Return columns of a public table, each row once, in order; None where they are too many, or not told."""
        return None

    @abstractmethod
    def bound(self, table: str, rows: int) -> str:
        """Make, once, a table with at most `rows` rows of each unit; return its name for `SumRequest.bounded`."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the database."""
