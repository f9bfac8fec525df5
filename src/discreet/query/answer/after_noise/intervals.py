"""Ends of intervals for weighted sums, ratios and samples of released numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.laws.noise import IntegerNoise
from discreet.query.answer.after_noise.forms import (
    End,
    Ends,
    Floats,
    Form,
    KnownColumn,
    Matrix,
    RatioColumn,
    WeightedColumn,
)
from discreet.query.answer.after_noise.sums_of_noise import EqualTerms, sum_quantile, variance_of

_ANGLES = 33
_STEPS = 80
_A_HAIR_MORE = 1.0 + 1e-9  # a denominator that equals its noise but for what floats round is within it
_LEAST = math.ulp(0.0)
_TAIL = 10.0  # samples that must lie beyond an end


@dataclass(frozen=True)
class ComputedIntervals:
    """Intervals from the laws of all noises; `law_of` names for each released integer the place of its law.

    Accuracy. A weighted sum of released integers is off by the weighted sum of their noises, whose law is a sum of
        independent laws: `sum_quantile`. For the true ratio p of two such sums |A - p B| stays within the quantile of
        the noise of A - p B; all such p form the interval, which has the confidence at any size, and no finite ends
        where B is within its noise. The quantile is computed for 33 values of p and interpolated between them, in
        units of the standard deviation, to within one part in a thousand.
    Reference. ComputedIntervals for ratios: Fieller 1954.
    """

    laws: Sequence[IntegerNoise]
    law_of: NDArray[np.int64]
    _known: dict[object, float] = field(default_factory=dict)

    def of(self, form: Form, rest: float) -> Ends:
        """Return low and high for each row, each to fail with a chance of at most `rest`."""
        if isinstance(form, KnownColumn):
            return [(None, None)] * len(form.values)
        if isinstance(form, WeightedColumn):
            return self._of_sums(form, rest)
        if isinstance(form, RatioColumn):
            return self._of_ratios(form, rest)
        raise AssertionError("samples have no law")

    def _of_sums(self, form: WeightedColumn, rest: float) -> Ends:
        found: Ends = []
        for row, value in enumerate(form.numbers):
            reach = self._quantile(self._kinds(form.weights, row), rest)
            low, high = float(value) - reach, float(value) + reach
            found.append(_outward(low, high) if math.isfinite(low) and math.isfinite(high) else (None, None))
        return found

    def _law(self, place: int) -> _Law:
        return type(self.laws[place]), self.laws[place].scale

    def _kinds(self, weights: Matrix, row: int) -> tuple[tuple[int, float, int], ...]:
        """Return what a row is made of: laws, sizes of weights, and how many integers have them."""
        start, end = weights.indptr[row], weights.indptr[row + 1]
        if end == start + 1:
            return ((int(self.law_of[weights.indices[start]]), abs(float(weights.data[start])), 1),)
        pairs = np.stack([self.law_of[weights.indices[start:end]], _rounded(np.abs(weights.data[start:end]))])
        kinds, counts = np.unique(pairs, axis=1, return_counts=True)
        return tuple([(int(law), float(size), int(n)) for law, size, n in zip(*kinds, counts, strict=True) if size])

    def _quantile(self, kinds: tuple[tuple[int, float, int], ...], rest: float) -> float:
        """Return the quantile of a sum, computed in a unit in which squares of its weights are floats."""
        unit = _unit_of([size for _, size, _ in kinds])
        key = tuple([(law, size / unit, count) for law, size, count in kinds]), rest
        if key not in self._known:
            terms = [EqualTerms(self.laws[law], size, count) for law, size, count in key[0] if size]
            self._known[key] = sum_quantile(terms, rest) if math.isfinite(unit) else math.inf
        return self._known[key] * unit

    def _of_ratios(self, form: RatioColumn, rest: float) -> Ends:
        """Return the intervals of all rows, those of one kind together."""
        alike: dict[tuple[tuple[int, float, float, int], ...], list[int]] = {}
        for row in range(len(form.numbers)):
            alike.setdefault(self._pairs(form, row), []).append(row)
        found: Ends = [(None, None)] * len(form.numbers)
        for kinds, rows in alike.items():
            above, below = _unit_of([a for _, a, _, _ in kinds]), _unit_of([b for _, _, b, _ in kinds])
            if not math.isfinite(above) or not math.isfinite(below):
                continue
            reach = _reach(tuple([(self._law(law), a / above, b / below, n) for law, a, b, n in kinds]), rest)
            ends = fieller(form.above.numbers[rows] / above, form.below.numbers[rows] / below, reach)
            for row, low, high in zip(rows, *(one / below * above for one in ends), strict=True):
                found[row] = _held(_outward(float(low), float(high)), form, row)
        return found

    def _pairs(self, form: RatioColumn, row: int) -> tuple[tuple[int, float, float, int], ...]:
        """Return what a ratio is made of: laws, weights above and below, and how many integers have them."""
        one, two = _entries(form.above.weights, row), _entries(form.below.weights, row)
        atoms = np.union1d(one[0], two[0])
        above, below = _spread(*one, atoms), _spread(*two, atoms)
        turned = np.where((below < 0) | ((below == 0) & (above < 0)), -1.0, 1.0)
        pairs = np.stack([self.law_of[atoms].astype(np.float64), _rounded(above * turned), _rounded(below * turned)])
        kinds, counts = np.unique(pairs, axis=1, return_counts=True)
        return tuple([(int(law), float(a), float(b), int(n)) for law, a, b, n in zip(*kinds, counts, strict=True)])


def _entries(weights: Matrix, row: int) -> tuple[NDArray[np.int64], Floats]:
    start, end = weights.indptr[row], weights.indptr[row + 1]
    order = np.argsort(weights.indices[start:end])
    return weights.indices[start:end][order].astype(np.int64), weights.data[start:end][order]


def _spread(places: NDArray[np.int64], data: Floats, among: NDArray[np.int64]) -> Floats:
    found = np.zeros(len(among))
    found[np.searchsorted(among, places)] = data
    return found


def _rounded(values: Floats) -> Floats:
    """Return numbers to 12 digits, so that sums in another order are the same."""
    with np.errstate(divide="ignore"):
        digits = np.where(values == 0, 0.0, np.floor(np.log10(np.abs(values))))
    unit = np.maximum(10.0 ** (digits - 11.0), _LEAST)
    found: Floats = np.round(values / unit) * unit
    return found


def _unit_of(weights: Sequence[float]) -> float:
    """Return a power of two of the size of the largest weight, by which dividing rounds nothing."""
    if not all(map(math.isfinite, weights)):
        return math.nan
    largest = max(map(abs, weights), default=0.0)
    return math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest else 1.0


_Law = tuple[type[IntegerNoise], Fraction]
_Pairs = tuple[tuple[_Law, float, float, int], ...]  # laws, weights above and below, how many integers have them


@lru_cache(maxsize=256)
def _reach(pairs: _Pairs, rest: float) -> RatioReach:
    """Return the reach of a ratio, remembered by its laws: it knows nothing of any value."""
    return RatioReach([(kind(scale), a, b, n) for (kind, scale), a, b, n in pairs], rest)


class RatioReach:
    """How far the noise of A - p B goes, for every p: in units of its deviation it changes slowly with p."""

    def __init__(self, kinds: Sequence[tuple[IntegerNoise, float, float, int]], rest: float) -> None:
        variances = [n * variance_of(law) for law, _, _, n in kinds]
        both = list(zip(kinds, variances, strict=True))
        above = math.fsum(v * a * a for (_, a, _, _), v in both)
        below = math.fsum(v * b * b for (_, _, b, _), v in both)
        self.of_below = 0.0
        self.center, self.width, self.size = 0.0, 0.0, math.sqrt(below)
        if not below:
            terms = [EqualTerms(law, abs(a), n) for law, a, _, n in kinds if a]
            self.constant = sum_quantile(terms, rest)
            return
        self.center = math.fsum(v * a * b for (_, a, b, _), v in both) / below
        self.width = math.sqrt(max(above / below - self.center**2, 1e-18 * (above / below) + 1e-300))
        self.angles = np.linspace(-math.pi / 2, math.pi / 2, _ANGLES)
        self.ratios = np.array([self._ratio(kinds, rest, angle) for angle in self.angles])
        self.of_below = float(self.ratios[0]) * self.size

    def _ratio(self, kinds: Sequence[tuple[IntegerNoise, float, float, int]], rest: float, angle: float) -> float:
        """Return the quantile at one p, in deviations."""
        vertical = abs(abs(angle) - math.pi / 2) < 1e-9
        p = self.center + self.width * math.tan(angle) if not vertical else 0.0
        sizes: dict[tuple[int, float], int] = {}
        for place, (_, a, b, n) in enumerate(kinds):
            size = abs(b) if vertical else abs(a - p * b)
            size = float(_rounded(np.array([size]))[0])
            if size:
                sizes[place, size] = sizes.get((place, size), 0) + n
        terms = [EqualTerms(kinds[place][0], size, n) for (place, size), n in sizes.items()]
        if not terms:
            return 0.0
        return sum_quantile(terms, rest) / math.sqrt(math.fsum(one.variance for one in terms))

    def __call__(self, p: Floats) -> Floats:
        """Return the quantile at each p."""
        if not self.size:
            return np.full(np.shape(p), self.constant)
        away = p - self.center
        ratios = np.interp(np.arctan2(away, self.width), self.angles, self.ratios)
        found: Floats = ratios * self.size * np.hypot(self.width, away)
        return found


def fieller(above: Floats, below: Floats, reach: RatioReach) -> tuple[Floats, Floats]:
    """Return the ends of {p: |A - p B| <= reach(p)}; infinite where B is within its own noise."""
    beyond = np.abs(below) > reach.of_below * _A_HAIR_MORE
    finite = np.isfinite(above) & np.isfinite(below) & beyond & (below != 0)
    with np.errstate(all="ignore"):
        middle = np.where(finite, above / np.where(below == 0, 1.0, below), 0.0)
    ends = [np.where(finite, _end(above, below, middle, side, reach, finite), side * np.inf) for side in (-1.0, 1.0)]
    return ends[0], ends[1]


def _end(
    above: Floats, below: Floats, middle: Floats, side: float, reach: RatioReach, finite: NDArray[np.bool_]
) -> Floats:
    """Go outward from the quotient until it is outside, then halve."""
    step = np.where(finite, np.maximum(reach(middle) / np.maximum(np.abs(below), 1e-300), 1e-300), 1.0)

    def outside(p: Floats) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = (np.abs(above - p * below) > reach(p)) | ~finite
        return found

    for _ in range(200):
        there = outside(middle + side * step)
        if there.all():
            break
        step = np.where(there, step, 2.0 * step)
    low, high = np.zeros_like(step), step
    for _ in range(_STEPS):
        half = (low + high) / 2.0
        there = outside(middle + side * half)
        low, high = np.where(there, low, half), np.where(there, half, high)
    found: Floats = middle + side * high
    return np.where(_without_noise(reach, middle), middle, found)


def _without_noise(reach: RatioReach, middle: Floats) -> NDArray[np.bool_]:
    """Whether there is no noise at all."""
    found: NDArray[np.bool_] = reach(middle) == 0
    return found


def _outward(low: float, high: float) -> tuple[End, End]:
    if math.isnan(low) or math.isnan(high):
        return None, None
    return math.nextafter(low, -math.inf), math.nextafter(high, math.inf)


def _held(ends: tuple[End, End], form: RatioColumn, row: int) -> tuple[End, End]:
    """Keep an interval within what is possible; one without finite ends is none, unless the ends are known."""
    low, high = ends
    if low is None or high is None:
        return None, None
    if form.within is not None:
        low, high = max(low, float(form.within[0][row])), min(high, float(form.within[1][row]))
    return (low, high) if math.isfinite(low) and math.isfinite(high) and low <= high else (None, None)


def sampled_ends(samples: Floats, rest: float) -> Ends:
    """Return quantiles of samples; none where too few samples lie beyond them, or too many have no value."""
    count = len(samples)
    if count * rest / 2.0 < _TAIL:
        return [(None, None)] * samples.shape[1]
    found: Ends = []
    for column in samples.T:
        there = np.sort(column[~np.isnan(column)])
        if len(there) < count * (1.0 - rest / 4.0):
            found.append((None, None))
            continue
        beyond = max(int(len(there) * rest / 2.0) - 1, 0)
        low, high = float(there[beyond]), float(there[-1 - beyond])
        found.append((low, high) if math.isfinite(low) and math.isfinite(high) else (None, None))
    return found
