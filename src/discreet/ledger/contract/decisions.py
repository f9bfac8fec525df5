"""What a ledger does with a request, a released answer or an amendment: rules over the entries, without any storage."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from discreet.errors import BudgetExceeded, LedgerError, LedgerMismatch, ParameterError
from discreet.ledger.contract.accounts import amounts_of, limits, nothing, own_total, plus, shortage, within
from discreet.ledger.contract.entry import START, Entry, EntryKind, Shelf, changed
from discreet.ledger.contract.terms import (
    STATED,
    Charge,
    Request,
    Stored,
    Terms,
    amounts_from_plain,
    amounts_to_plain,
    checked_words,
    guarantee_from_plain,
    guarantee_to_plain,
)
from discreet.privacy.adaptive import Amounts, books_for
from discreet.randomness import bits

GRANTED = "granted"  # the outcome of a charge whose answer left and was not stored
_MOST_ANSWER = 256 << 20
_LONG = 1 << 20
FORMAT = 3


def decide(shelf: Shelf, request: Request) -> Charge | Stored:
    """Return a stored answer, or charge the request and write the charge down; raise and write nothing otherwise.

    Privacy. What is decided depends on the requests and their costs and on no table, so that neither a refusal, nor a
        replay, nor the number of an entry tells anything; and the releases that charges stand for keep the budget
        together.
        Proof: the rules read entries alone, and entries are made of requests, terms and released answers, the last only
        handed back as they are. Every charge adds its cost, in the budget's notion and rounded up, to a total that is
        at most the budget; a release happens once for each charge, or is refused; so the costs of all releases of all
        analysts add up to at most the budget along every path, which is the condition of `Filter`. A stored answer
        that is handed out again, to whomever, is the release that was paid for: post-processing.
    """
    terms, last = shelf.in_force()
    terms.cap_of(request.analyst)
    amounts = amounts_of(request.cost, terms)
    bound = _key_entry(shelf, request)
    held = _held(shelf, request)
    if held is not None:
        if request.idempotency is not None and bound is None:
            append(shelf, last, EntryKind.REPLAY, {**_asked(request), "source": held.number})
        return held
    bought = shelf.first(EntryKind.ANSWER, request.digest) if terms.shared_answers else None
    if bought is not None:
        return _share(shelf, terms, last, request, amounts, bought)
    return charge_of(spend(shelf, terms, last, request, amounts))


def spend(shelf: Shelf, terms: Terms, last: Entry, request: Request, amounts: Amounts, **more: Any) -> Entry:
    """Charge: add the cost to the total and to the analyst's own, if both stay within; `more` is written beside it."""
    budget, spent = limits(terms.budget), amounts_from_plain(last.fields["spent"])
    after = plus(spent, amounts, budget)
    if not within(after, budget):
        whose = "the budget that all analysts share"
        raise BudgetExceeded(shortage(books_for(terms.budget), spent, amounts, budget, whose=whose))
    fields = {**_own(shelf, terms, request, amounts, budget), "spent": amounts_to_plain(after), **more}
    return append(shelf, last, EntryKind.CHARGE, fields)


def _share(shelf: Shelf, terms: Terms, last: Entry, request: Request, amounts: Amounts, bought: Entry) -> Stored:
    """Charge an analyst's own cap for another's answer; the total has paid for it."""
    paid = _paid(shelf, bought)
    _require_cost(paid, request)
    answer = answer_of(shelf, bought)
    fields = _own(shelf, terms, request, amounts, limits(terms.budget))
    append(shelf, last, EntryKind.SHARE, {**fields, "source": bought.number})
    return _stored(shelf, bought, paid, request.analyst, answer)


def _own(shelf: Shelf, terms: Terms, request: Request, amounts: Amounts, budget: Amounts) -> dict[str, Any]:
    """Return what a charge or a share writes about the analyst, if the own cap allows it."""
    cap = terms.cap_of(request.analyst)
    caps = budget if cap is None else limits(cap)
    own = own_total(shelf, terms, request.analyst)
    after = plus(own, amounts, caps)
    if cap is not None and not within(after, caps):
        whose = f"the own cap of {request.analyst!r}"
        raise BudgetExceeded(shortage(books_for(cap), own, amounts, caps, whose=whose))
    return {
        **_asked(request),
        "time": now(),
        "cost": guarantee_to_plain(request.cost),
        "amounts": amounts_to_plain(amounts),
        "own": amounts_to_plain(after),
        "description": request.description,
        "releases": list(request.releases),
    }


def charge_of(entry: Entry) -> Charge:
    """Return the charge that an entry stands for."""
    fields = entry.fields
    cost = guarantee_from_plain(fields["cost"])
    return Charge(
        number=entry.number, digest=fields["digest"], analyst=fields["analyst"], cost=cost, entry_hash=entry.hash
    )


def keep_answer(shelf: Shelf, charge: Charge, answer: str) -> Stored:
    """Write the released answer of a charge down; once."""
    if not isinstance(answer, str):
        raise ParameterError("answer must be JSON text", parameter="answer")
    content = answer.encode("utf-8", "surrogatepass")
    if len(content) > _MOST_ANSWER:
        raise ParameterError("an answer of more than 256 MiB cannot be stored: ask for fewer cells", parameter="answer")
    paid = known_charge(shelf, charge)
    closed = shelf.closing(charge.number)
    name = {"answer_hash": hashlib.sha256(content).hexdigest()}
    if closed is None:
        closed = _close(shelf, paid, EntryKind.ANSWER, name, content)
    elif closed.kind is not EntryKind.ANSWER or closed.fields["answer_hash"] != name["answer_hash"]:
        raise LedgerError(f"charge {charge.number} has its outcome already, and an answer is stored once")
    return _stored(shelf, closed, paid, charge.analyst, answer)


def answer_of(shelf: Shelf, entry: Entry) -> str:
    """Return the answer that is kept beside an entry, if it is the one that the entry names."""
    content = shelf.content(entry.number)
    if not isinstance(content, bytes) or hashlib.sha256(content).hexdigest() != entry.fields.get("answer_hash"):
        raise changed(entry.number)
    return content.decode("utf-8", "surrogatepass")


def keep_outcome(shelf: Shelf, charge: Charge, outcome: str) -> None:
    """Write down that a charge ended without an answer; it stays spent."""
    checked_words(outcome, name="outcome")
    paid = known_charge(shelf, charge)
    if shelf.closing(charge.number) is not None:
        raise LedgerError(f"charge {charge.number} has its outcome already")
    _close(shelf, paid, EntryKind.OUTCOME, {"outcome": outcome})


def keep_amendment(shelf: Shelf, terms: Terms, *, reason: str, by: str) -> None:
    """Write new terms down, with who changed them and why."""
    checked_words(reason, name="reason", most=_LONG)
    checked_words(by, name="by")
    old, last = shelf.in_force()
    if type(terms.budget) is not type(old.budget) or terms.budget.relation is not old.budget.relation:
        raise LedgerMismatch(
            f"the books are kept in {type(old.budget).__name__} for {old.budget.relation.value!r}, and what was spent "
            "cannot be restated: amend the numbers only"
        )
    fields = {"time": now(), "terms": terms.to_plain(), "reason": reason, "by": by, "terms_at": last.number + 1}
    append(shelf, last, EntryKind.AMEND, fields)


def keep_anchoring(shelf: Shelf, *, remembered: int | None, reason: str, by: str) -> None:
    """Write down that an anchor was made anew, by whom and why, and which entry the old one remembered, if it did.

    An old anchor that knew a later entry than this ledger has is the sign of spending that was lost; it stays written.
    """
    checked_words(reason, name="reason", most=_LONG)
    checked_words(by, name="by")
    _, last = shelf.in_force()
    append(shelf, last, EntryKind.ANCHOR, {"time": now(), "remembered": remembered, "reason": reason, "by": by})


def known_charge(shelf: Shelf, charge: Charge) -> Entry:
    """Return the entry of a charge, if it is one of this ledger."""
    if not isinstance(charge, Charge):
        raise ParameterError(f"charge must be a Charge from obtain; got {type(charge).__name__}", parameter="charge")
    paid = shelf.entry(charge.number)
    if paid is None or paid.kind is not EntryKind.CHARGE or charge_of(paid) != charge:
        raise LedgerMismatch(f"charge {charge.number} is not of this ledger: store an answer where it was charged")
    return paid


def append(
    shelf: Shelf, last: Entry, kind: EntryKind, fields: Mapping[str, Any], content: bytes | None = None
) -> Entry:
    """Continue the chain; the total and the terms stay unless they are given."""
    carried = {"spent": last.fields["spent"], "terms_at": last.fields["terms_at"]}
    entry = Entry.make(last.number + 1, last.hash, kind, {**carried, **fields})
    shelf.append(entry, content)
    return entry


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
    return Entry.make(1, START, EntryKind.OPEN, fields)


def require_format(shelf: Shelf) -> None:
    """Refuse a ledger that another version keeps in another way."""
    opening = shelf.entry(1)
    if opening is None or opening.fields.get("format") != FORMAT:
        raise LedgerMismatch(
            f"this ledger has another format than format {FORMAT}, which this version of discreet reads: open it with "
            "the version that wrote it. Nothing was spent."
        )


def require_terms(shelf: Shelf, wanted: Terms) -> None:
    """Refuse a ledger that was opened for something else."""
    terms, _ = shelf.in_force()
    different = [name for name in STATED if getattr(terms, name) != getattr(wanted, name)]
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


def _asked(request: Request) -> dict[str, Any]:
    return {"analyst": request.analyst, "digest": request.digest, "idempotency": request.idempotency}


def _held(shelf: Shelf, request: Request) -> Stored | None:
    """Return the answer that this analyst has paid for already."""
    answer = shelf.first(EntryKind.ANSWER, request.digest, request.analyst)
    if answer is None:
        shared = shelf.first(EntryKind.SHARE, request.digest, request.analyst)
        answer = None if shared is None else shelf.entry(shared.fields["source"])
    if answer is None:
        return None
    paid = _paid(shelf, answer)
    _require_cost(paid, request)
    return _stored(shelf, answer, paid, request.analyst, answer_of(shelf, answer))


def _key_entry(shelf: Shelf, request: Request) -> Entry | None:
    """Return the entry that bound the request's key, if any; refuse a key that is bound to another request."""
    if request.idempotency is None:
        return None
    bound = shelf.first_with_key(request.analyst, request.idempotency)
    if bound is not None and bound.fields["digest"] != request.digest:
        raise LedgerMismatch(
            f"the idempotency key {request.idempotency!r} belongs to another request of {request.analyst!r}: a key is "
            "for retries of one request. Use a new key. Nothing was spent."
        )
    return bound


def _require_cost(paid: Entry, request: Request) -> None:
    if paid.fields["cost"] != guarantee_to_plain(request.cost):
        raise LedgerMismatch(
            "an answer with this digest was released at another cost, and the digest must cover the cost: make it "
            "from the plan and all its privacy parameters. Nothing was spent."
        )


def _close(
    shelf: Shelf, paid: Entry, kind: EntryKind, fields: Mapping[str, Any], content: bytes | None = None
) -> Entry:
    """Append the end of a charge; no time is written, as that would tell how long the data took."""
    last = shelf.last()
    if last is None:
        raise changed(paid.number)
    names = {"analyst": paid.fields["analyst"], "digest": paid.fields["digest"], "charge": paid.number}
    return append(shelf, last, kind, {**names, **fields}, content)


def _paid(shelf: Shelf, answer: Entry) -> Entry:
    paid = shelf.entry(answer.fields["charge"])
    if paid is None or paid.kind is not EntryKind.CHARGE:
        raise changed(answer.number)
    return paid


def _stored(shelf: Shelf, closed: Entry, paid: Entry, analyst: str, answer: str) -> Stored:
    return Stored(
        number=paid.number,
        answer=answer,
        digest=closed.fields["digest"],
        analyst=analyst,
        cost=guarantee_from_plain(paid.fields["cost"]),
        entry_hash=closed.hash,
        shared=paid.fields["analyst"] != analyst,
        lost=_lost(shelf, paid),
    )


def _lost(shelf: Shelf, paid: Entry) -> tuple[int, ...]:
    """Return the earlier charges for the same question that have no answer: they failed, or their payer died."""
    terms, _ = shelf.in_force()
    whose = None if terms.shared_answers else paid.fields["analyst"]
    earlier = [number for number in shelf.charged(paid.fields["digest"], whose) if number < paid.number]
    return tuple(number for number in earlier if _without_answer(shelf.closing(number)))


def _without_answer(closed: Entry | None) -> bool:
    """Say whether a charge ended, or stands, without an answer; what was granted was received."""
    return closed is None or (closed.kind is EntryKind.OUTCOME and closed.fields["outcome"] != GRANTED)
