"""A survey that nobody answered: skewed incomes, missing values, free text, and a diary with many rows a person."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import product

import numpy as np
import numpy.typing as npt

from discreet.data.table import Column, InventedTable, drawn, generator

AGE_RANGE = (18, 95)
SLEEP_RANGE = (3, 12)
ONLINE_RANGE = (0, 100)
SATISFACTION_RANGE = (0, 10)
HEIGHT_RANGE = (140, 210)
WEIGHT_RANGE = (35, 180)
DAY_RANGE = (1, 14)
MINUTES_RANGE = (0, 600)
REGIONS = (
    "Ambermark",
    "Brackwater",
    "Cindermoor",
    "Dunfells",
    "Eastreach",
    "Fallowmere",
    "Gorseland",
    "Harrowcoast",
    "Inkwold",
    "Juniper Vale",
    "Kestrelheath",
    "Longstrand",
)
COMMUTES = ("bicycle", "bus", "car", "none", "train", "walk")

_REGION_WEIGHTS = (20, 15, 12, 10, 9, 8, 7, 6, 5, 4, 3, 1)
_COMMUTE_WEIGHTS = ((24, 26, 24, 6, 12, 8), (13, 11, 48, 10, 11, 7), (2, 3, 6, 86, 1, 2))  # by age: to 29, to 66, older
_COMMUTE_AGES = (30, 67)
_MISSING_SHARE = 0.06
_TOWNS_A_REGION = 500

# invented syllables, for the start, the middle and the end of a name in each script
_SYLLABLES = (
    (
        "Ål Bré Çor Dü Ełk Fjø Gra Hól Ivš Jæ Kvi Lœn Mu Nár Öst Pöl Ryž Søl Tǿr Vež",
        "a da el ga in ke lo mi na or ra si tu ve zo yr",
        "båd chë dörn fjal gård haßt jüt köng lún mõr nés polė qvist rød stað thwę vík wyła xún žec",
    ),
    ("Θαλ Κερ Λιμ Ξαν Ψαρ Ωρ", "αδ ελ οδ υξ", "βρύσ δόν κάστ νήρ πέλ χώρ"),
    ("Бро Жел Кры Шун Щер Юзо", "ва ло ни ту", "горь дёж мысл поль стан яр"),
)


@dataclass(frozen=True, eq=False, repr=False)
class Diary(InventedTable):
    """What people wrote down on how much they walked: one row a person and day, days 1 to 14, minutes 0 to 600.

    >>> from discreet.data import survey
    >>> survey(people=500, seed=1).answers.names
    ('person', 'day', 'minutes')
    """

    person: Column
    day: Column
    minutes: Column


@dataclass(frozen=True, eq=False, repr=False)
class Survey(InventedTable):
    """Columns of equal length, read-only; one row a person, and the diary of the same people in `answers`.

    Every value is invented. What an analyst would know beforehand is a public constant of this module (`REGIONS`,
    `COMMUTES`, `AGE_RANGE`, `SLEEP_RANGE`, ...). Two things are not: how large an income can be, and which towns exist.

    >>> from discreet.data import survey
    >>> table = survey(people=500, seed=1)
    >>> len(table), table.income.dtype.name, table.town.dtype.kind
    (500, 'float64', 'U')
    >>> walkers = table.where(table.matches(commute="walk"))
    >>> bool(np.isin(walkers.answers.person, walkers.person).all())
    True
    """

    person: Column
    age: Column
    income: Column
    sleep: Column
    online: Column
    satisfaction: Column
    region: Column
    town: Column
    commute: Column
    height: Column
    weight: Column
    answers: Diary

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order; the diary is a table of its own."""
        return tuple(field.name for field in fields(self) if field.name != "answers")

    def where(self, mask: npt.NDArray[np.bool_]) -> Survey:
        """Return the people for whom the mask is true, and their diary."""
        kept = super().where(mask)
        return replace(kept, answers=self.answers.where(np.isin(self.answers.person, kept.person)))


def survey(people: int, *, seed: int) -> Survey:
    """Return the answers of `people` invented people; the same seed gives the same survey.

    Age: 18 + 78 Beta(1.3, 1.7), in whole years. Income a year, in whole euros: log-normal (sigma 0.65) around a median
    that rises to the age of 50 (55 000) and falls again; each is missing (NaN) with a chance of 6 %. Online: hours a
    week, gamma, fewer with age. Sleep: hours a night in quarters, fewer for those who are long online. Satisfaction:
    0 to 10, rising with the logarithm of income and with sleep. Region: twelve, from 20 % down to 1 %. Town: each
    region has 500, the r-th with weight 1 / r; their names are put together from syllables by the seed, and one that
    exists is a coincidence. Commute: six ways, by age. Height in whole centimetres, weight in kilograms rising with
    it. Each person fills in a share Beta(0.8, 1.2) of the fourteen days of the diary: nobody more than 14 rows, some
    none.

    The draws come from numpy's default generator: fine for invented people, never for noise.

    Cost. About a seventh of a second for 100 000 people and the half a million rows of their diary.

    >>> survey(2000, seed=7)
    Survey(2,000 rows, synthetic; columns person, age, income, sleep, online,
        satisfaction, region, town, ...)
    """
    random = generator(people, seed)
    person = np.arange(1, people + 1)
    age = np.minimum(AGE_RANGE[0] + (78 * random.beta(1.3, 1.7, people)).astype(np.int64), AGE_RANGE[1])
    income = _incomes(random, age)
    online = _within(random.gamma(2.0, (31 - 0.3 * (age - 18)) / 2), ONLINE_RANGE, step=0.5)
    sleep = _within(7.2 - 0.02 * (online - 20) + random.normal(0, 0.9, people), SLEEP_RANGE, step=0.25)
    content = 6.2 + 0.9 * np.log(income / 40_000) + 0.3 * (sleep - 7.2) + random.normal(0, 1.5, people)
    region = drawn(random, np.array([_REGION_WEIGHTS]), np.zeros(people, dtype=np.int64))
    commute = drawn(random, np.array(_COMMUTE_WEIGHTS), np.searchsorted(_COMMUTE_AGES, age, side="right"))
    height = _within(random.normal(170, 9.5, people), HEIGHT_RANGE, step=1)
    weight = _within(
        72 + 0.9 * (height - 170) + 0.08 * (age - 50) + random.normal(0, 11, people), WEIGHT_RANGE, step=0.5
    )
    return Survey(
        person=person,
        age=age,
        income=np.where(random.random(people) < _MISSING_SHARE, np.nan, income),
        sleep=sleep,
        online=online,
        satisfaction=_within(content, SATISFACTION_RANGE, step=1).astype(np.int64),
        region=np.array(REGIONS)[region],
        town=_towns(random, region),
        commute=np.array(COMMUTES)[commute],
        height=height.astype(np.int64),
        weight=weight,
        answers=_diary(random, person, age, commute == COMMUTES.index("walk")),
    )


def _within(values: Column, bounds: tuple[int, int], *, step: float) -> Column:
    """Round to a multiple of the step, and clip."""
    return np.clip(np.rint(values / step) * step, *bounds)


def _incomes(random: np.random.Generator, age: Column) -> Column:
    """Draw an income for every age: a hump around 50, a factor of two from 18 to there, and a heavy tail."""
    median = 55_000 * np.exp(-0.7 * ((age - 50) / 32) ** 2)
    return np.rint(median * random.lognormal(0.0, 0.65, len(age)))


def _towns(random: np.random.Generator, region: Column) -> Column:
    """Draw a town of the region for every row, the r-th of its towns with weight 1 / r, and name the towns."""
    zipf = 1 / np.arange(1, _TOWNS_A_REGION + 1)
    rank = drawn(random, zipf[None, :], np.zeros(len(region), dtype=np.int64))
    names = np.array(spellings())
    names = names[random.permutation(len(names))[: len(REGIONS) * _TOWNS_A_REGION]]
    return np.asarray(names[region * _TOWNS_A_REGION + rank])


def spellings() -> list[str]:
    """Return every name that a town can have: three syllables of one script."""
    return ["".join(name) for script in _SYLLABLES for name in product(*(part.split() for part in script))]


def _diary(random: np.random.Generator, person: Column, age: Column, walks: Column) -> Diary:
    """Draw which days each person wrote down, and the minutes walked on each."""
    people, days = len(person), DAY_RANGE[1]
    diligence = random.beta(0.8, 1.2, people)
    row, day = np.nonzero(random.random((people, days)) < diligence[:, None])
    level = (38 - 0.25 * (age - 50) + 25 * walks) * random.lognormal(0.0, 0.5, people)
    minutes = _within(random.gamma(2.0, level[row] / 2), MINUTES_RANGE, step=1)
    return Diary(person=person[row], day=day + 1, minutes=minutes.astype(np.int64))
