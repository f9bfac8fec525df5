"""Whatever the text, a query is read or refused: no other error comes out, and never late."""

from __future__ import annotations

import random
import re

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.errors import QueryRefused
from discreet.query.plan.canonical_form import canonical, written
from discreet.query.plan.query_plan import QueryPlan, UnionOfAnswers
from discreet.query.reading.query import read_answers
from tests.query.hostile import HOSTILE
from tests.query.reading.test_expressions import MEANINGS
from tests.query.reading.test_refusals import REMEDIES
from tests.query.sample_policy import POLICY

VALID = [
    *REMEDIES,
    "SELECT region, COUNT(*) FROM visits WHERE age > 30 GROUP BY region HAVING COUNT(*) > 3 ORDER BY 2 LIMIT 5",
    "WITH a AS (SELECT age // 10 AS d, cost FROM visits) SELECT d, AVG(cost) FROM a GROUP BY d",
    "SELECT x.region, n / 2 FROM (SELECT region, COUNT(*) AS n FROM visits GROUP BY region) AS x WHERE n > 5",
    "SELECT country, COUNT(*) FROM visits LEFT JOIN regions USING (code) GROUP BY country",
    "SELECT CASE WHEN fee < 3 THEN 'low' ELSE 'high' END AS f, MEDIAN(cost) FROM visits GROUP BY f",
    "SELECT region, AVG(cost) FROM visits JOIN patients ON visits.patient = patients.id GROUP BY region",
    "SELECT COUNT(*) FROM notes n, stays s, visits v, regions r WHERE n.stay = s.number AND s.patient = v.patient "
    "AND v.code = r.code AND v.age > 3",
    "SELECT AVG(CLAMP(n, 0, 9)) FROM (SELECT patient, COUNT(*) AS n, SUM(cost) AS s, MIN(day) AS d FROM visits "
    "WHERE age > 3 GROUP BY patient HAVING COUNT(DISTINCT ward) > 1) WHERE s > 3 AND d > '2023-01-01'",
    "SELECT COUNT(*) FROM visits WHERE patient IN (SELECT id FROM patients WHERE born > '2000-01-01') AND NOT EXISTS "
    "(SELECT * FROM stays s WHERE s.patient = visits.patient AND s.cost > visits.cost)",
    "SELECT SUM(x) FROM (SELECT patient, cost AS x FROM visits UNION ALL SELECT patient, cost FROM stays)",
    "SELECT k, COUNT(DISTINCT code) FROM (SELECT p.id, p.born IS NULL AS k, v.code FROM patients p LEFT JOIN visits v "
    "ON p.id = v.patient AND v.age > 3) GROUP BY k",
    "SELECT region, 9 * COUNT(*) / SUM(COUNT(*)) OVER () AS s, LAG(COUNT(*), 1, 0) OVER w FROM visits GROUP BY region "
    "QUALIFY RANK() OVER (PARTITION BY s > 3 ORDER BY COUNT(*) DESC) < 3 WINDOW w AS (ORDER BY region) ORDER BY s",
    "SELECT DISTINCT n, AVG(n) FILTER (WHERE n > 3) OVER (ORDER BY r ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) AS a "
    "FROM (SELECT region AS r, COUNT(*) AS n FROM visits GROUP BY r) ORDER BY a DESC LIMIT 3 OFFSET 1",
    "SELECT region, emergency, GROUPING(region, emergency) AS g, COUNT(*), AVG(cost) FROM visits "
    "GROUP BY ROLLUP (region, emergency) HAVING COUNT(*) > 3",
    "SELECT region, days, SUM(cost) FROM visits GROUP BY GROUPING SETS ((region, days), CUBE (region), ())",
    "SELECT e, SUM(n) / COUNT(*), SUM(SUM(n)) OVER () FROM (SELECT region, emergency AS e, COUNT(*) AS n FROM visits "
    "GROUP BY 1, 2) WHERE n > 0 GROUP BY e HAVING MAX(n) > 3",
    "WITH a AS (SELECT region, COUNT(*) AS n FROM visits GROUP BY region) SELECT region, n FROM a UNION ALL "
    "SELECT 'all', SUM(n) FROM a UNION ALL SELECT 'rest', COUNT(*) FROM stays ORDER BY n DESC LIMIT 3",
    *("SELECT COUNT(@) FROM visits".replace("@", text) for text, _ in MEANINGS),
]
_TEXT = """
SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT AS WITH JOIN LEFT ON USING AND OR NOT IN BETWEEN LIKE IS NULL CASE WHEN
OFFSET ROLLUP CUBE GROUPING SETS WINDOW ROWS PRECEDING PARTITION RANK LAG
THEN ELSE END CAST COUNT SUM AVG MEDIAN QUANTILE DISTINCT FILTER OVER UNION ALL EXISTS LATERAL INTERVAL DATE EXTRACT
visits regions patients region cost age day fee patient code unit t x n ( ) [ ] { } , ; . * + - / // % & | ^ ~ << >> =
<> < <= > >= :: || -> ? $1 @ # ! \\ ' " ` 0 1 0.5 1e9 1e999 1e 'a' -9223372036854775808 99999999999999999999 1..2
'2023-01-01' -- /* */ \x00 \u00e9 \u200b \u0663 \U0001f600 NaN Infinity ROW MAP STRUCT TRIM POSITION PIVOT QUALIFY
ILIKE 'MONTH' YEAR DOW STRFTIME '%Y-%m' WIDTH_BUCKET CONCAT CORR REGR_SLOPE clinic
"""
WORDS = _TEXT.split()


def outcome(sql):
    """Read a query and write it out, or return None if it is refused."""
    try:
        query = read_answers(sql, POLICY)
    except QueryRefused as refusal:
        message = str(refusal)
    else:
        for part in query.parts if isinstance(query, UnionOfAnswers) else [query]:
            assert isinstance(part, QueryPlan)
            canonical(part)
            written(part)
        return query
    assert message.endswith("Nothing was spent.")
    assert len(message) < 1000
    return None


def mutated(generator, text):
    """Change a text in a few places."""
    for _ in range(generator.randint(1, 3)):
        place, end = sorted(generator.randrange(len(text) + 1) for _ in range(2))
        other = generator.choice(VALID)
        change = generator.randrange(7)
        if change == 0:
            text = text[:place] + generator.choice(WORDS) + text[place:]
        elif change == 1:
            text = text[:place] + text[min(end, place + 12) :]
        elif change == 2:
            words = text.split(" ")
            words[generator.randrange(len(words))] = generator.choice(WORDS)
            text = " ".join(words)
        elif change == 3:
            text = text[:place] + other[place : place + 20] + text[place:]
        elif change == 4:
            words = text.split(" ")
            first, second = generator.randrange(len(words)), generator.randrange(len(words))
            words[first], words[second] = words[second], words[first]
            text = " ".join(words)
        elif change == 5:
            names = re.findall(r"[A-Z_0-9]+(?=\()", text)
            others = re.findall(r"[A-Z_0-9]+(?=\()", other)
            if names and others:
                text = text.replace(generator.choice(names) + "(", generator.choice([*others, "F", "MIN", "ROW"]) + "(")
        else:
            text = text[:place] + text[place:end] * 2 + text[end:]
    return text


def test_mutations_of_valid_and_hostile_queries_are_read_or_refused(rounds):
    generator = random.Random(20)  # noqa: S311
    hostile = [sql for _, sql in HOSTILE if len(sql) < 500 and sql]
    read = sum(
        outcome(mutated(generator, generator.choice(VALID if generator.random() < 0.8 else hostile))) is not None
        for _ in range(rounds(sample=1200, full=100_000))
    )
    assert read > 20


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join) | st.text(max_size=200))
def test_any_heap_of_words_is_read_or_refused(text):
    outcome(text)
    outcome("SELECT COUNT(*) FROM visits WHERE @".replace("@", text))
    outcome("SELECT @ FROM visits".replace("@", text))


@pytest.mark.parametrize("sql", VALID)
def test_the_valid_queries_are_valid(sql):
    assert outcome(sql) is not None


_UNDERSTOOD = """
@ ABS APPROX_QUANTILE AVG BIN BIT_COUNT CEIL CEILING CHARACTER_LENGTH CHAR_LENGTH CLAMP COALESCE CONCAT CORR COUNT
COUNTIF COUNT_IF DATE DATEDIFF DATEPART DATETRUNC DATE_ADD DATE_DIFF DATE_PART DATE_TO_DATE_STR DATE_TRUNC DAY DAYNAME
DAYOFMONTH DAYOFWEEK DAYOFWEEK_ISO DAYOFYEAR DAY_OF_MONTH DAY_OF_WEEK DAY_OF_YEAR EXP FLOOR GREATEST HOUR IFNULL
ISODOW LCASE LEAST LEN LENGTH LN LOG LOG10 LOG2 LOWER MEAN MEDIAN MINUTE MOD MONTH MONTHNAME NULLIF NVL
PERCENTILE_CONT PERCENTILE_DISC POW POWER QUANTILE QUANTILE_CONT QUANTILE_DISC QUARTER REGR_SLOPE ROUND SIGN SIGNUM
SQRT STD STDDEV STDDEV_POP STDDEV_SAMP STDEV STRFTIME SUBSTR SUBSTRING SUM TIME_TO_TIME_STR TRIM TS_OR_DS_TO_DATE_STR
UCASE UPPER VAR VARIANCE VARIANCE_POP VARIANCE_SAMP VAR_POP VAR_SAMP WEEK WEEKOFYEAR WEEK_OF_YEAR WIDTH_BUCKET XOR
YEAR
"""


def test_of_all_functions_of_the_database_only_those_understood_are_read(rounds):
    listed = duckdb.sql("SELECT DISTINCT upper(function_name) FROM duckdb_functions()").fetchall()
    names = [name for (name,) in listed if re.fullmatch(r"[A-Z0-9_@]+", name)]
    assert len(names) > 500
    places = ("SELECT COUNT(*) FROM visits WHERE (@) IS NULL", "SELECT @ AS q FROM visits", "SELECT COUNT(*) FROM @")
    understood = set(_UNDERSTOOD.split())
    others = sorted(name for name in names if name not in understood)
    tried = others[:: max(1, len(others) // rounds(sample=250, full=len(others)))]
    read = set()
    for name in (*understood.intersection(names), *tried):
        for arguments in ("cost", "cost, 0.5"):
            for place in places:
                if outcome(place.replace("@", f"{name}({arguments})", 1)) is not None:
                    read.add(name)
    assert read <= understood
    assert len(read) > 30
