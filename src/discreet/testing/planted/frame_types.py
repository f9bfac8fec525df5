"""A fault in frames: the type of a column follows from its values, so that one person's cell changes it."""

from __future__ import annotations

from functools import partial
from typing import Any

from discreet._optional import optional
from discreet.audit import Level
from discreet.privacy import Relation
from discreet.query import Type
from discreet.query.frames import frame_table
from discreet.statistics import Count
from discreet.testing.planted.fault import Planted


class DeclaredType(Count):
    """Counts the cells of a column that fit its declared type, and tells the type, as `Session.tables` does."""

    def measure(self, value: Any) -> int:
        """Count what is not missing."""
        column = self._column(value)
        return len(column) - int(column.null_count)

    def wire(self, value: Any) -> Any:
        """Tell the type beside the answer."""
        return {**super().wire(value), str(self._column(value).type): 0}

    def _column(self, value: Any) -> Any:
        """Read the cells as the declared type."""
        arrow = optional("pyarrow", extra="frames", purpose="a planted fault in frames")
        frame = arrow.table({"x": arrow.array(value)})
        return frame_table("t", frame, declared={"x": Type.INTEGER}, units=frozenset()).table.column("x")


class TypeFromValues(DeclaredType):
    """Takes the type that the library infers from all the cells."""

    def _column(self, value: Any) -> Any:
        """Let the values decide."""
        return optional("pyarrow", extra="frames", purpose="a planted fault in frames").array(value)


FAULTS = [
    Planted("Count: types from values", "one person's 2.5 makes a column of integers real", Level.WIRE,
            partial(TypeFromValues, relation=Relation.ADD_REMOVE, epsilon=1),
            partial(DeclaredType, relation=Relation.ADD_REMOVE, epsilon=1),
            neighbours=[([3, 4, 5], [3, 4, 5, 2.5])], draws=400),
]  # fmt: skip
