"""The Gaussian mechanism: integer Gaussian noise on a public grid, of the law that needs the least variance."""

from __future__ import annotations

import math
from enum import Enum
from fractions import Fraction
from functools import lru_cache

from discreet.errors import ConflictingParameters, MissingParameter, ParameterError
from discreet.laws import DiscreteGaussian, LocationPair, RoundedGaussian
from discreet.laws.number import Number, positive_rational, round_up
from discreet.mechanisms.mechanism import one_of, positive_epsilon, stated_sensitivity
from discreet.mechanisms.noise.additive import AdditiveNoise, floor_log2, two_to
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    Guarantee,
    Norm,
    PrivacyLoss,
    Relation,
    Sensitivity,
    warn_if_senseless,
)
from discreet.privacy.numbers import positive_price, rational_root, root_upward, written, written_down, written_up
from discreet.privacy.pairs import NormalPair
from discreet.privacy.price import largest_mu

GaussianNoise = DiscreteGaussian | RoundedGaussian
_PRECISION = Fraction(1, 1 << 30)
_FINE = 1 << 16  # from this scale on, in steps, the two laws differ by less than 1e-10 in variance and in price
_COARSE = 40  # up to this scale the exact pair of rounded noise is visibly better than the normal one
_ROUNDING_SHARE_BITS = 22  # rounding to the grid adds at most a share 2^-22 to the sensitivity


class GaussianLaw(Enum):
    """Which integer noise looks like a normal variable.

    `ROUNDED` is a normal variable rounded to the nearest integer: on integers it is post-processing of the continuous
    Gaussian mechanism, so it has that mechanism's price in any number of coordinates. `DISCRETE` is the normal density
    at the integers, normalized there: it has a little less variance at the same scale, and its exact price is known
    where one person moves one coordinate only.
    """

    ROUNDED = "rounded"
    DISCRETE = "discrete"


class Gaussian(AdditiveNoise):
    """Add integer Gaussian noise to each coordinate of an answer.

    Two laws are on offer (`GaussianLaw`). From `epsilon` and `delta` the one with the smaller variance is taken; from
    `mu` the rounded one; from a `scale` the discrete one where one person moves one integer only, else the rounded one.
    `law=` takes one of them in any case. The rule reads nothing but the arguments.

    Privacy. Let D be the L2 sensitivity. Rounded noise: the output is (D / scale)-Gaussian-DP, in any number of
        coordinates, after any adaptive choice, and on a secret sample it has the sampled Gaussian's curve. Discrete
        noise: the output is D^2 / (2 scale^2)-zCDP, and where one person moves one coordinate only it has the
        exact profile delta(epsilon) = P(X >= t - D) - e^epsilon P(X >= t) with t the least integer whose loss exceeds
        epsilon.
        Proof: the answer is a vector v of integers (in steps), and v + round(Z) = round(v + Z) for a normal vector Z,
        so rounded noise is post-processing of v + Z, for which `NormalPair` is the worst pair. For discrete noise the
        Renyi divergence of order alpha between two centers d apart is alpha d^2 / (2 scale^2) plus the log of a ratio
        of two lattice sums of the same Gaussian, one of them shifted off the lattice; the unshifted sum is the larger
        (Poisson summation has positive terms), so the log is at most 0. Coordinates are independent, so squares add.
        The profile is the lemma of `LocationPair`.
    Accuracy. `error` returns the least t with P(any of k answers is off by more than t) <= beta on the exact law.
    Cost. One or two 64-bit words and a table look-up an answer; vectorized.
    Figure. gaussian.svg
    Reference. Canonne, Kamath, Steinke 2020 for discrete noise; Balle, Wang 2018 and Dong, Roth, Su 2022 for normal
        noise.

    >>> m = Gaussian(epsilon=1, delta=1e-6, sensitivity=1)
    >>> round(m.scale, 3), m.loss.delta(1.0).upper <= 1e-6, m.gaussian_law.name
    (4.231, True, 'DISCRETE')
    >>> many = Sensitivity(1.0, norm=Norm.L2, relation=Relation.ADD_REMOVE)
    >>> step = Gaussian(scale=1, sensitivity=many, length=1000)
    >>> step.guarantee, step.gaussian_law.name
    (GaussianDP(mu=1.00000002..., relation=Relation.ADD_REMOVE), 'ROUNDED')
    """

    noise: GaussianNoise

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        mu: Number | None = None,
        scale: Number | None = None,
        sensitivity: Number | Sensitivity | None = None,
        grid: Number | None = None,
        length: int | None = None,
        law: GaussianLaw | None = None,
    ) -> None:
        """Noise from (epsilon, delta), from mu or from a scale (sigma): one of them.

        Args:
            epsilon: with `delta`, the approximate privacy of one release.
            delta: the probability with which epsilon may be exceeded, greater than 0.
            mu: the Gaussian privacy of one release.
            scale: sigma, in the unit of the answer.
            sensitivity: how far one person can move the answer, in L2; a bare number for a single answer.
            grid: a public power of two; derived from the scale if left out, 1 for an integer sensitivity.
            length: the public number of coordinates of an array of floats.
            law: the law of the noise, where it is not to be chosen by its variance.
        """
        chosen = one_of(epsilon=epsilon, mu=mu, scale=scale)
        bare = not isinstance(sensitivity, Sensitivity)
        stated = stated_sensitivity(sensitivity, (Norm.L2, Norm.L1))
        super().__init__(sensitivity=stated, bare=bare, grid=grid, length=length)
        self._target: ApproxDP | GaussianDP | None = None
        if law is not None and not isinstance(law, GaussianLaw):
            raise ParameterError("law must be GaussianLaw.ROUNDED or GaussianLaw.DISCRETE", parameter="law")
        if chosen != "epsilon" and delta is not None:
            raise ConflictingParameters(
                f"a {chosen} fixes the whole curve delta(epsilon); leave delta= out", parameter="delta"
            )
        match chosen:
            case "scale":
                self._from_scale(positive_rational(scale, name="scale"), law)
            case "mu":
                self._from_mu(positive_price(mu, name="mu"), law)
            case _:
                self._from_target(ApproxDP(written_up(positive_epsilon(epsilon)), _usable_delta(delta)), law)

    def _from_scale(self, scale: Fraction, law: GaussianLaw | None) -> None:
        """Take the noise of a stated scale."""
        self._settle_grid(scale)
        steps = scale / self.grid
        coarse = self._integer or steps < _FINE
        if law is None:
            law = GaussianLaw.DISCRETE if self._one_coordinate and coarse else GaussianLaw.ROUNDED
        self.noise = DiscreteGaussian(steps) if law is GaussianLaw.DISCRETE else RoundedGaussian(steps)

    def _from_mu(self, mu: Fraction, law: GaussianLaw | None) -> None:
        """Take the noise that is exactly mu-Gaussian-DP."""
        if law is GaussianLaw.DISCRETE:
            raise ConflictingParameters(
                "discrete Gaussian noise has no exact price in mu; leave law= out, or give epsilon= and delta=",
                parameter="law",
            )
        self._settle_grid(self.sensitivity.exact / mu)
        self._target = GaussianDP(written_up(mu), relation=self.relation)
        self.noise = RoundedGaussian(Fraction(round_up(self.steps / mu)))

    def _from_target(self, target: ApproxDP, law: GaussianLaw | None) -> None:
        """Take the least noise that meets an approximate guarantee."""
        self._target = target.under(self.relation)
        warn_if_senseless(self._target, people=None)
        self._settle_grid(self.sensitivity.exact / largest_mu(written(target.epsilon), written(target.delta)))
        self.noise = calibrated_noise(
            target, self.steps, exact_pair=self._one_coordinate, integer=self._integer, law=law
        )

    def _settle_grid(self, approximate_scale: Fraction) -> None:
        """Fix the grid from public numbers: fine beside the noise, and beside what one person moves a coordinate."""
        super()._settle_grid(approximate_scale)
        if self._integer or self._grid_given is not None:
            return
        moved = self.sensitivity.exact / _root(self.length or 1)
        self._place_grid(min(self.grid, two_to(floor_log2(moved) - _ROUNDING_SHARE_BITS)))

    @property
    def gaussian_law(self) -> GaussianLaw:
        """Which law the noise has."""
        return GaussianLaw.DISCRETE if isinstance(self.noise, DiscreteGaussian) else GaussianLaw.ROUNDED

    @property
    def steps(self) -> Fraction:
        """The L2 sensitivity in steps of the grid, rounding included."""
        if self.sensitivity.is_integer:
            return self.sensitivity.exact
        ratio = self.sensitivity.exact / self.grid
        if self.length in (None, 1):
            return Fraction(math.ceil(ratio))
        return ratio + _root(self.length or 1)

    @property
    def _one_coordinate(self) -> bool:
        """Whether every shift within the sensitivity moves one coordinate only."""
        return self.length == 1 or self.steps == 1

    @property
    def guarantee(self) -> Guarantee:
        """The target it was calibrated for, or what the law proves when the scale was given."""
        if self._target is not None:
            return self._target
        return proven(self.noise, self.steps**2, self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """The exact pair of a shift by the sensitivity, or what the law proves for an array."""
        shift = int(self.steps) if self._one_coordinate else None
        return gaussian_noise_loss(self.noise, self.steps**2, shift=shift, relation=self.relation)

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, law={self.gaussian_law.name})"


def proven(noise: GaussianNoise, squared: Fraction, relation: Relation) -> GaussianDP | ZCDP:
    """Return the guarantee of Gaussian noise on integers that neighbors move by at most the root of `squared` in L2."""
    if isinstance(noise, RoundedGaussian):
        return GaussianDP(written_up(_root_above(squared / noise.scale**2)), relation=relation)
    return ZCDP(written_up(squared / (2 * noise.scale**2)), relation=relation)


def gaussian_noise_loss(
    noise: GaussianNoise,
    squared: Fraction,
    *,
    shift: int | None,
    relation: Relation,
    guarantee: ZCDP | GaussianDP | None = None,
) -> PrivacyLoss:
    """Return the price of Gaussian noise on integers; `shift` is the distance where one coordinate alone can move.

    `guarantee` is one that the noise was made for, where it says the same without a rounding.

    Privacy. The price holds for every pair of neighbors at an L2 distance of at most the root of `squared`.
        Proof: `Gaussian`. Of the shifts of one coordinate the largest is the worst (`LocationPair`).
    """
    guarantee = guarantee or proven(noise, squared, relation)
    if shift is not None and (isinstance(noise, DiscreteGaussian) or noise.scale < _COARSE):
        return PrivacyLoss.from_pairs([LocationPair(noise.at(0), shift=shift)], relation=relation, guarantee=guarantee)
    if isinstance(noise, DiscreteGaussian):
        return PrivacyLoss.from_guarantee(guarantee)
    pair = NormalPair(_root_above(squared / noise.scale**2))
    return PrivacyLoss.from_pairs([pair], relation=relation, guarantee=guarantee, attained=False)


def _root_above(value: Fraction) -> Fraction:
    """Return the square root where it is rational, else a float just above it."""
    exact = rational_root(value)
    return Fraction(root_upward(value)) if exact is None else exact


def _root(length: int) -> int:
    """Return the square root of a number of coordinates, rounded up."""
    return math.isqrt(length - 1) + 1


def _usable_delta(delta: Number | None) -> float:
    """Return delta rounded down; Gaussian noise has no pure form."""
    if delta is None:
        raise MissingParameter(
            "Gaussian noise needs delta= beside epsilon=, smaller than one over the number of people; for "
            "delta = 0 use Laplace",
            parameter="delta",
        )
    exact = positive_price(delta, name="delta")
    if exact >= 1:
        raise ParameterError(
            "delta must be a small probability, below one over the number of people; got 1 or more, write 1e-6, for "
            "example",
            parameter="delta",
        )
    return written_down(exact)


@lru_cache(maxsize=256)
def calibrated_noise(
    target: ApproxDP, steps: Fraction, *, exact_pair: bool, integer: bool, law: GaussianLaw | None = None
) -> GaussianNoise:
    """Return the noise of least variance found that meets a target on vectors that move by `steps` in L2.

    `exact_pair` says that one coordinate alone can move; `integer` that the answers are integers by themselves, so that
    the noise may be narrow. Every candidate meets the target: rounded noise by the normal curve or by its exact
    pair, discrete noise by its exact pair or by zCDP. On fine grids they differ in nothing that could be measured, and
    the rounded one is taken.
    """
    by_curve = RoundedGaussian(Fraction(round_up(steps / largest_mu(written(target.epsilon), written(target.delta)))))
    fine = by_curve.scale >= _FINE
    candidates: list[GaussianNoise] = []
    if law is not GaussianLaw.DISCRETE:
        candidates.append(by_curve)
        if exact_pair and by_curve.scale < _COARSE:
            candidates.append(RoundedGaussian(_least_scale(target, steps, RoundedGaussian)))
    if law is GaussianLaw.DISCRETE or (law is None and (integer or not fine)):
        candidates.append(DiscreteGaussian(_least_scale(target, steps, DiscreteGaussian if exact_pair else None)))
    return min(candidates, key=lambda noise: noise.variance)


def _least_scale(target: ApproxDP, steps: Fraction, law: type[GaussianNoise] | None) -> Fraction:
    """Return the least scale, to a relative 2^-30, at which the exact pair of a law, or zCDP, meets the target."""

    def meets(scale: Fraction) -> bool:
        if law is not None:
            return LocationPair(law(scale), shift=int(steps)).delta(target.epsilon).upper <= target.delta
        rho = ZCDP(written_up(steps**2 / (2 * scale**2)))
        return rho.to_approx(delta=target.delta).epsilon <= target.epsilon

    high = steps / largest_mu(written(target.epsilon), written(target.delta))
    while not meets(high):
        high *= 2
    low = high / 2
    while meets(low):
        low, high = low / 2, low
    while high - low > high * _PRECISION:
        middle = (low + high) / 2
        low, high = (low, middle) if meets(middle) else (middle, high)
    found = round_up(high)  # a float: the exact rational would drag long numerators through every later computation
    while not meets(Fraction(found)):
        found = math.nextafter(found, math.inf)
    return Fraction(found)
