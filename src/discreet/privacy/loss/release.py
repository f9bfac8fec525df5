"""One release as the accountant sees it: its pairs in each direction, its promise, and how its rows were sampled."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.errors import ParameterError
from discreet.laws.pairs.pair import Pair
from discreet.privacy.guarantees.guarantee import Guarantee
from discreet.privacy.loss.sampler import Sampler
from discreet.privacy.pairs.sampled import Side


@dataclass(frozen=True, slots=True)
class Release:
    """The output laws on neighbouring tables: `remove` with the person in P's table, `add` with the person in Q's.

    Each direction lists every pair that can occur. `claim` is a promise proven for the same release. `attained` says
    whether the pairs are laws of the release itself, or the worst that keep its promise.
    """

    remove: tuple[Pair, ...]
    add: tuple[Pair, ...]
    claim: Guarantee | None = None
    attained: bool = True
    sampler: Sampler = Sampler.EVERYONE

    def __post_init__(self) -> None:
        """Refuse a price made from nothing."""
        if bool(self.remove) != bool(self.add):
            raise ParameterError("pairs are needed for both directions", parameter="pairs")
        if not self.remove and self.claim is None:
            raise ParameterError("a price needs at least one pair of laws or a promise", parameter="pairs")

    def towards(self, side: Side) -> tuple[Pair, ...]:
        """Return the pairs of one direction."""
        return self.remove if side is Side.REMOVE else self.add
