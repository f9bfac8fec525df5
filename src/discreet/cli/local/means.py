"""`discreet local design` for means: numbers between public bounds, or vectors of length at most 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from discreet.display import Rounding, Table, format_number
from discreet.errors import ParameterError
from discreet.local import DuchiBit, HybridMean, UnitVectors
from discreet.local.estimates.intervals import allowed_error
from discreet.local.estimates.normal import two_sided_normal
from discreet.local.protocol.words import counted

_NEGLIGIBLE = 1.005
_COLUMNS = ("protocol", "error", "half an interval", "bits", "poisoning")
_MEANS = DuchiBit | HybridMean | UnitVectors


class MeanDesign:
    """The protocols for one mean, the chosen one first, with the error that so many people bring."""

    def __init__(self, specs: Sequence[_MEANS], *, people: int, bits: int | None, confidence: float) -> None:
        """Take the least variance within `bits`; among those within half a percent of it, the shortest report."""
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
        ends = (format_number(float(end), digits=6) for end in (self.spec.lower, self.spec.upper))
        return "numbers from {} to {}".format(*ends)

    def _error_in_words(self) -> str:
        """Say what to expect of the mean, and what a liar can do."""
        spec = self.spec
        error = format_number(self.error(spec), digits=3, rounding=Rounding.UP)
        gain = format_number(spec.poisoning_gain, digits=3)
        if isinstance(spec, UnitVectors):
            first = f"The estimated mean is about {error} away from the mean, in length (root mean square)."
            return f"{first} One hostile report moves the estimated sum by up to {gain}, an honest vector by 1."
        share = format_number(100 * self.error(spec) / float(spec.width), digits=3, rounding=Rounding.UP)
        reach = format_number(self.spread * self.error(spec), digits=3)
        return (
            f"The standard error of the mean is at most {error}, {share} % of the range, whatever people hold. An "
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
        return Table(_COLUMNS, rows, digits=3)


def mean_specs(
    epsilon: Fraction, *, lower: Fraction | None, upper: Fraction | None, dimension: int | None
) -> list[DuchiBit | HybridMean] | list[UnitVectors]:
    """Return the protocols for a mean of numbers or of vectors."""
    if dimension is not None:
        if lower is not None or upper is not None:
            raise ParameterError("--dimension is for vectors of length at most 1: it goes without --lower and --upper")
        return [UnitVectors(epsilon=epsilon, dimension=dimension)]
    if lower is None or upper is None:
        raise ParameterError("the mean of numbers needs both public bounds, --lower and --upper")
    return [kind(epsilon=epsilon, lower=lower, upper=upper) for kind in (DuchiBit, HybridMean)]
