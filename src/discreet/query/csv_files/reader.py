"""Read CSV by records: a cell may hold line ends, and what cannot be read refuses its file."""

from __future__ import annotations

import gzip
import importlib.util
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from io import BufferedReader, FileIO, TextIOWrapper
from pathlib import Path
from typing import Any, cast

from discreet.errors import PolicyError
from discreet.query.policy import CsvFormat

FORMAT_PLACE = "those under [data.csv]"  # where a policy says how files are written
LONGEST_RECORD = 2**24  # characters, quotes and line ends included
_REASONS = (  # what the reader says, or we where we end it, and our words for it
    ("unexpected end of data", "a quote is opened and never closed"),
    (
        "expected after",
        "text stands between a closing quote and the next delimiter; a quote inside a cell is written twice",
    ),
    (
        "mixed ends",
        "the record ends with a carriage return alone and the header does not, or the other way round; a cell with a "
        "line end stands in quotes",
    ),
    ("NUL", "a NUL character; the encoding is probably another one"),
    ("too long", "the record is longer than {:,} characters"),
)
_DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile)


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong in a file and where; for the curator only, since it follows from single records."""

    reason: str
    record: int | None = None  # the header is the first
    line: int | None = None  # on which the record begins
    exact: bool = True  # False where the decoder was ahead of the records

    def words(self) -> str:
        """Return the place and the reason."""
        if self.record is None:
            return self.reason
        behind = "" if self.exact else " or a later one"
        return f"record {self.record}, on line {self.line},{behind}: {self.reason}".replace(",:", ":")


class UnreadableFile(Exception):
    """A file that is not CSV in the declared format; caught in this room, and never shown to an analyst."""

    def __init__(self, file: Path, fault: Fault) -> None:
        super().__init__("a CSV file cannot be read")
        self.file, self.fault = file, fault


class CsvRecords:
    """The records of one file, the header among them, as `csv.reader(strict=True)` gives them, without blank lines.

    Files that end their records with line feeds, and those that end them with carriage returns alone, are not mixed:
    a record that ends in the other way than the header is refused. Programs that write line feeds often leave a cell
    with a carriage return without quotes (pandas does, and Python's writer before 3.13), and what stands behind it
    would be read as a record of its own.

    Stability. Let a program write one text a record, in which cells with the delimiter, a quote or a character of its
        own line end stand in quotes that are doubled inside. Then each text gives at most one record, whatever the
        other texts are, or the file is refused.
        Proof: the quotes of a text are closed in it, so that the reader is outside of quotes where the next one begins.
        Outside of quotes a text has its own line end once, at its end; a record that is not blank ends there, or in
        the other way, and then the file is refused.
    Cost. Memory for one record of at most 2**24 characters.
    """

    def __init__(self, file: Path, stated: CsvFormat) -> None:
        self.file, self._stated = file, stated
        self.characters = 0  # of the records given so far and of the one being read
        self._complete = self._lines = self._before = self._count = 0
        self._end = ""  # the last character of the last line read

    def __iter__(self) -> Iterator[list[str]]:
        fault: Fault | None = None
        alone: bool | None = None  # whether the header ends with a carriage return alone
        try:
            with opened(self.file, self._stated, errors="strict") as stream:
                for record in own_csv().reader(self._fed(stream), **_dialect(self._stated)):
                    if record:
                        if alone is None:
                            alone = self._end == "\r"
                        if (self._end == "\r") is not alone and self._end in "\r\n":
                            raise own_csv().Error("mixed ends")
                        self._count += 1
                        yield record
                    self._complete, self._before = self.characters, self._lines
        except own_csv().Error as problem:
            fault = self._here(_reason(str(problem)))
        except UnicodeError:
            fault = replace(self._here(f"a byte is not {self._stated.encoding.upper()}"), exact=False)
        except gzip.BadGzipFile:
            fault = Fault("the file is not compressed with gzip, or damaged; compress it, or name it without .gz")
        except _DAMAGED:
            fault = Fault("the compressed file is damaged")
        except OSError as problem:
            fault = Fault(f"the file cannot be read ({problem.strerror})")
        if fault is not None:  # raised here, so that no message of the decoder, which shows bytes, is in its chain
            raise UnreadableFile(self.file, fault)

    def _fed(self, stream: TextIOWrapper) -> Iterator[str]:
        """Yield line after line, each with its end; count characters, and stop at a record that is too long."""
        readline, limit = stream.readline, LONGEST_RECORD + 1
        while line := readline(limit):
            self._lines += 1
            self._end = line[-1]
            self.characters += len(line)
            if self.characters - self._complete > LONGEST_RECORD:
                raise own_csv().Error("too long")
            if "\0" in line:
                raise own_csv().Error("NUL")
            yield line

    def _here(self, reason: str) -> Fault:
        return Fault(reason, self._count + 1, self._before + 1)


def header_of(table: str, files: Sequence[Path], stated: CsvFormat) -> list[str]:
    """Return the names in the first record of files, the same in all of them; no other record is read."""
    names = _first(table, files[0], stated)
    for file in files[1:]:
        if _first(table, file, stated) != names:
            words = f"the CSV files of {table!r} must have the same first line: {file.name!r} names other columns"
            raise PolicyError([(None, f"{words}, or the same in another order, than {files[0].name!r}")])
    return names


def _first(table: str, file: Path, stated: CsvFormat) -> list[str]:
    """Return the first record; bytes behind it are not decoded strictly, since they are not read for it."""
    header: list[str] = []
    packed = True
    try:
        with opened(file, stated, errors="replace") as stream:
            header = next(own_csv().reader(_bounded(stream), **_dialect(stated)), [])
    except gzip.BadGzipFile:
        packed = False
    except (OSError, UnicodeError, *_DAMAGED, own_csv().Error):
        header = []
    if not packed:
        words = f"the file {file.name!r} of {table!r} is not compressed with gzip. Compress it, or name it without .gz"
        raise PolicyError([(None, words)])
    trouble = _trouble(header)
    if trouble:
        words = f"the first line of the CSV file of {table!r} must name every column, each once: {trouble}"
        raise PolicyError([(None, f"{words}; the delimiter, the quote and the encoding are {FORMAT_PLACE}")])
    return header


def _trouble(header: Sequence[str]) -> str:
    """Say what is wrong with a header, by positions; nothing if all is well."""
    if not header:
        return "it is empty or cannot be read"
    seen: dict[str, int] = {}
    for place, column in enumerate(header, 1):
        if not _name(column):
            return f"name {place} of {len(header)} is empty or holds a NUL character"
        if seen.setdefault(column.lower(), place) != place:
            return f"name {place} of {len(header)} is name {seen[column.lower()]} again, but for capitals"
    return ""


def _name(column: str) -> bool:
    return bool(column) and "\0" not in column


def _bounded(stream: TextIOWrapper) -> Iterator[str]:
    """Yield the lines of a first record."""
    total = 0
    while line := stream.readline(LONGEST_RECORD + 1):
        total += len(line)
        if total > LONGEST_RECORD:
            return
        yield line


def opened(file: Path, stated: CsvFormat, *, errors: str) -> TextIOWrapper:
    """Open a file, compressed or not, with its line ends as they are."""
    packed = file.name.lower().endswith(".gz")
    binary = gzip.GzipFile(file, "rb") if packed else BufferedReader(FileIO(file, "rb"))
    return TextIOWrapper(cast("BufferedReader", binary), encoding=stated.codec, errors=errors, newline="")


@cache
def own_csv() -> Any:
    """Return an instance of Python's CSV module of our own.

    Its limit on the length of a cell belongs to the module, not to a reader: the one that other code of this process
    uses is neither raised for them nor lowered for us by them.
    """
    specification = importlib.util.find_spec("_csv")
    if specification is None or specification.loader is None:
        raise ImportError("the module _csv of the standard library is missing")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    module.field_size_limit(LONGEST_RECORD + 1)
    return module


def _dialect(stated: CsvFormat) -> dict[str, Any]:
    return {"delimiter": stated.delimiter, "quotechar": stated.quote, "doublequote": True, "strict": True}


def _reason(words: str) -> str:
    """Return our words for what the reader says; its own may show the delimiter only, but change between versions."""
    found = next((ours for theirs, ours in _REASONS if theirs in words), "the record is not CSV in the declared format")
    return found.format(LONGEST_RECORD)
