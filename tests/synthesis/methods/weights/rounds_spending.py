"""An allowance that notes measurements too: for tests of what adaptive rounds spend."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from discreet.synthesis import Allowance
from discreet.synthesis.base.allowance import Measured
from tests.synthesis.methods.spending import Choice, Noted


@dataclass(frozen=True, slots=True)
class NotedRounds(Noted):
    """The same allowance, with a note of each single measurement and its sensitivity."""

    singles: list[tuple[Fraction, int]] = field(default_factory=list)

    @classmethod
    def like(cls, allowance: Allowance, choice: Choice | None = None) -> NotedRounds:
        """Return a noting allowance with the same guarantee."""
        return cls(allowance.guarantee, allowance.amount, allowance.neighbors, choice=choice)

    @property
    def spent(self) -> Fraction:
        """The sum of all shares."""
        return sum([*self.noised, *self.choices, *(share for share, _ in self.singles)], start=Fraction(0))

    def measure(self, value: int, share: Fraction, *, sensitivity: int) -> Measured:
        """Note share and sensitivity."""
        self.singles.append((share, sensitivity))
        return Allowance.measure(self, value, share, sensitivity=sensitivity)
