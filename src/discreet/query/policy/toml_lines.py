"""Places in a TOML text: on which line every table, key and array element stands, and how names are written there."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterator

Place = tuple[str | int, ...]  # keys from the top of the file, and positions in arrays

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:"{0,2})' + r"|'''.*?'''(?:'{0,2})" + r'|"(?:\\.|[^"\\\n])*"' + r"|'[^'\n]*'", re.DOTALL
)
_PART = re.compile(r"[A-Za-z0-9_-]+" + r'|"(?:\\.|[^"\\\n])*"' + r"|'[^'\n]*'")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PLAIN_VALUE = re.compile(r"[^,\]}#\n]*")
_SHOWN = 60


def find_lines(text: str) -> dict[Place, int]:
    r"""Return the line of the first mention of every table, key and array element of a valid TOML text.

    >>> find_lines("[tables.visits]\nrows = 20")[("tables", "visits", "rows")]
    2
    """
    return _Scanner(text).scan()


def key_in_toml(key: str | int) -> str:
    """Write a key as TOML has it: bare where it can be, else in quotes, with nothing unprintable."""
    return key if isinstance(key, str) and _BARE.fullmatch(key) and len(key) <= _SHOWN else text_in_toml(str(key))


def text_in_toml(text: str, *, longest: int | None = _SHOWN) -> str:
    r"""Write a text as a TOML string, shortened to be read by people unless `longest` is None.

    >>> print(text_in_toml('say "a"\n'))
    "say \"a\"\u000A"
    """
    short = text if longest is None or len(text) <= longest else text[:longest] + "..."
    return '"' + "".join(_character(one) for one in short) + '"'


def header(place: Place) -> str:
    """Write the place of a table as its header.

    >>> header(("tables", "two words"))
    '[tables."two words"]'
    """
    return f"[{'.'.join(key_in_toml(part) for part in place)}]"


def _character(one: str) -> str:
    if one in '"\\':
        return "\\" + one
    if one.isprintable():
        return one
    return f"\\u{ord(one):04X}" if ord(one) < 1 << 16 else f"\\U{ord(one):08X}"


class _Scanner:
    """One pass over a text that is known to be TOML; where it is not, scanning ends early and harmlessly."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.newlines = [match.start() for match in re.finditer("\n", text)]
        self.lines: dict[Place, int] = {}

    def scan(self) -> dict[Place, int]:
        table: Place = ()
        self.skip(_BLANK)
        while self.at < len(self.text):
            start = self.at
            if self.text[self.at] == "[":
                table = self.table()
            else:
                self.pair(table)
            if self.at == start:
                break
            self.skip(_BLANK)
        return self.lines

    def table(self) -> Place:
        """Read a header; all tables of an array of tables share one place."""
        start = self.at
        while self.peek() == "[":
            self.at += 1
        place = tuple(self.key())
        self.note((), place, start)
        while self.peek() == "]":
            self.at += 1
        return place

    def pair(self, table: Place) -> None:
        start = self.at
        key = tuple(self.key())
        self.note(table, key, start)
        self.skip(_SPACE)
        if self.peek() == "=":
            self.at += 1
            self.skip(_SPACE)
            self.value(table + key)

    def key(self) -> Iterator[str]:
        """Yield the parts of a dotted key, each as it reads without quotes."""
        while True:
            self.skip(_SPACE)
            part = _PART.match(self.text, self.at)
            if part is None:
                return
            self.at = part.end()
            written = part.group()
            yield tomllib.loads(f"key = {written}")["key"] if written[0] in "\"'" else written
            self.skip(_SPACE)
            if self.peek() != ".":
                return
            self.at += 1

    def value(self, place: Place) -> None:
        opening = self.peek()
        if opening == "[":
            self.items(place)
        elif opening == "{":
            self.inline(place)
        else:
            found = _STRING.match(self.text, self.at) or _PLAIN_VALUE.match(self.text, self.at)
            self.at = found.end() if found else len(self.text)

    def items(self, place: Place) -> None:
        self.at += 1
        index = 0
        self.skip(_BLANK)
        while self.peek() not in ("]", ""):
            start = self.at
            self.lines.setdefault((*place, index), self.line(start))
            self.value((*place, index))
            index += 1
            if not self.comma(start):
                return
        self.at += 1

    def inline(self, place: Place) -> None:
        self.at += 1
        self.skip(_BLANK)
        while self.peek() not in ("}", ""):
            start = self.at
            self.pair(place)
            if not self.comma(start):
                return
        self.at += 1

    def comma(self, start: int) -> bool:
        """Pass over what separates two items; False where nothing was read since `start`."""
        self.skip(_BLANK)
        if self.peek() == ",":
            self.at += 1
            self.skip(_BLANK)
        return self.at > start

    def note(self, table: Place, key: Place, start: int) -> None:
        """Keep the line of a key and of the tables its dots make, unless they were mentioned before."""
        for length in range(1, len(key) + 1):
            self.lines.setdefault(table + key[:length], self.line(start))

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def skip(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def line(self, position: int) -> int:
        return bisect_right(self.newlines, position - 1) + 1
