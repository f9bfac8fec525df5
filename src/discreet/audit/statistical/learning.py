"""Learning an event: scores fitted on some runs, thresholds chosen on others by the bound that a test lets expect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from discreet.audit.statistical.additive import Design, fitted_additive
from discreet.audit.statistical.columns import BETWEEN, Columns, View
from discreet.audit.statistical.outcomes import Floats, Outcomes
from discreet.audit.statistical.ranking import Ranking
from discreet.audit.statistical.scores import (
    Binned,
    Counted,
    FinestBit,
    Mean,
    Pattern,
    Reading,
    Score,
    Table,
    Value,
    edges_of,
)
from discreet.audit.statistical.targets import Aim, Target

_SINGLE = 24
_BINS = (8, 64)
_FEW_COLUMNS = 4
_FOLDS, _KEPT = 3, 12
_BEHIND, _BEHIND_SHARE = 5.0, 0.05  # in log-likelihood
_SHY, _VERY_SHY = 1.5, 3.0
_MUCH_MORE = 1.25


@dataclass(frozen=True)
class Event:
    """A set of outcomes: those whose score is at least (or at most) a threshold, and the input that is to show it."""

    score: Score
    columns: Columns
    threshold: float
    above: bool
    swapped: bool  # whether the second input of the pair is the one that shows it more often
    target: Target
    expected: float  # a cautious estimate of the bound, as a loss or as a share of the claim
    chances: tuple[float, float]  # on the input that shows it and on the other, as estimated
    gain: float = 0.0

    def shown(self, outcomes: Outcomes) -> Any:
        """Say of each run whether it shows it."""
        scores = self.score(View(outcomes, self.columns))
        return scores >= self.threshold if self.above else scores <= self.threshold

    def __str__(self) -> str:
        """Say what the event is."""
        return f"{self.score} is at {'least' if self.above else 'most'} {self.threshold:.6g}"


def learned(
    first: Outcomes, second: Outcomes, inputs: tuple[Any, Any], aim: Aim, *, folds: int = _FOLDS, thorough: bool = True
) -> list[Event]:
    """Return events to test, the most promising first.

    Scores are fitted with each fold of the runs left out in turn; the runs of a fold are scored by the fit that never
    saw them, so that all runs help to choose a score and a threshold. The event then uses the mean of the fits.
    """
    size = min(len(first), len(second))
    columns = Columns.fitted(first, second, inputs)
    fits: list[list[Score]] = []
    held: list[list[tuple[Floats, Floats]]] = []
    for fold in range(folds):
        stop = (fold + 1) * size // folds
        left_out = stop - fold * size // folds
        sides = [
            View(one.turned(stop) if stop < size else one, columns)
            for one in (first.part(0, size), second.part(0, size))
        ]
        scores = list(candidates(*(side.part(0, size - left_out) for side in sides), thorough=thorough))
        rest = [side.part(size - left_out) for side in sides]
        fits.append(scores)
        held.append([(score(rest[0]), score(rest[1])) for score in scores])
        if len(scores) != len(fits[0]):  # a fold that shows other columns has nothing to be compared with
            fits, held = fits[:1], held[:1]
            break
    everything = View(first, columns), View(second, columns)
    events = _ranked([_combined(one) for one in zip(*fits, strict=True)], list(zip(*held, strict=True)), columns, aim)
    kept = events if thorough else events[:1]
    return [_moved(event, ranking, everything) for event, ranking in kept]


def _combined(scores: tuple[Score, ...]) -> Score:
    """Return the mean of the fits of one kind of score, or the score itself where nothing was fitted."""
    return scores[0] if len(scores) == 1 or not scores[0].learned else Mean(scores)


def _ranked(scores: list[Score], held: list[Any], columns: Columns, aim: Aim) -> list[tuple[Event, Ranking]]:
    """Choose a threshold for each score by runs that it was not fitted to, and return the best events."""
    rankings = [
        Ranking.of(score, *(np.concatenate(side) for side in zip(*parts, strict=True)))
        for score, parts in zip(scores, held, strict=True)
    ]
    best = max((ranking.gain for ranking in rankings), default=0.0)
    events = []
    for score, ranking in zip(scores, rankings, strict=True):
        # a score that fits clearly worse must promise more with near certainty
        shy = _SHY if ranking.gain >= best - _BEHIND - _BEHIND_SHARE * best else _VERY_SHY
        for target, (above, swapped) in product(aim.targets, ranking.forms()):
            for threshold, bound, chances in ranking.best(above, swapped, target, aim, shy=shy):
                event = Event(score, columns, threshold, above, swapped, target, bound, chances, ranking.gain)
                events.append((event, ranking))
    events.sort(key=lambda one: -one[0].expected)
    kept = events[:_KEPT]
    hopeful = _hopeful(kept[0][0], list(zip(scores, rankings, strict=True)), aim)
    return [kept[0], hopeful, *kept[1:]] if hopeful else kept


def _hopeful(best: Event, rankings: list[tuple[Score, Ranking]], aim: Aim) -> tuple[Event, Ranking] | None:
    """Return an event that is rarer than the best one and may tell much more, as far as few counts can say."""
    beyond = float(np.log(best.chances[0] / best.chances[1])) if best.chances[1] > 0.0 else np.inf
    found: tuple[Event, Ranking] | None = None
    for score, ranking in rankings:
        for above, swapped in ranking.forms():
            rare = ranking.hopeful(above, swapped, beyond, best.target, aim)
            if rare is not None and rare[1] > (found[0] if found else best).expected * (1.0 if found else _MUCH_MORE):
                event = replace(best, score=score, threshold=rare[0], above=above, swapped=swapped, expected=rare[1])
                found = replace(event, gain=ranking.gain), ranking
    return found


def _moved(event: Event, ranking: Ranking, everything: tuple[View, View]) -> Event:
    """Put the threshold where the mean of the fits shows the event about as often as the single fits did."""
    if not isinstance(event.score, Mean):
        return event
    pooled = np.sort(np.concatenate([event.score(side) for side in everything]))
    share = ranking.share(event.threshold, event.above)
    values, starts = np.unique(pooled, return_index=True)
    shares = 1.0 - starts / len(pooled) if event.above else np.append(starts[1:], len(pooled)) / len(pooled)
    return replace(event, threshold=float(values[int(np.argmin(np.abs(shares - share)))]))


def candidates(first: View, second: View, *, thorough: bool) -> Iterator[Score]:
    """Yield scores fitted to runs of both inputs."""
    columns, width = first.columns, first.numbers.shape[1]
    patterned = bool(first.outcomes.codes.shape[1]) or bool(np.any(first.kinds)) or bool(np.any(second.kinds))
    everything = tuple(range(width))
    for column in range(min(width, _SINGLE)):
        if np.all(first.kinds[:, column] != BETWEEN) and np.all(second.kinds[:, column] != BETWEEN) and width > 1:
            continue
        yield Value(column)
        if thorough and column < 2 * _FEW_COLUMNS:
            yield FinestBit(column)
        if width <= _FEW_COLUMNS:
            for bins in _BINS:
                edges = edges_of((first, second), column, bins)
                yield Table.fitted(Binned(column, edges), first, second)
    tables: list[Table] = []
    if patterned:
        readings: list[Reading] = [Pattern(everything)]
        if any(len(group) > 1 for group in columns.groups):
            readings.append(Counted(columns.groups))
        for reading in readings:
            yield Table.fitted(reading, first, second)
        if len(columns.blocks) > 1:
            readings += [Pattern(block) for block in columns.blocks]
        half = len(first) // 2
        halves = [view.part(0, half) for view in (first, second)]
        tables = [Table.fitted(reading, *halves) for reading in readings]
    if width >= 1:
        yield from _sums(first, second, tables)


def _sums(first: View, second: View, tables: list[Table]) -> Iterator[Score]:
    """Yield sums over columns: shared or free functions, of the numbers or of their differences, with tables."""
    between = bool(np.any(first.kinds == BETWEEN))
    for differenced in (False, True) if between and first.numbers.shape[1] > 1 else (False,):
        yield from fitted_additive(Design.fitted(first, second, free=True, differenced=differenced), first, second)
    if tables:
        half = len(first) // 2
        rest = first.part(half), second.part(half)
        yield from fitted_additive(Design.fitted(*rest, free=True, tables=tuple(tables)), *rest)
