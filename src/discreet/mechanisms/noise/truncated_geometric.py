"""Truncated geometric noise: counts off by no more than a public reach, at the price of a small delta."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from discreet.errors import ConflictingParameters, MissingParameter, ParameterError
from discreet.laws import FinitePair, TruncatedLaplace
from discreet.laws.number import Number, round_down
from discreet.mechanisms.mechanism import positive_epsilon, stated_sensitivity
from discreet.mechanisms.noise.additive import AdditiveNoise
from discreet.privacy import ApproxDP, Norm, PrivacyLoss, Sensitivity, warn_if_senseless
from discreet.privacy.numbers import positive_price, printed, written_up
from discreet.randomness.rigor import Ball, ball, precision

_PRECISIONS = (128, 512, 2048, 8192, 1 << 15)
_MOST_PRICED = 1 << 12


class TruncatedGeometric(AdditiveNoise):
    """Add two-sided geometric noise that never exceeds a reach t; t is the least that keeps (epsilon, delta)-DP.

    Privacy. For integer answers of L1 sensitivity D the output is (epsilon, delta)-DP, with noise Z proportional to
        q^|z| on -t..t, q = exp(-epsilon / D), and t the least integer with P(Z > t - D) <= delta, that is with
        q^(t-D+1) (1 - q^D) / (1 + q - 2 q^(t+1)) <= delta. For D = 1 its pair is the worst that (epsilon, delta')-DP
        allows, delta' = P(Z = t).
        Proof: let the coordinates move by d_1, d_2, ... with sum at most D. Where both laws have mass their ratio is at
        most q^-D = e^epsilon. An outcome that only one of them can produce has some coordinate among the d_i places
        beyond the other's reach, which has probability P(Z > t - d_i); the sum of these is at most P(Z > t - D), the
        last D masses together, since they all lie on the right of 0 (t >= D, as delta < 1/2), where masses fall. For D
        = 1 the losses are epsilon and -epsilon, as likely as in randomized response, and infinity with mass P(Z = t):
        the four points of `PureApproxPair`.
    Accuracy. No answer is ever off by more than t = `reach`; `error` returns the least width that holds for k answers
        with a given confidence, from the exact law.
    Cost. A draw of discrete Laplace noise an answer, repeated where it falls outside; vectorized.
    Figure. truncated_geometric.svg
    Reference. Desfontaines, Voss, Gipson, Mandayam 2022; Geng, Ding, Guo, Kumar 2020.

    >>> m = TruncatedGeometric(epsilon=1, delta=1e-6, sensitivity=1)
    >>> m.reach, abs(m(41) - 41) <= m.reach
    (14, True)
    """

    noise: TruncatedLaplace

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        sensitivity: Number | Sensitivity | None = None,
    ) -> None:
        """Noise from the target.

        Args:
            epsilon: with `delta`, the approximate privacy of one release.
            delta: the probability of an answer that only one of two neighbors can give, between 0 and 1/2.
            sensitivity: how far one person can move the answer, an int; for an array a `Sensitivity` in L1.
        """
        exact_epsilon, exact_delta = positive_epsilon(epsilon), usable_delta(delta)
        stated = stated_sensitivity(sensitivity, (Norm.L1,))
        if not stated.is_integer:
            raise ConflictingParameters(
                "truncated geometric noise is for counts: give the sensitivity as an int, for example sensitivity=1",
                parameter="sensitivity",
            )
        super().__init__(sensitivity=stated, bare=not isinstance(sensitivity, Sensitivity), grid=None, length=None)
        self._settle_grid(Fraction(1))
        self._target = ApproxDP(written_up(exact_epsilon), written_up(exact_delta), relation=self.relation)
        warn_if_senseless(self._target, people=None)
        scale = self.steps / exact_epsilon
        self.noise = TruncatedLaplace(scale, reach=least_reach(scale, int(self.steps), exact_delta))

    @property
    def steps(self) -> Fraction:
        """The L1 sensitivity."""
        return self.sensitivity.exact

    @property
    def reach(self) -> int:
        """The most that an answer can be off."""
        return self.noise.reach

    @property
    def guarantee(self) -> ApproxDP:
        """The target; the least reach that meets it usually has a smaller delta, which `loss` knows."""
        return self._target

    @property
    def loss(self) -> PrivacyLoss:
        """The exact pair of a shift by the sensitivity, or the worst that keeps the target where a shift may be spread.

        The noise is log-concave, so of all shifts of one coordinate up to D the shift by D is the worst at every level.
        """
        if self.steps == 1 or (self._scalar_only and self.steps <= _MOST_PRICED):
            return PrivacyLoss.from_pairs([self._pair()], relation=self.relation, guarantee=self._target)
        return PrivacyLoss.from_guarantee(self._target)

    def _pair(self) -> FinitePair:
        """Return the pair of answers one sensitivity apart."""
        return self.noise.at(int(self.steps)).pair(self.noise)


def usable_delta(delta: Number | None) -> Fraction:
    """Return a delta strictly between 0 and 1/2, as it is written; a Fraction is rounded down to a float."""
    if delta is None:
        raise MissingParameter(
            "delta= says how often an answer may give a person away, far below one over the number of people; it is "
            "never defaulted",
            parameter="delta",
        )
    exact = positive_price(delta, name="delta")
    if not isinstance(printed(delta), float):
        exact = Fraction(round_down(exact))
    if not 0 < 2 * exact < 1:
        raise ParameterError(
            "delta must be below 1/2, and far below one over the number of people, but no smaller than floats are",
            parameter="delta",
        )
    return exact


def least_reach(scale: Fraction, shift: int, delta: Fraction) -> int:
    """Return the least t for which truncated noise puts at most delta beyond t - shift, decided exactly.

    The condition q^(t-d+1) (1 - q^d) <= delta (1 + q - 2 q^(t+1)) is t >= scale ln((q^(1-d) - q + 2 delta q) / (delta +
    delta q)). For delta < 1/2 no t below d will do. The right-hand side is never an integer: that would be an algebraic
    equation for q = exp(-1/scale), which is transcendental for rational scales (Lindemann).

    >>> least_reach(Fraction(1), 1, Fraction(1, 1000))
    7
    """
    for bit_count in _PRECISIONS:
        with precision(bit_count + shift.bit_length() + scale.numerator.bit_length() + scale.denominator.bit_length()):
            whole: Any = _real_reach(scale, shift, delta).ceil().unique_fmpz()
        if whole is not None:
            return max(int(whole), shift)
    raise ArithmeticError("a transcendental number could not be told from an integer")


def _real_reach(scale: Fraction, shift: int, delta: Fraction) -> Ball:
    """Enclose the real number from which on the condition holds."""
    ratio = (-1 / ball(scale)).exp()
    # q^(1-d) - q = q^(1-d) (1 - q^d): without cancellation
    above = -(ball(Fraction(shift - 1) / scale)).exp() * (-ball(Fraction(shift) / scale)).expm1()
    return ball(scale) * ((above + 2 * ball(delta) * ratio) / (ball(delta) * (1 + ratio))).log()
