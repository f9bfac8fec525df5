"""What a promise says about moments of the loss: enough for the real axis, nothing beside it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from discreet.laws.number import round_down
from discreet.privacy.accounting.contour.factor import Factor, Unsuitable
from discreet.privacy.accounting.floats import UNIT, Complexes, Floats
from discreet.privacy.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP

_LARGE = 300.0


class ClaimFactor(Factor):
    """A release of which only a promise is known, `count` times: K(s) <= s D_(s+1), with what the promise says of D.

    Pure epsilon: randomized response is the worst case, s D = ln((e^((s+1) e) + e^(-s e))/(1 + e^e)). zCDP: D <= (s+1)
    rho. Gaussian: rho = mu^2/2. Renyi of order alpha: D for s <= alpha - 1, as divergences grow with the order, and
    nothing above. A delta is mass at infinity: the rest of the law, of weight 1 - delta, keeps the bound.
    """

    def __init__(self, claim: Guarantee, count: int) -> None:
        """Keep the promise's numbers as floats, rounded up by the errors returned."""
        self.claim, self.counts = claim, np.array([float(count)])
        lost = Fraction(getattr(claim, "delta", 0))
        if lost == 1:
            self.log_finite = (-math.inf, -math.inf)
        elif lost:
            kept = count * math.log1p(-float(lost))
            self.log_finite = (kept * (1 + UNIT), kept * (1 - UNIT))
        self.special = [round_down(Fraction(claim.alpha) - 1)] if isinstance(claim, RenyiDP) else []

    def log_moment(self, order: float) -> tuple[float, float]:
        """Return the bound that the promise gives on K at an order, and its rounding error."""
        value = self._bound(order)
        if not (math.isfinite(self.log_finite[1]) and math.isfinite(value)):
            return math.inf, math.inf
        total = float(self.counts[0]) * value
        return total + self.log_finite[1], UNIT * (4 * abs(total) + abs(self.log_finite[1])) + 5e-324

    def _bound(self, order: float) -> float:
        if order <= 0:
            return math.inf
        match self.claim:
            case PureDP() | ApproxDP():
                return _pure_bound(order, float(self.claim.epsilon))
            case ZCDP():
                return order * (order + 1) * float(self.claim.rho)
            case GaussianDP():
                return order * (order + 1) * float(self.claim.mu) ** 2 / 2
            case RenyiDP() if order <= self.special[0]:
                return order * float(self.claim.epsilon)
        return math.inf

    def slopes(self, order: float) -> tuple[float, float]:
        """Return differences of the bound, forwards where it ends."""
        near, here, far = (self._bound(order * part) for part in (0.99, 1.0, 1.01))
        count, step = float(self.counts[0]), 0.01 * order
        if not math.isfinite(far):
            return count * (here - near) / step, 1e-12
        return count * (far - near) / (2 * step), max(count * (far - 2 * here + near) / step**2, 1e-12)

    def values(self, order: float, nodes: Floats) -> tuple[Complexes, Floats]:  # noqa: ARG002  nothing to evaluate
        """Refuse: a promise says nothing off the real axis."""
        raise Unsuitable

    def variances(self, order: float) -> Floats:  # noqa: ARG002  nothing to evaluate
        """Refuse: a promise says nothing off the real axis."""
        raise Unsuitable


class LesserFactor(ClaimFactor):
    """A release with a pair and a promise, neither with a mass at infinity: the better bound, order by order."""

    def __init__(self, claim: Guarantee, count: int, other: Factor) -> None:
        """Keep both."""
        super().__init__(claim, count)
        if self.log_finite != (0.0, 0.0) or other.log_finite != (0.0, 0.0):
            raise Unsuitable
        self.other = other

    def log_moment(self, order: float) -> tuple[float, float]:
        """Return the smaller of the two bounds."""
        return min(super().log_moment(order), self.other.log_moment(order), key=lambda pair: pair[0] + pair[1])

    def slopes(self, order: float) -> tuple[float, float]:
        """Return those of the promise where it is the smaller bound, else those of the pair."""
        if super().log_moment(order)[0] <= self.other.log_moment(order)[0]:
            return super().slopes(order)
        return self.other.slopes(order)


def _pure_bound(order: float, reach: float) -> float:
    """Return ln((e^((s+1) e) + e^(-s e))/(1 + e^e)): 1 plus (e^(s e) - 1)(1 - e^(-(s+1) e))/(1 + e^-e) inside."""
    if order * reach > _LARGE:
        return order * reach
    share = -math.expm1(-(order + 1) * reach) / (1 + math.exp(-reach))
    return math.log1p(math.expm1(order * reach) * share)
