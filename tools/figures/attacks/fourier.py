"""Draw what the Fourier attacks recover: against noise, against a budget, and with garbage among the answers."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np

from discreet.attacks import Characters, Flip, ceiling, fourier, noisy_answers, recovered_fraction, robust_fourier
from discreet.attacks.asking.noise import Noise, garbage, gaussian_noise, malicious_noise, sign_noise, uniform_noise
from discreet.cli.attack.people import counts_loss, invented_bits
from discreet.display.plots import BLUE, GREEN, INK, ORANGE, SOFT, Plot
from tools.figures.panels import SMALL, logarithmic, side_by_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE, SEED = 2**16, 2026
LEVELS = (0.02, 0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 1.0, 2.0)
RHOS = (0.01, 0.1, 0.5, 2.0, 8.0, 30.0, 100.0)
SHARES = (0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7)
TICKS = [0, 0.25, 0.5, 0.75, 1.0], ["0", "25 %", "50 %", "75 %", "100 %"]


def fourier_attack() -> Plot:
    """Draw the share recovered against the error of a count, and against the budget of all counts together."""
    left, right = side_by_side(
        f"The Fourier attack: {SIZE:,} counts about {SIZE - 1:,} people",
        left=("error of a count, in square roots of n", "bits recovered"),
        right=("budget of all counts together, rho", ""),
        height=5.6,
    )
    _against_noise(left)
    _against_a_budget(right)
    logarithmic(left, x=(0.02, 0.05, 0.1, 0.2, 0.5, 1, 2))
    logarithmic(right, x=(0.01, 0.1, 1, 10, 100))
    return _finished(left, right)


def robust_fourier_attack() -> Plot:
    """Draw the share recovered against the share of garbage, by squares and by absolute values."""
    left, right = side_by_side(
        f"Garbage among the answers about {2**12 - 1:,} people",
        left=("garbage (0.1 sqrt n, 4n queries)", "bits recovered"),
        right=("garbage (0.25 sqrt n, 8n queries)", ""),
        height=4.8,
    )
    people = 2**12 - 1
    secret = invented_bits(people, seed=SEED)
    for panel, level, many in ((left, 0.1, 4), (right, 0.25, 8)):
        design = Characters(people=people, relabelings=many, seed=SEED)
        squares, absolute = [], []
        for share in SHARES:
            noise = garbage(share, seed=SEED + 1, of=uniform_noise(level * 2**6, seed=SEED + 2))
            ask = partial(_given, noisy_answers(secret, noise)(design))
            squares.append(fourier(ask, people, relabelings=many, seed=SEED, truth=secret).recovered or 0.0)
            absolute.append(robust_fourier(ask, people, relabelings=many, seed=SEED, truth=secret).recovered or 0.0)
        panel.plot(SHARES, absolute, "o-", color=BLUE, linewidth=2.2, markersize=5, label="robust Fourier")
        panel.plot(SHARES, squares, "s--", color=ORANGE, linewidth=2.2, markersize=5, label="Fourier, least squares")
        panel.axvline(0.239, color=SOFT, linewidth=1.4, linestyle=":", label="23.9 %: proven for normal weights")
        panel.set_xticks([0, 0.2, 0.4, 0.6], ["0", "20 %", "40 %", "60 %"])
    return _finished(left, right)


def _given(answers: object, _: object) -> np.ndarray:
    """Answer what was answered before: both decoders see the same numbers."""
    return cast("np.ndarray", answers)


def _against_noise(panel: Axes) -> None:
    """Draw theory as lines and measurements as marks, malice and the certain share."""
    fine = np.logspace(math.log10(LEVELS[0]), math.log10(LEVELS[-1]), 200)
    for make, part, color, style, mark, words in (
        (uniform_noise, 3, BLUE, "-", "o", "uniform errors"),
        (sign_noise, 1, GREEN, "--", "s", "errors of either sign"),
    ):
        theory = [recovered_fraction(SIZE * level**2 / part, queries=SIZE) for level in fine]
        panel.plot(fine, theory, style, color=color, linewidth=2.2, label=f"{words}, theory and measured")
        measured = [_recovered(make(level * SIZE**0.5, seed=SEED)) for level in LEVELS]
        panel.plot(LEVELS, measured, mark, color=color, markersize=5)
    malice = [_recovered(malicious_noise(level * SIZE**0.5, seed=SEED)) for level in LEVELS]
    panel.plot(LEVELS, malice, "v-", color=ORANGE, linewidth=1.4, markersize=5, label="errors chosen by malice")
    floor = np.maximum(1 - 16 * fine**2, 0)
    panel.fill_between(fine, 0, floor, color=SOFT, alpha=0.14, linewidth=0, label="certain, whatever the errors")
    panel.set_ylim(-0.02, 1.02)


def _against_a_budget(panel: Axes) -> None:
    """Draw the attack and what no attack passes."""
    fine = np.logspace(-2, 2, 60)
    highest = [_ceiling(rho, SIZE) for rho in fine]
    counted = [_ceiling(rho, SIZE // 2) for rho in fine]
    panel.plot(fine, highest, "-", color=ORANGE, linewidth=2.2, label="any attacker, from the law of all queries")
    panel.plot(fine, counted, "--", color=ORANGE, linewidth=2.2, label="any attacker, half of them count a person")
    attack = [recovered_fraction(SIZE / (2 * rho), queries=SIZE) for rho in fine]
    panel.plot(fine, attack, "-", color=BLUE, linewidth=2.2, label="this attack, theory and measured")
    measured = [_recovered(gaussian_noise(math.sqrt(SIZE / (2 * rho)), seed=SEED)) for rho in RHOS]
    panel.plot(RHOS, measured, "o", color=BLUE, markersize=5)
    panel.set_ylim(0.48, 1.01)


def _recovered(noise: Noise) -> float:
    """Return the share recovered through noise."""
    secret = invented_bits(SIZE - 1, seed=SEED)
    return float(fourier(noisy_answers(secret, noise), SIZE - 1, truth=secret).recovered or 0.0)


def _ceiling(rho: float, counts: int) -> float:
    """Return the ceiling of so many counts of a session whose SIZE counts cost rho together."""
    return ceiling(counts_loss(Fraction(rho) / SIZE, queries=counts), flip=Flip.ONE_ROW).upper


def _finished(*panels: Axes) -> Plot:
    """Add ticks in percent, light lines, and legends below: curves leave no common corner."""
    for panel in panels:
        low, high = panel.get_ylim()
        panel.set_yticks(*TICKS)
        panel.set_ylim(low, high)
        panel.grid(color=SOFT, alpha=0.18, linewidth=0.8)
        panel.set_axisbelow(True)
        panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), frameon=False, fontsize=SMALL, labelcolor=INK)
    return Plot(cast("Figure", panels[0].figure))
