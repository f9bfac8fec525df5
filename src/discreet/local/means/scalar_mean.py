"""Means of bounded numbers: what the one-bit and the hybrid protocol share, from the law of a report to the estimate.

The estimated mean has a standard error and intervals that say
what they are for.
"""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from discreet.display import paragraph
from discreet.errors import InputError, ParameterError
from discreet.laws import Finite, FinitePair
from discreet.laws.clopper_pearson import chance_at_least, chance_at_most
from discreet.laws.number import Number, round_down, round_up
from discreet.local.estimates import FromReports, two_sided_normal
from discreet.local.means.piecewise import Piecewise, Range, Values, checked_bounds, checked_values, grid_positions
from discreet.local.protocol import (
    COIN_TOTAL,
    Integers,
    Spec,
    checked_histogram,
    number_of_people,
    toss,
)
from discreet.privacy import Estimate, PrivacyLoss, PureDP, Relation, Target
from discreet.privacy.numbers import plain

_WRITTEN = re.compile(r"-?[0-9]{1,640}(/[1-9][0-9]{0,640})?")  # no exponents: they stand for numbers of any length
_ENOUGH_PEOPLE = 1000
_SLACK = 1e-9
_ROUNDINGS = 4


@dataclass(frozen=True)
class Branch:
    """One of the piecewise laws that a report may be drawn from, with its public probability and its first output."""

    weight: Fraction
    law: Piecewise
    start: int

    @property
    def cells(self) -> slice:
        """Where its reports stand in the histogram."""
        return slice(self.start, self.start + self.law.outputs)


@dataclass(frozen=True, kw_only=True, eq=False)
class ScalarMean(Spec):
    """A protocol for the mean of numbers between public bounds: a public coin picks a `Piecewise` law for the report.

    Privacy. A report is epsilon-locally private for every change of the value.
        Proof: the coin that picks the branch does not depend on the value and the branches report in different cells,
        so each cell's probability is a public weight times that of its branch, which keeps the ratio (`Piecewise`).
    Accuracy. The mean of the decoded reports is exactly unbiased for the mean of the people's values; `variance` and
        `worst` are exact rational numbers before they are rounded.
        Proof: each branch is unbiased for every value, so the mixture is; its second moment is the weighted sum. For a
        value w steps from the middle, a part t of the way through its cell of the grid, the variance is
        a w^2 + b t (1 - t) + c. So at every t it is largest in an outermost cell (a >= 0) or in one at the middle
        (a < 0), and mirror images have the same variances. Within a cell it is linear less a square, whose maximum is
        rational.
    """

    bounds: tuple[Number, Number]  # held as Fractions

    def __post_init__(self) -> None:
        super().__post_init__()
        self._take(bounds=checked_bounds(self.bounds))

    @classmethod
    def _read(cls, values: dict[str, Any]) -> Self:
        """Read fractions from their texts."""
        read, ends = dict(values), values.get("bounds")
        if not isinstance(ends, list):
            raise ParameterError("the bounds of a spec must be a list of two numbers", parameter="bounds")
        read["bounds"] = [_fraction(end, "bounds") for end in ends]
        if "weight" in read:
            read["weight"] = _fraction(read["weight"], "weight")
        return super()._read(read)

    @cached_property
    def exact_bounds(self) -> Range:
        """The bounds, exactly."""
        return checked_bounds(self.bounds)

    @cached_property
    @abstractmethod
    def branches(self) -> tuple[Branch, ...]:
        """One law or two, the one on the finer grid first; its weight is a multiple of 2^-64."""

    @property
    def width(self) -> Fraction:
        """The width of the public range."""
        return self.exact_bounds[1] - self.exact_bounds[0]

    @property
    def cells(self) -> int:
        """The outputs of all branches, one after the other."""
        return sum(branch.law.outputs for branch in self.branches)

    def items(self, values: Any) -> Values:
        """Return private values that lie in the range; raise InputError on anything else, without showing it."""
        return checked_values(values, self.exact_bounds)

    def randomize(self, values: Values) -> Integers:
        """Draw a report for each value, exactly; the values were checked."""
        first, *others = self.branches
        if not others:
            return self._randomize(values, first)
        chosen = toss(int(first.weight * COIN_TOTAL), values.size)
        reports = np.empty(values.size, dtype=np.int64)
        reports[chosen] = self._randomize(values[chosen], first)
        reports[~chosen] = self._randomize(values[~chosen], others[0])
        return reports

    def _randomize(self, values: Values, branch: Branch) -> Integers:
        """Draw reports by one branch."""
        positions = grid_positions(values, self.exact_bounds, branch.law.steps)
        return branch.start + branch.law.randomize(positions)

    def law(self, value: Number) -> Finite:
        """Return the exact law of the report of a value."""
        relative = self.relative(value)
        masses: list[Fraction] = []
        for branch in self.branches:
            cell = min(int(relative * branch.law.steps), branch.law.steps - 1)
            weight = relative * branch.law.steps - cell
            low, high = branch.law.masses(cell), branch.law.masses(cell + 1)
            masses += [branch.weight * ((1 - weight) * a + weight * b) for a, b in zip(low, high, strict=True)]
        return Finite(range(self.cells), masses)

    def relative(self, value: Number) -> Fraction:
        """Return where a value stands in the range, from 0 to 1, exactly."""
        return (Fraction(self.items([value])[0]) - self.exact_bounds[0]) / self.width

    @cached_property
    def decoded(self) -> tuple[Fraction, ...]:
        """The part of the range that each report stands for."""
        return tuple(branch.law.decode(output) for branch in self.branches for output in range(branch.law.outputs))

    @property
    def loss(self) -> PrivacyLoss:
        """The exact pair of the two ends of the range, which is the worst; equally likely outputs are merged."""
        first: list[Fraction] = []
        second: list[Fraction] = []
        for branch in self.branches:
            likely, unlikely = (branch.weight * branch.law.apart * p for p in (branch.law.likely, branch.law.unlikely))
            first += [likely, unlikely]
            second += [unlikely, likely]
        rest = 1 - sum(first, Fraction(0))
        return exact_loss([*first, rest], [*second, rest], self.guarantee)

    def moment_at(self, relative: Fraction) -> Fraction:
        """Return the exact second moment of a decoded report, as a part of the range."""
        return sum((branch.weight * branch.law.moment_at(relative) for branch in self.branches), Fraction(0))

    @cached_property
    def worst(self) -> Fraction:
        """The largest variance of a decoded report over all values, exactly, in squares of the range."""
        steps = self.branches[0].law.steps
        return max(self._worst_in_cell(cell, steps) for cell in {0, (steps - 1) // 2})

    def _worst_in_cell(self, cell: int, steps: int) -> Fraction:
        """Return the largest variance between two grid points: the chord of second moments less a square."""
        start, end = Fraction(cell, steps), Fraction(cell + 1, steps)
        low, high = self.moment_at(start), self.moment_at(end)
        best = min(max((high - low) * steps / 2, start), end)
        return low + (high - low) * (best - start) * steps - best**2

    @cached_property
    def least(self) -> Fraction:
        """The smallest variance of a decoded report over all values, exactly, in squares of the range.

        Between two grid points the variance is concave, so it is smallest at one; there it is quadratic and symmetric.
        """
        steps = self.branches[0].law.steps
        places = (Fraction(position, steps) for position in (0, steps // 2))
        return min(self.moment_at(place) - place**2 for place in places)

    @cached_property
    def worst_in_population(self) -> Fraction:
        """The largest variance of the decoded report of a person drawn from any population, in squares of the range."""
        low, high = self.moment_at(Fraction(0)), self.moment_at(Fraction(1))  # the chord lies above: moments are convex
        best = min(max((high - low) / 2, Fraction(0)), Fraction(1))
        return low + (high - low) * best - best**2

    def variance(self, people: int, value: Number | None = None) -> float:
        """Return the variance of the estimated mean if everybody holds the value; the largest of all if none is given.

        For people with different values it is the average of their variances.
        """
        relative = None if value is None else self.relative(value)
        one = self.worst if relative is None else self.moment_at(relative) - relative**2
        return float(one * self.width**2 / number_of_people(people))

    def corners(self) -> tuple[Fraction, ...]:
        """Return the ends of the range and a value between them, where audits start."""
        low, high = self.exact_bounds
        return low, high, low + self.width / 3

    @property
    def poisoning_gain(self) -> float:
        """How far one hostile report can move the estimated sum, in widths of the range (an honest value: 1)."""
        return float(max(self.decoded) - min(self.decoded))

    def estimate(self, counts: Integers, people: int) -> LocalMean:
        """Estimate the mean of the values from the histogram of reports."""
        histogram = checked_histogram(counts, self.cells, people)
        if people < 1:
            raise InputError("there are no reports to estimate from")
        return LocalMean.from_histogram(self, histogram, people)


def _fraction(text: object, name: str) -> Fraction:
    """Read a fraction of a spec."""
    if not isinstance(text, str) or _WRITTEN.fullmatch(text) is None:
        raise ParameterError(f"the {name} of a spec must be written as 'a/b' or 'a'", parameter=name)
    return Fraction(text)


def exact_loss(first: list[Fraction], second: list[Fraction], guarantee: PureDP) -> PrivacyLoss:
    """Return the price of telling two laws apart that are given by the exact masses of the same outputs."""
    bounds = [np.array([end(p) for p in masses]) for masses in (first, second) for end in (round_down, round_up)]
    pair = FinitePair(range(len(first)), *bounds)
    return PrivacyLoss.from_pairs([pair], relation=Relation.CHANGE_ONE, guarantee=guarantee)


@dataclass(frozen=True, eq=False)
class LocalMean(FromReports):
    """The estimated mean of the values of `people`: unbiased, with its standard error.

    The standard error comes from the spread of the decoded reports: it counts the noise and the spread of the values,
    so it is right for the population and on the safe side for the table. It is never less than that of the least noise
    that any value has: at large epsilon all reports may happen to be equal, and still the mean is not known exactly.

    Accuracy. `estimate` holds at its confidence for every table and every number of people where all reports are one
        bit, and for fewer than 1000 people; beyond, for longer reports, it is the normal approximation.
        Proof: one bit: the number S of ones is a sum of independent coins whose mean chance is q + (p - q) times the
        mean of the relative values. A sum of independent coins has P(S >= s) at most that of a binomial of the same
        mean n c for s >= n c + 1, and likewise below (Hoeffding). So the chances c that are not refuted by s, those
        with s < n c + 1 or
        a binomial tail above (1 - confidence) / 2, and likewise below, form an interval that misses the true one with
        at most the stated probability; the coins of a population are the binomial itself. Few people: Bernstein's
        inequality with the largest variance and the largest distance of a decoded report from its mean. The ends are
        moved out by what floats may have rounded.
    Reference. Hoeffding 1956; Clopper, Pearson 1934; Bernstein 1946.

    >>> from discreet.local.means.one_bit_and_hybrid import DuchiBit
    >>> spec = DuchiBit(epsilon=1, bounds=(0, 10))
    >>> print(spec.aggregator().add([1] * 600 + [0] * 400).estimate())
    7.16 [6.49, 7.83] (95 %, table)
    """

    spec: ScalarMean
    people: int
    value: float
    standard_error: float
    confidence: ClassVar[float] = 0.95  # of low and high
    ones: int | None = field(default=None, repr=False)

    @classmethod
    def from_histogram(cls, spec: ScalarMean, counts: Integers, people: int) -> LocalMean:
        """Decode a histogram exactly: the mean and the spread of the decoded reports."""
        tallies = counts.tolist()
        mean = sum((n * d for n, d in zip(tallies, spec.decoded, strict=True) if n), Fraction(0)) / people
        square = sum((n * d * d for n, d in zip(tallies, spec.decoded, strict=True) if n), Fraction(0)) / people
        spread = (square - mean**2) * people / (people - 1) if people > 1 else spec.worst_in_population
        return cls(
            spec=spec,
            people=people,
            value=float(spec.exact_bounds[0] + spec.width * mean),
            standard_error=float(spec.width) * math.sqrt(max(spread, spec.least) / people),
            ones=int(tallies[1]) if spec.cells == 2 else None,
        )

    def estimate(self, confidence: float = confidence, *, target: Target = Target.TABLE) -> Estimate:
        """Return the mean with an interval for the people who reported, or for the population they come from.

        The interval contains the value, also outside the public range. Cutting its ends to the range loses no
        coverage.
        """
        level = float(plain(confidence, name="confidence"))
        if not 0.0 < level < 1.0:
            raise ParameterError("confidence must lie strictly between 0 and 1, such as 0.95", parameter="confidence")
        low, high, method = self._ends((1.0 - level) * (1.0 - _SLACK), target)
        rounding = _ROUNDINGS * math.ulp(max(map(abs, (low, high, *map(float, self.spec.exact_bounds)))))
        return Estimate(
            value=self.value,
            low=min(low - rounding, self.value),
            high=max(high + rounding, self.value),
            confidence=level,
            target=target,
            guarantee=self.spec.guarantee,
            method=method,
            cost=self.spec.loss,
        )

    @property
    def low(self) -> float:
        """The lower end of the interval at 95 % for the people who reported; `estimate` has others."""
        return self.estimate().ends[0]

    @property
    def high(self) -> float:
        """The upper end of the interval at 95 % for the people who reported."""
        return self.estimate().ends[1]

    def __float__(self) -> float:
        return self.value

    def _repr_html_(self) -> str:
        """Show the value with its interval, the guarantee and the number of people in a notebook."""
        return self.estimate()._repr_html_() + paragraph(f"{self.people:,} people")

    def __str__(self) -> str:
        return str(self.estimate())

    def _ends(self, rest: float, target: Target) -> tuple[float, float, str]:
        """Return the ends before they are moved out, and how they were found."""
        if self.ones is not None:
            return *self._binomial(rest, self.ones), "Clopper-Pearson, widened for unequal coins"
        if self.people < _ENOUGH_PEOPLE:
            half = self._bernstein(rest, target)
            return self.value - half, self.value + half, "Bernstein's inequality"
        half = two_sided_normal(rest) * self.standard_error
        return self.value - half, self.value + half, "normal approximation"

    def _binomial(self, rest: float, ones: int) -> tuple[float, float]:
        """Return the values whose coin is not refuted by the number of ones."""
        low = min(float(chance_at_least(ones, self.people, rest / 2)), (ones - 1) / self.people)
        high = max(float(chance_at_most(ones, self.people, rest / 2)), (ones + 1) / self.people)
        law = self.spec.branches[0].law
        ends = ((chance - float(law.unlikely)) / float(law.slope) for chance in (low, high))
        first, second = (float(self.spec.exact_bounds[0]) + float(self.spec.width) * relative for relative in ends)
        return first, second

    def _bernstein(self, rest: float, target: Target) -> float:
        """Return the half-width that holds whatever the values are."""
        variance = self.spec.worst if target is Target.TABLE else self.spec.worst_in_population
        reach = float(max(*self.spec.decoded, 1 - min(self.spec.decoded)))
        log = math.log(2 / rest)
        linear = reach * log / (3 * self.people)
        return float(self.spec.width) * (linear + math.sqrt(linear**2 + 2 * float(variance) * log / self.people))
