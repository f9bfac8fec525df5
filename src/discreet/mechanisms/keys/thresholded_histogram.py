"""Counts for keys that are themselves private: a key is named only where its noisy count reaches a threshold."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ConflictingParameters, MissingParameter, ParameterError
from discreet.frames import listed_keys
from discreet.laws import DiscreteGaussian, Enclosure, RoundedGaussian, Thresholded, ThresholdedTable
from discreet.laws.noise import IntegerNoise
from discreet.laws.number import Number
from discreet.mechanisms.domain import add_noise
from discreet.mechanisms.keys.exact_delta import KeysPair
from discreet.mechanisms.keys.key_counts import KeyCounts, read_table
from discreet.mechanisms.keys.least_threshold import (
    gaussian_threshold,
    laplace_threshold,
    least_start,
    truncated_threshold,
)
from discreet.mechanisms.mechanism import Mechanism, one_of
from discreet.mechanisms.noise import usable_delta
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, PrivacyLoss, Relation, warn_if_senseless
from discreet.privacy.numbers import positive_price, root_upward, whole, written_up
from discreet.privacy.pairs import Side

_LARGEST_THRESHOLD = 1 << 60  # so that whether 64 bits hold a threshold never depends on the noise or on the keys


class KeyNoise(Enum):
    """The noise on the counts."""

    LAPLACE = "discrete Laplace: pure noise for few keys a person, delta only for naming keys"
    GAUSSIAN = "integer Gaussian: the least noise for many keys a person"
    TRUNCATED_GEOMETRIC = "truncated geometric: the lowest threshold for few keys a person"

    def __repr__(self) -> str:
        return f"KeyNoise.{self.name}"


class ThresholdedHistogram(Mechanism):
    """Add noise to the count of every key that somebody holds, and name the keys whose noisy count reaches a threshold.

    The input is exact: for each key the number of people who hold it, where each person holds at most `keys` keys and
    counts 1 for each of them (`statistics.bounded_keys` makes such counts from rows). A key that nobody holds is never
    named, though its count 0 could be anywhere in an unlimited universe.

    Privacy. Let k = `keys`, K = k under add/remove and 2 k under change-one, and X the noise. By epsilon: noise and
        threshold together are (epsilon, delta)-DP, on the exact delta of both (`KeysPair`); of all thresholds
        that some scale allows the least is taken, and then the least scale. By rho or mu: Gaussian noise of variance
        K / (2 rho), or K / mu^2, with threshold = 1 + t and t the least integer for which d = P(X >= t) has 1 - (1 -
        d)^k <= delta, is delta-approximate rho-zCDP, or mu-Gaussian-DP.
        Proof: neighbors x and x' differ in the keys of one person. Call a key new on x if its count is 1 there and 0
        on x', and the reverse on x'; each table has at most k new keys. Every other key that differs moves by 1 between
        counts of at least 1. Let A be the law on x given that no new key is named, A' that on x': both are thresholded
        noise on the same keys, of which at most K move, each by 1. Being post-processed noise, they keep rho or mu. A
        new key is named with probability d, independently of all others, so the law on x is (1 - delta) A + delta B for
        some B, and on x' it is (1 - delta) A' + delta B'. That is how delta-approximate zCDP and Gaussian DP are
        defined. The exact delta of an (epsilon, delta) guarantee is that of `KeysPair`, whose proof goes on from here.
        Truncated noise about a count of 0 never reaches its reach t + 1 = threshold, so all keys of the universe are
        treated alike, held or not: what leaves is post-processed noise on counts of which K move by 1, and each has the
        worst pair of (1/scale, P(X = t))-DP.
    Accuracy. With the confidence asked for, each of k keys fixed beforehand is either not named or named with a count
        within `error`; a key held by n people is named with probability `chance(n)`.
        Proof: a named count is off by its noise; all k noises are within the width with that confidence. A key is named
        exactly when X >= threshold - n.
    Cost. One draw a key; sorting the released keys.
    Figure. thresholded_histogram.svg
    Reference. Korolova, Kenthapadi, Mishra, Ntoulas 2009; Desfontaines, Voss, Gipson, Mandayam 2022; Wilkins, Kifer,
        Zhang, Karrer 2024.

    >>> histogram = ThresholdedHistogram(
    ...     epsilon=1, delta=1e-9, keys=1, relation=Relation.ADD_REMOVE
    ... )
    >>> histogram.threshold, histogram.chance(1).upper < 1e-9
    (22, True)
    >>> released = histogram({"measles": 3412, "mumps": 1, "rubella": 2950})
    >>> list(released.keys)
    ['measles', 'rubella']
    """

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        delta: Number | None = None,
        keys: int | None = None,
        relation: Relation | None = None,
        noise: KeyNoise | None = None,
    ) -> None:
        """A price by `epsilon` and `delta`, or by `rho` or `mu` and `delta` for Gaussian noise.

        Args:
            epsilon: with `delta`, the approximate privacy of one release.
            rho: with `delta`, its approximate concentrated privacy; Gaussian noise only.
            mu: with `delta`, its approximate Gaussian privacy; Gaussian noise only.
            delta: how often a release may name a key that one person alone holds, or otherwise give the person away.
            keys: how many keys one person can hold at most.
            relation: what is hidden: whether a person is there, or which keys the person holds.
            noise: Laplace if left out, Gaussian for a price by `rho` or `mu`.
        """
        chosen = one_of(epsilon=epsilon, rho=rho, mu=mu)
        self.kind = _kind(noise, chosen)
        self.keys = _stated_keys(keys)
        self.relation = _stated_relation(relation)
        self._delta = usable_delta(delta)
        self._word = chosen
        self._price = positive_price({"epsilon": epsilon, "rho": rho, "mu": mu}[chosen], name=chosen)
        warn_if_senseless(self.guarantee, people=None)
        self.noise, self.threshold = self._settled()
        if self.threshold > _LARGEST_THRESHOLD:
            raise ParameterError(
                "at this price no key could be named: its count would have to exceed 2^60. State a larger "
                f"{chosen}= or delta=",
                parameter=chosen,
            )

    @property
    def moved(self) -> int:
        """How many counts one person can move, each by 1: the keys held, and under change-one those held before too."""
        return self.keys if self.relation is Relation.ADD_REMOVE else 2 * self.keys

    def _settled(self) -> tuple[IntegerNoise, int]:
        """Return the noise and the threshold that the price allows."""
        price, exchanged = self._price, self.relation is not Relation.ADD_REMOVE
        if self._word != "epsilon":
            squared = self.moved / (2 * price) if self._word == "rho" else self.moved / price**2
            noise = (DiscreteGaussian if self._word == "rho" else RoundedGaussian)(Fraction(root_upward(squared)))
            return noise, 1 + least_start(noise, self.keys, self._delta)
        if self.kind is KeyNoise.TRUNCATED_GEOMETRIC:
            return truncated_threshold(price, self._delta, self.moved)
        search = laplace_threshold if self.kind is KeyNoise.LAPLACE else gaussian_threshold
        return search(price, self._delta, self.keys, exchanged=exchanged)

    @property
    def guarantee(self) -> ApproxDP | ZCDP | GaussianDP:
        """(epsilon, delta)-DP, or delta-approximate rho-zCDP or mu-Gaussian-DP for a price by rho or mu."""
        price, delta = written_up(self._price), written_up(self._delta)
        match self._word:
            case "rho":
                return ZCDP(price, delta, relation=self.relation)
            case "mu":
                return GaussianDP(price, delta, relation=self.relation)
        return ApproxDP(price, delta, relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """The exact curve of noise and threshold together, the worst number of new keys at every level.

        Privacy. `loss` dominates every release.
            Proof: `KeysPair`. The largest of several curves belongs to a pair of its own, because each is convex in
            e^epsilon. Truncated noise treats new keys like all others: `moved` counts move by 1.
        """
        exchanged = self.relation is not Relation.ADD_REMOVE
        remove, add = (
            KeysPair.of(self.noise, self.threshold, keys=self.keys, exchanged=exchanged, side=side)
            for side in (Side.REMOVE, Side.ADD)
        )
        return PrivacyLoss.from_directions(
            remove=[remove], add=[add], relation=self.relation, guarantee=self.guarantee, attained=False
        )

    def chance(self, count: int) -> Enclosure:
        """Enclose the probability that a key held by this many people is named; 0 for a key that nobody holds."""
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
            raise ParameterError("count must be a number of people: an int of at least 0", parameter="count")
        if count == 0:
            return Enclosure.exact(0.0, method="never named")
        low, high = Thresholded(self.noise, int(count), threshold=self.threshold).chance()
        return Enclosure(low, low + (high - low) / 2, high, "tail of the noise, in balls")

    def error(self, confidence: float, *, count: int = 1) -> int:
        """Return the half-width that holds for those of `count` keys, fixed beforehand, which are named."""
        return self.noise.half_width(confidence, count)

    def __call__(self, value: Any) -> KeyCounts:
        """Release the keys whose noisy count reaches the threshold, and these counts."""
        keys, noisy = self._noisy(value)
        named = np.flatnonzero(noisy >= self.threshold)
        if isinstance(keys, np.ndarray):
            return KeyCounts.ordered(listed_keys(keys[named]), noisy[named])
        return KeyCounts.ordered(keys, noisy, named)

    def outcome(self, value: Any) -> NDArray[np.int64]:
        """Run once, written as `law` does: an entry for each key of the input, threshold - 1 for one not named.

        For audits on made-up tables: the number of entries is the number of keys that somebody holds.
        """
        return self._noisy(value)[1]

    def wire(self, value: Any) -> dict[Any, int]:
        """Run once and return what leaves by name."""
        return self(value).to_dict()

    def _noisy(self, value: Any) -> tuple[list[Any] | NDArray[Any], NDArray[np.int64]]:
        """Return the keys of a table, and their noisy counts where these are released, else threshold - 1."""
        keys, counts = read_table(value)
        noisy = add_noise(counts, self.noise.draw(counts.size))
        noisy[(counts == 0) | (noisy < self.threshold)] = self.threshold - 1
        return keys, noisy

    def law(self, value: Any) -> ThresholdedTable:
        """Return the law of `outcome`: independent entries, one for each key."""
        keys, counts = read_table(value)
        entries = [Thresholded(self.noise, count or None, threshold=self.threshold) for count in counts.tolist()]
        return ThresholdedTable(
            {(type(key), key): entry for key, entry in zip(listed_keys(keys), entries, strict=True)}
        )

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield tables in which one person's keys are new, rare, or held by many."""
        high = self.threshold + self.noise.half_width(Fraction(1, 2))
        levels = (0, self.threshold - 1, high)
        listed = self.kind is KeyNoise.GAUSSIAN and self.relation is Relation.CHANGE_ONE
        held = min(self.keys, 1 if listed else 2)  # joint outcomes of Gaussian noise multiply quickly
        for gained in levels:
            yield from self._moves([gained] * held)
        if held > 1:
            yield from self._moves([0, high])

    def _moves(self, gained: list[int]) -> Iterator[tuple[Any, Any]]:
        """Yield a table and its neighbor with one more person, or with the person's keys exchanged for others."""
        before = {f"gained {place}": count for place, count in enumerate(gained)}
        after = {key: count + 1 for key, count in before.items()}
        if self.relation is Relation.ADD_REMOVE:
            yield before, after
            return
        for lost in {0} if gained[0] == 0 else {0, gained[0]}:
            less = {f"lost {place}": lost for place in range(len(gained))}
            more = {key: count + 1 for key, count in less.items()}
            yield {**before, **more}, {**after, **less}

    def __repr__(self) -> str:
        price = f"{self._word}={float(self._price):.6g}, delta={float(self._delta):.6g}"
        stated = f"keys={self.keys}, relation={self.relation.name}, noise={self.kind.name}, threshold={self.threshold}"
        return f"ThresholdedHistogram({price}, {stated})"


def _kind(noise: KeyNoise | None, chosen: str) -> KeyNoise:
    """Return the kind of noise; a price by rho or mu has Gaussian noise only."""
    if noise is None:
        return KeyNoise.LAPLACE if chosen == "epsilon" else KeyNoise.GAUSSIAN
    if not isinstance(noise, KeyNoise):
        raise ParameterError(
            "noise must be KeyNoise.LAPLACE, KeyNoise.GAUSSIAN or KeyNoise.TRUNCATED_GEOMETRIC", parameter="noise"
        )
    if chosen != "epsilon" and noise is not KeyNoise.GAUSSIAN:
        raise ConflictingParameters(
            f"a price by {chosen}= is for Gaussian noise; give epsilon= for others", parameter="noise"
        )
    return noise


def _stated_keys(keys: int | None) -> int:
    """Return how many keys one person can hold at most."""
    if keys is None:
        raise MissingParameter(
            "keys= says how many keys one person can hold at most; it is never guessed. If everybody holds one, write "
            "keys=1",
            parameter="keys",
        )
    return whole(keys, name="keys")


def _stated_relation(relation: Relation | None) -> Relation:
    """Return a stated relation: it decides how many counts one person moves."""
    if relation is None or relation is Relation.UNSTATED:
        raise MissingParameter(
            "relation= says what is hidden: Relation.ADD_REMOVE, whether a person is there, or Relation.CHANGE_ONE, "
            "which keys the person holds",
            parameter="relation",
        )
    if not isinstance(relation, Relation):
        raise ParameterError("relation must be Relation.ADD_REMOVE or Relation.CHANGE_ONE", parameter="relation")
    return relation
