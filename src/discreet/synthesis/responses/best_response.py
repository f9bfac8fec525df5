"""The best response to drawn queries: one record that satisfies as much signed weight of them as a search finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import InputError, ParameterError
from discreet.privacy.numbers import whole
from discreet.synthesis.domain import Codes
from discreet.synthesis.responses.ascent import Landscape, search
from discreet.synthesis.responses.drawn import Drawn, Integers
from discreet.synthesis.workloads import Workload

_MOST_STARTS, _MOST_WORK = 1 << 16, 1 << 60
SWEEPS = 200  # the work that a call may do by default, in evaluations of all literals drawn


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
        and of every record in `warm` that was started from (the first always). `integer_program` proves how far from
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
    >>> domain = Domain.of(colour=["red", "green", "blue"], shape=["round", "square"])
    >>> accepts = np.array([[1, 0, 0], [0, 1, 1], [0, 1, 0]], dtype=bool)  # red; green or blue; square
    >>> literals = Literals(np.array([0, 0, 1], dtype=np.int32), accepts)
    >>> members = np.array([[0, 2], [1, 2], [2, -1]], dtype=np.int32)
    >>> no = np.zeros(3, dtype=bool)
    >>> workload = Workload(domain, literals, members, no, no, "red squares, other squares, squares")
    >>> best_response(workload, [0, 1, 2], [3, 1, -2]).record.tolist()  # 3 - 2 beats 1 - 2 and 0
    [0, 1]
    """
    drawn = Drawn.of(workload, queries, weights)
    starts, turn = whole(starts, name="starts"), whole(turn, name="turn")
    if starts > _MOST_STARTS:
        raise ParameterError(f"starts is at most {_MOST_STARTS:,}", parameter="starts")
    limit = SWEEPS * len(drawn.row) if work is None else whole(work, name="work")
    if limit > _MOST_WORK:
        raise ParameterError("work is at most 2^60 literals", parameter="work")
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
            raise InputError("warm starts are records of the domain: one row of codes for each attribute")
    scattered = _scatter(turn, starts, len(sizes)) % sizes
    return np.concatenate([landscape.greedy(scattered[0])[None], given, scattered[1:]])


def _scatter(turn: int, rows: int, columns: int) -> Integers:
    """Return public numbers below 2^31 that differ from turn to turn, by mixing the bits of their places."""
    place = np.arange(rows * columns, dtype=np.uint64) + np.uint64((turn * rows * columns) % (1 << 64))
    place *= np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        place = (place ^ (place >> np.uint64(shift))) * np.uint64(factor)
    return (place >> np.uint64(33)).astype(np.int64).reshape(rows, columns)
