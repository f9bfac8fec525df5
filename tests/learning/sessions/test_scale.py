"""A million rows of a hundred columns through a session: minutes and two gigabytes, in proportion to the rows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

POLICY = """\
[data]
source = "tables"
lineage = "made-up people"
version = "1"

[protect]
unit = "person"

[budget]
notion = "gaussian"
mu = 2
ledger = "ledger.sqlite"

[analysts]
ana = {}

[tables.people]
unit = "row"

[tables.people.columns]
label = {values = ["no", "yes"]}
"""
FIT = """\
import json, resource, sys, time
from discreet.learning import LogisticRegression
from discreet.query import Session

features = [f"f{place}" for place in range(100)]
with Session.open("policy.toml", analyst="ana") as session:
    started = time.process_time()
    model = LogisticRegression(mu=1).fit_session(session, "people", features, "label", people=int(sys.argv[1]))
    seconds = time.process_time() - started
print(json.dumps({"seconds": seconds, "bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
"""


def measured(folder: Path, rows: int) -> dict[str, float]:
    """Fit a table of made-up rows in a process of its own; return its seconds of work and its largest memory."""
    (folder / "tables").mkdir(parents=True)
    numbers = ", ".join(f"random() AS f{place}" for place in range(100))
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT *, CASE WHEN f0 + f1 > 1 THEN 'yes' ELSE 'no' END AS label FROM (SELECT {numbers} "  # noqa: S608
            f"FROM range({rows}))) TO '{folder}/tables/people.parquet' (ROW_GROUP_SIZE 20000)"
        )
    columns = "".join(f"f{place} = {{min = 0, max = 1}}\n" for place in range(100))
    (folder / "policy.toml").write_text(POLICY + columns, encoding="utf-8")
    done = subprocess.run(  # noqa: S603 (our own program)
        [sys.executable, "-c", FIT, str(rows)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


@pytest.mark.soak
def test_a_million_rows_of_a_hundred_columns_take_minutes_and_two_gigabytes(tmp_path: Path) -> None:
    few, many = measured(tmp_path / "few", 200_000), measured(tmp_path / "many", 1_000_000)
    assert many["seconds"] <= 600
    assert many["bytes"] <= 2e9
    assert many["seconds"] <= 1.5 * 5 * few["seconds"]
