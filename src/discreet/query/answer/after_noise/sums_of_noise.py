"""How far a weighted sum of independent integer noises goes, by adding up their laws.

Every class of terms is c (Z_1 + ... + Z_m), equal noises with one coefficient. The law of Z_1 + ... + Z_m is a power of
one Fourier transform; it is then laid on a common grid, and the classes are added by one more.

Lemma (grid). Laying a class on the grid moves it by less than a step, so a sum of k classes moves by less than k steps,
which are added to the quantile.
Proof. Each atom is divided between its two neighbors on the grid, each less than a step away: a coupling.

Noise wider than `_WIDE` steps is first laid, as the continuous law, on a lattice of 256 steps a scale or more, one step
of which is added to the quantile. For one noise that is the lemma again. For several it rests on the mean, which stays,
and on the variance, which grows by less than 1 part in 100,000: the quantile is then good to one part in a thousand.

Lemma (Chernoff). P(|S| > t) <= 2 exp(-x t) M(x), M(x) the product of the moment generating functions at x c. That of
discrete Laplace noise of scale s is at most 1 / (1 - s^2 x^2), since (cosh y - 1) / y^2 grows with y; that of Gaussian
noise of scale s, rounded or discrete, at most exp((s + 1/2)^2 x^2 / 2), since sub-Gaussian deviations add up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.laws import DiscreteLaplace
from discreet.laws.noise import IntegerNoise

Floats = NDArray[np.float64]
_WIDE = 256.0
_SIZE = 1 << 15
_LEAST = 1e-11  # below it Chernoff's bound is as good as what floats resolve
_MANY = 256
_TILTS = np.concatenate([np.linspace(1e-4, 0.98, 400), [0.99, 0.999]])


@dataclass(frozen=True, slots=True)
class EqualTerms:
    """Equal independent noises with one coefficient, above 0."""

    noise: IntegerNoise
    coefficient: float
    count: int

    @property
    def variance(self) -> float:
        """The variance of their sum."""
        return self.coefficient**2 * self.count * variance_of(self.noise)


def variance_of(noise: IntegerNoise) -> float:
    """Return the variance of one noise."""
    return float(noise.variance)  # type: ignore[attr-defined]  # all of these laws know it


def sum_quantile(terms: Sequence[EqualTerms], rest: float) -> float:
    """Return a t that |sum of the terms| exceeds with a chance of at most `rest`, close to the least.

    >>> from discreet.laws import DiscreteLaplace
    >>> one = EqualTerms(DiscreteLaplace(1), 2.0, 1)
    >>> sum_quantile([one], 0.05)  # an exact quantile, 3, times the coefficient
    6.0
    """
    if not terms:
        return 0.0
    if len(terms) == 1 and terms[0].count == 1:
        return terms[0].coefficient * terms[0].noise.half_width(1.0 - rest)
    if rest < _LEAST:
        return _chernoff(terms, rest)
    found = _one_class(terms[0], rest) if len(terms) == 1 else _several(_merged(terms), rest)
    return min(found, _chernoff(terms, rest))


def _chernoff(terms: Sequence[EqualTerms], rest: float) -> float:
    laplace = [(one.coefficient * float(one.noise.scale), one.count) for one in terms if _is_laplace(one.noise)]
    normal = sum(
        one.count * (one.coefficient * (float(one.noise.scale) + 0.5)) ** 2
        for one in terms
        if not _is_laplace(one.noise)
    )
    spread = math.sqrt(sum(one.variance for one in terms))
    ends = [0.999999 / scale for scale, _ in laplace]
    tilts = _TILTS * (min(ends) if ends else 20.0 / spread)
    logarithm = normal * tilts**2 / 2.0
    for scale, count in laplace:
        logarithm = logarithm - count * np.log1p(-((scale * tilts) ** 2))
    return float(((logarithm + math.log(2.0 / rest)) / tilts).min()) * (1.0 + 1e-12)


def _is_laplace(noise: IntegerNoise) -> bool:
    return isinstance(noise, DiscreteLaplace)


def _one_class(terms: EqualTerms, rest: float) -> float:
    """Return the quantile of equal noises: on their own lattice, with nothing to round."""
    masses, step = _lattice(terms.noise, terms.count, rest)
    return (_least(masses, rest) + (step > 1.0)) * step * terms.coefficient


def _several(terms: Sequence[EqualTerms], rest: float) -> float:
    """Return the quantile of several classes on a common grid."""
    reach = _chernoff(terms, min(rest * 1e-3, 1e-9))
    step = 2.0 * reach / (_SIZE - 2 * len(terms) - 2)
    whole, moved = np.ones(_SIZE // 2 + 1, dtype=np.complex128), 0.0
    for one in terms:
        masses, own = _lattice(one.noise, one.count, rest)
        moved += own * one.coefficient if own > 1.0 else 0.0
        places = np.arange(len(masses), dtype=np.float64) * (own * one.coefficient / step)
        whole *= np.fft.rfft(_laid(masses, places))
    masses = np.fft.irfft(whole, _SIZE)[: _SIZE // 2]
    return (_least(masses, rest) + len(terms)) * step + moved


def _laid(masses: Floats, places: Floats) -> Floats:
    """Lay a symmetric law, by its masses at 0 and above, on a grid that goes around; atoms are divided in two."""
    inside = places < _SIZE // 2 - 1
    masses, places = masses[inside], places[inside]
    low = np.floor(places).astype(np.int64)
    part = places - low
    half = np.zeros(_SIZE)
    half += np.bincount(low, masses * (1.0 - part), _SIZE) + np.bincount(low + 1, masses * part, _SIZE)
    half[0] -= masses[0] * (1.0 - part[0]) / 2.0  # the atom at 0 lies on both sides
    half[1] -= masses[0] * part[0] / 2.0
    around = half.copy()
    around[0] *= 2.0
    around[1:] += half[1:][::-1]
    return around


def _least(masses: Floats, rest: float) -> int:
    """Return the least place beyond which a symmetric law, given at 0 and above, has at most `rest`."""
    beyond = 2.0 * np.cumsum(masses[::-1])[::-1]  # the mass at a place and beyond it, on both sides
    wanted = rest * (1.0 - 1e-7)
    return max(int(np.searchsorted(-beyond, -wanted, side="left")) - 1, 0)


@lru_cache(maxsize=256)
def _lattice_known(kind: type[IntegerNoise], scale: object, count: int, rest: float) -> tuple[Floats, float]:
    noise = kind(scale)  # type: ignore[arg-type]
    step = 1.0 if float(noise.scale) <= _WIDE else 2.0 ** math.floor(math.log2(float(noise.scale)) - 8)
    single = _masses(noise, step)
    if count == 1:
        return single, step
    reach = _chernoff([EqualTerms(noise, 1.0, count)], min(rest * 1e-3, 1e-11))
    size = 1 << max(math.ceil(math.log2(2.0 * reach / step + 2)), 4)
    around = np.zeros(size)
    kept = single[: size // 2]
    around[: len(kept)] = kept
    around[size - len(kept) + 1 :] += kept[1:][::-1]
    powers = np.fft.irfft(np.fft.rfft(around) ** count, size)
    return np.maximum(powers[: size // 2], 0.0), step


def _lattice(noise: IntegerNoise, count: int, rest: float) -> tuple[Floats, float]:
    """Return the masses at 0 and above of a sum of equal noises, and the step between them."""
    return _lattice_known(type(noise), noise.scale, count, max(rest, _LEAST))


def _masses(noise: IntegerNoise, step: float) -> Floats:
    """Return the masses of one noise at 0, 1, ... steps, until next to nothing is left."""
    scale = float(noise.scale)
    reach = (36.0 if _is_laplace(noise) else 9.0) * scale + 2.0
    places = np.arange(math.ceil(reach / step) + 1, dtype=np.float64)
    if step == 1.0:
        found: Floats = np.exp(np.asarray(noise.log_pmf(places.astype(np.int64)), dtype=np.float64))
        return found
    bent = _bent_laplace if _is_laplace(noise) else _bent_normal
    ends = bent(np.concatenate([[-1.0], places, [places[-1] + 1.0]]) * (step / scale))
    hats: Floats = (ends[2:] - 2.0 * ends[1:-1] + ends[:-2]) * (scale / step)
    return np.maximum(hats, 0.0)


def _bent_laplace(x: Floats) -> Floats:
    """Return a function whose second derivative is the density of the Laplace law of scale 1."""
    found: Floats = np.exp(-np.abs(x)) / 2.0 + np.abs(x) / 2.0
    return found


def _bent_normal(x: Floats) -> Floats:
    """Return a function whose second derivative is the normal density."""
    from scipy.special import ndtr

    found: Floats = x * (ndtr(x) - 0.5) + np.exp(-(x**2) / 2.0) / math.sqrt(2.0 * math.pi)
    return found


def _merged(terms: Sequence[EqualTerms]) -> list[EqualTerms]:
    """Return at most a few hundred classes: coefficients are raised by up to 2 %, which only widens the sum."""
    if len(terms) <= _MANY:
        return list(terms)
    found: dict[tuple[type[IntegerNoise], object, int], EqualTerms] = {}
    for one in terms:
        level = math.ceil(math.log(one.coefficient * float(one.noise.scale)) / math.log(1.02))
        key = type(one.noise), one.noise.scale, level
        raised = 1.02**level / float(one.noise.scale)
        count = one.count + (found[key].count if key in found else 0)
        found[key] = EqualTerms(one.noise, raised, count)
    return list(found.values())
