"""Plans: what a query means, as immutable values free of any engine.

A plan has three levels. A `RowSource` is made from private tables, and each of its rows belongs to one unit of
protection. An `Aggregation` adds rows up by keys. A `PostProcessing` step works on released answers alone. Nothing
above an aggregation sees a row, nothing below it sees an answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from discreet.query.expression import Column, Expression, Value
from discreet.query.plan.row_sources import RowSource


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
    COUNT_DISTINCT = "COUNT(DISTINCT x)"
    SUM = "SUM"
    MEAN = "AVG"
    VARIANCE = "VARIANCE"
    DEVIATION = "STDDEV"
    QUANTILE = "QUANTILE"
    CORRELATION = "CORR"
    SLOPE = "REGR_SLOPE"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate as it was asked: `bounds` clip the argument; `level` belongs to quantiles (1/2 for MEDIAN).

    `second` is the other argument of CORR and REGR_SLOPE, clipped to `second_bounds`.
    """

    name: str
    kind: MeasureKind
    argument: Expression | None
    bounds: tuple[Fraction, Fraction] | None
    level: Fraction | None = None
    second: Expression | None = None
    second_bounds: tuple[Fraction, Fraction] | None = None


@dataclass(frozen=True, slots=True)
class Aggregation:
    """Rows added up by keys: the only node that touches private rows and whose result leaves, with noise."""

    source: RowSource
    keys: tuple[Key, ...]
    asked: tuple[Aggregate, ...]

    table: str = field(init=False, repr=False, compare=False)  # the first private table beneath
    public: bool = field(init=False, repr=False, compare=False)  # every key has a public domain: all groups are emitted

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", self.source.tables[0])
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
