"""Our side of the query benchmark: a form of bounding in a process of its own, in turns with DuckDB's plain answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import duckdb

import discreet as dp
from benchmarks.query.data import CATEGORIES, category, table
from benchmarks.query.side import EPSILON, GROUPS, HIGH, LOW, ROWS_PER_GROUP, SQL, peak_bytes, timed

ROUNDS = 3


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
    "norm": Form("unit = person, by weights of a norm (zCDP)", "user_id", "rows = 15", None, "zcdp"),
    "groups": Form("unit = person, by groups", "user_id", f"groups = {GROUPS}\nrows_per_group = {ROWS_PER_GROUP}", 70),
    "bounded": Form(
        "unit = person, on a bounded table", "user_id", f"rows = {GROUPS * ROWS_PER_GROUP}", 2.5, beforehand=True
    ),
}


def policy_text(form: Form, source: Path) -> str:
    """Return the policy of a form over the folder of the table."""
    keys = ", ".join(json.dumps(category(number)) for number in range(CATEGORIES))
    budget = 'notion = "pure"\nepsilon = 1000' if form.notion == "pure" else 'notion = "zcdp"\nrho = 1000\ndelta = 1e-9'
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

[tables.events]
unit = "{form.unit}"
{form.bounds}

[tables.events.columns]
category = {{values = [{keys}]}}
amount = {{min = {LOW:g}, max = {HIGH:g}}}
"""


def _measured(form: Form, rows: int) -> dict[str, Any]:
    """Time plain DuckDB and whole calls of a session, price, ledger and noise in them; every call is a new release."""
    path = table(rows)
    plain = duckdb.connect()
    text = SQL.replace("FROM events", f"FROM '{path}'")
    prices = (EPSILON + number / 1000 for number in count())
    beforehand = None
    with tempfile.TemporaryDirectory() as folder:
        policy = Path(folder) / "policy.toml"
        policy.write_text(policy_text(form, path.parent), encoding="utf-8")
        session = getattr(dp, "Session").open(policy, analyst="bench")  # noqa: B009 - absent while it is being built
        if form.beforehand:
            beforehand = timed(lambda: session.bound("events"), 1)

        def ask() -> None:
            price = next(prices)
            session.sql(SQL, **({"epsilon": price} if form.notion == "pure" else {"rho": price}))

        ours, theirs = [], []
        for _ in range(ROUNDS):
            theirs.append(timed(lambda: plain.execute(text).fetchall(), 1))
            ours.append(timed(ask, 1))
        session.close()
    best, beside = (min(found, key=lambda one: one["cpu_s"]) for found in (ours, theirs))
    return {"ours": best, "plain": beside, "beforehand": beforehand, "rss": peak_bytes()}


def measured(form: str, rows: int) -> dict[str, Any] | None:
    """Measure a form in a new process of this interpreter; None where there is no session to ask yet."""
    if not hasattr(dp, "Session"):
        return None
    table(rows)  # made here, since its making is not to be measured
    command = [sys.executable, "-m", "benchmarks.query.ours", form, str(rows)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ)  # noqa: S603 - this file
    found: dict[str, Any] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    print(json.dumps(_measured(FORMS[sys.argv[1]], int(sys.argv[2]))))
