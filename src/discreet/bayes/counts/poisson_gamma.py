"""Rates of groups: a Gamma prior of each, Poisson counts with a known exposure, noisy counts of groups and of sums."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base import Draws, Parameter, Posterior, Values, drawn_counts, positive
from discreet.bayes.counts.marginals import IntegerMarginal, MixtureOfGammas
from discreet.bayes.counts.model import CountModel, groups_shown, method
from discreet.bayes.counts.people import ScaledCellWeight, for_groups, stated_by_group
from discreet.bayes.counts.trees import CellPart, SolvedTree, TreePart, nested
from discreet.bayes.counts.weights import ReleasedWeight
from discreet.bayes.evidence import LatentCounts
from discreet.privacy import Target
from discreet.statistics.measurement import Measurement


@dataclass(frozen=True)
class PoissonGamma(CountModel):
    """A rate for each group from one Gamma prior, and Poisson counts: rate times exposure is the mean of the count.

    Accuracy. Exact, as `DirichletMultinomial` is; where no totals were released the groups are independent.
        Proof: with the rate integrated out the count is negative binomial, P(T) = c(T, a) q^T (1 - q)^a with
        c(t, a) = Gamma(t + a) / (Gamma(a) t!), a the shape and q = exposure / (rate + exposure); given T the rate is
        Gamma(a + T, rate + exposure), so its posterior law is a mixture of those. The prior is proper, so the posterior
        is.
    Cost. One window a group: 0.2 ms.
    Reference. Greenwood, Yule 1920.

    Args:
        shape: of the Gamma prior; it is worth as many events.
        rate: of the Gamma prior; it is worth as much exposure, so that shape / rate is the prior mean.
        exposures: public, such as person-years or thousands of inhabitants; one number, or a mapping from each group.
        one_row_a_person: states that nobody has two rows, where the policy does not say so.
        exhaustive: states that every row is in a listed group, where a total was released too.

    >>> PoissonGamma(shape=2, rate=1, exposures={"north": 12.5, "south": 8}).shape
    2
    """

    shape: float
    rate: float
    exposures: float | Mapping[Any, float] = 1.0
    one_row_a_person: bool = False
    exhaustive: bool = False

    def __post_init__(self) -> None:
        positive(self.shape, "shape")
        positive(self.rate, "rate")
        stated = stated_by_group(self.exposures, "exposures")
        for value in stated.values() if stated else [self.exposures]:
            positive(value, "exposures")

    def posterior_of(
        self, latent: LatentCounts, *, generator: np.random.Generator, measurements: Sequence[Measurement] = ()
    ) -> Posterior:
        """Return the exact posterior of rates and counts."""
        exposures, shape = self._exposures(latent.cells), float(self.shape)
        leaves = [self._leaf(exposure) for exposure in exposures]
        sets = []
        for seen in latent.observations:
            weight = ReleasedWeight(seen.noise, seen.released, seen.weight)
            if seen.members:
                sets.append((frozenset(seen.members), weight))
        trees = [SolvedTree(root) for root in nested(leaves, sets)]
        laws = _laws(trees, leaves)
        rates = float(self.rate) + exposures

        def drawn(chains: int, draws: int) -> Draws:
            found: dict[TreePart, NDArray[Any]] = {}
            for tree in trees:
                found.update(tree.drawn(chains * draws, generator))
            counts = np.stack([found[leaf] for leaf in leaves], axis=-1)
            return {
                name: groups_shown(values.reshape(chains, draws, -1), latent.cells)
                for name, values in (
                    ("rate", generator.standard_gamma(counts.astype(np.float64) + shape) / rates),
                    ("count", counts),
                )
            }

        return Posterior(
            model=self,
            measurements=tuple(measurements),
            parameters=_parameters(latent),
            drawn=drawn,
            method=method(sum(tree.error for tree in trees)),
            exact={
                "rate": tuple(
                    MixtureOfGammas(law.masses, shape + law.counts, np.full(len(law.masses), rate))
                    for law, rate in zip(laws, rates, strict=True)
                ),
                "count": laws,
            },
            log_evidence=sum(tree.log_weight for tree in trees),
            notes=latent.notes,
        )

    def drawn_prior(self, latent: LatentCounts, generator: np.random.Generator) -> Values:
        """Draw rates and counts."""
        exposures = self._exposures(latent.cells)
        rates = generator.standard_gamma(float(self.shape), len(exposures)) / float(self.rate)
        counts = drawn_counts(rates * exposures, generator)
        return {"rate": groups_shown(rates, latent.cells), "count": groups_shown(counts, latent.cells)}

    def drawn_cells(self, latent: LatentCounts, values: Values, generator: np.random.Generator) -> list[int]:
        """Return the counts, or draw them from the rates."""
        if "count" in values:
            return [int(one) for one in np.ravel(values["count"])]
        return [int(one) for one in drawn_counts(np.ravel(values["rate"]) * self._exposures(latent.cells), generator)]

    def _leaf(self, exposure: float) -> CellPart:
        """Return the negative binomial law of a count."""
        return CellPart(ScaledCellWeight(float(self.shape), -math.log1p(float(self.rate) / float(exposure))))

    def _exposures(self, cells: Sequence[tuple[Any, ...]]) -> NDArray[np.float64]:
        """Return the exposure of each cell."""
        stated = stated_by_group(self.exposures, "exposures")
        if stated is None:
            return np.full(len(cells), positive(self.exposures, "exposures"))
        remedy = "add it, or write exhaustive=True where it stands for rows in no group and there are none"
        return np.array([float(one) for one in for_groups(stated, cells, "exposures", remedy)])


def _laws(trees: Sequence[SolvedTree], leaves: Sequence[CellPart]) -> tuple[IntegerMarginal, ...]:
    """Return the law of every count."""
    found = {leaf: tree.law(leaf) for tree in trees for leaf in tree.root.cells()}
    return tuple(found[leaf] for leaf in leaves)


def _parameters(latent: LatentCounts) -> tuple[Parameter, ...]:
    """Return what the posterior is about."""
    groups = latent.cells if latent.cells != ((),) else ()
    return (
        Parameter("rate", "events for one unit of exposure in the population", Target.POPULATION, groups),
        Parameter("count", "number of events", Target.TABLE, groups),
    )
