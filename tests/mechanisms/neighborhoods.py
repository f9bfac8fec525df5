"""All small score vectors and all ways in which one person may move them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from discreet.laws import Law

Vector = tuple[int, ...]


def moved(vector: Vector, step: int, *, monotone: bool) -> Iterator[Vector]:
    """Yield the neighbors of a vector: every entry moves by at most `step`, all the same way if monotone."""
    directions = ((0, step), (-step, 0)) if monotone else ((-step, step),)
    for low, high in directions:
        for moves in itertools.product(range(low, high + 1), repeat=len(vector)):
            yield tuple(entry + move for entry, move in zip(vector, moves, strict=True))


def losses(
    law: Callable[[Vector], Law[Any]], size: int, places: range, step: int, *, monotone: bool
) -> Iterator[tuple[Any, Vector, Vector]]:
    """Yield the loss pair of every vector with entries in `places` and each of its neighbors, with the vectors."""
    known: dict[Vector, Law[Any]] = {}

    def of(vector: Vector) -> Law[Any]:
        if vector not in known:
            known[vector] = law(vector)
        return known[vector]

    for vector in itertools.product(places, repeat=size):
        for other in moved(vector, step, monotone=monotone):
            yield of(vector).pair(of(other)), vector, other


def largest_loss(law: Callable[[Vector], Law[Any]], size: int, places: range, step: int, *, monotone: bool) -> float:
    """Return an upper bound on the largest loss over all of them, in both directions."""
    found = losses(law, size, places, step, monotone=monotone)
    return max(float(max(pair.max_loss().upper, pair.reversed().max_loss().upper)) for pair, _, _ in found)
