"""A hospital that does not exist: synthetic people with the skew, and the secrets, of a real admissions table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from discreet.data.table import Column, InventedTable, check_whole, drawn, generator

SEXES = ("female", "male")
AGE_RANGE = (0, 102)
NIGHTS_RANGE = (0, 90)
COST_RANGE = (0, 100_000)
DAY_RANGE = (1, 365)
ZIP_CODES = tuple(f"{10_000 + 37 * place}" for place in range(1, 101))
WARDS = (
    "cardiology",
    "emergency",
    "internal medicine",
    "maternity",
    "neurology",
    "oncology",
    "pediatrics",
    "psychiatry",
    "surgery",
)
STIGMATIZED = ("alcohol dependence", "depression", "HIV")
MOST_STAYS = 1000


class _Illness(NamedTuple):
    """How often a diagnosis is made in each group, where it is treated, and what it takes."""

    ward: str
    weights: tuple[float, float, float, float, float, float]  # children; women to 44, from 45; men; women, men from 65
    nights: float
    euros: float


_ILLNESSES = {
    "HIV": _Illness("internal medicine", (0.1, 0.5, 0.5, 1.2, 0.2, 0.4), 6, 4000),
    "alcohol dependence": _Illness("psychiatry", (0.4, 3, 3, 9, 1, 2.5), 11, 1300),
    "appendicitis": _Illness("surgery", (18, 6, 6, 7, 1.5, 1.5), 3, 3000),
    "asthma": _Illness("internal medicine", (22, 7, 7, 6, 3, 3), 3, 900),
    "cancer": _Illness("oncology", (3, 5, 12, 9, 13, 16), 8, 9000),
    "childbirth": _Illness("maternity", (0, 36, 0, 0, 0, 0), 3, 2200),
    "depression": _Illness("psychiatry", (8, 8, 8, 6, 4, 2.5), 16, 1500),
    "diabetes": _Illness("internal medicine", (6, 4, 8, 9, 11, 12), 4, 1200),
    "fracture": _Illness("surgery", (20, 9, 9, 12, 14, 8), 5, 4200),
    "heart failure": _Illness("cardiology", (1, 1, 5, 8, 17, 18), 7, 3500),
    "pneumonia": _Illness("internal medicine", (16, 7, 7, 8, 11, 12), 6, 1800),
    "stroke": _Illness("neurology", (0.5, 0.5, 2.5, 3.5, 10, 10), 9, 5200),
}
DIAGNOSES = tuple(_ILLNESSES)

_ADULT, _MIDDLE, _OLDER = 18, 45, 65
_CHILD_SHARE, _ADULT_SHARE, _FEMALE_SHARE = 0.09, 0.41, 0.52
_EMERGENCY_SHARE, _RETURN_CHANCE = 0.12, 0.4
_FIXED_EUROS, _NIGHT_EUROS, _COST_SPREAD = 150.0, 480.0, 0.45


@dataclass(frozen=True, eq=False, repr=False)
class HospitalTable(InventedTable):
    """Columns of equal length, read-only; one row a stay.

    Every value is invented, and the possible values of each column are public constants of this module (`WARDS`,
    `DIAGNOSES`, `COST_RANGE`, ...), so bounds and keys never have to be taken from the rows.

    >>> table = hospital(people=500, seed=1)
    >>> len(table), table.cost.dtype.name
    (500, 'int64')
    >>> women = table.where(table.matches(sex="female"))
    >>> len(women) + len(table.where(table.matches(sex="male")))
    500
    """

    person: Column
    age: Column
    sex: Column
    zip_code: Column
    ward: Column
    diagnosis: Column
    cost: Column
    nights: Column
    day: Column


def hospital(*, people: int, seed: int) -> HospitalTable:
    """Return one stay for each of `people` invented people; the same seed gives the same table.

    Ages: 9 % children (uniform 0-17), 41 % adults (18 + 47 Beta(1.6, 1.3)), 50 % older (65 + 38 Beta(1.3, 2.6)).
    Sex: 52 % female. Zip codes: 100 synthetic ones, the r-th with weight 1 / (r + 5). Diagnoses: twelve, with
    frequencies by age group and sex from about 0.1 % (HIV in children) to 42 % (childbirth among women of 18 to 44).
    Ward: that of the diagnosis; pediatrics for children; the emergency ward for a random 12 %. Nights: rounded down
    from an exponential with the diagnosis's mean, at most 90. Cost in whole euros: 150 + 480 a night + a log-normal
    treatment cost (sigma 0.45) around the diagnosis's median, at most 100 000. Day of admission: uniform over a year.

    The draws come from numpy's default generator: fine for invented people, never for noise.

    Cost. About a second for a million people.

    >>> hospital(people=2000, seed=7)
    HospitalTable(2,000 rows, synthetic; columns person, age, sex, zip_code, ward,
        diagnosis, cost, nights, day)
    """
    random = generator(people, seed)
    return _stays(random, _population(random, people))


def visits(*, people: int, seed: int, most: int) -> HospitalTable:
    """Return one to `most` stays for each of `people` invented people; rows of one person are neighbors.

    After each stay a person returns with chance 0.4 until `most` is reached; diagnosis, ward, nights, cost and day of
    every stay are drawn independently, as in `hospital`, and age, sex and zip code stay the same.

    >>> table = visits(people=100, seed=7, most=5)
    >>> int(np.bincount(table.person).max()) <= 5, len(np.unique(table.person))
    (True, 100)
    """
    check_whole("most", most, low=1, high=MOST_STAYS)
    random = generator(people, seed)
    population = _population(random, people)
    stays = np.minimum(random.geometric(1 - _RETURN_CHANCE, people), most)
    return _stays(random, {name: np.repeat(array, stays) for name, array in population.items()})


def _population(random: np.random.Generator, people: int) -> dict[str, Column]:
    """Draw what belongs to a person: number, age, sex (as a code) and zip code (as a code)."""
    group = random.random(people)
    age = _OLDER + 38 * random.beta(1.3, 2.6, people)
    age = np.where(group < _CHILD_SHARE + _ADULT_SHARE, _ADULT + 47 * random.beta(1.6, 1.3, people), age)
    age = np.where(group < _CHILD_SHARE, _ADULT * random.random(people), age)
    weights = 1.0 / (np.arange(1, len(ZIP_CODES) + 1) + 5)
    return {
        "person": np.arange(1, people + 1),
        "age": np.minimum(age.astype(np.int64), AGE_RANGE[1]),
        "sex": (random.random(people) >= _FEMALE_SHARE).astype(np.int64),
        "zip_code": np.searchsorted(np.cumsum(weights / weights.sum())[:-1], random.random(people), side="right"),
    }


def _stays(random: np.random.Generator, population: dict[str, Column]) -> HospitalTable:
    """Draw one stay for every row of a population."""
    age, sex = population["age"], population["sex"]
    rows = len(age)
    illness = _illnesses(random, age, sex)
    details = list(_ILLNESSES.values())
    ward = np.array([WARDS.index(detail.ward) for detail in details])[illness]
    ward[age < _ADULT] = WARDS.index("pediatrics")
    ward[random.random(rows) < _EMERGENCY_SHARE] = WARDS.index("emergency")
    mean_nights = np.array([detail.nights for detail in details])[illness]
    nights = np.minimum(random.exponential(mean_nights).astype(np.int64), NIGHTS_RANGE[1])
    treatment = np.array([detail.euros for detail in details])[illness] * random.lognormal(0.0, _COST_SPREAD, rows)
    cost = np.rint(_FIXED_EUROS + _NIGHT_EUROS * nights + treatment).astype(np.int64)
    return HospitalTable(
        person=population["person"],
        age=age,
        sex=np.array(SEXES)[sex],
        zip_code=np.array(ZIP_CODES)[population["zip_code"]],
        ward=np.array(WARDS)[ward],
        diagnosis=np.array(DIAGNOSES)[illness],
        cost=np.minimum(cost, COST_RANGE[1]),
        nights=nights,
        day=random.integers(DAY_RANGE[0], DAY_RANGE[1] + 1, rows),
    )


def _illnesses(random: np.random.Generator, age: Column, sex: Column) -> Column:
    """Draw a diagnosis (as a code) for every row, with the frequencies of its age group and sex."""
    adults = np.where(sex == 0, 1 + (age >= _MIDDLE), 3)
    group = np.where(age < _ADULT, 0, np.where(age < _OLDER, adults, 4 + sex))
    weights = np.array([detail.weights for detail in _ILLNESSES.values()]).T
    return drawn(random, weights, group)
