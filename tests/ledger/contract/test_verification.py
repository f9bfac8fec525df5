"""Entries that discreet would not have written are found, even where every hash fits."""

from __future__ import annotations

import pytest

from discreet.errors import LedgerTampered, ParameterError
from discreet.ledger import Entry, EntryKind, MemoryLedger
from discreet.ledger.contract.verification import replayed, verified
from tests.ledger.ledgers import digest, epsilon, request, terms


@pytest.fixture
def entries():
    """A history with an entry of nearly every kind."""
    ledger = MemoryLedger(terms(shared_answers=True))
    ledger.store(ledger.obtain(request("a", idempotency="k")), "1")
    ledger.obtain(request("a", analyst="bo"))
    ledger.obtain(request("a", idempotency="k2"))
    ledger.note(ledger.obtain(request("b", analyst="bo")), "failed")
    ledger.amend(budget=epsilon(2), reason="a vote", by="curator")
    ledger.obtain(request("c"))
    return list(ledger.entries())


def rechained(entries, place, **changes):
    """Return the history with one entry forged and every hash made anew."""
    made, previous = [], "0" * 64
    for entry in entries:
        fields = {**entry.fields, **(changes if entry.number == place else {})}
        kind = EntryKind(fields.pop("kind"))
        made.append(Entry.make(fields.pop("number"), previous, kind, fields))
        previous = made[-1].hash
    return made


def test_the_history_is_in_order(entries):
    words = "OPEN CHARGE ANSWER SHARE REPLAY CHARGE OUTCOME AMEND CHARGE"
    assert [entry.kind for entry in entries] == [EntryKind[word] for word in words.split()]
    found = verified(entries, head=entries[2].hash, anchored=None)
    assert (found.entries, found.charges, found.answers, found.head_at) == (9, 4, 1, 3)
    assert rechained(entries, 0) == entries


@pytest.mark.parametrize(
    ("place", "changes", "what"),
    [
        (2, {"spent": ["1/16"]}, "states another total"),
        (2, {"amounts": ["1/16"], "spent": ["1/16"], "own": ["1/16"]}, "charges less than its cost"),
        (2, {"own": ["1/16"]}, "another sum for its analyst"),
        (2, {"analyst": "eve"}, "not listed"),
        (2, {"kind": "charges"}, None),
        (2, {"terms_at": 2}, "names other terms"),
        (3, {"digest": digest("z")}, "answers what was not charged"),
        (3, {"charge": 4}, "answers what was not charged"),
        (4, {"source": 2}, "shares what is not there"),
        (4, {"own": [0], "amounts": [0]}, "charges less"),
        (5, {"source": 3}, "repeats a release that is not there"),
        (6, {"analyst": "ana", "own": ["1/4"], "idempotency": "k"}, "another request's key"),
        (7, {"charge": 2}, "answers"),
        (8, {"reason": ""}, "cannot be amended"),
        (8, {"spent": [0]}, "states another total"),
        (9, {"spent": [2]}, "states another total"),
        (9, {"spent": ["x"]}, "cannot be read"),
        (9, {"cost": {"notion": "none"}}, "cannot be read"),
        (9, {"kind": "open"}, "opens the ledger again"),
    ],
)
def test_a_forged_entry_is_named(entries, place, changes, what):
    if what is None:
        with pytest.raises(ValueError, match="charges"):
            rechained(entries, place, **changes)
        return
    with pytest.raises(LedgerTampered, match=f"entry {place} {what}|entry {place} .*{what}"):
        replayed(rechained(entries, place, **changes))


def test_another_lineage_cannot_be_slipped_in(entries):
    for change in ({"lineage": "elsewhere"}, {"unit": "visit"}):
        plain = terms(budget=epsilon(2), shared_answers=True, **change).to_plain()
        with pytest.raises(LedgerTampered, match="cannot be amended"):
            replayed(rechained(entries, 8, terms=plain))


def test_more_than_the_budget_is_found(entries):
    plain = terms(budget=epsilon(0.125), shared_answers=True).to_plain()
    with pytest.raises(LedgerTampered, match="entry 6 passes the budget"):
        replayed(rechained(entries, 1, terms=plain))
    plain = terms(caps={"ana": None, "bo": epsilon(0.125)}, shared_answers=True).to_plain()
    with pytest.raises(LedgerTampered, match="entry 6 passes its analyst's cap"):
        replayed(rechained(entries, 1, terms=plain))


def test_a_missing_a_doubled_and_a_swapped_entry_break_the_chain(entries):
    for forged in (entries[:3] + entries[4:], entries[:3] + entries[2:], [*entries[:2], entries[3], entries[2]]):
        with pytest.raises(LedgerTampered, match="breaks the chain"):
            replayed(forged)


def test_a_shortened_history_does_not_contain_the_exported_head(entries):
    head = entries[-1].hash
    assert verified(entries[:-1], head=None, anchored=None).entries == 8
    with pytest.raises(LedgerTampered, match="the exported head is not in this ledger"):
        verified(entries[:-1], head=head, anchored=None)
    with pytest.raises(ParameterError, match="head must be a SHA-256"):
        verified(entries, head="latest", anchored=None)
    with pytest.raises(LedgerTampered, match="no entries"):
        verified([], head=None, anchored=None)


def test_a_text_that_its_hash_does_not_fit_is_not_parsed(entries):
    for entry in entries:
        for place in range(len(entry.text)):
            text = entry.text[:place] + chr(ord(entry.text[place]) ^ 1) + entry.text[place + 1 :]
            with pytest.raises(LedgerTampered, match=f"entry {entry.number} of the ledger is not what was written"):
                Entry.parse(entry.number, entry.previous, text, entry.hash)


def test_entries_hold_public_fields_only_and_no_time_after_data_was_read(entries):
    always = {"kind", "number", "spent", "terms_at"}
    asked = {"analyst", "digest", "idempotency"}
    priced = asked | {"time", "cost", "amounts", "own", "description", "releases"}
    expected = {
        EntryKind.OPEN: {"format", "identity", "time", "terms"},
        EntryKind.CHARGE: priced,
        EntryKind.SHARE: priced | {"source"},
        EntryKind.REPLAY: asked | {"source"},
        EntryKind.ANSWER: {"analyst", "digest", "charge", "answer_hash"},
        EntryKind.OUTCOME: {"analyst", "digest", "charge", "outcome"},
        EntryKind.AMEND: {"time", "terms", "reason", "by"},
    }
    for entry in entries:
        assert set(entry.fields) == always | expected[entry.kind]
