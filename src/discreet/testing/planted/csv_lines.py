"""Faults in reading CSV: a reader that lets one person's cell make records of other people."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from discreet.audit import Level
from discreet.privacy import Relation
from discreet.query.csv_files import Records
from discreet.query.policy import CsvFormat
from discreet.statistics import Count
from discreet.testing.planted.fault import Planted


class PeopleByRecords(Count):
    """The number of people in the text of a CSV file, read as a session reads it."""

    def measure(self, value: Any) -> int:
        """Count different first cells of records."""
        with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
            path = Path(folder) / "people.csv"
            path.write_bytes(value.encode())
            _, *people = Records(path, CsvFormat())
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
FAULTS = [
    Planted("Count: CSV by lines", "a quoted text with line ends forges people", Level.EXACT, _lines, _right,
            neighbours=[(_EVERYBODY, f'{_EVERYBODY}me,"so\n{_FORGED}"\n')]),
    Planted("Count: CSV by carriage returns", "a carriage return in quotes forges people", Level.EXACT, _lines, _right,
            neighbours=[(_EVERYBODY, f'{_EVERYBODY}me,"so\rforged,well\rmore,well"\n')]),
]  # fmt: skip
