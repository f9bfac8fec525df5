"""Answers to a workload from a forest: exact sums over its distribution, never over sampled rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.synthesis.methods.forest.forest import Forest
from discreet.synthesis.workloads.marginals import Marginals
from discreet.synthesis.workloads.workload import PADDING, Workload

Floats = NDArray[np.float64]
_MOST_ENTRIES = 40_000_000  # of the tables of one-hot columns and literals given values: 320 MB
_CHUNK_ENTRIES = 2_000_000


def answers(model: Forest, workload: Workload) -> Floats:
    """Return the share of the model that satisfies each query."""
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
            means[chosen] = _mean_product(given, slots[chosen], workload.parity[chosen], model.shares[here])
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


def _mean_product(given: Floats, slots: NDArray[np.int32], parity: NDArray[np.bool_], shares: Floats) -> Floats:
    """Return the mean over the values of one attribute of the products of conditional means."""
    product = np.ones((len(slots), len(shares)))
    for slot in slots.T:
        part = given[slot]
        if parity.any():
            part = np.where((parity & (slot != PADDING))[:, None], 1 - 2 * part, part)
        product *= part
    means: Floats = product @ shares
    return means


def summed_cells(model: Forest, places: Sequence[int]) -> Floats:
    """Return the shares of all combinations of values of any attributes, summing out one attribute after the other.

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
