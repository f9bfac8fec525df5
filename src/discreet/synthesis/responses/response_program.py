"""Drawn queries written as a mixed integer program with tight rows, and handed to the solver."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.synthesis.domain.domain import Codes
from discreet.synthesis.responses.drawn import Drawn, Integers

NODES = 10_000
_TOLERANCE = 1e-6  # by which the solver lets a row or a whole number be off
_OPTIMAL, _INFEASIBLE = 0, 2


class Solved(NamedTuple):
    """What the solver found: a record or none, and a bound, None if there is no record above the asked value."""

    record: Codes | None
    bound: int | None


@dataclass(eq=False)
class _Rows:
    """The rows  low <= coefficients @ columns <= high  of a program, as they are added."""

    columns: list[Integers] = field(default_factory=list)
    coefficients: list[NDArray[np.float64]] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)

    def add(self, parts: Sequence[tuple[Any, float]], low: float, high: float) -> None:
        """Add a row: columns with one coefficient each, and the ends."""
        self.columns.append(np.concatenate([np.atleast_1d(columns) for columns, _ in parts]))
        self.coefficients.append(np.concatenate([np.full(np.size(columns), value) for columns, value in parts]))
        self.low.append(low)
        self.high.append(high)


class _Literal(NamedTuple):
    """constant + sign * the sum of columns: a factor by its codes, or by the others where those are fewer."""

    columns: Integers
    sign: float
    constant: float


@dataclass(frozen=True, eq=False)
class ResponseProgram:
    """Maximise constant + objective @ columns; the columns of the codes come first, attribute by attribute."""

    drawn: Drawn
    constant: float
    objective: NDArray[np.float64]
    whole: NDArray[np.bool_]
    upper: NDArray[np.float64]
    rows: _Rows

    @classmethod
    def of(cls, drawn: Drawn) -> ResponseProgram:
        """Write the program of `exact_response`: equal terms once, and a term of one literal into the objective."""
        first = np.append(0, np.cumsum(drawn.sizes))
        rows, constant = _Rows(), float(drawn.constant)
        objective, integral, upper = [0.0] * int(first[-1]), [True] * int(first[-1]), [1.0] * int(first[-1])
        for low, high in pairwise(first):
            rows.add([(np.arange(low, high), 1.0)], 1.0, 1.0)
        for (parity, *_), (term, weight) in _merged(drawn).items():
            literals = [_literal(drawn, first, edge) for edge in range(drawn.starts[term], drawn.starts[term + 1])]
            if len(literals) == 1:
                constant += weight * literals[0].constant
                for column in literals[0].columns:
                    objective[column] += weight * literals[0].sign
                continue
            own = len(objective)
            objective.append(float(weight))
            integral.append(parity)
            upper.append(1.0)
            if parity:
                objective.append(0.0)
                integral.append(True)
                upper.append(len(literals) / 2)
            _rows_of_term(rows, literals, own, weight=weight, parity=parity)
        return cls(drawn, constant, np.array(objective), np.array(integral), np.array(upper), rows)

    def relaxed(self) -> int:
        """Return the bound of the program with fractions."""
        found = self._milp(np.zeros(len(self.objective)), {}, None)
        if found.status != _OPTIMAL or found.fun is None:  # a value short of the optimum would be no bound
            return self.drawn.constant + int(self.drawn.weights[self.drawn.weights > 0].sum())
        return math.floor(float(self.constant - found.fun + self._slack))

    def solve(self, *, nodes: int = NODES, seconds: float | None = None, above: int | None = None) -> Solved:
        """Search for the best record, only among those whose value is larger than `above` if that is given."""
        options: dict[str, Any] = {"node_limit": nodes, "mip_rel_gap": 0.0}
        if seconds is not None:
            options["time_limit"] = seconds
        found = self._milp(self.whole, options, above)
        if found.status == _INFEASIBLE:
            return Solved(None, None)
        weights, dual = self.drawn.weights, getattr(found, "mip_dual_bound", None)
        bound = self.drawn.constant + int(weights[weights > 0].sum())
        if dual is not None and math.isfinite(dual):
            bound = min(bound, math.floor(float(self.constant - dual + self._slack)))
        if found.x is None:
            return Solved(None, bound)
        first = np.append(0, np.cumsum(self.drawn.sizes))
        codes = [int(np.argmax(found.x[low:high])) for low, high in pairwise(first)]
        return Solved(np.array(codes, dtype=np.uint16), bound)

    @property
    def _slack(self) -> float:
        """By how much the solver's tolerance can move the sum: once for each attribute, whose columns add up to 1."""
        return _TOLERANCE * (1 + len(self.drawn.sizes) + float(np.abs(self.drawn.weights).sum()))

    def _milp(self, integral: NDArray[Any], options: dict[str, Any], above: int | None) -> Any:
        """Call the solver."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array

        rows, shape = self.rows, (len(self.rows.low), len(self.objective))
        start = np.append(0, np.cumsum([len(columns) for columns in rows.columns]))
        matrix = csr_array((np.concatenate(rows.coefficients), np.concatenate(rows.columns), start), shape=shape)
        limits = [LinearConstraint(matrix, np.array(rows.low), np.array(rows.high))]
        if above is not None:  # the next whole number
            limits.append(LinearConstraint(self.objective[None], above + 1 - self._slack - self.constant, np.inf))
        bounds = Bounds(np.zeros(len(self.objective)), self.upper)
        return milp(-self.objective, integrality=integral, bounds=bounds, constraints=limits, options=options)


def _merged(drawn: Drawn) -> dict[tuple[Any, ...], tuple[int, int]]:
    """Return by their contents the distinct terms, each by its first number, with the sum of their weights, never 0."""
    total: dict[tuple[Any, ...], tuple[int, int]] = {}
    names = [accepts.tobytes() for accepts in drawn.accepts]
    pairs = list(zip(drawn.attribute.tolist(), [names[row] for row in drawn.row], strict=True))
    for term, weight in enumerate(drawn.weights.tolist()):
        key = (bool(drawn.parity[term]), *pairs[drawn.starts[term] : drawn.starts[term + 1]])
        number, before = total.get(key, (term, 0))
        total[key] = number, before + weight
    return {key: (term, weight) for key, (term, weight) in total.items() if weight}


def _literal(drawn: Drawn, first: Integers, edge: int) -> _Literal:
    """Return one factor in terms of the columns of codes."""
    attribute = drawn.attribute[edge]
    accepts = drawn.accepts[drawn.row[edge], : drawn.sizes[attribute]]
    if 2 * np.count_nonzero(accepts) <= len(accepts):
        return _Literal(first[attribute] + np.flatnonzero(accepts), 1.0, 0.0)
    return _Literal(first[attribute] + np.flatnonzero(~accepts), -1.0, 1.0)


def _rows_of_term(rows: _Rows, literals: list[_Literal], own: int, *, weight: int, parity: bool) -> None:
    """Add the rows that tie the column of a term, and for a parity the one after it, to its literals."""
    constant = sum(one.constant for one in literals)
    if parity:
        rows.add([*((one.columns, one.sign) for one in literals), (own, -1.0), (own + 1, -2.0)], -constant, -constant)
    elif weight > 0:
        for one in literals:
            rows.add([(own, 1.0), (one.columns, -one.sign)], -math.inf, one.constant)
    else:
        parts = [(own, 1.0), *((one.columns, -one.sign) for one in literals)]
        rows.add(parts, constant - (len(literals) - 1), math.inf)
