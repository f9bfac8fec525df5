"""Counts: of rows, of values that are there, of units."""

from __future__ import annotations

from fractions import Fraction

from discreet.query.measures.measure import Simple
from discreet.query.plan.bounding import Bounding, RowNorms
from discreet.query.plan.query_plan import Asked, MeasureKind
from discreet.query.plan.request import EachRow, One, Present, Units

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
