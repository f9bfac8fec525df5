"""The stronger reading of delta: with what probability is the loss larger than epsilon?"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Protocol, runtime_checkable

from discreet.errors import ParameterError
from discreet.laws import Enclosure, Pair
from discreet.laws.number import Number, round_down, round_up
from discreet.privacy.guarantees import delta_of
from discreet.privacy.loss.loss import PrivacyLoss
from discreet.privacy.numbers import downward, nonnegative, number, upward

_STEPS = [Fraction(1, 2**power) for power in range(0, 34, 2)]


@runtime_checkable
class HasTail(Protocol):
    """A pair that knows P(loss > epsilon) in closed form."""

    def tail(self, epsilon: float) -> Enclosure:
        """Enclose P(loss > epsilon)."""


def pointwise_delta(loss: Pair | PrivacyLoss, epsilon: Number) -> Enclosure:
    """Enclose the chance that the loss exceeds epsilon: the delta of 'except with chance delta it is at most epsilon'.

    That statement is stronger than (epsilon, delta)-DP: at the same epsilon it needs a larger delta, and it is not kept
    by post-processing.

    Privacy. delta(epsilon) <= P(loss > epsilon) <= (delta(e) - e^(e-epsilon) delta(epsilon))/(1 - e^(e-epsilon)) for
        every e < epsilon, and P(loss > epsilon) >= delta(epsilon) + (delta(epsilon) - delta(e))/(e^(e-epsilon) - 1) for
        every e > epsilon; both close up as e approaches epsilon, unless the loss is epsilon with positive probability.
        Proof: with L the loss under P, delta(e) = E max(0, 1 - e^(e-L)). For e < epsilon the variable max(0, 1 -
        e^(e-L)) - e^(e-epsilon) max(0, 1 - e^(epsilon-L)) is 1 - e^(e-epsilon) where L > epsilon and nowhere negative.
        In x = e^e, delta is convex with slope -Q(L > e) to the right, so Q(L > epsilon) is at least the mean descent
        from epsilon to e > epsilon; and P(L > epsilon) = delta(epsilon) + e^epsilon Q(L > epsilon).
    Reference. Kasiviswanathan, Smith 2014.

    >>> from discreet.privacy.pairs.worst_pairs import NormalPair
    >>> pair = NormalPair(1)
    >>> round(pair.delta(1).estimate, 4), round(pointwise_delta(pair, 1).estimate, 4)
    (0.1269, 0.3085)
    """
    level = Fraction(nonnegative(epsilon, name="epsilon"))
    if isinstance(loss, Pair):
        return _of_pair(loss, level)
    if not isinstance(loss, PrivacyLoss):
        raise ParameterError("a pair of laws or a loss is needed", parameter="loss")
    # post-processing does not keep this delta, so the worst pair of a guarantee bounds nothing: only attained pairs
    # count
    found = [_of_pair(pair, level) for pair in loss.pairs] if loss.attained else []
    lower, upper = max((one.lower for one in found), default=0.0), max((one.upper for one in found), default=1.0)
    guarantee = loss.guarantee
    if guarantee is not None:

        def guaranteed(trial: Fraction) -> float:
            return delta_of(guarantee, trial)

        upper = max(min(upper, _upper(guaranteed, guaranteed, level, 0.0)), lower)
    return Enclosure(lower, lower + (upper - lower) / 2, upper, "worst of the pairs, or the bound from delta(epsilon)")


def _of_pair(pair: Pair, level: Fraction) -> Enclosure:
    """Enclose the chance for one direction, by its closed form or from its delta(epsilon)."""
    if isinstance(pair, HasTail):
        # the chance falls with the level: a level between two floats is bracketed by them
        lower, upper = pair.tail(round_up(level)).lower, pair.tail(round_down(level)).upper
        return Enclosure(lower, lower + (upper - lower) / 2, upper, "closed form of the pair")
    backward, here = pair.reversed(), pair.delta(level).lower
    lower = _lower(pair, level)
    upper = _upper(lambda trial: pair.delta(trial).upper, lambda trial: backward.delta(trial).upper, level, here)
    upper = max(upper, lower)
    return Enclosure(lower, lower + (upper - lower) / 2, upper, "chords of delta(epsilon), rounded outwards")


def _upper(
    forward: Callable[[Fraction], float], backward: Callable[[Fraction], float], level: Fraction, here: float
) -> float:
    """Return the least upper bound over trial levels below epsilon; `here` is a lower bound on delta(epsilon)."""
    chances = ((step, _delta_above(forward, backward, level - step)) for step in _STEPS)
    return min(1.0, *(_chord(chance, here, step) for step, chance in chances))


def _delta_above(forward: Callable[[Fraction], float], backward: Callable[[Fraction], float], trial: Fraction) -> float:
    """Return an upper bound on delta(e); at e < 0 it is 1 - e^e + e^e times the delta(-e) of the reverse."""
    if trial >= 0:
        return forward(trial)
    other = backward(-trial)
    return upward(lambda: 1 - number(trial).exp() * number(1 - Fraction(other)))


def _chord(chance: float, here: float, step: Fraction) -> float:
    """Return (chance - e^-step here)/(1 - e^-step), rounded up."""
    return upward(lambda: (number(chance) - (-number(step)).exp() * number(here)) / -(-number(step)).expm1())


def _lower(pair: Pair, level: Fraction) -> float:
    """Return the largest lower bound over trial levels above epsilon."""
    here = pair.delta(level).lower
    best = here
    for step in _STEPS:
        descent = Fraction(here) - Fraction(pair.delta(level + step).upper)
        if descent > 0:
            best = max(best, _descended(here, descent, step))
    return min(best, 1.0)


def _descended(chance: float, descent: Fraction, step: Fraction) -> float:
    """Return chance + descent/(e^step - 1), rounded down."""
    return downward(lambda: number(chance) + number(descent) / number(step).expm1())
