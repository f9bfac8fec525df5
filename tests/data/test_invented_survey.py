"""The generated survey is reproducible, stays inside its public ranges and is related inside as it says."""

from __future__ import annotations

import builtins
import csv
import inspect
import socket
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from discreet.data import Diary, InventedTable, Survey, survey
from discreet.data.invented_survey import (
    AGE_RANGE,
    COMMUTES,
    DAY_RANGE,
    HEIGHT_RANGE,
    MINUTES_RANGE,
    ONLINE_RANGE,
    REGIONS,
    SATISFACTION_RANGE,
    SLEEP_RANGE,
    WEIGHT_RANGE,
    spellings,
)
from discreet.errors import MissingExtra, ParameterError

LARGE = survey(100_000, seed=11)
SMALL = survey(400, seed=3)


def same(one: InventedTable, two: InventedTable) -> bool:
    return all(_equal(one.column(name), two.column(name)) for name in one.names)


def _equal(one: np.ndarray, two: np.ndarray) -> bool:
    return np.array_equal(one, two, equal_nan=one.dtype.kind == "f")


def near(observed: float, expected: float, rows: int) -> bool:
    """Within five standard errors of a proportion."""
    return abs(observed - expected) <= 5 * (expected * (1 - expected) / rows) ** 0.5


def correlation(one: np.ndarray, two: np.ndarray) -> float:
    known = ~(np.isnan(one) | np.isnan(two))
    return float(np.corrcoef(one[known], two[known])[0, 1])


def test_the_same_seed_gives_the_same_survey_and_another_seed_another() -> None:
    one, two, three = (survey(300, seed=seed) for seed in (5, 5, 6))
    assert same(one, two)
    assert same(one.answers, two.answers)
    assert not _equal(one.income, three.income)
    assert not set(three.town.tolist()) <= set(one.town.tolist())


def test_people_and_seed_have_no_default() -> None:
    parameters = inspect.signature(survey).parameters
    assert all(parameter.default is parameter.empty for parameter in parameters.values())
    assert parameters["seed"].kind is inspect.Parameter.KEYWORD_ONLY


@pytest.mark.parametrize(
    ("name", "bounds", "kind"),
    [
        ("age", AGE_RANGE, "i"),
        ("sleep", SLEEP_RANGE, "f"),
        ("online", ONLINE_RANGE, "f"),
        ("satisfaction", SATISFACTION_RANGE, "i"),
        ("height", HEIGHT_RANGE, "i"),
        ("weight", WEIGHT_RANGE, "f"),
    ],
)
def test_numbers_are_inside_their_public_range(name: str, bounds: tuple[int, int], kind: str) -> None:
    column = LARGE.column(name)
    assert column.dtype.kind == kind
    assert bounds[0] <= column.min() < column.max() <= bounds[1]


def test_diary_days_and_minutes_are_inside_their_public_range() -> None:
    assert set(LARGE.answers.day.tolist()) == set(range(DAY_RANGE[0], DAY_RANGE[1] + 1))
    assert MINUTES_RANGE[0] <= LARGE.answers.minutes.min() < LARGE.answers.minutes.max() <= MINUTES_RANGE[1]


@pytest.mark.parametrize(("name", "values"), [("region", REGIONS), ("commute", COMMUTES)])
def test_known_words_are_exactly_the_public_values(name: str, values: tuple[str, ...]) -> None:
    assert set(LARGE.column(name).tolist()) == set(values)


def test_six_percent_of_incomes_are_missing_and_nothing_else_is() -> None:
    assert near(float(np.isnan(LARGE.income).mean()), 0.06, len(LARGE))
    others = [LARGE.column(name) for name in LARGE.names if name != "income"]
    assert not any(np.isnan(column).any() for column in others if column.dtype.kind == "f")


def test_income_is_positive_with_a_heavy_tail() -> None:
    income = LARGE.income[~np.isnan(LARGE.income)]
    assert income.min() > 0
    assert np.mean(income) > 1.15 * np.median(income)
    assert income.max() > 8 * np.median(income)
    # a log-normal tail: the logarithm is symmetric
    logarithm = np.log(income)
    assert abs(np.mean(logarithm) - np.median(logarithm)) < 0.1 * logarithm.std()


def test_income_has_a_hump_in_the_middle_of_life() -> None:
    young, middle, old = (
        np.nanmedian(LARGE.income[(LARGE.age >= low) & (LARGE.age < high)])
        for low, high in ((18, 30), (45, 55), (70, 96))
    )
    assert young < 0.8 * middle
    assert old < 0.8 * middle


@pytest.mark.parametrize(
    ("one", "two", "low", "high"),
    [
        (np.log(LARGE.income), LARGE.satisfaction, 0.25, 0.5),
        (LARGE.sleep, LARGE.satisfaction, 0.05, 0.4),
        (LARGE.height, LARGE.weight, 0.5, 0.7),
        (LARGE.age, LARGE.weight, 0.05, 0.2),
        (LARGE.age, LARGE.online, -0.5, -0.2),
        (LARGE.online, LARGE.sleep, -0.5, -0.2),
    ],
    ids=["income-satisfaction", "sleep-satisfaction", "height-weight", "age-weight", "age-online", "online-sleep"],
)
def test_columns_are_related_as_stated(one: np.ndarray, two: np.ndarray, low: float, high: float) -> None:
    assert low < correlation(one, two) < high


def test_satisfaction_follows_the_logarithm_of_income_better_than_income() -> None:
    assert correlation(np.log(LARGE.income), LARGE.satisfaction) > correlation(LARGE.income, LARGE.satisfaction) + 0.02


def test_regions_have_their_stated_shares() -> None:
    assert near(float(LARGE.matches(region=REGIONS[0]).mean()), 0.20, len(LARGE))
    assert near(float(LARGE.matches(region=REGIONS[-1]).mean()), 0.01, len(LARGE))


def test_commutes_depend_on_age() -> None:
    at_home = LARGE.matches(commute="none")
    assert at_home[LARGE.age >= 67].mean() > 0.8
    assert at_home[LARGE.age < 67].mean() < 0.15


def test_towns_are_thousands_and_follow_the_law_of_zipf_in_their_region() -> None:
    names, counts = np.unique(LARGE.town, return_counts=True)
    assert len(names) > 4000
    assert np.count_nonzero(counts == 1) > 300
    region = LARGE.where(LARGE.matches(region=REGIONS[0]))
    sizes = np.sort(np.unique(region.town, return_counts=True)[1])[::-1]
    harmonic = (1 / np.arange(1, 501)).sum()
    for rank in (1, 2, 5):
        assert near(sizes[rank - 1] / len(region), 1 / (rank * harmonic), len(region))


def test_a_town_lies_in_one_region() -> None:
    pairs = set(zip(LARGE.town.tolist(), LARGE.region.tolist(), strict=True))
    assert len(pairs) == len(set(LARGE.town.tolist()))


def test_town_names_are_distinct_composed_and_of_several_scripts() -> None:
    possible = spellings()
    assert len(set(possible)) == len(possible)
    assert all(unicodedata.is_normalized("NFC", name) for name in possible)
    scripts = {unicodedata.name(name[-1]).split()[0] for name in LARGE.town.tolist()}
    assert scripts == {"LATIN", "GREEK", "CYRILLIC"}


def test_nobody_real_is_described(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        pytest.fail("the survey must come from its seed alone")

    monkeypatch.setattr(builtins, "open", refuse)
    monkeypatch.setattr(socket, "socket", refuse)
    table = survey(400, seed=3)
    assert same(table, SMALL)
    assert np.array_equal(table.person, np.arange(1, 401))
    assert set(table.town.tolist()) <= set(spellings())


def test_a_person_writes_at_most_one_row_a_day_and_people_differ_in_diligence() -> None:
    diary = LARGE.answers
    assert len(np.unique(diary.person * 100 + diary.day)) == len(diary)
    assert set(diary.person.tolist()) <= set(LARGE.person.tolist())
    rows = np.bincount(diary.person, minlength=len(LARGE) + 1)[1:]
    assert rows.min() == 0
    assert rows.max() == DAY_RANGE[1]
    assert near(float(rows.mean() / DAY_RANGE[1]), 0.4, len(LARGE))
    # far more spread than if all people were equally diligent
    assert rows.var() > 3 * DAY_RANGE[1] * 0.4 * 0.6


def test_people_who_walk_to_work_walk_more_and_old_people_less() -> None:
    diary = LARGE.answers
    walks = LARGE.matches(commute="walk")[diary.person - 1]
    age = LARGE.age[diary.person - 1]
    assert diary.minutes[walks].mean() > 1.3 * diary.minutes[~walks].mean()
    assert diary.minutes[age >= 75].mean() < 0.9 * diary.minutes[age < 40].mean()


def test_where_keeps_the_people_and_their_diary() -> None:
    mask = SMALL.age >= 60
    chosen, others = SMALL.where(mask), SMALL.where(~mask)
    assert isinstance(chosen, Survey)
    assert np.array_equal(chosen.person, SMALL.person[mask])
    assert set(chosen.answers.person.tolist()) <= set(chosen.person.tolist())
    assert len(chosen.answers) + len(others.answers) == len(SMALL.answers)


def test_columns_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        SMALL.income[0] = 3
    with pytest.raises(ValueError, match="WRITEABLE"):
        SMALL.answers.minutes.flags.writeable = True
    with pytest.raises(AttributeError):
        SMALL.age = np.zeros(10)  # type: ignore[misc]


def test_unequal_columns_an_unknown_column_and_a_wrong_mask_are_refused() -> None:
    with pytest.raises(ParameterError, match="as long as 'person'"):
        Diary(np.zeros(2), np.zeros(2), np.zeros(3))
    with pytest.raises(ParameterError, match="the columns are person, age"):
        SMALL.column("name")
    for mask in (np.ones(3, dtype=bool), np.ones(400)):
        with pytest.raises(ParameterError, match="one Boolean a row"):
            SMALL.where(mask)


def test_repr_says_shape_and_columns_and_no_row() -> None:
    text = repr(SMALL) + repr(SMALL.answers)
    assert text.startswith("Survey(400 rows, synthetic; columns person, age, income")
    assert "Diary(" in text
    assert not any(word in text for word in (*REGIONS, *SMALL.town.tolist()))


def test_csv_holds_a_header_every_row_and_nothing_for_what_is_missing(tmp_path: Path) -> None:
    with SMALL.to_csv(tmp_path / "survey.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    assert tuple(header) == SMALL.names
    assert [row[header.index("town")] for row in rows] == SMALL.town.tolist()
    incomes = [float(row[header.index("income")] or "nan") for row in rows]
    assert np.isnan(SMALL.income).any()
    assert np.array_equal(incomes, SMALL.income, equal_nan=True)


def test_pandas_gets_every_column_and_nan_for_what_is_missing() -> None:
    frame = SMALL.to_pandas()
    assert tuple(frame.columns) == SMALL.names
    assert all(_equal(frame[name].to_numpy(dtype=SMALL.column(name).dtype), SMALL.column(name)) for name in SMALL.names)
    frame.loc[0, "age"] = 40
    assert len(SMALL.answers.to_pandas()) == len(SMALL.answers)


def test_polars_gets_every_column_and_null_for_what_is_missing() -> None:
    frame = SMALL.to_polars()
    assert tuple(frame.columns) == SMALL.names
    assert frame["income"].null_count() == np.isnan(SMALL.income).sum()
    assert frame["town"].to_list() == SMALL.town.tolist()
    assert len(SMALL.answers.to_polars()) == len(SMALL.answers)


def test_arrow_gets_every_column_and_null_for_what_is_missing() -> None:
    table = SMALL.to_arrow()
    assert tuple(table.column_names) == SMALL.names
    assert table["income"].null_count == np.isnan(SMALL.income).sum()
    assert table["town"].to_pylist() == SMALL.town.tolist()
    assert len(SMALL.answers.to_arrow()) == len(SMALL.answers)


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_a_missing_frame_package_names_its_extra(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    method = {"pandas": SMALL.to_pandas, "polars": SMALL.to_polars, "pyarrow": SMALL.to_arrow}[package]
    with pytest.raises(MissingExtra, match=r"discreet\[frames\]"):
        method()


@pytest.mark.parametrize("people", [0, -1, True, 2.0, "10", 10**9])
def test_a_senseless_number_of_people_is_refused(people: object) -> None:
    with pytest.raises(ParameterError, match="people must be"):
        survey(people, seed=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [-1, None, True, 1.5])
def test_a_senseless_seed_is_refused(seed: object) -> None:
    with pytest.raises(ParameterError, match="seed must be"):
        survey(10, seed=seed)  # type: ignore[arg-type]


def test_one_person_makes_a_survey() -> None:
    table = survey(1, seed=2)
    assert len(table) == 1
    assert len(table.answers) <= DAY_RANGE[1]
