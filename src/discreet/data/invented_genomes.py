"""Genomes that nobody has: a case group, outsiders and reference people, one bit a person and position."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.data.table import check_whole, generator
from discreet.errors import InputError, ParameterError

FREQUENCY_RANGE = (0.05, 0.5)
MOST_POSITIONS, MOST_BITS = 1_000_000, 1 << 32
_LEVELS = 1 << 16  # frequencies are multiples of 2^-16, so that sixteen random bits decide a carrier exactly
_CHUNK = 1 << 18  # bits unpacked at a time: as floats they stay in the cache
_BLOCK = 1 << 15  # positions weighed at a time: a product this small is not split among threads, which costs more
_TINY = 2.0**-1000


@dataclass(frozen=True, eq=False, repr=False)
class Panel:
    """Who carries the rarer variant at which position: one bit each, eight to a byte.

    >>> panel = Panel.of([[1, 0, 1], [1, 1, 0]])
    >>> len(panel), panel.positions, panel.frequencies.tolist()
    (2, 3, [1.0, 0.5, 0.5])
    """

    packed: npt.NDArray[np.uint8]
    positions: int

    def __post_init__(self) -> None:
        check_whole("positions", self.positions, low=0, high=MOST_BITS)
        if self.packed.ndim != 2 or self.packed.dtype != np.uint8 or self.packed.shape[1] != -(-self.positions // 8):
            raise ParameterError("packed must hold a row a person, eight positions to a byte", parameter="packed")
        view = self.packed.view()
        view.flags.writeable = False
        object.__setattr__(self, "packed", view)

    @classmethod
    def of(cls, bits: npt.ArrayLike) -> Panel:
        """Pack a table of bits, a row a person."""
        words = "bits must be a table of zeros and ones, a row a person"
        try:
            table = np.asarray(bits)
        except ValueError:
            raise ParameterError(words, parameter="bits") from None
        if table.ndim != 2 or table.dtype.kind not in "biu":
            raise ParameterError(words, parameter="bits")
        if table.dtype != np.bool_ and not ((table == 0) | (table == 1)).all():
            raise ParameterError(words, parameter="bits")
        return cls(np.packbits(table.astype(np.bool_, copy=False), axis=1), table.shape[1])

    def __len__(self) -> int:
        return len(self.packed)

    def __repr__(self) -> str:
        return f"Panel({len(self):,} people, {self.positions:,} positions, synthetic)"

    def bits(self) -> Iterator[npt.NDArray[np.uint8]]:
        """Return the rows unpacked, some people at a time, so that memory stays small."""
        step = max(_CHUNK // max(self.positions, 1), 1)
        for start in range(0, len(self), step):
            yield np.unpackbits(self.packed[start : start + step], axis=1, count=self.positions)

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """How many people carry the variant, position by position."""
        total = np.zeros(self.positions, dtype=np.int64)
        for rows in self.bits():
            total += rows.sum(axis=0, dtype=np.int64)
        return total

    @property
    def frequencies(self) -> npt.NDArray[np.float64]:
        """The frequency of people, among these, who carry the variant, position by position."""
        if len(self) == 0:
            raise InputError("nobody is in this panel: there are no frequencies")
        return self.counts / len(self)

    def weighed(self, weights: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return, for every person, the sum of the weights of the positions where the variant is carried.

        Weights are first rounded to a grid, about 2^-50 of the sum of their sizes, on which every sum is exact: equal
        bits have equal sums, in whatever order a machine adds up.
        """
        given = np.asarray(weights, dtype=np.float64)
        total = float(np.abs(given).sum())
        if given.shape != (self.positions,) or not math.isfinite(total):
            raise ParameterError(f"weights must be {self.positions:,} numbers, one a position", parameter="weights")
        step = math.ldexp(1.0, math.frexp(total + _TINY)[1] - 51)
        column = np.rint(given / step) * step
        sums = np.zeros(len(self))
        for start in range(0, self.positions if len(self) else 0, _BLOCK):
            some = column[start : start + _BLOCK]
            block = Panel(self.packed[:, start // 8 : (start + _BLOCK) // 8], len(some))
            sums += np.concatenate([rows.astype(np.float64) @ some for rows in block.bits()])
        return sums


@dataclass(frozen=True, eq=False, repr=False)
class Genomes:
    """A population's public frequencies, and three groups drawn from it independently of each other."""

    frequencies: npt.NDArray[np.float64]
    cases: Panel
    outsiders: Panel
    reference: Panel

    def __post_init__(self) -> None:
        self.frequencies.flags.writeable = False

    @property
    def candidates(self) -> Panel:
        """The cases, then the outsiders: people whose membership an attacker wants to know."""
        return Panel(np.concatenate([self.cases.packed, self.outsiders.packed]), self.cases.positions)

    @property
    def members(self) -> npt.NDArray[np.bool_]:
        """Which candidates are cases."""
        return np.arange(len(self.cases) + len(self.outsiders)) < len(self.cases)

    def __repr__(self) -> str:
        groups = f"{len(self.cases):,} cases, {len(self.outsiders):,} outsiders, {len(self.reference):,} reference"
        return f"Genomes({groups}; {self.cases.positions:,} positions, synthetic)"


def genomes(*, people: int, positions: int, seed: int, outsiders: int = 1000, reference: int = 1000) -> Genomes:
    """Return a case group of `people` invented people, and outsiders and reference people of the same population.

    Each position has a frequency, uniform on the multiples of 2^-16 from .05 to .5, and everybody carries the rarer
    variant there with that chance, independently of everything else (real genomes are correlated along a chromosome; a
    panel of positions far apart is not). Reference people are those whom an attacker compares with; outsiders are
    candidates that are not in the case group. The same seed gives the same genomes.

    The draws come from numpy's default generator: fine for invented people, never for noise.

    Cost. One bit of memory and about two nanoseconds a person and position.

    >>> genomes(people=100, positions=5000, seed=1)
    Genomes(100 cases, 1,000 outsiders, 1,000 reference; 5,000 positions, synthetic)
    """
    random = generator(people, seed)
    check_whole("positions", positions, low=1, high=MOST_POSITIONS)
    check_whole("outsiders", outsiders, low=1, high=MOST_BITS)
    check_whole("reference", reference, low=1, high=MOST_BITS)
    if (people + outsiders + reference) * positions > MOST_BITS:
        raise ParameterError(
            f"people times positions may be at most {MOST_BITS:,} in all; take fewer", parameter="positions"
        )
    low, high = (round(end * _LEVELS) for end in FREQUENCY_RANGE)
    levels = random.integers(low, high + 1, positions)
    groups = [_panel(random, levels, size) for size in (people, outsiders, reference)]
    return Genomes(levels / _LEVELS, *groups)


def _panel(random: np.random.Generator, levels: npt.NDArray[np.int64], people: int) -> Panel:
    """Draw carriers: sixteen random bits below the level of the position."""
    positions = len(levels)
    packed = np.empty((people, -(-positions // 8)), dtype=np.uint8)
    step = max(_CHUNK // positions, 1)
    for start in range(0, people, step):
        rows = min(step, people - start)
        drawn = random.integers(0, _LEVELS, (rows, positions), dtype=np.uint16)
        packed[start : start + rows] = np.packbits(drawn < levels, axis=1)
    return Panel(packed, positions)
