"""Draw what trainings cost before any row is read: balls in bins beside Poisson, bands beside fresh noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import discreet as dp
from discreet.display.plots import BLUE, GREEN, ORANGE, SOFT, Plot, axes
from discreet.learning.deep.plan import Banded, Clip, CyclicPoisson, IndependentNoise, Plan
from discreet.learning.deep.plan.mixing import prefix_error
from discreet.privacy import balls_in_bins_loss, gaussian_loss, subsample
from tools.figures.panels import finished, logarithmic, side_by_side

SCALES = (0.5, 0.6, 0.7, 0.8, 1.0, 1.25, 1.5, 2.0)
BANDS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64)
DELTA = 1e-6


def balls_in_bins() -> Plot:
    """Draw epsilon of one epoch against the noise multiplier, for two numbers of steps."""
    panels = side_by_side(
        "One epoch: each person in one step, or in each with chance 1/T",
        left=("noise multiplier, T = 100 steps", "epsilon, delta 0.000001"),
        right=("noise multiplier, T = 1,000 steps", ""),
    )
    for panel, steps in zip(panels, (100, 1000), strict=True):
        base = [gaussian_loss(scale, relation=dp.Relation.ADD_REMOVE) for scale in SCALES]
        poisson = [(subsample(one, rate=Fraction(1, steps)) * steps).epsilon(DELTA).upper for one in base]
        bins = [
            balls_in_bins_loss(scale, steps=steps, relation=dp.Relation.ADD_REMOVE).epsilon(DELTA).upper
            for scale in SCALES
        ]
        whole = [one.epsilon(DELTA).upper for one in base]
        panel.plot(SCALES, whole, ":", color=GREEN, linewidth=2.2, label="the step is known")
        panel.plot(SCALES, poisson, "s--", color=ORANGE, linewidth=2.2, label="Poisson")
        panel.plot(SCALES, bins, "o-", color=BLUE, linewidth=2.2, label="balls in bins")
        panel.set_ylim(0.04, 25)
        logarithmic(panel, x=(0.5, 1, 2), y=(0.1, 0.3, 1, 3, 10))
    return finished(*panels)


def correlated_noise() -> Plot:
    """Draw the error of sums over steps with bands over that with fresh noise, at the same price."""
    drawn = axes(
        title="Noise in sums over steps, batches of 600 of 60,000",
        x_label="bands, and groups of the sampler",
        y_label="error over that of fresh noise",
    )
    for epsilon, color, style in ((1, GREEN, "^:"), (3, ORANGE, "s--"), (8, BLUE, "o-")):
        errors = np.array([_banded_error(epsilon, bands) for bands in BANDS])
        drawn.plot(BANDS, errors / errors[0], style, color=color, linewidth=2.2, label=f"epsilon {epsilon}")
    drawn.axhline(1, color=SOFT, linewidth=0.8)
    drawn.set_ylim(0.4, 1.6)
    logarithmic(drawn, x=(1, 2, 4, 8, 16, 32, 64))
    return finished(drawn, corner="upper left")


def _banded_error(epsilon: int, bands: int) -> float:
    """Return the root mean square error of sums over steps of the plan with so many bands and groups."""
    plan = Plan.for_target(
        epsilon=epsilon,
        delta=DELTA,
        sampler=CyclicPoisson(rate=0.01, groups=bands),
        clip=Clip(1.0),
        steps=1000,
        unit="person",
        relation=dp.Relation.ADD_REMOVE,
        divisor=600,
        noise=IndependentNoise if bands == 1 else lambda scale: Banded(scale, bands=bands),
    )
    return float(plan.noise.scale) * prefix_error(plan.noise.coefficients(1000), 1000)
