"""Residuals measured with exact integer noise, each as precisely as an allocation says."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.laws.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.domain import add_noise
from discreet.privacy.numbers.rounding import root_upward
from discreet.synthesis.domain.domain import Records
from discreet.synthesis.methods.residual.allocation import Allocation
from discreet.synthesis.methods.residual.basis import Attributes, Residuals, cells, centred, histogram, scaled_residual


def noise_scales(allocation: Allocation, rho: Fraction) -> tuple[Fraction, ...]:
    """Return the scale of the integer noise on each scaled residual, rounded up."""
    unit = 2 * rho / allocation.distance
    counts = [cells(part, allocation.sizes) for part in allocation.residuals]
    ratios = [Fraction(count, weight) for count, weight in zip(counts, allocation.weights, strict=True)]
    found = {ratio: Fraction(root_upward(ratio / unit)) for ratio in set(ratios)}
    return tuple(found[ratio] for ratio in ratios)


def measure_residuals(
    records: Records, allocation: Allocation, rho: Fraction, total: int | None, tell: Callable[[int], None]
) -> Residuals:
    """Release every residual of an allocation; `total` is the stated number of records where it is public.

    Each residual times the number of its cells is a table of integers. Independent discrete Gaussian noise goes on
    every entry, and the projection onto residuals throws away the part of the noise that can hold no signal: what is
    left has the covariance v(B) P(B), though nothing correlated was ever drawn.

    Privacy. rho-zCDP for the neighbours of the allocation.
        Proof: `Allocation`, with the scales rounded up; the projection works on what was released.
    """
    sizes = allocation.sizes
    parts: dict[Attributes, NDArray[np.float64]] = {}
    variances: dict[Attributes, float] = {}
    if total is not None:
        parts[()], variances[()] = np.array(float(total)), 0.0
    scales = noise_scales(allocation, rho)
    laws = {scale: DiscreteGaussian(scale) for scale in set(scales)}
    for place, (part, scale) in enumerate(zip(allocation.residuals, scales, strict=True)):
        exact = scaled_residual(histogram(records, part))
        noise = laws[scale].draw(exact.size).reshape(exact.shape)
        released = np.asarray(add_noise(exact, noise), dtype=np.float64)
        parts[part] = np.asarray(centred(released) / cells(part, sizes))
        variances[part] = float(scale / cells(part, sizes)) ** 2
        tell(place + 1)
    return Residuals(sizes, parts, variances)


def residual_variances(allocation: Allocation, rho: Fraction) -> dict[Attributes, float]:
    """Return the variance coefficient of each residual, known before anything is measured."""
    scales = zip(allocation.residuals, noise_scales(allocation, rho), strict=True)
    found = {part: float(scale / cells(part, allocation.sizes)) ** 2 for part, scale in scales}
    found.setdefault((), 0.0)
    return found
