"""How to lay a composition out: which kinds of release, how far out, with which tilt and on which grid."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.errors import ParameterError
from discreet.laws import Pair
from discreet.privacy.accounting.effort import Effort
from discreet.privacy.accounting.floats import ensure_tested
from discreet.privacy.accounting.lattice.capped import CappedSource
from discreet.privacy.accounting.lattice.cells import Grid, LossSource, Reach, TooLarge
from discreet.privacy.accounting.lattice.composition import LARGEST_TRANSFORM, Composed, SplitComposed, compose
from discreet.privacy.accounting.lattice.fft_bounds import UNIT
from discreet.privacy.accounting.lattice.rounding_maps import TiltedLaw, lowered, raised, split_down
from discreet.privacy.accounting.lattice.sources import source_of
from discreet.privacy.numbers import root_upward
from discreet.privacy.pairs import FixedSizePair, NormalPair

Parts = Sequence[tuple[Pair, int]]
_SPARED = 16  # how much coarser the finest grid is where an answer is to be quick
_MOST_CELLS = 1 << 19
_MOST_CELLS_PATIENTLY, _MOST_ATOM_CELLS = 1 << 20, 1 << 21
_SHARES_OF_TILT = (0.75, 0.9, 1.0, 0.6)  # a smaller tilt has a shorter window, a larger one less noise
_MOST_CELLS_TOGETHER = 1 << 21
_COARSE_POINTS = 1 << 16
_PASSES = 5
_RETRIES, _COARSER = 2, 4.0
_STEEPEST, _MARGIN, _MUCH = 40.0, 1e-5, 0.8
_LOWEST_TAIL = -700.0


@dataclass(frozen=True, slots=True)
class LatticeTarget:
    """What is asked: delta at a level, or the level of a delta."""

    epsilon: float | None
    log_delta: float | None


@dataclass(slots=True)
class LatticeAnswer:
    """Both sides of a composition on one grid; the caller fills in the width of its answer."""

    upper: Composed
    lower: Composed | None
    mean: float
    width: float = math.inf


@dataclass(frozen=True, slots=True, eq=False)
class Tilt:
    """A tilt and what the losses look like under it: mean and variance of the sum, and how much of it is smooth."""

    theta: float
    log_moment: float
    mean: float
    variance: float
    smooth: float


class LatticePlan:
    """A composition taken apart into kinds of release with multiplicities."""

    def __init__(self, parts: Parts, *, effort: Effort = Effort.USUAL, highest: float = math.inf) -> None:
        """Count each kind; `highest` is a level above which no lower bound is wanted."""
        ensure_tested()
        self._margin = math.inf
        self.highest = highest if effort is Effort.PATIENT else math.inf
        self._spared = _SPARED if effort is Effort.QUICK else 1
        self._patient = effort is Effort.PATIENT
        self._cells = _MOST_CELLS_PATIENTLY if self._patient else _MOST_CELLS
        counts: dict[Pair, int] = {}
        square = Fraction(0)
        for pair, times in parts:
            if times < 0:
                raise ParameterError("a release is repeated at least 0 times", parameter="parts")
            for piece, each in pair.components():
                if isinstance(piece, NormalPair):
                    square += times * each * Fraction(piece.mu) ** 2
                elif times:
                    counts[piece] = counts.get(piece, 0) + times * each
        if square:
            counts[NormalPair(root_upward(square))] = 1
        self.kinds = list(counts.items())
        self.total = sum(counts.values())

    def largest_loss(self) -> tuple[float, float]:
        """Bound the essential supremum of the sum of losses."""
        ends = [(times, pair.max_loss()) for pair, times in self.kinds]
        lowest, highest = [times * end.lower for times, end in ends], [times * end.upper for times, end in ends]
        low, high = _sum(lowest), _sum(highest)
        if low == math.inf and math.inf not in lowest:  # a sum too large for a float is still finite
            low = sys.float_info.max
        return low - 4 * UNIT * abs(low) if math.isfinite(low) else low, high + 4 * UNIT * abs(high)

    def infinite(self) -> tuple[float, float]:
        """Bound the mass at infinity: 1 - prod (1 - d)^times."""
        log_left = [0.0, 0.0]
        for pair, times in self.kinds:
            source = source_of(pair, Reach(-60.0, -60.0))
            for side in (0, 1):
                end = source.infinite_mass[side]
                log_left[side] += times * math.log1p(-end) if end < 1 else -math.inf
        low, high = -math.expm1(log_left[0]) * (1 - 64 * UNIT), -math.expm1(log_left[1]) * (1 + 64 * UNIT)
        return 1.0 if math.isinf(log_left[0]) else max(low, 0.0), min(high, 1.0)

    def alone(self, answer: Callable[[Pair], float]) -> float:
        """Return the pair's own lower bound for a single release without a lower bound on the lattice, else 0."""
        if self.total != 1 or source_of(self.kinds[0][0], Reach(-60.0, -60.0)).two_sided:
            return 0.0
        return answer(self.kinds[0][0])

    def passes(self, target: LatticeTarget, tolerance: float) -> Iterator[LatticeAnswer]:
        """Compose on finer and finer grids until the width is reached or the work limit is."""
        sources, reach, tilt = self._laid_out(target, tolerance)
        if not self._patient:
            yield from self._under(tilt, sources, reach, target, tolerance)
            return
        points = _Points(sources, [times for _, times in self.kinds], reach)
        last = math.inf
        for share in _SHARES_OF_TILT:
            answer = None
            with suppress(TooLarge):  # another tilt may need less room
                for answer in self._under(points.tilted(share * tilt.theta), sources, reach, target, tolerance):
                    yield answer
            if answer is not None and (answer.width <= tolerance or answer.width > _MUCH * last):
                return  # narrow enough, or another tilt does not help
            last = math.inf if answer is None else answer.width

    def _under(
        self, tilt: Tilt, sources: Sequence[LossSource], reach: Reach, target: LatticeTarget, tolerance: float
    ) -> Iterator[LatticeAnswer]:
        """Compose under one tilt on finer and finer grids."""
        wanted = tolerance if target.log_delta is not None else tolerance / (1 + tilt.theta)
        if self._splits(sources):  # both sides are off by at most about n h^2 (1 + theta)
            tilt = replace(tilt, smooth=6.0 * self.total)
        step = math.sqrt(6 * wanted / ((1 + tilt.theta) * max(tilt.smooth, 1e-12)))
        step = min(step, math.sqrt(tilt.variance) / 4) if tilt.variance > 0 else self._widest(sources, reach) or 1.0
        finest = self._finest(sources, reach, tilt)
        if tilt.smooth == 0.0:  # every loss is an atom on one lattice, which is then the grid
            step = _common_spacing(sources, [times for _, times in self.kinds]) or step
        last = math.inf
        for _ in range(_PASSES if all(source.two_sided for source in sources) else 1):
            step = self._fitted(sources, max(step, finest), finest)
            if step >= last:
                return
            step, answer = self._affordable(sources, reach, tilt, step, retries=_RETRIES if last == math.inf else 0)
            yield answer
            if answer.width <= tolerance or step <= finest:
                return
            last, shrink = step, math.sqrt(tolerance / answer.width) if math.isfinite(answer.width) else 0.25
            step *= min(max(0.8 * shrink, 0.1), 0.6)

    def _affordable(
        self, sources: Sequence[LossSource], reach: Reach, tilt: Tilt, step: float, *, retries: int
    ) -> tuple[float, LatticeAnswer]:
        """Compose with the given step, or with a coarser one where that needs too much room."""
        try:
            return step, self._composed(sources, reach, tilt, step)
        except TooLarge:
            if not retries:
                raise
        return self._affordable(sources, reach, tilt, _COARSER * step, retries=retries - 1)

    def _laid_out(self, target: LatticeTarget, tolerance: float) -> tuple[list[LossSource], Reach, Tilt]:
        """Follow the tails as far as delta needs; where delta is asked for, until its guessed size settles."""
        log_delta = target.log_delta if target.log_delta is not None else -20.0
        cap = self._cap()
        while True:
            reach = self._reach(log_delta, tolerance)
            sources = [source_of(pair, reach) for pair, _ in self.kinds]
            if math.isfinite(cap):
                sources = [
                    self._capped(source, pair, cap) for source, (pair, _) in zip(sources, self.kinds, strict=True)
                ]
            tilt = self._tilt(sources, reach, target)
            if target.epsilon is None or log_delta <= _LOWEST_TAIL:
                return sources, reach, tilt
            guess = tilt.log_moment - tilt.theta * target.epsilon - 6.0
            if guess >= log_delta:
                return sources, reach, tilt
            log_delta = max(min(guess, 2 * log_delta), _LOWEST_TAIL)

    def _cap(self) -> float:
        """Return a loss above which one release alone exceeds the highest level, whatever the others lose."""
        if math.isinf(self.highest):
            return math.inf
        least = _sum([times * max(pair.reversed().max_loss().upper, 0.0) for pair, times in self.kinds])
        self._margin = _MARGIN * (self.highest + least)
        return self.highest + least + self._margin

    @staticmethod
    def _capped(source: LossSource, pair: Pair, cap: float) -> LossSource:
        """Cap a release, unless it is known by its curve only, or its losses below 0 mirror those above."""
        return CappedSource(source, cap) if source.two_sided and not isinstance(pair, FixedSizePair) else source

    def _reach(self, log_delta: float, tolerance: float) -> Reach:
        """Cut tails where all of them together cannot matter beside delta; below, where they cannot matter at all."""
        many = math.log(max(self.total, 1)) + 10.0 - math.log(min(max(tolerance, 1e-15), 1.0))
        return Reach(max(log_delta - many, _LOWEST_TAIL), max(min(log_delta, -10.0) - many, -50.0 - many))

    def _tilt(self, sources: Sequence[LossSource], reach: Reach, target: LatticeTarget) -> Tilt:
        """Return the saddle: the tilt under which the wanted level is the mean, or delta has the wanted size.

        Where losses are bounded the saddle may lie at infinity: the search ends once the tilted law sits at its end.
        """
        points = _Points(sources, [times for _, times in self.kinds], reach)
        widest = points.tilted(0.0).variance
        steepest = points.steepest

        def too_small(theta: float) -> bool:
            tilt = points.tilted(theta)
            if tilt.variance <= 1e-2 * widest and points.top - tilt.mean <= 0.2 * math.sqrt(widest):
                return False
            if target.epsilon is not None:
                return tilt.mean < target.epsilon
            scale = theta * (1 + theta) * math.sqrt(2 * math.pi * max(tilt.variance, 1e-300))
            return tilt.log_moment - theta * tilt.mean - math.log(max(scale, 1e-3)) > (target.log_delta or 0.0)

        if not too_small(0.0):
            return points.tilted(0.0)
        low, high = 0.0, min(1e-3, steepest)
        while high < steepest and too_small(high):
            low, high = high, min(2 * high, steepest)
        for _ in range(10):
            middle = (low + high) / 2
            low, high = (middle, high) if too_small(middle) else (low, middle)
        return points.tilted(high)

    def _finest(self, sources: Sequence[LossSource], reach: Reach, tilt: Tilt) -> float:
        """Return the least step for which every law and the transform stay within the work limit."""
        widest = self._widest(sources, reach)
        cells = _MOST_ATOM_CELLS if self._splits(sources) else self._cells
        return self._spared * max(
            widest / cells,
            sum(end - start for start, end in (source.extent(reach) for source in sources)) / _MOST_CELLS_TOGETHER,
            22 * math.sqrt(tilt.variance) / LARGEST_TRANSFORM,
            1e-14 * max(abs(tilt.mean) / max(self.total, 1), widest),
            *(source.resolution for source in sources),
        )

    def _widest(self, sources: Sequence[LossSource], reach: Reach) -> float:
        """Return the largest range of losses of one release."""
        return max(end - start for start, end in (source.extent(reach) for source in sources))

    def _fitted(self, sources: Sequence[LossSource], step: float, finest: float) -> float:
        """Return a step, at most about the given one, of which the heaviest kind's atoms are multiples apart."""
        spacing = _common_spacing(sources, [times for _, times in self.kinds])
        if spacing == 0.0:
            return step
        if spacing < step:
            return spacing if spacing > step / 64 and spacing >= finest else step
        return spacing / math.ceil(spacing / step * (1 - 1e-9))

    def _composed(self, sources: Sequence[LossSource], reach: Reach, tilt: Tilt, step: float) -> LatticeAnswer:
        """Lay every kind out on one grid and compose, once from above and once from below."""
        theta = min(tilt.theta, _STEEPEST / step)
        above, below, local = [], [], []
        splits = self._splits(sources)
        for source, (_, times) in zip(sources, self.kinds, strict=True):
            lattice = source.lattice()
            grid = Grid(step, lattice[0] if lattice is not None else 0.0)
            above.append((raised(source.measure(grid, reach, upper=True), grid, theta), times))
            least = source.measure(grid, reach, upper=False)
            below.append(((split_down if splits else lowered)(least, grid, theta), times))
            if splits:
                local.append((raised(least, grid, theta), times))
            source.forget()
        return LatticeAnswer(compose(above, upper=True), self._below(below, local, step), tilt.mean)

    def _splits(self, sources: Sequence[LossSource]) -> bool:
        """Say whether atoms are split from below too: where there is nothing but atoms, and they are on no grid."""
        atoms = all(source.atoms_only for source in sources)
        return self._patient and atoms and _common_spacing(sources, [times for _, times in self.kinds]) == 0.0

    def _below(
        self, laws: list[tuple[TiltedLaw, int]], local: list[tuple[TiltedLaw, int]], step: float
    ) -> Composed | None:
        """Compose from below, or return None where a law says nothing."""
        if any(not np.any(law.weight > 0) for law, _ in laws):
            return None
        found = compose(laws, upper=False)
        if 4 * found.shift > self._margin:  # capped losses must exceed the highest level by what they may be off
            return None
        if not local:
            return found
        spread = step * math.sqrt(self.total) / 2 * (1 + 1e-9)
        columns = {name: getattr(found, name) for name in Composed.__slots__}
        return SplitComposed(**columns, local=compose(local, upper=True), spread=spread)


def _sum(terms: Sequence[float]) -> float:
    """Add up, where terms, or their sum, may be infinite."""
    if math.inf in terms:
        return math.inf
    total = float(sum(terms))
    return math.fsum(terms) if math.isfinite(total) else total


def _common_spacing(sources: Sequence[LossSource], times: Sequence[int]) -> float:
    """Return the spacing of the atoms of the most frequent kind that has any, or 0."""
    lattices = ((count, source.lattice()) for source, count in zip(sources, times, strict=True))
    return max(
        ((count, lattice[1]) for count, lattice in lattices if lattice is not None and lattice[1] > 0), default=(0, 0.0)
    )[1]


class _Points:
    """All kinds' losses and masses in one array, for moments of the tilted sum; nothing here needs to be exact."""

    def __init__(self, sources: Sequence[LossSource], times: Sequence[int], reach: Reach) -> None:
        cells = max(_COARSE_POINTS // (16 * len(sources)), 8)
        spacing = _common_spacing(sources, times)
        losses, logs, smooth, sizes = [], [], [], []
        for source in sources:
            low, high = source.extent(reach)
            lattice = source.lattice()
            grid = Grid(
                max((high - low) / cells, 1e-9 * max(abs(high), 1e-300), 1e-300), lattice[0] if lattice else 0.0
            )
            measure = source.measure(grid, reach, upper=True)
            nodes = measure.nodes
            atoms_off = 0.0 if lattice is not None and abs(lattice[1] - spacing) <= 1e-12 * spacing else 1.0
            losses.append(np.concatenate([measure.atoms.loss, nodes.loss if nodes else []]))
            logs.append(np.concatenate([measure.atoms.log_mass, nodes.log_mass if nodes else []]))
            count = len(measure.atoms.loss)
            smooth.append(np.concatenate([np.full(count, atoms_off), np.ones(len(losses[-1]) - count)]))
            sizes.append(len(losses[-1]))
        self._times = np.array([float(count) for count, size in zip(times, sizes, strict=True) if size])
        sizes = [size for size in sizes if size]
        self._starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64) if sizes else np.zeros(0, np.int64)
        self._sizes = np.array(sizes, dtype=np.int64)
        self._loss, self._log, self._smooth = np.concatenate(losses), np.concatenate(logs), np.concatenate(smooth)
        self.top = float(np.dot(self._times, np.maximum.reduceat(self._loss, self._starts))) if sizes else 0.0
        scale = float(np.max(np.abs(self._loss), initial=0.0))
        self.steepest = 1e6 / scale if scale > 1e-200 else 0.0

    def tilted(self, theta: float) -> Tilt:
        """Return moments under the tilted law."""
        if not len(self._starts):
            return Tilt(theta, 0.0, 0.0, 0.0, 0.0)
        exponent = self._log + theta * self._loss
        top = np.maximum.reduceat(exponent, self._starts)
        weight = np.exp(exponent - np.repeat(top, self._sizes))
        total = np.add.reduceat(weight, self._starts)
        mean = np.add.reduceat(weight * self._loss, self._starts) / total
        off = self._loss - np.repeat(mean, self._sizes)
        variance = np.add.reduceat(weight * off * off, self._starts) / total
        smooth = np.add.reduceat(weight * self._smooth, self._starts) / total
        return Tilt(
            theta, *(float(np.dot(self._times, column)) for column in (top + np.log(total), mean, variance, smooth))
        )
