"""Heavy hitters: the most frequent keys of a fleet, found although nobody can list the keys."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from discreet.errors import InputError, MissingParameter, ParameterError
from discreet.local.frequency import ProjectiveGeometry
from discreet.local.heavy_hitters.addresses import Address, address_of
from discreet.local.heavy_hitters.levels import choose_levels, signal_needed
from discreet.local.keys import HashedGeometry, KeyOracle, Keys, Sketch, constant, public_seed
from discreet.local.protocol import Aggregator, Integers, is_integer, local_epsilon, number_of_people
from discreet.randomness import bits, uniform_below_array

if TYPE_CHECKING:
    from discreet.local.estimates import Frequencies
    from discreet.local.heavy_hitters.result import Hitters

_MANY_BUCKETS, _FEW_BUCKETS, _LARGEST_ROW = 2048, 512, 1 << 15
_GROUP = 1 << 31  # the purpose of the seeds of groups
_MOST_CELLS, _MOST_PEOPLE = 1 << 26, 1 << 53
_MOST_ROWS = 1 << 16  # of a level
_LARGEST_STEP = 16  # bits: a node has at most 2^16 children


@dataclass(frozen=True, kw_only=True, eq=False)
class HeavyHitters(KeyOracle):
    """Each person reports once, on a prefix of the address of their key; the collector follows the frequent prefixes.

    Rows are dealt out to levels: levels[i] is the length of the prefixes of level i and rows[i] its number of rows.
    The last entry of `rows` belongs to people who are held out and report on their whole key. A client draws one of all
    rows, and reports the prefix of its level by `HashedGeometry`. `plan` chooses everything by a public rule.

    Privacy. Pure epsilon-local privacy, whatever the keys, the levels and the seed.
        Proof: a key prefers the points of one plane in every row: S of K points in each of all R rows, so R S out of
        R K outputs. The row is drawn uniformly without looking at the key, and decides which prefix is reported. So the
        report is uniform on the preferred outputs with probability p and uniform off them otherwise: an `Oracle`.
    Accuracy. The estimate of a key found, from the held-out people, is that of `HashedGeometry` for their number, and
        is independent of what was found, given who is held out.
        Proof: people are held out by the row that they draw, independently of their keys. Given who they are, reports
        of different people are independent still, and the search reads those of the others only.
    Cost. A report is that of `HashedGeometry`. The search looks at 2^15 prefixes a level (2^17 for keys of more than 48
        bits), twice, with one look-up of 2 nanoseconds for every row of the level: a tenth of a second for keys of 48
        bits, whatever the number of people.
    Reference. Bassily, Nissim, Stemmer, Thakurta 2017; Wang, Li, Jha 2021 (prefixes, one report each); Feldman, Nelson,
        Nguyen, Talwar 2022 (the reports).

    >>> spec = HeavyHitters.plan(people=100_000, epsilon=4, keys="integer:32", seed=1)
    >>> spec.levels, spec.rows, spec.report_bits
    ((16, 20, 24, 28, 32), (44, 12, 13, 14, 32, 13), 19)
    """

    protocol: ClassVar[str] = "heavy-hitters"
    people: int
    levels: tuple[int, ...]
    rows: tuple[int, ...]

    def __post_init__(self) -> None:
        """Check the people, the levels and the rows."""
        super().__post_init__()
        object.__setattr__(self, "people", _planned(self.people))
        object.__setattr__(self, "levels", _whole_numbers(self.levels, "levels"))
        object.__setattr__(self, "rows", _whole_numbers(self.rows, "rows"))
        self._check_levels()
        if self.cells > _MOST_CELLS:
            raise ParameterError("these rows have more than 2^26 cells: take fewer, or a smaller dimension")

    def _check_levels(self) -> None:
        """Levels grow from the root to the whole address."""
        address, levels = self.address, self.levels
        steps = all(0 < there - here <= _LARGEST_STEP for here, there in pairwise(levels))
        units = all((level - address.first) % address.unit == 0 for level in levels[:-1])
        if not (levels[0] == address.first and levels[-1] == address.bits and steps and units):
            raise ParameterError(
                f"levels grow from {address.first} bits to the {address.bits} of an address, in steps of "
                f"{address.unit} to {_LARGEST_STEP}: let HeavyHitters.plan choose them",
                parameter="levels",
            )
        if len(self.rows) != len(levels) + 1 or not 1 <= min(self.rows) <= max(self.rows) <= _MOST_ROWS:
            raise ParameterError(
                f"rows are one number from 1 to {_MOST_ROWS} for each level, and one for those held out",
                parameter="rows",
            )

    @classmethod
    def plan(cls, *, people: int, epsilon: Any, keys: Keys | str, seed: int | None = None) -> Self:
        """Return the spec for an expected number of people: everything is chosen from public numbers.

        The geometry is that of `ProjectiveGeometry.best` for 2048 values, or for 512 where it would have more than 2^15
        points (at a large epsilon); levels and rows are those of `choose_levels`. A seed is drawn unless one is given;
        it is public.
        """
        if keys is None:
            raise MissingParameter("keys= says what a key is: IntegerKeys(64), TextKeys(32), ...", parameter="keys")
        kind = keys if isinstance(keys, Keys) else Keys.from_text(keys)
        exact = local_epsilon(epsilon)
        chosen = ProjectiveGeometry.best(epsilon=exact, values=_MANY_BUCKETS)
        if chosen.cells > _LARGEST_ROW:
            chosen = ProjectiveGeometry.best(epsilon=exact, values=_FEW_BUCKETS)
        public = bits(128) if seed is None else public_seed(seed)
        error = math.sqrt(chosen.optimum(_planned(people)))
        levels = choose_levels(address_of(kind, public), error=error, points=chosen.cells)
        return cls(
            epsilon=exact,
            keys=kind.to_text(),
            people=people,
            prime=chosen.prime,
            dimension=chosen.dimension,
            levels=levels.lengths,
            rows=levels.rows,
            seed=public,
        )

    @cached_property
    def address(self) -> Address:
        """Where keys stand in the tree."""
        return address_of(self.kind, self.seed)

    @cached_property
    def groups(self) -> tuple[HashedGeometry, ...]:
        """The oracle of every level, and that of the held-out people, as if it had been asked alone."""
        lengths = (*self.levels, self.levels[-1])
        return tuple(
            HashedGeometry(
                epsilon=self.epsilon,
                keys=self.address.level_kind(length).to_text(),
                prime=self.prime,
                dimension=self.dimension,
                rows=rows,
                seed=constant(self.seed, _GROUP, place, 0),
            )
            for place, (length, rows) in enumerate(zip(lengths, self.rows, strict=True))
        )

    @property
    def all_rows(self) -> int:
        """The rows of all levels and of those held out."""
        return sum(self.rows)

    @property
    def _starts(self) -> Integers:
        """The first row of every group, and the number of rows."""
        return np.cumsum([0, *self.rows], dtype=np.int64)

    def preferred(self, item: Any) -> Integers:
        """Return the outputs that a key prefers, in order."""
        address = self.address.of(self.kind.encode([item]))
        planes = []
        for start, group, length in zip(self._starts, self.groups, (*self.levels, self.levels[-1]), strict=False):
            points = group.hash.buckets(self.address.prefix(address, length))[0]
            planes += [
                (start + row) * self.geometry.points + self.geometry.plane(int(point))
                for row, point in enumerate(points)
            ]
        return np.concatenate(planes)

    def randomise(self, items: Any) -> Integers:
        """Draw a row, hash the prefix that it asks for, and draw a point."""
        starts = self._starts
        rows = uniform_below_array(int(starts[-1]), len(items))
        addresses = self.address.of(items)
        groups = np.searchsorted(starts, rows, side="right") - 1
        points = np.empty(len(items), dtype=np.int64)
        for place, (group, length) in enumerate(zip(self.groups, (*self.levels, self.levels[-1]), strict=True)):
            here = np.flatnonzero(groups == place)
            prefixes = self.address.prefix(addresses[here], length)
            points[here] = group.hash.bucket(prefixes, rows[here] - starts[place])
        return rows * self.geometry.points + self.geometry.draw(points, self.coin)

    def sketches(self, counts: Integers) -> tuple[Sketch, ...]:
        """Decode a histogram of reports: one table for each level, and that of the held-out people."""
        counts = np.asarray(counts)
        if counts.shape != (self.cells,) or counts.dtype.kind not in "iu":
            raise InputError(f"a histogram of these reports is {self.cells} integers")
        parts = [part.ravel() for part in np.split(counts.reshape(-1, self.geometry.points), self._starts[1:-1])]
        reported = [part.any() for part in parts]
        if any(reported) and not all(reported):
            raise InputError("there are levels without any report: so few people cannot be searched")
        return tuple(group.sketch(part) for group, part in zip(self.groups, parts, strict=True))

    def find(
        self,
        aggregator: Aggregator,
        *,
        k: int = 16,
        certainty: float = 0.5,
        alphabet: str | bytes | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Hitters:
        """Return the most frequent keys, at most k, whose probability of being real is `certainty` or more.

        That probability comes from the model of the search, in which four heavy keys are expected at the limit of what
        can be found. It is not a guarantee, and hostile reports can plant a key; measured, two or three of a hundred
        keys listed at the usual `certainty` were false. The shares and their intervals come from the people who were
        held out and do not rest on that model.

        With `certainty=0` the list is filled up to k with the best guesses; of texts, bytes and numbers beyond 64 bits
        there may be fewer, since a guess must agree with its fingerprint. An `alphabet`, the public letters that
        texts are made of, makes the search of texts easier; keys with other letters are not found then.
        """
        from discreet.local.heavy_hitters.result import find

        return find(self, aggregator, k=k, certainty=certainty, alphabet=alphabet, progress=progress)

    def estimate(self, counts: Integers, people: int) -> Frequencies:
        """Refuse: keys cannot be listed, so they have to be found."""
        del counts, people
        raise ParameterError("keys cannot be listed: spec.find(aggregator) finds the frequent ones")

    def variance(self, people: int, fraction: float = 0.0) -> float:
        """Return the variance of the final estimate of a key, which is made by the held-out people only."""
        held_out = max(round(number_of_people(people) * self.rows[-1] / sum(self.rows)), 1)
        return self.groups[-1].variance(held_out, fraction)

    def detectable(self, people: int | None = None, *, length: int | None = None) -> float:
        """Return about the least share of a key that is found every other time.

        It is sqrt(2 (b ln 2 - ln 4)) standard errors of all people who search, b the bits of a key: with less, one of
        the 2^b keys that nobody holds looks as frequent by chance. `length` is that of a text in bytes.
        """
        count = self.people if people is None else number_of_people(people)
        search = count * (1 - self.rows[-1] / sum(self.rows))
        group = self.groups[0]
        p, r = float(group.preference), float(group.shared)
        error = math.sqrt(r * (1 - r) / search) / (p - r)
        longest = self.kind.bits // 8
        if length is not None and (not is_integer(length) or not 1 <= length <= longest):
            raise ParameterError(f"length is that of a key in bytes, from 1 to {longest}", parameter="length")
        return signal_needed(self.kind.bits if length is None else 8 * length) * error

    def _gain(self) -> float:
        """Return the most that one hostile report adds to the number of people of a prefix at its own level."""
        return max(group.poisoning_gain * sum(self.rows) / group.rows for group in self.groups)

    def derived(self) -> dict[str, Any]:
        """Return the coin, the sizes, and what a client needs of hashes."""
        seeds = [str(group.seed) for group in self.groups]
        return {**super().derived(), "points": self.geometry.points, "seeds": seeds}


def _planned(people: object) -> int:
    """Return a number of people that every reader of JSON takes for what it is."""
    count = number_of_people(people)
    if count >= _MOST_PEOPLE:
        raise ParameterError("a spec is planned for fewer than 2^53 people", parameter="people")
    return count


def _whole_numbers(values: Any, name: str) -> tuple[int, ...]:
    """Return a short tuple of ints."""
    if not isinstance(values, tuple | list) or not 1 <= len(values) <= 1 << 11:
        raise ParameterError(f"{name} are a tuple of ints", parameter=name)
    if not all(isinstance(value, int | np.integer) and not isinstance(value, bool) for value in values):
        raise ParameterError(f"{name} are a tuple of ints", parameter=name)
    return tuple(int(value) for value in values)
