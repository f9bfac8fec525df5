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
from discreet.laws.number import Number
from discreet.mechanisms import Gaussian, GaussianLaw
from discreet.privacy import ApproxDP, Norm, Relation, Sensitivity
from discreet.privacy.numbers import positive_price, root_upward, whole
from discreet.privacy.price import largest_mu

Publish = Callable[[Floats], Floats]
"""The exact frequencies of a group in, what is published of them out."""

_MOST_PEOPLE = 10**9


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
        curve below that of N(0, 1) against N(mu, 1).
        Proof: the counts of carriers are integers, each moved by at most 1 by a replacement, all together by at most
        sqrt(d) in L2 (the frequencies by sqrt(d)/n). They get normal noise of deviation sqrt(d)/mu, rounded to
        integers, which is post-processing of the Gaussian mechanism (`Gaussian`): mu-GDP. The largest mu is taken at
        which mu-GDP implies (epsilon, delta).
    Accuracy. A frequency has the standard error `deviation`, about sqrt(d/mu^2 + 1/12)/n.
        Proof: the law of the noise has that variance; rounding adds 1/12.
    Cost. One draw of rounded Gaussian noise a frequency.
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
        scale = Fraction(root_upward(self.positions / Fraction(self.mu) ** 2))
        # the root is rounded up for the mechanism's own claim; the proof above uses sqrt(d) itself
        moved = Sensitivity(math.isqrt(self.positions - 1) + 1, norm=Norm.L2, relation=Relation.CHANGE_ONE)
        self.mechanism = Gaussian(scale=scale, sensitivity=moved, law=GaussianLaw.ROUNDED)

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise of a frequency."""
        return math.sqrt(self.mechanism.noise.variance) / self.people

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
    """Return the largest mu at which mu-GDP implies (epsilon, delta)-DP.

    >>> round(gaussian_mu(1, 1e-5), 6)
    0.268051
    """
    return float(largest_mu(positive_price(epsilon, name="epsilon"), positive_price(delta, name="delta")))
