"""What a release may spend, in shares fixed before data is read: noise and choices, pure, concentrated or Gaussian."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ConflictingParameters, ParameterError
from discreet.laws import DiscreteLaplace
from discreet.laws.noise import IntegerNoise
from discreet.laws.number import Number, exact_rational, positive_rational
from discreet.mechanisms import Exponential
from discreet.mechanisms.noise import GaussianNoise
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    Guarantee,
    Norm,
    Price,
    PureDP,
    Sensitivity,
    implies,
    largest_mu,
    largest_rho,
    warn_if_senseless,
)
from discreet.privacy.adaptive import root_down
from discreet.privacy.guarantees import rho_of_choices
from discreet.privacy.numbers import downward, number, root_upward, whole, written, written_up
from discreet.statistics.pricing import NoisyVector
from discreet.synthesis.base.neighbors import Neighbors


@dataclass(frozen=True, slots=True)
class Noisy:
    """Integers with noise, the standard deviation of that noise, and its law, about 0."""

    values: NDArray[np.int64]
    deviation: float
    noise: IntegerNoise | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """One integer with noise, and the standard deviation of that noise."""

    value: int
    deviation: float


@dataclass(frozen=True, slots=True)
class Allowance:
    """A guarantee for the whole release, and the amount that its parts divide: epsilon if pure, else rho or mu^2/2.

    The amount is mu^2/2 of Gaussian DP where `gaussian` says so: see `for_noise`. An approximate guarantee has room for
    more of it than of rho, about 1.15 times as much at (1, 1e-6), but a choice costs pi/2 times as much of it.

    Privacy. If the shares of all `noisy`, `measure` and `choose` calls of a release add up to at most 1, also where a
        later call is chosen in view of earlier results, the release keeps `guarantee`; calls on a `part` count by the
        product of both shares.
        Proof: with a = s amount, a call with share s is a-DP where the allowance is pure, mu-Gaussian DP with mu^2 =
        2 a where it is Gaussian, and a-zCDP otherwise: noise by `NoisyVector`, for h histograms at once with h times
        the L1 distance and the squared L2 distance of one, or for one integer with its sensitivity, always rounded
        where the allowance is Gaussian; the choice with range e is e-DP and, being of bounded range, e^2/8-zCDP, with
        e = a and e = sqrt(8 a) rounded down; by `rho_of_choices` it is mu-Gaussian DP with e^2/8 at most mu^2/pi.
        Epsilons, rhos and squares of mu add up under adaptive composition. They do so too where a released result
        decides later shares: by induction from the last call, given the results before it all that follows costs at
        most what they have left, whatever they are. An allowance whose amount does not imply its guarantee, as epsilon,
        as rho, as mu^2/2, by the conversion of zCDP or by the curve of Gaussian DP, cannot be made.
    Reference. Bun, Steinke 2016; Dong, Roth, Su 2022.
    """

    guarantee: Guarantee
    amount: Fraction
    neighbors: Neighbors
    gaussian: bool = field(default=False, metadata={"later": True})

    def __post_init__(self) -> None:
        if not isinstance(self.neighbors, Neighbors) or not isinstance(self.guarantee, Guarantee):
            raise ParameterError(
                "an allowance has a guarantee, an amount and Neighbors: use Allowance.of", parameter="neighbors"
            )
        object.__setattr__(self, "amount", positive_rational(self.amount, name="amount"))
        if self.guarantee.relation is not self.neighbors.relation:
            raise ConflictingParameters(
                "the guarantee is for other neighbors than the allowance's", parameter="relation"
            )
        if not _affords(self.guarantee, self.amount, gaussian=self.gaussian):
            raise ParameterError("the amount is more than the guarantee allows: use Allowance.of", parameter="amount")

    @classmethod
    def of(
        cls,
        neighbors: Neighbors,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
    ) -> Allowance:
        """Read the price: `epsilon` alone is pure, with `delta` approximate, `rho` concentrated, `mu` Gaussian.

        The amount of an approximate guarantee is the largest rho that implies it; see `for_noise`.
        """
        if not isinstance(neighbors, Neighbors):
            raise ParameterError(
                "say who is protected: Neighbors(relation, people), such as Neighbors(Relation.CHANGE_ONE, 10_000)",
                parameter="neighbors",
            )
        relation = neighbors.relation
        price = Price.read(epsilon=epsilon, delta=delta, rho=rho, mu=mu, accepts=("epsilon", "rho", "mu"))
        if rho is not None and price.rho is not None:
            return cls(ZCDP(rho, relation=relation), price.rho, neighbors)
        if mu is not None and price.mu is not None:
            return cls(GaussianDP(mu, relation=relation), price.mu**2 / 2, neighbors, gaussian=True)
        if epsilon is None or price.epsilon is None:
            raise AssertionError("the price must be epsilon, rho or mu")
        if delta is None:
            return cls(PureDP(epsilon, relation=relation), price.epsilon, neighbors)
        target = ApproxDP(epsilon, delta, relation=relation)
        warn_if_senseless(target, people=neighbors.people)
        return cls(target, largest_rho(written(target.epsilon), written(target.delta)), neighbors)

    @property
    def pure(self) -> bool:
        """Whether the guarantee is pure: Laplace noise, else Gaussian."""
        return isinstance(self.guarantee, PureDP)

    def for_noise(self, *, vectors: bool = False) -> Allowance:
        """Return the allowance for a method that spends all or nearly all on Gaussian noise.

        For an approximate guarantee its amount is then mu^2/2 for the largest mu that implies the guarantee, if that is
        less noise; any other allowance stays what it is. `vectors` says that one unit always moves several integers at
        once, which get rounded noise anyway.

        Privacy. The guarantee is the same.
            Proof: mu-Gaussian DP implies it (`largest_mu`), and what is made of the amount is mu-Gaussian DP.
        Accuracy. No noise has a variance above the squared scale that it had before.
            Proof: rounded noise on integers of squared distance D2, with a share s, has at most the variance
            D2/(s mu^2) + 1/12, and had the squared scale D2/(2 s rho), to which rounding added 1/12 if several integers
            moved. 2 rho <= mu^2, as rho holds for normal noise too; so the first term is smaller by at least as much as
            for s = 1 and the least D2, that of one count, and there the difference was compared with 1/12.
        """
        if not isinstance(self.guarantee, ApproxDP) or self.gaussian:
            return self
        mu = largest_mu(written(self.guarantee.epsilon), written(self.guarantee.delta))
        squared = self.neighbors.count**2
        if squared / mu**2 + (0 if vectors else Fraction(1, 12)) >= squared / (2 * self.amount):
            return self
        return Allowance(self.guarantee, mu**2 / 2, self.neighbors, gaussian=True)

    def noisy(self, histogram: NDArray[np.int64], share: Fraction) -> Noisy:
        """Release one histogram (disjoint cells, of all records) with a share of the amount."""
        mechanism = self.noise(share)
        values = np.asarray(mechanism(np.asarray(histogram, dtype=np.int64)), dtype=np.int64)
        return Noisy(values, deviation_of(mechanism), mechanism.noise)

    def noise(self, share: Fraction, *, histograms: int = 1) -> NoisyVector:
        """Return the noise for that number of histograms of all records at once, with a share of the amount."""
        amount, times = self._amount(share), whole(histograms, name="histograms")
        return noise_for(self, amount, sensitivity=self.neighbors.l1 * times, squared=self.neighbors.squared * times)

    def deviation(self, share: Fraction, *, histograms: int = 1) -> float:
        """Return the standard deviation that `noisy` would add with that share; public."""
        return deviation_of(self.noise(share, histograms=histograms))

    def single(self, share: Fraction, *, sensitivity: int) -> NoisyVector:
        """Return the noise for one integer that one unit moves by at most `sensitivity`, with a share of the amount."""
        moved = whole(sensitivity, name="sensitivity")
        return noise_for(self, self._amount(share), sensitivity=moved, squared=moved**2, scalar=True)

    def single_deviation(self, share: Fraction, *, sensitivity: int) -> float:
        """Return the standard deviation that `measure` would add with that share; public."""
        return deviation_of(self.single(share, sensitivity=sensitivity))

    def measure(self, value: int, share: Fraction, *, sensitivity: int) -> Measured:
        """Release one integer that one unit moves by at most `sensitivity`, with a share of the amount."""
        mechanism = self.single(share, sensitivity=sensitivity)
        return Measured(int(mechanism(int(value))), deviation_of(mechanism))

    def part(self, share: Fraction) -> Allowance:
        """Return an allowance that holds a share of this one's amount, for another method to divide."""
        exact, relation = self._amount(share), self.neighbors.relation
        if self.gaussian:
            mu = GaussianDP(written_up(Fraction(root_upward(2 * exact))), relation=relation)
            return Allowance(mu, exact, self.neighbors, gaussian=True)
        guarantee = PureDP(exact, relation=relation) if self.pure else ZCDP(exact, relation=relation)
        return Allowance(guarantee, exact, self.neighbors)

    def choose(self, scores: Sequence[Number] | NDArray[Any], share: Fraction, *, sensitivity: Number) -> int:
        """Return the position of a high score, each of which one unit moves by at most `sensitivity`."""
        amount = self.for_choices(share)
        epsilon = amount if self.pure else Fraction(downward(lambda: number(8 * amount).sqrt()))
        stated = Sensitivity(sensitivity, norm=Norm.LINF, relation=self.neighbors.relation)
        return int(Exponential(epsilon=epsilon, sensitivity=stated)(scores))

    def for_choices(self, share: Fraction) -> Fraction:
        """Return the epsilon, if pure, or the rho of choices that a share of the amount buys."""
        amount = self._amount(share)
        return rho_of_choices(_mu(amount)) if self.gaussian else amount

    def _amount(self, share: Fraction) -> Fraction:
        """Return a share of the amount; raise an error for a share that is not one."""
        return positive_rational(checked_share(share, name="share"), name="share") * self.amount


def checked_share(share: Number, *, name: str) -> Fraction:
    """Return a share of an allowance exactly: at least 0, so that it pays for no other, and at most 1.

    Privacy. If shares that were checked add up to at most 1, any of them left unspent leave the rest at most 1.
        Proof: none is negative.
    """
    exact = exact_rational(share, name=name)
    if exact < 0:
        raise ParameterError(
            f"{name} must be at least 0: a share below 0 would pay for others that are spent", parameter=name
        )
    if exact > 1:
        raise ParameterError(f"{name} must be at most 1: all shares of a release add up to 1", parameter=name)
    return exact


def _affords(guarantee: Guarantee, amount: Fraction, *, gaussian: bool) -> bool:
    """Say whether spending the amount keeps the guarantee: as epsilon, rho or mu^2/2, or as what follows from these."""
    match guarantee, gaussian:
        case (PureDP(epsilon=level), False) | (ZCDP(rho=level), False):
            return amount <= written(level)
        case GaussianDP(mu=level, delta=0), True:
            return 2 * amount <= written(level) ** 2
        case ApproxDP(epsilon=level, delta=delta), True if delta > 0:
            return 2 * amount <= largest_mu(written(level), written(delta)) ** 2
        case ApproxDP(epsilon=level, delta=delta), False if delta > 0:
            return implies(ZCDP(amount), ApproxDP(written(level), written(delta)))
    return False


def noise_for(
    allowance: Allowance, amount: Fraction, *, sensitivity: int, squared: int, scalar: bool = False
) -> NoisyVector:
    """Return the noise that an amount of an allowance buys for integers that one unit moves so far in L1 and in L2."""
    relation = allowance.neighbors.relation
    if allowance.pure:
        return NoisyVector.laplace(epsilon=amount, sensitivity=sensitivity, relation=relation, scalar=scalar)
    rho, mu = (None, _mu(amount)) if allowance.gaussian else (amount, None)
    return NoisyVector.gaussian(
        rho=rho, mu=mu, sensitivity=sensitivity, squared=squared, relation=relation, scalar=scalar
    )


def _mu(amount: Fraction) -> Fraction:
    """Return the mu that mu^2/2 buys, rounded down."""
    return written(root_down(2 * amount))


def deviation_of(mechanism: NoisyVector) -> float:
    """Return the standard deviation of one entry's noise."""
    noise = mechanism.noise
    if not isinstance(noise, GaussianNoise | DiscreteLaplace):
        raise AssertionError("an allowance makes Laplace and Gaussian noise only")
    return math.sqrt(noise.variance)
