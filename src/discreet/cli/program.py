"""The program: every group of commands with its table; a command is imported when it is used, one command a file."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from discreet._optional import optional, present
from discreet._version import __version__
from discreet.errors import MissingExtra

SETTINGS = {"help_option_names": ["-h", "--help"]}
EXIT_CODES = (
    "Exit codes: 0 done; 1 refused, or a mistake in the policy; 2 usage; 3 the budget does not allow it; 4 the ledger "
    "was tampered with; 5 failed after the charge, which stays."
)

# for each command the module it is in, and what it does; in the order in which they are needed
COMMANDS = {
    "init": ("curating.init", "Write a first policy for a source; no row is read."),
    "check": ("curating.check", "List every mistake of a policy, or what it declares."),
    "explain": ("asking.explain", "Say what a query would cost and how exact it would be."),
    "rehearse": ("asking.ask", "Run a query on made-up rows of the same schema."),
    "ask": ("asking.ask", "Answer a query privately; the cost is charged first."),
    "suggest": ("asking.suggest", "Find bounds for a table or a query, at a small price."),
    "posterior": ("asking.posterior", "Say what an answer tells about people, by a model; priced as ask."),
    "synthesize": ("asking.synthesize", "Make a synthetic table; the cost is charged first."),
    "learn": ("program", "Train, explain, evaluate and use a model of a private table."),
    "train": ("asking.train", "Train a network on a private table; the cost is charged first."),
    "budget": ("asking.budget", "Say what was spent and what is left."),
    "ledger": ("curating.ledger", "List what was asked; verify, amend."),
    "account": ("account", "Price a plan of releases, or find the noise for a target."),
    "local": ("program", "Plan and rehearse reports that their senders randomize."),
    "attack": ("program", "Attack invented people: linkage, reconstruction, membership and more."),
    "audit": ("program", "Put guarantees to the test: the museum of broken mechanisms, discreet itself."),
    "demo": ("demo", "Attack an invented hospital, then ask discreet instead."),
}
_WITHOUT_SQL = ("account", "local", "attack", "audit")  # an attack through SQL says itself what it misses
LEARN = {
    "explain": ("asking.learn.explain", "Say what a model would cost and what to expect of it."),
    "train": ("asking.learn.train", "Fit a model; the cost is charged first."),
    "evaluate": ("asking.learn.evaluate", "Score a model on private rows it has not seen; the cost is charged first."),
    "predict": ("asking.learn.predict", "Predict rows of a CSV file; nothing is spent."),
}
LOCAL = {
    "design": ("local.design", "From people, categories and epsilon: the protocol, its error, the size of a report."),
    "simulate": ("local.simulate", "Let invented fleets report; draw the error against epsilon and people."),
}
# in the order in which they are told
ATTACKS = {
    "linkage": ("attack.linking.linkage", "Join an 'anonymous' table with a named register."),
    "ratings": ("attack.linking.ratings", "Find a person's row from a few remarks about ratings."),
    "anonymity": (
        "attack.linking.anonymity",
        "What k-anonymity leaves: homogeneous groups, intersections, and many columns.",
    ),
    "differencing": ("attack.differencing", "Subtract two counts; pad around a minimum size."),
    "reconstruction": ("attack.reconstruction", "Recover a column of secret bits, by one of several decoders."),
    "fourier": ("attack.fourier", "Recover a million secret bits in a fraction of a second."),
    "marginals": ("attack.marginals", "Recover a secret column from published tables of counts."),
    "census": ("attack.census", "What a published block table proves about its people."),
    "membership": ("attack.membership", "Is this genome in the case group?"),
    "synthetic": ("attack.synthetic", "Look for people in a synthetic table."),
    "inversion": ("attack.models.inversion", "A secret bit of those whom a model was trained on."),
    "lira": ("attack.models.lira", "Who is in the training set, by shadow models."),
    "training": ("attack.models.training", "Audit a training from one run, by canaries."),
    "text": ("attack.models.text", "A secret number from a model of text."),
    "averaging": ("attack.averaging", "Average away noise that sticks to the text of a query."),
    "map": ("attack.map", "Where answers are reconstructed, traced, or safe."),
}
AUDITS = {
    "museum": (
        "audit.museum",
        "Audit the museum of right and broken mechanisms; every verdict is known beforehand.",
    ),
    "self": ("audit.own", "Audit every mechanism of discreet."),
}


class LazyGroup(click.Group):
    """A group that imports a command when it is used, so that each starts as fast as it can.

    `listed` names for each command its module within this package, and what its line in the help says; the command
    is the attribute of its own name, after `prefix`. `in_sql` are those that need the engine of the extra `sql`.
    """

    def __init__(
        self,
        *args: Any,
        listed: Mapping[str, tuple[str, str]],
        heading: str = "Commands",
        prefix: str = "",
        in_sql: frozenset[str] = frozenset(),
        **settings: Any,
    ) -> None:
        super().__init__(*args, **settings)
        self.listed, self.heading, self.prefix, self.in_sql = listed, heading, prefix, in_sql

    def list_commands(self, _: click.Context) -> list[str]:
        """Return the commands in their order."""
        return list(self.listed)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        """Import a command."""
        if name not in self.listed:
            return None
        try:
            for package in ("sqlglot", "duckdb") if name in self.in_sql else ():
                present(package, extra="sql", purpose=f"discreet {name}")
            module = self.listed[name][0]
            if module != "program":  # a group within this file shows nothing itself
                optional("rich.console", extra="sql", purpose=f"discreet {name}")
            found: click.Command = getattr(import_module(f"discreet.cli.{module}"), f"{self.prefix}{name}")
        except MissingExtra as missing:
            raise click.ClickException(str(missing)) from None
        return found

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing any."""
        with formatter.section(self.heading):
            formatter.write_dl([(name, words) for name, (_, words) in self.listed.items()])


@click.group(
    cls=LazyGroup, listed=COMMANDS, in_sql=frozenset(COMMANDS).difference(_WITHOUT_SQL), context_settings=SETTINGS,
    epilog=EXIT_CODES,
)  # fmt: skip
@click.version_option(__version__, prog_name="discreet", message="%(prog)s %(version)s")
def program() -> None:
    """Ask about everyone, learn about no one: differential privacy for tables."""


@click.group(cls=LazyGroup, listed=LEARN, prefix="learn_", in_sql=frozenset(LEARN), context_settings=SETTINGS)
def learn() -> None:
    """Learn a model of a private table: scikit-learn's estimators, at a price."""


@click.group(cls=LazyGroup, listed=LOCAL, context_settings=SETTINGS)
def local() -> None:
    """Collect from people who trust nobody: each randomizes their own report."""


@click.group(cls=LazyGroup, listed=ATTACKS, heading="Attacks", context_settings=SETTINGS)
def attack() -> None:
    """Attack invented people: plain answers, noisy ones, and discreet's."""


@click.group(cls=LazyGroup, listed=AUDITS, heading="Audits", prefix="audit_", context_settings=SETTINGS)
def audit() -> None:
    """Put guarantees to the test."""
