"""Several pairs of which any may be the true one: the curve of the worst at each level.

A whole price as one pair: for sampling several releases at once, and for groups.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.laws import Enclosure, Pair, SafeEnd
from discreet.laws.number import exact_rational
from discreet.privacy.numbers import bounds, number
from discreet.privacy.pairs.promises import enclosed
from discreet.privacy.pairs.sampled import Side

if TYPE_CHECKING:
    from discreet.privacy.loss import PrivacyLoss


@dataclass(frozen=True, slots=True)
class WorstPair(Pair):
    """The pair whose delta(epsilon) is at each level the largest of several pairs'.

    Privacy. If each of the pairs may be the laws of a release on some neighbours, this one dominates the release.
        Proof: a pointwise maximum of curves that are convex and decreasing in e^epsilon, lie between (1 - e^epsilon)^+
        and 1, is another such curve, and every such curve is the delta of some pair.
    Reference. Zhu, Dong, Wang 2022.

    >>> from discreet.privacy.pairs.promises import NormalPair, PureApproxPair
    >>> WorstPair((NormalPair(1), PureApproxPair(1))).delta(0.5).upper == PureApproxPair(1).delta(0.5).upper
    True
    """

    pairs: tuple[Pair, ...]

    def delta(self, epsilon: float | Fraction) -> Enclosure:
        """Enclose the largest delta."""
        return _largest([pair.delta(epsilon) for pair in self.pairs])

    def max_loss(self) -> Enclosure:
        """Enclose the largest loss of any."""
        return _largest([pair.max_loss() for pair in self.pairs])

    def tradeoff(self, alpha: float) -> Enclosure:
        """Enclose the least miss of any: a bound on the curve's own from above, and equal to it for nested pairs."""
        found = [pair.tradeoff(alpha) for pair in self.pairs]
        best = min(found, key=lambda one: one.lower)
        return Enclosure(
            best.lower, best.lower, min(one.upper for one in found), "worst of several pairs", SafeEnd.LOWER
        )

    def reversed(self) -> WorstPair:
        """Reverse each pair."""
        return WorstPair(tuple(pair.reversed() for pair in self.pairs))


def worst_of(pairs: Iterable[Pair]) -> Pair | None:
    """Return the one pair, the worst of several, or None for none."""
    found = tuple(dict.fromkeys(pairs))
    if len(found) > 1:
        return WorstPair(found)
    return found[0] if found else None


def _largest(found: list[Enclosure]) -> Enclosure:
    """Enclose the maximum of several enclosed numbers."""
    lower, upper = max(one.lower for one in found), max(one.upper for one in found)
    estimate = max(one.estimate for one in found)
    return Enclosure(lower, min(max(estimate, lower), upper), upper, "worst of several pairs")


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
