"""The program: one command a file, put together here; imported only once click and rich are known to be there."""

from __future__ import annotations

from importlib import import_module

import click

from discreet._optional import optional
from discreet._version import __version__
from discreet.errors import MissingExtra

# in the order in which they are needed; each is the attribute of that name in the module of that name
_COMMANDS = {
    "init": "Write a first policy for a source; no row is read.",
    "check": "List every mistake of a policy, or what it declares.",
    "explain": "Say what a query would cost and how exact it would be.",
    "rehearse": "Run a query on made-up rows of the same schema.",
    "ask": "Answer a query privately; the price is charged first.",
    "synthesize": "Make a synthetic table; the price is charged first.",
    "budget": "Say what was spent and what is left.",
    "ledger": "List what was asked; verify, amend.",
    "account": "Price a plan of releases, or find the noise for a target.",
    "local": "Plan and rehearse reports that their senders randomise.",
    "attack": "Attack invented people: linkage, reconstruction, membership and more.",
    "audit": "Put promises to the test: the museum of broken mechanisms, discreet itself.",
    "demo": "Attack an invented hospital, then ask discreet instead.",
}
_WITHOUT_SQL = ("account", "local", "attack", "audit")  # an attack through SQL says itself what it misses
EXIT_CODES = (
    "Exit codes: 0 done; 1 refused, or a mistake in the policy; 2 usage; 3 the budget does not allow it; 4 the ledger "
    "was tampered with; 5 failed after the charge, which stays."
)


class Program(click.Group):
    """A group that imports a command when it is used, so that each starts as fast as it can."""

    def list_commands(self, _: click.Context) -> list[str]:
        """Return the commands in the order of work."""
        return list(_COMMANDS)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        """Import a command."""
        if name not in _COMMANDS:
            return None
        try:
            for package in () if name in _WITHOUT_SQL else ("sqlglot", "duckdb"):
                optional(package, extra="sql", purpose=f"discreet {name}")
        except MissingExtra as missing:
            raise click.ClickException(str(missing)) from None
        found: click.Command = getattr(import_module(f"discreet.cli.{name}"), name)
        return found

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXIT_CODES)
@click.version_option(__version__, prog_name="discreet", message="%(prog)s %(version)s")
def program() -> None:
    """Ask about everyone, learn about no one: differential privacy for tables."""
