"""Write clients/vectors/*.json: what a client of the local model in any language must compute, exactly."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from discreet.local import (
    BytesKeys,
    DirectResponse,
    DuchiBit,
    Geometry,
    HashedGeometry,
    HybridGeometry,
    HybridMean,
    IntegerKeys,
    Keys,
    OneBitHadamard,
    ProjectiveGeometry,
    PublicHash,
    ReportBatch,
    Scramble,
    Spec,
    TextKeys,
)
from discreet.local.heavy_hitters.protocol import HeavyHitters
from discreet.local.keys.hashing import constant
from discreet.local.protocol.rational_coin import coin
from tools.clients.refusals import refusals

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = Path("clients/vectors")
FORMAT, VERSION = "discreet.local.vectors", 2
EPSILONS = (Fraction(1, 10), Fraction(1), Fraction(7, 3), Fraction(6))
SEED = 0x5EED << 200 | 7
TEXTS = ("", "tea", "süd", "日本", "\U0001f375")
Made = Callable[[Fraction], Any]

LISTED: dict[str, list[Made]] = {
    "randomized-response": [
        lambda epsilon: DirectResponse(epsilon=epsilon, categories=("no", "yes")),
        lambda epsilon: DirectResponse(epsilon=epsilon, categories=7),
    ],
    "one-bit-hadamard": [
        lambda epsilon: OneBitHadamard(epsilon=epsilon, categories=2),
        lambda epsilon: OneBitHadamard(epsilon=epsilon, categories=5),
    ],
    "projective-geometry": [
        lambda epsilon: ProjectiveGeometry(epsilon=epsilon, categories=3, prime=2, dimension=2),
        lambda epsilon: ProjectiveGeometry(epsilon=epsilon, categories=12, prime=2, dimension=4),
        lambda epsilon: ProjectiveGeometry(epsilon=epsilon, categories=28, prime=5, dimension=3),
    ],
    "hybrid-geometry": [
        lambda epsilon: HybridGeometry(epsilon=epsilon, categories=7, blocks=2, prime=3, dimension=2),
        lambda epsilon: HybridGeometry(epsilon=epsilon, categories=20, blocks=3, prime=2, dimension=3),
    ],
}

KEYED: dict[str, list[tuple[Made, tuple[Any, ...]]]] = {
    "hashed-geometry": [
        (
            lambda epsilon: HashedGeometry(
                epsilon=epsilon, keys="text:7", prime=3, dimension=3, rows=3, seed=SEED, purpose=5
            ),
            TEXTS,
        ),
        (
            lambda epsilon: HashedGeometry(epsilon=epsilon, keys="integer:64", prime=2, dimension=3, rows=2, seed=8),
            (0, 1, 2**64 - 1),
        ),
        (
            lambda epsilon: HashedGeometry(epsilon=epsilon, keys="bytes:16", prime=2, dimension=3, rows=2, seed=9),
            (bytes(16), bytes(range(16)), b"0123456789abcdef"),
        ),
    ],
    "heavy-hitters": [
        (
            lambda epsilon: HeavyHitters(
                epsilon=epsilon,
                keys="integer:26",
                people=9,
                prime=2,
                dimension=3,
                levels=(16, 26),
                rows=(2, 1, 1),
                seed=8,
            ),
            (0, 1, 2**26 - 1),
        ),
        (
            lambda epsilon: HeavyHitters(
                epsilon=epsilon,
                keys="text:7",
                people=9,
                prime=2,
                dimension=3,
                levels=(32, 40, 56, 72, 88),
                rows=(2, 1, 1, 1, 1, 1),
                seed=SEED,
            ),
            TEXTS,
        ),
        (
            lambda epsilon: HeavyHitters(
                epsilon=epsilon,
                keys="integer:70",
                people=9,
                prime=3,
                dimension=2,
                levels=(32, 48, 64, 80, 96, 104),
                rows=(1, 1, 2, 1, 1, 1, 1),
                seed=3,
            ),
            (0, 2**70 - 1),
        ),
    ],
}

MEANS: dict[str, list[tuple[Made, tuple[str, ...]]]] = {
    "duchi-bit": [
        (
            lambda epsilon: DuchiBit(epsilon=epsilon, bounds=(-1, Fraction(1, 2))),
            ("-1", "-1/4", "0", "1/3", "1/2"),
        ),
    ],
    "hybrid-mean": [
        (
            lambda epsilon: HybridMean(epsilon=epsilon, bounds=(0, 8), steps=4, window=3, weight=Fraction(5, 8)),
            ("0", "1", "2", "9/4", "8"),
        ),
        (
            lambda epsilon: HybridMean(epsilon=epsilon, bounds=(-3, 4), steps=3, window=1, weight=Fraction(1)),
            ("-3", "0", "7/2", "4"),
        ),
    ],
}


def vectors() -> dict[str, dict[str, Any]]:
    """Return all vectors, by the name of their file."""
    made: dict[str, dict[str, Any]] = {}
    for protocol, makers in LISTED.items():
        made[protocol] = {"specs": [_listed(make(epsilon)) for make in makers for epsilon in EPSILONS]}
    for protocol, keyed in KEYED.items():
        made[protocol] = {"specs": [_keyed(make(epsilon), keys) for make, keys in keyed for epsilon in EPSILONS]}
    for protocol, means in MEANS.items():
        made[protocol] = {"specs": [_mean(make(epsilon), values) for make, values in means for epsilon in EPSILONS]}
    made["batches"] = {"batches": list(_batches())}
    made["coins"] = {"coins": list(_coins())}
    made["geometry"] = {"spaces": list(_spaces())}
    made["hashing"] = _hashing()
    made["refused"] = {"refused": refusals()}
    return {name: {"format": FORMAT, "version": VERSION, **parts} for name, parts in made.items()}


def text_of(vector: dict[str, Any]) -> str:
    """Return the text of a file: JSON in ASCII, one entry a line."""
    lines = []
    for name, value in vector.items():
        if isinstance(value, list):
            entries = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in value)
            lines.append(f"{json.dumps(name)}:[\n{entries}\n]")
        else:
            lines.append(f"{json.dumps(name)}:{json.dumps(value)}")
    return "{" + ",\n".join(lines) + "}\n"


def _entry(spec: Any, values: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    """Return a spec with the laws of its values, each given with how it is written."""
    laws = [(written, [str(mass) for mass in spec.law(value).probabilities]) for value, written in values]
    masses = sorted({mass for _, law in laws for mass in law}, key=Fraction)
    numbers = {mass: number for number, mass in enumerate(masses)}
    return {
        "spec": spec.to_json(),
        "digest": spec.digest.hex(),
        "report_bytes": spec.report_bytes,
        "probabilities": masses,
        "laws": [{"value": written, "law": [numbers[mass] for mass in law]} for written, law in laws],
    }


def _listed(spec: Any) -> dict[str, Any]:
    """All values of a spec that lists them; for one bit the public rows of some people as well."""
    entry = _entry(spec, ((value, value) for value in range(spec.category_count)))
    if isinstance(spec, OneBitHadamard):
        people = (0, 1, 2, 1000, 2**64 - 1)
        entry["rows"] = [{"person": str(person), "row": spec.row(person)} for person in people]
    return entry


def _keyed(spec: Any, keys: tuple[Any, ...]) -> dict[str, Any]:
    """Some keys of a spec, with their words, their address, and their point in every row."""
    entry = _entry(spec, ((key, written_key(key)) for key in keys))
    entry["points"] = [_points(spec, key) for key in keys]
    return entry


def _points(spec: Any, key: Any) -> dict[str, Any]:
    """Where a key stands."""
    words = spec.kind.encode([key])
    found: dict[str, Any] = {"value": written_key(key), "words": words[0].tolist()}
    if isinstance(spec, HashedGeometry):
        return {**found, "rows": spec.hash.buckets(words)[0].tolist()}
    address = spec.address.of(words)
    rows: list[int] = []
    prefixes = [spec.address.prefix(address, length) for length in (*spec.levels, spec.levels[-1])]
    for group, prefix in zip(spec.groups, prefixes, strict=True):
        rows += group.hash.buckets(prefix)[0].tolist()
    found["address"] = address[0].tolist()
    return {**found, "prefixes": [prefix[0].tolist() for prefix in prefixes], "rows": rows}


def _mean(spec: Any, values: tuple[str, ...]) -> dict[str, Any]:
    """Some values of a mean."""
    return _entry(spec, ((Fraction(value), value) for value in values))


def written_key(key: Any) -> str:
    """Return a key as it stands in the vectors: digits, the text itself, or hexadecimal bytes."""
    return key.hex() if isinstance(key, bytes) else str(key)


def _batches() -> Iterable[dict[str, Any]]:
    """Reports of one to five bytes."""
    specs: list[Spec] = [
        DirectResponse(epsilon=Fraction(1), categories=2),
        OneBitHadamard(epsilon=Fraction(1), categories=300),
        ProjectiveGeometry.best(epsilon=Fraction(1), categories=65_536),
        HybridGeometry(epsilon=Fraction(5), categories=100_000_000, blocks=40, prime=149, dimension=4),
        DirectResponse(epsilon=Fraction(20), categories=1 << 34),
    ]
    for spec in specs:
        reports = [0, 1, spec.cells - 1, spec.cells // 2]
        batch = ReportBatch.of(spec, np.array(reports, dtype=np.int64)).to_bytes()
        yield {"spec": spec.to_json(), "digest": spec.digest.hex(), "reports": reports, "bytes": batch.hex()}


def _coins() -> Iterable[dict[str, Any]]:
    """Coins of easy and of hard numbers."""
    epsilons = [Fraction(1, 1024), *EPSILONS, Fraction(0.1), Fraction(10**60 + 1, 10**60), Fraction(20)]
    sizes = [(1, 1), (3, 4), (12, 1), (1, 999), ((2**29 - 1), 2**29), (7, 2**20)]
    for epsilon in epsilons:
        for inside, outside in sizes:
            sized = {"epsilon": str(epsilon), "inside": inside, "outside": outside}
            yield {**sized, "coin": str(coin(epsilon, inside, outside))}


def _spaces() -> Iterable[dict[str, Any]]:
    """Every point of small spaces with its plane, and what free numbers stand for."""
    for prime, dimension in ((2, 2), (2, 4), (3, 3), (5, 2)):
        space = Geometry(prime, dimension)
        points, free = range(space.points), range(space.outside)
        centers = np.repeat(np.arange(space.points), space.outside)
        numbers = np.tile(np.arange(space.outside), space.points)
        flags = np.ones(centers.size, dtype=np.bool_)
        off = space.place(centers, flags, numbers).reshape(space.points, -1)
        on = space.place(centers, ~flags, np.maximum(numbers, 1)).reshape(space.points, -1)[:, 1:]
        yield {
            "prime": prime,
            "dimension": dimension,
            "points": space.points,
            "on_plane": space.on_plane,
            "planes": [space.plane(point).tolist() for point in points],
            "place_off": [off[point, free].tolist() for point in points],
            "place_on": on.tolist(),
        }


def _hashing() -> dict[str, Any]:
    """Constants, buckets, scrambled numbers, and keys as words."""
    constants = [(0, 0, 0, 0), (1, 0, 0, 0), (SEED, 5, 65_535, 131), (2**256 - 1, 2**32 - 1, 1, 2)]
    return {
        "constants": [
            {**dict(zip(("seed", "purpose", "row", "index"), map(str, numbers), strict=True)), "hex": f"{value:064x}"}
            for numbers in constants
            for value in (constant(*numbers),)
        ],
        "buckets": list(_buckets()),
        "scrambles": list(_scrambles()),
        "keys": list(_keys()),
        "refused_keys": list(_refused_keys()),
    }


def _buckets() -> Iterable[dict[str, Any]]:
    """Keys of words in rows of hashes."""
    for seed, purpose, span, words in ((1, 0, 100, 2), (SEED, 7, 1093, 4), (2**256 - 1, 2**32 - 2, 1 << 20, 2)):
        hashing = PublicHash(seed=seed, rows=5, range=span, words=words, purpose=purpose)
        for key in ([0] * words, list(range(1, words + 1)), [2**32 - 1] * words):
            found = hashing.buckets(np.array([key], dtype=np.uint32))[0].tolist()
            yield {"seed": str(seed), "purpose": purpose, "range": span, "words": key, "rows": found}


def _scrambles() -> Iterable[dict[str, Any]]:
    """Numbers and where they are sent."""
    for seed, bits in ((1, 8), (1, 33), (SEED, 48), (SEED, 64)):
        for number in (0, 1, 2**bits - 1):
            sent = int(Scramble(seed=seed, bits=bits).forward(np.array([number], dtype=np.uint64))[0])
            yield {"seed": str(seed), "bits": bits, "number": str(number), "sent": str(sent)}


def _keys() -> Iterable[dict[str, Any]]:
    """Keys of every kind as words."""
    kinds: list[tuple[Keys, tuple[Any, ...]]] = [
        (IntegerKeys(1), (0, 1)),
        (IntegerKeys(48), (0, 1, 2**48 - 1)),
        (IntegerKeys(64), (2**63,)),
        (IntegerKeys(200), (1, 2**199)),
        (TextKeys(7), TEXTS),
        (TextKeys(12), ("e\u0301", "\u00e9", "twelve bytes")),
        (BytesKeys(3), (b"abc", bytes(3))),
        (BytesKeys(16), (bytes(range(16)),)),
    ]
    for kind, values in kinds:
        for value in values:
            yield {"keys": kind.to_text(), "value": written_key(value), "words": kind.encode([value])[0].tolist()}


def _refused_keys() -> Iterable[dict[str, Any]]:
    """What is no key."""
    for kind, values in {
        "integer:8": ("-1", "256"),
        "integer:64": (str(2**64),),
        "text:3": ("four", "\U0001f375", "日本", "a\0", "\0", "\ud800"),
        "bytes:3": ("", "6162", "61626364"),
    }.items():
        yield from ({"keys": kind, "value": value} for value in values)


def main(arguments: list[str] | None = None) -> int:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / FOLDER)
    folder: Path = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, vector in vectors().items():
        (folder / f"{name}.json").write_text(text_of(vector), encoding="ascii", newline="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
