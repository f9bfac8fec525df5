"""Keys that are not public: selected by a threshold on the number of their units, which is released with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from discreet.laws.noise import IntegerNoise
from discreet.laws.number import round_down
from discreet.mechanisms import ThresholdedHistogram
from discreet.privacy import Price
from discreet.query.expression import Expression
from discreet.query.measures.measure import (
    Estimated,
    Measure,
    Number,
    Released,
    counts_of_units,
    deviation,
    noise_words,
    units_bounding,
)
from discreet.query.plan import Aggregate, Bounding, Noise
from discreet.statistics.measurement import AddsUp


@dataclass(frozen=True)
class SelectedKeys(Measure):
    """Name the keys whose noisy number of units reaches a threshold, with that number.

    Privacy. As `ThresholdedHistogram` for units that hold at most k keys: the form `Groups` keeps at most k groups of a
        unit and counts the unit once in each, a row that is a unit has one key. Everything else in the query is asked
        of the keys that were named, which is adaptive composition.
    Accuracy. The number of units of a named key is within the exact quantile of the noise, but being named it was not
        unusually low: an interval for it holds with the stated confidence before it is known which keys are named.
    """

    asked: tuple[Aggregate, ...]
    bounding: Bounding
    delta: Fraction

    entries = 1  # the number of units

    def mechanism(self, part: Price) -> ThresholdedHistogram:
        """Return the selection that a part of the price buys."""
        return ThresholdedHistogram(
            epsilon=part.epsilon,
            rho=part.rho,
            mu=part.mu,
            delta=self.delta,
            keys=self.bounding.groups,
            relation=self.bounding.relation,
        )

    def weight(self, noise: Noise) -> float:
        """Return about how high the threshold is, in scales of the noise, for the division of the price."""
        odds = math.log((self.bounding.groups or 1) / (2.0 * float(self.delta)))
        return math.sqrt(2.0 * odds) if noise is Noise.GAUSSIAN else odds

    def release(self, units: Mapping[str, int], part: Price) -> dict[str, int]:
        """Return the named keys with their noisy numbers of units, in the order of the keys."""
        named: dict[str, int] = self.mechanism(part)(dict(units)).to_dict()
        return {key: int(named[key]) for key in sorted(named)}

    def values(self, released: Released) -> list[list[Number]]:
        """Return the numbers as they are."""
        return [list(released[0]) for _ in self.asked]

    def estimates(self, released: Released, part: Price, confidence: float) -> list[list[Estimated]]:
        """Return intervals by the exact quantile of the noise."""
        width = self.mechanism(part).error(confidence)
        ends = [(one, float(one - width), float(one + width)) for one in released[0]]
        return [list(ends) for _ in self.asked]

    def spread(self, part: Price) -> list[float | None]:
        """Return the standard deviation of the noise."""
        return [deviation(self.mechanism(part).noise) for _ in self.asked]

    def width(self, part: Price, confidence: float, rows_expected: int | None) -> list[float | None]:  # noqa: ARG002
        """Return the exact quantile."""
        return [float(self.mechanism(part).error(confidence)) for _ in self.asked]

    def adds_up(self, said: Callable[[Expression], str]) -> AddsUp:  # noqa: ARG002  units have no argument
        """Return the number of units of a group that is named because of it."""
        return counts_of_units(units_bounding(self.bounding), selects=True)

    def noise_of(self, part: Price) -> IntegerNoise:
        """Return the law of the noise, about 0."""
        return self.mechanism(part).noise

    def words(self, part: Price) -> str:
        """Say what is released."""
        chosen = self.mechanism(part)
        noise = noise_words(chosen.noise, Fraction(1))
        seen = round_down(Fraction(chosen.chance(2 * chosen.threshold).lower))
        return (
            f"keys whose number of units with {noise} reaches {chosen.threshold}; one unit alone is named "
            f"with a chance of at most {float(self.delta):.3g}, a key of {2 * chosen.threshold} units of {seen:.3g}"
        )
