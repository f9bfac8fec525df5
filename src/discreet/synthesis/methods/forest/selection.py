"""Which pairs of attributes to measure: a forest grown by private choices, each a pair or to stop."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.synthesis.base import Purse
from discreet.synthesis.domain import Domain, Records
from discreet.synthesis.methods.forest.one_ways import OneWays, measured_attributes

Floats = NDArray[np.float64]
GRID = 16  # scores count sixteenths of a record, so that the rounding of small expected cells does not matter
MOST_CELLS = 1 << 20  # of one pair
ALL_CELLS = 1 << 30  # of all pairs that are looked at
_MODEL_ERROR = 0.25  # of a tree, as a share of the records: what noise is set beside
_LARGEST = float(1 << 56)  # records: sums of so many steps stay far from the ends of 64 bits
_MEAN_NORMAL = math.sqrt(2 / math.pi)  # the mean of |x| for a normal variable of deviation 1
_CHUNK_RECORDS = 1 << 14


@dataclass(frozen=True, eq=False)
class Selection:
    """The chosen edges, in order, what it would cost to measure each (in records), and the shares that were spent."""

    edges: tuple[tuple[int, int], ...]
    harms: tuple[float, ...]
    spent: Fraction


def candidate_pairs(domain: Domain) -> list[tuple[int, int]]:
    """Return the pairs of attributes with several values that have at most 2^20 cells, the smallest first to fit 2^30.

    A public rule: it reads the sizes of the attributes only.
    """
    places = np.array(measured_attributes(domain), dtype=np.int64)
    one, other = (places[rank] for rank in np.triu_indices(len(places), 1))
    sizes = np.array(domain.sizes, dtype=np.int64)
    cells = sizes[one] * sizes[other]
    rising = np.argsort(cells, kind="stable")
    fitting = (cells[rising] <= MOST_CELLS) & (np.cumsum(cells[rising]) <= ALL_CELLS)
    kept = np.sort(rising[fitting])
    return list(zip(one[kept].tolist(), other[kept].tolist(), strict=True))


def distance_in_steps(histogram: NDArray[np.int64], expected: Floats) -> int:
    """Return the L1 distance of a histogram from expected counts, in whole steps of 1/16 record.

    Privacy. One unit moves it by at most 16 times the L1 distance of the histograms of neighbours.
        Proof: the expected counts are rounded to whole steps first and are the same for both tables, the histogram is
        whole; then the triangle inequality. Expected counts are cut off so that no sum leaves 64 bits: one that came
        back at the other end would jump.
    """
    steps = np.rint(GRID * np.minimum(expected, _LARGEST / expected.size)).astype(np.int64)
    return int(np.abs(GRID * histogram - steps).sum())


def harm(expected: Floats, deviation: float) -> float:
    """Return about how many records' worth of L1 error noise adds to a histogram, from what is released and public.

    Noise moves a cell by no more than its deviation on average. Where cells expect fewer records than that, projection
    keeps the sum, and what it puts wrong there is at most twice what there is.
    """
    return float(np.minimum(2 * expected, deviation).sum())


def penalty(noise: float, total: float) -> int:
    """Return the steps to take off a pair's score for so much L1 error by noise.

    Independent errors add in squares: beside an error E of the model, noise x adds about x^2 / (2 E), and never more
    than x.
    """
    return round(GRID * min(noise, noise / (2 * _MODEL_ERROR * total) * noise, _LARGEST))


def pair_histograms(records: Records, pairs: Sequence[tuple[int, int]]) -> Iterator[NDArray[np.int64]]:
    """Yield the two-way histogram of each pair."""
    sizes = np.array(records.domain.sizes)
    width = int(sizes.sum())
    if width <= 3 * len(sizes) and len(pairs) >= 16 * len(sizes) and width <= 8192:
        together, offsets = _gram(records), np.concatenate([[0], np.cumsum(sizes)])
        for one, other in pairs:
            yield together[offsets[one] : offsets[one + 1], offsets[other] : offsets[other + 1]]
        return
    wide, last = np.zeros(0, dtype=np.int64), -1
    for one, other in pairs:
        if one != last:
            wide, last = records.codes[one].astype(np.int64), one
        joined = wide * sizes[other] + records.codes[other]
        yield np.bincount(joined, minlength=sizes[one] * sizes[other]).reshape(sizes[one], sizes[other])


def _gram(records: Records) -> NDArray[np.int64]:
    """Return all two-way histograms of many small attributes at once, as products of one-hot columns."""
    offsets = np.concatenate([[0], np.cumsum(records.domain.sizes)])
    total = np.zeros((offsets[-1], offsets[-1]), dtype=np.int64)
    for start in range(0, len(records), _CHUNK_RECORDS):
        codes = records.codes[:, start : start + _CHUNK_RECORDS].astype(np.int64) + offsets[:-1, None]
        columns = np.zeros((offsets[-1], codes.shape[1]), dtype=np.float32)  # sums stay below 2^24: exact
        columns[codes, np.arange(codes.shape[1])[None, :]] = 1
        total += (columns @ columns.T).astype(np.int64)
    return total


def scored(
    records: Records, pairs: Sequence[tuple[int, int]], one_ways: OneWays, deviation: float
) -> tuple[NDArray[np.int64], Floats]:
    """Return each pair's score, which is private, and the harm that noise would do to it, which is not.

    The score is the distance from the product of the noisy one-ways, less what their own noise adds to that distance,
    less the penalty for the noise of measuring the pair.
    """
    shares, total = one_ways.shares(), one_ways.total
    alone = {place: _MEAN_NORMAL * harm(shares[place] * total, one.deviation) for place, one in one_ways.noisy.items()}
    scores, harms = np.zeros(len(pairs), dtype=np.int64), np.zeros(len(pairs))
    for place, ((one, other), histogram) in enumerate(zip(pairs, pair_histograms(records, pairs), strict=True)):
        product = np.outer(shares[one], shares[other]) * total
        harms[place] = harm(product, deviation)
        taken = penalty(float(harms[place]), total) + round(GRID * min(alone[one] + alone[other], _LARGEST))
        scores[place] = distance_in_steps(histogram, product) - taken
    return scores, harms


def grow_forest(records: Records, purse: Purse, one_ways: OneWays, *, deviation: float, step: Fraction) -> Selection:
    """Choose edges until they connect all, or until stopping wins; each choice costs one step of the purse.

    The score of a pair says by how much its dependence exceeds the noise; that of stopping is 0.

    Privacy. With k edges chosen it spent at most k + 1 steps, never more than the attributes with several values less
        one, and each choice has the sensitivity that it states.
        Proof: a step is one choice among pairs that join different trees, so after k edges there are as many trees as
        such attributes less k, and at one tree no pair is left. Penalties and the set of open pairs depend on what was
        released only, so one unit moves a pair's score as `distance_in_steps` says, and that of stopping not at all.
        Scores may rise and fall together on neighbours, so a choice is priced as one among scores of any direction.
    """
    pairs = candidate_pairs(records.domain)
    scores, harms = scored(records, pairs, one_ways, deviation)
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    trees, left = np.arange(len(records.domain)), np.arange(len(pairs))
    chosen, steps = list[int](), 0
    while len(left):
        steps += 1
        pick = purse.choose(np.append(scores[left], 0), step, sensitivity=GRID * purse.neighbours.l1)
        if pick == len(left):
            break
        chosen.append(int(left[pick]))
        one, other = ends[chosen[-1]]
        trees[trees == trees[other]] = trees[one]
        left = left[trees[ends[left, 0]] != trees[ends[left, 1]]]
    return Selection(tuple(pairs[place] for place in chosen), tuple(harms[chosen].tolist()), steps * step)
