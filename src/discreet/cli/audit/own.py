"""`discreet audit self`: every mechanism of discreet against its own guarantee, at every level."""

from __future__ import annotations

import click
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

from discreet.cli import options
from discreet.cli.console import ReadableConsole, answering, progressing

_LEAST, _MOST = 400, 10_000_000
_COLUMNS = (
    SpinnerColumn(),
    TextColumn("{task.completed:.0f} of {task.total:.0f}"),
    TextColumn("{task.description}"),
    TimeElapsedColumn(),
)


@options.command("self")
@options.stated(
    "--draws",
    click.IntRange(_LEAST, _MOST),
    5000,
    "Runs of each mechanism on two neighbors, and again for its law; slow ones get a quarter.",
)
def audit_self(draws: int) -> None:
    """Audit every mechanism of discreet: its law, the form of its outputs, many runs, and its sampler against its law.

    Takes a few minutes; more draws take longer in proportion. Ends with exit code 1 if a guarantee is refuted.
    """
    with answering():
        from discreet.testing import audit_own
        from discreet.testing.own import OWN

        console = ReadableConsole()
        names = [*(own.name for own in OWN), ""]
        with progressing(ReadableConsole(stderr=True), _COLUMNS, "", total=len(OWN)) as update:
            found = audit_own(draws=draws, progress=lambda done, _: update(completed=done, description=names[done]))
        console.say_table(found.table())
        console.say(
            "'exact' is the largest loss on neighboring inputs, computed from the law: epsilon, or for zCDP the share "
            "of what is allowed. 'sampled' is the loss that the runs prove, 'fit p' the chance of a worse fit to "
            "the law if the sampler is right. A false alarm of the whole table has a chance below 1e-7. "
            f"{found.seconds:.0f} s.",
        )
        if found.refuted:
            raise click.ClickException(f"refuted: {', '.join(found.refuted)}")
        console.say(f"{len(found.verdicts)} mechanisms, none refuted.")
