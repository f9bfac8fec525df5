"""The local model: specs as they go over the wire, reports on fixed random words, and what aggregators make of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from discreet import local
from tools.golden.fixed import fixed_words
from tools.golden.written import Lines, block, written

EPSILONS = (Fraction(1, 2), Fraction(1), Fraction(4))
FEW, MANY = 12, 3000
ROOT = Path(__file__).resolve().parent.parent.parent
VECTORS = ("clients/vectors",)

Values = Callable[[Any, int], Any]
Protocol = tuple[str, Callable[[Fraction], Any], Values]


def _numbers(spec: Any, count: int) -> Any:
    """Return values of a spec that numbers them, the first ones more often."""
    return np.arange(count) ** 2 % 7 % spec.category_count


def _keys(_: Any, count: int) -> Any:
    """Return some integers as keys."""
    return np.array([3, 3, 200, 3, 41])[np.arange(count) % 5]


def _between(spec: Any, count: int) -> Any:
    """Return numbers between the bounds of a mean."""
    low, high = map(float, spec.bounds)
    return low + (high - low) * (np.arange(count) % 5) / 4


def _directions(_: Any, count: int) -> Any:
    """Return vectors of length one at most."""
    return np.array([(1.0, 0.0), (0.0, 0.5), (-0.6, 0.8)])[np.arange(count) % 3]


def protocols() -> Iterator[Protocol]:
    """Return every public protocol with a way to make it for an epsilon, and values for it."""
    rows: dict[str, Any] = {"prime": 2, "dimension": 3, "seed": 8}
    yield "DirectResponse/2", lambda e: local.DirectResponse(epsilon=e, categories=("no", "yes")), _numbers
    yield "DirectResponse/7", lambda e: local.DirectResponse(epsilon=e, categories=7), _numbers
    yield "OneBitHadamard/5", lambda e: local.OneBitHadamard(epsilon=e, categories=5), _numbers
    yield (
        "ProjectiveGeometry/13",
        lambda e: local.ProjectiveGeometry(epsilon=e, categories=13, prime=3, dimension=3),
        _numbers,
    )
    yield (
        "ProjectiveGeometry/best",
        lambda e: local.ProjectiveGeometry.best(epsilon=e, categories=20, largest=5000),
        _numbers,
    )
    yield (
        "HybridGeometry/9",
        lambda e: local.HybridGeometry(epsilon=e, categories=9, blocks=2, prime=2, dimension=3),
        _numbers,
    )
    yield "HybridGeometry/best", lambda e: local.HybridGeometry.best(epsilon=e, categories=20, largest=5000), _numbers
    yield "HashedGeometry", lambda e: local.HashedGeometry(epsilon=e, keys="integer:8", rows=2, **rows), _keys
    yield (
        "HeavyHitters",
        lambda e: local.HeavyHitters(epsilon=e, keys="integer:26", people=9, levels=(16, 26), rows=(2, 1, 1), **rows),
        _keys,
    )
    yield "DuchiBit", lambda e: local.DuchiBit(epsilon=e, bounds=(-1, Fraction(1, 2))), _between
    yield (
        "HybridMean",
        lambda e: local.HybridMean(epsilon=e, bounds=(0, 8), steps=4, window=3, weight=Fraction(5, 8)),
        _between,
    )
    yield (
        "UnitVectors",
        lambda e: local.UnitVectors(epsilon=e, dimension=2, codewords=5, cap=2, codebooks=2),
        _directions,
    )


def wire_lines() -> Lines:
    """Return every spec as JSON with its digest and its price, batches as bytes, and the published vectors' digests."""
    for name, make, values in protocols():
        for epsilon in EPSILONS:
            spec, key = make(epsilon), f"{name}/{epsilon}"
            yield f"{key}/json", spec.to_json()
            yield f"{key}/digest", spec.digest.hex()
            yield f"{key}/guarantee", written(spec.guarantee, 12)
            yield f"{key}/read again", str(local.Spec.from_json(spec.to_json()) == spec)
            with fixed_words(key):
                yield f"{key}/batch", spec.client().batch(values(spec, FEW)).to_bytes().hex()
    for path in _vectors():
        yield f"vector/{path.name}", hashlib.sha256(path.read_bytes()).hexdigest()


def _vectors() -> list[Path]:
    """Return the published vectors, wherever the folder stands."""
    found = [folder for folder in (ROOT / name for name in VECTORS) if folder.is_dir()]
    return sorted(found[0].glob("*.json")) if found else []


def report_lines() -> Lines:
    """Return the reports of clients, what they sum up to, and the estimates made of that."""
    for name, make, values in protocols():
        for epsilon in EPSILONS:
            spec, key = make(epsilon), f"{name}/{epsilon}"
            with fixed_words(key):
                client = spec.client()
                yield f"{key}/reports", written(client.report_many(values(spec, FEW)))
                yield f"{key}/one report", written(client.report(_first(values(spec, 1))))
                sums = spec.aggregator().add(client.report_many(values(spec, MANY)))
            yield f"{key}/sums", _digest(sums.to_bytes())
            yield f"{key}/estimate", _estimated(spec, sums)
    yield from _clients()
    yield from _larger()


def _first(values: Any) -> Any:
    """Return the first value as a person would state it."""
    value = values[0]
    return tuple(value.tolist()) if isinstance(value, np.ndarray) else value.item()


def _digest(data: bytes) -> str:
    """Return the length and a digest of bytes that are too many to keep."""
    return f"{len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}"


def _estimated(spec: Any, sums: Any) -> str:
    """Return what an aggregator says at last."""
    if isinstance(spec, local.HeavyHitters):
        found = spec.find(sums, k=4, certainty=0)
        return written([found.keys, found.probabilities, found.value, found.standard_error])
    hashed = isinstance(spec, local.HashedGeometry)
    result = spec.sketch(sums).estimate([3, 200, 41, 7]) if hashed else sums.estimate()
    if isinstance(result, local.LocalMean):
        return written([result.value, result.standard_error, *_interval(result.estimate())])
    found = result.intervals()
    return written([result.value, found.low, found.high])


def _interval(estimate: Any) -> list[float]:
    """Return the ends of an interval."""
    return [estimate.low, estimate.high]


def _clients() -> Lines:
    """Return what clients with a memory say, and one that sends a single bit."""
    spec = local.DirectResponse(epsilon=Fraction(1), categories=7)
    with fixed_words("memoized"):
        client = local.MemoizedClient(spec, distinct=3)
        yield "MemoizedClient/reports", written([client.report(value) for value in (2, 5, 2, 5, 2, 6, 6)])
        yield "MemoizedClient/guarantee", written(client.guarantee, 12)
    one_bit = local.OneBitHadamard(epsilon=Fraction(1), categories=5)
    with fixed_words("one bit"):
        bits = [one_bit.client().bit(value, person=place) for place, value in enumerate((0, 1, 2, 3, 4, 4, 4))]
        yield "OneBitClient/bits", written(bits)
    mean = local.DuchiBit(epsilon=Fraction(1), bounds=(0, 4))
    for kind, made in (("Randomizer", spec), ("MeanRandomizer", mean)):
        with fixed_words(kind):
            yield f"{kind}/releases", written([made.mechanism()(value) for value in (1, 2, 3, 4, 0)])


def _larger() -> Lines:
    """Return what is planned, designed, shuffled and scheduled before anybody reports."""
    spec = local.DirectResponse(epsilon=Fraction(1), categories=7)
    shuffled = local.Shuffled(spec, people=10_000, delta=1e-6)
    yield "Shuffled/epsilon", written(shuffled.epsilon)
    yield "Shuffled/explain", block(shuffled.explain())
    yield "Schedule/guarantee", written(local.Schedule(rounds=30, distinct=3).guarantee(spec), 12)
    yield "lifetime", block(str(local.lifetime(spec, rounds=30, distinct=3, delta=1e-6)))
    yield "design/values", block(str(local.design(people=100_000, categories=64, epsilon=1)))
    yield "design/keys", block(str(local.design(people=100_000, keys="text:12", epsilon=2, seed=7)))
    yield "HeavyHitters/plan", local.HeavyHitters.plan(people=50_000, epsilon=4, keys="integer:26", seed=5).to_json()
    with fixed_words("simulate"):
        yield "simulate", block(str(local.simulate(people=[2000], categories=16, epsilons=[1, 4], seed=7)))
