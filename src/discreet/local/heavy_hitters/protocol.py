"""Heavy hitters: the most frequent keys of a fleet, found although nobody can list the keys.

The frequencies of the keys that were found are estimated from people who were held out of the search.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from discreet.display import Progress, Table, format_number, listener
from discreet.display.plots import Plot
from discreet.errors import InputError, MissingParameter, ParameterError
from discreet.laws.number import Number
from discreet.local.estimates import EstimateColumns, Frequencies, Intervals, allowed_error, stated_target
from discreet.local.frequency import ProjectiveGeometry
from discreet.local.heavy_hitters.addresses import Address, address_of, as_bytes
from discreet.local.heavy_hitters.levels import choose_levels, signal_needed
from discreet.local.heavy_hitters.search import FoundAddresses, possible, search
from discreet.local.keys import HashedGeometry, KeyOracle, Keys, Sketch, constant, public_seed
from discreet.local.protocol import Aggregator, Floats, Integers, is_integer, local_epsilon, number_of_people
from discreet.privacy import Target
from discreet.privacy.numbers import plain, whole
from discreet.randomness import bits, uniform_below_array

_MANY_BUCKETS, _FEW_BUCKETS, _LARGEST_ROW = 2048, 512, 1 << 15
_GROUP = 1 << 31  # the purpose of the seeds of groups
_MOST_CELLS, _MOST_PEOPLE = 1 << 26, 1 << 53
_MOST_ROWS = 1 << 16  # of a level
_LARGEST_STEP = 16  # bits: a node has at most 2^16 children
_REAL = 0.5
_MOST_PEELED = 1024
_LARGEST_LIST = 1 << 10


@dataclass(frozen=True, kw_only=True, eq=False)
class HeavyHitters(KeyOracle):
    """Each person reports once, on a prefix of the address of their key; the collector follows the frequent prefixes.

    Rows are dealt out to levels: levels[i] is the length of the prefixes of level i and rows[i] its number of rows.
    The last entry of `rows` belongs to people who are held out and report on their whole key. A client draws one of all
    rows, and reports the prefix of its level by `HashedGeometry`. `plan` chooses everything by a public rule.

    Privacy. Pure epsilon-local privacy, whatever the keys, the levels and the seed.
        Proof: a key prefers the points of one plane in every row: S of K points in each of all R rows, so R S out of
        R K outputs. The row is drawn uniformly without looking at the key, and decides which prefix is reported. So the
        report is uniform on the preferred outputs with probability p and uniform off them otherwise: a
        `FrequencyOracle`.
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
        super().__post_init__()
        self._take(people=_planned(self.people))
        self._take(**{name: _whole_numbers(getattr(self, name), name) for name in ("levels", "rows")})
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
    def plan(cls, *, people: int, epsilon: Number, keys: Keys | str, seed: int | None = None) -> Self:
        """Return the spec for an expected number of people: everything is chosen from public numbers.

        The geometry is that of `ProjectiveGeometry.best` for 2048 categories, or for 512 where it would have more than
        2^15 points (at a large epsilon); levels and rows are those of `choose_levels`. A public seed is drawn unless
        one is given.
        """
        if keys is None:
            raise MissingParameter("keys= says what a key is: IntegerKeys(64), TextKeys(32), ...", parameter="keys")
        kind = keys if isinstance(keys, Keys) else Keys.from_text(keys)
        exact = local_epsilon(epsilon)
        chosen = ProjectiveGeometry.best(epsilon=exact, categories=_MANY_BUCKETS)
        if chosen.cells > _LARGEST_ROW:
            chosen = ProjectiveGeometry.best(epsilon=exact, categories=_FEW_BUCKETS)
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
        return tuple(
            HashedGeometry(
                epsilon=self.epsilon,
                keys=self.address.level_kind(length).to_text(),
                prime=self.prime,
                dimension=self.dimension,
                rows=rows,
                seed=constant(self.seed, _GROUP, place, 0),
            )
            for place, (length, rows) in enumerate(zip(self._lengths, self.rows, strict=True))
        )

    @property
    def _lengths(self) -> tuple[int, ...]:
        """The lengths of the prefixes of every group; those held out report on their whole key."""
        return (*self.levels, self.levels[-1])

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
        for start, group, length in zip(self._starts, self.groups, self._lengths, strict=False):
            points = group.hash.buckets(self.address.prefix(address, length))[0]
            planes += [
                (start + row) * self.geometry.points + self.geometry.plane(int(point))
                for row, point in enumerate(points)
            ]
        return np.concatenate(planes)

    def randomize(self, items: Any) -> Integers:
        """Draw a row, hash the prefix that it asks for, and draw a point."""
        starts = self._starts
        rows = uniform_below_array(int(starts[-1]), len(items))
        addresses = self.address.of(items)
        groups = np.searchsorted(starts, rows, side="right") - 1
        points = np.empty(len(items), dtype=np.int64)
        for place, (group, length) in enumerate(zip(self.groups, self._lengths, strict=True)):
            here = np.flatnonzero(groups == place)
            prefixes = self.address.prefix(addresses[here], length)
            points[here] = group.hash.bucket(prefixes, rows[here] - starts[place])
        return rows * self.geometry.points + self.geometry.draw(points, self.coin)

    def sketches(self, counts: Integers) -> tuple[Sketch, ...]:
        """Decode a histogram of reports: one table for each level, and that of the held-out people."""
        counts = np.asarray(counts)
        if counts.shape != (self.cells,) or counts.dtype.kind not in "iu":
            raise InputError(f"counts must be a histogram of {self.cells} integers")
        parts = [part.ravel() for part in np.split(counts.reshape(-1, self.geometry.points), self._starts[1:-1])]
        reported = [part.any() for part in parts]
        if any(reported) and not all(reported):
            raise InputError("some levels have no report: there are too few people to search")
        return tuple(group.sketch(part) for group, part in zip(self.groups, parts, strict=True))

    def find(
        self,
        aggregator: Aggregator,
        *,
        k: int = 16,
        certainty: float = 0.5,
        alphabet: str | bytes | None = None,
        progress: Progress | None = None,
    ) -> Hitters:
        """Return the most frequent keys, at most k, whose probability of being real is `certainty` or more.

        That probability comes from the model of the search, in which four heavy keys are expected at the limit of what
        can be found. It is not a guarantee, and hostile reports can plant a key; measured, two or three of a hundred
        keys listed at the usual `certainty` were false. The frequencies and their intervals come from the people who
        were held out and do not rest on that model.

        With `certainty=0` the list is filled up to k with the best guesses; of texts, bytes and numbers beyond 64 bits
        there may be fewer, since a guess must agree with its fingerprint. An `alphabet`, the public letters that
        texts are made of, makes the search of texts easier; keys with other letters are not found then.
        """
        if not isinstance(aggregator, Aggregator) or aggregator.spec.digest != self.digest:
            raise InputError("this aggregator holds reports of another spec")
        most = whole(k, name="k")
        sure = float(plain(certainty, name="certainty"))
        if not 1 <= most <= _LARGEST_LIST or not 0 <= sure <= 1:
            raise ParameterError(f"k must be from 1 to {_LARGEST_LIST}, certainty from 0 to 1", parameter="k")
        address = address_of(self.kind, self.seed, alphabet)
        *levels, held_out = self.sketches(aggregator.counts)
        found = search(address, self.levels, tuple(levels), listener(progress))
        listed = np.flatnonzero(found.probabilities >= sure)[:most]
        estimates = tuple(_confirmed(held_out, found, int(place)) for place in listed)
        keys = self.kind.decode(address.keys(found.addresses[listed]))
        plain_keys = tuple(keys.tolist() if isinstance(keys, np.ndarray) else keys)
        return Hitters(self, aggregator.people, held_out.people, plain_keys, found.probabilities[listed], estimates)

    def estimate(self, counts: Integers, people: int) -> Frequencies:
        """Raise ParameterError: keys cannot be listed, so they have to be found."""
        del counts, people
        raise ParameterError("keys cannot be listed: spec.find(aggregator) finds the frequent ones")

    def variance(self, people: int, frequency: float = 0.0) -> float:
        """Return the variance of the final estimate of a key, which is made by the held-out people only."""
        held_out = max(round(number_of_people(people) * self.rows[-1] / sum(self.rows)), 1)
        return self.groups[-1].variance(held_out, frequency)

    def detectable(self, people: int | None = None, *, length: int | None = None) -> float:
        """Return about the least frequency of a key that is found every other time.

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
            raise ParameterError(f"length must be that of a key in bytes, from 1 to {longest}", parameter="length")
        return signal_needed(self.kind.bits if length is None else 8 * length) * error

    def _gain(self) -> float:
        """Return the most that one hostile report adds to the number of people of a prefix at its own level."""
        return max(group.poisoning_gain * sum(self.rows) / group.rows for group in self.groups)

    def derived(self) -> dict[str, Any]:
        """Return the coin, the sizes, and what a client needs of hashes."""
        seeds = [str(group.seed) for group in self.groups]
        return {**super().derived(), "points": self.geometry.points, "seeds": seeds}


@dataclass(frozen=True, eq=False, repr=False)
class Hitters(EstimateColumns):
    """Heavy hitters, the one with the most evidence first.

    `keys` were found by the people of the levels; `probabilities` say how sure we are that each is a real key, by the
    model of the search. `value` has the frequencies of the keys, with `standard_error`, as estimated from the
    held-out people alone: unbiased, because these had no part in choosing the keys, and so not in the order of the
    list.
    `detectable` is about the least frequency that is found every other time: what is rarer goes unseen.
    """

    spec: HeavyHitters
    people: int
    held_out: int
    keys: tuple[Any, ...]
    probabilities: Floats
    estimates: tuple[Frequencies, ...]

    @property
    def _line(self) -> str:
        return "key"

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys)

    @property
    def value(self) -> Floats:
        """The estimated frequencies among all people."""
        return np.array([float(one.value[0]) for one in self.estimates])

    @property
    def standard_error(self) -> Floats:
        """The standard errors of the frequencies; the sampling of the held-out people included."""
        errors = np.array([float(one.standard_error[0]) for one in self.estimates])
        held = np.clip(self.value, 0.0, 1.0)
        return np.sqrt(errors**2 + held * (1 - held) / max(self.held_out, 1))

    @property
    def detectable(self) -> float:
        """The frequency from which on a key is found about every other time."""
        return self.spec.detectable(max(self.people, 1))

    def intervals(
        self, *, confidence: float = 0.95, together: bool = False, target: Target = Target.POPULATION
    ) -> Intervals:
        """Return an interval for the frequency of every key; with `together=True` they hold all at once (Bonferroni).

        They are for the population of which the held-out people are a sample: everybody who reports has the same
        chance to be one. With `Target.TABLE` they are for the frequency among the held-out people themselves.
        """
        stated_target(target)
        rest = allowed_error(confidence)
        each = 1 - (rest / max(len(self), 1) if together else rest)
        ends = [one.intervals(confidence=each, target=target) for one in self.estimates]
        low = np.array([float(one.low[0]) for one in ends])
        high = np.array([float(one.high[0]) for one in ends])
        return Intervals(low, high, float(confidence), target, bool(together))

    def table(self, *, confidence: float = 0.95) -> Table:
        """Return one row a key, with intervals that hold together."""
        lines = self._lines(range(len(self)), confidence)
        rows = [[*line, float(one)] for line, one in zip(lines, self.probabilities, strict=True)]
        names = ["key", "frequency", "standard error", "low", "high", "probability"]
        return Table(names, rows, self._caption(confidence))

    def plot(self, *, confidence: float = 0.95, title: str = "") -> Plot:
        """Draw the frequencies with intervals that hold together; needs the extra `plot`."""
        if not self.keys:
            raise InputError("no key was found, so there is nothing to draw; certainty=0 lists the best guesses")
        return self._drawn(range(len(self)), confidence, title or "Most frequent keys", "frequency")

    def _caption(self, confidence: float) -> str:
        """Say who reported, under which guarantee, what goes unseen, and what one hostile report can do."""
        frequency, gain = (format_number(number, digits=3) for number in (self.detectable, self.spec.poisoning_gain))
        return (
            f"{self.people:,} people, epsilon {format_number(self.spec.epsilon)} each; frequencies from "
            f"{self.held_out:,} held out, {100 * confidence:.6g} % intervals that hold together; keys rarer than about "
            f"{frequency} go unseen; one hostile report moves a count by up to {gain}"
        )

    def __repr__(self) -> str:
        least = format_number(self.detectable, digits=3)
        return f"Hitters({len(self)} keys, {self.people:,} people, keys rarer than about {least} go unseen)"


def _confirmed(held_out: Sketch, found: FoundAddresses, place: int) -> Frequencies:
    """Estimate one key from the held-out people, cleared of collisions with all the other keys found.

    Their frequencies come from the search, so that they are independent of the held-out reports.
    """
    others = np.flatnonzero(found.probabilities >= _REAL)[:_MOST_PEELED]
    others = others[others != place]
    cleared = held_out.without_words(found.addresses[others], possible(found.frequencies[others]))
    length = held_out.spec.kind.length
    return cleared.estimate([as_bytes(found.addresses[place : place + 1])[0, :length].tobytes()])


def _planned(people: object) -> int:
    """Return a number of people that every reader of JSON takes for what it is."""
    count = number_of_people(people)
    if count >= _MOST_PEOPLE:
        raise ParameterError("people must be fewer than 2^53", parameter="people")
    return count


def _whole_numbers(values: Any, name: str) -> tuple[int, ...]:
    """Return a short tuple of ints."""
    if not isinstance(values, tuple | list) or not 1 <= len(values) <= 1 << 11:
        raise ParameterError(f"{name} must be a tuple of ints", parameter=name)
    if not all(isinstance(value, int | np.integer) and not isinstance(value, bool) for value in values):
        raise ParameterError(f"{name} must be a tuple of ints", parameter=name)
    return tuple(int(value) for value in values)
