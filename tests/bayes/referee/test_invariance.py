"""A sweep leaves the posterior as it is: on joint draws of parameters, records and release, nothing changes in law."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.bayes.base import HalfNormal, Normal
from discreet.bayes.referee import BernoulliRecords, CategoricalRecords, NormalRecords, RecordModel
from discreet.bayes.referee.chains import Chains
from discreet.laws import DiscreteLaplace
from discreet.statistics.columns import FixedPoint
from discreet.statistics.measurement import Counts, MeasurementPlan, PowerSums

SWEEPS = 3
CELLS = (("a",), ("b",), ("c",))
NOISE = DiscreteLaplace(2)
COUNT = MeasurementPlan("count", (), ((),), Counts("rows"), NOISE)
GROUPS = MeasurementPlan("count", ("cell",), CELLS[:2], Counts("rows"), NOISE)
SUMS = MeasurementPlan(
    "variance", (), ((),), PowerSums("x", FixedPoint.between((0, 4), grid=1), ((1, 0, 0), (0, 1, 0), (0, 0, 1))), NOISE
)
CASES: dict[str, tuple[RecordModel, MeasurementPlan, range]] = {
    "ones": (BernoulliRecords(1, 2), COUNT, range(8, 9)),
    "ones, people unknown": (BernoulliRecords(1, 2), COUNT, range(12)),
    "cells": (CategoricalRecords(("cell",), CELLS, (1, 0.5, 2)), GROUPS, range(8, 9)),
    "cells, people unknown": (CategoricalRecords(("cell",), CELLS, (1, 0.5, 2)), GROUPS, range(3, 11)),
    "normal": (NormalRecords(Normal(2, 2), HalfNormal(2)), SUMS, range(8, 9)),
    "normal, people unknown": (NormalRecords(Normal(2, 2), HalfNormal(2)), SUMS, range(1, 11)),
}


class Each:
    """SumLikelihood with another release for every chain: drawn from what its records add up to."""

    def __init__(self, model: RecordModel, plan: MeasurementPlan) -> None:
        self._model, self._plan = model, plan
        self.released: Any = None

    def added(self, records: Any) -> Any:
        found = self._model.contribution(records, self._plan)
        return found.reshape(*found.shape[:2], -1)

    def log_likelihood(self, sums: Any) -> Any:
        own = np.repeat(self.released, len(sums) // len(self.released), axis=0)
        return -np.abs(own - sums).sum(axis=1) / 2  # all that is needed of ln pmf


def laplace(shape: tuple[int, ...], generator: np.random.Generator) -> Any:
    """Noise of `NOISE`: a difference of geometric numbers."""
    first, second = (generator.geometric(-np.expm1(-1 / 2), shape) for _ in range(2))
    return first - second


def statistics(chains: Chains, released: Any) -> Any:
    """Numbers about state and release together, (statistics, chains): none of them may move on average."""
    values = [np.reshape(value, (len(chains.people), -1)).T for value in chains.values.values()]
    rows = np.tanh(np.concatenate([*values, [chains.people / 5.0]]))  # bounded, whatever the prior's tails
    level = np.tanh(released.T / 10.0)
    distance = np.tanh(np.abs(chains.sums - released).T / 6.0)
    return np.concatenate([rows, rows**2, distance, *(rows * one for one in level), *(distance * row for row in rows)])


def largest_change(name: str, kind: type[Chains] = Chains) -> float:
    """The largest mean change of a statistic over some sweeps, in standard errors, and how many were looked at."""
    model, plan, people = CASES[name]
    count = 2000 if name == "normal, people unknown" else 6000
    generator = np.random.default_rng(20)
    totals: Any = Each(model, plan)
    chains = kind(model, totals, people, chains=count, generator=generator)
    totals.released = chains.sums + laplace(chains.sums.shape, generator)
    before = statistics(chains, totals.released)
    for _ in range(SWEEPS):
        chains.sweep()
    change = statistics(chains, totals.released) - before
    spread = change.std(axis=1)
    return float(np.max(np.abs(change.mean(axis=1))[spread > 0] / spread[spread > 0]) * np.sqrt(count))


@pytest.mark.theorem("DataAugmentation.accuracy")
@pytest.mark.parametrize("name", CASES)
def test_a_sweep_leaves_the_posterior_as_it_is(name: str) -> None:
    assert largest_change(name) < 4.5  # about 50 statistics, one seed


class TakesAll(Chains):
    """Takes every offer."""

    def _draw_records(self) -> None:
        self._records = self._model.draw_records(self.values, self._range.stop - 1, self._generator)
        self._added = self._totals.added(self._records)


class Stale(Chains):
    """Asks spare records for the parameters too, after they were drawn from others."""

    def _draw_parameters(self) -> None:
        self.values = self._model.draw_parameters(self._records, self.values, self._generator)
        self.values = self._model.draw_parameters(self._records[:, :3], self.values, self._generator)


class Eager(Chains):
    """Draws the number of people as if the last record had to be there."""

    def _draw_people(self) -> None:
        super()._draw_people()
        self.people = np.minimum(self.people + 1, self._range.stop - 1)


@pytest.mark.parametrize(("name", "kind"), [("ones", TakesAll), ("normal", TakesAll), ("cells, people unknown", Eager),
                                            ("ones, people unknown", Stale)])  # fmt: skip
def test_a_wrong_step_would_be_seen(name: str, kind: type[Chains]) -> None:
    assert largest_change(name, kind) > 6
