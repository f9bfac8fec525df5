"""Benchmark exhibits: six sparse-vector algorithms that tell which answers exceed a noisy threshold, two of them right.

Given the threshold's noise the comparisons are independent, so that every outcome's chance is one integral over that
noise of a product of tail probabilities. The integrand is smooth between kinks and integrated there by Gauss-Legendre
panels.
Reference. Lyu, Su, Li 2017, figure 1.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.audit.exact import Varied
from discreet.laws import Pair
from discreet.privacy import PureDP
from discreet.testing.museum.exhibit import ANSWERS, NumericExhibit, Vector, Vectors, all_differ, laplace, right, wrong
from discreet.testing.museum.laws import (
    TAILS,
    Floats,
    Panels,
    cut,
    finite_pair,
    laplace_below,
    laplace_between,
    laplace_density,
    positive,
)

LYU = "Lyu, Su, Li 2017"
EPSILON = 0.1
ABORTED = -1
Outcomes = list[tuple[int, ...]]


class SparseVector(NumericExhibit):
    """Tell of each answer whether it exceeds a noisy threshold, up to a number of hits."""

    label = right(
        "SVT1",
        PureDP(EPSILON),
        "Noise of scale 2 / epsilon on the threshold, 4 hits / epsilon on the answers, stop after the hits: right.",
        LYU,
    )
    threshold: float = 0.5
    threshold_scale: float = 2 / EPSILON
    query_scale: float = 4 / EPSILON
    hits: int | None = 1
    redraws: ClassVar[bool] = False  # a fresh threshold after every hit
    scaled: ClassVar[bool] = True  # the noise of the answers grows with the number of hits
    varied: ClassVar[Varied | None] = ANSWERS

    def __init__(self, *, hits: int | None = None, seed: int | None = None) -> None:
        super().__init__(seed=seed)
        if self.hits is not None and hits is not None:
            self.query_scale *= hits if self.scaled else 1
            self.threshold_scale *= hits if self.redraws else 1
            self.hits = hits

    def neighbors(self) -> list[Vectors]:
        """Ten answers that all may differ."""
        return all_differ(10)

    def runs(self, value: Vector, draws: int) -> NDArray[Any]:
        """Draw vectors of verdicts: 1 above, 0 below, -1 for not looked at any more."""
        noisy = value + laplace(self.random, self.query_scale, (draws, value.size))
        bar = self.threshold + laplace(self.random, self.threshold_scale, (draws, 1))
        verdicts = (noisy >= bar).astype(np.int8)
        return verdicts if self.hits is None else stopped(verdicts, self.hits)

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Return the finite pair over all outcomes."""
        panels = self.panels(first, second)
        outcomes, p = self.chances(panels, first)
        _, q = self.chances(panels, second)
        return finite_pair(list(outcomes), p, q)

    def panels(self, first: Vector, second: Vector) -> Panels:
        """Cut the places of the noisy threshold at the answers and at the threshold itself."""
        kinks = np.concatenate([first, second, [self.threshold]])
        width = min(self.threshold_scale, self.query_scale)
        return Panels(cut(kinks, width=width, reach=TAILS * self.threshold_scale), 12)

    def chances(self, panels: Panels, value: Vector) -> tuple[Outcomes, Floats]:
        """Return the outcomes and their chances: one walk over the tree of verdicts."""
        start = laplace_density((panels.nodes - self.threshold) / self.threshold_scale) / self.threshold_scale
        start = start * panels.weights
        below = [laplace_below((panels.nodes - answer) / self.query_scale) for answer in value.tolist()]
        above = [laplace_below((answer - panels.nodes) / self.query_scale) for answer in value.tolist()]
        outcomes: Outcomes = []
        chances: list[float] = []
        stack: list[tuple[tuple[int, ...], float, Floats]] = [((), 1.0, start)]
        while stack:
            told, factor, weight = stack.pop()
            if len(told) == value.size or (self.hits is not None and sum(told) == self.hits):
                outcomes.append(told + (ABORTED,) * (value.size - len(told)))
                chances.append(factor * float(weight.sum()))
                continue
            hit = weight * above[len(told)]
            if self.redraws:
                stack.append(((*told, 1), factor * float(hit.sum()), start))
            else:
                stack.append(((*told, 1), factor, hit))
            stack.append(((*told, 0), factor, weight * below[len(told)]))
        return outcomes, positive(np.array(chances))


class SparseVectorRedrawn(SparseVector):
    """The same with a fresh threshold after every hit."""

    label = right(
        "SVT2",
        PureDP(EPSILON),
        "The threshold's noise grows with the number of hits and is drawn afresh after each: right, but noisier.",
        LYU,
    )
    threshold = 1.0
    redraws = True

    def runs(self, value: Vector, draws: int) -> NDArray[Any]:
        """Draw vectors of verdicts, with a new bar after each hit."""
        noisy = value + laplace(self.random, self.query_scale, (draws, value.size))
        bar = self.threshold + laplace(self.random, self.threshold_scale, (draws,))
        verdicts = np.empty((draws, value.size), dtype=np.int8)
        for position in range(value.size):
            hit = noisy[:, position] >= bar
            verdicts[:, position] = hit
            bar[hit] = self.threshold + laplace(self.random, self.threshold_scale, (int(hit.sum()),))
        return verdicts if self.hits is None else stopped(verdicts, self.hits)


class SparseVectorMisscaled(SparseVector):
    """The fourth: noise of the answers neither doubled nor scaled with the number of hits."""

    label = wrong(
        "SVT4",
        PureDP(EPSILON),
        "The noise of the answers ignores the number of hits, and that answers may move apart: (1 + 6 hits) / 4 times"
        " the guarantee.",
        LYU,
    )
    threshold = 1.0
    threshold_scale = 4 / EPSILON
    query_scale = 4 / (3 * EPSILON)
    scaled = False


class SparseVectorUnlimited(SparseVector):
    """The sixth: noise on the answers, but no limit to the hits."""

    label = wrong(
        "SVT6",
        PureDP(EPSILON),
        "Noise of scale 2 / epsilon on threshold and answers, and no stop: every answer tells a little more.",
        LYU,
    )
    threshold = 1.0
    query_scale = 2 / EPSILON
    hits = None
    varied = None


class SparseVectorNoiseless(SparseVector):
    """The fifth: no noise on the answers at all."""

    label = wrong(
        "SVT5",
        PureDP(EPSILON),
        "Only the threshold is noisy: two answers that swap their order give verdicts that are otherwise impossible.",
        LYU,
    )
    threshold = 1.0
    hits = None
    varied = None

    def runs(self, value: Vector, draws: int) -> NDArray[Any]:
        """Draw vectors of verdicts."""
        bar = self.threshold + laplace(self.random, self.threshold_scale, (draws, 1))
        return (value >= bar).astype(np.int8)

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Return the pair in closed form: between two neighboring answers every threshold gives the same verdicts."""
        masses = [self._verdicts(value) for value in (first, second)]
        outcomes = list(dict.fromkeys([*masses[0], *masses[1]]))
        p, q = (np.array([mass.get(outcome, 0.0) for outcome in outcomes]) for mass in masses)
        return finite_pair(list(outcomes), p, q)

    def _verdicts(self, value: Vector) -> dict[tuple[int, ...], float]:
        """Return the chance of every possible vector of verdicts."""
        places = np.unique(value)
        ends = np.concatenate([[-np.inf], places, [np.inf]])
        scaled = (ends - self.threshold) / self.threshold_scale
        chances = positive(laplace_between(scaled[:-1], scaled[1:]))
        # a threshold in (a, b] between neighboring answers a < b is reached by the answers from b on
        return {tuple((value >= b).astype(int).tolist()): float(c) for b, c in zip(ends[1:], chances, strict=True)}


def stopped(verdicts: NDArray[np.int8], hits: int) -> NDArray[np.int8]:
    """Mark what comes after the last hit as not looked at."""
    counts = np.zeros(len(verdicts), dtype=np.int8)
    for column in verdicts.T:
        done = counts >= hits
        counts += column
        column[done] = ABORTED
    return verdicts
