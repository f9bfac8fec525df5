"""The Gaussian mechanism: discrete Gaussian noise on a public grid, calibrated on its exact law."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.errors import ConflictingParameters, MissingParameter
from discreet.laws import DiscreteGaussian, LocationPair
from discreet.laws.number import Number, positive_rational, round_up
from discreet.mechanisms.mechanism import one_of, positive_epsilon, stated_sensitivity
from discreet.mechanisms.noise.additive import AdditiveNoise
from discreet.privacy import ZCDP, ApproxDP, Guarantee, Norm, PrivacyLoss, Sensitivity, warn_if_senseless
from discreet.privacy.numbers import positive_price, written_down, written_up

_PRECISION = Fraction(1, 1 << 24)


class Gaussian(AdditiveNoise):
    """Add discrete Gaussian noise to each coordinate of an answer.

    Privacy. For L2 sensitivity D the output is D^2 / (2 scale^2)-zCDP. A single answer also has the exact profile of
        its own law: delta(epsilon) = P(X >= t - D) - e^epsilon P(X >= t) at t = floor(epsilon scale^2 / D + D / 2) + 1,
        which is what `epsilon=` and `delta=` are calibrated on; for an array the zCDP bound is converted instead.
        Proof: the Renyi divergence of order alpha between two centers d apart is alpha d^2 / (2 scale^2) plus the log
        of a ratio of two lattice sums of the same Gaussian, one of them shifted off the lattice; the unshifted sum is
        the larger (Poisson summation has positive terms), so the log is at most 0. Coordinates are independent, so
        squares add. The profile is the lemma of `LocationPair`. The continuous formula is too small on integers and is
        not used.
    Accuracy. `error` returns the least t with P(any of k answers is off by more than t) <= beta on the exact law.
    Cost. One or two 64-bit words and a table look-up an answer; vectorized.
    Figure. gaussian.svg
    Reference. Canonne, Kamath, Steinke 2020; tight calibration in the continuous case: Balle, Wang 2018.

    >>> m = Gaussian(epsilon=1, delta=1e-6, sensitivity=1)
    >>> round(m.scale, 3), m.loss.delta(1.0).upper <= 1e-6
    (4.231, True)
    """

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        scale: Number | None = None,
        sensitivity: Number | Sensitivity | None = None,
        grid: Number | None = None,
        length: int | None = None,
    ) -> None:
        """Noise from (epsilon, delta) or from a scale (sigma), never both.

        Args:
            epsilon: with `delta`, the approximate privacy of one release.
            delta: the probability with which epsilon may be exceeded, greater than 0.
            scale: sigma, in the unit of the answer.
            sensitivity: how far one person can move the answer, in L2; a bare number for a single answer.
            grid: a public power of two; derived from the scale if left out, 1 for an integer sensitivity.
            length: the public number of coordinates of an array of floats.
        """
        chosen = one_of(epsilon=epsilon, scale=scale)
        bare = not isinstance(sensitivity, Sensitivity)
        stated = stated_sensitivity(sensitivity, (Norm.L2, Norm.L1))
        super().__init__(sensitivity=stated, bare=bare, grid=grid, length=length)
        self._target: ApproxDP | None = None
        if chosen == "scale":
            if delta is not None:
                raise ConflictingParameters(
                    "a scale fixes the whole curve delta(epsilon); leave delta= out", parameter="delta"
                )
            exact = positive_rational(scale, name="scale")
            self._settle_grid(exact)
            self.noise = DiscreteGaussian(exact / self.grid)
            return
        self._target = ApproxDP(written_up(positive_epsilon(epsilon)), _usable_delta(delta), relation=self.relation)
        warn_if_senseless(self._target, people=None)
        self._settle_grid(self.sensitivity.exact * _first_guess(self._target))
        self.noise = DiscreteGaussian(calibrated_scale(self._target, self.steps, exact_pair=self._has_exact_pair))

    @property
    def steps(self) -> Fraction:
        """The L2 sensitivity in steps of the grid, rounding included."""
        if self.sensitivity.is_integer:
            return self.sensitivity.exact
        ratio = self.sensitivity.exact / self.grid
        if self.length in (None, 1):
            return Fraction(math.ceil(ratio))
        root = math.isqrt(self.length - 1) + 1 if self.length else 1
        return ratio + root

    @property
    def _has_exact_pair(self) -> bool:
        """Whether every shift within the sensitivity moves one coordinate only."""
        return self.length == 1 or self.steps == 1

    @property
    def guarantee(self) -> Guarantee:
        """The target it was calibrated for, or zCDP when the scale was given."""
        if self._target is not None:
            return self._target
        return self._zcdp

    @property
    def _zcdp(self) -> ZCDP:
        """D^2 / (2 scale^2), rounded up."""
        return ZCDP(written_up(self.steps**2 / (2 * self.noise.scale**2)), relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """The exact pair of a shift by the sensitivity, or the zCDP bound for an array."""
        if self._has_exact_pair:
            pair = self.noise.at(int(self.steps)).pair(self.noise)
            return PrivacyLoss.from_pairs([pair], relation=self.relation, guarantee=self._zcdp)
        return PrivacyLoss.from_guarantee(self._zcdp)


def _usable_delta(delta: Number | None) -> float:
    """Return delta rounded down; Gaussian noise has no pure form."""
    if delta is None:
        raise MissingParameter(
            "Gaussian noise needs delta= beside epsilon=, smaller than one over the number of people; for "
            "delta = 0 use Laplace",
            parameter="delta",
        )
    return written_down(positive_price(delta, name="delta"))


def _first_guess(target: ApproxDP) -> Fraction:
    """Return roughly the noise per unit of sensitivity, to place the grid; it need not be exact."""
    guess = math.sqrt(2.0 * (math.log(2.0) - math.log(target.delta))) / target.epsilon + 1.0 / math.sqrt(
        2.0 * target.epsilon
    )
    return Fraction(guess)


def calibrated_scale(target: ApproxDP, steps: Fraction, *, exact_pair: bool) -> Fraction:
    """Return the least sigma, to a relative 2^-24, that certainly meets the target."""

    def meets(sigma: Fraction) -> bool:
        if exact_pair:
            return LocationPair(DiscreteGaussian(sigma), shift=int(steps)).delta(target.epsilon).upper <= target.delta
        rho = ZCDP(written_up(steps**2 / (2 * sigma**2)))
        return rho.to_approx(delta=target.delta).epsilon <= target.epsilon

    high = steps * _first_guess(target)
    while not meets(high):
        high *= 2
    low = high / 2
    while meets(low):
        low, high = low / 2, low
    while high - low > high * _PRECISION:
        middle = (low + high) / 2
        low, high = (low, middle) if meets(middle) else (middle, high)
    sigma = round_up(high)  # a float: the exact rational would drag long numerators through every later computation
    while not meets(Fraction(sigma)):
        sigma = math.nextafter(sigma, math.inf)
    return Fraction(sigma)
