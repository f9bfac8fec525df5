"""The durable ledger in one SQLite file."""

from __future__ import annotations

from discreet.ledger.sqlite.ledger import SqliteLedger

__all__ = ["SqliteLedger"]
