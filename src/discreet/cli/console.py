"""What all commands share: a console of a readable width, a quiet spinner, and errors in one form with their codes."""

from __future__ import annotations

import ast
import itertools
import json
import re
import shlex
import sys
import textwrap
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np
from rich.console import Console

from discreet.display import Table, format_number, paragraph, section, visible
from discreet.errors import (
    BudgetExceeded,
    DiscreetError,
    LedgerTampered,
    MissingExtra,
    ParameterError,
    PolicyError,
    QueryFailed,
    SenselessParameter,
)

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

_WIDEST = 88
_NARROWEST_COLUMN = 14
_OPTION, _HYPHEN = re.compile(r"--[a-z][a-z-]*"), "\N{NON-BREAKING HYPHEN}"
_PARAMETER = re.compile(r'(?<![\w.-])([a-z_]+)=("[\w-]+"|True\b|\d*)(?!\.\.\.|[\w(={])')

_PAIR = re.compile(r'(?<![\w.-])([a-z_]+)=\("([^"]+)", "?([^"()]+)"?\)')
_BY_GROUP = re.compile(r"(?<![\w.-])([a-z_]+)=\{(.+): ([\w.]+), \.\.\.\}")


class Refusal(click.ClickException):
    """A value that cannot be used as given: one line, and the exit code of a usage error."""

    exit_code = 2


class OverBudget(click.ClickException):
    """The budget does not allow it; nothing was spent."""

    exit_code = 3


class Tampered(click.ClickException):
    """The ledger is not what was written; nothing was spent."""

    exit_code = 4


class Spent(click.ClickException):
    """The command failed after the charge; the price stays spent."""

    exit_code = 5


@dataclass(frozen=True)
class Chapter:
    """A title, some sentences, a table, some sentences after it, and the name of the drawing that belongs here."""

    title: str
    before: tuple[str, ...]
    table: Table
    after: tuple[str, ...] = ()
    drawing: str = ""


class ReadableConsole(Console):
    """A console no wider than people like to read; nothing that is said on it is taken for markup."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr)
        self.width = min(self.width, _WIDEST)

    def say_plainly(self, text: str, *, soft_wrap: bool = False, style: str | None = None) -> None:
        """Print text as it is; lines stay whole if `soft_wrap` is set."""
        self.print(text, soft_wrap=soft_wrap, style=style, markup=False, highlight=False, emoji=False)

    def say(self, sentence: str) -> None:
        """Print one paragraph, wrapped between words."""
        lines = "\n".join(visible(line) for line in sentence.split("\n"))
        self.say_plainly(f"\n{lines}")

    def say_table(self, table: Table) -> None:
        """Print a table; where it is wider than the console its texts are wrapped within their columns."""
        self.say_plainly(f"\n{fitted(table, self.width)}", soft_wrap=True)

    def say_facts(self, facts: Sequence[tuple[str, str]]) -> None:
        """Print names and what they stand for in two columns, the second wrapped within its own."""
        margin = max(len(name) for name, _ in facts) + 2
        width = max(self.width - margin, _NARROWEST_COLUMN)
        self.print()
        for name, words in facts:
            lines = textwrap.wrap(visible(words), width, break_on_hyphens=False) or [""]
            for place, line in enumerate(lines):
                self.say_plainly(f"{visible(name) if place == 0 else '':<{margin}}{line}", soft_wrap=True)

    def say_written(self, path: Path) -> None:
        """Name a file that was written; a path must stay on one line to be clicked or copied."""
        self.say_plainly(f"Wrote {path.resolve()}", soft_wrap=True)

    def show(self, part: Chapter) -> None:
        """Print one chapter."""
        self.say_plainly(f"\n{visible(part.title)}", style="bold")
        for sentence in part.before:
            self.say(sentence)
        self.say_table(part.table)
        for sentence in part.after:
            self.say(sentence)


@contextmanager
def spinner(console: Console, words: str) -> Iterator[Callable[[str], None]]:
    """Show that work goes on and for how long, on a terminal only; logs and pipes stay clean.

    Time is all that is shown, and what is being done where the caller says so: how many rows were read so far would be
    an answer about them.
    """
    if not console.is_terminal:
        yield lambda _: None
        return
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with progressing(console, columns, words, total=None) as update:
        yield lambda words: update(description=words)


@contextmanager
def progressing(
    console: Console, columns: Sequence[ProgressColumn], words: str, *, total: int | None
) -> Iterator[Callable[..., None]]:
    """Show how far a task is, on a terminal only; logs and pipes stay clean. Yield what changes what is shown."""
    if not console.is_terminal:
        yield lambda **_: None
        return
    from rich.progress import Progress

    with Progress(*columns, console=console, transient=True) as progress:
        yield partial(progress.update, progress.add_task(words, total=total))


def chapter_html(part: Chapter, drawing: str = "") -> str:
    """Return one chapter as HTML, with the drawing where it belongs."""
    return section(part.title, *map(paragraph, part.before), part.table.html(), drawing, *map(paragraph, part.after))


def fitted(table: Table, width: int) -> Table:
    """Return a table whose columns of text are narrowed, the widest first, until it fits or nothing is left to wrap.

    >>> print(fitted(Table(["a", "b"], [["one", "two three four five six"]]), 24))
    a    b
    ------------------------
    one  two three four five
         six
    """
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    widths = [
        max(_width(cell, table.digits) for cell in (name, *cells))
        for name, cells in zip(table.columns, columns, strict=True)
    ]
    texts = [place for place, cells in enumerate(columns) if any(isinstance(cell, str) for cell in cells)]
    excess = sum(widths) + 2 * (len(widths) - 1) - width
    if excess <= 0:
        return table
    while excess > 0 and texts:
        widest = max(texts, key=lambda place: widths[place])
        if widths[widest] <= _NARROWEST_COLUMN:
            break
        widths[widest] -= 1
        excess -= 1
    rows: list[list[object]] = []
    for row in table.rows:
        cells = [
            _wrapped(visible(cell), widths[place]) or [""] if isinstance(cell, str) and place in texts else [cell]
            for place, cell in enumerate(row)
        ]
        rows += [list(line) for line in itertools.zip_longest(*cells)]
    return Table(table.columns, rows, table.caption, table.digits, table.labels)


def _wrapped(text: str, width: int) -> list[str]:
    """Wrap a text between words and at hyphens, but not within the name of an option, which is copied as a whole."""
    whole = _OPTION.sub(lambda found: found[0].replace("-", _HYPHEN), text)
    return [line.replace(_HYPHEN, "-") for line in textwrap.wrap(whole, width)]


def _width(cell: object, digits: int) -> int:
    """Return the width of a cell as it will be written."""
    return len(format_number(cell, digits=digits) if isinstance(cell, float) else str(cell))


def say_json(values: object) -> None:
    """Print plain values for machines, which have no number that JSON does not have."""
    click.echo(json.dumps(values, sort_keys=True, allow_nan=False))


@contextmanager
def refusing() -> Iterator[None]:
    """Turn a parameter that cannot be used into one line and exit code 2; what is missing on the machine is code 1."""
    try:
        # what overflows has no bound to show; it is refused like any other value, and not warned about
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            yield
    except MissingExtra as missing:
        raise click.ClickException(str(missing)) from None
    except DiscreetError as error:
        raise Refusal(as_options(" ".join(str(error).split()))) from None
    except (ArithmeticError, ValueError):
        raise Refusal("these numbers are too extreme to be priced; take less extreme ones") from None


@contextmanager
def answering() -> Iterator[None]:
    """Turn whatever stops a command of the curator's engine into its message and its exit code; never a traceback."""
    try:
        with _warned():
            yield
    except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
        raise
    except DiscreetError as error:
        raise _ending(error)(as_options(str(error))) from None
    except OSError as error:
        # the path is one that somebody typed; the words are the operating system's
        what = "the output cannot be written" if error.filename is None else f"cannot use {error.filename}"
        raise click.ClickException(f"{what}: {error.strerror}") from None
    except Exception as error:
        # the message of an unforeseen error could carry a value, its type cannot
        name = type(error).__name__
        words = (
            f"something went wrong inside discreet ({name}); please report it. Asking again what was charged is free"
        )
        raise click.ClickException(words) from None


@contextmanager
def showing_what_is_paid(record: int) -> Iterator[None]:
    """Say, where an answer cannot be shown, that its charge stands and how to get the answer again."""
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output may stop reading
        raise
    except OSError as error:
        words = (
            f"the output cannot be written: {error.strerror}. The charge stands as record {record}, and the answer is "
            "in the ledger: ask the same question at the same price again, which is free"
        )
        raise click.ClickException(words) from None


def as_options(words: str, options: Collection[str] | None = None) -> str:
    """Return what the library says about its parameters as it is written on the command line.

    Only options that the running command has are named; what it cannot be told stays as Python writes it.

    >>> as_options(
    ...     'epsilon=, bits=1, linear=True, yes=("ward", "north"), keys=',
    ...     ("epsilon", "bits", "linear", "yes"),
    ... )
    '--epsilon, --bits 1, --linear, --yes ward=north, keys='
    >>> as_options("write people={('north', 3): 40, ...}", ("people",))
    'write --people north,3=40, and so on'
    """
    known = _own_options() if options is None else options

    def written(found: re.Match[str]) -> str:
        option = found[1].replace("_", "-")
        value = found[2].replace('"', "").replace("True", "")
        return f"--{option} {value}".rstrip() if option in known else found[0]

    def paired(found: re.Match[str]) -> str:
        option = found[1].replace("_", "-")
        return f"--{option} {found[2]}={found[3]}" if option in known else found[0]

    def by_group(found: re.Match[str]) -> str:
        option = found[1].replace("_", "-")
        try:
            key = ast.literal_eval(found[2])
        except (ValueError, SyntaxError):  # a date, for one
            return found[0]
        group = ",".join(map(str, key if isinstance(key, tuple) else (key,)))
        return f"--{option} {shlex.quote(f'{group}={found[3]}')}, and so on" if option in known else found[0]

    return _PARAMETER.sub(written, _PAIR.sub(paired, _BY_GROUP.sub(by_group, words)))


def _own_options() -> set[str]:
    """Return the long options of the command that runs, by the names that the library has for them."""
    context = click.get_current_context(silent=True)
    return set() if context is None else {one[2:] for given in context.command.params for one in given.opts}


@contextmanager
def _warned() -> Iterator[None]:
    """Say on stderr, in one line and once, what is legal but senseless."""

    def tell(message: Warning | str, *_: object, **__: object) -> None:
        click.echo(f"Warning: {as_options(str(message))}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("once", SenselessParameter)
        warnings.showwarning = tell
        yield


def _ending(error: DiscreetError) -> type[click.ClickException]:
    """Return the form, and with it the exit code, in which an error ends a command."""
    match error:
        case BudgetExceeded():
            return OverBudget
        case LedgerTampered():
            return Tampered
        case QueryFailed():
            return Spent
        case ParameterError():
            return Refusal
    return click.ClickException


def mistakes(error: PolicyError, *, read: bool = False) -> click.ClickException:
    """Return every mistake of a policy file, each on a line of its own, and their number; `read`: rows were read."""
    count = len(error.problems)
    known = "nothing was spent" if read else "no private row was read"
    return click.ClickException(f"{count} mistake{'s'[: count != 1]} in {error.file}; {known}.\n{error}")
