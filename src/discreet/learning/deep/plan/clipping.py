"""How one person's gradient is clipped: to which length, and as a whole, by layers or always to that length."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.privacy.numbers import positive

STABILITY = Fraction(1, 100)  # of the norm, added to the length of a gradient before it is normalized


class ClipMode(StrEnum):
    """Which part of a gradient is clipped by which rule.

    >>> ClipMode("per layer")
    <ClipMode.PER_LAYER: 'per layer'>
    """

    FLAT = "flat"
    PER_LAYER = "per layer"
    NORMALIZED = "normalized"


@dataclass(frozen=True, slots=True)
class Clip:
    """The length to which a person's gradient is clipped, and the rule.

    Let N be the length of a gradient and C the norm. `flat` multiplies it by min(1, C/N); `normalized` by
    C/(N + C/100), so that short gradients count almost as much as long ones; `per layer` clips the gradient of each of
    L layers to C/sqrt(L), so that a layer can be forgotten as soon as its length is known.

    Privacy. In every mode the clipped gradient is at most C long.
        Proof: flat: N min(1, C/N) <= C. Normalized: N C/(N + C/100) < C. Per layer: the squares of L lengths of at most
        C/sqrt(L) add up to at most C^2.

    >>> Clip(1.0)
    Clip(norm=1.0, mode='flat')
    """

    norm: Number
    mode: ClipMode = ClipMode.FLAT

    def __post_init__(self) -> None:
        object.__setattr__(self, "norm", positive(self.norm, name="norm"))
        object.__setattr__(self, "mode", _mode(self.mode))

    def factor(self, length: float) -> float:
        """Return what a gradient (or a layer's part, with its part of the norm) of this length is multiplied by.

        This is the rule in words of numbers; sums for a release round it down.

        >>> Clip(1.0).factor(4.0), Clip(1.0, "normalized").factor(0.99)
        (0.25, 1.0)
        """
        if length == 0:
            return 0.0
        norm = float(self.norm)
        if self.mode is ClipMode.NORMALIZED:
            return norm / (length + norm * float(STABILITY))
        return min(1.0, norm / length)

    def __repr__(self) -> str:
        return f"Clip(norm={self.norm!r}, mode={self.mode.value!r})"


def _mode(value: object) -> ClipMode:
    found = {one.value: one for one in ClipMode}.get(str(value)) if isinstance(value, str) else None
    if found is None:
        names = ", ".join(repr(one.value) for one in ClipMode)
        got = repr(value[:40]) if isinstance(value, str) else f"a {type(value).__name__}"
        raise ParameterError(
            f"mode must be one of {names}; got {got}, write Clip(norm, mode='flat'), for example", parameter="mode"
        )
    return found
