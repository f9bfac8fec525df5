"""The queries of the Fourier attack: counts over the sets that the characters of bit strings cut the people into."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from discreet.attacks.asking import Bits, CountingQueries, Floats, Integers, named, numbers_of, secret_bits
from discreet.data.invention import coins as invented_coins
from discreet.errors import InputError, MissingParameter, ParameterError
from discreet.laws.walsh_hadamard import walsh_hadamard
from discreet.privacy.numbers import whole

MOST_PEOPLE = 2**24 - 1
_MOST_QUERIES = 2**28  # two gibibytes of answers
_MOST_SEED = 2**63 - 1
_MOST_RELABELLED_IN_SQL = 2**20  # the product of a place and its factor stays below 2^63


@dataclass(frozen=True)
class Characters(CountingQueries):
    """N = 2^k queries about at most N - 1 people: query a counts those whose place has an even parity with a.

    Person i, from 0, has the place i + 1; nobody has the place 0. Query a, from 0 to N - 1, counts the people with the
    secret bit 1 whose place x has an even number of ones in the binary form of a AND x. So query 0 counts everybody,
    and every other half of the places. With more `relabellings` the N queries are asked again about people who have
    changed places, x becoming x (m + c x) mod N for a public odd m and even c from the seed, another pair each time.

    Accuracy. If u holds the total of all bits at the place 0 and the bits s at their places, the answers of one
        labelling are W u / 2 with W the matrix of signs (-1)^parity(a AND x), and W W = N I. If all answers are within
        E of the truth, at most 16 E^2 people are recovered wrongly, whatever the errors are: none when E < 1/4.
        Proof: a person is counted in query a with the weight (1 + W_ax)/2, and the sum of s/2 is the first term of W u
        / 2, the place 0 having the sign + everywhere. Two columns of W agree in half of the rows. So answers W u / 2 +
        e give (2/N) W y = u + (2/N) W e, and the squares of (2/N) W e add up to (4/N) |e|^2 <= 4 E^2. The mean over
        labellings of such vectors, people put back into their places, is no longer than the longest. A bit that is
        rounded wrongly is off by 1/2 at least and contributes at least 1/4.
        A relabelling permutes places and keeps 0: (x - y)(m + c (x + y)) is a multiple of N only if x - y is, the other
        factor being odd.
    Cost. 16 N additions a labelling and 4 bits of a place, by `walsh_hadamard`; with one labelling estimates are off by
        floating point by at most 2 `rounding(N)` times the largest answer: below 10^-7 for counts of a million people.
    Reference. Dwork, Yekhanin 2008. Charging the error of the total to every person would give 36 E^2.

    >>> design = Characters(people=6)
    >>> len(design), design.exact([1, 0, 0, 1, 1, 0]).tolist()
    (8, [3, 1, 3, 1, 1, 1, 1, 1])
    >>> design.decode([3, 1, 3, 1, 1, 1, 1, 1]).tolist()
    [1, 0, 0, 1, 1, 0]
    >>> print(design.text(5, {"table": "patients", "secret": "marker", "person": "id"}))
    SELECT COUNT(*) AS people FROM patients WHERE marker = 1 AND ((((id + 1) >> 0) + ((id + 1) >> 2)) & 1) = 0
    """

    people: int
    relabellings: int = 1
    seed: int | None = None

    def __post_init__(self) -> None:
        """Refuse sizes that make no design."""
        people = whole(self.people, name="people")
        if people > MOST_PEOPLE:
            raise ParameterError(f"people must be at most {MOST_PEOPLE:,}, got {people:,}", parameter="people")
        object.__setattr__(self, "people", people)
        relabellings = whole(self.relabellings, name="relabellings")
        most = min(_MOST_QUERIES // self.size, (self.size // 2) ** 2)
        if relabellings > most:
            words = f"relabellings must be at most {most:,} for {people:,} people, got {relabellings:,}"
            raise ParameterError(words, parameter="relabellings")
        object.__setattr__(self, "relabellings", relabellings)
        if self.seed is None:
            if relabellings > 1:
                raise MissingParameter("more than one labelling of people is drawn: pass seed=", parameter="seed")
            return
        whole_seed = isinstance(self.seed, Integral) and not isinstance(self.seed, bool)
        if not whole_seed or not 0 <= self.seed <= _MOST_SEED:
            raise ParameterError(f"seed must be a whole number from 0 to {_MOST_SEED:,}", parameter="seed")
        object.__setattr__(self, "seed", int(self.seed))

    @property
    def size(self) -> int:
        """N, the number of places and of queries of one labelling: the least power of two above the people."""
        return 1 << self.people.bit_length()

    @cached_property
    def factors(self) -> tuple[tuple[int, int], ...]:
        """The pairs (m, c) of the labellings, in order and all different; (1, 0) leaves people where they are."""
        coins = invented_coins(self.seed or 0)  # one labelling needs none, and more have a seed
        drawn = {(1, 0): None}  # in the order of drawing
        while len(drawn) < self.relabellings:
            pairs = coins.integers(0, self.size // 2, (self.relabellings - len(drawn), 2)).tolist()
            drawn |= {(2 * odd + 1, 2 * even): None for odd, even in pairs}
        return tuple(drawn)

    def __len__(self) -> int:
        """Return the number of queries."""
        return self.relabellings * self.size

    def places(self) -> Iterator[Integers]:
        """Return, one labelling after the other, where each place goes."""
        start = np.arange(self.size)
        for odd, even in self.factors:
            # beyond 2^63 products wrap around modulo 2^64, of which N is a divisor
            yield start * (odd + even * start) & (self.size - 1)

    def exact(self, secret: ArrayLike) -> Integers:
        """Return the true answers, labelling after labelling."""
        unknown = np.zeros(self.size)
        unknown[1 : self.people + 1] = secret_bits(secret, self.people)
        unknown[0] = unknown.sum()
        return self.times(unknown).astype(np.int64)  # half of even numbers

    def texts(self, names: Mapping[str, str]) -> Iterator[str]:
        """Return the queries as SQL over a table with one row a person; `names` gives table, secret and person.

        `person` is an INTEGER or BIGINT, a column or an expression in public columns, that numbers people from 0.
        Addition, multiplication, shifts and a bitwise AND are enough: the lowest bit of a sum is the parity of the
        lowest bits. No text comes twice, not even that of everybody in other places: who answers by the text, as a
        session does, would answer with the same noise.
        """
        return (self.text(number, names) for number in range(len(self)))

    def text(self, number: int, names: Mapping[str, str]) -> str:
        """Return one query as SQL, by its number from 0; `names` are those of `texts`."""
        table, secret, person = named(names, "table", "secret", "person")
        if not 0 <= number < len(self):
            raise InputError(f"queries are numbered from 0 to {len(self) - 1:,}")
        place = f"({person} + 1)" if person.isidentifier() else f"(({person}) + 1)"
        odd, even = self.factors[number // self.size]
        if (odd, even) != (1, 0):
            if self.size > _MOST_RELABELLED_IN_SQL:
                words = f"in SQL at most {_MOST_RELABELLED_IN_SQL - 1:,} people change places; ask with relabellings=1"
                raise ParameterError(words, parameter="relabellings")
            wide = f"CAST({place} AS BIGINT)"
            place = f"({wide} * ({odd} + {even} * {wide}))"
        query = number % self.size
        shifts = [f"({place} >> {bit})" for bit in range(query.bit_length()) if query >> bit & 1]
        parity = " + ".join(shifts) if len(shifts) < 2 else f"({' + '.join(shifts)})"
        counted = f" AND ({parity} & 1) = 0" if shifts else f" AND ({place} & 0) = 0" if number else ""
        # the attacker writes this text and may write any other: what guards a table is who answers it
        return f"SELECT COUNT(*) AS people FROM {table} WHERE {secret} = 1{counted}"  # noqa: S608

    def times(self, unknown: Floats) -> Floats:
        """Return the answers that belong to a number a place, the total at the place 0: W u / 2 in every labelling."""
        answers = np.empty((self.relabellings, self.size))
        moved = np.empty(self.size)
        for row, place in zip(answers, self.places(), strict=True):
            moved[place] = unknown
            row[:] = walsh_hadamard(moved)
        answers *= 0.5
        return answers.reshape(-1)

    def transposed(self, answers: Floats) -> Floats:
        """Return, a number a place, the sum of half of the answers with the signs of that place."""
        if self.relabellings == 1:
            return 0.5 * walsh_hadamard(answers)
        total = np.zeros(self.size)
        for row, place in zip(answers.reshape(self.relabellings, self.size), self.places(), strict=True):
            total += walsh_hadamard(row)[place]
        return 0.5 * total

    def checked(self, answers: ArrayLike) -> Floats:
        """Return answers as one finite number a query."""
        wanted = f"answers must be one number for each of {len(self):,} queries"
        return numbers_of(answers, (len(self),), wanted=wanted)

    def estimate(self, answers: ArrayLike) -> Floats:
        """Return the estimate of every person's bit, not yet rounded: the least-squares solution, total unknown."""
        found = self.transposed(self.checked(answers))[1 : self.people + 1]
        found *= 4 / len(self)  # a power of two for one labelling: nothing is rounded
        return found

    def decode(self, answers: ArrayLike) -> Bits:
        """Return every person's bit: 1 where the estimate exceeds 1/2."""
        return (self.estimate(answers) > 0.5).astype(np.int8)
