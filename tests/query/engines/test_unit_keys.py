"""The unit of protection, what leads to it and what is computed from it cannot be a key, by whichever way it comes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from discreet.errors import UnsupportedSQL
from discreet.frames import Type
from discreet.query.policy.declarations import PublicTable, TablePolicy, UnitColumn, UnitLink
from discreet.query.reading.query import read_query
from tests.query.sample_policy import POLICY as SAMPLE
from tests.query.sample_policy import column, columns, evaluate

REGISTER = PublicTable(
    "register",
    columns(
        column("number", Type.INTEGER),
        column("badge", Type.TEXT),
        column("name", Type.TEXT),
        column("town", Type.TEXT, values=("A", "B")),
        column("street", Type.TEXT),
    ),
    unique=(frozenset({"number"}), frozenset({"badge"}), frozenset({"town", "street"})),
)
STAYS = TablePolicy(
    "stays",
    UnitLink("patient", "patients", "id"),
    columns(column("patient", Type.INTEGER), column("number", Type.INTEGER), column("cost", Type.REAL, 0, 10)),
)
POLICY = replace(SAMPLE, tables={**SAMPLE.tables, "stays": STAYS}, public={**SAMPLE.public, "register": REGISTER})

COMPUTED = [
    "patient",
    "patient % 10",
    "patient // 1000",
    "-patient",
    "patient + Age",
    "patient = 7",
    "patient IN (1, 2, 3)",
    "patient IS NULL",
    "patient BETWEEN 1 AND 9",
    "CASE WHEN patient < 5 THEN 'a' ELSE 'b' END",
    "CASE WHEN Age > 3 THEN 0 ELSE patient END",
    "CAST(patient AS TEXT)",
    "SUBSTR(CAST(patient AS TEXT), 1, 1)",
    "COALESCE(Age, patient)",
    "CLAMP(patient, 0, 3)",
    "ABS(patient)",
    "CONCAT(region, CAST(patient AS TEXT))",
    "(patient)",
    "Age > 30 AND patient > 3",
]
WAYS = [
    "SELECT COUNT(*) FROM visits GROUP BY {0}",
    "SELECT {0} AS g, COUNT(*) FROM visits GROUP BY g",
    "SELECT {0}, COUNT(*) FROM visits GROUP BY 1",
    "SELECT region, {0} AS g, SUM(cost) FROM visits GROUP BY region, g",
    "SELECT g, COUNT(*) FROM (SELECT {0} AS g, cost FROM visits) GROUP BY g",
    "SELECT h, COUNT(*) FROM (SELECT g AS h FROM (SELECT {0} AS g FROM visits) AS a) AS b GROUP BY h",
    "WITH a AS (SELECT {0} AS g FROM visits) SELECT COUNT(*) FROM a GROUP BY g",
    "WITH a AS (SELECT {0} AS g FROM visits), b AS (SELECT g AS h FROM a WHERE g IS NOT NULL) "
    "SELECT h IS NULL AS missing, COUNT(*) FROM b GROUP BY missing",
]
OTHERS = [
    "SELECT COUNT(*) FROM visits AS v GROUP BY v.patient % 10",
    "SELECT Patient, COUNT(*) FROM visits GROUP BY PATIENT",
    "SELECT COUNT(*) FROM (SELECT * FROM visits) AS x GROUP BY x.patient",
    "SELECT COUNT(*) FROM (SELECT patient AS region FROM visits) AS x GROUP BY region",
    # what is equal to the unit by a join, or has one value for each by declaration
    "SELECT COUNT(*) FROM visits JOIN register ON visits.patient = register.number GROUP BY register.number",
    "SELECT COUNT(*) FROM visits JOIN register ON patient = number GROUP BY number % 7",
    "SELECT COUNT(*) FROM visits LEFT JOIN register ON patient = number GROUP BY badge",
    "SELECT COUNT(*) FROM visits JOIN register ON patient % 10 = number GROUP BY number",
    "SELECT COUNT(*) FROM visits JOIN register ON patient + 0 = number GROUP BY SUBSTR(badge, 1, 1)",
    "SELECT COUNT(*) FROM (SELECT patient AS p FROM visits) AS v JOIN register r ON v.p = r.number GROUP BY r.number",
    "SELECT COUNT(*) FROM (SELECT number AS g FROM visits JOIN register ON patient = number) AS v GROUP BY g",
    # links to the unit, and what others link to
    "SELECT COUNT(*) FROM stays GROUP BY patient",
    "SELECT COUNT(*) FROM stays GROUP BY patient % 2",
    "SELECT COUNT(*) FROM stays GROUP BY number",
    "SELECT COUNT(*) FROM notes GROUP BY stay",
    "SELECT COUNT(*) FROM notes GROUP BY stay % 10",
    "SELECT COUNT(*) FROM patients GROUP BY id",
]


@pytest.mark.parametrize("computed", COMPUTED)
def test_nothing_computed_from_the_unit_is_a_key(computed: str) -> None:
    for way in WAYS:
        with pytest.raises(UnsupportedSQL, match=r"makes groups of one patient each.*many share.*Nothing was spent"):
            read_query(way.format(computed), POLICY, evaluate=evaluate)


@pytest.mark.parametrize("query", OTHERS)
def test_nothing_that_is_equal_to_the_unit_or_leads_to_it_is_a_key(query: str) -> None:
    with pytest.raises(UnsupportedSQL, match=r"makes groups of one patient each"):
        read_query(query, POLICY, evaluate=evaluate)


def test_stated_keys_do_not_help() -> None:
    with pytest.raises(UnsupportedSQL, match="makes groups of one patient each"):
        read_query(
            "SELECT patient % 3 AS g, COUNT(*) FROM visits GROUP BY g", POLICY, keys={"g": [0, 1, 2]}, evaluate=evaluate
        )


@pytest.mark.parametrize(
    "query",
    [
        "SELECT region, COUNT(*) FROM visits WHERE patient % 10 = 3 GROUP BY region",
        "SELECT region, COUNT(DISTINCT patient) FROM visits GROUP BY region",
        "SELECT region, COUNT(DISTINCT patient) FROM (SELECT patient, region FROM visits) GROUP BY region",
        "SELECT g, COUNT(*) FROM (SELECT patient % 10 AS p, region AS g FROM visits) GROUP BY g",
        "SELECT town, COUNT(*) FROM visits JOIN register ON patient = number GROUP BY town",
        "SELECT badge, COUNT(*) FROM visits JOIN register ON score = number GROUP BY badge",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
        "SELECT COUNT_IF(patient > 3) FROM visits",
        "SELECT unit, COUNT(*) FROM log GROUP BY unit",
    ],
)
def test_people_are_still_filtered_counted_and_grouped_by_what_many_share(query: str) -> None:
    read_query(query, POLICY, evaluate=evaluate)


def test_a_column_that_is_called_like_a_unit_elsewhere_is_none_here() -> None:
    other = TablePolicy("other", UnitColumn("id"), columns(column("id", Type.INTEGER), column("patient", Type.INTEGER)))
    policy = replace(POLICY, tables={**POLICY.tables, "other": other})
    read_query("SELECT patient, COUNT(*) FROM other GROUP BY patient", policy, evaluate=evaluate)
