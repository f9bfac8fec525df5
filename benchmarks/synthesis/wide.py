"""DualQuery on records of 1000 attributes, in a process of its own, so that its peak memory is its own.

It prints one line of JSON: seconds, bytes, errors. Domain-sized methods would need 2^1000 cells.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.common.bars import Bar
from benchmarks.synthesis.data import correlated_bits
from discreet.errors import DiscreetError
from discreet.privacy import Relation
from discreet.synthesis import Mwem, Neighbors, conjunctions
from discreet.synthesis.methods.dual_query.method import DualQuery
from discreet.synthesis.reporting.error_report import Baseline, baseline_answers, one_way_shares

ATTRIBUTES, PEOPLE, QUERIES, EPSILON, DELTA = 1000, 100_000, 100_000, 1, 1e-9
MOST_MINUTES = 10


def rows() -> Iterator[Bar]:
    """Run it in a process of its own and return what it printed."""
    command = [sys.executable, "-m", "benchmarks.synthesis.wide"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - this file
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    minutes = found["seconds"] / 60
    what = (
        f"{QUERIES:,} random 3-literal queries on {ATTRIBUTES:,} binary attributes, n = {PEOPLE:,}, epsilon {EPSILON}"
    )
    measured = (
        f"{minutes:.2f} min, peak memory {found['peak'] / 2**20:,.0f} MB "
        f"({found['records'] / 2**20:,.0f} MB of them are the records); "
        f"average {found['average']:.4f}, maximum {found['maximum']:.3f}"
    )
    yield Bar(f"DualQuery, {what}", measured, f"<= {MOST_MINUTES} min", minutes <= MOST_MINUTES)
    exact = f"average {found['product_average']:.4f}, maximum {found['product_maximum']:.3f}"
    yield Bar("the same: product of the true one-ways, without noise", exact)
    yield Bar("the same: a method over the whole domain (MWEM)", found["refused"])


def measured() -> dict[str, Any]:
    """Release once and return what it took."""
    records = correlated_bits(PEOPLE, ATTRIBUTES)
    asked = conjunctions(records.domain, count=QUERIES, seed=1)
    neighbors = Neighbors(Relation.CHANGE_ONE, PEOPLE)
    started = time.perf_counter()
    release = DualQuery.of(asked, neighbors, epsilon=EPSILON, delta=DELTA)(records)
    seconds = time.perf_counter() - started
    exact = asked.frequencies(records)
    off = np.abs(release.answers - exact)
    product = np.abs(baseline_answers(Baseline.INDEPENDENT, asked, one_way_shares(records)) - exact)
    return {
        "seconds": seconds,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024),
        "records": records.codes.nbytes,
        "average": float(off.mean()),
        "maximum": float(off.max()),
        "product_average": float(product.mean()),
        "product_maximum": float(product.max()),
        "refused": _refused(asked, neighbors),
    }


def _refused(asked: Any, neighbors: Neighbors) -> str:
    """Return what a domain-sized method says."""
    try:
        Mwem.of(asked, neighbors, epsilon=EPSILON, delta=DELTA)
    except DiscreetError as refusal:
        return f"refused: {str(refusal)[:120]}"
    return "accepted"


if __name__ == "__main__":
    print(json.dumps(measured()))
