"""Whether draws may be trusted: R-hat, effective draws in the bulk and in the tails, and k-hat of weights.

Draws are arrays (chains, draws, ...); what follows the second axis is looked at place by place. Every chain is split in
halves, so that a chain that still drifts disagrees with itself. A place that never varies, such as a public number, is
perfect: R-hat 1, and as many effective draws as draws. Draws that are not finite are worthless: R-hat is infinite.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError

Floats = NDArray[np.float64]
LARGEST_R_HAT, LEAST_EFFECTIVE, LARGEST_K_HAT = 1.01, 400, 0.7
_TAILS = (0.05, 0.95)
_LEAST_TAIL = 5


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """What the diagnostics of draws are at their worst place, and what that says.

    Accuracy. R-hat compares the spread between chains with that within, after ranks were turned into normal scores, so
        that it sees heavy tails; folded about the median it sees chains of different width. The bulk's effective draws
        say how well a center is known, the tails' how well the 5 % and 95 % quantiles are: the fewer of both count.
        k-hat is the shape of a Pareto law fitted to the largest importance weights: beyond .7 no practical number
        of draws makes an average over them reliable.
    Reference. Vehtari, Gelman, Simpson, Carpenter, Buerkner 2021; Vehtari, Simpson, Gelman, Yao, Gabry 2024.

    >>> rng = np.random.default_rng(1)
    >>> Diagnostics.of(rng.normal(size=(4, 1000))).passed
    True
    >>> stuck = rng.normal(size=(4, 1000)) + np.arange(4)[:, None]
    >>> Diagnostics.of(stuck).complaint[:32]
    'R-hat is 1.54, wanted at most 1.'
    """

    r_hat: float
    bulk: float
    tail: float
    k_hat: float | None = None

    @classmethod
    def of(cls, draws: Any, k_hat: float | None = None) -> Diagnostics:
        """Return the diagnostics at the worst place of draws (chains, draws, ...)."""
        return cls(float(np.max(r_hat(draws))), float(np.min(bulk(draws))), float(np.min(tail(draws))), k_hat)

    @property
    def complaint(self) -> str:
        """What stands against the draws, in words; empty where nothing does."""
        found = []
        if not self.r_hat <= LARGEST_R_HAT:
            found.append(f"R-hat is {self.r_hat:.3g}, wanted at most {LARGEST_R_HAT}")
        for effective, where in ((self.bulk, "bulk"), (self.tail, "tails")):
            if not effective >= LEAST_EFFECTIVE:
                found.append(f"there are {effective:.0f} effective draws in the {where}, wanted {LEAST_EFFECTIVE}")
        if self.k_hat is not None and not self.k_hat <= LARGEST_K_HAT:
            found.append(f"k-hat is {self.k_hat:.2f}, wanted at most {LARGEST_K_HAT}")
        return "; ".join(found)

    @property
    def passed(self) -> bool:
        """Whether the draws may be handed out."""
        return not self.complaint


def r_hat(draws: Any) -> Floats:
    """Return rank-normalized split R-hat, the larger of that of the draws and of their distances from the median.

    >>> chains = np.random.default_rng(1).normal(size=(4, 1000))
    >>> float(r_hat(chains).round(2))
    1.0
    """
    halves = _halves(draws)
    flat, shape = _columns(halves)
    folded = np.abs(flat - np.median(flat, axis=(0, 1)))
    return _placed(halves, np.maximum(_potential(_scores(flat)), _potential(_scores(folded))), shape, 1.0, math.inf)


def bulk(draws: Any) -> Floats:
    """Return the number of independent draws that would know the middle of the law as well.

    >>> walk = np.random.default_rng(1).normal(size=(4, 1000)).cumsum(axis=1)
    >>> bool(bulk(walk) < 20)
    True
    """
    halves = _halves(draws)
    flat, shape = _columns(halves)
    return _placed(halves, _effective(_scores(flat)), shape, float(flat[..., 0].size), 0.0)


def tail(draws: Any) -> Floats:
    """Return the number of independent draws that would know both the 5 % and the 95 % quantile as well.

    >>> chains = np.random.default_rng(1).normal(size=(4, 1000))
    >>> bool(tail(chains) > 3000)
    True
    """
    halves = _halves(draws)
    flat, shape = _columns(halves)
    below = [(flat <= np.quantile(flat, place, axis=(0, 1))).astype(np.float64) for place in _TAILS]
    found = [np.where(np.ptp(one, axis=(0, 1)) > 0, _effective(one), math.inf) for one in below]
    effective = np.minimum(*found)
    known = np.where(np.isfinite(effective), effective, float(flat[..., 0].size))
    return _placed(halves, known, shape, float(flat[..., 0].size), 0.0)


def smoothed(log_ratios: Any) -> tuple[Floats, float]:
    """Return ln of smoothed weights, which add up to 1, and k-hat, from ln of unnormalized importance ratios.

    The largest ratios are replaced by the quantiles of a generalized Pareto law fitted to them, at most the largest.

    Reference. Vehtari, Simpson, Gelman, Yao, Gabry 2024; the fit: Zhang, Stephens 2009.

    >>> even, k_hat = smoothed(np.zeros(1000))
    >>> float(np.exp(even[0]).round(6)), k_hat
    (0.001, -inf)
    """
    ratios = np.array(log_ratios, dtype=np.float64)
    if ratios.ndim != 1 or ratios.size < 2 or np.isnan(ratios).any() or not np.isfinite(ratios.max()):
        raise InputError("importance ratios must be a sequence of at least two numbers; got another")
    ratios -= ratios.max()
    size = int(min(0.2 * ratios.size, 3.0 * math.sqrt(ratios.size)))
    order = np.argsort(ratios, kind="stable")
    k = -math.inf
    if size >= _LEAST_TAIL:
        places = order[-size:]
        start = ratios[order[-size - 1]]
        k, fitted = _fitted_tail(ratios[places], float(start))
        ratios[places] = fitted
    return ratios - np.logaddexp.reduce(ratios), k


def _fitted_tail(logs: Floats, start: float) -> tuple[float, Floats]:
    """Return the shape of the tail of the exponentials of sorted numbers beyond a start, and the smoothed numbers."""
    base = math.exp(start)
    beyond = np.exp(logs) - base
    if beyond[-1] <= 1e-12 * max(base, 1e-300):
        return -math.inf, logs  # even weights: nothing is in the tail
    if beyond[beyond.size // 4] <= 0.0:
        return -math.inf if beyond[-1] <= base else math.inf, logs
    shape, scale = pareto_fit(beyond[beyond > 0.0])
    if not math.isfinite(shape):
        return shape, logs
    levels = (np.arange(beyond.size) + 0.5) / beyond.size
    stretch = -np.log1p(-levels)
    quantiles = scale * (np.expm1(shape * stretch) / shape if abs(shape) > 1e-12 else stretch)
    return shape, np.minimum(np.log(base + quantiles), 0.0)


def pareto_fit(beyond: Floats) -> tuple[float, float]:
    """Return shape and scale of a generalized Pareto law for sorted positive numbers.

    The profile likelihood of theta = -shape / scale is averaged over a grid of thetas, and the shape drawn weakly
    towards 1/2, as ten more numbers would.

    >>> levels = (np.arange(4000) + 0.5) / 4000
    >>> shape, scale = pareto_fit(2 * np.expm1(-0.5 * np.log1p(-levels)) / 0.5)
    >>> round(shape, 2), round(scale, 1)
    (0.5, 2.0)
    """
    count = beyond.size
    grid = 30 + int(math.sqrt(count))
    quartile = beyond[int(count / 4 + 0.5) - 1]
    thetas = 1.0 / beyond[-1] + (1.0 - np.sqrt(grid / (np.arange(grid) + 0.5))) / (3.0 * quartile)
    with np.errstate(divide="ignore", invalid="ignore"):
        shapes = np.log1p(-thetas[:, np.newaxis] * beyond).mean(axis=1)
        profile = count * (np.log(-thetas / shapes) - shapes - 1.0)
    weights = np.exp(profile - np.nanmax(profile))
    weights = np.where(np.isfinite(weights), weights, 0.0)
    theta = float(weights @ thetas / weights.sum())
    shape = float(np.log1p(-theta * beyond).mean())
    scale = -shape / theta
    return (count * shape + 10.0 * 0.5) / (count + 10.0), scale


def _halves(draws: Any) -> Floats:
    """Return the chains cut in halves; an odd draw in the middle is left out."""
    array = np.asarray(draws, dtype=np.float64)
    if array.ndim < 2 or array.shape[1] < 4:
        raise InputError("draws must be an array (chains, draws, ...) with at least four draws; got another shape")
    half = array.shape[1] // 2
    return np.concatenate([array[:, :half], array[:, -half:]])


def _columns(halves: Floats) -> tuple[Floats, tuple[int, ...]]:
    """Return chains and draws with one further axis, and the shape that this axis had; what is not finite is 0."""
    flat = halves.reshape(*halves.shape[:2], -1)
    return np.where(np.isfinite(flat), flat, 0.0), halves.shape[2:]


def _placed(halves: Floats, values: Floats, shape: tuple[int, ...], steady: float, broken: float) -> Floats:
    """Return values in their shape, with those for places that never vary or that hold what is not finite."""
    flat = halves.reshape(*halves.shape[:2], -1)
    finite = np.isfinite(flat).all(axis=(0, 1))
    with np.errstate(invalid="ignore"):
        constant = np.ptp(flat, axis=(0, 1)) == 0.0
    return np.where(finite, np.where(constant, steady, values), broken).reshape(shape)


def _scores(flat: Floats) -> Floats:
    """Return the normal scores of the ranks among all chains, place by place; equal draws share a rank."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    count = flat.shape[0] * flat.shape[1]
    ranks = rankdata(flat.reshape(count, -1), axis=0).reshape(flat.shape)
    return np.asarray(ndtri((ranks - 0.375) / (count + 0.25)))


def _potential(chains: Floats) -> Floats:
    """Return R-hat: the root of the pooled variance over the one within chains."""
    count = chains.shape[1]
    within = chains.var(axis=1, ddof=1).mean(axis=0)
    between = chains.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.sqrt((count - 1) / count + between / within))


def _effective(chains: Floats) -> Floats:
    """Return the effective draws: autocorrelations of all chains, cut and made monotone in pairs (Geyer 1992)."""
    number, count = chains.shape[:2]
    covariances = _autocovariances(chains).mean(axis=1)
    within = covariances[0] * count / (count - 1)
    pooled = covariances[0] + chains.mean(axis=1).var(axis=0, ddof=1) if number > 1 else within
    with np.errstate(divide="ignore", invalid="ignore"):
        correlations = 1.0 - (within - covariances) / pooled
    correlations[0] = 1.0
    even = correlations[: count - count % 2]
    pairs = even[0::2] + even[1::2]
    kept = np.logical_and.accumulate(pairs > 0.0, axis=0)
    total = np.where(kept, np.minimum.accumulate(np.where(kept, pairs, np.inf), axis=0), 0.0).sum(axis=0)
    draws = number * count
    return np.asarray(draws / np.maximum(2.0 * total - 1.0, 1.0 / math.log10(draws)))


def _autocovariances(chains: Floats) -> Floats:
    """Return the autocovariances of every chain, (lags, chains, places), by Fourier transforms."""
    from scipy.fft import irfft, next_fast_len, rfft

    count = chains.shape[1]
    length = next_fast_len(2 * count, real=True)
    centered = chains - chains.mean(axis=1, keepdims=True)
    transform = rfft(centered, n=length, axis=1)
    found = irfft(transform.real**2 + transform.imag**2, n=length, axis=1)[:, :count] / count
    return np.moveaxis(np.asarray(found), 1, 0)
