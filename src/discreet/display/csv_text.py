"""Rows as CSV that every reader takes for the same rows."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from itertools import chain
from typing import TextIO


def write_csv(file: TextIO, names: Iterable[object], rows: Iterable[Iterable[object]]) -> None:
    r"""Write a header and rows with commas, double quotes and line feeds.

    A cell with a carriage return stands in quotes: Python's writer before 3.13 leaves it bare where records end with
    line feeds, and readers begin a record there.

    >>> import io
    >>> text = io.StringIO(newline="")
    >>> write_csv(text, ["name"], [["one\rtwo"], ["three"]])
    >>> text.getvalue()
    'name\n"one\rtwo"\nthree\n'
    """
    usual = csv.writer(file, lineterminator="\n")
    quoting = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in chain([list(names)], map(list, rows)):
        bare = any(isinstance(cell, str) and "\r" in cell for cell in row)
        (quoting if bare else usual).writerow(row)
