"""Residuals from noisy histograms: each one says something about all the residuals within it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.synthesis.base.purse import Noisy, Purse
from discreet.synthesis.domain.domain import Records
from discreet.synthesis.methods.residual.basis import Attributes, Residuals, cells, centred, closure, histogram

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
