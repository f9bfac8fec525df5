"""Ready-made models of records: yes or no, categories, and clipped normal values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base import Parameter, Prior, Values, positive
from discreet.bayes.referee.record_model import RecordModel
from discreet.errors import ParameterError
from discreet.privacy import Target
from discreet.statistics.measurement import Group, MeasurementPlan, PowerSums

_MOVES, _STEP, _ENOUGH = 4, 1.7, 2


@dataclass(frozen=True)
class BernoulliRecords(RecordModel):
    """Records 0 and 1 with an unknown frequency of ones, which has a beta prior; an answer counts the ones.

    >>> BernoulliRecords(1, 1).parameters[0].name
    'frequency'
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            positive(getattr(self, name), name)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The frequency."""
        return (Parameter("frequency", "how frequent ones are where the people come from", Target.POPULATION),)

    def draw_prior(self, chains: int, generator: np.random.Generator) -> Values:
        """Draw from the beta law."""
        return {"frequency": generator.beta(float(self.a), float(self.b), size=chains)}

    def draw_records(self, values: Values, count: int, generator: np.random.Generator) -> NDArray[Any]:
        """Draw ones with their frequency."""
        frequency = values["frequency"][:, np.newaxis]
        return (generator.random((len(frequency), count)) < frequency).astype(np.int64)

    def draw_parameters(self, records: NDArray[Any], values: Values, generator: np.random.Generator) -> Values:  # noqa: ARG002
        """Draw from the conjugate beta law."""
        ones = records.sum(axis=1)
        return {"frequency": generator.beta(float(self.a) + ones, float(self.b) + (records.shape[1] - ones))}

    def groups(self, records: NDArray[Any], plan: MeasurementPlan) -> NDArray[np.int64]:
        """Ones are counted, zeros are in no group."""
        if len(plan.keys) != 1:
            raise ParameterError(
                f"BernoulliRecords are for a count of one group; got {len(plan.keys)} groups, write CategoricalRecords",
                parameter="records",
            )
        return records - 1


@dataclass(frozen=True)
class CategoricalRecords(RecordModel):
    """Records in one of several cells, whose frequencies have a Dirichlet prior.

    `cells` lists the keys of all cells, in the order of `key_names`. An answer counts them, or sums of them: one by
    fewer keys counts the cells that agree on these, and one by no key counts everybody. A cell that an answer does not
    list is in none of its groups.

    >>> model = CategoricalRecords(("ward",), (("east",), ("west",)), prior=(1, 1))
    >>> model.parameters[0].groups
    (('east',), ('west',))
    """

    key_names: tuple[str, ...]
    cells: tuple[Group, ...]
    prior: tuple[float, ...]

    def __post_init__(self) -> None:
        given = (self.key_names, self.cells, self.prior)
        if not all(isinstance(one, tuple) for one in given) or not all(isinstance(one, tuple) for one in self.cells):
            raise ParameterError(
                "key_names, cells, every cell and prior must be tuples; got another, write "
                'key_names=("ward",), cells=(("east",), ("west",)), prior=(1, 1)',
                parameter="cells",
            )
        for one in self.prior:
            positive(one, "prior")
        if len(self.cells) < 2 or len(self.prior) != len(self.cells) or len(set(self.cells)) != len(self.cells):
            raise ParameterError(
                "cells must be at least two different groups, with one number of the prior for each; got another, "
                'write cells=(("east",), ("west",)), prior=(1, 1)',
                parameter="cells",
            )
        if any(len(cell) != len(self.key_names) for cell in self.cells):
            raise ParameterError("a cell must have one value for every key name", parameter="cells")

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The frequencies of the cells."""
        meaning = "how frequent a group is where the people come from"
        return (Parameter("frequency", meaning, Target.POPULATION, self.cells),)

    def draw_prior(self, chains: int, generator: np.random.Generator) -> Values:
        """Draw from the Dirichlet law."""
        return {"frequency": generator.dirichlet(np.array(self.prior, dtype=np.float64), size=chains)}

    def draw_records(self, values: Values, count: int, generator: np.random.Generator) -> NDArray[Any]:
        """Draw the places of cells with their frequencies."""
        ends = np.cumsum(values["frequency"], axis=1)[:, np.newaxis, :-1]
        places: NDArray[np.int64] = (generator.random((len(ends), count))[..., np.newaxis] >= ends).sum(axis=2)
        return places

    def draw_parameters(self, records: NDArray[Any], values: Values, generator: np.random.Generator) -> Values:  # noqa: ARG002
        """Draw from the conjugate Dirichlet law."""
        counts = (records[..., np.newaxis] == np.arange(len(self.cells))).sum(axis=1)
        weights = generator.standard_gamma(np.array(self.prior, dtype=np.float64) + counts)
        return {"frequency": weights / weights.sum(axis=1, keepdims=True)}

    def groups(self, records: NDArray[Any], plan: MeasurementPlan) -> NDArray[np.int64]:
        """Return the groups that agree with the cells on the keys of the plan."""
        if not set(plan.key_names) <= set(self.key_names):
            raise ParameterError(
                f"the cells must be told apart by every key of {plan.name}; write key_names with all of them",
                parameter="key_names",
            )
        kept = [self.key_names.index(name) for name in plan.key_names]
        listed = {group: place for place, group in enumerate(plan.keys)}
        places = [listed.get(tuple(cell[place] for place in kept), -1) for cell in self.cells]
        found: NDArray[np.int64] = np.array(places, dtype=np.int64)[records]
        return found


@dataclass(frozen=True)
class NormalRecords(RecordModel):
    """Normal values with unknown mean and deviation, clipped to the bounds of the column before they are added up.

    The records are the values themselves; a measurement sees the nearest position on its grid, an end of it for what
    lies beyond. Any proper priors will do: mean and logarithm of the deviation make four random-walk Metropolis moves a
    sweep, as wide as the records are spread.

    >>> from discreet.bayes.base import HalfNormal, Normal
    >>> model = NormalRecords(mean=Normal(50, 20), deviation=HalfNormal(20))
    >>> [one.name for one in model.parameters]
    ['mean', 'deviation']
    """

    mean: Prior
    deviation: Prior

    def __post_init__(self) -> None:
        for name in ("mean", "deviation"):
            if not isinstance(getattr(self, name), Prior):
                raise ParameterError(
                    f"{name} must be a proper prior; got another, write mean=Normal(50, 20), deviation=HalfNormal(20)",
                    parameter=name,
                )
        if self.deviation.quantile(1e-9) < 0:
            raise ParameterError(
                "deviation must have a prior of positive numbers; got another, write HalfNormal(20)",
                parameter="deviation",
            )

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Mean and deviation before clipping."""
        return (
            Parameter("mean", "the mean of the values where the people come from, not clipped", Target.POPULATION),
            Parameter("deviation", "the standard deviation of these values", Target.POPULATION),
        )

    def draw_prior(self, chains: int, generator: np.random.Generator) -> Values:
        """Draw from both priors."""
        return {"mean": self.mean.draw(generator, chains), "deviation": self.deviation.draw(generator, chains)}

    def draw_records(self, values: Values, count: int, generator: np.random.Generator) -> NDArray[Any]:
        """Draw normal values."""
        mean, deviation = values["mean"][:, np.newaxis], values["deviation"][:, np.newaxis]
        return generator.normal(mean, deviation, size=(len(mean), count))

    def draw_parameters(self, records: NDArray[Any], values: Values, generator: np.random.Generator) -> Values:
        """Move mean and logarithm of the deviation by Metropolis steps whose width depends on the records alone."""
        count = records.shape[1]
        center, spread = self._seen(records)
        mean, log_deviation = np.array(values["mean"]), np.log(values["deviation"])
        level = self._log_joint(mean, log_deviation, records, center)
        width = _STEP / np.sqrt(max(count, 1))
        for _ in range(_MOVES):
            moved = mean + width * spread * generator.standard_normal(len(mean))
            turned = log_deviation + width / np.sqrt(2) * generator.standard_normal(len(mean))
            found = self._log_joint(moved, turned, records, center)
            take = found > level - generator.standard_exponential(len(mean))
            mean, log_deviation = np.where(take, moved, mean), np.where(take, turned, log_deviation)
            level = np.where(take, found, level)
        return {"mean": mean, "deviation": np.exp(log_deviation)}

    def positions(self, records: NDArray[Any], plan: MeasurementPlan) -> NDArray[np.int64]:
        """Return the nearest positions on the grid between the bounds."""
        kind = plan.adds_up
        if not isinstance(kind, PowerSums):
            raise ParameterError(f"{plan.name} must add up values; got another measurement", parameter="records")
        return kind.scale.positions(records).astype(np.int64)

    def _seen(self, records: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return means of the records, and their deviations, or that of the prior where there are too few."""
        if records.shape[1] < _ENOUGH:
            wide = float(self.mean.quantile(0.84) - self.mean.quantile(0.16)) / 2
            return records.sum(axis=1), np.full(len(records), wide)
        return records.mean(axis=1), records.std(axis=1)

    def _log_joint(
        self, mean: NDArray[Any], log_deviation: NDArray[Any], records: NDArray[Any], center: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Return ln of prior times likelihood, as a density of the mean and the logarithm of the deviation."""
        deviation = np.exp(log_deviation)
        count, squares = records.shape[1], ((records - center[:, np.newaxis]) ** 2).sum(axis=1)
        fit = -count * log_deviation - (squares + count * (center - mean) ** 2) / (2 * deviation**2)
        prior = self.mean.log_density(mean) + self.deviation.log_density(deviation) + log_deviation
        return np.asarray(fit + prior)
