"""A whole price as one pair: for sampling several releases at once, and for groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.laws.enclosure import Enclosure
from discreet.laws.number import exact_rational
from discreet.laws.pairs.pair import Pair
from discreet.privacy.numbers.rounding import bounds, number
from discreet.privacy.pairs.promises import enclosed
from discreet.privacy.pairs.sampled import Side

if TYPE_CHECKING:
    from discreet.privacy.loss.loss import PrivacyLoss


@dataclass(frozen=True, slots=True)
class ComposedPair(Pair):
    """The dominating pair of several releases in one direction, known by its curve delta(epsilon).

    At negative levels delta(-e) = 1 - e^-e + e^-e times the other direction's delta(e).
    """

    loss: PrivacyLoss
    side: Side

    def _towards(self, side: Side) -> PrivacyLoss:
        return replace(self.loss, sides=(side,))

    def delta(self, epsilon: float | Fraction) -> Enclosure:
        """Enclose the delta of the releases together, in this direction."""
        level = exact_rational(epsilon, name="epsilon")
        if level >= 0:
            return self._towards(self.side).delta(level)
        other = self._towards(self.side.opposite).delta(-level)

        def ends(chance: float) -> tuple[float, float]:
            return bounds(lambda: 1 - number(level).exp() * number(1 - Fraction(chance)))

        return enclosed((ends(other.lower)[0], ends(other.upper)[1]), method=other.method)

    def epsilon(self, delta: float) -> Enclosure:
        """Enclose the least epsilon."""
        return self._towards(self.side).epsilon(delta)

    def max_loss(self) -> Enclosure:
        """Enclose the largest loss."""
        return self._towards(self.side).max_loss()

    def tradeoff(self, alpha: float) -> Enclosure:
        """Enclose the best miss."""
        return self._towards(self.side).tradeoff(alpha)

    def reversed(self) -> ComposedPair:
        """Return the other direction."""
        return ComposedPair(self.loss, self.side.opposite)
