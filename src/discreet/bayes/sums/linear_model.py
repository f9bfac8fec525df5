"""Linear regression from a noisy Gram matrix: intercept, slopes and spread, with the law of the predictors unknown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base import Model, Parameter, Posterior, Prior, Values
from discreet.bayes.sampling import Joint, sampled
from discreet.bayes.sums.correlations import correlation_root, log_correlations, partial_correlations
from discreet.bayes.sums.gram_likelihood import GramLikelihood, clipping_note, exact_sums
from discreet.bayes.sums.mixed_normal import log_mixing, log_scores
from discreet.bayes.sums.number_of_rows import NumberOfRows, drawable, public_number, stated_number
from discreet.bayes.sums.skewness import left_over_skewness, skewness_note
from discreet.display import Progress
from discreet.errors import InputError, ParameterError
from discreet.privacy import Target
from discreet.statistics.measurement import Measurement, MeasurementPlan, Products

Floats = NDArray[np.float64]
INTERCEPT = "(intercept)"
_ROWS = 4000
_GAUSSIAN = (
    "release the products with Gaussian noise (rho=), which takes no sampling of its own, or write narrower priors"
)
_CHUNK = 800  # points whose arrays stay in cache
_OFF_CENTER = 0.1  # of half the bounds: a constant column nearer to their center adds next to nothing


@dataclass(frozen=True, kw_only=True)
class LinearModel(Model):
    """The outcome is linear in the predictors with normal errors, and the predictors are jointly normal.

    Reads `Covariance` of the columns of one table, of which one holds 1 everywhere: it gives the first moments. Columns
    are named where the release is read: `measurements(released, column="one,age,cost")`, in their order. The law
    of the predictors is unknown too: means, deviations, and correlations, whose prior is flat over correlation
    matrices.

    Args:
        outcome: the name of the outcome's column.
        constant: the name of the column that is 1 in every row, released with bounds of which 1 is an end.
        coefficients: the prior of each slope; one for all, or one a predictor by name.
        intercept: the prior of the outcome where all predictors are 0.
        deviation: the prior of the standard deviation of errors.
        means: the priors of the predictors' means; one for all, or one a predictor by name.
        deviations: the priors of the predictors' standard deviations, likewise.
        people: how many rows there are: a number, a prior of it, or None if unknown and told by what was released.

    Accuracy. Noise is taken with its density. The sums of products are taken as normal given everything else; the
        skewness left in any released one at the posterior mean is below .1, or a note says what it is, up to
        .3, and beyond the fit is refused. Rows are taken as unclipped: at the posterior mean every column must keep
        4 deviations from its bounds, between 3 and 4 a note says so, and nearer the fit is refused. An unknown number
        of rows is a whole number. Draws pass the gate of `sampling.sampled`.
    Cost. About .2 s for two predictors with Gaussian noise, by importance sampling. With Laplace noise 3 to 15 s, by
        tempering; where it is large beside the sums, minutes that may end in NotConverged: take `rho=`.

    >>> from discreet.bayes.base import HalfNormal, Normal
    >>> model = LinearModel(
    ...     outcome="cost",
    ...     constant="one",
    ...     coefficients=Normal(0, 1),
    ...     intercept=Normal(0, 10),
    ...     deviation=HalfNormal(10),
    ...     means=Normal(0, 10),
    ...     deviations=HalfNormal(10),
    ... )
    >>> model.people is None
    True
    """

    outcome: str
    constant: str
    coefficients: Prior | Mapping[str, Prior]
    intercept: Prior
    deviation: Prior
    means: Prior | Mapping[str, Prior]
    deviations: Prior | Mapping[str, Prior]
    people: Any = None

    def __post_init__(self) -> None:
        for name in ("coefficients", "intercept", "deviation", "means", "deviations"):
            given = getattr(self, name)
            for one in given.values() if isinstance(given, Mapping) and name.endswith("s") else (given,):
                _check_prior(name, one, positive=name.startswith("deviation"))
        stated_number(self.people)

    def fit(
        self, measurements: Sequence[Measurement], *, generator: np.random.Generator, progress: Progress
    ) -> Posterior:
        """Return the posterior of the regression and of the predictors' law."""
        plans = [one.plan for one in measurements]
        predictors = self._predictors(plans)
        likelihood = GramLikelihood.of(measurements, (*predictors, self.outcome), self.constant)
        number = NumberOfRows.of(self.people, public_number(plans), likelihood.people)
        shape = _Shape(self, predictors, likelihood, number)
        joint = Joint(shape.draw_prior, shape.log_prior, shape.log_likelihood, outline=shape.outline)
        found = sampled(
            joint,
            generator=generator,
            importance=likelihood.latent == 0,
            progress=progress,
            advice=_GAUSSIAN if likelihood.latent else "",
        )
        notes = shape.notes(found.draws.mean(axis=(0, 1)), np.random.default_rng(generator.integers(2**63)))
        drawn = shape.named(found.draws)
        return Posterior(
            self,
            tuple(measurements),
            tuple(one for one in _parameters(predictors) if one.name in drawn),
            drawn,
            found.method,
            log_evidence=found.evidence if number.proper else None,
            k_hat=found.k_hat,
            notes=notes,
        )

    def prior(self, plans: Sequence[MeasurementPlan], generator: np.random.Generator) -> Values:
        """Draw the regression, the law of the predictors and the number of rows."""
        predictors = self._predictors(plans)
        shape = _Shape(self, predictors, None, NumberOfRows.planned(self.people, plans))
        return {name: value[0, 0] for name, value in shape.named(shape.draw_prior(1, generator)[np.newaxis]).items()}

    def integers(
        self, values: Values, plans: Sequence[MeasurementPlan], generator: np.random.Generator
    ) -> list[NDArray[Any]]:
        """Draw the rows, clip and round them as the release does, and return their exact sums."""
        predictors = self._predictors(plans)
        stated = values["people"] if "people" in values else NumberOfRows.planned(self.people, plans).known
        people = drawable(stated or 0)
        size = len(predictors)
        upper = np.zeros((size, size))
        upper[np.triu_indices(size, 1)] = values.get("correlation", ())
        correlation = np.eye(size) + upper + upper.T
        normal = generator.standard_normal((people, size)) @ np.linalg.cholesky(correlation).T
        x = values["predictor_mean"] + normal * values["predictor_deviation"]
        error = generator.standard_normal(people) * float(values["deviation"])
        y = values["coefficient"][0] + x @ values["coefficient"][1:] + error
        columns = {**dict(zip(predictors, x.T, strict=True)), self.outcome: y, self.constant: np.ones(people)}
        return [exact_sums(plan.adds_up, columns) for plan in plans if isinstance(plan.adds_up, Products)]

    def _predictors(self, plans: Sequence[MeasurementPlan]) -> tuple[str, ...]:
        """Return the names of the predictors, or refuse what is no Gram matrix with this outcome and constant."""
        first = plans[0]
        for plan in plans:
            if not isinstance(plan.adds_up, Products):
                raise InputError(
                    f"a linear model needs sums of products; got {plan.name}, release Covariance of the columns with "
                    "one that is 1 everywhere"
                )
            if plan.source.rows != first.source.rows or plan.adds_up.columns != first.adds_up.columns:  # type: ignore[attr-defined]
                raise InputError(
                    f"measurements must be about the same rows and columns; got {first.name} and {plan.name} of "
                    "others, give one of them"
                )
        names = first.adds_up.columns  # type: ignore[attr-defined]
        for name in ("outcome", "constant"):
            given = getattr(self, name) if isinstance(getattr(self, name), str) else type(getattr(self, name)).__name__
            if getattr(self, name) is not given or given not in names:
                raise ParameterError(
                    f"{name} must be a column of the release ({', '.join(names)}); got {given!r}, write "
                    "one of them, or release the products with it",
                    parameter=name,
                )
        place = names.index(self.constant)
        if all(abs(1.0 - plan.adds_up.center[place]) < _OFF_CENTER * plan.adds_up.halves[place] for plan in plans):  # type: ignore[attr-defined]
            raise InputError(
                f"the column that is 1 everywhere must not lie at the center of its bounds, where it adds nothing; got "
                f"{self.constant!r} with 1 at the center, release Covariance with the bounds (-1, 1) for it"
            )
        predictors = tuple(name for name in names if name not in (self.outcome, self.constant))
        if not predictors:
            raise InputError(
                "a linear model needs a predictor beside outcome and constant; got none, release Covariance of more "
                "columns"
            )
        for name in ("coefficients", "means", "deviations"):
            given = getattr(self, name)
            if isinstance(given, Mapping) and set(given) != set(predictors):
                raise ParameterError(
                    f"{name} must have a prior for each predictor ({', '.join(predictors)}); got others, write one for "
                    "each, or one for all",
                    parameter=name,
                )
        return predictors


def _check_prior(name: str, given: Any, *, positive: bool) -> None:
    """Refuse what is no proper prior, or one that reaches below 0 where only positive numbers make sense."""
    example = "HalfNormal(10)" if positive else "Normal(0, 10)"
    if not isinstance(given, Prior):
        raise ParameterError(
            f"{name} must have a proper prior; got {type(given).__name__}, write {name}={example}", parameter=name
        )
    if positive and given.quantile(1e-9) < 0.0:
        raise ParameterError(
            f"{name} must have a prior on positive numbers; got one that reaches below 0, write {name}={example}",
            parameter=name,
        )


def _parameters(predictors: tuple[str, ...]) -> tuple[Parameter, ...]:
    """Return what the posterior may be about."""
    names = tuple((name,) for name in predictors)
    pairs = tuple((one, other) for place, one in enumerate(predictors) for other in predictors[place + 1 :])
    terms = ((INTERCEPT,), *names)
    return (
        Parameter("coefficient", "coefficient of the linear predictor", Target.POPULATION, terms),
        Parameter("deviation", "the standard deviation of errors", Target.POPULATION),
        Parameter("predictor_mean", "the mean of a predictor", Target.POPULATION, names),
        Parameter("predictor_deviation", "the standard deviation of a predictor", Target.POPULATION, names),
        Parameter("correlation", "the correlation of two predictors", Target.POPULATION, pairs),
        Parameter("people", "how many rows were added up", Target.TABLE),
    )


@dataclass(frozen=True)
class _Shape:
    """The joint density: points are coefficients, ln deviation, means, ln deviations, correlations, n, scores."""

    model: LinearModel
    predictors: tuple[str, ...]
    likelihood: GramLikelihood | None
    number: NumberOfRows

    @property
    def laws(self) -> list[tuple[Prior, bool]]:
        """The priors of the first unknowns, and whether the unknown is the logarithm of what the prior is of."""
        model = self.model
        listed: list[tuple[Prior, bool]] = [(model.intercept, False)]
        listed += [(one, False) for one in self._each(model.coefficients)]
        listed.append((model.deviation, True))
        listed += [(one, False) for one in self._each(model.means)]
        return listed + [(one, True) for one in self._each(model.deviations)]

    def _each(self, priors: Prior | Mapping[str, Prior]) -> list[Prior]:
        """Return a prior for each predictor."""
        return [priors[name] if isinstance(priors, Mapping) else priors for name in self.predictors]

    @property
    def pairs(self) -> int:
        """How many correlations there are."""
        return len(self.predictors) * (len(self.predictors) - 1) // 2

    def draw_prior(self, count: int, generator: np.random.Generator) -> Floats:
        """Draw points from the prior."""
        columns = []
        for law, logarithm in self.laws:
            drawn = law.draw(generator, count)
            columns.append(np.log(np.maximum(drawn, 1e-300)) if logarithm else drawn)
        parts = [np.column_stack(columns), partial_correlations(len(self.predictors), count, generator)]
        if self.number.known is None:
            parts.append(self.number.proposed(generator, count)[:, np.newaxis])
        latent = self.likelihood.latent if self.likelihood else 0
        parts.append(generator.standard_normal((count, latent)))
        return np.concatenate(parts, axis=1)

    def log_prior(self, points: Floats) -> Floats:
        """Return ln of the prior density."""
        total = np.zeros(len(points))
        for place, (law, logarithm) in enumerate(self.laws):
            column = points[:, place]
            total += law.log_density(np.exp(column)) + column if logarithm else law.log_density(column)
        at = len(self.laws)
        total += log_correlations(len(self.predictors), points[:, at : at + self.pairs])
        at += self.pairs
        if self.number.known is None:
            total += self.number.log_proposal(points[:, at])
            at += 1
        return np.asarray(total + log_scores(points[:, at:]))

    def log_likelihood(self, points: Floats) -> Floats:
        """Return ln of the likelihood: the number of rows is the nearest whole number."""
        return self._log_likelihood(points, np.rint)

    def outline(self, points: Floats) -> Floats:
        """Return ln of the likelihood as if the number of rows were any number: it has slopes."""
        return self._log_likelihood(points, np.asarray)

    def _log_likelihood(self, points: Floats, number: Callable[[Floats], Floats]) -> Floats:
        if self.likelihood is None:
            return np.zeros(len(points))
        at = len(self.laws) + self.pairs
        extra: Floats | float = 0.0
        if self.number.known is None:
            people = np.maximum(number(points[:, at]), 0.0)
            extra = self.number.log_correction(points[:, at])
            at += 1
        else:
            people = np.full(len(points), float(self.number.known))
        found = np.empty(len(points))
        for begin in range(0, len(points), _CHUNK):
            part = slice(begin, begin + _CHUNK)
            mean, root = self.law_of_rows(points[part])
            found[part] = self.likelihood.at(mean, root, people[part], log_mixing(points[part, at:]))
        return found + extra

    def law_of_rows(self, points: Floats) -> tuple[Floats, Floats]:
        """Return means (d, points) and Cholesky factors (d, d, points) of predictors and outcome, as positions."""
        size, at = len(self.predictors), len(self.laws)
        columns = np.ascontiguousarray(points[:, : at + self.pairs].T)
        slopes, means = columns[1 : size + 1], columns[size + 2 : 2 * size + 2]
        own = (
            correlation_root(size, points[:, at : at + self.pairs]) * np.exp(columns[2 * size + 2 : at])[:, np.newaxis]
        )
        root = np.zeros((size + 1, size + 1, len(points)))
        root[:size, :size] = own
        root[size, :size] = np.einsum("jn,jin->in", slopes, own)
        root[size, size] = np.exp(columns[size + 1])
        outcome = columns[0] + np.einsum("jn,jn->n", slopes, means)
        mean = np.concatenate([means, outcome[np.newaxis]])
        if self.likelihood is None:
            return mean, root
        halves = self.likelihood.halves
        return (mean - self.likelihood.center[:, np.newaxis]) / halves[:, np.newaxis], root / halves[
            :, np.newaxis, np.newaxis
        ]

    def named(self, points: Floats) -> dict[str, Floats]:
        """Return points (runs, draws, d) as parameters."""
        size, at = len(self.predictors), len(self.laws)
        found = {
            "coefficient": points[..., : size + 1],
            "deviation": np.exp(points[..., size + 1]),
            "predictor_mean": points[..., size + 2 : 2 * size + 2],
            "predictor_deviation": np.exp(points[..., 2 * size + 2 : at]),
        }
        if size > 1:
            flat = points[..., at : at + self.pairs].reshape(-1, self.pairs)
            root = correlation_root(size, flat)
            matrix = np.einsum("ikn,jkn->nij", root, root)
            one, other = np.triu_indices(size, 1)
            found["correlation"] = matrix[:, one, other].reshape(*points.shape[:2], self.pairs)
        if self.number.known is None:
            found["people"] = np.maximum(np.rint(points[..., at + self.pairs]), 0.0)
        return found

    def notes(self, center: Floats, generator: np.random.Generator) -> tuple[str, ...]:
        """Check at the posterior mean that sums are near normal and that hardly a row was clipped."""
        if self.likelihood is None:
            return ()
        mean, root = (part[..., 0] for part in self.law_of_rows(center[np.newaxis]))
        people = self.number.known if self.number.known is not None else max(center[len(self.laws) + self.pairs], 0.0)
        rows = mean + generator.standard_normal((_ROWS, len(mean))) @ root.T
        entries = self.likelihood.row_entries(rows)
        noise = np.where(self.likelihood.normal, 1.0, 2.0)
        said = [clipping_note(self.likelihood, mean, root)]
        said.append(skewness_note(left_over_skewness(entries, np.full(_ROWS, 1.0 / _ROWS), float(people), noise)))
        return tuple(one for one in said if one)
