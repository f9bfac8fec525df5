"""`discreet local NAME`: plan reports from people who need not trust the collector, and rehearse them."""

from __future__ import annotations

from importlib import import_module

import click

# each is the attribute of that name in the module of that name
PARTS = {
    "design": "From people, values and epsilon: the protocol, its error, the size of a report.",
    "simulate": "Let invented fleets report; draw the error against epsilon and people.",
}


class Parts(click.Group):
    """A group that imports a command when it is used."""

    def list_commands(self, _: click.Context) -> list[str]:
        """Return the commands in the order of work."""
        return list(PARTS)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        """Import a command."""
        if name not in PARTS:
            return None
        found: click.Command = getattr(import_module(f"discreet.cli.local.{name}"), name)
        return found

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(PARTS.items()))


@click.group(cls=Parts, context_settings={"help_option_names": ["-h", "--help"]})
def local() -> None:
    """Collect from people who trust nobody: each randomises their own report."""
