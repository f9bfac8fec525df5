"""Faults in private keys and in statistics of tables."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from discreet.audit import Level
from discreet.mechanisms import ThresholdedHistogram
from discreet.privacy import Relation
from discreet.statistics import Count, Mean, Quantile, Rows, Sum
from discreet.statistics.pricing import NoisyVector
from discreet.testing.planted.fault import LAW, Planted, planted

_KEPT = Relation.ADD_REMOVE


class LowThreshold(ThresholdedHistogram):
    """The threshold is three too low for its delta."""

    def __init__(self, **stated: Any) -> None:
        super().__init__(**stated)
        self.threshold -= 3


class HoldsTwo(ThresholdedHistogram):
    """Priced for people who hold one key; they hold two."""

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield what one person really does."""
        yield {"a": 40, "b": 40}, {"a": 41, "b": 41}


class OrderOfEntry(ThresholdedHistogram):
    """The keys leave in the order in which they came into the table."""

    def wire(self, value: Any) -> Any:
        """Keep the order."""
        released = super().wire(value)
        return {key: released[key] for key in value if key in released}


class NamesNobodys(ThresholdedHistogram):
    """A key that nobody holds is treated like one held by many."""

    def outcome(self, value: Any) -> Any:
        """Add noise to a count that is not there."""
        return super().outcome({key: count or self.threshold for key, count in value.items()})


class NoClamp(Sum):
    """Values are not clipped to the bounds."""

    def measure(self, value: Any) -> int:
        """Add them up as they are."""
        return int(sum(value) / float(self.scale.grid))


class WidthForReach(Sum):
    """Adding a row is priced by the width of the bounds, not by the larger bound."""

    @property
    def sensitivity(self) -> int:
        """Subtract the bounds."""
        return self.scale.end - self.scale.start


class SeveralRows(Count):
    """Priced for one row a person; people have three."""

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield what one person really does."""
        yield [True] * 3, [True] * 6


class BoundedRows(Count):
    """The same people, priced for the three rows that they have."""

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield what one person really does."""
        yield Rows([True] * 3, ["a"] * 3), Rows([True] * 6, ["a"] * 3 + ["b"] * 3)


class QuietCount(Count):
    """The noise of a count is halved behind its guarantee."""

    def __init__(self, **stated: Any) -> None:
        super().__init__(**stated)
        right = self.mechanism
        self.mechanism = NoisyVector(
            type(right.noise)(right.noise.scale / 2),
            right.guarantee,
            sensitivity=1,
            scalar=True,
        )


class ExactRows(Mean):
    """The number of rows is released beside the mean, without noise."""

    def wire(self, value: Any) -> Any:
        """Tell it."""
        return {**super().wire(value), "rows": [0] * len(value)}


class TrueMedian(Quantile):
    """The median itself, without a choice."""

    def release(self, value: Any) -> Any:
        """Return the middle one."""
        return self.measure([sorted(value)[len(value) // 2]]).positions[0]


class DropsTheNoise(Sum):
    """Sums of a single row are answered exactly."""

    def release(self, value: Any) -> Any:
        """Skip the noise for one row."""
        return self.measure(value) if len(value) == 1 else super().release(value)


_thresholded_histogram = partial(planted, ThresholdedHistogram, delta=9e-3, epsilon=1, keys=1, relation=_KEPT)
_sum = partial(planted, Sum, bounds=(0, 10), epsilon=1, grid=1, relation=_KEPT)
FAULTS = [
    _thresholded_histogram(LowThreshold, "threshold too low", "a new key is named too often", Level.EXACT),
    Planted("ThresholdedHistogram: two keys for one", "one person moves two counts", Level.EXACT,
            partial(HoldsTwo, epsilon=1, delta=1e-6, keys=1, relation=_KEPT),
            partial(HoldsTwo, epsilon=1, delta=1e-6, keys=2, relation=_KEPT)),
    _thresholded_histogram(OrderOfEntry, "order of entry", "the order of keys tells the order of rows", Level.WIRE,
        neighbors=[({"a": 80, "b": 80}, {"b": 81, "a": 80})], draws=400),
    _thresholded_histogram(NamesNobodys, "names nobody's keys", "a count of nobody gets noise and may be named", LAW,
        inputs=[{"a": 30, "b": 0}], draws=2000),
    _sum(NoClamp, "no clamp", "a value beyond the bounds counts in full", Level.EXACT,
        neighbors=[([5.0], [5.0, 500.0])]),
    _sum(WidthForReach, "width for reach", "bounds far from zero, priced by their distance", Level.EXACT,
        bounds=(90, 100)),
    _sum(DropsTheNoise, "no noise for one row", "a small table is answered exactly", Level.STATISTICAL,
        relation=Relation.CHANGE_ONE, neighbors=[([3.0], [4.0])], draws=1500),
    Planted("Count: several rows a person", "three rows a person, priced for one", Level.EXACT,
            partial(SeveralRows, relation=_KEPT, epsilon=1),
            partial(BoundedRows, relation=_KEPT, epsilon=1, rows=3)),
    planted(Count, QuietCount, "half the noise", "scale 1 / (2 epsilon)", Level.EXACT, relation=_KEPT, epsilon=1),
    planted(Mean, ExactRows, "tells the number of rows", "the length of a list is the private number of rows",
        Level.WIRE, bounds=(0, 1), relation=_KEPT, epsilon=1, neighbors=[([0.5] * 3, [0.5] * 4)], draws=400),
    Planted("Quantile: the true median", "no choice is made", Level.STATISTICAL,
            partial(TrueMedian, level=0.5, bounds=(0, 10), grid=1, relation=_KEPT, epsilon=1),
            partial(Quantile, level=0.5, bounds=(0, 10), grid=1, relation=_KEPT, epsilon=1),
            neighbors=[([2.0, 2.0, 8.0], [2.0, 2.0, 8.0, 8.0])], draws=1500),
]  # fmt: skip
