"""How far from normal the released sums are: the skewness that is left once rows and noise are added up.

A sum of n rows plus noise of variance tau^2 has skewness n kappa_3 / (n v + tau^2)^1.5, with kappa_3 and v the third
cumulant and variance of a row's contribution: rows make it small, and so does noise.

Reference. Berry 1941, Esseen 1942: the normal approximation of a sum is off in proportion to this.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError

Floats = NDArray[np.float64]
SILENT, MOST = 0.1, 0.3


def left_over_skewness(rows: Floats, weights: Floats, people: float, noise_variances: Floats) -> float:
    """Return the largest skewness, in size, of a released sum.

    `rows` holds what a row may add, (outcomes, sums), with their probabilities as `weights`.

    >>> coin = np.array([[0.0], [1.0]])
    >>> left_over_skewness(coin, np.array([0.9, 0.1]), 100, np.zeros(1)).__round__(4)
    0.2667
    """
    away = rows - weights @ rows
    spread = people * (weights @ away**2) + noise_variances
    third = people * np.abs(weights @ away**3)
    return float(np.divide(third, spread**1.5, out=np.zeros_like(third), where=spread > 0.0).max(initial=0.0))


def skewness_note(skewness: float) -> str | None:
    """Return what the reader must know about the normal approximation, or raise InputError where it does not hold.

    >>> skewness_note(0.05) is None, skewness_note(0.2)[:33]
    (True, 'the skewness left in the sums is ')
    """
    if skewness <= SILENT:
        return None
    if skewness <= MOST:
        return (
            f"the skewness left in the sums is {skewness:.2f}: the model takes them as normal, which is exact at 0 and "
            f"refused beyond {MOST}"
        )
    raise InputError(
        f"the sums must be near normal for this model, with a skewness of at most {MOST}; got {skewness:.2f}, because "
        "there are few rows and little noise: write DataAugmentation(...), which needs no normal sums"
    )
