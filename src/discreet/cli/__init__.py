"""The command line: one command a file, from `discreet init` to `discreet ledger`; errors in one form, with codes."""

from __future__ import annotations

import sys

from discreet._optional import listing, optional, present
from discreet.errors import MissingExtra

__all__ = ["main"]

__dir__ = listing("discreet.cli")


def main() -> None:
    """Run the program named `discreet`, or say in one line what is missing to run it."""
    try:
        optional("click", extra="cli", purpose="the command line")
        present("rich", extra="cli", purpose="the command line")  # loaded where something is shown
    except MissingExtra as missing:
        print(f"discreet: {missing}", file=sys.stderr)
        raise SystemExit(1) from None
    # the commands are declared with click's decorators, so they can be read only once click is known to be there
    from discreet.cli.program import program

    program(prog_name="discreet")
