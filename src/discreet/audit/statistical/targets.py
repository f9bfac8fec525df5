"""What a guarantee allows, as points (delta, epsilon) that an event can refute."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.laws.clopper_pearson import chance_at_least, chance_at_most
from discreet.laws.number import exact_rational, round_up
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP

_DELTAS = (Fraction(1, 10), Fraction(1, 100), Fraction(1, 1000))


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A point of the guarantee's curve: P(S) <= e^epsilon Q(S) + delta for every event S."""

    delta: float
    epsilon: float


@dataclass(frozen=True, slots=True)
class LearningAim:
    """What an event is learned for: the points to refute, the runs on each input that will test it, and the error.

    `shares` says that bounds are shares of what the guarantee allows, and not losses.
    """

    targets: tuple[CurvePoint, ...]
    test: int
    rest: float
    shares: bool

    def in_terms(self, bound: float, target: CurvePoint) -> float:
        """Return a bound on the loss in the guarantee's own terms."""
        if not self.shares:
            return bound
        return bound / target.epsilon if target.epsilon > 0 else (math.inf if bound > 0 else 0.0)

    def foreseen(self, seen: int, other: int, runs: int, target: CurvePoint) -> float:
        """Return the bound that the test would give if an event kept its frequencies in `runs` runs.

        Below 0 where no bound is to be expected, so that pairs can still be compared.
        """
        p, q = ((count + 0.5) / (runs + 1.0) for count in (seen, other))
        low = max(float(chance_at_least(p * self.test, self.test, self.rest / 2)) - target.delta, 1e-300)
        high = float(chance_at_most(q * self.test, self.test, self.rest / 2))
        return self.in_terms(math.log(low / high), target)


def targets_of(guarantee: Guarantee) -> tuple[CurvePoint, ...]:
    """Return the guarantee's own point, or a few points of the curve that a guarantee of another kind implies."""
    match guarantee:
        case PureDP():
            return (CurvePoint(0.0, round_up(exact_rational(guarantee.epsilon, name="epsilon"))),)
        case ApproxDP():
            return (
                CurvePoint(
                    round_up(exact_rational(guarantee.delta, name="delta")),
                    round_up(exact_rational(guarantee.epsilon, name="epsilon")),
                ),
            )
    own = Fraction(guarantee.delta) if isinstance(guarantee, ZCDP | GaussianDP) else Fraction(0)
    deltas = [float(own + (1 - own) * more) for more in _DELTAS]
    return tuple(CurvePoint(delta, guarantee.loss.epsilon(delta).upper) for delta in deltas)
