"""Hashed projective geometry response: frequencies of keys that nobody can list, from rows of public hashes.

Protocols for keys share the rows of one projective space, each with a public hash of its own.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from discreet.errors import InputError, MissingParameter, ParameterError
from discreet.laws.number import Number
from discreet.local.frequency import FrequencyOracle, Geometry, ProjectiveGeometry
from discreet.local.keys.hashing import PublicHash, public_seed
from discreet.local.keys.keys import Keys
from discreet.local.protocol import (
    Aggregator,
    Integers,
    frequency_of_people,
    local_epsilon,
    number_of_people,
    whole_within,
)
from discreet.privacy.numbers import whole
from discreet.randomness import bits, uniform_below_array

if TYPE_CHECKING:
    from discreet.local.estimates import Frequencies
    from discreet.local.keys.sketch import Sketch

LARGEST_SKETCH = 1 << 22
USUAL_SQUARES = 0.2  # the sum of squared frequencies that the rule for rows takes for granted
_BUCKETS = (1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18)
_SLACK = 1.02
_FEWEST_ROWS = 16
_SPARE = 20  # collisions then cost about a twentieth of the sampling noise
_MOST_ROWS = 1 << 16
_MOST_PEOPLE = 1 << 62


@dataclass(frozen=True, kw_only=True, eq=False)
class KeyOracle(FrequencyOracle):
    """An oracle of keys that nobody can list: a report is a row and a point of PG(dimension - 1, prime)."""

    keys: Keys | str  # held as text
    prime: int
    dimension: int
    seed: int

    def __post_init__(self) -> None:
        super().__post_init__()
        kind = self.keys if isinstance(self.keys, Keys) else Keys.from_text(self.keys)
        self._take(keys=kind.to_text(), prime=self.geometry.prime, dimension=self.geometry.dimension)
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
        """Return keys as words; raise InputError on anything else, without showing it."""
        return self.kind.encode(values)

    def corners(self) -> tuple[Any, ...]:
        """Return the keys of four rows of words, those that stand for keys."""
        words = np.zeros((4, self.kind.words), dtype=np.uint32)
        words[:, 0] = [0, 1 << 30, 3 << 29, 7 << 28]
        return tuple(self.kind.decode(words[self.kind.legal(words)]))


@dataclass(frozen=True, kw_only=True, eq=False)
class HashedGeometry(KeyOracle):
    """Draw a row, hash the key in it to a point of PG(dimension - 1, prime), and report row and point of its plane.

    Every row hashes keys to the K points by a public hash of its own; the report is row * K + a point, on the plane of
    the key's point with probability p. Whoever knows a key can look up its estimate in a `sketch` of the reports.
    Specs of one seed but different `purpose` have independent hashes.

    Privacy. Pure epsilon-local privacy, whatever the keys, the seed and the hash.
        Proof: a key x prefers H(x), the points of the plane of its point in every row: S out of K points in each of
        the R rows, so R S out of R K. The row is drawn uniformly and without looking at the key, so the report is
        uniform on H(x) with probability p and uniform off it otherwise: a `FrequencyOracle`.
    Accuracy. With c the probability that two keys share a bucket, r the probability that the report of a key lies on
        the plane of another point, and r' = c p + (1 - c) r: the frequency (reports in H(x) / n - r') / (p - r') is
        unbiased over the seed, with variance (f p (1 - p) + (1 - f) r' (1 - r')) / (n (p - r')^2)
        + c (F - (1 - f) / n) / (R (1 - c)), up to 2^-28 / R, where F is the sum of the squared frequencies of all other
        keys.
        Proof: let C_y be the part of the rows in which y meets x. A report of y lies in H(x) with probability
        r + (p - r) C_y, and E C_y = c, so its mean is r': unbiased. Given the hashes, reports are independent and the
        variance of their number in H(x) is n f p (1 - p) plus, for every other y, n f_y P_y (1 - P_y) with
        P_y = r + (p - r) C_y, which is n f_y (r' (1 - r') - (p - r)^2 Var C_y) on average. Their mean varies with the
        hashes by n^2 (p - r)^2 Var(sum f_y C_y), where Var C_y = c (1 - c) / R and the C_y are uncorrelated up to
        2^-29 / R (`PublicHash`). Add both, and divide by n^2 (p - r')^2 = n^2 (p - r)^2 (1 - c)^2.
    Cost. Three 64-bit words and about 0.07 microseconds a report; R look-ups of 1.5 nanoseconds a key asked for.
    Reference. Feldman, Nelson, Nguyen, Talwar 2022; Charikar, Chen, Farach-Colton 2002; Cormode, Muthukrishnan 2005.

    >>> spec = HashedGeometry.best(epsilon=1, people=100_000, keys="text:24", seed=7)
    >>> spec.prime, spec.dimension, spec.rows, spec.report_bits
    (3, 7, 128, 18)
    """

    protocol: ClassVar[str] = "hashed-geometry"
    rows: int
    purpose: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._take(rows=whole_within(self.rows, 1, _MOST_ROWS, name="rows"))
        self._take(purpose=self.hash.purpose)

    @classmethod
    def best(
        cls, *, epsilon: Number, people: int, keys: Keys | str, seed: int | None = None, largest: int = LARGEST_SKETCH
    ) -> Self:
        """Return the spec for an expected number of people: prime and dimension of least variance, then enough rows.

        The geometry is the smallest of at least 1024 points whose variance is within 2 % of the least, sixteen rows of
        it allowing. The rows are the least power of two, and at least 16, for which collisions add a twentieth to the
        variance of a rare key if the squared frequencies of all keys sum to 0.2: R K >= 20 * 0.2 n (e^epsilon - 1)^2 /
        (4 e^epsilon); but no more than `largest` cells allow. Beyond an epsilon of 10 no sketch of that size is near
        the optimum. A seed is drawn unless one is given; it is public.
        """
        if keys is None:
            raise MissingParameter("keys= says what a key is: IntegerKeys(64), TextKeys(32), ...", parameter="keys")
        exact, expected = local_epsilon(epsilon), min(number_of_people(people), _MOST_PEOPLE)
        most, public = whole(largest, name="largest"), bits(128) if seed is None else seed
        found: list[Self] = []
        for space in _spaces(exact):
            rows = _rows(space.optimum(expected), space.cells, most)
            if rows:
                prime, dimension = space.prime, space.dimension
                found.append(cls(epsilon=exact, keys=keys, prime=prime, dimension=dimension, rows=rows, seed=public))
        if not found:
            words = f"largest is the number of cells of the sketch, at least {_FEWEST_ROWS * _BUCKETS[0]}"
            raise ParameterError(f"{words}, more for a large epsilon", parameter="largest")
        least = min(spec.variance(expected, squares=0.0) for spec in found)
        return next(spec for spec in found if spec.variance(expected, squares=0.0) <= _SLACK * least)

    @cached_property
    def hash(self) -> PublicHash:
        """The public hash of keys to points, row by row."""
        return PublicHash(
            seed=self.seed, rows=self.rows, range=self.geometry.points, words=self.kind.words, purpose=self.purpose
        )

    @property
    def all_rows(self) -> int:
        """The number of rows."""
        return self.rows

    @property
    def elsewhere(self) -> Fraction:
        """The probability r that a report lies on the plane of another point, exactly."""
        p = self.preference
        return p * Fraction(self.geometry.common, self.geometry.on_plane) + (1 - p) / self.prime

    @property
    def shared(self) -> Fraction:
        """The probability r' that a report of another key lies in H(x), over the seed, exactly."""
        collision = self.hash.collision
        return collision * self.preference + (1 - collision) * self.elsewhere

    def preferred(self, item: Any) -> Integers:
        """Return the outputs that a key prefers, in order."""
        points = self.hash.buckets(self.kind.encode([item]))[0]
        planes = [row * self.geometry.points + self.geometry.plane(int(point)) for row, point in enumerate(points)]
        return np.concatenate(planes)

    def randomize(self, items: Any) -> Integers:
        """Draw a row, hash, and draw a point."""
        rows = uniform_below_array(self.rows, len(items))
        return rows * self.geometry.points + self.geometry.draw(self.hash.bucket(items, rows), self.coin)

    def sketch(self, collected: Aggregator | Integers) -> Sketch:
        """Decode collected reports once, to be asked for any number of keys.

        Give the aggregator: then its spec is compared. A bare histogram of reports is taken as one of this spec.
        """
        from discreet.local.keys.sketch import Sketch

        if isinstance(collected, Aggregator) and collected.spec.digest != self.digest:
            raise InputError("these reports were made under another spec; nothing was decoded")
        counts = np.asanyarray(collected.counts if isinstance(collected, Aggregator) else collected)
        whole_numbers = counts.dtype.kind in "iu" and not isinstance(counts, np.ma.MaskedArray)
        if counts.shape != (self.cells,) or not whole_numbers or int(counts.min()) < 0:
            raise InputError(f"collected must be an aggregator of this spec, or {self.cells} integers of at least 0")
        if float(counts.sum(dtype=np.float64)) > _MOST_PEOPLE:
            raise InputError("a histogram must have at most 2^62 reports")
        rows = counts.astype(np.int64).reshape(self.rows, -1)
        return Sketch(self, int(rows.sum()), self.geometry.plane_sums(rows), rows.sum(axis=1))

    def estimate(self, counts: Integers, people: int) -> Frequencies:
        """Raise ParameterError: keys cannot be listed, so they have to be named."""
        del counts, people
        raise ParameterError("keys cannot be listed: name them, as in spec.sketch(aggregator).estimate(keys)")

    def variance(self, people: int, frequency: float = 0.0, squares: float = USUAL_SQUARES) -> float:
        """Return the variance over reports and seed, `squares` being the sum of the other keys' squared frequencies."""
        p, r, held = float(self.preference), float(self.shared), float(frequency_of_people(frequency))
        count, others = number_of_people(people), float(frequency_of_people(squares))
        sampling = (held * p * (1 - p) + (1 - held) * r * (1 - r)) / (count * (p - r) ** 2)
        return sampling + self.collisions * max(others - (1 - held) / count, 0.0)

    @property
    def collisions(self) -> float:
        """The variance that collisions add, if the squared frequencies of the other keys sum to 1: c / (R (1 - c))."""
        collision = self.hash.collision
        return float(collision / (self.rows * (1 - collision)))

    def _gain(self) -> float:
        """Return (1 - r') / (p - r')."""
        return float((1 - self.shared) / (self.preference - self.shared))

    def derived(self) -> dict[str, Any]:
        """Return the coin, the sizes, and what a client needs of keys and hash."""
        return {**super().derived(), "points": self.geometry.points, "words": self.kind.words}


def _spaces(epsilon: Fraction) -> Iterator[ProjectiveGeometry]:
    """Yield the best projective spaces of several sizes; at a large epsilon some do not exist."""
    for size in _BUCKETS:
        with suppress(ParameterError):
            yield ProjectiveGeometry.best(epsilon=epsilon, categories=size)


def _rows(optimum: float, points: int, largest: int) -> int:
    """Return enough rows for collisions to cost little, within the cells; 0 if these allow too few."""
    most = largest // points
    wanted = 1 << max(math.ceil(math.log2(_SPARE * USUAL_SQUARES / (optimum * points))), 0)
    return 0 if most < _FEWEST_ROWS else min(max(wanted, _FEWEST_ROWS), most, _MOST_ROWS)
