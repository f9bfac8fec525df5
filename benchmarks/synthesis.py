"""Measure query release on the tables of the DualQuery paper, and beside its rivals: `make bench-synthesis`.

Adult and KDD99 are used where they are at hand, else invented people with the same kind of columns; each line says
which. Errors are means over 10 releases with their standard errors; the queries are seeded, the noise is not. All
promises are (epsilon, 1/n^2) under change-one unless a line says otherwise, and parameters come from the public rule.
Answers to baselines without noise are exact and private: they are there to compare with.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module

from bars import Bar, Section, run

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


def _section(module: str, function: str) -> Section:
    """Return a part that shows every line as soon as it is measured."""

    def lines() -> Iterator[Bar]:
        measure: Callable[[], Iterable[Bar]] = getattr(import_module(module), function)
        for bar in measure():
            print("  " + " | ".join(cell for cell in bar.cells if cell), file=sys.stderr, flush=True)
            yield bar

    return lines


if __name__ == "__main__":
    sections = {name: _section(*place) for name, place in PARTS.items()}
    title = "What query release reaches"
    sys.exit(run(sections, page="bench-synthesis", title=title, document=__doc__ or ""))
