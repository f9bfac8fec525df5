"""The Qrlew side of the query benchmark, run in its own environment: it rewrites the SQL, and DuckDB runs the text.

Qrlew reads the schema from a database. Here that is a stand-in of one row, and the number of rows, the range of the
amounts and the public categories are declared. It bounds a person in its own way: 5 groups where it chooses the keys,
and a norm over the groups for the sums.
"""

from __future__ import annotations

import json
import re
from importlib.metadata import version
from typing import Any

import duckdb
import pyqrlew  # type: ignore[import-not-found]
import sqlalchemy  # type: ignore[import-not-found]

from benchmarks.query.side import DELTA, EPSILON, GROUPS, HIGH, LOW, ROWS_PER_GROUP, SQL, serve, timed

_COLUMNS = "user_id BIGINT, region INTEGER, category TEXT, amount FLOAT"


def dataset(rows: int, keys: list[str]) -> Any:
    """Return what Qrlew must know of the table."""
    engine = sqlalchemy.create_engine("sqlite://")
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text(f"CREATE TABLE events ({_COLUMNS})"))
        connection.execute(sqlalchemy.text("INSERT INTO events VALUES (1, 1, 'c0001', 1.5)"))
    found = pyqrlew.Dataset.from_database("bench", engine)
    schema = json.loads(found.schema)
    about = {"uuid": schema["dataset"], "name": "Transformed", "spec": {"transformed": {"transform": "0"}}}
    about |= {"@type": "sarus_data_spec/sarus_data_spec.Dataset", "properties": {}, "doc": ""}
    size = re.sub(r'"size": "1"', f'"size": "{rows}"', found.size)
    declared = pyqrlew.Dataset.from_str(json.dumps(about), found.schema, size)
    declared = declared.with_range(None, "events", "amount", LOW, HIGH)
    return declared.with_possible_values(None, "events", "category", keys)


def count_and_sum(path: str, rows: int, keys: list[str], rounds: int) -> dict[str, float]:
    """Time the rewriting and the run; declaring the table is not counted."""
    known = dataset(rows, keys)
    connection = duckdb.connect()
    connection.execute(f"CREATE VIEW events AS SELECT * FROM '{path}'")  # noqa: S608 - a path of this benchmark

    def ask() -> list[Any]:
        private = known.relation(SQL).rewrite_with_differential_privacy(
            known,
            [("events", [], "user_id")],
            {"epsilon": EPSILON, "delta": DELTA},
            max_multiplicity=float(GROUPS * ROWS_PER_GROUP),
        )
        return connection.execute(private.relation().to_query(pyqrlew.Dialect.PostgreSql)).fetchall()

    return timed(ask, rounds)


if __name__ == "__main__":
    serve(version("pyqrlew"), {"count_and_sum": count_and_sum})
