"""Membership, differencing and averaging at full size: what they find, beside theory and beside the bars."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.common.bars import Bar
from discreet.attacks import (
    Membership,
    NoiseShape,
    PrivateFrequencies,
    Publish,
    Rounded,
    StickyNoise,
    TracingStatistic,
    averaging,
    exactly,
    membership,
    rephrasings,
)
from discreet.data import Genomes, genomes

_PEOPLE, _SEED, _REFERENCE = 1000, 2026, 10_000
_LEAST_FOUND, _LEVEL = 0.75, 0.01


def bars() -> list[Bar]:
    """Run everything and return one line a bar."""
    return [*_open_answers(), *_private_answers(), *_growth(), *_sticky()]


def _attacked(
    invented: Genomes, publish: Publish, deviation: float, statistic: TracingStatistic, mu: float | None = None
) -> Membership:
    """Publish the frequencies of the case group and test every candidate."""
    return membership(
        publish(invented.cases.frequencies), invented.frequencies, invented.candidates, reference=invented.reference,
        people=_PEOPLE, level=_LEVEL, statistic=statistic, deviation=deviation, members=invented.members, mu=mu,
    )  # fmt: skip


def _open_answers() -> list[Bar]:
    """Test exact and rounded frequencies."""
    invented = genomes(people=_PEOPLE, positions=10_000, seed=_SEED, reference=_REFERENCE)
    rounded = Rounded(2)
    found = []
    for words, publish, deviation in (("exact", exactly, 0.0), ("2 decimals", rounded, rounded.deviation)):
        for statistic in TracingStatistic:
            result = _attacked(invented, publish, deviation, statistic)
            rate = result.true_rate or 0.0
            measured = f"{rate:.3f} (theory {result.expected_rate:.3f}), outsiders accused {result.false_rate:.3f}"
            what = f"membership, n = 1000, d = 10 000, {words}, {statistic.value}: TPR at 1 % FPR"
            found.append(Bar(what, measured, f">= {_LEAST_FOUND}", rate >= _LEAST_FOUND))
    return found


def _private_answers() -> list[Bar]:
    """Test frequencies that are (1, 1e-5)-differentially private together."""
    invented = genomes(people=_PEOPLE, positions=10_000, seed=_SEED, reference=_REFERENCE)
    private = PrivateFrequencies(people=_PEOPLE, positions=10_000, epsilon=1, delta=1e-5)
    found = []
    for statistic in TracingStatistic:
        result = _attacked(invented, private, private.deviation, statistic, private.mu)
        area, error = result.area or 1.0, result.area_error or 0.0
        top = 1.0 if result.area_ceiling is None else result.area_ceiling.upper
        found.append(
            Bar(
                f"membership, (1, 1e-5) for all d = 10 000, {statistic.value}: area under the ROC curve",
                f"{area:.3f} +- {error:.3f} (theory {result.expected_area:.3f})",
                f"<= Phi(mu/sqrt 2) + 3 standard errors = {top:.4f} + {3 * error:.3f}, mu = {private.mu:.4f}",
                area <= top + 3 * error,
            )
        )
    return found


def _growth() -> list[Bar]:
    """Test more and more frequencies."""
    found = []
    for positions in (1000, 3000, 30_000):
        invented = genomes(people=_PEOPLE, positions=positions, seed=_SEED, reference=_REFERENCE)
        result = _attacked(invented, exactly, 0.0, TracingStatistic.INNER_PRODUCT)
        rate, theory = result.true_rate or 0.0, result.expected_rate
        # the share among so many members, and the level at which so many reference people put the threshold
        slope = _density(result.separation - 2.326) / _density(2.326)
        error = math.sqrt(theory * (1 - theory) / _PEOPLE + slope**2 * _LEVEL * (1 - _LEVEL) / _REFERENCE)
        found.append(
            Bar(
                f"membership, d = {positions:,}, exact: TPR at 1 % FPR against Phi(sqrt(d/n) - z)",
                f"{rate:.3f} (theory {theory:.3f})",
                f"within 4 standard errors and .005 of theory: {4 * error + 0.005:.3f}",
                abs(rate - theory) <= 4 * error + 0.005,
            )
        )
    return found


def _sticky() -> list[Bar]:
    """Average over wordings of a toy engine."""
    wordings = rephrasings("t", ("a = 1", "b = 1", "c = 1"), count=400, dummies=("d >= 0", "e >= 0"))
    found = []
    for shape in NoiseShape:
        errors = [
            averaging(
                StickyNoise(lambda _: [(0,)], deviation=10, seed=seed, shape=shape), wordings, deviation=10, truth=0
            ).error
            for seed in range(200)
        ]
        size = float(np.sqrt(np.mean(np.square(errors))))
        found.append(
            Bar(
                f"averaging, sticky noise of deviation 10 ({shape.value}), 400 wordings: error, 200 engines",
                f"{size:.3f} (theory 0.500)",
                "within 20 % of sigma/sqrt(m)",
                abs(size / 0.5 - 1) <= 0.2,
            )
        )
    return found


def _density(place: float) -> float:
    """Return the normal density."""
    return math.exp(-(place**2) / 2) / math.sqrt(2 * math.pi)
