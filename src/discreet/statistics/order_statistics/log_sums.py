"""Sums of positive numbers known by their logarithms, of any size, running along an array and never by subtraction.

Every function errs by a little only. Let x_i be floats and M the largest |x_i|.

Lemma (running sums). `running` and `running_back` return, for every place, a float within (w + 64) 2^-46 + M 2^-46 of
the logarithm of the sum of exp(x) over the places of the same block up to (or from) that place, w the array's size.
Proof. In one piece: no partial sum is below e^-600 of the largest term, the reference, and terms are cut at e^-700 of
it, which adds less than w e^-100 of a sum. A difference to the reference is rounded by 2^-52 M, exp is within 2^-40
(assumption float-log-exp with its slack), w additions of positive floats are within w 2^-53, the logarithm and its sum
with the reference are within 2^-40 and 2^-53 (M + 64). What is carried from piece to piece passes through at most 64 of
them. By doubling: an addition of two logarithms is within 2^-53 M + 2^-39, does not increase errors it is given, and
there are at most 62 in a row.
Cost. Pieces are taken one by one if there are at most 64, otherwise at most log2 w passes are made: the numbers that
are added do not matter.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
NOTHING = -(2.0**900)  # the logarithm of nothing: finite, so that differences are numbers, and below every other
_LN_2 = math.log(2.0)
_RISE = 600.0
_CUT = -700.0
_MOST_PIECES = 64


def slack(size: int, largest: float) -> float:
    """Return more than what a running sum over so many numbers of at most this magnitude errs by, with room to spare.

    >>> slack(1000, 500.0) < 1e-5
    True
    """
    return 2.0**-20 + (size + 64 + largest) * 2.0**-43


def exps(values: Floats) -> Floats:
    """Return exp of numbers at or below 0, those below -700 raised to it."""
    found: Floats = np.exp(np.maximum(values, _CUT))
    return found


def logs(values: NDArray[np.float64] | Integers) -> Floats:
    """Return the logarithms of positive numbers, of any size."""
    part, power = np.frexp(values.astype(np.float64))
    found: Floats = np.log(part) + power * _LN_2
    return found


def added(first: Floats, second: Floats) -> Floats:
    """Return log(exp(first) + exp(second)), place by place.

    >>> round(float(added(np.array([0.0]), np.array([0.0]))[0]), 6)
    0.693147
    """
    high = np.maximum(first, second)
    found: Floats = high + np.log(1.0 + exps(np.minimum(first, second) - high))
    return found


def total(values: Floats) -> float:
    """Return the logarithm of the sum of all exp(values)."""
    high = float(values.max())
    return high + float(logs(np.array([exps(values - high).sum()]))[0])


def running(values: Floats, block: Integers) -> Floats:
    """Return the sums up to each place, anew where `block`, which never falls, changes.

    >>> running(np.zeros(4), np.array([0, 0, 1, 1])).round(4).tolist()
    [0.0, 0.6931, 0.0, 0.6931]
    """
    if not values.size:
        return values
    starts = np.flatnonzero(np.diff(block)) + 1
    pieces = starts.size + 1 + (float(values.max()) - float(values.min())) / _RISE
    if pieces > _MOST_PIECES:
        return _doubled(values, block)
    ends = [0, *(int(start) for start in starts), values.size]
    return np.concatenate([_piecewise(values[a:b]) for a, b in pairwise(ends)])


def running_back(values: Floats, block: Integers) -> Floats:
    """Return the sums from each place on, up to where `block` changes."""
    return running(values[::-1], -block[::-1])[::-1]


def _piecewise(values: Floats) -> Floats:
    """Return running sums in pieces within which the largest number so far rises by at most 600."""
    highest = np.maximum.accumulate(values)
    found = np.empty_like(values)
    begin, carried = 0, NOTHING
    while begin < values.size:
        end = int(np.searchsorted(highest, float(highest[begin]) + _RISE, side="right"))
        reference = float(highest[end - 1])
        terms = exps(values[begin:end] - reference)
        terms[0] += math.exp(max(carried - reference, _CUT))
        found[begin:end] = logs(np.cumsum(terms)) + reference
        begin, carried = end, float(found[end - 1])
    return found


def _doubled(values: Floats, block: Integers) -> Floats:
    """Return running sums by adding over 1, 2, 4, ... places."""
    found = values.copy()
    longest = int(np.diff(np.concatenate([[0], np.flatnonzero(np.diff(block)) + 1, [values.size]])).max())
    reach = 1
    while reach < longest:
        same = block[reach:] == block[:-reach]
        found[reach:] = np.where(same, added(found[reach:], found[:-reach]), found[reach:])
        reach *= 2
    return found
