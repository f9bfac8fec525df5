"""An allowance that notes every share, and may be told what to choose: for tests of what a method spends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.laws.number import Number
from discreet.synthesis import Allowance
from discreet.synthesis.base.allowance import Noisy

Choice = Callable[[NDArray[Any]], int]


@dataclass(frozen=True, slots=True)
class Noted(Allowance):
    """The same allowance, with a note of each call."""

    noised: list[Fraction] = field(default_factory=list)
    choices: list[Fraction] = field(default_factory=list)
    sensitivities: list[Number] = field(default_factory=list)
    choice: Choice | None = None

    @classmethod
    def like(cls, allowance: Allowance, choice: Choice | None = None) -> Noted:
        """Return a noting allowance with the same guarantee."""
        return cls(
            allowance.guarantee, allowance.amount, allowance.neighbors, gaussian=allowance.gaussian, choice=choice
        )

    @property
    def spent(self) -> Fraction:
        """The sum of all shares."""
        return sum([*self.noised, *self.choices], start=Fraction(0))

    def noisy(self, histogram: NDArray[np.int64], share: Fraction) -> Noisy:
        """Note the share."""
        self.noised.append(share)
        return Allowance.noisy(self, histogram, share)

    def choose(self, scores: Sequence[Number] | NDArray[Any], share: Fraction, *, sensitivity: Number) -> int:
        """Note the share, and choose as told."""
        self.choices.append(share)
        self.sensitivities.append(sensitivity)
        if self.choice is not None:
            return self.choice(np.asarray(scores))
        return Allowance.choose(self, scores, share, sensitivity=sensitivity)
