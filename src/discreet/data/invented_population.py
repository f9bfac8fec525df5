"""A population that does not exist: fifteen columns about adults and their work, strongly related to one another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from discreet.data.invented_block import RACES, SEXES
from discreet.data.table import Column, InventedTable, drawn, generator

WORKCLASSES = (
    "company", "own firm", "self-employed", "town", "county", "country", "unpaid", "never worked", "unknown",
)  # fmt: skip
EDUCATIONS = (
    "none", "grades 1 to 4", "grades 5 and 6", "grades 7 and 8", "grade 9", "grade 10", "grade 11", "grade 12",
    "school", "some college", "apprenticeship", "academy", "bachelor", "master", "profession", "doctorate",
)  # fmt: skip
MARITAL_STATUSES = ("single", "married", "married, apart", "in service, married", "separated", "divorced", "widowed")
OCCUPATIONS = (
    "clerical", "crafts", "management", "professional", "machines", "sales", "services", "technical", "transport",
    "labor", "farming", "protection", "households", "armed forces", "unknown",
)  # fmt: skip
RELATIONSHIPS = ("husband", "wife", "child", "unmarried", "no family", "other relative")
COUNTRIES = (
    "home", *(f"{first}{last}" for first in ("Al", "Bor", "Cym", "Dor", "Er", "Fen", "Gal", "Har")
              for last in ("and", "emark", "istan", "onia", "uria")), "unknown",
)  # fmt: skip
INCOMES = ("low", "high")
AGE_RANGE, HOURS_RANGE, WEIGHT_RANGE = (17, 90), (1, 99), (10_000, 1_500_000)
GAIN_RANGE, LOSS_RANGE, YEARS_RANGE = (0, 100_000), (0, 4_500), (1, 16)
BINS = MappingProxyType(
    {
        "age": tuple(range(16, 80, 2)),
        "weight": tuple(range(0, 1_600_000, 50_000)),
        "capital_gain": (0, *range(1, 100_000, 3_226)),
        "capital_loss": (0, *range(1, 4_496, 145)),
        "hours": tuple(range(0, 96, 3)),
    }
)  # the least number of each bin; what lies above the last begins no other

_RACE_WEIGHTS = (85.5, 9.6, 3.1, 1.0, 0.8)
_AGES = (25, 35, 50, 65)  # the ages at which a group begins
_EDUCATION = (  # by age group, in the order of EDUCATIONS
    (0.1, 0.3, 0.7, 1.5, 2.5, 5.0, 7.5, 2.2, 33.0, 36.0, 2.0, 2.2, 6.6, 0.3, 0.1, 0.0),
    (0.1, 0.4, 0.9, 1.0, 1.2, 1.8, 2.8, 1.2, 33.0, 21.0, 4.7, 4.4, 21.0, 4.4, 1.4, 0.7),
    (0.2, 0.5, 1.0, 1.4, 1.2, 1.9, 2.5, 0.9, 31.0, 20.0, 5.2, 4.0, 18.0, 8.0, 2.4, 1.8),
    (0.3, 1.0, 1.8, 4.2, 2.2, 4.0, 3.2, 1.1, 33.0, 17.0, 3.8, 2.8, 13.0, 7.6, 2.6, 2.4),
    (0.6, 2.0, 2.6, 10.0, 3.4, 5.2, 3.2, 1.2, 31.0, 15.5, 2.6, 2.4, 11.0, 5.0, 2.6, 1.7),
)
_MARITAL = (  # women, then men, by age group, in the order of MARITAL_STATUSES
    (82.0, 12.0, 1.6, 0.2, 2.4, 1.7, 0.1), (37.0, 39.0, 1.9, 0.1, 6.0, 15.6, 0.4),
    (17.0, 44.0, 1.8, 0.1, 6.0, 28.6, 2.5),
    (7.0, 42.0, 1.5, 0.0, 4.0, 30.0, 15.5),
    (6.0, 30.0, 1.0, 0.0, 2.0, 16.0, 45.0),
    (87.0, 11.0, 0.8, 0.1, 0.6, 0.5, 0.0), (38.0, 52.0, 1.2, 0.1, 1.9, 6.7, 0.1),
    (13.0, 73.0, 1.2, 0.0, 2.0, 10.5, 0.3),
    (5.0, 82.0, 1.0, 0.0, 1.5, 9.0, 1.5),
    (4.0, 83.0, 1.0, 0.0, 1.0, 5.0, 6.0),
)  # fmt: skip
_RELATIONSHIP = (  # those who live with a spouse (women, men), then the others: to 24, to 34, older
    (0.0, 90.0, 3.0, 0.5, 1.0, 5.5), (97.5, 0.0, 0.8, 0.1, 0.4, 1.2),
    (0.0, 0.0, 66.0, 6.0, 21.0, 7.0), (0.0, 0.0, 20.0, 20.0, 54.0, 6.0), (0.0, 0.0, 5.0, 33.0, 58.0, 4.0),
)  # fmt: skip
_SCHOOLING = (5, 8, 9, 12)  # the places in EDUCATIONS at which a stage begins: little, some, school, college, degree
_OCCUPATION = (  # by stage, women and then men each, in the order of OCCUPATIONS
    (8, 4, 2, 1, 22, 9, 34, 1, 2, 7, 2, 0.5, 5, 0.0, 2.5),
    (3, 27, 3, 1, 17, 5, 11, 1, 13, 13, 10, 1.5, 0.0, 0.0, 2.5),
    (11, 4, 3, 1, 14, 13, 34, 1, 2, 5, 1, 0.8, 3, 0.0, 7.2),
    (4, 25, 4, 1, 13, 8, 12, 1, 11, 12, 5, 1.5, 0.0, 0.0, 2.5),
    (34, 3, 8, 3, 8, 13, 20, 3, 1, 3, 0.7, 0.6, 1, 0.0, 1.7),
    (7, 27, 9, 3, 11, 10, 6, 3, 10, 7, 4.5, 2.0, 0.0, 0.05, 0.45),
    (33, 2, 14, 12, 3, 13, 13, 8, 0.6, 1, 0.5, 0.9, 0.3, 0.0, 0.7),
    (10, 19, 17, 9, 5, 14, 5, 8, 4, 3, 2.5, 3.0, 0.0, 0.1, 0.4),
    (13, 1, 21, 45, 0.8, 9, 4, 4, 0.2, 0.4, 0.4, 0.4, 0.1, 0.0, 0.7),
    (5, 4, 29, 39, 1, 13, 1.6, 4, 0.8, 0.6, 1.2, 1.0, 0.0, 0.05, 0.75),
)  # fmt: skip
_WORKCLASS = (  # by occupation, in the order of WORKCLASSES; those of unknown occupation are of unknown class
    (74, 1, 3, 9, 5, 8, 0.1, 0, 0), (74, 3, 14, 5, 1, 3, 0.05, 0, 0), (68, 9, 9, 6, 3, 5, 0.05, 0, 0),
    (54, 4, 9, 18, 10, 5, 0.1, 0, 0), (94, 1, 2, 1.5, 0.7, 0.7, 0.05, 0, 0), (81, 8, 10, 0.3, 0.4, 0.2, 0.1, 0, 0),
    (78, 1, 6, 9, 5, 1, 0.1, 0, 0), (74, 1, 3, 4, 6, 12, 0.0, 0, 0), (78, 2, 8, 7, 3, 2, 0.05, 0, 0),
    (93, 1, 2, 2.5, 1, 1, 0.1, 0, 0), (46, 5, 43, 2, 2, 1, 1.0, 0, 0), (30, 1, 1, 43, 18, 7, 0.0, 0, 0),
    (99, 0, 1, 0, 0, 0, 0.0, 0, 0), (0, 0, 0, 0, 0, 100, 0.0, 0, 0), (0, 0, 0, 0, 0, 0, 0.0, 0.4, 99.6),
)  # fmt: skip
_WAGES = (-0.4, -0.1, 1.0, 0.7, -0.6, 0.1, -1.1, 0.5, -0.3, -0.9, -1.1, 0.5, -2.4, 0.0, -0.7)  # by occupation


@dataclass(frozen=True, eq=False, repr=False)
class Population(InventedTable):
    """One row an adult, fifteen columns; every value is invented.

    What is public about the columns is a constant of this module: the lists of words (`EDUCATIONS`, ...), the ranges
    of numbers (`AGE_RANGE`, ...), and `BINS`.

    >>> table = population(people=500, seed=1)
    >>> len(table), len(table.names), table.education.dtype.kind
    (500, 15, 'U')
    """

    age: Column
    workclass: Column
    weight: Column
    education: Column
    education_years: Column
    marital_status: Column
    occupation: Column
    relationship: Column
    race: Column
    sex: Column
    capital_gain: Column
    capital_loss: Column
    hours: Column
    country: Column
    income: Column

    def binned(self) -> dict[str, Column]:
        """Return the columns with the least number of its bin for each number of age, weight, gain, loss and hours."""
        columns = {name: self.column(name) for name in self.names}
        for name, starts in BINS.items():
            edges = np.array(starts)
            columns[name] = edges[np.searchsorted(edges, columns[name], side="right") - 1]
        return columns


def population_values() -> Mapping[str, tuple[Any, ...]]:
    """Return the values that each column of `Population.binned` can have; public, and the same for every population.

    >>> values = population_values()
    >>> len(values), sum(len(one) for one in values.values()), values["income"]
    (15, 280, ('low', 'high'))
    """
    words = {
        "workclass": WORKCLASSES, "education": EDUCATIONS, "marital_status": MARITAL_STATUSES,
        "occupation": OCCUPATIONS, "relationship": RELATIONSHIPS, "race": RACES, "sex": SEXES, "country": COUNTRIES,
        "income": INCOMES,
    }  # fmt: skip
    years = tuple(range(YEARS_RANGE[0], YEARS_RANGE[1] + 1))
    stated: dict[str, tuple[Any, ...]] = {**words, **BINS, "education_years": years}
    return {name: stated[name] for name in Population.__dataclass_fields__}


def population_columns() -> dict[str, dict[str, Any]]:
    """Return what a policy would say is public about each column: words as values, numbers by their range.

    >>> population_columns()["age"], population_columns()["sex"]
    ({'type': 'integer', 'min': 17, 'max': 90}, {'values': ['female', 'male']})
    """
    ranges = {
        "age": AGE_RANGE, "weight": WEIGHT_RANGE, "education_years": YEARS_RANGE, "capital_gain": GAIN_RANGE,
        "capital_loss": LOSS_RANGE, "hours": HOURS_RANGE,
    }  # fmt: skip
    return {
        name: {"type": "integer", "min": ranges[name][0], "max": ranges[name][1]}
        if name in ranges
        else {"values": list(values)}
        for name, values in population_values().items()
    }


def population(people: int, *, seed: int) -> Population:
    """Return `people` invented adults; the same seed gives the same people.

    Two thirds are men. Education depends on age, and the years of education on it alone. Marital status depends on age
    and sex; relationship follows from marital status and sex except for a few, and for those who live alone from age.
    Occupation depends on education and sex, the class of work on occupation. Hours depend on age, occupation and sex.
    A high income, a fourth of all, becomes likelier with education, age, hours, a spouse and some occupations. A gain
    or a loss of capital is 0 for nine in ten, and likelier with a high income. Nine in ten come from home; the others
    share the chances of `weight` and of a few countries by race.

    The draws come from numpy's default generator: fine for invented people, never for noise.

    Cost. About a fifth of a second for 100 000 people.

    >>> population(2000, seed=7)
    Population(2,000 rows, synthetic; columns age, workclass, weight, education,
        education_years, ...)
    """
    random = generator(people, seed)
    nobody = np.zeros(people, dtype=np.int64)
    male = (random.random(people) < 0.67).astype(np.int64)
    age = np.minimum(AGE_RANGE[0] + (74 * random.beta(1.35, 2.7, people)).astype(np.int64), AGE_RANGE[1])
    group = np.searchsorted(_AGES, age, side="right")
    race = drawn(random, np.array([_RACE_WEIGHTS]), nobody)
    education = drawn(random, np.array(_EDUCATION), group)
    marital = drawn(random, np.array(_MARITAL), group + len(_EDUCATION) * male)
    occupation, workclass = _work(random, education, male)
    hours = _hours(random, age, male, occupation)
    rich = _rich(random, age, male, education, marital, occupation, hours)
    gain, loss = _capital(random, rich)
    return Population(
        age=age,
        workclass=np.array(WORKCLASSES)[workclass],
        weight=_weights(random, race),
        education=np.array(EDUCATIONS)[education],
        education_years=education + 1,
        marital_status=np.array(MARITAL_STATUSES)[marital],
        occupation=np.array(OCCUPATIONS)[occupation],
        relationship=np.array(RELATIONSHIPS)[_relationship(random, age, male, marital)],
        race=np.array(RACES)[race],
        sex=np.array(SEXES)[male],
        capital_gain=gain,
        capital_loss=loss,
        hours=hours,
        country=np.array(COUNTRIES)[_country(random, race)],
        income=np.array(INCOMES)[rich],
    )


def _work(random: np.random.Generator, education: Column, male: Column) -> tuple[Column, Column]:
    """Draw the occupation by education and sex, and the class of work by occupation."""
    stage = np.searchsorted(_SCHOOLING, education, side="right")
    weights = np.array(_OCCUPATION, dtype=np.float64)
    weights[:, -1] += 0.05 * weights.sum(axis=1)  # one in twenty does not say, or has no work
    occupation = drawn(random, weights, 2 * stage + male)
    return occupation, drawn(random, np.array(_WORKCLASS), occupation)


def _relationship(random: np.random.Generator, age: Column, male: Column, marital: Column) -> Column:
    """Draw the place in the household: that of a spouse for those who are married and together."""
    together = (marital == MARITAL_STATUSES.index("married")) | (marital == 3)
    alone = 2 + np.searchsorted((25, 35), age, side="right")
    return drawn(random, np.array(_RELATIONSHIP), np.where(together, male, alone))


def _hours(random: np.random.Generator, age: Column, male: Column, occupation: Column) -> Column:
    """Draw the hours of work in a week: 40 for half of all, fewer for the young, the old and women."""
    usual = 38 + 5 * male + np.where(occupation == OCCUPATIONS.index("management"), 4, 0)
    usual = usual - np.where(age < 22, 14, 0) - np.where(age > 64, 14, 0)
    drawn_hours = np.rint(random.normal(usual, 10.0))
    full = (random.random(len(age)) < 0.5) & (age >= 22) & (age <= 64)
    return np.asarray(np.clip(np.where(full, 40, drawn_hours), *HOURS_RANGE), dtype=np.int64)


def _rich(
    random: np.random.Generator,
    age: Column,
    male: Column,
    education: Column,
    marital: Column,
    occupation: Column,
    hours: Column,
) -> Column:
    """Draw who has a high income, by a logistic law."""
    married = marital == MARITAL_STATUSES.index("married")
    score = -2.9 + 0.42 * (education - 9) + 0.03 * (hours - 40) + np.array(_WAGES)[occupation]
    score = score + 2.4 * married + 0.15 * male - 0.0018 * (age - 50) ** 2
    return np.asarray(random.random(len(age)) < 1 / (1 + np.exp(-score)), dtype=np.int64)


def _capital(random: np.random.Generator, rich: Column) -> tuple[Column, Column]:
    """Draw gains and losses of capital: mostly 0, never both, larger and likelier for the rich."""
    kind = drawn(random, np.array([(93.0, 4.0, 3.0), (69.0, 21.0, 10.0)]), rich)
    amount = random.lognormal(np.where(rich == 1, 9.1, 8.1), 0.7)
    gain = np.where(kind == 1, np.clip(np.rint(amount), 100, GAIN_RANGE[1]), 0)
    loss = np.where(kind == 2, np.clip(np.rint(random.normal(1_850, 330, len(rich))), 150, LOSS_RANGE[1]), 0)
    return gain.astype(np.int64), loss.astype(np.int64)


def _weights(random: np.random.Generator, race: Column) -> Column:
    """Draw how many people a row stands for in the survey that this could be."""
    center = np.log(np.array([170_000, 210_000, 150_000, 100_000, 180_000]))[race]
    return np.asarray(np.clip(np.rint(random.lognormal(center, 0.55)), *WEIGHT_RANGE), dtype=np.int64)


def _country(random: np.random.Generator, race: Column) -> Column:
    """Draw where people were born: at home for most, the r-th other country with weight 1 / r, shifted by race."""
    others = 1 / np.arange(1, len(COUNTRIES) - 1)
    home = (93.0, 92.0, 34.0, 70.0, 46.0)
    rows = []
    for place, share in enumerate(home):
        spread = np.roll(others, 9 * place)
        rows.append([share, *((98.2 - share) * spread / spread.sum()), 1.8])
    return drawn(random, np.array(rows), race)
