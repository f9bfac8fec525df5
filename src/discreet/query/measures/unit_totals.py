"""Sums and counts of which each unit adds no more than a stated range to a group."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import UnsupportedSQL
from discreet.mechanisms.noise import floor_log2
from discreet.query.expression import Expression
from discreet.query.measures.measure import STEP_BITS, OneInteger, argument_on_grid, units_bounding
from discreet.query.plan import Aggregate, Bounding, Cell, MeasureKind, One, Present, RowNorms, Steps, UnitTotal

_FINEST_BITS = 36  # of the grid of an argument: its positions stay far below 2^42
_LARGEST_START, _LARGEST_END = 1 << 40, 1 << 61


@dataclass(frozen=True)
class UnitTotals(OneInteger):
    """SUM(x) or COUNT, where what all rows of a unit add to a group is clipped to a stated range.

    Privacy. A unit adds one integer between L and U, or 0, to each of at most k groups: with r = s = max(|L|, |U|) in
        `Bounding` its L1 norm is k r and its L2 norm sqrt(k) s. In one group two units are max(U, 0) - min(L, 0) apart.
        Proof: a vector with at most k entries, none above r in absolute value; see `UnitTotal`. A unit without rows
        adds 0, so that adding it moves a sum by |L| at least where 0 is not in the range.
    Accuracy. The interval is the exact quantile of the integer noise, for the sum of what the units were clipped to.
    """

    def adds_up(self, said: Callable[[Expression], str]) -> None:  # noqa: ARG002  no model of clipped sums
        """Return None: what is clipped for each unit is no sum over rows."""
        return


def total_of_units(asked: Aggregate, bounding: Bounding) -> UnitTotals:
    """Return the measure of a SUM or COUNT whose units are clipped; ends are widened to the grid."""
    if asked.sums is None:
        raise AssertionError("this aggregate says what a unit may add")
    inner, grid, name = _cell(asked)
    low, high = math.floor(asked.sums[0] / grid), math.ceil(asked.sums[1] / grid)
    most = max(abs(low), abs(high), 1)
    if most > _LARGEST_END:
        raise UnsupportedSQL(
            f"sums= states for {asked.name} a range that is too wide for its values: write one that a sum can really "
            "have. Nothing was spent."
        )
    apart = max(high, 0) - min(low, 0)
    norms = RowNorms(one=most, squared=most**2, apart=apart, apart_squared=apart**2, nonnegative=low >= 0)
    cell: Cell = UnitTotal(inner, low, high)
    return UnitTotals((asked,), units_bounding(bounding), norms, (cell,), grid, name)


def _cell(asked: Aggregate) -> tuple[One | Present | Steps, Fraction, str]:
    """Return what a row adds, in which steps, and the name for it."""
    if asked.kind is not MeasureKind.SUM:
        return One() if asked.argument is None else Present(asked.argument), Fraction(1), "count clipped for each unit"
    if asked.bounds is None or asked.sums is None:
        raise AssertionError("a sum has bounds")
    wide, narrow = (max(abs(end) for end in ends) for ends in (asked.bounds, asked.sums))
    finer = max(floor_log2(wide) - floor_log2(narrow), 0) if wide and narrow else 0
    argument, scale = argument_on_grid(asked, bits=min(STEP_BITS + finer, _FINEST_BITS))
    if max(abs(scale.start), abs(scale.end)) > _LARGEST_START:
        raise UnsupportedSQL(
            f"the range of {asked.name} is narrow and far from 0, so its sum would be all offset: subtract a public "
            "number from the argument, such as SUM(x - 1000000). Nothing was spent."
        )
    return Steps(argument, scale, offset=scale.start), scale.grid, "sum clipped for each unit"
