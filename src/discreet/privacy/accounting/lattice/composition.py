"""Compose laws on one grid by one Fourier transform, and read delta(epsilon) off the result with its error terms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.privacy.accounting.lattice.cells import TooLarge
from discreet.privacy.accounting.lattice.fft_bounds import ELEMENTARY, UNIT, Floats, SpectrumProduct
from discreet.privacy.accounting.lattice.rounding_maps import TiltedLaw

LARGEST_TRANSFORM = 1 << 22
_LOG_ALIAS = -44.0
_CHUNK = 1 << 20
_ORDERS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.6, 1.0, 1.5, 2.0, 3.0, 4.0, 5.5, 7.0, 9.0, 12.0)
_CAREFUL = 1 + 1e-9
_FAR = 250.0  # coefficients below e^-250 are rounded up to it: subnormal numbers are slow


@dataclass(frozen=True, slots=True, eq=False)
class Composed:
    """The tilted law of a sum of losses on a window of the grid, and bounds on all of its errors.

    `weight[j]` belongs to the loss start + j * step, where the law has the mass weight * e^(log_scale - theta loss).
    The weights are off by a vector of Euclidean norm `noise` at most, and the tilted mass outside the window, which
    the transform folds into it, is at most `alias`.
    """

    start: float
    step: float
    weight: Floats
    theta: float
    log_scale: float
    noise: float
    alias: float
    infinite: float
    shift: float
    scale_error: float

    def log_delta(self, epsilon: float, *, upper: bool) -> float:
        """Return a logarithm certainly at least (or at most) that of delta(epsilon).

        Accuracy. The sum over losses l = epsilon + u, u > 0, of e^(-theta u) (1 - e^-u) times the tilted mass, times
            e^(log_scale - theta epsilon).
            Proof: noise changes the sum by at most its norm times that of the coefficients (Cauchy and Schwarz), and
            mass outside the window by at most its amount times the largest coefficient; both are added to an upper
            bound and subtracted from a lower one. Losses are known to within `shift`: the level moves by it.
        """
        level = epsilon - self.shift if upper else epsilon + self.shift
        level += (-1 if upper else 1) * 8 * UNIT * (abs(epsilon) + abs(self.start) + len(self.weight) * self.step)
        first = max(math.floor(min(max((level - self.start) / self.step, 0.0), len(self.weight))) - 1, 0)
        over = self.start + np.arange(first, len(self.weight)) * self.step - level
        weight = self.weight[first:][over > 0]
        over = over[over > 0]
        coefficient = np.exp(-np.minimum(self.theta * over, _FAR)) * -np.expm1(-over)
        value = float(np.sum(weight * coefficient))
        rounding = float(np.sum(np.abs(weight) * coefficient * (1 + self.theta * over)))
        wrong = (4 * ELEMENTARY + 2 * UNIT * len(weight)) * rounding
        wrong += self.noise * math.sqrt(float(np.sum(coefficient * coefficient))) * _CAREFUL
        wrong += math.exp(-_FAR) * len(weight)
        wrong += self.alias * _largest_coefficient(self.theta) * _CAREFUL
        value = value + wrong * _CAREFUL if upper else value - wrong * _CAREFUL
        scale = self.log_scale - self.theta * level
        error = self.scale_error + 8 * UNIT * (abs(self.log_scale) + abs(self.theta * level)) + 4 * ELEMENTARY
        finite = math.log(value) + scale if value > 0 else -math.inf
        log_infinite = math.log(self.infinite) if self.infinite > 0 else -math.inf
        total = float(np.logaddexp(finite, log_infinite))
        error += 16 * UNIT * (abs(total) if math.isfinite(total) else 0.0)
        return min(total + error, 0.0) if upper else total - error


@dataclass(frozen=True, slots=True, eq=False)
class SplitComposed(Composed):
    """The composition of laws of atoms that were split between neighboring grid losses, as a bound from below.

    `local` is the same composition with all masses rounded up, and `spread` is s with s^2 = n h^2/4 for n releases.
    """

    local: Composed
    spread: float

    def log_delta(self, epsilon: float, *, upper: bool) -> float:
        """Return a logarithm certainly at most that of delta(epsilon).

        Accuracy. What splitting added to delta is of the order of s^2 times the density of the losses near epsilon.
            Proof: let S be the sum of the losses, X what the splits add to it: given the losses, a sum of n independent
            terms in intervals of length h, each with mean 1 of e^-X. By Jensen and Hoeffding's lemma the mean of X is
            between 0 and s^2/2, its variance is at most s^2, and P(-X >= z) <= e^(-z^2/2s^2), P(X >= z) <= e^(-(z -
            s^2/2)^2/2s^2). Let d = |S - epsilon|. For S > epsilon splitting adds the mean of (e^(-d-X) - 1)^+, else
            that of (1 - e^(d-X))^+, at most that of (X - d)^+. Integrating the tails, both are at most g(d) = s
            (sqrt(2 pi)/2 + 1.1 s) e^(s^2/2 + d/2 - d^2/2s^2). With w^2 = 5 s^2/4 the mean of K = A
            e^(-(S + X - epsilon)^2/2w^2) given S is at least A e^(-((d + s^2/2)^2 + s^2)/2w^2), by Jensen, and that is
            at least g(d) for every d >= 0 if A = s (sqrt(2 pi)/2 + 1.1 s) e^(0.4 + 2.7 s^2). So the mean of K under
            the split law, which is known, bounds what splitting added.
        """
        if upper:
            raise ValueError("this is a bound from below")
        found = Composed.log_delta(self, epsilon, upper=False)
        if found == -math.inf or self.spread == 0.0:
            return found
        added = self._log_added(epsilon)
        if not added < found:
            return -math.inf
        less = math.log1p(-math.exp(added - found))
        return found + less - 8 * UNIT * (abs(found) + abs(less)) - 4 * ELEMENTARY * math.exp(added - found - less)

    def _log_added(self, epsilon: float) -> float:
        """Bound ln of the mean of K; places are known to within `doubt`, by which every distance is shortened."""
        law, spread = self.local, self.spread
        doubt = self.shift + law.shift + 16 * UNIT * (abs(epsilon) + abs(law.start) + len(law.weight) * law.step)
        square = 1.25 * spread * spread
        if law.theta * law.theta * square > 100.0 or law.theta * doubt > 1.0:
            return math.inf
        reach = 38.0 * spread + law.theta * square + doubt  # beyond, K is below e^-577
        first, last = (math.floor((epsilon + end - law.start) / law.step) for end in (-reach, reach))
        first, last = max(first, 0), min(last + 2, len(law.weight))
        over = law.start + np.arange(first, max(last, first)) * law.step - epsilon
        near = np.maximum(np.abs(over) - doubt, 0.0)
        coefficient = np.exp(-law.theta * over - near * near / (2 * square))
        weight = law.weight[first : max(last, first)]
        value = float(np.sum(np.abs(weight) * coefficient)) * (1 + 8 * UNIT * len(weight))
        value *= 1 + 4 * ELEMENTARY * (2 + law.theta * (reach + law.step) + 800.0)
        largest = math.exp(law.theta * law.theta * square / 2 + law.theta * doubt) * (1 + 1e-6)
        value += law.noise * math.sqrt(float(np.sum(coefficient * coefficient))) * _CAREFUL
        value += law.alias * largest * _CAREFUL
        value += math.exp(-500.0)
        scale = law.log_scale - law.theta * (epsilon - doubt)
        constant = spread * (math.sqrt(2 * math.pi) / 2 + 1.1 * spread) * math.exp(0.4 + 2.7 * spread * spread)
        error = law.scale_error + 16 * UNIT * (abs(law.log_scale) + abs(scale)) + 1e-9
        return math.log(value * constant) + scale + error


def _largest_coefficient(theta: float) -> float:
    """Bound e^(-theta u) (1 - e^-u) over u > 0: it is largest at u = ln(1 + 1/theta)."""
    if theta <= 0:
        return 1.0
    return math.exp(-theta * math.log1p(1 / theta)) / (1 + theta) * _CAREFUL


def compose(laws: Sequence[tuple[TiltedLaw, int]], *, upper: bool) -> Composed:
    """Convolve laws that share step and tilt, each with its multiplicity."""
    step, theta = laws[0][0].grid.step, laws[0][0].theta
    means = [_mean(law) for law, _ in laws]
    low, high, alias = _window(laws, means)
    size = _size(high - low + 1)
    product = SpectrumProduct(size)
    middle = 0
    for (law, times), mean in zip(laws, means, strict=True):
        product.multiply(_folded(law, round(mean), size, upper=upper), times)
        middle += times * round(mean)
    values, noise = product.inverse()
    if not math.isfinite(noise):
        raise TooLarge("the transform says nothing")
    top = sum(times * law.last for law, times in laws)
    index = np.arange(low - middle, min(high, top) - middle + 1)
    start = sum((times * Fraction(law.grid.anchor) for law, times in laws), Fraction(0)) + Fraction(step) * low
    scales = [times * law.log_scale for law, times in laws]
    return Composed(
        start=float(start),
        step=step,
        weight=values[index % size],
        theta=theta,
        log_scale=math.fsum(scales),
        noise=noise,
        alias=alias,
        infinite=_infinite(laws, upper=upper),
        shift=math.fsum(times * law.shift for law, times in laws) * (1 + 1e-9) + 4 * UNIT * abs(float(start)),
        scale_error=4 * UNIT * math.fsum(abs(scale) for scale in scales),
    )


def _infinite(laws: Sequence[tuple[TiltedLaw, int]], *, upper: bool) -> float:
    """Return 1 - prod (1 - infinite)^times, rounded to one side."""
    if any(law.infinite >= 1.0 for law, _ in laws):
        return 1.0
    exponent = math.fsum(times * math.log1p(-law.infinite) for law, times in laws)
    if not upper:
        return -math.expm1(exponent) * (1 - 32 * UNIT)
    # measures of mass M >= 1: prod M - prod (M - d) is at most prod M times what it would be for laws
    excess = math.fsum(times * law.log_excess for law, times in laws)
    return min(-math.expm1(exponent) * math.exp(min(excess, 700.0)) * (1 + 64 * UNIT), 1.0) if excess < 700.0 else 1.0


def _mean(law: TiltedLaw) -> float:
    """Return the mean index under the tilted weights."""
    total = float(np.sum(law.weight))
    return law.first + (float(np.sum(law.weight * np.arange(len(law.weight)))) / total if total > 0 else 0.0)


def _window(laws: Sequence[tuple[TiltedLaw, int]], means: Sequence[float]) -> tuple[int, int, float]:
    """Return the first and last index of a window about the mean, and a bound on the tilted mass outside.

    Accuracy. For every t > 0 the tilted mass at or above m + w is at most prod M(t)^times e^(-t w), with M the sum of
        weights times e^(t (index - mean)) and m the sum of the means; the least over several t is used, and likewise
        below. Any numbers may serve as means.
    """
    placed = [(law, times, mean) for (law, times), mean in zip(laws, means, strict=True)]
    spread = max(math.sqrt(math.fsum(times * _variance(law, mean) for law, times, mean in placed)), 0.5)
    orders = np.array(_ORDERS) / spread
    logs = _log_moments(placed, np.concatenate([orders, -orders]))
    up, down = logs[: len(orders)], logs[len(orders) :]
    mean = math.fsum(times * mean for _, times, mean in placed)
    top = sum(times * law.last for law, times, _ in placed)
    bottom = sum(times * law.first for law, times, _ in placed)
    half = LARGEST_TRANSFORM // 2 - 2
    above = min(float(np.min((up - _LOG_ALIAS) / orders)), half)
    below = min(float(np.min((down - _LOG_ALIAS) / orders)), half)
    high, low = min(math.ceil(mean + above), top), max(math.floor(mean - below), bottom)
    alias = 0.0
    doubt = 1e-9 + 8 * UNIT * math.fsum(abs(times * mean) for _, times, mean in placed)
    if high < top:
        alias += _exp(float(np.min(up - orders * (high + 1 - mean - doubt))))
    if low > bottom:
        alias += _exp(float(np.min(down - orders * (mean - low + 1 - doubt))))
    return low, high, alias * (1 + 1e-6)


def _exp(log: float) -> float:
    """Return e^log; infinite where that is of no use any more."""
    return math.exp(log) if log < 300.0 else math.inf


def _size(needed: int) -> int:
    """Return an even product of small primes that is at least what is needed."""
    from scipy.fft import next_fast_len

    return 2 * int(next_fast_len(max((needed + 1) // 2, 4), real=True))


def _variance(law: TiltedLaw, mean: float) -> float:
    """Return the second moment of the index about a number."""
    off = np.arange(len(law.weight)) + (law.first - mean)
    return float(np.sum(law.weight * off * off)) / max(float(np.sum(law.weight)), 1e-300)


def _log_moments(placed: Sequence[tuple[TiltedLaw, int, float]], orders: Floats) -> Floats:
    """Return the sum of times * ln of the moment at several orders, rounded up."""
    total = np.zeros(len(orders))
    for law, times, mean in placed:
        seen = np.flatnonzero(law.weight > 0)
        off = seen + (law.first - mean)
        logs = np.log(law.weight[seen])
        for part in np.array_split(np.arange(len(orders)), 1 + len(orders) * len(seen) // _CHUNK):
            exponent = logs + orders[part, None] * off
            top = np.max(exponent, axis=1)
            value = top + np.log(np.sum(np.exp(np.maximum(exponent - top[:, None], -200.0)), axis=1))
            total[part] += times * (value + 1e-12 * (1 + np.max(np.abs(exponent), axis=1)))
    return total


def _folded(law: TiltedLaw, center: int, size: int, *, upper: bool) -> Floats:
    """Wrap a law around a circle, its center at 0."""
    place = (np.arange(len(law.weight)) + (law.first - center)) % size
    slack = 4 * UNIT * ((len(law.weight) - 1) // size)
    folded: Floats = np.bincount(place, weights=law.weight, minlength=size).astype(np.float64)
    return folded * (1 + slack if upper else 1 - slack)
