"""What was released and what it cost, durably: one atomic charge before every answer, and a memory that only grows."""

from __future__ import annotations

from discreet.ledger.balance import Balance, Verification
from discreet.ledger.entry import Entry, Kind
from discreet.ledger.ledger import Ledger
from discreet.ledger.memory import MemoryLedger
from discreet.ledger.request import Charge, Request, Stored
from discreet.ledger.sqlite import SqliteLedger
from discreet.ledger.terms import Terms

__all__ = [
    "Balance",
    "Charge",
    "Entry",
    "Kind",
    "Ledger",
    "MemoryLedger",
    "Request",
    "SqliteLedger",
    "Stored",
    "Terms",
    "Verification",
]
