"""Prices of plans: balls in bins beside Poisson, correlated beside independent noise, and the time they take."""

from __future__ import annotations

import time
from collections.abc import Iterator

from benchmarks.common.bars import Bar
from discreet.learning.deep.plan import (
    BallsInBins,
    Clip,
    CyclicPoisson,
    FullBatch,
    IndependentNoise,
    Plan,
    PoissonBatches,
)
from discreet.learning.deep.plan.mixing import prefix_error
from discreet.privacy import Relation, balls_in_bins_loss, gaussian_loss, subsample

DELTA = 1e-6
_PLAN = {"clip": Clip(1.0), "unit": "person", "relation": Relation.ADD_REMOVE}


def balls_in_bins() -> Iterator[Bar]:
    """Enclose epsilon of one epoch; Poisson at the same rate is beside it."""
    for steps in (100, 1000):
        for scale in (0.5, 0.6, 0.8, 1, 1.5, 2):
            start = time.process_time()
            found = balls_in_bins_loss(scale, steps=steps, relation=Relation.ADD_REMOVE).epsilon(DELTA)
            taken = time.process_time() - start
            once = subsample(gaussian_loss(scale, relation=Relation.ADD_REMOVE), rate=1 / steps)
            poisson = (once * steps).epsilon(DELTA).upper
            width = found.upper - found.lower
            yield Bar(
                f"balls in bins, {steps:,} steps, scale {scale:g}",
                f"{found.lower:.4f} to {found.upper:.4f} in {taken:.2f} s; Poisson {poisson:.4f}",
                "width <= 1e-3", width <= 1e-3,
            )  # fmt: skip


def bands() -> Iterator[Bar]:
    """Compare the prefix error of the plan's choice with that of independent noise at the same price."""
    for epsilon in (8, 3, 1):
        shared = {**_PLAN, "epsilon": epsilon, "delta": DELTA, "steps": 1000, "divisor": 600}
        plain = Plan.for_target(sampler=PoissonBatches(rate=0.01), noise=IndependentNoise, **shared)
        start = time.process_time()
        chosen = Plan.for_target(sampler=CyclicPoisson(rate=0.01), **shared)
        taken = time.process_time() - start
        ratio = _error(chosen) / _error(plain)
        kind = f"{type(chosen.noise).__name__}, {len(chosen.noise.coefficients(chosen.steps))} coefficients"
        bar, met = {8: ("<= .62", ratio <= 0.62), 1: ("independent", isinstance(chosen.noise, IndependentNoise))}.get(
            epsilon, ("", None)
        )
        yield Bar(f"prefix error, epsilon {epsilon}", f"{ratio:.3f} of DP-SGD's, {kind}, {taken:.1f} s", bar, met)


def _error(plan: Plan) -> float:
    return float(plan.noise.scale) * prefix_error(plan.noise.coefficients(plan.steps), plan.steps)


def calibration() -> Iterator[Bar]:
    """Time the calibration of plans."""
    for epsilon in (1, 3, 8):
        for name, sampler, steps in (
            ("Poisson", PoissonBatches(rate=256 / 60_000), 2344),
            ("full batch", FullBatch(), 100),
            ("balls in bins, 1,000 an epoch", BallsInBins(steps_per_epoch=1000), 5000),
        ):
            start = time.process_time()
            Plan.for_target(
                epsilon=epsilon, delta=1e-5, sampler=sampler, steps=steps, divisor=256, noise=IndependentNoise, **_PLAN
            )
            taken = time.process_time() - start
            yield Bar(f"for_target, {name}, {steps:,} steps, epsilon {epsilon}", f"{taken:.2f} s", "<= 1 s", taken <= 1)
