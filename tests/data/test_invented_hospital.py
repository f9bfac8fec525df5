"""The generated hospital is reproducible, stays inside its public ranges and follows its stated distributions."""

from __future__ import annotations

import csv
import inspect
from pathlib import Path

import numpy as np
import pytest

from discreet.data import HospitalTable, hospital, visits
from discreet.data.invented_hospital import (
    AGE_RANGE,
    COST_RANGE,
    DAY_RANGE,
    DIAGNOSES,
    NIGHTS_RANGE,
    SEXES,
    STIGMATIZED,
    WARDS,
    ZIP_CODES,
)
from discreet.errors import ParameterError

LARGE = hospital(people=200_000, seed=11)


def share(mask: np.ndarray) -> float:
    return float(np.mean(mask))


def near(observed: float, expected: float, rows: int) -> bool:
    """Within five standard errors of a proportion."""
    return abs(observed - expected) <= 5 * (expected * (1 - expected) / rows) ** 0.5


def test_the_same_seed_gives_the_same_table_and_another_seed_another() -> None:
    one, two, three = (hospital(people=300, seed=seed) for seed in (5, 5, 6))
    assert all(np.array_equal(one.column(name), two.column(name)) for name in one.names)
    assert not np.array_equal(one.cost, three.cost)


def test_people_and_seed_have_no_default_and_no_position() -> None:
    for function in (hospital, visits):
        for parameter in inspect.signature(function).parameters.values():
            assert parameter.kind is parameter.KEYWORD_ONLY
            assert parameter.default is parameter.empty


def test_one_row_a_person() -> None:
    assert len(LARGE) == 200_000
    assert len(np.unique(LARGE.person)) == 200_000


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("age", *AGE_RANGE), ("cost", *COST_RANGE), ("nights", *NIGHTS_RANGE), ("day", *DAY_RANGE)],
)
def test_numbers_are_whole_and_inside_their_public_range(name: str, low: int, high: int) -> None:
    column = LARGE.column(name)
    assert column.dtype == np.int64
    assert low <= column.min()
    assert column.max() <= high


@pytest.mark.parametrize(
    ("name", "values"), [("sex", SEXES), ("ward", WARDS), ("diagnosis", DIAGNOSES), ("zip_code", ZIP_CODES)]
)
def test_words_are_exactly_the_public_values(name: str, values: tuple[str, ...]) -> None:
    assert set(LARGE.column(name).tolist()) == set(values)


def test_age_groups_and_sexes_have_their_stated_shares() -> None:
    rows = len(LARGE)
    assert near(share(LARGE.age < 18), 0.09, rows)
    assert near(share((LARGE.age >= 18) & (LARGE.age < 65)), 0.41, rows)
    assert near(share(LARGE.matches(sex="female")), 0.52, rows)
    assert near(share(LARGE.matches(ward="emergency")), 0.12, rows)


def test_zip_codes_are_skewed_as_stated() -> None:
    weights = 1 / (np.arange(1, 101) + 5)
    for place in (0, 9, 99):
        expected = weights[place] / weights.sum()
        assert near(share(LARGE.matches(zip_code=ZIP_CODES[place])), expected, len(LARGE))


def test_diagnoses_depend_on_age_and_sex_as_stated() -> None:
    births = LARGE.where(LARGE.matches(diagnosis="childbirth"))
    assert set(births.sex.tolist()) == {"female"}
    assert births.age.min() >= 18
    assert births.age.max() <= 44
    young_women = LARGE.where(LARGE.matches(sex="female") & (LARGE.age >= 18) & (LARGE.age <= 44))
    assert share(young_women.matches(diagnosis="childbirth")) == pytest.approx(0.42, abs=0.01)


def test_stigmatized_diagnoses_are_rare_but_present() -> None:
    shares = [share(LARGE.matches(diagnosis=diagnosis)) for diagnosis in STIGMATIZED]
    assert all(0.003 < value < 0.1 for value in shares)


def test_children_lie_in_pediatrics_unless_an_emergency() -> None:
    assert set(LARGE.where(LARGE.age < 18).ward.tolist()) == {"pediatrics", "emergency"}
    assert "pediatrics" not in LARGE.where(LARGE.age >= 18).ward.tolist()


def test_nights_cost_money() -> None:
    assert np.all(LARGE.cost >= np.minimum(150 + 480 * LARGE.nights, COST_RANGE[1]))


def test_columns_cannot_be_written_to() -> None:
    table = hospital(people=10, seed=1)
    with pytest.raises(ValueError, match="read-only"):
        table.age[0] = 3
    with pytest.raises(ValueError, match="WRITEABLE"):
        table.age.flags.writeable = True
    with pytest.raises(AttributeError):
        table.age = np.zeros(10)  # type: ignore[misc]


def test_where_keeps_exactly_the_matching_rows() -> None:
    mask = LARGE.matches(sex="male", ward="surgery")
    chosen, others = LARGE.where(mask), LARGE.where(~mask)
    assert len(chosen) + len(others) == len(LARGE)
    assert set(chosen.ward.tolist()) == {"surgery"}
    assert np.array_equal(chosen.person, LARGE.person[(LARGE.sex == "male") & (LARGE.ward == "surgery")])


def test_an_unknown_column_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ParameterError, match="the columns are person, age"):
        LARGE.matches(name="Helen")


@pytest.mark.parametrize("mask", [np.ones(3, dtype=bool), np.ones(200_000)])
def test_a_mask_of_another_shape_or_kind_is_refused(mask: np.ndarray) -> None:
    with pytest.raises(ParameterError, match="one Boolean a row"):
        LARGE.where(mask)


def test_unequal_columns_are_refused() -> None:
    with pytest.raises(ParameterError, match="as long as 'person'"):
        HospitalTable(*[np.zeros(2)] * 8, np.zeros(3))


def test_repr_says_shape_and_columns_and_no_row() -> None:
    table = hospital(people=1234, seed=3)
    text = repr(table)
    assert text.startswith("HospitalTable(1,234 rows, synthetic; columns person, age")
    assert not any(word in text for word in (*DIAGNOSES, *WARDS, *ZIP_CODES))


def test_csv_holds_a_header_and_every_row(tmp_path: Path) -> None:
    table = hospital(people=50, seed=3)
    with table.to_csv(tmp_path / "stays.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    assert tuple(header) == table.names
    assert [row[table.names.index("zip_code")] for row in rows] == table.zip_code.tolist()
    assert [int(row[table.names.index("cost")]) for row in rows] == table.cost.tolist()


def test_visits_keep_a_person_the_same_and_bound_the_rows_of_each() -> None:
    table = visits(people=20_000, seed=4, most=3)
    rows = np.bincount(table.person)[1:]
    assert rows.min() == 1
    assert rows.max() == 3
    assert near(share(rows == 1), 0.6, 20_000)
    for name in ("age", "sex", "zip_code"):
        pairs = set(zip(table.person.tolist(), table.column(name).tolist(), strict=True))
        assert len(pairs) == 20_000


@pytest.mark.parametrize("people", [0, -1, True, 2.0, "10", 10**9])
def test_a_senseless_number_of_people_is_refused(people: object) -> None:
    with pytest.raises(ParameterError, match="people must be"):
        hospital(people=people, seed=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [-1, None, True, 1.5])
def test_a_senseless_seed_is_refused(seed: object) -> None:
    with pytest.raises(ParameterError, match="seed must be"):
        hospital(people=10, seed=seed)  # type: ignore[arg-type]


@pytest.mark.parametrize("most", [0, True, 1.5])
def test_a_senseless_bound_on_stays_is_refused(most: object) -> None:
    with pytest.raises(ParameterError, match="most must be"):
        visits(people=10, seed=1, most=most)  # type: ignore[arg-type]
