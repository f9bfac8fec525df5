"""`discreet audit`: the museum of broken mechanisms, and every mechanism of discreet itself."""

from __future__ import annotations

from importlib import import_module

import click

# command: (module, what it does); the attribute is `audit_` and the command
_AUDITS = {
    "museum": ("museum", "Audit the museum of right and broken mechanisms; every verdict is known beforehand."),
    "self": ("own", "Audit every mechanism of discreet."),
}


class Audits(click.Group):
    """A group that imports an audit when it is used."""

    def list_commands(self, _: click.Context) -> list[str]:
        """Return the audits."""
        return list(_AUDITS)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        """Import an audit."""
        if name not in _AUDITS:
            return None
        found: click.Command = getattr(import_module(f"discreet.cli.audit.{_AUDITS[name][0]}"), f"audit_{name}")
        return found

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """List the audits without importing any."""
        with formatter.section("Audits"):
            formatter.write_dl([(name, words) for name, (_, words) in _AUDITS.items()])


@click.group(cls=Audits, context_settings={"help_option_names": ["-h", "--help"]})
def audit() -> None:
    """Put promises to the test."""
