"""A noisy value as people should see it: with its interval, what the interval is for, and what it cost."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, localcontext
from enum import Enum

from discreet.display import definition_list
from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.privacy.guarantees import Guarantee
from discreet.privacy.loss import PrivacyLoss
from discreet.privacy.numbers import plain

_SIGNIFICANT = 2  # digits of the interval's half-width: more would be noise
_MOST_PLACES = 12
NO_INTERVAL = "no interval bought"


class Target(Enum):
    """What an interval is meant to contain.

    `TABLE` is the true answer on the table that was asked: the interval covers the noise alone. `POPULATION` is the
    quantity in the population from which the people were drawn: the interval covers the noise and the sampling.
    """

    TABLE = "table"
    POPULATION = "population"

    def __repr__(self) -> str:
        return f"Target.{self.name}"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A released value with a confidence interval for a stated target, and the guarantee under which it was released.

    `approximate` says that the confidence rests on the normal law for many rows and is not proven; it is printed too.
    An interval may be cut to the possible range (a fraction lies in [0, 1]) and then leave out an unbiased value beyond
    it. Where none was bought `low` and `high` are None.

    >>> from discreet.privacy.guarantees.guarantee import PureDP
    >>> print(
    ...     Estimate(
    ...         0.412,
    ...         0.371,
    ...         0.453,
    ...         0.95,
    ...         Target.TABLE,
    ...         PureDP(1),
    ...         "exact quantile of the noise",
    ...     )
    ... )
    0.412 [0.371, 0.453] (95 %, table)
    >>> print(
    ...     Estimate(
    ...         0.412, None, None, 0.95, Target.TABLE, PureDP(1), "a choice by rank"
    ...     )
    ... )
    0.412 (no interval bought)
    """

    value: Number
    low: float | None
    high: float | None
    confidence: float
    target: Target
    guarantee: Guarantee
    method: str
    # the loss to charge: that of the release where it is known, else the worst that keeps the guarantee
    cost: PrivacyLoss = field(default=None, repr=False, compare=False)  # type: ignore[assignment]
    # whether the confidence holds for many rows only, by the normal law, and is not proven
    approximate: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", plain(self.value, name="value"))
        self._check_ends()
        object.__setattr__(self, "confidence", plain(self.confidence, name="confidence"))
        if not 0 < self.confidence < 1:
            raise ParameterError("confidence must lie strictly between 0 and 1, such as 0.95", parameter="confidence")
        if not isinstance(self.target, Target):
            raise ParameterError("target must be Target.TABLE or Target.POPULATION", parameter="target")
        if not isinstance(self.guarantee, Guarantee):
            raise ParameterError("guarantee must be a guarantee, such as PureDP(1)", parameter="guarantee")
        if self.cost is None:
            object.__setattr__(self, "cost", self.guarantee.loss)

    @property
    def ends(self) -> tuple[float, float]:
        """The interval, (low, high); an error where none was bought."""
        if self.low is None or self.high is None:
            raise ParameterError(
                "the estimate must have an interval; got one without, ask again with interval=True", parameter="low"
            )
        return self.low, self.high

    def _check_ends(self) -> None:
        """Keep both ends as floats, or neither."""
        if self.low is None or self.high is None:
            if self.low is not self.high:
                missing = "low" if self.low is None else "high"
                raise ParameterError("an interval needs both of its ends, or neither", parameter=missing)
            return
        low, high = _end(self.low, name="low"), _end(self.high, name="high")
        if not low <= high:
            raise ParameterError("an interval needs low <= high", parameter="low")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        if self.low is None:
            return f"{self.number} ({NO_INTERVAL})"
        words = f"{_percent(self.confidence)} %, {self.target.value}{', approximate' if self.approximate else ''}"
        return f"{self.number} ({words})"

    @property
    def number(self) -> str:
        """The value with its interval, each with the digits that carry information.

        >>> from discreet.privacy.guarantees.guarantee import PureDP
        >>> Estimate(0.4, 0.3, 0.5, 0.95, Target.TABLE, PureDP(1), "exact").number
        '0.40 [0.30, 0.50]'
        """
        return self._value() if self.low is None else f"{self._value()} {self._interval()}"

    def to_dict(self) -> dict[str, Number | str | bool | None]:
        """Return the numbers and words by name; the guarantee as it is written.

        >>> from discreet.privacy.guarantees.guarantee import PureDP
        >>> Estimate(0.4, 0.3, 0.5, 0.95, Target.TABLE, PureDP(1), "exact").to_dict()[
        ...     "target"
        ... ]
        'table'
        """
        return {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "confidence": self.confidence,
            "target": self.target.value,
            "approximate": self.approximate,
            "method": self.method,
            "guarantee": str(self.guarantee),
        }

    def _repr_html_(self) -> str:
        """Return the estimate as a list for a notebook."""
        return definition_list(
            [
                ("estimate", self._value()),
                (
                    f"{'approximate ' if self.approximate else ''}{_percent(self.confidence)} % interval "
                    f"for the {self.target.value}",
                    self._interval(),
                ),
                ("guarantee", self.guarantee),
                ("method", self.method),
            ]
        )

    def _value(self) -> str:
        if self.low is None:  # nothing says which digits carry information
            return str(self.value) if isinstance(self.value, int) else f"{float(self.value):.10g}"
        return _rounded(self.value, self._places(), ROUND_HALF_EVEN)

    def _interval(self) -> str:
        if self.low is None or self.high is None:
            return NO_INTERVAL
        places = self._places()
        return f"[{_rounded(self.low, places, ROUND_FLOOR)}, {_rounded(self.high, places, ROUND_CEILING)}]"

    def _places(self) -> int:
        """Return how many decimals carry information, judged by the half-width alone."""
        low, high = self.ends
        half = (high - low) / 2
        if all(float(one).is_integer() for one in (self.value, low, high) if math.isfinite(one)):
            return 0
        if not math.isfinite(half) or half <= 0:
            return 6
        return min(max(_SIGNIFICANT - 1 - math.floor(math.log10(half)), 0), _MOST_PLACES)


def _end(value: object, *, name: str) -> float:
    """Return an end of an interval as a float; infinite ends are allowed."""
    if isinstance(value, float) and math.isinf(value):
        return float(value)
    return float(plain(value, name=name))


def _rounded(value: Number, places: int, rounding: str) -> str:
    """Write a number with `places` decimals; a float is rounded from its shortest decimals."""
    if isinstance(value, float) and math.isinf(value):
        return "∞" if value > 0 else "-∞"
    exact = Decimal(value) if isinstance(value, int) else Decimal(repr(float(value)))
    with localcontext() as context:
        context.prec = max(exact.adjusted(), 0) + places + 10
        return f"{exact.quantize(Decimal(1).scaleb(-places), rounding=rounding):f}"


def _percent(confidence: float) -> str:
    short = f"{100 * confidence:.6g}"
    return f"{100 * confidence:.12g}" if short == "100" else short  # never 100 % for what is below
