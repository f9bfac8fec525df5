"""A decoded table of hashed reports: asked for the shares of known keys, cleared of keys that are already known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.local.estimates.frequencies import Frequencies
from discreet.local.estimates.support import Support
from discreet.local.keys.collisions import CollidedSupport

if TYPE_CHECKING:
    from discreet.local.keys.hashed_geometry_part import HashedGeometry
    from discreet.local.keys.hashing import Integers, Words

Floats = NDArray[np.float64]
_MOST_REPORTS = 2.0**62


@dataclass(frozen=True, eq=False, repr=False)
class Sketch:
    """The reports of `people`, decoded: table[row, point] of them lie on the plane of the point.

    `removed` is the sum of the shares of keys that were taken out, and `whole` the table before that.

    Accuracy. `estimate` is unbiased over the seed for every key that was chosen without the reports, with the variance
        of `HashedGeometry`; standard errors put in the estimated shares and `squares`, an unbiased estimate of the sum
        of all squared shares; intervals are those of `CollidedSupport`.
        Proof: for the first see `HashedGeometry`. For `squares`, let i and j be two people in one row with points u and
        v, and let 1(b) say that a report is on the plane of b. Then sum_b (1_i(b) - r)(1_j(b) - r) has mean (p - r)^2
        if u = v and 0 if not. All pairs together make the sum over b of (table - n_row r)^2, less n_row (S (1 - r)^2 +
        (K - S) r^2) for the pairs i = j, since every report is on S planes. Two people share a row with probability
        1 / R, and a bucket of it with probability 1 if their keys agree and c if not: of n^2 F - n and n^2 (1 - F)
        ordered pairs of people. Solve for F.

    >>> from discreet.local.keys.hashed_geometry_part import HashedGeometry
    >>> spec = HashedGeometry(epsilon=2, keys="integer:64", prime=7, dimension=4, rows=32, seed=1)
    >>> sketch = spec.sketch(spec.aggregator().add(spec.client().report_many([5] * 40_000)))
    >>> sketch
    Sketch(hashed-geometry, keys integer:64, 40,000 people)
    >>> bool(abs(sketch.estimate([5]).values[0] - 1) < 0.1)
    True
    """

    spec: HashedGeometry
    people: int
    table: Integers
    in_row: Integers
    removed: float = 0.0
    whole: Integers | None = None

    def __post_init__(self) -> None:
        """Refuse nobody."""
        if self.people < 1:
            raise InputError("there are no reports to estimate from")

    def __repr__(self) -> str:
        """Say what it holds."""
        return f"Sketch({self.spec.protocol}, keys {self.spec.keys}, {self.people:,} people)"

    def support(self, words: Words) -> Integers:
        """Return, for keys as words, the number of reports among their preferred outputs, less what was taken out."""
        return self.spec.hash.gathered(words, self.table)

    def shares(self, words: Words) -> Floats:
        """Return the unbiased shares of keys as words, beyond what was taken out."""
        held, shared = self._chances
        return Support(self.support(words), self.people, held, shared).shares

    @property
    def squares(self) -> float:
        """The estimated sum of the squared shares of all keys, those taken out excepted; cut to [0, 1]."""
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
        """The sum F of squares plus two standard deviations: noise of R K entries, of heavy shares, of collisions."""
        spec, found = self.spec, self.squares
        entry = spec.variance(self.people, squares=0.0)
        heavy = spec.variance(self.people, math.sqrt(found), squares=0.0)
        noise = 2 * spec.cells * entry**2 + 4 * found * heavy + 2 * found**2 * float(spec.hash.collision) / spec.rows
        return min(found + 2 * math.sqrt(noise), 1.0)

    def estimate(self, keys: Any) -> Frequencies:
        """Estimate the shares of keys, beyond what was taken out; their labels are the keys."""
        words = self.spec.kind.encode(keys)
        if not len(words):
            raise InputError("name at least one key to estimate")
        named = keys if isinstance(keys, list | tuple) else self.spec.kind.decode(words)
        labels = tuple(named.tolist() if isinstance(named, np.ndarray) else named)
        return Frequencies.from_support(self.spec, self._support(words), labels)

    def without(self, keys: Any, shares: Any) -> Sketch:
        """Return the sketch less the expected reports of known keys with these shares (peeling).

        A key of share s puts n s (p - r) reports more on the planes of its points than elsewhere, spread evenly over
        the rows. They are taken out in whole reports, so that all rows together are right to one report. What is left
        of a key is its share minus s. For shares that were known beforehand estimates stay unbiased and collisions
        with these keys vanish; for estimated ones the error of a share is left behind, as a key of that share.
        """
        words, known = self.spec.kind.encode(keys), _numbers(shares)
        if known is None or known.shape != (len(words),) or not np.all(np.abs(self.people * known) < _MOST_REPORTS):
            raise InputError("shares are one finite number for each key")
        return self.without_words(words, known)

    def without_words(self, words: Words, shares: Floats) -> Sketch:
        """Do as `without` does, for keys as words."""
        spec, table = self.spec, self.table.copy()
        buckets = spec.hash.buckets(words)
        amounts = self.people * float(spec.preference - spec.elsewhere) * shares
        steps = np.rint(amounts[:, None] * (np.arange(spec.rows + 1) / spec.rows)).astype(np.int64)
        np.subtract.at(table, (np.arange(spec.rows)[None, :], buckets), np.diff(steps, axis=1))
        whole = self.table if self.whole is None else self.whole
        return Sketch(spec, self.people, table, self.in_row, self.removed + float(shares.sum()), whole)

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


def _numbers(values: Any) -> Floats | None:
    """Return numbers as an array, or None."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return None
