"""The invented ratings are sparse, long-tailed and reproducible, and remarks about them are as wrong as asked for."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.data import Ratings, hearsay, ratings
from discreet.data.invented_ratings import DAY_RANGE, STARS_RANGE
from discreet.errors import InputError, ParameterError

TABLE = ratings(people=3000, items=1500, seed=4)


def test_the_same_seed_gives_the_same_ratings_and_another_seed_others():
    one, two, three = (ratings(people=200, items=300, seed=seed) for seed in (1, 1, 2))
    assert all(np.array_equal(one.column(name), two.column(name)) for name in one.names)
    assert len(one) != len(three) or not np.array_equal(one.item, three.item)


def test_everybody_has_ratings_a_few_dozen_each_and_rates_an_item_once():
    counts = np.bincount(TABLE.person, minlength=3000)
    assert counts.min() >= 1
    assert 20 < np.median(counts) < 40
    assert len(np.unique(TABLE.person * 1500 + TABLE.item)) == len(TABLE)
    assert np.array_equal(np.lexsort((TABLE.item, TABLE.person)), np.arange(len(TABLE)))


def test_popularity_has_a_long_tail():
    support = np.sort(np.bincount(TABLE.item, minlength=1500))[::-1]
    assert support[:150].sum() > 0.4 * len(TABLE)
    assert support[750:].sum() > 0.1 * len(TABLE)


def test_stars_and_days_stay_in_their_ranges():
    assert (TABLE.stars.min(), TABLE.stars.max()) == STARS_RANGE
    assert DAY_RANGE[0] <= TABLE.day.min() < TABLE.day.max() <= DAY_RANGE[1]


@pytest.mark.parametrize(("known", "wrong", "days"), [(4, 0, 0), (8, 2, 14), (3, 3, 5)])
def test_remarks_are_off_by_no_more_than_asked_and_so_many_are_wrong(known, wrong, days):
    heard = hearsay(TABLE, targets=60, known=known, wrong=wrong, days=days, seed=9)
    assert len(heard) == 60 * known
    assert len(np.unique(heard.target)) == 60
    rated = {(person, item): place for place, (person, item) in enumerate(zip(TABLE.person, TABLE.item, strict=True))}
    for target in np.unique(heard.target).tolist():
        mine = heard.where(heard.target == target)
        places = [rated.get((target, item)) for item in mine.item.tolist()]
        assert places.count(None) == wrong
        for place, stars, day in zip(places, mine.stars.tolist(), mine.day.tolist(), strict=True):
            if place is not None:
                assert abs(stars - TABLE.stars[place]) <= 1
                assert abs(day - TABLE.day[place]) <= days


def test_remarks_are_reproducible():
    one, two = (hearsay(TABLE, targets=5, known=4, wrong=1, seed=3) for _ in range(2))
    assert all(np.array_equal(one.column(name), two.column(name)) for name in one.names)


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"known": 0}, "known"),
        ({"known": 2.0}, "known"),
        ({"wrong": 5}, "wrong"),
        ({"targets": 10**6}, "targets"),
        ({"targets": 0}, "targets"),
        ({"days": -1}, "days"),
        ({"seed": -1}, "seed"),
    ],
)
def test_senseless_remarks_are_refused(changed, name):
    wanted = {"targets": 5, "known": 4, "wrong": 1, "seed": 3} | changed
    with pytest.raises(ParameterError, match=f"{name} must be"):
        hearsay(TABLE, **wanted)


@pytest.mark.parametrize("items", [9, 0, True, 5.5])
def test_too_few_items_are_refused(items):
    with pytest.raises(ParameterError, match="items must be"):
        ratings(people=10, items=items, seed=1)


def test_nobody_is_remarked_on_wrongly_who_has_rated_everything():
    table = Ratings(person=[0, 0, 0, 1], item=[0, 1, 2, 2], stars=[1, 2, 3, 4], day=[1, 2, 3, 4])
    assert set(hearsay(table, targets=1, known=2, wrong=1, seed=1).target.tolist()) == {1}


@pytest.mark.parametrize("person", [[], [1, 0]])
def test_ratings_that_are_none_or_unsorted_are_refused(person):
    table = Ratings(*(np.array(person, dtype=np.int64),) * 4)
    with pytest.raises(InputError, match="sorted by person"):
        hearsay(table, targets=1, known=1, seed=1)
