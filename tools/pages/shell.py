"""Run the shell blocks of a page: commands after `$ `, compared with the output that the page shows below them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

WIDTH = 84
"""The width of the terminal, and of the widest line of code on a page."""

# made absolute at once, since pages run in a folder of their own
_IMPORTED_FROM = os.pathsep.join(str(Path(entry).resolve()) for entry in sys.path)
_EXPORT = re.compile(r"export (\w+)=(.*)", re.DOTALL)
_SHARED = re.compile(r"[|<>;&]|\$\(")
_WORDS = "discreet() { for word do printf '%s\\0' \"$word\"; done; }\n"


@dataclass(frozen=True)
class Typed:
    """One command, the output that the page shows, and the line of the block on which it starts."""

    command: str
    want: str
    line: int


def typed(block: str) -> list[Typed]:
    r"""Return the commands of a block; a backslash at the end of a line continues it.

    >>> typed("$ discreet check \\\n    other.toml\nIn order.\n")
    [Typed(command='discreet check \\\n    other.toml', want='In order.', line=0)]
    """
    found: list[Typed] = []
    lines = block.splitlines()
    place = 0
    while place < len(lines):
        if not lines[place].startswith("$ "):
            raise ValueError(f"a shell block must start with a command after `$ `; got {lines[place]!r}")
        start = place
        while lines[place].endswith("\\"):
            place += 1
        command = "\n".join(lines[start : place + 1]).removeprefix("$ ")
        place += 1
        shown = place
        while place < len(lines) and not lines[place].startswith("$ "):
            place += 1
        found.append(Typed(command, "\n".join(lines[shown:place]).strip("\n"), start))
    return found


@dataclass
class Shell:
    """A shell in the current folder that remembers what was exported.

    A command that is `discreet` alone runs in this process, which saves a second each time; anything else goes to `sh`.
    """

    exported: dict[str, str] = field(default_factory=dict)

    def run(self, command: str) -> str:
        """Return what a command prints, errors included, with paths relative to the folder."""
        if export := _EXPORT.fullmatch(command):
            self.exported[export[1]] = self._of_sh(f"printf %s {export[2]}")
            return ""
        alone = command.startswith("discreet ") and not _SHARED.search(re.sub(r"'[^']*'|\"[^\"]*\"", "", command))
        printed = self._discreet(command) if alone else self._of_sh(command)
        return printed.replace(f"{Path.cwd()}/", "").strip("\n")

    def _discreet(self, command: str) -> str:
        """Run the program in this process, its words read by the shell itself."""
        from click.testing import CliRunner

        from discreet.cli.program import program

        words = self._of_sh(_WORDS + command).split("\0")[:-1]
        done = CliRunner().invoke(program, words, env=self._environment(), prog_name="discreet")
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception  # a defect of the program, which no page shows
        return done.output

    def _of_sh(self, command: str) -> str:
        with TemporaryDirectory() as folder:
            program = Path(folder) / "discreet"
            program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m discreet "$@"\n', encoding="utf-8")
            program.chmod(0o755)
            path = os.pathsep.join([folder, os.environ.get("PATH", "")])
            done = subprocess.run(  # noqa: S603 - the commands of our own pages
                ["sh", "-c", command],  # noqa: S607 - the reader's own shell
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
                env=self._environment() | {"PATH": path},
            )
        return done.stdout

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": _IMPORTED_FROM, "COLUMNS": str(WIDTH), "TERM": "dumb", **self.exported}
