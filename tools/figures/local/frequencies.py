"""Draw what becomes of noisy frequencies that are made a distribution: expectations of normal noise, no draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from discreet.display.plots import BLUE, GREEN, INK, ORANGE, SOFT, Plot, axes
from discreet.local import ProjectiveGeometry

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VALUES, PEOPLE, EXPONENT = 65_536, 1_000_000, 1.1
SHOWN = 200
Floats = NDArray[np.float64]


def local_frequencies() -> Plot:
    """Draw true frequencies by rank, and the expected ones after clipping and rescaling, and after projection."""
    frequencies = 1 / np.arange(1, VALUES + 1) ** EXPONENT
    frequencies /= frequencies.sum()
    error = ProjectiveGeometry.best(epsilon=1, categories=VALUES).variance(PEOPLE) ** 0.5
    clipped = _expected_part(frequencies, error)
    ranks = np.arange(1, SHOWN + 1)
    drawn = axes(
        title=f"{PEOPLE:,} people, {VALUES:,} values, epsilon 1: what the largest frequencies become",
        x_label="rank of the value",
        y_label="expected frequency",
        height=4.6,
    )
    drawn.loglog(ranks, frequencies[:SHOWN], "-", color=INK, linewidth=5.0, alpha=0.25, label="true frequency")
    drawn.loglog(ranks, frequencies[:SHOWN], "-", color=BLUE, linewidth=1.8, label="raw: unbiased")
    projected = _expected_part(frequencies - _shift(frequencies, error), error)
    drawn.loglog(ranks, projected[:SHOWN], "--", color=GREEN, linewidth=2.0, label="projected on the simplex")
    rescaled = clipped / clipped.sum()
    drawn.loglog(ranks, rescaled[:SHOWN], "-.", color=ORANGE, linewidth=2.0, label="clipped at zero and rescaled")
    drawn.axhline(error, color=SOFT, linewidth=1.2, linestyle=":", label="one standard error")
    drawn.set_yticks([1e-1, 1e-2, 1e-3, 1e-4, 1e-5], ["10 %", "1 %", "0.1 %", "0.01 %", "0.001 %"])
    drawn.set_ylim(8e-6, 0.3)
    drawn.set_xticks([1, 10, 100], ["1", "10", "100"])
    figure = cast("Figure", drawn.figure)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, labelcolor=INK, fontsize=10.0)
    return Plot(figure)


def _expected_part(means: Floats, error: float) -> Floats:
    """Return E max(X, 0) for normal X."""
    from scipy.special import ndtr

    levels = means / error
    return np.asarray(means * ndtr(levels) + error * np.exp(-(levels**2) / 2) / np.sqrt(2 * np.pi))


def _shift(frequencies: Floats, error: float) -> float:
    """Return the constant whose subtraction before cutting at zero makes the expected sum 1."""
    low, high = 0.0, 20 * error
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _expected_part(frequencies - middle, error).sum() > 1 else (low, middle)
    return low
