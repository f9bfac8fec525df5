"""Work that a session does once: a statement is rendered once an answer, a source is opened once a session."""

from __future__ import annotations

import pandas as pd
import pytest

from discreet.privacy import PureDP
from discreet.query import Session
from discreet.query.engines.duckdb import engine as duckdb_engine

FRAME = pd.DataFrame({"person": [row // 2 for row in range(60)], "x": [float(row % 9) for row in range(60)]})
COLUMNS = {"x": {"type": "real", "min": 0, "max": 9}}
POLICY = """
[data]
source = "data"
lineage = "people"
version = "1"
[protect]
unit = "person"
[budget]
notion = "pure"
epsilon = 8
ledger = "ledger.sqlite"
[analysts]
ana = {}
[tables.t]
unit = "person"
rows = 2
[tables.t.columns]
person = {type = "integer"}
x = {type = "real", min = 0, max = 9}
"""
QUESTIONS = {
    "a count": ("SELECT COUNT(*) AS n FROM t", ["statement"]),
    "a count and a quantile": ("SELECT COUNT(*) AS n, MEDIAN(x) AS m FROM t", ["statement", "histogram_statement"]),
    "quantiles of two arguments": (
        "SELECT MEDIAN(x) AS m, MEDIAN(CLAMP(x, 0, 5)) AS n FROM t",
        ["histogram_statement", "histogram_statement"],
    ),
}


@pytest.fixture
def called(monkeypatch):
    """Return the names of the functions that opened a database or rendered a statement, in their order."""
    seen = []

    def spy(name):
        whole = getattr(duckdb_engine, name)

        def told(*arguments, **named):
            seen.append(name)
            return whole(*arguments, **named)

        monkeypatch.setattr(duckdb_engine, name, told)

    for name in ("connect", "statement", "histogram_statement"):
        spy(name)
    return seen


def frames_session():
    return Session.from_frames(t=FRAME, unit="person", rows=2, budget=PureDP(8), columns=COLUMNS)


def file_session(folder, kind):
    """Write the frame as a source of some kind, with its policy, and open it."""
    data = folder / "data"
    data.mkdir()
    if kind == "csv":
        FRAME.to_csv(data / "t.csv", index=False)
    else:
        FRAME.to_parquet(data / "t.parquet")
    (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
    return Session.open(folder / "policy.toml", analyst="ana")


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_statement_of_an_answer_is_rendered_once(called, name):
    sql, rendered = QUESTIONS[name]
    with frames_session() as session:
        called.clear()
        first = session.sql(sql, epsilon=1)
        assert called == rendered
        session.sql(sql, epsilon=2)
        assert called == rendered * 2
        assert session.sql(sql, epsilon=1).rows == first.rows  # stored: rendered to be checked, and not run


@pytest.mark.parametrize("kind", ["frames", "csv", "parquet"])
def test_a_session_opens_its_source_once(called, tmp_path, kind):
    with frames_session() if kind == "frames" else file_session(tmp_path, kind) as session:
        assert called == ["connect"]
        session.sql("SELECT COUNT(*) AS n FROM t", epsilon=1)
        session.sql("SELECT SUM(x) AS s FROM t", epsilon=1)
        assert called.count("connect") == 1


def test_what_explain_shows_is_what_runs():
    with frames_session() as session:
        shown = session.explain("SELECT COUNT(*) AS n FROM t", epsilon=1).sql
        ran = []
        whole = session.engine._fetched
        session.engine._fetched = lambda asked, fetch: (ran.append(asked.text), whole(asked, fetch))[1]
        session.sql("SELECT COUNT(*) AS n FROM t", epsilon=1)
        assert ran == [shown]


def test_statements_that_are_never_run_are_forgotten(monkeypatch):
    monkeypatch.setattr(duckdb_engine, "_MOST_RENDERED", 3)
    with frames_session() as session:
        for _ in range(7):
            session.explain("SELECT COUNT(*) AS n FROM t", epsilon=1)
        assert len(session.engine._rendered) == 3


def test_what_only_other_rooms_may_do_is_not_on_the_object_of_the_analyst():
    with frames_session() as session:
        assert not {"once", "grant_once", "grant_again", "charge", "guarded", "check", "priced"} & set(dir(session))
        assert {"sql", "explain", "top", "watch", "grant", "bound", "rehearse", "tables", "close"} <= set(dir(session))
