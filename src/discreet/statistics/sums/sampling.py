"""What sampling and noise together do to a sum of clipped values: proven bounds that use the spread.

Rows are drawn independently from a population; x is a value as a share of the range, m its expectation, s = 1 or -1 a
side, y = s (x - m), which lies in [-1, 1]. V, M3, M4 are n times the expectations of y^2, y^3, y^4: constants, as n is.
T and Q are the sums of y and of y^2 in the table as released, with noise of known coefficients c1 and c2.

Lemma (Bernstein's bound with the released spread). For a, b > 0 let A be at least the maximum of (exp(a y - b y^2) - 1
- a y) / y^2 over all y that there are, and K the logarithm of E exp of the noise in a T - b Q. Then a T - b Q <= A V +
K + l but for a probability of exp(-l). Proof. E exp(a y - b y^2) <= 1 + A E y^2, which is at most exp(A E y^2); the
rows and the noise are independent, so E exp(a T - b Q) <= exp(A V + K); Markov's inequality. The quotient is -b + (a -
b y)^2 phi(u), with u = a y - b y^2 and phi(u) = (e^u - 1 - u) / u^2, which grows with u: on a cell of y both factors
are at most their largest values. a and b are functions of m and V, hence constants. With b about a^2 / 2 and a small A
is near 0, so that V, which is not known, hardly counts. Of K, discrete Laplace noise has at most what continuous noise
of the same scale has: (cosh 1/s - 1) / (cosh 1/s - cosh t) <= 1 / (1 - s^2 t^2), as (cosh u - 1) / u^2 grows with u.
Rounded Gaussian noise is within half a step of a normal variable, so E exp(t Z) <= exp(s^2 t^2 / 2 + |t| / 2); discrete
Gaussian noise has less (Canonne, Kamath, Steinke 2020).

Lemma (Berry and Esseen with the released spread). For e >= 0 let g = y - e (y^2 - E y^2). Then T - e (Q - V) exceeds t
with a probability of at most D + P(N + Z > t), where N is normal with n times the variance of g, Z the noise of T - e
Q, and D the bound on the distance of the standardized sum of g from the normal law. Proof. Given Z = z the chance that
the sum of the g exceeds t - z is that of N but for D; take the expectation over z. n Var g = V - 2 e M3 + e^2 (M4 - V^2
/ n), and the third absolute moment is, by |g| <= |y| (1 + e |y|) + e E y^2 and Minkowski's inequality, at most that of
|y| (1 + e |y|) with e V / n added to its cubic root. E |y|^3 <= sqrt(E y^2 E y^4). With e = z / (2 sqrt V) the bound
for T is z (V + Q) / (2 sqrt V), which changes with V in the second order only.

Lemma (the noise smooths). In the place of D one may take the integral over t > 0 of |f(t)^n - exp(-v t^2 / 2)| |h(t)| /
(pi t), f and h the characteristic functions of g and of Z, if Z were continuous, v = n Var g. Proof. The sum and N,
each with Z, have distribution functions whose difference has the transform (f^n - exp(-v t^2 / 2)) h / (-i t), which is
integrable, and that difference is continuous; invert. Discrete noise is within sum |c_i| of continuous noise, which the
quantile of N + Z includes. For bounds on the integral let B = n E |g|^3 and w = v / n, so that w^(3/2) <= E |g|^3. Near
0: |f - exp(-w t^2 / 2)| <= E |g|^3 t^3 / 6 + w^2 t^4 / 8 by the series of both, and |x^n - y^n| <= n |x - y| max(|x|,
|y|)^(n - 1). Size of f: let g' be a copy. |f|^2 = E cos t (g - g') <= 1 - w t^2 + k t^3 E |g - g'|^3 with k = 0.09917,
for cos x <= 1 - x^2 / 2 + k |x|^3; and |g - g'|^3 <= (|g| + |g'|) (g - g')^2 has the expectation 2 E |g|^3 + 2 w E |g|
at most, as E g = 0. So |f|^n <= exp(-v t^2 / 2 + k t^3 (B + v sqrt w)), and |f| <= 1. On a cell of t every factor is at
most its value at one of the ends. Beyond the last cell |h(t)| <= |h(u)| (u / t)^G, G the slope of -ln |h| in ln t at u,
which grows with t: the rest is at most 2 |h(u)| / (pi G). The integral is about 0.0665 B / v^(3/2), a sixth of D, where
the noise is a row or more, and useless where it is a tenth of a row: the smaller of both is taken.

Lemma (even moments). Let M be n times the expectation of y^p, p even, R the released sum of y^p, C the largest y^p, and
K the logarithm of E exp of a times the noise in R. Then M (1 - exp(-a C)) / C <= a R + K + l, and a R <= M (exp(a C) -
1) / C + K + l, each but for a probability of exp(-l). Proof. exp(-a u) <= 1 - u (1 - exp(-a C)) / C and exp(a u) <= 1 +
u (exp(a C) - 1) / C on [0, C], as exp is convex; then as for Bernstein's bound. a is a function of m and M, hence
constant.

Reference. Shevtsova 2011, On the absolute constants in the Berry-Esseen type inequalities for identically distributed
summands (arXiv 1111.6554): the distance is at most 0.33554 (r + 0.415) / sqrt n and 0.3328 (r + 0.429) / sqrt n with r
the third standardized moment, hence 0.4748 r / sqrt n. Self-normalized sums: de la Pena 1999; Fan, Grama, Liu 2015.
Smoothing: Esseen 1945; cos x: Prawitz 1973.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.laws import DiscreteLaplace
from discreet.laws.noise import IntegerNoise
from discreet.statistics.pricing import normal_with_noise_quantile
from discreet.statistics.sums.power_sums import ONE, PolynomialSums

Floats = NDArray[np.float64]
Range = tuple[float, float]
_Y_CELLS = 128
_FINE = 0.005  # cells of V, and blocks of cells with one quantile, in the logarithm
_COARSE = 0.2
_LADDER = 1.25  # cells of V for which one a is used
_BOTTOM = 0.1
_RUNGS = 240  # up to 10^22 rows
_KAPPA = 0.09917  # at least the maximum of (cos x - 1 + x^2 / 2) / |x|^3
_MEAN_CELLS = 16  # cells of m for which one a is used
_LARGEST_RATE = 4.0
_MOST_RATE = 0.7  # a larger a is for so few rows that one of them decides
_STEEPEST = 0.75  # coefficients of Laplace noise, in scales: E exp is infinite at 1
_OF_SQUARES = 5 / 8  # b / a^2: more than 1/2, as a spread that is not known costs more than one that is


@dataclass(frozen=True)
class Known:
    """What is known of the constants, but for a small probability; `means` is the range that m is looked for in.

    `squares` bounds the released Q from above; `third` encloses s M3, `fourth` bounds M4 from above, `rows` n from
    below, `limit` sqrt(M4) / V from above.
    """

    side: int
    means: Range
    squares: float
    spread: Range
    third: Range
    fourth: float
    rows: float
    limit: float = math.inf

    @property
    def widest(self) -> float:
        """The largest |y|."""
        return max(self.means[1], 1.0 - self.means[0])


def values_about(means: Range, side: int) -> Range:
    """Return the range of y for m in a range."""
    low, high = means
    return (-high, 1.0 - low) if side > 0 else (low - 1.0, high)


def mean_cells(means: Range) -> range:
    """Return the numbers of the fixed cells of m that a range meets."""
    last = _MEAN_CELLS - 1
    return range(min(math.floor(means[0] * _MEAN_CELLS), last), min(math.floor(means[1] * _MEAN_CELLS), last) + 1)


def mean_cell(cell: int) -> Range:
    """Return the range of one cell of m."""
    return cell / _MEAN_CELLS, (cell + 1) / _MEAN_CELLS


@dataclass(frozen=True)
class Sampling:
    """Both bounds on T for one release: `noise` is that of every sum of `basis`."""

    basis: PolynomialSums
    noise: IntegerNoise

    @property
    def scale(self) -> float:
        """The scale of the noise in rows."""
        return float(self.noise.scale) / ONE

    @property
    def laplace(self) -> bool:
        """Whether the noise is Laplace noise; the other kind is Gaussian."""
        return isinstance(self.noise, DiscreteLaplace)

    @property
    def variance(self) -> float:
        """The variance of the noise in one sum, in rows."""
        return (2.0 if self.laplace else 1.0) * self.scale**2

    @property
    def noise_variance(self) -> float:
        """The variance of the noise of T in the middle of the range: a public number."""
        return self.variance * float(np.sum(self._coefficients(0.5)[1] ** 2))

    def _coefficients(self, mean: float) -> Floats:
        found: Floats = self.basis.about(mean)[:, self.basis.noisy]
        return found

    def largest(self, weights: Floats, means: Range) -> Floats:
        """Return the largest sizes of the coefficients of sums of w_1 (x - m) + w_2 (x - m)^2 + ..., m in a range.

        `weights` has a line for every sum. With m = middle + d the powers of x - m are those of x - middle, expanded.
        """
        middle, half = (means[0] + means[1]) / 2, (means[1] - means[0]) / 2
        about = self._coefficients(middle)
        sizes = np.abs(weights @ about[1 : weights.shape[1] + 1])
        for power in range(1, weights.shape[1] + 1):
            for lower in range(power):
                moved = math.comb(power, lower) * half ** (power - lower) * np.abs(about[lower])
                sizes = sizes + np.abs(weights[:, power - 1 : power]) * moved
        return sizes

    def least(self, weights: Floats, means: Range) -> Floats:
        """Return the least sizes of the coefficients, m in a range and the weights between two lines."""
        middle = (means[0] + means[1]) / 2
        about = weights @ self._coefficients(middle)[1 : weights.shape[1] + 1]
        away = self.largest(weights, means) - np.abs(about)
        found: Floats = np.maximum(np.maximum((about - away).min(axis=0), -(about + away).max(axis=0)), 0.0)
        return found

    def bernstein(self, known: Known, rest: float) -> float:
        """Return what T is at most, but for a probability `rest`: the worst over all V and m that are possible."""
        if not math.isfinite(known.spread[1]):  # at such a confidence the noise hides every spread
            return math.inf
        return max(self._bernstein(known, cell, math.log(1.0 / rest)) for cell in mean_cells(known.means))

    def _bernstein(self, known: Known, cell: int, allowed: float) -> float:
        """Return the bound for the means of one cell; a and b depend on fixed cells of m and V, never on the data."""
        low, high = known.spread
        steps = max(math.ceil(math.log(max(high / _BOTTOM, 1.0)) / math.log(_LADDER)), 1)
        edges: Floats = _BOTTOM * _LADDER ** np.arange(steps + 1.0)
        edges[0] = 0.0
        rates, squares = self._rates(known.side, cell, edges[1:], allowed)
        kept = edges[1:] >= low
        rates, squares, tops, bottoms = rates[kept], squares[kept], edges[1:][kept], np.maximum(edges[:-1][kept], low)
        public = mean_cell(cell)
        means = max(known.means[0], public[0]), min(known.means[1], public[1])
        growth = _growth(rates, squares, values_about(means, known.side))
        reach = self.largest(np.stack([known.side * rates, -squares], axis=1), means) * self.scale
        spread = np.maximum(growth * bottoms, growth * np.minimum(tops, high))
        return float(np.max((squares * known.squares + spread + self.noise_exponent(reach) + allowed) / rates))

    def _rates(self, side: int, cell: int, spreads: Floats, allowed: float) -> tuple[Floats, Floats]:
        """Return a and b for every V: as for a normal law, but so small that E exp of the noise stays small too."""
        most = self._steepest((float(side), 0.0), (0.0, -_OF_SQUARES), cell)
        rates = np.minimum(np.sqrt(2.0 * allowed / (spreads + self.noise_variance)), min(most, _MOST_RATE))
        return rates, _OF_SQUARES * rates**2

    @functools.lru_cache(maxsize=256)  # noqa: B019
    def _steepest(self, first: tuple[float, ...], second: tuple[float, ...], cell: int) -> float:
        """Return the largest rate a for which the noise of weights a w + a^2 w' stays well below an infinite E exp."""
        if not self.laplace:
            return math.inf
        tried = _LARGEST_RATE * 0.95 ** np.arange(300.0)[:, None]
        sizes = self.largest(tried * np.array(first) + tried**2 * np.array(second), mean_cell(cell))
        return float(np.max(tried[:, 0], where=(sizes * self.scale).max(axis=1) <= _STEEPEST, initial=tried[-1, 0]))

    def moment(self, power: int, means: Range, released: Range, allowed: float) -> Range:
        """Return where n E (x - m)^power lies, for an even power, but for a probability of exp(-allowed) a side."""
        ends = [self._moment(power, means, cell, released, allowed) for cell in mean_cells(means)]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def _moment(self, power: int, means: Range, cell: int, released: Range, allowed: float) -> Range:
        """Return the ends for the means of one cell; the rate depends on fixed cells of the moment and of m."""
        edges = np.concatenate([[0.0], _BOTTOM * _LADDER ** np.arange(_RUNGS)])
        public, weights = mean_cell(cell), np.eye(4)[power - 1 : power]
        widest = max(public[1], 1.0 - public[0]) ** power
        variance = self.variance * float(np.sum(self.largest(weights, public) ** 2))
        most = self._steepest(tuple(weights[0]), (0.0,) * 4, cell)
        rates = np.minimum(np.sqrt(2.0 * allowed / (widest * edges[1:] + variance)), most)
        means = max(means[0], public[0]), min(means[1], public[1])
        widest = max(means[1], 1.0 - means[0]) ** power
        fixed = self.noise_exponent(rates[:, None] * self.largest(weights, means) * self.scale) + allowed
        most_v = (rates * released[1] + fixed) * widest / -np.expm1(-rates * widest)
        least_v = (rates * released[0] - fixed) * widest / np.expm1(rates * widest)
        high = float(np.max(np.minimum(edges[1:], most_v), where=edges[:-1] <= most_v, initial=0.0))
        low = float(np.min(np.maximum(edges[:-1], least_v), where=edges[1:] >= least_v, initial=math.inf))
        return max(low, 0.0) * (1.0 - 1e-9), high * (1.0 + 1e-9)

    def noise_exponent(self, reach: Floats) -> Floats:
        """Return a bound on K for every line of coefficients, each times the scale of the noise."""
        if not self.laplace:
            found: Floats = (reach**2).sum(axis=1) / 2.0 + reach.sum(axis=1) / (2.0 * float(self.noise.scale))
            return found
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(np.all(reach < 1.0, axis=1), -np.log1p(-(reach**2)).sum(axis=1), math.inf)

    def berry_esseen(self, known: Known, rest: float, most: float) -> tuple[float, bool]:
        """Return what T is at most, but for a probability `rest`, if D <= `most`; and whether D surely is."""
        low, high = known.spread
        if not math.isfinite(high):
            return math.inf, False
        cells = max(math.ceil(math.log(high / low) / _FINE), 1)
        edges = low * (high / low) ** (np.arange(cells + 1) / cells)
        cell = _Cells(known, edges[:-1], edges[1:], self.noise_variance, _normal_quantile(rest))
        rates = (float(np.max(cell.first)), float(np.min(cell.last)))
        weights = np.array([[float(known.side), -rate] for rate in rates])
        sizes = self.largest(weights, known.means).max(axis=0)
        smooth = cell.smoothed(self.least(weights, known.means) * self.scale, laplace=self.laplace)
        remainder = np.minimum(np.minimum(cell.remainder, most), smooth)
        bound = -math.inf
        for block in np.array_split(np.arange(cells), max(math.ceil(math.log(high / low) / _COARSE), 1)):
            deviations, left = np.sqrt(cell.variance[block]), rest - float(np.max(remainder[block]))
            # the quantile over the deviation falls as the deviation grows: the least one bounds it for the block
            least = float(deviations.min())
            factor = normal_with_noise_quantile(self.noise, sizes / ONE, least, left) / least
            # e (Q - V) falls as V grows, since e = z / (2 sqrt(V + a constant)), where Q is not negative
            moved = cell.first[block] * (max(known.squares, 0.0) - cell.bottoms[block])
            bound = max(bound, float(np.max(factor * deviations + moved)))
        return bound, bool(np.all(cell.remainder <= most))


class _Cells:
    """Cells of V, with the worst of everything in each: e lies between `last` and `first`."""

    def __init__(self, known: Known, bottoms: Floats, tops: Floats, noise_variance: float, quantile: float) -> None:
        self.bottoms = bottoms
        self.first, self.last = (quantile / (2.0 * np.sqrt(part + noise_variance)) for part in (bottoms, tops))
        fourth = np.minimum(known.fourth, (known.limit * tops) ** 2)
        cubes = np.minimum(np.sqrt(tops * fourth), known.widest * tops)
        least, most = np.maximum(known.third[0], -cubes), np.minimum(known.third[1], cubes)
        self.variance = tops - 2.0 * np.where(least < 0, self.first, self.last) * least + self.first**2 * fourth
        self.least_variance = bottoms - 2.0 * self.first * np.maximum(most, 0.0)
        third = cubes + fourth * (
            3.0 * self.first + 3.0 * self.first**2 * known.widest + self.first**3 * known.widest**2
        )
        self._third = (np.cbrt(third) + self.first * tops / known.rows ** (2.0 / 3.0)) ** 3
        self._root = math.sqrt(known.rows)

    @property
    def remainder(self) -> Floats:
        """The distance D from the normal law."""
        with np.errstate(divide="ignore"):
            moment = self._third / np.maximum(self.least_variance, 0.0) ** 1.5
        found: Floats = np.minimum(0.33554 * (moment + 0.415 / self._root), 0.3328 * (moment + 0.429 / self._root))
        return found

    def smoothed(self, scales: Floats, *, laplace: bool) -> Floats:
        """Return the distance from the normal law that is left after noise of at least these scales."""
        variance, most, third = (
            part[:, None] for part in (np.maximum(self.least_variance, 0.0), self.variance, self._third)
        )
        rows = self._root**2
        steps = np.concatenate([np.linspace(0.0, 8.0, 161), 8.0 * 1.06 ** np.arange(1.0, 121.0)])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            t = steps / np.sqrt(variance)
            low, high = t[:, :-1], t[:, 1:]
            cubic = _KAPPA * (third + most * np.sqrt(most / rows))
            decay = np.minimum(cubic * high**3 - variance * low**2 / 2.0, 0.0)
            near = (third * high**2 / 6.0 + most**2 * high**3 / (8.0 * rows)) * np.exp(decay * (1.0 - 1.0 / rows))
            far = (np.exp(decay) + np.exp(-variance * low**2 / 2.0)) / low
            noise = _transform(low, scales, laplace=laplace)
            inner = np.sum(np.minimum(near, far) * noise * (high - low), axis=1)
            end = t[:, -1:]
            falls = _falling(end, scales, laplace=laplace)
            found: Floats = (inner + 2.0 * (_transform(end, scales, laplace=laplace) / falls)[:, 0]) / math.pi
        return np.where(np.isfinite(found), found * (1.0 + 1e-9), math.inf)


def _transform(t: Floats, scales: Floats, *, laplace: bool) -> Floats:
    """Return the size of the characteristic function of the noise."""
    parts = (t[..., None] * scales) ** 2
    found: Floats = np.exp(-np.log1p(parts).sum(axis=-1) if laplace else -parts.sum(axis=-1) / 2.0)
    return found


def _falling(t: Floats, scales: Floats, *, laplace: bool) -> Floats:
    """Return the power of t with which the characteristic function falls at least from here on."""
    parts = (t[..., None] * scales) ** 2
    found: Floats = (2.0 * parts / (1.0 + parts) if laplace else parts).sum(axis=-1)
    return found


def _growth(rates: Floats, squares: Floats, values: Range) -> Floats:
    """Return A for every a and b, from cells of y."""
    y = np.linspace(values[0], values[1], _Y_CELLS + 1)
    rates, squares = rates[:, None], squares[:, None]
    exponent = rates * y - squares * y**2
    top = np.maximum(exponent[:, 1:], exponent[:, :-1])
    vertex = rates / (2.0 * squares)
    top = np.where((y[:-1] <= vertex) & (vertex <= y[1:]), rates**2 / (4.0 * squares), top)
    slope = np.abs(rates - squares * y)
    slope = np.maximum(slope[:, 1:], slope[:, :-1])
    found: Floats = np.max(slope**2 * _phi(top), axis=1) * (1.0 + 1e-9) - squares[:, 0]
    return found


def _phi(u: Floats) -> Floats:
    """Return (e^u - 1 - u) / u^2."""
    small = np.abs(u) < 1e-2
    safe = np.where(small, 1.0, u)
    series = 0.5 + u / 6.0 + u**2 / 24.0 + u**3 / 120.0 + u**4 / 720.0
    found: Floats = np.where(small, series, (np.expm1(safe) - safe) / safe**2)
    return found


def _normal_quantile(rest: float) -> float:
    from scipy.special import ndtri

    return float(-ndtri(rest))
