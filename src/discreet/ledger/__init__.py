"""What was released and what it cost, durably: one atomic charge before every answer, and a memory that only grows."""

from __future__ import annotations

from discreet.ledger.contract.balance import Balance, Verification
from discreet.ledger.contract.entry import Entry, Kind
from discreet.ledger.contract.request import Charge, Request, Stored
from discreet.ledger.contract.terms import Terms
from discreet.ledger.ledger import Ledger
from discreet.ledger.memory import MemoryLedger
from discreet.ledger.sqlite.ledger import SqliteLedger

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
