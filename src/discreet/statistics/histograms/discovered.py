"""How many people hold each key, where the keys themselves are private and only frequent ones are named."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import MissingParameter
from discreet.laws import TruncatedLaplace
from discreet.laws.number import Number
from discreet.mechanisms import KeyCounts, KeyNoise, ThresholdedHistogram
from discreet.privacy import Relation
from discreet.privacy.numbers import positive_price
from discreet.statistics.columns import bounded_keys, distinct_table, split, stated_contribution
from discreet.statistics.histograms.estimate_table import EstimateTable
from discreet.statistics.pricing import Price, stated_price
from discreet.statistics.statistic import Statistic

_MANY_KEYS = 3  # below that Gaussian noise never has the lowest threshold


class DiscoveredHistogram(Statistic):
    """The keys of a column that enough people hold, with noisy numbers of people.

    A person holds one key, that of the row; with `contribution=` the first so many distinct keys of their rows, and
    counts once for each.

    Privacy. As `ThresholdedHistogram`, for counts to which a person adds 1 for each of at most `contribution` keys.
        Proof: a row is one key of one person; `bounded_keys` keeps at most that many a person and looks at nobody
        else's rows.
    Accuracy. With the confidence asked for, a key fixed beforehand is not named, or named with a count within the
        half-width.
    Cost. One pass, one draw a key that somebody holds.
    Figure. discovered-error.svg
    Reference. Korolova, Kenthapadi, Mishra, Ntoulas 2009; truncated noise: Desfontaines, Voss, Gipson, Mandayam 2022.

    >>> DiscoveredHistogram(relation=Relation.ADD_REMOVE, epsilon=1, delta=1e-6).threshold
    15
    """

    mechanism: ThresholdedHistogram

    def __init__(
        self,
        *,
        relation: Relation | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        error: Number | None = None,
        confidence: float = 0.95,
        noise: KeyNoise | None = None,
        contribution: int | None = None,
    ) -> None:
        """`delta` pays for naming keys, whatever the rest is paid in; the noise with the lowest threshold is taken."""
        super().__init__(relation=relation, confidence=confidence)
        self.contribution = stated_contribution(contribution)
        price = stated_price(epsilon=epsilon, rho=rho, error=error)
        if price.rho is not None:
            self.mechanism = self._made(noise, rho=rho, delta=delta)
            return
        amount = price.epsilon if price.error is None else self._cheapest(price, noise, delta)
        self.mechanism = self._made(noise, thorough=price.error is None, epsilon=amount, delta=delta)

    def _made(self, noise: KeyNoise | None, *, thorough: bool = True, **price: Number | None) -> ThresholdedHistogram:
        """Return the mechanism; where the noise was not stated, the one that names keys from the lowest count on."""
        keys = self.contribution or 1
        if noise is None and "rho" not in price:
            choices = [KeyNoise.TRUNCATED_GEOMETRIC, KeyNoise.LAPLACE]
            if keys >= _MANY_KEYS and thorough:
                choices.append(KeyNoise.GAUSSIAN)
            made = [ThresholdedHistogram(keys=keys, relation=self.relation, noise=one, **price) for one in choices]
            return min(made, key=lambda mechanism: mechanism.threshold)
        return ThresholdedHistogram(keys=keys, relation=self.relation, noise=noise, **price)

    def _cheapest(self, price: Price, noise: KeyNoise | None, delta: Number | None) -> Fraction:
        """Return the least epsilon with which a count is within the error asked for."""
        if delta is None:
            raise MissingParameter("naming private keys costs a delta: state delta= beside error=", parameter="delta")
        positive_price(delta, name="delta")
        return price.cheapest(
            lambda epsilon: float(
                self._made(noise, thorough=False, epsilon=epsilon, delta=delta).error(self.confidence)
            )
        )

    @property
    def threshold(self) -> int:
        """The least noisy count with which a key is named."""
        return self.mechanism.threshold

    def measure(self, value: Any) -> tuple[Any, Any]:
        """Return the keys that somebody holds, and by how many people each is held."""
        values, unit = split(value, self.contribution)
        if unit is None:
            return distinct_table(values)
        return bounded_keys(values, unit, keys=self.contribution or 1)

    def outcome(self, value: Any) -> Any:
        """Run once, written as `law` does, for audits on made-up tables."""
        return self.mechanism.outcome(self.measure(value))

    def estimate(self, released: KeyCounts, *, rows: int | None) -> EstimateTable:  # noqa: ARG002
        """Return the noisy counts with their intervals; nobody would have been named below 1."""
        width = self.mechanism.error(self.confidence)
        # which keys were named depends on the noise: only noise that has an end bounds them all together
        noise = self.mechanism.noise
        together = float(noise.reach) if isinstance(noise, TruncatedLaplace) else math.inf
        return EstimateTable(
            tuple(released.keys.tolist()),
            released.counts,
            np.maximum(released.counts - width, 1).astype(np.float64),
            np.maximum(released.counts + width, 1).astype(np.float64),
            together,
            self.confidence,
            self.guarantee,
            f"exact quantile of the noise; keys named from a noisy count of {self.threshold} on",
            self.loss,
        )

    def neighbours(self) -> Iterator[tuple[Any, Any]]:
        """Yield tables in which one person's key is rare, new, or held by many."""
        if self.contribution is not None:
            return
        for count in (0, self.threshold - 1, self.threshold + 3):
            held = ["held"] * count
            if self.relation is Relation.ADD_REMOVE:
                yield held, [*held, "held"]
            else:
                yield [*held, "other"], [*held, "held"]
