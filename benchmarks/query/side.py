"""The other end of the query benchmark: answers requests line by line, in whatever environment it runs."""

from __future__ import annotations

import gc
import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

GROUPS, ROWS_PER_GROUP = 5, 3
LOW, HIGH = 0.0, 200.0
EPSILON, DELTA = 1.0, 1e-6
SQL = "SELECT category, COUNT(*) AS n, SUM(amount) AS total FROM events GROUP BY category"


def peak_bytes() -> int:
    """Return the largest resident memory of this process; on Linux from the kernel's own record of it."""
    status = Path("/proc/self/status")
    if status.exists():
        peak = next(line for line in status.read_text(encoding="utf-8").splitlines() if line.startswith("VmHWM"))
        return int(peak.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def timed(call: Callable[[], object], rounds: int) -> dict[str, float]:
    """Return the CPU seconds of the best call, user and system of all threads, its wall seconds and the peak memory."""
    found = []
    for _ in range(rounds):
        gc.collect()
        start, wall = time.process_time(), time.perf_counter()
        call()
        found.append((time.process_time() - start, time.perf_counter() - wall))
    seconds, wall_seconds = min(found)
    return {"cpu_s": seconds, "wall_s": wall_seconds, "rss": peak_bytes()}


def serve(version: str, answers: dict[str, Callable[..., Any]]) -> None:
    """Answer every line until there are no more; a task is the name of a function, the rest are its arguments."""
    replies, sys.stdout = sys.stdout, sys.stderr  # what libraries print is no reply
    for line in sys.stdin:
        request = json.loads(line)
        task = request.pop("task")
        reply = version if task == "version" else answers[task](**request)
        replies.write(json.dumps(reply) + "\n")
        replies.flush()
