"""A policy over CSV files, its session, and the exact sums before noise."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from discreet.query import Session
from discreet.query.price import stated

POLICY = """[data]
source = "data"
lineage = "people"
version = "1"
{csv}
[protect]
unit = "person"
[budget]
notion = "pure"
epsilon = 100
ledger = "ledger.sqlite"
[analysts]
ana = {{}}
[tables.t]
unit = "uid"
rows = {rows}
groups = 1
rows_per_group = 1
[tables.t.columns]
uid = {{type = "text"}}
k = {{type = "text"}}
x = {{type = "real", min = 0, max = 10}}
"""
COUNT = "SELECT COUNT(*) AS n FROM t"
PEOPLE = "SELECT COUNT(DISTINCT uid) AS n FROM t"
SUM = "SELECT SUM(x) AS s FROM t"


def written(folder: Path, content: bytes, *, name: str = "t.csv", csv: str = "", rows: int = 2) -> Path:
    """Write one table and its policy; return the path of the policy."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / "data" / name).parent.mkdir(exist_ok=True)
    (folder / "data" / name).write_bytes(content)
    policy = folder / "policy.toml"
    policy.write_text(POLICY.format(csv=csv, rows=rows), encoding="utf-8")
    return policy


def opened(policy: Path) -> Session:
    return Session.open(policy, analyst="ana")


def exact(session: Session, sql: str) -> Fraction:
    """Return the sum that would get noise, in the unit of the answer."""
    made = session._priced(sql, stated(epsilon=1))
    (total,) = session.engine.run(made.request()).cells[0]
    return Fraction(int(total), made.measures[0].bounding.unit)


def reach(session: Session, sql: str) -> Fraction:
    """Return how far one person may move that sum, as its noise is priced."""
    (measure,) = session._priced(sql, stated(epsilon=1)).measures
    return Fraction(measure.shift, measure.bounding.unit)
