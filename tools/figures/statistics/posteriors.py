"""Draw posteriors that know about the noise beside what one would say without: exact, but for seeded draws of areas."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from discreet import bayes
from discreet.display.plots import BLUE, GREEN, INK, ORANGE, SOFT, Plot, axes, explained
from discreet.laws import DiscreteLaplace
from tools.figures.panels import finished, logarithmic, side_by_side
from tools.figures.statistics.sums import TICKS_OF_EPSILON

PEOPLE, CONFIDENCE, NORMAL = 100, 0.95, 1.959964
EPSILONS = np.logspace(-2, 1, 16)
# twenty areas of one run: mean numbers of cases, and the counts as they left with Laplace noise of scale 2
RATES = (2.1, 4.5, 2.5, 4.0, 2.7, 4.4, 3.2, 2.6, 1.7, 2.9, 3.1, 5.1, 2.4, 4.4, 5.1, 6.6, 5.6, 3.4, 5.3, 7.9)
RELEASED = (-2, 1, 1, 2, 2, 2, 2, 2, 3, 4, 4, 5, 5, 6, 7, 8, 8, 9, 10, 12)
Floats = NDArray[np.float64]
Ends = Callable[[NDArray[np.int64], float], tuple[Floats, Floats]]


def posterior_share() -> Plot:
    """One noisy count of a hundred people: which true counts are possible, and what that says about the share."""
    released, scale = 6, 10
    known = _known(released, scale)
    left, right = side_by_side(
        "6 of 100 people said yes, give or take noise of scale 10",
        left=("people who said yes", "posterior probability"),
        right=("share in the population", "density"),
    )
    counts = np.arange(0, 61)
    left.bar(counts, [known.exact["count"][0].pmf(int(one)) for one in counts], color=BLUE, width=0.8)  # type: ignore[attr-defined]
    left.axvline(released, color=ORANGE, linewidth=2.0, linestyle="--", label="as released")
    left.set_xlim(-1, 60)
    shares = np.linspace(0.0005, 0.5, 500)
    naive = bayes.posterior(bayes.noisy_counts(released, noise=DiscreteLaplace(0.01)), _model())
    for name, found, color, style in (("without the noise", naive, ORANGE, "--"), ("with it", known, BLUE, "-")):
        heights = [found.exact["share"][0].pdf(float(one)) for one in shares]  # type: ignore[attr-defined]
        right.plot(shares, heights, style, color=color, linewidth=2.2, label=name)
    right.set(xlim=(0, 0.5), ylim=(0, None))
    right.set_xticks([0, 0.1, 0.2, 0.3, 0.4, 0.5], ["0", "10 %", "20 %", "30 %", "40 %", "50 %"])
    return finished(left, right)


def posterior_coverage() -> Plot:
    """How often a 95 % interval holds a share drawn from the prior, summed over all counts and all releases."""
    drawn = axes(
        title="95 % intervals of a share: how often they hold it",
        x_label="epsilon of the count of 100 people",
        y_label="coverage",
    )
    ways: tuple[tuple[str, str, str, Ends], ...] = (
        ("posterior", BLUE, "-", _aware),
        ("Wald, with the noise", GREEN, "-.", _wald),
        ("as if released exactly", ORANGE, "--", _naive),
    )
    for name, color, style, interval in ways:
        heights = [_coverage(float(epsilon), interval) for epsilon in EPSILONS]
        drawn.plot(EPSILONS, heights, style, color=color, linewidth=2.2, label=name)
    logarithmic(drawn, x=TICKS_OF_EPSILON)
    drawn.set(ylim=(0, 1.03))
    drawn.set_yticks([0, 0.25, 0.5, 0.75, 0.95], ["0", "25 %", "50 %", "75 %", "95 %"])
    drawn.grid(color=SOFT, alpha=0.18, linewidth=0.8)
    return explained(drawn, ncols=3, fontsize=10)


def posterior_areas() -> Plot:
    """Twenty small areas in the order of their noisy counts: alone, pooled, and the truth."""
    noise = DiscreteLaplace(2)
    answer = bayes.noisy_counts({f"{place}": count for place, count in enumerate(RELEASED)}, noise=noise, key="area")
    pooling = bayes.SmallAreaRates(exposures=1, mean=bayes.LogNormal(5, 1))
    pooled = bayes.posterior(answer, pooling, seed=1).interval("rate")
    drawn = axes(
        title="Small areas: noise makes the extremes, pooling undoes them",
        x_label="areas, in the order of what was released",
        y_label="cases",
        height=4.4,
    )
    places = np.arange(len(RELEASED))
    drawn.vlines(places, pooled.low, pooled.high, color=BLUE, linewidth=3.0, alpha=0.45)
    drawn.plot(places, pooled.value, "o", color=BLUE, markersize=6, label="pooled posterior, 95 %")
    drawn.plot(places, RELEASED, "D", color=ORANGE, markersize=5, label="as released")
    drawn.plot(places, RATES, "_", color=INK, markersize=13, markeredgewidth=2.2, label="the truth")
    drawn.axhline(0.0, color=SOFT, linewidth=0.8)
    drawn.set_xticks([])
    return explained(drawn, ncols=3, fontsize=10)


def _model() -> bayes.BetaBinomial:
    return bayes.BetaBinomial(1, 1, people=PEOPLE)


def _known(released: int, scale: float) -> bayes.Posterior:
    return bayes.posterior(bayes.noisy_counts(released, noise=DiscreteLaplace(scale)), _model())


def _coverage(epsilon: float, interval: Ends) -> float:
    """Return the probability that an interval, a function of the release, holds the share; the prior is uniform."""
    from scipy.special import betainc

    scale = 1.0 / epsilon
    law, reach = DiscreteLaplace(scale), int(40 * scale) + 1
    counts, released = np.arange(PEOPLE + 1), np.arange(-reach, PEOPLE + reach + 1)
    low, high = interval(released, scale)
    chances = np.asarray(law.pmf(released[np.newaxis] - counts[:, np.newaxis]))
    first, second = 1.0 + counts[:, np.newaxis], 1.0 + PEOPLE - counts[:, np.newaxis]
    held = betainc(first, second, np.clip(high, 0, 1)) - betainc(first, second, np.clip(low, 0, 1))
    return float((chances * held).sum() / (PEOPLE + 1))


def _aware(released: NDArray[np.int64], scale: float) -> tuple[Floats, Floats]:
    """Return the posterior's interval: with Laplace noise it is the same for all releases beyond 0, or beyond all."""
    found = [_known(count, scale).interval("share") for count in range(PEOPLE + 1)]
    place = np.clip(released, 0, PEOPLE)
    return np.array([one.low for one in found])[place], np.array([one.high for one in found])[place]


def _naive(released: NDArray[np.int64], scale: float) -> tuple[Floats, Floats]:  # noqa: ARG001  it does not know
    """Return the interval of who takes the noisy count, cut to what is possible, for the true one."""
    from scipy.special import betaincinv

    taken = np.clip(released, 0, PEOPLE)
    low, high = (betaincinv(1.0 + taken, 1.0 + PEOPLE - taken, level) for level in (0.025, 0.975))
    return low, high


def _wald(released: NDArray[np.int64], scale: float) -> tuple[Floats, Floats]:
    """Return the normal interval with the variance of the noise added."""
    share = released / PEOPLE
    inside = np.clip(share, 0, 1)
    variance = inside * (1 - inside) / PEOPLE + float(DiscreteLaplace(scale).variance) / PEOPLE**2
    reach = NORMAL * np.sqrt(variance)
    return share - reach, share + reach
