"""Every refusal names its cause and the remedy; the remedy it names is understood."""

from __future__ import annotations

import pandas as pd
import pytest

from discreet.errors import MissingBound, PrivateKeys, QueryRefused, UnknownName, UnsupportedSQL
from discreet.privacy import PureDP
from discreet.query import Session
from discreet.query.reading.query import read_query
from tests.query.sample_policy import POLICY, evaluate

FROM = " FROM visits"

# A query, the kind of refusal, words of its cause, words of its remedy.
REFUSALS = [
    ("SELECT SUM(fee)" + FROM, MissingBound, 'SUM(fee) needs a range for "fee"', "SUM(CLAMP(fee, 0, 500))"),
    ("SELECT SUM(fee)" + FROM, MissingBound, "fee = {min = 0, max = ...}", "[tables.visits.columns]"),
    ("SELECT AVG(score)" + FROM, MissingBound, "AVG(score)", "AVG(CLAMP(score, 0, 500))"),
    ("SELECT MEDIAN(fee)" + FROM, MissingBound, "MEDIAN(fee)", "MEDIAN(CLAMP(fee, 0, 500))"),
    ("SELECT QUANTILE(fee, 0.9)" + FROM, MissingBound, "fee", "QUANTILE(CLAMP(fee, 0, 500), 0.9)"),
    ("SELECT VARIANCE(fee)" + FROM, MissingBound, "fee", "VARIANCE(CLAMP(fee, 0, 500))"),
    ("SELECT SUM(x) FROM (SELECT fee + 1 AS x FROM visits)", MissingBound, 'for "fee"', "SUM(CLAMP(x, 0, 500))"),
    ("SELECT SUM(area) FROM visits JOIN regions USING (code)", MissingBound, "area", "[public.regions.columns]"),
    ("SELECT SUM(1 / cost)" + FROM, MissingBound, "none follows", "SUM(CLAMP(1 / cost, 0, 500))"),
    ("SELECT SUM(7)" + FROM, MissingBound, "range 7 to 7", "COUNT(*)"),
    ("SELECT SUM(CLAMP(fee, -1.7e308, 1.7e308))" + FROM, MissingBound, "too wide", "CLAMP"),
    ("SELECT COUNT(*) FROM visit", UnknownName, "no table 'visit'", "'visits'"),
    ("SELECT COUNT(*) FROM nothing", UnknownName, "no table 'nothing'", "Known: log, notes"),
    ("SELECT SUM(cots)" + FROM, UnknownName, "no column 'cots'", "'cost'"),
    ("SELECT COUNT(*) FROM visits WHERE v.cost > 1", UnknownName, "no table 'v'", "Known: visits"),
    ("SELECT x FROM (SELECT COUNT(*) AS n FROM visits)", UnknownName, "no column 'x' in the answer", "Known: n"),
    ("SELECT COUNT(*) FROM visits WHERE clmap(cost, 0, 1) > 0", UnknownName, "no function 'CLMAP'", "CLAMP"),
    ("SELECT COUNT(*) FROM visits WHERE magic(cost) > 0", UnknownName, "no function 'MAGIC'", "Understood are"),
    (
        "SELECT COUNT(*) FROM visits WHERE CONCAT(cost, code) = ''",
        UnsupportedSQL,
        "CONCAT joins texts",
        "CAST(cost AS BIGINT)",
    ),
    (
        "SELECT COUNT(*) FROM visits LEFT SEMI JOIN regions ON visits.code = regions.code",
        UnsupportedSQL,
        "LEFT SEMI JOIN is not understood",
        "keeps the rows that have a match",
    ),
    (
        "SELECT COUNT(*) FROM visits JOIN (SELECT code FROM regions) r ON visits.code = r.code",
        UnsupportedSQL,
        "is a public table",
        "FROM visits JOIN regions ON",
    ),
    ("SELECT TOP 5 region, COUNT(*) FROM visits GROUP BY region", UnsupportedSQL, "TOP is not understood", "LIMIT 5"),
    ("SELECT COUNT(*) FROM `visits`", UnsupportedSQL, "not backticks", 'write "name"'),
    ("SELECT COUNT(*) FROM [visits]", UnsupportedSQL, "not brackets", 'write "name"'),
    (
        "SELECT [region], COUNT(*) FROM visits GROUP BY 1",
        UnsupportedSQL,
        "An array is not",
        "double quotes, not brackets",
    ),
    (
        "SELECT (SELECT COUNT(*) FROM visits) - (SELECT COUNT(*) FROM visits WHERE emergency) AS d",
        UnsupportedSQL,
        "Answers are not joined",
        "COUNT(*) FILTER (WHERE ...)",
    ),
    ("SELECT COUNT(*) FROM .visits", UnsupportedSQL, "A dot before the name", "Write the bare name"),
    (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) COUNT(*) FROM visits",
        UnsupportedSQL,
        "The price is no clause",
        "epsilon=",
    ),
    ("SELECT *" + FROM, UnsupportedSQL, "Rows are never shown", "COUNT(*)"),
    ("SELECT cost" + FROM, UnsupportedSQL, "Rows are never shown", "COUNT(*)"),
    ("SELECT region, cost FROM visits GROUP BY region", UnsupportedSQL, "'cost' differs from row", "AVG(cost)"),
    (
        "SELECT region, ward FROM visits GROUP BY region",
        UnsupportedSQL,
        "'ward' differs from row",
        "add ward to GROUP BY",
    ),
    ("SELECT region FROM visits GROUP BY region", UnsupportedSQL, "Groups alone are not shown", "COUNT(*)"),
    ("SELECT patient, COUNT(*) FROM visits GROUP BY patient", UnsupportedSQL, "one patient each", "many share"),
    ("SELECT 3, COUNT(*) FROM visits GROUP BY 1", UnsupportedSQL, "constant", "Leave it out"),
    ("SELECT COUNT(*) FROM visits GROUP BY 5", UnsupportedSQL, "5 is not a position", "1 to 1"),
    ("SELECT COUNT(*) FROM visits GROUP BY COUNT(*)", UnsupportedSQL, "aggregate cannot be a key", "columns"),
    ("SELECT COUNT(*) FROM visits GROUP BY (region, ward)", UnsupportedSQL, "without brackets", "GROUP BY a, b"),
    ("SELECT COUNT(*) FROM visits GROUP BY region WITH ROLLUP", UnsupportedSQL, "WITH ROLLUP", "ROLLUP (a, b)"),
    ("SELECT MEDIAN(cost) FROM visits GROUP BY ROLLUP (region)", UnsupportedSQL, "add up", "fewer keys"),
    ("SELECT COUNT(*) FROM visits GROUP BY ROLLUP (ward)", UnsupportedSQL, "'ward' is private", "keys={"),
    ("SELECT patient, COUNT(*) FROM visits GROUP BY ALL", UnsupportedSQL, "GROUP BY patient", "many share"),
    ("SELECT COUNT(*); SELECT 1", UnsupportedSQL, "2 statements", "one at a time"),
    ("", UnsupportedSQL, "empty", "SELECT COUNT(*) FROM table"),
    ("SELECT COUNT(*", UnsupportedSQL, "not a query that can be read", "brackets"),
    ("SELECT COUNT(*)", UnsupportedSQL, "reads no table", "FROM table"),
    ("DROP TABLE visits", UnsupportedSQL, "DROP", "Only SELECT"),
    ("COPY visits TO 'x'", UnsupportedSQL, "COPY", "Only SELECT"),
    ("EXPLAIN SELECT 1", UnsupportedSQL, "EXPLAIN", "Only SELECT"),
    ("SELECT COUNT(*) FROM 'x.csv'", UnsupportedSQL, "Files cannot be read", "table of the policy"),
    ("SELECT COUNT(*) FROM read_csv('x.csv')", UnsupportedSQL, "Functions that make or read", "table of the policy"),
    ("SELECT COUNT(*) FROM main.visits", UnsupportedSQL, "schema", "bare name"),
    ("SELECT COUNT(*) FROM pg_class", UnsupportedSQL, "table of the database itself", "table of the policy"),
    ("SELECT COUNT(*) FROM regions", UnsupportedSQL, "public table", "FROM visits JOIN regions ON"),
    ("SELECT COUNT(*) FROM visits, regions", UnsupportedSQL, "pair all rows", "JOIN public_table ON"),
    (
        "SELECT COUNT(*) FROM visits JOIN stays USING (cost)",
        UnsupportedSQL,
        "different people",
        "visits.patient = stays",
    ),
    ("SELECT COUNT(*) FROM visits v JOIN regions v USING (code)", UnsupportedSQL, "called 'v'", "AS"),
    ("SELECT COUNT(*) FROM visits FULL JOIN regions USING (code)", UnsupportedSQL, "FULL JOIN", "LEFT JOIN"),
    ("SELECT COUNT(*) FROM visits JOIN regions ON cost > area", UnsupportedSQL, "equalities alone", "WHERE"),
    (
        "SELECT COUNT(*) FROM visits JOIN regions ON ward = region",
        UnsupportedSQL,
        "does not compare",
        "public_table.key",
    ),
    ("SELECT COUNT(*) FROM visits JOIN regions ON region = country", UnsupportedSQL, "more than once", "unique ="),
    ("SELECT COUNT(*) FROM visits JOIN regions ON age = regions.code", UnsupportedSQL, "integer and text", "CAST"),
    ("SELECT COUNT(*) FROM visits UNION SELECT 1", UnsupportedSQL, "reads no table", "FROM table"),
    ("SELECT COUNT(*) FROM visits UNION SELECT COUNT(*) FROM visits", UnsupportedSQL, "UNION", "one by one"),
    ("WITH RECURSIVE a AS (SELECT 1) SELECT COUNT(*) FROM a", UnsupportedSQL, "Recursive", "one expression"),
    ("WITH a AS (SELECT * FROM visits) SELECT COUNT(*) FROM stays", UnsupportedSQL, "never read", "Leave it out"),
    ("SELECT COUNT(*) FROM (SELECT * FROM visits LIMIT 3)", UnsupportedSQL, "LIMIT", "on answers alone"),
    (
        "SELECT COUNT(*) FROM (SELECT DISTINCT ward FROM visits)",
        UnsupportedSQL,
        "DISTINCT",
        "GROUP BY the same columns",
    ),
    ("SELECT MEDIAN(n) FROM (SELECT COUNT(*) AS n FROM visits)", UnsupportedSQL, "MEDIAN(n)", "SUM, AVG, COUNT"),
    ("SELECT SUM(AVG(cost))" + FROM, UnsupportedSQL, "inside another aggregate", "by itself"),
    ("SELECT COUNT(*) FROM visits WHERE COUNT(*) > 3", UnsupportedSQL, "single rows are read", "HAVING"),
    ("SELECT MIN(cost)" + FROM, UnsupportedSQL, "MIN", "QUANTILE(cost, 0.01)"),
    ("SELECT MAX(cost)" + FROM, UnsupportedSQL, "MAX", "QUANTILE(cost, 0.99)"),
    ("SELECT ANY_VALUE(cost)" + FROM, UnsupportedSQL, "one person", "MEDIAN(x)"),
    ("SELECT ARRAY_AGG(cost)" + FROM, UnsupportedSQL, "one person", "MEDIAN(x)"),
    ("SELECT MODE(ward)" + FROM, UnsupportedSQL, "MODE", "GROUP BY ward"),
    ("SELECT COUNT(DISTINCT ward, code)" + FROM, UnsupportedSQL, "takes one argument", "||"),
    ("SELECT SUM(DISTINCT cost)" + FROM, UnsupportedSQL, "DISTINCT", "Leave it out"),
    ("SELECT COUNT(DISTINCT patient) FILTER (WHERE age > 3)" + FROM, UnsupportedSQL, "no FILTER", "WHERE"),
    ("SELECT SUM(ward)" + FROM, UnsupportedSQL, "needs numbers, and got text", "CAST(x AS DOUBLE)"),
    ("SELECT SUM(day)" + FROM, UnsupportedSQL, "got date", "DATEDIFF('day'"),
    ("SELECT AVG(emergency)" + FROM, UnsupportedSQL, "got boolean", "COUNT_IF(x)"),
    ("SELECT QUANTILE(cost, 1)" + FROM, UnsupportedSQL, "between 0 and 1", "0.99"),
    ("SELECT QUANTILE(cost, [0.1])" + FROM, UnsupportedSQL, "not a level", "QUANTILE(x, 0.5)"),
    ("SELECT SUM(cost) OVER ()" + FROM, UnsupportedSQL, "OVER", "GROUP BY"),
    ("SELECT COUNT(*) FROM visits WHERE cost", UnsupportedSQL, "'cost' is not a condition", "x > 0"),
    ("SELECT COUNT(*) FROM visits WHERE cost = 'x'", UnsupportedSQL, "cannot mix a real number with a text", "CAST"),
    ("SELECT COUNT(*) FROM visits WHERE day > 'x'", UnsupportedSQL, "'x' is not one", "YYYY-MM-DD"),
    ("SELECT COUNT(*) FROM visits WHERE RANDOM() > 1", UnsupportedSQL, "RANDOM differs from call", "the value itself"),
    ("SELECT COUNT(*) FROM visits WHERE day > NOW()", UnsupportedSQL, "current time", "DATE '2024-01-01'"),
    ("SELECT COUNT(*) FROM visits WHERE ward ILIKE region", UnsupportedSQL, "pattern of LIKE", "LIKE 'a%'"),
    ("SELECT COUNT(*) FROM visits WHERE ward ~ 'a'", UnsupportedSQL, "regular expression", "LIKE with %"),
    ("SELECT COUNT(*) FROM visits WHERE ward LIKE code", UnsupportedSQL, "constant text", "LIKE 'a%'"),
    ("SELECT COUNT(*) FROM visits WHERE ward IN (SELECT 1)", UnsupportedSQL, "IN (SELECT", "public table"),
    ("SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1)", UnsupportedSQL, "EXISTS", "public table"),
    ("SELECT COUNT(*) FROM visits WHERE score = $1", UnsupportedSQL, "Parameters", "value itself"),
    ("SELECT COUNT(*) FROM visits WHERE score = 0x1F", UnsupportedSQL, "not a number", "decimal"),
    ("SELECT COUNT(*) FROM visits WHERE score > 99999999999999999999", UnsupportedSQL, "64 bits", "1.0e20"),
    ("SELECT COUNT(*) FROM visits WHERE CAST(cost AS DECIMAL(9,2)) > 1", UnsupportedSQL, "DECIMAL", "DOUBLE"),
    ("SELECT COUNT(*) FROM visits WHERE EXTRACT(epoch FROM day) = 1", UnsupportedSQL, "EPOCH", "ISODOW"),
    ("SELECT COUNT(*) FROM visits WHERE day + INTERVAL 1 HOUR > day", UnsupportedSQL, "INTERVAL", "INTERVAL 7 DAY"),
    ("SELECT COUNT(*) FROM visits WHERE LOG2(cost) > 1", UnsupportedSQL, "Logarithms", "LN(x) / LN(base)"),
    ("SELECT COUNT(*) FROM visits LIMIT 5 OFFSET -2", UnsupportedSQL, "OFFSET", "OFFSET 10"),
    ("SELECT COUNT(*) FROM (SELECT * FROM visits LIMIT 5 OFFSET 2)", UnsupportedSQL, "OFFSET", "answers"),
    (
        "SELECT region, SUM(COUNT(*)) OVER (ORDER BY region RANGE 1 PRECEDING) FROM visits GROUP BY 1",
        UnsupportedSQL,
        "frame",
        "ROWS BETWEEN",
    ),
    ("SELECT COUNT(*) FROM visits LIMIT 2.5", UnsupportedSQL, "whole number", "LIMIT 10"),
    ("SELECT COUNT(*) AS n, SUM(cost) AS n" + FROM, UnsupportedSQL, "Two columns are called 'n'", "AS"),
    ("SELECT COUNT(*) FROM visits TABLESAMPLE 10%", UnsupportedSQL, "TABLESAMPLE", "leave it out"),
    ("SELECT COUNT(*) FROM visits WHERE vis\u200bits > 1", UnsupportedSQL, "U+200B", "Remove it"),
]


def test_there_are_many_refusals():
    assert len(REFUSALS) >= 90


@pytest.mark.parametrize(
    ("sql", "kind", "cause", "remedy"), REFUSALS, ids=[str(place) for place in range(len(REFUSALS))]
)
def test_a_refusal_names_the_cause_and_the_remedy(sql, kind, cause, remedy):
    with pytest.raises(QueryRefused) as refusal:
        read_query(sql, POLICY, evaluate=evaluate)
    message = str(refusal.value)
    assert type(refusal.value) is kind
    assert cause in message
    assert remedy in message
    assert message.endswith("Nothing was spent.")
    assert "\n" not in message


REMEDIES = [
    "SELECT SUM(CLAMP(fee, 0, 500)) FROM visits",
    "SELECT QUANTILE(CLAMP(fee, 0, 500), 0.9) FROM visits",
    "SELECT QUANTILE(cost, 0.01), QUANTILE(cost, 0.99) FROM visits",
    "SELECT SUM(CLAMP(1 / cost, 0, 500)) FROM visits",
    "SELECT COUNT(DISTINCT patient) FROM visits",
    "SELECT COUNT_IF(emergency), AVG(CASE WHEN emergency THEN 1 ELSE 0 END) FROM visits",
    "SELECT AVG(CLAMP(CAST(ward AS DOUBLE), 0, 9)) FROM visits",
    "SELECT AVG(CLAMP(DATEDIFF('day', DATE '2000-01-01', born), 0, 9000)) FROM visits",
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC",
    "SELECT COUNT(*) FROM visits WHERE LOWER(ward) LIKE 'a%'",
    "SELECT COUNT(*) FROM visits WHERE LN(cost) / LN(2) > 1",
    "SELECT COUNT(*) FROM visits WHERE day < DATE '2024-01-01' + INTERVAL 7 DAY",
    "SELECT COUNT(*) FROM visits WHERE ISODOW(day) = 1 AND DATE_TRUNC('week', day) > '2023-01-01'",
    "SELECT COUNT(*) FROM visits WHERE DATEDIFF('day', DATE_TRUNC('year', day), day) < 9",
    "SELECT EXP(SUM(CLAMP(LN(fee), 0, 3))) AS product FROM visits",
    "SELECT AVG(cost * age), AVG(cost), AVG(age), STDDEV(cost), STDDEV(age) FROM visits",
    "SELECT BIN(cost, 10) AS b, COUNT(*) FROM visits GROUP BY b",
    "SELECT SUM(cost) FILTER (WHERE region = 'north') AS north FROM visits",
    "SELECT COUNT(*) FROM visits JOIN regions ON visits.code = regions.code",
    "SELECT region, COUNT(*) FROM visits GROUP BY ROLLUP (region, emergency)",
    "SELECT SUM(COUNT(*)) OVER (ORDER BY region ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM visits GROUP BY region",
]


@pytest.mark.parametrize("sql", REMEDIES)
def test_what_the_messages_recommend_is_understood(sql):
    assert read_query(sql, POLICY, evaluate=evaluate).aggregation.asked


def test_a_refusal_that_begins_with_a_parameter_keeps_its_small_letters():
    frame = pd.DataFrame({"p": [1, 2], "town": ["a", "b"]})
    session = Session.from_frames(t=frame, unit="p", rows=1, budget=PureDP(1))
    with pytest.raises(UnknownName, match=r"^keys= names 'twn', which is not a key"):
        session.explain("SELECT town, COUNT(*) AS n FROM t GROUP BY town", epsilon=1, keys={"twn": ["a"]})


def test_bounds_that_frames_lack_are_arguments_of_the_call():
    frame = pd.DataFrame({"p": [1, 2], "town": ["a", "b"]})
    session = Session.from_frames(t=frame, unit="p", rows=2, budget=PureDP(1))
    words = "Add groups= and rows_per_group= to from_frames, or state groups= and rows_per_group= beside the question"
    with pytest.raises(PrivateKeys, match=words):
        session.explain("SELECT town, COUNT(*) AS n FROM t GROUP BY town", epsilon=1)
