"""`discreet audit self`: every mechanism of discreet against its own claim, at every level."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from discreet.cli import options
from discreet.cli.console import answering, readable_console, say, say_table

_LEAST, _MOST = 400, 10_000_000


@options.command("self")
@options.stated(
    "--draws",
    click.IntRange(_LEAST, _MOST),
    5000,
    "Runs of each mechanism on two neighbours, and again for its law; slow ones get a quarter.",
)
def audit_self(draws: int) -> None:
    """Audit every mechanism of discreet: its law, the form of its outputs, many runs, and its sampler against its law.

    Takes a few minutes; more draws take longer in proportion. Ends with exit code 1 if a claim is refuted.
    """
    with answering():
        from discreet.testing import audit_own

        console = readable_console()
        with _turns(readable_console(stderr=True)) as turn:
            found = audit_own(draws=draws, progress=turn)
        say_table(console, found.table())
        say(
            console,
            "'exact' is the largest loss on neighbouring inputs, computed from the law: epsilon, or for zCDP the share "
            "of what is allowed. 'sampled' is the loss that so many runs prove, 'fit p' the chance of a worse fit to "
            "the law if the sampler is right. A false alarm of the whole table has a chance below 1e-7. "
            f"{found.seconds:.0f} s.",
        )
        if found.refuted:
            raise click.ClickException(f"refuted: {', '.join(found.refuted)}")
        say(console, f"{len(found.verdicts)} mechanisms, none refuted.")


@contextmanager
def _turns(console: Console) -> Iterator[Callable[[str], None]]:
    """Give what shows whose turn it is, on a terminal only; logs and pipes stay clean."""
    if not console.is_terminal:
        yield lambda _: None
        return
    from discreet.testing.own import OWN

    columns = (
        SpinnerColumn(),
        TextColumn("{task.completed:.0f} of {task.total:.0f}"),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as shown:
        task = shown.add_task("", total=len(OWN))
        yield lambda name: shown.update(task, advance=1, description=name)
