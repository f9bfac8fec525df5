"""A purse that notes measurements too: for tests of what adaptive rounds spend."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from discreet.synthesis import Purse
from discreet.synthesis.base.purse import Measured
from tests.synthesis.methods.spending import Choice, Noted


@dataclass(frozen=True, slots=True)
class NotedRounds(Noted):
    """The same purse, with a note of each single measurement and its sensitivity."""

    singles: list[tuple[Fraction, int]] = field(default_factory=list)

    @classmethod
    def like(cls, purse: Purse, choice: Choice | None = None) -> NotedRounds:
        """Return a noting purse with the same guarantee."""
        return cls(purse.guarantee, purse.amount, purse.neighbors, choice=choice)

    @property
    def spent(self) -> Fraction:
        """The sum of all shares."""
        return sum([*self.noised, *self.choices, *(share for share, _ in self.singles)], start=Fraction(0))

    def measure(self, value: int, share: Fraction, *, sensitivity: int) -> Measured:
        """Note share and sensitivity."""
        self.singles.append((share, sensitivity))
        return Purse.measure(self, value, share, sensitivity=sensitivity)
