"""`discreet local design`: from people, values and epsilon to a protocol, its error and its spec."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from discreet.cli.attack.options import SETTINGS
from discreet.cli.console import answering, readable_console, say, say_table, say_written
from discreet.cli.local.options import Written, labels
from discreet.display import Table
from discreet.local import Keys
from discreet.local.design import Design
from discreet.local.design import design as designed

_COLUMNS = ("protocol", "error", "over least", "detectable", "bits", "counters", "poisoning")


def _writable(_: click.Context, __: click.Parameter, target: Path | None) -> Path | None:
    """Refuse a folder that does not exist before the work is done."""
    if target is not None and not target.parent.is_dir():
        raise click.BadParameter(f"there is no folder {str(target.parent)!r}; make it first")
    return target


@click.command(context_settings=SETTINGS)
@click.option("--people", type=click.IntRange(min=1), required=True, help="How many are expected to report.")
@click.option("--values", type=click.IntRange(min=2), help="The public number of values.")
@click.option("--labels", callback=labels, help="The values by name, separated by commas, instead of --values.")
@click.option("--keys", help="Keys nobody can list instead of --values: integer:48 (bits), text:24 (bytes), bytes:16.")
@click.option("--find", is_flag=True, help="With --keys: find the frequent keys, not the shares of given ones.")
@click.option("--epsilon", type=Written(), required=True, help="Price of a report; there is no default.")
@click.option("--bits", type=click.IntRange(min=1), help="The most bits that a client can send.")
@click.option("--largest", type=click.IntRange(min=2), help="The most counters that the collector keeps.")
@click.option("--seed", type=click.IntRange(min=0), help="With --keys: the public seed of the hashing.")
@click.option(
    "--confidence", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True,
    help="Confidence of what is called detectable.",
)  # fmt: skip
@click.option(
    "--spec", "spec_file", type=click.Path(dir_okay=False, writable=True, path_type=Path), callback=_writable,
    help="Write the spec, for clients and collector, into this file (JSON).",
)  # fmt: skip
def design(epsilon: Fraction, keys: str | None, spec_file: Path | None, **asked: Any) -> None:
    """Choose a protocol for shares of values or keys, and say what error to expect."""
    console = readable_console()
    with answering():
        found = designed(epsilon=epsilon, keys=None if keys is None else Keys.from_text(keys), **asked)
        for sentence in found.explain().split("\n"):
            say(console, sentence)
        say_table(console, _compared(found))
        if spec_file is not None:
            spec_file.write_text(found.spec.to_json() + "\n", encoding="ascii")
            say_written(console, spec_file)


def _compared(found: Design) -> Table:
    """Return one row a protocol, without the reasons, which were told."""
    whole = found.table()
    return Table(_COLUMNS, [row[:-1] for row in whole.rows], digits=whole.digits)
