"""Which of many pairs of neighbours is the most telling one: a race from which those drop out that are behind."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.audit.learning import learned
from discreet.audit.outcomes import Encoder, Outcomes, collected
from discreet.audit.targets import Aim

Inputs = tuple[Any, Any]
_CHUNK = 1 << 17
_EARLY = 20_000
_ROUNDS = 8  # of doubled runs, the last half of all
_LEAST = 4000  # runs that a first judgement needs, if there are as many
_SURE = 2.5  # standard errors behind


class BatchFailed(Exception):
    """Running many times at once raised an error, which says nothing about single runs."""


@dataclass
class Runner:
    """A mechanism that is run and counted: all at once where it can be, and with the share done told to `progress`."""

    mechanism: Callable[[Any], Any]
    total: int
    progress: Callable[[float], None] | None = None
    one_by_one: bool = False
    taken: int = 0

    def draw(self, value: Any, draws: int) -> Any:
        """Run so many times on one input."""
        runs = collected(self.mechanism, value, draws, one_by_one=self.one_by_one)
        if runs is None:
            raise BatchFailed
        self.taken += draws
        if self.progress is not None:
            self.progress(min(self.taken / self.total, 1.0))
        return runs


@dataclass
class Entrant:
    """An input and all runs on it so far; pairs that share it share them."""

    value: Any
    parts: list[Any] = field(default_factory=list)
    runs: int = 0

    def extend(self, runner: Runner, total: int) -> None:
        """Run until there are so many."""
        while self.runs < total:
            draws = min(total - self.runs, _CHUNK)
            self.parts.append(runner.draw(self.value, draws))
            self.runs += draws

    def everything(self) -> Any:
        """Return all runs, as one array where they are arrays of one kind."""
        if len(self.parts) == 1:
            return self.parts[0]
        if all(isinstance(one, np.ndarray) and one.shape[1:] == self.parts[0].shape[1:] for one in self.parts):
            return np.concatenate(self.parts)
        return [output for part in self.parts for output in part]


@dataclass
class Race:
    """Pairs of neighbours in a race for the largest bound that an event learned from few runs lets expect."""

    pairs: list[tuple[Entrant, Entrant]]
    aim: Aim

    @classmethod
    def between(cls, neighbours: Sequence[Inputs], aim: Aim) -> Race:
        """Enter the pairs; inputs that are written alike are run once for all their pairs."""
        entrants: dict[Any, Entrant] = {}
        pairs = []
        for both in neighbours:
            pairs.append(tuple(entrants.setdefault(_key(value), Entrant(value)) for value in both))
        return cls([(pair[0], pair[1]) for pair in pairs], aim)

    def run(self, runner: Runner, budget: int) -> tuple[Entrant, Entrant]:
        """Let pairs drop out that are certainly behind until one is left, or all is spent."""
        entrants = len({id(one) for pair in self.pairs for one in pair})
        size = max(budget // (_ROUNDS * entrants), min(_LEAST, budget // entrants), 8)
        leader = self.pairs[0]
        while len(self.pairs) > 1:
            missing = sum(
                max(size - one.runs, 0) for one in {id(one): one for both in self.pairs for one in both}.values()
            )
            if runner.taken + missing > budget:
                break
            for one in {id(one): one for pair in self.pairs for one in pair}.values():
                one.extend(runner, size)
            judged = sorted(((*self._promise(*pair), pair) for pair in self.pairs), key=lambda one: -one[0])
            best, known, leader = judged[0]
            self.pairs = [
                pair for promise, spread, pair in judged if promise + _SURE * math.hypot(spread, known) >= best
            ]
            size *= 2
        return leader

    def _promise(self, first: Entrant, second: Entrant) -> tuple[float, float]:
        """Return the bound to be expected of a pair, and how far off that may be.

        An event learned on one half of the runs is counted in the other half, so that no luck is taken for promise.
        """
        one, two = encoded(first, second)[1]
        half = min(len(one), len(two)) // 2
        halves = [(one.part(0, half), two.part(0, half)), (one.part(half, 2 * half), two.part(half, 2 * half))]
        total, variance = 0.0, 0.0
        for learner, judge in (halves, halves[::-1]):
            event = learned(*learner, (first.value, second.value), self.aim, folds=2, thorough=False)[0]
            seen, other = (int(np.count_nonzero(event.shown(side))) for side in judge)
            total += self.aim.foreseen(*((other, seen) if event.swapped else (seen, other)), half, event.target)
            variance += 1.0 / (seen + 0.5) + 1.0 / (other + 0.5) - 2.0 / (half + 1.0)
        return total / 2, math.sqrt(max(variance, 0.0)) / 2


def encoded(first: Entrant, second: Entrant) -> tuple[Encoder, tuple[Outcomes, Outcomes]]:
    """Learn how outputs become columns from the early runs of a pair, and turn all its runs into them."""
    runs = first.everything(), second.everything()
    encoder = Encoder.fitted(*(one[:_EARLY] for one in runs))
    return encoder, (encoder.encode(runs[0]), encoder.encode(runs[1]))


def _key(value: Any) -> Any:
    """Return something equal for equal inputs; an input that cannot be told is its own."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes() if value.dtype.kind != "O" else id(value)
    try:
        return type(value).__name__, repr(value)
    except Exception:
        return id(value)
