"""How far a weighted sum of independent noises goes: quantiles for ratios and other combinations of releases.

Lemma (discrete against continuous). At any scale a discrete and a continuous variable can live on one space at a
distance of at most 1, so a combination with coefficients c of discrete ones is within sum |c_i| of the continuous one.
A rounded normal variable is within 1/2 of the normal one that it was rounded from.
Proof for Laplace. A discrete Laplace variable of scale s is the difference of two geometric ones, and floor(E) of an
exponential E of mean s is geometric.
Proof for Gauss. Let g(x) = exp(-x^2 / (2 s^2)), D the discrete and G the continuous variable, N the sum of all g(j). By
Poisson's summation N is at least sqrt(2 pi) s, the integral of g, and g falls on the right, so for k >= 1 the sum of
g(j) over j >= k is at most the integral from k - 1: P(D >= k) <= P(G >= k - 1). With b(j) the integral of g from j to
j + 1, g(j) / b(j) grows with j >= 0, because b(j) / g(j) is the integral of exp(-(2 j x + x^2) / (2 s^2)) over [0, 1].
So among |D| = 0, 1, ... the weights g(0) / 2, g(1), ... put more on large j than b(0), b(1), ... do for floor |G|:
P(D >= k) >= P(G >= k) for k >= 1. By symmetry P(G >= k + 1) <= P(D >= k) <= P(G >= k - 1) for all integers k, hence D
and G made from one uniform variable by their quantiles are at most 1 apart.

Lemma (sum of Laplace variables). With distinct scales b_i the chance that the sum exceeds t in size is the sum of all
A_i exp(-t / b_i), A_i the product over j other than i of b_i^2 / (b_i^2 - b_j^2). Proof. The characteristic function is
the product of 1 / (1 + b_i^2 u^2); split it into partial fractions. Scales too close to each other are moved apart
upwards, which only makes the sum larger.

Lemma (normal with Laplace variables). The same partial fractions make the density of the sum of Laplace variables a
combination of Laplace densities, so its sum with a normal variable exceeds t with the sum of all A_i times the chance
for the normal variable and one Laplace variable of scale b_i.

Lemma (from the table to the population). For n independent values in [0, 1] with mean expectation m, P(average <= a) <=
exp(-n kl(a, m)) for a <= m, and the same above, where kl(a, m) = a ln(a / m) + (1 - a) ln((1 - a) / (1 - m)). Proof.
exp(s x) is convex in x, so its expectation is at most that of a coin with the same mean; Chernoff's bound for coins,
the best s put in. Reference. Hoeffding 1963.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.laws import DiscreteLaplace, RoundedGaussian
from discreet.laws.noise import IntegerNoise
from discreet.mechanisms.noise import GaussianNoise

Floats = NDArray[np.float64]
_APART = 2e-4
_MANY_APART = 1e-2  # the factors of five equal scales would cancel too many digits
_STEPS = 200


def combination_quantile(noise: IntegerNoise, coefficients: Sequence[float], confidence: float) -> float:
    """Return a t with P(|sum of c_i Z_i| <= t) >= confidence for independent noises Z_i, close to the least.

    >>> from discreet.laws.noise.discrete_laplace import DiscreteLaplace
    >>> round(
    ...     combination_quantile(DiscreteLaplace(2**30), [1.0], 0.95) / 2**30, 6
    ... )  # ln 20
    2.995732
    """
    sizes = [abs(coefficient) for coefficient in coefficients if coefficient]
    if not sizes:
        return 0.0
    scale = float(noise.scale)
    if isinstance(noise, GaussianNoise):
        from scipy.special import ndtri

        reach = float(-ndtri((1.0 - confidence) / 2.0)) * scale * math.hypot(*sizes)
    else:
        reach = _laplace_sum_quantile([size * scale for size in sizes], 1.0 - confidence)
    apart = 0.5 if isinstance(noise, RoundedGaussian) else 1.0
    return reach * (1.0 + 1e-12) + apart * math.fsum(sizes)


def _laplace_sum_quantile(scales: list[float], rest: float) -> float:
    """Return the least t, to rounding, at which the chance of exceeding it has fallen to `rest`."""
    ordered, factors = _partial_fractions(scales)
    point = 0.0
    for _ in range(_STEPS):  # the chance is convex in t, so Newton's steps from the left stay on the left
        terms = [factor * math.exp(-point / scale) for factor, scale in zip(factors, ordered, strict=True)]
        slope = math.fsum(term / scale for term, scale in zip(terms, ordered, strict=True))
        step = (math.fsum(terms) - rest) / slope
        point += step
        if step <= 1e-13 * point:
            break
    return point * (1.0 + 1e-9)


def _partial_fractions(scales: list[float]) -> tuple[list[float], list[float]]:
    """Return scales that are apart, none below the given ones, and the factors A_i of the lemma."""
    floor = 1e-6 * max(scales)  # a smaller scale is raised to this: partial fractions stay well conditioned
    ordered = _moved_apart(sorted(max(scale, floor) for scale in scales), _APART if len(scales) <= 3 else _MANY_APART)
    factors = [
        math.prod(one**2 / (one**2 - two**2) for other, two in enumerate(ordered) if other != place)
        for place, one in enumerate(ordered)
    ]
    return ordered, factors


def _moved_apart(ordered: list[float], least: float) -> list[float]:
    """Raise scales, in growing order, until none is too close to the one before."""
    apart: list[float] = []
    for scale in ordered:
        apart.append(max(scale, apart[-1] * (1.0 + least)) if apart else scale)
    return apart


_BISECTIONS = 60


def normal_with_noise_quantile(
    noise: IntegerNoise, coefficients: Sequence[float] | Floats, deviation: float, rest: float
) -> float:
    """Return a t with P(N + sum of c_i Z_i > t) <= rest for a normal N and independent noises Z_i, close to the least.

    >>> from discreet.laws.noise.discrete_laplace import DiscreteLaplace
    >>> round(normal_with_noise_quantile(DiscreteLaplace(1), [1e-12], 10.0, 0.025), 3)
    19.6
    """
    from scipy.special import ndtri

    sizes = [abs(float(coefficient)) for coefficient in coefficients if coefficient]
    scale = float(noise.scale)
    if not isinstance(noise, DiscreteLaplace):
        return -float(ndtri(rest)) * math.hypot(deviation, *(size * scale for size in sizes)) + math.fsum(sizes)
    scales, factors = (np.array(part) for part in _partial_fractions([size * scale for size in sizes]))

    def within(point: float) -> bool:
        return float(factors @ _normal_laplace_tail(point, deviation, scales)) <= rest * (1.0 - 1e-7)

    low = high = max(-float(ndtri(rest)) * deviation, 0.01 * deviation)
    while not within(high):
        low, high = high, high * 1.25
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if within(middle) else (middle, high)
    return high + math.fsum(sizes)


def _normal_laplace_tail(point: float, deviation: float, scales: Floats) -> Floats:
    """Return P(N + L > t) for a normal variable and Laplace variables of these scales, one at a time.

    P(N > t) + E(exp(-(t - N) / b); N < t) / 2 - E(exp((t - N) / b); N > t) / 2: the expectations are normal tails times
    exponentials, which erfcx(x) = exp(x^2) erfc(x) keeps from overflowing.
    """
    from scipy.special import erfcx, ndtr

    above, ratio = point / deviation, deviation / scales
    weight = math.exp(-(above**2) / 2.0) / 2.0
    right = weight * erfcx((above + ratio) / math.sqrt(2.0))
    wide = ratio <= above
    left = weight * erfcx(np.where(wide, 0.0, ratio - above) / math.sqrt(2.0))
    safe = np.where(wide, ratio, 0.0)
    left = np.where(wide, np.exp(safe**2 / 2.0 - safe * above) * ndtr(above - ratio), left)
    found: Floats = ndtr(-above) + (left - right) / 2.0
    return found


def mean_of_population(low: float, high: float, size: float, rest: float) -> tuple[float, float]:
    """Return bounds on the expectation when the table's mean lies in [low, high] and there are at least `size` values.

    >>> [round(end, 3) for end in mean_of_population(0.5, 0.5, 1000, 0.05)]
    [0.457, 0.543]
    """
    if size <= 0:
        return 0.0, 1.0
    allowed = math.log(2.0 / rest) / size
    return 1.0 - _upper(1.0 - low, allowed), _upper(high, allowed)


def _upper(mean: float, allowed: float) -> float:
    """Return the greatest m with kl(mean, m) <= allowed."""
    low, high = mean, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if _divergence(mean, middle) <= allowed else (low, middle)
    return high


def _divergence(first: float, second: float) -> float:
    """Return kl(first, second) for second at or above first."""
    if second >= 1.0:
        return 0.0 if first >= 1.0 else math.inf
    inner = first * math.log(first / second) if first > 0.0 else 0.0
    return inner + ((1.0 - first) * math.log((1.0 - first) / (1.0 - second)) if first < 1.0 else 0.0)
