"""What the exact count models share: the latent counts they read, and how they are drawn forward."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base import Model, Posterior, Values
from discreet.bayes.evidence import LatentCounts, counting, latent_counts, planned_counts
from discreet.display import Progress
from discreet.statistics.measurement import Counts, Measurement, MeasurementPlan


class CountModel(Model):
    """A model of counts of people, each in one cell: its posterior is a finite sum, and needs no Markov chain."""

    one_row_a_person: bool
    exhaustive: bool

    @abstractmethod
    def posterior_of(
        self, latent: LatentCounts, *, generator: np.random.Generator, measurements: Sequence[Measurement] = ()
    ) -> Posterior:
        """Return the posterior given what was released about sums of cells."""

    @abstractmethod
    def drawn_prior(self, latent: LatentCounts, generator: np.random.Generator) -> Values:
        """Draw the parameters once from the prior."""

    @abstractmethod
    def drawn_cells(self, latent: LatentCounts, values: Values, generator: np.random.Generator) -> list[int]:
        """Draw how many people are in each cell, given the parameters."""

    def fit(
        self, measurements: Sequence[Measurement], *, generator: np.random.Generator, progress: Progress
    ) -> Posterior:
        """Return the exact posterior."""
        latent = latent_counts(measurements, one_row_a_person=self.one_row_a_person, exhaustive=self.exhaustive)
        found = self.posterior_of(latent, generator=generator, measurements=counting(measurements))
        progress(1, 1)
        return found

    def prior(self, plans: Sequence[MeasurementPlan], generator: np.random.Generator) -> Values:
        """Draw the parameters once from the prior, with the counts that they imply."""
        return self.drawn_prior(self._empty(plans), generator)

    def integers(
        self, values: Values, plans: Sequence[MeasurementPlan], generator: np.random.Generator
    ) -> list[NDArray[Any]]:
        """Draw the people in the cells; return what they add up to: (entries, groups), 0 where nobody is counted."""
        latent = self._empty(plans)
        cells = self.drawn_cells(latent, values, generator)
        sums = [seen.weight * sum(cells[place] for place in seen.members) for seen in latent.observations]
        rest = iter(sums)
        return [
            _row([next(rest) for _ in plan.keys])
            if isinstance(plan.adds_up, Counts)
            else np.zeros((plan.adds_up.entries, len(plan.keys)), dtype=np.int64)
            for plan in plans
        ]

    def _empty(self, plans: Sequence[MeasurementPlan]) -> LatentCounts:
        """Return the cells of plans."""
        return planned_counts(plans, one_row_a_person=self.one_row_a_person, exhaustive=self.exhaustive)


def method(error: float) -> str:
    """Return how exact a posterior is, in words."""
    digits = max(-15, math.ceil(math.log10(max(error, 1e-15))))
    return f"exact to 1e{digits:03d}"


def groups_shown(values: NDArray[Any], groups: Sequence[tuple[Any, ...]]) -> NDArray[Any]:
    """Return values with the groups last, or without that axis where there are no keys."""
    return values[..., 0] if tuple(groups) == ((),) else values


def _row(sums: list[int]) -> NDArray[Any]:
    """Return one entry: int64 where it fits."""
    exact = np.array([*sums, None], dtype=object)[:-1].reshape(1, -1)
    return exact.astype(np.int64) if all(abs(one) < 1 << 62 for one in sums) else exact
