"""Hold the theory of private learning against measurements, in one run: `make bench-theory`.

**Parities**: random rows, labels without errors; recovered means all bits right. The textbook's number of people is
8 (d ln 2 + ln 4) / (epsilon alpha) with alpha 0.1. **People needed**: n95 is the least number of people from which on
the right hypothesis, which alone has an error below alpha = 0.1, is chosen in 95 % of draws. Chances are those of the
exponential mechanism's exact law given a table, averaged over 200 tables of fair bits, so that all wrong hypotheses are
wrong half of the time; the formula by the gap is ln(N / beta) / (slope / 2), its sharper form counts the sampling of
people too. **Holdout**: features and labels are fair signs without any relation. An analyst takes the 500 features with
the largest correlation on the training rows among those that the holdout confirms in sign and size, lets them vote, and
asks the holdout for the accuracy. **Search**: certified prices, and exact laws of the winner on random finite
mechanisms, by generating functions in floats. **Generalization**: labels are fair coins, so that new people are labeled
rightly half of the time whatever was learned; a gap is the mean over tables, with its standard error and their number,
and the ratio is the gap over its bound. Noise is drawn from the real source; tables are seeded. Times are CPU time.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import discreet as dp
from benchmarks.common.report import Row, machine, table
from benchmarks.theory import attacks, generalization, holdout, pac, search

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "evidence" / "bench-theory.md"
SECTIONS: dict[str, Callable[[], Iterator[Row]]] = {
    "parities": pac.parities,
    "people needed": pac.people_needed,
    "conjunctions": pac.conjunctions,
    "thresholds": pac.thresholds,
    "holdout": holdout.rows,
    "search": search.rows,
    "generalization": generalization.rows,
    "attacks": attacks.rows,
}


def main(arguments: list[str] | None = None) -> int:
    """Run everything, print the tables, and write the page if asked; falling short of a bar is not a failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(PAGE.parents[2])} as well")
    parser.add_argument("--only", choices=list(SECTIONS), help="run one part")
    options = parser.parse_args(arguments)
    parts: list[str] = []
    every: list[Row] = []
    for name, section in SECTIONS.items():
        if options.only in (None, name):
            print(f"{name} ...", file=sys.stderr, flush=True)
            rows = list(section())
            every += rows
            parts.append(f"## {name}\n\n{table(rows)}")
            print(f"\n{parts[-1]}", flush=True)
    bars = [row for row in every if row.holds is not None]
    summary = f"{sum(bool(row.holds) for row in bars)} of {len(bars)} bars met."
    method = (__doc__ or "").partition("\n\n")[2].strip()
    about = machine(f"discreet {dp.__version__}")
    print(f"\n{method}\n\n{about}\n{summary}")
    if options.write and options.only is None:
        head = f"# Theory of learning, measured\n\nMade by `make bench-theory`. {summary}\n\n{method}\n\n{about}."
        PAGE.write_text("\n\n".join([head, *parts]) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
