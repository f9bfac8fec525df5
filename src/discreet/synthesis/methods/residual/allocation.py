"""How precisely to measure each residual: the least total variance for a price, or the least largest one.

The least value of a kernel of residuals: how unlike two records can be, exactly where that is feasible.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.privacy import Relation
from discreet.synthesis.base import Neighbors
from discreet.synthesis.methods.residual.basis import Attributes, cells, closure, freedom

_BITS = 60  # weights are integers whose total, freedoms counted, stays below 2^60: exact in 64 bits
_TURNS = 300
MOST_RESIDUALS = 1 << 18
_FOR_TOTAL = 1 / 16  # what the number of records gets of what single attributes get


class Aim(enum.Enum):
    """What an allocation is good for: the sum of all cells' variances, the largest one, or simpler models too.

    Most cells of large marginals are of residuals of many attributes, so that the least sum leaves little for single
    attributes and pairs. `EACH_ORDER` spends in proportion to the number of attributes of a residual, on all of that
    number together: better where interactions that noise explains will be shrunk away.
    """

    SUM = "sum"
    LARGEST = "largest"
    EACH_ORDER = "each order"


@dataclass(frozen=True)
class Allocation:
    """Integer weights of residuals: that of B is measured with variance 1/(unit weight(B) n(B)), unit set by the price.

    Privacy. Let z be the difference of the histograms of neighbors over the whole domain and P(B) the projection onto
        the residuals of B. Residuals scaled by n(B), with independent rounded Gaussian noise of a scale with square at
        least n(B)/(unit w(B)) on every entry, are mu-Gaussian DP, and so (mu^2/2)-zCDP, with unit = mu^2 / `distance`.
        Proof: what gets noise is n(B) times the residual itself, a table of integers that is already projected, so
        nothing is asked of projected noise. As v + round(Z) = round(v + Z) for integers v, the release is computed
        from these tables with independent normal noise; divided by its scale in each table, that is one vector with
        normal noise of deviation 1, and the Gaussian mechanism with mu the largest L2 distance of these vectors on
        neighbors. The square of the distance is at most the sum of |n(B) r|^2 unit w(B)/n(B) = unit w(B) n(B) |r|^2, r
        the difference of the residuals. r repeated over the D/n(B) records of each cell, D the number of all records
        that there can be, and divided by D/n(B), is P(B) z; so |r|^2 = (D/n(B)) |P(B) z|^2, and the sum is unit Q(z),
        where Q(z) = sum of w(B) D |P(B) z|^2 is a quadratic form with kernel K(x, y) = sum of w(B) g(B), g(B) the
        product over B of k - 1 where the records x and y agree and of -1 where they differ, k the size of the
        attribute. So it remains to bound Q by `distance`. K(x, x) = q, the sum of w(B) f(B), for every x. Add/remove: z
        is a sum of at most `rows` records, and Q is the square of a norm: Q <= rows^2 q. Change-one: with a and b
        records before and after, at most `rows`, Q <= (a^2 + b^2) q - 2 a b m for the least value m of K, or for less
        than that. If m < 0 this grows with a and b; else it is convex, as m <= q. So it is largest where each is 0 or
        `rows`: Q <= rows^2 max(q, 2 (q - m)). Where every unit is said to have one record, the empty B, the number of
        records, is not measured and is left out of q and m. Then the mean of K over all y is 0, so that m <= 0 and q <=
        2 (q - m): Q <= 2 (q - m), also for a unit that has no record all the same.
    Accuracy. No unbiased linear estimate with Gaussian noise, of any covariance, that keeps rho-zCDP has a smaller sum
        of variances or, for `Aim.LARGEST`, a smaller largest one, than `efficiency` times this one's before rounding,
        which adds 1/12 to the variance of each scaled entry. For
        `Aim.SUM` under add/remove `efficiency` is 1, up to the rounding of the weights.
        Proof: a mechanism that adds Gaussian noise of covariance S to W h has the information M = W' S^-1 W, and keeps
        rho-zCDP only if z' M z <= 2 rho for all differences z of neighbors. So under add/remove, with z = rows e(x),
        rows^2 M(x, x) <= 2 rho for every record x; under change-one, with z = rows (e(x) - e(y)), the mean of z' M z
        over all x and y is at most 2 rho. The sum of the variances of the best unbiased estimate, each cell
        counted with the importance of its marginal, is the trace of L M^+ L', convex in M. Renaming the values of an
        attribute changes none of this; so the mean of M over all renamings is no worse. A symmetric M that every
        renaming leaves alone is a sum of m(B) P(B): this family, m(B) = unit w(B) D. There the bounds read
        s unit q <= 2 rho, with s = rows^2 under add/remove and, as K less its empty term has mean 0, s = 2 rows^2
        and q without its empty term under change-one. B brings f(B) i(B)^2/(unit w(B)) to the sum, where i(B)^2 is the
        sum of importance(A)/n(A) over the marginals A that contain B. By Cauchy's inequality the sum is least for w
        proportional to i, and the least is s (sum of f(B) i(B))^2 / (2 rho), which is `least`. For the largest
        variance, take importances of total 1 over all cells: a mean is at most the largest.
    """

    sets: tuple[Attributes, ...]
    sizes: tuple[int, ...]
    neighbors: Neighbors
    aim: Aim
    residuals: tuple[Attributes, ...]
    weights: tuple[int, ...]
    least: float  # a lower bound on the aim, times 2 rho, for every allocation

    @classmethod
    def of(cls, sets: Sequence[Attributes], sizes: Sequence[int], neighbors: Neighbors, aim: Aim) -> Allocation:
        """Allocate for marginals (attributes in order, each of at least two values; repeats count again)."""
        check_residuals(sets)
        residuals = measured(sets, neighbors)
        if not residuals:
            raise ParameterError("every marginal has one cell, and the number of records is public", parameter="sets")
        links = _Links.of(sets, residuals, sizes)
        ideal = links.ideal(links.even_out() if aim is Aim.LARGEST else np.ones(len(sets)))
        chosen = _by_order(ideal, links.freedoms, residuals) if aim is Aim.EACH_ORDER else ideal
        scale = 2.0**_BITS / float(links.freedoms @ chosen)
        weights = tuple(max(1, math.floor(one * scale)) for one in chosen.tolist())
        changing = links.freedoms * ideal * (_mean_distance(neighbors) * _moves(residuals, neighbors)) ** 0.5
        return cls(tuple(sets), tuple(sizes), neighbors, aim, residuals, weights, float(changing.sum()) ** 2)

    @cached_property
    def total(self) -> int:
        """The q of the theorem: what one record costs, in units."""
        return sum(
            weight * freedom(part, self.sizes) for part, weight in zip(self.residuals, self.weights, strict=True)
        )

    @cached_property
    def distance(self) -> int:
        """The square of the distance of neighbors in the norm of the theorem, at most, in units."""
        rows = self.neighbors.rows
        if self.neighbors.relation is Relation.ADD_REMOVE:
            return rows**2 * self.total
        lowest = lowest_kernel(dict(zip(self.residuals, self.weights, strict=True)), self.sizes)
        if self.neighbors.same_count:
            return 2 * (self.total - lowest)
        return rows**2 * max(self.total, 2 * (self.total - lowest))

    @cached_property
    def variances(self) -> NDArray[np.float64]:
        """The variance of each cell of each marginal, times 2 rho."""
        links = _Links.of(self.sets, self.residuals, self.sizes)
        return links.variances(np.array(self.weights, dtype=np.float64) / float(self.distance))

    @property
    def reached(self) -> float:
        """What the aim makes small, times 2 rho: the sum of the variances of all cells, or the largest."""
        counts = np.array([cells(one, self.sizes) for one in self.sets], dtype=np.float64)
        return float(self.variances.max() if self.aim is Aim.LARGEST else counts @ self.variances)

    @property
    def efficiency(self) -> float:
        """The least that any such mechanism could reach, divided by what this one does; at most 1."""
        return self.least / self.reached


def check_residuals(sets: Sequence[Attributes]) -> None:
    """Refuse marginals whose residuals would be more than memory holds."""
    if sum(1 << len(one) for one in set(sets)) > MOST_RESIDUALS:
        raise ParameterError("a marginal has too many residuals; give it fewer attributes", parameter="sets")


def measured(sets: Sequence[Attributes], neighbors: Neighbors) -> tuple[Attributes, ...]:
    """Return the residuals that need noise: all subsets, less the empty one where the number of records is public."""
    every = closure(sets)
    return every[1:] if neighbors.same_count else every


def _mean_distance(neighbors: Neighbors) -> int:
    """Return the mean square distance of neighbors with the most records, in units of what one record costs."""
    return (2 if neighbors.relation is Relation.CHANGE_ONE else 1) * neighbors.rows**2


def _moves(residuals: Sequence[Attributes], neighbors: Neighbors) -> NDArray[np.float64]:
    """Return 1 for the residuals that such neighbors move, 0 for the number of records under change-one."""
    changing = neighbors.relation is Relation.CHANGE_ONE
    return np.array([0.0 if changing and not part else 1.0 for part in residuals])


def _by_order(
    ideal: NDArray[np.float64], freedoms: NDArray[np.float64], residuals: Sequence[Attributes]
) -> NDArray[np.float64]:
    """Return weights whose total for the residuals of k attributes is k, and a little for the number of records."""
    orders = np.array([len(part) for part in residuals])
    spent = np.bincount(orders, freedoms * ideal)
    shares: NDArray[np.float64] = ideal * np.maximum(orders, _FOR_TOTAL) / spent[orders]
    return shares


@dataclass(frozen=True)
class _Links:
    """Which residual belongs to which marginal, as parallel arrays."""

    marginal: NDArray[np.int64]
    residual: NDArray[np.int64]
    cells: NDArray[np.float64]  # of each marginal
    freedoms: NDArray[np.float64]  # of each residual

    @classmethod
    def of(cls, sets: Sequence[Attributes], residuals: Sequence[Attributes], sizes: Sequence[int]) -> _Links:
        places = {part: place for place, part in enumerate(residuals)}
        pairs = [(number, places[part]) for number, one in enumerate(sets) for part in closure([one]) if part in places]
        marginal, residual = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        sizes_of = np.array([cells(one, sizes) for one in sets], dtype=np.float64)
        return cls(marginal, residual, sizes_of, np.array([freedom(part, sizes) for part in residuals], dtype=float))

    def ideal(self, importance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the best weights for the sum of variances of all cells, each times its marginal's importance."""
        shares = (importance / self.cells)[self.marginal]
        return np.sqrt(np.bincount(self.residual, shares, len(self.freedoms)))

    def variances(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the variance of each cell of each marginal for weights in units of the price."""
        part = (self.freedoms / np.maximum(weights, np.finfo(float).tiny))[self.residual]
        return np.bincount(self.marginal, part, len(self.cells)) / self.cells**2

    def even_out(self) -> NDArray[np.float64]:
        """Return the importance for which the largest variance is about the least: the players of a game take turns.

        Whatever the importances, of total 1 over all cells, the least mean variance is below the least largest one.
        """
        importance = 1 / self.cells
        best, chosen = math.inf, importance
        for _ in range(_TURNS):
            importance = importance / float(importance @ self.cells)
            ideal = self.ideal(importance)
            variances = self.variances(ideal)
            largest = float(variances.max()) * float(self.freedoms @ ideal)
            if largest < best:
                best, chosen = largest, importance
            importance = importance * np.sqrt(variances / variances.max())
        return chosen


MOST_EXACT = 20  # attributes: the search holds 2^20 numbers


def lowest_kernel(weights: Mapping[Attributes, int], sizes: Sequence[int]) -> int:
    """Return the least K(x, y) over all pairs of records, or less where there are too many attributes to search.

    K is the sum over B of weights[B] times the product over the attributes of B of size - 1 where x and y agree and of
    -1 where they differ.

    >>> lowest_kernel(
    ...     {(0,): 3, (1,): 1, (0, 1): 2}, (2, 5)
    ... )  # they agree in the second attribute alone: -3 + 4 - 8
    -7
    """
    names = sorted({one for part in weights for one in part})
    if len(names) <= MOST_EXACT:
        return _searched(weights, names, sizes)
    bounds = [_one_by_one(weights, sizes)]
    if max(len(part) for part in weights) <= 2:
        bounds.append(_completed_square(weights, names, sizes))
    return max(bounds)


def _searched(weights: Mapping[Attributes, int], names: Sequence[int], sizes: Sequence[int]) -> int:
    """Return the least value over all patterns of agreement; no number on the way exceeds the value at x = y."""
    place = {one: 1 << position for position, one in enumerate(names)}
    largest = sum(weight * freedom(part, sizes) for part, weight in weights.items())
    values = np.zeros(1 << len(names), dtype=np.int64 if largest < 1 << 63 else object)
    for part, weight in weights.items():
        values[sum(place[one] for one in part)] = weight
    for one in names:
        halves = values.reshape(-1, 2, place[one])
        without, within = halves[:, 0].copy(), halves[:, 1].copy()
        halves[:, 0], halves[:, 1] = without - within, without + (sizes[one] - 1) * within
    return int(values.min())


def _one_by_one(weights: Mapping[Attributes, int], sizes: Sequence[int]) -> int:
    """Add up each residual's own least value: it differs in one attribute, the smallest."""
    total = 0
    for part, weight in weights.items():
        if part:
            total -= weight * (freedom(part, sizes) // (min(sizes[one] for one in part) - 1))
        else:
            total += weight
    return total


def _completed_square(weights: Mapping[Attributes, int], names: Sequence[int], sizes: Sequence[int]) -> int:
    """Bound residuals of at most two attributes from below.

    With g_i the factor of attribute i and any numbers a_i and s, the pairs are at least sum w_ij g_i g_j =
    ((sum a_i g_i)^2 - sum a_i^2 g_i^2)/2 + sum (w_ij - a_i a_j) g_i g_j, and a square is at least 2 s times its root
    less s^2; what is left is a sum over single attributes, and each is at its least by itself.
    """
    roots = _roots(weights, names, sizes)
    rest = Fraction(weights.get((), 0))
    for place, one in enumerate(names):
        for two in names[place + 1 :]:
            gap = abs(weights.get((one, two), 0) - roots[one] * roots[two])
            rest -= gap * (sizes[one] - 1) * (sizes[two] - 1)
    reach = float(sum(roots[one] * (sizes[one] - 1) for one in names))
    low, high = -reach, reach
    for _ in range(200):  # concave in s: a third of the range is left out each time; any s gives a bound
        left, right = low + (high - low) / 3, high - (high - low) / 3
        worse = _separate(weights, names, sizes, roots, left) < _separate(weights, names, sizes, roots, right)
        low, high = (left, high) if worse else (low, right)
    return math.floor(rest + _separate(weights, names, sizes, roots, Fraction(round(low))))


def _roots(weights: Mapping[Attributes, int], names: Sequence[int], sizes: Sequence[int]) -> dict[int, int]:
    """Return whole numbers a_i with a_i a_j about the weight of the pair: exact where all pairs were asked for once."""
    pairs = [weight for part, weight in weights.items() if len(part) == 2]
    level = math.sqrt(max(pairs, default=0) * min(sizes[one] for one in names))
    return {one: math.floor(level / math.sqrt(sizes[one])) for one in names}


def _separate(
    weights: Mapping[Attributes, int],
    names: Sequence[int],
    sizes: Sequence[int],
    roots: Mapping[int, int],
    s: Number,
) -> Number:
    """Return -s^2/2 plus the least sum of (w_i + s a_i) g_i - a_i^2 g_i^2 / 2: exactly, for a fraction s."""
    total = -s * s / 2
    for one in names:
        slope = weights.get((one,), 0) + s * roots[one]
        half = s * 0 + roots[one] ** 2
        total += min(slope * g - half * g * g / 2 for g in (sizes[one] - 1, -1))
    return total
