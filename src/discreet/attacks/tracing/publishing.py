"""Who publishes the frequencies of a group: exactly, rounded, or with noise that hides each member."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from discreet.attacks.asking import Floats
from discreet.data.table import check_whole
from discreet.errors import InputError, ParameterError
from discreet.laws.number import Number, positive_rational, round_down, round_up
from discreet.mechanisms import Gaussian
from discreet.privacy import ApproxDP, GaussianDP, Norm, Relation, Sensitivity
from discreet.privacy.numbers import whole

Publish = Callable[[Floats], Floats]
"""The exact frequencies of a group in, what is published of them out."""

SMOOTHING = 2  # of the integers, in the proof of PrivateFrequencies
_RESERVE = Fraction(1, 10**20)
_MOST_PEOPLE = 10**9
_SMALLEST = 1e-100  # of mu


def exactly(frequencies: ArrayLike) -> Floats:
    """Publish the frequencies as they are.

    >>> exactly([0.125]).tolist()
    [0.125]
    """
    try:
        return np.asarray(frequencies, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("frequencies must be a list of numbers, one a position") from None


@dataclass(frozen=True)
class Rounded:
    """Publish the frequencies rounded to `decimals` decimals.

    >>> Rounded(2)([0.1234]).tolist()
    [0.12]
    """

    decimals: int

    def __post_init__(self) -> None:
        check_whole("decimals", self.decimals, low=0, high=15)

    def __call__(self, frequencies: ArrayLike) -> Floats:
        """Return the rounded frequencies."""
        return np.asarray(np.round(exactly(frequencies), self.decimals), dtype=np.float64)

    @property
    def deviation(self) -> float:
        """The standard deviation of the error, as if it were uniform within half a step."""
        return 10.0**-self.decimals / math.sqrt(12)


class PrivateFrequencies:
    """Publish all frequencies of a group with Gaussian noise, (epsilon, delta)-differentially private together.

    Privacy. For a group of public size n, where neighbors differ in one member replaced by anybody (change-one), the
        whole vector of d frequencies is (epsilon, delta)-DP, and any test of whether somebody is a member has a ROC
        curve below that of N(0, 1) against N(mu, 1), up to 1e-20.
        Proof: the counts of carriers are integers, each moved by at most 1 by a replacement, all together by at most
        sqrt(d) in L2 (the frequencies by sqrt(d)/n). They get discrete Gaussian noise with the variance sigma^2 =
        d/mu^2 + t^2, t = 2. Compare with the law K of this recipe: add normal noise of the variance d/mu^2 to every
        count, which is mu-GDP, and round each result y to an integer k with a chance in proportion to exp(-(k -
        y)^2/(2 t^2)). By Poisson summation the sum of those weights over k is t sqrt(2 pi) (1 + e(y)) with |e| <= e0 =
        2.1 exp(-2 pi^2 t^2) < 1.1e-34, and without the factor 1 + e(y) the integral over y would be the normal density
        of variance sigma^2 at the integers, which is the discrete Gaussian up to its norming sum, itself 1 up to e0. So
        the chances of an outcome of d counts under the two laws differ by a factor within exp(+-3 e0 d): events have
        the chances of the recipe up to 1e-20 for all d up to 10^12. The recipe is a post-processing of mu-GDP. The
        largest mu is taken at which mu-GDP implies (epsilon, delta - 2e-20 (1 + e^epsilon)).
    Accuracy. A frequency has the standard error `deviation` = sigma/n.
        Proof: the variance of the discrete Gaussian is at most sigma^2 (Canonne, Kamath, Steinke 2020).
    Cost. One draw of discrete Gaussian noise a frequency.
    Reference. Dong, Roth, Su 2022, for mu-GDP and its post-processing; Balle, Wang 2018, for its delta(epsilon).

    >>> publish = PrivateFrequencies(
    ...     people=1000, positions=10_000, epsilon=1, delta=1e-5
    ... )
    >>> round(publish.mu, 4), round(publish.deviation, 3)
    (0.2681, 0.373)
    """

    def __init__(self, *, people: int, positions: int, epsilon: Number, delta: Number) -> None:
        self.people, self.positions = whole(people, name="people"), whole(positions, name="positions")
        if self.people > _MOST_PEOPLE:
            # beyond, a frequency in floating point would not say which count it stands for
            raise ParameterError(f"people must be at most {_MOST_PEOPLE:,}", parameter="people")
        if self.positions > 10**12:
            raise ParameterError("positions must be at most 10^12", parameter="positions")
        self.guarantee = ApproxDP(epsilon, delta, relation=Relation.CHANGE_ONE)
        self.mu = gaussian_mu(epsilon, delta)
        scale = round_up(Fraction(math.sqrt(self.positions / self.mu**2 + SMOOTHING**2)) * (1 + Fraction(1, 1 << 40)))
        # the root is rounded up for the mechanism's own claim; the proof above uses sqrt(d) itself
        moved = Sensitivity(math.isqrt(self.positions - 1) + 1, norm=Norm.L2, relation=Relation.CHANGE_ONE)
        self.mechanism = Gaussian(scale=scale, sensitivity=moved)

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise of a frequency."""
        return float(self.mechanism.noise.scale) / self.people

    def __call__(self, frequencies: ArrayLike) -> Floats:
        """Return the noisy frequencies; they may be below 0 or above 1."""
        exact = exactly(frequencies)
        if exact.shape != (self.positions,) or not ((exact >= 0) & (exact <= 1)).all():
            raise InputError(f"frequencies must be {self.positions:,} shares of {self.people:,} people")
        counts = np.rint(exact * self.people)
        if (np.abs(exact * self.people - counts) >= 1e-6).any():
            raise InputError(f"frequencies must be {self.positions:,} shares of {self.people:,} people")
        noisy = np.asarray(self.mechanism(counts.astype(np.int64)), dtype=np.float64)
        return noisy / self.people

    def __repr__(self) -> str:
        return f"PrivateFrequencies({self.positions:,} of {self.people:,} people; {self.guarantee!r})"


def gaussian_mu(epsilon: Number, delta: Number) -> float:
    """Return a mu, to twelve digits the largest, at which mu-GDP implies (epsilon, delta)-DP with 1e-20 to spare.

    >>> round(gaussian_mu(1, 1e-5), 6)
    0.268051
    """
    level = positive_rational(epsilon, name="epsilon")
    wanted = positive_rational(delta, name="delta")
    spared = wanted - 2 * _RESERVE * (1 + Fraction(math.exp(min(float(level), 30.0))))
    if level > 30 or spared <= 0:
        raise ParameterError("epsilon must be at most 30 and delta well above 1e-20 e^epsilon", parameter="delta")
    target = ApproxDP(round_down(level), round_down(spared))

    def kept(mu: float) -> bool:
        return bool(GaussianDP(mu).loss.delta(target.epsilon).upper <= target.delta)

    low = 1.0
    while not kept(low):
        low /= 2
        if low < _SMALLEST:
            raise ParameterError("epsilon and delta are too small for any noise", parameter="epsilon")
    high = 2 * low
    while kept(high):
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if kept(middle) else (low, middle)
    return low
