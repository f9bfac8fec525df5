"""The table of the query benchmark: skewed rows of many people in Parquet, made by DuckDB from hashed row numbers."""

from __future__ import annotations

from pathlib import Path

import duckdb

FOLDER = Path(__file__).resolve().parent.parent.parent / "build" / "bench"
SIZES = (10**6, 10**7, 10**8)
ROWS_A_PERSON = 10
REGIONS, CATEGORIES = 50, 1000
MEMORY = "2GB"
_UNIT = f"{2.0**-64!r}"
# a square of a uniform number is skewed towards 0: of n people the busiest has about sqrt(n) times the mean of rows
_ROWS = """
COPY (
    SELECT
        -- odd multiplier: people keep their own number but neither size nor order of it tells how busy they are
        (CAST(floor(power(hash(4 * i + 1) * {unit}, 2) * {people}) AS BIGINT) * 2654435761) & 4294967295 AS user_id,
        CAST(hash(4 * i + 2) % {regions} AS SMALLINT) AS region,
        printf(
            'c%04d', CAST(least(floor(power(hash(4 * i + 3) * {unit}, 2) * {categories}), {categories} - 1) AS BIGINT)
        ) AS category,
        round(-50 * ln((hash(4 * i + 4) + 1.0) * {unit}), 2) AS amount
    FROM range({rows}) AS numbers(i)
) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 122880)
"""


_VISITS = """
COPY (SELECT user_id AS patient, category, amount FROM '{events}')
TO '{folder}/visits.parquet' (FORMAT parquet, ROW_GROUP_SIZE 122880)
"""
_PATIENTS = """
COPY (
    SELECT (i * 2654435761) & 4294967295 AS patient, CAST(hash(i) % {regions} AS SMALLINT) AS region
    FROM range({people}) AS numbers(i)
) TO '{folder}/patients.parquet' (FORMAT parquet, ROW_GROUP_SIZE 122880)
"""


def category(number: int) -> str:
    """Return the name of a category.

    >>> category(12)
    'c0012'
    """
    return f"c{number:04d}"


def table(rows: int) -> Path:
    """Return the folder that holds the table of a size as one Parquet file, made on first use."""
    folder = FOLDER / f"events-{rows}"
    path = folder / "events.parquet"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = folder / "unfinished"
        people = rows // ROWS_A_PERSON
        with duckdb.connect(config={"memory_limit": MEMORY, "threads": 2, "preserve_insertion_order": False}) as made:
            query = _ROWS.format(
                rows=rows, people=people, regions=REGIONS, categories=CATEGORIES, unit=_UNIT, path=unfinished
            )
            made.execute(query)
        unfinished.rename(path)
    return path


def people(rows: int) -> Path:
    """Return the folder that holds the same rows as visits, and a table of all patients, made on first use."""
    folder = FOLDER / f"people-{rows}"
    if not folder.exists():
        unfinished = FOLDER / f"people-{rows}-unfinished"
        unfinished.mkdir(parents=True, exist_ok=True)
        with duckdb.connect(config={"memory_limit": MEMORY, "threads": 2}) as made:
            made.execute(_VISITS.format(events=table(rows), folder=unfinished))
            made.execute(_PATIENTS.format(regions=REGIONS, people=rows // ROWS_A_PERSON, folder=unfinished))
        unfinished.rename(folder)
    return folder


if __name__ == "__main__":
    for size in SIZES:
        print(table(size))
