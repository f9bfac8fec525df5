"""How much of a unit counts in rows made from several tables, and what holds the keys of numbers for each unit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from discreet.query.plan import limits_of
from discreet.query.policy import UnitLimits
from discreet.query.reading import read_query
from tests.query.sample_policy import POLICY, evaluate

ROWS = {"patients": 1, "visits": 8, "stays": 3, "notes": 20}
TABLES = {name: replace(table, limits=UnitLimits(ROWS[name])) for name, table in POLICY.tables.items() if name in ROWS}
BORN = "SELECT id, YEAR(patients.born) AS born, COUNT(*) AS n FROM"
THEIRS = BORN.replace("id", "patient")


def rows_of(sql):
    return limits_of(read_query(sql, POLICY, evaluate=evaluate).aggregation.source, TABLES).rows


@pytest.mark.parametrize(
    ("inner", "rows"),
    [
        ("SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient", 1),
        ("SELECT patient, ward, COUNT(*) AS n FROM visits GROUP BY patient, ward", 8),
        (f"{BORN} patients JOIN visits ON id = patient GROUP BY id, YEAR(patients.born)", 1),
        (f"{BORN} visits JOIN patients ON id = patient GROUP BY id, YEAR(patients.born)", 1),
        (f"{BORN} visits, patients WHERE id = patient GROUP BY id, YEAR(patients.born)", 1),
        (f"{BORN} patients LEFT JOIN visits ON id = patient GROUP BY id, YEAR(patients.born)", 1),
        (
            f"{THEIRS} visits LEFT JOIN patients ON id = patient GROUP BY patient, YEAR(patients.born)",
            1,
        ),
        # a row without a match has NULL: two values of one person
        (
            f"{THEIRS} visits LEFT JOIN patients ON id = patient AND visits.day > patients.born "
            "GROUP BY patient, YEAR(patients.born)",
            8,
        ),
        (
            "SELECT id, ward, YEAR(patients.born) AS b FROM patients JOIN visits ON id = patient "
            "GROUP BY id, ward, YEAR(patients.born)",
            8,
        ),
        (
            "SELECT id, b FROM (SELECT id, YEAR(patients.born) AS b, cost FROM patients JOIN visits ON id = patient "
            "WHERE cost > 3) GROUP BY id, b",
            1,
        ),
        (
            "SELECT id, country FROM patients JOIN visits ON id = patient JOIN regions USING (code) "
            "GROUP BY id, country",
            8,
        ),
        (
            "SELECT id, number FROM patients JOIN stays ON id = stays.patient JOIN visits ON visits.patient = id "
            "GROUP BY id, number",
            3,
        ),
        ("SELECT patient, number FROM stays WHERE patient IN (SELECT patient FROM visits) GROUP BY patient, number", 3),
    ],
)
def test_numbers_for_a_unit_and_a_key_are_as_many_as_the_rows_that_hold_the_key(inner, rows):
    assert rows_of("SELECT COUNT(*) AS people FROM (@)".replace("@", inner)) == rows


@pytest.mark.parametrize(
    ("source", "rows"),
    [
        ("visits", 8),
        ("patients JOIN visits ON id = patient", 8),
        ("stays JOIN notes ON stay = number", 20),
        ("visits WHERE patient IN (SELECT patient FROM notes JOIN stays ON stay = number)", 8),
        ("(SELECT cost FROM visits UNION ALL SELECT cost FROM stays)", 11),
    ],
)
def test_joined_rows_take_the_larger_bound_and_rows_put_together_the_sum(source, rows):
    assert rows_of("SELECT COUNT(*) AS n FROM @".replace("@", source)) == rows
