"""Sums of values clipped to public bounds."""

from __future__ import annotations

from discreet.errors import UnsupportedSQL
from discreet.query.measures.measure import STEP_BITS, Simple, grid_between
from discreet.query.plan.bounding import Bounding, RowNorms
from discreet.query.plan.query_plan import Asked
from discreet.query.plan.request import Steps

_LARGEST = 1 << 40


def total(asked: Asked, bounding: Bounding) -> Simple:
    """Return the measure of SUM(x).

    Privacy. After clipping and rounding a row adds an integer between L and U, in steps of the grid, or 0 where the
        argument is NULL: r = s = max(|L|, |U|) in `Bounding`; two units in one group are max(U, 0) - min(L, 0) apart.
    Accuracy. The interval is the exact quantile of the integer noise, for the sum of the rows as they were clipped,
        rounded and weighted.
    """
    if asked.argument is None or asked.bounds is None:
        raise AssertionError("a sum has an argument and bounds")
    scale = grid_between(asked.bounds, asked.argument, bits=STEP_BITS)
    most = max(abs(scale.start), abs(scale.end), 1)
    if most > _LARGEST:
        raise UnsupportedSQL(
            f"the range of {asked.name} is narrow and far from 0, so its sum would be all offset: subtract a public "
            "number from the argument, such as SUM(x - 1000000). Nothing was spent."
        )
    apart = max(scale.end, 0) - min(scale.start, 0)
    norms = RowNorms(one=most, squared=most**2, apart=apart, apart_squared=apart**2, nonnegative=scale.start >= 0)
    cell = Steps(asked.argument, scale, offset=scale.start)
    return Simple((asked,), bounding, norms, cell, scale.grid / bounding.unit, "sum")
