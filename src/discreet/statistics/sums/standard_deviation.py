"""The standard deviation of a column: the root of a released variance, at no further price."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from discreet.laws.number import Number, positive_rational
from discreet.privacy import Estimate, Relation, Target
from discreet.statistics.columns.contribution import paired
from discreet.statistics.columns.missing import Missing
from discreet.statistics.sums.variance import Variance


class StandardDeviation(Variance):
    """The root of the variance, of values clipped to [L, U].

    Privacy. What `Variance` promises.
        Proof: the root is taken after the noise is in; post-processing costs nothing.
    Accuracy. The ends are the roots of the variance's, so the interval has the same confidence. A variance off by h at
        most gives a deviation off by sqrt(h) at most, since (s - t)^2 <= |s - t| (s + t) = |s^2 - t^2|, and by about
        h / (2 s) where the deviation s is large: `error=` asks for the former, which holds for any table.
    Cost. That of the variance.
    Figure. variance-error.svg
    Reference. As for `Variance`.

    >>> spread = StandardDeviation(bounds=(0, 100), relation=Relation.ADD_REMOVE, epsilon=1)([20.0, 40.0] * 5000)
    >>> abs(spread.value - 10) < 1
    True
    """

    def __init__(self, *, error: Number | None = None, **parameters: Any) -> None:
        """Take the parameters of `Variance`; `error` is that of the deviation."""
        wanted = None if error is None else positive_rational(error, name="error") ** 2
        super().__init__(error=wanted, **parameters)

    def estimate(self, released: Any, *, rows: int | None) -> Estimate:
        """Return the root of the noisy variance, and of the ends of its interval."""
        spread = super().estimate(released, rows=rows)
        return dataclasses.replace(
            spread,
            value=math.sqrt(spread.value),
            low=math.nextafter(math.sqrt(spread.low), 0.0),
            high=math.nextafter(math.sqrt(spread.high), math.inf),
        )


def standard_deviation(
    values: Any,
    *,
    bounds: Any = None,
    relation: Relation | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    error: Number | None = None,
    people: int | None = None,
    confidence: float = 0.95,
    target: Target = Target.TABLE,
    missing: Missing | Number = Missing.LEAVE_OUT,
    grid: Number | None = None,
    unit: Any = None,
    contribution: int | None = None,
    sample: bool = False,
) -> Estimate:
    """Return a private standard deviation of a column of numbers clipped to `bounds`: see `StandardDeviation`.

    >>> ages = [20.0, 30.0, 40.0] * 1000
    >>> abs(standard_deviation(ages, bounds=(0, 100), relation=Relation.ADD_REMOVE, epsilon=1).value - 8.2) < 4
    True
    """
    statistic = StandardDeviation(
        bounds=bounds,
        relation=relation,
        epsilon=epsilon,
        delta=delta,
        rho=rho,
        error=error,
        people=people,
        confidence=confidence,
        target=target,
        missing=missing,
        grid=grid,
        contribution=contribution,
        sample=sample,
    )
    result: Estimate = statistic(paired(values, unit, contribution))
    return result
