"""A person with several rows: weights that bound what all rows of a person add up to.

Privacy. Rows of a person with n rows weigh min(2^20, floor(c 2^20 / n)) units of 2^-20 each, so together they never
    weigh more than c rows, and a person with at most c rows is counted in full. n counts the rows that remain after
    missing values and missing units were dropped, so the weights of one person do not depend on anybody else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ConflictingParameters, InputError, MissingParameter
from discreet.frames import person_codes
from discreet.privacy.numbers import whole

WEIGHT_UNIT = 1 << 20


@dataclass(frozen=True, slots=True, repr=False)
class Rows:
    """A column of values and, beside it, whose row each is.

    >>> Rows([3, 4, 5], unit=["ana", "ana", "bo"])
    Rows(...)
    """

    values: Any
    unit: Any

    def __repr__(self) -> str:
        return "Rows(...)"


def bounded(rows: int | None, *, name: str = "rows") -> int | None:
    """Return how many rows, or groups, of one person count at most, None where a row is a person."""
    return None if rows is None else whole(rows, name=name)


def paired(values: Any, unit: Any, rows: int | None) -> Any:
    """Return what a statistic is called with: the column alone, or with its units; both or neither must be given."""
    if unit is None and rows is None:
        return values
    if unit is None:
        raise MissingParameter(
            "unit= must say whose row each is where rows= or groups= is given; got none, write unit=", parameter="unit"
        )
    if rows is None:
        raise MissingParameter(
            "rows= (for keys that are counted, groups=) must be given with unit=; got none, write how many rows of one "
            "person count at most",
            parameter="rows",
        )
    return Rows(values, unit)


def split(value: Any, rows: int | None) -> tuple[Any, Any]:
    """Return values and units of what a statistic was called with; raise an error for units without a bound."""
    if isinstance(value, Rows):
        if rows is None:
            raise ConflictingParameters(
                "rows= (for keys that are counted, groups=) must be given for Rows(values, unit); got none, write how "
                "many rows of one person count at most",
                parameter="rows",
            )
        return value.values, value.unit
    if rows is not None:
        raise InputError("this statistic bounds the rows of a person: call it with Rows(values, unit)")
    return value, None


def row_weights(unit: Any, kept: NDArray[np.bool_], most: int) -> NDArray[np.int64]:
    """Return the weight of every row, 0 for those that are not kept or belong to nobody."""
    persons = person_codes(unit)
    if persons.size != kept.size:
        raise InputError("unit= names a person for every row: it must be as long as the values")
    kept = kept & (persons >= 0)
    weights = np.zeros(kept.size, dtype=np.int64)
    if kept.any():
        own = persons[kept]
        rows = np.bincount(own)
        weights[kept] = np.minimum(WEIGHT_UNIT, min(most, own.size) * WEIGHT_UNIT // np.maximum(rows, 1))[own]
    return weights
