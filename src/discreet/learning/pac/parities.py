"""Parities of unknown bits by elimination: 2^d hypotheses, learned privately in the time of a linear system."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, ParameterError
from discreet.laws import Finite
from discreet.laws.number import Number
from discreet.learning.exact import stated_relation
from discreet.learning.pac.finite_class import Labeled, bits_of
from discreet.mechanisms.mechanism import PurelyPrivate, positive_epsilon
from discreet.privacy import Relation
from discreet.privacy.numbers import whole
from discreet.randomness import bernoulli, bernoulli_array, bits
from discreet.randomness.rigor import ball, ceil_of_upper, floor_of_lower, precision

_BITS = 64
_MOST_FEATURES = 1 << 14
_MOST_LISTED = 12
Equation = tuple[int, int]


@dataclass(frozen=True, slots=True, repr=False)
class Parity:
    """The hypothesis that a label is the sum modulo 2 of some of the bits of a row."""

    mask: int
    features: int

    def __call__(self, rows: Any) -> NDArray[np.int64]:
        """Return a label for every row."""
        chosen = np.array([self.mask >> place & 1 for place in range(self.features)], dtype=np.int64)
        return np.asarray(np.asarray(rows, dtype=np.int64) @ chosen % 2)

    @property
    def places(self) -> tuple[int, ...]:
        """The bits that are added."""
        return tuple(place for place in range(self.features) if self.mask >> place & 1)

    def __repr__(self) -> str:
        return f"Parity(places={self.places}, features={self.features})"


class ParityLearner(PurelyPrivate):
    """Keep each row by a coin, solve what was kept, and return a random solution; now and then return nothing.

    Labels must be right: one wrong label among the kept rows leaves no solution, or a wrong one. One row a person; a
    person with m rows costs m epsilon. Rows that are not bits count for nothing.

    Privacy. epsilon-DP, under add/remove with p = 1 - e^-epsilon and under change-one with p = tanh(epsilon / 2), where
        a row is kept with probability p, and nothing is returned with probability b = p / (p + e^epsilon - 1) or where
        the kept rows have no solution. p is rounded down, b up.
        Proof: given the other kept rows, whose solutions form a space V, one more kept row leaves V, halves it or
        empties it. A solution that agrees with the row is then returned with 1 or 2 times its probability, so in all
        with a factor in [1, 1 + p]; one that does not with the factor 1 - p. Since (1 + p)(1 - p) <= 1, both lie in
        [1 - p, 1 / (1 - p)], and 1 / (1 - p) = e^epsilon. Changed rows: at most (1 + p) / (1 - p) = e^epsilon. Nothing
        is returned with probability at least b, and one row adds at most p (1 - b): a factor of 1 + p (1 - b) / b =
        e^epsilon at most, as b was chosen; where a row is taken away it falls, by no more than that.
    Accuracy. With n p >= d + 3 sqrt(d) and random rows the parity is found with probability about 1 - b, which is near
        1/2 for small epsilon: `runs` repeats, at epsilon / runs each.
    Cost. One elimination: a millisecond for 100 bits.
    Reference. Kasiviswanathan, Lee, Nissim, Raskhodnikova, Smith 2011, with larger p and smaller b.

    >>> learner = ParityLearner(4, epsilon=5, relation=Relation.ADD_REMOVE, runs=5)
    >>> rows = np.array([[n >> k & 1 for k in range(4)] for n in range(16)] * 20)
    >>> found = learner((rows, (rows[:, 0] + rows[:, 2]) % 2))
    >>> found is None or found.places == (0, 2)  # None in one run of 700
    True
    """

    def __init__(self, features: int, *, epsilon: Number, relation: Relation, runs: int = 1) -> None:
        self.features = whole(features, name="features")
        self.runs = whole(runs, name="runs")
        if not 1 <= self.features <= _MOST_FEATURES or not 1 <= self.runs <= 1 << 10:
            raise ParameterError(f"features must be from 1 to {_MOST_FEATURES}, and runs from 1 to 1,024; got another")
        stated_relation(relation)
        self.relation, self._epsilon = relation, positive_epsilon(epsilon)
        self.kept, self.nothing = _chances(self._epsilon / self.runs, relation)

    @property
    def _guaranteed(self) -> Fraction:
        return self._epsilon

    def __call__(self, value: Labeled) -> Parity | None:
        """Return a parity for rows of bits and labels, or None; with several runs the one found most often."""
        equations = self._equations(value)
        found = [one for one in (self._once(equations) for _ in range(self.runs)) if one is not None]
        if not found:
            return None
        return Parity(max(sorted(set(found)), key=found.count), self.features)

    def _once(self, equations: list[Equation]) -> int | None:
        """Return one run's solution."""
        if bernoulli(self.nothing):
            return None
        coins = bernoulli_array(self.kept, len(equations))
        system = solved([equations[place] for place in np.flatnonzero(coins)])
        return None if system is None else _completed(system, bits(self.features), self.features)

    def people_needed(self) -> int:
        """Return for how many people, with random rows, one run has enough equations."""
        return math.ceil((self.features + 3 * math.sqrt(self.features)) / float(self.kept))

    def outcome(self, value: Labeled) -> int | None:
        """Return what one run finds, as `law` has it: the parity as a number, or None."""
        return self._once(self._equations(value))

    def law(self, value: Labeled) -> Finite:
        """Return the exact law of one run, for a few rows and bits: every set of kept rows is looked at."""
        equations = self._equations(value)
        if len(equations) > _MOST_LISTED or self.features > _MOST_LISTED:
            raise InputError(f"the law is for at most {_MOST_LISTED} rows and bits; got more, write fewer")
        chances: dict[int | None, Fraction] = dict.fromkeys([None, *range(1 << self.features)], Fraction(0))
        chances[None] = self.nothing
        for size in range(len(equations) + 1):
            weight = (1 - self.nothing) * self.kept**size * (1 - self.kept) ** (len(equations) - size)
            for some in combinations(equations, size):
                _share_out(chances, weight, some, self.features)
        return Finite(list(chances), list(chances.values()))

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield small tables with one row more, or one row changed."""
        rows = np.eye(2, self.features, dtype=np.int64)
        labels = np.array([0, 1])
        if self.relation is Relation.ADD_REMOVE:
            yield (rows, labels), (rows[:1], labels[:1])
            yield (np.vstack([rows, rows[:1]]), np.array([0, 1, 1])), (rows, labels)
        else:
            yield (rows, labels), (rows, np.array([1, 1]))
            yield (rows, labels), (rows[[0, 0]], labels)

    def __repr__(self) -> str:
        return f"ParityLearner({self.features}, runs={self.runs}, {self.guarantee!r})"

    def _equations(self, value: Labeled) -> list[Equation]:
        """Return every row of bits with a bit as label, as numbers."""
        rows, labels = bits_of(value, self.features)
        packed = np.packbits(rows, axis=1, bitorder="little")
        return [
            (int.from_bytes(line.tobytes(), "little"), int(label)) for line, label in zip(packed, labels, strict=True)
        ]


def _chances(epsilon: Fraction, relation: Relation) -> tuple[Fraction, Fraction]:
    """Return p, rounded down, and b for that p, rounded up.

    Beyond 128 p and b are within 2^-64 of their ends: what keeps a smaller epsilon is good enough.
    """
    epsilon = min(epsilon, Fraction(2 * _BITS))
    with precision(4 * _BITS):
        rest = (-ball(epsilon)).exp()
        kept = 1 - rest if relation is Relation.ADD_REMOVE else (1 - rest) / (1 + rest)
        least = Fraction(floor_of_lower(kept * (1 << _BITS)), 1 << _BITS)
        if not least:
            raise ParameterError(
                "epsilon must be large enough to keep a row now and then; got less than 2^-62 a run, write more",
                parameter="epsilon",
            )
        nothing = ball(least) / (ball(least) + (1 - rest) / rest)
        return least, min(Fraction(ceil_of_upper(nothing * (1 << _BITS)), 1 << _BITS), Fraction(1))


def solved(equations: Any) -> dict[int, Equation] | None:
    """Return a system in steps, by the highest bit of each equation, or None where there is no solution."""
    steps: dict[int, Equation] = {}
    for row, label in equations:
        left, right = row, label
        while left:
            highest = left.bit_length() - 1
            if highest not in steps:
                steps[highest] = (left, right)
                break
            left, right = left ^ steps[highest][0], right ^ steps[highest][1]
        else:
            if right:
                return None
    return steps


def _completed(steps: dict[int, Equation], free: int, features: int) -> int:
    """Return the solution whose free bits are those of `free`."""
    found = free & ((1 << features) - 1)
    for place in sorted(steps):
        row, label = steps[place]
        others = (row & found & ((1 << place) - 1)).bit_count() & 1
        found = found & ~(1 << place) | (others ^ label) << place
    return found


def _share_out(chances: dict[int | None, Fraction], weight: Fraction, equations: Any, features: int) -> None:
    """Give the chance of one set of kept rows to its solutions, in equal parts, or to nothing."""
    steps = solved(equations)
    if steps is None:
        chances[None] += weight
        return
    solutions = {_completed(steps, free, features) for free in range(1 << features)}
    for one in solutions:
        chances[one] += weight / len(solutions)
