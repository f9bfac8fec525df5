"""Commands of a curator: init, check, ledger."""
