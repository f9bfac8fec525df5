"""Mean and standard deviation of a normal population, from noisy sums of clipped values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base import Model, Parameter, Posterior, Prior, Values
from discreet.bayes.sampling import Joint, Sampled, sampled
from discreet.bayes.sums.mixed_normal import log_mixing, log_scores
from discreet.bayes.sums.number_of_rows import NumberOfRows, drawable, stated_number
from discreet.bayes.sums.power_sums import PowerSumLikelihood
from discreet.bayes.sums.reading import ColumnSums, column_sums, combinations, one_scale
from discreet.bayes.sums.skewness import left_over_skewness, skewness_note
from discreet.display import Progress
from discreet.errors import ParameterError
from discreet.privacy import Target
from discreet.statistics.columns import FixedPoint
from discreet.statistics.measurement import Measurement, MeasurementPlan, PowerSums

Floats = NDArray[np.float64]
_NODES = 401
_OUTSIDE = 0.05  # of the values, beyond the bounds: more rest on a shape that no sum of clipped values shows
_BEYOND = (
    "the model puts {:.2g} % of the values beyond the bounds: mean and deviation rest on values being normal there, "
    "which neither these sums nor check() can tell; of skewed values, such as costs, they would be wrong"
)
_ASK_SQUARES = (
    "ask VARIANCE(x), whose squares tell the deviation, where AVG(x) or SUM(x) alone leave it to the prior, or write a "
    "narrower prior of the deviation"
)


@dataclass(frozen=True, kw_only=True)
class NormalModel(Model):
    """Values are independent and normal before they are clipped to the bounds of the release.

    Reads VARIANCE, STDDEV, AVG, or SUM with COUNT of one column, also several of them, and groups one by one: each
    group has a mean and a deviation of its own, with the same priors.

    Args:
        mean: the prior of the population's mean, in the units of the column; most of it within the bounds.
        deviation: the prior of its standard deviation, a positive number such as `HalfNormal(10)`.
        people: how many values a group has: a number, a prior of it (rounded to whole numbers), or None if unknown and
            told by what was released; public where the release says so.
        one_row_a_person: nobody has two rows, which you know: weighted sums are then sums over rows.
        complete: every row has a value, which you know: a count of rows then counts values.

    Values that are not normal give wrong answers, without a sign of it where many are clipped: three sums tell three
    numbers, whatever the shape. Costs are skewed; a note says which share of values the model puts beyond the bounds,
    where it is above .05.

    Accuracy. The moments of clipped values are exact, n is a whole number, noise is taken with its density; the sums of
        rows are taken as normal given mean, deviation and n. Whether they are is checked: the skewness left in any
        released sum, at the posterior mean, is below .1, or a note says what it is, up to .3; beyond
        the fit is refused. Draws pass the gate of `sampling.sampled`. A grid of fewer than 100 steps is refused.
    Cost. About .1 s a group.

    >>> from discreet.bayes.base import HalfNormal, Normal
    >>> NormalModel(mean=Normal(50, 20), deviation=HalfNormal(20)).people is None
    True
    """

    mean: Prior
    deviation: Prior
    people: Any = None
    one_row_a_person: bool = False
    complete: bool = False

    def __post_init__(self) -> None:
        for name, example in (("mean", "Normal(50, 20)"), ("deviation", "HalfNormal(20)")):
            if not isinstance(getattr(self, name), Prior):
                raise ParameterError(
                    f"{name} must be a proper prior; got {type(getattr(self, name)).__name__}, write {name}={example}",
                    parameter=name,
                )
        if self.deviation.quantile(1e-9) < 0.0:
            raise ParameterError(
                "deviation must have a prior on positive numbers; got one that reaches below 0, write "
                "deviation=HalfNormal(20)",
                parameter="deviation",
            )
        stated_number(self.people)

    def fit(
        self, measurements: Sequence[Measurement], *, generator: np.random.Generator, progress: Progress
    ) -> Posterior:
        """Return the posterior of mean and deviation, and of the number of values where it is unknown."""
        sums = column_sums(measurements, one_row_a_person=self.one_row_a_person, complete=self.complete)
        self._check_bounds(sums.scale)
        groups: list[_Group] = []
        for entries in sums.entries:
            likelihood = self._likelihood(PowerSumLikelihood.of(entries, sums.scale.steps))
            number = NumberOfRows.of(self.people, sums.people, likelihood.people)
            groups.append(_Group(self, likelihood, number, sums.bounds))
        found = [group.drawn(generator, progress) for group in groups]
        notes = [group.note(one) for group, one in zip(groups, found, strict=True)]
        return self._posterior(measurements, sums, groups, found, notes)

    def _likelihood(self, likelihood: PowerSumLikelihood) -> PowerSumLikelihood:
        """Return the likelihood that is used: a place for models that differ in it."""
        return likelihood

    def _posterior(
        self,
        measurements: Sequence[Measurement],
        sums: ColumnSums,
        groups: Sequence[_Group],
        found: Sequence[Sampled],
        notes: Sequence[str | None],
    ) -> Posterior:
        """Put the groups together."""
        keys = sums.keys if sums.key_names else ()
        least = min(one.draws.shape[1] for one in found)
        parts = [
            group.named(one.draws[:, :: one.draws.shape[1] // least][:, :least])
            for group, one in zip(groups, found, strict=True)
        ]
        drawn = {name: np.stack([part[name] for part in parts], axis=2) for name in parts[0]}
        proper = all(group.number.proper for group in groups)
        told = [one.evidence for one in found if one.evidence is not None]
        said = [f"{key}: {note}" if keys else note for key, note in zip(sums.keys, notes, strict=True) if note]
        return Posterior(
            self,
            tuple(measurements),
            tuple(one for one in _parameters(keys) if one.name in drawn),
            drawn if keys else {name: values[:, :, 0] for name, values in drawn.items()},
            found[0].method if len({one.method for one in found}) == 1 else "tempered sequential Monte Carlo",
            log_evidence=sum(told) if proper and len(told) == len(found) else None,
            notes=tuple(said),
        )

    def _check_bounds(self, scale: FixedPoint) -> None:
        """Refuse priors that are not about values within the bounds, and grids that are too coarse for the moments."""
        low, high = float(scale.value(0)), float(scale.value(scale.steps))
        levels = (np.arange(1000) + 0.5) / 1000
        means = np.asarray(self.mean.quantile(levels))
        if np.mean((means >= low) & (means <= high)) < 0.5:
            raise ParameterError(
                f"mean must have a prior that lies mostly within the bounds {low:g} to {high:g}, to which values were "
                f"clipped; got one with less than half of it there, write mean=Normal({(low + high) / 2:g}, "
                f"{(high - low) / 4:g}), or release the sums with other bounds",
                parameter="mean",
            )
        if np.mean(np.asarray(self.deviation.quantile(levels)) <= high - low) < 0.5:
            raise ParameterError(
                f"deviation must have a prior that lies mostly below the distance of the bounds, {high - low:g}; got "
                f"one with less than half of it there, write deviation=HalfNormal({(high - low) / 4:g}), or release "
                "the sums with other bounds",
                parameter="deviation",
            )
        if scale.steps < 100:
            raise ParameterError(
                f"the grid must have at least 100 steps between the bounds, so that rounding does not show; got "
                f"{scale.steps}, release the sums with a finer grid=",
                parameter="grid",
            )

    def prior(self, plans: Sequence[MeasurementPlan], generator: np.random.Generator) -> Values:
        """Draw mean, deviation and number of values of every group."""
        shape = (len(plans[0].keys),) if plans[0].key_names else ()
        number = NumberOfRows.planned(self.people, plans)
        values = {"mean": self.mean.draw(generator, shape), "deviation": self.deviation.draw(generator, shape)}
        if number.known is None:
            values["people"] = number.draw(generator, shape)
        return {name: np.asarray(value) for name, value in values.items()}

    def integers(
        self, values: Values, plans: Sequence[MeasurementPlan], generator: np.random.Generator
    ) -> list[NDArray[Any]]:
        """Draw the values, clip and round them as the release does, and return their exact sums."""
        scale = one_scale(plans, one_row_a_person=self.one_row_a_person, complete=self.complete)
        people = values["people"] if "people" in values else NumberOfRows.planned(self.people, plans).known
        shape = (len(plans[0].keys),)
        laws = [
            np.broadcast_to(np.asarray(one), shape).tolist() for one in (values["mean"], values["deviation"], people)
        ]
        sums: list[list[list[int]]] = [[] for _ in plans]
        for mean, deviation, size in zip(*laws, strict=True):
            rows = generator.normal(mean, deviation, drawable(size))
            for plan, lines in zip(plans, sums, strict=True):
                grid = plan.adds_up.scale if isinstance(plan.adds_up, PowerSums) else scale
                totals = grid.totals(rows, squares=True)
                found = [a * totals.present + b * totals.first + c * totals.second for a, b, c in combinations(plan)]
                lines.append(found)
        return [np.array(lines, dtype=object).T for lines in sums]


def _parameters(keys: tuple[tuple[Any, ...], ...]) -> tuple[Parameter, ...]:
    """Return what the posterior may be about."""
    return (
        Parameter("mean", "the mean of the population, before clipping", Target.POPULATION, keys),
        Parameter("deviation", "the standard deviation of the population, before clipping", Target.POPULATION, keys),
        Parameter("people", "how many values were added up", Target.TABLE, keys),
    )


@dataclass(frozen=True)
class _Group:
    """The joint density of one group: points are the mean's share of the bounds, ln of the deviation's, n, scores."""

    model: NormalModel
    likelihood: PowerSumLikelihood
    number: NumberOfRows
    bounds: tuple[float, float]

    def drawn(self, generator: np.random.Generator, progress: Progress) -> Sampled:
        """Return draws that passed the gate."""
        joint = Joint(self._draw_prior, self._log_prior, self._log_likelihood)
        advice = "" if self.likelihood.of_sums[:, 1].any() else _ASK_SQUARES
        return sampled(joint, generator=generator, importance=False, progress=progress, advice=advice)

    def named(self, points: Floats) -> dict[str, Floats]:
        """Return points (runs, draws, d) as parameters."""
        low, high = self.bounds
        found = {"mean": low + (high - low) * points[..., 0], "deviation": (high - low) * np.exp(points[..., 1])}
        if self.number.known is None:
            found["people"] = _whole(points[..., 2])
        return found

    def note(self, found: Sampled) -> str | None:
        """Check the normal approximation at the posterior mean; say how much the model puts beyond the bounds."""
        center = found.draws.mean(axis=(0, 1))
        mean, deviation = float(center[0]), float(np.exp(center[1]))
        people = float(self.number.known if self.number.known is not None else max(center[2], 0.0))
        levels = (np.arange(_NODES) + 0.5) / _NODES
        from scipy.special import ndtr, ndtri

        shares = np.clip(mean + deviation * ndtri(levels), 0.0, 1.0)
        rows, noise = self.likelihood.row_sums(shares)
        said = skewness_note(left_over_skewness(rows, np.full(_NODES, 1.0 / _NODES), people, noise))
        outside = float(ndtr(-mean / deviation) + ndtr((mean - 1.0) / deviation)) if self.likelihood.clipped else 0.0
        beyond = _BEYOND.format(100 * outside) if outside > _OUTSIDE else None
        return "; ".join(one for one in (said, beyond) if one) or None

    def _draw_prior(self, count: int, generator: np.random.Generator) -> Floats:
        low, high = self.bounds
        mean = (self.model.mean.draw(generator, count) - low) / (high - low)
        deviation = np.log(np.maximum(self.model.deviation.draw(generator, count) / (high - low), 1e-300))
        columns = [mean, deviation]
        if self.number.known is None:
            columns.append(self.number.proposed(generator, count))
        return np.column_stack([*columns, generator.standard_normal((count, self.likelihood.latent))])

    def _log_prior(self, points: Floats) -> Floats:
        low, high = self.bounds
        deviation = (high - low) * np.exp(points[:, 1])
        total = self.model.mean.log_density(low + (high - low) * points[:, 0]) + 2.0 * math.log(high - low)
        total = total + self.model.deviation.log_density(deviation) + points[:, 1]
        if self.number.known is None:
            total = total + self.number.log_proposal(points[:, 2])
        return np.asarray(total + log_scores(self._latent(points)))

    def _log_likelihood(self, points: Floats) -> Floats:
        deviation = np.exp(points[:, 1])
        if self.number.known is not None:
            people = np.full(len(points), float(self.number.known))
            return self.likelihood.at(points[:, 0], deviation, people, log_mixing(self._latent(points)))
        people = _whole(points[:, 2])
        given = self.likelihood.at(points[:, 0], deviation, people, log_mixing(self._latent(points)))
        return np.asarray(given + self.number.log_correction(points[:, 2]))

    def _latent(self, points: Floats) -> Floats:
        """Return the normal scores of the mixing variables of Laplace noise."""
        return points[:, points.shape[1] - self.likelihood.latent :]


def _whole(numbers: Floats) -> Floats:
    """Return the nearest whole numbers of at least 0."""
    return np.maximum(np.rint(numbers), 0.0)
