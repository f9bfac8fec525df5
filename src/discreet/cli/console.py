"""What all commands share: a console of a readable width, a quiet spinner, and errors in one form with their codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
import numpy as np
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table as Grid
from rich.text import Text

from discreet.cli.narration import Chapter
from discreet.errors import (
    BudgetExceeded,
    DiscreetError,
    LedgerTampered,
    MissingExtra,
    ParameterError,
    PolicyError,
    QueryFailed,
)

REFUSED, USAGE, BUDGET_EXCEEDED, LEDGER_TAMPERED, FAILED_AFTER_CHARGE = 1, 2, 3, 4, 5
_WIDEST = 88


class Refusal(click.ClickException):
    """A value that cannot be used as given: one line, and the exit code of a usage error."""

    exit_code = USAGE


def readable_console(*, stderr: bool = False) -> Console:
    """Return a console no wider than people like to read."""
    console = Console(stderr=stderr)
    console.width = min(console.width, _WIDEST)
    return console


@contextmanager
def spinner(console: Console, words: str) -> Iterator[None]:
    """Show that work goes on and for how long, on a terminal only; logs and pipes stay clean.

    Time is all that is shown: how many rows were read so far would be an answer about them.
    """
    if not console.is_terminal:
        yield
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        progress.add_task(words, total=None)
        yield


def show(console: Console, part: Chapter) -> None:
    """Print one chapter."""
    console.print(f"\n{part.title}", style="bold", markup=False, highlight=False)
    for sentence in part.before:
        say(console, sentence)
    console.print(f"\n{part.table}", soft_wrap=True, markup=False, highlight=False)
    for sentence in part.after:
        say(console, sentence)


def say(console: Console, sentence: str) -> None:
    """Print one paragraph, wrapped between words."""
    console.print(f"\n{sentence}", markup=False, highlight=False)


def say_facts(console: Console, facts: Sequence[tuple[str, str]]) -> None:
    """Print names and what they stand for in two columns, each wrapped within its own."""
    grid = Grid.grid(padding=(0, 2))
    grid.add_column()
    grid.add_column(overflow="fold")
    for name, words in facts:
        grid.add_row(Text(name, style="dim"), Text(words))
    console.print()
    console.print(grid, highlight=False)


def say_written(console: Console, path: Path) -> None:
    """Name a file that was written; a path must stay on one line to be clicked or copied."""
    console.print(f"Wrote {path.resolve()}", soft_wrap=True, markup=False, highlight=False)


@contextmanager
def friendly() -> Iterator[None]:
    """Turn what a user can mend into one line and exit code 1."""
    try:
        yield
    except DiscreetError as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"cannot write {error.filename}: {error.strerror}") from None


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
        raise Refusal(" ".join(str(error).split())) from None
    except (ArithmeticError, ValueError):
        raise Refusal("these numbers are too extreme to be priced; take less extreme ones") from None


@contextmanager
def answering() -> Iterator[None]:
    """Turn whatever stops a command of the curator's engine into its message and its exit code; never a traceback."""
    try:
        yield
    except click.ClickException:
        raise
    except click.exceptions.Exit:
        raise
    except DiscreetError as error:
        raise _ended(str(error), _code(error)) from None
    except OSError as error:
        # the path is one that somebody typed; the words are the operating system's
        raise _ended(f"cannot use {error.filename}: {error.strerror}", REFUSED) from None
    except Exception as error:
        # the message of an unforeseen error could carry a value, its type cannot
        name = type(error).__name__
        words = f"something went wrong inside discreet ({name}). Nothing about the data is shown; please report it."
        raise _ended(words, REFUSED) from None


def _code(error: DiscreetError) -> int:
    match error:
        case BudgetExceeded():
            return BUDGET_EXCEEDED
        case LedgerTampered():
            return LEDGER_TAMPERED
        case QueryFailed():
            return FAILED_AFTER_CHARGE
        case ParameterError():
            return USAGE
    return REFUSED


def _ended(words: str, code: int) -> click.ClickException:
    problem = click.ClickException(words)
    problem.exit_code = code
    return problem


def mistakes(error: PolicyError) -> click.ClickException:
    """Return every mistake of a policy file, each on a line of its own, and their number."""
    count = len(error.problems)
    return click.ClickException(f"{count} mistake{'s'[: count != 1]} in {error.file}; no row was read.\n{error}")
