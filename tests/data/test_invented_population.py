"""The generated population is reproducible, has the public values it says, and its columns tell about one another."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.data import InventedTable, Population, population, population_columns, population_values
from discreet.data.invented_population import (
    AGE_RANGE,
    BINS,
    COUNTRIES,
    EDUCATIONS,
    GAIN_RANGE,
    HOURS_RANGE,
    INCOMES,
    LOSS_RANGE,
    WEIGHT_RANGE,
)
from discreet.errors import ParameterError

LARGE = population(60_000, seed=11)
CODES = {
    name: np.searchsorted(np.sort(np.array(values)), column)
    for (name, values), column in zip(population_values().items(), LARGE.binned().values(), strict=True)
}


def information(one: str, two: str) -> float:
    """Return the mutual information of two columns, in bits, as counted."""
    first, second = CODES[one], CODES[two]
    joint = np.zeros((first.max() + 1, second.max() + 1))
    np.add.at(joint, (first, second), 1 / len(first))
    product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    there = joint > 0
    return float(np.sum(joint[there] * np.log2(joint[there] / product[there])))


def share(mask: np.ndarray) -> float:
    return float(np.mean(mask))


def test_the_same_seed_gives_the_same_people_and_another_seed_others() -> None:
    one, two, three = (population(300, seed=seed) for seed in (5, 5, 6))
    assert all(np.array_equal(one.column(name), two.column(name)) for name in one.names)
    assert not np.array_equal(one.weight, three.weight)


def test_there_are_fifteen_columns_with_the_category_counts_of_the_census_they_look_like() -> None:
    assert isinstance(LARGE, Population)
    assert isinstance(LARGE, InventedTable)
    sizes = {name: len(values) for name, values in population_values().items()}
    assert sizes == {
        "age": 32, "workclass": 9, "weight": 32, "education": 16, "education_years": 16, "marital_status": 7,
        "occupation": 15, "relationship": 6, "race": 5, "sex": 2, "capital_gain": 32, "capital_loss": 32, "hours": 32,
        "country": 42, "income": 2,
    }  # fmt: skip
    assert tuple(sizes) == LARGE.names


def test_every_value_is_one_of_the_public_ones_and_every_number_lies_in_its_public_range() -> None:
    for name, values in population_values().items():
        assert set(LARGE.binned()[name].tolist()) <= set(values)
    ranges = {
        "age": AGE_RANGE, "hours": HOURS_RANGE, "weight": WEIGHT_RANGE, "capital_gain": GAIN_RANGE,
        "capital_loss": LOSS_RANGE,
    }  # fmt: skip
    for name, (low, high) in ranges.items():
        assert low <= LARGE.column(name).min() <= LARGE.column(name).max() <= high


def test_a_bin_holds_the_numbers_from_its_name_to_the_next() -> None:
    for name, starts in BINS.items():
        found, column = LARGE.binned()[name], LARGE.column(name)
        after = dict(zip(starts, (*starts[1:], 10**9), strict=True))
        assert np.all(found <= column)
        assert np.all(column < np.vectorize(after.get)(found))


def test_what_a_policy_would_declare_covers_every_column() -> None:
    declared = population_columns()
    assert tuple(declared) == LARGE.names
    for name, words in declared.items():
        column = LARGE.column(name)
        if "values" in words:
            assert set(column.tolist()) <= set(words["values"])
        else:
            assert words["min"] <= column.min() <= column.max() <= words["max"]


def test_the_years_of_education_follow_from_education() -> None:
    assert np.array_equal(LARGE.education_years, [EDUCATIONS.index(one) + 1 for one in LARGE.education.tolist()])


@pytest.mark.parametrize(
    ("one", "two", "least"),
    [
        ("education", "education_years", 2.5),
        ("marital_status", "relationship", 0.9),
        ("relationship", "sex", 0.3),
        ("age", "marital_status", 0.2),
        ("age", "relationship", 0.2),
        ("occupation", "education", 0.25),
        ("occupation", "workclass", 0.4),
        ("occupation", "sex", 0.1),
        ("income", "relationship", 0.08),
        ("income", "education", 0.05),
        ("income", "capital_gain", 0.01),
        ("race", "country", 0.05),
    ],
)
def test_columns_tell_about_one_another(one: str, two: str, least: float) -> None:
    assert information(one, two) >= least


def test_most_gains_and_losses_are_nothing_most_come_from_home_and_a_fourth_earn_much() -> None:
    assert 0.88 <= share(LARGE.capital_gain == 0) <= 0.95
    assert 0.93 <= share(LARGE.capital_loss == 0) <= 0.98
    assert not np.any((LARGE.capital_gain > 0) & (LARGE.capital_loss > 0))
    assert 0.88 <= share(LARGE.country == COUNTRIES[0]) <= 0.93
    assert 0.2 <= share(LARGE.income == INCOMES[1]) <= 0.28


def test_a_number_of_people_that_makes_no_table_is_refused() -> None:
    with pytest.raises(ParameterError, match="people"):
        population(0, seed=1)
    with pytest.raises(ParameterError, match="seed"):
        population(10, seed=-1)
