"""What every statistic estimates on fixed random words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from discreet import statistics
from discreet.errors import DiscreetError
from discreet.privacy import Estimate, Relation, Target
from tools.golden.fixed import fixed_words
from tools.golden.written import Lines, written

ADD_REMOVE, CHANGE_ONE = Relation.ADD_REMOVE, Relation.CHANGE_ONE
BOTH = (ADD_REMOVE, CHANGE_ONE)
AGES = [18 + (7 * place) % 60 for place in range(400)]
COSTS = [float((37 * place) % 1000) / 4 for place in range(300)]
TOWNS = [("Ahn", "Bree", "Cole", "Dorn")[(place * place) % 7 % 4] for place in range(350)] + ["Zell"]
PEOPLE = [place // 3 for place in range(300)]
POINTS = np.array([[float(place % 5), float((place * 3) % 7)] for place in range(200)])

Make = Callable[[], Any]


def statistic_lines() -> Lines:
    """Return the estimates of every statistic, with interval, guarantee and method."""
    for key, ask in _statistics():
        with fixed_words(key):
            answer = ask()
        yield key, _answered(answer)
    yield from _sensitivities()


def _made(kind: Callable[..., Any], values: Any, **parameters: Any) -> Any:
    """Make a statistic and ask it: one that watches a stream draws when it is made."""
    return kind(**parameters)(values)


def _statistics() -> Iterator[tuple[str, Make]]:
    """Return every statistic: as a class on a list, and as a function on columns."""
    yield from _additive()
    yield from _ranked()
    yield from _keyed()


def _additive() -> Iterator[tuple[str, Make]]:
    """Return counts, sums, means and spreads."""
    s = statistics
    plain: list[dict[str, Any]] = [
        {"relation": ADD_REMOVE, "epsilon": 1},
        {"relation": CHANGE_ONE, "rho": 0.5},
        {"relation": ADD_REMOVE, "epsilon": 1, "delta": 1e-6},
    ]
    persons: dict[str, Any] = {"unit": PEOPLE, "rows": 2}
    kinds: list[tuple[Any, Any]] = [
        (s.Sum, s.sum),
        (s.Mean, s.mean),
        (s.Variance, s.variance),
        (s.StandardDeviation, s.standard_deviation),
    ]
    for place, price in enumerate(plain):
        yield f"Count/{place}", partial(_made, s.Count, [age > 40 for age in AGES], filtered=True, **price)
        yield f"count/{place}", partial(s.count, AGES, where=[age > 40 for age in AGES], **price)
        for kind, asked in kinds:
            stated = {"bounds": (0, 200), **price}
            yield f"{kind.__name__}/{place}", partial(_made, kind, [*COSTS, None], **stated)
            yield (
                f"{asked.__name__}/persons {place}",
                partial(asked, COSTS, **persons, **stated),
            )
        yield (
            f"Covariance/{place}",
            partial(_made, s.Covariance, POINTS, bounds=[(0, 4), (0, 6)], **price),
        )
        yield (
            f"covariance/ball {place}",
            partial(s.covariance, POINTS, center=[2, 3], radius=2, missing=[2, 3], **price),
        )
    yield "Count/rows", lambda: s.Count(relation=ADD_REMOVE, epsilon=1)(AGES)
    yield "count/error", lambda: s.count(AGES, relation=ADD_REMOVE, error=3)
    yield "sum/error", lambda: s.sum(COSTS, bounds=(0, 250), grid=0.25, relation=ADD_REMOVE, error=500)
    yield "mean/error", lambda: s.mean(AGES, bounds=(0, 100), relation=ADD_REMOVE, error=0.5, rows_expected=3000)
    yield (
        "mean/population",
        lambda: s.mean(AGES, bounds=(0, 100), relation=CHANGE_ONE, missing=0, epsilon=1, target=Target.POPULATION),
    )
    yield "variance/sample", lambda: s.variance(AGES, bounds=(0, 100), relation=ADD_REMOVE, epsilon=1, sample=True)


def _ranked() -> Iterator[tuple[str, Make]]:
    """Return quantiles and clipping bounds."""
    s = statistics
    for relation in BOTH:
        price: dict[str, Any] = {"relation": relation, "epsilon": 1}
        word = relation.name.lower()
        yield (
            f"Quantile/{word}",
            partial(_made, s.Quantile, AGES, level=0.5, bounds=(0, 120), grid=1, **price),
        )
        yield f"quantile/{word}", partial(s.quantile, COSTS, 0.9, bounds=(0, 250), **price)
        yield (
            f"quantile/interval {word}",
            partial(s.quantile, COSTS, 0.5, bounds=(0, 250), interval=True, **price),
        )
        yield (
            f"Quantiles/{word}",
            partial(_made, s.Quantiles, AGES, levels=(0.25, 0.5, 0.75), bounds=(0, 120), grid=1, **price),
        )
        yield (
            f"quantiles/many {word}",
            partial(
                s.quantiles, COSTS, tuple(place / 11 for place in range(1, 11)), bounds=(0, 250), grid=0.25, **price
            ),
        )
        yield (
            f"ClippingBounds/{word}",
            partial(_made, s.ClippingBounds, COSTS, level=0.98, **price),
        )
        yield (
            f"clipping_bounds/{word}",
            partial(s.clipping_bounds, COSTS, 0.9, symmetric=True, unit=PEOPLE, rows=2, **price),
        )
    yield "quantile/rho", lambda: s.quantile(COSTS, 0.9, bounds=(0, 250), relation=ADD_REMOVE, rho=0.5)
    yield (
        "quantiles/rho",
        lambda: s.quantiles(COSTS, (0.25, 0.5, 0.75), bounds=(0, 250), grid=1, relation=CHANGE_ONE, rho=0.5, missing=0),
    )
    yield (
        "quantile/midrank",
        lambda: s.quantile(AGES, 0.5, bounds=(0, 120), grid=1, relation=ADD_REMOVE, epsilon=1, midrank=True),
    )
    yield (
        "quantile/persons",
        lambda: s.quantile(COSTS, 0.5, bounds=(0, 250), relation=ADD_REMOVE, epsilon=1, unit=PEOPLE, rows=3),
    )


def _keyed() -> Iterator[tuple[str, Make]]:
    """Return histograms and the number of different keys."""
    s = statistics
    keys = ["Ahn", "Bree", "Elm"]
    for relation in BOTH:
        stated: dict[str, Any] = {"relation": relation}
        word = relation.name.lower()
        yield f"Histogram/{word}", partial(_made, s.Histogram, TOWNS, keys=keys, epsilon=1, **stated)
        yield f"histogram/rho {word}", partial(s.histogram, TOWNS, keys=keys, rho=0.5, **stated)
        yield (
            f"DiscoveredHistogram/{word}",
            partial(_made, s.DiscoveredHistogram, TOWNS, epsilon=1, delta=1e-6, **stated),
        )
        yield (
            f"histogram/found {word}",
            partial(s.histogram, TOWNS[:300], keys=None, epsilon=1, delta=1e-6, unit=PEOPLE, groups=2, **stated),
        )
        yield f"CountDistinct/{word}", partial(_made, s.CountDistinct, TOWNS, epsilon=1, **stated)
        yield (
            f"count_distinct/{word}",
            partial(s.count_distinct, TOWNS[:300], rho=0.5, unit=PEOPLE, groups=2, **stated),
        )


def _sensitivities() -> Lines:
    """Return the worst-case sensitivities of every query that has one on bounded rows."""
    stated: dict[str, Any] = {"bounds": (-5, 100), "people": 500, "level": 0.5, "radius": 2}
    wanted: list[tuple[str, ...]] = [(), ("bounds",), ("bounds", "people"), ("bounds", "people", "level"), ("radius",)]
    wanted.append(("radius", "people"))
    for query in statistics.Query:
        for relation in BOTH:
            for names in wanted:
                key = f"sensitivity/{query.name}/{relation.name}/{' '.join(names) or 'nothing stated'}"
                given = {name: stated[name] for name in names}
                try:
                    fact = statistics.explain_sensitivity(query, relation=relation, **given)
                except DiscreetError:
                    continue
                yield key, f"{written(fact.sensitivity)} | {fact.formula} | tight {fact.tight}"


def _answered(answer: Any) -> str:
    """Return an answer as text; a table of estimates entry by entry."""
    if isinstance(answer, statistics.EstimateTable):
        entries = ", ".join(f"{written(key)}: {_ends(answer[key])}" for key in answer)
        return f"{{{entries}}} together {written(answer.half_width_together)} {_guarantee(answer)}"
    if isinstance(answer, Estimate):
        return f"{_ends(answer)} {_guarantee(answer)}"
    if isinstance(answer, statistics.MatrixEstimate):
        parts = ", ".join(written(part) for part in (answer.value, answer.low, answer.high, answer.count))
        return f"{parts} {_guarantee(answer)}"
    return f"{written(tuple(answer))} rank error {written(answer.rank_error)} {written(answer.guarantee)}"


def _ends(answer: Estimate) -> str:
    """Return a value with its interval."""
    return f"{written(answer.value)} [{written(answer.low)}, {written(answer.high)}]"


def _guarantee(answer: Any) -> str:
    """Return what an answer guarantees and how its interval was made."""
    return f"{written(answer.guarantee)} by {answer.method}"
