"""A weighing design: which counts to ask for in SQL, and how to solve them for every person's secret bit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.attacks.asking import Bits, CountingQueries, Floats, Integers, named, number_of, numbers_of, secret_bits
from discreet.errors import InputError, ParameterError
from discreet.laws.noise import IntegerNoise
from discreet.laws.walsh_hadamard import walsh_hadamard
from discreet.privacy.numbers import whole

Counts = Mapping[int, float] | ArrayLike

_MOST_QUERIES = 2**20 - 1
_LONGEST = 2**24  # values of a sum of noises: some hundred megabytes
_REACH = 12.0  # standard deviations of a sum of noises beyond which its mass is below what floats resolve


@dataclass(frozen=True)
class Weighing(CountingQueries):
    """People 0 to n - 1 in blocks of as many as there are queries; each query counts half of every block.

    The number of queries is N - 1 for a power of two N. The people of a block have the places 1 to N - 1, and query a
    (also from 1 to N - 1) counts, in every block, those with the secret bit 1 whose place x has odd parity: an odd
    number of ones in the binary form of a AND x. One `GROUP BY` asks a query of all blocks at once.

    Accuracy. If all answers are within E of the truth, at most 16 E^2 people of a block are recovered wrongly,
        whatever the errors are: none when E < 1/4.
        Proof: let S be the 0/1 matrix of queries (rows) and the m people of a block (columns). Two columns are both 1
        in N/4 rows and each is 1 in N/2 rows, so S'S = (N/4)(I + J) with J all ones, whose inverse is (4/N)(I - J/(m +
        1)) and whose least eigenvalue is N/4. Answers S s + e give the least-squares estimate s + (S'S)^-1 S'e, and
        |(S'S)^-1 S'e|^2 <= |e|^2 / (N/4) <= 4 E^2 (N - 1)/N < 4 E^2. A bit that is rounded wrongly contributes at least
        1/4 to the left side.
    Cost. 16 N additions a block and 4 bits of a place, by a fast Walsh-Hadamard transform.
    Reference. Hotelling 1944, for weighings; Dinur, Nissim 2003; Dwork, Yekhanin 2008.

    >>> design = Weighing(people=100, queries=31)
    >>> design.blocks, design.each
    (4, 16)
    >>> secret = np.arange(100) % 3 == 0
    >>> bool(
    ...     np.all(
    ...         design.decode(
    ...             [question.counts(secret) for question in design.questions]
    ...         )
    ...         == secret
    ...     )
    ... )
    True
    """

    people: int
    queries: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "people", whole(self.people, name="people"))
        queries = whole(self.queries, name="queries")
        if queries & (queries + 1) or queries > _MOST_QUERIES:
            raise ParameterError(
                f"queries must be one less than a power of two (31, 63, 127, ...) and at most {_MOST_QUERIES:,}, got "
                f"{queries}",
                parameter="queries",
            )
        object.__setattr__(self, "queries", queries)

    @property
    def blocks(self) -> int:
        """The number of blocks; all but the last are full."""
        return -(-self.people // self.queries)

    @property
    def each(self) -> int:
        """In how many of the queries a person can count: N/2, whoever it is."""
        return (self.queries + 1) // 2

    @property
    def block(self) -> NDArray[np.int64]:
        """The block of every person."""
        return np.arange(self.people) // self.queries

    @property
    def place(self) -> NDArray[np.int64]:
        """The place of every person in the block, from 1."""
        return np.arange(self.people) % self.queries + 1

    @property
    def questions(self) -> tuple[ParityQuestion, ...]:
        """The queries, in the order in which answers are expected."""
        return tuple(ParityQuestion(mask, self) for mask in range(1, self.queries + 1))

    def __len__(self) -> int:
        return self.queries

    def exact(self, secret: ArrayLike) -> Integers:
        """Return the true answers: one row a query, one column a block."""
        return np.array([question.counts(secret) for question in self.questions], dtype=np.int64)

    def texts(self, names: Mapping[str, str]) -> Iterator[str]:
        """Return the queries as SQL; `names` are those of `ParityQuestion.sql`: table, secret, block, place."""
        table, secret, block, place = named(names, "table", "secret", "block", "place")
        for question in self.questions:
            yield question.sql(table=table, secret=secret, block=block, place=place)

    def read(self, rows: Sequence[Sequence[Any]]) -> Floats:
        """Return the counts of one query in the order of blocks; a block without a row counts 0."""
        if any(len(row) != 2 for row in rows) or len({row[0] for row in rows}) < len(rows):
            raise InputError("a query by block must give one row a block: its number and the count")
        return self._row({row[0]: row[1] for row in rows})

    def estimate(self, answers: Sequence[Counts] | ArrayLike) -> Floats:
        """Return the least-squares estimate of every person's bit, not yet rounded."""
        table = np.zeros((self.queries + 1, self.blocks))
        table[1:] = self._table(answers)
        doubled = table.sum(axis=0) - walsh_hadamard(table)[1:]  # twice the sum of the answers that count a person
        people = np.full(self.blocks, self.queries)
        people[-1] = self.people - (self.blocks - 1) * self.queries
        doubled[people[-1] :, -1] = 0.0  # places that nobody has
        # whole numbers below 2^53 so far, so that a tie is a tie
        solved = (people + 1) * doubled - doubled.sum(axis=0)
        return np.asarray((2 * solved / ((self.queries + 1) * (people + 1))).T.ravel()[: self.people])

    def decode(self, answers: Sequence[Counts] | ArrayLike) -> Bits:
        """Return every person's bit: 1 where the least-squares estimate exceeds 1/2."""
        return (self.estimate(answers) > 0.5).astype(np.int8)

    def _table(self, answers: Sequence[Counts] | ArrayLike) -> Floats:
        """Return the answers as one row a query and one column a block; a block missing from a mapping counts 0."""
        if isinstance(answers, Sequence) and any(isinstance(row, Mapping) for row in answers):
            answers = [self._row(row) for row in answers]
        wanted = f"answers must be one row for each of {self.queries} queries, {self.blocks} counts a row"
        return numbers_of(answers, (self.queries, self.blocks), wanted=wanted)

    def _row(self, row: Counts) -> Floats:
        if not isinstance(row, Mapping):
            return numbers_of(row, (self.blocks,), wanted=f"answers must be {self.blocks} counts a query")
        counts = np.zeros(self.blocks)
        for name, count in row.items():
            block = number_of(name)
            if not (0 <= block < self.blocks and block.is_integer()):
                raise InputError(f"an answer names a block that is not one of 0 to {self.blocks - 1}")
            counts[int(block)] = number_of(count)
        return counts


@dataclass(frozen=True, slots=True)
class ParityQuestion:
    """One query of a design: per block, how many people with the bit 1 have a place of odd parity with the mask?

    >>> question = ParityQuestion(5, Weighing(people=70, queries=7))
    >>> print(
    ...     question.sql(
    ...         table="patients", secret="marker", block="practice", place="card"
    ...     )
    ... )
    SELECT practice AS block, COUNT(*) AS people FROM patients
    WHERE marker = 1 AND (((card >> 0) + (card >> 2)) & 1) = 1 GROUP BY practice
    """

    mask: int
    design: Weighing

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Who is counted if their bit is 1."""
        return np.asarray(np.bitwise_count(self.design.place & self.mask) & 1, dtype=np.bool_)

    def counts(self, secret: ArrayLike) -> NDArray[np.int64]:
        """Return the exact answer: one count a block."""
        bits = secret_bits(secret, self.design.people)
        return np.bincount(self.design.block[self.counted & bits], minlength=self.design.blocks)

    def sql(self, *, table: str, secret: str, block: str, place: str) -> str:
        """Return the query as SQL over a table with one row a person.

        `secret`, `block` and `place` are columns or expressions in public columns: of a number `id` from 0 on, the
        block is `id // 63` and the place `id % 63 + 1` with 63 queries. Addition, shifts and a bitwise AND are enough:
        the lowest bit of a sum is the parity of the lowest bits.
        """
        shifts = " + ".join(f"({place} >> {bit})" for bit in range(self.mask.bit_length()) if self.mask >> bit & 1)
        counted = f"{secret} = 1 AND (({shifts}) & 1) = 1"
        # the attacker writes this text and may write any other: what guards a table is who answers it
        return f"SELECT {block} AS block, COUNT(*) AS people FROM {table} WHERE {counted} GROUP BY {block}"  # noqa: S608


def expected_fraction(noise: IntegerNoise, *, queries: int) -> float:
    """Return the frequency of bits that the attack is expected to recover from counts with independent integer noise.

    Accuracy. With N - 1 queries a person of a full block is recovered with the chance P(T <= N/4) if the bit is 0 and
        P(T < N/4) if it is 1, T being the sum of N - 1 independent noises; this is their mean, in floating point.
        Proof: for m = N - 1 the estimate's error is the sum of (2/N)(2 S_ax - 1) e_a over the queries a (the inverse in
        `Weighing`; S'e summed over all people is N/2 times the sum of e). The noises are symmetric, so that the signs
        do not matter: the error has the law of (2/N) T. A bit 0 is read wrongly when it exceeds 1/2, a bit 1 when it is
        at most -1/2.

    >>> from discreet.laws import DiscreteLaplace
    >>> round(expected_fraction(DiscreteLaplace(63), queries=63), 3)
    0.509
    """
    size = Weighing(people=1, queries=queries).queries + 1
    spread = float(noise.scale) * 1.5 + 1  # at least the standard deviation of either law
    reach = int(_REACH * spread * size**0.5 + 40 * spread) + size
    length = 1 << (2 * reach).bit_length()
    if length > _LONGEST:
        raise ParameterError(
            "this noise has too many values to go through; use `recovered_fraction`, which takes it for normal",
            parameter="noise",
        )
    places = np.arange(length) - length // 2
    one = np.fft.ifftshift(np.asarray(noise.pmf(places + noise.center), dtype=np.float64))
    law = np.fft.fftshift(np.fft.irfft(np.fft.rfft(one) ** (size - 1), n=length))
    fractions = law[4 * places <= size].sum(), law[4 * places < size].sum()
    return float(sum(fractions) / 2)


@dataclass(frozen=True, slots=True)
class AttackQueries:
    """SQL texts to ask one by one, each of which counts people by block, and the design that decodes the answers."""

    texts: tuple[str, ...]
    design: Weighing

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        return f"<{len(self.texts)} queries about {self.design.people:,} people in {self.design.blocks} blocks>"

    def decode(self, answers: Sequence[Counts] | ArrayLike) -> Bits:
        """Return everybody's bit from one answer a text: counts in the order of blocks, or a mapping from block.

        Person i, from 0, is the one in block i // q with place i % q + 1, q being the number of queries.
        """
        return self.design.decode(answers)


def attack_queries(people: int, *, queries: int, table: str, secret: str, block: str, place: str) -> AttackQueries:
    """Return the texts of the attack on a table with one row a person, and their decoder.

    `people` and the public columns are what the attacker knows. `block` numbers the blocks from 0 and `place` the
    people of a block from 1 to `queries`; both may be expressions (see `ParityQuestion.sql`).

    >>> attack = attack_queries(
    ...     5040,
    ...     queries=63,
    ...     table="patients",
    ...     secret="marker",
    ...     block="practice",
    ...     place="card",
    ... )
    >>> attack
    <63 queries about 5,040 people in 80 blocks>
    >>> print(attack.texts[2])
    SELECT practice AS block, COUNT(*) AS people FROM patients
    WHERE marker = 1 AND (((card >> 0) + (card >> 1)) & 1) = 1 GROUP BY practice
    """
    design = Weighing(people=people, queries=queries)
    names = {"table": table, "secret": secret, "block": block, "place": place}
    return AttackQueries(tuple(design.texts(names)), design)
