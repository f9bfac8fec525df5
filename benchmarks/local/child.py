"""One collection of reports in a process of its own: its seconds and its peak memory, as a line of JSON."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

MEGABYTE = 1e6


def collected(**request: Any) -> dict[str, float]:
    """Run a collection in a fresh process and return what it measured."""
    command = [sys.executable, "-m", "benchmarks.local.child", json.dumps(request)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own code
    found: dict[str, float] = json.loads(done.stdout)
    return found


def collect(items: int, epsilon: float, people: int, batch: int) -> dict[str, float]:
    """Stream reports into an aggregator, batch by batch, and estimate the frequency of every item."""
    import numpy as np

    from benchmarks.local.data import zipf
    from discreet.local import design

    start, wall = time.process_time(), time.perf_counter()
    spec = design(people=people, categories=items, epsilon=epsilon).spec
    aggregator, truth = spec.aggregator(), np.zeros(items, dtype=np.int64)
    designed = time.process_time() - start
    invention = clients = ingest = 0.0
    for number in range(-(-people // batch)):
        times = [time.process_time()]
        held = zipf(min(batch, people - number * batch), items, 1.1, number)
        truth += np.bincount(held, minlength=items)
        times.append(time.process_time())
        reports = spec.client().report_many(held)
        times.append(time.process_time())
        aggregator.add(reports)
        times.append(time.process_time())
        invention, clients, ingest = (
            total + end - begin
            for total, begin, end in zip((invention, clients, ingest), times, times[1:], strict=False)
        )
    before = time.process_time()
    estimates = aggregator.estimate().value
    decode = time.process_time() - before
    error = float(np.mean((estimates - truth / people) ** 2))
    return {
        "seconds": time.perf_counter() - wall,
        "design": designed,
        "invention": invention,
        "client": clients,
        "ingest": ingest,
        "decode": decode,
        "ratio": error / spec.optimum(people),
        "exact": spec.variance(people) / spec.optimum(people),
        "worst": getattr(spec, "worst_variance", spec.variance)(people) / spec.optimum(people),
        "state": len(aggregator.to_bytes()) / MEGABYTE,
        "megabytes": peak() / MEGABYTE,
    }


def peak() -> float:
    """Return the largest resident memory of this process in bytes."""
    # Linux hands the peak of getrusage on from the process that starts another: there the kernel's own record is read
    if sys.platform == "linux":
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return 1024 * float(next(line.split()[1] for line in lines if line.startswith("VmHWM")))
    import resource

    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


if __name__ == "__main__":
    print(json.dumps(collect(**json.loads(sys.argv[1]))))
