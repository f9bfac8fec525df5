"""Our side of the query benchmark: a form of bounding in a process of its own, in turns with DuckDB's plain answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import duckdb

import discreet as dp
from benchmarks.query.data import CATEGORIES, REGIONS, category, people, table
from benchmarks.query.side import EPSILON, GROUPS, HIGH, LOW, ROWS_PER_GROUP, SQL, peak_bytes, timed

ROUNDS, MEDIAN_ROUNDS = 3, 5  # of the fewer the best counts, of the more the median


@dataclass(frozen=True, slots=True)
class Form:
    """A way to protect the table: what its policy says of a unit, the budget, and whether it is bounded beforehand."""

    words: str
    unit: str
    bounds: str
    bar: float | None
    notion: str = "pure"
    beforehand: bool = False


FORMS = {
    "row": Form("unit = row", "row", "", 2.5),
    "weights": Form("unit = person, by weights", "user_id", f"rows = {GROUPS * ROWS_PER_GROUP}", 16),
    "norm": Form("unit = person, by weights of a norm (zCDP)", "user_id", "rows = 15", 20, "zcdp"),
    "groups": Form("unit = person, by groups", "user_id", f"groups = {GROUPS}\nrows_per_group = {ROWS_PER_GROUP}", 70),
    "bounded": Form(
        "unit = person, on a bounded table", "user_id", f"rows = {GROUPS * ROWS_PER_GROUP}", 2.5, beforehand=True
    ),
}


@dataclass(frozen=True, slots=True)
class Construct:
    """A question that is more than sums by group, and what it is asked of: the one table, or visits of patients."""

    words: str
    sql: str
    bar: float | None
    people: bool = True


CONSTRUCTS = {
    "join": Construct(
        "private join along the link, COUNT and SUM by 50 regions of the patients",
        "SELECT region, COUNT(*) AS n, SUM(amount) AS total FROM visits JOIN patients "
        "ON visits.patient = patients.patient GROUP BY region",
        25,
    ),
    "per person": Construct(
        "mean over people of a person's number of rows",
        "SELECT AVG(CLAMP(n, 0, 100)) AS mean FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient)",
        25,
    ),
    "median": Construct(
        "median by 1000 categories",
        "SELECT category, MEDIAN(amount) AS middle FROM events GROUP BY category",
        10,
        people=False,
    ),
    "linked median": Construct(
        "median by 1000 categories, people known along the link",
        "SELECT category, MEDIAN(amount) AS middle FROM visits GROUP BY category",
        None,
    ),
}
_PLAIN = "CREATE MACRO CLAMP(x, low, high) AS least(greatest(x, low), high)"


def policy_text(form: Form, source: Path) -> str:
    """Return the policy of a form over the folder of the table."""
    budget = 'notion = "pure"\nepsilon = 1000' if form.notion == "pure" else 'notion = "zcdp"\nrho = 1000\ndelta = 1e-9'
    return _declared(
        source,
        budget,
        f"""
[tables.events]
unit = "{form.unit}"
{form.bounds}

[tables.events.columns]
{_columns()}
""",
    )


def _policy_of_people(source: Path) -> str:
    """Return the policy over visits, which a link leads to their patients."""
    return _declared(
        source,
        'notion = "pure"\nepsilon = 1000',
        f"""
[tables.patients]
unit = "patient"
rows = 1

[tables.patients.columns]
region = {{min = 0, max = {REGIONS - 1}, public = true}}

[tables.visits]
unit = "patient -> patients.patient"
rows = {GROUPS * ROWS_PER_GROUP}

[tables.visits.columns]
{_columns()}
""",
    )


def _columns() -> str:
    """Return what a policy says of categories and amounts."""
    keys = ", ".join(json.dumps(category(number)) for number in range(CATEGORIES))
    return f"category = {{values = [{keys}]}}\namount = {{min = {LOW:g}, max = {HIGH:g}}}"


def _declared(source: Path, budget: str, tables: str) -> str:
    """Return a policy: what all have in common, and the tables."""
    return f"""
[data]
source = {json.dumps(str(source))}
lineage = "benchmark"
version = "1"

[protect]
unit = "person"

[budget]
{budget}
ledger = "ledger.sqlite"

[analysts]
bench = {{}}
{tables}"""


def _measured(name: str, rows: int) -> dict[str, Any]:
    """Time plain DuckDB and whole calls of a session, price, ledger and noise in them; every call is a new release."""
    plain = duckdb.connect()
    if name in FORMS:
        form, path = FORMS[name], table(rows)
        text = SQL.replace("FROM events", f"FROM '{path}'")
        return _compared(policy_text(form, path.parent), SQL, lambda: plain.execute(text).fetchall(), form, ROUNDS)
    asked = CONSTRUCTS[name]
    folder = people(rows) if asked.people else table(rows).parent
    for file in folder.glob("*.parquet"):
        plain.read_parquet(str(file)).create_view(file.stem)
    plain.execute(_PLAIN)
    form = FORMS["weights"]
    policy = _policy_of_people(folder) if asked.people else policy_text(form, folder)
    return _compared(policy, asked.sql, lambda: plain.execute(asked.sql).fetchall(), form, MEDIAN_ROUNDS)


def _compared(policy: str, sql: str, plain: Callable[[], object], form: Form, rounds: int) -> dict[str, Any]:
    """Time calls of a session under a policy, in turns with the plain question."""
    prices = (EPSILON + number / 1000 for number in count())
    beforehand = None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "policy.toml"
        path.write_text(policy, encoding="utf-8")
        session = getattr(dp, "Session").open(path, analyst="bench")  # noqa: B009 - absent while it is being built
        if form.beforehand:
            beforehand = timed(lambda: session.bound("events"), 1)

        def ask() -> None:
            price = next(prices)
            session.sql(sql, **({"epsilon": price} if form.notion == "pure" else {"rho": price}))

        ours, theirs = [], []
        for _ in range(rounds):
            theirs.append(timed(plain, 1))
            ours.append(timed(ask, 1))
        session.close()
    place = 0 if rounds == ROUNDS else rounds // 2
    taken, beside = (sorted(found, key=lambda one: one["cpu_s"])[place] for found in (ours, theirs))
    return {"ours": taken, "plain": beside, "beforehand": beforehand, "rss": peak_bytes()}


def measured(form: str, rows: int) -> dict[str, Any] | None:
    """Measure a form in a new process of this interpreter; None where there is no session to ask yet."""
    if not hasattr(dp, "Session"):
        return None
    table(rows), people(rows) if form in CONSTRUCTS else None  # made here: the making is not to be measured
    command = [sys.executable, "-m", "benchmarks.query.ours", form, str(rows)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ)  # noqa: S603 - this file
    found: dict[str, Any] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    print(json.dumps(_measured(sys.argv[1], int(sys.argv[2]))))
