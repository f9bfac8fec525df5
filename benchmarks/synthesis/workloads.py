"""Exact answers to very many counting queries, in CPU time: packed bits beside DuckDB's filters and plain numpy."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.common.bars import Bar
from benchmarks.common.measure import cpu_seconds, in_turns
from benchmarks.common.report import duration
from discreet.synthesis import Domain, Marginals, Records, Workload, conjunctions, marginals
from discreet.synthesis.workloads import counting
from discreet.synthesis.workloads import counting as packing

ROWS, BITS, QUERIES, FILTERS, SEED = 100_000, 100, 100_000, 500, 1
DATA = Path(os.environ.get("DISCREET_DATA", Path(__file__).resolve().parent.parent.parent.parent / "shared" / "data"))
ADULT = (16, 32, 9, 32, 16, 7, 15, 6, 5, 2, 32, 32, 32, 42, 2)  # the sizes of its 15 attributes
KDD_SIZES, KDD_ROWS = (10,) * 36 + (7,) * 5, 494_021


def bars() -> Iterator[Bar]:
    """Return everything this piece measures."""
    few = _uniform((2,) * 3, 10)  # the first call of each compiled loop compiles it
    warm = conjunctions(few.domain, count=10)
    warm.counts(few), warm.frequencies(few, np.ones(10)), warm.truths(few.codes[:, 0])
    yield from filters()
    yield from large()
    yield from others()


def filters() -> Iterator[Bar]:
    """Count random conjunctions of three literals on bits: ours, DuckDB's filters in turn, numpy's popcount."""
    records = _uniform((2,) * BITS, ROWS)
    asked = conjunctions(records.domain, count=QUERIES)
    few = asked[:FILTERS]
    theirs = _duckdb(few, records)
    if theirs() != few.counts(records).tolist():
        raise AssertionError("DuckDB counts otherwise")
    sides = {"ours": lambda: cpu_seconds(lambda: asked.counts(records)), "DuckDB": lambda: cpu_seconds(theirs)}
    taken = in_turns(sides, rounds=3)
    speed, filtered = QUERIES / taken["ours"], FILTERS / taken["DuckDB"]
    shape = f"{ROWS:,} rows x {BITS} binary columns"
    yield Bar(f"random 3-conjunctions, {shape}", f"{speed:.3g} a second", ">= 3e5", speed >= 3e5)
    yield Bar(
        f"the same beside DuckDB, {FILTERS} filters a query, one thread",
        f"{filtered:.3g} a second; ours {speed / filtered:,.0f} times that",
        ">= 10,000 times",
        speed / filtered >= 10_000,
    )
    part = asked[:5_000]
    with patch.object(counting, "available", lambda: False), patch.object(packing, "available", lambda: False):
        plain = len(part) / _seconds(lambda: part.counts(records))
    yield Bar("the same by numpy alone (no compiler)", f"{plain:.3g} a second")


def large() -> Iterator[Bar]:
    """Count where there are very many queries, attributes or rows."""
    records = _uniform((2,) * BITS, ROWS)
    million = conjunctions(records.domain, count=1_000_000)
    yield Bar(f"1,000,000 queries, {ROWS:,} rows x {BITS} bits", duration(_seconds(lambda: million.counts(records), 1)))
    wide = _uniform((2,) * 1000, ROWS)
    asked = conjunctions(wide.domain, count=QUERIES)
    before = _peak()
    taken = _seconds(lambda: asked.counts(wide), 1)
    grown = max(_peak() - before, 0)
    yield Bar(f"{QUERIES:,} queries, {ROWS:,} rows x 1000 bits", f"{duration(taken)}, peak memory +{grown} MB")
    kdd = _uniform(KDD_SIZES, KDD_ROWS)
    asked = conjunctions(kdd.domain, count=QUERIES)
    about = f"{QUERIES:,} queries, {KDD_ROWS:,} rows x {len(KDD_SIZES)} attributes, {len(asked.literals)} literals"
    yield Bar(about, duration(_seconds(lambda: asked.counts(kdd), 1)))


def others() -> Iterator[Bar]:
    """Measure marginals, weighted tables, and one record against a workload."""
    adult = _adult()
    cells: Marginals = marginals(adult.domain, ways=3)
    taken = _seconds(lambda: cells.counts(adult))
    about = f"all {len(cells.sets)} 3-way marginals of Adult, {len(cells):,} cells, {len(adult):,} rows"
    yield Bar(about, duration(taken), "< 2 s", taken < 2)
    yield Bar("one record into those marginals", duration(_seconds(lambda: cells.cells_of(adult.codes[:, 0]))))
    invented = _uniform(ADULT, 5_000)
    asked = conjunctions(invented.domain, count=QUERIES)
    weights = np.random.default_rng(SEED).random(5_000)
    taken = _seconds(lambda: asked.frequencies(invented, weights))
    yield Bar(f"{QUERIES:,} queries on 5,000 weighted rows", duration(taken), "< 1 s", taken < 1)
    million = conjunctions(invented.domain, count=1_000_000)
    record = np.array(invented.codes[:, 0])
    yield Bar("which of 1,000,000 queries one record satisfies", duration(_seconds(lambda: million.truths(record))))


def _uniform(sizes: tuple[int, ...], rows: int) -> Records:
    """Return records with uniform codes."""
    coins = np.random.default_rng(SEED)
    domain = Domain.of({f"a{place}": range(size) for place, size in enumerate(sizes)})
    return Records(domain, np.stack([coins.integers(0, size, rows, dtype=np.uint16) for size in sizes]))


def _adult() -> Records:
    """Return the discretized Adult table where it is at hand, else uniform codes of its shape: as much work."""
    file = DATA / "adult.csv"
    if not file.exists():
        return _uniform(ADULT, 48_842)
    names = file.read_text(encoding="utf-8").partition("\n")[0].split(",")
    sizes = json.loads((DATA / "adult-domain.json").read_text(encoding="utf-8"))
    codes = np.loadtxt(file, delimiter=",", skiprows=1, dtype=np.int64)
    domain = Domain.of({name: range(sizes[name]) for name in names})
    return domain.encode(dict(zip(names, codes.T, strict=True)))


def _seconds(action: Callable[[], Any], rounds: int = 3) -> float:
    """Return the shortest CPU time of a call."""
    return min(cpu_seconds(action) for _ in range(rounds))


def _peak() -> int:
    """Return the most memory this process has had, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _duckdb(asked: Workload, records: Records) -> Callable[[], list[int]]:
    """Return a call that counts with DuckDB on one thread, the table loaded already."""
    import duckdb

    names = records.domain.names
    columns = {name: codes.astype(np.uint8) for name, codes in zip(names, records.codes, strict=True)}
    counted = [f"count(*) FILTER (WHERE {_where(asked, query)})" for query in range(len(asked))]
    connection = duckdb.connect(config={"threads": 1})
    connection.register("arrays", columns)
    connection.execute("CREATE TABLE bits AS SELECT * FROM arrays")
    text = " ".join(["SELECT", ", ".join(counted), "FROM bits"])
    return lambda: list(connection.execute(text).fetchone() or ())


def _where(asked: Workload, query: int) -> str:
    """Return a conjunction of bits as a condition of SQL."""
    said = [
        f"{asked.domain.names[asked.literals.attribute[member]]} = {int(asked.literals.accepts[member, 1])}"
        for member in asked.members[query].tolist()
    ]
    return " AND ".join(said)
