"""What protocols for keys share: rows of one projective space, each with a public hash of its own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from discreet.errors import ParameterError
from discreet.laws.pairs.finite import Finite
from discreet.local.frequency.geometry import Geometry
from discreet.local.keys.hashing import public_seed
from discreet.local.keys.keys import Keys
from discreet.local.protocol.oracle import Oracle
from discreet.local.protocol.randomizer import Randomizer


@dataclass(frozen=True, kw_only=True, eq=False)
class KeyOracle(Oracle):
    """An oracle of keys that nobody can list: a report is a row and a point of PG(dimension - 1, prime)."""

    keys: str
    prime: int
    dimension: int
    seed: int

    def __post_init__(self) -> None:
        """Check the kind of keys, the geometry and the seed."""
        super().__post_init__()
        if self.labels:
            raise ParameterError("keys have no labels: they are their own names", parameter="labels")
        kind = self.keys if isinstance(self.keys, Keys) else Keys.from_text(self.keys)
        object.__setattr__(self, "keys", kind.to_text())
        object.__setattr__(self, "prime", self.geometry.prime)
        object.__setattr__(self, "dimension", self.geometry.dimension)
        public_seed(self.seed)

    @classmethod
    def _read(cls, values: dict[str, Any]) -> Self:
        """Read a seed that was written as text because it is long."""
        seed = values.get("seed")
        if isinstance(seed, str) and seed.isascii() and seed.isdigit() and len(seed) < 80:
            values = {**values, "seed": int(seed)}
        return super()._read(values)

    @cached_property
    def kind(self) -> Keys:
        """What a key is."""
        return Keys.from_text(self.keys)

    @cached_property
    def geometry(self) -> Geometry:
        """The projective space of every row."""
        return Geometry(self.prime, self.dimension)

    @property
    @abstractmethod
    def all_rows(self) -> int:
        """The number of rows, one of which a client draws without looking at its key."""

    @property
    def size(self) -> int:
        """Refuse: keys cannot be counted."""
        raise ParameterError(
            "keys cannot be counted or listed; ask for those you know, or search for the frequent ones"
        )

    @property
    def cells(self) -> int:
        """A report is a row and a point."""
        return self.all_rows * self.geometry.points

    @property
    def inside(self) -> int:
        """A key prefers the points of one plane in every row."""
        return self.all_rows * self.geometry.on_plane

    @property
    def apart(self) -> int:
        """The most that two keys differ: their points differ in every row."""
        return self.all_rows * (self.geometry.on_plane - self.geometry.common)

    def items(self, values: Any) -> Any:
        """Return keys as words; refuse what is no key without showing it."""
        return self.kind.encode(values)

    def law(self, item: Any) -> Finite:
        """Return the exact law of the report of a key, for at most 2^16 outputs."""
        return super().law(item)

    def mechanism(self) -> Randomizer:
        """Return the sampler as a mechanism without memory, for audits and tests."""
        return KeyRandomizer(self)


class KeyRandomizer(Randomizer):
    """A randomizer of keys."""

    def law(self, value: Any) -> Finite:
        """Return the exact law of the report of one key."""
        return self.spec.law(value)

    def neighbours(self) -> Iterator[tuple[Any, Any]]:
        """Yield ordered pairs of a few keys: those of words with one bit each, that stand for keys."""
        kind = Keys.from_text(getattr(self.spec, "keys", None))
        words = np.zeros((4, kind.words), dtype=np.uint32)
        words[:, 0] = [0, 1 << 30, 3 << 29, 7 << 28]
        few = list(kind.decode(words[kind.legal(words)]))
        yield from ((first, second) for first in few for second in few if first != second)
