"""Marginals from residuals: unbiased, in agreement with each other, every variance known before anything is read."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.synthesis.base import Neighbours, Progress, Purse, Release, Synthesizer
from discreet.synthesis.domain import Records
from discreet.synthesis.methods.residual.allocation import Aim, Allocation, check_residuals
from discreet.synthesis.methods.residual.basis import Attributes, Residuals, cell_variance, core
from discreet.synthesis.methods.residual.finishing import non_negative, number_of_records, shrunk, synthetic_table
from discreet.synthesis.methods.residual.measuring import (
    histogram_variances,
    maximal,
    measure_histograms,
    measure_residuals,
    residual_variances,
)
from discreet.synthesis.workloads import Marginals, Workload


class Finish(enum.Enum):
    """What is done to the estimates: nothing, or whatever makes the error of sparse marginals smaller at some bias."""

    UNBIASED = "unbiased"
    NON_NEGATIVE = "non-negative"


@dataclass(frozen=True, eq=False)
class Residual(Synthesizer):
    """Measure every residual of the marginals asked for, each as precisely as is best, and put the marginals together.

    Privacy. Keeps the promise of the purse, for the neighbours that it states.
        Proof: `Allocation` where the price is rho, or the rho of an approximate promise; `measure_histograms` where it
        is a pure epsilon. Where `same_count` the number of records is the stated one, a constant; the table's own
        is never read.
    Accuracy. With `Finish.UNBIASED` every answer is unbiased, all marginals agree on what they share, and `deviations`
        are the exact standard deviations of the noise (for Gaussian noise an upper bound, tight to 10^-6 from scale 1
        on). With Gaussian noise each answer is within `half_width(confidence)` of the truth with that confidence.
        Proof: unbiasedness and variances by `Residuals`. Integer Gaussian noise of scale s has E exp(t X) <=
        exp(t^2 s^2/2) (Canonne, Kamath, Steinke 2020), so that an answer, linear in independent such noises, has
        E exp(t error) <= exp(t^2 V/2) with V its variance; Markov's inequality on both sides gives 2 exp(-w^2/(2 V)).
    Cost. One pass over the records for each residual, one draw for each of its cells, and 2^k additions for each cell
        of a marginal of k attributes; the domain is never formed, except for the table of a domain of few cells.
    Reference. Xiao, He, Zhang, Kifer 2023 (ResidualPlanner) for the allocation with Gaussian noise; Mullins et al. 2024
        for reconstruction from residuals.

    >>> from discreet import Relation
    >>> from discreet.synthesis import Domain, Neighbours, marginals
    >>> domain = Domain.of(sex=["f", "m"], rooms=range(1, 5), tenure=["own", "rent", "free"])
    >>> pairs = marginals(domain, ways=2)
    >>> method = Residual.of(pairs, Neighbours(Relation.ADD_REMOVE, size=10_000), rho=0.01)
    >>> [round(one, 1) for one in method.deviations_of_counts]
    [10.2, 11.1, 9.0]
    """

    name: ClassVar[str] = "residual"
    workload: Marginals
    purse: Purse
    aim: Aim | None = None
    finish: Finish = Finish.UNBIASED

    @classmethod
    def of(
        cls,
        workload: Workload,
        neighbours: Neighbours,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        aim: Aim | None = None,
        finish: Finish = Finish.UNBIASED,
    ) -> Residual:
        """State the price: `epsilon` alone is pure, with `delta` approximate, `rho` concentrated.

        Unless stated, `aim` is the sum of variances for unbiased answers and each order for non-negative ones.
        """
        if not isinstance(workload, Marginals):
            raise ParameterError(
                "residuals are of marginals: make the workload with marginals(...)", parameter="workload"
            )
        if not isinstance(aim, Aim | None) or not isinstance(finish, Finish):
            raise ParameterError("aim is an Aim, finish is a Finish", parameter="aim")
        made = cls(workload, Purse.of(neighbours, epsilon=epsilon, delta=delta, rho=rho), aim, finish)
        check_residuals(made.cores)
        if not made.purse.pure:
            made.allocation.distance  # noqa: B018  refuses, and searches, before any data is there
        return made

    @cached_property
    def cores(self) -> tuple[Attributes, ...]:
        """The attributes of each marginal in order, without those of one value."""
        return tuple(core(one, self.workload.domain.sizes) for one in self.workload.sets)

    @cached_property
    def allocation(self) -> Allocation:
        """How precisely each residual is measured, where the noise is Gaussian."""
        aim = self.aim or (Aim.SUM if self.finish is Finish.UNBIASED else Aim.EACH_ORDER)
        return Allocation.of(self.cores, self.workload.domain.sizes, self.purse.neighbours, aim)

    @cached_property
    def variances(self) -> Mapping[Attributes, float]:
        """The variance coefficient of each residual; public."""
        if self.purse.pure:
            return histogram_variances(maximal(self.cores), self.workload.domain.sizes, self.purse)
        return residual_variances(self.allocation, self.purse.amount)

    @cached_property
    def deviations_of_counts(self) -> tuple[float, ...]:
        """The standard deviation of the noise of each cell of each marginal, as counts; public."""
        sizes = self.workload.domain.sizes
        return tuple(math.sqrt(cell_variance(one, sizes, self.variances)) for one in self.cores)

    def half_width(self, confidence: float) -> NDArray[np.float64]:
        """Return the half-width of an interval for each cell of each marginal, as counts, by Chernoff's bound.

        With Laplace noise, whose sums are not sub-Gaussian, by Chebyshev's.
        """
        if not 0 < confidence < 1:
            raise ParameterError("confidence lies between 0 and 1", parameter="confidence")
        chance = 1 - confidence
        factor = math.sqrt(1 / chance if self.purse.pure else 2 * math.log(2 / chance))
        return factor * np.array(self.deviations_of_counts)

    @property
    def plan(self) -> Mapping[str, Any]:
        """The public parameters."""
        counts = np.diff(self.workload.offsets)
        squares = np.array(self.deviations_of_counts) ** 2
        shared: dict[str, Any] = {
            "marginals": len(self.workload.sets),
            "cells": len(self.workload),
            "measured": "histograms" if self.purse.pure else "residuals",
            "measurements": len(maximal(self.cores) if self.purse.pure else self.allocation.residuals),
            "noise": "Laplace" if self.purse.pure else "Gaussian",
            "finish": self.finish.value,
            "root-mean-square deviation of a count": math.sqrt(float(counts @ squares) / len(self.workload)),
            "largest deviation of a count": max(self.deviations_of_counts),
        }
        if not self.purse.pure:
            shared |= {"aim": self.allocation.aim.value, "efficiency": self.allocation.efficiency}
        return shared

    def _release(self, records: Records, progress: Progress) -> Release:
        """Measure, put together, finish."""
        known = self.purse.neighbours.stated_count
        found = self._measured(records, known, progress)
        size = self.purse.neighbours.size
        unbiased = self.finish is Finish.UNBIASED
        moved, forest = shrunk(found, self.workload.domain)
        arrays = [(found if unbiased else moved).marginal(one) for one in self.workload.sets]
        if not unbiased:
            arrays = [non_negative(one, number_of_records(found)) for one in arrays]
        table, made = synthetic_table(moved, forest, self.purse.neighbours.size, self.cores)
        cells = np.diff(self.workload.offsets)
        deviations = np.repeat(np.array(self.deviations_of_counts) / size, cells)
        return Release(
            method=self.name,
            workload=self.workload,
            neighbours=self.purse.neighbours,
            guarantee=self.guarantee,
            table=table,
            answers=np.concatenate([one.ravel() for one in arrays]) / size,
            plan=self.plan,
            evidence={"residuals": found, "table": made, "number of records": float(found.parts[()])},
            deviations=deviations if unbiased else None,
        )

    def _measured(self, records: Records, known: int | None, progress: Progress) -> Residuals:
        """Release residuals, or histograms and what they say about residuals."""
        if self.purse.pure:
            sets = maximal(self.cores)
            return measure_histograms(records, sets, self.purse, known, lambda done: progress(done, len(sets)))
        steps = len(self.allocation.residuals)
        return measure_residuals(records, self.allocation, self.purse.amount, known, lambda done: progress(done, steps))
