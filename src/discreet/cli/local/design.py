"""`discreet local design`: from people, values or bounds, and epsilon to a protocol, its error and its spec."""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from discreet.cli.console import Refusal, answering, readable_console, say, say_table, say_written
from discreet.cli.local.means import MeanDesign, mean_specs
from discreet.cli.options import SETTINGS
from discreet.cli.options_part import Bound, Written, as_options, labels
from discreet.display import Table
from discreet.errors import ParameterError
from discreet.local import Keys, Spec
from discreet.local.planning.design import Design
from discreet.local.planning.design import design as designed

_COLUMNS = ("protocol", "error", "over least", "detectable", "bits", "counters", "poisoning")


def _writable(_: click.Context, __: click.Parameter, target: Path | None) -> Path | None:
    """Refuse a file that cannot be written before the work is done."""
    if target is None:
        return None
    if not target.name:
        raise click.BadParameter("this takes the name of a file")
    if not target.parent.is_dir():
        raise click.BadParameter(f"there is no folder {str(target.parent)!r}; make it first")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise click.BadParameter(f"{str(target)!r} cannot be written")
    return target


@click.command(context_settings=SETTINGS)
@click.option("--people", type=click.IntRange(min=1), required=True, help="How many are expected to report.")
@click.option(
    "--values", type=click.IntRange(min=2), help="The public number of values; with --keys: how many are asked for."
)
@click.option("--labels", callback=labels, help="The values by name, separated by commas, instead of --values.")
@click.option("--keys", help="Keys nobody can list instead of --values: integer:48 (bits), text:24 (bytes), bytes:16.")
@click.option("--find", is_flag=True, help="With --keys: find the frequent keys, not the shares of given ones.")
@click.option("--lower", type=Bound(), help="For the mean of numbers instead of shares: the least that one can be.")
@click.option("--upper", type=Bound(), help="With --lower: the largest that a number can be.")
@click.option("--dimension", type=click.IntRange(min=2), help="For the mean of vectors of length at most 1.")
@click.option("--epsilon", type=Written(), required=True, help="Price of a report; there is no default.")
@click.option("--bits", type=click.IntRange(min=1), help="The most bits that a client can send.")
@click.option("--largest", type=click.IntRange(min=2), help="The most counters that the collector keeps.")
@click.option("--seed", type=click.IntRange(min=0), help="With --keys: the public seed of the hashing.")
@click.option(
    "--confidence", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True,
    help="Confidence of what is called detectable, and of intervals.",
)  # fmt: skip
@click.option(
    "--spec", "spec_file", type=click.Path(dir_okay=False, writable=True, path_type=Path), callback=_writable,
    help="Write the spec, for clients and collector, into this file (JSON).",
)  # fmt: skip
def design(epsilon: Fraction, spec_file: Path | None, **asked: Any) -> None:
    """Choose a protocol for shares of values or keys, or for a mean, and say what error to expect."""
    console = readable_console()
    ends = {name: asked.pop(name) for name in ("lower", "upper", "dimension")}
    with answering():
        found = (
            _mean(epsilon, ends, **asked)
            if any(end is not None for end in ends.values())
            else _shares(epsilon, **asked)
        )
        for sentence in found.sentences:
            say(console, sentence)
        say_table(console, found.table)
        if spec_file is not None:
            spec_file.write_text(found.spec.to_json() + "\n", encoding="ascii")
            say_written(console, spec_file)


@dataclass(frozen=True)
class _Answer:
    """What is told and written."""

    sentences: list[str]
    table: Table
    spec: Spec


def _shares(epsilon: Fraction, *, keys: str | None, **asked: Any) -> _Answer:
    """Choose a protocol for shares."""
    try:
        found = designed(epsilon=epsilon, keys=None if keys is None else Keys.from_text(keys), **asked)
    except ParameterError as error:
        raise Refusal(as_options(str(error))) from None
    return _Answer(as_options(found.explain()).split("\n"), _compared(found), found.spec)


def _mean(
    epsilon: Fraction, ends: dict[str, Any], *, people: int, bits: int | None, confidence: float, **others: Any
) -> _Answer:
    """Choose a protocol for a mean."""
    given = [f"--{name}" for name, value in others.items() if not (value is None or value is False or value == ())]
    if given:
        raise ParameterError(f"{given[0]} is for shares; a mean has --lower and --upper, or --dimension")
    found = MeanDesign(mean_specs(epsilon, **ends), people=people, bits=bits, confidence=confidence)
    return _Answer(found.sentences(), found.table(), found.spec)


def _compared(found: Design) -> Table:
    """Return one row a protocol, without the reasons, which were told."""
    whole = found.table()
    return Table(_COLUMNS, [row[:-1] for row in whole.rows], digits=whole.digits)
