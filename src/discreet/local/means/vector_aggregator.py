"""The side of the collector for means of vectors: integer sums of directions that add up the same in any order.

The mean vector that they estimate has intervals for each coordinate and for all at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from discreet.display import Table, format_number
from discreet.display.plots import Plot
from discreet.errors import InputError, ParameterError
from discreet.local.estimates import EstimateColumns, Intervals, allowed_error, stated_target, two_sided_normal
from discreet.local.means.directions import UNIT_BITS
from discreet.local.means.unit_vectors import UnitVectors
from discreet.local.protocol import (
    Aggregator,
    Floats,
    Integers,
    Spec,
    array_or_none,
    check_room,
    is_integer,
    sealed,
    unsealed,
    whole_or_none,
)
from discreet.privacy import Estimate, Target
from discreet.privacy.numbers import whole

_MAGIC = b"DLV1"
_CHUNK = 1 << 20
_MOST_PEOPLE = 1 << 38


class VectorAggregator(Aggregator):
    """The sums of the reported directions and of their squares, coordinate by coordinate, as integers.

    Its size is twice the dimension, whatever the number of people. A report is a whole number, as in `Aggregator`;
    those out of range or of another kind are refused one by one and counted in `refused`.

    Accuracy. Any split and order of the same reports gives the same bytes.
        Proof: a report adds integers that depend on its number alone; integer sums are associative and commutative, and
        2^38 people, at most 2^24 each, stay below 2^63.

    >>> from fractions import Fraction
    >>> from discreet.local.means.unit_vectors import UnitVectors
    >>> aggregator = UnitVectors(epsilon=Fraction(2), dimension=4).aggregator()
    >>> aggregator.add([5, 17, -1]).people, aggregator.refused
    (2, 1)
    """

    most = _MOST_PEOPLE
    spec: UnitVectors

    def __init__(self, spec: UnitVectors) -> None:
        if not isinstance(spec, UnitVectors):
            raise ParameterError("spec must be a UnitVectors", parameter="spec")
        self.spec = spec
        self.counts = np.zeros(2 * spec.dimension, dtype=np.int64)
        self.refused = self._seen = 0

    @property
    def sums(self) -> Integers:
        """The sums of the directions, in units of 2^-24."""
        return self.counts[: self.spec.dimension]

    @property
    def squares(self) -> Integers:
        """The sums of their squares."""
        return self.counts[self.spec.dimension :]

    @property
    def people(self) -> int:
        """The number of reports accepted."""
        return self._seen - self.refused

    def _count(self, column: Any) -> tuple[int, int]:
        """Add the directions of one column of reports."""
        rows = _column(column)
        return self._weighed(rows, np.ones(len(rows), dtype=np.int64))

    def add_counts(self, reports: Any, counts: Any) -> Self:
        """Add reports that were counted elsewhere: each with the number of people who sent it."""
        rows, times = _column(reports), _column(counts)
        if len(rows) != len(times) or (len(times) and (times.dtype.kind not in "iu" or int(times.min()) < 0)):
            raise InputError("counts must be whole numbers of at least 0, one for each report; nothing was counted")
        return self._note(*self._weighed(rows, times))

    def _weighed(self, rows: NDArray[Any], times: NDArray[Any]) -> tuple[int, int]:
        """Add the directions of reports that were sent `times` times each, some at a time."""
        # a sum of floats cannot wrap round, and is off by far less than the margin below 2^63
        check_room(self._seen + float(times.sum(dtype=np.float64)), self.most)
        good, numbers = _numbers(rows, self.spec.cells)
        accepted = times[good].astype(np.int64)
        step = max(1, _CHUNK // self.spec.dimension)
        sums, squares = self.sums, self.squares
        for start in range(0, numbers.size, step):
            directions = self.spec.codebook.directions(numbers[start : start + step])
            weights = accepted[start : start + step, None]
            sums += (directions * weights).sum(axis=0)
            squares += ((directions * directions >> UNIT_BITS) * weights).sum(axis=0)
        refused = int(times[~good].sum())
        return int(accepted.sum()) + refused, refused

    def to_bytes(self) -> bytes:
        """Return magic, digest, people, refused and the sums, little-endian, and a checksum that shows damage."""
        columns = np.concatenate([[self.people, self.refused], self.counts]).astype("<i8")
        return sealed(_MAGIC + self.spec.digest + columns.tobytes())

    @classmethod
    def from_bytes(cls, spec: Spec, data: bytes) -> Self:
        """Read an aggregate of the same spec; raise InputError on anything else."""
        made, head = cls(cast("UnitVectors", spec)), len(_MAGIC) + 32
        if not isinstance(data, bytes | bytearray | memoryview):
            raise InputError("from_bytes takes the bytes of an aggregate of vectors")
        raw = bytes(data)
        if len(raw) != len(made.to_bytes()) or raw[: len(_MAGIC)] != _MAGIC:
            raise InputError("this is not an aggregate of vectors of this dimension")
        if raw[len(_MAGIC) : head] != spec.digest:
            raise InputError("this aggregate was made under another spec")
        body = unsealed(raw)
        if body is None:
            raise InputError("this aggregate is damaged: its checksum does not match")
        columns = np.frombuffer(body, dtype="<i8", offset=head).astype(np.int64)
        people, refused = int(columns[0]), int(columns[1])
        made.counts[:] = columns[2:]
        if min(people, refused) < 0 or people + refused > _MOST_PEOPLE or made._impossible(people):
            raise InputError("the sums of this aggregate are impossible for its number of reports")
        return made._note(people + refused, refused)

    def _impossible(self, people: int) -> bool:
        """Say whether a sum is larger than this number of reports can make it."""
        largest = people << UNIT_BITS
        return int(self.counts.min()) < -largest or int(self.counts.max()) > largest or int(self.squares.min()) < 0

    def estimate(self) -> VectorMean:
        """Estimate the mean vector."""
        if self.people < 1:
            raise InputError("there are no reports to estimate from")
        unit = float(1 << UNIT_BITS)
        means, squares = self.sums / unit / self.people, self.squares / unit / self.people
        spread = np.maximum(squares - means**2, 0.0) / max(self.people - 1, 1)
        if self.people == 1:
            spread[:] = 1.0  # one report says nothing about its spread; a coordinate is at most 1
        errors = np.sqrt(spread * (1 + self.people / self.spec.codebooks))
        return VectorMean(self.spec, self.people, means / self.spec.normalization, errors / self.spec.normalization)


def _column(values: Any) -> NDArray[Any]:
    """Return one column; Python objects stay as they are, so that each can be judged by itself."""
    if isinstance(values, np.ma.MaskedArray) and values.ndim == 1:
        values = [None] * values.size if values.dtype.kind not in "iufO" else values.tolist()
    if isinstance(values, list | tuple):
        plain = all(type(value) is int and abs(value) < 1 << 62 for value in values)
        if plain:
            return np.array(values, dtype=np.int64)
        column = np.empty(len(values), dtype=object)
        for place, value in enumerate(values):  # one by one: numpy would spread nested lists out
            column[place] = value
        return column
    array = None if isinstance(values, str | bytes | bytearray | dict | set) else array_or_none(values)
    if array is None or array.ndim != 1:
        raise InputError("reports must be a batch, a list or one column of integers; nothing was counted")
    return array


def _numbers(rows: NDArray[Any], cells: int) -> tuple[NDArray[np.bool_], Integers]:
    """Say which entries are reports, and return those."""
    kind = rows.dtype.kind
    if kind == "O":
        read = [whole_or_none(row[0] if type(row) is tuple and len(row) == 1 else row) for row in rows.tolist()]
        places = [-1 if place is None or not 0 <= place < cells else place for place in read]
        rows = np.array(places, dtype=np.int64)
    if kind == "f":
        rows = rows.astype(np.float64)
    if kind not in "Oiuf":
        return np.zeros(len(rows), dtype=np.bool_), np.empty(0, dtype=np.int64)
    good = (rows >= 0) & (rows < cells)
    if kind == "f":
        good &= rows == np.floor(rows)  # false for NaN
    return good, rows[good].astype(np.int64)


_ENOUGH_PEOPLE = 1000
_SHOWN = 10


@dataclass(frozen=True, eq=False, repr=False)
class VectorMean(EstimateColumns):
    """The estimated mean of the vectors of `people`: unbiased over the public directions, with standard errors.

    Standard errors come from the spread of the decoded reports: they count the noise and the spread of the vectors, so
    that they are right for the population and on the safe side for the table. They also count the bias that C codebooks
    leave for n people, as if the codebooks were drawn at random: a factor of sqrt(1 + n / C).

    Accuracy. `intervals` are normal approximations from 1000 people on; with fewer they hold for every table, over the
        choice of C codebooks of random directions, by Hoeffding's inequality. `together=True` makes all of them
        hold at once.
        Proof: a decoded coordinate lies in [-1/m, 1/m]. Given the codebooks the reports are independent, and their mean
        has the conditional mean as its center, which is itself a mean over C independent codebooks; by Hoeffding's
        lemma both errors together are as concentrated as a normal variable of variance (1/n + 1/C) / m^2. The chance
        that any of d intervals misses is at most d times that of one, each made for the d-th part of the error.
    Reference. Hoeffding 1963; Bonferroni.
    """

    spec: UnitVectors
    people: int
    value: Floats
    standard_error: Floats

    @property
    def _line(self) -> str:
        return "coordinate"

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self)))

    @property
    def distance(self) -> float:
        """The expected distance from the true mean, at most: the root of 1 / (n m^2)."""
        return math.sqrt(self.spec.variance(self.people))

    def intervals(
        self, *, confidence: float = 0.95, together: bool = False, target: Target = Target.TABLE
    ) -> Intervals:
        """Return an interval for every coordinate, which holds for the table and for the population.

        Each contains its estimate, also outside [-1, 1]. With `together=True` all of them hold at once.
        """
        rest = allowed_error(confidence) / (len(self) if together else 1)
        if self.people < _ENOUGH_PEOPLE:
            spread = 1 / self.people + 1 / self.spec.codebooks
            half = np.full(len(self), math.sqrt(2 * math.log(2 / rest) * spread) / self.spec.normalization)
        else:
            half = two_sided_normal(rest) * self.standard_error
        low, high = self.value - half, self.value + half
        return Intervals(low, high, float(confidence), stated_target(target), bool(together))

    def of(self, coordinate: int, *, confidence: float = 0.95, target: Target = Target.TABLE) -> Estimate:
        """Return one coordinate with its interval, which holds for the table and for the population."""
        if not is_integer(coordinate) or not 0 <= coordinate < len(self):
            raise ParameterError(f"coordinate must be an int from 0 to {len(self) - 1}", parameter="coordinate")
        ends = self.intervals(confidence=confidence, target=target)
        method = "normal approximation" if self.people >= _ENOUGH_PEOPLE else "Hoeffding's inequality"
        return Estimate(
            value=float(self.value[coordinate]),
            low=float(ends.low[coordinate]),
            high=float(ends.high[coordinate]),
            confidence=confidence,
            target=target,
            guarantee=self.spec.guarantee,
            method=method,
            cost=self.spec.loss,
        )

    def table(self, k: int = _SHOWN, *, confidence: float = 0.95) -> Table:
        """Return the first k coordinates, with intervals that hold for all of them at once."""
        shown = min(whole(k, name="k"), len(self))
        caption = (
            f"{self.people:,} people, epsilon {format_number(self.spec.epsilon)} each: {shown:,} of {len(self):,} "
            f"coordinates, {100 * confidence:.6g} % intervals that hold together; distance about {self.distance:.3g}"
        )
        names = [self._line, "mean", "standard error", "low", "high"]
        return Table(names, self._lines(range(shown), confidence), caption)

    def plot(self, k: int = 2 * _SHOWN, *, confidence: float = 0.95, title: str = "") -> Plot:
        """Draw the first k coordinates with intervals that hold together; needs the extra `plot`."""
        shown = range(min(whole(k, name="k"), len(self)))
        return self._drawn(shown, confidence, title or "Coordinates of the mean", "mean")

    def __repr__(self) -> str:
        return f"VectorMean({len(self)} coordinates, {self.people:,} people, distance about {self.distance:.3g})"
