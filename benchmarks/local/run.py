"""Measure the local model beside its rivals and its theory: `make bench-local`.

People are invented by seed: Zipf's law over a list of items, keys scattered over a universe. Their reports have no
seed. Errors are mean squared errors of the frequencies among the people who reported, divided by 4 e^eps / (n
(e^eps-1)^2), the optimum of large domains; standard errors come from independent draws of all reports, because the
items of one draw are correlated. Times are CPU times on one thread, the best of three in the same run; what a peer does
one report at a time is measured on fewer reports and given for each. The peers are pure-ldp and multi-freq-ldpy, with
the newest versions of their packages that they run on.
"""

from __future__ import annotations

import os

# numpy reads these when it is first imported: a CPU time is one thread's
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import sys

from benchmarks.common.bars import run, section

# part: (module beside this one, function that yields lines)
PARTS = {
    "privacy": ("benchmarks.local.privacy", "rows"),
    "error": ("benchmarks.local.errors", "rows"),
    "client": ("benchmarks.local.speed", "client_rows"),
    "server": ("benchmarks.local.speed", "server_rows"),
    "large-domain": ("benchmarks.local.speed", "large_rows"),
    "heavy-hitters": ("benchmarks.local.heavy_hitters", "rows"),
    "longer-keys": ("benchmarks.local.heavy_hitters", "longer_rows"),
    "intervals": ("benchmarks.local.intervals", "rows"),
    "merge": ("benchmarks.local.merge", "rows"),
}


if __name__ == "__main__":
    sections = {name: section(*place) for name, place in PARTS.items()}
    title = "What the local model reaches"
    sys.exit(run(sections, page="bench-local", title=title, document=__doc__ or ""))
