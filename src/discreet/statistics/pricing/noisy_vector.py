"""Integer noise on exact integers: the last step of every additive statistic, priced by what it measured."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.laws import DiscreteGaussian, DiscreteLaplace, Law, Product, RoundedGaussian
from discreet.laws.noise import IntegerNoise
from discreet.mechanisms import Mechanism
from discreet.mechanisms.domain import add_noise, integer_steps
from discreet.mechanisms.noise import GaussianNoise, calibrated_noise, gaussian_noise_loss
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, Guarantee, PrivacyLoss, PureDP, Relation, warn_if_senseless
from discreet.privacy.numbers import root_upward, written_up


class NoisyVector(Mechanism):
    """Add independent integer noise to an integer, or to every entry of an array of them.

    Privacy. Discrete Laplace noise of scale D / epsilon is epsilon-DP for integer vectors that neighbors move by at
        most D in L1. Gaussian noise of scale s is (D2 / (2 s^2))-zCDP where they move by at most the root of D2 in
        L2, and (root of D2 / s)-Gaussian-DP where it is rounded.
        Proof: as for `Laplace` and `Gaussian`, with nothing to round: the vectors are integers. D2 is kept as a square,
        because the root of an integer need not be one.
    Cost. One draw an entry.

    >>> NoisyVector.laplace(
    ...     epsilon=Fraction(1), sensitivity=1, relation=Relation.ADD_REMOVE
    ... ).error(0.95)
    3
    """

    def __init__(
        self,
        noise: IntegerNoise,
        guarantee: Guarantee,
        *,
        sensitivity: int,
        scalar: bool,
        squared: int | None = None,
    ) -> None:
        """Keep the noise, what is guaranteed of it, and the distances of neighbors.

        `sensitivity` is the largest L1 distance; `squared`, the square of the largest L2 distance, goes with Gaussian
        noise.
        """
        self.noise = noise
        self._guarantee = guarantee
        self._sensitivity, self._squared, self._scalar = sensitivity, squared, scalar

    @classmethod
    def laplace(cls, *, epsilon: Fraction, sensitivity: int, relation: Relation, scalar: bool = False) -> NoisyVector:
        """Noise for a pure guarantee."""
        guarantee = PureDP(written_up(epsilon), relation=relation)
        warn_if_senseless(guarantee, people=None)
        return cls(DiscreteLaplace(sensitivity / epsilon), guarantee, sensitivity=sensitivity, scalar=scalar)

    @classmethod
    def gaussian(
        cls,
        *,
        sensitivity: int,
        squared: int,
        relation: Relation,
        rho: Fraction | None = None,
        mu: Fraction | None = None,
        scalar: bool = False,
    ) -> NoisyVector:
        """Noise for a concentrated guarantee (`rho`), or a Gaussian one (`mu`).

        `squared` is the square of the largest L2 distance of neighbors. Where one entry alone can move, a concentrated
        guarantee takes the discrete law, which has less variance at the same scale; all else takes the rounded one.
        """
        if mu is not None:
            noise: GaussianNoise = RoundedGaussian(Fraction(root_upward(squared / mu**2)))
            guarantee: Guarantee = GaussianDP(written_up(mu), relation=relation)
        elif rho is not None:
            scale = Fraction(root_upward(squared / (2 * rho)))
            noise = DiscreteGaussian(scale) if scalar or sensitivity == 1 else RoundedGaussian(scale)
            guarantee = ZCDP(written_up(squared / (2 * scale**2)), relation=relation)
        else:
            raise AssertionError("the price of Gaussian noise is rho or mu")
        warn_if_senseless(guarantee, people=None)
        return cls(noise, guarantee, sensitivity=sensitivity, squared=squared, scalar=scalar)

    @classmethod
    def calibrated(cls, target: ApproxDP, *, sensitivity: int, squared: int, scalar: bool = False) -> NoisyVector:
        """Gaussian noise for an approximate guarantee, of the least variance that a proven price allows."""
        warn_if_senseless(target, people=None)
        root = Fraction(root_upward(Fraction(squared)))
        noise = calibrated_noise(target, root, exact_pair=scalar or sensitivity == 1, integer=True)
        return cls(noise, target, sensitivity=sensitivity, squared=squared, scalar=scalar)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee that was asked for."""
        return self._guarantee

    @property
    def relation(self) -> Relation:
        """For which neighbors it holds."""
        return self._guarantee.relation

    @property
    def loss(self) -> PrivacyLoss:
        """The exact pair where neighbors differ in one entry only, else what the law proves for every vector.

        Integer noise is log-concave, so of all shifts up to the largest the largest is the worst at every epsilon.
        """
        shift = self._sensitivity if self._scalar or self._sensitivity == 1 else None
        if isinstance(self.noise, GaussianNoise):
            if self._squared is None:
                raise AssertionError("Gaussian noise goes with an L2 distance")
            stated = self._guarantee if isinstance(self._guarantee, ZCDP | GaussianDP) else None
            return gaussian_noise_loss(
                self.noise, Fraction(self._squared), shift=shift, relation=self.relation, guarantee=stated
            )
        if shift is None:
            return PrivacyLoss.from_guarantee(self._guarantee)
        pair = self.noise.at(shift).pair(self.noise)
        return PrivacyLoss.from_pairs([pair], relation=self.relation, guarantee=self._guarantee)

    def __call__(self, value: Any) -> Any:
        """Release integers with noise."""
        steps = integer_steps(value)
        if isinstance(steps, int):
            return self.noise.added_to(steps)
        return add_noise(steps, self.noise.draw(steps.size).reshape(steps.shape))

    def law(self, value: Any) -> Law[Any]:
        """Return the law of the release."""
        steps = integer_steps(value)
        if isinstance(steps, int):
            return self.noise.at(steps)
        return Product([self.noise.at(int(step)) for step in steps.ravel()])

    def error(self, confidence: float, count: int = 1) -> int:
        """Return the half-width that holds for all `count` entries at once, in steps."""
        return self.noise.half_width(confidence, count)

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield integers as far apart as neighbors can be: in L1 for Laplace noise, in L2 for Gaussian."""
        if self._squared is None:
            far, half = self._sensitivity, self._sensitivity // 2
            rest = far - half
        else:
            far, half = math.isqrt(self._squared), math.isqrt(self._squared // 2)
            rest = math.isqrt(self._squared - half * half)
        yield 0, far
        if not self._scalar:
            yield np.array([0, 0], dtype=object), np.array([half, rest], dtype=object)

    def __repr__(self) -> str:
        return f"NoisyVector({self.noise!r}, relation={self.relation.name})"
