"""All blocks that agree with published tables: the least number of people of each kind, over every one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.asking import Floats, Integers
from discreet.attacks.census.tables import CELLS, PublishedFact
from discreet.errors import InputError

_INFEASIBLE, _UNBOUNDED = 2, 3  # what the solver says of its end
_NODES = 20_000  # of a search, after which it counts as undecided
_ROUNDS = 60  # of searches for unseen people; tables that say so little prove next to nothing anyway
_EARLY = 0.9  # relative gap at which a search for unseen people has found enough of them
_WHOLE = 1e-6  # what the solver takes for whole

Histogram = Integers
Look = Callable[[tuple[Histogram, float]], tuple[Histogram, float]]


@dataclass(frozen=True, eq=False)
class Solutions:
    """The histograms over cells, whole and not negative, of which all statements are true.

    Every solution that is returned has been checked in whole numbers. That there is none with a smaller sum rests on
    the bound of the solver's branch and bound, in floating point over small whole numbers; a search that ends
    undecided proves nothing and is treated so.
    """

    statements: Sequence[PublishedFact]

    @cached_property
    def most(self) -> Integers:
        """For every cell an upper bound that single statements give: a count of 0 empties all cells that it counts."""
        bounds = np.full(CELLS, np.iinfo(np.int64).max)
        for one in self.statements:
            if (one.weights >= 0).all():
                reached = one.weights > 0
                cells = one.cells[reached]
                bounds[cells] = np.minimum(bounds[cells], max(one.high, 0) // one.weights[reached])
        return bounds

    @cached_property
    def live(self) -> Integers:
        """The cells that single statements leave open, or the first if there are none."""
        cells = np.flatnonzero(self.most > 0)
        return cells if len(cells) else np.zeros(1, dtype=np.int64)  # a solver wants an unknown, be it 0 at most

    @cached_property
    def people(self) -> tuple[int, int]:
        """The fewest and the most people that any solution can have."""
        (_, fewest), (_, most) = self.least(np.ones(CELLS)), self.least(-np.ones(CELLS))
        if not np.isfinite(most):
            raise InputError("the solver could not bound the number of people; publish fewer people or tables")
        return int(np.ceil(max(fewest, 0.0))), int(np.floor(-most))

    @cached_property
    def _constraints(self) -> Any:
        """The statements over the live cells, for the solver."""
        from scipy.optimize import LinearConstraint
        from scipy.sparse import csr_array

        place = np.full(CELLS, -1)
        place[self.live] = np.arange(len(self.live))
        kept = [place[one.cells] >= 0 for one in self.statements]
        rows = np.repeat(np.arange(len(kept)), [int(chosen.sum()) for chosen in kept])
        columns = np.concatenate([place[one.cells[chosen]] for one, chosen in zip(self.statements, kept, strict=True)])
        weights = np.concatenate([one.weights[chosen] for one, chosen in zip(self.statements, kept, strict=True)])
        matrix = csr_array((weights.astype(np.float64), (rows, columns)), shape=(len(kept), len(self.live)))
        lows, highs = (
            np.array([getattr(one, side) for one in self.statements], dtype=float) for side in ("low", "high")
        )
        return LinearConstraint(matrix, lows, highs)

    def least(self, objective: Floats) -> tuple[Histogram, float]:
        """Return a solution with the least sum of objective times people, and a bound that no solution goes below."""
        whole = np.ones(len(self.live))
        found, bound = self._search(objective[self.live], self._constraints, whole, self._highest())
        return self._whole(found), bound

    def most_inhabited(self, cells: Integers) -> tuple[Histogram, float]:
        """Return a solution with people in as many of some cells as possible or not much fewer, and an upper bound.

        A number from 0 to 1 for each of the cells, not above its people, is added and their sum made largest: as large
        as the number of cells with people. The search ends once it is within a factor of the bound.
        """
        places, number, size = np.searchsorted(self.live, cells), np.arange(len(cells)), len(self.live)
        links = _entries((number, size + number, 1.0), (number, places, -1.0), shape=(len(cells), size + len(cells)))
        objective = np.concatenate([np.zeros(size), -np.ones(len(cells))])
        whole = np.concatenate([np.ones(size), np.zeros(len(cells))])
        limits = np.concatenate([self._highest(), np.ones(len(cells))])
        found, bound = self._search(objective, self._linked(links), whole, limits, gap=_EARLY)
        return self._whole(found[:size]), -bound

    def fewest_shared(self, shown: Histogram) -> tuple[Histogram, float]:
        """Return a solution that has the fewest people in common with one, and a bound that none goes below.

        People in common: the sum of the smaller count of every cell. For a cell with w people in the one shown and at
        most m in any, a number in {0, 1} says whether the other has at least w there; w times that number, and the
        other's people less m - w times it, are lower bounds of what is shared.
        """
        held, size = np.flatnonzero(shown[self.live] > 0), len(self.live)
        extra = len(held)
        number, wanted = np.arange(extra), shown[self.live][held].astype(np.float64)
        # no cell holds more than everybody: coefficients stay small, which the solver's tolerances need
        highest = np.minimum(self._highest(), self.people[1])
        full, shared = size + number, size + extra + number
        links = _entries(
            (number, held, 1.0), (number, full, wanted - highest[held]), (number, shared, -1.0),
            (extra + number, full, wanted), (extra + number, shared, -1.0), shape=(2 * extra, size + 2 * extra),
        )  # fmt: skip
        objective = np.concatenate([np.zeros(size + extra), np.ones(extra)])
        whole = np.concatenate([np.ones(size + extra), np.zeros(extra)])
        limits = np.concatenate([highest, np.ones(extra), wanted])
        found, bound = self._search(objective, self._linked(links), whole, limits)
        return self._whole(found[:size]), bound

    def _linked(self, links: Any) -> list[Any]:
        """Return the statements and further conditions, each row of which must not be positive."""
        from scipy.optimize import LinearConstraint
        from scipy.sparse import block_diag, coo_array

        given = self._constraints
        padded = block_diag([given.A, coo_array((0, links.shape[1] - len(self.live)))], format="csr")
        return [LinearConstraint(padded, given.lb, given.ub), LinearConstraint(links, -np.inf, 0.0)]

    def _highest(self) -> Floats:
        return self.most[self.live].astype(np.float64)

    def _search(
        self, objective: Floats, constraints: Any, whole: Floats, highest: Floats, gap: float = 0.0
    ) -> tuple[Floats, float]:
        """Run the solver; return what it found and its bound."""
        from scipy.optimize import Bounds, milp

        found = milp(
            objective,
            constraints=constraints,
            integrality=whole,
            bounds=Bounds(0, np.where(highest >= 2.0**62, np.inf, highest)),
            options={"mip_rel_gap": gap, "node_limit": _NODES},
        )
        if found.status == _INFEASIBLE:
            raise InputError(
                "no block agrees with all of these tables; if noise was added to them, say within what every count is "
                "right (noised_block_tables(..., within=))"
            )
        if found.status == _UNBOUNDED:
            raise InputError("the tables do not say how many people there are at most; publish a count of them all")
        if found.x is None:
            raise InputError("the solver found no block within its limit of steps; publish fewer people or tables")
        bound = -np.inf if found.mip_dual_bound is None else float(found.mip_dual_bound)
        return np.asarray(found.x, dtype=np.float64), bound - _WHOLE

    def _whole(self, found: Floats) -> Histogram:
        """Return a solution in whole numbers over all cells, having checked every statement."""
        histogram = np.zeros(CELLS, dtype=np.int64)
        histogram[self.live] = np.rint(found).astype(np.int64)
        if (histogram < 0).any() or not all(one.holds(histogram) for one in self.statements):
            raise InputError("the solver's answer does not agree with the tables; publish fewer people or tables")
        return histogram


@dataclass(frozen=True, eq=False)
class Extent:
    """How far the solutions reach: the proven least of every cell, and which cells are the same in all of them."""

    shown: Histogram
    least: Integers
    certain: NDArray[np.bool_]
    seen: tuple[Histogram, ...]


def extent(solutions: Solutions) -> Extent:
    """Find what all solutions have in common.

    A cell without people in any solution seen so far is certain once the largest sum over all such cells is 0. The
    least of a cell that had people in all of them is searched for by itself; so is the most, where it would be certain.
    """
    shown, _ = solutions.least(np.zeros(CELLS))
    seen = [shown]
    low, high = shown.copy(), shown.copy()

    def look(searched: tuple[Histogram, float]) -> tuple[Histogram, float]:
        """Keep what a search found."""
        found, bound = searched
        seen.append(found)
        np.minimum(low, found, out=low)
        np.maximum(high, found, out=high)
        return found, bound

    empty_for_certain = _never_seen(look, solutions, high)
    _shared_by_few(look, solutions, low)
    least, certain = np.zeros(CELLS, dtype=np.int64), solutions.most <= 0
    certain[empty_for_certain] = True
    for cell in np.flatnonzero(low > 0).tolist():
        if low[cell] == 0:  # a search for another cell emptied this one
            continue
        one = np.zeros(CELLS)
        one[cell] = 1.0
        _, bound = look(solutions.least(one))
        least[cell] = min(int(np.ceil(max(bound, 0.0))), int(low[cell]))
        if least[cell] == high[cell]:
            _, bound = look(solutions.least(-one))
            certain[cell] = -bound < least[cell] + 1 and high[cell] == least[cell]
    # every solution seen has been checked in whole numbers: where a later one speaks against a bound, it is right
    return Extent(shown, np.minimum(least, low), certain & (low == high), tuple(seen))


def _never_seen(look: Look, solutions: Solutions, high: Integers) -> Integers:
    """Return the cells that are empty in every solution, by looking for people in all others at once."""
    unseen: Integers = solutions.live[high[solutions.live] == 0]
    for _ in range(_ROUNDS):
        if not len(unseen):
            return unseen
        found, bound = look(solutions.most_inhabited(unseen))
        if not found[unseen].any():
            return unseen if bound < 1 else unseen[:0]
        unseen = unseen[high[unseen] == 0]
    return unseen[:0]


def _shared_by_few(look: Look, solutions: Solutions, low: Integers) -> None:
    """Look for solutions without the people that all solutions so far have in common, as long as that helps."""
    while (common := low > 0).any():
        before = int(low.sum())
        look(solutions.least(common.astype(np.float64)))
        if int(low.sum()) == before:
            return


def _entries(*parts: tuple[Integers, Integers, Floats | float], shape: tuple[int, int]) -> Any:
    """Return a sparse matrix of these rows, columns and values."""
    from scipy.sparse import csr_array

    rows, columns = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
    values = np.concatenate([np.broadcast_to(part[2], part[0].shape) for part in parts])
    return csr_array((values, (rows, columns)), shape=shape)
