"""Estimated marginals made plausible: what noise explains shrinks towards a simpler model, and no count is below 0.

A synthetic table from estimated marginals: all cells where they are few, else rows of a forest of attributes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import reduce
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from discreet.synthesis.domain import Domain, SyntheticTable
from discreet.synthesis.methods.forest import Forest
from discreet.synthesis.methods.residual.basis import Attributes, Residuals, centered, freedom
from discreet.synthesis.methods.weights import whole_domain
from discreet.synthesis.workloads import Marginals

Floats = NDArray[np.float64]
_MEAN_ABSOLUTE = (2 / np.pi) ** 0.5  # of a standard normal variable
MOST_CELLS = 1 << 16
_MOST_ROWS = 1_000_000
_PASSES = (10, 50)  # over all marginals: at least, at most
_MOST_PRODUCTS = 1 << 28  # of a weight and a ratio, unless that is less than the least number of passes
_LITTLE = 1e-6  # the share of every marginal that is spread evenly
_TINY = float(np.finfo(np.float64).tiny)  # what is less counts as 0: no ratio overflows


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
        modeled = Marginals(domain, larger)
        answers = total * forest.answers(modeled)
        for place, part in enumerate(larger):
            aim = centered(modeled.table(place, answers))
            parts[part] = towards(found.parts[part], aim, found.variances[part], freedom(part, found.sizes))
    return Residuals(found.sizes, parts, found.variances), forest


def towards(values: Floats, aim: Floats, variance: float, dimension: int) -> Floats:
    """Return values moved towards an aim by the share of their distance that noise explains, by James and Stein.

    >>> towards(
    ...     np.array([3.0, 4.0]), np.zeros(2), variance=2.5, dimension=12
    ... ).tolist()  # 25 from 0, and noise is 25
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
    """Return the frequencies of an attribute's values, uniform where no marginal has it."""
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


def synthetic_table(
    found: Residuals, forest: Forest, size: int, sets: Iterable[Attributes]
) -> tuple[SyntheticTable, str]:
    """Return a table and how it was made; nothing but released numbers goes in, and the random order of rows."""
    if forest.domain.cells <= MOST_CELLS:
        return _all_cells(found, forest.domain, sets), "weights on all cells of the domain, fitted to the marginals"
    edges = sum(parent >= 0 for parent in forest.parents)
    made = f"rows of a forest of {edges} pairs of attributes" if edges else "rows of independent attributes"
    return forest.table(min(size, _MOST_ROWS)), made


def _all_cells(found: Residuals, domain: Domain, sets: Iterable[Attributes]) -> SyntheticTable:
    """Fit weights of all cells to the estimated marginals of these sets, made non-negative."""
    wanted = {one: _positive(found.marginal(one), number_of_records(found)) for one in sets if one}
    return SyntheticTable(whole_domain(domain), fitted(domain.sizes, wanted).ravel())


def _positive(counts: Floats, total: float) -> Floats:
    """Return the nearest frequencies that are not negative, and a little everywhere.

    Where noise prevails each marginal calls other cells empty, and a fit to all of them would leave a few by chance.
    """
    return (1 - _LITTLE) * non_negative(counts, total) / total + _LITTLE / counts.size


def fitted(sizes: tuple[int, ...], wanted: Mapping[Attributes, Floats]) -> Floats:
    """Return frequencies of all cells of a domain with about these marginals, by iterative proportional fitting.

    Each marginal, frequencies of at least 0, is fitted in turn: every cell is multiplied by what its marginal
    should be over what it is. That starts from uniform frequencies, so that attributes of no marginal stay uniform and
    independent, and what one marginal calls empty stays empty. If some distribution has these marginals, the fit
    approaches the one of largest entropy among those that do (Deming and Stephan 1940; Csiszar 1975). If none does it
    goes round in a circle, and the mean over the last pass is returned. A marginal that contradicts all that is left is
    passed over. The number of passes depends on sizes only.

    >>> joint = np.multiply.outer([0.5, 0.5], [0.1, 0.2, 0.7])
    >>> bool(
    ...     np.allclose(
    ...         fitted((2, 3), {(0,): joint.sum(axis=1), (1,): joint.sum(axis=0)}),
    ...         joint,
    ...     )
    ... )
    True
    """
    cells = math.prod(sizes)
    weights = mean = np.full(cells, 1 / cells)
    for _ in range(_passes(cells * len(wanted))):
        mean = np.zeros(cells)
        for one, shares in wanted.items():
            weights = _fit(weights.reshape(_runs(sizes, one)), shares).ravel()
            mean += weights
    return np.reshape(mean / mean.sum(), sizes)


def _passes(products: int) -> int:
    """Return how many passes of `products` products are worth their time."""
    least, most = _PASSES
    return min(max(_MOST_PRODUCTS // products, least), most) if products else 0


def _fit(weights: Floats, wanted: Floats) -> Floats:
    """Return weights, of sum 1, scaled along every other axis to a marginal, or as they are if that leaves nothing."""
    found = weights.sum(axis=tuple(range(0, weights.ndim, 2)), keepdims=True)
    ratio = np.zeros(found.shape)
    np.divide(wanted.reshape(found.shape), found, out=ratio, where=found >= _TINY)
    scaled = weights * ratio
    total = float(scaled.sum())
    return scaled / total if total > 0 else weights


def _runs(sizes: tuple[int, ...], attributes: Attributes) -> list[int]:
    """Return a shape with the attributes as its odd axes, and all between two of them as one: few axes are fast."""
    shape, start = list[int](), 0
    for one in attributes:
        shape += [math.prod(sizes[start:one]), sizes[one]]
        start = one + 1
    return [*shape, math.prod(sizes[start:])]
