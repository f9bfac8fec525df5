"""Coordinate ascent over records: the exact gain of every value of one attribute in one pass, then small shakes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discreet._compiled import available, compiled
from discreet.synthesis.responses.drawn import Integers
from discreet.synthesis.responses.landscape import Landscape
from discreet.synthesis.responses.plain_ascent import MODULUS, MULTIPLIER, SHAKEN, PlainAscent


class Found(NamedTuple):
    """The best record of a search, its value, the starting records used, and the literals evaluated."""

    record: Integers
    value: int
    starts: int
    evaluations: int


def search(landscape: Landscape, records: Integers, *, work: int, turn: int) -> Found:
    """Climb from each record (a row of codes), then shake and climb; half the work goes to the best in the end."""
    state = turn % (MODULUS - 1) + 1
    if available():
        arrays: list[Any] = [getattr(landscape, name) for name in landscape.__dataclass_fields__]
        best, outcome = _climb(*[*arrays, records, work, state])
        return Found(best, int(outcome[0]), int(outcome[1]), int(outcome[2]))
    return Found(*PlainAscent(landscape, state).search(records, work))


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
