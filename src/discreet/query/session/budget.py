"""How a session's budget stands, in words for people."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.display import definition_list
from discreet.ledger import Balance
from discreet.privacy import Guarantee


@dataclass(frozen=True, slots=True)
class Budget:
    """Spent, remaining, and about how many more answers like the last one fit."""

    balance: Balance
    last: Guarantee | None
    more: int | None

    @property
    def spent(self) -> Guarantee:
        """What all analysts have spent."""
        return self.balance.spent

    @property
    def remaining(self) -> Guarantee:
        """What is left of the whole budget."""
        return self.balance.remaining

    def __str__(self) -> str:
        """Say it in lines."""
        return "\n".join([str(self.balance), *(f"{name}: {words}" for name, words in self._more())])

    def _repr_html_(self) -> str:
        """Return the budget for a notebook."""
        return self.balance._repr_html_() + definition_list(self._more())

    def _more(self) -> list[tuple[str, str]]:
        if self.more is None:
            return []
        return [("like the last one", f"about {self.more:,} more answers at its price fit")]
