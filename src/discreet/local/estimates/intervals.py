"""Confidence intervals of estimated frequencies, one for each value, and the normal quantiles that they need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.display import format_number
from discreet.errors import InputError, ParameterError
from discreet.local.protocol import Floats, array_or_none
from discreet.privacy import Target
from discreet.privacy.numbers import plain


@dataclass(frozen=True, eq=False, repr=False)
class Intervals:
    """Lower and upper ends, one for each value asked for; `together` says whether they hold all at once.

    Each contains its raw estimate, so that ends may lie outside [0, 1]. Cutting them there loses no coverage.
    """

    low: Floats
    high: Floats
    confidence: float
    target: Target
    together: bool

    def __len__(self) -> int:
        return int(self.low.size)

    def contain(self, frequencies: Any) -> NDArray[np.bool_]:
        """Say of each interval whether it contains a frequency: one frequency for all of them, or one for each."""
        array = array_or_none(frequencies, np.float64)
        if array is None or array.shape not in ((), self.low.shape) or np.isnan(array).any():
            raise InputError(f"frequencies must be one number, or a column of {len(self)}, one for each interval")
        return np.asarray((self.low <= array) & (array <= self.high))

    def __repr__(self) -> str:
        how = "together" if self.together else "each"
        return f"Intervals({format_number(len(self))} of {100 * self.confidence:.6g} % {how}, {self.target!r})"


def allowed_error(confidence: object) -> float:
    """Return 1 - confidence, for a confidence strictly between 0 and 1."""
    number = float(plain(confidence, name="confidence"))
    if not 0.0 < number < 1.0:
        raise ParameterError("confidence must lie strictly between 0 and 1, such as 0.95", parameter="confidence")
    return 1.0 - number


def stated_target(target: object) -> Target:
    """Return what an interval is for; raise ParameterError on anything else."""
    if not isinstance(target, Target):
        raise ParameterError("target must be Target.TABLE or Target.POPULATION", parameter="target")
    return target


def two_sided_normal(rest: float) -> float:
    """Return z with P(|Z| > z) = rest.

    >>> round(two_sided_normal(0.05), 4)
    1.96
    """
    from scipy.special import ndtri

    return float(-ndtri(rest / 2))
