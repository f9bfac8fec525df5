"""A bounded number on its way to a report: checked, rounded to a public grid by chance, reported by the piecewise law.

In that law a window slides with the value, and reports fall into it more often.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, MissingParameter, ParameterError
from discreet.laws.number import Number, exact_rational, rational_or_none, round_down, round_up
from discreet.local.protocol import Integers, Preference, array_or_none, toss, whole_within
from discreet.randomness import uniform_below_array, words
from discreet.randomness.rigor import uniform_is_below

_MOST_STEPS = 1 << 12
Values = NDArray[Any]
Range = tuple[Fraction, Fraction]
_EXACT_INTEGERS = 1 << 53
_ROUNDING = 2.0**-50
_LONGEST_BITS = 1200
_REFUSED = "a value must be a finite number within the public bounds; nothing was reported"


@dataclass(frozen=True)
class Piecewise(Preference):
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
        w i) / m = c + s i. A value is rounded by chance between two neighbors with its own mean; mean and second
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
        for name in ("steps", "window"):
            object.__setattr__(self, name, whole_within(getattr(self, name), 1, _MOST_STEPS, name=name))

    @property
    def outputs(self) -> int:
        """The number N of outputs."""
        return self.steps + self.window

    @property
    def apart(self) -> int:
        """The most outputs that one position prefers and another does not."""
        return min(self.window, self.steps)

    @property
    def sides(self) -> tuple[int, int]:
        """The outputs in the window and outside."""
        return self.window, self.steps

    @property
    def exact_epsilon(self) -> Fraction:
        """Epsilon, exactly."""
        return self.epsilon

    @cached_property
    def slope(self) -> Fraction:
        """How far the mean report moves when the position moves by one."""
        return self.preference - (1 - self.preference) * Fraction(self.window, self.steps)

    @cached_property
    def center(self) -> Fraction:
        """The mean report c of position 0."""
        return self.preference * Fraction(self.window - 1, 2) + (1 - self.preference) * (
            self.window + Fraction(self.steps - 1, 2)
        )

    def decode(self, output: Number) -> Fraction:
        """Return the part of the range that a report stands for: unbiased, and often outside [0, 1]."""
        return (Fraction(output) - self.center) / (self.slope * self.steps)

    def masses(self, position: int) -> list[Fraction]:
        """Return the exact law of the report of a position."""
        inside = range(position, position + self.window)
        return [self.likely if output in inside else self.unlikely for output in range(self.outputs)]

    def moment(self, position: int) -> Fraction:
        """Return the exact second moment of the decoded report of a position."""
        window = _squares(position + self.window) - _squares(position)
        square = self.likely * window + self.unlikely * (_squares(self.outputs) - window)
        mean = self.center + self.slope * position
        return (square - 2 * self.center * mean + self.center**2) / (self.slope * self.steps) ** 2

    def moment_at(self, relative: Fraction) -> Fraction:
        """Return the exact second moment of the decoded report of a value at this part of the range."""
        cell = min(int(relative * self.steps), self.steps - 1)
        weight = relative * self.steps - cell
        return (1 - weight) * self.moment(cell) + weight * self.moment(cell + 1)

    def randomize(self, positions: Integers) -> Integers:
        """Draw a report for each position, exactly."""
        inside = positions + uniform_below_array(self.window, positions.size)
        other = uniform_below_array(self.steps, positions.size)
        outside = other + np.where(other >= positions, self.window, 0)
        return np.where(toss(self.coin, positions.size), inside, outside)


def _squares(count: int) -> int:
    """Return 0 + 1 + 4 + ... + (count - 1)^2."""
    return (count - 1) * count * (2 * count - 1) // 6


def checked_bounds(bounds: object) -> Range:
    """Return the two ends of the public range, exactly; raise on a range that is empty, or that floats cannot hold."""
    if bounds is None:
        raise MissingParameter(
            "bounds=(low, high) is the public range; it is never taken from data", parameter="bounds"
        )
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise ParameterError("bounds must be two numbers (low, high)", parameter="bounds")
    low, high = (_exact_end(end) for end in bounds)
    if not low < high:
        raise ParameterError("bounds must be (low, high) with low < high", parameter="bounds")
    if not Fraction(1, 2**900) < high - low < 2**900 or max(abs(low), abs(high)) > 2**900:
        raise ParameterError("bounds must be within what floats hold: use another unit", parameter="bounds")
    return low, high


def _exact_end(end: object) -> Fraction:
    """Return one end of the range exactly."""
    if end is None or isinstance(end, np.timedelta64):  # an integer for numpy, but in which unit?
        raise ParameterError("bounds must be two numbers, not None and not spans of time", parameter="bounds")
    exact = exact_rational(end, name="bounds")
    if max(exact.numerator.bit_length(), exact.denominator.bit_length()) > _LONGEST_BITS:
        raise ParameterError(f"bounds must be fractions of at most {_LONGEST_BITS} bits", parameter="bounds")
    return exact


def checked_values(values: Any, bounds: Range) -> Values:
    """Return values as floats, or as Fractions where floats do not hold them; raise InputError on anything else.

    >>> checked_values([1, 0.5, Fraction(1, 3)], (Fraction(0), Fraction(1))).dtype
    dtype('O')
    """
    found = _values(values, bounds)
    if found is None:  # raised here, outside any handler: nothing that could carry the value is chained
        raise InputError(_REFUSED)
    return found


def _values(values: Any, bounds: Range) -> Values | None:
    """Return the values; None if any of them is not allowed."""
    if isinstance(values, list | tuple):
        return _one_by_one(list(values), bounds)
    array = array_or_none(values)
    if array is None or isinstance(values, np.ma.MaskedArray) or array.ndim != 1 or array.dtype.kind not in "fiuO":
        return None
    if _are_floats(array):
        return _floats(array.astype(np.float64), bounds)
    return _one_by_one(array.tolist(), bounds) if array.dtype.kind != "f" else None


def _are_floats(array: Values) -> bool:
    """Say whether 64-bit floats hold all these numbers."""
    if array.dtype.kind == "f" or not array.size:
        return array.dtype.itemsize <= 8
    return array.dtype.kind in "iu" and int(array.min()) >= -_EXACT_INTEGERS and int(array.max()) <= _EXACT_INTEGERS


def _floats(array: Values, bounds: Range) -> Values | None:
    """Check floats against the least and the greatest float of the range: exact, and false for NaN."""
    within = (array >= round_up(bounds[0])) & (array <= round_down(bounds[1]))
    return array if bool(within.all()) else None


def _one_by_one(values: list[Any], bounds: Range) -> Values | None:
    """Read Python numbers: floats stay floats, anything a float does not hold becomes a Fraction."""
    if all(type(value) is float for value in values):
        return _floats(np.array(values, dtype=np.float64), bounds)
    found = np.empty(len(values), dtype=object)
    low, high = bounds
    for position, value in enumerate(values):
        exact = None if isinstance(value, np.timedelta64) else rational_or_none(value)
        if exact is None or not low <= exact <= high:
            return None
        found[position] = exact
    return found


def grid_positions(values: Values, bounds: Range, steps: int) -> Integers:
    """Round values to one of the two nearest points of a grid of `steps` steps, so that the mean stays exactly.

    A value at t = steps (value - low) / (high - low) becomes floor(t) + 1 with probability t - floor(t), else
    floor(t): that is floor(t + U) for a uniform U. Floats settle it where t + U is further from an integer than a
    proven bound on their rounding; the few others are decided exactly, with as many more bits of U as that takes.

    Accuracy. The position has mean t exactly, as a rational number of the given float.
        Proof: floor(t + U) exceeds floor(t) if and only if U >= 1 - (t - floor(t)). In floats, with B the larger of
        the bounds in absolute value: the bound low, the difference, the scale, the product, U and the sum are each
        rounded once, by at most 2^-53 relative, so that the sum is wrong by less than 2^-50 (steps + scale B + 1).
    """
    low, high = bounds
    draws = words(values.size)
    positions = np.empty(values.size, dtype=np.int64)
    unsettled = np.arange(values.size)
    if values.dtype != object:
        start, scale = float(low), float(steps / (high - low))
        doubt = _ROUNDING * (steps + scale * max(abs(start), abs(float(high))) + 1.0)
        sums = (values - start) * scale + (draws >> np.uint64(11)).astype(np.float64) * 2.0**-53
        whole = np.floor(sums)
        clear = (sums - whole > doubt) & (whole + 1.0 - sums > doubt)
        positions[clear] = whole[clear].astype(np.int64)
        unsettled = np.flatnonzero(~clear)
    for index in unsettled.tolist():
        exact = steps * (Fraction(values[index]) - low) / (high - low)
        positions[index] = _floor_of_sum(exact, int(draws[index]))
    return positions


def _floor_of_sum(value: Fraction, word: int) -> int:
    """Return floor(value + U) for the uniform U whose first 64 bits are the word."""
    whole = math.floor(value)
    rest = 1 - (value - whole)

    def scaled(bit_count: int) -> tuple[int, int]:
        shifted = rest.numerator << bit_count
        return shifted // rest.denominator, -(-shifted // rest.denominator)

    return whole if uniform_is_below(word, 64, scaled) else whole + 1
