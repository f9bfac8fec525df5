"""The opendp side of the statistics benchmark, run in opendp's own environment.

Every scale comes from a search over opendp's own privacy maps. Sums, counts and trees are noised by its Laplace
measurement, all draws of a case as one vector. Its private quantile is permute-and-flip; it is drawn as what it equals,
the largest of its own scores plus exponential noise, because 2000 calls on a fine grid would take minutes. The
consistency of its trees is applied as the linear map that it is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np
import opendp.prelude as dp  # type: ignore[import-not-found]
from numpy.typing import NDArray

from benchmarks.statistics.side import (
    BY_HAND,
    OTHER_GUARANTEE,
    Floats,
    Request,
    Ways,
    serve,
    stack,
    variance_of_moments,
)

dp.enable_features("contrib", "honest-but-curious")

GRIDS = (1000, 10_000)
SHIFTS = 20
GRID_STEP = 2.0**-24
# bins and branches: a plain histogram, a small tree, and a fine tree with the branching factor that opendp advises
TREES = ((32, 32), (64, 8), (256, None))


def _table(values: NDArray[Any], bounds: tuple[float, float] | None, known_size: bool) -> tuple[Any, Any]:
    """Return the space of columns like this one, their size known or not, under symmetric distance."""
    whole = values.dtype.kind == "i"
    if bounds is None:
        element = dp.atom_domain(T=int) if whole else dp.atom_domain(T=float, nan=False)
    else:
        kind = int if whole else float
        element = dp.atom_domain(T=kind, bounds=(kind(bounds[0]), kind(bounds[1])))
    return dp.vector_domain(element, size=len(values) if known_size else None), dp.symmetric_distance()


def _distance(change_one: bool) -> int:
    """Return how far neighbors are apart in symmetric distance."""
    return 2 if change_one else 1


def _handed(values: NDArray[Any]) -> NDArray[Any]:
    """Return the array in the element type that opendp reads."""
    return values.astype(np.int32) if values.dtype.kind == "i" else values


def _scale(release: Callable[[float], Any], change_one: bool, epsilon: float) -> float:
    """Return the least scale at which opendp's own map gives the epsilon."""
    return float(dp.binary_search_param(release, _distance(change_one), epsilon))


def _noised(aggregate: Any, request: Request, epsilon: float, values: NDArray[Any], wide: bool = False) -> Floats:
    """Return draws of an aggregate of the values under Laplace noise, a row a draw; wide integers have 64 bits."""
    scale = _scale(lambda size: aggregate >> dp.m.then_laplace(size), request.change_one, epsilon)
    exact = np.atleast_1d(np.asarray(aggregate(values if wide else _handed(values))))
    kind: Any = "i64" if wide else int if exact.dtype.kind == "i" else float
    element = dp.atom_domain(T=kind, nan=False) if kind is float else dp.atom_domain(T=kind)
    noise = dp.m.make_laplace(dp.vector_domain(element), dp.l1_distance(T=kind), scale=scale)
    given = np.tile(exact, request.draws)
    drawn = noise(given if wide else _handed(given))
    return np.array(drawn, dtype=np.float64).reshape(request.draws, len(exact))


def _noisy_sum(request: Request, values: NDArray[Any], bounds: tuple[float, float], epsilon: float) -> Floats:
    """Return draws of a sum of values between bounds; under change-one the size is known.

    Its float sum of unknown size pays for U - L instead of max(|L|, |U|), so that reals are rounded to a fine grid.
    """
    if request.change_one or values.dtype.kind == "i":
        return _noised(dp.t.make_sum(*_table(values, bounds, request.change_one)), request, epsilon, values)[:, 0]
    step = (bounds[1] - bounds[0]) * GRID_STEP
    low, high = round(bounds[0] / step), round(bounds[1] / step)
    space = dp.vector_domain(dp.atom_domain(T="i64", bounds=(low, high))), dp.symmetric_distance()
    steps = np.clip(np.rint(values / step).astype(np.int64), low, high)
    return _noised(dp.t.make_sum(*space), request, epsilon, steps, wide=True)[:, 0] * step


def _noisy_count(request: Request, epsilon: float) -> Floats:
    """Return draws of the number of rows."""
    return _noised(dp.t.make_count(*_table(request.values, None, False)), request, epsilon, request.values)[:, 0]


def count(request: Request) -> Ways:
    """Number of rows, not below 0."""
    return {"count": np.maximum(0, _noisy_count(request, request.epsilon))}


def count_true(request: Request) -> Ways:
    """Number of rows that are 1, by a sum."""
    drawn = _noisy_sum(request, request.values, (0, 1), request.epsilon)
    return {"sum of 0 and 1": np.clip(drawn, 0, len(request.values) if request.change_one else None)}


def count_distinct(request: Request) -> Ways:
    """Number of distinct values."""
    aggregate = dp.t.make_count_distinct(*_table(request.values, None, False))
    return {"count distinct": np.maximum(0, _noised(aggregate, request, request.epsilon, request.values)[:, 0])}


def total(request: Request) -> Ways:
    """Sum of values between bounds."""
    return {"sum": _noisy_sum(request, request.values, request.bounds, request.epsilon)}


def mean(request: Request) -> Ways:
    """Mean: with a known size of a sum; else a sum about the middle over a count, half the budget each."""
    if request.change_one:
        space = _table(request.values.astype(np.float64), request.bounds, True)
        drawn = _noised(dp.t.make_mean(*space), request, request.epsilon, request.values.astype(np.float64))[:, 0]
        return {"mean of known size": np.clip(drawn, *request.bounds)}
    half = request.epsilon / 2
    centered = request.values - request.middle
    first = _noisy_sum(request, centered, (-request.width / 2, request.width / 2), half)
    size = np.maximum(_noisy_count(request, half), 1)
    return {"centered sum over count": np.clip(request.middle + first / size, *request.bounds)}


def variance(request: Request) -> Ways:
    """Variance: with a known size its own; else from a count and two centered sums, a third of the budget each."""
    values = request.values.astype(np.float64)
    half, centered = request.width / 2, values - request.middle
    if request.change_one:
        aggregate = dp.t.make_variance(*_table(values, request.bounds, True), ddof=0)
        drawn = _noised(aggregate, request, request.epsilon, values)[:, 0]
        own = np.clip(drawn, 0, request.width**2 / 4)
        first = _noisy_sum(request, centered, (-half, half), request.epsilon / 2)
        second = _noisy_sum(request, centered**2, (0.0, half**2), request.epsilon / 2)
        made = variance_of_moments(np.full(request.draws, float(len(values))), first, second, request.width)
        return {"variance of known size": own, f"{BY_HAND}two sums of known size": made}
    third = request.epsilon / 3
    size = _noisy_count(request, third)
    first = _noisy_sum(request, centered, (-half, half), third)
    middle = half**2 / 2
    second = _noisy_sum(request, centered**2 - middle, (-middle, middle), third) + middle * size
    return {"count and two sums": variance_of_moments(size, first, second, request.width)}


def standard_deviation(request: Request) -> Ways:
    """Square root of a variance."""
    return {way: np.sqrt(drawn) for way, drawn in variance(request).items()}


def _candidates(request: Request, length: int, shift: float) -> list[float]:
    """Return an even grid of candidates, shifted by a part of its step; for whole numbers, all of them."""
    if request.values.dtype.kind == "i":
        return list(range(int(request.bounds[0]), int(request.bounds[1]) + 1))
    step = request.width / length
    return [float(value) for value in request.bounds[0] + step * (np.arange(length) + shift)]


def _chosen(request: Request, length: int, level: float, epsilon: float) -> Floats:
    """Return draws of the private quantile, over grids of many shifts: one might lie on the answer by luck."""
    space = _table(request.values, None, request.change_one)
    distance = _distance(request.change_one)
    few = _candidates(request, 4, 0.5)

    def measurement(scale: float) -> Any:
        return dp.m.make_private_quantile(*space, dp.max_divergence(), few, level, scale)

    scale = _scale(measurement, request.change_one, epsilon)
    given, generator = _handed(request.values), np.random.default_rng()
    drawn = []
    for shift in (np.arange(SHIFTS) + 0.5) / SHIFTS:
        candidates = _candidates(request, length, float(shift))
        scored = dp.t.make_quantile_score_candidates(*space, candidates, level)
        # the scores are in units of their own, and twice their sensitivity over the scale is the price
        unit = 2 * scored.map(distance) / measurement(1.0).map(distance)
        losses = np.array(scored(given), dtype=np.float64) / unit / scale
        places = [np.argmax(generator.exponential(size=len(losses)) - losses) for _ in range(request.draws // SHIFTS)]
        drawn.append(np.array(candidates, dtype=np.float64)[places])
    return np.concatenate(drawn)


def quantiles(request: Request) -> Ways:
    """Quantiles: each by a private quantile, equal shares; if there are many, also from a tree of counts."""
    ways: dict[str, Floats] = {}
    share = request.epsilon / len(request.levels)
    whole = request.values.dtype.kind == "i"
    for length in GRIDS[:1] if whole or len(request.levels) > 1 else GRIDS:
        chosen = [_chosen(request, length, level, share) for level in request.levels]
        named = "all whole numbers" if whole else f"{length} candidates"
        ways[f"private quantile, {named}"] = np.sort(stack(chosen), axis=1)
    if len(request.levels) > 1:
        for leaves, factor in TREES:
            branches = factor or dp.t.choose_branching_factor(len(request.values))
            kind = "histogram" if branches >= leaves else f"tree of {branches} branches"
            ways[f"{kind}, {leaves} bins"] = _from_tree(request, leaves, branches)
    return ways


def _from_tree(request: Request, leaves: int, branches: int) -> Floats:
    """Return quantiles from noisy counts of even bins in a tree; a tree of one level is a plain histogram."""
    edges = [float(edge) for edge in np.linspace(*request.bounds, leaves + 1)]
    values = request.values.astype(np.float64)
    aggregate = _table(values, None, request.change_one) >> dp.t.then_find_bin(edges=edges[1:-1])
    aggregate = aggregate >> dp.t.then_count_by_categories(categories=list(range(leaves)), null_category=False)
    plain = branches >= leaves
    if not plain:
        aggregate = aggregate >> dp.t.then_b_ary_tree(leaf_count=leaves, branching_factor=branches)
    drawn = _noised(aggregate, request, request.epsilon, values)
    counts = drawn if plain else drawn @ _consistency(leaves, branches, drawn.shape[1])
    finish = dp.t.make_quantiles_from_counts(edges, alphas=list(request.levels))
    found = np.array([finish(row) for row in counts], dtype=np.float64)
    return np.clip(found, *request.bounds)


@cache
def _consistency(leaves: int, branches: int, nodes: int) -> Floats:
    """Return opendp's consistent leaves as the linear map that they are, from its answers to single nodes."""
    finish = dp.t.make_consistent_b_ary_tree(branching_factor=branches)
    return np.array([finish(row) for row in np.eye(nodes, dtype=np.int32)])[:, :leaves]


def histogram(request: Request) -> Ways:
    """Counts of known keys."""
    space = _table(request.values, None, request.change_one)
    aggregate = space >> dp.t.then_count_by_categories(categories=list(request.keys), null_category=False)
    return {"counts by category": np.maximum(0, _noised(aggregate, request, request.epsilon, request.values))}


def histogram_unknown(request: Request) -> Ways:
    """Counts of keys nobody named beforehand, at or above a threshold.

    The map of its integer threshold gives P(1 + X > threshold) as delta, but a count at the threshold is released too.
    So the threshold that its map finds keeps a larger delta than asked for, and the next one is compared.
    """
    if request.change_one:
        return {}
    aggregate = dp.t.make_count_by(*_table(request.values, None, False))
    scale = 1 / request.epsilon
    while (aggregate >> dp.m.then_laplace_threshold(scale, 10**6)).map(1)[0] > request.epsilon:
        scale = float(np.nextafter(scale, 2 * scale))

    def kept(threshold: int) -> bool:
        return bool((aggregate >> dp.m.then_laplace_threshold(scale, threshold)).map(1)[1] <= request.delta)

    claimed = int(dp.binary_search(kept, bounds=(1, 10**6)))
    return {
        f"Laplace, threshold {claimed + 1}": _above(request, aggregate, scale, claimed + 1),
        f"{OTHER_GUARANTEE}Laplace, threshold {claimed}": _above(request, aggregate, scale, claimed),
    }


def _above(request: Request, aggregate: Any, scale: float, threshold: int) -> Floats:
    """Return draws of the counts at or above a threshold."""
    finish = dp.m.make_laplace_threshold(aggregate.output_domain, aggregate.output_metric, scale, threshold)
    exact = aggregate(_handed(request.values))
    place = {key: column for column, key in enumerate(request.keys)}
    released = np.full((request.draws, len(place)), np.nan)
    for row in released:
        for key, value in finish(exact).items():
            row[place[key]] = value
    return released


def covariance(request: Request) -> Ways:
    """Second moments of two columns about 0, a sum for each of the three, a third of the budget each."""
    first, second = request.values[:, 0], request.values[:, 1]
    largest = max(abs(request.bounds[0]), abs(request.bounds[1])) ** 2
    if not request.change_one:
        return {}
    parts = [
        _noisy_sum(request, products, (low, largest), request.epsilon / 3)
        for products, low in ((first**2, 0.0), (first * second, -largest), (second**2, 0.0))
    ]
    return {f"{BY_HAND}three sums": stack(parts) / len(first)}


STATISTICS = {
    "count": count,
    "count_true": count_true,
    "count_distinct": count_distinct,
    "sum": total,
    "mean": mean,
    "variance": variance,
    "standard_deviation": standard_deviation,
    "quantiles": quantiles,
    "histogram": histogram,
    "histogram_unknown": histogram_unknown,
    "covariance": covariance,
}

if __name__ == "__main__":
    serve(version("opendp"), STATISTICS)
