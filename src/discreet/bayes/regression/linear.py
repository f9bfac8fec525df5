"""What regressions on cells share: coefficients with normal priors, a design from the keys, draws about the mode."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base import Model, Normal, Parameter, Posterior, Values
from discreet.bayes.evidence import LatentCounts, counting, latent_counts
from discreet.bayes.regression.cells import Group, ListedCells
from discreet.bayes.regression.design import INTERCEPT, CellDesign, Numeric
from discreet.bayes.regression.likelihoods import DEPTHS, too_far
from discreet.bayes.sampling import Joint, Sampled, sampled
from discreet.display import Progress
from discreet.errors import ParameterError
from discreet.privacy import Target
from discreet.statistics.measurement import Measurement, MeasurementPlan

Floats = NDArray[np.float64]
_WEAK = Normal(0.0, 2.5)


class CellLikelihood(Protocol):
    """A likelihood of one number a cell, and about where it is largest."""

    @property
    def likely(self) -> Floats:
        """About the likeliest number of each cell."""

    def at(self, predictor: Floats, /) -> Floats:
        """Return ln of the likelihood at numbers (..., cells)."""

    def within(self, predictor: Floats, /) -> bool:
        """Say whether nearly all rows of numbers (rows, cells) are where it is exact."""


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
    def _likelihood(self, listed: ListedCells, counts: LatentCounts, depth: float) -> CellLikelihood:
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
            notes=notes(counts),
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

    def _joint(self, design: CellDesign, table: CellLikelihood) -> Joint:
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


def _coefficients(design: CellDesign) -> Parameter:
    """Return the parameter of the coefficients."""
    meaning = "coefficient of the linear predictor"
    return Parameter("coefficient", meaning, Target.POPULATION, tuple((term,) for term in design.terms))


def of_groups(name: str, meaning: str, groups: tuple[Group, ...], keys: tuple[str, ...]) -> Parameter:
    """Return a parameter of the population that every group has, or one number where there is only the whole table."""
    return Parameter(name, meaning, Target.POPULATION, () if groups == ((),) else groups, keys)


def notes(counts: LatentCounts) -> tuple[str, ...]:
    """Return what a reader must know: measurements that a model of counts does not read."""
    return tuple(f"{name} counts nobody and was left out" for name in counts.left_out)
