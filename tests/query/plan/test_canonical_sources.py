"""Rows from several tables: equal meaning, equal text, and every difference in meaning another text."""

from __future__ import annotations

import pytest

from discreet.query.plan.canonical_form import canonical, written
from discreet.query.reading.query import read_query
from tests.query.sample_policy import POLICY, evaluate


def text(sql, **rest):
    return canonical(read_query(sql, POLICY, evaluate=evaluate, **rest))


EQUAL = [
    (
        "SELECT COUNT(*) AS n FROM visits JOIN patients ON visits.patient = patients.id WHERE visits.age > 3",
        "SELECT COUNT(*) AS n FROM patients JOIN visits ON patients.id = visits.patient WHERE age > 3",
        "SELECT COUNT(*) AS n FROM visits v, patients p WHERE v.patient = p.id AND v.age > 3",
        "SELECT COUNT(*) AS n FROM patients p, visits v WHERE v.age > 3 AND p.id = v.patient",
        "SELECT COUNT(*) AS n FROM patients CROSS JOIN visits WHERE id = patient AND age > 3",
        "SELECT COUNT(*) AS n FROM (SELECT patient FROM visits WHERE age > 3) v JOIN patients p ON v.patient = p.id",
        "SELECT COUNT(*) AS n FROM patients JOIN visits ON id = patient AND age > 3",
        "WITH a AS (SELECT patient AS who, age FROM visits) SELECT COUNT(*) AS n FROM a JOIN patients ON who = id "
        "WHERE age > 3",
    ),
    (
        "SELECT SUM(s.cost) AS c FROM notes n, stays s, patients p WHERE n.stay = s.number AND s.patient = p.id",
        "SELECT SUM(s.cost) AS c FROM patients p, stays s, notes n WHERE n.stay = s.number AND s.patient = p.id",
        "SELECT SUM(s.cost) AS c FROM patients p JOIN stays s ON s.patient = p.id JOIN notes n ON n.stay = s.number",
        "SELECT SUM(c) AS c FROM patients JOIN (SELECT cost AS c, patient FROM stays JOIN notes ON stay = number) "
        "ON patient = id",
    ),
    (
        "SELECT country, COUNT(*) AS n FROM visits JOIN regions ON visits.code = regions.code GROUP BY country",
        "SELECT country, COUNT(*) AS n FROM visits, regions WHERE visits.code = regions.code GROUP BY country",
        "SELECT country, COUNT(*) AS n FROM regions, visits WHERE visits.code = regions.code GROUP BY country",
        "SELECT country, COUNT(*) AS n FROM regions JOIN visits USING (code) GROUP BY country",
    ),
    (
        "SELECT COUNT(*) AS n FROM patients WHERE id IN (SELECT patient FROM visits WHERE age > 3)",
        "SELECT COUNT(*) AS n FROM patients WHERE EXISTS (SELECT * FROM visits WHERE patient = id AND age > 3)",
        "SELECT COUNT(*) AS n FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE age > 3 AND p.id = v.patient)",
        "SELECT COUNT(*) AS n FROM patients WHERE NOT NOT id IN (SELECT patient FROM visits WHERE 3 < age)",
        "SELECT COUNT(*) AS n FROM patients WHERE id IN (SELECT who FROM (SELECT patient AS who, age FROM visits) "
        "WHERE age > 3)",
    ),
    (
        "SELECT COUNT(*) AS n FROM patients WHERE id NOT IN (SELECT patient FROM visits) AND born > '2000-01-01'",
        "SELECT COUNT(*) AS n FROM patients WHERE born > '2000-01-01' AND NOT id IN (SELECT patient FROM visits)",
        "SELECT COUNT(*) AS n FROM (SELECT * FROM patients WHERE NOT EXISTS (SELECT 1 FROM visits WHERE patient = id)) "
        "WHERE born > '2000-01-01'",
    ),
    (
        "SELECT COUNT(*) AS n FROM patients p WHERE id IN (SELECT patient FROM visits) "
        "AND id IN (SELECT patient FROM stays)",
        "SELECT COUNT(*) AS n FROM patients p WHERE id IN (SELECT patient FROM stays) "
        "AND id IN (SELECT patient FROM visits)",
    ),
    (
        "SELECT AVG(CLAMP(n, 0, 9)) AS a FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient)",
        "SELECT AVG(CLAMP(m, 0, 9)) AS a FROM (SELECT COUNT(*) AS m, SUM(cost) AS s FROM visits GROUP BY patient)",
        "WITH p AS (SELECT patient AS who, COUNT(1) AS n FROM visits v GROUP BY who) "
        "SELECT AVG(CLAMP(n, 0, 9)) AS a FROM p",
    ),
    (
        "SELECT COUNT(*) AS n FROM (SELECT patient FROM visits GROUP BY patient, region, age HAVING COUNT(*) > 2)",
        "SELECT COUNT(*) AS n FROM (SELECT COUNT(*) AS m FROM visits GROUP BY age, patient, region) WHERE m > 2",
    ),
    (
        "SELECT COUNT(*) AS n FROM (SELECT patient, SUM(days) AS s FROM visits GROUP BY patient HAVING s > 2)",
        "SELECT COUNT(*) AS n FROM (SELECT patient, SUM(CLAMP(days, 0, 30)) AS s FROM visits GROUP BY 1) WHERE s > 2",
    ),
    (
        "SELECT AVG(x) AS a FROM (SELECT patient, cost AS x FROM visits UNION ALL SELECT patient, cost FROM stays)",
        "SELECT AVG(y) AS a FROM (SELECT patient, cost AS y FROM stays UNION ALL SELECT patient, cost FROM visits)",
    ),
    (
        "SELECT COUNT(DISTINCT ward) AS n FROM visits",
        "SELECT COUNT(DISTINCT w) AS n FROM (SELECT ward AS w FROM visits)",
    ),
]


@pytest.mark.parametrize("place", range(len(EQUAL)))
def test_queries_of_one_meaning_have_one_text(place):
    assert len({text(sql) for sql in EQUAL[place]}) == 1


OTHER = [
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT COUNT(*) AS n FROM visits JOIN patients ON visits.patient = patients.id",
    "SELECT COUNT(*) AS n FROM visits LEFT JOIN patients ON visits.patient = patients.id",
    "SELECT COUNT(*) AS n FROM patients LEFT JOIN visits ON visits.patient = patients.id",
    "SELECT COUNT(*) AS n FROM patients LEFT JOIN visits ON visits.patient = patients.id AND age > 3",
    "SELECT COUNT(*) AS n FROM patients LEFT JOIN visits ON visits.patient = patients.id WHERE age > 3",
    "SELECT COUNT(*) AS n FROM visits JOIN patients ON visits.patient = patients.id AND visits.born = patients.born",
    "SELECT COUNT(*) AS n FROM visits JOIN patients ON visits.patient = patients.id WHERE visits.born < patients.born",
    "SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.patient = b.patient",
    "SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.patient = b.patient WHERE a.age > 3",
    "SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.patient = b.patient WHERE a.age > b.age",
    "SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.patient = b.patient WHERE a.age > 3 AND b.age > 3",
    "SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.patient = b.patient JOIN visits c ON a.patient = c.patient",
    "SELECT COUNT(*) AS n FROM visits JOIN stays ON visits.patient = stays.patient",
    "SELECT COUNT(*) AS n FROM notes JOIN stays ON stay = number",
    "SELECT COUNT(*) AS n FROM visits WHERE patient IN (SELECT id FROM patients)",
    "SELECT COUNT(*) AS n FROM visits WHERE patient NOT IN (SELECT id FROM patients)",
    "SELECT COUNT(*) AS n FROM visits WHERE patient IN (SELECT patient FROM stays)",
    "SELECT COUNT(*) AS n FROM visits WHERE patient IN (SELECT id FROM patients WHERE born > '2000-01-01')",
    "SELECT COUNT(*) AS n FROM visits WHERE patient IN (SELECT patient FROM visits WHERE age > 3)",
    "SELECT COUNT(*) AS n FROM visits WHERE patient IN (SELECT patient FROM visits WHERE age > 3) AND age > 3",
    "SELECT COUNT(*) AS n FROM visits v WHERE EXISTS (SELECT * FROM visits w WHERE v.patient = w.patient "
    "AND w.age > v.age)",
    "SELECT COUNT(*) AS n FROM visits v WHERE EXISTS (SELECT * FROM visits w WHERE v.patient = w.patient "
    "AND w.age < v.age)",
    "SELECT COUNT(*) AS n FROM notes WHERE stay IN (SELECT number FROM stays)",
    "SELECT COUNT(*) AS n FROM (SELECT patient FROM visits GROUP BY patient)",
    "SELECT COUNT(*) AS n FROM (SELECT patient FROM visits GROUP BY patient, region)",
    "SELECT COUNT(*) AS n FROM (SELECT patient FROM visits GROUP BY patient, ward)",
    "SELECT COUNT(*) AS n FROM (SELECT patient FROM visits WHERE age > 3 GROUP BY patient)",
    "SELECT COUNT(*) AS n FROM (SELECT patient FROM visits GROUP BY patient HAVING COUNT(*) > 3)",
    "SELECT COUNT(*) AS n FROM (SELECT patient FROM visits GROUP BY patient HAVING COUNT(*) > 4)",
    "SELECT COUNT(*) AS n FROM (SELECT patient FROM visits GROUP BY patient HAVING COUNT(ward) > 3)",
    "SELECT COUNT(*) AS n FROM (SELECT patient FROM visits GROUP BY patient HAVING COUNT(DISTINCT ward) > 3)",
    "SELECT COUNT(*) AS n FROM (SELECT patient FROM visits GROUP BY patient HAVING SUM(score) > 3)",
    "SELECT COUNT(*) AS n FROM (SELECT patient FROM visits GROUP BY patient HAVING AVG(score) > 3)",
    "SELECT COUNT(*) AS n FROM (SELECT patient FROM visits GROUP BY patient HAVING MIN(score) > 3)",
    "SELECT COUNT(*) AS n FROM (SELECT patient FROM visits GROUP BY patient HAVING MAX(score) > 3)",
    "SELECT COUNT(*) AS n FROM (SELECT patient FROM visits GROUP BY patient HAVING BOOL_OR(emergency))",
    "SELECT COUNT(*) AS n FROM (SELECT patient FROM visits GROUP BY patient HAVING BOOL_AND(emergency))",
    "SELECT COUNT(*) AS n FROM (SELECT patient FROM visits GROUP BY patient HAVING SUM(CLAMP(cost, 0, 9)) > 3)",
    "SELECT COUNT(*) AS n FROM (SELECT patient FROM visits GROUP BY patient HAVING SUM(CLAMP(cost, 0, 8)) > 3)",
    "SELECT COUNT(*) AS n FROM (SELECT patient FROM visits UNION ALL SELECT id FROM patients)",
    "SELECT COUNT(*) AS n FROM (SELECT patient FROM visits UNION ALL SELECT patient FROM visits)",
    "SELECT COUNT(*) AS n FROM (SELECT patient FROM visits UNION ALL SELECT patient FROM visits "
    "UNION ALL SELECT patient FROM visits)",
    "SELECT COUNT(DISTINCT ward) AS n FROM visits",
    "SELECT COUNT(DISTINCT code) AS n FROM visits",
    "SELECT COUNT(ward) AS n FROM visits",
]


def test_all_these_queries_differ():
    texts = [text(sql) for sql in OTHER]
    assert len(set(texts)) == len(texts)


def test_columns_of_a_self_join_and_of_unions_keep_their_sides():
    joined = "SELECT SUM(a.@) AS s, SUM(b.#) AS t FROM visits a JOIN visits b ON a.patient = b.patient WHERE a.age > 3"
    assert text(joined.replace("@", "cost").replace("#", "days")) != text(
        joined.replace("@", "days").replace("#", "cost")
    )
    union = (
        "SELECT AVG(x) AS a FROM (SELECT @ AS x, # AS y, patient FROM visits UNION ALL SELECT cost, cost + 1, patient "
        "FROM stays) WHERE y > 3"
    )
    costs = text(union.replace("@", "cost").replace("#", "CLAMP(fee, 0, 9)"))
    assert costs != text(union.replace("@", "CLAMP(fee, 0, 9)").replace("#", "cost"))


def test_ranges_of_the_call_for_numbers_of_a_unit_are_part_of_the_meaning():
    sql = "SELECT AVG(n) AS a FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient)"
    assert len({text(sql, bounds={"n": (0, most)}) for most in (5, 6)}) == 2


@pytest.mark.parametrize("sql", [*OTHER, *(sql for group in EQUAL for sql in group)])
def test_every_plan_can_be_written_in_words(sql):
    words = written(read_query(sql, POLICY, evaluate=evaluate))
    assert words.startswith(("FROM", "  FROM"))
    assert "ASK" in words
