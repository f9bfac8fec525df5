"""Measures: what can be asked about a group, each with its integers, its noise and its interval.

From what was asked to the measures that answer it: quantiles of one argument are released together.
"""

from __future__ import annotations

from discreet.query.measures.counts_and_sums import count, total
from discreet.query.measures.mean import mean
from discreet.query.measures.measure import Additive, Estimated, Measure, Simple, Spend
from discreet.query.measures.private_keys import SelectedKeys
from discreet.query.measures.quantile import QuantilesOfGroups, quantiles
from discreet.query.measures.variance import variance
from discreet.query.plan import Asked, Bounding, MeasureKind, Noise

Place = tuple[int, int]  # which measure, and which of its aggregates


def measures(
    asked: tuple[Asked, ...], bounding: Bounding, noise: Noise
) -> tuple[tuple[Measure, ...], dict[str, Place]]:
    """Return the measures, and where the answer to each name is found; the same question twice is released once."""
    bundles: dict[object, list[Asked]] = {}
    for one in asked:
        bundles.setdefault((one.kind, one.argument, one.bounds), []).append(one)
    places = {
        one.name: (index, inner if one.kind is MeasureKind.QUANTILE else 0)
        for index, bundle in enumerate(bundles.values())
        for inner, one in enumerate(bundle)
    }
    return tuple(_measure(tuple(bundle), bounding, noise) for bundle in bundles.values()), places


def _measure(bundle: tuple[Asked, ...], bounding: Bounding, noise: Noise) -> Measure:
    first = bundle[0]
    match first.kind:
        case MeasureKind.COUNT_ROWS | MeasureKind.COUNT_VALUES | MeasureKind.COUNT_UNITS:
            return count(first, bounding)
        case MeasureKind.SUM:
            return total(first, bounding)
        case MeasureKind.MEAN:
            return mean(first, bounding)
        case MeasureKind.VARIANCE | MeasureKind.DEVIATION:
            return variance(first, bounding, noise)
        case MeasureKind.QUANTILE:
            return quantiles(bundle, bounding)
