"""The command line: one command a file, from `discreet init` to `discreet ledger`; errors in one form, with codes."""

from __future__ import annotations

import os
import sys
from importlib import import_module

from discreet._optional import listing, optional, present
from discreet.errors import MissingExtra

__all__ = ["main"]

__dir__ = listing("discreet.cli")

_CORE = ("numpy", "cryptography", "flint", "scipy")


def main() -> None:
    """Run the program named `discreet`, or say in one line what is missing to run it."""
    try:
        optional("click", extra="sql", purpose="the command line")
        present("rich", extra="sql", purpose="the command line")  # loaded where something is shown
    except MissingExtra as missing:
        print(f"discreet: {missing}", file=sys.stderr)
        raise SystemExit(1) from None
    # the commands are declared with click's decorators, so they can be read only once click is known to be there
    from discreet.cli.program import program

    try:
        try:
            program(prog_name="discreet")
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except OSError as error:
        _discard_output()
        ended = error.__context__
        said = isinstance(ended, SystemExit) and ended.code not in (None, 0)  # the command has said what went wrong
        if not said and not isinstance(error, BrokenPipeError):  # whoever read the output may stop reading
            print(f"discreet: the output cannot be written: {error.strerror}", file=sys.stderr)
        raise SystemExit(1) from None
    except Exception:
        broken = _broken_package()
        if broken is None:
            raise
        print(f"discreet: {broken}", file=sys.stderr)
        raise SystemExit(1) from None


def _broken_package() -> str | None:
    """Say which package of the core cannot be imported; None if all can, and the fault is elsewhere."""
    for package in _CORE:
        try:
            import_module(package)
        except Exception as error:  # a package that is broken raises anything
            kind = type(error).__name__
            return f"the package {package!r} cannot be imported ({kind}): install discreet and what it needs again"
    return None


def _discard_output() -> None:
    """Discard what is left in the buffer, so that the program does not fail to write it once more when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
