"""The least value of a kernel of residuals: how unlike two records can be, exactly where that is feasible."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from discreet.laws.number import Number
from discreet.synthesis.methods.residual.basis import Attributes, freedom

MOST_EXACT = 20  # attributes: the search holds 2^20 numbers


def lowest_kernel(weights: Mapping[Attributes, int], sizes: Sequence[int]) -> int:
    """Return the least K(x, y) over all pairs of records, or less where there are too many attributes to search.

    K is the sum over B of weights[B] times the product over the attributes of B of size - 1 where x and y agree and of
    -1 where they differ.

    >>> lowest_kernel({(0,): 3, (1,): 1, (0, 1): 2}, (2, 5))   # they agree in the second attribute alone: -3 + 4 - 8
    -7
    """
    names = sorted({one for part in weights for one in part})
    if len(names) <= MOST_EXACT:
        return _searched(weights, names, sizes)
    bounds = [_one_by_one(weights, sizes)]
    if max(len(part) for part in weights) <= 2:
        bounds.append(_completed_square(weights, names, sizes))
    return max(bounds)


def _searched(weights: Mapping[Attributes, int], names: Sequence[int], sizes: Sequence[int]) -> int:
    """Return the least value over all patterns of agreement; no number on the way exceeds the value at x = y."""
    place = {one: 1 << position for position, one in enumerate(names)}
    largest = sum(weight * freedom(part, sizes) for part, weight in weights.items())
    values = np.zeros(1 << len(names), dtype=np.int64 if largest < 1 << 63 else object)
    for part, weight in weights.items():
        values[sum(place[one] for one in part)] = weight
    for one in names:
        halves = values.reshape(-1, 2, place[one])
        without, within = halves[:, 0].copy(), halves[:, 1].copy()
        halves[:, 0], halves[:, 1] = without - within, without + (sizes[one] - 1) * within
    return int(values.min())


def _one_by_one(weights: Mapping[Attributes, int], sizes: Sequence[int]) -> int:
    """Add up each residual's own least value: it differs in one attribute, the smallest."""
    total = 0
    for part, weight in weights.items():
        if part:
            total -= weight * (freedom(part, sizes) // (min(sizes[one] for one in part) - 1))
        else:
            total += weight
    return total


def _completed_square(weights: Mapping[Attributes, int], names: Sequence[int], sizes: Sequence[int]) -> int:
    """Bound residuals of at most two attributes from below.

    With g_i the factor of attribute i and any numbers a_i and s, the pairs are at least sum w_ij g_i g_j =
    ((sum a_i g_i)^2 - sum a_i^2 g_i^2)/2 + sum (w_ij - a_i a_j) g_i g_j, and a square is at least 2 s times its root
    less s^2; what is left is a sum over single attributes, and each is at its least by itself.
    """
    roots = _roots(weights, names, sizes)
    rest = Fraction(weights.get((), 0))
    for place, one in enumerate(names):
        for two in names[place + 1 :]:
            gap = abs(weights.get((one, two), 0) - roots[one] * roots[two])
            rest -= gap * (sizes[one] - 1) * (sizes[two] - 1)
    reach = float(sum(roots[one] * (sizes[one] - 1) for one in names))
    low, high = -reach, reach
    for _ in range(200):  # concave in s: a third of the range is left out each time; any s gives a bound
        left, right = low + (high - low) / 3, high - (high - low) / 3
        worse = _separate(weights, names, sizes, roots, left) < _separate(weights, names, sizes, roots, right)
        low, high = (left, high) if worse else (low, right)
    return math.floor(rest + _separate(weights, names, sizes, roots, Fraction(round(low))))


def _roots(weights: Mapping[Attributes, int], names: Sequence[int], sizes: Sequence[int]) -> dict[int, int]:
    """Return whole numbers a_i with a_i a_j about the weight of the pair: exact where all pairs were asked for once."""
    pairs = [weight for part, weight in weights.items() if len(part) == 2]
    level = math.sqrt(max(pairs, default=0) * min(sizes[one] for one in names))
    return {one: math.floor(level / math.sqrt(sizes[one])) for one in names}


def _separate(
    weights: Mapping[Attributes, int],
    names: Sequence[int],
    sizes: Sequence[int],
    roots: Mapping[int, int],
    s: Number,
) -> Number:
    """Return -s^2/2 plus the least sum of (w_i + s a_i) g_i - a_i^2 g_i^2 / 2: exactly, for a fraction s."""
    total = -s * s / 2
    for one in names:
        slope = weights.get((one,), 0) + s * roots[one]
        half = s * 0 + roots[one] ** 2
        total += min(slope * g - half * g * g / 2 for g in (sizes[one] - 1, -1))
    return total
