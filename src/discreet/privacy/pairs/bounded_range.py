"""The worst loss of a mechanism with bounded range, such as the exponential mechanism: an envelope in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.laws import Enclosure, Pair, SafeEnd
from discreet.laws.number import Number, round_down, round_up
from discreet.laws.pair import unit_floats
from discreet.privacy.numbers import bounds, nonnegative, number, plain, probability
from discreet.privacy.pairs.worst_pairs import between, enclosed, moment
from discreet.randomness.rigor import Ball

_ENVELOPE = "envelope of the bounded-range family, in closed form"


@dataclass(frozen=True, slots=True)
class BoundedRangePair(Pair):
    """The pair that dominates every release whose losses on two neighbors all lie within one interval of length range.

    The exponential mechanism with epsilon has range epsilon: the losses of any two outcomes differ by at most that.

    Privacy. With r the range, such a release has delta(e) <= (e^(r/2) - e^(e/2))^2/(e^r - 1) for |e| <= r, at most 0
        above r, at most 1 - e^e below -r. That curve is the delta of a pair whose loss has the density
        e^(l/2)/(4 sinh(r/2)) on [-r, r]; so composing this pair bounds every adaptive composition of such releases.
        Proof: let the losses lie in [t - r, t]; as the ratios average to 1 under Q, 0 <= t <= r. Replacing each ratio
        by a mean-preserving spread to the two ends only raises delta (convexity), so the worst law has the losses t,
        with P-chance p = (e^r - e^t)/(e^r - 1), and t - r. Its delta at e in [t - r, t] is p (1 - e^(e-t)) = (e^r - e^t
        - e^(r+e-t) + e^e)/(e^r - 1), largest at t = (r + e)/2, which gives the formula. In y = e^e it is (e^(r/2) -
        sqrt(y))^2/(e^r - 1), convex, with slope -1 at y = e^-r and 0 at y = e^r: the second derivative is the Q-density
        of a law without atoms, and times y^2 its P-density in the loss. A pair whose curve is nowhere lower dominates,
        and domination is kept by adaptive composition.
    Reference. Dong, Durfee, Rogers 2020; Zhu, Dong, Wang 2022 for composing dominating pairs.

    >>> BoundedRangePair(1).delta(0.5).upper, BoundedRangePair(1).max_loss().upper
    (0.0774046863156..., 1.0)
    """

    range: Number

    def __post_init__(self) -> None:
        object.__setattr__(self, "range", nonnegative(self.range, name="epsilon"))

    def __hash__(self) -> int:
        return hash(self.range.as_integer_ratio())

    def delta(self, epsilon: Number) -> Enclosure:
        """Enclose the envelope at a level."""
        width = Fraction(self.range)
        if isinstance(epsilon, float) and epsilon == math.inf:
            return between(Fraction(0))
        level = Fraction(plain(epsilon, name="epsilon"))
        if level >= width:
            return between(Fraction(0))
        if level <= -width:
            return enclosed(bounds(lambda: -number(level).expm1()), method=_ENVELOPE)

        def envelope() -> Ball:
            # divided by e^r, so that a large range gives a small number and not infinity over infinity
            return number((level - width) / 2).expm1() ** 2 / -number(-width).expm1()

        return enclosed(bounds(envelope), method=_ENVELOPE)

    def epsilon(self, delta: Number) -> Enclosure:
        """Enclose range + 2 ln(1 - sqrt(delta (1 - e^-range))), at least 0."""
        width, wanted = Fraction(self.range), Fraction(probability(delta, name="delta"))
        if width == 0:
            return Enclosure.exact(0.0, method=_ENVELOPE)
        low, high = bounds(lambda: number(width) + 2 * (-(-number(wanted) * number(-width).expm1()).sqrt()).log1p())
        low, high = max(low, 0.0), min(max(high, 0.0), round_up(width))
        return Enclosure(min(low, high), min(low, high), high, _ENVELOPE)

    def max_loss(self) -> Enclosure:
        """Enclose the largest loss: the range."""
        low, high = round_down(Fraction(self.range)), round_up(Fraction(self.range))
        return Enclosure(low, low, high, _ENVELOPE)

    def tradeoff(self, alpha: Number) -> Enclosure:
        """Enclose the best miss: the largest 1 - delta(e) - e^e alpha, at e^(e/2) = e^(r/2)/(1 + (e^r - 1) alpha)."""
        width, chance = Fraction(self.range), Fraction(probability(alpha, name="alpha"))
        if width == 0 or chance in (0, 1):
            return between(1 - chance, safe=SafeEnd.LOWER)

        def missed() -> Ball:
            # with A = e^-r: 1 - e^r a/(1 + (e^r - 1) a) = (1 - a)/(1 + (e^r - 1) a) = A (1 - a)/(A + (1 - A) a)
            small = (-number(width)).exp()
            return small * number(1 - chance) / (small + (1 - small) * number(chance))

        return enclosed(bounds(missed), method=_ENVELOPE, safe=SafeEnd.LOWER)

    def moments(self) -> tuple[Enclosure, Enclosure]:
        """Enclose the mean, r coth(r/2) - 2, and the variance, 4 - (r/sinh(r/2))^2."""
        width = Fraction(self.range)
        if width == 0:
            return Enclosure.exact(0.0, method=_ENVELOPE), Enclosure.exact(0.0, method=_ENVELOPE)
        half = width / 2
        return moment(lambda: number(width) / number(half).tanh() - 2), moment(
            lambda: 4 - (number(width) / number(half).sinh()) ** 2
        )

    def draw_losses(self, count: int) -> NDArray[np.float64]:
        """Draw losses by the quantiles of their density: e^(l/2) is uniform between its values at the two ends."""
        width = float(self.range)
        ranks = unit_floats(count)
        return np.asarray(width + 2 * np.log(ranks + (1 - ranks) * math.exp(-width)))

    def reversed(self) -> BoundedRangePair:
        """Return the same pair: the family of its losses is symmetric."""
        return self
