"""Faults in who is one person: ids told apart by their types, and ids turned into floats."""

from __future__ import annotations

from functools import partial
from typing import Any

from discreet.audit import Level
from discreet.privacy import Relation
from discreet.statistics import Count, Histogram, Rows
from discreet.testing.planted.fault import UNITS, Planted
from discreet.testing.spellings import spelled

_LARGE = 2**60


class ApartByType(Count):
    """Ids of different types are different people."""

    def measure(self, value: Any) -> int:
        """Tell people apart by type and value."""
        return super().measure(Rows(value.values, [f"{type(one).__name__} {one}" for one in value.unit]))


class RoundedIds(Histogram):
    """Ids are floats, as one empty id makes them: large ones that differ are one person."""

    def measure(self, value: Any) -> Any:
        """Round the ids."""
        return super().measure(Rows(value.values, [str(float(one)) for one in value.unit]))


_stated: dict[str, Any] = {"relation": Relation.ADD_REMOVE, "epsilon": 1, "contribution": 1}
_keys: dict[str, Any] = _stated | {"keys": ["a", "b"]}
FAULTS = [
    Planted("Count: units told apart by type", "1, 1.0 and True are three people, priced as one", Level.EXACT,
            partial(ApartByType, **_stated), partial(Count, **_stated),
            neighbours=[(Rows([True], [2]), Rows([True] * 4, [2, 1, True, 1.0]))]),
    Planted("Count: twelve spellings of one id", "one person counts once for every type of the id", UNITS,
            partial(ApartByType, **_stated), partial(Count, **_stated), inputs=[Rows([True] * 12, spelled(12))]),
    Planted("Histogram: units as floats", "somebody new takes away the weight of somebody else", Level.EXACT,
            partial(RoundedIds, **_keys), partial(Histogram, **_keys),
            neighbours=[(Rows(["a"], [_LARGE]), Rows(["a"] + ["b"] * 40, [_LARGE] + [_LARGE + 1] * 40))]),
]  # fmt: skip
