"""Where entries are kept: the few questions that a charge asks of them, and the one way to add another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from discreet.ledger.contract.entry import Entry, Kind


class Shelf(ABC):
    """Entries in order, seen by one transaction; each question is answered in constant or logarithmic time."""

    @abstractmethod
    def last(self) -> Entry | None:
        """Return the last entry, None on an empty shelf."""

    @abstractmethod
    def entry(self, number: int) -> Entry | None:
        """Return one entry by its number."""

    @abstractmethod
    def latest_spending(self, analyst: str) -> Entry | None:
        """Return the last charge or share of an analyst."""

    @abstractmethod
    def first_answer(self, digest: str, analyst: str | None = None) -> Entry | None:
        """Return the first answer stored under a digest, by anybody or by one analyst."""

    @abstractmethod
    def share(self, digest: str, analyst: str) -> Entry | None:
        """Return the entry by which an analyst obtained another's answer."""

    @abstractmethod
    def first_with_key(self, analyst: str, idempotency: str) -> Entry | None:
        """Return the entry that bound an idempotency key."""

    @abstractmethod
    def closing(self, charge: int) -> Entry | None:
        """Return the answer or the outcome of a charge."""

    @abstractmethod
    def charged(self, digest: str, analyst: str | None = None) -> list[int]:
        """Return the numbers of the charges under a digest, in order, by anybody or by one analyst."""

    @abstractmethod
    def newest(self, digest: str, kinds: Sequence[Kind]) -> Entry | None:
        """Return the last entry of some kinds under a digest."""

    @abstractmethod
    def charges(self, analyst: str | None = None) -> int:
        """Return the number of charges and shares, over all analysts or of one."""

    @abstractmethod
    def entries(self, start: int = 1) -> Iterator[Entry]:
        """Return the entries in order, from one number on."""

    @abstractmethod
    def content(self, number: int) -> bytes | None:
        """Return the answer that is kept beside an entry, unread by every other question."""

    @abstractmethod
    def append(self, entry: Entry, content: bytes | None = None) -> None:
        """Add an entry that continues the chain, and the answer that it names by its hash."""
