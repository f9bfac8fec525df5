"""Which measures answer a query, and where the answer to each of its aggregates is found."""

from __future__ import annotations

from discreet.query.measures import (
    Measure,
    SelectedKeys,
    Simple,
    UnitTotals,
    association,
    count,
    cut_rows,
    mean,
    number_of_values,
    quantiles,
    total,
    total_of_units,
    variance,
)
from discreet.query.plan import Aggregate, Bounding, MeasureKind, Noise
from discreet.query.pricing.price import Cost

Place = tuple[int, int]  # which measure, and which of its aggregates


def measures_and_keys(
    asked: tuple[Aggregate, ...],
    bounding: Bounding,
    values: Bounding | None,
    cost: Cost,
    *,
    private_keys: bool,
    outer: int | None = None,
) -> tuple[tuple[Measure, ...], dict[str, Place], SelectedKeys | None]:
    """Return the measures; where keys are private, their selection is the last one, and counts the units.

    With an `outer` bound they are followed by what bounding takes from each count and sum.
    """
    if not private_keys:
        made, places = measures(asked, bounding, cost.noise, values)
        return with_cuts(made, outer), places, None
    counts = tuple(one for one in asked if one.kind is MeasureKind.COUNT_UNITS)
    made, places = measures(tuple(one for one in asked if one not in counts), bounding, cost.noise, values)
    made = with_cuts(made, outer)
    selection = SelectedKeys(counts, bounding, cost.delta)
    return (*made, selection), {**places, **{one.name: (len(made), 0) for one in counts}}, selection


def with_cuts(made: tuple[Measure, ...], outer: int | None) -> tuple[Measure, ...]:
    """Return measures followed by what bounding takes from each that counts or adds up rows."""
    if outer is None:
        return made
    cut = [cut_rows(one, outer) for one in made if isinstance(one, Simple | UnitTotals) and may_be_cut(one)]
    return (*made, *cut)


def may_be_cut(measure: Simple | UnitTotals) -> bool:
    """Say whether bounding rows changes a count or sum: not a number of units."""
    return measure.asked[0].kind is not MeasureKind.COUNT_UNITS


def measures(
    asked: tuple[Aggregate, ...], bounding: Bounding, noise: Noise, values: Bounding | None = None
) -> tuple[tuple[Measure, ...], dict[str, Place]]:
    """Return the measures, and where the answer to each name is found; the same question twice is released once.

    Quantiles of one argument are released together. `values` bounds the units of COUNT(DISTINCT x).
    """
    bundles: dict[object, list[Aggregate]] = {}
    for one in asked:
        meant = one.kind, one.argument, one.bounds, one.sums, one.second, one.second_bounds
        bundles.setdefault(meant, []).append(one)
    places = {
        one.name: (index, inner if one.kind is MeasureKind.QUANTILE else 0)
        for index, bundle in enumerate(bundles.values())
        for inner, one in enumerate(bundle)
    }
    made: list[Measure] = []
    for bundle in bundles.values():
        if values is not None and bundle[0].kind is MeasureKind.COUNT_DISTINCT:
            made.append(number_of_values(bundle[0], values))
        elif bundle[0].second is not None:
            made.append(association(bundle[0], bounding))
        else:
            made.append(_measure(tuple(bundle), bounding, noise))
    return tuple(made), places


def _measure(bundle: tuple[Aggregate, ...], bounding: Bounding, noise: Noise) -> Measure:
    first = bundle[0]
    if first.sums is not None:
        return total_of_units(first, bounding)
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
        case MeasureKind.COUNT_DISTINCT | MeasureKind.CORRELATION | MeasureKind.SLOPE:
            raise AssertionError("a number of values has a bounding of its own, and pairs have two arguments")
