"""Faults in how DualQuery draws its queries."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from discreet.audit import Level
from discreet.laws import SignedDraws
from discreet.privacy import Relation
from discreet.randomness import words
from discreet.synthesis import Drawing, Neighbors
from discreet.testing.planted.fault import LAW, Planted

_ADDED = Neighbors(Relation.ADD_REMOVE, people=10)
_stated: dict[str, Any] = {"eta": 5, "turn": 4, "sums": [0, 0], "neighbors": _ADDED}
_mild = _stated | {"eta": 1, "sums": [2, 1]}


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
    Planted("Drawing: half the range", "a negated query moves the other way, uncharged", Level.EXACT,
            partial(HalfTheRange, draws=1, **_stated), partial(Drawing, draws=1, **_stated)),
    Planted("Drawing: counts over the private number", "symmetric weights at the price of centered ones", Level.EXACT,
            partial(DividesByPrivate, draws=2, **_stated), partial(Drawing, draws=2, **_stated),
            neighbors=[(([0, 9], 9), ([1, 9], 10))]),
    Planted("Drawing: signs forgotten", "a fair coin negates what was drawn", LAW,
            partial(ForgetsSigns, draws=1, **_mild), partial(Drawing, draws=1, **_mild), inputs=[([9, 1], 10)],
            draws=1000),
]  # fmt: skip
