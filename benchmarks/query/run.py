"""Time private SQL against DuckDB's plain group-by and against other engines, in one run: `make bench-query`.

The table is made up: ten rows a person on average, the busiest with thousands, and 1000 categories, in Parquet. The
query counts rows and adds amounts between 0 and 200 by category. Every time is CPU time of all threads, the best of
three; ours is the whole call, with reading the SQL, price, ledger, bounding, noise and the table of answers, and takes
turns with the plain query in one process. Memory is the peak of that process. A ratio to plain says how many times the
plain query's CPU time it takes. By groups, 5 categories of a person and 3 rows in each count, as for the peers; by
weights, 15 rows. Joins and numbers of each person are asked of the same rows as visits, whose patients, one row each,
a link names; medians of the table itself, and along the link: of these the median of five calls counts, of either
side. The peers read the same file, each in a process and environment of its own, the best of three calls at a million
rows and one call beyond, with 120 s for it; SmartNoise bounds rows alone. A ratio to a peer says how many times less
CPU time ours takes than the fastest of them. The rows on budgets compare the variance of the noise by its law, and as
drawn in 20 sessions, between budgets that mean the same epsilon and delta. The rows on arithmetic say how often
intervals of computed columns hold the truth in 1,000 releases, over four groups, and how wide they are beside the
least half-width that holds it in 95 % of releases, simulated from the laws with the truth in hand. Usefulness is the
median of the relative errors of all cells of an answer, over 15 releases, 300 where nothing is bounded, of TPC-H's
questions about 15,000 customers at a rho of .02 in all: with bounds from `suggest`, which takes a fifth of it; with
the policy's weights of 150 lines; and with sums clamped for each customer and group, as BigQuery's clause does, to 10
lines of the largest value in 20 groups. Bias is how often, in 1,000 releases, intervals hold the truth that bounding
cuts, where 7 % of the people have 46 % of the rows.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

import duckdb

import discreet as dp
from benchmarks.common.report import Row, duration, machine, table
from benchmarks.query import data as query_data
from benchmarks.query.arithmetic import arithmetic
from benchmarks.query.bias import bias
from benchmarks.query.engines import ENGINES, LIMIT_SECONDS
from benchmarks.query.notions import notions
from benchmarks.query.ours import CONSTRUCTS, FORMS, measured
from benchmarks.query.side import SQL, timed
from benchmarks.query.usefulness import usefulness

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "evidence" / "bench-query.md"
SMALL, LARGE, LARGEST = 10**6, 10**7, 10**8
SCALE_BAR, MEMORY_BAR = 25, 1.5
BARS_TO_PEERS = {"groups": 3, "weights": 15}
Times = dict[str, Any]


class Run:
    """What was measured so far, so that no form is measured twice."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._found: dict[tuple[str, int], Times | None] = {}
        self.versions: list[str] = []
        self.absent: list[str] = []

    def ours(self, form: str, rows: int) -> Times | None:
        """Measure a form, or remember it."""
        if (form, rows) not in self._found:
            print(f"  {form}, {_size(rows)}", file=sys.stderr, flush=True)
            self._found[form, rows] = measured(form, rows)
        return self._found[form, rows]

    def peers(self, rows: int) -> Iterator[tuple[str, Times | None]]:
        """Ask every peer that can be had here."""
        for make in ENGINES:
            print(f"  {make.name}, {_size(rows)}", file=sys.stderr, flush=True)
            try:
                with make() as peer:
                    named = f"{peer.name} {peer.version}"
                    found = peer.seconds(rows, rounds=3 if rows <= SMALL else 1)
            except (CalledProcessError, OSError, RuntimeError):
                words = f"{make.name} could not be installed or started here, and is left out."
                self.absent += [words] if words not in self.absent else []
                continue
            self.versions += [named] if named not in self.versions else []
            yield f"{peer.name} ({peer.bound})", found


def forms(run: Run) -> Iterator[Row]:
    """Time every form beside the plain query."""
    for rows in (SMALL, LARGE):
        for name, form in FORMS.items():
            found = run.ours(name, rows)
            what = f"{form.words}: {_size(rows)}"
            yield _beside_plain(what, found, form.bar if rows == LARGE else None)
            if found and found["beforehand"]:
                seconds = found["beforehand"]["cpu_s"]
                ratio = seconds / found["plain"]["cpu_s"]
                yield Row(f"making the bounded table, once: {_size(rows)}", duration(seconds), ratio=f"{ratio:.3g} x")


def constructs(run: Run) -> Iterator[Row]:
    """Time joins, numbers of each person and medians beside the plain question."""
    for name, one in CONSTRUCTS.items():
        yield _beside_plain(f"{one.words}: {_size(SMALL)}", run.ours(name, SMALL), one.bar)


def scale(run: Run) -> Iterator[Row]:
    """Time weights on ten million people."""
    found = run.ours("weights", LARGEST)
    what = f"{FORMS['weights'].words}: {_size(LARGEST)}"
    yield _beside_plain(what, found, SCALE_BAR)
    if found:
        memory = found["rss"] / 1e9
        yield Row(f"{what}, peak memory", f"{memory:.2f} GB", bar=f"<= {MEMORY_BAR} GB", holds=memory <= MEMORY_BAR)


def peers(run: Run) -> Iterator[Row]:
    """Time the peers, and hold ours against the fastest."""
    for rows in (SMALL, LARGE):
        plain = (run.ours("groups", rows) or {}).get("plain") or _plain(rows)
        best: dict[str, float] = {}
        for name, found in run.peers(rows):
            if found is None:
                yield Row(f"{name}: {_size(rows)}", "", f"no answer in {LIMIT_SECONDS} s")
                continue
            best[name] = found["cpu_s"]
            shown = f"{duration(found['cpu_s'])}, {found['rss'] / 1e9:.2f} GB"
            yield Row(f"{name}: {_size(rows)}", "", shown, f"{found['cpu_s'] / plain['cpu_s']:.3g} x plain")
        for form, bar in BARS_TO_PEERS.items():
            ours = run.ours(form, rows)
            if best and ours:
                fastest = min(best, key=lambda name: best[name])
                ratio = best[fastest] / ours["ours"]["cpu_s"]
                what = f"{FORMS[form].words}, against the fastest peer: {_size(rows)}"
                shown = f"{fastest} {duration(best[fastest])}"
                yield Row(what, duration(ours["ours"]["cpu_s"]), shown, f"{ratio:.3g}", f">= {bar}", ratio >= bar)


def _beside_plain(what: str, found: Times | None, bar: float | None) -> Row:
    """Return the row of a form beside the plain query."""
    if found is None:
        return Row(what, "none yet")
    ours, plain = found["ours"], found["plain"]
    ratio = ours["cpu_s"] / plain["cpu_s"]
    wanted, holds = ("", None) if bar is None else (f"<= {bar:g} x", ratio <= bar)
    shown = f"{duration(ours['cpu_s'])}, {found['rss'] / 1e9:.2f} GB"
    return Row(what, shown, f"plain {duration(plain['cpu_s'])}", f"{ratio:.3g} x", wanted, holds)


def _plain(rows: int) -> dict[str, float]:
    """Time the plain query here, where there is no session to measure beside."""
    connection = duckdb.connect()
    text = SQL.replace("FROM events", f"FROM '{query_data.table(rows)}'")
    return timed(lambda: connection.execute(text).fetchall(), 3)


def _size(rows: int) -> str:
    """Return a number of rows in words.

    >>> _size(10**7)
    '10M rows'
    """
    return f"{rows // 10**6}M rows"


SECTIONS: dict[str, Callable[[Run], Iterator[Row]]] = {
    "forms": forms, "constructs": constructs, "scale": scale, "peers": peers, "budgets": lambda _: notions(),
    "arithmetic": lambda _: arithmetic(), "usefulness": lambda _: usefulness(), "bias": lambda _: bias(),
}  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Run everything, print the table, and write the page if asked; falling short of a bar is not a failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(PAGE.parents[2])} as well")
    parser.add_argument("--only", choices=list(SECTIONS), help="run one part")
    options = parser.parse_args(arguments)
    run, rows = Run(), list[Row]()
    for name, section in SECTIONS.items():
        if options.only in (None, name):
            print(f"{name} ...", file=sys.stderr, flush=True)
            rows += section(run)
    about = machine(f"duckdb {version('duckdb')}", *run.versions, f"discreet {dp.__version__}")
    short = sum(row.holds is False for row in rows)
    bars = sum(row.holds is not None for row in rows)
    summary = " ".join([f"{bars - short} of {bars} bars met.", *run.absent])
    method = (__doc__ or "").partition("\n\n")[2].strip()
    print(f"{table(rows)}\n\n{method}\n\n{about}\n{summary}")
    if options.write and options.only is None:
        text = f"# Private SQL, measured\n\nMade by `make bench-query`. {summary}\n\n{method}\n\n"
        PAGE.write_text(f"{text}{about}.\n\n{table(rows)}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
