"""The Laplace mechanism: integer noise on a public grid, exact, priced by its own law."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.laws import DiscreteLaplace
from discreet.laws.number import Number, positive_rational
from discreet.mechanisms.mechanism import one_of, positive_epsilon, stated_sensitivity
from discreet.mechanisms.noise.additive import AdditiveNoise, rounded_steps
from discreet.privacy import Norm, PrivacyLoss, PureDP, Sensitivity, warn_if_senseless
from discreet.privacy.numbers import written_up


class Laplace(AdditiveNoise):
    """Add discrete Laplace noise to each coordinate of an answer.

    Privacy. For L1 sensitivity D the output is (D / scale)-DP under the relation D was computed for.
        Proof: the law is proportional to exp(-|y - f(x)|_1 / scale); a shift by at most D moves the exponent by at most
        D / scale. On a grid, D is the sensitivity after rounding (at most one step a coordinate more), counted in
        steps.
    Accuracy. The half-width t returned by `error` is the least with P(any of k answers is off by more than t) <= beta,
        from the exact tail P(|X| > t) = 2 q^(t+1) / (1 + q), q = exp(-1/scale), and independence. For continuous noise
        it would be scale * ln(k / beta); on integers that formula is false.
    Cost. One 64-bit word and one logarithm an answer; vectorized.
    Figure. laplace.svg
    Reference. Dwork, McSherry, Nissim, Smith 2006; integer form: Ghosh, Roughgarden, Sundararajan 2009.

    >>> Laplace(epsilon=1, sensitivity=1).error(confidence=0.95)
    3
    >>> Laplace(epsilon=1, sensitivity=1)("41")
    Traceback (most recent call last):
    ...
    discreet.errors.InputError: this mechanism takes integers (an int or an array of
        them), not str
    """

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        scale: Number | None = None,
        sensitivity: Number | Sensitivity | None = None,
        grid: Number | None = None,
        length: int | None = None,
    ) -> None:
        """Noise from a privacy target or from a scale, never both.

        Args:
            epsilon: the pure privacy of one release.
            scale: the noise's scale, in the unit of the answer.
            sensitivity: how far one person can move the answer; a bare number for a single one, else a `Sensitivity`.
            grid: a public power of two; derived from the scale if left out, 1 for an integer sensitivity.
            length: the public number of coordinates of an array of floats.
        """
        chosen = one_of(epsilon=epsilon, scale=scale)
        bare = not isinstance(sensitivity, Sensitivity)
        super().__init__(sensitivity=stated_sensitivity(sensitivity, (Norm.L1,)), bare=bare, grid=grid, length=length)
        if chosen == "epsilon":
            target = positive_epsilon(epsilon)
            self._settle_grid(self.sensitivity.exact / target)
            self.noise = DiscreteLaplace(self.steps / target)
            warn_if_senseless(self.guarantee, people=None)
        else:
            exact = positive_rational(scale, name="scale")
            self._settle_grid(exact)
            self.noise = DiscreteLaplace(exact / self.grid)

    @property
    def steps(self) -> Fraction:
        """The L1 sensitivity in steps of the grid, rounding included."""
        return rounded_steps(self.sensitivity, self.grid, self.length)

    def _array_neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield also arrays over which the sensitivity is spread: the losses of the coordinates add up to the same."""
        yield from super()._array_neighbors()
        step = self.sensitivity.exact
        if step >= 2 and self.length in (None, 2):
            part = int(step) // 2
            rest = step - part
            moved = np.array([part, int(rest) if self._integer else float(rest)])
            yield np.zeros_like(moved), moved

    @property
    def guarantee(self) -> PureDP:
        """Pure differential privacy with epsilon = sensitivity / scale, rounded up."""
        return PureDP(written_up(self.steps / self.noise.scale), relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """The exact pair of a shift by the sensitivity, or the worst pure loss where a shift may be spread.

        An integer L1 shift of size 1 moves one coordinate by 1, so arrays of counts keep the exact pair.
        """
        if self.length == 1 or self.steps == 1:
            pair = self.noise.at(int(self.steps)).pair(self.noise)
            return PrivacyLoss.from_pairs([pair], relation=self.relation, guarantee=self.guarantee)
        return PrivacyLoss.from_guarantee(self.guarantee)
