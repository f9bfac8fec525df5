"""The contract of a ledger: terms, requests, entries and the rules they obey, without storage."""

from discreet.ledger.contract.accounts import Balance, Verification, balance_of, fitting
from discreet.ledger.contract.decisions import (
    GRANTED,
    charge_of,
    decide,
    first_entry,
    keep_amendment,
    keep_anchoring,
    keep_answer,
    keep_outcome,
    require_format,
    require_terms,
)
from discreet.ledger.contract.entry import START, Entry, EntryKind, Shelf, changed
from discreet.ledger.contract.parts import Parts, keep_beginning, keep_taking_up, parts_of, taking_up
from discreet.ledger.contract.stored_text import (
    MOST_BYTES,
    UNREADABLE,
    TextForms,
    array_of,
    array_words,
    bytes_of_arrays,
    fraction_of,
    in_full,
)
from discreet.ledger.contract.terms import (
    Charge,
    Request,
    Stored,
    Terms,
    checked_digest,
    checked_guarantee,
    guarantee_to_plain,
)
from discreet.ledger.contract.verification import complete, verified
