"""How a ledger begins, and under which terms it goes on."""

from __future__ import annotations

from datetime import UTC, datetime

from discreet.errors import LedgerError, LedgerMismatch
from discreet.ledger.contract.accounts import nothing
from discreet.ledger.contract.entry import START, Entry, Kind, changed
from discreet.ledger.contract.promises import amounts_to_plain
from discreet.ledger.contract.shelf import Shelf
from discreet.ledger.contract.terms import Terms
from discreet.randomness import bits

FORMAT = 2


def first_entry(terms: Terms) -> Entry:
    """Return the entry with which a ledger begins; random bits tell it from every other ledger with these terms."""
    fields = {
        "format": FORMAT,
        "identity": f"{bits(128):032x}",
        "time": now(),
        "terms": terms.to_plain(),
        "terms_at": 1,
        "spent": amounts_to_plain(nothing(terms)),
    }
    return Entry.make(1, START, Kind.OPEN, fields)


def terms_in_force(shelf: Shelf) -> tuple[Terms, Entry]:
    """Return the terms and the last entry."""
    last = shelf.last()
    if last is None:
        raise LedgerError("the ledger has no entries: open it with its terms")
    stated = shelf.entry(last.fields["terms_at"])
    if stated is None or "terms" not in stated.fields:
        raise changed(last.number)
    return stated.terms, last


def require_format(shelf: Shelf) -> None:
    """Refuse a ledger that another version keeps in another way."""
    opening = shelf.entry(1)
    if opening is None or opening.fields.get("format") != FORMAT:
        raise LedgerMismatch(
            "this ledger is kept in another format than this version of discreet reads: use the version that wrote it"
        )


def require_terms(shelf: Shelf, wanted: Terms) -> None:
    """Refuse a ledger that was opened for something else."""
    terms, _ = terms_in_force(shelf)
    parts = ("lineage", "unit", "budget", "caps", "shared_answers")
    different = [name for name in parts if getattr(terms, name) != getattr(wanted, name)]
    if not different:
        return
    if {"lineage", "unit"} & set(different):
        raise LedgerMismatch(
            f"this ledger is of the data {terms.lineage!r} with the unit {terms.unit!r}, and the policy names "
            f"{wanted.lineage!r} with the unit {wanted.unit!r}. Name the right ledger file, or correct the policy; new "
            "rows of the same data keep its lineage."
        )
    raise LedgerMismatch(
        f"the policy and the ledger differ in: {', '.join(different)}. The ledger keeps the terms it was opened with "
        "until they are amended with a reason, which becomes an entry: ledger.amend(budget=..., caps=..., reason=..., "
        "by=...), or `discreet ledger amend`."
    )


def now() -> str:
    """Return the time of day, in whole seconds: before data is read, and never after."""
    return datetime.now(UTC).isoformat(timespec="seconds")
