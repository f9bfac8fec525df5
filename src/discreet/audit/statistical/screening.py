"""Which of many pairs of neighbors is the most telling one: an elimination race."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import shake_128
from typing import Any

import numpy as np

from discreet.audit.statistical.learning import learned
from discreet.audit.statistical.outcomes import Encoder, Outcomes, collected, is_numeric, listed, run_once
from discreet.audit.statistical.targets import LearningAim
from discreet.display import Progress, silent

Inputs = tuple[Any, Any]
_CHUNK = 1 << 17
_EARLY = 20_000
_ROUNDS = 8  # of doubled runs, the last half of all
_LEAST = 4000  # runs that a first judgment needs, if there are as many
_SURE = 2.5  # standard errors behind
_PRINTED = (bool, int, float, complex, str, bytes, type(None), Fraction)  # what prints in full


class BatchFailed(Exception):
    """Running many times at once raised an error, which says nothing about single runs."""


@dataclass
class MechanismRunner:
    """A mechanism that is run and counted: all at once where it can be, and the runs taken are told to `progress`."""

    mechanism: Callable[[Any], Any]
    total: int
    progress: Progress = silent
    one_by_one: bool = False
    taken: int = 0

    def draw(self, value: Any, draws: int) -> Any:
        """Run `draws` times on one input."""
        runs = collected(self.mechanism, value, draws, one_by_one=self.one_by_one)
        if runs is None:
            raise BatchFailed
        self._took(draws)
        return runs

    def both(self, values: Inputs, draws: int) -> Iterator[tuple[int, Any]]:
        """Run `draws` times on each of two inputs, and yield the runs in parts, each with the place of its input.

        Single runs take turns in a mixed order: what a mechanism remembers of earlier runs, such as a budget that ran
        out, then meets both inputs alike and is not taken for what it tells about them.
        """
        if self.one_by_one or not callable(getattr(self.mechanism, "runs", None)):
            for start in range(0, draws, _CHUNK):
                yield from enumerate(self._in_turns(values, min(_CHUNK, draws - start)))
            return
        for place, value in enumerate(values):
            for start in range(0, draws, _CHUNK):
                yield place, self.draw(value, min(_CHUNK, draws - start))

    def _in_turns(self, values: Inputs, draws: int) -> tuple[list[Any], list[Any]]:
        """Run one by one on both inputs, each pair of runs in an order as if by a coin, the same in every audit."""
        mixed = shake_128(str(self.taken).encode()).digest(draws // 8 + 1)
        outputs: tuple[list[Any], list[Any]] = ([], [])
        for first in np.unpackbits(np.frombuffer(mixed, dtype=np.uint8))[:draws].tolist():
            for place in (first, 1 - first):
                outputs[place].append(run_once(self.mechanism, values[place]))
        self._took(2 * draws)
        return outputs

    def _took(self, draws: int) -> None:
        """Count runs, and tell how many were taken of all."""
        self.taken += draws
        self.progress(min(self.taken, self.total), self.total)


@dataclass
class Entrant:
    """An input and all runs on it so far; pairs that share it share them."""

    value: Any
    parts: list[Any] = field(default_factory=list)
    runs: int = 0

    def extend(self, runner: MechanismRunner, total: int) -> None:
        """Run until there are `total` runs."""
        while self.runs < total:
            draws = min(total - self.runs, _CHUNK)
            self.parts.append(runner.draw(self.value, draws))
            self.runs += draws

    def everything(self) -> Any:
        """Return all runs, as one array where they are arrays of numbers of one shape."""
        if len(self.parts) == 1:
            return self.parts[0]
        if all(is_numeric(one) and one.shape[1:] == self.parts[0].shape[1:] for one in self.parts):
            return np.concatenate(self.parts)
        return [output for part in self.parts for output in listed(part)]


@dataclass
class PairRace:
    """Pairs of neighbors in a race for the largest bound that an event learned from few runs lets expect."""

    pairs: list[tuple[Entrant, Entrant]]
    aim: LearningAim

    @classmethod
    def between(cls, neighbors: Sequence[Inputs], aim: LearningAim) -> PairRace:
        """Enter the pairs; inputs that are equal are run once for all their pairs."""
        entrants: dict[Any, Entrant] = {}
        pairs = []
        for both in neighbors:
            pairs.append(tuple(entrants.setdefault(_key(value), Entrant(value)) for value in both))
        return cls([(pair[0], pair[1]) for pair in pairs], aim)

    def run(self, runner: MechanismRunner, budget: int) -> tuple[Entrant, Entrant]:
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
            judged = sorted(((*self._guarantee(*pair), pair) for pair in self.pairs), key=lambda one: -one[0])
            best, known, leader = judged[0]
            self.pairs = [
                pair for guarantee, spread, pair in judged if guarantee + _SURE * math.hypot(spread, known) >= best
            ]
            size *= 2
        return leader

    def _guarantee(self, first: Entrant, second: Entrant) -> tuple[float, float]:
        """Return the bound to be expected of a pair, and how far off that may be.

        An event learned on one half of the runs is counted in the other half, so that no luck is taken for guarantee.
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


def _key(value: Any, depth: int = 6) -> Any:
    """Return something equal for equal inputs; an input of another kind is its own, for many print alike."""
    kind = type(value)
    if kind is np.ndarray and value.dtype.kind in "biufcSU":
        return value.dtype.str, value.shape, value.tobytes()
    if kind in _PRINTED or isinstance(value, np.number | np.bool_):
        return kind.__name__, repr(value)
    if depth > 0 and kind in (list, tuple):
        return kind.__name__, tuple(_key(one, depth - 1) for one in value)
    if depth > 0 and kind is dict:
        return kind.__name__, tuple((_key(key, depth - 1), _key(one, depth - 1)) for key, one in value.items())
    return kind.__name__, id(value)
