"""The durable ledger in one SQLite file."""

from discreet.ledger.sqlite.ledger import SqliteLedger
