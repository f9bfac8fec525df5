"""Which keys are public, and with which values: from declarations alone."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.errors import ParameterError, UnsupportedSQL
from discreet.query.reading.query import read_query
from tests.query.sample_policy import POLICY, evaluate


def domain(key, *, source="visits", **rest):
    sql = "SELECT @ AS k, COUNT(*) AS n FROM # GROUP BY k".replace("@", key).replace("#", source)
    (found,) = read_query(sql, POLICY, **{"evaluate": evaluate, **rest}).aggregation.keys
    return found.domain


DOMAINS = [
    ("region", ("north", "south", "west")),
    ("days", tuple(range(31))),
    ("emergency", (False, True)),
    ("age > 30", (False, True)),
    ("fee IS NULL", (False, True)),
    ("BIN(age, 40)", (0, 40, 80, 120)),
    ("BIN(cost, 250)", (0, 250, 500)),
    ("FLOOR(age / 50)", (0, 1, 2)),
    ("age // 50", (0, 1, 2)),
    ("CLAMP(age, 60, 62)", (60, 61, 62)),
    ("UPPER(region)", ("NORTH", "SOUTH", "WEST")),
    ("COALESCE(region, 'none')", ("none", "north", "south", "west")),
    ("CASE WHEN fee < 3 THEN 'low' ELSE 'high' END", ("high", "low")),
    ("CASE WHEN region = 'north' THEN 'n' ELSE 'other' END", ("n", "other")),
    ("CASE WHEN fee < 3 THEN 1 WHEN ward = 'a' THEN 2 END", (1, 2)),
    ("LEFT(region, 1)", ("n", "s", "w")),
    ("MONTH(day)", tuple(range(1, 13))),
    ("YEAR(day)", (2023,)),
    ("QUARTER(arrived)", (1, 2, 3, 4)),
    ("ISODOW(born)", tuple(range(1, 8))),
    ("HOUR(arrived)", tuple(range(24))),
    ("DATE_TRUNC('quarter', day)", (date(2023, 1, 1), date(2023, 4, 1), date(2023, 7, 1), date(2023, 10, 1))),
    ("DATE_TRUNC('year', arrived)", (datetime(2023, 1, 1),)),
    ("day + 1", tuple(date.fromordinal(date(2023, 1, 2).toordinal() + step) for step in range(365))),
    ("region || '/' || emergency::TEXT", None),
    ("ward", None),
    ("age", None),
    ("day", None),
    ("cost", None),
    ("score", None),
    ("score * 2", None),
    ("YEAR(born)", None),
    ("LOWER(ward)", None),
    ("arrived", None),
    ("DATE_TRUNC('hour', arrived)", None),
    ("CASE WHEN age > 3 THEN ward ELSE 'none' END", None),
]


@pytest.mark.parametrize(("key", "values"), DOMAINS, ids=[key for key, _ in DOMAINS])
def test_the_values_of_a_key_follow_from_the_policy(key, values):
    if key.endswith("TEXT"):
        values = tuple(f"{region}/{truth}" for region in ("north", "south", "west") for truth in ("false", "true"))
    assert domain(key) == values


@pytest.mark.parametrize("key", [key for key, values in DOMAINS if values is None and "TEXT" not in key])
def test_a_private_key_becomes_public_with_values_from_the_call(key):
    sql = "SELECT @ AS k, COUNT(*) FROM visits GROUP BY k".replace("@", key)
    kind = read_query(sql, POLICY).aggregation.keys[0].expression.type
    example = {"TEXT": "a", "INTEGER": 3, "REAL": 3.5, "DATE": date(2023, 1, 1), "TIMESTAMP": datetime(2023, 1, 1)}
    given = {"k": [example[kind.name]]}
    assert domain(key, keys=given) == (example[kind.name],)


def test_expressions_in_subqueries_are_seen_through():
    assert domain("decade", source="(SELECT age // 50 AS decade FROM visits)") == (0, 1, 2)
    assert domain("x + 1", source="(SELECT y * 2 AS x FROM (SELECT age // 60 AS y FROM visits))") == (1, 3, 5)
    assert domain("r", source="(SELECT region AS r FROM visits)") == ("north", "south", "west")


def test_joined_columns_have_the_values_declared_for_the_public_table():
    assert domain("country", source="visits JOIN regions USING (code)") == ("A", "B")
    assert domain("regions.area", source="visits JOIN regions USING (code)") is None


NARROWED = [
    ("region", "region IN ('west', 'north')", ("north", "west")),
    ("region", "region IN ('west', 'abroad')", ("abroad", "west")),
    ("region", "region <> 'south' AND age > 3", ("north", "west")),
    ("region", "region = 'south' OR age > 3", ("north", "south", "west")),
    ("region", "region = 'south' AND region = 'west'", ("south", "west")),
    ("region", "age > 3", ("north", "south", "west")),
    ("days", "days BETWEEN 3 AND 5", (3, 4, 5)),
    ("days // 10", "days > 19", (2, 3)),
    ("age", "age > 110", None),
    ("age", "age IN (7, 3, 700)", (3, 7, 700)),
    ("BIN(age, 40)", "age < 80", (0, 40)),
    ("DATE_TRUNC('month', day)", "day >= '2023-11-05'", (date(2023, 11, 1), date(2023, 12, 1))),
    ("MONTH(day)", "QUARTER(day) = 2 AND day < '2023-06-01'", (4, 5)),
    ("YEAR(arrived)", "arrived > '2023-06-01 12:00:00'", (2023,)),
    ("QUARTER(arrived)", "arrived > '2023-12-31 12:00:00'", (4,)),
    ("DATE_TRUNC('quarter', arrived)", "arrived >= '2023-07-01'", (datetime(2023, 7, 1), datetime(2023, 10, 1))),
    ("MONTH(arrived)", "arrived BETWEEN '2023-03-31 23:59:00' AND '2023-06-01'", (3, 4, 5, 6)),
    ("MONTH(arrived)", "arrived > '2023-03-31 23:59:59.999999' AND arrived < '2023-06-01'", (3, 4, 5)),
    ("MONTH(arrived)", "'2023-11-05 10:00:00' <= arrived", (11, 12)),
    ("MONTH(arrived)", "arrived = '2023-11-05 10:00:00' OR arrived IN ('2023-02-01 00:00:01')", (2, 11)),
    ("MONTH(arrived)", "YEAR(arrived) = 2023 AND QUARTER(arrived) = 2", (4, 5, 6)),
    ("MONTH(arrived)", "CAST(arrived AS DATE) < '2023-03-01'", (1, 2)),
    ("QUARTER(arrived)", "arrived <> '2023-11-05' AND HOUR(arrived) = 13", (1, 2, 3, 4)),
    ("QUARTER(arrived)", "arrived >= '2023-07-01' AND HOUR(arrived) = 13", (3, 4)),
    ("QUARTER(arrived)", "arrived >= '2023-07-01' OR HOUR(arrived) = 13", (1, 2, 3, 4)),
    ("QUARTER(arrived)", "NOT (arrived >= '2023-07-01')", (1, 2, 3, 4)),
    ("arrived", "arrived >= '2023-12-31'", None),
    ("LEFT(ward, 1)", "LEFT(ward, 1) IN ('b', 'a')", ("a", "b")),
    ("ward", "ward = 'a'", ("a",)),
    ("ward", "'a' = ward", ("a",)),
    ("ward", "ward <> 'a'", None),
    ("ward", "NOT ward IN ('a', 'b')", None),
]


@pytest.mark.parametrize(("key", "condition", "values"), NARROWED, ids=[f"{key} of {one}" for key, one, _ in NARROWED])
def test_groups_that_no_row_can_be_in_by_the_conditions_of_the_query_are_left_out(key, condition, values):
    inside = "(SELECT * FROM visits WHERE @)".replace("@", condition)
    assert domain(key, source=f"visits WHERE {condition}") == values
    assert domain(key, source=inside) == values
    assert domain(key, source=f"{inside} AS v JOIN regions ON v.code = regions.code") == values


def test_the_groups_of_a_question_do_not_depend_on_the_order_of_its_conditions():
    both = ["region IN ('south', 'west')", "region <> 'west'", "region IN ('south', 'north')", "age > 3"]
    assert {domain("region", source=f"visits WHERE {' AND '.join(both[i:] + both[:i])}") for i in range(4)} == {
        ("south",)
    }


def test_conditions_on_other_rows_of_a_person_leave_the_groups_as_they_are():
    whole = ("north", "south", "west")
    met = "SELECT patient FROM visits WHERE region = 'west'"
    assert domain("region", source=f"visits WHERE patient IN ({met})") == whole
    other = "patients LEFT JOIN (SELECT patient, region FROM visits WHERE region <> 'west') v ON id = v.patient"
    assert domain("region", source=other) == whole
    twice = "visits JOIN visits AS other ON visits.patient = other.patient WHERE other.region = 'west'"
    assert domain("visits.region", source=twice) == whole
    assert domain("other.region", source=twice) == ("west",)
    inner = "patients JOIN (SELECT patient, region FROM visits WHERE region <> 'west') v ON id = v.patient"
    assert domain("region", source=inner) == ("north", "south")
    ends = "(SELECT patient, MIN(day) AS first, MAX(day) AS last FROM visits GROUP BY patient)"
    assert len(domain("MONTH(first)", source=f"{ends} WHERE last > '2023-12-01'")) == 12
    assert domain("MONTH(first)", source=f"{ends} WHERE first > '2023-12-01'") == (12,)


PUBLIC = {
    "regions": [
        {"code": "x", "country": "A", "people": 10, "area": 1.5},
        {"code": "y", "country": "B", "people": 3, "area": 2.5},
        {"code": "z", "country": "C", "people": 10, "area": None},
        {"code": None, "country": "B", "people": 99, "area": 0.0},
    ],
    "prices": [
        {"ward": "A", "days": 1, "price": 5.0},
        {"ward": "A", "days": 2, "price": 2.0},
        {"ward": "B", "days": 1, "price": 1.0},
        {"ward": None, "days": 1, "price": 8.0},
    ],
}
BOTH = "visits, regions, prices WHERE visits.code = regions.code AND prices.days = visits.days AND ward = country"
OF_PUBLIC = [
    ("country", "visits JOIN regions USING (code) WHERE people > 5", ("A", "B")),  # C is not declared
    ("country", "visits JOIN regions USING (code) WHERE people > 5 AND people < 50", ("A",)),
    ("people", "visits JOIN regions USING (code) WHERE country <> 'A'", (3, 10, 99)),
    ("people + 1", "visits JOIN regions USING (code) WHERE area > 0", (4, 11)),
    ("country", "visits JOIN regions USING (code) WHERE people > 5 OR age > 3", ("A", "B")),
    ("country", f"{BOTH.replace('ward', 'prices.ward')} AND price > 4", ("A",)),
    ("prices.ward", f"{BOTH.replace('ward', 'prices.ward')} AND people < 50", ("A", "B")),
    ("prices.days", f"{BOTH.replace('ward', 'prices.ward')} AND people = 10", (1, 2)),
    ("prices.days", f"{BOTH.replace('ward', 'prices.ward')} AND people = 3", (1,)),
    ("country", "visits LEFT JOIN regions USING (code) WHERE people = 3", ("B",)),
]


def public_rows(table, columns):
    rows = {tuple(row[name] for name in columns) for row in PUBLIC[table]}
    return sorted(rows, key=str)


@pytest.mark.parametrize(("key", "source", "values"), OF_PUBLIC)
def test_conditions_on_public_tables_leave_the_groups_that_these_tables_have(key, source, values):
    assert domain(key, source=source, public_rows=public_rows) == values


def test_a_long_public_table_carries_no_conditions(monkeypatch):
    monkeypatch.setattr("discreet.query.reading.key_domains._MOST_PUBLIC_ROWS", 3)
    key, source, values = OF_PUBLIC[1]
    assert values == ("A",)
    assert domain(key, source=source, public_rows=public_rows) == ("A", "B")


def test_values_from_the_call_go_first_by_name_of_column_or_answer():
    assert domain("region", keys={"region": ["north"]}) == ("north",)
    assert domain("region", keys={"K": ["north"]}) == ("north",)
    assert domain("cost", keys={"cost": [1, 2.5]}) == (1.0, 2.5)
    assert domain("born", keys={"born": ["2000-01-01"]}) == (date(2000, 1, 1),)


@pytest.mark.parametrize(
    "values", [[], "north", 3, [None], ["north", None], ["north", "north"], [3], [True], [b"north"]]
)
def test_bad_values_from_the_call_are_bad_parameters(values):
    with pytest.raises(ParameterError, match="keys="):
        domain("region", keys={"region": values})


MIDNIGHTS = [date(2000, 1, 1), date(2000, 1, 2)]
GIVEN = [
    ("region", np.array(["north", "south"]), ("north", "south")),
    ("region", pd.Series(["north", "south"]), ("north", "south")),
    ("region", pd.Categorical(["north", "south"]), ("north", "south")),
    ("region", pl.Series(["north", "south"]), ("north", "south")),
    ("region", pa.array(["north", "south"]), ("north", "south")),
    ("age", np.array([3, 4], dtype=np.int8), (3, 4)),
    ("age", pd.array([3, 4], dtype="Int64"), (3, 4)),
    ("age", pa.array([3, 4], pa.uint8()), (3, 4)),
    ("age", [3.0, np.float64(4), Decimal("5.0"), -(2.0**63)], (3, 4, 5, -(2**63))),
    ("emergency", np.array([True, False]), (True, False)),
    ("cost", np.array([1.5, 2.0], dtype=np.float32), (1.5, 2.0)),
    ("cost", [np.int64(1), np.float64(2.5)], (1.0, 2.5)),
    ("born", pd.to_datetime(pd.Series(MIDNIGHTS)), tuple(MIDNIGHTS)),
    ("born", np.array(MIDNIGHTS, dtype="datetime64[D]"), tuple(MIDNIGHTS)),
    ("arrived", np.array(["2000-01-01T10:30"], dtype="datetime64[ns]"), (datetime(2000, 1, 1, 10, 30),)),
    ("arrived", [pd.Timestamp("2000-01-01 10:30")], (datetime(2000, 1, 1, 10, 30),)),
    ("arrived", pa.array([datetime(2000, 1, 1)], pa.timestamp("s")), (datetime(2000, 1, 1),)),
    ("arrived", [date(2000, 1, 1)], (datetime(2000, 1, 1),)),
]


@pytest.mark.parametrize(("key", "values", "expected"), GIVEN)
def test_values_from_the_call_may_come_from_numpy_pandas_polars_and_arrow(key, values, expected):
    found = domain(key, keys={key: values})
    assert found == expected
    assert [type(one) for one in found] == [type(one) for one in expected]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("region", pd.NA),
        ("region", np.bytes_(b"north")),
        ("age", np.float64(3.5)),
        ("age", Decimal("3.5")),
        ("age", Decimal(2**63)),
        ("age", 2.0**63),
        ("age", Decimal("1e999999")),
        ("age", Decimal("sNaN")),
        ("age", float("inf")),
        ("age", np.True_),
        ("age", np.uint64(2**63)),
        ("age", pa.scalar(None)),
        ("cost", np.float64("nan")),
        ("cost", np.float64("inf")),
        ("cost", np.complex128(1)),
        ("born", pd.NaT),
        ("born", pd.Timestamp(np.datetime64("20000-01-01", "s"))),
        ("arrived", pd.Timestamp(np.datetime64("20000-01-01", "s"))),
        ("born", pd.Timestamp("2000-01-01 10:30")),
        ("born", np.datetime64(10**12, "Y")),
        ("born", np.datetime64(pow(7, -1, 2**64), "W")),  # seven times this is one day, after an overflow
        ("arrived", np.datetime64(1, "ns")),
        ("arrived", np.datetime64(2**62, "s")),
        ("arrived", np.datetime64("NaT")),
        ("arrived", pd.Timestamp("2000-01-01", tz="UTC")),
        ("arrived", datetime(2000, 1, 1, tzinfo=UTC)),
        ("arrived", pa.scalar(2**62, pa.timestamp("s"))),
        ("arrived", np.timedelta64(3, "s")),
    ],
)
def test_scalars_that_are_no_value_of_the_type_are_refused(key, value):
    with pytest.raises(ParameterError, match="keys= for"):
        domain(key, keys={key: [value]})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("arrived", datetime(2000, 1, 1, tzinfo=UTC)),
        ("arrived", pd.Timestamp("2000-01-01", tz="UTC")),
        ("arrived", "2000-01-01T10:30:00+02:00"),
        ("born", datetime(2000, 1, 1, tzinfo=UTC)),
        ("born", "2000-01-01T00:00:00Z"),
    ],
)
def test_a_time_with_a_zone_is_refused_as_such(key, value):
    with pytest.raises(ParameterError, match="times have no zone here: write the time in UTC, without one"):
        domain(key, keys={key: [value]})


def test_null_is_never_a_public_key():
    assert domain("NULLIF(region, 'north')") == ("south", "west")


def test_without_an_evaluator_only_what_is_plain_is_public():
    assert domain("UPPER(region)", evaluate=None) is None
    assert domain("BIN(age, 40)", evaluate=None) == tuple(range(121))
    assert domain("region", evaluate=None) == ("north", "south", "west")
    assert domain("age > 3", evaluate=None) == (False, True)


def test_too_many_combinations_are_not_enumerated():
    calls = []

    def spy(expression, columns):
        calls.append(max(len(values) for values in columns.values()))
        return evaluate(expression, columns)

    keys = "(age * 1000 + days) * 1000 + MONTH(day)"  # 122 * 32 * 366 combinations
    assert domain(keys, evaluate=spy) is None
    assert not calls
    assert domain("age + days", evaluate=spy) == tuple(range(151))
    assert calls == [122 * 32]


def test_more_groups_than_can_be_shown_are_refused():
    sql = "SELECT day + 0, age + 0, region, COUNT(*) FROM visits GROUP BY 1, 2, 3"
    with pytest.raises(UnsupportedSQL, match="132495 combinations"):
        read_query(sql, POLICY, evaluate=evaluate)
