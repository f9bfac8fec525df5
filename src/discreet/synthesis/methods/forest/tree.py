"""A tree of noisy two-way histograms: one-ways first, then which pairs matter, then those pairs.

One distribution from overlapping noisy histograms: inverse variances, projection, and tables with given margins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.synthesis.base import Neighbours, Noisy, Progress, Purse, Release, Synthesizer
from discreet.synthesis.domain import Domain, Records
from discreet.synthesis.methods.forest.forest import Forest
from discreet.synthesis.methods.forest.one_ways import (
    OneWays,
    checked_rows,
    divided_by_size,
    measured_attributes,
    one_way_shares,
    onto_simplex,
    variance,
)
from discreet.synthesis.methods.forest.selection import Selection, candidate_pairs, grow_forest, pair_histograms
from discreet.synthesis.workloads import Workload

ONE_WAYS = Fraction(2, 5)
CHOICES = Fraction(3, 50)
MOST_ATTRIBUTES = 1024  # with several values: 523 776 pairs


@dataclass(frozen=True, kw_only=True)
class Tree(Synthesizer):
    """Measure each attribute, then pairs along a forest that private choices grow where dependence exceeds the noise.

    Privacy. The release keeps the promise of its purse.
        Proof: 2/5 of the purse goes to the one-ways. At most m - 1 choices, m the attributes with several values, get a
        share of (3/50) / (m - 1) each. What they and the one-ways left, at least 27/50, is divided over histograms
        that the released choices name, in parts that released and public numbers decide. So the shares add up to at
        most 1 whatever is chosen. Given what was released before, a step is as private as its share says, also where
        that share was decided by earlier results; by induction from the last step, so is the whole. Everything after is
        made from what was released.
    Accuracy. The answers are exact for the released forest, with no sampling on top. Stopping competes with the pairs,
        so that where noise would cost more than dependence brings few edges are chosen, at a small price none at all,
        and what was left measures the one-ways again: the release is then about as good as `Independent`.
    Cost. One pass for each pair of attributes; the choices read at most one score for each pair. Above 1024 attributes
        with several values this method is refused; of very many cells the smallest pairs are looked at only, see
        `candidate_pairs`.
    Reference. McKenna, Miklau, Sheldon 2021, for the idea of noisy pairs along a spanning tree; Chow, Liu 1968, for
        trees as models.

    >>> from discreet.privacy import Relation
    >>> from discreet.synthesis import Domain, marginals
    >>> asked = marginals(Domain.of(sex=["f", "m"], rooms=range(1, 6), tenure=["own", "rent"]), ways=2)
    >>> plan = Tree.of(asked, Neighbours(Relation.CHANGE_ONE, 1000), epsilon=1, delta=1e-6).plan
    >>> plan["most_edges"], str(plan["one_ways"]), str(plan["pairs"])
    (2, '2/5', '27/50')
    """

    name: ClassVar[str] = "tree"
    workload: Workload
    purse: Purse
    rows: int

    def __post_init__(self) -> None:
        """Refuse more attributes than pairs can be looked at."""
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
        neighbours: Neighbours,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        rows: int | None = None,
    ) -> Tree:
        """State the price, and perhaps how many rows the synthetic table has."""
        purse = Purse.of(neighbours, epsilon=epsilon, delta=delta, rho=rho)
        return cls(workload=workload, purse=purse, rows=checked_rows(rows, workload.domain, neighbours))

    @property
    def most_edges(self) -> int:
        """The number of edges of a whole tree over the attributes with several values."""
        return max(len(measured_attributes(self.workload.domain)) - 1, 0)

    @property
    def step(self) -> Fraction:
        """The share of one choice."""
        return CHOICES / max(self.most_edges, 1)

    @property
    def one_way_shares(self) -> dict[int, Fraction]:
        """The share of each one-way histogram, measured first."""
        return one_way_shares(self.workload.domain, ONE_WAYS, pure=self.purse.pure)

    @property
    def deviation(self) -> float:
        """The deviation of the noise of a pair, if all edges are chosen and share alike."""
        return self.purse.deviation((1 - ONE_WAYS - CHOICES) / max(self.most_edges, 1))

    @property
    def plan(self) -> Mapping[str, Any]:
        """The rows of the table, how the purse is divided, and the deviation of the noise of a pair."""
        return {
            "rows": self.rows,
            "one_ways": ONE_WAYS,
            "choices": CHOICES,
            "pairs": 1 - ONE_WAYS - CHOICES,
            "most_edges": self.most_edges,
            "candidates": len(candidate_pairs(self.workload.domain)),
            "deviation": self.deviation,
        }

    def _release(self, records: Records, progress: Progress) -> Release:
        """Measure the attributes, choose pairs, measure those, and answer from the forest."""
        one_ways = OneWays.measure(records, self.purse, self.one_way_shares)
        progress(1, 4)
        selection = grow_forest(records, self.purse, one_ways, deviation=self.deviation, step=self.step)
        progress(2, 4)
        pairs, again = self._measure(records, selection)
        progress(3, 4)
        model = forest(one_ways, again, pairs)
        release = Release(
            method=self.name,
            workload=self.workload,
            neighbours=self.purse.neighbours,
            guarantee=self.guarantee,
            table=model.table(self.rows),
            answers=model.answers(self.workload),
            plan=self.plan,
            evidence=self._evidence(selection, one_ways.total, model),
        )
        progress(4, 4)
        return release

    def _measure(self, records: Records, selection: Selection) -> tuple[dict[tuple[int, int], Noisy], OneWays]:
        """Release the pairs, and once more the attributes that no pair has, with all that is left of the purse."""
        touched = {place for edge in selection.edges for place in edge}
        alone = [place for place in measured_attributes(records.domain) if place not in touched]
        cells = [max(harm / max(self.deviation, 1e-6), 1.0) for harm in selection.harms]
        left = 1 - ONE_WAYS - selection.spent
        if not cells and not alone:
            return {}, OneWays(records.domain, {})
        divisions = divided_by_size(
            left, [*cells, *(records.domain.sizes[place] for place in alone)], pure=self.purse.pure
        )
        again = OneWays.measure(records, self.purse, dict(zip(alone, divisions[len(cells) :], strict=True)))
        histograms = pair_histograms(records, selection.edges)
        pairs = {
            edge: self.purse.noisy(histogram, share)
            for edge, histogram, share in zip(selection.edges, histograms, divisions, strict=False)
        }
        return pairs, again

    def _evidence(self, selection: Selection, total: float, model: Forest) -> Mapping[str, Any]:
        """Return the chosen pairs by name, the noisy number of records, and the model."""
        names = self.workload.domain.names
        edges = tuple((names[one], names[other]) for one, other in selection.edges)
        return {"edges": edges, "records": total, "model": model}


def looks_at_pairs(domain: Domain) -> bool:
    """Say whether the attributes are few enough for a tree; public."""
    return len(measured_attributes(domain)) <= MOST_ATTRIBUTES


def forest(one_ways: OneWays, again: OneWays, pairs: Mapping[tuple[int, int], Noisy]) -> Forest:
    """Return the forest that noisy histograms tell."""
    total = one_ways.total
    shares = combined_shares(one_ways, again, pairs, total)
    joints = [
        fitted(np.asarray(noisy.values / total), shares[one], shares[other]) for (one, other), noisy in pairs.items()
    ]
    return Forest.of(one_ways.domain, shares, list(pairs), joints)


Floats = NDArray[np.float64]
_SWEEPS = 30
_TRACE = 1e-9


def combined_shares(
    one_ways: OneWays, again: OneWays, pairs: Mapping[tuple[int, int], Noisy], total: float
) -> tuple[Floats, ...]:
    """Return each attribute's shares from all histograms that have it, weighted by the inverse of their variances.

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
    centred = noisy + ((rows - noisy.sum(axis=1)) / len(columns))[:, None]
    centred = centred + ((columns - centred.sum(axis=0)) / len(rows))[None, :]
    by_rows = np.stack([onto_simplex(one, share) for one, share in zip(centred, rows, strict=True)])
    by_columns = np.stack([onto_simplex(one, share) for one, share in zip(centred.T, columns, strict=True)], axis=1)
    table = (by_rows + by_columns) / 2 + _TRACE * np.outer(rows, columns)
    for _ in range(_SWEEPS):
        table *= _ratio(rows, table.sum(axis=1))[:, None]
        table *= _ratio(columns, table.sum(axis=0))[None, :]
    return table


def _ratio(wanted: Floats, held: Floats) -> Floats:
    """Return what to multiply by, 0 where nothing is wanted or held."""
    ratio: Floats = np.divide(wanted, held, out=np.zeros_like(wanted), where=held > 0)
    return ratio
