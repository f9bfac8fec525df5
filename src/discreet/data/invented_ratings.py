"""Ratings that nobody gave: a sparse table of people, items, stars and days, and remarks overheard about them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.data.table import MOST_SEED, Column, InventedTable, check_whole, drawn, generator
from discreet.errors import InputError

STARS_RANGE = (1, 5)
DAY_RANGE = (1, 2000)
MOST_ITEMS, MOST_KNOWN = 1_000_000, 1000

_HEAD, _DECAY = 10.0, 0.9
_LEAST, _MEDIAN, _SPREAD = 4, 30.0, 0.8


@dataclass(frozen=True, eq=False, repr=False)
class Ratings(InventedTable):
    """One row a rating: person and item are numbered from 0; stars 1 to 5, day 1 to 2000; sorted by person and item."""

    person: Column
    item: Column
    stars: Column
    day: Column


@dataclass(frozen=True, eq=False, repr=False)
class Hearsay(InventedTable):
    """What somebody overheard: one row a remark about a target, with stars and days that need not be right.

    `target` is the person the remark is about, numbered as in the ratings; an attacker does not know that number.
    """

    target: Column
    item: Column
    stars: Column
    day: Column


def ratings(*, people: int, items: int, seed: int) -> Ratings:
    """Return the ratings of `people` invented people for `items` items; the same seed gives the same table.

    The r-th item is chosen with weight (r + 10)^-0.9: a long tail. The number of a person's choices is log-normal
    around 30 (sigma 0.8), at least 4; an item chosen twice is rated once. Stars: a general liking of the item and a
    leniency of the person, with noise. Days: each person is active around a day of their own, for a few months.

    The draws come from numpy's default generator: fine for invented people, never for noise.

    Cost. About two seconds for 50 000 people and two million ratings.

    >>> ratings(people=1000, items=500, seed=7)
    Ratings(... rows, synthetic; columns person, item, stars, day)
    """
    random = generator(people, seed)
    check_whole("items", items, low=10, high=MOST_ITEMS)
    weights = (np.arange(items) + _HEAD) ** -_DECAY
    choices = np.maximum(random.lognormal(np.log(_MEDIAN), _SPREAD, people).astype(np.int64), _LEAST)
    person = np.repeat(np.arange(people), np.minimum(choices, items))
    item = drawn(random, weights[None, :], np.zeros(len(person), dtype=np.int64))
    person, item = np.divmod(np.unique(person * items + item), items)
    liking = 3.5 + random.normal(0, 0.6, items)[item] + random.normal(0, 0.4, people)[person]
    stars = np.rint(liking + random.normal(0, 0.9, len(item)))
    center = random.integers(DAY_RANGE[0], DAY_RANGE[1] + 1, people)
    day = np.rint(random.normal(center[person], random.gamma(2.0, 60.0, people)[person]))
    return Ratings(
        person, item, np.clip(stars, *STARS_RANGE).astype(np.int64), np.clip(day, *DAY_RANGE).astype(np.int64)
    )


def hearsay(table: Ratings, *, targets: int, known: int, wrong: int = 0, days: int = 14, seed: int) -> Hearsay:
    """Return remarks about some people of the table: `known` each, of which `wrong` are about items they never rated.

    The right ones are drawn from all of a person's ratings alike; their stars are off by at most 1 and their days by at
    most `days`, either way. Only people with enough ratings, and enough items left to be wrong about, are drawn.

    >>> table = ratings(people=1000, items=500, seed=7)
    >>> len(hearsay(table, targets=20, known=8, wrong=2, seed=1))
    160
    """
    check_whole("known", known, low=1, high=MOST_KNOWN)
    check_whole("wrong", wrong, low=0, high=known)
    check_whole("days", days, low=0, high=DAY_RANGE[1])
    check_whole("seed", seed, low=0, high=MOST_SEED)
    if not len(table) or np.any(np.diff(table.person) < 0):
        raise InputError("remarks need ratings, sorted by person")
    random = np.random.default_rng(seed)
    starts = np.searchsorted(table.person, np.arange(int(table.person[-1]) + 2))
    items = np.arange(int(table.item.max()) + 1)
    counts = np.diff(starts)
    enough = np.flatnonzero((counts >= max(known - wrong, 1)) & (len(items) - counts >= wrong))
    check_whole("targets", targets, low=1, high=len(enough))
    remarks = []
    for target in random.permutation(enough)[:targets].tolist():
        rows = np.arange(starts[target], starts[target + 1])
        told = random.choice(rows, known - wrong, replace=False)
        never = random.choice(np.setdiff1d(items, table.item[rows]), wrong, replace=False)
        item = np.concatenate([table.item[told], never])
        stars = [_off(random, table.stars[told], 1, STARS_RANGE), random.integers(1, STARS_RANGE[1] + 1, wrong)]
        day = [_off(random, table.day[told], days, DAY_RANGE), random.integers(1, DAY_RANGE[1] + 1, wrong)]
        remarks.append((np.full(known, target), item, np.concatenate(stars), np.concatenate(day)))
    return Hearsay(*(np.concatenate(column) for column in zip(*remarks, strict=True)))


def _off(random: np.random.Generator, values: Column, reach: int, bounds: tuple[int, int]) -> NDArray[np.int64]:
    """Return values that are off by at most `reach`, within their bounds."""
    return np.clip(values + random.integers(-reach, reach + 1, len(values)), *bounds)
