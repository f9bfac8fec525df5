"""Noisy answers made consistent: within [0, 1], and those of one table of weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.synthesis.domain import Domain, Records, SyntheticTable
from discreet.synthesis.methods.residual import non_negative
from discreet.synthesis.responses import best_response
from discreet.synthesis.workloads import Workload

Floats = NDArray[np.float64]
MOST_CELLS = 1 << 14
MOST_ENTRIES = 1 << 25
_STEPS, _SMALL_GAP = 2000, 1e-12
_RECORDS, _MOST_DRAWN, _LARGEST_WEIGHT = 256, 4096, 1 << 20


def boxed(answers: Floats) -> Floats:
    """Return the answers cut off at 0 and 1.

    Accuracy. No answer is farther from a truth between 0 and 1 than before.
        Proof: an answer below 0 moves up to 0, towards every number between 0 and 1; above 1 alike.
    """
    return np.clip(answers, 0.0, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """Weights of records, of sum 1, the answers of that table, and a certificate of how near they are to the nearest.

    Accuracy. Let y be the answers to fit, p those of the table, and t those of any distribution over the same records.
        Then |p - t|^2 <= |y - t|^2 - |y - p|^2 + 2 gap. So if the records are all that there can be, and 2 gap is at
        most |y - p|^2, the answers p are no farther from the truth than the noisy ones, in L2, for certain.
        Proof: |y - t|^2 = |y - p|^2 + |p - t|^2 + 2 (y - p).(p - t), and (p - y).(p - t) is at most `gap`, the largest
        value that it has for any t: it is linear in t, so the largest is at one of the records.
    """

    weights: Floats
    answers: Floats
    gap: float
    moved: float  # |y - p|^2

    @property
    def surely_nearer(self) -> bool:
        """Whether no distribution over these records is farther from the fitted answers than from those fitted."""
        return 2 * self.gap <= self.moved


def fitted(truths: Floats, answers: Floats) -> Fitted:
    """Return weights whose answers are about the nearest to those given; `truths` has a column for each record.

    Accelerated projected gradient steps, started again where they overshoot, at most 2000.

    Cost. Two products of the matrix with a vector a step.

    >>> fit = fitted(
    ...     np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]), np.array([0.5, 0.4])
    ... )  # the first implies the other
    >>> fit.answers.round(6).tolist(), fit.surely_nearer
    ([0.45, 0.45], True)
    """
    if truths.shape[0] != answers.shape[0] or truths.shape[1] == 0:
        raise InputError("truths must have one row for each answer, and at least one record")
    center = truths.mean(axis=1, keepdims=True)
    weights = _nearest_weights(_Distance.of(truths - center, answers - center[:, 0]), truths.shape[1])
    held = truths @ weights
    return Fitted(weights, held, _gap(truths.T @ (held - answers), weights), float(np.sum((held - answers) ** 2)))


@dataclass(frozen=True, slots=True, eq=False)
class _Distance:
    """|A w - y|^2 / 2 as a function of w, less a constant: by A' A where that is the smaller matrix."""

    matrix: Floats
    product: bool
    linear: Floats

    @classmethod
    def of(cls, matrix: Floats, answers: Floats) -> _Distance:
        """Multiply beforehand what is used in every step."""
        product = matrix.shape[1] <= matrix.shape[0]
        return cls(matrix.T @ matrix if product else matrix, product, matrix.T @ answers)

    def curvature(self, weights: Floats) -> Floats:
        """Return A' A w."""
        found: Floats = self.matrix @ weights if self.product else self.matrix.T @ (self.matrix @ weights)
        return found


def _nearest_weights(distance: _Distance, count: int) -> Floats:
    """Return the weights after some accelerated steps, which start again whenever one overshoots."""
    weights = np.full(count, 1 / count)
    size = 1 / max(_largest_eigenvalue(distance, count), 1e-12)
    point, speed, height = weights, 1.0, math.inf
    for turn in range(_STEPS):
        following = non_negative(point - size * (distance.curvature(point) - distance.linear), 1.0)
        bend = distance.curvature(following)
        reached = float(following @ (bend / 2 - distance.linear))
        if reached > height and speed > 1:
            point, speed = weights, 1.0
            continue
        faster = (1 + math.sqrt(1 + 4 * speed * speed)) / 2
        point = following + (speed - 1) / faster * (following - weights)
        weights, speed, height = following, faster, min(height, reached)
        if turn % 20 == 19 and _gap(bend - distance.linear, weights) <= _SMALL_GAP:
            break
    return weights


def _gap(slope: Floats, weights: Floats) -> float:
    """Return by how much the slope is larger at the weights than at the best single record."""
    return max(0.0, float(slope @ weights - slope.min()))


def _largest_eigenvalue(distance: _Distance, count: int) -> float:
    """Return about the largest eigenvalue of A' A, a little more: thirty steps of the power method."""
    vector, length = 1 + np.cos(np.arange(count, dtype=np.float64)), 1.0
    for _ in range(30):
        vector = distance.curvature(vector)
        length = float(np.linalg.norm(vector))
        if length == 0:
            return 0.0
        vector /= length
    return 1.1 * length


def truth_matrix(workload: Workload, records: Records, queries: NDArray[np.int64]) -> Floats:
    """Return 1 where a record, a column, satisfies a query, a row, else 0."""
    rows = [workload.truths(records.codes[:, place])[queries] for place in range(len(records))]
    return np.array(rows, dtype=np.float64).T


def fits_whole(domain: Domain, queries: int) -> bool:
    """Say whether a table over all cells can be fitted in bounded memory."""
    return domain.cells <= MOST_CELLS and domain.cells * queries <= MOST_ENTRIES


def record_count(queries: int) -> int:
    """Return how many records a fitted table gets where the domain is too large for all cells."""
    return max(2, min(_RECORDS, queries + 8, MOST_ENTRIES // queries))


def fitted_records(
    workload: Workload, queries: NDArray[np.int64], answers: Floats, tell: Callable[[int], None]
) -> tuple[SyntheticTable, Fitted]:
    """Return a table of few records for a large domain: each next one is the best response to what is still missing.

    Frank and Wolfe's steps find the records; their weights are then fitted together.

    Nothing but the noisy answers goes in. No theorem says that this table is nearer to the truth than they are: the
    records are not all that there can be.
    """
    most, held = record_count(len(queries)), np.full(len(queries), 0.5)
    codes, truths = [], []
    for turn in range(1, most + 1):
        missing = answers - held
        drawn = _largest(np.abs(missing), _MOST_DRAWN)
        scale = _LARGEST_WEIGHT / max(float(np.abs(missing[drawn]).max()), 1e-300)
        weights = np.round(missing[drawn] * scale).astype(np.int64)
        drawn, weights = drawn[weights != 0], weights[weights != 0]
        response = best_response(workload, queries[drawn], weights, starts=2, turn=turn)
        codes.append(response.record)
        truths.append(workload.truths(response.record)[queries].astype(np.float64))
        step = truths[-1] - held
        share = float(missing @ step) / max(float(step @ step), 1e-300)
        held = held + (1.0 if turn == 1 else min(max(share, 0.0), 1.0)) * step
        tell(turn)
    fit = fitted(np.array(truths).T, answers)
    return SyntheticTable(Records(workload.domain, np.array(codes).T), fit.weights), fit


def _largest(values: Floats, count: int) -> NDArray[np.int64]:
    """Return the places of the largest values, in order of place."""
    if len(values) <= count:
        return np.arange(len(values))
    return np.sort(np.argpartition(values, len(values) - count)[len(values) - count :])
