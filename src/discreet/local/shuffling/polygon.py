"""From upper bounds on delta at some levels to a pair of laws that is nowhere better: exact, in rationals."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from discreet.laws.number import Number
from discreet.laws.pairs.finite import Finite, FinitePair
from discreet.privacy.numbers.rounding import number, upward


def pair_below(dots: Sequence[tuple[float, float]], largest: Fraction) -> FinitePair:
    """Return a symmetric pair with delta at least that of every pair that keeps below the dots in both directions.

    `dots` are levels epsilon >= 0 with upper bounds on delta; beyond `largest` delta is 0.

    Privacy. The pair dominates every pair of laws whose delta is at most the dots' in both directions.
        Proof: write D(t) = delta(ln t) of one direction, a convex function that falls from D(0) = 1, and D' of the
        other. D(1/t) = 1 - 1/t + D'(t)/t, so a bound on both at t gives one at 1/t; and D(t) = 1 - t up to e^-largest.
        The largest convex function below the dots is at least D, because D is one, and at least D' likewise. It is a
        polygon that starts with slope -1 and ends at 0; at a corner t where the slope changes by s let Q have mass s
        and P mass s t. Both add up to 1, the loss at the corner is ln t, and the delta of this pair is the polygon.
        Levels are rounded so that a bound at ln t or below is used at t.
    """
    end = Fraction(_exponential(largest))
    points = {Fraction(0): Fraction(1), end: Fraction(0)}
    for level, bound in dots:
        place, height = Fraction(_exponential(level)), min(Fraction(bound), Fraction(1))
        if place < end:
            points[place] = min(points.get(place, Fraction(1)), height)
    for place, height in [*points.items()]:
        if place >= 1:
            points[1 / place] = 1 - 1 / place + height / place
    hull = _convex(sorted(points.items()))
    slopes = [(y1 - y0) / (x1 - x0) for (x0, y0), (x1, y1) in pairwise(hull)] + [Fraction(0)]
    corners = [
        (place, after - before) for (place, _), before, after in zip(hull[1:], slopes[:-1], slopes[1:], strict=True)
    ]
    names = range(len(corners))
    first = Finite(names, [place * change for place, change in corners])
    return first.pair(Finite(names, [change for _, change in corners]))


def _exponential(level: Number) -> float:
    """Return e^level, rounded up."""
    return upward(lambda: number(level).exp())


def _convex(points: Sequence[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """Return the corners of the largest convex function below the points."""
    hull: list[tuple[Fraction, Fraction]] = []
    for x, y in points:
        while len(hull) > 1:
            (x0, y0), (x1, y1) = hull[-2], hull[-1]
            if (y1 - y0) * (x - x0) < (y - y0) * (x1 - x0):
                break
            hull.pop()
        hull.append((x, y))
    return hull
