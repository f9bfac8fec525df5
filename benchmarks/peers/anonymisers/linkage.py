"""The side of anonypy and pycanon in the benchmark of linkage: a JSON request a line, a JSON reply a line."""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from typing import Any

import anonypy  # type: ignore[import-not-found]
import numpy as np
import pandas as pd
from pycanon import anonymity  # type: ignore[import-not-found]


def frame(rows: int, columns: int, levels: int, seed: int) -> Any:
    """Return the table that the other side makes from the same seed, as a frame."""
    values = np.random.default_rng(seed).integers(0, levels, (rows, columns))
    return pd.DataFrame({f"c{place}": values[:, place] for place in range(columns)})


def mondrian(rows: int, columns: int, levels: int, seed: int, k: int) -> dict[str, float]:
    """Time Mondrian of anonypy."""
    table = frame(rows, columns, levels, seed)
    names = list(table.columns)
    table["secret"] = np.zeros(rows, dtype=np.int64).astype(str)
    started = time.process_time()
    groups = anonypy.Preserver(table, names, "secret").anonymize_k_anonymity(k=k)
    return {"seconds": time.process_time() - started, "least": min(row["count"] for row in groups)}


def smallest(rows: int, columns: int, levels: int, seed: int) -> dict[str, float]:
    """Time the k of pycanon."""
    table = frame(rows, columns, levels, seed)
    started = time.process_time()
    least = anonymity.k_anonymity(table, list(table.columns))
    return {"seconds": time.process_time() - started, "least": int(least)}


def answer(request: dict[str, Any]) -> Any:
    """Do what is asked."""
    task = request.pop("task")
    if task == "version":
        return f"anonypy {version('anonypy')}, pycanon {version('pycanon')}"
    return {"mondrian": mondrian, "smallest": smallest}[task](**request)


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
