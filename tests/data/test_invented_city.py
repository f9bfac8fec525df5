"""The invented city is reproducible, its two tables overlap as said, and its values are the public ones."""

from __future__ import annotations

import csv
import dataclasses

import duckdb
import numpy as np
import pytest

from discreet.data import City, Discharges, Register, register
from discreet.data.invented_city import (
    BIRTH_RANGE,
    BIRTHPLACES,
    CITY_ZIP_CODES,
    CODES,
    EDUCATIONS,
    HEIGHT_RANGE,
    HOUSINGS,
    LANGUAGES,
    MARITAL_STATUSES,
    OCCUPATIONS,
    QUASI_IDENTIFIERS,
    VEHICLES,
)
from discreet.data.invented_hospital import DIAGNOSES, SEXES
from discreet.errors import ParameterError

CITY = register(people=40_000, seed=5)


def test_the_same_seed_gives_the_same_city_and_another_seed_another():
    one, two, three = (register(people=400, seed=seed) for seed in (5, 5, 6))
    for name in one.register.names:
        assert np.array_equal(one.register.column(name), two.register.column(name))
    for name in one.discharges.names:
        assert np.array_equal(one.discharges.column(name), two.discharges.column(name))
    assert np.array_equal(one.match, two.match)
    assert not np.array_equal(one.register.birth_date, three.register.birth_date)


@pytest.mark.parametrize("people", [20, 1000, 40_000])
def test_half_are_registered_a_fifth_are_patients_and_a_tenth_are_both(people):
    city = register(people=people, seed=1)
    assert (len(city.register), len(city.discharges)) == (people // 2, people // 5)
    assert np.count_nonzero(city.match >= 0) == people // 10


def test_who_is_both_agrees_in_all_twelve_facts_and_stands_once_in_the_truth():
    both = CITY.match >= 0
    assert len(np.unique(CITY.match[both])) == np.count_nonzero(both)
    for name in QUASI_IDENTIFIERS:
        assert np.array_equal(CITY.discharges.column(name)[both], CITY.register.column(name)[CITY.match[both]])


def test_patients_who_are_not_registered_are_other_people():
    alone = CITY.match < 0
    listed = (CITY.register.column(name).tolist() for name in QUASI_IDENTIFIERS)
    known = set(zip(*listed, strict=True))
    rows = zip(*(CITY.discharges.column(name)[alone].tolist() for name in QUASI_IDENTIFIERS), strict=True)
    assert sum(row in known for row in rows) < 10


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("zip_code", CITY_ZIP_CODES),
        ("sex", SEXES),
        ("marital_status", MARITAL_STATUSES),
        ("children", range(6)),
        ("education", EDUCATIONS),
        ("occupation", OCCUPATIONS),
        ("birthplace", BIRTHPLACES),
        ("language", LANGUAGES),
        ("housing", HOUSINGS),
        ("vehicle", VEHICLES),
    ],
)
def test_every_value_is_a_public_one_and_every_public_one_occurs(name, values):
    for table in (CITY.register, CITY.discharges):
        assert set(table.column(name).tolist()) == set(values)


def test_dates_and_heights_stay_in_their_ranges():
    assert CITY.register.birth_date.min() >= BIRTH_RANGE[0]
    assert CITY.register.birth_date.max() <= BIRTH_RANGE[1]
    assert CITY.register.birth_date.dtype == np.dtype("datetime64[D]")
    assert CITY.register.height.min() >= HEIGHT_RANGE[0]
    assert CITY.register.height.max() <= HEIGHT_RANGE[1]


def test_a_code_belongs_to_its_diagnosis_and_no_man_gives_birth():
    table = CITY.discharges
    assert set(table.diagnosis.tolist()) == set(DIAGNOSES)
    for name, codes in zip(DIAGNOSES, CODES, strict=True):
        assert set(table.code[table.matches(diagnosis=name)].tolist()) <= set(codes)
    assert not table.matches(diagnosis="childbirth", sex="male").any()


def test_facts_depend_on_one_another():
    table = CITY.register
    old = table.birth_date < np.datetime64("1955-01-01")
    assert (
        table.matches(marital_status="widowed")[old].mean() > 5 * table.matches(marital_status="widowed")[~old].mean()
    )
    assert table.matches(occupation="retired")[old].all()
    assert table.height[table.matches(sex="male")].mean() > table.height[table.matches(sex="female")].mean() + 8
    assert table.matches(language="first")[table.matches(birthplace="abroad")].mean() < 0.2


def test_the_hospital_table_has_no_name_and_the_register_no_diagnosis():
    assert CITY.discharges.names == (*QUASI_IDENTIFIERS, "diagnosis", "code")
    assert CITY.register.names == ("name", *QUASI_IDENTIFIERS)
    assert isinstance(CITY.register, Register)
    assert isinstance(CITY.discharges, Discharges)


def test_duckdb_gets_both_tables_with_dates_and_texts_and_not_the_truth(tmp_path):
    city = register(people=1000, seed=3)
    path = city.to_duckdb(tmp_path / "city.duckdb")
    city.to_duckdb(path)
    with duckdb.connect(str(path), read_only=True) as connection:
        kinds = dict(connection.execute("SELECT column_name, column_type FROM (DESCRIBE register)").fetchall())
        assert (kinds["birth_date"], kinds["zip_code"], kinds["height"]) == ("DATE", "VARCHAR", "BIGINT")
        tables = {row[0] for row in connection.execute("SHOW TABLES").fetchall()}
        assert tables == {"register", "discharges"}
        found = connection.execute("SELECT name, birth_date FROM register").fetchall()
    assert found == list(zip(city.register.name.tolist(), city.register.birth_date.tolist(), strict=True))


def test_csv_writes_dates_as_people_read_them(tmp_path):
    city = register(people=100, seed=3)
    with city.discharges.to_csv(tmp_path / "discharges.csv").open(encoding="utf-8", newline="") as file:
        header, first, *_ = list(csv.reader(file))
    assert first[header.index("birth_date")] == str(city.discharges.birth_date[0])


def test_frames_get_every_row():
    city = register(people=100, seed=3)
    assert len(city.register.to_pandas()) == len(city.register.to_polars()) == len(city.register.to_arrow()) == 50


def test_nothing_can_be_written_to_and_the_text_shows_nobody():
    with pytest.raises(ValueError, match="read-only"):
        CITY.match[0] = 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        CITY.match = np.zeros(3)
    assert repr(CITY) == "City(20,000 registered, 8,000 patients, 4,000 both; synthetic)"
    assert isinstance(CITY, City)


@pytest.mark.parametrize("people", [0, 19, True, 2.0, "10", 10**9])
def test_a_senseless_number_of_people_is_refused(people):
    with pytest.raises(ParameterError, match="people must be"):
        register(people=people, seed=1)


@pytest.mark.parametrize("seed", [-1, None, True, 1.5])
def test_a_senseless_seed_is_refused(seed):
    with pytest.raises(ParameterError, match="seed must be"):
        register(people=100, seed=seed)
