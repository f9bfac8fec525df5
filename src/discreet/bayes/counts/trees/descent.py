"""From the total down a tree of sums: joint draws of all counts, and the law of every one of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.counts.marginals import IntegerMarginal
from discreet.bayes.counts.trees.convolution import Floats, convolved
from discreet.bayes.counts.trees.sums import SumPart, TreePart

Places = NDArray[np.int64]  # of drawn counts in the messages of their parts
_ROWS = 1 << 20  # entries of a table of conditional laws at once


def drawn(
    root: TreePart, size: int, generator: np.random.Generator, total: int | None = None
) -> dict[TreePart, Places]:
    """Draw all counts jointly, `size` times independently, as places in the messages of the leaves and sums.

    Accuracy. Each draw is from the law that the messages state: given its sum S the first part is l with probability
        g(l) h(S - l) / sum, by the inverse of its distribution function at a uniform number of 53 bits. So parts add up
        to their sum exactly.
    Cost. For every sum one conditional law for each of its distinct values, which are few near the leaves.
    """
    if total is None:
        heights = np.cumsum(root.message.masses)
        places = _inverse(heights[None, :], np.zeros(size, dtype=np.int64), generator.random(size))
    else:
        places = np.full(size, total - root.message.start, dtype=np.int64)
    found = {root: places}
    for part in root.sums():
        first, second = part.parts
        found[first], found[second] = _split(part, found[part], generator.random(size))
    return found


def _split(part: SumPart, places: Places, uniforms: Floats) -> tuple[Places, Places]:
    """Split sums into their parts."""
    one, other = (half.message for half in part.parts)
    sums = places + (part.message.start - one.start - other.start)
    distinct, rows = np.unique(sums, return_inverse=True)
    first = np.empty_like(places)
    block = max(1, _ROWS // len(one.masses))
    for begin in range(0, len(distinct), block):
        heights = np.cumsum(_conditional(one.masses, other.masses, distinct[begin : begin + block]), axis=1)
        here = (rows >= begin) & (rows < begin + block)
        first[here] = _inverse(heights, rows[here] - begin, uniforms[here])
    return first, sums - first


def _conditional(first: Floats, second: Floats, sums: Places) -> Floats:
    """Return, a row for each sum S, the products first(l) second(S - l)."""
    rest = sums[:, None] - np.arange(len(first))
    inside = (rest >= 0) & (rest < len(second))
    return np.asarray(first * np.where(inside, second[np.where(inside, rest, 0)], 0.0))


def _inverse(heights: Floats, rows: Places, uniforms: Floats) -> Places:
    """Return the first place of its row where the running sum exceeds a uniform share of the row's total."""
    totals = heights[:, -1]
    flat = (heights / totals[:, None] + np.arange(len(heights))[:, None]).ravel()
    found = np.searchsorted(flat, rows + uniforms, side="right") - rows * heights.shape[1]
    return np.asarray(np.clip(found, 0, heights.shape[1] - 1), dtype=np.int64)


def outsides(root: TreePart, total: int | None = None) -> dict[TreePart, Floats]:
    """Return what all else says of every leaf and sum, at the counts of its message, up to a factor.

    For a part of a sum, outside(l) = sum over r of (message of the other part)(r) weight(l + r) outside(l + r).
    """
    found = {root: _of_total(root, total)}
    for part in root.sums():
        known = within(part, found[part])
        for half, other in (part.parts, part.parts[::-1]):
            found[half] = _outside(part, known, half, other)
    return found


def within(part: SumPart, outside: Floats) -> Floats:
    """Return what is known of a sum beyond the messages of its parts: its own weight, and all that is outside."""
    return outside if part.factor is None else outside * part.factor


def law(part: TreePart, outside: Floats) -> IntegerMarginal:
    """Return the posterior law of a leaf or a sum: its message times its outside."""
    return IntegerMarginal(part.message.start, part.message.masses * outside)


def _of_total(root: TreePart, total: int | None) -> Floats:
    """Return what is known of the total beyond its message: all of it where it is public, nothing elsewhere."""
    if total is None:
        return np.ones(len(root.message.masses))
    known = np.zeros(len(root.message.masses))
    known[total - root.message.start] = 1.0
    return known


def _outside(part: SumPart, known: Floats, half: TreePart, other: TreePart) -> Floats:
    """Return the outside of one half of a sum, at the counts of its message, up to a factor."""
    if np.count_nonzero(known) == 1:  # a sum that is known: the other half is the rest
        place = int(np.argmax(known))
        full, first = other.message.masses[::-1], place - len(other.message.masses) + 1
    else:
        full = convolved(known, other.message.masses[::-1], direct=part.deep)[0]
        first = 1 - len(other.message.masses)
    # full[k] is the outside at the count l with l + start of other = k + first + start of the sum
    first += part.message.start - other.message.start - half.message.start
    size = len(half.message.masses)
    low, high = max(first, 0), min(first + len(full), size)
    found = np.zeros(size)
    found[low:high] = full[low - first : high - first]
    found /= found.max()
    return found
