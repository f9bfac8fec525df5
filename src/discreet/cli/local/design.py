"""`discreet local design`: from people, categories or bounds, and epsilon to a protocol, its error and its spec.

For frequencies of categories or keys, or for means: of numbers in a public range, or of vectors of length at most 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from discreet.cli import options
from discreet.cli.console import ReadableConsole, Refusal, answering
from discreet.cli.options import Bound, Written, as_options, categories
from discreet.display import LastDigit, Table, format_number
from discreet.errors import ParameterError
from discreet.local import Design, DuchiBit, HybridMean, Keys, Spec, UnitVectors
from discreet.local import design as designed
from discreet.local.estimates import allowed_error, two_sided_normal
from discreet.local.protocol import counted

_COLUMNS = ("protocol", "error", "over least", "detectable", "bits", "counters", "poisoning")
_NEGLIGIBLE = 1.005
_MEAN_COLUMNS = ("protocol", "error", "half an interval", "bits", "poisoning")
_MEANS = DuchiBit | HybridMean | UnitVectors


@options.command()
@click.option("--people", type=click.IntRange(min=1), required=True, help="How many are expected to report.")
@click.option("--categories", callback=categories, help="Their public number, or their names separated by commas.")
@click.option("--keys", help="Keys nobody can list, instead: integer:48 (bits), text:24 (bytes), bytes:16.")
@click.option("--asked", type=click.IntRange(min=1), help="With --keys: how many keys will be asked for.")
@click.option("--find", is_flag=True, help="With --keys: find the frequent keys, not the frequencies of given ones.")
@click.option(
    "--bounds", nargs=2, type=Bound(), metavar="LOW HIGH", help="For a mean of numbers: the range that they lie in."
)
@click.option("--dimension", type=click.IntRange(min=2), help="For the mean of vectors of length at most 1.")
@click.option("--epsilon", type=Written(), required=True, help="Price of a report; there is no default.")
@click.option("--bits", type=click.IntRange(min=1), help="The most bits that a client can send.")
@click.option("--largest", type=click.IntRange(min=2), help="The most counters that the collector keeps.")
@click.option("--seed", type=click.IntRange(min=0), help="With --keys: the public seed of the hashing.")
@options.confidence_option("Confidence of what is called detectable, and of intervals.")
@click.option(
    "--spec", "spec_file", type=click.Path(dir_okay=False, writable=True, path_type=Path), callback=options.writable,
    help="Write the spec, for clients and collector, into this file (JSON).",
)  # fmt: skip
def design(epsilon: Fraction, spec_file: Path | None, **asked: Any) -> None:
    """Choose a protocol for frequencies of categories or keys, or for a mean, and say what error to expect."""
    console = ReadableConsole()
    ends = {name: asked.pop(name) for name in ("bounds", "dimension")}
    with answering():
        found = (
            _mean(epsilon, ends, **asked)
            if any(end is not None for end in ends.values())
            else _shares(epsilon, **asked)
        )
        for sentence in found.sentences:
            console.say(sentence)
        console.say_table(found.table)
        if spec_file is not None:
            spec_file.write_text(found.spec.to_json() + "\n", encoding="ascii")
            console.say_written(spec_file)


@dataclass(frozen=True)
class _Answer:
    """What is printed and written."""

    sentences: list[str]
    table: Table
    spec: Spec


def _shares(epsilon: Fraction, *, keys: str | None, **asked: Any) -> _Answer:
    """Choose a protocol for frequencies."""
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
        raise ParameterError(f"{given[0]} is for frequencies; a mean has --bounds, or --dimension")
    found = MeanDesign(mean_specs(epsilon, **ends), people=people, bits=bits, confidence=confidence)
    return _Answer(found.sentences(), found.table(), found.spec)


def _compared(found: Design) -> Table:
    """Return one row a protocol, without the reasons, which were printed before."""
    whole = found.table()
    return Table(_COLUMNS, [row[:-1] for row in whole.rows], digits=whole.digits)


class MeanDesign:
    """The protocols for one mean, the chosen one first, with their error for this number of people."""

    def __init__(self, specs: Sequence[_MEANS], *, people: int, bits: int | None, confidence: float) -> None:
        fitting = [spec for spec in specs if bits is None or spec.report_bits <= bits]
        if not fitting:
            least = min(spec.report_bits for spec in specs)
            raise ParameterError(f"a report of this mean takes {least} bits: raise --bits", parameter="bits")
        near = _NEGLIGIBLE * min(spec.variance(people) for spec in fitting)
        self.people, self.spread = people, two_sided_normal(allowed_error(confidence))
        self.confidence = confidence
        self.spec = min((spec for spec in fitting if spec.variance(people) <= near), key=lambda spec: spec.report_bits)
        self.others = [spec for spec in specs if spec is not self.spec]
        self.limited = len(fitting) < len(specs)

    def error(self, spec: _MEANS) -> float:
        """Return the standard error of the estimated mean at worst; for vectors the distance, root mean square."""
        return math.sqrt(spec.variance(self.people))

    def sentences(self) -> list[str]:
        """Return what was asked for, the choice, its error, and why not the others."""
        spec = self.spec
        epsilon, people = format_number(float(spec.epsilon), digits=6), counted(self.people, "person", "people")
        size = counted(spec.report_bits, "bit", "bits")
        rest = [f"{other.protocol}: {self._compared(other)}." for other in self.others]
        return [
            f"{people}, {self._asked()}, epsilon {epsilon} each",
            f"{spec.protocol}: a report of {size} ({self._why()}).",
            self._error_in_words(),
            *rest,
        ]

    def _why(self) -> str:
        """Say why one was chosen."""
        if isinstance(self.spec, UnitVectors):
            times = format_number(self.spec.error / self.spec.least_error, digits=3)
            return f"{times} times the squared error of PrivUnit with its best cap"
        return "the only one within the limits" if self.limited else "least variance"

    def _asked(self) -> str:
        """Say what is averaged."""
        if isinstance(self.spec, UnitVectors):
            return f"vectors of {self.spec.dimension:,} coordinates and length at most 1"
        ends = (format_number(float(end), digits=6) for end in self.spec.bounds)
        return "numbers from {} to {}".format(*ends)

    def _error_in_words(self) -> str:
        """Say what to expect of the mean, and what a liar can do."""
        spec = self.spec
        error = format_number(self.error(spec), digits=3, rounding=LastDigit.UP)
        gain = format_number(spec.poisoning_gain, digits=3)
        if isinstance(spec, UnitVectors):
            first = f"The estimated mean is about {error} away from the mean, in length (root mean square)."
            return f"{first} One hostile report moves the estimated sum by up to {gain}, an honest vector by 1."
        part = format_number(100 * self.error(spec) / float(spec.width), digits=3, rounding=LastDigit.UP)
        reach = format_number(self.spread * self.error(spec), digits=3)
        return (
            f"The standard error of the mean is at most {error}, {part} % of the range, whatever people hold. An "
            f"interval ({100 * self.confidence:.6g} %) reaches about {reach} to either side, further below 1,000 "
            f"people. One hostile report moves the estimated sum by up to {gain} widths of the range, an honest value "
            "by 1."
        )

    def _compared(self, other: _MEANS) -> str:
        """Compare a protocol with the chosen one."""
        size = counted(other.report_bits, "bit", "bits")
        times = other.variance(self.people) / self.spec.variance(self.people)
        if abs(times - 1) < _NEGLIGIBLE - 1:
            return f"about the same variance, a report of {size}"
        return f"{format_number(times, digits=3)} times the variance, a report of {size}"

    def table(self) -> Table:
        """Return one row a protocol."""
        rows = []
        for spec in (self.spec, *self.others):
            reach = None if isinstance(spec, UnitVectors) else self.spread * self.error(spec)
            rows.append([spec.protocol, self.error(spec), reach, spec.report_bits, spec.poisoning_gain])
        return Table(_MEAN_COLUMNS, rows, digits=3)


def mean_specs(
    epsilon: Fraction, *, bounds: tuple[Fraction, Fraction] | None = None, dimension: int | None = None
) -> list[DuchiBit | HybridMean] | list[UnitVectors]:
    """Return the protocols for a mean of numbers or of vectors."""
    if bounds is None:
        return [UnitVectors(epsilon=epsilon, dimension=dimension or 0)]
    if dimension is not None:
        raise ParameterError("--dimension is for vectors of length at most 1: leave out --bounds")
    return [kind(epsilon=epsilon, bounds=bounds) for kind in (DuchiBit, HybridMean)]
