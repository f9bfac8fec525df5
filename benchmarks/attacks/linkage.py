"""Linkage, sparse ratings and k-anonymity at full size: what they find, beside theory, the bars and two peers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from subprocess import CalledProcessError
from typing import Any

import numpy as np

from benchmarks.common.bars import Bar
from benchmarks.common.measure import cpu_seconds
from benchmarks.common.peers import Peer
from benchmarks.common.report import duration
from discreet.attacks import (
    AttackedRelease,
    MatchRule,
    curse,
    homogeneity,
    identify,
    intersection,
    link,
    mondrian,
    uniques,
)
from discreet.data import City, ratings, register
from discreet.data.invented_city import QUASI_IDENTIFIERS

PEOPLE, SEED, K = 200_000, 2026, 10
SIDES = {1: 0.001, 2: 0.034, 3: 0.098, 5: 0.24, 8: 0.39, 12: 0.52, 20: 0.65, 40: 0.75}
ONE_TABLE = QUASI_IDENTIFIERS[:3]
ANOTHER = ("education", "occupation", "children", "vehicle", "height")


class Anonymizers(Peer):
    """Mondrian by anonypy and the k of a table by pycanon."""

    name, module = "anonymizers", "benchmarks.peers.anonymizers.linkage"
    requirements = ("anonypy==0.2.1", "pycanon==1.3.6")

    def measured(self, task: str, **request: Any) -> dict[str, float]:
        """Return the CPU seconds and the smallest group."""
        found: dict[str, float] = self._ask(task=task, **request)
        return found


def bars() -> list[Bar]:
    """Run everything and return one line a bar."""
    city = register(people=PEOPLE, seed=SEED)
    return [*_links(city), *_ratings(), *_boxes(), *_releases(city), *_peers()]


def _links(city: City) -> Iterator[Bar]:
    """Count uniques and join on three columns and on twelve."""
    started = time.process_time()
    alone = uniques(city.register, QUASI_IDENTIFIERS)
    seconds = time.process_time() - started
    three = f"{alone.frequencies[2]:.3f} (independent columns {alone.expected[2]:.3f})"
    unique = f"{three}, by all twelve {alone.frequency:.4f}"
    yield Bar("unique by zip code, birth date and sex, 100 000 registered of 200 000 people", unique)
    yield Bar("uniques for twelve growing sets of columns, CPU time", duration(seconds), "<= 1 s", seconds <= 1)
    for rule in MatchRule:
        for count in (3, 12):
            started = time.process_time()
            found = link(city.register, city.discharges, on=QUASI_IDENTIFIERS[:count], rule=rule, truth=city.match)
            seconds = time.process_time() - started
            right, expected, recall = found.precision or 0.0, found.expected_precision or 0.0, found.recall or 0.0
            words = f"linkage on {count} columns, {rule.name.lower().replace('_', ' ')}"
            measured = f"precision {right:.3f} (from the tables {expected:.3f}), recall {recall:.3f}"
            yield Bar(words, measured, "precision within .01 of theory", abs(right - expected) <= 0.01)
            yield Bar(f"{words}, CPU time", duration(seconds), "<= 1 s", seconds <= 1)


def _ratings() -> Iterator[Bar]:
    """Look for people by remarks, a quarter of them wrong."""
    table = ratings(people=50_000, items=5000, seed=SEED)
    started = time.process_time()
    found = identify(table, known=(2, 4, 8), wrong=0.25, targets=400, seed=SEED)
    seconds = time.process_time() - started
    for one in found.rows:
        measured = (
            f"identified {one.identified:.3f}, mistaken {one.mistaken:.3f}, claimed though absent {one.absent:.3f}"
        )
        what = f"ratings, {one.known} remarks ({one.wrong} wrong), 50 000 people, {len(table):,} ratings"
        last = one.known == 8
        yield Bar(what, measured, ">= .95 identified" if last else "", one.identified >= 0.95 if last else None)
    yield Bar("ratings, 1200 people looked for, with their rows and without, CPU time", duration(seconds))


def _boxes() -> Iterator[Bar]:
    """Measure the sides of boxes against the number of columns."""
    found = curse(people=10_000, k=K, columns=tuple(SIDES), seed=SEED)
    for columns, side, expected in zip(found.columns, found.sides, found.expected_sides, strict=True):
        what = f"Mondrian, 10 000 people, k = 10, d = {columns}: mean side"
        wanted = SIDES[columns]
        yield Bar(what, f"{side:.4f} (by halving {expected:.4f})", f"{wanted} +- .006", abs(side - wanted) <= 0.006)
    city = register(people=2 * PEOPLE, seed=SEED)
    for columns in (3, 12):
        started = time.process_time()
        boxes = mondrian(city.register, k=K, columns=QUASI_IDENTIFIERS[:columns])
        seconds = time.process_time() - started
        what = f"Mondrian, 200 000 people, {columns} columns, k = 10, CPU time"
        yield Bar(what, f"{duration(seconds)}, {len(boxes.sizes):,} groups, smallest {boxes.anonymity}", "<= 5 s",
                  seconds <= 5 and boxes.anonymity >= K)  # fmt: skip


def _releases(city: City) -> Iterator[Bar]:
    """Intersect two releases of the same patients."""
    patients = city.discharges
    everybody = np.arange(len(patients))
    for k in (5, 10, 20):
        one, two = (
            AttackedRelease(mondrian(patients, k=k, columns=facts), patients.code, everybody)
            for facts in (ONE_TABLE, ANOTHER)
        )
        found = intersection(one, two)
        alone = max(homogeneity(one).frequency, homogeneity(two).frequency)
        measured = f"{found.frequency:.3f} (independent secrets {found.expected:.3f}), from one alone {alone:.4f}"
        yield Bar(f"two {k}-anonymous releases, 480 codes, 40 000 patients: one candidate left", measured)


def _peers() -> Iterator[Bar]:
    """Time Mondrian and the k of a table against the peers, on the same numbers."""
    try:
        with Anonymizers() as peer:
            yield Bar("peers", peer.version)
            for rows, columns in ((10_000, 3), (10_000, 8)):
                theirs = peer.measured("mondrian", rows=rows, columns=columns, levels=1000, seed=SEED, k=K)
                values = _values(rows, columns, 1000)
                ours = _least(partial(mondrian, values, k=K))
                words = f"Mondrian, {rows:,} rows, {columns} columns, k = 10, CPU time against anonypy"
                yield _ratio(words, ours, theirs["seconds"])
            theirs = peer.measured("smallest", rows=100_000, columns=12, levels=9, seed=SEED)
            table = {str(place): column for place, column in enumerate(_values(100_000, 12, 9).T)}
            ours = _least(partial(uniques, table, list(table)))
            yield _ratio("k of 100,000 rows, 12 columns, CPU time against pycanon", ours, theirs["seconds"])
    except (CalledProcessError, OSError, RuntimeError):
        yield Bar("peers", "anonypy and pycanon could not be installed or started here, and are left out")


def _values(rows: int, columns: int, levels: int) -> Any:
    """Return the table that the peers make from the same seed."""
    return np.random.default_rng(SEED).integers(0, levels, (rows, columns))


def _least(call: Callable[[], object]) -> float:
    """Return the least CPU time of three calls."""
    return min(cpu_seconds(call) for _ in range(3))


def _ratio(what: str, ours: float, theirs: float) -> Bar:
    """Return the line of two times."""
    measured = f"{duration(ours)} against {duration(theirs)}: {theirs / ours:.3g} times faster"
    return Bar(what, measured, ">= 3 times faster", theirs >= 3 * ours)
