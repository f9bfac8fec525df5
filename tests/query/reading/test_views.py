"""Views of a policy: SELECTs of rows under one name, checked when the policy meets its source."""

# ruff: noqa: S608 - the statements are what is being tested
from __future__ import annotations

from dataclasses import replace

import pytest

from discreet.errors import PolicyError, UnsupportedSQL
from discreet.frames import Type
from discreet.query import Session
from discreet.query.plan.canonical_form import canonical
from discreet.query.policy import parse_policy
from discreet.query.reading.query import read_query, views_of
from tests.query.sample_policy import POLICY, evaluate

SALES = (
    "SELECT p.id, v.region, v.cost AS price, born FROM visits v JOIN (SELECT id FROM patients) p ON v.patient = p.id"
)
VIEWS = replace(
    POLICY,
    views={
        "sales": SALES,
        "per_patient": "SELECT patient, COUNT(*) AS n, MAX(day) AS last FROM visits GROUP BY patient",
        "all_costs": "SELECT * FROM (SELECT patient, cost FROM visits UNION ALL SELECT patient, cost FROM stays)",
    },
)


def text(sql, policy=VIEWS, **rest):
    return canonical(read_query(sql, policy, evaluate=evaluate, **rest))


def test_a_view_is_read_like_a_table_and_means_what_its_select_means():
    inner = f"({SALES}) AS s"
    for sql in (
        "SELECT region, SUM(price) AS s FROM @ GROUP BY region",
        "SELECT COUNT(DISTINCT id) AS n FROM @",
        "SELECT COUNT(*) AS n FROM @ JOIN stays ON id = patient",
        "SELECT COUNT(*) AS n FROM @ WHERE id IN (SELECT patient FROM stays)",
        "SELECT AVG(CLAMP(n, 0, 9)) AS a FROM (SELECT id, COUNT(*) AS n FROM @ GROUP BY id)",
    ):
        assert text(sql.replace("@", "sales")) == text(sql.replace("@", inner), POLICY)
        assert text(sql.replace("@", "SALES")) == text(sql.replace("@", inner), POLICY)


def test_columns_of_views_have_what_the_policy_declares_and_the_call_says():
    query = read_query("SELECT region, AVG(price) AS a FROM sales GROUP BY region", VIEWS, evaluate=evaluate)
    assert query.aggregation.keys[0].domain == ("north", "south", "west")
    assert query.aggregation.asked[0].bounds == (0, 500)
    sql = "SELECT AVG(n) AS a FROM per_patient"
    assert read_query(sql, VIEWS, bounds={"n": (0, 9)}).aggregation.asked[0].bounds == (0, 9)


def test_the_columns_of_views_are_told_with_their_types():
    assert views_of(VIEWS) == {
        "sales": {"id": Type.INTEGER, "region": Type.TEXT, "price": Type.REAL, "born": Type.DATE},
        "per_patient": {"patient": Type.INTEGER, "n": Type.INTEGER, "last": Type.DATE},
        "all_costs": {"patient": Type.INTEGER, "cost": Type.REAL},
    }


REFUSED = [
    ("SELECT * FROM sales", "reads tables alone"),
    ("SELECT COUNT(*) FROM visits", "gives rows"),
    ("SELECT region, COUNT(*) AS n FROM visits GROUP BY region", "gives rows"),
    ("SELECT nobody FROM visits", "no column 'nobody'"),
    ("SELECT * FROM nowhere", "no table 'nowhere'"),
    ("SELECT patient FROM visits JOIN patients USING (born)", "different people"),
    ("DROP TABLE visits", "not a question"),
    ("SELECT * FROM visits LIMIT 3", "answers alone"),
    ("SELECT RANDOM() AS r FROM visits", "differs from call"),
]


@pytest.mark.parametrize(("sql", "words"), REFUSED)
def test_a_view_that_cannot_be_read_is_refused_with_its_reason(sql, words):
    with pytest.raises(PolicyError) as refusal:
        views_of(replace(POLICY, views={"sales": SALES, "other": sql}))
    message = str(refusal.value)
    assert "[views] other: " in message
    assert words.replace("reads tables alone", "read tables alone") in message
    assert "Nothing was spent" not in message


def test_a_view_of_a_view_is_refused_in_queries_too():
    with pytest.raises(UnsupportedSQL, match="Views read tables alone"):
        read_query(
            "SELECT COUNT(*) FROM v", replace(POLICY, views={"v": "SELECT * FROM w", "w": "SELECT * FROM visits"})
        )


FILE = """[data]
source = "data"
lineage = "people"
version = "1"
[protect]
unit = "person"
[budget]
notion = "pure"
epsilon = 100
ledger = "ledger.sqlite"
[analysts]
ana = {}
[tables.t]
unit = "uid"
rows = 2
[views]
"""


def test_views_stand_in_the_policy_file(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "t.parquet").write_bytes(b"")
    read = parse_policy(FILE + 'big = "SELECT * FROM t WHERE x > 3"\n', folder=tmp_path)
    assert read.views == {"big": "SELECT * FROM t WHERE x > 3"}


@pytest.mark.parametrize(
    ("line", "words"),
    [("big = 3", "must be a SELECT in quotes"), ('T = "SELECT 1"', "is also a table"), ('big = ""', "in quotes")],
)
def test_mistakes_in_views_are_told_with_their_line(tmp_path, line, words):
    (tmp_path / "data").mkdir()
    with pytest.raises(PolicyError, match=words) as refusal:
        parse_policy(FILE + line, folder=tmp_path)
    assert "line 17" in str(refusal.value)


def test_a_session_reads_views_and_tells_their_columns(tmp_path):
    import duckdb

    (tmp_path / "data").mkdir()
    where = str(tmp_path / "data" / "t.parquet")
    duckdb.sql(f"COPY (SELECT range % 40 AS uid, range AS x FROM range(80)) TO '{where}'")
    path = tmp_path / "policy.toml"
    path.write_text(FILE + 'big = "SELECT uid, x - 1 AS y FROM t WHERE x >= 60"\n')
    with Session.open(path, analyst="ana") as session:
        assert session.tables()["big"] == {"uid": "integer", "y": "integer"}
        assert abs(session.sql("SELECT COUNT(*) AS n FROM big", epsilon=10).value - 20) < 10
    path.write_text(FILE + 'big = "SELECT z FROM t"\n')
    with pytest.raises(PolicyError, match="line 17"):
        Session.open(path, analyst="ana")
