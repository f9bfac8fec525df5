"""Public directions that everybody can compute: number r stands for one point of the sphere, the same on any machine.

The key is SHA-256(b"discreet.local.codebook/1" + seed (32 bytes)), read as little-endian 64-bit words, of which K0 and
K1 are the first two. With mix(z) the finalizer of splitmix64 (see `_mix`), G = 0x9E3779B97F4A7C15 and all sums modulo
2^64, word b = 0, 1, ... of direction r is mix(mix(r G + K0) + (b + 1) G + K1). Each word gives four numbers of 16 bits,
the lowest first; number a stands for the integer nearest to 2^16 times the normal quantile of (a + 1/2) / 2^16. The
direction is that vector of integers over its length, in units of 2^-24, rounded to the nearest (even) integers. Only
integers, divisions and square roots are used, which IEEE arithmetic rounds in one way; no quantile is nearer than 2^-20
to a tie.
Only accuracy rests on these directions: privacy does not. How large a codebook and a cap of it estimate vectors best
follows from order statistics of directions, by quadrature.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.local.protocol import Floats, Integers

UNIT_BITS = 24
_LABEL = b"discreet.local.codebook/1"
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_TABLE_BITS = 16
_PANELS, _NODES = 500, 8
_REACH = 13.0
_LEVELS = 8000
_KEPT = 64
_SIZES = tuple(1 << power for power in range(3, 13))
_ENOUGH = 1.01


class Codebook:
    """Directions of a dimension by number, under a public seed.

    >>> rows = Codebook(seed=0, dimension=3).directions(np.arange(2))
    >>> rows.shape, bool(np.all(abs((rows / 2**24) ** 2 @ np.ones(3) - 1) < 1e-6))
    ((2, 3), True)
    """

    def __init__(self, *, seed: int, dimension: int) -> None:
        self.dimension = dimension
        key = np.frombuffer(hashlib.sha256(_LABEL + seed.to_bytes(32, "little")).digest(), dtype="<u8")
        self._key = key.astype(np.uint64)

    def vectors(self, numbers: Integers) -> NDArray[np.int32]:
        """Return the integer vectors before they are brought to length 1: nearly normal coordinates times 2^16."""
        blocks = np.arange(1, -(-self.dimension // 4) + 1, dtype=np.uint64)
        with np.errstate(over="ignore"):
            starts = _mix(numbers.astype(np.uint64) * _GOLDEN + self._key[0])
            drawn = _mix(starts[:, None] + (blocks * _GOLDEN + self._key[1])[None, :])
        places = drawn.astype("<u8").view("<u2")[:, : self.dimension]
        return np.asarray(_quantiles()[places])

    def directions(self, numbers: Integers) -> Integers:
        """Return unit vectors in units of 2^-24."""
        vectors = self.vectors(numbers).astype(np.int64)
        lengths = np.sqrt((vectors * vectors).sum(axis=1).astype(np.float64))
        return np.asarray(np.rint(vectors / lengths[:, None] * float(1 << UNIT_BITS)).astype(np.int64))


def _mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the finalizer of splitmix64 (Steele, Lea, Flood 2014): a one-to-one map that spreads every bit."""
    mixed = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


@cache
def _quantiles() -> NDArray[np.int32]:
    """Return the table of normal quantiles; it holds no zero, so that no vector has length 0."""
    from scipy.special import ndtri

    size = 1 << _TABLE_BITS
    upper = np.rint(ndtri((np.arange(size // 2, size) + 0.5) / size) * float(1 << 16)).astype(np.int32)
    return np.concatenate([-upper[::-1], upper])


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
    sums = np.cos(angles) ** (dimension - 1) / ((dimension - 1) * _normalizer(dimension))
    growth = math.expm1(float(epsilon))
    shift = growth * sums / (1 + growth * _beyond(angles, dimension))
    return float(1 / np.max(shift) ** 2)


def mean_shift(epsilon: float, dimension: int, codewords: int, cap: int) -> float:
    """Return E<codeword reported, v> for a unit vector v: what a sum of codewords is divided by."""
    growth = math.expm1(epsilon)
    return float(growth * cap * top_mean(dimension, codewords, cap) / (codewords + growth * cap))


def top_mean(dimension: int, codewords: int, cap: int) -> float:
    """Return the expected mean of the `cap` largest of `codewords` independent products <u, v>.

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
    density = np.cos(angles) ** (dimension - 2) / _normalizer(dimension)
    return np.sin(angles), (halves * weights).ravel() * density, _beyond(angles, dimension)


def _beyond(angles: Floats, dimension: int) -> Floats:
    """Return P(<u, v> > sin(angle)): a regularized incomplete beta function."""
    from scipy.special import betainc

    half = betainc((dimension - 1) / 2, 0.5, np.cos(angles) ** 2) / 2
    return np.asarray(np.where(angles >= 0, half, 1 - half))


def _normalizer(dimension: int) -> float:
    """Return Z, the integral of cos(angle)^(dimension - 2) over half a turn."""
    from scipy.special import betaln

    return math.exp(betaln((dimension - 1) / 2, 0.5))
