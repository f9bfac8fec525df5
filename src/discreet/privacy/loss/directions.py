"""What the pairs of several releases say together, in the directions that are priced; the larger one counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.laws import Enclosure
from discreet.privacy.loss.release import Release
from discreet.privacy.pairs import Side, TradeOff, tradeoff_from_deltas, tradeoff_lines, worst_of

if TYPE_CHECKING:
    from discreet.privacy.accounting import DirectedLoss

DRAWN = 1e-4  # a width of epsilon that nobody sees in a drawing
_NEGLIGIBLE, _LARGEST_LEVEL, _LEVELS = 1e-15, 600.0, 161


@dataclass(frozen=True, slots=True)
class Directions:
    """The engines of a price: one for a person removed and one for a person added, asked together."""

    parts: tuple[tuple[Release, int], ...]
    sides: tuple[Side, ...]
    attained: bool

    def engines(self) -> list[DirectedLoss]:
        """Return the engines of each direction that is priced; one where the two are the same."""
        return list(dict.fromkeys(self.towards(side) for side in self.sides))

    def towards(self, side: Side) -> DirectedLoss:
        """Return the engine of one direction."""
        parts = tuple((worst_of(one.towards(side)), one.guarantee, count) for one, count in self.parts)
        from discreet.privacy.accounting import directed  # what `import discreet` need not load

        return directed(parts, attained=self.attained)

    def epsilons(self, delta: float, tolerance: float | None) -> list[Enclosure]:
        """Return epsilon in each direction that may be the larger."""
        return self._asked(lambda side: side.ceiling(delta), lambda side: side.epsilon(delta, tolerance))

    def delta(self, epsilon: float, tolerance: float | None) -> Enclosure:
        """Return the larger delta of the directions."""
        return largest_of(
            self._asked(lambda side: side.delta_ceiling(epsilon), lambda side: side.delta(epsilon, tolerance))
        )

    def _asked(
        self, ceiling: Callable[[DirectedLoss], float], ask: Callable[[DirectedLoss], Enclosure]
    ) -> list[Enclosure]:
        """Ask each direction, leaving out one whose cheap ceiling is below the other's floor."""
        sides = self.engines()
        if len(sides) == 1:
            return [ask(sides[0])]
        ceilings = [ceiling(side) for side in sides]
        first = 0 if ceilings[0] >= ceilings[1] else 1
        found = [ask(sides[first])]
        if ceilings[1 - first] > found[0].lower:
            found.append(ask(sides[1 - first]))
        return found

    def tradeoff(self, side: Side, below: float, above: float) -> tuple[float, float]:
        """Bound the best miss in one direction; negative levels are positive levels of the other."""
        here, there = self.towards(side), self.towards(side.opposite)
        ends = [
            tradeoff_from_deltas(
                lambda level: here.delta(level, None),
                lambda level: there.delta(level, None),
                alpha,
                reach=self._reach(),
            )
            for alpha in dict.fromkeys((above, below))
        ]
        return ends[0].lower, ends[-1].upper

    def _reach(self) -> float:
        """Return a level beyond which delta is negligible in both directions."""
        ceilings = [self.towards(side).ceiling(_NEGLIGIBLE) for side in (Side.REMOVE, Side.ADD)]
        return min(max(ceilings), _LARGEST_LEVEL) + 0.01

    def tradeoff_curve(self, alphas: NDArray[np.float64]) -> TradeOff:
        """Bound the whole trade-off from delta at some levels, asked once for all alphas."""
        levels = self._reach() * np.linspace(0.0, 1.02, _LEVELS)
        asked = {side: [self.towards(side).delta(float(level), DRAWN) for level in levels] for side in Side}
        found = [tradeoff_lines(levels, asked[side], asked[side.opposite], alphas) for side in self.sides]
        return TradeOff(alphas, np.min([low for low, _ in found], axis=0), np.min([high for _, high in found], axis=0))


def largest_of(found: Sequence[Enclosure]) -> Enclosure:
    """Enclose the largest of several enclosed numbers."""
    lower, upper = max(one.lower for one in found), max(one.upper for one in found)
    worst = max(found, key=lambda one: (one.estimate, one.upper))
    estimate = min(max(worst.estimate, lower), upper)
    assumptions = tuple(dict.fromkeys(name for one in found for name in one.assumptions))
    return Enclosure(lower, estimate, upper, worst.method, assumptions=assumptions)


def spanning(low: Enclosure, high: Enclosure) -> Enclosure:
    """Return an enclosure of every number from inside the first to inside the second."""
    estimate = min(max(low.lower, high.estimate), high.upper)
    return Enclosure(min(low.lower, high.upper), estimate, high.upper, high.method, assumptions=high.assumptions)
