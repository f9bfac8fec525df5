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
    """Return L < U; raise ParameterError for bounds that are missing, infinite, reversed or equal."""
    infinite = (
        f"bounds= must be finite and public, as the {name} of unbounded numbers has infinite sensitivity, which no "
        "noise hides; got none, write bounds=(L, U) and clip every row to them"
    )
    if bounds is None:
        raise MissingParameter(infinite, parameter="bounds")
    try:
        lower, upper = cast("Iterable[object]", bounds)
    except (TypeError, ValueError):
        raise ParameterError(
            "bounds must be a pair of numbers; got another, write bounds=(L, U)", parameter="bounds"
        ) from None
    if any(isinstance(end, float) and math.isinf(end) for end in (lower, upper)):
        raise ParameterError(infinite, parameter="bounds")
    low, high = plain(lower, name="bounds"), plain(upper, name="bounds")
    if low > high:
        raise ParameterError(
            f"bounds=(L, U) must have L < U; got the reverse, write bounds=({high}, {low})", parameter="bounds"
        )
    if low == high:
        raise ParameterError(
            f"bounds=(L, U) must have L < U; got ({low}, {high}), with which nothing private is asked, write other "
            "bounds, or ask for a count to hide the number of rows",
            parameter="bounds",
        )
    return low, high


def stated_rows(people: object, relation: Relation, name: str, least: int) -> int:
    """Return the public number of rows (change one) or its public lower bound (add/remove)."""
    if relation is Relation.CHANGE_ONE:
        return _exact_people(people, name, least)
    if people is None or not isinstance(people, AtLeast):
        raise (MissingParameter if people is None else ParameterError)(
            f"people must be a lower bound under add/remove, where the number of rows is private and the {name} of few "
            "rows moves far; got none or a number, write people=AtLeast(m) if every table has m rows or more, with and "
            "without any one person, or relation=Relation.CHANGE_ONE if the exact number is public; or release sums "
            "and a count instead, as statistics.mean and statistics.variance do",
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
            f"people= must be given under change-one, as the {name} depends on the public number of rows; got none, "
            "write it",
            parameter="people",
        )
    if isinstance(people, AtLeast):
        raise ParameterError(
            "people must be the exact number of rows under change-one; got AtLeast, which is for add/remove, write "
            "people=n",
            parameter="people",
        )
    rows = whole(people, name="people")
    if rows < least:
        raise ParameterError(
            f"people must be at least {least} rows for the {name}; got {rows}, with which nothing private is asked, "
            "write more",
            parameter="people",
        )
    return rows


def stated_radius(radius: object, name: str) -> Number:
    """Return the largest length of a row."""
    infinite = isinstance(radius, float) and math.isinf(radius)
    if radius is None or infinite:
        raise (ParameterError if infinite else MissingParameter)(
            f"radius= must be finite and public, as the {name} of rows of any length has infinite sensitivity; got "
            "none, write radius= and shorten longer rows to it",
            parameter="radius",
        )
    if plain(radius, name="radius") == 0:
        raise ParameterError(
            "radius must be above 0; got 0, with which nothing private is asked, write a larger one", parameter="radius"
        )
    return positive(radius, name="radius")


def stated_level(level: object) -> Number:
    """Return the level of a quantile."""
    if level is None:
        raise MissingParameter(
            "level= must be given; got none, write level=0.5 for the median, for example", parameter="level"
        )
    return probability(level, name="level")
