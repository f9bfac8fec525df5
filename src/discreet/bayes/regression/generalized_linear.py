"""Generalized linear models of cells: coefficients with normal priors, the keys as predictors, noisy counts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base import Model, Normal, Parameter, Posterior, Values, drawn_counts
from discreet.bayes.evidence import LatentCounts, counting, latent_counts
from discreet.bayes.regression.cells import (
    Group,
    ListedCells,
    Sides,
    by_group,
    of_groups,
    rate_cells,
    require_success,
    summed,
)
from discreet.bayes.regression.design import INTERCEPT, CellDesign, Numeric
from discreet.bayes.regression.likelihoods import DEPTHS, RateLikelihood, ShareLikelihood, too_far
from discreet.bayes.sampling import Joint, Sampled, sampled
from discreet.display import Progress
from discreet.errors import MissingParameter, ParameterError
from discreet.privacy import Target
from discreet.statistics.measurement import Measurement, MeasurementPlan

Floats = NDArray[np.float64]
_WEAK = Normal(0.0, 2.5)


@dataclass(frozen=True, kw_only=True)
class CellRegression(Model):
    """A generalized linear model of cells, whose likelihood is a function of one number a cell.

    Accuracy. Draws come from importance sampling about the mode, or from tempered sequential Monte Carlo where its
        weights are too uneven, and pass the gate of `sampling.sampled`. The likelihood is tabulated as deep below its
        tops as the draws are; what is rarer than e^-20000 of what it could be is refused.
    """

    coefficients: Normal = _WEAK
    intercept: Normal = _WEAK
    numeric: Numeric = ()
    reference: Mapping[str, Any] | None = None
    exhaustive: bool = False
    one_row_a_person: bool = False

    def __post_init__(self) -> None:
        for name in ("coefficients", "intercept"):
            if not isinstance(getattr(self, name), Normal):
                kind = type(getattr(self, name)).__name__
                raise ParameterError(
                    f"{name} must be a proper normal law; got {kind}, write Normal(0, 2.5)", parameter=name
                )
        if isinstance(self.numeric, str):
            raise ParameterError(
                f"numeric must list names of keys; got {self.numeric!r}, write [{self.numeric!r}]", parameter="numeric"
            )
        for name, kinds in (("numeric", Mapping | list | tuple), ("reference", Mapping | None)):
            given = getattr(self, name)
            if not isinstance(given, kinds) or not all(isinstance(one, str) for one in given or ()):
                raise ParameterError(
                    f"{name} must name keys of the answer; got {type(given).__name__}, write "
                    """numeric=["age"] or reference={"ward": "a"}""",
                    parameter=name,
                )

    @abstractmethod
    def _predictors(self, listed: ListedCells) -> tuple[tuple[str, ...], tuple[Group, ...]]:
        """Return the names of the predictors and the groups by them."""

    @abstractmethod
    def _likelihood(self, listed: ListedCells, counts: LatentCounts, depth: float) -> ShareLikelihood | RateLikelihood:
        """Return the likelihood of the linear predictor, one column a group, exact down to e^-depth of its top."""

    @abstractmethod
    def _parameter(self, keys: tuple[str, ...], groups: tuple[Group, ...]) -> Parameter:
        """Return the parameter of each group that follows from the coefficients."""

    @abstractmethod
    def _link(self, predictor: Floats) -> Floats:
        """Return that parameter from the linear predictor."""

    def design(self, plans: Sequence[MeasurementPlan]) -> CellDesign:
        """Return the names of the coefficients and the numbers of every cell, as the model makes them from the keys."""
        names, groups = self._predictors(ListedCells.of(plans))
        return CellDesign.of(names, groups, numeric=self.numeric, reference=self.reference or {})

    def fit(
        self, measurements: Sequence[Measurement], *, generator: np.random.Generator, progress: Progress
    ) -> Posterior:
        """Return the posterior of the coefficients and of the parameter of every group."""
        plans = [one.plan for one in measurements]
        listed, design = ListedCells.of(plans), self.design(plans)
        counts = latent_counts(measurements, one_row_a_person=self.one_row_a_person, exhaustive=self.exhaustive)
        found = self._sampled(listed, counts, design, generator, progress)
        derived = self._parameter(*self._predictors(listed))
        values = self._link(found.draws @ design.matrix.T)
        return Posterior(
            model=self,
            measurements=counting(measurements),
            parameters=(_coefficients(design), derived),
            drawn={"coefficient": found.draws, derived.name: values if derived.groups else values[..., 0]},
            method=found.method,
            log_evidence=found.evidence,
            k_hat=found.k_hat,
            notes=counts.notes,
        )

    def _sampled(
        self,
        listed: ListedCells,
        counts: LatentCounts,
        design: CellDesign,
        generator: np.random.Generator,
        progress: Progress,
    ) -> Sampled:
        """Return draws of the coefficients from tables that reach as deep as the draws do: some cell may fit badly."""
        for depth in DEPTHS:
            table = self._likelihood(listed, counts, depth)
            start = np.linalg.lstsq(design.matrix, table.likely, rcond=None)[0].astype(np.float64)
            joint = self._joint(design, table)
            found = sampled(joint, generator=generator, start=start[np.newaxis], progress=progress)
            if table.within(found.draws.reshape(-1, len(design.terms)) @ design.matrix.T):
                return found
        raise too_far()

    def prior(self, plans: Sequence[MeasurementPlan], generator: np.random.Generator) -> Values:
        """Draw coefficients, and what follows from them."""
        design = self.design(plans)
        means, deviations = self._priors(design)
        drawn = means + deviations * generator.standard_normal(len(means))
        derived = self._parameter(*self._predictors(ListedCells.of(plans)))
        values = self._link(design.matrix @ drawn)
        return {"coefficient": drawn, derived.name: values if derived.groups else values[0]}

    def _priors(self, design: CellDesign) -> tuple[Floats, Floats]:
        """Return means and standard deviations of the coefficients."""
        laws = [self.intercept if term == INTERCEPT else self.coefficients for term in design.terms]
        return np.array([law.mean for law in laws]), np.array([law.deviation for law in laws])

    def _joint(self, design: CellDesign, table: ShareLikelihood | RateLikelihood) -> Joint:
        """Return the joint density of the coefficients and what was released."""
        means, deviations = self._priors(design)
        size = len(means)

        def drawn(count: int, generator: np.random.Generator) -> Floats:
            return np.asarray(means + deviations * generator.standard_normal((count, size)))

        def log_prior(points: Floats) -> Floats:
            standard = (points - means) / deviations
            return np.asarray(-0.5 * (standard**2).sum(axis=1) - np.log(deviations * np.sqrt(2 * np.pi)).sum())

        def log_likelihood(points: Floats) -> Floats:
            return np.asarray(table.at(points @ design.matrix.T).sum(axis=1))

        return Joint(drawn, log_prior, log_likelihood)


@dataclass(frozen=True, kw_only=True)
class LogisticCells(CellRegression):
    """The log odds of a success are linear in the keys of an answer: who smokes, by ward and age, from noisy counts.

    The answer counts people by a key with the values success and failure, and by the predictors. The share of
    successes in a cell is 1 / (1 + exp(-predictor)); coefficients have independent normal priors. The number of people
    in a cell is `people`, one for all cells or one for each, else unknown with a flat prior; a noisy total is used
    where it was released too. `rows_expected` is used to simulate answers only, where sizes are unknown.

    Accuracy. The likelihood of a cell is that of the noisy integers themselves, summed over all counts they may come
        from, within 1e-6: see `ShareLikelihood`. Nothing is taken as normal.
        Proof: given the shares, cells are independent, and the noise of every integer is drawn by itself.
    Cost. Some 10 ms a cell and 30 ms a thousand draws.

    >>> from discreet import Laplace
    >>> from discreet.bayes import noisy_counts, posterior
    >>> counts = {("a", "yes"): 12, ("a", "no"): 41, ("b", "yes"): 33, ("b", "no"): 22}
    >>> answer = noisy_counts(
    ...     counts, noise=Laplace(epsilon=1, sensitivity=1), key=["ward", "smoker"]
    ... )
    >>> found = posterior(answer, LogisticCells(success=("smoker", "yes")), seed=1)
    >>> found.parameter("coefficient").groups
    (('(intercept)',), ('ward = b',))
    >>> found.draws["coefficient"].mean(axis=(0, 1)).round(1).tolist()
    [-1.2, 1.6]
    """

    success: tuple[str, Any]
    failure: Any = None
    people: int | Mapping[Any, int] | None = None
    rows_expected: int | Mapping[Any, int] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require_success(self.success)

    def _sides(self, listed: ListedCells) -> Sides:
        return Sides.of(listed, self.success, self.failure)

    def _predictors(self, listed: ListedCells) -> tuple[tuple[str, ...], tuple[Group, ...]]:
        sides = self._sides(listed)
        return sides.predictors, sides.groups

    def _likelihood(self, listed: ListedCells, counts: LatentCounts, depth: float) -> ShareLikelihood:
        sides = self._sides(listed)
        people = by_group(self.people, "people", sides.groups, whole=True, example="people=50")
        return ShareLikelihood(sides.share_cells(listed, counts, people), depth)

    def _parameter(self, keys: tuple[str, ...], groups: tuple[Group, ...]) -> Parameter:
        return of_groups("share", f"share of {self.success[0]} = {self.success[1]}", groups, keys)

    def _link(self, predictor: Floats) -> Floats:
        from scipy.special import expit

        return np.asarray(expit(predictor))

    def integers(
        self, values: Values, plans: Sequence[MeasurementPlan], generator: np.random.Generator
    ) -> list[NDArray[Any]]:
        """Draw the people of every cell given the shares; sizes are `people`, else Poisson about `rows_expected`."""
        listed = ListedCells.of(plans)
        return self._sides(listed).drawn(listed, values["share"], self.people, self.rows_expected, plans, generator)


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

    def _likelihood(self, listed: ListedCells, counts: LatentCounts, depth: float) -> RateLikelihood:
        return RateLikelihood(rate_cells(listed, counts), self._exposures(listed), depth)

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


def _coefficients(design: CellDesign) -> Parameter:
    """Return the parameter of the coefficients."""
    meaning = "coefficient of the linear predictor"
    return Parameter("coefficient", meaning, Target.POPULATION, tuple((term,) for term in design.terms))
