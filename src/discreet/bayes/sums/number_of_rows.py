"""How many rows were added up: public, with a prior, or unknown and told by the release alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base import Prior
from discreet.display import as_stated
from discreet.errors import ParameterError
from discreet.statistics.measurement import MeasurementPlan, PowerSums, Products

Floats = NDArray[np.float64]
_FREEDOM, _WIDER = 3.0, 2.0
_MOST_ROWS, _MOST_DRAWN = 10**12, 10**7


def stated_number(people: Any) -> int | Prior | None:
    """Return a public number of rows, a prior of it, or None; say what to write otherwise.

    >>> stated_number(1000)
    1000
    """
    if people is None or isinstance(people, Prior):
        return people
    whole = isinstance(people, int | np.integer) and not isinstance(people, bool)
    if not whole or not 1 <= people <= _MOST_ROWS:
        raise ParameterError(
            f"people must be a number from 1 to 10^12, a prior of it, or None where it is unknown; got "
            f"{as_stated(people) if isinstance(people, int | float) else type(people).__name__}, write people=1000 or "
            "people=LogNormal(1000, 0.5)",
            parameter="people",
        )
    return int(people)


def public_number(plans: Sequence[MeasurementPlan]) -> int | None:
    """Return the number of rows where the release of a sum makes one public."""
    stated = {plan.adds_up.people for plan in plans if isinstance(plan.adds_up, PowerSums | Products)} - {None}
    return stated.pop() if len(stated) == 1 else None


def drawable(people: Any) -> int:
    """Return how many rows are to be drawn one by one; refuse more than memory should hold.

    >>> drawable(1000.0)
    1000
    """
    if not people <= _MOST_DRAWN:
        raise ParameterError(
            f"people must be at most {_MOST_DRAWN:,} where rows are drawn; got more, write fewer people, or leave the "
            "check of the release out",
            parameter="people",
        )
    return int(people)


@dataclass(frozen=True, slots=True)
class NumberOfRows:
    """A number of rows n for sampling: known, or the nearest whole number to an unknown.

    The unknown is drawn from its prior, or, where every n is as likely, from a t law of 3 degrees of freedom about what
    the release says, twice as wide, whose density is divided out of the likelihood again: any law would do that is
    nowhere too thin, because the prior and this factor only occur as a product.
    """

    known: int | None
    prior: Prior | None = None
    told: tuple[float, float] = (0.0, 1.0)

    @classmethod
    def of(cls, people: Any, public: int | None, told: Callable[[], tuple[float, float] | None]) -> NumberOfRows:
        """Read what the model states and what the release makes public; refuse an n that nothing tells."""
        stated = stated_number(people)
        if public is not None:
            if stated is not None and stated != public:
                raise ParameterError(
                    f"people must be left out where the release makes it public; got another number than {public}, "
                    "write people=None",
                    parameter="people",
                )
            return cls(public)
        if stated is None:
            found = told()
            if found is None:
                raise ParameterError(
                    "people must be stated where no released sums tell it; got None, write people=1000 or "
                    "people=LogNormal(1000, 0.5), or ask COUNT(x) too",
                    parameter="people",
                )
            return cls(None, None, found)
        return cls(None, stated) if isinstance(stated, Prior) else cls(stated)

    @classmethod
    def planned(cls, people: Any, plans: Sequence[MeasurementPlan]) -> NumberOfRows:
        """Return the number where nothing was released yet: it must be known or have a proper prior."""
        public = public_number(plans)
        if people is None and public is None:
            raise ParameterError(
                "people must have a proper prior where tables are drawn; got None, write people=1000 or "
                "people=LogNormal(1000, 0.5)",
                parameter="people",
            )
        return cls.of(people, public, lambda: None)

    @property
    def proper(self) -> bool:
        """Whether the prior is proper, so that the evidence means something."""
        return self.known is not None or self.prior is not None

    def draw(self, generator: np.random.Generator, shape: int | tuple[int, ...]) -> Any:
        """Draw whole numbers from the prior."""
        if self.prior is None:
            return np.full(shape, self.known)
        return np.maximum(np.rint(self.prior.draw(generator, shape)), 0.0).astype(np.int64)

    def proposed(self, generator: np.random.Generator, count: int) -> Floats:
        """Draw unknowns to start from."""
        if self.prior is not None:
            return np.asarray(self.prior.draw(generator, count))
        center, width = self.told
        return np.asarray(center + _WIDER * self._width(width) * generator.standard_t(_FREEDOM, count))

    def log_proposal(self, numbers: Floats) -> Floats:
        """Return ln of the density of what `proposed` draws."""
        if self.prior is not None:
            return np.asarray(self.prior.log_density(numbers))
        center, width = self.told
        scale = _WIDER * self._width(width)
        constant = math.lgamma((_FREEDOM + 1) / 2) - math.lgamma(_FREEDOM / 2) - 0.5 * math.log(_FREEDOM * math.pi)
        standard = (numbers - center) / scale
        return np.asarray(constant - math.log(scale) - (_FREEDOM + 1) / 2 * np.log1p(standard**2 / _FREEDOM))

    def log_correction(self, numbers: Floats) -> Floats | float:
        """Return ln of prior over proposal: 0 where the prior is the proposal, and no n below 0."""
        if self.prior is not None:
            return 0.0
        return np.where(numbers >= -0.5, -self.log_proposal(numbers), -np.inf)

    @staticmethod
    def _width(width: float) -> float:
        """Return a width of at least a row."""
        return max(width, 0.5)
