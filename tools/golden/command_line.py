"""The help of every command, as a pipe of 100 columns sees it."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

from discreet.cli import main
from tools.golden.written import Lines, block

_ENVIRONMENT = {"COLUMNS": "100", "LINES": "40"}
_UNSET = ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "DISCREET_ANALYST")
_COMMAND = re.compile(r"^  ([a-z][a-z-]*)(?:  |$)")


def help_lines() -> Lines:
    """Return the help of the program and of every command below it, found by what the help itself lists."""
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        words = waiting.pop(0)
        text = _said(*words, "--help")
        yield " ".join(("discreet", *words, "--help")), block(text)
        waiting += [(*words, name) for name in _commands(text)]
    yield "discreet nothing", block(_said("nothing"))
    yield "discreet ask --nothing", block(_said("ask", "--nothing"))


def _commands(text: str) -> list[str]:
    """Return the commands that the help of a group lists, under whatever heading."""
    if "COMMAND" not in text.partition("\n")[0]:
        return []
    sections = text.partition("\nOptions:\n")[2].split("\n\n")[1:]
    return [found[1] for section in sections for line in section.split("\n") if (found := _COMMAND.match(line))]


def _said(*words: str) -> str:
    """Return what the program prints, with its exit code where that is not 0."""
    out = io.StringIO()
    code: object = 0
    with _plain("discreet", *words), redirect_stdout(out), redirect_stderr(out):
        try:
            main()
        except SystemExit as leaving:
            code = leaving.code
    return out.getvalue() + (f"exit code {code}\n" if code else "")


@contextmanager
def _plain(*words: str) -> Iterator[None]:
    """Set the arguments and a plain environment."""
    arguments, environment = sys.argv, dict(os.environ)
    sys.argv = list(words)
    os.environ.update(_ENVIRONMENT)
    for name in _UNSET:
        os.environ.pop(name, None)
    try:
        yield
    finally:
        sys.argv = arguments
        os.environ.clear()
        os.environ.update(environment)
