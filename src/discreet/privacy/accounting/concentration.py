"""A rho that bounds D_alpha/alpha at every order at once: what lets a batch enter a concentrated filter."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.errors import NoSoundConversion
from discreet.laws import Pair
from discreet.laws.number import round_up
from discreet.privacy.accounting.directed import DirectedLoss
from discreet.privacy.guarantees import ZCDP, Guarantee, PureDP, convert

_RATIO = 1.002
_MOST_ORDERS = 4000


def least_rho(loss: DirectedLoss) -> float:
    """Return a rho with D_alpha <= alpha rho for every alpha > 1 in this direction, or infinity.

    Privacy. Two bounds, the smaller of which is returned: the sum over parts of what each is known to keep, and, for
        losses of at most m, the largest over a grid 1 = a_0 < a_1 < ... of D at a_(i+1) divided by a_i, with m/a_last
        for everything above.
        Proof: divergences of independent releases add, and so do bounds on them. D_alpha does not fall as alpha grows,
        so for alpha in [a_i, a_(i+1)] D_alpha/alpha <= D at a_(i+1), over a_i; and D_alpha <= m always.
    """
    parts = [_part_rho(pair, claim) for pair, claim, _ in loss.parts]
    total = math.inf
    if all(part is not None for part in parts):
        exact = sum(
            (count * (rho or Fraction(0)) for rho, (_, _, count) in zip(parts, loss.parts, strict=True)), Fraction(0)
        )
        total = round_up(exact)
    return min(total, _on_grid(loss))


def _part_rho(pair: Pair | None, claim: Guarantee | None) -> Fraction | None:
    """Return the best rho known of one part: the pair's own theorem, its largest loss, or its promise."""
    found: list[Fraction] = []
    if pair is not None:
        own = pair.concentration()
        if own is not None:
            found.append(own)
        largest = pair.max_loss().upper
        if math.isfinite(largest):
            found.append(Fraction(convert(PureDP(largest), ZCDP).rho))
    if claim is not None:
        try:
            promised = convert(claim, ZCDP)
        except NoSoundConversion:
            promised = None
        if promised is not None and promised.delta == 0:
            found.append(Fraction(promised.rho))
    return min(found, default=None)


def _on_grid(loss: DirectedLoss) -> float:
    """Return the grid bound, or infinity when losses are unbounded."""
    largest = loss.max_loss()
    if not math.isfinite(largest):
        return math.inf
    worst, order = 0.0, 1.0
    for _ in range(_MOST_ORDERS):
        following = order * _RATIO
        bound = loss.renyi(following).upper / order * (1 + 2.0**-50)
        worst = max(worst, bound)
        if largest / following * (1 + 2.0**-50) <= worst:
            return worst
        order = following
    return max(worst, largest / order * (1 + 2.0**-50))
