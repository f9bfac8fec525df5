"""A toy engine with sticky noise: the same question always gets the same noise, and no budget is kept."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from enum import Enum
from statistics import NormalDist
from typing import Any

from discreet.attacks.asking import Run, counted
from discreet.data.table import MOST_SEED, check_whole
from discreet.display.result import told_by_name
from discreet.errors import InputError, ParameterError
from discreet.laws.number import Number, positive_rational

_BITS = 52
_COUNT = re.compile(r"COUNT\(\*\)", re.IGNORECASE)


@told_by_name
class NoiseShape(Enum):
    """The law of the noise of a toy engine."""

    GAUSSIAN = "normal"
    BOUNDED = "uniform between two bounds"


class StickyNoise:
    """Counts with noise that is a function of the question: asking twice gives the same answer.

    Without `key` the noise is seeded by the text of the query, with it by the set of rows that the query selects, which
    `key` identifies (a column with a different value in every row). The noise has mean 0 and the standard deviation
    `deviation`: normal, or uniform within sqrt(3) deviations (`NoiseShape.BOUNDED`). Queries have the form SELECT
    COUNT(*) ... FROM ... WHERE ....

    Nothing else limits what is asked, and that is the fault: see `averaging`. This is a target to be broken, with a
    seed; it protects nobody.

    Reference. Francis, Probst Eide, Munz 2017, and the Australian TableBuilder (Thompson, Broadfoot, Elazar 2013), are
        real engines of this kind with more rules; Asghar, Kaafar 2020 and Gadotti, Houssiau, Rocher, Livshits, de
        Montjoye 2019 broke them.

    >>> engine = StickyNoise(lambda text: [(100,)], deviation=5, seed=1)
    >>> one, again, other = (
    ...     engine(f"SELECT COUNT(*) FROM t WHERE {words}")
    ...     for words in ("a = 1", "a = 1", "1 = a")
    ... )
    >>> one == again, one == other
    (True, False)
    """

    def __init__(
        self, run: Run, *, deviation: Number, seed: int, key: str | None = None, shape: NoiseShape = NoiseShape.GAUSSIAN
    ) -> None:
        if not isinstance(shape, NoiseShape):
            raise ParameterError("shape must be NoiseShape.GAUSSIAN or NoiseShape.BOUNDED", parameter="shape")
        self._run, self._key, self._shape = run, key, shape
        self.deviation = float(positive_rational(deviation, name="deviation"))
        check_whole("seed", seed, low=0, high=MOST_SEED)
        self._salt = seed.to_bytes(16, "big")

    def __call__(self, text: str) -> Sequence[Sequence[Any]]:
        """Answer a count with the noise that belongs to it."""
        return [(counted(self._run, text) + self._noise(self._fingerprint(text)),)]

    def _fingerprint(self, text: str) -> str:
        """Return what the noise depends on: the text, or the rows selected."""
        if self._key is None:
            return text
        before, *after = _COUNT.split(text)
        if len(after) != 1:
            raise InputError("this toy engine answers SELECT COUNT(*) ... FROM ... WHERE ... only")
        return repr(sorted(repr(tuple(row)) for row in self._run(before + self._key + after[0])))

    def _noise(self, fingerprint: str) -> float:
        """Return the noise that a keyed hash of the question makes."""
        digest = hashlib.blake2b(fingerprint.encode(), key=self._salt, digest_size=8).digest()
        uniform = ((int.from_bytes(digest, "big") >> (64 - _BITS)) + 0.5) / (1 << _BITS)
        if self._shape is NoiseShape.BOUNDED:
            return self.deviation * math.sqrt(3) * (2 * uniform - 1)
        return self.deviation * NormalDist().inv_cdf(uniform)
