"""The noise of a training: independent at every step, and how far it is from a float's."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import ClassVar

from discreet.laws.number import Number
from discreet.privacy.numbers import positive


@dataclass(frozen=True)
class Noise(ABC):
    """Gaussian noise: `scale` is its standard deviation over what one participation of one person moves.

    The released integers are u_t = k_0 x_t + k_1 x_(t-1) + ... + z_t with the `coefficients` k, where x_t is the exact
    sum of a step and z_t a rounded normal of standard deviation scale |k| D in each coordinate, |k| the root of the sum
    of squares, D the distance by which one participation moves one x_t.
    """

    scale: Number
    exact: ClassVar[bool] = True
    name: ClassVar[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, name="scale"))

    def coefficients(self, steps: int) -> tuple[int, ...]:  # noqa: ARG002  others have as many as there are steps
        """Return the integers k_0 >= k_1 >= ... >= 0 that mix the sums of successive steps; no 0 at the end."""
        return (1,)


@dataclass(frozen=True)
class Independent(Noise):
    """Fresh noise at every step, drawn exactly on integers.

    Privacy. A step is exactly a Gaussian release of noise multiplier `scale`.
        Proof: u = x + round(Z) = round(x + Z) for integers x and a normal vector Z of deviation scale D: a
        post-processing of the Gaussian mechanism on x, which moves by at most D.

    >>> Independent(1.5)
    Independent(scale=1.5)
    """

    name: ClassVar[str] = "independent"


@dataclass(frozen=True)
class Float(Noise):
    """Fresh noise at every step from floating-point normal draws: fast, and not exact.

    The price that a plan tells is that of real numbers. What the floats of a machine release is another law, for which
    nothing is proven: a plan with this noise has no records, and no ledger accepts it.

    >>> Float(1.5).exact
    False
    """

    exact: ClassVar[bool] = False
    name: ClassVar[str] = "floating-point"
