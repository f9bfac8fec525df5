"""Learning an event: scores fitted on some runs, thresholds chosen on others by the bound that a test lets expect.

A threshold is chosen on held-out runs: by counts where they tell, by the calibrated score where not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from discreet.audit.statistical.additive import RegressionDesign, fitted_additive
from discreet.audit.statistical.columns import BETWEEN, Columns, View
from discreet.audit.statistical.loss_bound import loss_at_least
from discreet.audit.statistical.outcomes import Floats, Outcomes
from discreet.audit.statistical.scores import (
    BinnedReading,
    Counted,
    FinestBit,
    MeanScore,
    Pattern,
    Reading,
    RunScore,
    TableScore,
    ValueScore,
    edges_of,
)
from discreet.audit.statistical.targets import CurvePoint, LearningAim
from discreet.laws.clopper_pearson import chance_at_least, chance_at_most

_SINGLE = 24
_BINS = (8, 64)
_FEW_COLUMNS = 4
_FOLDS, _KEPT = 3, 12
_BEHIND, _BEHIND_SHARE = 5.0, 0.05  # in log-likelihood
_SHY, _VERY_SHY = 1.5, 3.0
_MUCH_MORE = 1.25
_CAUTION = 0.003
_THRESHOLDS = 160
_TOO_FAR = 30.0
_SHAPE = 0.08
_SIGNIFICANT, _FEWEST = 3.0, 8
_APART = 0.45  # in logarithms of the chance: events that are different enough to test both
_STEPS = 12


@dataclass(frozen=True)
class Event:
    """A set of outcomes: those whose score is at least (or at most) a threshold, and the input that is to show it."""

    score: RunScore
    columns: Columns
    threshold: float
    above: bool
    swapped: bool  # whether the second input of the pair is the one that shows it more often
    target: CurvePoint
    expected: float  # a cautious estimate of the bound, as a loss or as a share of the guarantee
    chances: tuple[float, float]  # on the input that shows it and on the other, as estimated
    gain: float = 0.0

    def shown(self, outcomes: Outcomes) -> Any:
        """Say of each run whether it shows it."""
        scores = self.score(View(outcomes, self.columns))
        return scores >= self.threshold if self.above else scores <= self.threshold

    def __str__(self) -> str:
        return f"{self.score} is at {'least' if self.above else 'most'} {self.threshold:.6g}"


def learned(
    first: Outcomes,
    second: Outcomes,
    inputs: tuple[Any, Any],
    aim: LearningAim,
    *,
    folds: int = _FOLDS,
    thorough: bool = True,
) -> list[Event]:
    """Return events to test, the most promising first.

    Scores are fitted with each fold of the runs left out in turn; the runs of a fold are scored by the fit that never
    saw them, so that all runs help to choose a score and a threshold. The event then uses the mean of the fits.
    """
    size = min(len(first), len(second))
    columns = Columns.fitted(first, second, inputs)
    fits: list[list[RunScore]] = []
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


def _combined(scores: tuple[RunScore, ...]) -> RunScore:
    """Return the mean of the fits of one kind of score, or the score itself where nothing was fitted."""
    return scores[0] if len(scores) == 1 or not scores[0].learned else MeanScore(scores)


def _ranked(
    scores: list[RunScore], held: list[Any], columns: Columns, aim: LearningAim
) -> list[tuple[Event, _Ranking]]:
    """Choose a threshold for each score by runs that it was not fitted to, and return the best events."""
    rankings = [
        _Ranking.of(score, *(np.concatenate(side) for side in zip(*parts, strict=True)))
        for score, parts in zip(scores, held, strict=True)
    ]
    best = max((ranking.gain for ranking in rankings), default=0.0)
    events = []
    for score, ranking in zip(scores, rankings, strict=True):
        # a score that fits clearly worse must guarantee more with near certainty
        shy = _SHY if ranking.gain >= best - _BEHIND - _BEHIND_SHARE * best else _VERY_SHY
        for target, (above, swapped) in product(aim.targets, ranking.forms()):
            for threshold, bound, chances in ranking.best(above, swapped, target, aim, shy=shy):
                event = Event(score, columns, threshold, above, swapped, target, bound, chances, ranking.gain)
                events.append((event, ranking))
    events.sort(key=lambda one: -one[0].expected)
    kept = events[:_KEPT]
    hopeful = _hopeful(kept[0][0], list(zip(scores, rankings, strict=True)), aim)
    return [kept[0], hopeful, *kept[1:]] if hopeful else kept


def _hopeful(best: Event, rankings: list[tuple[RunScore, _Ranking]], aim: LearningAim) -> tuple[Event, _Ranking] | None:
    """Return an event that is rarer than the best one and may tell much more, as far as few counts can say."""
    beyond = float(np.log(best.chances[0] / best.chances[1])) if best.chances[1] > 0.0 else np.inf
    found: tuple[Event, _Ranking] | None = None
    for score, ranking in rankings:
        for above, swapped in ranking.forms():
            rare = ranking.hopeful(above, swapped, beyond, best.target, aim)
            if rare is not None and rare[1] > (found[0] if found else best).expected * (1.0 if found else _MUCH_MORE):
                event = replace(best, score=score, threshold=rare[0], above=above, swapped=swapped, expected=rare[1])
                found = replace(event, gain=ranking.gain), ranking
    return found


def _moved(event: Event, ranking: _Ranking, everything: tuple[View, View]) -> Event:
    """Put the threshold where the mean of the fits shows the event about as often as the single fits did."""
    if not isinstance(event.score, MeanScore):
        return event
    pooled = np.sort(np.concatenate([event.score(side) for side in everything]))
    share = ranking.share(event.threshold, event.above)
    values, starts = np.unique(pooled, return_index=True)
    shares = 1.0 - starts / len(pooled) if event.above else np.append(starts[1:], len(pooled)) / len(pooled)
    return replace(event, threshold=float(values[int(np.argmin(np.abs(shares - share)))]))


def candidates(first: View, second: View, *, thorough: bool) -> Iterator[RunScore]:
    """Yield scores fitted to runs of both inputs."""
    columns, width = first.columns, first.numbers.shape[1]
    patterned = bool(first.outcomes.codes.shape[1]) or bool(np.any(first.kinds)) or bool(np.any(second.kinds))
    everything = tuple(range(width))
    for column in range(min(width, _SINGLE)):
        if np.all(first.kinds[:, column] != BETWEEN) and np.all(second.kinds[:, column] != BETWEEN) and width > 1:
            continue
        yield ValueScore(column)
        if thorough and column < 2 * _FEW_COLUMNS:
            yield FinestBit(column)
        if width <= _FEW_COLUMNS:
            for bins in _BINS:
                edges = edges_of((first, second), column, bins)
                yield TableScore.fitted(BinnedReading(column, edges), first, second)
    tables: list[TableScore] = []
    if patterned:
        readings: list[Reading] = [Pattern(everything)]
        if any(len(group) > 1 for group in columns.groups):
            readings.append(Counted(columns.groups))
        for reading in readings:
            yield TableScore.fitted(reading, first, second)
        if len(columns.blocks) > 1:
            readings += [Pattern(block) for block in columns.blocks]
        half = len(first) // 2
        halves = [view.part(0, half) for view in (first, second)]
        tables = [TableScore.fitted(reading, *halves) for reading in readings]
    if width >= 1:
        yield from _sums(first, second, tables)


def _sums(first: View, second: View, tables: list[TableScore]) -> Iterator[RunScore]:
    """Yield sums over columns: shared or free functions, of the numbers or of their differences, with tables."""
    between = bool(np.any(first.kinds == BETWEEN))
    for differenced in (False, True) if between and first.numbers.shape[1] > 1 else (False,):
        yield from fitted_additive(
            RegressionDesign.fitted(first, second, free=True, differenced=differenced), first, second
        )
    if tables:
        half = len(first) // 2
        rest = first.part(half), second.part(half)
        yield from fitted_additive(RegressionDesign.fitted(*rest, free=True, tables=tuple(tables)), *rest)


@dataclass(frozen=True)
class _Ranking:
    """Held-out runs of both inputs, sorted by a score, and the slope that makes its values logarithms of likelihoods.

    The count of a rare event says little about its chance, and the best of many thresholds owes much to luck. A score
    that estimates the likelihood ratio knows more: after one slope is fitted to all held-out runs, it predicts the
    share of the first input among the runs beyond each threshold. Prediction and counts are weighed by how uncertain
    each is. Scores that are no likelihood ratios have only the counts, with bounds that rarely fail.
    """

    first: Floats
    second: Floats
    slope: float | None
    middle: float
    gain: float = 0.0  # in held-out log-likelihood, over guessing

    @classmethod
    def of(cls, score: RunScore, first: Floats, second: Floats) -> _Ranking:
        """Sort what a score made of the runs of both inputs."""
        ones, twos = np.sort(first), np.sort(second)
        if not score.calibrated:
            return cls(ones, twos, None, 0.0)
        slope, middle = _calibrated(ones, twos)
        return cls(ones, twos, max(slope, 0.0), middle, _gain(ones, twos, middle))

    def share(self, threshold: float, above: bool) -> float:
        """Return the share of all runs that show an event."""
        sides = (self.first, self.second)
        below = sum(int(np.searchsorted(side, threshold, side="left" if above else "right")) for side in sides)
        total = sum(len(side) for side in sides)
        return (total - below if above else below) / total

    def forms(self) -> list[tuple[bool, bool]]:
        """Return which ends of the score to look at, and for which input: high scores tell of the first one."""
        both = [(True, False), (False, True)]
        return both if self.slope is not None else [*both, (True, True), (False, False)]

    def best(
        self, above: bool, swapped: bool, target: CurvePoint, aim: LearningAim, *, shy: float
    ) -> list[tuple[float, float, tuple[float, float]]]:
        """Return the threshold with the largest bound to be expected of the test, the bound, and both chances.

        After it comes the best one of an event that is clearly rarer or clearly more frequent.
        """
        grid, counts, sizes = self._counted(above)
        p, q = ((count + 0.5) / (size + 1.0) for count, size in zip(counts, sizes, strict=True))
        noise = np.sqrt((1 - p) / p / sizes[0] + (1 - q) / q / sizes[1])
        ratio = np.log(p / q)
        sign = -1.0 if swapped else 1.0
        if self.slope is None:
            (one, two), (runs, others) = (counts[::-1], sizes[::-1]) if swapped else (counts, sizes)
            low, high = chance_at_least(one, runs, _CAUTION), chance_at_most(two, others, _CAUTION)
            cautious = sign * np.log(np.maximum(low, 1e-300) / high)
        else:
            # the score's own prediction, as uncertain as a share of itself, is put together with the counts
            predicted = self._predicted(grid, above, self.slope)
            own = self._doubt * np.abs(predicted) + 1e-9
            weight = noise**2 / (noise**2 + own**2)
            spread = noise * own / np.sqrt(noise**2 + own**2)
            cautious = weight * predicted + (1.0 - weight) * ratio - sign * shy * spread
        # the mean of the two chances is known far better than their ratio
        mean, share = (p + q) / 2, 1.0 / (1.0 + np.exp(-cautious))
        p, q = 2 * mean * share, 2 * mean * (1 - share)
        if swapped:
            p, q = q, p
        p, q = np.clip(p, 0.0, 1.0), np.clip(q, 0.0, 1.0)
        bounds = loss_at_least(p * aim.test, aim.test, q * aim.test, aim.test, delta=target.delta, rest=aim.rest)
        if aim.shares:
            bounds = bounds / max(target.epsilon, 1e-12)
        found = []
        for _ in range(2):
            chosen = int(np.argmax(bounds))
            found.append((float(grid[chosen]), float(bounds[chosen]), (float(p[chosen]), float(q[chosen]))))
            apart = np.abs(np.log(np.maximum(mean, 1e-300) / max(mean[chosen], 1e-300)))
            bounds = np.where(apart > _APART, bounds, -1.0)
        return [one for one in found if one[1] >= 0.0]

    @property
    def _doubt(self) -> float:
        """The relative standard error of the slope, and so of every prediction; its shape is never better known."""
        return max(_SHAPE, 1.0 / float(np.sqrt(2.0 * max(self.gain, 1.0))))

    def hopeful(
        self, above: bool, swapped: bool, beyond: float, target: CurvePoint, aim: LearningAim
    ) -> tuple[float, float] | None:
        """Return the threshold of a rare event with the largest bound if it kept its frequencies, and that bound.

        Its loss must exceed one that is known to be reached by several standard errors, or there is none.
        """
        grid, counts, sizes = self._counted(above)
        (one, two), (runs, others) = (counts[::-1], sizes[::-1]) if swapped else (counts, sizes)
        p, q = (one + 0.5) / (runs + 1.0), (two + 0.5) / (others + 1.0)
        known = (np.log(p / q) - beyond) / np.sqrt(1.0 / (one + 0.5) + 1.0 / (two + 0.5))
        bounds = loss_at_least(p * aim.test, aim.test, q * aim.test, aim.test, delta=target.delta, rest=aim.rest)
        bounds = np.where((known >= _SIGNIFICANT) & (one >= _FEWEST), bounds, 0.0)
        chosen = int(np.argmax(bounds))
        return (float(grid[chosen]), aim.in_terms(float(bounds[chosen]), target)) if bounds[chosen] > 0.0 else None

    def _counted(self, above: bool) -> tuple[Floats, list[Any], Any]:
        """Return thresholds, how many runs of both inputs lie beyond each, and how many runs there are."""
        grid = np.unique(np.concatenate([side[_places(len(side))] for side in (self.first, self.second)]))
        sides = (self.first, self.second)
        if above:
            counts = [len(side) - np.searchsorted(side, grid, side="left") for side in sides]
        else:
            counts = [np.searchsorted(side, grid, side="right") for side in sides]
        return grid, counts, np.array([len(side) for side in sides])

    def _predicted(self, grid: Floats, above: bool, slope: float) -> Floats:
        """Return the logarithm of the ratio of both chances beyond each threshold, as the calibrated score has it."""
        pooled = np.sort(np.concatenate([self.first, self.second]))
        shares = 1.0 / (1.0 + np.exp(-np.clip(slope * (pooled - self.middle), -_TOO_FAR, _TOO_FAR)))
        firsts = np.concatenate([[0.0], np.cumsum(shares)])
        place = np.searchsorted(pooled, grid, side="left" if above else "right")
        part = firsts[-1] - firsts[place] if above else firsts[place]
        total = len(pooled) - place if above else place
        share = np.clip((part + 1e-12) / (total + 2e-12), 1e-12, 1 - 1e-12)
        return np.asarray(np.log(share / (1.0 - share)))


def _gain(first: Floats, second: Floats, middle: float) -> float:
    """Return how much likelier the held-out runs are by the score, as it is, than by guessing, in logarithms."""
    ones, twos = (np.clip(side - middle, -_TOO_FAR, _TOO_FAR) for side in (first, second))
    return float(-np.sum(np.logaddexp(0.0, -ones)) - np.sum(np.logaddexp(0.0, twos))) + (len(ones) + len(twos)) * float(
        np.log(2.0)
    )


def _calibrated(first: Floats, second: Floats) -> tuple[float, float]:
    """Fit a slope and a middle by logistic regression of the input on the score."""
    scores = np.concatenate([first, second])
    labels = np.concatenate([np.ones(len(first)), np.zeros(len(second))])
    theta = np.array([0.0, 0.0])
    for _ in range(_STEPS):
        chances = 1.0 / (1.0 + np.exp(-np.clip(theta[0] + theta[1] * scores, -_TOO_FAR, _TOO_FAR)))
        weight = chances * (1.0 - chances)
        moments = [float(np.sum(weight)), float(weight @ scores), float(weight @ scores**2)]
        curvature = np.array([[moments[0], moments[1]], [moments[1], moments[2]]]) + np.diag([1e-6, 1.0])
        residual = labels - chances
        gradient = np.array([float(np.sum(residual)), float(residual @ scores)]) - np.array([0.0, theta[1] - 1.0])
        step = np.linalg.solve(curvature, gradient)
        theta = theta + np.clip(step, -3.0, 3.0)
        if np.max(np.abs(step)) < 1e-6:
            break
    middle = -float(theta[0] / theta[1]) if theta[1] > 1e-9 else 0.0
    return float(theta[1]), middle


@lru_cache(maxsize=64)
def _places(size: int) -> Any:
    """Return places in a sorted array: evenly spaced ones, and ever finer ones towards both ends."""
    even = np.linspace(0, size - 1, _THRESHOLDS)
    tail = np.geomspace(1, max(size, 1), _THRESHOLDS // 2) - 1
    return np.unique(np.clip(np.concatenate([even, tail, size - 1 - tail]), 0, max(size - 1, 0)).astype(np.int64))
