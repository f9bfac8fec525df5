"""The contract of a ledger: terms, requests, entries and the rules they obey, without storage."""
