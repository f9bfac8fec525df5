"""What was released and what it cost, durably: one atomic charge before every answer, and a memory that only grows."""

from __future__ import annotations

from discreet._optional import listing
from discreet.ledger.contract import Balance, Charge, Entry, EntryKind, Request, Stored, Terms, Verification
from discreet.ledger.ledger import Ledger
from discreet.ledger.memory import MemoryLedger
from discreet.ledger.sqlite import SqliteLedger

__all__ = [
    "Balance",
    "Charge",
    "Entry",
    "EntryKind",
    "Ledger",
    "MemoryLedger",
    "Request",
    "SqliteLedger",
    "Stored",
    "Terms",
    "Verification",
]

__dir__ = listing("discreet.ledger")
