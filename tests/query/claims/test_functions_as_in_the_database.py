"""Functions of dates and texts, and keys made of them, mean what the database's own mean; groups that are others.

Answers are compared before the noise with those of plain SQL, on rows with missing values. WIDTH_BUCKET, which the
database lacks, is defined there as PostgreSQL documents it.
"""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import pytest

from discreet.errors import ParameterError, QueryRefused
from discreet.privacy import ApproxDP
from discreet.query import Session
from discreet.query.pricing.price import read_price

CHANCE = np.random.default_rng(29)
ROWS = 400
_DAYS = pd.Timestamp("2019-12-20") + pd.to_timedelta(CHANCE.integers(0, 800, ROWS), unit="D")
VISITS = pd.DataFrame(
    {
        "person": CHANCE.integers(0, 60, ROWS),
        "day": [None if place % 41 == 0 else one.date() for place, one in enumerate(_DAYS)],
        "arrived": _DAYS + pd.to_timedelta(CHANCE.integers(0, 86_400, ROWS), unit="s"),
        "other_day": (pd.Timestamp("2020-02-29") + pd.to_timedelta(CHANCE.integers(0, 500, ROWS), unit="D")).date,
        "months": CHANCE.integers(-30, 30, ROWS),
        "ward": CHANCE.choice(["Alpha", "alp%ha", "BETA", "beta", "Gamma", None], ROWS),
        "region": CHANCE.choice(["n", "s", "e"], ROWS),
        "age": CHANCE.integers(0, 99, ROWS),
        "cost": CHANCE.choice([0.0, 1.5, 20.0, 33.25, 99.875, 100.0, 250.0], ROWS),
    }
)
REGIONS = pd.DataFrame({"code": ["n", "s", "w"], "country": ["Ada", "Bea", "Cyd"], "size": [3, 5, 5]})
COLUMNS = {
    "visits.day": {"type": "date", "min": date(2019, 12, 1), "max": date(2022, 3, 31), "public": True},
    "visits.other_day": {"type": "date", "min": date(2020, 1, 1), "max": date(2021, 12, 31)},
    "visits.arrived": {"type": "timestamp", "min": date(2019, 12, 1), "max": date(2022, 3, 31)},
    "visits.months": {"type": "integer", "min": -30, "max": 30},
    "visits.age": {"type": "integer", "min": 0, "max": 99},
    "visits.cost": {"min": 0, "max": 256},
    "visits.ward": {"values": ["Alpha", "BETA", "Gamma"]},
    "regions.size": {"type": "integer"},
}


@pytest.fixture(scope="module")
def asked():
    many = 10**6
    return Session.from_frames(
        visits=VISITS, public={"regions": (REGIONS, "code")}, unit="person", columns=COLUMNS, rows=many, groups=1000,
        rows_per_group=many, budget=ApproxDP(1000, Fraction(1, 2)),
    )  # fmt: skip


@pytest.fixture(scope="module")
def plain():
    connection = duckdb.connect()
    connection.register("visits", VISITS)
    connection.register("regions", REGIONS)
    connection.execute(
        "CREATE MACRO width_bucket(x, low, high, n) AS CASE WHEN x < low THEN 0 WHEN x >= high THEN n + 1 "
        "ELSE floor((x - low) * n / (high - low)) + 1 END"
    )
    return connection


def exact(session, sql, **options):
    """Return the exact answer to one count, by the public keys, in rows."""
    made = session._charging.priced(sql, read_price(epsilon=1), **options)
    found = session.engine.run(made.requests[0])
    domains = [set(key.domain) for key in made.query.aggregation.keys]
    return {
        key: float(one * made.measures[0].step)
        for key, one in zip(found.keys, found.cells[0], strict=True)
        if all(value in domain for value, domain in zip(key, domains, strict=True))
    }


KEYS = [
    "DAYOFWEEK(day)",
    "EXTRACT(DOW FROM arrived)",
    "EXTRACT(ISODOW FROM day)",
    "DATE_PART('doy', day)",
    "DAYOFYEAR(arrived)",
    "WEEK(day)",
    "WEEKOFYEAR(arrived)",
    "EXTRACT(WEEK FROM day)",
    "DAYNAME(day)",
    "MONTHNAME(arrived)",
    "STRFTIME(day, '%Y-%m')",
    "STRFTIME(arrived, '%d.%m.%Y')",
    "STRFTIME(day, '%j/%y %a')",
    "STRFTIME(arrived, '%B %u %w')",
    "STRFTIME(arrived, '%H')",
    "STRFTIME(day, '%Y-%m-%d')",
    "STRFTIME(day, '%-d. %b %Y, %A')",
    "STRFTIME(arrived, '%-m|%%|%m-%d')",
    "CAST(day + INTERVAL 1 MONTH AS DATE)",
    "CAST(day - INTERVAL '2' YEAR AS DATE)",
    "CAST(day + INTERVAL 1 YEAR - INTERVAL 3 DAY AS DATE)",
    "DATEDIFF('month', day, DATE '2021-03-01')",
    "DATEDIFF('quarter', DATE '2020-05-05', day)",
    "DATEDIFF('year', DATE '2020-05-05', day)",
    "CONCAT(ward, '/', age // 50, '/', age > 50)",
    "CONCAT(YEAR(day), '-', MONTH(day))",
    "SUBSTRING(ward FROM 2 FOR 2)",
    "SUBSTR(ward, 3)",
    "ward ILIKE 'AL%'",
    "ward NOT ILIKE '%ta'",
    "WIDTH_BUCKET(cost, 0, 100, 8)",
    "WIDTH_BUCKET(age, 10, 90, 4)",
    "CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'old' END",
    "YEAR(day) * 100 + MONTH(day)",
]


@pytest.mark.parametrize("key", KEYS)
def test_a_key_made_by_a_function_is_public_and_means_what_it_means_in_the_database(asked, plain, key):
    sql = "SELECT @ AS k, COUNT(*) AS n FROM visits WHERE ward IN ('Alpha', 'BETA', 'Gamma') GROUP BY k"
    found = exact(asked, sql.replace("@", key))
    rows = plain.execute(sql.replace("@", key)).fetchall()
    assert found == {(value,): float(count) for value, count in rows if value is not None}
    assert len(found) > 1


CONDITIONS = [
    "day >= DATE '2021-01-31' + INTERVAL '1' MONTH",
    "day < DATE '2021-12-01' - INTERVAL '90' DAY",
    "arrived < TIMESTAMP '2021-05-31 12:00:00' - INTERVAL 3 MONTHS",
    "day BETWEEN DATE '2020-02-29' + INTERVAL 1 YEAR AND DATE '2020-02-29' + INTERVAL '2 years'",
    "other_day + INTERVAL (months) MONTH > day",
    "other_day - INTERVAL (months) YEAR < day",
    "arrived + INTERVAL 1 MONTH < other_day",
    "INTERVAL '1' WEEK + day > other_day",
    "day + 2 * INTERVAL '1' MONTH > other_day",
    "DATEDIFF('month', day, other_day) > 3",
    "DATEDIFF('quarter', arrived, day) = 0",
    "CONCAT(months, '/', age) LIKE '-%/1_'",
    "ward ILIKE '%P\\%%'".replace("\\%", "_"),
    "STRFTIME(arrived, '%H:%M') > '12:30'",
    "EXTRACT(DOW FROM day) IN (0, 6) AND DAYOFYEAR(arrived) > 60",
]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_keeps_the_rows_that_the_database_keeps(asked, plain, condition):
    sql = f"SELECT COUNT(*) FROM visits WHERE {condition}"  # noqa: S608
    ((true,),) = plain.execute(sql).fetchall()
    assert exact(asked, sql) == {(): float(true)}
    assert 0 < true < ROWS


def test_group_by_all_groups_by_the_items_without_aggregates(asked, plain):
    sql = "SELECT YEAR(day) AS y, COUNT(*) AS n, ward FROM visits GROUP BY ALL"
    found = exact(asked, sql)
    rows = plain.execute(sql).fetchall()
    known = ("Alpha", "BETA", "Gamma")
    assert found == {(year, ward): float(n) for year, n, ward in rows if year is not None and ward in known}


def test_all_columns_of_one_table_are_written_with_a_star(asked, plain):
    sql = "SELECT COUNT(*) FROM (SELECT visits.*, country FROM visits JOIN regions ON region = code) WHERE age > 50"
    ((true,),) = plain.execute(sql).fetchall()
    assert exact(asked, sql) == {(): float(true)}


def test_values_of_a_public_table_are_public_keys_though_nobody_declared_them(asked, plain):
    for key in ("country", "size", "size + 1", "UPPER(country)"):
        sql = "SELECT @ AS k, COUNT(*) AS n FROM visits JOIN regions ON region = code GROUP BY k".replace("@", key)
        found = exact(asked, sql)
        assert found == {(value,): float(count) for value, count in plain.execute(sql).fetchall()}
    keys = asked._charging.priced(sql, read_price(epsilon=1)).query.aggregation.keys
    assert keys[0].domain == ("ADA", "BEA", "CYD")


def declared_wards():
    return COLUMNS["visits.ward"]["values"]


@pytest.mark.theorem("KeyValues._with_others.privacy")
def test_others_are_one_more_group_of_the_same_release(asked, plain):
    sql = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    ((rest,),) = plain.execute(
        "SELECT COUNT(*) FROM visits WHERE ward IN ('alp%ha', 'beta') OR ward IS NULL"
    ).fetchall()
    declared = exact(asked, sql)
    assert exact(asked, sql, keys={"ward": [...]}) == {**declared, ("other",): float(rest)}
    some = exact(asked, sql, keys={"ward": ["Alpha", ...]})
    assert some == {("Alpha",): declared["Alpha",], ("other",): float(ROWS - declared["Alpha",])}
    made = asked._charging.priced(sql, read_price(epsilon=1), keys={"ward": [...]})
    by_hand = sql.replace("ward,", "CASE WHEN ward IN ('Alpha', 'BETA', 'Gamma') THEN ward ELSE 'other' END AS ward,")
    (one,), (other,) = (
        asked._charging.priced(text, read_price(epsilon=1), keys=keys).query.aggregation.keys
        for text, keys in (
            (sql, {"ward": [...]}),
            (by_hand.replace("BY ward", "BY 1"), {"ward": [*declared_wards(), "other"]}),
        )
    )
    assert (one.expression, one.domain) == (other.expression, other.domain)  # a key like any other
    assert len(made.measures) == len(made.requests) == 1
    answer = asked.sql(sql, epsilon=8, keys={"ward": [...]})
    assert list(answer["ward"]) == ["Alpha", "BETA", "Gamma", "other"]


@pytest.mark.parametrize(
    ("sql", "keys", "words"),
    [
        ("SELECT age, COUNT(*) AS n FROM visits GROUP BY age", {"age": [1, ...]}, "CAST\\(x AS TEXT\\)"),
        ("SELECT region, COUNT(*) AS n FROM visits GROUP BY region", {"region": [...]}, "before the dots"),
        ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", {"ward": ["other", ...]}, "leave the dots out"),
        ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", {"ward": ["a"] * 2 + [...]}, "twice"),
    ],
)
def test_a_group_of_others_that_cannot_be_is_refused_with_the_remedy(asked, sql, keys, words):
    with pytest.raises(ParameterError, match=words):
        asked.explain(sql, epsilon=1, keys=keys)


POLICY = """
[data]
source = "base.duckdb"
lineage = "clinic"
version = "1"
[protect]
unit = "patient"
[budget]
notion = "pure"
epsilon = 100
ledger = "ledger.sqlite"
[analysts]
ana = {}
[tables."clinic.visits"]
unit = "patient"
rows = 2
[tables."clinic.visits".columns]
arrived = {min = 2024-01-01, max = 2024-01-31}
[public."names.wards"]
unique = "code"
"""


@pytest.fixture
def clinic(tmp_path):
    with duckdb.connect(str(tmp_path / "base.duckdb")) as connection:
        for statement in (
            "CREATE SCHEMA clinic",
            "CREATE SCHEMA names",
            "CREATE TABLE clinic.visits AS SELECT i % 30 AS patient, "
            "TIMESTAMP '2024-01-31 23:30:00' - INTERVAL (i) HOUR "
            "AS arrived, 'abc'[i % 3 + 1] AS ward FROM range(60) r(i)",
            "CREATE TABLE names.wards AS SELECT * FROM (VALUES ('a', 'Ada'), ('b', 'Bea'), ('d', 'Dot')) w(code, name)",
            "CREATE TABLE clinic.secrets AS SELECT 1 AS patient",
        ):
            connection.execute(statement)
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    return Session.open(tmp_path / "policy.toml", analyst="ana")


def test_tables_are_named_with_the_schema_that_the_policy_declares(clinic):
    for sql in (
        "SELECT COUNT(*) FROM clinic.visits",
        "SELECT COUNT(*) FROM clinic.visits WHERE visits.ward <> 'x'",
        "SELECT COUNT(*) FROM CLINIC.Visits AS v WHERE v.ward <> 'x'",
        "SELECT COUNT(*) FROM clinic.visits LEFT JOIN names.wards ON visits.ward = wards.code",
    ):
        assert exact(clinic, sql) == {(): 60.0}
    joined = "SELECT name, COUNT(*) FROM clinic.visits JOIN names.wards ON ward = code GROUP BY ALL"
    assert exact(clinic, joined) == {("Ada",): 20.0, ("Bea",): 20.0}
    assert [row[0] for row in clinic.sql(joined, epsilon=1).rows] == ["Ada", "Bea", "Dot"]


@pytest.mark.parametrize(
    "table", ["visits", "main.visits", "clinic.secrets", "source.clinic.visits", "clinic.clinic.visits"]
)
def test_other_schemas_are_refused(clinic, table):
    with pytest.raises(QueryRefused):
        clinic.explain(f"SELECT COUNT(*) FROM {table}", epsilon=1)  # noqa: S608


def test_a_date_in_a_policy_stands_for_the_whole_day_of_a_time(clinic):
    found = exact(clinic, "SELECT CAST(arrived AS DATE) AS d, COUNT(*) FROM clinic.visits GROUP BY d")
    assert found == {(date(2024, 1, 31),): 24.0, (date(2024, 1, 30),): 24.0, (date(2024, 1, 29),): 12.0}
    assert str(clinic.policy.tables["clinic.visits"].columns["arrived"].high) == "2024-01-31 23:59:59.999999"
