"""Local hashing, a reference to measure others by: the bucket of one's value under a public random hash, randomized.

Nothing here is fast: the server hashes every value for every report.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from discreet.local.protocol.rational_coin import COIN_TOTAL, coin, toss
from discreet.randomness.keystream import words
from discreet.randomness.uniform import uniform_below_array

Integers = NDArray[np.int64]
Seeds = NDArray[np.uint64]


@dataclass(frozen=True)
class LocalHashing:
    """Report (seed, bucket): the own bucket under the seed's hash with probability p, else another one.

    Optimal local hashing of Wang et al. 2017: round(e^epsilon) + 1 buckets, if no other number is given.
    """

    epsilon: Fraction
    categories: int
    given_buckets: int | None = None

    @cached_property
    def buckets(self) -> int:
        return self.given_buckets or round(math.exp(self.epsilon)) + 1

    @property
    def preference(self) -> Fraction:
        """The probability of the own bucket, rounded down as everywhere."""
        return Fraction(coin(self.epsilon, 1, self.buckets - 1), COIN_TOTAL)

    @property
    def shared(self) -> Fraction:
        """The probability that a report supports another value: their buckets agree with chance 1 / g."""
        return Fraction(1, self.buckets)

    def variance(self, people: int, frequency: Fraction = Fraction(0)) -> Fraction:
        """The exact variance of the estimated frequency of a value, over hashes and coins."""
        p, r = self.preference, self.shared
        return (frequency * p * (1 - p) + (1 - frequency) * r * (1 - r)) / (people * (p - r) ** 2)

    def hashed(self, seeds: Seeds, items: Integers) -> Integers:
        """The bucket of each value under each seed: a good mixing of 64 bits (splitmix64)."""
        mixed = seeds + items.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
        hashed: Integers = ((mixed ^ (mixed >> np.uint64(31))) % np.uint64(self.buckets)).astype(np.int64)
        return hashed

    def randomize(self, items: Integers) -> tuple[Seeds, Integers]:
        """A fresh seed and a randomized bucket for each value."""
        seeds = words(items.size)
        kept = toss(coin(self.epsilon, 1, self.buckets - 1), items.size)
        own, other = self.hashed(seeds, items), uniform_below_array(self.buckets - 1, items.size)
        return seeds, np.where(kept, own, other + (other >= own))

    def support(self, seeds: Seeds, buckets: Integers) -> Integers:
        """For every value, the number of reports whose bucket is its own."""
        return np.array(
            [
                np.count_nonzero(self.hashed(seeds, np.full(seeds.size, item)) == buckets)
                for item in range(self.categories)
            ]
        )

    def estimate(self, support: Integers, people: int) -> NDArray[np.float64]:
        """The unbiased estimates of the frequencies."""
        p, r = self.preference, self.shared
        return (support / people - float(r)) / float(p - r)

    def law(self, item: int) -> dict[tuple[int, ...], Fraction]:
        """The exact law of the report if the hash is drawn from all functions, for tiny domains: (function, bucket)."""
        functions = list(product(range(self.buckets), repeat=self.categories))
        stay, leave = self.preference, (1 - self.preference) / (self.buckets - 1)
        return {
            (*function, bucket): (stay if bucket == function[item] else leave) / len(functions)
            for function in functions
            for bucket in range(self.buckets)
        }
