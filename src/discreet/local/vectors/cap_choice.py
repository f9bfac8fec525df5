"""How large a codebook and a cap of it estimate vectors best: order statistics of directions, by quadrature."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_PANELS, _NODES = 500, 8
_REACH = 13.0
_LEVELS = 8000
_KEPT = 64
_SIZES = tuple(1 << power for power in range(3, 13))
_ENOUGH = 1.01


@dataclass(frozen=True)
class CapChoice:
    """A number of codewords, the size of a cap among them, and the second moment 1 / m^2 of a decoded report."""

    codewords: int
    cap: int
    error: float


def choose_cap(epsilon: Fraction, dimension: int, codewords: int | None = None) -> CapChoice:
    """Return the best cap; without a number of codewords, the fewest (a power of 2) within 1 % of the least error.

    There are at most 4096: beyond epsilon = 8 that may leave more than 1 %.

    >>> choice = choose_cap(Fraction(4), 64)
    >>> choice.codewords <= 4096, choice.error < 1.1 * least_error(Fraction(4), 64)
    (True, True)
    """
    if codewords is not None:
        return _best_cap(float(epsilon), dimension, codewords)
    goal = least_error(epsilon, dimension) * _ENOUGH
    for size in _SIZES:
        choice = _best_cap(float(epsilon), dimension, size)
        if choice.error <= goal:
            break
    return choice


def least_error(epsilon: Fraction, dimension: int) -> float:
    """Return the squared error of one report of PrivUnit with its best cap: unboundedly many codewords.

    The cap is all directions whose product with the vector exceeds the sine of an angle a; the report lies in it with
    the probability that privacy allows. The product has the mean cos(a)^(dimension - 1) / ((dimension - 1) Z) on the
    cap, times the chance of the cap. Asi, Feldman and Talwar (2022) show that PrivUnit with the best cap has the least
    variance among a large family of randomizers.
    """
    reach = min(math.pi / 2, _REACH / math.sqrt(dimension))
    angles = np.linspace(0.0, reach, _LEVELS, endpoint=False)
    sums = np.cos(angles) ** (dimension - 1) / ((dimension - 1) * _normaliser(dimension))
    growth = math.expm1(float(epsilon))
    shift = growth * sums / (1 + growth * _beyond(angles, dimension))
    return float(1 / np.max(shift) ** 2)


def mean_shift(epsilon: float, dimension: int, codewords: int, cap: int) -> float:
    """Return E<codeword reported, v> for a unit vector v: what a sum of codewords is divided by."""
    growth = math.expm1(epsilon)
    return float(growth * cap * top_mean(dimension, codewords, cap) / (codewords + growth * cap))


def top_mean(dimension: int, codewords: int, cap: int) -> float:
    """Return the expected mean of the `cap` largest of so many independent products <u, v>.

    A codeword with the product t is among the largest if at most cap - 1 of the others exceed t; so the sum of the
    largest has the mean M E[t P(Bin(M - 1, P(T > t)) <= cap - 1)].
    """
    from scipy.special import bdtr

    products, masses, beyond = _directions(dimension)
    chosen = bdtr(cap - 1, codewords - 1, beyond)
    return float(codewords / cap * np.sum(products * masses * chosen))


def _best_cap(epsilon: float, dimension: int, codewords: int) -> CapChoice:
    """Try all caps of at most half the codebook: the shift rises, then falls."""
    low, high = 1, max(1, codewords // 2)
    while low < high:
        middle = (low + high) // 2
        here, there = (mean_shift(epsilon, dimension, codewords, cap) for cap in (middle, middle + 1))
        low, high = (middle + 1, high) if there > here else (low, middle)
    return CapChoice(codewords, low, 1 / mean_shift(epsilon, dimension, codewords, low) ** 2)


@lru_cache(maxsize=_KEPT)
def _directions(dimension: int) -> tuple[Floats, Floats, Floats]:
    """Return quadrature nodes t of the law of <u, v> for a uniform direction u, their masses, and P(<u, v> > t).

    With t = sin(angle) its density is cos(angle)^(dimension - 2) / Z: smooth, and beyond 13 standard deviations nothing
    is left. Panels shorten towards the ends, where the largest of many products lie if there are few dimensions.
    """
    reach = min(math.pi / 2, _REACH / math.sqrt(dimension))
    edges = reach * np.sin(np.linspace(-math.pi / 2, math.pi / 2, _PANELS + 1))
    places, weights = np.polynomial.legendre.leggauss(_NODES)
    halves = np.diff(edges)[:, None] / 2
    angles = (edges[:-1, None] + halves * (1 + places)).ravel()
    density = np.cos(angles) ** (dimension - 2) / _normaliser(dimension)
    return np.sin(angles), (halves * weights).ravel() * density, _beyond(angles, dimension)


def _beyond(angles: Floats, dimension: int) -> Floats:
    """Return P(<u, v> > sin(angle)): a regularised incomplete beta function."""
    from scipy.special import betainc

    half = betainc((dimension - 1) / 2, 0.5, np.cos(angles) ** 2) / 2
    return np.asarray(np.where(angles >= 0, half, 1 - half))


def _normaliser(dimension: int) -> float:
    """Return Z, the integral of cos(angle)^(dimension - 2) over half a turn."""
    from scipy.special import betaln

    return math.exp(betaln((dimension - 1) / 2, 0.5))
