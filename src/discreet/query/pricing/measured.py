"""What a priced query measures, in public words: the groups, what their integers add up, and the law of the noise."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.query.expression import Value
from discreet.query.measures import Measure
from discreet.query.plan import EachRow, NormWeights, RowWeights, canonical_parts, ordered_values
from discreet.query.pricing.priced_query import PricedQuery
from discreet.statistics.measurement import MeasurementPlan, Source

_SELECTION = "units of the named keys"


def measurement_plans(
    made: PricedQuery, keys: Sequence[tuple[Value, ...]], lineage: str, *, replayed: str = ""
) -> tuple[tuple[int, MeasurementPlan], ...]:
    """Return the places and the plans of all measures that add rows up, about these groups.

    Quantiles add nothing up and are left out. Where keys are private, the last plan counts the units of the keys that
    were named because of that count. `replayed` names the release where the answer was stored before.
    """
    aggregation = made.query.aggregation
    arguments = list(dict.fromkeys(one.argument for one in aggregation.asked if one.argument is not None))
    rows, texts = canonical_parts(aggregation.source, [*(key.expression for key in aggregation.keys), *arguments])
    named, said = texts[: len(aggregation.keys)], dict(zip(arguments, texts[len(aggregation.keys) :], strict=True))
    source = Source(lineage, made.version, rows, _bounding(made, named, replayed), tuple(named), aggregation.public)
    names = tuple(key.label for key in aggregation.keys)
    plans: list[tuple[int, MeasurementPlan]] = []
    for place, (measure, part) in enumerate(zip(made.measures, made.parts, strict=True)):
        adds_up = measure.adds_up(said.__getitem__)
        if adds_up is not None:
            noise = measure.noise_of(part)
            plans.append((place, MeasurementPlan(_name(measure), names, tuple(keys), adds_up, noise, source)))
    return tuple(plans)


def _name(measure: Measure) -> str:
    """Return the name under which an answer shows a measure first."""
    return measure.asked[0].name if measure.asked else _SELECTION


def _bounding(made: PricedQuery, named: Sequence[str], replayed: str) -> str:
    """Return a text that is equal where the same rows count, with the same weights.

    Weights by norm depend on which groups there are. Groups that are chosen by their hash depend on the order of the
    keys and of their values too, which a stored answer may have had from another spelling of the query: then it is the
    release itself that says which groups were chosen.
    """
    form, keys = made.bounding.form, made.query.aggregation.keys
    if isinstance(form, EachRow):
        return "each row" if made.bounded is None else f"each row of {made.bounded}"
    if made.bounding.single or isinstance(form, RowWeights):
        return repr(form)
    if isinstance(form, NormWeights):
        domains = [None if key.domain is None else ordered_values(key.domain) for key in keys]
        return f"{form!r} over {sorted(zip(named, map(repr, domains), strict=True))}"
    if replayed:
        return f"{form!r} as in release {replayed}"
    return f"{form!r} over {[(text, key.domain) for key, text in zip(keys, named, strict=True)]!r}"
