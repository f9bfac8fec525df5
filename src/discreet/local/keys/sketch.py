"""A decoded table of hashed reports: asked for the frequencies of known keys, cleared of keys that are already known.

Collisions of keys add to the standard error of an estimate, and its intervals know how rare they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InputError
from discreet.local.estimates import Frequencies, Support, two_sided_normal
from discreet.local.keys.hashing import Words
from discreet.local.protocol import Floats, Integers, array_or_none
from discreet.privacy import Target

if TYPE_CHECKING:
    from discreet.local.keys.hashed_geometry import HashedGeometry


_MOST_REPORTS = 2.0**62


@dataclass(frozen=True, eq=False, repr=False)
class Sketch:
    """The reports of `people`, decoded: table[row, point] of them lie on the plane of the point.

    `removed` is the sum of the frequencies of keys that were taken out, and `whole` the table before that.

    Accuracy. `estimate` is unbiased over the seed for every key that was chosen without the reports, with the variance
        of `HashedGeometry`; standard errors put in the estimated frequencies and `squares`, an unbiased estimate of the
        sum of all squared frequencies; intervals are those of `CollidedSupport`.
        Proof: for the first see `HashedGeometry`. For `squares`, let i and j be two people in one row with points u and
        v, and let 1(b) say that a report is on the plane of b. Then sum_b (1_i(b) - r)(1_j(b) - r) has mean (p - r)^2
        if u = v and 0 if not. All pairs together make the sum over b of (table - n_row r)^2, less n_row (S (1 - r)^2 +
        (K - S) r^2) for the pairs i = j, since every report is on S planes. Two people share a row with probability
        1 / R, and a bucket of it with probability 1 if their keys agree and c if not: of n^2 F - n and n^2 (1 - F)
        ordered pairs of people. Solve for F.

    >>> from discreet.local.keys.hashed_geometry import HashedGeometry
    >>> spec = HashedGeometry(
    ...     epsilon=2, keys="integer:64", prime=7, dimension=4, rows=32, seed=1
    ... )
    >>> sketch = spec.sketch(
    ...     spec.aggregator().add(spec.client().report_many([5] * 40_000))
    ... )
    >>> sketch
    Sketch(hashed-geometry, keys integer:64, 40,000 people)
    >>> bool(abs(sketch.estimate([5]).value[0] - 1) < 0.1)
    True
    """

    spec: HashedGeometry
    people: int
    table: Integers
    in_row: Integers
    removed: float = 0.0
    whole: Integers | None = None

    def __post_init__(self) -> None:
        if self.people < 1:
            raise InputError("there are no reports to estimate from")

    def __repr__(self) -> str:
        return f"Sketch({self.spec.protocol}, keys {self.spec.keys}, {self.people:,} people)"

    def support(self, words: Words) -> Integers:
        """Return, for keys as words, the number of reports among their preferred outputs, less what was taken out."""
        return self.spec.hash.gathered(words, self.table)

    def frequencies(self, words: Words) -> Floats:
        """Return the unbiased frequencies of keys as words, beyond what was taken out."""
        held, shared = self._chances
        return Support(self.support(words), self.people, held, shared).frequencies

    @property
    def squares(self) -> float:
        """The estimated sum of the squared frequencies of all keys, those taken out excepted; cut to [0, 1]."""
        return min(max(self._squares, 0.0), 1.0)

    @cached_property
    def _squares(self) -> float:
        """The unbiased estimate, before it is cut."""
        spec, people = self.spec, self.people
        p, r, collision = float(spec.preference), float(spec.elsewhere), float(spec.hash.collision)
        on_plane, points = spec.geometry.on_plane, spec.geometry.points
        alone = people * (on_plane * (1 - r) ** 2 + (points - on_plane) * r**2)
        pairs = (float(np.square(self.table - r * self.in_row[:, None]).sum()) - alone) / (p - r) ** 2
        found = spec.rows * pairs / people**2 + 1 / people - collision * (1 - self.removed) ** 2
        return found / (1 - collision)

    @property
    def _most_squares(self) -> float:
        """The sum F of squares plus two standard deviations: noise of R K entries, of heavy keys, of collisions."""
        spec, found = self.spec, self.squares
        entry = spec.variance(self.people, squares=0.0)
        heavy = spec.variance(self.people, math.sqrt(found), squares=0.0)
        noise = 2 * spec.cells * entry**2 + 4 * found * heavy + 2 * found**2 * float(spec.hash.collision) / spec.rows
        return min(found + 2 * math.sqrt(noise), 1.0)

    def estimate(self, keys: Any) -> Frequencies:
        """Estimate the frequencies of keys, beyond what was taken out; their labels are the keys."""
        words = self.spec.kind.encode(keys)
        if not len(words):
            raise InputError("keys must name at least one key")
        named = keys if isinstance(keys, list | tuple) else self.spec.kind.decode(words)
        labels = tuple(named.tolist() if isinstance(named, np.ndarray) else named)
        return Frequencies.from_support(self.spec, self._support(words), labels)

    def without(self, keys: Any, frequencies: Any) -> Sketch:
        """Return the sketch less the expected reports of known keys with these frequencies (peeling).

        A key of frequency s puts n s (p - r) reports more on the planes of its points than elsewhere, spread evenly
        over the rows. They are taken out in whole reports, so that all rows together are right to one report. What is
        left
        of a key is its frequency minus s. For frequencies that were known beforehand estimates stay unbiased and
        collisions with these keys vanish; for estimated ones the error of a frequency is left behind, as a key of that
        frequency.
        """
        words, known = self.spec.kind.encode(keys), array_or_none(frequencies, np.float64)
        if known is None or known.shape != (len(words),) or not np.all(np.abs(self.people * known) < _MOST_REPORTS):
            raise InputError("frequencies must be one finite number for each key")
        return self.without_words(words, known)

    def without_words(self, words: Words, frequencies: Floats) -> Sketch:
        """Do as `without` does, for keys as words."""
        spec, table = self.spec, self.table.copy()
        buckets = spec.hash.buckets(words)
        amounts = self.people * float(spec.preference - spec.elsewhere) * frequencies
        steps = np.rint(amounts[:, None] * (np.arange(spec.rows + 1) / spec.rows)).astype(np.int64)
        np.subtract.at(table, (np.arange(spec.rows)[None, :], buckets), np.diff(steps, axis=1))
        whole = self.table if self.whole is None else self.whole
        return Sketch(spec, self.people, table, self.in_row, self.removed + float(frequencies.sum()), whole)

    @cached_property
    def _chances(self) -> tuple[Fraction, Fraction]:
        """The chances p and r' of a report: another key adds c (p - r) on average, one that was taken out nothing."""
        spec, collision = self.spec, self.spec.hash.collision
        gap = spec.preference - spec.elsewhere
        shared = spec.elsewhere + gap * collision * (1 - Fraction(self.removed))
        return shared + gap * (1 - collision), shared

    def _support(self, words: Words) -> CollidedSupport:
        """Return the counts of keys with their law."""
        spec, people, counts = self.spec, self.people, self.support(words)
        whole = counts if self.whole is None else spec.hash.gathered(words, self.whole)
        reports = Support(np.clip(whole, 0, people), people, spec.preference, spec.shared)
        squares = self.squares, self._most_squares
        collision = float(spec.hash.collision)
        return CollidedSupport(counts, people, *self._chances, spec.rows, collision, *squares, reports)


_GRID = 64
_STEPS = 40
_ROUNDS = 3
_MANY = 50  # collisions from which on their number is normal; with ten, fewer and heavier keys were worse already
_SEVERAL = 10
_CUT = 1e-3  # of the allowed error may be cut off the law of collisions


@dataclass(frozen=True, eq=False)
class CollidedSupport(Support):
    """Counts of reports to which other keys add by collisions, in each of `rows` with probability `collision`.

    `counts`, `preference` and `shared` are those of what is left when known keys were taken out; `reports` has all the
    reports, whose noise stays. `squares` estimates the sum of the squared frequencies of all keys, and `most_squares`
    is probably not exceeded by it.

    Accuracy. Collisions add collision / (rows (1 - collision)) times the sum F of the squared frequencies of the other
        keys to the variance of a frequency. Intervals are approximate: the lower end is the farther of two, that of a
        normal law
        with the variance of reports and collisions together, and that of a normal law of the reports plus the
        collisions of m equal keys with these squares, for the worst m of 1, 2, 4, ... that may hold so much.
        Proof: for the variance see `HashedGeometry`. In units of 1 / (rows (1 - c)) a key of frequency f adds f (N - E
        N), N being binomial. If keys meet independently, the logarithm of the moment generating function of all
        collisions
        at t > 0 is at most the sum of rows c (exp(t f) - 1 - t f) over the keys (Bennett), and since (exp(u) - 1 - u) /
        u^2 grows with u, this is largest for a given F when one key holds all of it: so one key has the heaviest far
        tail. Nearer, where one key is met too rarely to matter, several may be worse; m keys of frequency sqrt(F / m)
        make m sqrt(F / m) <= 1, so m <= 1 / F. At t < 0 the logarithm is at most rows c F t^2 / 2: collisions make no
        estimate too low that a normal law would not. F is what is left of all squares beside the key's own, which is
        taken at the lower end itself: where a frequency may be nothing but a collision, the interval says so.
    Reference. Bennett 1962.
    """

    rows: int
    collision: float
    squares: float
    most_squares: float
    reports: Support | None = None

    def standard_errors(self, target: Target = Target.TABLE) -> Floats:
        """Return the standard errors, collisions included."""
        return np.asarray(np.sqrt(self._all.standard_errors(target) ** 2 + self._variance(self.frequencies)))

    def interval(self, rest: float, target: Target, chosen: Integers | None = None) -> tuple[Floats, Floats]:
        """Return ends that miss a frequency with probability `rest`."""
        places = slice(None) if chosen is None else chosen
        low, high = self._all.interval(rest, target, chosen)
        center, middle = self.frequencies[places], self._all.frequencies[places]
        below, above = np.maximum(middle - low, 0.0), np.maximum(high - middle, 0.0)
        level = two_sided_normal(rest)
        errors = np.maximum(below / level, self._all.standard_errors(target)[places])
        tails = list(self._tails(float(np.min(errors, initial=math.inf)), rest))
        end = np.zeros_like(center)
        for _ in range(_ROUNDS):  # every round is a bound: a smaller frequency than `end` has been ruled out
            spread = np.sqrt(below**2 + level**2 * self._variance(end))
            end = center - np.maximum(spread, self._reach(end, errors, tails))
        return end, center + np.sqrt(above**2 + level**2 * self._variance(center))

    @property
    def _all(self) -> Support:
        """All the reports, with those of keys that were taken out."""
        return self.reports or Support(self.counts, self.people, self.preference, self.shared)

    def _variance(self, frequencies: Floats) -> Floats:
        """Return the variance of collisions with the other keys."""
        return np.asarray(self.collision / (self.rows * (1 - self.collision)) * _others(self.squares, frequencies))

    def _reach(self, frequencies: Floats, errors: Floats, tails: list[tuple[int, Floats, Floats]]) -> Floats:
        """Return how far an estimate may lie above its frequency, if the other squares belong to equal keys."""
        jumps = np.sqrt(_others(self.most_squares, frequencies)) / (self.rows * (1 - self.collision)) / errors
        least = _others(max(2 * self.squares - self.most_squares, 0.0), frequencies)
        reach = np.zeros_like(errors)
        for keys, grid, levels in tails:
            possible = keys * least < 2
            reach = np.where(possible, np.maximum(reach, np.interp(jumps, grid, levels) * errors), reach)
        return reach

    def _tails(self, error: float, rest: float) -> Iterator[tuple[int, Floats, Floats]]:
        """Yield for 1, 2, 4, ... equal keys the level of every jump, up to the largest: jump and level in errors."""
        top = math.sqrt(self.most_squares) / (self.rows * (1 - self.collision)) / error
        if top == 0:
            return
        grid, keys = np.concatenate([[0.0], np.geomspace(1e-4 * top, top, _GRID)]), 1
        while keys * self.rows * self.collision <= (_MANY if keys == 1 else _SEVERAL):
            yield keys, grid, _levels(grid / math.sqrt(keys), keys * self.rows, self.collision, rest)
            keys *= 2


def _others(squares: float, frequencies: Floats) -> Floats:
    """Return what is left of squared frequencies beside those of the key itself."""
    return np.asarray(np.maximum(squares - np.maximum(frequencies, 0.0) ** 2, 0.0))


def _levels(jumps: Floats, trials: int, chance: float, rest: float) -> Floats:
    """Solve P(Z + jump (N - E N) > level) = rest / 2 for a normal Z and a binomial N, by bisection."""
    from scipy.special import ndtr

    chances, beyond = _binomial(trials, chance, rest * _CUT)
    moves = jumps[:, None] * (np.arange(chances.size) - trials * chance)
    low = np.full(jumps.size, -two_sided_normal(rest)) + moves[:, 0]
    high = np.full(jumps.size, 2 * two_sided_normal(rest)) + moves[:, -1]
    for _ in range(_STEPS):
        middle = (low + high) / 2
        over = ndtr(moves - middle[:, None]) @ chances > rest / 2 - beyond
        low, high = np.where(over, middle, low), np.where(over, high, middle)
    return high


def _binomial(trials: int, chance: float, rest: float) -> tuple[Floats, float]:
    """Return the probabilities of 0, 1, 2, ... successes until at most `rest` is beyond, and what is beyond.

    By Chernoff P(N >= k) <= exp(-k) for k >= e^2 E N, so that few numbers are looked at.
    """
    from scipy.special import bdtrc

    enough = min(trials, math.ceil(math.exp(2) * trials * chance - math.log(rest)))
    beyond = bdtrc(np.arange(enough + 1), trials, chance)
    count = int(np.argmax(beyond <= rest)) + 1
    return -np.diff(beyond[:count], prepend=1.0), float(beyond[count - 1])
