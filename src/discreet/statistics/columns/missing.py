"""What a statistic does with missing values: leave their rows out, or replace them by a public number."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

from discreet.errors import ParameterError
from discreet.laws.number import Number, rational_or_none


class Missing(Enum):
    """The rule for NULL and NaN when no number replaces them.

    `LEAVE_OUT` treats a row with a missing value as if it were not there: it is not counted, not summed, not ranked.
    How many rows are left is then private, under either relation.
    """

    LEAVE_OUT = "left out"

    def __repr__(self) -> str:
        return f"Missing.{self.name}"


def replacement(missing: Missing | Number) -> Fraction | None:
    """Return the public number that replaces a missing value, None where missing values are left out."""
    if isinstance(missing, Missing):
        return None
    exact = rational_or_none(missing)
    if exact is None:
        raise ParameterError(
            "missing= must be Missing.LEAVE_OUT or a finite number in place of every missing value",
            parameter="missing",
        )
    return exact
