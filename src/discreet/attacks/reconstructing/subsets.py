"""Counting queries given by the sets of people they count: random halves, and all subsets of a few people."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.attacks.asking import CountingQueries, Floats, Integers, named, numbers_of, secret_bits
from discreet.data.invention import coins as invented_coins
from discreet.errors import ParameterError
from discreet.privacy.numbers import whole

MOST_SEED = 2**63 - 1
MOST_IN_ALL_SUBSETS = 20
_MOST_BITS = 2**33  # of a packed matrix: one gibibyte
_ROWS = 512  # of the matrix that are unpacked at a time

Packed = NDArray[np.uint8]
Reals = NDArray[np.float32]


class SubsetQueries(CountingQueries):
    """Queries that are each a public set of people: how many of these have the bit 1?

    The sets are the rows of a 0/1 matrix A that is kept packed, eight people a byte; the true answers are A s for the
    secret bits s. A design of this kind says only which sets it has; in SQL a set is a list of numbers, unless it has a
    shorter way to write it.
    """

    @property
    @abstractmethod
    def packed(self) -> Packed:
        """The sets, one row a query, eight people a byte (`numpy.unpackbits` undoes it)."""

    def __len__(self) -> int:
        return len(self.packed)

    def exact(self, secret: ArrayLike) -> Integers:
        """Return the true answers, one count a query."""
        bits = np.packbits(secret_bits(secret, self.people))
        counts = np.empty(len(self), dtype=np.int64)
        for rows in self._slices():
            counts[rows] = np.bitwise_count(self.packed[rows] & bits).sum(axis=1, dtype=np.int64)
        return counts

    def texts(self, names: Mapping[str, str]) -> Iterator[str]:
        """Return the queries as SQL; `names` gives table, secret and person."""
        table, secret, person = named(names, "table", "secret", "person")
        for query in range(len(self)):
            yield counted_in(table, secret, person, self.members(query))

    def members(self, query: int) -> Integers:
        """Return the numbers of the people that a query counts if their bit is 1."""
        return np.flatnonzero(np.unpackbits(self.packed[query], count=self.people))

    def matrix(self) -> Reals:
        """Return the whole 0/1 matrix in single precision, which holds counts below 2^24 exactly."""
        return np.unpackbits(self.packed, axis=1, count=self.people).astype(np.float32)

    def gram(self) -> Floats:
        """Return A'A: in how many queries two people count together, exactly."""
        together = np.zeros((self.people, self.people), dtype=np.float64)
        for part in self.parts():
            together += part.T @ part
        return together

    def parts(self) -> Iterator[Reals]:
        """Return the matrix a few hundred rows at a time, for people whose whole matrix would not fit."""
        for rows in self._slices():
            yield np.unpackbits(self.packed[rows], axis=1, count=self.people).astype(np.float32)

    def times(self, column: ArrayLike) -> Floats:
        """Return A x for real numbers x, one a person."""
        values = np.asarray(column, dtype=np.float64)
        return np.concatenate([part @ values for part in self.parts()])

    def transposed(self, answers: ArrayLike) -> Floats:
        """Return A'y for real numbers y, one a query."""
        values = np.asarray(answers, dtype=np.float64)
        total = np.zeros(self.people)
        for rows, part in zip(self._slices(), self.parts(), strict=True):
            total += values[rows] @ part
        return total

    def checked(self, answers: ArrayLike) -> Floats:
        """Return answers as one finite number a query."""
        return numbers_of(answers, (len(self),), wanted=f"answers must be one number for each of {len(self):,} queries")

    def _slices(self) -> list[slice]:
        return [slice(start, start + _ROWS) for start in range(0, len(self), _ROWS)]


def counted_in(table: str, secret: str, person: str, members: Integers) -> str:
    """Return the SQL that counts people with the bit 1 among some, who are named by their numbers."""
    numbers = ", ".join(map(str, members.tolist())) or "-1"  # a list in SQL must not be empty; nobody has this number
    # the attacker writes this text and may write any other: what guards a table is who answers it
    return f"SELECT COUNT(*) AS people FROM {table} WHERE {secret} = 1 AND {person} IN ({numbers})"  # noqa: S608


@dataclass(frozen=True)
class RandomSubsets(SubsetQueries):
    """Queries that each count half of the people, chosen by a seed: everybody is in each set with the chance 1/2.

    In SQL a set is a list of numbers, so that `person` may be a column or an expression that numbers people from 0.

    Cost. One bit a person and query.
    Reference. Dinur, Nissim 2003; Dwork, McSherry, Talwar 2007.

    >>> design = RandomSubsets(people=6, queries=2, seed=5)
    >>> [design.members(query).tolist() for query in range(2)]
    [[0, 2, 4], [0, 1, 2, 5]]
    >>> design.exact([1, 0, 0, 1, 0, 1]).tolist()
    [1, 2]
    >>> print(
    ...     next(
    ...         design.texts({"table": "patients", "secret": "marker", "person": "id"})
    ...     )
    ... )
    SELECT COUNT(*) AS people FROM patients WHERE marker = 1 AND id IN (0, 2, 4)
    """

    people: int
    queries: int
    seed: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "people", whole(self.people, name="people"))
        object.__setattr__(self, "queries", whole(self.queries, name="queries"))
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or not 0 <= self.seed <= MOST_SEED:
            raise ParameterError(f"seed must be a whole number from 0 to {MOST_SEED:,}", parameter="seed")
        if self.people * self.queries > _MOST_BITS:
            raise ParameterError(
                f"{self.queries:,} queries about {self.people:,} people need more than one gibibyte; ask fewer, or "
                "use the Fourier attack, which keeps no matrix",
                parameter="queries",
            )

    @cached_property
    def packed(self) -> Packed:
        """The sets, one row a query, eight people a byte."""
        # the attacker's own coins: they protect nobody
        coins = invented_coins(self.seed)
        drawn = coins.integers(0, 256, (self.queries, -(-self.people // 8)), dtype=np.uint8)
        if self.people % 8:
            drawn[:, -1] &= np.uint8(0xFF << (8 - self.people % 8) & 0xFF)  # places that nobody has
        drawn.flags.writeable = False
        return drawn


@dataclass(frozen=True)
class AllSubsets(SubsetQueries):
    """All 2^n sets of n people, the empty one first: set a holds person i when a has the bit i.

    >>> design = AllSubsets(people=3)
    >>> len(design), design.members(5).tolist(), design.exact([1, 1, 0]).tolist()
    (8, [0, 2], [0, 1, 1, 2, 0, 1, 1, 2])
    """

    people: int

    def __post_init__(self) -> None:
        people = whole(self.people, name="people")
        if people > MOST_IN_ALL_SUBSETS:
            raise ParameterError(
                f"{people:,} people have too many subsets to ask about; take at most {MOST_IN_ALL_SUBSETS} people, or "
                "a decoder that asks fewer questions, such as linear_program",
                parameter="people",
            )
        object.__setattr__(self, "people", people)

    def __len__(self) -> int:
        return 1 << self.people

    @cached_property
    def packed(self) -> Packed:
        """The sets, one row a query, eight people a byte."""
        sets = np.arange(len(self))
        return np.packbits((sets[:, None] >> np.arange(self.people) & 1).astype(np.bool_), axis=1)
