"""Poisson regression on the cells of a noisy table, with public exposures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base import Normal, Parameter, Values, drawn_counts
from discreet.bayes.evidence import LatentCounts
from discreet.bayes.regression.cells import Group, ListedCells, by_group, rate_cells, summed
from discreet.bayes.regression.likelihoods import RateLikelihood
from discreet.bayes.regression.linear import CellRegression, of_groups
from discreet.errors import MissingParameter
from discreet.statistics.measurement import MeasurementPlan

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class PoissonCells(CellRegression):
    """The logarithm of a rate is linear in the keys of an answer: how many cases per person-year, from noisy counts.

    The count of a cell is Poisson with mean rate times exposure; `exposures` are public, one for all cells or one for
    each, such as person-years or the people of an area. Coefficients have independent normal priors.

    Accuracy. The likelihood of a cell is that of the noisy integers themselves, summed over all counts they may come
        from, within 1e-6: see `RateLikelihood`.
    Cost. Some 5 ms a cell and 30 ms a thousand draws.

    >>> from discreet import Laplace
    >>> from discreet.bayes import Normal, noisy_counts, posterior
    >>> answer = noisy_counts(
    ...     {"a": 41, "b": 98}, noise=Laplace(epsilon=1, sensitivity=1), key="ward"
    ... )
    >>> found = posterior(
    ...     answer,
    ...     PoissonCells(exposures={"a": 1000, "b": 1200}, intercept=Normal(-3, 2)),
    ...     seed=1,
    ... )
    >>> found.draws["rate"].mean(axis=(0, 1)).round(2).tolist()
    [0.04, 0.08]
    """

    intercept: Normal = None  # type: ignore[assignment]  # a rate has a unit: no prior of it fits all
    exposures: float | Mapping[Any, float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.exposures is None:
            raise MissingParameter(
                'exposures must be stated; got none, write exposures={"a": 1000, "b": 1200}, or exposures=1 for rates '
                "per cell",
                parameter="exposures",
            )

    def _exposures(self, listed: ListedCells) -> list[float]:
        stated = by_group(self.exposures, "exposures", listed.keys, whole=False, example='exposures={"a": 1000, ...}')
        return [] if stated is None else [float(one) for one in stated.values()]

    def _predictors(self, listed: ListedCells) -> tuple[tuple[str, ...], tuple[Group, ...]]:
        return listed.key_names, listed.keys

    def _likelihood(self, listed: ListedCells, counts: LatentCounts) -> RateLikelihood:
        return RateLikelihood(rate_cells(listed, counts), self._exposures(listed))

    def _parameter(self, keys: tuple[str, ...], groups: tuple[Group, ...]) -> Parameter:
        return of_groups("rate", "mean count per unit of exposure", groups, keys)

    def _link(self, predictor: Floats) -> Floats:
        return np.exp(predictor)

    def integers(
        self, values: Values, plans: Sequence[MeasurementPlan], generator: np.random.Generator
    ) -> list[NDArray[Any]]:
        """Draw the counts of all cells given the rates."""
        listed = ListedCells.of(plans)
        means = np.ravel(values["rate"]) * np.array(self._exposures(listed))
        counts = dict(zip(listed.keys, drawn_counts(means, generator).tolist(), strict=True))
        return [summed(listed, plan, counts) for plan in plans]
