"""Marginals from residuals: unbiased, in agreement with each other, every variance known before anything is read.

Residuals are measured with exact integer noise, each as precisely as an allocation says, or follow from noisy
histograms, each of which says something about all the residuals within it.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.display import Progress
from discreet.errors import ParameterError
from discreet.laws import RoundedGaussian
from discreet.laws.number import Number
from discreet.mechanisms.domain import add_noise
from discreet.privacy.numbers import root_upward
from discreet.synthesis.base import Allowance, Neighbors, Noisy, Synthesizer, SyntheticRelease
from discreet.synthesis.domain import Records
from discreet.synthesis.methods.residual.allocation import Aim, Allocation, check_residuals
from discreet.synthesis.methods.residual.basis import (
    Attributes,
    Residuals,
    cell_variance,
    cells,
    centered,
    closure,
    core,
    histogram,
    scaled_residual,
)
from discreet.synthesis.methods.residual.finishing import non_negative, number_of_records, shrunk, synthetic_table
from discreet.synthesis.workloads import Marginals, Workload

_STEPS = 1 << 20


class ResidualFinish(enum.Enum):
    """What is done to the estimates: nothing, or whatever makes the error of sparse marginals smaller at some bias."""

    UNBIASED = "unbiased"
    NON_NEGATIVE = "non-negative"


@dataclass(frozen=True, eq=False)
class Residual(Synthesizer):
    """Measure every residual of the marginals asked for, each as precisely as is best, and put the marginals together.

    Privacy. Keeps the guarantee of the allowance, for the neighbors that it states.
        Proof: `Allocation` with mu^2/2 = the amount of the allowance, where that is rho or mu^2/2; an approximate
        guarantee follows from mu by its curve (`Allowance.for_noise`). `measure_histograms` where it is a pure epsilon.
        Where `same_count` the number of records is the stated one, a constant; the table's own
        is never read.
    Accuracy. With `ResidualFinish.UNBIASED` every answer is unbiased, all marginals agree on what they share, and
        `deviations` are the exact standard deviations of the noise. With Gaussian noise each answer is within
        `half_width(confidence)` of the truth with that confidence.
        Proof: unbiasedness and variances by `Residuals`. Rounded Gaussian noise R = X + U of scale s, |U| <= 1/2, has
        E exp(t R) <= exp(t^2 (s^2 + 3/8)/2): weighing by exp(t X) makes exp(t^2 s^2/2) times E exp(t U) for X of mean
        t s^2; by Hoeffding's lemma that is at most exp(t E U + t^2/8); U has the Fourier series sum over j >= 1 of
        (-1)^j sin(2 pi j x)/(pi j), so |E U| <= 2 t s^2 sum of exp(-2 pi^2 j^2 s^2), and as y exp(-j^2 y) <=
        1/(e j^2), t |E U| <= t^2/(6 e) < t^2/16. So an answer, linear in independent such noises, has
        E exp(t error) <= exp(t^2 V/2), V its variance with s^2 + 3/8 for that of R; Markov's inequality on both sides
        gives 2 exp(-w^2/(2 V)).
    Cost. One pass over the records for each residual, one draw for each of its cells, and 2^k additions for each cell
        of a marginal of k attributes; the domain is never formed, except for the table of a domain of few cells.
    Reference. Xiao, He, Zhang, Kifer 2023 (ResidualPlanner) for the allocation with Gaussian noise; Mullins et al. 2024
        for reconstruction from residuals.

    >>> from discreet import Relation
    >>> from discreet.synthesis import Domain, Neighbors, marginals
    >>> domain = Domain.of(
    ...     sex=["f", "m"], rooms=range(1, 5), tenure=["own", "rent", "free"]
    ... )
    >>> pairs = marginals(domain, ways=2)
    >>> method = Residual.of(
    ...     pairs, Neighbors(Relation.ADD_REMOVE, people=10_000), rho=0.01
    ... )
    >>> [round(one, 1) for one in method.deviations_of_counts]
    [10.2, 11.1, 9.0]
    """

    name: ClassVar[str] = "residual"
    workload: Marginals
    allowance: Allowance
    aim: Aim | None = None
    finish: ResidualFinish = ResidualFinish.UNBIASED

    @classmethod
    def of(
        cls,
        workload: Workload,
        neighbors: Neighbors,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        aim: Aim | None = None,
        finish: ResidualFinish = ResidualFinish.UNBIASED,
    ) -> Residual:
        """State the price: `epsilon` alone is pure, with `delta` approximate, `rho` concentrated, `mu` Gaussian.

        Unless stated, `aim` is the sum of variances for unbiased answers and each order for non-negative ones.
        """
        if not isinstance(workload, Marginals):
            raise ParameterError(
                "residuals are of marginals: make the workload with marginals(...)", parameter="workload"
            )
        if not isinstance(aim, Aim | None) or not isinstance(finish, ResidualFinish):
            raise ParameterError("aim must be an Aim, and finish a ResidualFinish", parameter="aim")
        allowance = Allowance.of(neighbors, epsilon=epsilon, delta=delta, rho=rho, mu=mu).for_noise(vectors=True)
        made = cls(workload, allowance, aim, finish)
        check_residuals(made.cores)
        if not made.allowance.pure:
            made.allocation.distance  # noqa: B018  refuses, and searches, before any data is there
        return made

    @cached_property
    def cores(self) -> tuple[Attributes, ...]:
        """The attributes of each marginal in order, without those of one value."""
        return tuple(core(one, self.workload.domain.sizes) for one in self.workload.sets)

    @cached_property
    def allocation(self) -> Allocation:
        """How precisely each residual is measured, where the noise is Gaussian."""
        aim = self.aim or (Aim.SUM if self.finish is ResidualFinish.UNBIASED else Aim.EACH_ORDER)
        return Allocation.of(self.cores, self.workload.domain.sizes, self.allowance.neighbors, aim)

    @cached_property
    def variances(self) -> Mapping[Attributes, float]:
        """The variance coefficient of each residual; public."""
        if self.allowance.pure:
            return histogram_variances(maximal(self.cores), self.workload.domain.sizes, self.allowance)
        return residual_variances(self.allocation, self.allowance.amount)

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
            raise ParameterError("confidence must lie between 0 and 1", parameter="confidence")
        chance = 1 - confidence
        if self.allowance.pure:
            return math.sqrt(1 / chance) * np.array(self.deviations_of_counts)
        sizes = self.workload.domain.sizes
        proxies = _coefficients(self.allocation, self.allowance.amount, lambda scale: float(scale) ** 2 + 3 / 8)
        found = [math.sqrt(cell_variance(one, sizes, proxies)) for one in self.cores]
        return math.sqrt(2 * math.log(2 / chance)) * np.array(found)

    @property
    def plan(self) -> Mapping[str, Any]:
        """The public parameters."""
        counts = np.diff(self.workload.offsets)
        squares = np.array(self.deviations_of_counts) ** 2
        shared: dict[str, Any] = {
            "marginals": len(self.workload.sets),
            "cells": len(self.workload),
            "measured": "histograms" if self.allowance.pure else "residuals",
            "measurements": len(maximal(self.cores) if self.allowance.pure else self.allocation.residuals),
            "noise": "Laplace" if self.allowance.pure else "Gaussian",
            "finish": self.finish.value,
            "root-mean-square deviation of a count": math.sqrt(float(counts @ squares) / len(self.workload)),
            "largest deviation of a count": max(self.deviations_of_counts),
        }
        if not self.allowance.pure:
            shared |= {"aim": self.allocation.aim.value, "efficiency": self.allocation.efficiency}
        return shared

    def _release(self, records: Records, progress: Progress) -> SyntheticRelease:
        """Measure, put together, finish."""
        known = self.allowance.neighbors.stated_count
        found, measured = self._measured(records, known, progress)
        people = self.allowance.neighbors.people
        unbiased = self.finish is ResidualFinish.UNBIASED
        moved, forest = shrunk(found, self.workload.domain)
        arrays = [(found if unbiased else moved).marginal(one) for one in self.workload.sets]
        if not unbiased:
            arrays = [non_negative(one, number_of_records(found)) for one in arrays]
        table, made = synthetic_table(moved, forest, self.allowance.neighbors.people, self.cores)
        cells = np.diff(self.workload.offsets)
        deviations = np.repeat(np.array(self.deviations_of_counts) / people, cells)
        answers = np.concatenate([one.ravel() for one in arrays]) / people
        evidence = {"residuals": found, "table": made, "number of records": float(found.parts[()])}
        return self._made(table, answers, evidence, deviations if unbiased else None, measured)

    def _measured(
        self, records: Records, known: int | None, progress: Progress
    ) -> tuple[Residuals, list[tuple[Attributes, Noisy]]]:
        """Release residuals, or histograms, which are returned too, and what they say about residuals."""
        if self.allowance.pure:
            sets = maximal(self.cores)
            found = measure_histograms(records, sets, self.allowance, lambda done: progress(done, len(sets)))
            return combined(sets, found, records.domain.sizes, known), list(zip(sets, found, strict=True))
        steps = len(self.allocation.residuals)
        found_residuals = measure_residuals(
            records, self.allocation, self.allowance.amount, known, lambda done: progress(done, steps)
        )
        return found_residuals, []


def measure_residuals(
    records: Records, allocation: Allocation, amount: Fraction, total: int | None, tell: Callable[[int], None]
) -> Residuals:
    """Release every residual of an allocation; `total` is the stated number of records where it is public.

    Each residual times the number of its cells is a table of integers. Independent Gaussian noise, rounded, goes on
    every entry, and the projection onto residuals throws away the part of the noise that can hold no signal: what is
    left has the covariance v(B) P(B), though nothing correlated was ever drawn.

    Privacy. mu-Gaussian DP for the neighbors of the allocation, mu^2/2 the amount.
        Proof: `Allocation`, with the scales rounded up; the projection works on what was released.
    """
    sizes = allocation.sizes
    parts: dict[Attributes, NDArray[np.float64]] = {}
    if total is not None:
        parts[()] = np.array(float(total))
    scales = noise_scales(allocation, amount)
    laws = {scale: RoundedGaussian(scale) for scale in set(scales)}
    for place, (part, scale) in enumerate(zip(allocation.residuals, scales, strict=True)):
        exact = scaled_residual(histogram(records, part))
        noise = laws[scale].draw(exact.size).reshape(exact.shape)
        released = np.asarray(add_noise(exact, noise), dtype=np.float64)
        parts[part] = np.asarray(centered(released) / cells(part, sizes))
        tell(place + 1)
    return Residuals(sizes, parts, residual_variances(allocation, amount))


def noise_scales(allocation: Allocation, amount: Fraction) -> tuple[Fraction, ...]:
    """Return the scale of the integer noise on each scaled residual, rounded up."""
    unit = 2 * amount / allocation.distance
    counts = [cells(part, allocation.sizes) for part in allocation.residuals]
    ratios = [Fraction(count, weight) for count, weight in zip(counts, allocation.weights, strict=True)]
    found = {ratio: Fraction(root_upward(ratio / unit)) for ratio in set(ratios)}
    return tuple(found[ratio] for ratio in ratios)


def residual_variances(allocation: Allocation, amount: Fraction) -> dict[Attributes, float]:
    """Return the variance coefficient of each residual, known before anything is measured."""
    return _coefficients(allocation, amount, lambda scale: RoundedGaussian(scale).variance)


def _coefficients(allocation: Allocation, amount: Fraction, of: Callable[[Fraction], float]) -> dict[Attributes, float]:
    """Return a number of the noise on each scaled residual, over the square of the number of its cells."""
    scales = noise_scales(allocation, amount)
    numbers = {scale: of(scale) for scale in set(scales)}
    parts = zip(allocation.residuals, scales, strict=True)
    found = {part: numbers[scale] / cells(part, allocation.sizes) ** 2 for part, scale in parts}
    found.setdefault((), 0.0)
    return found


def measure_histograms(
    records: Records, sets: Sequence[Attributes], allowance: Allowance, tell: Callable[[int], None]
) -> list[Noisy]:
    """Release every histogram with its share.

    Privacy. Keeps the allowance's guarantee.
        Proof: the shares add up to 1.
    """
    sizes = records.domain.sizes
    found: list[Noisy] = []
    for place, (one, share) in enumerate(zip(sets, shares(sets, sizes), strict=True)):
        found.append(allowance.noisy(histogram(records, one), share))
        tell(place + 1)
    return found


def combined(
    sets: Sequence[Attributes], found: Sequence[Noisy], sizes: tuple[int, ...], total: int | None
) -> Residuals:
    """Return the best linear unbiased estimate of every residual from histograms with independent noise.

    Accuracy. With noise of variance s(A) in each cell of the histogram A, the residual of B gets covariance v(B) P(B),
        1/v(B) = sum over A containing B of n(B)/(s(A) n(A)); no linear unbiased estimate from these histograms has a
        smaller variance in any direction.
        Proof: B's component of the histogram A, summed over the attributes outside B and centered, is an unbiased
        estimate of r(B) with covariance s(A) (n(A)/n(B)) P(B): a sum of n(A)/n(B) cells each, then a projection. As the
        components of different B lie in orthogonal spaces, independent noise of one variance has uncorrelated
        components there; so all of the histograms are equivalent to these estimates, uncorrelated, and for one B all
        covariances are multiples of one projection. Weights proportional to one over the multiples are the best for
        each coordinate, by Cauchy's inequality, and the inverse multiples add up.
    """
    estimates: dict[Attributes, NDArray[np.float64]] = {}
    deviations = [noisy.deviation for noisy in found]
    variances = _variances(sets, deviations, sizes)
    for one, noisy in zip(sets, found, strict=True):
        values = noisy.values.astype(np.float64)
        for part in closure([one]):
            outside = tuple(axis for axis, name in enumerate(one) if name not in part)
            weight = variances[part] * cells(part, sizes) / (noisy.deviation**2 * cells(one, sizes))
            component = weight * centered(values.sum(axis=outside))
            estimates[part] = estimates[part] + component if part in estimates else component
    if total is not None:
        estimates[()], variances[()] = np.array(float(total)), 0.0
    return Residuals(sizes, estimates, variances)


def histogram_variances(
    sets: Sequence[Attributes], sizes: tuple[int, ...], allowance: Allowance
) -> dict[Attributes, float]:
    """Return the variance coefficient of each residual, known before anything is measured."""
    variances = _variances(sets, [allowance.deviation(share) for share in shares(sets, sizes)], sizes)
    if allowance.neighbors.same_count:
        variances[()] = 0.0
    return variances


def maximal(sets: Sequence[Attributes]) -> tuple[Attributes, ...]:
    """Return the sets that are within no other, once each.

    >>> maximal([(0,), (0, 1), (2,), (0, 1)])
    ((2,), (0, 1))
    """
    inner = {part for one in set(sets) for part in closure([one]) if part != one}
    return tuple(sorted(set(sets) - inner, key=lambda one: (len(one), one)))


def shares(sets: Sequence[Attributes], sizes: Sequence[int]) -> tuple[Fraction, ...]:
    """Return what each histogram gets of a pure price: proportional to the cube root of its cells, in all 1.

    Noise of variance proportional to 1/share^2 in each of n cells sums to n/share^2 over the cells; under a fixed sum
    of shares the total over the histograms is least where share^3 is proportional to n.
    """
    weights = [max(1, round(_STEPS * math.cbrt(cells(one, sizes)))) for one in sets]
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


def _variances(
    sets: Sequence[Attributes], deviations: Sequence[float], sizes: tuple[int, ...]
) -> dict[Attributes, float]:
    """Return one over the sum of the precisions that histograms bring to each residual."""
    precisions: dict[Attributes, float] = {}
    for one, deviation in zip(sets, deviations, strict=True):
        for part in closure([one]):
            precision = cells(part, sizes) / (deviation**2 * cells(one, sizes))
            precisions[part] = precisions.get(part, 0.0) + precision
    return {part: 1 / precision for part, precision in precisions.items()}
