"""Which measures answer a query, and where the answer to each of its aggregates is found."""

from __future__ import annotations

from discreet.query.measures import (
    Measure,
    SelectedKeys,
    association,
    count,
    mean,
    number_of_values,
    quantiles,
    total,
    variance,
)
from discreet.query.plan import Aggregate, Bounding, MeasureKind, Noise
from discreet.query.pricing.price import Cost

Place = tuple[int, int]  # which measure, and which of its aggregates


def measures_and_keys(
    asked: tuple[Aggregate, ...], bounding: Bounding, values: Bounding | None, cost: Cost, *, private_keys: bool
) -> tuple[tuple[Measure, ...], dict[str, Place], SelectedKeys | None]:
    """Return the measures; where keys are private, their selection is the last one, and counts the units."""
    if not private_keys:
        return *measures(asked, bounding, cost.noise, values), None
    counts = tuple(one for one in asked if one.kind is MeasureKind.COUNT_UNITS)
    made, places = measures(tuple(one for one in asked if one not in counts), bounding, cost.noise, values)
    selection = SelectedKeys(counts, bounding, cost.delta)
    return (*made, selection), {**places, **{one.name: (len(made), 0) for one in counts}}, selection


def measures(
    asked: tuple[Aggregate, ...], bounding: Bounding, noise: Noise, values: Bounding | None = None
) -> tuple[tuple[Measure, ...], dict[str, Place]]:
    """Return the measures, and where the answer to each name is found; the same question twice is released once.

    Quantiles of one argument are released together. `values` bounds the units of COUNT(DISTINCT x).
    """
    bundles: dict[object, list[Aggregate]] = {}
    for one in asked:
        bundles.setdefault((one.kind, one.argument, one.bounds, one.second, one.second_bounds), []).append(one)
    places = {
        one.name: (index, inner if one.kind is MeasureKind.QUANTILE else 0)
        for index, bundle in enumerate(bundles.values())
        for inner, one in enumerate(bundle)
    }
    made: list[Measure] = []
    for bundle in bundles.values():
        if values is not None and bundle[0].kind is MeasureKind.COUNT_DISTINCT:
            made.append(number_of_values(bundle[0], values))
        else:
            made.append(_measure(tuple(bundle), bounding, noise))
    return tuple(made), places


def _measure(bundle: tuple[Aggregate, ...], bounding: Bounding, noise: Noise) -> Measure:
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
        case MeasureKind.CORRELATION | MeasureKind.SLOPE:
            return association(first, bounding)
        case MeasureKind.COUNT_DISTINCT:
            raise AssertionError("a number of values has a bounding of its own")
