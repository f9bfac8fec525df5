"""Plans: what a query means, as immutable values free of any engine.

A plan has three levels. A `RowSource` is made from one private table by filters, projections and joins with public
tables; each row belongs to one unit of protection. An `Aggregation` adds rows up by keys. A `PostProcessing` step works
on released answers alone. Nothing above an aggregation sees a row, nothing below it sees an answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from discreet.query.expression import Column, Expression, Type, Value


@dataclass(frozen=True, slots=True)
class RowSource:
    """Rows of one private table, each with its unit; what is derived from them keeps the unit."""


@dataclass(frozen=True, slots=True)
class Scan(RowSource):
    """All rows of a private table whose unit is not NULL.

    The key that a link leads to should be unique: then every row has one unit at most. Where it is not, a row that
    reaches several units is there once for each of them, and once only, however many rows lead to the same unit.

    Stability. Removing a unit, which is removing its rows from the table that holds the unit, removes that unit's rows
    and changes no other. A row that reaches no other unit is then gone; one that reaches others stays, as theirs.
        Proof: rows are read one by one. Where the unit is reached through links, a row is joined with the distinct
        pairs of a key and a unit that it leads to; a joined row carries the unit of its pair, and the pairs of other
        units are made from the rows of those units, so only joined rows of the removed unit disappear.
    """

    table: str


@dataclass(frozen=True, slots=True)
class FilterRows(RowSource):
    """The rows for which a condition is true (not NULL).

    Stability. As the source: whether a row is kept depends on that row alone.
    """

    source: RowSource
    condition: Expression


@dataclass(frozen=True, slots=True)
class Project(RowSource):
    """Rows with other columns, each computed from the row.

    Stability. As the source: one row gives one row of the same unit.
    """

    source: RowSource
    columns: tuple[tuple[str, Expression], ...]


class JoinKind(Enum):
    """What happens to a row without a match: dropped, or kept with NULLs."""

    INNER = "inner"
    LEFT = "left"


@dataclass(frozen=True, slots=True)
class PublicJoin(RowSource):
    """Rows with the columns of the one row of a public table that has the same key.

    `keys` pairs an expression over the source with a column of the public table; together those columns are declared
    unique. `columns` pairs the name of a new column with one of the public table's.

    Stability. As the source: a unique key matches at most one public row, so one row gives at most one row.
    """

    source: RowSource
    table: str
    keys: tuple[tuple[Expression, str], ...]
    columns: tuple[tuple[str, str, Type], ...]
    kind: JoinKind


@dataclass(frozen=True, slots=True)
class Key:
    """A grouping key: its name in the answer, how it is computed, and its public domain or None for a private key."""

    name: str
    expression: Expression
    domain: tuple[Value, ...] | None

    @property
    def label(self) -> str:
        """The name for messages; a key that is not shown in the answer is called by its column, if it is one."""
        if not self.name.startswith("#"):
            return self.name
        return self.expression.name if isinstance(self.expression, Column) else "an expression in GROUP BY"


class MeasureKind(Enum):
    """What can be asked about a group; the value is the word in SQL."""

    COUNT_ROWS = "COUNT(*)"
    COUNT_VALUES = "COUNT(x)"
    COUNT_UNITS = "COUNT(DISTINCT unit)"
    SUM = "SUM"
    MEAN = "AVG"
    VARIANCE = "VARIANCE"
    DEVIATION = "STDDEV"
    QUANTILE = "QUANTILE"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate as it was asked: `bounds` clip the argument; `level` belongs to quantiles (1/2 for MEDIAN)."""

    name: str
    kind: MeasureKind
    argument: Expression | None
    bounds: tuple[Fraction, Fraction] | None
    level: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Aggregation:
    """Rows added up by keys: the only node that touches private rows and whose result leaves, with noise."""

    source: RowSource
    keys: tuple[Key, ...]
    asked: tuple[Aggregate, ...]

    table: str = field(init=False, repr=False, compare=False)  # the private table beneath
    public: bool = field(init=False, repr=False, compare=False)  # every key has a public domain: all groups are emitted

    def __post_init__(self) -> None:
        rows = self.source
        while not isinstance(rows, Scan):
            rows = rows.source  # type: ignore[attr-defined]
        object.__setattr__(self, "table", rows.table)
        object.__setattr__(self, "public", None not in [key.domain for key in self.keys])


@dataclass(frozen=True, slots=True)
class Order:
    """One term of ORDER BY over the released table."""

    expression: Expression
    descending: bool


@dataclass(frozen=True, slots=True)
class PostProcessing:
    """One step of post-processing: a selection from released rows, their order and number.

    Privacy. Costs nothing: it is a function of what was released already.
    """

    columns: tuple[tuple[str, Expression], ...]
    condition: Expression | None
    order: tuple[Order, ...]
    limit: int | None


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """A whole query: one aggregation and the steps of post-processing on its answer, in order."""

    aggregation: Aggregation
    finish: tuple[PostProcessing, ...]
