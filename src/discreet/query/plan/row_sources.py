"""The rows of a plan: for every unit of protection a bag of rows, made from tables by nodes that keep units apart.

Every node is *local*: the rows of a unit u are made from the rows of u in the private tables beneath and from public
tables, by a rule that does not know u; and from no rows of u there come none.

Stability. Removing a unit removes its rows from every source and changes those of no other unit.
    Proof: `Scan` says what becomes of a table: the rows of the unit are gone, those of any other unit are what they
    were. By locality the rows of another unit are made from the same rows as before, those of the unit from none.

How often a row of a unit is used does not matter: bounding comes last, and looks at the rows of one unit at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from discreet.query.expression import Expression, Type
from discreet.statistics.columns import FixedPoint


@dataclass(frozen=True, slots=True)
class RowSource:
    """Rows of private tables, each with its unit; what is derived from them keeps the unit."""

    @property
    def sources(self) -> tuple[RowSource, ...]:
        """The rows directly beneath."""
        return ()

    @property
    def read(self) -> tuple[Expression, ...]:
        """The expressions that this step reads of the rows beneath."""
        return ()

    @property
    def single(self) -> bool:
        """Whether no unit has more than one row here, whatever the data."""
        return False

    def steps(self) -> Iterator[RowSource]:
        """Yield this step and all beneath, those of a first source before those of a second."""
        yield self
        for source in self.sources:
            yield from source.steps()

    @property
    def tables(self) -> tuple[str, ...]:
        """The private tables beneath, each once, in the order in which they are read."""
        return tuple(dict.fromkeys(one.table for one in self.steps() if isinstance(one, Scan)))

    @property
    def plain(self) -> bool:
        """Whether these are rows of one table, each once at most: filters, projections and public joins alone."""
        return all(isinstance(one, Scan | FilterRows | Project | PublicJoin) for one in self.steps())


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

    @property
    def sources(self) -> tuple[RowSource, ...]:
        """The rows that are filtered."""
        return (self.source,)

    @property
    def read(self) -> tuple[Expression, ...]:
        """The condition."""
        return (self.condition,)

    @property
    def single(self) -> bool:
        """As the source: no row is added."""
        return self.source.single


@dataclass(frozen=True, slots=True)
class Project(RowSource):
    """Rows with other columns, each computed from the row.

    Stability. As the source: one row gives one row of the same unit.
    """

    source: RowSource
    columns: tuple[tuple[str, Expression], ...]

    @property
    def sources(self) -> tuple[RowSource, ...]:
        """The rows from which columns are computed."""
        return (self.source,)

    @property
    def read(self) -> tuple[Expression, ...]:
        """The columns."""
        return tuple(expression for _, expression in self.columns)

    @property
    def single(self) -> bool:
        """As the source: one row gives one row."""
        return self.source.single


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

    @property
    def sources(self) -> tuple[RowSource, ...]:
        """The private rows."""
        return (self.source,)

    @property
    def read(self) -> tuple[Expression, ...]:
        """The private side of the keys."""
        return tuple(expression for expression, _ in self.keys)

    @property
    def single(self) -> bool:
        """As the source: one row gives at most one row."""
        return self.source.single


class MatchKind(Enum):
    """What becomes of a row and of its matches among other rows of its unit."""

    INNER = "inner"  # the row once for every match, with the columns of the match
    LEFT = "left"  # the same; a row without a match once, with NULLs
    SEMI = "semi"  # a row that has a match, once, as it is
    ANTI = "anti"  # a row that has none, as it is


@dataclass(frozen=True, slots=True)
class PrivateJoin(RowSource):
    """Rows matched with other private rows of the same unit for which a condition is true.

    `columns` pairs the name of a new column with one of the other rows; the condition is over the columns of the source
    and the new names, and there is none where all rows of a unit match each other.

    Stability. Local, if both sources are: two rows match only if they belong to one unit, whatever the condition says
    and whatever key the data hold, so that a joined row belongs to that unit.
        Proof: the engine adds the equality of the two units to the condition. So the rows of u are those that the join
        of the two bags of u gives. For all four kinds each is made from a row of the source: from none come none.
        Links need no proof of their own: the unit of a row is what `Scan` says, and a key that is equal in rows of two
        units does not make them match. A row that is linked to two units is two rows, each matching its own unit's.
        A row joined with k others is there k times, all of them of the unit, and is bounded with it.
    """

    source: RowSource
    other: RowSource
    columns: tuple[tuple[str, str, Type], ...]
    condition: Expression | None
    kind: MatchKind

    @property
    def sources(self) -> tuple[RowSource, ...]:
        """The two sides."""
        return self.source, self.other

    @property
    def read(self) -> tuple[Expression, ...]:
        """The condition."""
        return () if self.condition is None else (self.condition,)

    @property
    def single(self) -> bool:
        """Where both sides are, at most one pair is there; a row that is kept as it is was there before."""
        return self.source.single and (self.kind in (MatchKind.SEMI, MatchKind.ANTI) or self.other.single)


class UnitValueKind(Enum):
    """What is computed of the rows of one unit; the value is the word in SQL."""

    COUNT_ROWS = "COUNT(*)"
    COUNT_VALUES = "COUNT(x)"
    COUNT_DISTINCT = "COUNT(DISTINCT x)"
    SUM = "SUM"
    MEAN = "AVG"
    MIN = "MIN"
    MAX = "MAX"
    ANY = "BOOL_OR"
    ALL = "BOOL_AND"


@dataclass(frozen=True, slots=True)
class UnitValue:
    """One number, date or text of a unit's rows: a function of the bag of rows, in whatever order they come.

    NULLs are left out; of no values the count is 0, and everything else NULL. Where `scale` is given, a value is
    clipped to its ends and rounded to its grid before it is added, halves to even; the sum is a whole number of steps,
    which is then read as a real number: the nearest float to that number of steps, times the grid. A mean is the sum,
    read so, divided by the number of values, in one division of floats. Without a scale the values are integers, and
    are added as such. A sum of more than 64 bits is NULL. The two zeros of reals are one value, 0.
    """

    name: str
    kind: UnitValueKind
    argument: Expression | None
    type: Type
    scale: FixedPoint | None = None


@dataclass(frozen=True, slots=True)
class PerUnit(RowSource):
    """One row for every unit, or for every unit and combination of keys, made from the rows that it has.

    Stability. Local, if the source is. Without keys no unit has more than one row.
        Proof: rows are grouped by their unit first, and a value of a group is a function of the bag of its rows alone:
        no float is added to another, so that no order matters. A unit without rows has no group.
    """

    source: RowSource
    keys: tuple[tuple[str, Expression], ...]
    values: tuple[UnitValue, ...]

    @property
    def sources(self) -> tuple[RowSource, ...]:
        """The rows that are grouped."""
        return (self.source,)

    @property
    def read(self) -> tuple[Expression, ...]:
        """The keys and the arguments."""
        arguments = [one.argument for one in self.values if one.argument is not None]
        return (*(expression for _, expression in self.keys), *arguments)

    @property
    def single(self) -> bool:
        """Without keys beside the unit there is one group a unit."""
        return not self.keys


@dataclass(frozen=True, slots=True)
class UnionAll(RowSource):
    """The rows of several sources that have columns of the same names and types.

    Stability. Local, if all parts are: the rows of a unit are those that it has in the parts, together.
    """

    parts: tuple[RowSource, ...]
    columns: tuple[tuple[str, Type], ...]

    @property
    def sources(self) -> tuple[RowSource, ...]:
        """The parts."""
        return self.parts
