"""Residuals: what a marginal says that no smaller marginal does, and marginals put together from them again."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.synthesis.domain import Records

Attributes = tuple[int, ...]  # positions, in increasing order


def core(attributes: Sequence[int], sizes: Sequence[int]) -> Attributes:
    """Return the attributes in order, without those of one value: they change no histogram."""
    return tuple(sorted(one for one in attributes if sizes[one] > 1))


def closure(sets: Iterable[Attributes]) -> tuple[Attributes, ...]:
    """Return every subset of every set, the empty one included, small ones first.

    >>> closure([(0, 2), (2,)])
    ((), (0,), (2,), (0, 2))
    """
    found = {part for one in set(sets) for count in range(len(one) + 1) for part in combinations(one, count)}
    return tuple(sorted(found | {()}, key=lambda one: (len(one), one)))


def cells(attributes: Attributes, sizes: Sequence[int]) -> int:
    """Return the number of cells of a marginal."""
    return math.prod(sizes[one] for one in attributes)


def freedom(attributes: Attributes, sizes: Sequence[int]) -> int:
    """Return the dimension of a residual: the product of the sizes less one."""
    return math.prod(sizes[one] - 1 for one in attributes)


def histogram(records: Records, attributes: Sequence[int]) -> NDArray[np.int64]:
    """Return the exact counts of the cells of a marginal, one axis for each attribute."""
    shape = tuple(records.domain.sizes[one] for one in attributes)
    place = records.codes[attributes[0]].astype(np.int64) if attributes else np.zeros(len(records), dtype=np.int64)
    for one, size in zip(attributes[1:], shape[1:], strict=True):
        place *= size
        place += records.codes[one]
    return np.bincount(place, minlength=math.prod(shape)).reshape(shape)


def scaled_residual(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the residual of a histogram times the number of its cells: integers, exactly.

    >>> scaled_residual(np.array([[3, 1], [0, 0]])).tolist()
    [[2, -2], [-2, 2]]
    """
    for axis, size in enumerate(counts.shape):
        counts = size * counts - counts.sum(axis=axis, keepdims=True)
    return counts


def centered(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Project an array onto the residuals: subtract the mean along each axis in turn."""
    for axis in range(values.ndim):
        values = values - values.mean(axis=axis, keepdims=True)
    return values


def spread(part: NDArray[np.float64], within: Attributes, attributes: Attributes) -> NDArray[np.float64]:
    """Return a residual with an axis of length 1 for each attribute that it does not have."""
    return part.reshape([part.shape[within.index(one)] if one in within else 1 for one in attributes])


@dataclass(frozen=True, eq=False, repr=False)
class Residuals:
    """Estimates of residuals, and the variance of each: the table of covariances is `variances[B]` times a projection.

    Any marginal whose attributes are among those asked for can be put together, with its own variance.

    Accuracy. Let h(A) be the histogram of the attributes A, n(A) the number of its cells, and r(B) the part of h(B)
        that sums to 0 along every axis. Then h(A) = sum over B within A of r(B) n(B)/n(A), constant along the axes in A
        but not in B. If the r(B) are estimated without bias, without correlation between different B, and with
        covariance v(B) P(B), P(B) the projection onto arrays that sum to 0 along every axis, then the estimate of h(A)
        has no bias, and each of its cells has the variance sum over B of v(B) f(B) n(B)/n(A)^2, where f(B) is the
        product of the sizes less one. All marginals agree on what they share.
        Proof: on one axis of size k the identity is (I - J/k) + J/k, J all ones; the product over the axes in A expands
        into one term for each B, centering along B and averaging along the rest. Averages along the rest of h(A) are
        sums divided by n(A)/n(B), and the sums are h(B). That gives the first statement. Estimates without correlation
        add up their variances; every diagonal entry of P(B) is the product of 1 - 1/k, that is f(B)/n(B), and the
        factor n(B)/n(A) enters squared. Summing the estimate of h(A) over an axis removes the terms whose B contains it
        and turns n(B)/n(A) of the others into that of the smaller marginal.
    """

    sizes: tuple[int, ...]
    parts: Mapping[Attributes, NDArray[np.float64]]
    variances: Mapping[Attributes, float]

    def marginal(self, attributes: Sequence[int]) -> NDArray[np.float64]:
        """Return the estimated counts of a marginal, one axis for each attribute in the order asked."""
        inner = self._core(attributes)
        total = np.zeros([self.sizes[one] for one in inner])
        for part in closure([inner]):
            total += spread(self.parts[part], part, inner) * (cells(part, self.sizes) / cells(inner, self.sizes))
        ordered = [one for one in attributes if self.sizes[one] > 1]
        total = total.transpose([inner.index(one) for one in ordered])
        return total.reshape([self.sizes[one] for one in attributes])

    def variance(self, attributes: Sequence[int]) -> float:
        """Return the variance of each estimated count of a marginal."""
        inner = self._core(attributes)
        return cell_variance(inner, self.sizes, self.variances)

    def _core(self, attributes: Sequence[int]) -> Attributes:
        inner = core(attributes, self.sizes)
        if inner not in self.parts or len(set(attributes)) != len(attributes):
            raise ParameterError("no marginal that was asked for contains these attributes", parameter="attributes")
        return inner

    def __repr__(self) -> str:
        return f"Residuals({len(self.parts):,} sets of attributes)"


def cell_variance(attributes: Attributes, sizes: Sequence[int], variances: Mapping[Attributes, Any]) -> float:
    """Return the variance of each cell of a marginal from those of its residuals."""
    total = cells(attributes, sizes)
    return sum(
        float(variances[part]) * freedom(part, sizes) * (cells(part, sizes) / total) / total
        for part in closure([attributes])
    )
