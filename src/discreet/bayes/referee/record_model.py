"""A user's own model: how records arise from parameters, and what each record adds to the released integers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base import Parameter, Values
from discreet.errors import ParameterError
from discreet.statistics.measurement import Counts, MeasurementPlan, PowerSums

_SMALL = 1 << 62


class RecordModel(ABC):
    """A prior, a law of one record given the parameters, and the parameters given all records.

    Many chains run side by side: every array has the chains first. Records are an array (chains, count), or (chains,
    count, ...) where a record is several numbers; given the parameters they are independent. One record stands for
    one person, with everything that person adds.

    >>> class Coins(
    ...     RecordModel
    ... ):  # records are 0 or 1, the frequency of ones is uniform
    ...     @property
    ...     def parameters(self):
    ...         return (Parameter("frequency", "the ones", Target.POPULATION),)
    ...
    ...     def draw_prior(self, chains, generator):
    ...         return {"frequency": generator.uniform(size=chains)}
    ...
    ...     def draw_records(self, values, count, generator):
    ...         u = generator.uniform(size=(len(values["frequency"]), count))
    ...         return (u < values["frequency"][:, None]).astype(int)
    ...
    ...     def draw_parameters(self, records, values, generator):
    ...         ones, count = records.sum(axis=1), records.shape[1]
    ...         return {"frequency": generator.beta(1 + ones, 1 + count - ones)}
    ...
    ...     def groups(self, records, plan):
    ...         return records - 1  # ones are in the first group, zeros in none
    >>> from discreet.privacy import Target
    >>> Coins().draw_records({"frequency": np.ones(2)}, 3, np.random.default_rng(1))
    array([[1, 1, 1],
           [1, 1, 1]])
    """

    @property
    @abstractmethod
    def parameters(self) -> tuple[Parameter, ...]:
        """What the posterior is about: the names and groups of the values."""

    @abstractmethod
    def draw_prior(self, chains: int, generator: np.random.Generator) -> Values:
        """Draw the parameters from the prior, once a chain: arrays (chains,) or (chains, groups) by name."""

    @abstractmethod
    def draw_records(self, values: Values, count: int, generator: np.random.Generator) -> NDArray[Any]:
        """Draw `count` independent records a chain given its parameters: an array (chains, count, ...)."""

    @abstractmethod
    def draw_parameters(self, records: NDArray[Any], values: Values, generator: np.random.Generator) -> Values:
        """Draw the parameters given all records, independently for every chain.

        An exact draw, or any step from `values` that leaves the law of the parameters given the records as it is, such
        as a Metropolis step.
        """

    def groups(self, records: NDArray[Any], plan: MeasurementPlan) -> NDArray[np.int64]:
        """Return the place of the group of `plan.keys` that each record is in, -1 for none: (chains, count)."""
        if len(plan.keys) == 1:
            return np.zeros(records.shape[:2], dtype=np.int64)
        raise ParameterError(
            f"{type(self).__name__} must say which group a record is in, for there are {len(plan.keys)}; write a "
            "method groups(records, plan) that returns places in plan.keys, -1 for none",
            parameter="records",
        )

    def positions(self, records: NDArray[Any], plan: MeasurementPlan) -> NDArray[np.int64]:  # noqa: ARG002
        """Return the position of each record on the grid of a measurement of power sums: (chains, count)."""
        raise ParameterError(
            f"{type(self).__name__} must say where a record is on the grid of {plan.name}; write a method "
            "positions(records, plan) that returns whole numbers from 0 to plan.adds_up.scale.steps",
            parameter="records",
        )

    def contribution(self, records: NDArray[Any], plan: MeasurementPlan) -> NDArray[Any]:
        """Return what each record adds to each integer: whole numbers, (chains, count, entries, groups).

        Counts and power sums follow from `groups` and `positions`. Another model, such as one in which a person has
        several rows, returns its own.
        """
        inside = np.asarray(self.groups(records, plan))[..., np.newaxis] == np.arange(len(plan.keys))
        kind = plan.adds_up
        if isinstance(kind, Counts):
            return np.asarray(inside[:, :, np.newaxis, :] * np.int64(kind.weight))
        if isinstance(kind, PowerSums):
            return np.asarray(self._powers(records, plan, kind) * inside[:, :, np.newaxis, :])
        raise ParameterError(
            f"{plan.name} adds up something else than counts and power sums; write a method contribution(records, "
            "plan) that returns what a record adds to each integer",
            parameter="records",
        )

    def _powers(self, records: NDArray[Any], plan: MeasurementPlan, kind: PowerSums) -> NDArray[Any]:
        """Return weight (a + b x + c x^2) for every record and entry, in Python's integers where 64 bits are few."""
        steps = kind.scale.steps
        largest = max(abs(a) + abs(b) * steps + abs(c) * steps**2 for a, b, c in kind.coefficients)
        exact = largest * kind.weight * max(records.shape[1], 1) >= _SMALL
        place = np.asarray(self.positions(records, plan)).astype(object if exact else np.int64)
        entries = [kind.weight * (a + b * place + c * place * place) for a, b, c in kind.coefficients]
        return np.stack(entries, axis=-1)[..., np.newaxis]
