"""A forest of attributes, each given its parent: the model behind independent and tree releases.

Answers are exact sums over its distribution, never over sampled rows; of a table every count of rows is within one of
what the distribution expects, and their sum exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.randomness import words
from discreet.synthesis.domain import Domain, Records, SyntheticTable
from discreet.synthesis.workloads import PADDING, Marginals, Workload

Floats = NDArray[np.float64]
_BLOCK_ENTRIES = 1 << 24
_MOST_ENTRIES = 40_000_000  # of the tables of one-hot columns and literals given values: 320 MB
_CHUNK_ENTRIES = 2_000_000


@dataclass(frozen=True, eq=False)
class Forest:
    """A distribution of records: in `order`, each attribute is drawn given its parent, or alone at a root.

    `parents[i]` is -1 at a root; `conditionals[i]` has one row for each value of the parent, at a root only one.

    Accuracy. `answers` are the frequencies of records of this distribution, up to rounding in double precision.
        Proof: given the value of the attribute where the paths between three attributes meet, the three are
        independent, for no path from one to another avoids it; so the mean of a product of three functions is the sum
        over the values there of their share times the product of the conditional means. A parity is 1/2 minus half the
        mean of the product of 1 - 2 (literal). With more than three literals, sums over one attribute after the other,
        from the leaves to the roots, give the mean of any product of functions of one attribute each.
    Cost. With at most three literals one sum over the values of one attribute for each query.

    >>> domain = Domain.of(sky=["clear", "gray"], umbrella=["no", "yes"])
    >>> joint = np.array([[0.6, 0.1], [0.05, 0.25]])
    >>> model = Forest.of(
    ...     domain,
    ...     [joint.sum(axis=1), joint.sum(axis=0)],
    ...     edges=[(0, 1)],
    ...     joints=[joint],
    ... )
    >>> model.marginal((1, 0)).round(9).tolist()
    [[0.6, 0.05], [0.1, 0.25]]
    """

    domain: Domain
    parents: tuple[int, ...]
    order: tuple[int, ...]
    conditionals: tuple[Floats, ...]

    @classmethod
    def of(
        cls,
        domain: Domain,
        frequencies: Sequence[Floats],
        edges: Sequence[tuple[int, int]] = (),
        joints: Sequence[Floats] = (),
    ) -> Forest:
        """Return the forest with these edges; the joint frequencies of an edge (i, j) have a row for each value of i.

        A value that its joint table never has keeps the other attribute's own frequencies.
        """
        near: list[list[tuple[int, Floats]]] = [[] for _ in frequencies]
        for (left, right), joint in zip(edges, joints, strict=True):
            near[left].append((right, joint))
            near[right].append((left, joint.T))
        parents, order = [-1] * len(frequencies), list[int]()
        conditionals = [np.asarray(one, dtype=np.float64)[None, :] for one in frequencies]
        waiting, seen = list[int](), set[int]()
        for root in range(len(frequencies)):
            waiting += [] if root in seen else [root]
            while waiting:
                here = waiting.pop()
                seen.add(here)
                order.append(here)
                for child, joint in near[here]:
                    if child not in seen:
                        parents[child] = here
                        conditionals[child] = conditional_rows(joint, frequencies[child])
                        waiting.append(child)
        return cls(domain, tuple(parents), tuple(order), tuple(conditionals))

    @cached_property
    def frequencies(self) -> tuple[Floats, ...]:
        """The frequencies of the values of each attribute."""
        found: list[Floats] = [one[0] for one in self.conditionals]
        for here in self.order:
            if self.parents[here] >= 0:
                found[here] = found[self.parents[here]] @ self.conditionals[here]
        return tuple(found)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where the one-hot columns of each attribute begin, and the width at the end."""
        return np.concatenate([[0], np.cumsum(self.domain.sizes)]).astype(np.int64)

    @cached_property
    def given(self) -> Floats:
        """P(column's value | row's value) for all pairs of one-hot columns."""
        offsets, frequencies = self.offsets, self.frequencies
        table = np.repeat(np.concatenate(frequencies)[None, :], offsets[-1], axis=0)
        for here in self.order:
            mine, parent = slice(offsets[here], offsets[here + 1]), self.parents[here]
            if parent >= 0:
                theirs, forward = slice(offsets[parent], offsets[parent + 1]), self.conditionals[here]
                table[:, mine] = table[:, theirs] @ forward
                backward = conditional_rows((frequencies[parent][:, None] * forward).T, frequencies[parent])
                table[mine, :] = backward @ table[theirs, :]
            table[mine, mine] = np.eye(len(frequencies[here]))
        return table

    @cached_property
    def meeting(self) -> NDArray[np.int32]:
        """For each pair of attributes the last one above both, -1 where they are in different trees."""
        table = np.full((len(self.parents), len(self.parents)), -1, dtype=np.int32)
        for here in self.order:
            parent = self.parents[here]
            if parent >= 0:
                table[here] = table[parent]
                table[:, here] = table[here]
            table[here, here] = here
        return table

    @cached_property
    def depths(self) -> NDArray[np.int64]:
        """How far below its root each attribute is."""
        found = np.zeros(len(self.parents), dtype=np.int64)
        for here in self.order:
            if self.parents[here] >= 0:
                found[here] = found[self.parents[here]] + 1
        return found

    def marginal(self, places: Sequence[int]) -> Floats:
        """Return the frequencies of all combinations of values of up to three different attributes."""
        attributes = np.array([places[min(rank, len(places) - 1)] for rank in range(3)])
        here = int(self.meeting_points(attributes[None, :])[0])
        sizes, first, last = [self.domain.sizes[place] for place in places], self.offsets[here], self.offsets[here + 1]
        table: Floats = np.zeros((math.prod(sizes[:-1]), sizes[-1]))
        block = max(_BLOCK_ENTRIES // len(table), 1)  # values of the meeting point that are summed over at once
        for start in range(first, last, block):
            rows = slice(start, min(start + block, last))
            product = self.frequencies[here][rows.start - first : rows.stop - first, None]
            for place in places[:-1]:
                own = self.given[rows, self.offsets[place] : self.offsets[place + 1]]
                product = (product[:, :, None] * own[:, None, :]).reshape(len(own), -1)
            table += product.T @ self.given[rows, self.offsets[places[-1]] : self.offsets[places[-1] + 1]]
        return table.reshape(sizes)

    def meeting_points(self, attributes: NDArray[Any]) -> NDArray[np.int32]:
        """Return for each row of three attributes the one where the paths between them meet.

        It is the deepest of the three that are last above two of them; if no two are in one tree, any will do.
        """
        first, second, third = np.asarray(attributes, dtype=np.int32).T
        best: NDArray[np.int32] = first.copy()
        depth = np.full(len(first), -1)
        for one, other in ((first, second), (second, third), (first, third)):
            met = self.meeting[one, other]
            found = np.where(met >= 0, self.depths[met], -1)
            best = np.where(found > depth, met, best)
            depth = np.maximum(found, depth)
        return best

    def answers(self, workload: Workload) -> Floats:
        """Return the frequency, in this distribution, of records that satisfies each query."""
        return answers(self, workload)

    def table(self, size: int) -> SyntheticTable:
        """Return `size` records of this distribution: counts of an attribute given its parent are rounded, not sampled.

        The pairing of values within the rows of one parent value is random.
        """
        codes = np.zeros((len(self.parents), size), dtype=np.uint16)
        for here in self.order:
            parent = self.parents[here]
            groups = codes[parent] if parent >= 0 else np.zeros(size, dtype=np.uint16)
            conditional = self.conditionals[here]
            totals = np.bincount(groups, minlength=len(conditional)).astype(np.int64)
            codes[here] = assign(groups, apportion_groups(conditional, totals))
        return SyntheticTable(Records(self.domain, codes))


def answers(model: Forest, workload: Workload) -> Floats:
    """Return the frequency, in the model, of what satisfies each query."""
    width = model.domain.width
    if isinstance(workload, Marginals):
        fast = max(map(len, workload.sets)) <= 3 and width**2 <= _MOST_ENTRIES
        tables = (model.marginal(one) if fast else summed_cells(model, one) for one in workload.sets)
        cells: Floats = np.concatenate([table.ravel() for table in tables])
        return np.clip(cells, 0.0, 1.0, out=cells)
    short = workload.members.shape[1] <= 3 and width * (width + len(workload.literals)) <= _MOST_ENTRIES
    means = at_meeting_points(model, workload) if short else summed_out(model, workload)
    held = np.where(workload.parity, (1 - means) / 2, means)
    answered: Floats = np.clip(np.where(workload.negated, 1 - held, held), 0.0, 1.0)
    return answered


def conditional_rows(joint: Floats, otherwise: Floats) -> Floats:
    """Return each row as shares of its sum, or as the other shares where its sum is 0."""
    sums = joint.sum(axis=1, keepdims=True)
    conditional: Floats = np.where(sums > 0, joint / np.where(sums > 0, sums, 1.0), otherwise[None, :])
    return conditional


def at_meeting_points(model: Forest, workload: Workload) -> Floats:
    """Return the mean of each query's product of at most three literals, at the attribute where their paths meet."""
    members = workload.members
    padding = np.full((len(members), 3 - members.shape[1]), PADDING, dtype=np.int32)
    slots = np.concatenate([members, padding], axis=1)
    where = model.meeting_points(workload.literals.attribute[np.where(slots == PADDING, slots[:, :1], slots)])
    literals_given, means = _literals_given(model, workload), np.empty(len(members))
    for here in np.unique(where).tolist():
        given = np.ascontiguousarray(literals_given[:, model.offsets[here] : model.offsets[here + 1]])
        queries = np.flatnonzero(where == here)
        size = max(_CHUNK_ENTRIES // given.shape[1], 1)
        for start in range(0, len(queries), size):
            chosen = queries[start : start + size]
            means[chosen] = _mean_product(given, slots[chosen], workload.parity[chosen], model.frequencies[here])
    return means


def _literals_given(model: Forest, workload: Workload) -> Floats:
    """Return P(literal | value) for each literal and each one-hot column; a last row of ones is the padding."""
    literals, offsets = workload.literals, model.offsets
    table = np.ones((len(literals) + 1, offsets[-1]))
    for here, size in enumerate(model.domain.sizes):
        mine = np.flatnonzero(literals.attribute == here)
        if not len(mine):  # the list may have fewer columns than an attribute that it does not mention has codes
            continue
        accepts = literals.accepts[mine, :size].astype(np.float64)
        table[mine] = accepts @ model.given[:, offsets[here] : offsets[here + 1]].T
    return table


def _mean_product(given: Floats, slots: NDArray[np.int32], parity: NDArray[np.bool_], frequencies: Floats) -> Floats:
    """Return the mean over the values of one attribute of the products of conditional means."""
    product = np.ones((len(slots), len(frequencies)))
    for slot in slots.T:
        part = given[slot]
        if parity.any():
            part = np.where((parity & (slot != PADDING))[:, None], 1 - 2 * part, part)
        product *= part
    means: Floats = product @ frequencies
    return means


def summed_cells(model: Forest, places: Sequence[int]) -> Floats:
    """Return the frequencies of all combinations of values of some attributes, summing out one other at a time.

    Memory is proportional to these cells times the values of one attribute, so they are summed a block at a time.
    """
    sizes = [model.domain.sizes[place] for place in places]
    block = max(_MOST_ENTRIES // (max(model.domain.sizes) * math.prod(sizes[1:])), 1)
    starts = range(0, sizes[0], block)
    return np.concatenate([_block_of_cells(model, places, slice(start, start + block)) for start in starts])


def _block_of_cells(model: Forest, places: Sequence[int], first: slice) -> Floats:
    """Return the cells for some values of the first attribute, from the leaves to the roots."""
    kept = {**dict.fromkeys(places, slice(None)), places[0]: first}
    below: dict[int, tuple[list[int], Floats]] = {}  # attributes met so far, and a row for each value of the key
    below[-1] = [], np.ones((1, 1))
    for here in reversed(model.order):
        if here not in kept and here not in below:
            continue
        met, table = below.pop(here, ([], np.ones((model.domain.sizes[here], 1))))
        conditional, parent = model.conditionals[here], model.parents[here]
        if here in kept:
            values = conditional[:, kept[here], None] * table[None, kept[here]]
            met, message = [here, *met], values.reshape(len(conditional), -1)
        else:
            message = conditional @ table
        more, other = below.get(parent, ([], np.ones((len(message), 1))))
        below[parent] = [*more, *met], (other[:, :, None] * message[:, None, :]).reshape(len(message), -1)
    met, table = below[-1]
    lengths = [len(range(model.domain.sizes[place])[kept[place]]) for place in met]
    return table.reshape(lengths).transpose([met.index(place) for place in places])


def summed_out(model: Forest, workload: Workload) -> Floats:
    """Return the mean of each query's product of any number of literals, summing out one attribute after the other."""
    means = np.empty(len(workload))
    size = max(_CHUNK_ENTRIES // sum(model.domain.sizes), 1)
    for start in range(0, len(workload), size):
        chosen = slice(start, start + size)
        factors = _factors(model, workload, workload.members[chosen], workload.parity[chosen])
        means[chosen] = _root_mean(model, factors, len(workload.members[chosen]))
    return means


def _factors(
    model: Forest, workload: Workload, members: NDArray[np.int32], parity: NDArray[np.bool_]
) -> dict[int, Floats]:
    """Return for each attribute that some query is about each query's function of it, a row each."""
    literals, sizes, factors = workload.literals, model.domain.sizes, dict[int, Floats]()
    for slot in members.T:
        attributes = np.where(slot == PADDING, -1, literals.attribute[slot])
        for here in np.unique(attributes[attributes >= 0]).tolist():
            rows = np.flatnonzero(attributes == here)
            accepts = literals.accepts[slot[rows], : sizes[here]].astype(np.float64)
            factor = factors.setdefault(here, np.ones((len(members), sizes[here])))
            factor[rows] *= np.where(parity[rows, None], 1 - 2 * accepts, accepts)
    return factors


def _root_mean(model: Forest, factors: dict[int, Floats], queries: int) -> Floats:
    """Return the mean of the product of functions of one attribute each, from the leaves to the roots."""
    means = np.ones(queries)
    for here in reversed(model.order):
        mine, parent = factors.pop(here, None), model.parents[here]
        if mine is None:
            continue
        message = mine @ model.conditionals[here].T
        if parent < 0:
            means *= message[:, 0]
        else:
            factors[parent] = factors[parent] * message if parent in factors else message
    return means


def apportion(expected: Floats, total: int) -> NDArray[np.int64]:
    """Return non-negative whole numbers with the given sum, nearest to `expected` by the largest remainders.

    Accuracy. Where the expected numbers are at least 0 and sum to the total, each result is within 1 of its own.
        Proof: each starts at its integer part; the sum then lacks fewer than there are entries with a remainder, and
        those with the largest remainders get one each.

    >>> apportion(np.array([1.5, 0.2, 2.3]), 4).tolist()
    [2, 0, 2]
    """
    held = np.maximum(expected, 0.0)
    floors = np.floor(held).astype(np.int64)
    remainders = held - floors
    missing = total - int(floors.sum())
    while missing > 0:  # more than one round only where the expected numbers sum to less than the total
        given = np.argsort(-remainders, kind="stable")[:missing]
        floors[given] += 1
        missing -= len(given)
    while missing < 0:
        positive = np.flatnonzero(floors)
        taken = positive[np.argsort(remainders[positive], kind="stable")[:-missing]]
        floors[taken] -= 1
        missing += len(taken)
    return floors


def apportion_groups(conditional: Floats, totals: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return counts, one row for each group and with its total as sum, nearest to total times conditional frequency.

    What rounding leaves over in one group is carried to the next, so that the sums of columns stay near theirs too.
    """
    counts = np.zeros(conditional.shape, dtype=np.int64)
    carried = np.zeros(conditional.shape[1])
    for group in np.flatnonzero(totals):
        wanted = totals[group] * conditional[group]
        possible = np.flatnonzero(wanted > 0)
        counts[group, possible] = apportion((wanted + carried)[possible], int(totals[group]))
        carried += wanted - counts[group]
    return counts


def assign(groups: NDArray[np.uint16], counts: NDArray[np.int64]) -> NDArray[np.uint16]:
    """Return a code for every row: within the rows of each group, each code as often as counted, in a random order."""
    codes = np.empty(len(groups), dtype=np.uint16)
    values = np.tile(np.arange(counts.shape[1], dtype=np.uint16), counts.shape[0])
    codes[_shuffled(groups)] = np.repeat(values, counts.ravel())
    return codes


def _shuffled(groups: NDArray[np.uint16]) -> NDArray[np.int64]:
    """Return the rows in the order of their groups, in a random order within each.

    Group, random bits and row are packed into one word, because sorting words is many times faster than sorting places.
    """
    rows = max(len(groups).bit_length(), 1)
    drawn = words(len(groups)) >> np.uint64(16 + rows) << np.uint64(rows)
    packed = (groups.astype(np.uint64) << np.uint64(48)) | drawn | np.arange(len(groups), dtype=np.uint64)
    packed.sort()
    return (packed & np.uint64((1 << rows) - 1)).astype(np.int64)
