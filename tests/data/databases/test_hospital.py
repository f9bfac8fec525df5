"""The generated database is reproducible, its tables fit together, and nothing public tells the secret bit."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

from discreet.data import hospital_database, visits
from discreet.data.databases.hospital import DEPARTMENTS, PRACTICE_SIZE, REGIONS
from discreet.data.invented_hospital import AGE_RANGE, COST_RANGE, DAY_RANGE, DIAGNOSES, NIGHTS_RANGE, SEXES
from discreet.errors import ParameterError

BASE = hospital_database(people=20_000, seed=5)


def test_the_same_seed_gives_the_same_database_and_another_seed_another():
    one, two, three = (hospital_database(people=300, seed=seed).columns() for seed in (5, 5, 6))
    for name, columns in one.items():
        assert all(np.array_equal(column, two[name][key]) for key, column in columns.items())
    assert not np.array_equal(one["patients"]["marker"], three["patients"]["marker"])


def test_every_patient_has_a_row_and_every_visit_a_patient():
    assert np.array_equal(BASE.patients.patient_id, np.arange(20_000))
    assert np.array_equal(BASE.visits.visit_id, np.arange(len(BASE.visits)))
    rows = np.bincount(BASE.visits.patient_id, minlength=20_000)
    assert rows.min() == 1
    assert 3 < rows.max() <= 12


def test_people_are_those_of_the_visits():
    stays = visits(people=20_000, seed=5, most=12)
    assert np.array_equal(BASE.patients.age[BASE.visits.patient_id], stays.age)
    assert np.array_equal(BASE.visits.cost, stays.cost)


def test_practice_and_card_number_everybody():
    cards = BASE.patients
    assert np.array_equal(cards.practice * PRACTICE_SIZE + cards.card - 1, cards.patient_id)
    assert (cards.card.min(), cards.card.max()) == (1, PRACTICE_SIZE)


@pytest.mark.parametrize(
    ("table", "name", "bounds"),
    [
        ("patients", "age", AGE_RANGE),
        ("visits", "day", DAY_RANGE),
        ("visits", "nights", NIGHTS_RANGE),
        ("visits", "cost", COST_RANGE),
        ("patients", "marker", (0, 1)),
    ],
)
def test_numbers_are_inside_their_public_range(table, name, bounds):
    column = BASE.columns()[table][name]
    assert column.dtype == np.int64
    assert bounds[0] <= column.min() < column.max() <= bounds[1]


@pytest.mark.parametrize(
    ("table", "name", "values"),
    [
        ("patients", "sex", SEXES),
        ("patients", "region", REGIONS),
        ("regions", "region", REGIONS),
        ("visits", "department", DEPARTMENTS),
        ("visits", "diagnosis", DIAGNOSES),
    ],
)
def test_words_are_exactly_the_public_values(table, name, values):
    assert set(BASE.columns()[table][name].tolist()) == set(values)


def test_regions_are_unique_and_of_unequal_size():
    assert len(set(BASE.regions.region.tolist())) == len(BASE.regions) == len(REGIONS)
    patients = [int(BASE.patients.matches(region=region).sum()) for region in REGIONS]
    assert max(patients) > 1.3 * min(patients)


def test_the_marker_is_a_fair_coin_that_nothing_public_tells():
    marker = BASE.patients.marker
    for mask in (marker >= 0, BASE.patients.age >= 65, BASE.patients.matches(sex="male"), BASE.patients.card % 2 == 1):
        chosen = marker[mask]
        assert abs(chosen.mean() - 0.5) <= 5 * 0.5 / len(chosen) ** 0.5


def test_a_database_file_holds_the_same_rows(tmp_path):
    small = hospital_database(people=200, seed=1)
    path = small.to_duckdb(tmp_path / "hospital.duckdb")
    assert small.to_duckdb(path) == path
    with duckdb.connect(str(path), read_only=True) as connection:
        for name, columns in small.columns().items():
            stored = connection.execute(f"SELECT * FROM {name}").fetchall()  # noqa: S608
            assert stored == list(zip(*(column.tolist() for column in columns.values()), strict=True))
        kinds = {row[1] for row in connection.execute("DESCRIBE patients").fetchall()}
    assert kinds == {"BIGINT", "VARCHAR"}


@pytest.mark.parametrize("changed", [{"people": 0}, {"seed": -1}, {"most": 0}])
def test_parameters_that_make_no_database_are_refused(changed):
    with pytest.raises(ParameterError, match=next(iter(changed))):
        hospital_database(**({"people": 10, "seed": 1} | changed))
