"""An immutable table that shows itself: aligned text on a terminal, accessible HTML in a notebook or a report."""

from __future__ import annotations

import numbers
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.display.formatting import format_number
from discreet.display.html import TABLE_STYLE, escape
from discreet.display.safe_text import visible
from discreet.errors import ParameterError

# As wide as a digit and as a full stop, so that decimal points line up in proportional fonts too.
_FIGURE_SPACE, _POINT_SPACE = "\u2007", "\u2008"


@dataclass(frozen=True)
class Table:
    """Named columns, rows of cells, and a caption that says what the table shows.

    Numbers are written with `digits` significant digits and line up at the decimal point; yes/no stands for a Boolean,
    an empty cell for None. Characters that could move a cursor or end a line are shown as escapes. Whole numbers of
    the columns in `labels` are names, such as years, and have no commas.

    >>> print(
    ...     Table(
    ...         ["ward", "answer", "error"],
    ...         [["surgery", 1204, 9.5], ["maternity", 87, 12.25]],
    ...         "People per ward",
    ...     )
    ... )
    People per ward
    ward       answer  error
    ------------------------
    surgery     1,204   9.5
    maternity      87  12.25
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    caption: str = ""
    digits: int = 4
    labels: Sequence[str] = ()

    def __post_init__(self) -> None:
        columns = tuple(str(name) for name in self.columns)
        rows = tuple(tuple(_frozen(cell) for cell in row) for row in self.rows)
        if not columns:
            raise ParameterError("a table needs at least one column", parameter="columns")
        if self.digits < 1:
            raise ParameterError(f"digits must be at least 1, got {self.digits}", parameter="digits")
        for place, row in enumerate(rows):
            if len(row) != len(columns):
                message = f"row {place} has {len(row)} cells, but there are {len(columns)} columns"
                raise ParameterError(message, parameter="rows")
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "labels", tuple(self.labels))

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Table({len(self.rows)} rows, columns {', '.join(self.columns)})"

    def __str__(self) -> str:
        written = self._written()
        headers = [visible(name) for name in self.columns]
        widths = [max(map(_width, [header, *cells])) for header, cells in zip(headers, written, strict=True)]
        right = self._numeric()
        head = _line(headers, widths, right)
        body = [_line(cells, widths, right) for cells in zip(*written, strict=True)]
        rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
        return "\n".join([*([visible(self.caption)] if self.caption else []), head, rule, *body])

    def html(self) -> str:
        """Return the bare table element: a caption, column and row headers with scope, every cell escaped."""
        right = self._numeric()
        names = zip(self.columns, right, strict=True)
        head = "".join(_cell("th", visible(name), number=number, scope="col") for name, number in names)
        body = "".join(_html_row(cells, right) for cells in zip(*self._written(), strict=True))
        caption = f"<caption>{escape(visible(self.caption))}</caption>" if self.caption else ""
        parts = f"{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
        return f'<div class="discreet"><table>{parts}</table></div>'

    def _repr_html_(self) -> str:
        """Return the table with its style, for notebooks."""
        return f"<style>{TABLE_STYLE}</style>{self.html()}"

    def _numeric(self) -> list[bool]:
        """Return which columns hold only numbers and empty cells."""
        return [_all_numbers([row[place] for row in self.rows]) for place in range(len(self.columns))]

    def _written(self) -> list[list[str]]:
        """Return the cells as text, column by column, decimal points aligned."""
        columns = ([self._write(row[place], name) for row in self.rows] for place, name in enumerate(self.columns))
        pairs = zip(columns, self._numeric(), strict=True)
        return [_align_points(cells) if number else cells for cells, number in pairs]

    def _write(self, cell: object, column: str) -> str:
        """Return one cell as text."""
        if cell is None:
            return ""
        if isinstance(cell, bool):
            return "yes" if cell else "no"
        if isinstance(cell, numbers.Integral) and column in self.labels:
            return str(int(cell))
        return format_number(cell, digits=self.digits) if isinstance(cell, numbers.Real) else visible(str(cell))


def _frozen(cell: object) -> object:
    """Keep numbers, text and None; other objects, which could change later, are kept as text."""
    if isinstance(cell, np.bool_):
        return bool(cell)
    return cell if isinstance(cell, numbers.Real | str | None) else str(cell)


def _all_numbers(cells: Iterable[object]) -> bool:
    """Return whether a column has at least one number, and only numbers."""
    kinds = {isinstance(cell, numbers.Real) and not isinstance(cell, bool) for cell in cells if cell is not None}
    return kinds == {True}


def _align_points(cells: list[str]) -> list[str]:
    """Pad the right of each number so that decimal points stand in one column."""
    fractions = [len(cell) - cell.index(".") if "." in cell and "e" not in cell else 0 for cell in cells]
    longest = max(fractions, default=0)
    pairs = zip(cells, fractions, strict=True)
    return [cell if "e" in cell else cell + " " * (longest - fraction) for cell, fraction in pairs]


def _spaced(cell: str) -> str:
    """Turn the padding of an aligned number into spaces as wide as what they stand for."""
    bare = cell.rstrip(" ")
    padding = len(cell) - len(bare)
    if "." in bare or not padding:
        return bare + _FIGURE_SPACE * padding
    return bare + _POINT_SPACE + _FIGURE_SPACE * (padding - 1)


def _width(text: str) -> int:
    """Return the number of terminal columns the text takes."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.combining(letter) > 0 for letter in text)


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    """Join the padded cells of one row."""
    padded = []
    for cell, width, number in zip(cells, widths, right, strict=True):
        space = " " * (width - _width(cell))
        padded.append(space + cell if number else cell + space)
    return "  ".join(padded).rstrip()


def _html_row(cells: Sequence[str], right: Sequence[bool]) -> str:
    """Return one row; its first cell, when it is text, names the row."""
    marks = []
    for place, (cell, number) in enumerate(zip(cells, right, strict=True)):
        names_row = place == 0 and not number
        marks.append(_cell("th" if names_row else "td", cell, number=number, scope="row" if names_row else ""))
    return f"<tr>{''.join(marks)}</tr>"


def _cell(tag: str, text: str, *, number: bool, scope: str) -> str:
    """Return one escaped cell."""
    attributes = (f' scope="{scope}"' if scope else "") + (' class="number"' if number else "")
    return f"<{tag}{attributes}>{escape(_spaced(text) if number else text)}</{tag}>"
