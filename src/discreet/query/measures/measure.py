"""What every measure knows: which integers it adds up, how far they move, and what noisy ones say."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.laws import DiscreteGaussian
from discreet.laws.noise import IntegerNoise
from discreet.laws.number import round_up
from discreet.mechanisms.noise import floor_log2, two_to
from discreet.query.expression import Expression, Type
from discreet.query.plan import Asked, Bounding, Cell, RowNorms
from discreet.statistics.columns import FixedPoint
from discreet.statistics.pricing import NoisyVector

Number = int | float
Estimated = tuple[Number, float, float]
Released = Sequence[Sequence[int]]  # one sequence an entry, one integer a group

STEP_BITS = 24  # of a sum: weight, value and contribution together stay far below 63 bits
SQUARE_BITS = 19  # of a sum of squares
_FLOAT_BITS = 51


@dataclass(frozen=True, slots=True)
class Spend:
    """The part of a price that one measure gets: epsilon for Laplace noise, or rho for Gaussian."""

    epsilon: Fraction | None = None
    rho: Fraction | None = None


class Measure(ABC):
    """One or several aggregates that are released together, with one kind of noise."""

    asked: tuple[Asked, ...]
    bounding: Bounding

    @property
    @abstractmethod
    def entries(self) -> int:
        """How many integers are released for a group."""

    @abstractmethod
    def values(self, released: Released) -> list[list[Number]]:
        """Return for each aggregate its value in every group."""

    @abstractmethod
    def estimates(self, released: Released, spend: Spend, confidence: float) -> list[list[Estimated]]:
        """Return for each aggregate value, low and high in every group, each interval with this confidence."""

    @abstractmethod
    def spread(self, spend: Spend) -> list[float | None]:
        """Return for each aggregate the standard deviation of its noise in its own unit; None where it has none."""

    @abstractmethod
    def width(self, spend: Spend, confidence: float, people: int | None) -> list[float | None]:
        """Return for each aggregate the half-width expected in a group of so many rows; None if that must be known."""

    @abstractmethod
    def words(self, spend: Spend) -> str:
        """Say in public words what is released."""


class Additive(Measure):
    """Integer sums with noise on each."""

    norms: RowNorms

    @property
    @abstractmethod
    def cells(self) -> tuple[Cell, ...]:
        """What every row adds."""

    def vectors(self, sums: Sequence[Sequence[int]]) -> list[list[int]]:
        """Return the integers that get noise, from the sums of the cells; as they are unless said otherwise."""
        return [list(one) for one in sums]

    def noise(self, spend: Spend) -> NoisyVector:
        """Return the noise that a part of the price buys."""
        shift, squared = self.bounding.moved(self.norms)
        relation, scalar = self.bounding.relation, self.bounding.single and self.entries == 1
        if spend.rho is not None:
            return NoisyVector.gaussian(rho=spend.rho, shift=shift, squared=squared, relation=relation, scalar=scalar)
        if spend.epsilon is None:
            raise AssertionError("a part of a price is epsilon or rho")
        return NoisyVector.laplace(epsilon=spend.epsilon, shift=shift, relation=relation, scalar=scalar)

    def release(self, sums: Sequence[Sequence[int]], spend: Spend) -> list[list[int]]:
        """Add the noise: the only place where private sums become an answer."""
        vectors = np.array(self.vectors(sums), dtype=object).reshape(self.entries, -1)
        return [[int(one) for one in row] for row in self.noise(spend)(vectors)]


@dataclass(frozen=True)
class Simple(Additive):
    """One integer a group that stands for the answer times a constant: a count or a sum."""

    asked: tuple[Asked, ...]
    bounding: Bounding
    norms: RowNorms
    cell: Cell
    step: Fraction  # what the integer 1 stands for
    name: str

    @property
    def entries(self) -> int:
        """One."""
        return 1

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The one cell."""
        return (self.cell,)

    def values(self, released: Released) -> list[list[Number]]:
        """Return the integers in the unit of the answer."""
        return [[self._in_units(one) for one in released[0]]]

    def _in_units(self, whole: int) -> Number:
        up, down = self.step.numerator, self.step.denominator
        return whole * up if down == 1 else whole * up / down

    def estimates(self, released: Released, spend: Spend, confidence: float) -> list[list[Estimated]]:
        """Return intervals by the exact quantile of the noise."""
        width = self.noise(spend).error(confidence)
        return [
            [
                (self._in_units(one), -round_up(-(one - width) * self.step), round_up((one + width) * self.step))
                for one in released[0]
            ]
        ]

    def spread(self, spend: Spend) -> list[float | None]:
        """Return the standard deviation of the noise."""
        return [deviation(self.noise(spend).noise) * float(self.step)]

    def width(self, spend: Spend, confidence: float, people: int | None) -> list[float | None]:  # noqa: ARG002
        """Return the exact quantile; it does not depend on the rows."""
        return [round_up(self.noise(spend).error(confidence) * self.step)]

    def words(self, spend: Spend) -> str:
        """Say what is released."""
        return f"{self.name} with {noise_words(self.noise(spend).noise, self.step)}"


def grid_between(bounds: tuple[Fraction, Fraction], argument: Expression, *, bits: int) -> FixedPoint:
    """Lay a public grid over the range of an argument: whole numbers where they fit, else 2^bits steps or so."""
    low, high = bounds
    fine = two_to(floor_log2(high - low) - bits)
    if argument.type is Type.INTEGER:
        fine = max(fine, Fraction(1))
    fine = max(fine, two_to(floor_log2(max(abs(low), abs(high))) - _FLOAT_BITS))  # no finer than floats are there
    start, end = low // fine, -(-high // fine)
    return FixedPoint.between((start * fine, end * fine), grid=fine)


def rounding(scale: FixedPoint, argument: Expression) -> Fraction:
    """Return how far a value can be from its place on the grid: not at all where both are whole numbers."""
    return Fraction(0) if scale.grid == 1 and argument.type is Type.INTEGER else scale.grid / 2


def noise_words(noise: IntegerNoise, step: Fraction) -> str:
    """Name a noise in the unit of the answer, with the step of its grid.

    >>> from discreet.laws.noise.discrete_laplace import DiscreteLaplace
    >>> noise_words(DiscreteLaplace(30 << 20), Fraction(1, 1 << 20))
    'discrete Laplace noise of scale 30 on steps of 2^-20'
    """
    family = "Gaussian" if isinstance(noise, DiscreteGaussian) else "Laplace"
    power = floor_log2(step)
    grid = f"2^{power}" if two_to(power) == step else f"{float(step):.6g}"
    return f"discrete {family} noise of scale {float(noise.scale * step):.6g} on steps of {grid}"


def deviation(noise: IntegerNoise) -> float:
    """Return the standard deviation of integer noise, in steps, to within a step."""
    return float(noise.scale) * (1.0 if isinstance(noise, DiscreteGaussian) else math.sqrt(2.0))
