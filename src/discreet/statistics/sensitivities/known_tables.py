"""What is publicly known about the tables of a query: bounds, sizes, levels and radii, checked and kept exactly."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from discreet.errors import MissingParameter, ParameterError
from discreet.laws.number import Number
from discreet.privacy import Norm, Relation
from discreet.privacy.numbers import plain, positive, probability, whole


@dataclass(frozen=True, slots=True)
class AtLeast:
    """A public lower bound on the number of rows, with and without any one person.

    >>> AtLeast(100).rows
    100
    """

    rows: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", whole(self.rows, name="people"))


@dataclass(frozen=True, slots=True)
class KnownTables:
    """Everything a formula may use; what its query does not need is 0."""

    relation: Relation
    norm: Norm
    rows_of_one: int
    lower: Number = 0
    upper: Number = 0
    rows: int = 0
    level: Number = 0
    radius: Number = 0

    @property
    def width(self) -> Fraction:
        """U - L, exactly."""
        return Fraction(self.upper) - Fraction(self.lower)

    @property
    def kinds(self) -> set[type]:
        """The types of the numbers that were given: they decide the type of the answer."""
        return {type(one) for one in (self.lower, self.upper, self.level, self.radius)}


def stated_bounds(bounds: object, name: str) -> tuple[Number, Number]:
    """Return L < U; refuse what is missing, infinite, reversed or leaves nothing to hide."""
    infinite = (
        f"the {name} of unbounded numbers has infinite sensitivity: one row can move it as far as it likes, and no "
        "noise hides that. State bounds=(L, U), finite and public, and clip every row to them"
    )
    if bounds is None:
        raise MissingParameter(infinite, parameter="bounds")
    try:
        lower, upper = cast("Iterable[object]", bounds)
    except (TypeError, ValueError):
        raise ParameterError("bounds is a pair of numbers, bounds=(L, U)", parameter="bounds") from None
    if any(isinstance(end, float) and math.isinf(end) for end in (lower, upper)):
        raise ParameterError(infinite, parameter="bounds")
    low, high = plain(lower, name="bounds"), plain(upper, name="bounds")
    if low > high:
        raise ParameterError(f"bounds=(L, U) need L < U: exchange {low} and {high}", parameter="bounds")
    if low == high:
        raise ParameterError(
            f"with bounds=({low}, {high}) every row is known beforehand and nothing private is asked; to hide how many "
            "rows there are, ask for a count",
            parameter="bounds",
        )
    return low, high


def stated_rows(people: object, relation: Relation, name: str, least: int) -> int:
    """Return the public number of rows (change one) or its public lower bound (add/remove)."""
    if relation is Relation.CHANGE_ONE:
        return _exact_people(people, name, least)
    if people is None or not isinstance(people, AtLeast):
        raise (MissingParameter if people is None else ParameterError)(
            f"under add/remove the number of rows is private, and the {name} of few rows moves far: release its parts "
            "instead, sums and a count (statistics.mean and statistics.variance do it for you). Or, if it is public "
            "that every table has m rows or more, with and without any one person, write people=AtLeast(m); if the "
            "exact number is public, relation=Relation.CHANGE_ONE",
            parameter="people",
        )
    if people.rows < least:
        raise ParameterError(
            f"the {name} must have at least {least} rows; got fewer, write people=AtLeast({least}) or more",
            parameter="people",
        )
    return people.rows


def _exact_people(people: object, name: str, least: int) -> int:
    if people is None:
        raise MissingParameter(
            f"under change-one the number of rows is public, and the {name} depends on it: state people=",
            parameter="people",
        )
    if isinstance(people, AtLeast):
        raise ParameterError(
            "under change-one the number of rows is public: state it exactly, people=n; AtLeast is for add/remove",
            parameter="people",
        )
    rows = whole(people, name="people")
    if rows < least:
        raise ParameterError(
            f"the {name} of {rows} row is the same whatever the row says, or none: nothing private is asked. It needs "
            f"at least {least} rows",
            parameter="people",
        )
    return rows


def stated_radius(radius: object, name: str) -> Number:
    """Return the largest length of a row."""
    infinite = isinstance(radius, float) and math.isinf(radius)
    if radius is None or infinite:
        raise (ParameterError if infinite else MissingParameter)(
            f"the {name} of rows of any length has infinite sensitivity: state radius=, finite and public, and shorten "
            "longer rows to it",
            parameter="radius",
        )
    if plain(radius, name="radius") == 0:
        raise ParameterError(
            "with radius=0 every row is known beforehand: nothing private is asked", parameter="radius"
        )
    return positive(radius, name="radius")


def stated_level(level: object) -> Number:
    """Return the level of a quantile."""
    if level is None:
        raise MissingParameter("level= says which quantile: 0.5 is the median", parameter="level")
    return probability(level, name="level")
