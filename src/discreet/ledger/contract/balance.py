"""How a ledger stands, and what a check of it found."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.display import Rounding, definition_list
from discreet.privacy import Guarantee
from discreet.privacy.guarantees import in_words, with_notion


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """What may be spent, was spent and is left: over all analysts, and of one analyst's own cap where one was named.

    `own_cap` and `own_remaining` are None where only the total binds. `charges` counts charges and shares.
    """

    unit: str
    budget: Guarantee
    spent: Guarantee
    remaining: Guarantee
    charges: int
    analyst: str | None = None
    own_cap: Guarantee | None = None
    own_spent: Guarantee | None = None
    own_remaining: Guarantee | None = None

    def __str__(self) -> str:
        """Say it in lines."""
        return "\n".join(f"{name}: {text}" for name, text in self._rows())

    def _repr_html_(self) -> str:
        """Return the balance as a list for a notebook."""
        return definition_list(self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        rows = [
            ("unit of protection", self.unit),
            ("neighbours", self.budget.relation.sentence),
            ("budget", with_notion(self.budget)),
            ("spent", in_words(self.spent)),
            ("remaining", in_words(self.remaining, rounding=Rounding.DOWN)),
        ]
        if self.analyst is not None:
            up, down = Rounding.UP, Rounding.DOWN
            own = (
                ("own cap", self.own_cap, up),
                ("own spent", self.own_spent, up),
                ("own remaining", self.own_remaining, down),
            )
            rows += [("analyst", self.analyst)]
            rows += [(name, in_words(promise, rounding=safe)) for name, promise, safe in own if promise is not None]
        return [*rows, ("charges", str(self.charges))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What a check of the whole ledger found in order: the chain, the totals, the anchor, an exported head.

    `anchored` is None for a ledger in memory. `head_at` is the number of the entry whose hash was exported, None if
    none was given.
    """

    entries: int
    charges: int
    answers: int
    spent: Guarantee
    head: str
    anchored: bool | None = None
    head_at: int | None = None

    def __str__(self) -> str:
        """Say it in lines."""
        return "\n".join(f"{name}: {text}" for name, text in self._rows())

    def _repr_html_(self) -> str:
        """Return the findings as a list for a notebook."""
        return definition_list(self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        exported = "none was given" if self.head_at is None else f"is entry {self.head_at}"
        anchor = "none, in memory" if self.anchored is None else "agrees"
        return [
            ("entries", f"{self.entries}, chained without a gap"),
            ("charges", f"{self.charges}, {self.answers} of them with a stored answer"),
            ("spent", f"{in_words(self.spent)}, computed again from the entries"),
            ("anchor", anchor),
            ("exported head", exported),
            ("head", self.head),
        ]
