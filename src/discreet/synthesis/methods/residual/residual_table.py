"""A synthetic table from estimated marginals: all cells where they are few, else rows of a forest of attributes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from discreet.synthesis.domain.domain import Domain
from discreet.synthesis.domain.synthetic_table import SyntheticTable
from discreet.synthesis.methods.forest.forest import Forest
from discreet.synthesis.methods.residual.basis import Attributes, Residuals
from discreet.synthesis.methods.residual.finishing import non_negative, number_of_records
from discreet.synthesis.methods.weights.multiplicative import whole_domain

Floats = NDArray[np.float64]
MOST_CELLS = 1 << 16
_MOST_ROWS = 1_000_000
_PASSES = (10, 50)  # over all marginals: at least, at most
_MOST_PRODUCTS = 1 << 28  # of a weight and a ratio, unless that is less than the least number of passes
_LITTLE = 1e-6  # the share of every marginal that is spread evenly
_TINY = float(np.finfo(np.float64).tiny)  # what is less counts as 0: no ratio overflows


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
    """Return the nearest shares that are not negative, and a little everywhere.

    Where noise prevails each marginal calls other cells empty, and a fit to all of them would leave a few by chance.
    """
    return (1 - _LITTLE) * non_negative(counts, total) / total + _LITTLE / counts.size


def fitted(sizes: tuple[int, ...], wanted: Mapping[Attributes, Floats]) -> Floats:
    """Return shares of all cells of a domain with about these marginals, by iterative proportional fitting.

    Each marginal, shares that are nowhere negative, is fitted in turn: every cell is multiplied by what its marginal
    should be over what it is. That starts from uniform shares, so that attributes of no marginal stay uniform and
    independent, and what one marginal calls empty stays empty. If some distribution has these marginals, the fit
    approaches the one of largest entropy among those that do (Deming and Stephan 1940; Csiszar 1975). If none does it
    goes round in a circle, and the mean over the last pass is returned. A marginal that contradicts all that is left is
    passed over. The number of passes depends on sizes only.

    >>> joint = np.multiply.outer([0.5, 0.5], [0.1, 0.2, 0.7])
    >>> bool(np.allclose(fitted((2, 3), {(0,): joint.sum(axis=1), (1,): joint.sum(axis=0)}), joint))
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
    """Return how many passes of so many products are worth their time."""
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
