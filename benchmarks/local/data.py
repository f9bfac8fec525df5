"""The invented people of the local benchmarks: Zipf draws over a list of items, and keys scattered over a universe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from discreet.data.invention import coins

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
SEED = 2026
_SYLLABLES = ("ba", "den", "fu", "gri", "ho", "jal", "ki", "lor", "mé", "no", "pra", "qui", "ra", "søn", "ta", "vu")
_LONGEST_WORD = 3  # syllables


def zipf(people: int, items: int, exponent: float, *seed: int) -> Integers:
    """Return the item of every person: item i has probability proportional to (i + 1)^-exponent.

    >>> zipf(4, 10, 1.1, 7).max() < 10
    np.True_
    """
    weights: Floats = np.arange(1, items + 1, dtype=np.float64) ** -exponent
    cumulated = np.cumsum(weights)
    places: Integers = np.searchsorted(cumulated, coins(SEED, *seed).random(people) * cumulated[-1], side="right")
    return np.minimum(places, items - 1)


def scattered(items: int, bits: int, *seed: int) -> NDArray[np.uint64]:
    """Return so many different keys of `bits` bits, in no order."""
    source = coins(SEED, *seed)
    keys: dict[int, None] = {}
    while len(keys) < items:
        drawn = source.integers(0, (1 << bits) - 1, items, dtype=np.uint64, endpoint=True)
        keys.update(dict.fromkeys(drawn.tolist()))
    return np.array(list(keys)[:items], dtype=np.uint64)


def addresses(items: int, longest: int, *seed: int) -> list[str]:
    """Return so many different addresses of pages of invented sites, of at most `longest` bytes, some beyond ASCII."""
    source = coins(SEED, *seed)
    found: dict[str, None] = {}
    while len(found) < items:
        syllables = source.integers(0, len(_SYLLABLES), (items, 3 * _LONGEST_WORD)).tolist()
        sizes = source.integers(2, _LONGEST_WORD, (items, 3), endpoint=True).tolist()
        depths = source.integers(1, 2, items, endpoint=True).tolist()
        for letters, lengths, depth in zip(syllables, sizes, depths, strict=True):
            site, *path = (
                "".join(_SYLLABLES[place] for place in letters[_LONGEST_WORD * word :][:size])
                for word, size in enumerate(lengths[: depth + 1])
            )
            page = f"{site}.example/{'/'.join(path)}"
            if len(page.encode()) <= longest:
                found[page] = None
    return list(found)[:items]


def standard_error(draws: Iterable[float]) -> float:
    """Return the standard error of the mean of independent draws."""
    values = np.asarray(list(draws), dtype=np.float64)
    return float(values.std(ddof=1) / np.sqrt(values.size))


def batches(values: Integers, size: int) -> Iterator[Integers]:
    """Return the values in pieces of at most `size`."""
    for start in range(0, values.size, size):
        yield values[start : start + size]
