"""Plans: what a query means, as immutable values free of any engine.

A plan has three levels. A `RowSource` is made from private tables, and each of its rows belongs to one unit of
protection. An `Aggregation` adds rows up by keys. A `PostProcessing` step works on released answers alone. Nothing
above an aggregation sees a row, nothing below it sees an answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from discreet.query.expression import Column, Expression, Type, Value
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
        return self.expression.name if isinstance(self.expression, Column) else "expression in GROUP BY"


def gone(key: str) -> str:
    """Return the name of the column that is 1 where a total adds up all values of a key, else 0."""
    return f"#total {key}"


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

    `sums` clips what all rows of one unit add to a group, if that is asked for. `second` is the other argument of CORR
    and REGR_SLOPE, clipped to `second_bounds`.
    """

    name: str
    kind: MeasureKind
    argument: Expression | None
    bounds: tuple[Fraction, Fraction] | None
    level: Fraction | None = None
    sums: tuple[Fraction, Fraction] | None = None
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


class WindowKind(Enum):
    """What a window computes for a row of an answer from the rows beside it; the value is the word in SQL."""

    SUM = "SUM"
    MEAN = "AVG"
    COUNT = "COUNT"
    MIN = "MIN"
    MAX = "MAX"
    ROW_NUMBER = "ROW_NUMBER"
    RANK = "RANK"
    DENSE_RANK = "DENSE_RANK"
    PERCENT_RANK = "PERCENT_RANK"
    CUME_DIST = "CUME_DIST"
    NTILE = "NTILE"
    LAG = "LAG"
    LEAD = "LEAD"
    FIRST = "FIRST_VALUE"
    LAST = "LAST_VALUE"
    NTH = "NTH_VALUE"


_REAL_WINDOWS = (WindowKind.SUM, WindowKind.MEAN, WindowKind.PERCENT_RANK, WindowKind.CUME_DIST)


@dataclass(frozen=True, slots=True)
class AnswerWindow:
    """A window over an answer: a function of the rows of one partition, in an order.

    `frame` says which rows are added up, from and to places beside the row itself, None for an end of the partition;
    without a frame they are all rows up to those that the order does not tell from this one. `number` is how far LAG
    and LEAD look, which row NTH_VALUE takes, and how many parts NTILE makes.
    """

    kind: WindowKind
    argument: Expression | None
    partition: tuple[Expression, ...] = ()
    order: tuple[Order, ...] = ()
    frame: tuple[int | None, int | None] | None = None
    number: int = 1
    default: Value = None
    condition: Expression | None = None

    @property
    def type(self) -> Type:
        """The type of what it computes."""
        if self.kind in _REAL_WINDOWS:
            return Type.REAL
        return Type.INTEGER if self.argument is None or self.kind is WindowKind.COUNT else self.argument.type

    @property
    def read(self) -> tuple[Expression, ...]:
        """All expressions in it."""
        own = [one for one in (self.argument, self.condition) if one is not None]
        return (*own, *self.partition, *(one.expression for one in self.order))


@dataclass(frozen=True, slots=True)
class PostProcessing:
    """One step of post-processing: a selection from released rows, windows over it, columns, order and number.

    The windows see the rows that meet the condition; `kept` selects among rows with their windows; `distinct` leaves
    out rows whose columns another one has; then rows are put in order, the first `offset` are skipped, and `limit` cut.

    Privacy. Costs nothing: it is a function of what was released already.
    """

    columns: tuple[tuple[str, Expression], ...]
    condition: Expression | None
    order: tuple[Order, ...]
    limit: int | None
    windows: tuple[tuple[str, AnswerWindow], ...] = ()
    kept: Expression | None = None
    distinct: bool = False
    offset: int = 0

    @property
    def computed(self) -> tuple[Expression, ...]:
        """All expressions in it."""
        conditions = [one for one in (self.condition, self.kept) if one is not None]
        within = [one for _, window in self.windows for one in window.read]
        return (*conditions, *within, *(one.expression for one in self.order), *(one for _, one in self.columns))


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """A whole query: one aggregation and the steps of post-processing on its answer, in order.

    `totals` lists the grouping sets of ROLLUP and the like, each by the places of the keys that it keeps: the release
    is by all keys, and what has fewer is added up from it.
    """

    aggregation: Aggregation
    finish: tuple[PostProcessing, ...]
    totals: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class UnionOfAnswers:
    """Several queries whose answers are put together after the noise: each is a release of its own."""

    parts: tuple[QueryPlan, ...]
    step: PostProcessing
