"""`discreet attack NAME`: one attack a file, each on invented people, without and with protection."""

from __future__ import annotations

from importlib import import_module

import click

# in the order in which they are told; each is the attribute of that name in the module of that name
ATTACKS = {
    "linkage": "Join an 'anonymous' table with a named register.",
    "ratings": "Find a person's row from a few remarks about ratings.",
    "anonymity": "What k-anonymity leaves: homogeneous groups, intersections, and many columns.",
    "differencing": "Subtract two counts; pad around a minimum size.",
    "reconstruction": "Recover a column of secret bits, by one of several decoders.",
    "fourier": "Recover a million secret bits in a fraction of a second.",
    "marginals": "Recover a secret column from published tables of counts.",
    "census": "What a published block table proves about its people.",
    "membership": "Is this genome in the case group?",
    "synthetic": "Look for people in a synthetic table.",
    "averaging": "Average away noise that sticks to the text of a query.",
    "map": "Where answers are reconstructed, traced, or safe.",
}


class Attacks(click.Group):
    """A group that imports an attack when it is used."""

    def list_commands(self, _: click.Context) -> list[str]:
        """Return the attacks in the order in which they are told."""
        return list(ATTACKS)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        """Import an attack."""
        if name not in ATTACKS:
            return None
        found: click.Command = getattr(import_module(f"discreet.cli.attack.{name}"), name)
        return found

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """List the attacks without importing any."""
        with formatter.section("Attacks"):
            formatter.write_dl(list(ATTACKS.items()))


@click.group(cls=Attacks, context_settings={"help_option_names": ["-h", "--help"]})
def attack() -> None:
    """Attack invented people: plain answers, noisy ones, and discreet's."""
