"""Faults in what a release pays for: rounds drawn again from a copy, and shares that others pay for."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from discreet.audit import Level
from discreet.laws import DiscreteLaplace
from discreet.ledger.contract import Parts
from discreet.mechanisms import Laplace
from discreet.privacy import PureDP, Relation
from discreet.synthesis import Drawing, Neighbors
from discreet.synthesis.base import checked_share
from discreet.testing.planted.fault import Overstated, Planted

_ADDED = Neighbors(Relation.ADD_REMOVE, people=10)
_ROUND = 4
_stated: dict[str, Any] = {"eta": 5, "turn": _ROUND, "sums": [0, 0], "neighbors": _ADDED}
_SHARES = (Fraction(-1), Fraction(1), Fraction(1))  # of the total, which is not spent, of a choice and a measurement


class PutBack(Drawing):
    """One round of a release as a watcher sees it whose file was put back once: drawn, and drawn again.

    What it guarantees is what was charged, in draws: those of the release, and those of the taking up, by the ledger's
    count of the rounds that were begun.
    """

    def __init__(self, *, draws: int, **stated: Any) -> None:
        super().__init__(draws=2 * draws, **stated)
        self._paid = draws * (1 + self._again())

    def _again(self) -> int:
        """Return how many times this round is paid for again by an attempt that takes the release up at it."""
        seen = Parts.of(charge=1)
        while seen.most < self.turn:
            seen = seen.begun
        return int(self.turn <= seen.most)

    @property
    def loss(self) -> Any:
        """The price of the draws that were paid for."""
        return Drawing(draws=self._paid, **_stated).loss

    @property
    def guarantee(self) -> Any:
        """The guarantee of the draws that were paid for."""
        return Drawing(draws=self._paid, **_stated).guarantee


class RedrawnForNothing(PutBack):
    """The file is believed: it does not hold the round, so the round was not drawn."""

    def _again(self) -> int:
        return 0


class UnusedShare(Overstated, Laplace):  # type: ignore[misc]  # a guarantee of any kind
    """A measurement with the shares of a plan whose sum is 1: one share of -1 is not spent, and pays for another."""

    def __init__(self, **stated: Any) -> None:
        super().__init__(**stated)
        self._said = PureDP(stated["epsilon"], relation=self.relation)
        self.noise = DiscreteLaplace(self.noise.scale / sum(self._spent()))

    def _spent(self) -> list[Fraction]:
        return [share for share in _SHARES if share > 0]


class CheckedShares(UnusedShare):
    """The same with shares that are checked: the plan is refused, and the whole is spent once."""

    def _spent(self) -> list[Fraction]:
        try:
            return [checked_share(share, name="share") for share in _SHARES]
        except ValueError:
            return [Fraction(1)]


FAULTS = [
    Planted("Drawing: redrawn for nothing", "a round is drawn again from a copy of its file, uncharged", Level.EXACT,
            partial(RedrawnForNothing, draws=1, **_stated), partial(PutBack, draws=1, **_stated)),
    Planted("Laplace: a negative share", "a share of -1 that is not spent pays for another", Level.EXACT,
            partial(UnusedShare, epsilon=1, sensitivity=1), partial(CheckedShares, epsilon=1, sensitivity=1)),
]  # fmt: skip
