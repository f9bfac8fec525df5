"""The search for a best response in numpy: what runs where numba is missing, and what the compiled loop must match."""

from __future__ import annotations

from collections import deque

import numpy as np

from discreet.synthesis.responses.drawn import Integers
from discreet.synthesis.responses.landscape import Landscape

MODULUS, MULTIPLIER = 2**31 - 1, 742938285  # Fishman and Moore's generator: products stay below 2^61
SHAKEN = 3  # the most attributes that one shake sets to a scattered code


class PlainAscent:
    """A record, and for each term how many of its factors hold; a queue of attributes that may have a better code."""

    def __init__(self, landscape: Landscape, state: int) -> None:
        """Start with no record at all: no factor holds."""
        self._land, self._state = landscape, state
        self._length = np.diff(landscape.starts)
        self._true = np.zeros(len(landscape.weights), dtype=np.int64)
        self._held = np.zeros(len(landscape.term), dtype=bool)
        self._current = np.full(len(landscape.sizes), -1, dtype=np.int64)
        self._queue: deque[int] = deque()
        self._value = self._evaluations = 0

    def search(self, records: Integers, work: int) -> tuple[Integers, int, int, int]:
        """Return the best record, its value, the starting records used and the evaluations."""
        best, value, used = records[0], 0, 0
        for start in range(len(records) + 1):
            if start > 0 and self._evaluations >= work:
                break
            final = start == len(records)
            limit = work if final else work // 2 * (start + 1) // len(records)
            used = start + (not final)
            record, reached = self._from(best if final else records[start], limit)
            if start == 0 or reached > value:
                best, value = record, reached
        return best, value, used, self._evaluations

    def _from(self, record: Integers, limit: int) -> tuple[Integers, int]:
        """Climb from a record, then shake and climb again until the limit, going back where that lost value."""
        self._move(record)
        self._queue = deque(range(len(record)))
        self._climb()
        kept, reached = self._current.copy(), self._value
        best = kept
        while self._evaluations < limit:
            self._move(kept)
            self._queue.clear()
            shaken = self._shaken(kept)
            self._move(shaken)
            for one in np.flatnonzero(shaken != kept).tolist():  # last, so that its neighbours answer first
                self._push(one)
            self._climb()
            if self._value >= reached:
                kept = self._current.copy()
                best = kept if self._value > reached else best
                reached = self._value
        return best, reached

    def _draw(self) -> int:
        self._state = self._state * MULTIPLIER % MODULUS
        return self._state

    def _shaken(self, record: Integers) -> Integers:
        """Return a record with a few attributes set to scattered codes."""
        target = record.copy()
        self._evaluations += 1  # so that shakes of attributes without factors end too
        for _ in range(1 + self._draw() % SHAKEN):
            one = self._draw() % len(target)
            target[one] = self._draw() % int(self._land.sizes[one])
        return target

    def _push(self, one: int) -> None:
        if one not in self._queue:
            self._queue.append(one)

    def _move(self, target: Integers) -> None:
        for one in np.flatnonzero(self._current != target).tolist():
            self._change(one, int(target[one]))

    def _change(self, one: int, code: int) -> None:
        """Set one attribute, and queue those whose gains change with it: a term counts when all its others hold."""
        land, edges = self._land, slice(self._land.edges[one], self._land.edges[one + 1])
        self._current[one] = code
        self._evaluations += int(edges.stop - edges.start)
        now = land.accepts[land.row[edges], code]
        flipped = np.flatnonzero(now != self._held[edges])
        self._held[edges] = now
        now, which = now[flipped], land.term[edges][flipped]
        self._true[which] += np.where(now, 1, -1)
        missing, odd = self._length[which] - self._true[which] + now, land.parity[which]
        rise = np.where(odd, 2 * (self._true[which] % 2) - 1, np.where(missing == 1, np.where(now, 1, -1), 0))
        self._value += int((rise * land.weights[which]).sum())
        for term in which[odd | (missing <= 2)].tolist():
            for other in land.attribute[land.starts[term] : land.starts[term + 1]].tolist():
                if other != one:
                    self._push(other)

    def _climb(self) -> None:
        """Give queued attributes their best code, the lowest of several, until none is queued; ties change nothing."""
        while self._queue:
            one = self._queue.popleft()
            gains = self._gains(one)
            if gains.max() > gains[self._current[one]]:
                self._change(one, int(gains.argmax()))

    def _gains(self, one: int) -> Integers:
        """Return the value of every code of an attribute, less that of code 0, by one pass over its factors."""
        land, edges = self._land, slice(self._land.edges[one], self._land.edges[one + 1])
        self._evaluations += int(edges.stop - edges.start)
        which, row = land.term[edges], land.row[edges]
        rest, odd = self._true[which] - self._held[edges], land.parity[which]
        weight = land.weights[which] * np.where(odd, 1 - 2 * (rest % 2), rest == self._length[which] - 1)
        counts = np.where(weight != 0, land.steps[row + 1] - land.steps[row], 0)
        step = np.repeat(land.steps[row] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        slope = np.zeros(int(land.sizes[one]), dtype=np.int64)
        np.add.at(slope, land.place[step], land.sign[step] * np.repeat(weight, counts))
        return np.cumsum(slope)
