"""The durable ledger in one SQLite file."""
