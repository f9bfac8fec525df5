"""Small cases of every protocol whose reports can be listed, for exact enumeration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.local import (
    DirectResponse,
    DuchiBit,
    HashedGeometry,
    HybridGeometry,
    HybridMean,
    OneBitHadamard,
    ProjectiveGeometry,
    UnitVectors,
)
from discreet.local.heavy_hitters.protocol import HeavyHitters

EPSILONS = tuple(Fraction(text) for text in ("0.1", "0.5", "1", "2", "4", "6"))
KEYS = 24
GRID = tuple(place / 16 for place in range(17))
CORNERS = ((1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 0.6, 0.8), (0.0, 0.0, -1.0), (0.0, 0.5, 0.0), (0.0, 0.0, 0.0))


@dataclass(frozen=True)
class Case:
    """A protocol in one small shape, and the values whose laws are compared: all of them, or a grid of them."""

    name: str
    build: Callable[[Fraction], Any]
    values: tuple[Any, ...] = ()

    def listed(self, spec: Any) -> tuple[Any, ...]:
        """Return the values to compare."""
        return self.value or tuple(range(spec.category_count))


def cases() -> Iterator[Case]:
    """Yield every protocol, most of them in two shapes."""
    for size in (2, 5, 16):
        yield Case(f"randomized response, {size} values", _of(DirectResponse, categories=size))
    for prime, dimension in ((2, 3), (3, 3), (7, 2)):
        points = (prime**dimension - 1) // (prime - 1)
        parameters = {"prime": prime, "dimension": dimension, "values": points}
        yield Case(f"projective geometry, {points} points", _of(ProjectiveGeometry, **parameters))
    yield Case("projective geometry, chosen for 16 values", lambda e: ProjectiveGeometry.best(epsilon=e, categories=16))
    for blocks, prime in ((2, 2), (3, 3)):
        size = blocks * (prime * prime + prime + 1)
        parameters = {"blocks": blocks, "prime": prime, "dimension": 3, "values": size}
        yield Case(f"hybrid geometry, {blocks} blocks, {size} points", _of(HybridGeometry, **parameters))
    for size in (3, 16):
        yield Case(f"one-bit Hadamard, {size} values", _of(OneBitHadamard, categories=size))
    for rows, prime in ((1, 3), (3, 2)):
        parameters = {"keys": "integer:16", "prime": prime, "dimension": 3, "rows": rows, "seed": 7}
        name = f"hashed geometry, {rows} rows, {KEYS} keys"
        yield Case(name, _of(HashedGeometry, **parameters), tuple(range(KEYS)))
    few = {"keys": "integer:24", "people": 100, "prime": 2, "dimension": 3, "levels": (16, 24), "rows": (1, 1, 1)}
    yield Case(f"heavy hitters, 2 levels, {KEYS} keys", _of(HeavyHitters, seed=7, **few), tuple(range(KEYS)))
    bounds = {"bounds": (0, 1)}
    yield Case("one-bit mean", _of(DuchiBit, **bounds), GRID)
    yield Case("hybrid mean", _of(HybridMean, **bounds), GRID)
    book = {"dimension": 3, "codewords": 12, "cap": 3, "codebooks": 2, "seed": 7}
    yield Case("unit vectors, 2 codebooks of 12", _of(UnitVectors, **book), CORNERS)


def _of(kind: Callable[..., Any], **parameters: Any) -> Callable[[Fraction], Any]:
    """Return the maker of a spec for an epsilon."""
    return lambda epsilon: kind(epsilon=epsilon, **parameters)
