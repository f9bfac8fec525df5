"""Queries that are the same, or each other's negation, and how many of a workload one record can satisfy."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.synthesis.workloads.marginals import Marginals
from discreet.synthesis.workloads.workload import PADDING, Workload

_MOST_WORK = 1 << 26


@dataclass(frozen=True, slots=True, eq=False)
class Ties:
    """Which queries to measure, and how each query follows: `turned` says that it is the negation of its own."""

    measured: NDArray[np.int64]
    place: NDArray[np.int64]
    turned: NDArray[np.bool_]


def ties(workload: Workload, *, negations: bool) -> Ties:
    """Return the different queries; with `negations`, a query and its negation count once.

    Queries are the same here if they are made of the same literals; others may be the same for other reasons.
    """
    if isinstance(workload, Marginals):
        every = np.arange(len(workload), dtype=np.int64)
        return Ties(every, every, np.zeros(len(workload), dtype=np.bool_))
    form = _canonical(workload)
    form = np.column_stack([form, workload.parity, np.where(negations, False, workload.negated)])
    _, measured, place = np.unique(form, axis=0, return_index=True, return_inverse=True)
    place = place.reshape(-1).astype(np.int64)
    turned = workload.negated ^ workload.negated[measured][place]
    return Ties(measured.astype(np.int64), place, turned)


def _canonical(workload: Workload) -> NDArray[np.int64]:
    """Return the literals of each query in order, numbered so that equal ones have one number."""
    literals = workload.literals
    rows = np.column_stack([literals.attribute.astype(np.int64), np.packbits(literals.accepts, axis=1)])
    number = np.append(np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1), PADDING)
    form = np.sort(number[workload.members], axis=1)
    again = np.zeros(form.shape, dtype=np.bool_)
    again[:, 1:] = (form[:, 1:] == form[:, :-1]) & ~workload.parity[:, None]
    ordered: NDArray[np.int64] = np.sort(np.where(again, PADDING, form), axis=1).astype(np.int64)
    return ordered


@dataclass(frozen=True, slots=True)
class Overlap:
    """Families of queries: how many there are in each, and how many of them one record satisfies at most."""

    sizes: tuple[int, ...]
    most: tuple[int, ...]

    @property
    def added(self) -> int:
        """How many queries one record satisfies at most."""
        return sum(self.most)

    @property
    def changed(self) -> int:
        """How many queries tell two records apart at most."""
        return sum(min(size, 2 * most) for size, most in zip(self.sizes, self.most, strict=True))


def overlap(workload: Workload, queries: NDArray[np.int64]) -> Overlap:
    """Return the families of queries about the same attributes, counted over all their values where that is quick.

    Accuracy. A record satisfies at most `added` of the queries, and two records differ in at most `changed` of them.
        Proof: whether a record satisfies the queries of a family depends on its values of the family's attributes only;
        `most` is the largest number over all combinations of them, or the number of queries, never less. Two records
        differ in no more queries of a family than there are, and in no more than the two satisfy together.
    """
    if isinstance(workload, Marginals):
        return Overlap(tuple(np.diff(workload.offsets).tolist()), (1,) * len(workload.sets))
    members = workload.members[queries]
    attributes = np.where(members == PADDING, PADDING, workload.literals.attribute[members])
    attributes = np.sort(attributes, axis=1)
    kinds, family = np.unique(attributes, axis=0, return_inverse=True)
    order = np.argsort(family.reshape(-1), kind="stable")
    sizes = np.bincount(family.reshape(-1), minlength=len(kinds))
    most, work, start = [], 0, 0
    for kind, size in zip(kinds, sizes.tolist(), strict=True):
        mine, start = queries[order[start : start + size]], start + size
        names = np.unique(kind[kind != PADDING])
        effort = size * math.prod(workload.domain.sizes[name] for name in names.tolist())
        quick = size > 1 and work + effort <= _MOST_WORK
        work += effort if quick else 0
        most.append(_most(workload, mine, names) if quick else size)
    return Overlap(tuple(sizes.tolist()), tuple(most))


def _most(workload: Workload, queries: NDArray[np.int64], names: NDArray[np.int32]) -> int:
    """Return how many of some queries one combination of the values of their attributes satisfies at most."""
    shape = [workload.domain.sizes[name] for name in names.tolist()]
    axis = {name: place for place, name in enumerate(names.tolist())}
    satisfied = np.zeros(shape, dtype=np.int64)
    literals = workload.literals
    for query in queries.tolist():
        parity = bool(workload.parity[query])
        held = np.full(shape, not parity)
        for one in workload.members[query][workload.members[query] != PADDING].tolist():
            place = axis[int(literals.attribute[one])]
            mask = literals.accepts[one][: shape[place]].reshape([-1 if at == place else 1 for at in range(len(shape))])
            held = held ^ mask if parity else held & mask
        satisfied += held ^ workload.negated[query]
    return int(satisfied.max())
