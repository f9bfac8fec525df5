"""Multiplicative weights over finitely many records: the least change of a distribution that fits noisy answers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.synthesis.domain import Codes, Domain, Records
from discreet.synthesis.workloads import PADDING, Marginals, Workload

_BLOCK = 1 << 15  # records of one block of the Newton matrix: bounds memory however large the support is
_STEPS = 40
_SETTLED = 1e-11  # nats that a further Newton step could still gain, squared slope against the curvature
_FURTHEST = 6.0  # nats between two records that one step may move: beyond it the curvature says nothing
_LEAST_STEP = 1e-6


def whole_domain(domain: Domain) -> Records:
    """Return every possible record once.

    >>> whole_domain(Domain.of(sex=["f", "m"], rooms=[1, 2])).codes.tolist()
    [[0, 0, 1, 1], [0, 1, 0, 1]]
    """
    number, codes = np.arange(domain.cells), np.empty((len(domain), domain.cells), dtype=np.uint16)
    for place, size in reversed(list(enumerate(domain.sizes))):
        number, codes[place] = np.divmod(number, size)
    return Records(domain, codes)


def place_in_domain(domain: Domain, codes: Codes) -> NDArray[np.int64]:
    """Return where `whole_domain` has each of these records.

    >>> place_in_domain(
    ...     Domain.of(sex=["f", "m"], rooms=[1, 2]),
    ...     np.array([[0, 1], [1, 0]], dtype=np.uint16),
    ... ).tolist()
    [1, 2]
    """
    number = np.zeros(codes.shape[1], dtype=np.int64)
    for size, column in zip(domain.sizes, codes, strict=True):
        number = number * size + column
    return number


def satisfied(workload: Workload, query: int, codes: Codes) -> NDArray[np.bool_]:
    """Return which records satisfy one query."""
    if isinstance(workload, Marginals):  # without its literals, of which there may be too many to write down
        return _in_cell(workload, query, codes)
    literals = workload.literals
    members = workload.members[query]
    held = np.stack([literals.accepts[one][codes[literals.attribute[one]]] for one in members[members != PADDING]])
    truth = np.logical_xor.reduce(held) if workload.parity[query] else held.all(axis=0)
    turned: NDArray[np.bool_] = truth ^ workload.negated[query]
    return turned


def _in_cell(workload: Marginals, query: int, codes: Codes) -> NDArray[np.bool_]:
    """Return which records are in one cell."""
    place = int(np.searchsorted(workload.offsets, query, side="right")) - 1
    attributes = workload.sets[place]
    values = np.unravel_index(query - workload.offsets[place], [workload.domain.sizes[one] for one in attributes])
    held: NDArray[np.bool_] = (codes[list(attributes)] == np.array(values)[:, None]).all(axis=0)
    return held


def divergence_of(weights: NDArray[np.float64], prior: NDArray[np.float64]) -> float:
    """Return the Kullback-Leibler divergence of weights from a prior of any sum, in nats.

    >>> round(divergence_of(np.array([1.0, 0.0]), np.array([0.5, 0.5])), 4)
    0.6931
    """
    held = weights > 0
    return float(weights[held] @ np.log(weights[held] / prior[held])) + math.log(float(prior.sum()))


@dataclass(frozen=True, slots=True)
class Fit:
    """Weights on a support, and the multiplier of each measured query: weight = prior x exp(sum of multipliers)."""

    weights: NDArray[np.float64]
    multipliers: NDArray[np.float64]


def entropic_fit(
    truths: NDArray[np.bool_],
    values: NDArray[np.float64],
    variances: NDArray[np.float64],
    prior: NDArray[np.float64],
    strength: float,
    start: NDArray[np.float64] | None = None,
) -> Fit:
    """Return the distribution A that minimizes strength KL(A, prior) + sum_i (q_i(A) - values_i)^2 / (2 variances_i).

    `truths[i]` says which records of the support satisfy query i. The minimum is the prior times exp(sum_i l_i q_i):
    what multiplicative weights would reach if they were replayed for ever. The multipliers l minimize the convex
    function ln sum_x prior(x) exp(sum_i l_i q_i(x)) - l . values + sum_i strength variances_i l_i^2 / 2, here by
    Newton steps that are halved until they gain. `strength` and `variances` are positive.

    Cost. k^2 multiplications a record and step for k queries, and some 5 to 20 steps; a block of records at a time.

    >>> fit = entropic_fit(
    ...     np.array([[True, False]]),
    ...     np.array([0.8]),
    ...     np.array([1e-9]),
    ...     np.array([0.5, 0.5]),
    ...     1.0,
    ... )
    >>> fit.weights.round(3).tolist()
    [0.8, 0.2]
    """
    if np.any(prior < 0) or not prior.sum() > 0:
        raise InputError("a prior must be at least 0 for each record, and above 0 for one")
    penalty = strength * variances
    multipliers: NDArray[np.float64] = np.zeros(len(values))
    if start is not None:
        multipliers += start
    with np.errstate(divide="ignore"):
        exponents = np.log(prior / prior.sum()) + _sums(multipliers, truths)
    height, weights = _dual(exponents, multipliers, values, penalty)
    for _ in range(_STEPS):
        means, curvature = _moments(truths, weights)
        slope = means - values + penalty * multipliers
        curvature[np.diag_indices(len(values))] += penalty
        step: NDArray[np.float64] = np.asarray(np.linalg.solve(curvature, slope), dtype=np.float64)
        gain = float(slope @ step)
        if gain < _SETTLED:
            break
        shift = _sums(step, truths)
        length = min(1.0, _FURTHEST / max(float(np.ptp(shift)), _FURTHEST))
        while length >= _LEAST_STEP:
            tried, moved = multipliers - length * step, exponents - length * shift
            reached, heavy = _dual(moved, tried, values, penalty)
            if reached <= height - 1e-4 * length * gain:
                multipliers, exponents, height, weights = tried, moved, reached, heavy
                break
            length /= 2
        else:
            break  # rounding errors are all that is left
    return Fit(weights, multipliers)


def _sums(multipliers: NDArray[np.float64], truths: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return, for each record, the sum of the multipliers of the queries that it satisfies."""
    total = np.zeros(truths.shape[1])
    for start in range(0, len(total), _BLOCK):
        total[start : start + _BLOCK] = multipliers @ truths[:, start : start + _BLOCK].astype(np.float64)
    return total


def _dual(
    exponents: NDArray[np.float64],
    multipliers: NDArray[np.float64],
    values: NDArray[np.float64],
    penalty: NDArray[np.float64],
) -> tuple[float, NDArray[np.float64]]:
    """Return the height of the function that the multipliers minimize, and the weights they stand for."""
    top = float(exponents.max())
    weights = np.exp(exponents - top)
    total = float(weights.sum())
    height = top + math.log(total) - float(multipliers @ values) + float(penalty @ multipliers**2) / 2
    return height, weights / total


def _moments(
    truths: NDArray[np.bool_], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the means of the queries under the weights, and their covariances."""
    count = len(truths)
    means, products = np.zeros(count), np.zeros((count, count))
    for start in range(0, len(weights), _BLOCK):
        held = truths[:, start : start + _BLOCK].astype(np.float64)
        heavy = held * weights[start : start + _BLOCK]
        means += heavy.sum(axis=1)
        products += heavy @ held.T
    return means, products - np.outer(means, means)
