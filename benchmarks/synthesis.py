"""Measure query release on the tables of the DualQuery paper, and beside its rivals: `make bench-synthesis`.

Adult and KDD99 are used where they are at hand, else invented people with the same kind of columns; each line says
which. Errors are means over 10 releases with their standard errors; the queries are seeded, the noise is not. All
promises are (epsilon, 1/n^2) under change-one unless a line says otherwise, and parameters come from the public rule.
Answers to baselines without noise are exact and private: they are there to compare with.
"""

from __future__ import annotations

import sys

from bars import run, section

# part: (module beside this one, function that yields lines)
PARTS = {
    "adult": ("synthesis_errors", "adult_rows"),
    "paper": ("synthesis_errors", "paper_rows"),
    "kdd": ("synthesis_errors", "kdd_rows"),
    "accounting": ("synthesis_accounting", "rows"),
    "wide": ("synthesis_wide", "rows"),
    "marginals": ("synthesis_marginals", "rows"),
    "workload": ("synthesis_workloads", "bars"),
    "time": ("synthesis_errors", "time_rows"),
    "oracle": ("synthesis_oracle", "rows"),
}


if __name__ == "__main__":
    sections = {name: section(*place) for name, place in PARTS.items()}
    title = "What query release reaches"
    sys.exit(run(sections, page="bench-synthesis", title=title, document=__doc__ or ""))
