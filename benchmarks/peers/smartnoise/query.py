"""The SmartNoise side of the query benchmark, run in its own environment: SQL over a pandas frame.

SmartNoise samples the rows of a person down to a number of rows; it bounds neither groups nor rows in a group. The
categories are public here, so that it does not censor them. Each of the two aggregates costs the whole epsilon that it
is asked with; half of it is asked, so that the price of the query is the same as for the other sides.
"""

from __future__ import annotations

import warnings
from importlib.metadata import version
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import snsql  # type: ignore[import-not-found]

from benchmarks.query.side import DELTA, EPSILON, GROUPS, HIGH, LOW, ROWS_PER_GROUP, SQL, serve, timed

warnings.simplefilter("ignore")


def described(rows: int) -> dict[str, Any]:
    """Return what SmartNoise must know of the table."""
    table = {
        "max_ids": GROUPS * ROWS_PER_GROUP,
        "sample_max_ids": True,
        "censor_dims": False,
        "rows": rows,
        "user_id": {"type": "int", "private_id": True},
        "region": {"type": "int"},
        "category": {"type": "string"},
        "amount": {"type": "float", "lower": LOW, "upper": HIGH},
    }
    return {"": {"bench": {"events": table}}}


def ask(path: str, rows: int) -> Any:
    """Return counts and sums by category; the source is read by the call, as in every side."""
    frame = pd.read_parquet(path)
    privacy = snsql.Privacy(epsilon=EPSILON / 2, delta=DELTA)
    reader = snsql.from_connection(frame, privacy=privacy, metadata=described(rows))
    return reader.execute(SQL.replace("FROM events", "FROM bench.events"))


def count_and_sum(path: str, rows: int, keys: list[str], rounds: int) -> dict[str, float]:
    """Time the query; keys are not its to know."""
    del keys
    return timed(lambda: ask(path, rows), rounds)


if __name__ == "__main__":
    serve(version("smartnoise-sql"), {"count_and_sum": count_and_sum})
