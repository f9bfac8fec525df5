"""Equal meaning, equal text; any other constant, range, key or aggregate, another text."""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import replace
from fractions import Fraction

import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.query.plan.canonical_form import canonical, written
from discreet.query.plan.query_plan import UnionOfAnswers
from discreet.query.policy.declarations import Policy
from discreet.query.reading.query import read_answers, read_query
from tests.query.reading.test_expressions import MEANINGS
from tests.query.reading.test_fuzz import VALID
from tests.query.sample_policy import POLICY, VISITS, column, evaluate


def text(sql, policy=POLICY, **rest):
    return canonical(read_query(sql, policy, evaluate=evaluate, **rest))


EQUAL = [
    (
        "SELECT region, COUNT(*) AS n FROM visits WHERE age > 30 AND cost < 9 GROUP BY region",
        "select REGION, count(*) n from VISITS where (AGE > 30) and (Cost < 9) group by 1 -- all",
        "SELECT v.region, COUNT(*) AS n FROM visits AS v WHERE v.age > 30 AND v.cost < 9 GROUP BY v.region",
        "SELECT region, COUNT(*) AS n FROM (SELECT * FROM visits WHERE age > 30) AS x WHERE cost < 9 GROUP BY region",
        "WITH a AS (SELECT region AS r, cost AS c, fee FROM visits WHERE age > 30) "
        "SELECT r AS region, COUNT(1) AS n FROM a WHERE c < 9 GROUP BY r",
        "SELECT * FROM (SELECT region, COUNT(*) AS n FROM visits WHERE age > 30 AND cost < 9 GROUP BY region)",
    ),
    (
        "SELECT SUM(2 * cost) AS s FROM visits",
        "SELECT SUM(x) AS s FROM (SELECT 2 * cost AS x, fee FROM visits) AS t",
        "WITH a AS (SELECT cost AS q FROM visits), b AS (SELECT 2 * q AS w FROM a) SELECT SUM(w) AS s FROM b",
    ),
    (
        "SELECT country, COUNT(*) AS n FROM visits JOIN regions ON visits.code = regions.code GROUP BY country",
        "SELECT r.country, COUNT(*) AS n FROM visits v INNER JOIN regions r USING (code) GROUP BY 1",
    ),
    (
        "SELECT SUM(cost) / COUNT(*) AS mean FROM visits",
        "SELECT SUM(cost) / COUNT() AS mean FROM visits",
    ),
    ("SELECT MEDIAN(cost) AS m FROM visits", "SELECT QUANTILE(cost, 0.50) AS m FROM visits"),
    ("SELECT COUNT_IF(age > 3) AS n FROM visits", "SELECT COUNT(*) FILTER (WHERE age > 3) AS n FROM visits"),
    (
        "SELECT COUNT(*) AS n FROM visits WHERE age >= 1 AND age <= 3",
        "SELECT COUNT(*) n FROM visits WHERE age BETWEEN 1 AND 3",
    ),
]


@pytest.mark.parametrize("group", EQUAL)
def test_queries_of_one_meaning_have_one_text(group):
    assert len({text(sql) for sql in group}) == 1


def test_all_these_queries_differ():
    sqls = [
        "SELECT COUNT(*) AS n FROM visits",
        "SELECT COUNT(*) AS m FROM visits",
        "SELECT COUNT(fee) AS n FROM visits",
        "SELECT COUNT(cost) AS n FROM visits",
        "SELECT COUNT(DISTINCT patient) AS n FROM visits",
        "SELECT COUNT(*) AS n FROM stays",
        "SELECT COUNT(*) AS n FROM visits WHERE age > 1",
        "SELECT COUNT(*) AS n FROM visits WHERE age > 2",
        "SELECT COUNT(*) AS n FROM visits WHERE age > 1.0",
        "SELECT COUNT(*) AS n FROM visits WHERE age >= 1",
        "SELECT COUNT(*) AS n FROM visits WHERE score > 1",
        "SELECT COUNT(*) AS n FROM visits WHERE NOT age > 1",
        "SELECT COUNT(*) AS n FROM visits WHERE ward = '1'",
        "SELECT COUNT(*) AS n FROM visits WHERE ward = 'text 1'",
        "SELECT COUNT(*) AS n FROM visits WHERE CAST(ward AS INT) = 1",
        "SELECT COUNT(*) AS n FROM visits WHERE CAST(ward AS DOUBLE) = 1",
        "SELECT COUNT(*) AS n FROM visits JOIN regions USING (code)",
        "SELECT COUNT(*) AS n FROM visits LEFT JOIN regions USING (code)",
        "SELECT COUNT(*) AS n FROM visits JOIN regions ON visits.ward = regions.code",
        "SELECT COUNT(*) AS n FROM visits JOIN prices USING (ward, days)",
        "SELECT SUM(cost) AS n FROM visits",
        "SELECT AVG(cost) AS n FROM visits",
        "SELECT VARIANCE(cost) AS n FROM visits",
        "SELECT STDDEV(cost) AS n FROM visits",
        "SELECT MEDIAN(cost) AS n FROM visits",
        "SELECT QUANTILE(cost, 0.51) AS n FROM visits",
        "SELECT SUM(CLAMP(cost, 0, 500)) AS n FROM visits",
        "SELECT SUM(CLAMP(cost, 0, 499)) AS n FROM visits",
        "SELECT SUM(cost + 1) AS n FROM visits",
        "SELECT SUM(cost) FILTER (WHERE age > 1) AS n FROM visits",
        "SELECT COUNT(*) + 1 AS n FROM visits",
        "SELECT COUNT(*) + 2 AS n FROM visits",
        "SELECT COUNT(*) AS n FROM visits HAVING COUNT(*) > 1",
        "SELECT COUNT(*) AS n FROM visits LIMIT 1",
        "SELECT COUNT(*) AS n FROM visits LIMIT 2",
        "SELECT COUNT(*) AS n FROM visits ORDER BY n",
        "SELECT COUNT(*) AS n FROM visits ORDER BY n DESC",
        "SELECT region, COUNT(*) AS n FROM visits GROUP BY region",
        "SELECT region AS r, COUNT(*) AS n FROM visits GROUP BY region",
        "SELECT ward AS region, COUNT(*) AS n FROM visits GROUP BY ward",
        "SELECT COUNT(*) AS n, region FROM visits GROUP BY region",
        "SELECT COUNT(*) AS n FROM visits GROUP BY region",
        "SELECT region, ward, COUNT(*) AS n FROM visits GROUP BY region, ward",
    ]
    assert len({text(sql) for sql in sqls}) == len(sqls)


def test_ranges_and_keys_of_the_call_are_part_of_the_meaning():
    sql = "SELECT ward, SUM(fee) AS s FROM visits GROUP BY ward"
    calls = [
        {"bounds": {"fee": (0, 9)}},
        {"bounds": {"fee": (0, Fraction(91, 10))}},
        {"bounds": {"fee": (-1, 9)}},
        {"bounds": {"s": (0, 9)}},
        {"bounds": {"fee": (0, 9)}, "keys": {"ward": ["a"]}},
        {"bounds": {"fee": (0, 9)}, "keys": {"ward": ["b"]}},
        {"bounds": {"fee": (0, 9)}, "keys": {"ward": ["a", "b"]}},
    ]
    assert len({text(sql, **call) for call in calls}) == len(calls)


def test_another_declaration_is_another_text():
    sql = "SELECT region, SUM(cost) AS s FROM visits GROUP BY region"

    def changed(**columns) -> Policy:
        table = replace(VISITS, columns={**VISITS.columns, **columns})
        return replace(POLICY, tables={**POLICY.tables, "visits": table})

    kinds = {name: one.type for name, one in VISITS.columns.items()}
    policies = [
        POLICY,
        changed(cost=column("cost", kinds["cost"], 0, 501)),
        changed(region=column("region", kinds["region"], values=("north",))),
        changed(region=column("region", kinds["region"])),
    ]
    assert len({text(sql, policy) for policy in policies}) == len(policies)


def reformatted(sql, choice):
    """Write a query with other spaces, capitals of words outside of quotes, comments and brackets."""
    parts = []
    for token in sqlglot.tokenize(sql, read="duckdb"):
        word = sql[token.start : token.end + 1]
        plain = word.isidentifier()
        parts.append(choice.choice([word.upper(), word.lower(), word]) if plain else word)
        parts.append(choice.choice([" ", "\n", "\t ", " /* why */ ", " -- so\n", "  "]))
    return choice.choice(["", "\n", "-- first\n"]) + "".join(parts) + choice.choice(["", ";", " ; -- end"])


NAMED = [sql for sql in VALID if " AS f," not in sql]


def forms(sql):
    """The canonical forms of all parts of a question, without the capitals of names."""
    found = read_answers(sql, POLICY, evaluate=evaluate)
    parts = found.parts if isinstance(found, UnionOfAnswers) else (found,)
    made = [json.loads(canonical(one)) for one in parts]
    return [one | {"names": [name.lower() for name in one["names"]]} for one in made]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.sampled_from(NAMED), st.integers(0, 2**32))
def test_form_leaves_no_trace(sql, seed):
    other = reformatted(sql, random.Random(seed))  # noqa: S311
    assert forms(sql) == forms(other)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.integers(-(2**62), 2**62), st.integers(-(2**62), 2**62))
def test_every_constant_counts(one, other):
    sqls = ["SELECT COUNT(*) AS n FROM visits WHERE score > @".replace("@", str(value)) for value in (one, other)]
    assert (text(sqls[0]) == text(sqls[1])) == (one == other)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.text(max_size=8), st.text(max_size=8))
def test_every_text_counts(one, other):
    def of(value):
        return text("SELECT COUNT(*) AS n FROM visits WHERE ward = '@'".replace("@", value.replace("'", "''")))

    visible = [value for value in (one, other) if value.isprintable()]
    if len(visible) == 2:
        assert (of(one) == of(other)) == (one == other)


def test_every_expression_has_its_own_text():
    equal_by_meaning = {}
    for expression, _ in MEANINGS:
        query = read_query("SELECT COUNT(@) AS n FROM visits".replace("@", expression), POLICY)
        equal_by_meaning.setdefault(canonical(query), set()).add(query)
    assert all(len(queries) == 1 for queries in equal_by_meaning.values())
    assert len(equal_by_meaning) > 100


def test_a_column_used_many_times_is_written_once():
    sql = "SELECT cost AS x FROM visits"
    for _ in range(15):
        sql = "SELECT x + x AS x FROM (@) AS y".replace("@", sql)
    found = text("SELECT SUM(CLAMP(x, 0, 1)) AS s FROM (@) AS z".replace("@", sql))
    assert len(found) < 4000


def test_the_text_is_json_and_stays_as_it_is():
    found = text("SELECT region, SUM(cost) AS s FROM visits WHERE day > '2023-05-05' GROUP BY region ORDER BY s")
    assert json.loads(found)["names"] == ["region", "s"]
    assert found.isascii()
    again = text("SELECT region, SUM(cost) AS s FROM visits WHERE day > '2023-05-05' GROUP BY region ORDER BY s")
    assert hashlib.sha256(found.encode()).digest() == hashlib.sha256(again.encode()).digest()


def test_a_query_in_words():
    query = read_query(
        "SELECT BIN(age, 10) AS decade, COUNT(*) AS n, AVG(cost) AS mean FROM visits JOIN regions USING (code) "
        "WHERE region IN ('north', 'west') AND NOT emergency GROUP BY decade HAVING n > 5 ORDER BY mean DESC LIMIT 3",
        POLICY,
        evaluate=evaluate,
    )
    assert written(query).splitlines() == [
        "FROM visits",
        "INNER JOIN regions ON code = regions.code",
        "WHERE (region IN ('north', 'west')) AND (NOT emergency)",
        "GROUP BY (Age // 10) * 10 AS decade (13 public)",
        "ASK COUNT(*) AS n, AVG(cost) within 0 to 500 AS mean",
        "THEN SELECT decade, n, mean",
        "  WHERE n > 5.0",
        "  ORDER BY mean DESC",
        "  LIMIT 3",
    ]


def test_words_are_found_for_every_operation():
    for expression, _ in MEANINGS:
        words = written(read_query("SELECT COUNT(@) AS n FROM visits".replace("@", expression), POLICY))
        assert words.startswith("FROM visits\nASK COUNT(")
