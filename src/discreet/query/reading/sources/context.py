"""What is known while one query is read, and how whoever reads a part of it has another part read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from discreet.errors import UnsupportedSQL
from discreet.query.expression import Interval, Type
from discreet.query.plan import RowSource, Scan
from discreet.query.policy import Policy, UnitColumn, UnitIsRow
from discreet.query.reading.answers import Released
from discreet.query.reading.keys import KeyValues
from discreet.query.reading.rows import ReadableRows

MOST_TABLES = 12
Known = Mapping[str, ReadableRows | Released]


@dataclass(slots=True)
class Context(ABC):
    """What is known while one query is read."""

    policy: Policy
    bounds: dict[str, Interval]
    keys: KeyValues
    sums: dict[str, Interval]  # what one unit adds to a group, by the name of an aggregate or its text
    used: set[str] = field(default_factory=set)  # names in bounds, keys and sums that the query has
    columns: list[str] = field(default_factory=list)  # of all tables that are read
    read: set[str] = field(default_factory=set)  # the names of WITH that are read
    within: str = ""  # the view that is being read

    @abstractmethod
    def item(self, node: exp.Expr, known: Known) -> ReadableRows | Released:
        """Return what stands in FROM: a table, a name of WITH, or a SELECT in brackets."""

    @abstractmethod
    def inner(self, node: exp.Expr, known: Known) -> ReadableRows | Released:
        """Return what a SELECT in brackets gives."""

    def private(self, node: exp.Expr, known: Known, otherwise: str) -> ReadableRows:
        """Return rows of people that stand in FROM; answers are refused with the words for it."""
        found = self.item(node, known)
        if isinstance(found, Released):
            raise UnsupportedSQL(otherwise)
        return found

    def check_number(self, *sources: RowSource) -> None:
        """Refuse more private tables than are read in one query; asked wherever rows meet, so that names do not double.

        A name of WITH stands for all rows beneath it, wherever it is written.
        """
        if sum(isinstance(one, Scan) for source in sources for one in source.steps()) > MOST_TABLES:
            raise UnsupportedSQL(
                f"At most {MOST_TABLES} private tables are read in one query, counted as they are written: rows of a "
                f"{self.policy.unit} who has many multiply in every join. Ask in several queries."
            )

    def check_one_unit(self, *sources: ReadableRows) -> None:
        """Refuse rows that do not meet along one unit: a row that is a unit of its own, and units of other types."""
        self.check_number(*(one.rows for one in sources))
        kinds: dict[Type, str] = {}
        for table in dict.fromkeys(table for one in sources for table in one.rows.tables):
            kind = self._type_of_unit(table)
            if kind is None:
                raise UnsupportedSQL(
                    f"Every row of {table!r} is a {self.policy.unit} of its own, so it has no rows in common with "
                    "others. Ask about it by itself."
                )
            kinds.setdefault(kind, table)
        if len(kinds) > 1:
            (one, first), (two, second) = list(kinds.items())[:2]
            raise UnsupportedSQL(
                f"The {self.policy.unit} of {first!r} is of type {one.value} and that of {second!r} of type "
                f"{two.value}, so the same one is not recognized. The curator declares one type for both."
            )

    def _type_of_unit(self, table: str) -> Type | None:
        """Return the type of the column that names the unit of a table, along its links; None where a row is one."""
        held = self.policy.tables[table]
        passed = {table}
        while not isinstance(held.unit, UnitColumn | UnitIsRow):
            following = held.unit.table
            if following in passed or following not in self.policy.tables:
                return None
            passed.add(following)
            held = self.policy.tables[following]
        if isinstance(held.unit, UnitIsRow) or held.unit.column not in held.columns:
            return None
        return held.columns[held.unit.column].type
