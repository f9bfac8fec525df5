"""Questions over several tables, and about numbers for each person, have the answers that plain SQL has.

Bounds are wide, so that nothing is cut, and sums are taken before the noise. Rows whose unit is NULL, which belong to
nobody, are left out of the plain tables first; there is a person without visits, and one with many.
"""

from __future__ import annotations

from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import pytest

from discreet.privacy import ApproxDP
from discreet.query import Session
from discreet.query.plan.request import EachRow
from discreet.query.pricing.price import read_price

CHANCE = np.random.default_rng(23)
VISITS = pd.DataFrame(
    {
        "visit": pd.array([*range(60), None, 61], dtype="Int64"),
        "patient": pd.array([0] * 25 + [int(one) for one in CHANCE.integers(1, 12, 35)] + [None, 12], dtype="Int64"),
        "ward": CHANCE.choice(["a", "b", "c", None], 62),
        "nights": pd.array([*(int(one) for one in CHANCE.integers(0, 20, 60)), 5, None], dtype="Int64"),
        "cost": [*np.round(CHANCE.uniform(0, 500, 60), 2), np.nan, 3.25],
        "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(CHANCE.integers(0, 400, 62), unit="D"),
    }
)
PATIENTS = pd.DataFrame(
    {
        "patient": pd.array([*range(11), 20, None], dtype="Int64"),
        "region": CHANCE.choice(["n", "s"], 13),
        "age": CHANCE.integers(0, 100, 13),
    }
)
REGIONS = pd.DataFrame({"code": ["n", "s"], "country": ["A", "B"]})
COLUMNS = {
    "visits.visit": {"type": "integer"},
    "visits.ward": {"values": ["a", "b", "c"]},
    "visits.nights": {"type": "integer", "min": 0, "max": 30},
    "visits.cost": {"min": 0, "max": 512},
    "patients.region": {"values": ["n", "s"]},
    "patients.age": {"type": "integer", "min": 0, "max": 120},
    "regions.country": {"values": ["A", "B"]},
}


@pytest.fixture(scope="module")
def asked():
    many = 10**6
    return Session.from_frames(
        visits=VISITS, patients=PATIENTS, public={"regions": (REGIONS, "code")}, unit="patient", columns=COLUMNS,
        rows=many, groups=1000, rows_per_group=many, budget=ApproxDP(1000, Fraction(1, 2)),
    )  # fmt: skip


@pytest.fixture(scope="module")
def plain():
    connection = duckdb.connect()
    for name, frame in (("v", VISITS), ("p", PATIENTS), ("regions", REGIONS)):
        connection.register(name, frame)
    connection.execute("CREATE TABLE visits AS SELECT * REPLACE (CASE WHEN NOT isnan(cost) THEN cost END AS cost) "
                       "FROM v WHERE patient IS NOT NULL")  # fmt: skip
    connection.execute(
        "CREATE MACRO CLAMP(x, low, high) AS CASE WHEN x IS NOT NULL THEN least(greatest(x, low), high) END"
    )
    connection.execute("CREATE TABLE patients AS SELECT * FROM p WHERE patient IS NOT NULL")
    return connection


def exact(session, sql, **options):
    """The exact answer to one aggregate, by key, in rows or in the unit of the sum."""
    made = session._charging.priced(sql, read_price(epsilon=1), **options)
    found = session.engine.run(made.requests[0])
    measure = made.measures[0]
    return {key: float(one * measure.step) for key, one in zip(found.keys, found.cells[0], strict=True) if one}, made


COUNTS = [
    "SELECT COUNT(*) FROM visits JOIN patients USING (patient)",
    "SELECT COUNT(*) FROM visits v LEFT JOIN patients p ON v.patient = p.patient",
    "SELECT COUNT(*) FROM visits v LEFT JOIN patients p ON v.patient = p.patient AND age > 50 WHERE p.patient IS NULL",
    "SELECT COUNT(*) FROM patients p LEFT JOIN visits v ON v.patient = p.patient AND v.nights > 3 AND v.visit > p.age",
    "SELECT COUNT(*) FROM patients, visits WHERE visits.patient = patients.patient AND nights * 4 < age",
    "SELECT COUNT(*) FROM visits a JOIN visits b ON a.patient = b.patient AND a.visit < b.visit AND b.day > a.day",
    "SELECT region, COUNT(*) FROM visits JOIN patients USING (patient) GROUP BY region",
    "SELECT ward, COUNT(*) FROM visits JOIN patients USING (patient) WHERE ward IS NOT NULL AND age > 30 GROUP BY ward",
    "SELECT country, COUNT(*) FROM regions, visits v, patients p WHERE v.patient = p.patient AND code = region "
    "GROUP BY country",
    "SELECT COUNT(*) FROM patients WHERE patient IN (SELECT patient FROM visits WHERE ward = 'a')",
    "SELECT COUNT(*) FROM patients WHERE patient NOT IN (SELECT patient FROM visits WHERE ward = 'a')",
    "SELECT COUNT(*) FROM visits WHERE patient NOT IN (SELECT patient FROM patients)",
    "SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient = p.patient AND "
    "visit > age)",
    "SELECT COUNT(*) FROM patients p WHERE NOT EXISTS (SELECT 1 FROM visits v, patients q WHERE v.patient = p.patient "
    "AND q.patient = v.patient AND v.nights > 15)",
    "SELECT COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT 1 FROM visits w WHERE w.patient = v.patient AND "
    "(w.day > v.day OR w.nights <> v.nights AND w.ward = v.ward))",
    "SELECT COUNT(*) FROM patients WHERE patient IN (SELECT patient FROM visits GROUP BY patient HAVING COUNT(*) > 3)",
    "SELECT COUNT(*) FROM (SELECT patient FROM visits GROUP BY patient HAVING COUNT(*) >= 3 AND SUM(cost) > 700)",
    "SELECT COUNT(*) FROM (SELECT patient, MIN(day) AS d, MAX(ward) AS w FROM visits GROUP BY patient) "
    "WHERE d < DATE '2024-02-01' AND w >= 'b'",
    "SELECT COUNT(*) FROM (SELECT patient, BOOL_OR(nights > 18) AS o, BOOL_AND(nights > 1) AS a FROM visits "
    "GROUP BY patient) WHERE o OR a",
    "SELECT COUNT(*) FROM (SELECT patient, COUNT(DISTINCT ward) AS w, COUNT(cost) AS c FROM visits GROUP BY patient) "
    "WHERE w = 3 OR c = 0",
    "SELECT COUNT(*) FROM (SELECT patient, ward FROM visits GROUP BY patient, ward HAVING AVG(nights) > 9.5)",
    "SELECT ward, COUNT(*) FROM (SELECT patient, ward FROM visits WHERE ward IS NOT NULL GROUP BY patient, ward) "
    "GROUP BY ward",
    "SELECT CLAMP(n, 0, 4) AS k, COUNT(*) FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient) GROUP BY k",
    "SELECT region, COUNT(*) FROM patients JOIN (SELECT patient, SUM(nights) AS s FROM visits GROUP BY patient) x "
    "USING (patient) WHERE s > 20 GROUP BY region",
    "SELECT what, COUNT(*) FROM (SELECT 'v' AS what, patient, nights AS n FROM visits UNION ALL "
    "SELECT 'p', patient, age FROM patients) WHERE n > 10 GROUP BY what",
    "SELECT COUNT(DISTINCT ward) FROM visits",
    "SELECT COUNT(DISTINCT nights) FROM visits",
    "SELECT region, COUNT(DISTINCT nights) FROM visits JOIN patients USING (patient) GROUP BY region",
    "SELECT COUNT(DISTINCT patients.patient) FROM visits JOIN patients ON visits.patient = patients.patient",
    "SELECT SUM(CLAMP(s, 0, 4096)) FROM (SELECT patient, SUM(nights) AS s FROM visits GROUP BY patient)",
    "SELECT SUM(CLAMP(m, 0, 32)) FROM (SELECT patient, MAX(nights) - MIN(nights) AS m FROM visits GROUP BY patient)",
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(COUNTS)))
def test_the_answer_before_noise_is_that_of_plain_sql(asked, plain, place):
    sql = COUNTS[place]
    found, _ = exact(asked, sql)
    rows = plain.execute(sql).fetchall()
    assert found == {tuple(key): float(count) for *key, count in rows if count}


def test_sums_of_reals_for_each_person_are_on_the_grid_and_in_no_order(asked, plain):
    sql = "SELECT SUM(CLAMP(s, 0, 16384)) FROM (SELECT patient, SUM(cost) AS s FROM visits GROUP BY patient)"
    found, made = exact(asked, sql)
    ((true,),) = plain.execute("SELECT SUM(cost) FROM visits").fetchall()
    assert abs(found[()] - true) < 62 * (512 / 2**36 + float(made.measures[0].step))


def test_numbers_for_each_person_count_every_person_once_without_any_bound(asked):
    for sql in COUNTS:
        _, made = exact(asked, sql)
        single = made.query.aggregation.source.single
        assert (made.bounding.form == EachRow()) is single
        if single:
            assert (made.bounding.total, made.bounding.groups) == (1, 1)


def test_noise_of_a_mean_over_people_does_not_grow_with_their_rows(asked):
    sql = "SELECT AVG(CLAMP(n, 0, 50)) AS a FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient)"
    answer = asked.sql(sql, epsilon=10)
    assert abs(answer.value - 62 / 13) < 3
    assert "one row here" in asked.explain(sql, epsilon=1).bounding


def test_a_median_over_people_takes_each_person_once(asked):
    sql = "SELECT MEDIAN(s) AS m FROM (SELECT patient, COUNT(*) AS s FROM visits GROUP BY patient)"
    assert 0 <= asked.sql(sql, epsilon=10, bounds={"s": (0, 64)}).value <= 25


def test_a_private_histogram_of_numbers_for_each_person_needs_no_bound_on_groups(asked):
    sql = "SELECT n, COUNT(*) AS people FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient) GROUP BY n"
    made = asked._charging.priced(sql, read_price(epsilon=1, delta=Fraction(1, 1000)))
    assert made.selection is not None
    assert made.selection.bounding.groups == 1


SAME = [
    (
        "SELECT COUNT(*) AS n FROM visits v JOIN patients p ON v.patient = p.patient",
        "SELECT COUNT(*) AS m FROM patients, visits WHERE visits.patient = patients.patient",
        "SELECT COUNT(*) AS n FROM patients JOIN visits USING (patient)",
    ),
    (
        "SELECT COUNT(*) AS n FROM patients WHERE patient IN (SELECT patient FROM visits)",
        "SELECT COUNT(*) AS n FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE p.patient = v.patient)",
    ),
]


@pytest.mark.parametrize("texts", SAME)
def test_one_question_in_several_texts_is_charged_once(asked, texts):
    before = asked.balance.spent.epsilon
    answers = [asked.sql(sql, epsilon=1) for sql in texts]
    assert len({one.value for one in answers}) == 1
    assert asked.balance.spent.epsilon == before + 1
