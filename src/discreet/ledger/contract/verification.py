"""A ledger computed again from its first entry: the chain, the totals, and that every entry obeyed the rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from discreet.errors import DiscreetError, LedgerTampered
from discreet.ledger.contract.accounts import Verification, amounts_of, limits, nothing, plus, spent_guarantee, within
from discreet.ledger.contract.decisions import answer_of
from discreet.ledger.contract.entry import START, Entry, EntryKind, Shelf, changed
from discreet.ledger.contract.parts import Parts, lawful
from discreet.ledger.contract.terms import Terms, amounts_from_plain, checked_digest, guarantee_from_plain
from discreet.privacy.adaptive import Amounts


@dataclass(slots=True)
class Replay:
    """The state that entries lead to, each checked against the rules as it is read.

    Exactness. The totals of a ledger are a function of its entries: the same entries give the same totals, to the last
        unit, on every machine.
        Proof: a total is the fold of `plus` over the recorded amounts, with the caps then in force; integers only.
    """

    number: int = 0
    head: str = START
    terms: Terms | None = None
    terms_at: int = 0
    spent: Amounts = ()
    own: dict[str, Amounts] = field(default_factory=dict)
    paid: dict[int, Entry] = field(default_factory=dict)
    answers: dict[int, str] = field(default_factory=dict)
    closed: set[int] = field(default_factory=set)
    parts: dict[int, Parts] = field(default_factory=dict)
    keys: dict[tuple[str, str], str] = field(default_factory=dict)
    charges: int = 0

    def take(self, entry: Entry) -> None:
        """Read one more entry."""
        self._require(entry, entry.number == self.number + 1 and entry.previous == self.head, "breaks the chain")
        self._require(entry, (entry.kind is EntryKind.OPEN) == (self.number == 0), "opens the ledger again")
        match entry.kind:
            case EntryKind.OPEN | EntryKind.AMEND:
                self._take_terms(entry)
            case EntryKind.CHARGE | EntryKind.SHARE:
                self._take_spending(entry)
            case EntryKind.ANSWER | EntryKind.OUTCOME:
                self._take_closing(entry)
            case EntryKind.PART:
                self._take_part(entry)
            case EntryKind.REPLAY:
                self._require(entry, entry.fields["source"] in self.paid, "repeats a release that is not there")
                self._take_key(entry)
            case EntryKind.ANCHOR:
                pass
        self._require(entry, amounts_from_plain(entry.fields["spent"]) == self.spent, "states another total")
        self._require(entry, entry.fields["terms_at"] == self.terms_at, "names other terms")
        self.number, self.head = entry.number, entry.hash

    def _take_terms(self, entry: Entry) -> None:
        old, new = self.terms, entry.terms
        if old is None:
            self.spent = nothing(new)
        else:
            kept = (old.lineage, old.unit, type(old.budget), old.budget.relation)
            same = kept == (new.lineage, new.unit, type(new.budget), new.budget.relation)
            self._require(entry, same and bool(entry.fields["reason"]), "amends what cannot be amended")
        self.terms, self.terms_at = new, entry.number

    def _take_spending(self, entry: Entry) -> None:
        """Add a charge to the total and the own sum, a share to the own sum alone."""
        terms, fields = self._terms(entry), entry.fields
        amounts = amounts_from_plain(fields["amounts"])
        least = amounts_of(guarantee_from_plain(fields["cost"]), terms)
        self._require(entry, within(least, amounts), "charges less than its cost")
        analyst = fields["analyst"]
        self._require(entry, analyst in terms.caps, "is of an analyst who was not listed")
        cap = terms.cap_of(analyst)
        caps = limits(terms.budget if cap is None else cap)
        own = plus(self.own.get(analyst, nothing(terms)), amounts, caps)
        self._require(entry, amounts_from_plain(fields["own"]) == own, "states another sum for its analyst")
        self._require(entry, cap is None or within(own, caps), "passes its analyst's cap")
        self.own[analyst] = own
        self.charges += 1
        self._take_key(entry)
        if entry.kind is EntryKind.SHARE:
            bought = self.answers.get(fields["source"])
            self._require(entry, terms.shared_answers and bought == fields["digest"], "shares what is not there")
            return
        budget = limits(terms.budget)
        self.spent = plus(self.spent, amounts, budget)
        self._require(entry, within(self.spent, budget), "passes the budget")
        self.paid[entry.number] = entry
        if "release" in fields:
            self._take_part(entry)

    def _take_part(self, entry: Entry) -> None:
        """Follow a release from part to part, and from attempt to attempt."""
        release = entry.fields["release"]
        paid = self.paid.get(release)
        own = paid is not None and release != entry.number and paid.fields["analyst"] == entry.fields["analyst"]
        self._require(entry, own and release not in self.closed, "goes on with a release that is not open")
        before = self.parts.get(release, Parts.of(release))
        self._require(entry, lawful(before, entry), "begins a part out of its order")
        self.parts[release] = Parts.read(entry.fields)

    def _take_closing(self, entry: Entry) -> None:
        fields = entry.fields
        paid = self.paid.get(fields["charge"])
        same = paid is not None and all(paid.fields[name] == fields[name] for name in ("analyst", "digest"))
        self._require(entry, same, "answers what was not charged")
        self._require(entry, fields["charge"] not in self.closed, "answers a charge again")
        self.closed.add(fields["charge"])
        if entry.kind is EntryKind.ANSWER:
            self.answers[entry.number] = fields["digest"]

    def _take_key(self, entry: Entry) -> None:
        key = entry.fields["idempotency"]
        if key is not None:
            digest = self.keys.setdefault((entry.fields["analyst"], key), entry.fields["digest"])
            self._require(entry, digest == entry.fields["digest"], "uses another request's key")

    def _terms(self, entry: Entry) -> Terms:
        if self.terms is None:
            raise _unlawful(entry.number, "comes before any terms")
        return self.terms

    def _require(self, entry: Entry, holds: bool, otherwise: str) -> None:
        if not holds:
            raise _unlawful(entry.number, otherwise)


def replayed(entries: Iterable[Entry]) -> Replay:
    """Return the state that entries lead to; refuse the first that breaks a rule."""
    state = Replay()
    for entry in entries:
        try:
            state.take(entry)
        except LedgerTampered:
            raise
        except (DiscreetError, LookupError, TypeError, ValueError):
            raise _unlawful(entry.number, "cannot be read") from None
    return state


def complete(shelf: Shelf) -> Iterator[Entry]:
    """Return the entries in order, each after a look at the answer beside it, where there must be one."""
    for entry in shelf.entries():
        if entry.kind is EntryKind.ANSWER:
            answer_of(shelf, entry)
        elif shelf.content(entry.number) is not None:
            raise changed(entry.number)
        yield entry


def verified(entries: Iterable[Entry], *, head: str | None, anchored: bool | None) -> Verification:
    """Return what a check found in order, or raise `LedgerTampered`."""
    if head is not None:
        checked_digest(head, name="head")
    found: list[int] = []

    def watched() -> Iterable[Entry]:
        for entry in entries:
            if entry.hash == head:
                found.append(entry.number)
            yield entry

    state = replayed(watched())
    if state.terms is None:
        raise LedgerTampered("the ledger has no entries, not even its terms")
    if head is not None and not found:
        raise LedgerTampered(
            "the exported head is not in this ledger: an older or another copy was put back, or its end was cut off. "
            "Put the newest copy back."
        )
    return Verification(
        entries=state.number,
        charges=state.charges,
        answers=len(state.answers),
        spent=spent_guarantee(state.spent, state.terms.budget),
        head=state.head,
        anchored=anchored,
        head_at=found[0] if found else None,
    )


def _unlawful(number: int, what: str) -> LedgerTampered:
    return LedgerTampered(f"entry {number} {what}: this is not what discreet wrote. Put back a complete copy.")
