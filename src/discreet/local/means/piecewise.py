"""The piecewise law on a public grid: a window slides with the value, and reports fall into it more often."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.local.protocol import COIN_TOTAL, Integers, coin, is_integer, toss
from discreet.randomness import uniform_below_array

_MOST_STEPS = 1 << 12


@dataclass(frozen=True)
class Piecewise:
    """Position i of a grid of m steps prefers the w outputs i, ..., i + w - 1 of N = m + w.

    A report lies in the window with probability p = coin / 2^64 and outside otherwise, uniformly in each. One step and
    a window of one output is Warner's coin.

    Privacy. A report is epsilon-locally private for every change of the position, and of a value rounded to positions
        by chance.
        Proof: every output has probability p / w or (1 - p) / m whatever the position, since all windows have w
        outputs. Their ratio is at most e^epsilon because p is rounded down (`coin`), and at least 1. The law of a value
        is a mixture of laws of positions, with weights that do not depend on the output; a ratio of mixtures lies
        between the smallest and the largest ratio of their parts.
    Accuracy. (y - c) / (m s), with s = p - (1 - p) w / m and c the mean report of position 0, is exactly unbiased for
        i / m. Its second moment at i is an exact rational number, quadratic in i; between positions it is interpolated
        linearly, so that the variance of a value is the interpolated second moment less its square.
        Proof: the window sums to w i + const and everything to a constant, so E[y] = p (i + const) + (1 - p) (const -
        w i) / m = c + s i. A value is rounded by chance between two neighbours with its own mean; mean and second
        moment are linear in the weights of the mixture.
    Reference. Wang et al. 2019 for a continuous output; Zhao et al. 2020 for windows of other widths.

    >>> warner = Piecewise(Fraction(1), 1, 1)
    >>> float(warner.preference), float(warner.decode(1) + warner.decode(0))
    (0.7310585786300049, 1.0)
    """

    epsilon: Fraction
    steps: int
    window: int

    def __post_init__(self) -> None:
        """Check the sizes."""
        for name in ("steps", "window"):
            given = getattr(self, name)
            if not is_integer(given) or not 1 <= given <= _MOST_STEPS:
                raise ParameterError(f"{name} is an int from 1 to {_MOST_STEPS}", parameter=name)
            object.__setattr__(self, name, int(given))

    @property
    def outputs(self) -> int:
        """The number N of outputs."""
        return self.steps + self.window

    @property
    def apart(self) -> int:
        """The most outputs that one position prefers and another does not."""
        return min(self.window, self.steps)

    @cached_property
    def coin(self) -> int:
        """The probability of the window, times 2^64."""
        return coin(self.epsilon, self.window, self.steps)

    @property
    def preference(self) -> Fraction:
        """The probability p of the window, exactly."""
        return Fraction(self.coin, COIN_TOTAL)

    @property
    def likely(self) -> Fraction:
        """The probability of one particular output in the window."""
        return self.preference / self.window

    @property
    def unlikely(self) -> Fraction:
        """The probability of one particular output outside."""
        return (1 - self.preference) / self.steps

    @cached_property
    def slope(self) -> Fraction:
        """How far the mean report moves when the position moves by one."""
        return self.preference - (1 - self.preference) * Fraction(self.window, self.steps)

    @cached_property
    def centre(self) -> Fraction:
        """The mean report c of position 0."""
        return self.preference * Fraction(self.window - 1, 2) + (1 - self.preference) * (
            self.window + Fraction(self.steps - 1, 2)
        )

    def decode(self, output: Number) -> Fraction:
        """Return the share of the range that a report stands for: unbiased, and often outside [0, 1]."""
        return (Fraction(output) - self.centre) / (self.slope * self.steps)

    def masses(self, position: int) -> list[Fraction]:
        """Return the exact law of the report of a position."""
        inside = range(position, position + self.window)
        return [self.likely if output in inside else self.unlikely for output in range(self.outputs)]

    def moment(self, position: int) -> Fraction:
        """Return the exact second moment of the decoded report of a position."""
        window = _squares(position + self.window) - _squares(position)
        square = self.likely * window + self.unlikely * (_squares(self.outputs) - window)
        mean = self.centre + self.slope * position
        return (square - 2 * self.centre * mean + self.centre**2) / (self.slope * self.steps) ** 2

    def moment_at(self, share: Fraction) -> Fraction:
        """Return the exact second moment of the decoded report of a value at this share of the range."""
        cell = min(int(share * self.steps), self.steps - 1)
        weight = share * self.steps - cell
        return (1 - weight) * self.moment(cell) + weight * self.moment(cell + 1)

    def randomise(self, positions: Integers) -> Integers:
        """Draw a report for each position, exactly."""
        inside = positions + uniform_below_array(self.window, positions.size)
        other = uniform_below_array(self.steps, positions.size)
        outside = other + np.where(other >= positions, self.window, 0)
        return np.where(toss(self.coin, positions.size), inside, outside)


def _squares(count: int) -> int:
    """Return 0 + 1 + 4 + ... + (count - 1)^2."""
    return (count - 1) * count * (2 * count - 1) // 6
