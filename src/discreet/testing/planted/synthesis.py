"""Faults in how DualQuery draws its queries, and in what a release pays for: rounds drawn again, negative shares."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from discreet.audit import Level
from discreet.laws import DiscreteLaplace, SignedDraws
from discreet.ledger.contract import Parts
from discreet.mechanisms import Laplace
from discreet.privacy import PureDP, Relation
from discreet.randomness import words
from discreet.synthesis import Drawing, Neighbors
from discreet.synthesis.base import checked_share
from discreet.testing.planted.fault import LAW, Overstated, Planted

_ADDED = Neighbors(Relation.ADD_REMOVE, people=10)
_stated: dict[str, Any] = {"eta": 5, "turn": 4, "sums": [0, 0], "neighbors": _ADDED}
_mild = _stated | {"eta": 1, "sums": [2, 1]}
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


class HalfTheRange(Drawing):
    """Charged as if the negated queries did not move the other way."""

    @property
    def range(self) -> Fraction:
        """Half of what it is."""
        return super().range / 2


class DividesByPrivate(Drawing):
    """The paper's weights, with the private number of records as n, at the price of the centered ones."""

    def _weighted(self, value: Any) -> SignedDraws:
        """Divide the counts by the number of records in the table."""
        counts, records = np.array(value[0]), max(value[1], 1)
        return SignedDraws((self.turn - 1) * counts - records * self.sums, self.eta / records)


class ForgetsSigns(Drawing):
    """A drawn query is negated by a fair coin, whichever of the two was drawn."""

    def __call__(self, value: Any) -> Any:
        """Toss for the signs."""
        queries, _ = super().__call__(value)
        return queries, 2 * (words(queries.size) >> np.uint64(63)).astype(np.int64) - 1


FAULTS = [
    Planted("Drawing: redrawn for nothing", "a round is drawn again from a copy of its file, uncharged", Level.EXACT,
            partial(RedrawnForNothing, draws=1, **_stated), partial(PutBack, draws=1, **_stated)),
    Planted("Laplace: a negative share", "a share of -1 that is not spent pays for another", Level.EXACT,
            partial(UnusedShare, epsilon=1, sensitivity=1), partial(CheckedShares, epsilon=1, sensitivity=1)),
    Planted("Drawing: half the range", "a negated query moves the other way, uncharged", Level.EXACT,
            partial(HalfTheRange, draws=1, **_stated), partial(Drawing, draws=1, **_stated)),
    Planted("Drawing: counts over the private number", "symmetric weights at the price of centered ones", Level.EXACT,
            partial(DividesByPrivate, draws=2, **_stated), partial(Drawing, draws=2, **_stated),
            neighbors=[(([0, 9], 9), ([1, 9], 10))]),
    Planted("Drawing: signs forgotten", "a fair coin negates what was drawn", LAW,
            partial(ForgetsSigns, draws=1, **_mild), partial(Drawing, draws=1, **_mild), inputs=[([9, 1], 10)],
            draws=1000),
]  # fmt: skip
