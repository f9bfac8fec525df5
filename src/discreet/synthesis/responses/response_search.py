"""The best response to drawn queries: one record that satisfies as much signed weight of them as a search finds.

How much better another record could be is proven by an integer program with tight rows, solved by branch and bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, ParameterError
from discreet.privacy.numbers import positive, whole
from discreet.synthesis.domain import Codes
from discreet.synthesis.responses.ascent import Landscape, search
from discreet.synthesis.responses.drawn import Drawn, Integers
from discreet.synthesis.workloads import Workload

_MOST_STARTS, _MOST_WORK = 1 << 16, 1 << 60
SWEEPS = 200  # the work that a call may do by default, in evaluations of all literals drawn
NODES = 10_000
_TOLERANCE = 1e-6  # by which the solver lets a row or a whole number be off
_OPTIMAL, _INFEASIBLE = 0, 2


@dataclass(frozen=True, slots=True, eq=False)
class Response:
    """A record, the signed weight of the drawn queries it satisfies, and the work that found it."""

    record: Codes
    value: int
    starts: int
    evaluations: int


def best_response(
    workload: Workload,
    queries: Any,
    weights: Any,
    *,
    starts: int = 8,
    work: int | None = None,
    turn: int = 1,
    warm: Any = None,
) -> Response:
    """Return a record x of the domain with a large sum of weights[i] * q_i(x) over the drawn queries.

    Every record has one code for each attribute. The search climbs from a greedy record, from those in `warm` (codes,
    one column a record) and from `starts` - 1 scattered ones; then it sets up to three attributes to scattered codes
    and climbs again, and goes back if that lost value, until it has evaluated `work` literals: never by the clock.
    `turn` is any public number, such as that of the round; the same arguments give the same record on every machine.

    Privacy. The record is post-processing of the drawn queries: it costs nothing, however good or bad it is.
        Proof: nothing but the arguments is read, and no part of them but the draws depends on the private records.
    Accuracy. `value` is the exact sum, and at least that of every record that differs from `record` in one attribute
        and of every record in `warm` that was started from (the first always). `exact_response` proves how far from
        the largest sum it is.
        Proof: a climb takes one attribute at a time; one pass over the literals about it finds, in integers, the terms
        whose other literals all hold (or, of a parity, how many do), hence the sum for each of its codes. It takes the
        best code if that is strictly better, and ends when no attribute has one, for each is looked at again after a
        change that can matter to it. Sums only rise from the start of a climb, and the best end of a climb is returned.
    Cost. About five nanoseconds a literal where numba is installed: some 8 milliseconds for 2 000 queries of three
        literals at the default work, 200 evaluations of every literal. Memory is proportional to the distinct literals
        drawn, times the codes of the largest attribute.
    Reference. Gaboardi, Gallego Arias, Hsu, Roth, Wu 2014, who solve it as an integer program; iterated local search:
        Lourenco, Martin, Stuetzle 2003.

    >>> from discreet.synthesis import Domain, Literals
    >>> domain = Domain.of(color=["red", "green", "blue"], shape=["round", "square"])
    >>> accepts = np.array(
    ...     [[1, 0, 0], [0, 1, 1], [0, 1, 0]], dtype=bool
    ... )  # red; green or blue; square
    >>> literals = Literals(np.array([0, 0, 1], dtype=np.int32), accepts)
    >>> members = np.array([[0, 2], [1, 2], [2, -1]], dtype=np.int32)
    >>> no = np.zeros(3, dtype=bool)
    >>> workload = Workload(
    ...     domain, literals, members, no, no, "red squares, other squares, squares"
    ... )
    >>> best_response(
    ...     workload, [0, 1, 2], [3, 1, -2]
    ... ).record.tolist()  # 3 - 2 beats 1 - 2 and 0
    [0, 1]
    """
    drawn = Drawn.of(workload, queries, weights)
    starts, turn = whole(starts, name="starts"), whole(turn, name="turn")
    if starts > _MOST_STARTS:
        raise ParameterError(f"starts must be at most {_MOST_STARTS:,}", parameter="starts")
    limit = SWEEPS * len(drawn.row) if work is None else whole(work, name="work")
    if limit > _MOST_WORK:
        raise ParameterError("work must be at most 2^60 literals", parameter="work")
    landscape = Landscape.of(drawn)
    found = search(landscape, _starts(landscape, starts, turn, warm), work=limit, turn=turn)
    return Response(found.record.astype(np.uint16), drawn.constant + found.value, found.starts, found.evaluations)


def _starts(landscape: Landscape, starts: int, turn: int, warm: Any) -> Integers:
    """Return the records to start from, one a row: the greedy one, those handed in, and scattered ones."""
    sizes = landscape.sizes
    given = np.zeros((0, len(sizes)), dtype=np.int64)
    if warm is not None:
        given = np.atleast_2d(np.asarray(warm).T)
        fits = given.ndim == 2 and given.shape[1] == len(sizes) and given.dtype.kind in "iu"
        if not fits or np.any(given < 0) or np.any(given >= sizes):
            raise InputError("warm starts must be records of the domain: one row of codes for each attribute")
    scattered = _scatter(turn, starts, len(sizes)) % sizes
    return np.concatenate([landscape.greedy(scattered[0])[None], given, scattered[1:]])


def _scatter(turn: int, rows: int, columns: int) -> Integers:
    """Return public numbers below 2^31 that differ from turn to turn, by mixing the bits of their places."""
    place = np.arange(rows * columns, dtype=np.uint64) + np.uint64((turn * rows * columns) % (1 << 64))
    place *= np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        place = (place ^ (place >> np.uint64(shift))) * np.uint64(factor)
    return (place >> np.uint64(33)).astype(np.int64).reshape(rows, columns)


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """A record, its exact value, and a value that no record exceeds."""

    record: Codes
    value: int
    bound: int

    @property
    def proven(self) -> bool:
        """Whether no record has a larger value."""
        return self.value >= self.bound

    @property
    def gap(self) -> float:
        """By which share of the bound the value may fall short."""
        return gap(self.value, self.bound)


def exact_response(
    workload: Workload,
    queries: Any,
    weights: Any,
    *,
    nodes: int = NODES,
    seconds: float | None = None,
    known: Any = None,
) -> Optimum:
    """Return a record x with the largest sum of weights[i] * q_i(x), or the best found and a bound on the largest.

    The solver is asked for a record better than `known` (by default that of `best_response`), within a number of
    `nodes` of the search tree. `seconds` limits its time as well; the outcome then depends on the machine.

    Accuracy. The largest value of the program below is the largest sum. `value` is exact; `bound` is as sound as the
        solver's floating point within its tolerance of 1e-6, the effect of which on the sum is added.
        Proof: the program has a column x of {0, 1} for each code of each attribute, those of one attribute adding up to
        1: its points are the records. A literal is the sum of the columns of its codes, 0 or 1. A product of k literals
        with a weight above 0 has a column z <= 1 with rows z <= literal: the largest z is their minimum, the product.
        With a weight below 0 the rows are z >= 0 and z >= sum of the literals - (k - 1): the smallest z is again the
        product, since the sum is k if all hold and at most k - 1 otherwise. A parity has whole columns z in {0, 1} and
        h >= 0 with  sum of the literals = 2 h + z, so z is the parity. At each record the best of the other columns
        thus gives the weighted sum of the queries, and no point of the program gives more.
    Cost. One linear program with about 2 rows a query, some tenths of a second for 2 000 queries; where its bound does
        not meet the known value, a search that may take minutes.
    Reference. Gaboardi, Gallego Arias, Hsu, Roth, Wu 2014, with one row a query; solver: Huangfu, Hall 2018.

    >>> from discreet.synthesis import Domain, Literals
    >>> domain = Domain.of(color=["red", "green", "blue"], shape=["round", "square"])
    >>> accepts = np.array(
    ...     [[1, 0, 0], [0, 1, 1], [0, 1, 0]], dtype=bool
    ... )  # red; green or blue; square
    >>> literals = Literals(np.array([0, 0, 1], dtype=np.int32), accepts)
    >>> members = np.array([[0, 2], [1, 2], [2, -1]], dtype=np.int32)
    >>> no = np.zeros(3, dtype=bool)
    >>> workload = Workload(
    ...     domain, literals, members, no, no, "red squares, other squares, squares"
    ... )
    >>> best = exact_response(workload, [0, 1, 2], [3, 1, -2])
    >>> best.record.tolist(), best.value, best.proven
    ([0, 1], 1, True)
    """
    nodes = whole(nodes, name="nodes")
    limit = None if seconds is None else float(positive(seconds, name="seconds"))
    drawn = Drawn.of(workload, queries, weights)
    record = best_response(workload, queries, weights).record if known is None else _record(drawn, known)
    value, program = drawn.value(record), ResponseProgram.of(drawn)
    bound = program.relaxed()
    if bound > value:
        solved = program.solve(nodes=nodes, seconds=limit, above=value)
        bound = min(bound, value if solved.bound is None else solved.bound)
        if solved.record is not None and drawn.value(solved.record) > value:
            record, value = solved.record, drawn.value(solved.record)
    return Optimum(record, value, max(bound, value))


def upper_bound(workload: Workload, queries: Any, weights: Any) -> int:
    """Return a whole number that the sum of weights[i] * q_i(x) exceeds for no record x, by one linear program.

    Accuracy. At least the largest sum; on rounds of DualQuery some percent above it, and often equal to it.
        Proof: it is the largest value of the program of `exact_response` when its columns may be fractions, plus what
        the solver's tolerance can hide, rounded down to a whole number as every sum is one.
    """
    return ResponseProgram.of(Drawn.of(workload, queries, weights)).relaxed()


def gap(value: int, bound: int) -> float:
    """Return by which share of an upper bound a value may fall short; 0 where it is proven largest.

    >>> gap(98, 100), gap(100, 100)
    (0.02, 0.0)
    """
    return max(0, bound - value) / max(1, abs(bound))


def _record(drawn: Drawn, known: Any) -> Codes:
    """Return a record handed in, or refuse it."""
    record = np.asarray(known)
    fits = record.shape == drawn.sizes.shape and record.dtype.kind in "iu"
    if not fits or np.any(record < 0) or np.any(record >= drawn.sizes):
        raise InputError("a known record must have one code of the domain for each attribute")
    return record.astype(np.uint16)


class Solved(NamedTuple):
    """What the solver found: a record or none, and a bound, None if there is no record above the asked value."""

    record: Codes | None
    bound: int | None


@dataclass(frozen=True, eq=False)
class ResponseProgram:
    """Maximize constant + objective @ columns; the columns of the codes come first, attribute by attribute."""

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
