"""One line of the ledger, the chain of hashes that ties it to all lines before it, and where lines are kept."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any

from discreet.errors import DiscreetError, LedgerError, LedgerTampered, ParameterError
from discreet.ledger.contract.terms import Terms, guarantee_from_plain
from discreet.privacy import Guarantee
from discreet.privacy.records import read, write

START = "0" * 64
_MOST_CHARACTERS = 48 << 20  # well within what can be read back


class EntryKind(Enum):
    """What an entry says happened."""

    OPEN = "open"
    CHARGE = "charge"
    SHARE = "share"
    REPLAY = "replay"
    ANSWER = "answer"
    OUTCOME = "outcome"
    PART = "part"
    AMEND = "amend"
    ANCHOR = "anchor"

    def __repr__(self) -> str:
        return f"EntryKind.{self.name}"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: its number, the hash of the line before it, its canonical text, and its own hash.

    The hash is SHA-256 of the previous hash followed by the text. `fields` are the values of the text: `cost`,
    `digest`, `analyst`, `description` ... as the kind has them, and in every line `spent`, the exact total
    over all analysts after it, and `terms_at`, the line whose terms are in force. An answer is kept beside its line,
    which has its SHA-256 as `answer_hash`: a charge reads the last line, and that must not grow with the answer.

    >>> Entry.make(1, START, EntryKind.REPLAY, {"analyst": "ana"}).text
    '{"analyst":"ana","kind":"replay","number":1}'
    """

    number: int
    previous: str
    text: str
    hash: str
    fields: Mapping[str, Any] = field(compare=False, repr=False)

    @classmethod
    def make(cls, number: int, previous: str, kind: EntryKind, fields: Mapping[str, Any]) -> Entry:
        """Return the line that continues a chain."""
        values = {**fields, "kind": kind.value, "number": number}
        text = write(values)
        if len(text) > _MOST_CHARACTERS:
            raise ParameterError("an entry of more than 48 MiB cannot be kept: shorten its texts", parameter="releases")
        return cls(number, previous, text, _hash(previous, text), values)

    @classmethod
    def parse(cls, number: int, previous: str, text: str, stated_hash: str) -> Entry:
        """Return the line as it was stored, if it is what its hash says; a damaged file may hold anything."""
        if not (isinstance(number, int) and all(isinstance(part, str) for part in (previous, text, stated_hash))):
            raise changed(number)
        if not text.isascii() or _hash(previous, text) != stated_hash:
            raise changed(number)
        try:
            values = read(text)
        except DiscreetError:
            raise changed(number) from None
        kinds = {kind.value for kind in EntryKind}
        if not isinstance(values, dict) or values.get("number") != number or values.get("kind") not in kinds:
            raise changed(number)
        return cls(number, previous, text, stated_hash, values)

    @property
    def kind(self) -> EntryKind:
        """What the line says happened."""
        return EntryKind(self.fields["kind"])

    @property
    def cost(self) -> Guarantee | None:
        """The cost of a charge or a share, in its own notion; None for any other line."""
        plain = self.fields.get("cost")
        return None if plain is None else guarantee_from_plain(plain)

    @property
    def terms(self) -> Terms:
        """The terms that an `OPEN` or `AMEND` line sets."""
        return _terms(self.text)


class Shelf(ABC):
    """Entries in order, seen by one transaction; each question is answered in constant or logarithmic time."""

    @abstractmethod
    def last(self) -> Entry | None:
        """Return the last entry, None on an empty shelf."""

    @abstractmethod
    def entry(self, number: int) -> Entry | None:
        """Return one entry by its number."""

    def in_force(self) -> tuple[Terms, Entry]:
        """Return the terms in force and the last entry, which names where they stand."""
        last = self.last()
        if last is None:
            raise LedgerError("the ledger has no entries: open it with its terms")
        stated = self.entry(last.fields["terms_at"])
        if stated is None or "terms" not in stated.fields:
            raise changed(last.number)
        return stated.terms, last

    @abstractmethod
    def latest_spending(self, analyst: str) -> Entry | None:
        """Return the last charge or share of an analyst."""

    @abstractmethod
    def first(self, kind: EntryKind, digest: str, analyst: str | None = None) -> Entry | None:
        """Return the first answer, or the first share, under a digest, of anybody or of one analyst."""

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
    def newest(self, digest: str, kinds: Sequence[EntryKind]) -> Entry | None:
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


def changed(number: int) -> LedgerTampered:
    """Say that a line is not what was written."""
    return LedgerTampered(
        f"entry {number} of the ledger is not what was written: its text and its hash disagree. Nothing was spent. Put "
        "back a complete copy and check it against the newest head you exported (`discreet ledger verify`)."
    )


@lru_cache(maxsize=8)
def _terms(text: str) -> Terms:
    """Remember the terms of a line: every charge asks for them, and they may list thousands of analysts."""
    values: Any = read(text)
    return Terms.from_plain(values["terms"])


def _hash(previous: str, text: str) -> str:
    return hashlib.sha256(previous.encode() + text.encode()).hexdigest()
