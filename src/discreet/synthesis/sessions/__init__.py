"""Query release through a session: priced and charged by the ledger, drawn, stored and replayed."""
