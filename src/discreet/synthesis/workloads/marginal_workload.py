"""All cells of marginals: for a few attributes at a time, how many records have each combination of their values."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.invention import coins
from discreet.errors import InputError, ParameterError
from discreet.synthesis.domain import Domain, Records
from discreet.synthesis.workloads.literals import (
    MOST_QUERIES,
    checked_count,
    checked_ways,
    random_attributes,
    value_literals,
)
from discreet.synthesis.workloads.workload import PADDING, Literals, Workload, checked_weights, require_own


class Marginals(Workload):
    """The cells of marginals, one marginal after the other, the code of its last attribute changing fastest.

    `sets` are the positions of each marginal's attributes, and its cells are the queries from `offsets[i]` up to
    `offsets[i + 1]`. Counting goes through codes, not bits, and a record satisfies one cell of each marginal
    (`cells_of`); literals and members are made when something asks for them.

    >>> from discreet.synthesis import Domain
    >>> domain = Domain.of(sex=["f", "m"], rooms=range(1, 4))
    >>> table = marginals(domain, ways=2)
    >>> counts = table.counts(
    ...     domain.encode({"sex": ["f", "m", "m"], "rooms": [3, 1, 1]})
    ... )
    >>> table.table(0, counts).tolist(), table.text(2)
    ([[0, 0, 1], [2, 0, 0]], "sex = 'f' and rooms = 3")
    """

    sets: tuple[tuple[int, ...], ...]
    offsets: NDArray[np.int64]

    def __init__(self, domain: Domain, sets: Iterable[Sequence[int]]) -> None:
        listed = tuple(tuple(int(place) for place in one) for one in sets)
        if not listed or any(not one or len(set(one)) != len(one) for one in listed):
            raise ParameterError("a marginal must name at least one attribute, each once", parameter="attributes")
        if not all(0 <= place < len(domain) for one in listed for place in one):
            raise ParameterError("a marginal must name attributes of the domain", parameter="attributes")
        cells = [prod(domain.sizes[place] for place in one) for one in listed]
        if sum(cells) > MOST_QUERIES:
            raise ParameterError(
                f"these marginals have {sum(cells):,} cells, more than {MOST_QUERIES:,}; name fewer, or state count=",
                parameter="attributes",
            )
        ways = " and ".join(f"{ways}" for ways in sorted({len(one) for one in listed}))
        object.__setattr__(self, "domain", domain)
        object.__setattr__(self, "sets", listed)
        object.__setattr__(self, "offsets", np.concatenate([[0], np.cumsum(cells, dtype=np.int64)]))
        object.__setattr__(
            self, "description", f"all cells of {len(listed):,} {ways}-way marginal{'s' * (len(listed) > 1)}"
        )

    def __len__(self) -> int:
        return int(self.offsets[-1])

    @cached_property
    def digest(self) -> str:
        """A public name for exactly these marginals over this domain."""
        return hashlib.sha256(f"marginals\n{self.domain!r}\n{self.sets!r}".encode()).hexdigest()

    @cached_property
    def _form(self) -> tuple[Literals, NDArray[np.int32]]:
        """The literals and members of the general form."""
        width = max(map(len, self.sets))
        chosen = np.zeros((len(self), width), dtype=np.int64)
        codes = np.zeros((len(self), width), dtype=np.int64)
        for one, cells in zip(self.sets, self._slices(), strict=True):
            chosen[cells, : len(one)] = one
            chosen[cells, len(one) :] = one[0]
            grid = np.indices([self.domain.sizes[place] for place in one]).reshape(len(one), -1).T
            codes[cells, : len(one)] = grid
            codes[cells, len(one) :] = grid[:, :1]
        literals, members = value_literals(self.domain, chosen, codes, np.zeros(chosen.shape, dtype=np.bool_))
        lengths = np.repeat([len(one) for one in self.sets], np.diff(self.offsets))
        members[np.arange(width) >= lengths[:, None]] = PADDING
        return literals, members

    @cached_property
    def literals(self) -> Literals:
        """A literal for each value of each attribute that a marginal is of."""
        return self._form[0]

    @cached_property
    def members(self) -> NDArray[np.int32]:
        """The literals of each cell."""
        return self._form[1]

    @cached_property
    def parity(self) -> NDArray[np.bool_]:
        """No cell is a parity."""
        return np.zeros(len(self), dtype=np.bool_)

    @cached_property
    def negated(self) -> NDArray[np.bool_]:
        """No cell is negated."""
        return np.zeros(len(self), dtype=np.bool_)

    def _slices(self) -> Iterator[slice]:
        """Yield where each marginal's cells are."""
        return (slice(int(a), int(b)) for a, b in zip(self.offsets[:-1], self.offsets[1:], strict=True))

    @cached_property
    def _strides(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The attributes of each marginal and by how many cells one code more of each moves, padded with zeros."""
        width = max(map(len, self.sets))
        places = np.zeros((len(self.sets), width), dtype=np.int64)
        strides = np.zeros((len(self.sets), width), dtype=np.int64)
        for row, one in enumerate(self.sets):
            sizes = [self.domain.sizes[place] for place in one]
            places[row, : len(one)] = one
            strides[row, : len(one)] = [prod(sizes[way + 1 :]) for way in range(len(one))]
        return places, strides

    def cells_of(self, record: NDArray[np.uint16]) -> NDArray[np.int64]:
        """Return the one cell of each marginal that a record is in."""
        places, strides = self._strides
        cells: NDArray[np.int64] = self.offsets[:-1] + (record[places].astype(np.int64) * strides).sum(axis=1)
        return cells

    def truths(self, record: NDArray[np.uint16]) -> NDArray[np.bool_]:
        """Return which cells a record is in."""
        satisfied = np.zeros(len(self), dtype=np.bool_)
        satisfied[self.cells_of(record)] = True
        return satisfied

    def counts(self, records: Records) -> NDArray[np.int64]:
        """Return, exactly, how many records are in each cell."""
        total = np.empty(len(self), dtype=np.int64)
        for cells, held in self._by_marginal(records):
            total[cells] = np.bincount(held, minlength=cells.stop - cells.start)
        return total

    def weighted_counts(self, records: Records, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weight of the records in each cell, in double precision."""
        weights = checked_weights(weights, records)
        total = np.empty(len(self))
        for cells, held in self._by_marginal(records):
            total[cells] = np.bincount(held, weights=weights, minlength=cells.stop - cells.start)
        return total

    def _by_marginal(self, records: Records) -> Iterator[tuple[slice, NDArray[np.int64]]]:
        """Yield where each marginal's cells are, and which of them every record is in."""
        require_own(self, records)
        for one, cells in zip(self.sets, self._slices(), strict=True):
            held = records.codes[one[0]].astype(np.int64)
            for place in one[1:]:
                held *= self.domain.sizes[place]
                held += records.codes[place]
            yield cells, held

    def table(self, place: int, answers: NDArray[Any]) -> NDArray[Any]:
        """Return the answers of one marginal as an array with an axis for each of its attributes."""
        if np.shape(answers) != (len(self),):
            raise InputError("answers must be one number for each cell")
        place = range(len(self.sets))[place]
        shape = [self.domain.sizes[one] for one in self.sets[place]]
        part: NDArray[Any] = np.asarray(answers)[self.offsets[place] : self.offsets[place + 1]]
        return part.reshape(shape)


def marginals(
    domain: Domain,
    *,
    ways: int | None = None,
    attributes: Iterable[Sequence[str]] | None = None,
    count: int | None = None,
    seed: int = 1,
) -> Marginals:
    """Return the cells of all `ways`-way marginals, of `count` random ones among them, or of those named.

    >>> domain = Domain.of(sex=["f", "m"], rooms=range(1, 4), tenure=["own", "rent"])
    >>> (
    ...     len(marginals(domain, ways=2)),
    ...     len(marginals(domain, attributes=[("sex",), ("rooms", "tenure")])),
    ... )
    (16, 8)
    """
    if (ways is None) == (attributes is None) or (attributes is not None and count is not None):
        raise ParameterError("state ways=, perhaps with count=, or attributes=", parameter="ways")
    if attributes is not None:
        return Marginals(domain, [[domain.place(name) for name in _names(one)] for one in attributes])
    ways = checked_ways(1 if ways is None else ways, len(domain), repeats=False)
    every = comb(len(domain), ways)
    if count is None:
        if every > MOST_QUERIES:
            raise ParameterError(f"there are {every:,} such marginals; state count= of them", parameter="ways")
        return Marginals(domain, combinations(range(len(domain)), ways))
    count = checked_count(count, ways=ways)
    if count > every:
        raise ParameterError(f"there are only {every:,} such marginals", parameter="count")
    return Marginals(domain, _some(domain, ways, count, seed))


def _names(one: Sequence[str]) -> Sequence[str]:
    """Refuse a name where a list of names belongs."""
    if isinstance(one, str):
        raise ParameterError(f"a marginal must be a list of names, as in ({one[:80]!r},)", parameter="attributes")
    return one


def _some(domain: Domain, ways: int, count: int, seed: int) -> list[tuple[int, ...]]:
    """Return `count` different sets of attributes, in order."""
    flips = coins(seed)
    found: dict[tuple[int, ...], None] = {}
    while len(found) < count:
        drawn = random_attributes(flips, len(domain), ways=ways, count=count, repeats=False)
        found.update(dict.fromkeys(tuple(row) for row in np.sort(drawn, axis=1).tolist()))
    return sorted(list(found)[:count])
