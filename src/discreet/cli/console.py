"""What all commands share: a console of a readable width, a quiet spinner, and errors in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import click
import numpy as np
from rich.console import Console

from discreet.cli.narration import Chapter
from discreet.errors import DiscreetError, MissingExtra

_WIDEST = 88


class Refusal(click.ClickException):
    """A value that cannot be used as given: one line, and the exit code of a usage error."""

    exit_code = 2


def readable_console() -> Console:
    """Return a console no wider than people like to read."""
    console = Console()
    console.width = min(console.width, _WIDEST)
    return console


def spinner(console: Console, words: str) -> AbstractContextManager[object]:
    """Show that work goes on, on a terminal only; logs and pipes stay clean."""
    return console.status(words) if console.is_terminal else nullcontext()


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
