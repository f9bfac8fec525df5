"""Small areas by partial pooling of shares: log odds of areas come from one normal law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base import HalfNormal, LogNormal, Model, Normal, Parameter, Posterior, Prior, Values
from discreet.bayes.evidence import counting, latent_counts
from discreet.bayes.regression.areas.plane import Plane, Wedge
from discreet.bayes.regression.areas.pooled_shares import PooledShares
from discreet.bayes.regression.cells import ListedCells, Sides, by_group, of_groups, require_success
from discreet.bayes.regression.likelihoods import DEPTHS, ShareCell, ShareLikelihood, too_far
from discreet.display import Progress
from discreet.errors import ParameterError
from discreet.privacy import Target
from discreet.statistics.measurement import Measurement, MeasurementPlan

Floats = NDArray[np.float64]
_CENTER, _SPREAD = Normal(0.0, 1.5), HalfNormal(1.0)
_LOOKS = 400
_LEAST = 1e-6  # a spread this small is none


@dataclass(frozen=True, kw_only=True)
class SmallAreaShares(Model):
    """Log odds of areas are normal about an unknown center with an unknown spread; both sides are counted with noise.

    The answer counts people by a key with the values success and failure, and by the areas. The number of people of an
    area is `people`, one for all or one for each, else unknown with a flat prior; a noisy total is used where it was
    released too. `rows_expected` is used to simulate answers only, where sizes are unknown.

    Accuracy. Draws are independent. The likelihood of an area is that of its noisy integers, see `ShareLikelihood`; it
        is integrated against the normal law for every pair of hyperparameters, which are drawn from a spline of their
        density on a grid, see `Plane`; then log odds are drawn exactly given them, see `PooledShares`.
    Cost. Some 10 ms an area for its table, and .03 s for its draws.

    >>> from discreet import Laplace
    >>> from discreet.bayes import noisy_counts, posterior
    >>> counts = {("a", "yes"): 3, ("a", "no"): 24, ("b", "yes"): 9, ("b", "no"): 20}
    >>> counts |= {("c", "yes"): 4, ("c", "no"): 15, ("d", "yes"): 21, ("d", "no"): 30}
    >>> noise = Laplace(epsilon=1, sensitivity=1)
    >>> answer = noisy_counts(counts, noise=noise, key=["area", "ill"])
    >>> found = posterior(answer, SmallAreaShares(success=("ill", "yes")), seed=1)
    >>> found.draws["share"].mean(axis=(0, 1)).round(1).tolist()
    [0.2, 0.3, 0.2, 0.4]
    """

    success: tuple[str, Any]
    failure: Any = None
    center: Normal = _CENTER
    spread: Prior = _SPREAD
    people: int | Mapping[Any, int] | None = None
    rows_expected: int | Mapping[Any, int] | None = None
    exhaustive: bool = False
    one_row_a_person: bool = False

    def __post_init__(self) -> None:
        require_success(self.success)
        if not isinstance(self.center, Normal) or not isinstance(self.spread, HalfNormal | LogNormal):
            raise ParameterError(
                "center must be a proper normal law and spread a proper prior of a positive number; got another, write "
                "center=Normal(0, 1.5) and spread=HalfNormal(1)",
                parameter="center",
            )

    def fit(
        self, measurements: Sequence[Measurement], *, generator: np.random.Generator, progress: Progress
    ) -> Posterior:
        """Return the posterior of the hyperparameters and of the share of every area."""
        from scipy.special import expit

        listed = ListedCells.of([one.plan for one in measurements])
        sides = Sides.of(listed, self.success, self.failure)
        counts = latent_counts(measurements, one_row_a_person=self.one_row_a_person, exhaustive=self.exhaustive)
        people = by_group(self.people, "people", sides.groups, whole=True, example="people=50")
        areas, plane = self._solved(sides.share_cells(listed, counts, people), generator)

        def drawn(chains: int, draws: int) -> dict[str, Floats]:
            center, spread = plane.drawn(chains * draws, generator)
            spread = np.maximum(spread, _LEAST)
            shares = expit(areas.drawn(center, spread, generator)).reshape(chains, draws, -1)
            return {
                "share": shares if sides.groups != ((),) else shares[..., 0],
                "center": center.reshape(chains, draws),
                "spread": spread.reshape(chains, draws),
            }

        progress(1, 1)
        return Posterior(
            model=self,
            measurements=counting(measurements),
            parameters=(
                of_groups("share", f"share of {self.success[0]} = {self.success[1]}", sides.groups, sides.predictors),
                Parameter("center", "center of the log odds of areas", Target.POPULATION),
                Parameter("spread", "standard deviation of the log odds of areas", Target.POPULATION),
            ),
            drawn=drawn,
            method="hyperparameters by quadrature, areas exactly given them",
            log_evidence=plane.log_total,
            notes=counts.notes,
        )

    def _solved(self, cells: Sequence[ShareCell], generator: np.random.Generator) -> tuple[PooledShares, Plane]:
        """Return areas whose tables reach as deep as their log odds do, and the law of the hyperparameters."""
        for depth in DEPTHS:
            table = ShareLikelihood(cells, depth)
            areas = PooledShares(table)

            def log_density(center: Floats, spread: Floats, areas: PooledShares = areas) -> Floats:
                wide = np.maximum(spread, _LEAST)
                prior = self.center.log_density(center) + self.spread.log_density(wide)
                return np.asarray(prior + areas.log_likelihood(center, wide))

            wedge = Wedge.of(log_density, self.center, self.spread, areas.least_spread())
            plane = Plane.of(log_density, wedge, generator=generator)
            look = generator.spawn(1)[0]
            center, spread = plane.drawn(_LOOKS, look)
            if table.within(areas.drawn(center, np.maximum(spread, _LEAST), look)):
                return areas, plane
        raise too_far()

    def prior(self, plans: Sequence[MeasurementPlan], generator: np.random.Generator) -> Values:
        """Draw the hyperparameters, then the shares."""
        from scipy.special import expit

        groups = Sides.of(ListedCells.of(plans), self.success, self.failure).groups
        center, spread = self.center.draw(generator), max(float(self.spread.draw(generator)), _LEAST)
        shares = expit(generator.normal(center, spread, len(groups)))
        return {
            "share": shares if groups != ((),) else shares[0],
            "center": np.asarray(center),
            "spread": np.asarray(spread),
        }

    def integers(
        self, values: Values, plans: Sequence[MeasurementPlan], generator: np.random.Generator
    ) -> list[NDArray[Any]]:
        """Draw the people of every area given the shares; sizes are `people`, else Poisson about `rows_expected`."""
        listed = ListedCells.of(plans)
        sides = Sides.of(listed, self.success, self.failure)
        return sides.drawn(listed, values["share"], self.people, self.rows_expected, plans, generator)
