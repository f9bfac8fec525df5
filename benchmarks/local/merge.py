"""Any split of the reports over processes, in any order, must give the same bytes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from benchmarks.common.bars import Bar
from benchmarks.local.data import SEED, Integers, scattered, zipf
from discreet.data.invention import coins
from discreet.local import Aggregator, DirectResponse, HashedGeometry, OneBitHadamard, Spec, design
from discreet.local.heavy_hitters.protocol import HeavyHitters

PEOPLE, ITEMS, EPSILON = 1_000_000, 4096, Fraction(2)
SPLITS, MOST_PIECES, PROCESSES = 8, 40, 4


def rows() -> Iterator[Bar]:
    """Split, shuffle, aggregate elsewhere, merge in any order, and compare bytes."""
    with ProcessPoolExecutor(PROCESSES, mp_context=multiprocessing.get_context("spawn")) as pool:
        for name, spec, values in specs():
            reports = spec.client().report_many(values)
            whole = spec.aggregator().add(reports).to_bytes()
            same = sum(_split(pool, spec, reports, number) == whole for number in range(SPLITS))
            measured = f"{same} of {SPLITS} splits give the same {len(whole):,} bytes"
            what = f"{name}: {PEOPLE:,} reports over {PROCESSES} processes, up to {MOST_PIECES} pieces, shuffled"
            yield Bar(what, measured, "all the same", same == SPLITS)


def specs() -> Iterator[tuple[str, Any, Any]]:
    """Yield protocols and the values of everybody."""
    held = zipf(PEOPLE, ITEMS, 1.1, 1)
    keys = scattered(ITEMS, 64, 2)[held]
    for spec in (
        DirectResponse(epsilon=EPSILON, categories=ITEMS),
        design(people=PEOPLE, categories=ITEMS, epsilon=EPSILON).spec,
        OneBitHadamard(epsilon=EPSILON, categories=ITEMS),
    ):
        yield spec.protocol, spec, held
    for kind in (HashedGeometry.best, HeavyHitters.plan):
        hashed: Any = kind(epsilon=EPSILON, people=PEOPLE, keys="integer:64")
        yield hashed.protocol, hashed, keys


def _split(pool: ProcessPoolExecutor, spec: Spec, reports: Integers, number: int) -> bytes:
    """Return the bytes of the merged aggregates of one split."""
    source = coins(SEED, number)
    cuts = np.sort(source.integers(0, reports.size, source.integers(1, MOST_PIECES)))
    pieces = np.split(source.permutation(reports), cuts)
    texts = list(pool.map(aggregated, [spec.to_json()] * len(pieces), pieces))
    aggregates = [Aggregator.from_bytes(spec, texts[place]) for place in source.permutation(len(texts))]
    merged: Any = reduce(lambda first, second: second.merge(first), aggregates)
    return bytes(merged.to_bytes())


def aggregated(text: str, reports: Integers) -> bytes:
    """Aggregate a piece in another process, which knows the spec by its text."""
    spec: Any = Spec.from_json(text)
    return bytes(spec.aggregator().add(reports).to_bytes())
