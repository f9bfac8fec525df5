"""Faults in how clients of the local model draw their reports."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet.audit import Level
from discreet.errors import InputError
from discreet.local import (
    DirectResponse,
    FrequencyOracle,
    Geometry,
    HashedGeometry,
    HybridGeometry,
    OneBitHadamard,
    ProjectiveGeometry,
    Randomizer,
)
from discreet.local.frequency import parity, value_points
from discreet.local.protocol import COIN_TOTAL, Integers, toss
from discreet.randomness import uniform_below_array
from discreet.testing.planted.fault import ERRORS, INDEPENDENT, LAW, LOSS, Planted

_answers: dict[str, Any] = {"epsilon": Fraction(1), "categories": 4}
_plane: dict[str, Any] = {"epsilon": Fraction(1), "categories": 13, "prime": 3, "dimension": 3}
_blocks: dict[str, Any] = {"epsilon": Fraction(1), "categories": 8, "blocks": 2, "prime": 3, "dimension": 2}
_hashed: dict[str, Any] = {
    "epsilon": Fraction(1), "keys": "integer:8", "prime": 2, "dimension": 3, "rows": 8, "seed": 3,
}  # fmt: skip


class CoarseCoin(DirectResponse):
    """The coin has eight bits, and was rounded up."""

    @cached_property
    def coin(self) -> int:
        """The next multiple of 2^-8."""
        step = COIN_TOTAL >> 8
        return -(-super().coin // step) * step


class NeverFlips(OneBitHadamard):
    """A client that always sends the right sign."""

    def randomize(self, items: Integers) -> Integers:
        """Forget the coin."""
        rows = uniform_below_array(self.rows, items.size)
        return 2 * rows + parity(rows, items)


class RowOfItsOwn(OneBitHadamard):
    """The row is drawn among those that have bits of the value."""

    def randomize(self, items: Integers) -> Integers:
        """Mask the row by the value."""
        rows = uniform_below_array(self.rows, items.size) & items
        return 2 * rows + (parity(rows, items) ^ ~toss(self.coin, items.size))


class AnyPoint(ProjectiveGeometry):
    """Off the plane means anywhere."""

    def randomize(self, items: Integers) -> Integers:
        """Draw from all points when the coin says off the plane."""
        space: Geometry = self.geometry
        points = value_points(space, items)
        free = 1 + uniform_below_array(space.outside - 1, items.size)
        near = space.place(points, np.zeros(items.size, dtype=np.bool_), free)
        return np.where(toss(self.coin, items.size), near, uniform_below_array(space.points, items.size))


class CloserPlanes(ProjectiveGeometry):
    """Priced as if two planes had all points but one in common."""

    @property
    def apart(self) -> int:
        """Fewer outputs than differ."""
        return 1


class OwnBlockOnly(HybridGeometry):
    """A report off the plane stays in the block of the value."""

    def randomize(self, items: Integers) -> Integers:
        """Draw from the own block."""
        points = value_points(self.geometry, items // self.blocks)
        return items % self.blocks * self.geometry.points + self.geometry.draw(points, self.coin)


class GroupByValue(HashedGeometry):
    """The row is not drawn but computed from the key."""

    def randomize(self, items: Any) -> Integers:
        """Take the row from the key."""
        rows: Integers = (items[:, 0] >> 24).astype(np.int64) % self.rows
        return rows * self.geometry.points + self.geometry.draw(self.hash.bucket(items, rows), self.coin)


class Talkative(DirectResponse):
    """The error of a wrong value shows the value."""

    def items(self, values: Any) -> Integers:
        """Refuse with the value in the message."""
        try:
            return super().items(values)
        except InputError:
            pass
        raise InputError(f"{values!r} is not one of the values; nothing was reported")


class OneCoinForTwo(Randomizer):
    """Reports share a coin with their neighbor."""

    spec: FrequencyOracle
    _coins: tuple[bool, ...] = ()

    def __call__(self, value: Any) -> int:
        """Toss once for two reports."""
        coins = self._coins or (bool(toss(self.spec.coin, 1)[0]),) * 2
        self._coins = coins[1:]
        other = int(uniform_below_array(self.spec.cells - 1, 1)[0])
        return int(value) if coins[0] else other + (other >= value)


FAULTS = [
    Planted("DirectResponse: coin rounded up", "eight bits of the coin, rounded the wrong way", Level.EXACT,
            lambda: CoarseCoin(**_answers).mechanism(), lambda: DirectResponse(**_answers).mechanism()),
    Planted("DirectResponse: errors that talk", "the message of a refused value holds the value", ERRORS,
            lambda: Talkative(**_answers).mechanism(), lambda: DirectResponse(**_answers).mechanism(), inputs=[0]),
    Planted("DirectResponse: one coin for two", "a batch of reports tosses half as often", INDEPENDENT,
            lambda: OneCoinForTwo(DirectResponse(**_answers)), lambda: DirectResponse(**_answers).mechanism(),
            inputs=[2], draws=2000),
    Planted("OneBitHadamard: never flips", "the sign is always the right one", Level.STATISTICAL,
            lambda: NeverFlips(epsilon=Fraction(1), categories=4).mechanism(),
            lambda: OneBitHadamard(epsilon=Fraction(1), categories=4).mechanism(), neighbors=[(1, 3)]),
    Planted("OneBitHadamard: row by value", "the public row has the bits of the private value", Level.STATISTICAL,
            lambda: RowOfItsOwn(epsilon=Fraction(1), categories=8).mechanism(),
            lambda: OneBitHadamard(epsilon=Fraction(1), categories=8).mechanism(), neighbors=[(1, 6)]),
    Planted("ProjectiveGeometry: any point", "an outside point is drawn from all points", LAW,
            lambda: AnyPoint(**_plane).mechanism(), lambda: ProjectiveGeometry(**_plane).mechanism(), inputs=[0, 12]),
    Planted("ProjectiveGeometry: planes too close", "the price counts one point on which they differ", LOSS,
            lambda: CloserPlanes(**_plane).mechanism(), lambda: ProjectiveGeometry(**_plane).mechanism(), inputs=[0]),
    Planted("HybridGeometry: own block only", "no report leaves the block of its value", Level.STATISTICAL,
            lambda: OwnBlockOnly(**_blocks).mechanism(), lambda: HybridGeometry(**_blocks).mechanism(),
            neighbors=[(0, 1)]),
    Planted("HashedGeometry: group by value", "the row is computed from the key instead of drawn", Level.STATISTICAL,
            lambda: GroupByValue(**_hashed).mechanism(), lambda: HashedGeometry(**_hashed).mechanism(),
            neighbors=[(0, 1)]),
]  # fmt: skip
