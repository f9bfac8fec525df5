"""The noise of a training: fresh at every step, or correlated so that it cancels in sums over steps."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.privacy.numbers import number, positive, whole
from discreet.randomness.rigor import floor_of_lower, precision

_RESOLUTION = 10  # bits of the coefficients after k_0 = 2^10: what is rounded away changes the noise, not the price
_FINE = 40  # bits of the decays and weights of buffers
_MOST_BANDS, _MOST_BUFFERS = 1 << 16, 64


@dataclass(frozen=True)
class TrainingNoise(ABC):
    """Gaussian noise: `scale` is its standard deviation over what one participation of one person moves.

    The released integers are u_t = k_0 x_t + k_1 x_(t-1) + ... + z_t with the `coefficients` k, where x_t is the exact
    sum of a step and z_t a rounded normal of standard deviation scale |k| D in each coordinate, |k| the root of the sum
    of squares, D the distance by which one participation moves one x_t.

    Privacy. One participation moves all releases together by 1/scale of the noise's deviation, exactly as with normal
        noise on real numbers; without mixing, a step is a Gaussian release of noise multiplier `scale`.
        Proof: it moves u_(t+j) by at most k_j D, all of them by at most |k| D. For integers y and a normal vector Z,
        y + round(Z) = round(y + Z): a post-processing of the Gaussian mechanism on y.
    """

    scale: Number
    exact: ClassVar[bool] = True
    name: ClassVar[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, name="scale"))

    def coefficients(self, steps: int) -> tuple[int, ...]:  # noqa: ARG002  others have as many as there are steps
        """Return the integers k_0 >= k_1 >= ... > 0 that mix the sums of successive steps."""
        return (1,)


@dataclass(frozen=True)
class IndependentNoise(TrainingNoise):
    """Fresh noise at every step, drawn exactly on integers: a step is a Gaussian release of noise multiplier `scale`.

    >>> IndependentNoise(1.5)
    IndependentNoise(scale=1.5)
    """

    name: ClassVar[str] = "independent"


@dataclass(frozen=True)
class Float(TrainingNoise):
    """Fresh noise at every step from floating-point normal draws: fast, and not exact.

    The price that a plan tells is that of real numbers. What the floats of a machine release is another law, for which
    nothing is proven: a plan with this noise has no records, and no ledger accepts it.

    >>> Float(1.5).exact
    False
    """

    exact: ClassVar[bool] = False
    name: ClassVar[str] = "floating-point"


@dataclass(frozen=True)
class Banded(TrainingNoise):
    """Correlated noise: the first `bands` coefficients of the square root of prefix sums, as integers over 2^10.

    c_0 = 1 and c_j = c_(j-1) (2j - 1)/(2j): the series of (1 - x)^(-1/2), whose square sums up. So the noise in sums
    over steps grows far slower than that of fresh noise. One band is fresh noise.

    Privacy. The coefficients k_j = floor(2^10 c_j) satisfy k_0 >= k_1 >= ... >= 0, as the theorems of `mixing` and
        `CyclicPoisson` demand.
        Proof: c_j is an exact fraction, positive and falling; the floor of a falling sequence does not grow.
    Reference. Henzinger, Upadhyay 2022; Kalinin, Lampert 2024 (bands).

    >>> Banded(1.0, bands=4).coefficients(steps=100)
    (1024, 512, 384, 320)
    """

    bands: int
    name: ClassVar[str] = "banded"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "bands", _at_most(self.bands, _MOST_BANDS, "bands"))

    def coefficients(self, steps: int) -> tuple[int, ...]:
        """Return the coefficients, no more than there are steps."""
        return _root_of_sums(min(self.bands, whole(steps, name="steps")))


@dataclass(frozen=True)
class Buffered(TrainingNoise):
    """Correlated noise whose coefficients are a sum of a few decaying powers: c_0 = 1, c_j = sum of w_i d_i^(j-1).

    The decays d and weights w are the nodes and weights of the Gauss rule with `buffers` points for the measure whose
    moments are the coefficients of the square root of prefix sums: d_i = cos^2((2i - 1) pi/(4 buffers + 2)), w_i =
    2 d_i/(2 buffers + 1). The first 2 buffers + 1 coefficients are those of the root, later ones fall off.

    Privacy. The coefficients k_j = floor(2^10 c_j) satisfy k_0 >= k_1 >= ... >= 0.
        Proof: d_i and w_i are rounded down to multiples of 2^-40, with 0 <= d_i < 1, 0 <= w_i and the sum of w_i at
        most 1/2: (with n buffers the d_i add up to (2n + 1)/4: the sum of cos((2i - 1) pi/(2n + 1)) over i <= n is
        1/2). Hence c_0 = 1 >= c_1, and each term w_i d_i^(j-1) falls. They are computed in exact integers rounded down,
        d and w replaced by what was rounded; a rounded power is at most the one before, so the sums fall too.
    Cost. As many sums are kept as there are coefficients: the integer form has no use of the recursion by buffers,
        which would round; coefficients below 2^-10 are cut off.
    Reference. McMahan, Xu, Zhang 2024, for the form; nodes and weights by the moments of the arcsine law.

    >>> Buffered(1.0, buffers=2).coefficients(steps=100)[:6]
    (1024, 511, 383, 319, 279, 249)
    """

    buffers: int
    name: ClassVar[str] = "buffered"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "buffers", _at_most(self.buffers, _MOST_BUFFERS, "buffers"))

    def coefficients(self, steps: int) -> tuple[int, ...]:
        """Return the coefficients, no more than there are steps."""
        return _decaying(self.buffers)[: whole(steps, name="steps")]


@lru_cache(maxsize=64)
def _root_of_sums(count: int) -> tuple[int, ...]:
    """Return floor(2^10 c_j) of the first coefficients that are not 0."""
    found: list[int] = []
    term = Fraction(1 << _RESOLUTION)
    for index in range(1, count + 1):
        if term < 1:
            break
        found.append(int(term))
        term = term * (2 * index - 1) / (2 * index)
    return tuple(found)


@lru_cache(maxsize=64)
def _decaying(buffers: int) -> tuple[int, ...]:
    """Return floor(2^10 c_j) as long as it is not 0."""
    decays = [_node(index, buffers) for index in range(1, buffers + 1)]
    terms = [2 * decay // (2 * buffers + 1) for decay in decays]
    found = [1 << _RESOLUTION]
    while (following := sum(terms) >> (_FINE - _RESOLUTION)) > 0:
        found.append(following)
        terms = [term * decay >> _FINE for term, decay in zip(terms, decays, strict=True)]
    return tuple(found)


def _node(index: int, buffers: int) -> int:
    """Return 2^40 cos^2((2 index - 1) pi / (4 buffers + 2)), rounded down."""
    import flint

    with precision(128):
        angle = flint.arb.pi() * number(Fraction(2 * index - 1, 4 * buffers + 2))
        return floor_of_lower(angle.cos() ** 2 * (1 << _FINE))


def _at_most(value: object, most: int, name: str) -> int:
    """Return a whole number from 1 to a limit."""
    count = whole(value, name=name)
    if count > most:
        raise ParameterError(f"{name} must be at most {most:,}; got more, write fewer", parameter=name)
    return count
