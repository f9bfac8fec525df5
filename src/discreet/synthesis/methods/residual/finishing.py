"""Estimated marginals made plausible: what noise explains shrinks towards a simpler model, and no count is below 0."""

from __future__ import annotations

from functools import reduce
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from discreet.synthesis.domain.domain import Domain
from discreet.synthesis.methods.forest.forest import Forest
from discreet.synthesis.methods.residual.basis import Attributes, Residuals, centred, freedom
from discreet.synthesis.workloads.marginals import Marginals

Floats = NDArray[np.float64]
_MEAN_ABSOLUTE = (2 / np.pi) ** 0.5  # of a standard normal variable


def shrunk(found: Residuals, domain: Domain) -> tuple[Residuals, Forest]:
    """Return residuals nearer to those of a simpler model, and the forest of attributes that is the model.

    Residuals of pairs shrink towards independence. A forest is made of the pairs that still differ most from it.
    Residuals of more attributes shrink towards those of the forest. Marginals still agree on what they share; they are
    biased towards fewer interactions. Where the noise is Gaussian and the model does not depend on it, the expected
    squared error of each residual of three or more dimensions is smaller than before, whatever the data (James and
    Stein); here the noise is discrete, and nothing is claimed.
    """
    total = number_of_records(found)
    shares = [_single(found, place, total) for place in range(len(domain))]
    parts = dict(found.parts)
    for part in found.parts:
        if len(part) == 2:
            product = total * reduce(np.multiply.outer, [shares[one] - 1 / len(shares[one]) for one in part])
            parts[part] = towards(found.parts[part], product, found.variances[part], freedom(part, found.sizes))
    forest = _forest(found, Residuals(found.sizes, parts, found.variances), shares, domain)
    larger = [part for part in found.parts if len(part) > 2]
    if larger:
        modelled = Marginals(domain, larger)
        answers = total * forest.answers(modelled)
        for place, part in enumerate(larger):
            aim = centred(modelled.table(place, answers))
            parts[part] = towards(found.parts[part], aim, found.variances[part], freedom(part, found.sizes))
    return Residuals(found.sizes, parts, found.variances), forest


def towards(values: Floats, aim: Floats, variance: float, dimension: int) -> Floats:
    """Return values moved towards an aim by the share of their distance that noise explains, by James and Stein.

    >>> towards(np.array([3.0, 4.0]), np.zeros(2), variance=2.5, dimension=12).tolist()   # 25 from 0, and noise is 25
    [0.0, 0.0]
    """
    gap = values - aim
    size, noise = float(np.sum(gap * gap)), variance * max(dimension - 2, 0)
    return aim + (max(0.0, 1 - noise / size) if size > 0 else 0.0) * gap


def number_of_records(found: Residuals) -> float:
    """Return the estimated number of records, at least 1."""
    return max(float(found.parts[()]), 1.0)


def non_negative(values: Floats, total: float) -> Floats:
    """Return the nearest array of numbers of at least 0 with the given sum.

    Accuracy. No array of numbers of at least 0 with that sum is farther from the result than from `values`, in L2.
        Proof: such arrays form a convex set, and the result is its nearest point to `values`: it is `values` less a
        constant c, cut off at 0, with the sum right, so that for every t of the set the product of t - result with
        values - result is c times the sum of t - result, which is 0, plus the sum over the cells cut off of t (values -
        c), which is not positive. Hence |values - t|^2 >= |values - result|^2 + |result - t|^2.

    >>> non_negative(np.array([3.0, -1.0, 1.0]), 3.0).tolist()
    [2.5, 0.0, 0.5]
    """
    falling = np.sort(values, axis=None)[::-1]
    levels = (np.cumsum(falling) - total) / np.arange(1, falling.size + 1)
    kept = max(int(np.count_nonzero(falling > levels)), 1)
    nearest: Floats = np.maximum(values - levels[kept - 1], 0.0)
    return nearest


def _single(found: Residuals, place: int, total: float) -> Floats:
    """Return the shares of an attribute's values, uniform where no marginal has it."""
    if (place,) not in found.parts:
        return np.full(found.sizes[place], 1 / found.sizes[place])
    return non_negative(found.marginal((place,)) / total, 1.0)


def _forest(found: Residuals, moved: Residuals, shares: list[Floats], domain: Domain) -> Forest:
    """Return the forest of those pairs first that differ most from independence beyond what noise explains."""
    total, scored, joints = number_of_records(found), [], dict[Attributes, Floats]()
    for pair in combinations(range(len(domain)), 2):
        if pair in found.parts:
            product = np.multiply.outer(shares[pair[0]], shares[pair[1]])
            joints[pair] = non_negative(moved.marginal(pair) / total, 1.0)
            noise = _MEAN_ABSOLUTE * product.size * found.variance(pair) ** 0.5 / total
            gap = float(np.abs(found.marginal(pair) / total - product).sum())
            scored.append((gap - noise, pair))
    edges = _spanning([pair for score, pair in sorted(scored, reverse=True) if score > 0], len(domain))
    return Forest.of(domain, shares, edges, [joints[edge] for edge in edges])


def _spanning(pairs: list[tuple[int, int]], count: int) -> list[tuple[int, int]]:
    """Keep the pairs, in order, that join what was not yet joined."""
    group, kept = list(range(count)), []
    for left, right in pairs:
        old, new = group[right], group[left]
        if old != new:
            kept.append((left, right))
            group = [new if one == old else one for one in group]
    return kept
