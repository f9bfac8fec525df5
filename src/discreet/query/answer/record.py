"""Where the ledger keeps an answer, and how the data that was asked is named."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.query.policy import UNNAMED


@dataclass(frozen=True, slots=True)
class Record:
    """Where the ledger keeps an answer: the number of the charge and the hash of the entry."""

    number: int
    entry_hash: str
    analyst: str
    replayed: bool  # the stored answer was handed out again, at no cost to the total
    rehearsed: bool = False  # made-up rows were asked; nothing was released
    lost: tuple[int, ...] = ()  # earlier charges for the same question that gave no answer and stay spent
    opening: str = ""  # the hash of the first entry of the ledger, which no other ledger has

    @property
    def lost_words(self) -> str:
        """Say which charges for the same question were lost."""
        numbers = ", ".join(map(str, self.lost))
        one = "an earlier charge" if len(self.lost) == 1 else "earlier charges"
        stays = "stays" if len(self.lost) == 1 else "stay"
        return f"{one} for the same question (record {numbers}) gave no answer and {stays} spent"


def data_of(lineage: str, record: Record) -> str:
    """Return a name for the data that was asked: its lineage; frames without one, and made-up rows, are as the ledger.

    Two sessions on frames that nobody named are about different people, as are two rehearsals; each has a ledger.
    """
    unnamed = record.rehearsed or lineage == UNNAMED
    return f"{lineage} (ledger {record.opening[:16]})" if unnamed else lineage
