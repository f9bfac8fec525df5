"""The opendp side of the query benchmark, run in opendp's own environment: its Polars interface with public keys."""

from __future__ import annotations

import warnings
from importlib.metadata import version
from typing import Any

import opendp.prelude as dp  # type: ignore[import-not-found]
import polars

from benchmarks.query.side import EPSILON, GROUPS, HIGH, LOW, ROWS_PER_GROUP, serve, timed

dp.enable_features("contrib")
warnings.simplefilter("ignore", FutureWarning)


def ask(path: str, rows: int, keys: list[str]) -> Any:
    """Return counts and sums by category; the source is read by the query, as in every side."""
    context = dp.Context.compositor(
        data=polars.scan_parquet(path).select("user_id", "category", "amount"),
        privacy_unit=dp.unit_of(contributions=1, identifier=polars.col("user_id")),
        privacy_loss=dp.loss_of(epsilon=EPSILON),
        split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=rows, max_groups=len(keys))],
    )
    # `sample`, the default, raises in this version; a limit of k + 1 is what keeps k groups there
    bounded = (
        context.query()
        .truncate_per_group(ROWS_PER_GROUP, by=["category"])
        .truncate_num_groups(GROUPS + 1, by=["category"], keep="first")
    )
    amount: Any = polars.col("amount")
    total = amount.fill_null(LOW).fill_nan(LOW).dp.sum((LOW, HIGH))
    public = polars.LazyFrame({"category": keys})
    return bounded.group_by("category").agg(dp.len(), total).with_keys(public).release().collect()


def count_and_sum(path: str, rows: int, keys: list[str], rounds: int) -> dict[str, float]:
    """Time the query."""
    return timed(lambda: ask(path, rows, keys), rounds)


if __name__ == "__main__":
    serve(version("opendp"), {"count_and_sum": count_and_sum})
