"""A tree of noisy two-way histograms: one-ways first, then which pairs matter, then those pairs.

Which pairs matter is decided by private choices, each a pair or to stop; one distribution is then made of all
histograms by inverse variances, projection, and tables with given margins.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.display import Progress
from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.synthesis.base import Allowance, Neighbors, Noisy, Synthesizer, SyntheticRelease
from discreet.synthesis.domain import Domain, Records
from discreet.synthesis.methods.forest.forest import Forest
from discreet.synthesis.methods.forest.one_ways import (
    OneWays,
    checked_size,
    divided_by_size,
    measured_attributes,
    one_way_shares,
    onto_simplex,
    variance,
)
from discreet.synthesis.workloads import Workload

ONE_WAYS = Fraction(2, 5)
CHOICES = Fraction(3, 50)
GAUSSIAN_CHOICES = Fraction(2, 25)  # where choices cost pi/2 times as much of the amount, and the amount is larger
MOST_ATTRIBUTES = 1024  # with several values: 523 776 pairs
Floats = NDArray[np.float64]
_SWEEPS = 30
_TRACE = 1e-9
GRID = 16  # scores count sixteenths of a record, so that the rounding of small expected cells does not matter
MOST_CELLS = 1 << 20  # of one pair
ALL_CELLS = 1 << 30  # of all pairs that are looked at
_MODEL_ERROR = 0.25  # of a tree, as a frequency of the records: what noise is set beside
_LARGEST = float(1 << 56)  # records: sums of this many steps stay far from the ends of 64 bits
_MEAN_NORMAL = math.sqrt(2 / math.pi)  # the mean of |x| for a normal variable of deviation 1
_CHUNK_RECORDS = 1 << 14


@dataclass(frozen=True, kw_only=True)
class Tree(Synthesizer):
    """Measure each attribute, then pairs along a forest that private choices grow where dependence exceeds the noise.

    Privacy. The release keeps the guarantee of its allowance.
        Proof: 2/5 of the allowance goes to the one-ways. At most m - 1 choices, m the attributes with several values,
        get a share of c/(m - 1) each, c = 3/50, or 2/25 where the allowance is Gaussian. What they and the one-ways
        left, at least 3/5 - c, is divided over histograms that the released choices name, in parts that released and
        public numbers decide. So the shares add up to at most 1 whatever is chosen. Given what was released before, a
        step is as private as its share says, also where that share was decided by earlier results; by induction from
        the last step, so is the whole (`Allowance`). Everything after is made from what was released.
    Accuracy. The answers are exact for the released forest, with no sampling on top. Stopping competes with the pairs,
        so that where noise would cost more than dependence brings few edges are chosen, at a small price none at all,
        and what was left measures the one-ways again: the release is then about as good as `Independent`.
        An approximate price is divided as mu^2 (`Allowance.for_noise`): at (1, 1e-6) the noise of the one-ways has 0.87
        of the variance that it has as rho, that of pairs 0.90 and a choice 0.99 of the epsilon.
    Cost. One pass for each pair of attributes; the choices read at most one score for each pair. Above 1024 attributes
        with several values this method is refused; of very many cells the smallest pairs are looked at only, see
        `candidate_pairs`.
    Reference. McKenna, Miklau, Sheldon 2021, for the idea of noisy pairs along a spanning tree; Chow, Liu 1968, for
        trees as models.

    >>> from discreet.privacy import Relation
    >>> from discreet.synthesis import Domain, marginals
    >>> asked = marginals(
    ...     Domain.of(sex=["f", "m"], rooms=range(1, 6), tenure=["own", "rent"]), ways=2
    ... )
    >>> plan = Tree.of(
    ...     asked, Neighbors(Relation.CHANGE_ONE, 1000), epsilon=1, delta=1e-6
    ... ).plan
    >>> plan["most_edges"], str(plan["one_ways"]), str(plan["pairs"])
    (2, '2/5', '13/25')
    """

    name: ClassVar[str] = "tree"
    workload: Workload
    allowance: Allowance
    size: int

    def __post_init__(self) -> None:
        if not looks_at_pairs(self.workload.domain):
            raise ParameterError(
                f"a tree looks at every pair of attributes: at most {MOST_ATTRIBUTES} with several values, and this "
                "domain has more. Use `best` or `Independent`, or drop attributes.",
                parameter="workload",
            )

    @classmethod
    def of(
        cls,
        workload: Workload,
        neighbors: Neighbors,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        size: int | None = None,
    ) -> Tree:
        """State the price, and perhaps how many rows the synthetic table has."""
        allowance = Allowance.of(neighbors, epsilon=epsilon, delta=delta, rho=rho, mu=mu).for_noise()
        return cls(workload=workload, allowance=allowance, size=checked_size(size, workload.domain, neighbors))

    @property
    def most_edges(self) -> int:
        """The number of edges of a whole tree over the attributes with several values."""
        return max(len(measured_attributes(self.workload.domain)) - 1, 0)

    @property
    def choices(self) -> Fraction:
        """The share of all choices."""
        return GAUSSIAN_CHOICES if self.allowance.gaussian else CHOICES

    @property
    def step(self) -> Fraction:
        """The share of one choice."""
        return self.choices / max(self.most_edges, 1)

    @property
    def one_way_shares(self) -> dict[int, Fraction]:
        """The share of each one-way histogram, measured first."""
        return one_way_shares(self.workload.domain, ONE_WAYS, pure=self.allowance.pure)

    @property
    def deviation(self) -> float:
        """The deviation of the noise of a pair, if all edges are chosen and share alike."""
        return self.allowance.deviation((1 - ONE_WAYS - self.choices) / max(self.most_edges, 1))

    @property
    def plan(self) -> Mapping[str, Any]:
        """The rows of the table, how the allowance is divided, and the deviation of the noise of a pair."""
        return {
            "size": self.size,
            "one_ways": ONE_WAYS,
            "choices": self.choices,
            "pairs": 1 - ONE_WAYS - self.choices,
            "most_edges": self.most_edges,
            "candidates": len(candidate_pairs(self.workload.domain)),
            "deviation": self.deviation,
        }

    def _release(self, records: Records, progress: Progress) -> SyntheticRelease:
        """Measure the attributes, choose pairs, measure those, and answer from the forest."""
        one_ways = OneWays.measure(records, self.allowance, self.one_way_shares)
        progress(1, 4)
        selection = grow_forest(records, self.allowance, one_ways, deviation=self.deviation, step=self.step)
        progress(2, 4)
        pairs, again = self._measure(records, selection)
        progress(3, 4)
        model = forest(one_ways, again, pairs)
        names = self.workload.domain.names
        edges = tuple((names[one], names[other]) for one, other in selection.edges)
        evidence = {"edges": edges, "records": one_ways.total, "model": model}
        measured = [*one_ways.measured, *pairs.items(), *again.measured]
        release = self._made(model.table(self.size), model.answers(self.workload), evidence, measured=measured)
        progress(4, 4)
        return release

    def _measure(self, records: Records, selection: EdgeSelection) -> tuple[dict[tuple[int, int], Noisy], OneWays]:
        """Release the pairs, and once more the attributes that no pair has, with all that is left of the allowance."""
        touched = {place for edge in selection.edges for place in edge}
        alone = [place for place in measured_attributes(records.domain) if place not in touched]
        cells = [max(harm / max(self.deviation, 1e-6), 1.0) for harm in selection.harms]
        left = 1 - ONE_WAYS - selection.spent
        if not cells and not alone:
            return {}, OneWays(records.domain, {})
        divisions = divided_by_size(
            left, [*cells, *(records.domain.sizes[place] for place in alone)], pure=self.allowance.pure
        )
        again = OneWays.measure(records, self.allowance, dict(zip(alone, divisions[len(cells) :], strict=True)))
        histograms = pair_histograms(records, selection.edges)
        pairs = {
            edge: self.allowance.noisy(histogram, share)
            for edge, histogram, share in zip(selection.edges, histograms, divisions, strict=False)
        }
        return pairs, again


def looks_at_pairs(domain: Domain) -> bool:
    """Say whether the attributes are few enough for a tree; public."""
    return len(measured_attributes(domain)) <= MOST_ATTRIBUTES


@dataclass(frozen=True, eq=False)
class EdgeSelection:
    """The chosen edges, in order, what it would cost to measure each (in records), and the shares that were spent."""

    edges: tuple[tuple[int, int], ...]
    harms: tuple[float, ...]
    spent: Fraction


def grow_forest(
    records: Records, allowance: Allowance, one_ways: OneWays, *, deviation: float, step: Fraction
) -> EdgeSelection:
    """Choose edges until they connect all, or until stopping wins; each choice costs one step of the allowance.

    The score of a pair says by how much its dependence exceeds the noise; that of stopping is 0.

    Privacy. With k edges chosen it spent at most k + 1 steps, never more than the attributes with several values less
        one, and each choice has the sensitivity that it states.
        Proof: a step is one choice among pairs that join different trees, so after k edges there are as many trees as
        such attributes less k, and at one tree no pair is left. Penalties and the set of open pairs depend on what was
        released only, so one unit moves a pair's score as `distance_in_steps` says, and that of stopping not at all.
        Scores may rise and fall together on neighbors, so a choice is priced as one among scores of any direction.
    """
    pairs = candidate_pairs(records.domain)
    scores, harms = scored(records, pairs, one_ways, deviation)
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    trees, left = np.arange(len(records.domain)), np.arange(len(pairs))
    chosen, steps = list[int](), 0
    while len(left):
        steps += 1
        pick = allowance.choose(np.append(scores[left], 0), step, sensitivity=GRID * allowance.neighbors.l1)
        if pick == len(left):
            break
        chosen.append(int(left[pick]))
        one, other = ends[chosen[-1]]
        trees[trees == trees[other]] = trees[one]
        left = left[trees[ends[left, 0]] != trees[ends[left, 1]]]
    return EdgeSelection(tuple(pairs[place] for place in chosen), tuple(harms[chosen].tolist()), steps * step)


def scored(
    records: Records, pairs: Sequence[tuple[int, int]], one_ways: OneWays, deviation: float
) -> tuple[NDArray[np.int64], Floats]:
    """Return each pair's score, which is private, and the harm that noise would do to it, which is not.

    The score is the distance from the product of the noisy one-ways, less what their own noise adds to that distance,
    less the penalty for the noise of measuring the pair.
    """
    shares, total = one_ways.frequencies(), one_ways.total
    alone = {place: _MEAN_NORMAL * harm(shares[place] * total, one.deviation) for place, one in one_ways.noisy.items()}
    scores, harms = np.zeros(len(pairs), dtype=np.int64), np.zeros(len(pairs))
    for place, ((one, other), histogram) in enumerate(zip(pairs, pair_histograms(records, pairs), strict=True)):
        product = np.outer(shares[one], shares[other]) * total
        harms[place] = harm(product, deviation)
        taken = penalty(float(harms[place]), total) + round(GRID * min(alone[one] + alone[other], _LARGEST))
        scores[place] = distance_in_steps(histogram, product) - taken
    return scores, harms


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

    Privacy. One unit moves it by at most 16 times the L1 distance of the histograms of neighbors.
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
    """Return the steps to take off a pair's score for an L1 error by noise.

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


def forest(one_ways: OneWays, again: OneWays, pairs: Mapping[tuple[int, int], Noisy]) -> Forest:
    """Return the forest that noisy histograms tell."""
    total = one_ways.total
    shares = combined_shares(one_ways, again, pairs, total)
    joints = [
        fitted(np.asarray(noisy.values / total), shares[one], shares[other]) for (one, other), noisy in pairs.items()
    ]
    return Forest.of(one_ways.domain, shares, list(pairs), joints)


def combined_shares(
    one_ways: OneWays, again: OneWays, pairs: Mapping[tuple[int, int], Noisy], total: float
) -> tuple[Floats, ...]:
    """Return each attribute's frequencies from all histograms that have it, weighted by the inverse of their variances.

    The margin of a pair's histogram has the variance of as many cells as the other attribute has.
    """
    sizes = one_ways.domain.sizes
    sums, weights = [np.zeros(size) for size in sizes], [0.0] * len(sizes)

    def add(place: int, counts: Floats, spread: float) -> None:
        sums[place] += counts / spread
        weights[place] += 1 / spread

    for measured in (one_ways, again):
        for place, noisy in measured.noisy.items():
            add(place, noisy.values.astype(np.float64), variance(noisy))
    for (one, other), noisy in pairs.items():
        add(one, noisy.values.sum(axis=1, dtype=np.float64), variance(noisy) * sizes[other])
        add(other, noisy.values.sum(axis=0, dtype=np.float64), variance(noisy) * sizes[one])
    return tuple(
        onto_simplex(held / weight / total) if weight else np.full(len(held), 1 / len(held))
        for held, weight in zip(sums, weights, strict=True)
    )


def fitted(noisy: Floats, rows: Floats, columns: Floats) -> Floats:
    """Return a table with these margins, at least 0 everywhere, near a noisy one.

    The margins are set right by equal shifts, entries below 0 are projected away within each row and within each column
    (the mean of both), and alternating scaling fits the margins again. A trace of the product keeps every row and
    column possible.
    """
    centered = noisy + ((rows - noisy.sum(axis=1)) / len(columns))[:, None]
    centered = centered + ((columns - centered.sum(axis=0)) / len(rows))[None, :]
    by_rows = np.stack([onto_simplex(one, share) for one, share in zip(centered, rows, strict=True)])
    by_columns = np.stack([onto_simplex(one, share) for one, share in zip(centered.T, columns, strict=True)], axis=1)
    table = (by_rows + by_columns) / 2 + _TRACE * np.outer(rows, columns)
    for _ in range(_SWEEPS):
        table *= _ratio(rows, table.sum(axis=1))[:, None]
        table *= _ratio(columns, table.sum(axis=0))[None, :]
    return table


def _ratio(wanted: Floats, held: Floats) -> Floats:
    """Return what to multiply by, 0 where nothing is wanted or held."""
    ratio: Floats = np.divide(wanted, held, out=np.zeros_like(wanted), where=held > 0)
    return ratio
