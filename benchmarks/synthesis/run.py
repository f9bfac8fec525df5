"""Measure query release on the tables of the DualQuery paper, and beside its rivals: `make bench-synthesis`.

Adult and KDD99 are used where they are at hand, else invented people with the same kind of columns; each line says
which. Errors are means over 10 releases with their standard errors; the queries are seeded, the noise is not. All
guarantees are (epsilon, 1/n^2) under change-one unless a line says otherwise, and parameters come from the public rule.
Answers to baselines without noise are exact and private: they are there to compare with.
"""

from __future__ import annotations

import sys

from benchmarks.common.bars import run, section

# part: (module beside this one, function that yields lines)
PARTS = {
    "adult": ("benchmarks.synthesis.errors", "adult_rows"),
    "paper": ("benchmarks.synthesis.errors", "paper_rows"),
    "kdd": ("benchmarks.synthesis.errors", "kdd_rows"),
    "accounting": ("benchmarks.synthesis.accounting", "rows"),
    "wide": ("benchmarks.synthesis.wide", "rows"),
    "marginals": ("benchmarks.synthesis.marginals", "rows"),
    "workload": ("benchmarks.synthesis.workloads", "bars"),
    "time": ("benchmarks.synthesis.errors", "time_rows"),
    "oracle": ("benchmarks.synthesis.oracle", "rows"),
}


if __name__ == "__main__":
    sections = {name: section(*place) for name, place in PARTS.items()}
    title = "What query release reaches"
    sys.exit(run(sections, page="bench-synthesis", title=title, document=__doc__ or ""))
