"""The worst pairs of output laws under a guarantee: every release that keeps it is a post-processing of its pair."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws import Enclosure, Pair, SafeEnd
from discreet.laws.number import Number, round_down, round_up
from discreet.laws.pair import unit_floats
from discreet.privacy.numbers import bounds, downward, nonnegative, normal_upper_tail, number, plain, probability
from discreet.randomness.rigor import Ball

_CLOSED_FORM = "closed form, evaluated in ball arithmetic and rounded outwards"
_LARGEST_USEFUL = 746  # e^746 times the least positive float is more than 1
_BISECTIONS = 1200


def enclosed(ends: tuple[float, float], *, method: str = _CLOSED_FORM, safe: SafeEnd = SafeEnd.UPPER) -> Enclosure:
    """Enclose a probability between two bounds."""
    low, high = (min(max(end, 0.0), 1.0) + 0.0 for end in ends)  # minus zero becomes zero
    return Enclosure(low, low + (high - low) / 2, high, method, safe)


def between(value: Fraction, *, safe: SafeEnd = SafeEnd.UPPER) -> Enclosure:
    """Enclose a probability that is known as a rational number."""
    return enclosed((round_down(value), round_up(value)), method="exact rational", safe=safe)


def moment(formula: Callable[[], Ball]) -> Enclosure:
    """Enclose a number at least 0 that a formula gives."""
    low, high = (max(end, 0.0) for end in bounds(formula))
    return Enclosure(low, low if math.isinf(high) else low + (high - low) / 2, high, _CLOSED_FORM)


@dataclass(frozen=True, slots=True)
class PureApproxPair(Pair):
    """Randomized response that tells the truth outright with probability delta: the worst (epsilon, delta)-DP pair.

    On four outputs, P = (delta, (1-delta) e^epsilon/(1+e^epsilon), (1-delta)/(1+e^epsilon), 0) and Q is P read
    backwards.

    Privacy. A pair of laws is (epsilon, delta)-indistinguishable in both directions exactly when it is a
        post-processing of this one; so delta(x), the trade-off curve and every divergence of an (epsilon, delta)-DP
        mechanism are at most as bad as this pair's.
        Proof: both directions of (epsilon, delta) say that the trade-off curve is at least f(a) = max(0, 1 - delta -
        e^epsilon a, e^-epsilon (1 - delta - a)). The likelihood ratios of this pair are infinity, e^epsilon,
        e^-epsilon, 0 in that order, so by Neyman and Pearson its own curve is the polygon through (0, 1-delta), (c, c)
        with c = (1-delta)/(1+e^epsilon), and (1-delta, 0): that is f. By Blackwell's theorem a pair with a higher curve
        is a post-processing.
    Reference. Kairouz, Oh, Viswanath 2015; Dong, Roth, Su 2022.

    >>> (
    ...     PureApproxPair(1.0).delta(1.0).upper,
    ...     PureApproxPair(1.0, 1e-6).epsilon(1e-6).upper,
    ... )
    (0.0, 1.0)
    """

    claimed_epsilon: Number
    claimed_delta: Number = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "claimed_epsilon", nonnegative(self.claimed_epsilon, name="epsilon"))
        object.__setattr__(self, "claimed_delta", probability(self.claimed_delta, name="delta"))

    def __hash__(self) -> int:
        return hash((self.claimed_epsilon.as_integer_ratio(), self.claimed_delta.as_integer_ratio()))

    @property
    def _parameters(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.claimed_epsilon), Fraction(self.claimed_delta)

    def delta(self, epsilon: Number) -> Enclosure:
        """Enclose delta + (1-delta) max(0, (e^claimed - e^epsilon)/(1 + e^claimed), 1 - e^epsilon)."""
        claimed, extra = self._parameters
        if _is_infinite(epsilon):
            return between(extra)
        level = Fraction(plain(epsilon, name="epsilon"))
        if level >= claimed:
            return between(extra)
        if level >= -claimed:
            gap = claimed - level
            return enclosed(
                bounds(lambda: number(extra) - number(1 - extra) * (-number(gap)).expm1() / _total(claimed))
            )
        return enclosed(bounds(lambda: number(extra) - number(1 - extra) * number(level).expm1()))

    def epsilon(self, delta: Number) -> Enclosure:
        """Enclose claimed + ln(1 - (1 + e^-claimed) t), at least 0, with t = (delta - extra)/(1 - extra)."""
        claimed, extra = self._parameters
        wanted = Fraction(probability(delta, name="delta"))
        if wanted < extra:
            return Enclosure.exact(math.inf, method=_CLOSED_FORM)
        if wanted == extra:
            ends = (0.0, 0.0) if extra == 1 else (round_down(claimed), round_up(claimed))
        else:
            share = (wanted - extra) / (1 - extra)
            # the answer is 0 from randomized response's total variation distance on: (1 - e^-claimed)/(1 + e^-claimed)
            nothing_left = downward(lambda: number(share) * _total(claimed) + (-number(claimed)).expm1()) >= 0.0
            ends = (0.0, 0.0) if nothing_left else bounds(lambda: number(claimed) + _log_left(claimed, share))
        low, high = max(ends[0], 0.0), min(max(ends[1], 0.0), round_up(claimed))
        return Enclosure(low, low + (high - low) / 2, high, _CLOSED_FORM)

    def max_loss(self) -> Enclosure:
        """Enclose the largest loss: the claimed epsilon, or infinity when there is a delta."""
        claimed, extra = self._parameters
        if extra > 0:
            return Enclosure.exact(math.inf, method=_CLOSED_FORM)
        low, high = round_down(claimed), round_up(claimed)
        return Enclosure(low, low, high, _CLOSED_FORM)

    def tradeoff(self, alpha: Number) -> Enclosure:
        """Enclose max(0, 1 - delta - e^epsilon alpha, e^-epsilon (1 - delta - alpha))."""
        claimed, extra = self._parameters
        chance = Fraction(probability(alpha, name="alpha"))
        if chance == 0:
            return between(1 - extra, safe=SafeEnd.LOWER)
        flat = bounds(lambda: (-number(claimed)).exp() * number(1 - extra - chance))
        # from this epsilon on the steep line is negative for every positive float alpha, and e^epsilon may overflow
        steep = flat
        if claimed < _LARGEST_USEFUL:
            steep = bounds(lambda: number(1 - extra) - number(claimed).exp() * number(chance))
        return enclosed((max(flat[0], steep[0]), max(flat[1], steep[1])), safe=SafeEnd.LOWER)

    def tail(self, epsilon: Number) -> Enclosure:
        """Enclose P(loss > epsilon): below the claimed epsilon the chance of a true answer, from there on delta."""
        claimed, extra = self._parameters
        if _is_infinite(epsilon):
            return Enclosure.exact(0.0, method=_CLOSED_FORM)
        level = Fraction(plain(epsilon, name="epsilon"))
        if level >= claimed:
            return between(extra)
        if level < -claimed:
            return Enclosure.exact(1.0, method=_CLOSED_FORM)
        return enclosed(bounds(lambda: number(extra) + number(1 - extra) / _total(claimed)))

    def moments(self) -> tuple[Enclosure, Enclosure]:
        """Enclose the mean, e tanh(e/2), and the variance, (e/cosh(e/2))^2; both are infinite when there is a delta."""
        claimed, extra = self._parameters
        if extra > 0:
            return Enclosure.exact(math.inf, method=_CLOSED_FORM), Enclosure.exact(math.inf, method=_CLOSED_FORM)
        half = claimed / 2
        return moment(lambda: number(claimed) * number(half).tanh()), moment(
            lambda: (number(claimed) / number(half).cosh()) ** 2
        )

    def draw_losses(self, count: int) -> NDArray[np.float64]:
        """Draw the claimed epsilon, its opposite, or infinity."""
        claimed, extra = (float(one) for one in self._parameters)
        signs = np.where(unit_floats(count) * (1 + math.exp(-claimed)) < 1, claimed, -claimed)
        return np.where(unit_floats(count) < extra, math.inf, signs)

    def reversed(self) -> PureApproxPair:
        """Return the same pair: Q is P read backwards."""
        return self


@dataclass(frozen=True, slots=True)
class NormalPair(Pair):
    """A normal variable with mean mu against one with mean 0, both of variance 1: the worst mu-Gaussian-DP pair.

    Privacy. delta(epsilon) = F(-epsilon/mu + mu/2) - e^epsilon F(-epsilon/mu - mu/2), and the trade-off curve is
        G(a) = F(F^-1(1-a) - mu), with F the standard normal distribution function.
        Proof: the loss ln P/Q at x is mu x - mu^2/2, so the best event is {x > epsilon/mu + mu/2}, of P-chance
        F(-epsilon/mu + mu/2) and Q-chance F(-epsilon/mu - mu/2). The best test of size a is {x > F^-1(1-a)}. Reflecting
        x at mu/2 exchanges P and Q, so the other direction is the same.
    Reference. Balle, Wang 2018; Dong, Roth, Su 2022.

    >>> round(NormalPair(1.0).delta(1.0).upper, 6)
    0.126937
    """

    mu: Number

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", nonnegative(self.mu, name="mu"))

    def __hash__(self) -> int:
        return hash(self.mu.as_integer_ratio())

    def delta(self, epsilon: Number) -> Enclosure:
        """Enclose the difference of two normal tails."""
        if _is_infinite(epsilon):
            return Enclosure.exact(0.0, method=_CLOSED_FORM)
        mean, level = Fraction(self.mu), Fraction(plain(epsilon, name="epsilon"))
        if mean == 0:
            low, high = bounds(lambda: -number(min(level, Fraction(0))).expm1())
            return enclosed((low, high))
        far = normal_upper_tail
        low, high = bounds(
            lambda: far(number(level / mean - mean / 2)) - number(level).exp() * far(number(level / mean + mean / 2))
        )
        if math.isinf(high) or math.isnan(high):
            high = self.tail(level).upper
        return enclosed((low, high))

    def epsilon(self, delta: Number) -> Enclosure:
        """Enclose the least epsilon >= 0 by bisection on the enclosed delta; both ends are certified."""
        method = "bisection on the closed form of delta(epsilon), both ends certified"
        wanted = Fraction(probability(delta, name="delta"))
        if self.delta(0).upper <= wanted:
            return Enclosure.exact(0.0, method=method)
        if wanted == 0:
            return self.max_loss()
        low, high = self._bracketed(wanted)
        return Enclosure(low, low if math.isinf(high) else low + (high - low) / 2, high, method)

    def max_loss(self) -> Enclosure:
        """Return infinity, or 0 when the two laws are the same."""
        return Enclosure.exact(0.0 if self.mu == 0 else math.inf, method=_CLOSED_FORM)

    def tradeoff(self, alpha: Number) -> Enclosure:
        """Enclose the normal distribution function at (its inverse at 1 - alpha) - mu."""
        chance = Fraction(probability(alpha, name="alpha"))
        if chance in (0, 1):
            return Enclosure.exact(float(1 - chance), method=_CLOSED_FORM, safe=SafeEnd.LOWER)
        mean = Fraction(self.mu)
        # F(F^-1(1-a) - mu), with F^-1(1-a) = sqrt(2) erfcinv(2a)
        ends = bounds(lambda: (number(mean) / number(2).sqrt() - number(2 * chance).erfcinv()).erfc() / 2)
        return enclosed(ends, safe=SafeEnd.LOWER)

    def tail(self, epsilon: Number) -> Enclosure:
        """Enclose P(loss > epsilon) = F(-epsilon/mu + mu/2)."""
        if _is_infinite(epsilon):
            return Enclosure.exact(0.0, method=_CLOSED_FORM)
        mean, level = Fraction(self.mu), Fraction(plain(epsilon, name="epsilon"))
        if mean == 0:
            return Enclosure.exact(float(level < 0), method=_CLOSED_FORM)
        return enclosed(bounds(lambda: normal_upper_tail(number(level / mean - mean / 2))))

    def moments(self) -> tuple[Enclosure, Enclosure]:
        """The loss is normal with mean mu^2/2 and variance mu^2."""
        square = Fraction(self.mu) ** 2
        return moment(lambda: number(square / 2)), moment(lambda: number(square))

    def draw_losses(self, count: int) -> NDArray[np.float64]:
        """Draw normal losses, by the quantiles of uniform floats."""
        from scipy.special import ndtri

        mean = float(self.mu)
        return np.asarray(mean * mean / 2 + mean * ndtri(unit_floats(count)))

    def reversed(self) -> NormalPair:
        """Return the same pair: reflecting at mu/2 exchanges P and Q."""
        return self

    def concentration(self) -> Fraction:
        """D_alpha = alpha mu^2/2."""
        return Fraction(self.mu) ** 2 / 2

    def gaussian_square(self) -> Fraction:
        """mu^2, exactly."""
        return Fraction(self.mu) ** 2

    def _bracketed(self, wanted: Fraction) -> tuple[float, float]:
        """Return an epsilon certainly too small (or 0) and one certainly large enough (or infinity)."""
        mean = Fraction(self.mu)
        # delta(epsilon) <= F(mu/2 - epsilon/mu) <= exp(-(epsilon/mu - mu/2)^2 / 2), which this makes at most `wanted`
        ceiling = bounds(lambda: number(mean * mean / 2) + number(mean) * (-2 * number(wanted).log()).sqrt())[1]
        if math.isinf(ceiling):
            return 0.0, math.inf
        guess = self._guess(float(mean), float(_log(wanted)), ceiling)

        def enough(trial: float) -> bool:
            return self.delta(trial).upper <= wanted

        def too_small(trial: float) -> bool:
            return self.delta(trial).lower > wanted

        high = _outward(guess, +1, enough) if guess > 0 else 0.0
        low = _outward(guess, -1, too_small) if guess > 0 else 0.0
        if not 0.0 < high <= ceiling:
            high = boundary(0.0, ceiling, enough)[1]
        if not 0.0 < low <= high:
            low = boundary(0.0, high, lambda trial: not too_small(trial))[0]
        return low, high

    @staticmethod
    def _guess(mean: float, log_delta: float, ceiling: float) -> float:
        """Return an epsilon near the answer, by Newton's method on ln delta in floats; certified elsewhere."""
        level = ceiling
        for _ in range(60):
            first, second = _scaled_tail(level / mean - mean / 2), _scaled_tail(level / mean + mean / 2)
            # ln delta = -(level/mean - mean/2)^2/2 + ln(first - second): the Gaussian factor of both tails is the same
            gap = -((level / mean - mean / 2) ** 2) / 2 - log_delta
            if not first > second > 0:
                return 0.0
            step = (gap + math.log(first - second)) * (first - second) / second
            level = min(max(level + step, level / 4), ceiling)
            if abs(step) <= 1e-15 * level:
                break
        return level


def _scaled_tail(value: float) -> float:
    """Return e^(x^2/2) P(N > x), by a continued fraction where the tail itself would vanish."""
    if value < 25.0:
        return math.exp(value * value / 2) * math.erfc(value / math.sqrt(2)) / 2 if value > -37.0 else math.inf
    fraction = value
    for term in range(30, 0, -1):
        fraction = value + term / fraction
    return 1 / (fraction * math.sqrt(2 * math.pi))


def _outward(start: float, direction: int, holds: Callable[[float], bool]) -> float:
    """Return the first float of those at growing distances from the start at which a condition holds, or 0."""
    distance = 0.0
    for power in range(60):
        trial = start + direction * distance
        if trial <= 0:
            return 0.0
        if holds(trial):
            return trial
        distance = start * 2.0 ** (2 * power - 51)
    return 0.0


def _log(value: Fraction) -> float:
    """Return the logarithm of a positive rational that may be below every float."""
    return math.log(value.numerator) - math.log(value.denominator)


def _total(claimed: Fraction) -> Ball:
    """Return 1 + e^-claimed: the weights of randomized response, in units of the likelier one."""
    return 1 + (-number(claimed)).exp()


def _log_left(claimed: Fraction, share: Fraction) -> Ball:
    """Return ln(1 - (1 + e^-claimed) share); where that is not a number the answer was 0 and is not asked for."""
    return (-_total(claimed) * number(share)).log1p()


def _is_infinite(epsilon: Number) -> bool:
    """Say whether a level is plus infinity; raise ParameterError for NaN."""
    if isinstance(epsilon, float) and math.isnan(epsilon):
        raise ParameterError("epsilon must be a number, got nan", parameter="epsilon")
    return isinstance(epsilon, float) and epsilon == math.inf


def boundary(low: float, high: float, holds: Callable[[float], bool]) -> tuple[float, float]:
    """Return neighboring floats between which a monotone condition starts to hold; it holds at `high`."""
    for _ in range(_BISECTIONS):
        middle = low + (high - low) / 2
        if middle in (low, high):
            break
        if holds(middle):
            high = middle
        else:
            low = middle
    return low, high
