"""Counts: of rows, of values that are there, of units.

Sums of values clipped to public bounds.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import UnsupportedSQL
from discreet.query.measures.measure import STEP_BITS, Simple, grid_between
from discreet.query.plan import Asked, Bounding, EachRow, MeasureKind, One, Present, RowNorms, Steps, Units

_ONE = RowNorms(one=1, squared=1, apart=1, apart_squared=1, nonnegative=True)


def count(asked: Asked, bounding: Bounding) -> Simple:
    """Return the measure of COUNT(*), COUNT(x) or COUNT(DISTINCT unit).

    Privacy. A row adds 1 to its group, or 0: r = s = 1 in `Bounding`. A unit adds 1 to each of at most k groups.
    Accuracy. The interval is the exact quantile of the integer noise, for the count of the rows as they were weighted.
    """
    if asked.kind is MeasureKind.COUNT_UNITS:
        return Simple((asked,), units_bounding(bounding), _ONE, Units(), Fraction(1), "number of units")
    cell = One() if asked.argument is None else Present(asked.argument)
    return Simple((asked,), bounding, _ONE, cell, Fraction(1, bounding.unit), "count")


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
