"""Faults in what is read: ids told apart or joined by their types, types that follow from values, CSV by lines.

A column whose type follows from its values is changed by one person's cell; a reader of CSV by lines lets one person's
cell make records of other people.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from discreet._optional import optional
from discreet.audit import Level
from discreet.privacy import Relation
from discreet.query import Type
from discreet.query.csv_files import CsvRecords
from discreet.query.frame_table import frame_table
from discreet.query.policy import CsvFormat
from discreet.statistics import Count, Histogram, Rows
from discreet.testing.planted.fault import UNITS, Planted
from discreet.testing.spellings import spelled

_LARGE = 2**60


class ApartByType(Count):
    """Ids of different types are different people."""

    def measure(self, value: Any) -> int:
        """Tell people apart by type and value."""
        return super().measure(Rows(value.values, [f"{type(one).__name__} {one}" for one in value.unit]))


class RoundedIds(Histogram):
    """Ids are floats, as one empty id makes them: large ones that differ are one person."""

    def measure(self, value: Any) -> Any:
        """Round the ids."""
        return super().measure(Rows(value.values, [str(float(one)) for one in value.unit]))


_stated: dict[str, Any] = {"relation": Relation.ADD_REMOVE, "epsilon": 1, "rows": 1}
_keys: dict[str, Any] = _stated | {"keys": ["a", "b"]}
_UNITS = [
    Planted("Count: units told apart by type", "1, 1.0 and True are three people, priced as one", Level.EXACT,
            partial(ApartByType, **_stated), partial(Count, **_stated),
            neighbors=[(Rows([True], [2]), Rows([True] * 4, [2, 1, True, 1.0]))]),
    Planted("Count: twelve spellings of one id", "one person counts once for every type of the id", UNITS,
            partial(ApartByType, **_stated), partial(Count, **_stated), inputs=[Rows([True] * 12, spelled(12))]),
    Planted("Histogram: units as floats", "somebody new takes away the weight of somebody else", Level.EXACT,
            partial(RoundedIds, **_keys), partial(Histogram, **_keys),
            neighbors=[(Rows(["a"], [_LARGE]), Rows(["a"] + ["b"] * 40, [_LARGE] + [_LARGE + 1] * 40))]),
]  # fmt: skip


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


_FRAMES = [
    Planted("Count: types from values", "one person's 2.5 makes a column of integers real", Level.WIRE,
            partial(TypeFromValues, relation=Relation.ADD_REMOVE, epsilon=1),
            partial(DeclaredType, relation=Relation.ADD_REMOVE, epsilon=1),
            neighbors=[([3, 4, 5], [3, 4, 5, 2.5])], draws=400),
]  # fmt: skip


class PeopleByRecords(Count):
    """The number of people in the text of a CSV file, read as a session reads it."""

    def measure(self, value: Any) -> int:
        """Count different first cells of records."""
        with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
            path = Path(folder) / "people.csv"
            path.write_bytes(value.encode())
            _, *people = CsvRecords(path, CsvFormat())
        return len({record[0] for record in people})


class PeopleByLines(Count):
    """The same, with a record wherever a line ends."""

    def measure(self, value: Any) -> int:
        """Count different first cells of lines."""
        _, *people = value.splitlines()
        return len({line.partition(",")[0] for line in people if line})


_EVERYBODY = "person,note\nann,well\nben,well\n"
_FORGED = "".join(f"forged {number},well\n" for number in range(5))
_right = partial(PeopleByRecords, relation=Relation.ADD_REMOVE, epsilon=1)
_lines = partial(PeopleByLines, relation=Relation.ADD_REMOVE, epsilon=1)
_CSV = [
    Planted("Count: CSV by lines", "a quoted text with line ends forges people", Level.EXACT, _lines, _right,
            neighbors=[(_EVERYBODY, f'{_EVERYBODY}me,"so\n{_FORGED}"\n')]),
    Planted("Count: CSV by carriage returns", "a carriage return in quotes forges people", Level.EXACT, _lines, _right,
            neighbors=[(_EVERYBODY, f'{_EVERYBODY}me,"so\rforged,well\rmore,well"\n')]),
]  # fmt: skip

FAULTS = [*_UNITS, *_FRAMES, *_CSV]
