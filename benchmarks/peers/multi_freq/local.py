"""The side of multi-freq-ldpy in the benchmark of the local model: a JSON request a line, a JSON reply a line."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client  # type: ignore[import-not-found]
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI, SS_Client  # type: ignore[import-not-found]
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client  # type: ignore[import-not-found]

COLUMNS: dict[str, list[int]] = {}
CLIENTS = {"OLH": LH_Client, "OUE": UE_Client, "SS": SS_Client}


def frequencies(oracle: str, epsilon: float, items: int, column: str, people: int) -> dict[str, float]:
    """Return CPU seconds a report of client and server, and the error of its closed form, which is never negative."""
    values = COLUMNS[column][:people]
    client = CLIENTS[oracle]
    client(values[0], items, epsilon)
    start = time.process_time()
    reports = [client(value, items, epsilon) for value in values]
    middle = time.process_time()
    if oracle == "OUE":
        estimates = UE_Aggregator_MI(reports, epsilon)
    else:
        estimates = (LH_Aggregator_MI if oracle == "OLH" else SS_Aggregator_MI)(reports, items, epsilon)
    end = time.process_time()
    truth = np.bincount(np.asarray(values), minlength=items) / people
    errors = (np.asarray(estimates) - truth) ** 2
    heaviest = np.argsort(-truth, kind="stable")[:16]
    return {
        "client": (middle - start) / people,
        "server": (end - middle) / people,
        "error": float(errors.mean()),
        "heaviest": float(errors[heaviest].mean()),
    }


def keep(column: str, values: list[int]) -> bool:
    """Keep a column of values under a name, and forget the others."""
    COLUMNS.clear()
    COLUMNS[column] = values
    return True


def answer(request: dict[str, Any]) -> Any:
    """Do what is asked."""
    task = request.pop("task")
    if task == "version":
        return f"multi-freq-ldpy {version('multi-freq-ldpy')}"
    tasks: dict[str, Callable[..., Any]] = {"keep": keep, "frequencies": frequencies}
    return tasks[task](**request)


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
