"""Coordinate ascent over records: the exact gain of every value of one attribute in one pass, then small shakes.

Drawn queries are laid out for a search that changes one attribute of a record at a time. A loop in numpy runs where
numba is missing, and the compiled loop must match it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet._compiled import available, compiled
from discreet.synthesis.responses.drawn import Drawn, Integers


class FoundRecord(NamedTuple):
    """The best record of a search, its value, the starting records used, and the literals evaluated."""

    record: Integers
    value: int
    starts: int
    evaluations: int


def search(landscape: Landscape, records: Integers, *, work: int, turn: int) -> FoundRecord:
    """Climb from each record (a row of codes), then shake and climb; half the work goes to the best in the end."""
    state = turn % (MODULUS - 1) + 1
    if available():
        arrays: list[Any] = [getattr(landscape, name) for name in landscape.__dataclass_fields__]
        best, outcome = _climb(*[*arrays, records, work, state])
        return FoundRecord(best, int(outcome[0]), int(outcome[1]), int(outcome[2]))
    return FoundRecord(*PlainAscent(landscape, state).search(records, work))


@compiled
def _climb(  # noqa: PLR0912, PLR0915, PLR0917 - kernels take arrays and cannot call each other
    sizes: Any,
    weights: Any,
    parity: Any,
    edges: Any,
    term: Any,
    row: Any,
    starts: Any,
    attribute: Any,
    accepts: Any,
    steps: Any,
    place: Any,
    sign: Any,
    records: Any,
    work: int,
    state: int,
) -> Any:
    """Do what `PlainAscent` does, step for step; the comments there say why."""
    attributes = len(sizes)
    length = starts[1:] - starts[:-1]
    true = np.zeros(len(weights), np.int64)
    held = np.zeros(len(term), np.bool_)
    slope = np.zeros(sizes.max(), np.int64)
    queue, queued = np.zeros(attributes, np.int64), np.zeros(attributes, np.bool_)
    current = np.full(attributes, -1, np.int64)
    kept, target, best = current.copy(), current.copy(), current.copy()
    outcome = np.zeros(3, np.int64)
    tally = np.zeros(4, np.int64)  # first and number of the queue, value, evaluations

    def push(one: int) -> None:
        if not queued[one]:
            queued[one] = True
            queue[(tally[0] + tally[1]) % attributes] = one
            tally[1] += 1

    def change(one: int, code: int) -> None:
        current[one] = code
        tally[3] += edges[one + 1] - edges[one]
        for edge in range(edges[one], edges[one + 1]):
            now = accepts[row[edge], code]
            if now == held[edge]:
                continue
            held[edge] = now
            which = term[edge]
            true[which] += 1 if now else -1
            missing = length[which] - true[which] + now
            if parity[which]:
                tally[2] += weights[which] * (2 * (true[which] % 2) - 1)
            elif missing == 1:
                tally[2] += weights[which] if now else -weights[which]
            if parity[which] or missing <= 2:
                for other in range(starts[which], starts[which + 1]):
                    if attribute[other] != one:
                        push(attribute[other])

    for start in range(len(records) + 1):
        if start > 0 and tally[3] >= work:
            break
        if start < len(records):
            outcome[1] = start + 1
            kept[:] = records[start]
            limit = work // 2 * (start + 1) // len(records)
        else:
            kept[:] = best
            limit = work
        fresh, reached = True, 0
        while fresh or tally[3] < limit:
            target[:] = kept
            for phase in range(2):
                if phase == 1 and not fresh:
                    tally[3] += 1
                    state = state * MULTIPLIER % MODULUS
                    for _ in range(1 + state % SHAKEN):
                        state = state * MULTIPLIER % MODULUS
                        one = state % attributes
                        state = state * MULTIPLIER % MODULUS
                        target[one] = state % sizes[one]
                for one in range(attributes):
                    if current[one] != target[one]:
                        change(one, target[one])
                if phase == 0:
                    tally[1] = 0
                    queued[:] = False
            for one in range(attributes):
                if fresh or target[one] != kept[one]:
                    push(one)
            while tally[1] > 0:
                one = queue[tally[0]]
                queued[one] = False
                tally[0] = (tally[0] + 1) % attributes
                tally[1] -= 1
                tally[3] += edges[one + 1] - edges[one]
                slope[: sizes[one]] = 0
                for edge in range(edges[one], edges[one + 1]):
                    which = term[edge]
                    rest = true[which] - held[edge]
                    if parity[which]:
                        weight = weights[which] * (1 - 2 * (rest % 2))
                    elif rest == length[which] - 1:
                        weight = weights[which]
                    else:
                        continue
                    for step in range(steps[row[edge]], steps[row[edge] + 1]):
                        slope[place[step]] += sign[step] * weight
                total, peak, top, here = 0, 0, 0, 0
                for code in range(sizes[one]):
                    total += slope[code]
                    if total > peak:
                        peak, top = total, code
                    if code == current[one]:
                        here = total
                if peak > here:
                    change(one, top)
            if fresh or tally[2] >= reached:
                reached = tally[2]
                kept[:] = current
                if (fresh and start == 0) or reached > outcome[0]:
                    outcome[0] = reached
                    best[:] = kept
            fresh = False
    outcome[2] = tally[3]
    return best, outcome


MODULUS, MULTIPLIER = 2**31 - 1, 742938285  # Fishman and Moore's generator: products stay below 2^61
SHAKEN = 3  # the most attributes that one shake sets to a scattered code


class PlainAscent:
    """A record, and for each term how many of its factors hold; a queue of attributes that may have a better code."""

    def __init__(self, landscape: Landscape, state: int) -> None:
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
            for one in np.flatnonzero(shaken != kept).tolist():  # last, so that its neighbors answer first
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


@dataclass(frozen=True, eq=False)
class Landscape:
    """Drawn queries sorted for the search: by attribute the factors about it, by term the attributes it is about.

    Factor e of attribute a, for e from `edges[a]` to `edges[a + 1]`, belongs to term[e] and has row[e]. As the code
    rises from 0, row r changes between true and false at `place[k]`, up if `sign[k]` is 1 and down if -1, for k from
    `steps[r]` to `steps[r + 1]`: two places for a value, for its negation and for a range.
    """

    sizes: Integers
    weights: Integers
    parity: NDArray[np.bool_]
    edges: Integers
    term: Integers
    row: Integers
    starts: Integers
    attribute: Integers
    accepts: NDArray[np.bool_]
    steps: Integers
    place: Integers
    sign: Integers

    @classmethod
    def of(cls, drawn: Drawn) -> Landscape:
        """Sort the factors of drawn queries."""
        order = np.argsort(drawn.attribute, kind="stable")
        count = np.bincount(drawn.attribute, minlength=len(drawn.sizes))
        used = np.zeros(len(drawn.accepts), dtype=np.int64)
        used[drawn.row] = drawn.sizes[drawn.attribute]
        changed, before = np.nonzero(drawn.accepts[:, 1:] != drawn.accepts[:, :-1])
        inside = before + 1 < used[changed]  # beyond the last code there is padding
        changed, place = changed[inside], before[inside] + 1
        return cls(
            sizes=drawn.sizes,
            weights=drawn.weights,
            parity=drawn.parity,
            edges=np.append(0, np.cumsum(count)),
            term=drawn.owner[order],
            row=drawn.row[order],
            starts=drawn.starts,
            attribute=drawn.attribute,
            accepts=np.ascontiguousarray(drawn.accepts),
            steps=np.append(0, np.cumsum(np.bincount(changed, minlength=len(drawn.accepts)))),
            place=place,
            sign=np.where(drawn.accepts[changed, place], 1, -1),
        )

    def greedy(self, otherwise: Integers) -> Integers:
        """Return, for each attribute, the code with the largest mean over uniform others; no factor, no change."""
        record = otherwise.copy()
        share = np.count_nonzero(self.accepts, axis=1)[self.row] / np.repeat(self.sizes, np.diff(self.edges))
        odd = self.parity[self.term]
        factor = np.where(odd, 1 - 2 * share, share)
        others = np.ones(len(self.weights))
        np.multiply.at(others, self.term, np.where(factor == 0, 1, factor))
        zeros = np.bincount(self.term[factor == 0], minlength=len(self.weights))
        alone = zeros[self.term] == (factor == 0)  # else another factor of the parity is a fair coin
        slope = np.where(alone, self.weights[self.term] * others[self.term] / np.where(factor == 0, 1, factor), 0)
        offset = np.append(0, np.cumsum(self.sizes))
        count = np.diff(self.steps)[self.row]
        step = np.repeat(self.steps[self.row] - np.cumsum(count) + count, count) + np.arange(count.sum())
        at = np.repeat(np.repeat(offset[:-1], np.diff(self.edges)), count) + self.place[step]
        change = np.bincount(at, weights=np.repeat(slope, count) * self.sign[step], minlength=int(offset[-1]))
        for attribute in np.flatnonzero(np.diff(self.edges)):
            record[attribute] = np.argmax(np.cumsum(change[offset[attribute] : offset[attribute + 1]]))
        return record
