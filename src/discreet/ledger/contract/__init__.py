"""The contract of a ledger: terms, requests, entries and the rules they obey, without storage."""

from discreet.ledger.contract.accounts import amounts_of, limits, remaining_promise, room, spent_promise
from discreet.ledger.contract.balance import Balance, Verification
from discreet.ledger.contract.decisions import (
    GRANTED,
    charge_of,
    decide,
    keep_amendment,
    keep_anchoring,
    keep_answer,
    keep_outcome,
    own_total,
)
from discreet.ledger.contract.entry import START, Entry, Kind, changed
from discreet.ledger.contract.opening import first_entry, require_format, require_terms, terms_in_force
from discreet.ledger.contract.parts import Parts, keep_beginning, keep_taking_up, parts_of, taking_up
from discreet.ledger.contract.promises import amounts_from_plain, checked_digest, checked_promise, promise_to_plain
from discreet.ledger.contract.request import Charge, Request, Stored
from discreet.ledger.contract.shelf import Shelf
from discreet.ledger.contract.terms import Terms
from discreet.ledger.contract.verification import complete, verified
