"""A center of the rows, released first: seen from there, rows are short and noise is small."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.learning.base.estimator import Public
from discreet.learning.exact import CHUNK, STEPS, Cut, FitRows, Measurements, exact_sum, in_ball

Floats = NDArray[np.float64]
_REACH = 0.7


def released_center(
    public: Public, rows: FitRows, measurements: Measurements, share: Fraction, reach: float = _REACH
) -> Floats:
    """Return a noisy mean of the rows in [-1, 1]^d, shrunk towards 0 by as much as is noise.

    Privacy. One release with Gaussian noise. Proof: rows are clipped to a ball of radius reach sqrt(d) and cut to
        integer vectors at most 2^19 long, one at a time.
    Accuracy. The mean c with noise of variance v a coordinate becomes c max(0, 1 - d v / |c|^2) (James, Stein 1961).
    """
    cut = Cut(public.low, public.high)
    radius = reach * math.sqrt(public.features)
    starts = range(0, len(rows), CHUNK)
    parts = (in_ball(cut(rows.features[at : at + CHUNK])[0], radius).astype(np.int64).sum(axis=1) for at in starts)
    total = exact_sum(parts, (public.features,), len(rows))
    squared = public.neighbors.squared(STEPS**2)
    noisy = measurements.release(total, share=share, squared=squared)
    unit = radius / STEPS / public.neighbors.people
    mean = noisy * unit
    variance = (measurements.deviation(share, squared=squared) * unit) ** 2
    length = float(mean @ mean)
    kept = max(0.0, 1.0 - public.features * variance / length) if length > 0 else 0.0
    return np.asarray(np.clip(mean * kept, -1.0, 1.0))
