"""Intervals for the mean of a population: how wide they are, and how often they contain it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import discreet as dp
from benchmarks.common.report import Row
from discreet import statistics
from discreet.statistics.sums.population_mean import PopulationMean
from discreet.statistics.sums.sampling import Sampling

RUNS, WIDTHS, CONFIDENCE, EPSILON = 2000, 40, 0.95, 1
SIZES = (400, 40_000)
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Population:
    """A law of values, all of them cut to the bounds: the mean asked for is that of the cut values."""

    name: str
    draw: Callable[[np.random.Generator, int], Floats]
    quantile: Callable[[Floats], Floats]
    bounds: tuple[float, float] = (0.0, 1.0)

    def moments(self) -> tuple[float, float, float]:
        """Return mean, deviation and third standardized moment of the values as shares of the range."""
        levels = (np.arange(2_000_000) + 0.5) / 2_000_000
        shares = (np.clip(self.quantile(levels), *self.bounds) - self.bounds[0]) / (self.bounds[1] - self.bounds[0])
        mean, deviation = float(shares.mean()), float(shares.std())
        return mean, deviation, float(np.mean(np.abs(shares - mean) ** 3)) / deviation**3


def _beta(a: float, b: float) -> Population:
    from scipy.special import betaincinv

    return Population(f"beta({a:g}, {b:g})", lambda draws, rows: draws.beta(a, b, rows), lambda u: betaincinv(a, b, u))


def _coin(p: float) -> Population:
    return Population(
        f"Bernoulli {p:g}",
        lambda draws, rows: (draws.random(rows) < p).astype(np.float64),
        lambda u: (u < p).astype(np.float64),
    )


def populations() -> list[Population]:
    """Return even, two-valued, skewed and heavy-tailed laws; those with long tails are cut at 10."""
    from scipy.special import ndtri

    return [
        Population("uniform", lambda draws, rows: draws.random(rows), lambda u: u),
        _coin(0.5),
        _coin(0.02),
        _beta(2, 8),
        _beta(1, 9),
        Population(
            "lognormal cut at 10", lambda draws, rows: draws.lognormal(0, 1, rows), lambda u: np.exp(ndtri(u)), (0, 10)
        ),
        Population(
            "Pareto 2 cut at 10", lambda draws, rows: draws.pareto(2, rows), lambda u: (1 - u) ** -0.5 - 1, (0, 10)
        ),
    ]


def population(_: object) -> Iterator[Row]:
    """Compare half-widths with the normal interval's, and count how often the mean of the population is inside.

    The normal interval has the variance of sampling and that of the noise that a mean of the table has at the same
    price; both are the true ones. A proven interval contains the mean wherever its test accepts it, so that the test at
    the true mean counts for most runs.
    """
    for law in populations():
        mean, deviation, third = law.moments()
        for rows in SIZES:
            for relation in (dp.Relation.ADD_REMOVE, dp.Relation.CHANGE_ONE):
                added = relation is dp.Relation.ADD_REMOVE
                noise = 2 * (mean**2 + (1 - mean) ** 2 if added else 1) / EPSILON**2
                normal = 1.959964 * math.sqrt(rows * deviation**2 + noise) / rows * (law.bounds[1] - law.bounds[0])
                told = f"{'add/remove' if added else 'change-one'}, {law.name}, n {rows}, third moment {third:.1f}"
                for approximate in (False, True):
                    yield from _rows(law, rows, relation, approximate, normal, told)


def _rows(
    law: Population, rows: int, relation: dp.Relation, approximate: bool, normal: float, told: str
) -> Iterator[Row]:
    statistic = statistics.Mean(
        bounds=law.bounds,
        relation=relation,
        epsilon=EPSILON,
        missing=law.bounds[0] if relation is dp.Relation.CHANGE_ONE else statistics.Missing.LEAVE_OUT,
        target=dp.Target.POPULATION,
        approximate=approximate,
    )
    draws = np.random.default_rng([20_261_117, rows])
    mean, _, third = law.moments()
    truth = law.bounds[0] + mean * (law.bounds[1] - law.bounds[0])
    widths, inside = [], 0
    for run in range(RUNS):
        released = statistic.release(law.draw(draws, rows))
        if approximate or run < WIDTHS:
            answer = statistic.estimate(released, public_rows=rows)
            widths.append((answer.high - answer.low) / 2)
            inside += answer.low <= truth <= answer.high
        else:
            inside += accepts(statistic, released, rows, mean)
    kind = "approximate" if approximate else "proven"
    ratio = float(np.mean(widths)) / normal
    bar = 1.05 if approximate else 2.2 if rows == SIZES[0] else 1.1 if third <= 3 else 1.6
    yield Row(
        f"{kind} mean of a population, {told}",
        f"{np.mean(widths):.3g}",
        f"normal {normal:.3g}",
        f"{ratio:.3f} x",
        f"<= {bar:g} x",
        ratio <= bar,
    )
    covered, least = inside / RUNS, CONFIDENCE - 4 * math.sqrt(CONFIDENCE * (1 - CONFIDENCE) / RUNS)
    shown = f"{kind}: contains it, {told}", f"{covered:.4f}", f"{RUNS} runs"
    yield Row(*shown) if approximate else Row(*shown, bar=f">= {least:.4f}", holds=covered >= least)


def accepts(statistic: statistics.Mean, released: Any, rows: int, mean: float) -> bool:
    """Say whether the proven test accepts the true mean, on the side on which the estimate lies."""
    powers = statistic._of_population()
    found = PopulationMean(Sampling(powers, statistic.mechanism.noise), powers.read(released, rows))
    side = 1 if found.share > mean else -1
    reach, _ = found._reach((mean, mean), side, 1.0 - CONFIDENCE)
    return found.size <= 0 or side * (found.share - mean) * found.size <= reach
