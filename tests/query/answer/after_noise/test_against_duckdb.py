"""What is computed after the noise is what DuckDB computes from the released table: a grammar of SELECTs around one."""

from __future__ import annotations

import math
import random
from datetime import date, timedelta

import duckdb
import pandas as pd
import pytest

from discreet.privacy import PureDP
from discreet.query import Session

INNER = "SELECT region, sex, day, COUNT(*) AS n, SUM(cost) AS c FROM visits GROUP BY region, sex, day"
REGIONS, SEXES, DAYS = ["north", "south", "west"], ["f", "m"], [date(2026, 1, 1) + timedelta(days=d) for d in range(4)]


@pytest.fixture(scope="module")
def session():
    frame = pd.DataFrame(
        {
            "p": range(240),
            "region": REGIONS * 80,
            "sex": ["f", "f", "f", "m"] * 60,
            "day": [DAYS[row % 4] for row in range(240)],
            "cost": [float(row % 41) for row in range(240)],
        }
    )
    columns = {
        "region": {"values": REGIONS},
        "sex": {"values": SEXES},
        "day": {"type": "date", "values": DAYS},
        "cost": {"min": 0, "max": 40},
    }
    with Session.from_frames(visits=frame, unit="p", rows=1, budget=PureDP(1000), columns=columns) as opened:
        yield opened


@pytest.fixture(scope="module")
def released(session):
    answer = session.sql(INNER, epsilon=1)
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (region TEXT, sex TEXT, day DATE, n DOUBLE, c DOUBLE)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", answer.rows)
    yield connection
    connection.close()


def number(coins, depth=0):
    """Return an expression over the answer that is a number."""
    leaves = ["n", "c", "2", "0.5", "n", "c", "DAY(day)"]
    if depth > 2 or coins.random() < 0.3:
        return coins.choice(leaves)
    one, two = number(coins, depth + 1), number(coins, depth + 1)
    forms = [
        f"({one} + {two})",
        f"({one} - {two})",
        f"({one} * {two})",
        f"({one} / NULLIF({two}, 0))",
        f"ABS({one})",
        f"-({one})",
        f"COALESCE({one}, {two})",
        f"NULLIF({one}, n)",
        f"CASE WHEN {condition(coins, depth + 1)} THEN {one} ELSE {two} END",
        f"CASE WHEN {condition(coins, depth + 1)} THEN {one} END",
        f"ROUND({one}, 1)",
    ]
    return coins.choice(forms)


def condition(coins, depth=0):
    """Return a condition over the answer."""
    texts = ["region = 'north'", "sex <> 'm'", "day >= DATE '2026-01-02'", "region IN ('south', 'west')"]
    if coins.random() < 0.4:
        return coins.choice(texts)
    return f"{number(coins, depth + 1)} > {number(coins, depth + 1)}"


def order(coins):
    """Return an order without ties."""
    keys = ["region", "sex", "day"]
    coins.shuffle(keys)
    return ", ".join(key + coins.choice(["", " DESC", " ASC"]) for key in keys)


def over(coins, *, total=True, frames=True):
    """Return what stands behind OVER."""
    keys = coins.sample(["region", "sex", "day", "n > 5", "LEFT(region, 1)"], coins.randint(0, 2))
    parts = ["PARTITION BY " + ", ".join(keys)] if keys else []
    by = order(coins) if total or coins.random() < 0.5 else coins.choice(["region", "sex DESC", "day", "region, sex"])
    frame = (
        coins.choice(
            [
                "",
                "",
                "ROWS UNBOUNDED PRECEDING",
                "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
                "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
                "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
                "ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING",
            ],
        )
        if total and frames
        else ""
    )
    return f"OVER ({' '.join([*parts, 'ORDER BY ' + by, frame]).strip()})"


def window(coins):
    """Return a window over the answer."""
    inner = number(coins, 2)
    adds = f"{coins.choice(['SUM', 'AVG', 'MIN', 'MAX', 'COUNT'])}({inner})"
    forms = [
        f"{adds} {over(coins)}",
        f"{adds} {over(coins, total=False)}",
        f"{adds} OVER ()",
        f"{adds} FILTER (WHERE {condition(coins, 2)}) {over(coins)}",
        f"COUNT(*) {over(coins)}",
        f"{coins.choice(['RANK', 'DENSE_RANK', 'PERCENT_RANK', 'CUME_DIST'])}() {over(coins, total=False)}",
        f"ROW_NUMBER() {over(coins, frames=False)}",
        f"NTILE({coins.randint(1, 7)}) {over(coins, frames=False)}",
        f"{coins.choice(['LAG', 'LEAD'])}({inner}, {coins.randint(0, 3)}) {over(coins, frames=False)}",
        f"LAG(n, 1, 7.0) {over(coins, frames=False)}",
        f"{coins.choice(['FIRST_VALUE', 'LAST_VALUE'])}({inner}) {over(coins)}",
        f"NTH_VALUE({inner}, {coins.randint(1, 3)}) {over(coins)}",
    ]
    return coins.choice(forms)


def added_up(coins, where):
    """Return a SELECT that adds up rows of the answer."""
    keys = coins.sample(["region", "sex", "day"], coins.randint(0, 2))
    one, two = (f"{coins.choice(['SUM', 'AVG', 'MIN', 'MAX', 'COUNT'])}({number(coins, 1)})" for _ in range(2))
    shown = [*keys, f"{one} AS a", f"{two} / COUNT(*) AS b", f"COUNT(*) FILTER (WHERE {condition(coins)}) AS d"]
    parts = ["SELECT", ", ".join(shown), "FROM t"]
    if keys:
        parts += [where, "GROUP BY", ", ".join(keys)]
        parts += ["HAVING", one, "> 3"] if coins.random() < 0.3 else []
    return parts


def statement(coins):
    """Return a SELECT around the answer, and whether its rows have an order."""
    where = f"WHERE {condition(coins)}" if coins.random() < 0.3 else ""
    form = coins.randrange(4)
    if form == 0:
        return " ".join(added_up(coins, where)), False
    if form == 1:
        one, two = coins.sample(["region", "sex", "n > 3", "DAY(day) % 2"], 2)
        parts = ["SELECT DISTINCT", one, "AS a,", two, "AS b FROM t", where, "ORDER BY a, b LIMIT 5 OFFSET 1"]
        return " ".join(parts), True
    shown = ["region", "sex", "day", f"{window(coins)} AS w", f"{number(coins)} AS x", f"{window(coins)} + 1 AS v"]
    parts = ["SELECT", ", ".join(shown), "FROM t", where]
    parts += ["QUALIFY", window(coins), ">", str(coins.randint(0, 9))] if coins.random() < 0.3 else []
    if form == 2:
        return " ".join(parts), False
    return " ".join([*parts, "ORDER BY", order(coins), "LIMIT 9 OFFSET 2"]), True


def comparable(value):
    """Return a value that two engines agree on."""
    if isinstance(value, bool) or value is None or isinstance(value, str | date):
        return value
    return None if math.isnan(value) else float(value)


def close(one, two):
    if isinstance(one, float) and isinstance(two, float) and not isinstance(one, bool):
        return one == two or math.isclose(one, two, rel_tol=1e-6, abs_tol=1e-6)
    return one == two


def test_selects_around_an_answer_give_what_duckdb_gives_and_cost_nothing(session, released, rounds):
    coins = random.Random(23)  # noqa: S311
    spent = session.ledger.balance().spent
    compared = 0
    for _ in range(rounds(sample=80, full=20_000)):
        sql, ordered = statement(coins)
        try:
            wanted = [tuple(map(comparable, row)) for row in released.execute(sql).fetchall()]
        except duckdb.Error:  # an overflow or the like: here it is NULL
            session.sql(sql.replace("FROM t", f"FROM ({INNER})", 1), epsilon=1)
            continue
        answer = session.sql(sql.replace("FROM t", f"FROM ({INNER})", 1), epsilon=1)
        found = [tuple(map(comparable, row)) for row in answer.rows]
        if not ordered:
            wanted, found = (sorted(rows, key=lambda row: str(row[:3])) for rows in (wanted, found))
        assert len(found) == len(wanted), sql
        assert all(
            close(one, two) for a, b in zip(found, wanted, strict=True) for one, two in zip(a, b, strict=True)
        ), sql
        compared += 1
    assert compared > 60
    assert session.ledger.balance().spent == spent
