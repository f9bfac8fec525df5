"""Small instances of every frequency protocol, on which everything can be enumerated."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet.local import (
    DirectResponse,
    FrequencyOracle,
    HashedGeometry,
    HybridGeometry,
    OneBitHadamard,
    ProjectiveGeometry,
)
from discreet.local.heavy_hitters.addresses import FIRST_BITS
from discreet.local.heavy_hitters.protocol import HeavyHitters
from discreet.local.means.one_bit_and_hybrid import DuchiBit, HybridMean
from discreet.local.means.unit_vectors import UnitVectors

EPSILONS = [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4), Fraction(6)]

SMALL: dict[str, Callable[[Fraction], FrequencyOracle]] = {
    "two answers": lambda epsilon: DirectResponse(epsilon=epsilon, categories=2),
    "seven answers": lambda epsilon: DirectResponse(epsilon=epsilon, categories=7),
    "one bit of 2": lambda epsilon: OneBitHadamard(epsilon=epsilon, categories=2),
    "one bit of 5": lambda epsilon: OneBitHadamard(epsilon=epsilon, categories=5),
    "one bit of 8": lambda epsilon: OneBitHadamard(epsilon=epsilon, categories=8),
    "a line of 3": lambda epsilon: ProjectiveGeometry(epsilon=epsilon, categories=3, prime=2, dimension=2),
    "a plane of 7": lambda epsilon: ProjectiveGeometry(epsilon=epsilon, categories=7, prime=2, dimension=3),
    "a plane of 13": lambda epsilon: ProjectiveGeometry(epsilon=epsilon, categories=10, prime=3, dimension=3),
    "a space of 15": lambda epsilon: ProjectiveGeometry(epsilon=epsilon, categories=12, prime=2, dimension=4),
    "a plane of 31": lambda epsilon: ProjectiveGeometry(epsilon=epsilon, categories=28, prime=5, dimension=3),
    "two lines": lambda epsilon: HybridGeometry(epsilon=epsilon, categories=7, blocks=2, prime=3, dimension=2),
    "two planes": lambda epsilon: HybridGeometry(epsilon=epsilon, categories=9, blocks=2, prime=2, dimension=3),
    "three lines": lambda epsilon: HybridGeometry(epsilon=epsilon, categories=8, blocks=3, prime=2, dimension=2),
    "hashed": lambda epsilon: HashedGeometry(epsilon=epsilon, keys="integer:8", prime=2, dimension=3, rows=2, seed=8),
    "heavy hitters": lambda epsilon: HeavyHitters(
        epsilon=epsilon,
        keys=f"integer:{FIRST_BITS + 6}",
        people=9,
        prime=2,
        dimension=3,
        levels=(FIRST_BITS, FIRST_BITS + 6),
        rows=(2, 1, 1),
        seed=8,
    ),
}

CHOSEN: dict[str, Callable[[Fraction], FrequencyOracle]] = {
    "best space": lambda epsilon: ProjectiveGeometry.best(epsilon=epsilon, categories=20, largest=5000),
    "best blocks": lambda epsilon: HybridGeometry.best(epsilon=epsilon, categories=20, largest=5000),
}


MEANS: dict[str, tuple[Callable[[Fraction], Any], list[Any]]] = {
    "one-bit mean": (
        lambda epsilon: DuchiBit(epsilon=epsilon, bounds=(-1, 1)),
        [-1, -0.75, 0, 0.25, 1],
    ),
    "hybrid mean": (
        lambda epsilon: HybridMean(epsilon=epsilon, bounds=(0, 8), steps=4, window=3, weight=Fraction(5, 8)),
        [0, 1, 2, 5, 8],
    ),
    "unit vectors": (
        lambda epsilon: UnitVectors(epsilon=epsilon, dimension=2, codewords=5, cap=2, codebooks=2),
        [(1.0, 0.0), (-1.0, 0.0), (0.0, 0.5)],
    ),
}


def values_of(spec: FrequencyOracle) -> range:
    """All values of a spec, or a few keys where there are too many."""
    return range(6) if isinstance(spec, HashedGeometry | HeavyHitters) else range(spec.category_count)
