"""A census block that does not exist: a few people with age, sex, race and origin, drawn by households."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.data.table import Column, InventedTable, check_whole, drawn, generator

AGE_RANGE = (0, 99)
SEXES = ("female", "male")
RACES = ("amber", "blue", "green", "gray", "violet")  # invented: what matters is that some are rare
ORIGINS = ("near", "far")

MOST_IN_A_BLOCK = 500
_RACE_WEIGHTS = (58, 22, 10, 7, 3)
_FAR_SHARE = (0.06, 0.1, 0.55, 0.2, 0.3)  # by race
_LARGEST_HOUSEHOLD = 5


@dataclass(frozen=True, eq=False, repr=False)
class CensusBlock(InventedTable):
    """One row a person of a block: `person` counts from 1, `household` from 0.

    The possible values are public constants of this module: `AGE_RANGE`, `SEXES`, `RACES`, `ORIGINS`.

    >>> block = census_block(people=20, seed=1)
    >>> len(block), block.age.dtype.name
    (20, 'int64')
    """

    person: Column
    household: Column
    age: Column
    sex: Column
    race: Column
    origin: Column


def census_block(people: int, *, seed: int) -> CensusBlock:
    """Return a block of `people` invented people; the same seed gives the same block.

    Households have 1 to 5 people. The first two are adults, 20 + 76 Beta(1.4, 2.2) years old and, the second one,
    normal around that with 4 years; the others are children, 18 to 42 years younger than the first (at least 0). Race
    is drawn once a household, and anew for one person in ten, the rarest with 3 %; origin is far for a share that
    depends on the race. Sex is a fair coin. Names of races and origins are invented.

    The draws come from numpy's default generator: fine for invented people, never for noise.

    >>> census_block(30, seed=7)
    CensusBlock(30 rows, synthetic; columns person, household, age, sex, race, origin)
    """
    check_whole("people", people, low=1, high=MOST_IN_A_BLOCK)
    random = generator(people, seed)
    household, place = _households(random, people)
    first = (20 + 76 * random.beta(1.4, 2.2, people))[household]
    partner = first + 4 * random.standard_normal(people)
    child = first - random.uniform(18, 42, people)
    age = np.select([place == 0, place == 1], [first, np.maximum(partner, 18)], child)
    everyone = np.zeros(people, dtype=np.int64)
    shared = drawn(random, np.array([_RACE_WEIGHTS]), everyone)[household]
    race = np.where(random.random(people) < 0.1, drawn(random, np.array([_RACE_WEIGHTS]), everyone), shared)
    return CensusBlock(
        person=np.arange(1, people + 1),
        household=household,
        age=np.clip(age, *AGE_RANGE).astype(np.int64),
        sex=np.array(SEXES)[random.integers(0, 2, people)],
        race=np.array(RACES)[race],
        origin=np.array(ORIGINS)[(random.random(people) < np.array(_FAR_SHARE)[race]).astype(np.int64)],
    )


def _households(random: np.random.Generator, people: int) -> tuple[Column, Column]:
    """Return the household of every person, and the place in it."""
    sizes = random.integers(1, _LARGEST_HOUSEHOLD + 1, people)
    household = np.repeat(np.arange(people), sizes)[:people]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return household, np.arange(people) - starts[household]
