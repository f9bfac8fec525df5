"""The generated block is reproducible and stays inside its public ranges."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.data import census_block
from discreet.data.invented_block import AGE_RANGE, ORIGINS, RACES, SEXES
from discreet.errors import ParameterError


def test_the_same_seed_gives_the_same_block_and_another_seed_another():
    one, two, three = (census_block(40, seed=seed) for seed in (5, 5, 6))
    assert all(np.array_equal(one.column(name), two.column(name)) for name in one.names)
    assert not np.array_equal(one.age, three.age)


@pytest.mark.parametrize("people", [1, 7, 500])
def test_values_stay_in_their_public_ranges(people):
    block = census_block(people, seed=1)
    assert len(block) == people
    assert block.person.tolist() == list(range(1, people + 1))
    assert block.age.min() >= AGE_RANGE[0]
    assert block.age.max() <= AGE_RANGE[1]
    for column, values in ((block.sex, SEXES), (block.race, RACES), (block.origin, ORIGINS)):
        assert set(column.tolist()) <= set(values)


def test_households_are_small_and_led_by_adults():
    block = census_block(500, seed=2)
    assert np.bincount(block.household).max() <= 5
    _, first = np.unique(block.household, return_index=True)
    assert block.age[first].min() >= 20
    assert (block.age < 18).any()


@pytest.mark.parametrize(("people", "seed"), [(0, 1), (501, 1), (5.0, 1), (5, -1)])
def test_what_makes_no_block_is_refused(people, seed):
    with pytest.raises(ParameterError, match="whole number"):
        census_block(people, seed=seed)
