"""How results show themselves: tables, HTML and plots (matplotlib only when a plot is asked for)."""

from discreet._optional import listing
from discreet.display.files import write_whole
from discreet.display.formatting import LastDigit, as_stated, format_number
from discreet.display.html import definition_list, escape, figure, page, paragraph, section
from discreet.display.progress import Progress, listener, silent
from discreet.display.safe_text import csv_cell, printable_json, visible
from discreet.display.table import Table

__all__ = [
    "LastDigit",
    "Progress",
    "Table",
    "as_stated",
    "csv_cell",
    "definition_list",
    "escape",
    "figure",
    "format_number",
    "listener",
    "page",
    "paragraph",
    "printable_json",
    "section",
    "silent",
    "visible",
    "write_whole",
]

__dir__ = listing("discreet.display")
