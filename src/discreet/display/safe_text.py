"""Text that came from private rows, made harmless for terminals, spreadsheets and readers of JSON."""

from __future__ import annotations

import re
from typing import TypeVar

Cell = TypeVar("Cell")

# Spreadsheets take a text for a formula by its first sign, full-width ones included, and may skip spaces before it.
_FORMULA = re.compile(r"'* *[=+\-@\uff1d\uff0b\uff0d\uff20]")


def visible(text: str) -> str:
    r"""Show what cannot be printed as escapes, so that a text cannot command a terminal, end a line or turn it round.

    That covers all control characters (ESC, C0 and C1), line and paragraph ends, marks of writing direction, lone
    surrogates, and every space but the plain one.

    >>> print(visible("a\x1b[31m\u202e"))
    a\x1b[31m\u202e
    """
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def csv_cell(cell: Cell) -> Cell | str:
    """Return a cell of a CSV file that no spreadsheet takes for a formula and no terminal for a command.

    Control characters of a text are shown as escapes. A text that starts with =, +, - or @, after any apostrophes and
    spaces, gets one apostrophe more in front; to restore the text, remove one apostrophe from such texts.
    Numbers, dates and empty cells stay what they are.

    >>> csv_cell("=1+1"), csv_cell("'@x"), csv_cell("a=b"), csv_cell(-3)
    ("'=1+1", "''@x", 'a=b', -3)
    """
    if not isinstance(cell, str):
        return cell
    shown = visible(cell)
    return f"'{shown}" if _FORMULA.match(shown) else shown


def printable_json(text: str) -> str:
    r"""Return JSON text with unprintable characters written as escapes; its values stay the same.

    >>> print(printable_json('["ü \x9b31m"]'))
    ["ü \u009b31m"]
    """
    return "".join(letter if letter.isprintable() or letter == "\n" else _escaped(letter) for letter in text)


def _escaped(letter: str) -> str:
    """Return the JSON escape of a letter, two of them beyond U+FFFF."""
    units = letter.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place : place + 2].hex()}" for place in range(0, len(units), 2))
