"""A certified number: two bounds, a best guess between them, and how they were obtained."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum

from discreet.errors import ParameterError


class SafeEnd(Enum):
    """Which end of an enclosure errs on the side of privacy."""

    LOWER = "lower"
    UPPER = "upper"


@dataclass(frozen=True, slots=True)
class Enclosure:
    """The truth lies in [lower, upper]; `float()` gives the end that errs on the side of privacy.

    `assumptions` names what the bounds rest on besides proofs (see the threat model); none for ball arithmetic.
    `tolerance` is the width that was asked for, if one was: `met` says whether the bounds are that narrow, and the
    printed number says so where they are not. They hold either way.

    >>> e = Enclosure(lower=0.4, estimate=0.45, upper=0.5, method="sum over the support")
    >>> float(e)
    0.5
    >>> e.contains(0.47)
    True
    >>> print(e.asked(0.01))
    0.45 [0.4, 0.5], wider than the 0.01 asked for
    """

    lower: float
    estimate: float
    upper: float
    method: str
    safe: SafeEnd = SafeEnd.UPPER
    assumptions: tuple[str, ...] = ()
    tolerance: float | None = None

    def __post_init__(self) -> None:
        if not (self.lower <= self.estimate <= self.upper):
            raise ParameterError(
                f"an enclosure needs lower <= estimate <= upper, got {self.lower}, {self.estimate}, {self.upper}",
                parameter="estimate",
            )

    def __float__(self) -> float:
        return self.upper if self.safe is SafeEnd.UPPER else self.lower

    @property
    def width(self) -> float:
        """How far apart the two bounds are (0 when both are the same infinity)."""
        return 0.0 if self.lower == self.upper else self.upper - self.lower

    @property
    def met(self) -> bool:
        """Whether the bounds are as narrow as was asked for; True where no width was asked for."""
        return self.tolerance is None or self.width <= self.tolerance

    def asked(self, tolerance: float) -> Enclosure:
        """Return the same bounds with the width that was asked for, in the units of the number itself."""
        return replace(self, tolerance=tolerance)

    def contains(self, value: float) -> bool:
        """Say whether a number lies within the bounds."""
        return self.lower <= value <= self.upper

    @classmethod
    def outward(
        cls, lower: float, upper: float, *, method: str, safe: SafeEnd = SafeEnd.UPPER, floor: float = -math.inf
    ) -> Enclosure:
        """Widen two computed ends by one unit in the last place, not below `floor`, with the guess midway."""
        low = max(math.nextafter(lower, -math.inf), floor)
        high = max(math.nextafter(upper, math.inf), floor)
        middle = low if math.isinf(low) or math.isinf(high) else low + (high - low) / 2
        if math.isinf(high) and not math.isinf(low):
            middle = low
        return cls(lower=low, estimate=min(max(middle, low), high), upper=high, method=method, safe=safe)

    @classmethod
    def exact(cls, value: float, *, method: str, safe: SafeEnd = SafeEnd.UPPER) -> Enclosure:
        """Enclose a number that is known exactly."""
        return cls(lower=value, estimate=value, upper=value, method=method, safe=safe)

    def __str__(self) -> str:
        wide = "" if self.met else f", wider than the {self.tolerance:.3g} asked for"
        return f"{self.estimate:.6g} [{self.lower:.9g}, {self.upper:.9g}]{wide}"
