"""Continuous Laplace noise about two centers: the reference law of plans and papers, in closed form."""

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

_CLOSED_FORM = "closed form, evaluated in ball arithmetic and rounded outwards"


@dataclass(frozen=True, slots=True)
class LaplacePair(Pair):
    """Laplace noise about `ratio` scales to the right against the same noise about 0.

    Privacy. With r the ratio, delta(e) = 1 - e^((e - r)/2) for |e| <= r, 0 above r and 1 - e^e below -r. The loss is r
        with chance 1/2, -r with chance e^-r/2, and between them it has the density e^((l - r)/2)/4.
        Proof: in units of the scale the loss at x is |x| - |x - r|: r from x = r on (chance 1/2 under P), -r up to x =
        0 (chance e^-r/2), and 2x - r between, where P has density e^(x - r)/2; put x = (l + r)/2. The best event at
        level e is {x > (e + r)/2}, with chance 1 - e^((e - r)/2)/2 under P and e^-((e + r)/2)/2 under Q. Reflecting at
        r/2 exchanges P and Q.
    Reference. Dwork, McSherry, Nissim, Smith 2006; Dong, Roth, Su 2022 for the trade-off curve.

    >>> LaplacePair(1).delta(0.5).upper, LaplacePair(1).epsilon(0.0).upper
    (0.2211992169285951..., 1.0)
    """

    ratio: Number

    def __post_init__(self) -> None:
        object.__setattr__(self, "ratio", nonnegative(self.ratio, name="ratio"))

    def __hash__(self) -> int:
        return hash(self.ratio.as_integer_ratio())

    def delta(self, epsilon: Number) -> Enclosure:
        """Enclose 1 - e^((epsilon - ratio)/2), or its continuation outside the losses."""
        ratio = Fraction(self.ratio)
        if isinstance(epsilon, float) and epsilon == math.inf:
            return between(Fraction(0))
        level = Fraction(plain(epsilon, name="epsilon"))
        if level >= ratio:
            return between(Fraction(0))
        exponent = (level - ratio) / 2 if level >= -ratio else level
        return enclosed(bounds(lambda: -number(exponent).expm1()))

    def epsilon(self, delta: Number) -> Enclosure:
        """Enclose ratio + 2 ln(1 - delta), at least 0."""
        ratio, wanted = Fraction(self.ratio), Fraction(probability(delta, name="delta"))
        if wanted == 1:
            return Enclosure.exact(0.0, method=_CLOSED_FORM)
        low, high = bounds(lambda: number(ratio) + 2 * (-number(wanted)).log1p())
        low, high = max(low, 0.0), min(max(high, 0.0), round_up(ratio))
        return Enclosure(min(low, high), min(low, high), high, _CLOSED_FORM)

    def max_loss(self) -> Enclosure:
        """Enclose the largest loss: the ratio."""
        low, high = round_down(Fraction(self.ratio)), round_up(Fraction(self.ratio))
        return Enclosure(low, low, high, _CLOSED_FORM)

    def tradeoff(self, alpha: Number) -> Enclosure:
        """Enclose 1 - e^r a up to a = e^-r/2, e^-r/(4a) up to a = 1/2, and e^-r (1 - a) from there."""
        chance, ratio = Fraction(probability(alpha, name="alpha")), Fraction(self.ratio)
        if chance in (0, 1):
            return between(1 - chance, safe=SafeEnd.LOWER)
        share = 1 - chance if chance >= Fraction(1, 2) else 1 / (4 * chance)
        flat = bounds(lambda: (-number(ratio)).exp() * number(share))
        if chance >= Fraction(1, 2):
            return enclosed(flat, safe=SafeEnd.LOWER)
        # 1 - e^r a and e^-r/(4a) touch at a = e^-r/2, where the first is a tangent from below: past it, it is smaller
        edge = bounds(lambda: (-number(ratio)).exp() / 2)
        if chance > edge[0]:
            return enclosed(flat, safe=SafeEnd.LOWER)
        return enclosed(bounds(lambda: 1 - number(ratio).exp() * number(chance)), safe=SafeEnd.LOWER)

    def tail(self, epsilon: Number) -> Enclosure:
        """Enclose P(loss > epsilon) = 1 - e^((epsilon - ratio)/2)/2 strictly between the two extreme losses."""
        ratio = Fraction(self.ratio)
        if isinstance(epsilon, float) and epsilon == math.inf:
            return between(Fraction(0))
        level = Fraction(plain(epsilon, name="epsilon"))
        if level >= ratio or level < -ratio:
            return between(Fraction(level < -ratio))
        return enclosed(bounds(lambda: 1 - number((level - ratio) / 2).exp() / 2))

    def moments(self) -> tuple[Enclosure, Enclosure]:
        """Enclose the mean, m = r - 1 + e^-r, and the variance, r^2 - 2 r + 4 - (2 r + 4) e^-r - m^2."""
        ratio = Fraction(self.ratio)

        def mean() -> Ball:
            return number(ratio) + (-number(ratio)).expm1()

        def variance() -> Ball:
            return number(ratio**2 - 2 * ratio + 4) - number(2 * ratio + 4) * (-number(ratio)).exp() - mean() ** 2

        return moment(mean), moment(variance)

    def draw_losses(self, count: int) -> NDArray[np.float64]:
        """Draw Laplace noise by its quantiles, and return the loss of each output."""
        ratio, ranks = float(self.ratio), unit_floats(count)
        noise = np.where(ranks < 0.5, np.log(2 * ranks), -np.log(2 * (1 - ranks)))
        return np.asarray(np.abs(noise + ratio) - np.abs(noise))

    def reversed(self) -> LaplacePair:
        """Return the same pair: reflecting at the middle exchanges P and Q."""
        return self
