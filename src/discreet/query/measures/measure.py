"""What every measure knows: which integers it adds up, how far they move, and what noisy ones say; counts and sums."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.errors import UnsupportedSQL
from discreet.laws import DiscreteGaussian, RoundedGaussian
from discreet.laws.noise import IntegerNoise
from discreet.laws.number import round_up
from discreet.mechanisms.noise import floor_log2, two_to
from discreet.privacy import Price
from discreet.query.expression import Expression, Type
from discreet.query.plan import (
    Aggregate,
    Bounding,
    Cell,
    EachRow,
    Groups,
    Key,
    MeasureKind,
    One,
    Present,
    RowNorms,
    RowSource,
    Steps,
    Units,
    ValuesRequest,
)
from discreet.statistics.columns import FixedPoint
from discreet.statistics.measurement import ROWS, UNITS, AddsUp, Counts, PowerSums
from discreet.statistics.pricing import NoisyVector

Number = int | float
Estimated = tuple[Number, float | None, float | None]  # no ends where no interval was bought
Released = Sequence[Sequence[int]]  # one sequence an entry, one integer a group

STEP_BITS = 24  # of a sum: weight, value and rows of one unit together stay far below 63 bits
SQUARE_BITS = 19  # of a sum of squares
_FLOAT_BITS = 51
_LARGEST = 1 << 40
_ONE = RowNorms(one=1, squared=1, apart=1, apart_squared=1, nonnegative=True)


class Measure(ABC):
    """One or several aggregates that are released together, with one kind of noise."""

    asked: tuple[Aggregate, ...]
    bounding: Bounding

    @property
    @abstractmethod
    def entries(self) -> int:
        """How many integers are released for a group."""

    @abstractmethod
    def values(self, released: Released) -> list[list[Number]]:
        """Return for each aggregate its value in every group."""

    @abstractmethod
    def estimates(self, released: Released, part: Price, confidence: float) -> list[list[Estimated]]:
        """Return for each aggregate value, low and high in every group, each interval with this confidence."""

    def spread(self, part: Price) -> list[float | None]:  # noqa: ARG002  for measures whose noise has one
        """Return for each aggregate the standard deviation of its noise in its own unit; None where it has none.

        The noise of a ratio depends on the size of the group, and a quantile is off in rank, not in value.
        """
        return [None] * len(self.asked)

    def width(self, part: Price, confidence: float, rows_expected: int | None) -> list[float | None]:  # noqa: ARG002
        """Return for each aggregate the half-width expected in a group of `rows_expected` rows, or None.

        How far a rank is in value depends on the data.
        """
        return [None] * len(self.asked)

    def adds_up(self, said: Callable[[Expression], str]) -> AddsUp | None:  # noqa: ARG002  for those that add up
        """Return what the released integers add up, given the text of an argument; None where they are no sums."""
        return None

    def noise_of(self, part: Price) -> IntegerNoise:  # noqa: ARG002  for measures that add up
        """Return the law of the noise on every released integer of what adds up."""
        raise AssertionError("only what adds up has one noise")

    @abstractmethod
    def words(self, part: Price) -> str:
        """Say in public words what is released."""


class Additive(Measure):
    """Integer sums with noise on each."""

    norms: RowNorms
    cells: tuple[Cell, ...]  # what every row adds

    def vectors(self, sums: Sequence[Sequence[int]]) -> list[list[int]]:
        """Return the integers that get noise, from the sums of the cells; as they are unless said otherwise."""
        return [list(one) for one in sums]

    def noise(self, part: Price) -> NoisyVector:
        """Return the noise that a part of the price buys; it is made once."""
        if part not in self._bought:
            self._bought[part] = self._noise(part)
        return self._bought[part]

    @cached_property
    def _bought(self) -> dict[Price, NoisyVector]:
        return {}

    def _noise(self, part: Price) -> NoisyVector:
        sensitivity, squared = self.bounding.moved(self.norms)
        relation, scalar = self.bounding.relation, self.bounding.single and self.entries == 1
        if part.epsilon is None:  # under a Gaussian budget mu, for which the noise is rounded normal noise
            return NoisyVector.gaussian(
                rho=part.rho, mu=part.mu, sensitivity=sensitivity, squared=squared, relation=relation, scalar=scalar
            )
        return NoisyVector.laplace(epsilon=part.epsilon, sensitivity=sensitivity, relation=relation, scalar=scalar)

    def noise_of(self, part: Price) -> IntegerNoise:
        """Return the law of the noise, about 0."""
        return self.noise(part).noise

    def release(self, sums: Sequence[Sequence[int]], part: Price) -> list[list[int]]:
        """Add the noise: the only place where private sums become an answer."""
        vectors = np.array(self.vectors(sums), dtype=object).reshape(self.entries, -1)
        return [[int(one) for one in row] for row in self.noise(part)(vectors)]


@dataclass(frozen=True)
class OneInteger(Additive):
    """One integer a group that stands for the answer times a constant."""

    asked: tuple[Aggregate, ...]
    bounding: Bounding
    norms: RowNorms
    cells: tuple[Cell, ...]  # one, or none where the number is no sum over rows
    step: Fraction  # what the integer 1 stands for
    name: str

    entries = 1

    def values(self, released: Released) -> list[list[Number]]:
        """Return the integers in the unit of the answer."""
        return [[self._in_units(one) for one in released[0]]]

    def _in_units(self, whole: int) -> Number:
        up, down = self.step.numerator, self.step.denominator
        return whole * up if down == 1 else whole * up / down

    def estimates(self, released: Released, part: Price, confidence: float) -> list[list[Estimated]]:
        """Return intervals by the exact quantile of the noise."""
        width = self.noise(part).error(confidence)
        return [
            [
                (self._in_units(one), -round_up(-(one - width) * self.step), round_up((one + width) * self.step))
                for one in released[0]
            ]
        ]

    def spread(self, part: Price) -> list[float | None]:
        """Return the standard deviation of the noise."""
        return [deviation(self.noise(part).noise) * float(self.step)]

    def width(self, part: Price, confidence: float, rows_expected: int | None) -> list[float | None]:  # noqa: ARG002
        """Return the exact quantile; it does not depend on the rows."""
        return [round_up(self.noise(part).error(confidence) * self.step)]

    def words(self, part: Price) -> str:
        """Say what is released."""
        return f"{self.name} with {noise_words(self.noise(part).noise, self.step)}"


def grid_between(bounds: tuple[Fraction, Fraction], argument: Expression, *, bits: int) -> FixedPoint:
    """Lay a public grid over the range of an argument: whole numbers where they fit, else 2^bits steps or so."""
    low, high = bounds
    fine = two_to(floor_log2(high - low) - bits)
    if argument.type is Type.INTEGER:
        fine = max(fine, Fraction(1))
    fine = max(fine, two_to(floor_log2(max(abs(low), abs(high))) - _FLOAT_BITS))  # no finer than floats are there
    start, end = low // fine, -(-high // fine)
    return FixedPoint.between((start * fine, end * fine), grid=fine)


def argument_on_grid(asked: Aggregate, *, bits: int) -> tuple[Expression, FixedPoint]:
    """Return the argument of an aggregate that has bounds, and the grid over them."""
    if asked.argument is None or asked.bounds is None:
        raise AssertionError("this aggregate has an argument and bounds")
    return asked.argument, grid_between(asked.bounds, asked.argument, bits=bits)


def rounding(scale: FixedPoint, argument: Expression) -> Fraction:
    """Return how far a value can be from its place on the grid: not at all where both are whole numbers."""
    return Fraction(0) if scale.grid == 1 and argument.type is Type.INTEGER else scale.grid / 2


def noise_words(noise: IntegerNoise, step: Fraction) -> str:
    """Name a noise in the unit of the answer, with the step of its grid.

    >>> from discreet.laws.noise.discrete_laplace import DiscreteLaplace
    >>> noise_words(DiscreteLaplace(30 << 20), Fraction(1, 1 << 20))
    'discrete Laplace noise of scale 30 on steps of 2^-20'
    """
    family = "discrete Laplace"
    if isinstance(noise, DiscreteGaussian | RoundedGaussian):
        family = "rounded Gaussian" if isinstance(noise, RoundedGaussian) else "discrete Gaussian"
    up, down = step.numerator, step.denominator
    power_of_two = up.bit_count() == down.bit_count() == 1
    grid = f"2^{up.bit_length() - down.bit_length()}" if power_of_two else f"{float(step):.6g}"
    return f"{family} noise of scale {float(noise.scale * step):.6g} on steps of {grid}"


def deviation(noise: IntegerNoise) -> float:
    """Return the standard deviation of integer noise, in steps, to within a step."""
    gaussian = isinstance(noise, DiscreteGaussian | RoundedGaussian)
    return float(noise.scale) * (1.0 if gaussian else math.sqrt(2.0))


def count(asked: Aggregate, bounding: Bounding) -> Simple:
    """Return the measure of COUNT(*), COUNT(x) or COUNT(DISTINCT unit).

    Privacy. A row adds 1 to its group, or 0: r = s = 1 in `Bounding`. A unit adds 1 to each of at most k groups.
    Accuracy. The interval is the exact quantile of the integer noise, for the count of the rows as they were weighted.
    """
    if asked.kind is MeasureKind.COUNT_UNITS:
        return Simple((asked,), units_bounding(bounding), _ONE, (Units(),), Fraction(1), "number of units")
    cell = One() if asked.argument is None else Present(asked.argument)
    return Simple((asked,), bounding, _ONE, (cell,), Fraction(1, bounding.unit), "count")


@dataclass(frozen=True)
class Simple(OneInteger):
    """A count or a sum of the rows."""

    def adds_up(self, said: Callable[[Expression], str]) -> AddsUp:
        """Return the count of rows, values or units, or the sum: position and start of the grid, for every value."""
        argument, often = self.asked[0].argument, self.bounding.often
        if self.asked[0].kind is MeasureKind.SUM:
            argument, scale = argument_on_grid(self.asked[0], bits=STEP_BITS)
            return PowerSums(said(argument), scale, ((scale.start, 1, 0),), self.bounding.unit, not often, often)
        if self.asked[0].kind is MeasureKind.COUNT_UNITS:
            return counts_of_units(self.bounding)
        counted = ROWS if argument is None else f"values of {said(argument)}"
        return Counts(counted, self.bounding.unit, not often, often)


@dataclass(frozen=True)
class NumberOfValues(OneInteger):
    """COUNT(DISTINCT x): how many different values a group has, of those that units bring.

    Privacy. The count moves by 1 for a pair of a group and a value that a unit brings alone: `of_values` says how many
        there are, r = s = 1 in `Bounding`.
    Accuracy. The interval is the exact quantile of the integer noise, for the number of values that were brought.
    """

    def wanted(self, source: RowSource, keys: tuple[Key, ...], bounded: str | None) -> ValuesRequest:
        """Return what an engine is asked."""
        argument, form = self.asked[0].argument, self.bounding.form
        if argument is None or not isinstance(form, EachRow | Groups):
            raise AssertionError("values have an argument, and are brought by rows or by groups")
        return ValuesRequest(source, keys, form, argument, bounded)


def number_of_values(asked: Aggregate, bounding: Bounding) -> NumberOfValues:
    """Return the measure of COUNT(DISTINCT x), of values."""
    return NumberOfValues((asked,), bounding, _ONE, (), Fraction(1), "number of values")


def units_bounding(bounding: Bounding) -> Bounding:
    """Return the bounds of a count of units: each counts 1 in each of its groups, whatever its rows weigh."""
    if isinstance(bounding.form, EachRow):
        return bounding
    groups = bounding.groups
    if groups is None:
        raise AssertionError("units are counted in the form that bounds groups")
    return Bounding(
        bounding.form, bounding.relation, 1, groups, groups, groups, bounding.single, bounding.reason
    )  # L1 norm k, L2 norm sqrt(k)


def counts_of_units(bounding: Bounding, *, selects: bool = False) -> Counts:
    """Return what a count of units adds up, the bounding being that of the count; a row that is a unit is a row."""
    often = bounding.often
    return Counts(ROWS if isinstance(bounding.form, EachRow) else UNITS, 1, not often, often, selects)


def total(asked: Aggregate, bounding: Bounding) -> Simple:
    """Return the measure of SUM(x).

    Privacy. After clipping and rounding a row adds an integer between L and U, in steps of the grid, or 0 where the
        argument is NULL: r = s = max(|L|, |U|) in `Bounding`; two units in one group are max(U, 0) - min(L, 0) apart.
    Accuracy. The interval is the exact quantile of the integer noise, for the sum of the rows as they were clipped,
        rounded and weighted.
    """
    argument, scale = argument_on_grid(asked, bits=STEP_BITS)
    most = max(abs(scale.start), abs(scale.end), 1)
    if most > _LARGEST:
        raise UnsupportedSQL(
            f"the range of {asked.name} is narrow and far from 0, so its sum would be all offset: subtract a public "
            "number from the argument, such as SUM(x - 1000000). Nothing was spent."
        )
    apart = max(scale.end, 0) - min(scale.start, 0)
    norms = RowNorms(one=most, squared=most**2, apart=apart, apart_squared=apart**2, nonnegative=scale.start >= 0)
    cell = Steps(argument, scale, offset=scale.start)
    return Simple((asked,), bounding, norms, (cell,), scale.grid / bounding.unit, "sum")
