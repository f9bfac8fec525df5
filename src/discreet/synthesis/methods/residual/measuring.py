"""Residuals measured with exact integer noise, each as precisely as an allocation says.

Residuals from noisy histograms: each one says something about all the residuals within it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.laws import DiscreteGaussian
from discreet.mechanisms.domain import add_noise
from discreet.privacy.numbers import root_upward
from discreet.synthesis.base import Noisy, Purse
from discreet.synthesis.domain import Records
from discreet.synthesis.methods.residual.allocation import Allocation
from discreet.synthesis.methods.residual.basis import (
    Attributes,
    Residuals,
    cells,
    centred,
    closure,
    histogram,
    scaled_residual,
)


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


_STEPS = 1 << 20


def maximal(sets: Sequence[Attributes]) -> tuple[Attributes, ...]:
    """Return the sets that are within no other, once each.

    >>> maximal([(0,), (0, 1), (2,), (0, 1)])
    ((2,), (0, 1))
    """
    inner = {part for one in set(sets) for part in closure([one]) if part != one}
    return tuple(sorted(set(sets) - inner, key=lambda one: (len(one), one)))


def shares(sets: Sequence[Attributes], sizes: Sequence[int]) -> tuple[Fraction, ...]:
    """Return what each histogram gets of a pure price: proportional to the cube root of its cells, in all 1.

    Noise of variance proportional to 1/share^2 in each of n cells sums to n/share^2 over the cells; under a fixed sum
    of shares the total over the histograms is least where share^3 is proportional to n.
    """
    weights = [max(1, round(_STEPS * math.cbrt(cells(one, sizes)))) for one in sets]
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


def measure_histograms(
    records: Records, sets: Sequence[Attributes], purse: Purse, total: int | None, tell: Callable[[int], None]
) -> Residuals:
    """Release every histogram with its share, and combine them; `total` is the stated number where it is public.

    Privacy. Keeps the purse's promise.
        Proof: the shares add up to 1, and everything after is computed from what was released.
    """
    sizes, found = records.domain.sizes, []
    for place, (one, share) in enumerate(zip(sets, shares(sets, sizes), strict=True)):
        found.append(purse.noisy(histogram(records, one), share))
        tell(place + 1)
    return combined(sets, found, sizes, total)


def combined(
    sets: Sequence[Attributes], found: Sequence[Noisy], sizes: tuple[int, ...], total: int | None
) -> Residuals:
    """Return the best linear unbiased estimate of every residual from histograms with independent noise.

    Accuracy. With noise of variance s(A) in each cell of the histogram A, the residual of B gets covariance v(B) P(B),
        1/v(B) = sum over A containing B of n(B)/(s(A) n(A)); no linear unbiased estimate from these histograms has a
        smaller variance in any direction.
        Proof: B's component of the histogram A, summed over the attributes outside B and centred, is an unbiased
        estimate of r(B) with covariance s(A) (n(A)/n(B)) P(B): a sum of n(A)/n(B) cells each, then a projection. As the
        components of different B lie in orthogonal spaces, independent noise of one variance has uncorrelated
        components there; so all of the histograms are equivalent to these estimates, uncorrelated, and for one B all
        covariances are multiples of one projection. Weights proportional to one over the multiples are the best for
        each coordinate, by Cauchy's inequality, and the inverse multiples add up.
    """
    estimates: dict[Attributes, NDArray[np.float64]] = {}
    deviations = [noisy.deviation for noisy in found]
    variances = _variances(sets, deviations, sizes)
    for one, noisy in zip(sets, found, strict=True):
        values = noisy.values.astype(np.float64)
        for part in closure([one]):
            outside = tuple(axis for axis, name in enumerate(one) if name not in part)
            weight = variances[part] * cells(part, sizes) / (noisy.deviation**2 * cells(one, sizes))
            component = weight * centred(values.sum(axis=outside))
            estimates[part] = estimates[part] + component if part in estimates else component
    if total is not None:
        estimates[()], variances[()] = np.array(float(total)), 0.0
    return Residuals(sizes, estimates, variances)


def histogram_variances(sets: Sequence[Attributes], sizes: tuple[int, ...], purse: Purse) -> dict[Attributes, float]:
    """Return the variance coefficient of each residual, known before anything is measured."""
    variances = _variances(sets, [purse.deviation(share) for share in shares(sets, sizes)], sizes)
    if purse.neighbours.same_count:
        variances[()] = 0.0
    return variances


def _variances(
    sets: Sequence[Attributes], deviations: Sequence[float], sizes: tuple[int, ...]
) -> dict[Attributes, float]:
    """Return one over the sum of the precisions that histograms bring to each residual."""
    precisions: dict[Attributes, float] = {}
    for one, deviation in zip(sets, deviations, strict=True):
        for part in closure([one]):
            precision = cells(part, sizes) / (deviation**2 * cells(one, sizes))
            precisions[part] = precisions.get(part, 0.0) + precision
    return {part: 1 / precision for part, precision in precisions.items()}
