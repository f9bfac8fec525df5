"""The best response proven: the drawn queries as an integer program, solved by branch and bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import InputError
from discreet.privacy.numbers.arguments import positive, whole
from discreet.synthesis.domain.domain import Codes
from discreet.synthesis.responses.best_response import best_response
from discreet.synthesis.responses.drawn import Drawn
from discreet.synthesis.responses.response_program import NODES, ResponseProgram
from discreet.synthesis.workloads.workload import Workload


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


def gap(value: int, bound: int) -> float:
    """Return by which share of an upper bound a value may fall short; 0 where it is proven largest.

    >>> gap(98, 100), gap(100, 100)
    (0.02, 0.0)
    """
    return max(0, bound - value) / max(1, abs(bound))


def upper_bound(workload: Workload, queries: Any, weights: Any) -> int:
    """Return a whole number that the sum of weights[i] * q_i(x) exceeds for no record x, by one linear program.

    Accuracy. At least the largest sum; on rounds of DualQuery some percent above it, and often equal to it.
        Proof: it is the largest value of the program of `exact_response` when its columns may be fractions, plus what
        the solver's tolerance can hide, rounded down to a whole number as every sum is one.
    """
    return ResponseProgram.of(Drawn.of(workload, queries, weights)).relaxed()


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
    >>> domain = Domain.of(colour=["red", "green", "blue"], shape=["round", "square"])
    >>> accepts = np.array([[1, 0, 0], [0, 1, 1], [0, 1, 0]], dtype=bool)  # red; green or blue; square
    >>> literals = Literals(np.array([0, 0, 1], dtype=np.int32), accepts)
    >>> members = np.array([[0, 2], [1, 2], [2, -1]], dtype=np.int32)
    >>> no = np.zeros(3, dtype=bool)
    >>> workload = Workload(domain, literals, members, no, no, "red squares, other squares, squares")
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


def _record(drawn: Drawn, known: Any) -> Codes:
    """Return a record handed in, or refuse it."""
    record = np.asarray(known)
    fits = record.shape == drawn.sizes.shape and record.dtype.kind in "iu"
    if not fits or np.any(record < 0) or np.any(record >= drawn.sizes):
        raise InputError("a known record has one code of the domain for each attribute")
    return record.astype(np.uint16)
