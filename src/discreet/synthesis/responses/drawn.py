"""Drawn queries with whole weights in one plain form: products and parities, each with one factor an attribute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.synthesis.workloads import PADDING, Workload

Integers = NDArray[np.int64]
_LARGEST = 1 << 60


@dataclass(frozen=True, eq=False)
class Drawn:
    """The function of one record  constant + sum over terms of weights[t] * (all, or an odd number of, factors hold).

    Factors `starts[t]` to `starts[t + 1]` belong to term t, at least one and no two about the same attribute. Factor e
    is about `attribute[e]` and holds for the codes c with `accepts[row[e], c]`: for some, and not for all.
    """

    sizes: Integers
    constant: int
    weights: Integers
    parity: NDArray[np.bool_]
    starts: Integers
    attribute: Integers
    row: Integers
    accepts: NDArray[np.bool_]

    @classmethod
    def of(cls, workload: Workload, queries: Any, weights: Any) -> Drawn:
        """Return the weighted sum of some queries of a workload as a function of the record.

        Accuracy. The function is the sum of weights[i] * q_i(x), for every record x.
            Proof: w (1 - q) = w - w q takes in negation. Of the literals of a query about one attribute, all hold if
            the code lies in the intersection of their sets, and an odd number holds if it lies in the symmetric
            difference; so one factor stands for them. A factor that always holds can be left out of a product, and of a
            parity if that is negated instead; one that never holds makes a product 0 and can be left out of a parity.
        """
        queries, weights = _checked(workload, queries, weights)
        parity = workload.parity[queries]
        signs = np.where(workload.negated[queries], -1, 1)
        constant = int(weights[signs < 0].sum())
        owner, attribute, row, accepts = _factors(workload, queries, parity)
        sizes = np.array(workload.domain.sizes, dtype=np.int64)
        held = np.count_nonzero(accepts, axis=1)[row]
        always, never = held == sizes[attribute], held == 0
        flips = np.bincount(owner[always & parity[owner]], minlength=len(queries)) % 2 == 1
        constant += int((signs * weights)[flips].sum())
        signed = np.where(flips, -1, 1) * signs * weights
        impossible = np.zeros(len(queries), dtype=bool)
        impossible[owner[never & ~parity[owner]]] = True
        kept = ~(always | never) & ~impossible[owner]
        count = np.bincount(owner[kept], minlength=len(queries))
        constant += int(signed[(count == 0) & ~impossible & ~parity].sum())
        terms = count > 0
        return cls(
            sizes=sizes,
            constant=constant,
            weights=signed[terms],
            parity=(parity & (count > 1))[terms],
            starts=np.concatenate([[0], np.cumsum(count[terms])]),
            attribute=attribute[kept],
            row=row[kept],
            accepts=accepts,
        )

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def owner(self) -> Integers:
        """The term of each factor."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def value(self, record: NDArray[Any]) -> int:
        """Return the function at one record."""
        held = self.accepts[self.row, np.asarray(record, dtype=np.int64)[self.attribute]]
        true = np.bincount(self.owner[held], minlength=len(self))
        satisfied = np.where(self.parity, true % 2 == 1, true == np.diff(self.starts))
        return self.constant + int(self.weights[satisfied].sum())


def _checked(workload: Workload, queries: Any, weights: Any) -> tuple[Integers, Integers]:
    """Return distinct query numbers and their weights, summed where one is given twice and dropped where that is 0."""
    numbers, given = np.asarray(queries), np.asarray(weights)
    if numbers.ndim != 1 or numbers.shape != given.shape:
        raise InputError("queries and weights must be two arrays of one length")
    if numbers.size == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    if numbers.dtype.kind not in "iu" or given.dtype.kind not in "iu":
        raise InputError("query numbers and weights must be whole numbers")
    if numbers.min() < 0 or numbers.max() >= len(workload):
        raise InputError(f"a query number must be from 0 to {len(workload) - 1:,}")
    if np.any(given == 0):
        raise InputError("weights must not be 0: leave out queries that were not drawn")
    if max(int(given.max()), -int(given.min())) * given.size >= _LARGEST:
        raise InputError(f"the weights are too large: their sum must stay below 2^{_LARGEST.bit_length() - 1}")
    given = given.astype(np.int64)
    distinct, place = np.unique(numbers.astype(np.int64), return_inverse=True)
    if len(distinct) == len(numbers):
        return numbers.astype(np.int64), given
    total = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(total, place, given)
    return distinct[total != 0], total[total != 0]


def _factors(
    workload: Workload, queries: Integers, parity: NDArray[np.bool_]
) -> tuple[Integers, Integers, Integers, NDArray[np.bool_]]:
    """Return for each factor its query, attribute and row, and the rows: literals about one attribute made one."""
    members = workload.members[queries]
    owner, slot = np.nonzero(members != PADDING)
    distinct, row = np.unique(members[owner, slot], return_inverse=True)
    accepts = workload.literals.accepts[distinct]
    attribute = workload.literals.attribute[distinct][row].astype(np.int64)
    order = np.lexsort((attribute, owner))
    owner, attribute, row = owner[order], attribute[order], row[order].astype(np.int64)
    fresh = np.append(True, (owner[1:] != owner[:-1]) | (attribute[1:] != attribute[:-1]))[: len(owner)]
    if fresh.all():
        return owner, attribute, row, accepts
    first = np.flatnonzero(fresh)
    times = np.diff(np.append(first, len(owner)))
    shared = np.flatnonzero(times > 1)
    merged = accepts[row[first[shared]]]
    place = np.zeros(len(first), dtype=np.int64)
    place[shared] = np.arange(len(shared))
    for step in range(1, int(times.max())):
        more = shared[times[shared] > step]
        other, target = accepts[row[first[more] + step]], place[more]
        odd = parity[owner[first[more]]][:, None]
        merged[target] = np.where(odd, merged[target] ^ other, merged[target] & other)
    row = row[first]
    row[shared] = len(accepts) + np.arange(len(shared))
    return owner[first], attribute[first], row, np.concatenate([accepts, merged])
