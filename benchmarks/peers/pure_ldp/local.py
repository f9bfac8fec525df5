"""The side of pure-ldp in the benchmark of the local model: a JSON request a line, a JSON reply a line."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from pure_ldp.frequency_oracles.apple_cms import CMSClient, CMSServer  # type: ignore[import-not-found]
    from pure_ldp.frequency_oracles.hadamard_response import (  # type: ignore[import-not-found]
        HadamardResponseClient,
        HadamardResponseServer,
    )
    from pure_ldp.frequency_oracles.local_hashing import (  # type: ignore[import-not-found]
        FastLHClient,
        FastLHServer,
        LHClient,
        LHServer,
    )
    from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer  # type: ignore[import-not-found]
    from pure_ldp.heavy_hitters import PEMClient, PEMServer  # type: ignore[import-not-found]

COLUMNS: dict[str, list[int]] = {}
HASHES, SKETCH_ROWS, SKETCH_COLUMNS, STEP = 100, 128, 1024, 6


def _itself(value: int) -> int:
    """Map a value to its index: values start at 0 here."""
    return value


def pair(oracle: str, epsilon: float, items: int) -> tuple[Any, Any]:
    """Return a client and a server of an oracle."""
    common: dict[str, Any] = {"epsilon": epsilon, "d": items, "index_mapper": _itself}
    if oracle == "OLH":
        return LHClient(use_olh=True, **common), LHServer(use_olh=True, **common)
    if oracle == "FLH":
        return FastLHClient(k=HASHES, use_olh=True, **common), FastLHServer(k=HASHES, use_olh=True, **common)
    if oracle == "OUE":
        return UEClient(use_oue=True, **common), UEServer(use_oue=True, **common)
    server = HadamardResponseServer(**common)
    return HadamardResponseClient(hash_funcs=server.get_hash_funcs(), **common), server


def frequencies(oracle: str, epsilon: float, items: int, column: str, people: int) -> dict[str, float]:
    """Return CPU seconds a report of client and server, and the mean squared error over all items."""
    values = COLUMNS[column][:people]
    client, server = pair(oracle, epsilon, items)
    start = time.process_time()
    reports = [client.privatize(value) for value in values]
    middle = time.process_time()
    for report in reports:
        server.aggregate(report)
    estimates = np.asarray(server.estimate_all(range(items), suppress_warnings=True)) / people
    end = time.process_time()
    truth = np.bincount(np.asarray(values), minlength=items) / people
    error = float(np.mean((estimates - truth) ** 2))
    return {"client": (middle - start) / people, "server": (end - middle) / people, "error": error}


def clients(oracle: str, epsilon: float, items: int, column: str, people: int) -> dict[str, float]:
    """Return CPU seconds a report of the client alone."""
    values = COLUMNS[column][:people]
    client, _ = pair(oracle, epsilon, items)
    start = time.process_time()
    for value in values:
        client.privatize(value)
    return {"client": (time.process_time() - start) / people}


def heavy_hitters(epsilon: float, bits: int, column: str, people: int, k: int) -> dict[str, Any]:
    """Find the k heaviest keys by the prefix extending method over Hadamard count mean sketches."""
    texts = [format(value, f"0{bits}b") for value in COLUMNS[column][:people]]
    sketch = CMSServer(epsilon, SKETCH_ROWS, SKETCH_COLUMNS, is_hadamard=True)
    oracle = CMSClient(epsilon, sketch.get_hash_funcs(), SKETCH_COLUMNS, is_hadamard=True)
    server = PEMServer(epsilon, STEP, bits, STEP, fo_server=sketch)
    client = PEMClient(epsilon, STEP, bits, STEP, fo_client=oracle)
    start = time.process_time()
    reports = [client.privatize(text) for text in texts]
    sent = time.process_time()
    for report in reports:
        server.aggregate(report)
    counted = time.process_time()
    found, _ = server.find_heavy_hitters(k=k)
    end = time.process_time()
    keys = [int(text, 2) for text in found]
    return {"keys": keys, "client": sent - start, "ingest": counted - sent, "find": end - counted}


def keep(column: str, values: list[int]) -> bool:
    """Keep a column of values under a name, and forget the others."""
    COLUMNS.clear()
    COLUMNS[column] = values
    return True


def answer(request: dict[str, Any]) -> Any:
    """Do what is asked."""
    task = request.pop("task")
    if task == "version":
        return f"pure-ldp {version('pure-ldp')}"
    tasks: dict[str, Callable[..., Any]] = {
        "keep": keep,
        "frequencies": frequencies,
        "clients": clients,
        "heavy_hitters": heavy_hitters,
    }
    return tasks[task](**request)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
