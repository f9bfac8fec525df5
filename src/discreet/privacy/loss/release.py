"""Releases as the accountant sees them: pairs, guarantee and sampling of one, and what several say in each direction.

Which rows a release was run on: part of its loss, because the loss is only true for that way of sampling.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws import Enclosure, Pair
from discreet.laws.number import round_up
from discreet.privacy.guarantees import Guarantee
from discreet.privacy.numbers import written
from discreet.privacy.pairs import PureApproxPair, Side, TradeOff, tradeoff_from_deltas, tradeoff_lines, worst_of

if TYPE_CHECKING:
    from discreet.privacy.accounting import DirectedLoss

DRAWN = 1e-4  # a width of epsilon that nobody sees in a drawing
_NEGLIGIBLE, _LARGEST_LEVEL, _LEVELS = 1e-15, 600.0, 161
_MOST_EXACT = 64  # exact powers of chances with more factors than this are slow


class Sampler(Enum):
    """How the rows of a release were chosen, secretly and afresh for each release.

    `EVERYONE`: no sampling. `POISSON`: each person independently with one probability. `FIXED_SIZE`: a uniformly random
    subset of a fixed number of rows. `BALLS_IN_BINS`: an epoch of several steps as one release, each person in one of
    them, uniformly and independently of all others. Batches cut from a shuffled table are different, because there the
    sizes tie people together: no loss is computed for them.

    >>> Sampler.named("poisson")
    <Sampler.POISSON: 'poisson'>
    >>> Sampler.named("shuffled")
    Traceback (most recent call last):
    ...
    discreet.errors.ParameterError: batches cut from a shuffled table are not
        independent samples: ...
    """

    EVERYONE = "everyone"
    POISSON = "poisson"
    FIXED_SIZE = "fixed size"
    BALLS_IN_BINS = "balls in bins"

    @classmethod
    def named(cls, name: str | Sampler) -> Sampler:
        """Return the sampler of a name; shuffled batches are refused with the reason."""
        if isinstance(name, Sampler):
            return name
        found = {member.value: member for member in cls}.get(name.replace("_", " ") if isinstance(name, str) else "")
        if found is not None:
            return found
        if isinstance(name, str) and "shuffl" in name:
            raise ParameterError(
                "batches cut from a shuffled table are not independent samples: every person is in exactly one batch "
                "of an epoch, so the batches together leak more than Poisson sampling at the same rate, and pricing "
                "them as Poisson understates the loss (Chua et al. 2024). Sample each batch afresh with "
                "sampler='poisson', send each person to a step of an epoch independently of the others "
                "(balls_in_bins_loss), or price an epoch as one release to each person without sampling.",
                parameter="sampler",
            )
        names = ", ".join(repr(member.value) for member in cls)
        raise ParameterError(f"sampler must be one of {names}, got {name!r}", parameter="sampler")


@dataclass(frozen=True, slots=True)
class Release:
    """The output laws on neighboring tables: `remove` with the person in P's table, `add` with the person in Q's.

    Each direction lists every pair that can occur. `guarantee` is proven for the same release. `attained`
    says whether the pairs are laws of the release itself, or the worst that keep its guarantee.
    """

    remove: tuple[Pair, ...]
    add: tuple[Pair, ...]
    guarantee: Guarantee | None = None
    attained: bool = True
    sampler: Sampler = Sampler.EVERYONE

    def __post_init__(self) -> None:
        if bool(self.remove) != bool(self.add):
            raise ParameterError("pairs are needed for both directions", parameter="pairs")
        if not self.remove and self.guarantee is None:
            raise ParameterError("a loss needs at least one pair of laws or a guarantee", parameter="pairs")

    def towards(self, side: Side) -> tuple[Pair, ...]:
        """Return the pairs of one direction."""
        return self.remove if side is Side.REMOVE else self.add


@dataclass(frozen=True, slots=True)
class Directions:
    """The engines of a loss: one for a person removed and one for a person added, asked together."""

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
        """Return a level beyond which delta hardly falls in both directions: what is left is infinite loss."""
        sides = [self.towards(side) for side in (Side.REMOVE, Side.ADD)]
        ceilings = [side.ceiling(min(side.infinite() + _NEGLIGIBLE, 1.0)) for side in sides]
        return min(max(ceilings), _LARGEST_LEVEL) + 0.01

    def within_finite_losses(self, found: list[Enclosure], delta: Fraction) -> list[Enclosure]:
        """Bound epsilon by the sum of the largest finite losses where delta pays for all infinite ones.

        Privacy. With chances d_i of an infinite loss and all other losses at most e_i, (sum e_i, 1 - prod(1 - d_i))-DP.
            Proof: unless some loss is infinite their sum is at most sum e_i; so is what P gives to any event beyond
            e^(sum e_i) times what Q gives. Deltas are compared as they are written: .28 for .1 and .2, with no gap.
        """
        if not found or not any(_may_fail(release) for release, _ in self.parts):
            return found
        ends = [_finite_losses(self.parts, side) for side in self.sides]
        if any(end is None or end[0] == 0 or end[0] > delta for end in ends):
            return found
        ceiling = max(round_up(end[1]) for end in ends if end is not None)
        return [_at_most(one, ceiling) for one in found]

    def tradeoff_curve(self, alphas: NDArray[np.float64]) -> TradeOff:
        """Bound the whole trade-off from delta at some levels, asked once for all alphas."""
        levels = self._reach() * np.linspace(0.0, 1.02, _LEVELS)
        asked = {side: [self.towards(side).delta(float(level), DRAWN) for level in levels] for side in Side}
        found = [tradeoff_lines(levels, asked[side], asked[side.opposite], alphas) for side in self.sides]
        return TradeOff(alphas, np.min([low for low, _ in found], axis=0), np.min([high for _, high in found], axis=0))


def _may_fail(release: Release) -> bool:
    """Say whether a release has a delta of its own as its guarantee says it."""
    return any(isinstance(pair, PureApproxPair) and pair.claimed_delta > 0 for pair in (*release.remove, *release.add))


def _finite_losses(parts: tuple[tuple[Release, int], ...], side: Side) -> tuple[Fraction, Fraction] | None:
    """Return the chance of an infinite loss and the sum of the largest finite ones, exactly, where pairs tell them."""
    kept, total = Fraction(1), Fraction(0)
    for release, count in parts:
        pairs = release.towards(side)
        if len(pairs) != 1 or count > _MOST_EXACT:
            return None
        (pair,) = pairs
        if isinstance(pair, PureApproxPair):
            kept *= (1 - written(pair.claimed_delta)) ** count
            total += count * written(pair.claimed_epsilon)
        elif math.isfinite(largest := pair.max_loss().upper):
            total += count * Fraction(largest)
        else:
            return None
    return 1 - kept, total


def _at_most(found: Enclosure, ceiling: float) -> Enclosure:
    """Return an enclosure whose ends are at most a proven ceiling."""
    lower, estimate, upper = (min(end, ceiling) for end in (found.lower, found.estimate, found.upper))
    return replace(found, lower=lower, estimate=estimate, upper=upper)


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
