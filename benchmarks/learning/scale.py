"""Fits of a table in a database, through a session: CPU time and peak memory, each size in a process of its own.

Started with a number of rows it is the child: it makes the table on first use, opens a session, fits once, and prints
what the fit took as a line of JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.common.report import Row, duration
from benchmarks.learning.data import ROOT
from benchmarks.query.side import peak_bytes

SIZES = (100_000, 300_000, 1_000_000)
COLUMNS = 100
MINUTES, GIGABYTES, LINEAR = 10, 2, 1.3
FOLDER = ROOT / "build" / "bench"
_FEATURES = tuple(f"f{place}" for place in range(COLUMNS))
_MAKE = """
COPY (
    SELECT {features}, CAST((f0 + f1 - f2 + f3 / 2 + noise > 0.75) AS INTEGER) AS label
    FROM (SELECT {drawn}, hash({columns} + 1 + {stride} * i) * {unit} AS noise FROM range({rows}) AS numbers(i))
) TO '{path}' (FORMAT parquet)
"""


def table(rows: int) -> Path:
    """Return the folder that holds even features and a label as one Parquet file, made on first use."""
    import duckdb

    folder = FOLDER / f"learning-{rows}"
    path = folder / "people.parquet"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        unit, stride = f"{2.0**-64!r}", COLUMNS + 2
        drawn = ", ".join(f"hash({at} + {stride} * i) * {unit} AS {name}" for at, name in enumerate(_FEATURES))
        unfinished = folder / "unfinished"
        query = _MAKE.format(
            features=", ".join(_FEATURES), drawn=drawn, columns=COLUMNS, stride=stride, unit=unit, rows=rows,
            path=unfinished,
        )  # fmt: skip
        with duckdb.connect(config={"memory_limit": "2GB", "threads": 1}) as made:
            made.execute(query)
        unfinished.rename(path)
    return folder


def policy(rows: int) -> str:
    """Return a policy of that table, a person a row."""
    columns = "\n".join(f"{name} = {{min = 0, max = 1}}" for name in _FEATURES)
    return f"""
[data]
source = {json.dumps(str(table(rows)))}
lineage = "benchmark"
version = "1"

[protect]
unit = "person"

[budget]
notion = "gaussian"
mu = 100
ledger = "ledger.sqlite"

[analysts]
bench = {{}}

[tables.people]
unit = "row"

[tables.people.columns]
{columns}
label = {{values = [0, 1]}}
"""


def child(rows: int) -> None:
    """Fit once and print the seconds, the peak of memory, and the accuracy on the same rows."""
    import discreet as dp
    from discreet import learning

    with tempfile.TemporaryDirectory() as home:
        place = Path(home) / "policy.toml"
        place.write_text(policy(rows), encoding="utf-8")
        with dp.Session.open(place, analyst="bench") as session:
            start = time.process_time()
            model = learning.LogisticRegression(people=rows * 11 // 10)
            model.fit_session(session, "people", features=list(_FEATURES), target="label", epsilon=1, delta=1e-9)
            seconds = time.process_time() - start
    print(json.dumps({"seconds": seconds, "bytes": peak_bytes()}))


def rows() -> Iterator[Row]:
    """Fit at three sizes; time should grow as the rows do."""
    from discreet import learning

    if not hasattr(learning.LogisticRegression, "fit_session"):
        yield Row("fit through a session on DuckDB", "none yet")
        return
    taken: dict[int, float] = {}
    for size in SIZES:
        command = [sys.executable, "-m", "benchmarks.learning.scale", str(size)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)  # noqa: S603 - our own
        found = json.loads(done.stdout)
        taken[size] = found["seconds"]
        peak = found["bytes"] / 1e9
        bars = (f"<= {MINUTES} min, {GIGABYTES} GB", taken[size] <= 60 * MINUTES and peak <= GIGABYTES)
        what = f"{size:,} rows by {COLUMNS} columns through a session on DuckDB"
        yield Row(what, f"{duration(taken[size])} CPU, peak {peak:.2f} GB", "", "", *(bars if size == 10**6 else ()))
    growth = (taken[SIZES[-1]] / taken[SIZES[0]]) / (SIZES[-1] / SIZES[0])
    yield Row("time a row, 1,000,000 over 100,000 rows", "", "", f"{growth:.2f}", f"<= {LINEAR:g}", growth <= LINEAR)


if __name__ == "__main__":
    child(int(sys.argv[1]))
